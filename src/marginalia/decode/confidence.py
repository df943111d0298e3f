"""How sure a model is: what its scores become probabilities with, how labels spell spans, and abstaining.

See docs/confidence.md for the formulas; the sums over all outputs are those of
core/search/chain/marginals.cpp and core/search/segments/marginals.cpp.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.answers import BlockConfidence
from marginalia.corpus.schemes import APART, JOINED, TWINS, prefix_table, scheme_named, split_label
from marginalia.corpus.translation import Translation
from marginalia.errors import ModelError, SettingsError
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]
_PROBABILISTIC = ("crf", "maxent")  # learners whose scores are log-probabilities as they are
NO_TAG = "_"


def temperature_of(saved: SavedModel) -> float | None:
    """What scores are to be divided by to be log-probabilities; None if nobody knows."""
    if saved.calibration:
        return float(saved.calibration["temperature"])
    return 1.0 if _scorer(saved) in _PROBABILISTIC else None


def _scorer(saved: SavedModel) -> str:
    """The learner whose scores decide: of a re-ranked model the re-ranker's."""
    reranker: str = saved.global_features.get("reranker", {}).get("learner", saved.learner)
    return reranker


def needed_temperature(saved: SavedModel) -> float:
    """The temperature, or an error that says how to get one."""
    temperature = temperature_of(saved)
    if temperature is None:
        raise ModelError(
            f"the learner '{_scorer(saved)}' gives scores, not probabilities: fit a temperature on held-out "
            "data with `marginalia calibrate MODEL DEV -o NEW` (in Python: marginalia.calibrate)."
        )
    return temperature


def spelling_of(saved: SavedModel, as_they_are: bool) -> _core.Spelling:
    """How the model's labels spell spans; `as_they_are`: labels of tokens are not looked at in parts."""
    types = _types(saved)
    by_type = dict(zip(types, saved.labels, strict=True))
    inside = [saved.encoding is not None and label != "O" for label in by_type.values()]
    prefixes = np.zeros(0 if as_they_are else 9, np.uint8)
    if saved.encoding is not None and saved.scheme is not None and not as_they_are:
        prefixes = np.unique(prefix_table(saved.scheme), return_inverse=True)[1].astype(np.uint8).reshape(-1)
    return _core.Spelling(
        np.array(types, np.uint32), np.array(inside, np.uint8), relations_of(saved).ravel(), prefixes
    )


def _types(saved: SavedModel) -> list[int]:
    """The number of each label's type; plain tags are types of their own."""
    if saved.encoding is None:
        return list(range(len(saved.labels)))
    keys = [("O",) if label == "O" else ("", split_label(label)[1]) for label in saved.labels]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


def relations_of(saved: SavedModel) -> npt.NDArray[np.uint8]:
    """How two labels relate that stand side by side, [left, right]."""
    size = len(saved.labels)
    if saved.encoding is None:
        return np.zeros((size, size), np.uint8)
    scheme, kind = scheme_named(saved.encoding), np.array(_types(saved))
    prefixes = [split_label(label)[0] for label in saved.labels]
    alphabet = sorted(set(prefixes))
    joined = np.array([[scheme.joined(a, b, True) for b in alphabet] for a in alphabet], bool)
    prefix = np.array([alphabet.index(p) for p in prefixes], np.intp)
    outside = np.array([label == "O" for label in saved.labels])
    same = (kind[:, None] == kind[None, :]) & ~outside[:, None]
    relation = np.where(joined[np.ix_(prefix, prefix)], JOINED, TWINS)
    return np.where(same, relation, APART).astype(np.uint8)


class Abstention:
    """Takes back what a model is not sure enough of: spans become O, tags become `_`."""

    def __init__(self, labels: tuple[str, ...], scheme: str | None, least: float) -> None:
        if not 0.0 <= least <= 1.0:  # not: least < 0 or least > 1, because of NaN
            raise SettingsError(f"min_confidence: found {least}, expected a number from 0 to 1.")
        if scheme is not None and not scheme_named(scheme).outside:
            raise SettingsError(
                f"min_confidence: in {scheme} every token is in a span, so that none can be taken back."
            )
        self._scheme, self._least = scheme, least
        self.labels = tuple(dict.fromkeys((*labels, *(["O"] if scheme else []), NO_TAG)))
        self._numbers = {label: number for number, label in enumerate(self.labels)}

    def __call__(self, ids: Ids, sure: BlockConfidence, starts: list[int]) -> tuple[Ids, Ids]:
        """The labels that are left, and those that were taken back (`_` elsewhere), as ids of `labels`."""
        doubtful = self._doubtful(sure)
        nothing = self._numbers["O" if self._scheme else NO_TAG]
        left = np.where(doubtful, nothing, ids).astype(np.int32)
        taken = np.where(doubtful, ids, self._numbers[NO_TAG]).astype(np.int32)
        if self._scheme is not None and _tells_twins(self._scheme) and doubtful.any():
            left = self._spelled_anew(left, starts)
        return left, taken

    def _doubtful(self, sure: BlockConfidence) -> npt.NDArray[np.bool_]:
        if self._scheme is None:
            found: npt.NDArray[np.bool_] = sure.token < self._least
            return found
        doubtful = np.zeros(len(sure.token), bool)
        low = np.where(sure.span < self._least, sure.span, np.nan)
        doubtful[sure.span_tokens] = ~np.isnan(np.repeat(low, sure.span_end - sure.span_begin))
        return doubtful

    def _spelled_anew(self, ids: Ids, starts: list[int]) -> Ids:
        """A span whose twin is gone is spelled in another way."""
        return self._respelling(ids, np.array(starts, np.uint32))

    @cached_property
    def _respelling(self) -> Translation:
        return Translation(self.labels, str(self._scheme), str(self._scheme), self.labels)


def _tells_twins(scheme: str) -> bool:
    rules = scheme_named(scheme)
    return bool(rules.twin_first or rules.twin_last)
