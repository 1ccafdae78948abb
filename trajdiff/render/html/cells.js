// One cell of the aligned table: a call, a message or the end; what differs from the other side is marked.
const PREVIEW = {argument: 140, result: 220, message: 320};
const MOST_COMPARED = 400000;
const MOST_SHOWN = 200000;

function tokens(text) {
  return text.match(/\s+|[\p{L}\p{N}_.]+|[^\s\p{L}\p{N}_.]/gu) || [];
}

/** Parts of `one` and of `two` as [text, differs], by the longest common sequence of words. */
function parts(one, two) {
  if (one === two) return [[[one, false]], [[two, false]]];
  if (one.length + two.length > MOST_SHOWN) return [[[one, true]], [[two, true]]];
  const [a, b] = [tokens(one), tokens(two)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const keep = common(left, right);
  const side = (all, middle, kept) => joined([
    ...all.slice(0, start).map((word) => [word, false]),
    ...middle.map((word, at) => [word, !kept.has(at)]),
    ...all.slice(all.length - end).map((word) => [word, false]),
  ]);
  return [side(a, left, keep[0]), side(b, right, keep[1])];
}

function common(left, right) {
  const kept = [new Set(), new Set()];
  const [n, m] = [left.length, right.length];
  if (!n || !m || n * m > MOST_COMPARED) return kept;
  const best = new Uint16Array((n + 1) * (m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const at = i * (m + 1) + j;
      best[at] = left[i] === right[j] ? best[at + m + 2] + 1 : Math.max(best[at + m + 1], best[at + 1]);
    }
  }
  for (let i = 0, j = 0; i < n && j < m;) {
    const at = i * (m + 1) + j;
    if (left[i] === right[j]) {
      kept[0].add(i++);
      kept[1].add(j++);
    } else if (best[at + m + 1] >= best[at + 1]) i++;
    else j++;
  }
  return kept;
}

/** Neighbours of one kind as one part; a blank between two differing words differs too. */
function joined(words) {
  const out = [];
  words.forEach(([text, differs], at) => {
    const blank = !differs && !text.trim() && at > 0 && at < words.length - 1
      && words[at - 1][1] && words[at + 1][1];
    const last = out[out.length - 1];
    if (last && last[1] === (differs || blank)) last[0] += text;
    else out.push([text, differs || blank]);
  });
  return out;
}

/** Whether two texts have so much in common that their differing words tell something. */
function alike(sides) {
  const same = (side) => side.reduce((sum, [text, differs]) => sum + (differs ? 0 : text.length), 0);
  const all = (side) => side.reduce((sum, [text]) => sum + text.length, 0);
  return same(sides[0]) > 0.65 * all(sides[0]) && same(sides[1]) > 0.65 * all(sides[1]);
}

function marked(text, differs) {
  return differs ? el("mark", {class: "differs"}, text) : text;
}

/** Parts as nodes, at most `most` characters of them: what is the same gives way before what differs. */
function preview(side, most, whole) {
  const full = side.reduce((sum, [text]) => sum + text.length, 0);
  if (full <= most) return side.map(([text, differs]) => marked(text, differs));
  const nodes = [];
  let left = most;
  side.forEach(([text, differs], at) => {
    if (left <= 0) return;
    let shown = text;
    if (!differs && side.length > 1 && text.length > 60) {
      const head = at === 0 ? "" : text.slice(0, 24);
      const tail = at === side.length - 1 ? "" : text.slice(-24);
      shown = `${head} … ${tail}`;
    }
    if (shown.length > left) shown = `${shown.slice(0, left)} …`;
    left -= shown.length;
    nodes.push(marked(shown, differs));
  });
  nodes.push(" ", button(`(${plural(full, "character")})`, whole, {class: "length", title: "whole text  f"}));
  return nodes;
}

const flat = (text) => text.replace(/\s+/g, " ").trim();
const isCell = (cell) => Boolean(cell && cell.k);

/** Names of arguments whose values differ between two calls. */
function changedNames(cell, other) {
  const values = (one) => new Map((one.g || []).map(([name, value]) => [name, value]));
  const [mine, theirs] = [values(cell), values(other)];
  const judged = cell.o === "r" ? other.c : other.o === "r" ? cell.c : null;
  const told = (name) => (judged || []).some((path) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  return new Set([...mine.keys()].filter((name) =>
    !theirs.has(name) || (judged ? told(name) : mine.get(name) !== theirs.get(name))));
}

/** What a cell shows. `other` is the cell on the other side, or nothing; `whole` opens the full text. */
function cellNodes(data, cell, other, equal, whole) {
  if (!isCell(cell)) return [el("span", {class: "gap"}, "no such step")];
  if (cell.k === "termination") return [el("span", {class: "end"}, `${M.end} end: `, flat(data.text(cell.m) || "unknown"))];
  if (cell.f !== undefined) return callNodes(data, cell, isCell(other) && other.f !== undefined ? other : null, equal, whole);
  const text = flat(data.text(cell.m) || "");
  const twin = isCell(other) && other.f === undefined && !equal ? flat(data.text(other.m) || "") : null;
  let side = [[text, false]];
  if (twin !== null) {
    const both = parts(text, twin);
    if (alike(both)) side = both[0];
  }
  const who = cell.k === "message" ? cell.a : cell.k;
  return [el("span", {class: "who"}, who), " ", el("span", {class: "said"}, preview(side, PREVIEW.message, whole))];
}

function callNodes(data, cell, other, equal, whole) {
  const names = other && !equal ? changedNames(cell, other) : new Set();
  const theirs = new Map(other ? other.g || [] : []);
  const otherTool = other && other.f !== cell.f && !equal;
  const call = el("span", {class: "call"}, el("b", {class: otherTool ? "differs" : null}, cell.f), "(");
  (cell.g || []).forEach(([name, value], at, all) => {
    const text = flat(data.text(value));
    const differs = names.has(name);
    let side = [[text, differs]];
    if (differs && theirs.has(name)) side = parts(text, flat(data.text(theirs.get(name))))[0];
    const label = name ? el("span", {class: differs ? "name differs" : "name"}, `${name}=`) : "";
    add(call, [el("span", {class: "argument"}, label, preview(side, differs ? 420 : PREVIEW.argument, whole), at < all.length - 1 ? ", " : "")]);
  });
  call.append(")");
  const result = el("span", {class: "result"}, "→ ", cell.x ? el("b", {class: "error"}, `${M.error} error: `) : "");
  const text = data.text(cell.r);
  if (text === null) add(result, [el("i", {}, "no result recorded")]);
  else if (!text.trim()) add(result, [el("i", {}, "empty")]);
  else {
    const twin = other && other.f === cell.f && !equal ? data.text(other.r) : null;
    const both = twin === null ? null : parts(flat(text), flat(twin));
    add(result, preview(both && alike(both) ? both[0] : [[flat(text), false]], PREVIEW.result, whole));
  }
  return [call, result];
}

/** The JSON path of a cell, from the top of its file. */
function pointerOf(trial, cell) {
  const own = cell && cell.p ? cell.p : "~";
  return own.startsWith("~") ? trial.pointer + own.slice(1) : own;
}

function referenceOf(data, cell) {
  const trial = data.trials[cell.t];
  return cell.i === undefined ? trial.ref : `${trial.ref}@${cell.i}`;
}

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A command that prints this place of the raw log, or nothing where the path is none that jq knows. */
function openCommand(path, pointer, line) {
  if (!path || path === "-") return "";
  let [inside, member] = [pointer, ""];
  const cut = pointer.lastIndexOf("#$");
  if (cut > 0) [member, inside] = [pointer.slice(0, cut), pointer.slice(cut + 1)];
  let filter = "";
  let rest = inside.replace(/^\$/, "");
  while (rest) {
    const found = /^(?:\.([^.[\]]+)|\[(\d+)\]|\[(["'])(.*?)\3\])/.exec(rest);
    if (!found) return "";
    const key = found[1] ?? found[4];
    if (found[2] !== undefined) filter += `[${found[2]}]`;
    else filter += /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    rest = rest.slice(found[0].length);
  }
  if (!filter.startsWith(".")) filter = `.${filter}`;
  const packed = {gz: "gzip -dc", zst: "zstd -dc"}[path.split(".").pop()];
  let read = packed ? `${packed} ${quoted(path)}` : "";
  if (member) read = `unzip -p ${quoted(path)} ${quoted(member)}`;
  if (line) read = read ? `${read} | sed -n ${line}p` : `sed -n ${line}p ${quoted(path)}`;
  return read ? `${read} | jq ${quoted(filter)}` : `jq ${quoted(filter)} ${quoted(path)}`;
}

/** A text indented where it is JSON, else as recorded. */
function laidOut(text) {
  if (text.length > MOST_SHOWN || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The whole texts of a cell as [label, text]. */
function wholeTexts(data, cell) {
  if (!isCell(cell)) return [];
  if (cell.f === undefined) return [[cell.k === "message" ? `${cell.a} message` : cell.k, data.text(cell.m) || ""]];
  const made = (cell.g || []).map(([name, value]) => [name || "arguments", laidOut(data.text(value))]);
  const result = data.text(cell.r);
  made.push([cell.x ? "result (error)" : "result", result === null ? "no result recorded" : laidOut(result)]);
  return made;
}

/** A whole text in a block of its own; a very long one in two goes. */
function block(text, twin, value, argument) {
  const shown = text.length > MOST_SHOWN ? text.slice(0, MOST_SHOWN) : text;
  const pre = el("pre", {tabindex: text.length > 400 ? "0" : null});
  if (value) add(pre, around(shown, value));
  else if (twin !== null && twin !== text) {
    const both = parts(shown, twin);
    add(pre, (argument || alike(both) ? both[0] : [[shown, false]]).map(([part, differs]) => marked(part, differs)));
  } else pre.textContent = shown;
  if (shown.length === text.length) return [pre];
  const all = () => {
    pre.textContent = text;
    more.remove();
  };
  const more = el("p", {class: "note"}, `${plural(MOST_SHOWN, "character")} of ${plural(text.length, "character")}. `, button("show all", all, {class: "small"}));
  return [pre, more];
}

/** A text with every place of a value marked. */
function around(text, value) {
  const pieces = text.split(value);
  return pieces.flatMap((piece, at) => (at ? [el("mark", {class: "value"}, value), piece] : [piece]));
}
