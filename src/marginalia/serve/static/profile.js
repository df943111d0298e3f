// The reader: level, known words, protected terms, what is not to be offered, how picky.

import { post } from "./api.js";
import { button, fill, find, findAll, h, pickFile, save, say } from "./dom.js";
import { refresh, state } from "./state.js";

const KEY = "marginalia-profile"; // the only thing that the browser keeps, beside the questionnaire's rater
const lines = (text) => [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];

export function storedProfile() {
  try { return JSON.parse(localStorage.getItem(KEY)); } catch { return null; }
}

export async function updateProfile(values) {
  state.profile = { ...state.profile, ...values };
  if ("language" in values) state.language = values.language;
  try { localStorage.setItem(KEY, JSON.stringify(state.profile)); } catch { /* a browser may keep nothing */ }
  showReader();
  await refresh().catch((error) => say(error.message));
}

export function showReader() {
  find("#reader-name").textContent = state.profile.level;
  for (const input of findAll("#levels input")) input.checked = input.value === state.profile.level;
  find("#language").value = state.profile.language;
}

export async function openProfile() {
  try { draw(state.profile, await familiesOf(state.language || state.profile.language || "en")); } catch (error) { say(error.message); }
}

const known = {};
async function familiesOf(language) {
  known[language] ??= (await post("/api/families", { language })).families;
  return known[language];
}

function draw(profile, rules) {
  const list = (id, title, hint, terms) => h("div", {}, h("label", { for: id }, title),
    h("textarea", { id, rows: 4, value: terms.join("\n"), "aria-describedby": `${id}-hint` }), h("p", { class: "hint", id: `${id}-hint` }, hint));
  const picky = h("input", { type: "range", id: "p-picky", min: 0, max: 1, step: 0.05, value: profile.picky });
  const shown = h("output", { for: "p-picky" }, profile.picky.toFixed(2));
  picky.addEventListener("input", () => { shown.textContent = Number(picky.value).toFixed(2); });
  const form = h("form", { method: "dialog", onsubmit: submit },
    h("h2", { id: "profile-title" }, "The reader"),
    h("div", { class: "two" },
      h("div", {}, h("label", { for: "p-level" }, "Level"),
        h("select", { id: "p-level", value: profile.level }, state.start.levels.map((level) => h("option", { value: level, selected: level === profile.level }, level)))),
      h("div", {}, h("label", { for: "p-offers" }, "Offers for a sentence, at most"),
        h("input", { type: "number", id: "p-offers", min: 1, max: 50, value: profile.offers }))),
    h("div", {}, h("label", { for: "p-picky" }, "How much easier an offer must be: "), shown, picky),
    h("div", { class: "two" },
      list("p-known", "Words that the reader knows", "One on a line. They are never marked as hard.", profile.known),
      list("p-protected", "Protected terms", "One on a line. No offer touches them.", profile.protected)),
    families(profile, rules),
    h("div", { class: "buttons" },
      h("button", { type: "submit", class: "main" }, "Apply"), button("Cancel", () => find("#profile").close()),
      h("span", { class: "spread" }), button("Save as file", saveProfile, { class: "quiet" }), button("Open file", loadProfile, { class: "quiet" })));
  fill(find("#profile"), form);
  if (!find("#profile").open) find("#profile").showModal();
}

const KINDS = [
  { name: "lexical", why: "All offers of other words." },
  { name: "structural", why: "All offers of another sentence structure." },
];

function families(profile, rules) {
  const listed = [...KINDS, ...rules];
  const names = new Set(listed.map((one) => one.name));
  const others = profile.off.filter((name) => !names.has(name)).map((name) => ({ name, why: "" }));
  return h("details", { class: "more" }, h("summary", {}, `Kinds of offers (${profile.off.length} switched off)`),
    h("div", { class: "families", role: "group", "aria-label": "Kinds of offers" }, [...listed, ...others].map(({ name, why }) =>
      h("label", { class: "check" }, h("input", { type: "checkbox", "data-family": name, checked: !profile.off.includes(name) }),
        h("span", {}, h("b", {}, name), why ? ` ${why}` : "")))));
}

const read = () => ({
  level: find("#p-level").value, offers: Number(find("#p-offers").value) || 5, picky: Number(find("#p-picky").value),
  known: lines(find("#p-known").value), protected: lines(find("#p-protected").value),
  off: findAll("#profile [data-family]").filter((box) => !box.checked).map((box) => box.dataset.family),
});

async function submit(event) {
  event.preventDefault();
  find("#profile").close();
  await updateProfile(read());
}

async function saveProfile() {
  const { toml } = await post("/api/profile", { profile: { ...state.profile, ...read() } });
  save("reader.toml", "application/toml", toml);
}

async function loadProfile() {
  const file = await pickFile(".toml");
  if (!file) return;
  try {
    const { profile } = await post("/api/profile", { toml: await file.text() });
    find("#profile").close();
    await updateProfile(profile);
  } catch (error) { say(error.message); }
}
