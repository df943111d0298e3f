"""Analyses as a page of HTML that needs no other file, no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from marginalia.assist.difference import Segment
from marginalia.assist.records import BANDS, Analysis, Offer, SentenceReport
from marginalia.assist.report_text import headline
from marginalia.assist.vocabulary import Vocabulary, vocabulary
from marginalia.corpus.tree_svg import xml_text

_STYLE = """\
:root{color-scheme:light;--ink:#1f2430;--soft:#565d6b;--line:#d9d5c9;--b1:#fbf3d3;--b2:#fae0a8;--b3:#f6c0a5}
body{font:17px/1.6 system-ui,sans-serif;background:#fbfaf6;color:var(--ink);max-width:46rem;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem}p.text,li.text,h3.text{font-family:Georgia,serif;
font-size:1.15rem;line-height:1.8;white-space:pre-line}
.b1{background:var(--b1)}.b2{background:var(--b2)}.b3{background:var(--b3)}
span.s,.key span{border-radius:.25rem;padding:.1em .2em}.w2{text-decoration:underline dotted #8a4b00 2px}
.w3{text-decoration:underline wavy #a3231f 1.5px}
.soft,small{color:var(--soft)}details{border-top:1px solid var(--line);padding:.6rem 0}
summary{cursor:pointer}ins{color:#0d5f3a;background:#dff3e6;text-decoration:none;border-bottom:2px solid}
del{color:#8f2a21;background:#fbe5e1}ol.offers li{margin:.6rem 0}table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.4rem .6rem .4rem 0;border-bottom:1px solid var(--line)}
a{color:#1f5a55}:focus-visible{outline:3px solid #1f5a55}
@media print{details{break-inside:avoid}body{background:#fff}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_html(analyses: Sequence[Analysis]) -> str:
    """The page: each text with its shades, then its hard sentences, then its hard words."""
    title = "What is hard to read"
    language = analyses[0].language if analyses else "en"
    parts = [
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f'<title>{title}</title><style>\n{_STYLE}</style></head>\n<body><h1 lang="en">{title}</h1>',
        f'<p class="key" lang="en">Sentences: {" ".join(_key())}</p>',
    ]
    for number, analysis in enumerate(analyses, 1):
        parts += _text(analysis, number)
    return "\n".join([*parts, "</body></html>\n"])


def _key() -> Iterator[str]:
    return (f'<span class="b{band}">{name}</span>' for band, name in enumerate(BANDS))


def _text(analysis: Analysis, number: int) -> Iterator[str]:
    yield f'<section lang="{analysis.language}"><h2 lang="en">{xml_text(headline(analysis))}</h2>'
    by_block: dict[int, list[tuple[int, SentenceReport]]] = {}
    for i, sentence in enumerate(analysis.sentences):
        by_block.setdefault(sentence.block, []).append((i, sentence))
    for index, block in enumerate(analysis.blocks):
        tag = block["kind"] if block["kind"] in ("li",) else "h3" if block["kind"][0] == "h" else "p"
        yield f'<{tag} class="text">{_shaded(block["text"], by_block.get(index, ()), number)}</{tag}>'
    for i, sentence in enumerate(analysis.sentences):
        if sentence.band > 1:
            yield from _sentence(sentence, f"s{number}-{i}")
    yield from _words(vocabulary(analysis))
    yield "</section>"


def _shaded(text: str, sentences: Iterable[tuple[int, SentenceReport]], number: int) -> str:
    parts, done = [], 0
    for i, one in sentences:
        parts.append(xml_text(text[done : one.start]))
        inner = _marked_words(one)
        link = f'<a href="#s{number}-{i}" aria-label="why">°</a>' if one.band > 1 else ""
        parts.append(f'<span class="s b{one.band}">{inner}</span>{link}')
        done = one.end
    return "".join([*parts, xml_text(text[done:])])


def _marked_words(sentence: SentenceReport) -> str:
    parts, done = [], 0
    for word in sentence.words:
        if word.start >= done:
            parts.append(xml_text(sentence.text[done : word.start]))
            parts.append(
                f'<span class="w{word.band}">{xml_text(sentence.text[word.start : word.end])}</span>'
            )
            done = word.end
    return "".join([*parts, xml_text(sentence.text[done:])])


def _sentence(sentence: SentenceReport, place: str) -> Iterator[str]:
    yield f'<details open id="{place}"><summary class="text">{xml_text(sentence.text)}</summary>'
    yield f'<div lang="en"><p class="soft">{BANDS[sentence.band]}, {sentence.difficulty:.0f} of 100</p><ul>'
    for reason in sentence.reasons:
        where = f" <q>{xml_text(' … '.join(reason.words))}</q>" if reason.words else ""
        yield f"<li>{xml_text(reason.text)}{where}</li>"
    for word in sentence.words:
        if word.band > 1:
            yield f"<li><b>{xml_text(word.form)}</b>: {xml_text(word.reason)}</li>"
    yield "</ul></div>"
    if sentence.offers:
        yield f'<ol class="offers">{"".join(map(_offer, sentence.offers))}</ol>'
    yield "</details>"


def _offer(offer: Offer) -> str:
    rules = ", ".join(dict.fromkeys(step.rule for step in offer.steps))
    marked = "".join(map(_segment, offer.segments))
    return f'<li>{marked}<br><small lang="en">{xml_text(offer.reason)} [{xml_text(rules)}]</small></li>'


def _segment(segment: Segment) -> str:
    if segment.same:
        return xml_text(segment.after)
    old = f"<del>{xml_text(segment.before)}</del>" if segment.before else ""
    new = f"<ins>{xml_text(segment.after)}</ins>" if segment.after else ""
    return f"{old} {new}" if old and new else old + new


def _words(words: Vocabulary) -> Iterator[str]:
    if words.entries:
        yield '<h3 lang="en">Hard words</h3><table>'
        for entry in words.entries:
            form, meaning = xml_text(entry.lemma), xml_text(entry.gloss or entry.level)
            context = f"{xml_text(entry.ahead)}<b>{xml_text(entry.form)}</b>{xml_text(entry.behind)}"
            reading = f" ({xml_text(entry.reading)})" if entry.reading else ""
            yield f"<tr><td><b>{form}</b>{reading}</td><td>{meaning}</td><td>{context}</td></tr>"
        yield "</table>"
