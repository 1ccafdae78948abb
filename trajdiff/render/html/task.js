// One opened task: what was found, the strip, the aligned table.
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

function foundView(task, one, at) {
  const {data} = task.open;
  const of = one.trials.map((trial) => el("span", {class: "of"}, trialName(data, trial)));
  const title = [
    el("span", {class: "root"}, `${M.root}${one.root ? ` step ${one.root}` : ""}`), " ",
    el("b", {}, one.headline), " ",
    one.grade ? el("span", {class: `g g${one.grade}`}, `grade ${one.grade}`) : "", " ",
    el("span", {class: "trials"}, one.trials.length > 1 ? "trials " : "trial ", of)];
  const body = el("div", {class: "body"},
    el("p", {class: "sentence"}, one.sentence),
    sidesView(task, one),
    el("dl", {}, factRows(task, one)),
    one.harmless.length ? harmlessView(task, one) : "",
    el("table", {class: "sources"}, el("tbody", {}, one.sources.map((source) => sourceRow(source)))));
  if (at === 0) return el("article", {class: "found"}, el("h4", {}, title), body);
  return el("details", {class: "found"}, el("summary", {}, title), body);
}

function stepButton(task, step, trial) {
  return button(`step ${step}`, () => {
    if (trial !== undefined && trial !== null) showTrial(task, trial);
    goTo(task, step);
    remember(false);
  }, {class: "small"});
}

/** Both sides of the step that shows it, differing parts marked. */
function sidesView(task, one) {
  if (!one.sides) return "";
  const rows = one.sides.texts.map(([name, text], at, all) => {
    const other = all.length === 2 ? all[1 - at][1] : null;
    const both = other === null ? null : parts(text, other);
    const side = both && alike(both) ? both[0] : [[text, false]];
    const verdict = name === "failed" ? "fail" : "pass";
    const glyph = name === "expected" ? "" : `${GLYPH[verdict]} `;
    return el("tr", {}, el("th", {scope: "row"}, el("span", {class: verdict}, glyph), name), el("td", {class: `side ${verdict}`}, preview(side, 700, () => one.sides.step && openStep(task, one.sides.step))));
  });
  const label = one.sides.step ? [`${one.sides.label} `, stepButton(task, one.sides.step, one.shown)] : one.sides.label;
  return el("table", {class: "sides"}, el("caption", {}, label), el("tbody", {}, rows));
}

function factRows(task, one) {
  return one.facts.flatMap((fact, at) => {
    const again = at > 0 && one.facts[at - 1].label === fact.label;
    const jump = fact.step ? [" ", stepButton(task, fact.step, one.shown)] : "";
    const origin = fact.message === undefined ? "" : [" ", originButton(task, fact)];
    return [el("dt", {}, again ? "" : fact.label), el("dd", {}, fact.mark ? `${fact.mark} ` : "", fact.text, jump, origin)];
  });
}

/** Show where the deciding value was first seen: the step, its whole text, the value marked. */
function originButton(task, fact) {
  const {data} = task.open;
  let found = null;
  for (const row of data.rows || []) {
    const cell = row.cells.find((one) => one.t === fact.trial);
    if (isCell(cell) && cell.i !== undefined && cell.i <= fact.message && (!found || cell.i >= found[1].i)) found = [row, cell];
  }
  if (!found) return "";
  return button(`show step ${found[0].n}`, () => {
    showTrial(task, fact.trial);
    goTo(task, found[0].n);
    wholeStep(task, found[0], fact.value);
  }, {class: "small"});
}

function harmlessView(task, one) {
  const entries = one.harmless.map((entry) => el("li", {},
    entry.step ? [stepButton(task, entry.step, one.shown), " "] : "", entry.text, entry.closed ? ` (step ${entry.closed})` : ""));
  return el("details", {}, el("summary", {}, plural(one.harmless.length, "harmless difference")), el("ul", {}, entries));
}

function sourceRow(source) {
  const command = openCommand(source.path, source.pointer, source.line);
  const at = source.pointer + (source.line ? ` (line ${source.line})` : "");
  return el("tr", {}, el("th", {scope: "row"}, `source, ${source.side}`),
    el("td", {}, el("code", {}, source.ref), " ", el("code", {class: "muted"}, at), commandLine(command)));
}

function commandLine(command) {
  if (!command) return "";
  return el("span", {class: "command"}, el("code", {}, command), " ", button("copy", () => copy(command, "command"), {class: "small", title: "copy the command that prints this place of the raw log"}));
}

function silentView(data) {
  if (!data.silent.length) return "";
  return el("div", {class: "silent"}, data.silent.map((line) => el("p", {class: line.heading ? "heading" : null}, line.text)));
}

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
  const lists = el("select", {"aria-label": "left column", onchange: (event) => setLeft(task, Number(event.target.value))},
    data.columns.map((trial) => el("option", {value: trial, selected: trial === left}, `${GLYPH[data.trials[trial].verdict]} ${data.trials[trial].id}${trial === data.reference ? " (reference)" : ""}`)));
  const chips = data.columns.filter((trial) => trial !== left).map((trial) =>
    button(trialName(data, trial), () => { showTrial(task, trial); remember(false); }, {class: "chip", "aria-pressed": String(!all && trial === right)}));
  const every = button("all", () => { task.open.all = !all; drawTable(task); remember(false); }, {class: "chip", "aria-pressed": String(all)});
  const unfold = button("show all steps", () => { data.rows.forEach((row) => task.open.unfolded.add(row.n)); drawTable(task); }, {class: "small"});
  return el("p", {class: "chooser"}, el("span", {}, "left ", lists), el("span", {role: "group", "aria-label": "right column"}, "against ", chips, data.columns.length > 2 ? every : ""), unfold);
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
    el("td", {}, number(trial.reward, 3)),
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
