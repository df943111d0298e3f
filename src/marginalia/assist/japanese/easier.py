"""Words in the units in which SNOW T15 replaces them, and whether a word is easier than another.

`data/assist/ja/easier.words` was learned from SNOW T15 (CC BY 4.0) by `tools/make_easier.py`: a line has the
words (`到着:VERB する`), easier ones, how often these stood for those, and how often those were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from marginalia.assist.words.familiarity import Familiarity, familiarity

if TYPE_CHECKING:
    from marginalia.assist.trees import Node

_LONGEST = 3  # units that may stand for one
_CONTENT = frozenset({"NOUN", "PROPN", "PRON", "VERB", "ADJ", "ADV", "DET", "CCONJ"})
_LIKE = {"PRON": "NOUN", "PROPN": "NOUN"}
_SMALL = frozenset({
    "の", "た", "て", "で", "に", "を", "が", "は", "と", "だ", "も", "ない", "れる", "する", "たち",
    "こと", "人",
})  # fmt: skip
_HELPERS = frozenset(["なる", "する", "ある", "いる", "くる", "いく", "おく", "もらう", "くれる"])
_NUMBERS = frozenset("一二三四五六七八九十百千万")


@dataclass(frozen=True)
class Unit:
    """A word, or a noun with する: its lemmas, its part of speech and its nodes."""

    lemmas: tuple[str, ...]
    upos: str
    nodes: tuple[Node, ...]

    @property
    def key(self) -> str:
        """The unit as the left side of a rule of words: `到着:VERB する`."""
        return " ".join((f"{self.lemmas[0]}:{self.upos}", *self.lemmas[1:]))


def units_of(nodes: Sequence[Node]) -> list[Unit]:
    """The words of a sentence; する belongs to the noun before it."""
    units, start = [], 0
    while start < len(nodes):
        node = nodes[start]
        end = start + 1
        if "サ変可能" in node.xpos and end < len(nodes) and nodes[end].lemma == "する":
            end += 1
        upos = "VERB" if end - start > 1 else node.upos
        units.append(Unit(tuple(one.lemma for one in nodes[start:end]), upos, tuple(nodes[start:end])))
        start = end
    return units


def replaced(before: Sequence[Unit], after: Sequence[Unit]) -> Iterator[tuple[Unit, tuple[str, ...]]]:
    """Units of a sentence for which others of the same kind stand in its paraphrase, with their lemmas."""
    matcher = SequenceMatcher(None, [u.lemmas for u in before], [u.lemmas for u in after], autojunk=False)
    for kind, i, end, j, last in matcher.get_opcodes():
        if kind == "replace" and end - i == 1 and last - j <= _LONGEST and _alike(before[i], after[j:last]):
            yield before[i], tuple(lemma for unit in after[j:last] for lemma in unit.lemmas)


def _alike(old: Unit, new: Sequence[Unit]) -> bool:
    upos = new[-1].upos
    return {old.upos, upos, new[0].upos} <= _CONTENT and _LIKE.get(old.upos, old.upos) == _LIKE.get(
        upos, upos
    )


def is_easier(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether words are of an easier level of the JLPT, or more frequent where the levels do not decide.

    Kana that become kanji, and figures of numbers, are a matter of spelling: they are no easier words.
    """
    words = [word for word in new if word not in _SMALL] or list(new)
    if old[0] in _NUMBERS or set(new) <= _HELPERS or (_is_kana(old[0]) and not all(map(_is_kana, words))):
        return False
    before, after = familiarity(old[0], "ja"), [familiarity(word, "ja") for word in words]
    level, hardest = _level(before), min(map(_level, after))
    if hardest and hardest != level:
        return hardest > level
    return min(one.zipf for one in after) >= before.zipf


def _level(word: Familiarity) -> int:
    """5 for N5, the first level, to 1; 0 if a word is in none."""
    return int(word.level[1]) if word.level else 0


def _is_kana(word: str) -> bool:
    return all("ぁ" <= sign <= "ヿ" for sign in word)
