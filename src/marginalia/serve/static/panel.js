// What is known of the chosen sentence: reasons, hard words, offers with their differences and derivations.

import { post } from "./api.js";
import { button, fill, find, h, say } from "./dom.js";
import { change, contextOf, onChange, profileNow, state } from "./state.js";
import { updateProfile } from "./profile.js";
import { focusSelected } from "./text-view.js";

const offersByReport = new WeakMap();

export function show() {
  const panel = find("#panel");
  panel.classList.toggle("resting", !state.selected);
  if (!state.selected) {
    fill(panel, h("h2", {}, "Tap a sentence"), h("p", { class: "note" },
      "Shaded sentences are hard for this reader, and underlined words are rare. Here you will see why, and what could be said instead. With the keyboard: arrow keys go from sentence to sentence, Enter opens one, Escape goes back."));
    return;
  }
  const { item, report } = state.selected;
  fill(panel, button("✕", close, { class: "quiet close", "aria-label": "Close" }),
    h("h2", {}, "This sentence"), meter(report), reasons(report), words(report), offers(item, report), editor(item), history(item));
  panel.scrollTop = 0;
}

export function close() {
  state.selected = null;
  show();
  focusSelected();
}

function meter(report) {
  const name = state.start.bands[report.band];
  return h("div", { class: "meter" }, h("b", {}, name),
    h("progress", { max: 100, value: report.difficulty, "aria-label": `Difficulty ${report.difficulty.toFixed(0)} of 100` }),
    h("span", {}, report.difficulty.toFixed(0)));
}

function reasons(report) {
  if (!report.reasons.length) return h("p", { class: "note" }, "Nothing about its structure is hard for this reader.");
  return [h("h3", {}, "What makes it hard"),
    h("ul", { class: "reasons" }, report.reasons.map((reason) =>
      h("li", {}, reason.text, reason.words.length ? [" ", h("q", {}, reason.words.join(" … "))] : null)))];
}

function words(report) {
  const hard = report.words.filter((word) => word.band > 1);
  if (!hard.length) return null;
  const about = h("div", { "aria-live": "polite" });
  const tell = (word) => fill(about, aboutWord(word));
  if (state.selected.word) tell(state.selected.word);
  return [h("h3", {}, "Hard words"),
    h("ul", { class: "chips" }, hard.map((word) =>
      h("li", {}, button(word.form, () => tell(word), { class: `w${word.band}` })))), about];
}

function aboutWord(word) {
  const facts = [word.reading && `read ${word.reading}`, word.reason].filter(Boolean).join("; ");
  return h("p", { class: "small" }, h("b", {}, word.lemma), `: ${facts || "nothing is known of it"}. `,
    h("span", { class: "buttons" },
      button("The reader knows it", () => add("known", word.lemma)),
      button("Never change it", () => add("protected", word.form))));
}

async function add(list, term) {
  if (state.profile[list].includes(term)) return;
  await updateProfile({ [list]: [...state.profile[list], term] });
  say(list === "known" ? `“${term}” counts as known.` : `“${term}” will not be touched.`);
}

function offers(item, report) {
  const place = h("div", { "aria-live": "polite" }, h("p", { class: "busy" }, "Looking for something easier…"));
  loadOffers(item, report).then(
    (found) => fill(place, found.length ? found.map((offer) => offerOf(item, report, offer))
      : h("p", { class: "note" }, "No wording was found that is easier for this reader and passes the checks.")),
    (error) => fill(place, h("p", { class: "problem" }, error.message)));
  return [h("h3", {}, "What could be said instead"), place];
}

async function loadOffers(item, report) {
  if (!offersByReport.has(report)) {
    const asked = post("/api/offers", { ...contextOf(item, report), profile: profileNow() });
    offersByReport.set(report, asked.then((found) => found.offers));
    asked.catch(() => offersByReport.delete(report));
  }
  return offersByReport.get(report);
}

export const marks = (segments) => segments.map(({ before, after }) =>
  before === after ? after : [before ? h("del", {}, before) : null, before && after ? " " : null, after ? h("ins", {}, after) : null]);

function offerOf(item, report, offer) {
  const shown = h("p", { class: "new" }, marks(offer.segments));
  return h("article", { class: "offer", "aria-label": offer.text },
    shown, h("p", { class: "why" }, offer.reason, " ", h("span", { class: "gain" }, `Difficulty ${report.difficulty.toFixed(0)} → ${offer.difficulty.toFixed(0)}`)),
    h("div", { class: "buttons" },
      button("Use this", () => accept(item, report, offer), { class: "main" }),
      button("Edit first", () => startEditing(report, offer.text))),
    derivation(offer));
}

async function accept(item, report, offer) {
  await guarded(() => change(item, offer.text, offer, report));
  state.selected = { item, report: item.reports[0], word: null };
  show();
  say("Changed. Undo takes it back.");
  find("#panel").focus();
}

function startEditing(report, text) {
  const box = find("#own");
  box.value = state.selected.item.reports.length > 1 ? state.selected.item.current.replace(report.text, () => text) : text;
  box.closest("details").open = true;
  box.focus();
}

function derivation(offer) {
  return h("details", {}, h("summary", {}, "How was this made?"),
    h("ol", {}, offer.steps.map((step) => h("li", {},
      h("b", {}, step.why), h("br"), marks(step.segments), h("br"), h("code", {}, step.rule), " ",
      step.family ? button("Never offer this kind", () => switchOff(step.family), { class: "link" }) : null))),
    offer.checks.length ? [h("b", {}, "Checks"),
      h("ul", {}, offer.checks.map((check) => h("li", {}, `${check.name}: ${check.action}${check.reason ? `, ${check.reason}` : ""}`)))] : null);
}

async function switchOff(family) {
  await updateProfile({ off: [...new Set([...state.profile.off, family])] });
  say(`“${family}” will not be offered any more; the reader's profile can bring it back.`);
}

function editor(item) {
  const box = h("textarea", { id: "own", rows: 4, lang: state.language, value: item.current });
  return h("details", { class: "more" }, h("summary", {}, "Write it yourself"),
    h("label", { for: "own", class: "small" }, "Your wording"), box,
    h("div", { class: "buttons" }, button("Use my wording", () => own(item, box.value), { class: "main" })));
}

async function own(item, text) {
  await guarded(() => change(item, text.trim(), null));
  state.selected = item.reports.length ? { item, report: item.reports[0], word: null } : null;
  show();
}

async function guarded(work) {
  try { await work(); } catch (error) { say(error.message); throw error; }
}

function history(item) {
  if (!item.steps.length) return null;
  return h("details", { class: "more" }, h("summary", {}, "As it was"), h("p", { class: "quote" }, item.original),
    button("Put it back", () => guarded(async () => {
      await change(item, item.original, null);
      state.selected = { item, report: item.reports[0], word: null };
      show();
    })));
}

export const setUpPanel = () => onChange(() => { if (!state.selected) show(); });
