// Keys, the address, and the start.
let current = null;

/** Put the state into the address; a new entry of the history where the reader goes to another task. */
function remember(entry) {
  const words = [];
  const state = current && current.open;
  if (state) {
    words.push(`t=${encodeURIComponent(current.id)}`);
    if (state.step) words.push(`s=${state.step}`);
    if (state.data && state.data.rows && state.right !== undefined) {
      words.push(`ref=${encodeURIComponent(state.data.trials[state.left].id)}`, `cmp=${encodeURIComponent(state.data.trials[state.right].id)}`);
    }
  }
  const filter = filterWord();
  if (filter) words.push(`f=${filter}`);
  const address = `#${words.join("&")}`;
  if (address === (location.hash || "#")) return;
  try {
    history[entry ? "pushState" : "replaceState"](null, "", address);
  } catch { /* an address that cannot be changed costs the link, nothing else */ }
}

/** Read the address: filter, open the task, go to the step. */
async function recall() {
  const words = new Map(location.hash.slice(1).split("&").map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
  const word = (name) => {
    try {
      return words.has(name) ? decodeURIComponent(words.get(name)) : undefined;
    } catch {
      return undefined;
    }
  };
  try {
    readFilterWord(words.get("f") || "");
  } catch {
    readFilterWord("");
  }
  applyFilters();
  const wanted = tasks.find((task) => task.id === word("t"));
  if (word("t") !== undefined && !wanted) return say("the task of this link is not in this file");
  if (!wanted) return undefined;
  wanted.body.hidden = false;
  current = wanted;
  return openTask(wanted, {step: Number(word("s")) || undefined, ref: word("ref"), cmp: word("cmp"), focus: true});
}

async function flip(task) {
  current = task;
  if (task.open) closeTask(task);
  else await openTask(task, {focus: true});
  remember(true);
}

function copyLink(task) {
  current = task;
  remember(false);
  return copy(location.href, "link to this place");
}

function move(by) {
  if (!visible.length) return;
  const at = current ? visible.indexOf(current) : -1;
  const next = visible[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : visible.length - 1) : at + by, 0), visible.length - 1)];
  current = next;
  next.body.scrollIntoView({block: "nearest"});
  next.toggle.focus({preventScroll: true});
}

function showHelp() {
  const help = $("help");
  if (help.open) help.close();
  else help.showModal();
}

/** What a key does; those about a task need an open one. */
const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  o: () => current && flip(current),
  n: () => withOpen((task) => nextDifference(task, 1)),
  p: () => withOpen((task) => nextDifference(task, -1)),
  d: () => withOpen(toDivergence),
  r: () => withOpen((task) => task.open.right !== undefined && setLeft(task, task.open.right)),
  f: () => withOpen((task) => {
    const row = task.open.data.rows && task.open.data.rows.find((one) => one.n === task.open.step);
    if (row) wholeStep(task, row);
    else say("go to a step first: n, p or d");
  }),
  c: () => current && copyLink(current),
  y: () => withOpen((task) => copy(markdown(task), "Markdown")),
  "/": () => { $("q").focus(); $("q").select(); },
  "?": showHelp,
};

function withOpen(act) {
  if (current && current.open && current.open.data) return act(current);
  return say("open a task first: j, k, then o");
}

function onKey(event) {
  if (event.key === "Escape") {
    if ($("help").open) return;
    if (!closePanel() && document.activeElement === $("q")) $("q").blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open && event.key !== "?") return;
  if (event.target.closest("input, select, textarea") || $("keys-off").checked) return;
  const trial = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : null;
  if (trial !== null) {
    event.preventDefault();
    withOpen((task) => { showTrial(task, trial); remember(false); });
  } else if (Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

const MOST_PRINTED = 60;
async function printOpened() {
  const wanted = visible.slice(0, MOST_PRINTED);
  for (const task of wanted) await openTask(task);
  if (visible.length > wanted.length) say(`the first ${wanted.length} of ${visible.length} tasks are open; filter to print others`);
  window.print();
}

function startTasks() {
  for (const task of tasks) {
    const name = task.body.querySelector(".id");
    task.toggle = el("button", {type: "button", class: "toggle", "aria-expanded": "false", onclick: () => flip(task)});
    name.replaceWith(task.toggle);
    task.toggle.append(name);
    task.body.querySelector("tr.task").addEventListener("click", (event) => {
      if (!event.target.closest("button, a") && String(getSelection()) === "") flip(task);
    });
    task.body.addEventListener("focusin", () => { current = task; });
  }
}

document.documentElement.classList.add("js");
for (const part of document.querySelectorAll("header [hidden]")) if (part.id !== "clear") part.hidden = false;
startTasks();
startFilters();
$("theme").addEventListener("change", () => {
  const theme = $("theme").value;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
});
$("help-button").addEventListener("click", showHelp);
$("help-close").addEventListener("click", () => $("help").close());
$("print").addEventListener("click", printOpened);
document.addEventListener("keydown", onKey);
addEventListener("popstate", recall);
addEventListener("hashchange", recall);
recall();
