"""A tree for the terminal: a word on a line, dependents indented; those to the left above, others below."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from .document import ParsedSentence
from .words import Word

_DEEPEST = 40  # levels that are indented; what is below has its depth as a number
_ISOLATE = "\u2068{}\u2069"


class _Entry(NamedTuple):
    """A word to be written: what its line begins with, and lines of its dependents above and below it."""

    word: Word
    above: str
    line: str
    below: str
    depth: int
    open: bool  # dependents are still to be put before and behind it


def tree_text(sentence: ParsedSentence) -> str:
    """The tree of a sentence, read from top to bottom: the order of words, if no arcs cross."""
    entries = list(_in_order(sentence))
    lines = [(entry.line + _shown(entry.word.form), entry.word) for entry in entries]
    width = min(60, max(display_width(line) for line, _ in lines))
    heading = f"# {_shown(sentence.sent_id)}: " if sentence.sent_id else "# "
    rows = (f"{line}{' ' * max(0, width - display_width(line))}  {_tags(word)}" for line, word in lines)
    return "\n".join([heading + _shown(" ".join(sentence.text.split())), *rows]) + "\n"


def _in_order(sentence: ParsedSentence) -> Iterator[_Entry]:
    """All words of a tree, and of what is none: each word once."""
    children, reached = sentence.child_ids(), set[int]()
    known = set().union(*map(set, children[1:]))
    tops = [word for word in sentence.words if word.id not in known]
    # Words of a cycle hang below no top: the first of each cycle is made one.
    for top in [*tops, *sentence.words]:
        stack = [_Entry(top, "", "", "", 0, True)] if top.id not in reached else []
        while stack:
            entry = stack.pop()
            if not entry.open:
                yield entry
            elif entry.word.id not in reached:
                reached.add(entry.word.id)
                stack += _opened(entry, sentence, [c for c in children[entry.word.id] if c not in reached])


def _opened(entry: _Entry, sentence: ParsedSentence, children: list[int]) -> list[_Entry]:
    """The word with its dependents around it, the last one first, as a stack needs it."""
    left = [child for child in children if child < entry.word.id]
    right = [child for child in children if child > entry.word.id]
    found = [_child(sentence.words[c - 1], entry.above, "┌" if c == left[0] else "├", entry) for c in left]
    found.append(entry._replace(open=False))
    found += [
        _child(sentence.words[c - 1], entry.below, "└" if c == right[-1] else "├", entry) for c in right
    ]
    return found[::-1]


def _child(word: Word, before: str, corner: str, parent: _Entry) -> _Entry:
    depth = parent.depth + 1
    if depth > _DEEPEST:
        return _Entry(word, before, f"{before}{depth}: ", before, depth, True)
    above, below = (" " if corner == edge else "│" for edge in "┌└")
    return _Entry(word, f"{before}{above}  ", f"{before}{corner}─ ", f"{before}{below}  ", depth, True)


def _tags(word: Word) -> str:
    return " ".join(_shown(part) for part in (word.deprel, word.upos) if part != "_") or "–"


def _shown(text: str) -> str:
    """Without what would steer a terminal; text from right to left is kept apart from what is around it."""
    plain = "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in text)
    right_to_left = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in plain)
    return _ISOLATE.format(plain) if right_to_left else plain


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    none = sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
    return len(text) + wide - none
