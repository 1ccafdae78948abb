"use strict";
// Texts of a log enter the page as textContent only: nothing here makes markup, addresses or styles of them.
const C = JSON.parse(document.getElementById("constants").textContent);
const M = C.marks;
const WORD = {pass: "passed", fail: "failed", infra: "ended by infrastructure", unscored: "unscored"};
const GLYPH = {pass: M.passed, fail: M.failed, infra: M.infra, unscored: M.unscored};
const $ = (id) => document.getElementById(id);

/** An element: attributes by name, `on…` as listeners; children are nodes or texts. */
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  add(made, children);
  return made;
}

function add(parent, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return parent;
}

function button(text, act, attributes) {
  return el("button", {type: "button", onclick: act, ...attributes}, text);
}

function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** The whole file is there: chunks stand behind the script. */
const loaded = new Promise((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done, {once: true});
  else done();
});

async function unpack(id) {
  const coded = $(id);
  if (!coded) return null;
  const text = atob(coded.textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

let sharedTexts = null;
/** The data of a task, its texts replaced by a function that finds them. */
async function taskData(number) {
  await loaded;
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack the steps");
  sharedTexts = sharedTexts || unpack("shared");
  const [common, data] = [await sharedTexts, await unpack(`d${number}`)];
  if (!data) throw new Error("the steps of this task are not in the file; it may be cut off");
  data.text = (at) => (at === undefined || at === null ? null : at < 0 ? common[-at - 1] : data.texts[at]);
  return data;
}

const tasks = [...document.querySelectorAll("table.tasks > tbody")].map((body, number) => ({
  body,
  number,
  id: body.querySelector(".id").textContent,
  facets: JSON.parse(body.dataset.facets),
  words: `${body.textContent} ${body.dataset.tools}`.toLowerCase(),
  marks: body.querySelector(".marks").textContent,
  open: null,
}));

let sayTimer = 0;
/** Tell something in the header, for the eye and for screen readers. */
function say(text) {
  $("shown").textContent = text;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { $("shown").textContent = shownText(); }, 4000);
}

/** Copy; where the clipboard is out of reach the text is shown, selected, to be copied by hand. */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`copied: ${what}`);
  } catch {
    const field = el("textarea", {class: "copy", readonly: true, rows: Math.min(12, text.split("\n").length)});
    field.value = text;
    openPanel(`copy: ${what}`, [el("p", {class: "note"}, "The clipboard is out of reach; copy from here."), field]);
    field.select();
  }
}

let panelFrom = null;
function openPanel(title, content) {
  const panel = $("panel");
  if (panel.hidden) panelFrom = document.activeElement;
  panel.replaceChildren(
    el("div", {class: "head"},
      el("h3", {id: "panel-h", tabindex: "-1"}, title),
      button("close  Esc", closePanel, {class: "close"})),
    ...content);
  panel.hidden = false;
  panel.scrollTop = 0;
  $("panel-h").focus({preventScroll: true});
}

function closePanel() {
  if ($("panel").hidden) return false;
  $("panel").hidden = true;
  if (panelFrom && panelFrom.isConnected) panelFrom.focus({preventScroll: true});
  return true;
}
