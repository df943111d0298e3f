// The text itself: sentences shaded by difficulty, words marked, or beside its result.

import { find, findAll, fill, h } from "./dom.js";
import { everyItem, onChange, resultOf, state } from "./state.js";
import { show } from "./panel.js";

const view = { layout: "marked" };
const TAGS = { li: "li", td: "p", p: "p" };
const tagOf = (block) => TAGS[block.kind] ?? "h2";

export function bands() {
  return state.start.bands;
}

function sentence(item, report, number) {
  const element = h("span", {
    class: `s b${report.band}${item.steps.length ? " changed" : ""}`, role: "button", tabindex: "-1",
    "aria-label": `${report.text} (${bands()[report.band]}${item.steps.length ? ", changed" : ""})`,
  });
  element.append(...report.parts.map((part) => word(part, report.words[part.word])));
  element.item = item;
  element.report = report;
  element.dataset.number = number;
  return element;
}

const read = ([text, above]) => (above ? h("ruby", {}, text, h("rp", {}, "("), h("rt", {}, above), h("rp", {}, ")")) : text);

function word(part, report) {
  if (!report) return part.text;
  const text = part.ruby ? part.ruby.map(read) : part.text;
  const element = h("span", { class: `w w${report.band}` }, text);
  element.word = report;
  return element;
}

function marked() {
  let number = 0;
  return state.blocks.map((block) => {
    const parts = block.items.map((item) => [
      item.before, item.reports.map((report, i) => [i || item.steps.length ? report.before : "", sentence(item, report, number++)]),
    ]);
    return h(tagOf(block), {}, parts, block.after);
  });
}

function beside() {
  const rows = state.blocks.map((block) => [
    h(tagOf(block), {}, block.items.map((item) => [item.before, side(item, "before", "del")])),
    h(tagOf(block), {}, block.items.map((item) => [item.before, side(item, "after", "ins")])),
  ]);
  return h("div", { class: "beside" }, h("p", { class: "head" }, "As it was"), h("p", { class: "head" }, "Result"), rows);
}

const side = (item, which, tag) => (item.steps.length
  ? item.segments.map((part) => (part.before === part.after || !part[which] ? part[which] : h(tag, {}, part[which])))
  : item.original);

const plain = () => state.blocks.map((block) => h(tagOf(block), {}, resultOf(block)));

export function draw() {
  const text = find("#text");
  if (!state.analysis) return;
  text.lang = state.language;
  fill(text, { marked, beside, plain }[view.layout]());
  text.classList.toggle("words", find("#show-words").checked);
  text.classList.toggle("no-ruby", !find("#show-furigana").checked);
  find("#furigana-label").hidden = state.language !== "ja";
  find(".panes").classList.toggle("alone", view.layout !== "marked");
  find("#panel").hidden = view.layout !== "marked";
  find("#undo").disabled = !state.done.length;
  find("#redo").disabled = !state.undone.length;
  mark();
  summary();
}

function mark() {
  const sentences = findAll("#text .s");
  let current = sentences.find((one) => one.report === state.selected?.report)
    ?? sentences.find((one) => one.item === state.selected?.item);
  sentences.forEach((one) => one.removeAttribute("aria-current"));
  current?.setAttribute("aria-current", "true");
  current ??= sentences[0];
  if (current) current.tabIndex = 0;
}

function summary() {
  const reports = everyItem().flatMap((item) => item.reports);
  const hard = reports.filter((report) => report.band > 1).length;
  const mean = reports.length ? reports.reduce((sum, one) => sum + one.difficulty, 0) / reports.length : 0;
  const decided = everyItem().filter((item) => item.current !== item.original).length;
  fill(find("#summary"),
    h("span", {}, `${reports.length} sentences, ${hard} of them hard for this reader.`),
    h("span", {}, `Difficulty on average: ${mean.toFixed(0)} of 100.`),
    decided ? h("span", {}, `${decided} changed.`) : null,
    h("span", { class: "key", "aria-label": "What the shades mean" }, bands().map((name, i) => h("span", { class: `b${i}` }, name))));
}

export function layOut(name) {
  view.layout = name;
  findAll("#layouts button").forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.layout === name)));
  draw();
}

function open(element, clicked) {
  select(element.item, element.report, clicked?.closest?.(".w")?.word ?? null);
}

export function select(item, report, wordReport = null) {
  state.selected = { item, report, word: wordReport };
  mark();
  if (matchMedia("(max-width: 56rem)").matches) find('#text .s[aria-current="true"]')?.scrollIntoView({ block: "start" });
  show();
}

function move(from, step) {
  const sentences = findAll("#text .s");
  const next = sentences[sentences.indexOf(from) + step];
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

export function setUpText() {
  const text = find("#text");
  text.addEventListener("click", (event) => {
    const element = event.target.closest(".s");
    if (element && !String(window.getSelection())) open(element, event.target);
  });
  text.addEventListener("keydown", (event) => {
    const element = event.target.closest(".s");
    if (!element) return;
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (step) { event.preventDefault(); move(element, step); }
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(element); find("#panel").focus(); }
  });
  for (const button of findAll("#layouts button")) button.addEventListener("click", () => layOut(button.dataset.layout));
  for (const id of ["#show-words", "#show-furigana"]) find(id).addEventListener("change", draw);
  onChange(draw);
}

export const focusSelected = () => (find('#text .s[aria-current="true"]') ?? find("#text .s"))?.focus();
