// The questionnaire: a sentence, paraphrases of it in an order of chance, five steps from easier to harder.

import { post } from "./api.js";
import { button, fill, find, findAll, h, say } from "./dom.js";

const KEY = "marginalia-rater"; // a number drawn by chance, so that a questionnaire can be taken up again
const view = { language: "en" };

function rater() {
  try { return localStorage.getItem(KEY) ?? ""; } catch { return ""; }
}

function keep(name) {
  try { localStorage.setItem(KEY, name); } catch { /* a browser may keep nothing */ }
}

export const showQuestions = () => ask("/api/question", {});

async function ask(path, more) {
  const place = find("#view-questions");
  try {
    const found = await post(path, { language: view.language, rater: rater(), ...more });
    keep(found.rater);
    draw(found);
  } catch (error) {
    if (find("form", place)) say(error.message);
    else fill(place, h("h1", { id: "questions-title" }, "Questionnaire"), h("p", { class: "problem" }, error.message));
  }
}

function draw(found) {
  fill(find("#view-questions"),
    h("h1", { id: "questions-title", tabindex: -1 }, "Which is easier to read?"),
    h("p", { class: "lead" }, "Compare each wording with the first sentence, for the readers you know. Your answers are kept in a file on this machine, without your name, and can teach Marginalia what is hard."),
    languages(), found.question ? form(found) : h("p", { class: "notice" }, "There are no more questions. Thank you!"));
  find("#questions-title").focus();
}

const languages = () => h("p", { class: "buttons", role: "group", "aria-label": "Language of the questions" },
  [["en", "English"], ["ja", "日本語"]].map(([code, name]) =>
    button(name, () => { view.language = code; showQuestions(); }, { "aria-pressed": String(view.language === code), lang: code })));

function form(found) {
  const question = found.question;
  return h("form", { class: "question", onsubmit: (event) => { event.preventDefault(); send(found); } },
    h("p", { class: "note" }, `Answered: ${found.answered} of ${found.total}.`),
    h("div", { class: "card" }, h("h2", {}, "The sentence"), h("p", { lang: view.language }, question.sentence)),
    question.paraphrases.map((paraphrase, number) => scale(found.scale, paraphrase, number)),
    h("div", {}, h("label", { for: "comment" }, "Comment (if you like)"), h("textarea", { id: "comment", rows: 2, maxlength: 2000 })),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Next"),
      button("Skip", () => ask("/api/question", { skip: question.id }), { class: "quiet" })));
}

const scale = (steps, paraphrase, number) => h("fieldset", { class: "card" },
  h("legend", {}, `Wording ${number + 1}: compared with the sentence it is …`), h("p", { lang: view.language }, paraphrase.text),
  h("div", { class: "scale" }, steps.map(({ value, name }) =>
    h("label", {}, h("input", { type: "radio", name: paraphrase.id, value, required: true }), name))));

function send(found) {
  const ratings = {};
  for (const box of findAll("#view-questions input[type=radio]:checked")) ratings[box.name] = Number(box.value);
  ask("/api/answer", { question: found.question.id, ratings, comment: find("#comment").value });
}
