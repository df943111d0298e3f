// The questionnaire: sentences that say the same, in an order of chance, each with five steps from hard to easy.

import { post } from "./api.js";
import { button, fill, find, findAll, h, say } from "./dom.js";
import { state } from "./state.js";

const KEY = "marginalia-rater"; // a number drawn by chance, so that a questionnaire can be taken up again
const view = { language: "en", level: "" };

function rater() {
  try { return localStorage.getItem(KEY) ?? ""; } catch { return ""; }
}

function keep(name) {
  try { localStorage.setItem(KEY, name); } catch { /* a browser may keep nothing */ }
}

export const showQuestions = () => ask("/api/question", {});

async function ask(path, more) {
  const place = find("#view-questions");
  view.level ||= state.profile.level;
  if (!find("form", place)) fill(place, title("Questionnaire"), h("p", { class: "busy" }, "Choosing what to ask…"));
  try {
    const found = await post(path, { language: view.language, level: view.level, rater: rater(), ...more });
    keep(found.rater);
    draw(found);
  } catch (error) {
    if (find("form", place)) say(error.message);
    else fill(place, title("Questionnaire"), h("p", { class: "problem" }, error.message));
  }
}

const title = (text) => h("h1", { id: "questions-title", tabindex: -1 }, text);

function draw(found) {
  fill(find("#view-questions"),
    title("How easy is each of these to read?"),
    h("p", { class: "lead" }, "They say the same. Think of the readers you know. Your answers are kept in a file on this machine, without your name, and can teach Marginalia what is hard."),
    choices(), found.question ? form(found) : h("p", { class: "notice" }, "There are no more questions for these readers. Thank you!"));
  find("#questions-title").focus();
}

const choices = () => h("div", { class: "row" },
  group("Language", [["en", "English"], ["ja", "日本語"]], view.language, (value) => { view.language = value; }),
  group("Readers", state.start.levels.map((level) => [level, level]), view.level, (value) => { view.level = value; }));

const group = (label, options, chosen, choose) => h("div", { class: "choices small", role: "group", "aria-label": label },
  options.map(([value, name]) => button(name, () => { choose(value); showQuestions(); }, { "aria-pressed": String(value === chosen) })));

function form(found) {
  const { id, sentences } = found.question;
  return h("form", { class: "question", onsubmit: (event) => { event.preventDefault(); send(found); } },
    h("p", { class: "note" }, `Answered: ${found.answered} of ${found.total}.`),
    sentences.map((text, number) => scale(found.steps, text, number)),
    h("div", {}, h("label", { for: "comment" }, "Comment (if you like)"), h("textarea", { id: "comment", rows: 2, maxlength: 2000 })),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Next"),
      button("I cannot say", () => ask("/api/answer", { question: id, degrees: sentences.map(() => null) }), { class: "quiet" })));
}

const scale = (steps, text, number) => h("fieldset", { class: "card" },
  h("legend", {}, `Wording ${number + 1}`), h("p", { lang: view.language }, text),
  h("div", { class: "scale" }, steps.map((name, step) =>
    h("label", {}, h("input", { type: "radio", name: `wording-${number}`, value: step + 1, required: true }), name))));

function send(found) {
  const degrees = findAll("#view-questions .scale").map((one) => Number(find("input:checked", one).value));
  ask("/api/answer", { question: found.question.id, degrees, comment: find("#comment").value });
}
