// One task: opening and closing it, its parts, the whole text of a step, the task as Markdown.
const colspan = document.querySelectorAll("table.tasks > thead th").length;

function trialName(data, at) {
  const trial = data.trials[at];
  return [el("i", {class: trial.verdict, role: "img", "aria-label": WORD[trial.verdict] || "missing"}, GLYPH[trial.verdict] || M.absent), ` ${trial.id}`];
}

/** Open a task, or show another place of one that is open. `at` may hold step, ref, cmp, focus. */
async function openTask(task, at = {}) {
  if (!task.open) {
    const hold = el("td", {colspan, role: "cell"}, el("p", {class: "note"}, "unpacking …"));
    task.open = {row: el("tr", {class: "detail", role: "row"}, hold), data: null};
    task.body.append(task.open.row);
    task.body.classList.add("opened");
    task.toggle.setAttribute("aria-expanded", "true");
    try {
      task.open.data = await taskData(task.number);
    } catch (problem) {
      hold.replaceChildren(el("p", {class: "notice"}, `The steps of this task cannot be shown: ${problem.message}.`));
      return;
    }
    if (!task.open) return;
    begin(task);
    hold.replaceChildren(taskView(task));
  }
  const state = task.open;
  if (!state.data) return;
  const trial = (id) => state.data.trials.findIndex((one) => one.id === id);
  const [left, right] = [trial(at.ref), trial(at.cmp)];
  const columns = state.data.columns || [];
  if (columns.includes(left)) state.left = left;
  if (columns.includes(right)) [state.right, state.all] = [right, false];
  if (left >= 0 || right >= 0) drawTable(task);
  if (at.step && goTo(task, at.step)) return;
  if (at.focus) {
    const heading = state.row.querySelector("h3");
    task.body.scrollIntoView({block: "start"});
    heading.focus({preventScroll: true});
  }
}

function closeTask(task) {
  if (!task.open) return;
  task.open.row.remove();
  task.open = null;
  task.body.classList.remove("opened");
  task.toggle.setAttribute("aria-expanded", "false");
}

/** The columns to begin with: the reference, and the trial that the row speaks of. */
function begin(task) {
  const {data} = task.open;
  const columns = data.columns || [];
  const failed = columns.find((at) => data.trials[at].verdict === "fail");
  task.open.left = data.reference ?? columns[0];
  task.open.right = data.found.length && columns.includes(data.found[0].shown) ? data.found[0].shown : failed ?? columns[1];
  if (task.open.right === task.open.left) task.open.right = columns.find((at) => at !== task.open.left);
  task.open.all = false;
  task.open.unfolded = new Set();
  task.open.step = null;
}

function taskView(task) {
  const {data} = task.open;
  const figures = data.figures.map(([k, value]) => `pass^${k} ${value}`).join("   ");
  const acts = el("p", {class: "acts"},
    button([`${M.root} divergence `, el("kbd", {}, "d")], () => toDivergence(task), {disabled: !data.found.length}),
    button(["previous ", el("kbd", {}, "p")], () => nextDifference(task, -1)),
    button(["next difference ", el("kbd", {}, "n")], () => nextDifference(task, 1)),
    button(["copy link ", el("kbd", {}, "c")], () => copyLink(task)),
    button(["copy as Markdown ", el("kbd", {}, "y")], () => copy(markdown(task), "Markdown")),
    button(["fold ", el("kbd", {}, "o")], () => { closeTask(task); task.toggle.focus(); remember(true); }));
  const place = task.open.place = el("div", {class: "table"});
  const view = el("section", {class: "view", "aria-label": `task ${data.id}`},
    el("h3", {tabindex: "-1"}, data.id, data.title ? el("span", {class: "title"}, data.title) : "", el("small", {}, figures)),
    acts,
    data.found.map((one, at) => foundView(task, one, at)),
    silentView(data),
    task.open.strip = el("div", {class: "strip-place"}),
    place,
    trialsView(data));
  drawTable(task);
  return view;
}

function openStep(task, step) {
  goTo(task, step);
  wholeStep(task, task.open.data.rows.find((row) => row.n === step));
}

/** The side panel: whole texts of both sides, where they are recorded, how to open the log there. */
function wholeStep(task, row, value) {
  const {data, left, right} = task.open;
  const sides = [left, right].filter((at) => at !== undefined).map((trial) => [trial, cellOf(row, trial)]);
  const views = sides.map(([trial, cell], at) => {
    const other = sides.length === 2 ? wholeTexts(data, sides[1 - at][1]) : [];
    const head = el("h4", {class: data.trials[trial].verdict}, trialName(data, trial), isCell(cell) && cell.f !== undefined ? el("code", {}, ` ${cell.f}`) : "");
    if (!isCell(cell)) return el("section", {}, head, el("p", {class: "gap"}, "no such step"));
    const texts = wholeTexts(data, cell).map(([label, text], number) => {
      const twin = other.find(([name]) => name === label);
      const argument = cell.f !== undefined && number < (cell.g || []).length;
      return [el("h5", {}, label, text.length > 80 ? el("small", {}, plural(text.length, "character")) : ""), block(text, twin ? twin[1] : null, value, argument)];
    });
    const pointer = pointerOf(data.trials[trial], cell);
    const source = el("p", {class: "src"}, el("code", {}, referenceOf(data, cell)), " ", el("code", {class: "muted"}, pointer + (cell.l ? ` (line ${cell.l})` : "")),
      commandLine(openCommand(data.trials[trial].path, pointer, cell.l)));
    return el("section", {}, head, source, texts.flat(2));
  });
  openPanel(`step ${row.n}: ${row.name}`, [el("div", {class: "both"}, views)]);
  const mark = value && $("panel").querySelector("mark.value");
  if (mark) mark.scrollIntoView({block: "center"});
}

function trialsView(data) {
  const heads = ["trial", "reward", "end", "steps", "calls", "errors", "tokens", "cost", "seconds", "record"];
  const number = (value, digits) => (value === null || value === undefined ? "–" : Number(value.toFixed(digits)).toLocaleString("en"));
  const rows = data.trials.map((trial, at) => el("tr", {}, el("th", {scope: "row"}, trialName(data, at)),
    el("td", {}, number(trial.reward, 3), trial.rule ? el("small", {}, ` ${trial.rule}`) : ""),
    el("td", {}, trial.stop, trial.error ? el("small", {}, ` ${trial.error}`) : ""),
    [trial.steps, trial.calls, trial.errors].map((value) => el("td", {class: "num"}, value)),
    el("td", {class: "num"}, number(trial.tokens, 0)), el("td", {class: "num"}, number(trial.cost, 4)), el("td", {class: "num"}, number(trial.duration, 1)),
    el("td", {}, el("code", {}, trial.ref), " ", el("code", {class: "muted"}, trial.pointer))));
  const missing = data.missing.map((id) => el("tr", {}, el("th", {scope: "row"}, `${M.absent} ${id}`), el("td", {colspan: heads.length - 1}, "planned, and not there")));
  return el("details", {class: "trials"}, el("summary", {}, `All ${plural(data.trials.length, "trial")}: verdict, end, cost, record`),
    el("div", {class: "scroll"}, el("table", {class: "plain"}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", {scope: "col"}, head)))), el("tbody", {}, rows, missing))));
}

/** The task as Markdown, for an issue or a chat. */
function markdown(task) {
  const {data} = task.open;
  const safe = (text) => String(text).replace(/[\\`*_[\]<>|@#]/g, "\\$&");
  const lines = [`**${safe(data.id)}**${data.title ? ` ${safe(data.title)}` : ""}  ${task.marks}  ${data.figures.map(([k, value]) => `pass^${k} ${value}`).join(", ")}`, ""];
  for (const one of data.found) {
    const rows = one.root ? (one.manifest && one.manifest !== one.root ? `${one.root}→${one.manifest} ` : `${one.root} `) : "";
    lines.push(`${M.root} ${rows}${safe(one.headline)}${one.grade ? `, grade ${one.grade}` : ""}, trial ${one.trials.map((at) => safe(data.trials[at].id)).join(", ")}`, "", safe(one.sentence), "");
    for (const fact of one.facts) lines.push(`- ${fact.label}: ${safe(fact.text)}`);
    for (const source of one.sources) lines.push(`- ${source.side}: ${safe(source.ref)} ${safe(source.pointer)}`);
    lines.push("");
  }
  for (const line of data.silent) lines.push(safe(line.text));
  return `${lines.join("\n").trim()}\n`;
}
