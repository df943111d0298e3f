"""The features of a sentence: which of the declared ones its tree has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import SettingsError
from ..paraphrase.index import keys_of, needs_of
from .declarations import Feature, read_features
from .measures import MEASURES, Outline

if TYPE_CHECKING:
    from ..trees import Tree

SHIPPED = Path(__file__).resolve().parent.parent.parent / "data" / "assist"
LANGUAGES = ("en", "ja")


class FeatureSet:
    """Declared features, ready to be looked for."""

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = {feature.name: feature for feature in features}
        self._patterns = [
            (one.name, pattern, needs_of(pattern.source, {})) for one in features for pattern in one.patterns
        ]
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for one in features:
            for phrase in one.phrases:
                self._phrases.setdefault(phrase[0], []).append((phrase, one.name))
        self._measured: dict[str, list[tuple[float, str]]] = {}
        for one in features:
            if one.measure:
                self._measured.setdefault(one.measure, []).append((one.at_least, one.name))

    def __len__(self) -> int:
        return len(self.features)

    def why(self, name: str) -> str:
        """The sentence that explains a feature to a teacher."""
        return self.features[name].why

    def of(self, tree: Tree) -> frozenset[str]:
        """Names of the features that a tree has."""
        found = set(self._with_phrases(tree))
        outline = Outline(tree)
        for measure, thresholds in self._measured.items():
            value = MEASURES[measure](outline) + 1e-9
            found.update(name for limit, name in thresholds if value >= limit)
        there = keys_of(tree)
        for name, pattern, needs in self._patterns:
            if name in found or any(need.isdisjoint(there) for need in needs):
                continue
            if pattern.occurs_in(tree):
                found.add(name)
        return frozenset(found)

    def _with_phrases(self, tree: Tree) -> Iterable[str]:
        spelled = [(node.form.lower(), node.lemma.lower()) for node in tree.nodes]
        for start, first in enumerate(spelled):
            for word in dict.fromkeys(first):
                for phrase, name in self._phrases.get(word, ()):
                    part = spelled[start : start + len(phrase)]
                    if len(part) == len(phrase) and all(map(_is_spelled, phrase, part)):
                        yield name


def _is_spelled(word: str, spelled: tuple[str, str]) -> bool:
    return word in spelled


@cache
def feature_set(language: str) -> FeatureSet:
    """The features that ship for a language, read when first asked for."""
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    return FeatureSet(read_features(str(SHIPPED / language / "readability.features")))


def features(tree: Tree) -> frozenset[str]:
    """Names of the declared features that a tree of an English or Japanese sentence has."""
    return feature_set(tree.language).of(tree)
