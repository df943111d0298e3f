// The page: entry, tools, views, keys.

import { post } from "./api.js";
import { find, findAll, h, pickFile, save, say } from "./dom.js";
import { close, setUpPanel } from "./panel.js";
import { openProfile, showReader, storedProfile, updateProfile } from "./profile.js";
import { showQuestions } from "./questions.js";
import { decisions, open, redo, result, resultOf, resume, state, undo } from "./state.js";
import { layOut, select, setUpText } from "./text-view.js";
import { showWords } from "./words-view.js";

const EXAMPLES = {
  en: "The committee, which had been established by the previous administration, was unable to ascertain whether the regulations were being implemented.\n\nIt was not until the report was published that the residents were informed of the contamination. Despite numerous complaints, no remedial measures had been undertaken by the authorities, and the inhabitants were advised to refrain from consuming the water.",
  ja: "この町には古い図書館しかないので、住民は新しい施設の建設を要望している。\n\n昨年、市長によって発表された計画は、資金が不足しているため、実施されないわけではないが、延期される可能性が高い。",
};

function setUpEntry() {
  find("#levels").append(...state.start.levels.map((level) =>
    h("label", {}, h("input", { type: "radio", name: "level", value: level }), level)));
  find("#entry-form").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  find("#levels").addEventListener("change", (event) => updateProfile({ level: event.target.value }));
  find("#language").addEventListener("change", (event) => updateProfile({ language: event.target.value }));
  for (const language of ["en", "ja"]) {
    find(`#example-${language}`).addEventListener("click", () => { find("#source").value = EXAMPLES[language]; submit(); });
  }
  find("#open-file").addEventListener("click", openFile);
}

async function openFile() {
  const file = await pickFile(".txt,.json,text/plain,application/json");
  if (!file) return;
  const text = await file.text();
  if (!file.name.endsWith(".json")) {
    find("#source").value = text;
    submit();
    return;
  }
  await busy(async () => {
    const { decisions: saved } = await post("/api/decisions", { decisions: parsed(text) });
    await resume(saved);
    showReader();
  });
}

function parsed(text) {
  try { return JSON.parse(text); } catch { throw new Error("this file is no JSON"); }
}

const submit = () => busy(() => open(find("#source").value, state.profile));

async function busy(work) {
  const button = find("#entry-form .main");
  button.disabled = true;
  button.textContent = "Reading…";
  try {
    await work();
    layOut("marked");
    find("#entry").hidden = true;
    find("#reading").hidden = false;
    find("#main").focus();
    window.scrollTo(0, 0);
  } catch (error) {
    say(error.message);
  } finally {
    button.disabled = false;
    button.textContent = "Show what is hard";
  }
}

function page() {
  const escape = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
  const body = state.blocks.map((block) => `<p>${escape(resultOf(block)).replaceAll("\n", "<br>")}</p>`).join("\n");
  return `<!DOCTYPE html>\n<html lang="${state.language}">\n<head><meta charset="utf-8"><title>Text</title></head>\n<body>\n${body}\n</body>\n</html>\n`;
}

const DOWNLOADS = {
  text: () => save("text.txt", "text/plain", result()),
  html: () => save("text.html", "text/html", page()),
  json: () => save("decisions.json", "application/json", `${JSON.stringify(decisions(), null, 2)}\n`),
};

function setUpTools() {
  find("#back").addEventListener("click", () => { find("#entry").hidden = false; find("#reading").hidden = true; find("#source").focus(); });
  find("#undo").addEventListener("click", () => step(undo));
  find("#redo").addEventListener("click", () => step(redo));
  find("#copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(result()); say("The result is copied."); } catch { say("The browser does not allow copying: use Download."); }
  });
  for (const button of findAll("[data-download]")) {
    button.addEventListener("click", () => { DOWNLOADS[button.dataset.download](); find("#download").open = false; });
  }
  document.addEventListener("click", (event) => { if (!event.target.closest("#download")) find("#download").open = false; });
  document.addEventListener("keydown", keys);
}

async function step(work) {
  try {
    const item = await work();
    if (item?.reports.length) select(item, item.reports[0]);
  } catch (error) { say(error.message); }
}

function keys(event) {
  if (event.key === "Escape" && state.selected && !find("#profile").open) { find("#download").open = false; close(); }
  const typing = event.target.closest("textarea, input, select");
  if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  step(event.shiftKey ? redo : undo);
}

const VIEWS = { text: () => {}, words: showWords, questions: showQuestions };

function setUpViews() {
  for (const button of findAll("[data-view]")) {
    button.addEventListener("click", () => {
      findAll("[data-view]").forEach((one) => one.removeAttribute("aria-current"));
      button.setAttribute("aria-current", "page");
      for (const name of Object.keys(VIEWS)) find(`#view-${name}`).hidden = name !== button.dataset.view;
      VIEWS[button.dataset.view]();
    });
  }
  find("#open-profile").addEventListener("click", openProfile);
}

async function begin() {
  state.start = await post("/api/start", {});
  state.profile = { ...state.start.profile, ...(state.start.fixed ? {} : storedProfile()) };
  find("#version").textContent = `Marginalia ${state.start.version}.`;
  setUpEntry();
  showReader();
  setUpTools();
  setUpViews();
  setUpText();
  setUpPanel();
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => say(error.message));
