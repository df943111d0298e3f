"""What a model of readability sees of sentences: their declared features, their words, their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..words.familiarity import zipf
from .features import feature_set

if TYPE_CHECKING:
    from ..trees import Tree

WORD = "word "
_SENTENCES = "sentences>="
_MOST_SENTENCES = 4
_PLAIN = 5.5  # frequency on the Zipf scale
_OTHERS = frozenset({"PUNCT", "PROPN", "NUM", "SYM", "X"})

Evidence = frozenset[str]


def evidence(trees: Sequence[Tree]) -> Evidence:
    """Names of all features that one of the sentences has: what is hard in one of them is hard in all."""
    found = {f"{_SENTENCES}{n}" for n in range(2, min(len(trees), _MOST_SENTENCES) + 1)}
    for tree in trees:
        found |= feature_set(tree.language).of(tree)
        found.update(_words(tree))
    return frozenset(found)


def _words(tree: Tree) -> Iterator[str]:
    for node in tree.nodes:
        if node.upos not in _OTHERS:
            yield WORD + node.lemma.lower()


class Triple(NamedTuple):
    """A pair of sentences (section 3.2 of the paper): features that both have, and those of one alone."""

    shared: Evidence
    left: Evidence
    right: Evidence


def triple(left: Evidence, right: Evidence) -> Triple:
    """The triple of two sentences, or of two paraphrases of several sentences each."""
    return Triple(left & right, left - right, right - left)


def family_of(name: str) -> str:
    """Features of one measure with different thresholds are a family; others are families of their own."""
    return name.partition(">=")[0]


def why(language: str, name: str) -> str:
    """The sentence that explains a feature to a teacher."""
    if name.startswith(WORD):
        return f"The word “{name.removeprefix(WORD)}”."
    if name.startswith(_SENTENCES):
        return f"{name.removeprefix(_SENTENCES)} sentences or more."
    declared = feature_set(language)
    return declared.why(name) if name in declared.features else f"{name}, which is not declared any more."


def is_plain(name: str, language: str) -> bool:
    """Whether a feature is a word that everybody knows, which explains nothing to a teacher."""
    return name.startswith(WORD) and zipf(name.removeprefix(WORD), language) >= _PLAIN


def by_family(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by their families, those with thresholds from the lowest up."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=_threshold):
        found.setdefault(family_of(name), []).append(name)
    return found


def _threshold(name: str) -> tuple[str, float]:
    family, _, limit = name.partition(">=")
    return family, float(limit or 0)
