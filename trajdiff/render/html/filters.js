// Filters, search and order of the task table.
const filters = {picked: new Map(), text: "", only: null};
let visible = tasks;

function passes(task) {
  for (const [facet, values] of filters.picked) {
    if (values.size && !task.facets[facet].some((value) => values.has(value))) return false;
  }
  if (filters.only && !filters.only.has(task.number)) return false;
  if (!filters.text) return true;
  return filters.text.split(/\s+/).every((word) => task.words.includes(word) || inTexts(task, word));
}

/** Whether a word is in a whole text of a task that is open. */
function inTexts(task, word) {
  if (!task.open || !task.open.data) return false;
  if (!task.open.words) {
    const own = task.open.data.texts || [];
    task.open.words = own.map((text) => text.toLowerCase());
  }
  return task.open.words.some((text) => text.includes(word));
}

function shownText() {
  if (visible.length === tasks.length) return plural(tasks.length, "task");
  return `${visible.length} of ${plural(tasks.length, "task")}`;
}

function active() {
  return Boolean(filters.text || filters.only || [...filters.picked.values()].some((values) => values.size));
}

function applyFilters() {
  visible = tasks.filter((task) => {
    const shown = passes(task);
    task.body.hidden = !shown;
    return shown;
  });
  for (const chip of document.querySelectorAll("[data-facet]")) {
    const values = filters.picked.get(chip.dataset.facet);
    if (chip.tagName === "SELECT") chip.value = values && values.size ? [...values][0] : "";
    else chip.setAttribute("aria-pressed", String(Boolean(values && values.has(chip.dataset.value))));
  }
  $("q").value.trim().toLowerCase() === filters.text || ($("q").value = filters.text);
  $("clear").hidden = !active();
  $("nothing").hidden = visible.length > 0;
  $("shown").textContent = shownText();
}

function toggle(facet, value) {
  const values = filters.picked.get(facet) || new Set();
  if (!values.delete(value)) values.add(value);
  filters.picked.set(facet, values);
}

function changed() {
  applyFilters();
  remember(false);
}

function clearFilters() {
  filters.picked.clear();
  filters.text = "";
  filters.only = null;
  changed();
}

/** `mixed,grade:A,text:lamp`, the part of the address that says what is filtered. */
function filterWord() {
  const parts = [];
  for (const [facet, values] of filters.picked) {
    for (const value of values) parts.push(facet === "show" ? value : `${facet}:${value}`);
  }
  if (filters.only) parts.push(`only:${[...filters.only].join("+")}`);
  if (filters.text) parts.push(`text:${filters.text}`);
  return parts.map(encodeURIComponent).join(",");
}

function readFilterWord(word) {
  filters.picked.clear();
  filters.text = "";
  filters.only = null;
  for (const part of word ? word.split(",").map(decodeURIComponent) : []) {
    const at = part.indexOf(":");
    const [facet, value] = at < 0 ? ["show", part] : [part.slice(0, at), part.slice(at + 1)];
    if (facet === "text") filters.text = value.toLowerCase();
    else if (facet === "only") filters.only = new Set(value.split("+").map(Number));
    else if (tasks.length && facet in tasks[0].facets) toggle(facet, value);
  }
}

let order = {by: "order", down: false};
function sortTasks(by) {
  order = {by, down: order.by === by ? !order.down : false};
  const key = (task) => (by === "order" ? task.number : Number(task.body.dataset[by]));
  const sorted = [...tasks].sort((a, b) => (key(a) - key(b)) * (order.down ? -1 : 1) || a.number - b.number);
  document.querySelector("table.tasks").append(...sorted.map((task) => task.body));
  tasks.splice(0, tasks.length, ...sorted);
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const own = head.dataset.sort === by;
    head.setAttribute("aria-sort", own ? (order.down ? "descending" : "ascending") : "none");
  }
  applyFilters();
}

function startFilters() {
  for (const chip of document.querySelectorAll("button[data-facet]")) {
    chip.addEventListener("click", () => {
      toggle(chip.dataset.facet, chip.dataset.value);
      changed();
    });
  }
  for (const list of document.querySelectorAll("select[data-facet]")) {
    list.addEventListener("change", () => {
      filters.picked.set(list.dataset.facet, new Set(list.value ? [list.value] : []));
      changed();
    });
  }
  let timer = 0;
  $("q").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      filters.text = $("q").value.trim().toLowerCase();
      changed();
    }, 80);
  });
  $("clear").addEventListener("click", clearFilters);
  $("clear2").addEventListener("click", clearFilters);
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const name = head.textContent;
    head.replaceChildren(button(name, () => sortTasks(head.dataset.sort), {class: "sort"}));
  }
  for (const names of document.querySelectorAll(".ids")) {
    const numbers = names.dataset.tasks ? names.dataset.tasks.split(" ").map(Number) : [];
    if (!numbers.length) continue;
    const show = () => {
      filters.only = new Set(numbers);
      changed();
      $("tasks").focus();
    };
    names.after(" ", button(`show ${plural(numbers.length, "task")}`, show, {class: "small"}));
  }
}
