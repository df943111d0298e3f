"""What a model of readability sees of sentences: their declared features, their words, their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


class SeenWord(NamedTuple):
    """What models see of a word."""

    form: str
    lemma: str
    pos: str

    @property
    def has_meaning(self) -> bool:
        """Whether it is neither punctuation nor a name nor a number."""
        return self.pos not in _OTHERS


@dataclass(frozen=True)
class Evidence:
    """What a model sees of a sentence, or of several that say one thing."""

    language: str
    features: frozenset[str]
    words: tuple[SeenWord, ...] = ()


def evidence(trees: Sequence[Tree]) -> Evidence:
    """Features that one of the sentences has, as what is hard in one is hard in all; and all words."""
    found = {f"{_SENTENCES}{n}" for n in range(2, min(len(trees), _MOST_SENTENCES) + 1)}
    for tree in trees:
        found |= feature_set(tree.language).of(tree)
    words = tuple(SeenWord(node.form, node.lemma.lower(), node.upos) for tree in trees for node in tree.nodes)
    found.update(WORD + word.lemma for word in words if word.has_meaning)
    return Evidence(trees[0].language if trees else "en", frozenset(found), words)


class Triple(NamedTuple):
    """A pair of sentences (section 3.2 of the paper): features that both have, and those of one alone."""

    shared: frozenset[str]
    left: frozenset[str]
    right: frozenset[str]


def triple(left: Evidence, right: Evidence) -> Triple:
    """The triple of two sentences, or of two paraphrases of several sentences each."""
    a, b = left.features, right.features
    return Triple(a & b, a - b, b - a)


def family_of(name: str) -> str:
    """Features of one measure with different thresholds are a family; others are families of their own."""
    return name.partition(">=")[0]


def why_feature(language: str, name: str) -> str:
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
