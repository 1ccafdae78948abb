// What was found about a task: headline, sentence, evidence, places in the log.
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
    sidesView(task, one, one.root_sides),
    sidesView(task, one, one.sides),
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

/** Both sides of the root step or of the step that shows it, differing parts marked. */
function sidesView(task, one, sides) {
  if (!sides) return "";
  const rows = sides.texts.map(([name, text], at, all) => {
    const other = all.length === 2 ? all[1 - at][1] : null;
    const both = other === null ? null : parts(text, other);
    const side = both && alike(both) ? both[0] : [[text, false]];
    const verdict = name === "failed" ? "fail" : "pass";
    const glyph = name === "expected" ? "" : `${GLYPH[verdict]} `;
    return el("tr", {}, el("th", {scope: "row"}, el("span", {class: verdict}, glyph), name), el("td", {class: `side ${verdict}`}, preview(side, 700, () => sides.step && openStep(task, sides.step))));
  });
  const label = sides.step ? [`${sides.label} `, stepButton(task, sides.step, one.shown)] : sides.label;
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
