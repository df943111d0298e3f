"""Trees as one page that needs nothing else: a picture of each sentence, with all that is known of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .document import ParsedSentence
from .tree_layout import runs_right_to_left
from .tree_svg import STYLE, sentence_svg, xml_text

_STYLE = """\
:root{color-scheme:light dark}body{margin:0 auto;max-width:80rem;padding:1rem;
font:16px/1.5 system-ui,sans-serif;background:#fff;color:#1d2433}
h1{font-size:1.3rem}section{margin:1.5rem 0;border-top:1px solid #d5dae3}
h2{font-size:.85rem;font-weight:normal;color:#5b6478;margin:.5rem 0 0}section>p{margin:.2rem 0}
.scroll{overflow-x:auto;padding:.3rem 0}.scroll:focus-visible{outline:2px solid #24508f}
.about{min-height:1.5em;font-size:.85rem;color:#5b6478}
@media (prefers-color-scheme:dark){body{background:#14171f;color:#e6e9f0}section{border-color:#333a4a}
h2,.about{color:#9aa4b8}.scroll:focus-visible{outline-color:#8fb8f5}}
"""
# Arrow keys go from word to word; one in focus or under the pointer shows its arcs and what is known of it.
_SCRIPT = """\
function show(word){const section=word.closest("section"),id=word.dataset.word;
section.querySelectorAll(".on").forEach(e=>e.classList.remove("on"));
section.querySelectorAll(`[data-dependent="${id}"],[data-head="${id}"]`).forEach(e=>e.classList.add("on"));
section.querySelector(".about").textContent=word.getAttribute("aria-label")}
function move(word,step){const words=[...word.parentNode.querySelectorAll(".word")];
const next=words[step===Infinity?words.length-1:step===-Infinity?0:words.indexOf(word)+step];
if(next){word.tabIndex=-1;next.tabIndex=0;next.focus()}}
for(const name of ["focusin","mouseover"])document.addEventListener(name,event=>{
const word=event.target.closest(".word");if(word)show(word)});
document.addEventListener("keydown",event=>{const word=event.target.closest(".word");if(!word)return;
const turned=word.parentNode.getAttribute("direction")==="rtl"?-1:1;
const step={ArrowRight:turned,ArrowLeft:-turned,Home:-Infinity,End:Infinity}[event.key];
if(step){event.preventDefault();move(word,step)}});
"""


def html_parts(sentences: Iterable[ParsedSentence], title: str = "Trees") -> Iterator[str]:
    """A page in parts, a sentence after the other: what is written needs the memory of one."""
    yield (
        f'<!DOCTYPE html>\n<html lang="und"><head><meta charset="utf-8"/><title>{xml_text(title)}</title>'
        '<meta name="viewport" content="width=device-width"/>'
        f"<style>{STYLE}{_STYLE}</style></head>\n<body><h1>{xml_text(title)}</h1>\n<main>\n"
    )
    for number, sentence in enumerate(sentences, 1):
        yield _section(sentence, number)
    yield f"</main>\n<script>//<![CDATA[\n{_SCRIPT}//]]></script></body></html>\n"


def _section(sentence: ParsedSentence, number: int) -> str:
    name = xml_text(sentence.sent_id or str(number))
    direction = "rtl" if runs_right_to_left(sentence.text) else "ltr"
    return (
        f'<section><h2>{name}</h2><p dir="auto">{xml_text(sentence.text)}</p>\n'
        f'<div class="scroll" dir="{direction}" tabindex="0" role="region" '
        f'aria-label="Tree of sentence {name}">\n'
        f'{sentence_svg(sentence)}</div>\n<p class="about" dir="auto" aria-live="polite"></p></section>\n'
    )
