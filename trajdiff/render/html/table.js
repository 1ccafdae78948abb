// The strip of all trials, and the aligned table of two of them or of all.
/** Rows of two trials (or of all) as the table shows them, with the places of the divergence. */
function placesOf(task) {
  const {data, right, left} = task.open;
  const own = data.places[right] || data.places[left] || {};
  const found = new Map();
  if (own.first) found.set(own.first, "first");
  if (own.manifest) found.set(own.manifest, "manifest");
  if (own.root) found.set(own.root, "root");
  return found;
}

const cellOf = (row, trial) => row.cells.find((cell) => cell.t === trial);

function equalCells(one, two) {
  const [a, b] = [isCell(one), isCell(two)];
  if (!a && !b) return true;
  if (!a || !b) return (one && a ? one : two).o === "s";
  return "rsv".includes(one.o) && "rsv".includes(two.o);
}

function tableRows(task) {
  const {data, left, right, all} = task.open;
  const shown = all ? data.columns : [left, right].filter((at) => at !== undefined);
  const others = all ? data.columns.filter((at) => at !== left) : [right];
  return data.rows.filter((row) => shown.some((at) => isCell(cellOf(row, at)))).map((row) => ({
    row,
    same: others.every((at) => at === undefined || equalCells(cellOf(row, left), cellOf(row, at))),
  }));
}

function drawTable(task) {
  const state = task.open;
  const {data} = state;
  if (!data.rows) return;
  state.strip.replaceChildren(stripView(task));
  const places = placesOf(task);
  const rows = tableRows(task);
  const keep = new Set();
  rows.forEach(({row, same}, at) => {
    if (same && !places.has(row.n) && state.step !== row.n && !state.unfolded.has(row.n)) return;
    const near = same && !places.has(row.n) ? 0 : 1;
    for (let by = -near; by <= near; by++) keep.add(at + by);
  });
  const body = el("tbody", {role: "rowgroup"});
  const columns = state.all ? [state.left, ...data.columns.filter((at) => at !== state.left)] : [state.left, state.right].filter((at) => at !== undefined);
  for (let at = 0; at < rows.length; at++) {
    if (keep.has(at)) {
      body.append(rowView(task, rows[at], columns, places));
      continue;
    }
    let end = at;
    while (end + 1 < rows.length && !keep.has(end + 1)) end++;
    body.append(foldRow(task, rows.slice(at, end + 1), columns.length));
    at = end;
  }
  const heads = columns.map((trial, at) => el("th", {scope: "col", role: "columnheader", class: data.trials[trial].verdict},
    trialName(data, trial), at === 0 ? el("small", {}, trial === data.reference ? "reference" : "left") : ""));
  const wide = el("table", {class: `aligned${state.all && columns.length > 2 ? " all" : ""}`, role: "table"},
    el("caption", {class: "sr"}, `aligned steps of task ${data.id}`),
    el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, el("th", {scope: "col", class: "step", role: "columnheader"}, "step"), heads)), body);
  state.place.replaceChildren(chooser(task), el("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "aligned steps"}, wide));
}

function foldRow(task, rows, columns) {
  const names = rows.map(({row}) => row.name);
  const which = names.length === 1 ? names[0] : `${names[0]} … ${names[names.length - 1]}`;
  const numbers = rows.length === 1 ? `step ${rows[0].row.n}` : `steps ${rows[0].row.n} to ${rows[rows.length - 1].row.n}`;
  const open = () => {
    rows.forEach(({row}) => task.open.unfolded.add(row.n));
    drawTable(task);
    focusRow(task, rows[0].row.n);
  };
  return el("tr", {class: "fold", role: "row"}, el("td", {colspan: columns + 1, role: "cell"},
    button(`▸ ${plural(rows.length, "step")} ${rows.length === 1 ? "matches" : "match"}`, open), ` · ${numbers}: ${which}`));
}

function rowView(task, {row, same}, columns, places) {
  const {data} = task.open;
  const place = places.get(row.n);
  const left = cellOf(row, columns[0]);
  const whole = () => wholeStep(task, row);
  const words = place ? C.words[place] : same ? C.words.same : "differs";
  const mark = place ? M[place] : same ? "" : markOf(row, columns);
  const step = el("th", {scope: "row", role: "rowheader", class: `step ${place || ""}`},
    el("span", {class: "mark", role: "img", "aria-label": words, title: words}, mark),
    button(row.n, whole, {class: "number", title: "whole text of both sides  f", "aria-label": `step ${row.n}, whole text`}));
  const cells = columns.map((trial, at) => {
    const cell = cellOf(row, trial);
    const other = at === 0 ? (columns.length === 2 ? cellOf(row, columns[1]) : null) : left;
    const equal = at === 0 ? same : equalCells(left, cell);
    const twin = at > 0 && equal && isCell(cell) && isCell(left) && textsOf(data, cell) === textsOf(data, left);
    const verdict = data.trials[trial].verdict;
    const kind = `${verdict} ${equal ? "equal" : "differs"}${isCell(cell) ? "" : " missing"}`;
    const label = el("span", {class: "label"}, trialName(data, trial));
    const content = twin ? el("span", {class: "same"}, `${M.same} the same`) : cellNodes(data, cell, other, equal, whole);
    const blank = !isCell(cell) && !isCell(left) && at > 0 ? "" : content;
    return el("td", {class: kind, role: "cell"}, label, blank);
  });
  return el("tr", {class: `row ${same ? "same" : "differs"} ${place || ""}`, "data-step": row.n, role: "row", tabindex: "-1"}, step, cells);
}

const textsOf = (data, cell) => JSON.stringify([cell.f, cell.g, cell.r, cell.m]);

function markOf(row, columns) {
  const cells = columns.map((trial) => cellOf(row, trial));
  if (columns.length === 2 && !isCell(cells[1])) return M.missing;
  if (!isCell(cells[0])) return M.extra;
  const op = cells.map((cell) => (cell ? cell.o : "m")).reverse().find((one) => !"rs".includes(one));
  return op ? C.ops[op].mark : "";
}

function showTrial(task, trial) {
  const {data, left} = task.open;
  if (!(data.columns || []).includes(trial) || trial === left) return;
  task.open.right = trial;
  task.open.all = false;
  drawTable(task);
}

function chooser(task) {
  const {data, left, right, all} = task.open;
  const lists = el("select", {"aria-label": "left column", onchange: (event) => { setLeft(task, Number(event.target.value)); chosen(task, "select"); }},
    data.columns.map((trial) => el("option", {value: trial, selected: trial === left}, `${GLYPH[data.trials[trial].verdict]} ${data.trials[trial].id}${trial === data.reference ? " (reference)" : ""}`)));
  const chips = data.columns.filter((trial) => trial !== left).map((trial) =>
    button(trialName(data, trial), () => { showTrial(task, trial); chosen(task); }, {class: "chip", "aria-pressed": String(!all && trial === right)}));
  const every = button("all", () => { task.open.all = !all; drawTable(task); chosen(task); }, {class: "chip", "aria-pressed": String(all)});
  const unfold = button("show all steps", () => { data.rows.forEach((row) => task.open.unfolded.add(row.n)); drawTable(task); }, {class: "small"});
  return el("p", {class: "chooser"}, el("span", {}, "left ", lists), el("span", {role: "group", "aria-label": "right column"}, "against ", chips, data.columns.length > 2 ? every : ""), unfold);
}

/** The table was drawn anew: the control that was used keeps the focus. */
function chosen(task, which = "[aria-pressed=true]") {
  const control = task.open.place.querySelector(`.chooser ${which}`);
  if (control) control.focus({preventScroll: true});
  remember(false);
}

function setLeft(task, trial) {
  const state = task.open;
  if (state.right === trial) state.right = state.left;
  state.left = trial;
  drawTable(task);
  remember(false);
}

/** One row per variant, one cell per step; a click goes there. */
function stripView(task) {
  const {data, left, right} = task.open;
  const places = placesOf(task);
  const numbers = data.rows.map((row) => row.n);
  const head = el("tr", {}, el("th", {}, ""), numbers.map((n) => el("th", {class: places.get(n) || null}, n)));
  const rows = data.variants.map((variant) => {
    const names = variant.trials.flatMap((trial, at) => [at ? ", " : "", ...trialName(data, trial)]);
    const shown = variant.trials.includes(left) || variant.trials.includes(right);
    const cells = [...variant.marks].map((mark, at) => {
      const cell = cellOf(data.rows[at], variant.shown);
      const kind = !isCell(cell) ? (cell ? "m" : "") : cell.o;
      return el("td", {class: `o${kind} ${data.trials[variant.shown].verdict}`, "data-at": at, "data-trial": variant.shown}, mark === " " ? "" : mark);
    });
    return el("tr", {class: shown ? "now" : null}, el("th", {scope: "row"}, names, variant.shown === data.reference ? el("small", {}, " reference") : ""), cells);
  });
  const marks = el("tr", {class: "places"}, el("th", {}, ""), numbers.map((n) => el("td", {class: places.get(n) || null}, places.has(n) ? M[places.get(n)] : "")));
  const click = (event) => {
    const cell = event.target.closest("td[data-at]");
    if (!cell) return;
    showTrial(task, Number(cell.dataset.trial));
    goTo(task, data.rows[Number(cell.dataset.at)].n);
    remember(false);
  };
  const sentence = data.found.length ? data.found[0].sentence : data.silent.map((line) => line.text).join(" ");
  return el("div", {class: "scroll strip", role: "img", "aria-label": `all trials, one row per path, one column per step: ${sentence}`},
    el("table", {onclick: click}, el("thead", {}, head), el("tbody", {}, rows, marks)));
}

/** The row of a step, drawn if it is folded away; gets the focus. */
function goTo(task, step) {
  const state = task.open;
  if (!state.data.rows || !state.data.rows.some((row) => row.n === step)) return false;
  state.step = step;
  if (!state.place.querySelector(`tr[data-step="${step}"]`)) drawTable(task);
  return focusRow(task, step);
}

function focusRow(task, step) {
  const row = task.open.place.querySelector(`tr[data-step="${step}"]`);
  if (!row) return false;
  task.open.step = step;
  for (const other of task.open.place.querySelectorAll("tr.current")) other.classList.remove("current");
  row.classList.add("current");
  row.scrollIntoView({block: "center"});
  row.focus({preventScroll: true});
  return true;
}

function nextDifference(task, by) {
  const rows = [...task.open.place.querySelectorAll("tr.row.differs, tr.row.root, tr.row.manifest")].map((row) => Number(row.dataset.step));
  if (!rows.length) return say("no difference between these trials");
  const now = task.open.step;
  const next = now === null ? (by > 0 ? rows[0] : rows[rows.length - 1])
    : by > 0 ? rows.find((step) => step > now) : rows.filter((step) => step < now).pop();
  if (next === undefined) return say(by > 0 ? "no further difference" : "no earlier difference");
  focusRow(task, next);
  remember(false);
}

function toDivergence(task) {
  const {data, right} = task.open;
  if (!data.found.length) return say("no divergence is claimed for this task");
  const one = data.found.find((found) => found.trials.includes(right)) || data.found[0];
  if (!one.trials.includes(right)) showTrial(task, one.shown);
  const own = data.places[task.open.right] || {};
  goTo(task, own.root || one.root || one.manifest);
  remember(false);
}
