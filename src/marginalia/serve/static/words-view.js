// Hard words of the text as it is now: a list with glosses, and a worksheet, both to print.

import { post } from "./api.js";
import { button, fill, find, h } from "./dom.js";
import { profileNow, result, state } from "./state.js";

export async function showWords() {
  const view = find("#view-words");
  if (!state.analysis) {
    fill(view, h("h1", { id: "words-title" }, "Words"), h("p", { class: "lead" }, "Open a text first: its hard words will be listed here, with a worksheet to print."));
    return;
  }
  fill(view, h("h1", { id: "words-title" }, "Words"), h("p", { class: "busy" }, "Collecting words…"));
  try {
    const found = await post("/api/vocabulary", { text: result(), profile: profileNow() });
    fill(view, head(found), found.entries.length ? [list(found), worksheet(found)] : null);
  } catch (error) {
    fill(view, h("h1", { id: "words-title" }, "Words"), h("p", { class: "problem" }, error.message));
  }
}

function head(found) {
  const count = found.entries.length;
  return [h("h1", { id: "words-title" }, "Hard words"),
    h("p", { class: "lead no-print" }, count ? `${count} words of this text are hard for a reader at the level “${state.profile.level}”.` : "No word of this text is hard for this reader."),
    count ? h("p", { class: "no-print" }, button("Print", () => window.print(), { class: "main" })) : null];
}

function list(found) {
  const readings = found.entries.some((entry) => entry.reading);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "List of words" }, h("table", { lang: state.language },
    h("thead", {}, h("tr", {}, ["Word", readings && "Reading", "Meaning or easier words", "In the text"].filter(Boolean).map((name) => h("th", { scope: "col", lang: "en" }, name)))),
    h("tbody", {}, found.entries.map((entry) => h("tr", {},
      h("td", { class: "word" }, entry.lemma), readings ? h("td", {}, entry.reading) : null, h("td", {}, entry.gloss || "—"),
      h("td", {}, entry.ahead, h("b", {}, entry.form), entry.behind))))));
}

function worksheet(found) {
  return h("div", { class: "sheet page-break", lang: state.language },
    h("h2", { lang: "en" }, "Worksheet"), h("h3", { lang: "en" }, "1. Which word is missing?"),
    h("p", { class: "bank" }, found.bank.join("   ·   ")),
    h("ol", {}, found.entries.map((entry) => h("li", {}, entry.ahead, h("span", { class: "blank", role: "img", "aria-label": "gap" }), entry.behind))),
    found.match.length > 1 ? [h("h3", { lang: "en" }, "2. What belongs together? Draw lines."),
      h("div", { class: "match" }, found.match.map(([word, gloss]) => [h("div", {}, word), h("div", {}, gloss)]))] : null,
    h("h3", { lang: "en" }, "Answers"),
    h("p", { class: "small" }, found.entries.map((entry, i) => `${i + 1} ${entry.form}`).join(", ")));
}
