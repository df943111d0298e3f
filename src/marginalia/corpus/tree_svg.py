"""Trees as arcs over words, in SVG: one picture of a sentence, or of all sentences of a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from .document import ParsedSentence
from .tree_layout import Arc, RootMark, TreeLayout, tree_layout
from .words import Word

_LEVEL, _TOP, _WORDS, _CORNER, _APART = 22.0, 22.0, 46.0, 5.0, 12.0
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

STYLE = """\
.tree text{font-family:system-ui,sans-serif;text-anchor:middle;fill:#1d2433;unicode-bidi:isolate}
.tree .form{font-size:15px}.tree .upos{font-size:11px;fill:#5b6478}.tree .label{font-size:11px;fill:#24508f}
.tree .arc path,.tree .root path{fill:none;stroke:#8a94a8;stroke-width:1.2}
.tree path.tip{fill:#8a94a8}
.tree .arc.on path,.tree .root.on path{stroke:#c2410c;stroke-width:2}.tree .on .label{fill:#c2410c}
.tree .word{outline:none}
.tree .word:focus .form,.tree .word:hover .form{fill:#c2410c;text-decoration:underline}
@media (prefers-color-scheme:dark){.tree text{fill:#e6e9f0}.tree .upos{fill:#9aa4b8}.tree .label{fill:#8fb8f5}
.tree .arc path,.tree .root path{stroke:#6b7690}.tree path.tip{fill:#6b7690}
.tree .arc.on path,.tree .root.on path{stroke:#fb923c}
.tree .on .label,.tree .word:focus .form,.tree .word:hover .form{fill:#fb923c}}
"""


def xml_text(text: str) -> str:
    """A text as XML may have it: signs escaped, those that XML does not know replaced."""
    return escape(_NOT_XML.sub("\ufffd", text))


def document_svg(sentences: Iterable[ParsedSentence]) -> str:
    """One picture with the trees of all sentences, one below the other."""
    drawn = [(tree_layout(sentence), sentence) for sentence in sentences]
    at, parts = 0.0, []
    for layout, sentence in drawn:
        height = height_of(layout)
        parts.append("".join(_drawing(sentence, layout, f' y="{at:g}"')))
        at += height + _APART
    width, height = max((layout.width for layout, _ in drawn), default=1.0), max(1.0, at - _APART)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


def sentence_svg(sentence: ParsedSentence) -> str:
    """The tree of a sentence as a part of a page that has `STYLE`."""
    return "".join(_drawing(sentence, tree_layout(sentence), ""))


def height_of(layout: TreeLayout) -> float:
    """The height of a picture."""
    return _TOP + _LEVEL * (layout.levels + 1) + _WORDS


def _drawing(sentence: ParsedSentence, layout: TreeLayout, place: str) -> Iterator[str]:
    height = height_of(layout)
    text = xml_text(" ".join((sentence.text or " ".join(word.form for word in sentence.words)).split()))
    direction = ' direction="rtl"' if layout.right_to_left else ""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree"{place} '
        f'width="{layout.width:g}" height="{height:g}" viewBox="0 0 {layout.width:g} {height:g}" '
        f'role="group" aria-label="{text}"{direction}>\n'
    )
    base = height - _WORDS
    yield from (_arc(arc, base) for arc in layout.arcs)
    yield from (_root(root, base, layout.levels) for root in layout.roots)
    yield from (_word(word, x, base) for word, x in zip(sentence.words, layout.words, strict=True))
    yield "</svg>\n"


def _arc(arc: Arc, base: float) -> str:
    top = base - _LEVEL * arc.level
    turn = _CORNER if arc.to_x > arc.from_x else -_CORNER
    path = (
        f"M{arc.from_x:g} {base:g}V{top + _CORNER:g}Q{arc.from_x:g} {top:g} {arc.from_x + turn:g} {top:g}"
        f"H{arc.to_x - turn:g}Q{arc.to_x:g} {top:g} {arc.to_x:g} {top + _CORNER:g}V{base - 4:g}"
    )
    return (
        f'<g class="arc" data-head="{arc.head}" data-dependent="{arc.dependent}"><path d="{path}"/>'
        f"{_tip(arc.to_x, base)}{_label(arc.label, arc.label_x, top)}</g>\n"
    )


def _root(root: RootMark, base: float, levels: int) -> str:
    top = base - _LEVEL * (levels + 1)
    return (
        f'<g class="root" data-head="0" data-dependent="{root.dependent}">'
        f'<path d="M{root.x:g} {top + 3:g}V{base - 4:g}"/>'
        f"{_tip(root.x, base)}{_label(root.label, root.x, top + 3)}</g>\n"
    )


def _tip(x: float, base: float) -> str:
    return f'<path class="tip" d="M{x - 3:g} {base - 6:g}L{x:g} {base:g}L{x + 3:g} {base - 6:g}Z"/>'


def _label(label: str, x: float, top: float) -> str:
    return f'<text class="label" x="{x:g}" y="{top - 4:g}">{xml_text(label)}</text>' if label != "_" else ""


def _word(word: Word, x: float, base: float) -> str:
    about, upos = xml_text(described(word)), "" if word.upos == "_" else xml_text(word.upos)
    return (
        f'<g class="word" data-word="{word.id}" tabindex="{0 if word.id == 1 else -1}" role="img" '
        f'aria-label="{about}"><title>{about}</title>'
        f'<text class="form" x="{x:g}" y="{base + 18:g}">{xml_text(word.form)}</text>'
        f'<text class="upos" x="{x:g}" y="{base + 36:g}">{upos}</text></g>\n'
    )


def described(word: Word) -> str:
    """What is known of a word, in one line."""
    parts = [f"{word.id} {word.form}"]
    named = (("lemma", word.lemma), ("UPOS", word.upos), ("XPOS", word.xpos), ("feats", word.feats))
    parts += [f"{name} {value}" for name, value in named if value != "_"]
    if word.head is not None:
        head = word.head_word
        parts.append(
            f"{word.deprel} of {head.id} {head.form}" if head else f"{word.deprel} (head {word.head})"
        )
    return "; ".join(parts)
