// The text that is worked on: blocks of items, each a sentence of the text as it came, with what became of it.
//
// item: { block, start, end, before, original, current, first, reports, steps, segments }; `first` is the report of
// the original, `segments` say what is different from it.
// A step is one decision: { before, after, offer } with the whole sentence before and after, and the offer that
// was accepted, or null if it was edited by hand.

import { post } from "./api.js";

export const state = {
  start: null, profile: null, language: "", analysis: null, blocks: [], tail: "", done: [], undone: [], selected: null,
};

const listeners = new Set();
export const onChange = (listener) => listeners.add(listener);
export const changed = () => listeners.forEach((listener) => listener());

export const everyItem = () => state.blocks.flatMap((block) => block.items);
export const profileNow = () => ({ ...state.profile, language: state.language || state.profile.language });
export const resultOf = (block) => block.items.map((item) => item.before + item.current).join("") + block.after;
export const result = () => state.blocks.map((block) => block.before + resultOf(block)).join("") + state.tail;
export const original = () =>
  state.blocks.map((b) => b.before + b.items.map((i) => i.before + i.original).join("") + b.after).join("") + state.tail;

export async function open(text, profile) {
  const analysis = await post("/api/analyse", { text, profile });
  Object.assign(state, {
    analysis, language: analysis.language, done: [], undone: [], selected: null, tail: analysis.after,
    blocks: analysis.blocks.map((block, number) => ({
      kind: block.kind, before: block.before, after: block.after, text: block.text,
      items: block.sentences.map((sentence) => ({
        block: number, start: sentence.start, end: sentence.end, before: sentence.before, original: sentence.text,
        current: sentence.text, first: sentence, reports: [sentence], steps: [],
      })),
    })),
  });
  changed();
}

// The context that a sentence was parsed in, and its number there.
export const contextOf = (item, report) =>
  item.steps.length
    ? { text: item.current, index: item.reports.indexOf(report) }
    : { text: state.blocks[item.block].text, index: state.blocks[item.block].items.indexOf(item) };

async function reportsOf(text) {
  if (!text.trim()) return [];
  const found = await post("/api/analyse", { text, profile: profileNow() });
  return found.blocks.flatMap((block, number) =>
    block.sentences.map((sentence, i) => ({
      ...sentence, before: (i ? "" : (number ? found.blocks[number - 1].after : "") + block.before) + sentence.before,
    })));
}

const load = async (item) => {
  if (!item.steps.length) { item.reports = [item.first]; return; }
  const { original: before, current: after } = item;
  const [reports, { segments }] = await Promise.all([reportsOf(after), post("/api/difference", { before, after })]);
  Object.assign(item, { reports, segments });
};

// Accept or edit: the sentence reads differently from now on.
export async function change(item, after, offer, report) {
  const before = item.current;
  const text = report && item.reports.length > 1 ? replacedReport(item, report, after) : after;
  if (text === before) return;
  const step = { before, after: text, offer };
  await apply(item, step);
  state.done.push({ item, step });
  state.undone = [];
  changed();
}

const replacedReport = (item, report, after) =>
  item.reports.map((one) => one.before + (one === report ? after : one.text)).join("");

async function apply(item, step) {
  item.steps.push(step);
  item.current = step.after;
  await load(item);
}

export async function undo() {
  const last = state.done.pop();
  if (!last) return null;
  const { item, step } = last;
  item.steps.splice(item.steps.lastIndexOf(step), 1);
  item.current = step.before;
  await load(item);
  state.undone.push(last);
  changed();
  return item;
}

export async function redo() {
  const last = state.undone.pop();
  if (!last) return null;
  await apply(last.item, last.step);
  state.done.push(last);
  changed();
  return last.item;
}

// Another reader: everything is looked at again, and decisions stay.
export async function refresh() {
  if (!state.analysis) return;
  const analysis = await post("/api/analyse", { text: original(), profile: profileNow() });
  state.analysis = analysis;
  analysis.blocks.forEach((block, number) => block.sentences.forEach((sentence, i) => {
    state.blocks[number].items[i].first = sentence;
  }));
  await Promise.all(everyItem().map(load));
  state.selected = null;
  changed();
}

// All decisions, in the format that `marginalia.assist.decisions` reads.
export function decisions() {
  const decided = everyItem().filter((item) => item.current !== item.original);
  return {
    format: state.start.decisions_format,
    versions: state.analysis.versions,
    language: state.language,
    profile: state.profile,
    text: original(),
    decisions: decided.map((item) => ({
      block: item.block, start: item.start, end: item.end, before: item.original, after: item.current,
      steps: item.steps.map(({ before, after, offer }) => ({ before, after, offer })),
    })),
    result: result(),
  };
}

// Work that was saved is taken up again: the text as it came, then each decision.
export async function resume(saved) {
  await open(saved.text, { ...saved.profile, language: saved.language });
  state.profile = saved.profile;
  for (const decision of saved.decisions) {
    const item = everyItem().find((one) => one.block === decision.block && one.start === decision.start);
    if (!item || item.original !== decision.before) throw new Error("the decisions are of another text");
    for (const step of decision.steps) {
      await apply(item, step);
      state.done.push({ item, step });
    }
  }
  changed();
}
