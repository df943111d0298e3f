"""Models of readability from pairs of sentences of which one is known to be easier."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import DataError
from .evidence import Evidence, by_family, triple
from .model import ReadabilityModel
from .ratings import threshold_for

if TYPE_CHECKING:
    from ...decode.reranker import Reranker

FOLDS = 10
PRECISION = 0.95  # at which θ is chosen
_LEAST_PAIRS = 2
_TEMPERATURES = np.geomspace(0.02, 50, 120)


@dataclass(frozen=True)
class JudgedPair:
    """Evidence of the easier and of the harder sentence; pairs of a `group` are never in two folds."""

    easier: Evidence
    harder: Evidence
    group: str
    weight: float = 1.0


Scored = list[tuple[float, str]]


def train_model(
    pairs: Sequence[JudgedPair],
    language: str,
    levels: Mapping[str, Sequence[Evidence]],
    *,
    learner: str = "maxent",
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    about: Mapping[str, Any] | None = None,
) -> ReadabilityModel:
    """A model of pairs; temperature and θ are fitted on folds that it was not trained on, `levels` are
    sentences written for readers of each level."""
    learn = _learner(learner, settings or {}, seed)
    margins = held_out_margins(pairs, learn, seed)
    temperature = fitted_temperature(margins)
    scored = [(math.tanh(margin / (2 * temperature)), "left") for margin in margins]
    trained = learn(pairs)
    model = ReadabilityModel(
        trained.saved, language, temperature, threshold_for(scored, PRECISION), {}, {}, about or {}
    )
    known = {level: _spread([model.ease(one) for one in found]) for level, found in levels.items()}
    everything = [one for found in levels.values() for one in found]
    return ReadabilityModel(
        trained.saved, language, temperature, model.threshold, known, _means(model, everything), model.about
    )


Learn = Callable[[Sequence[JudgedPair]], "Reranker"]


def _learner(name: str, settings: Mapping[str, Any], seed: int) -> Learn:
    from ...learn import train

    def learn(pairs: Sequence[JudgedPair]) -> Reranker:
        if len(pairs) < _LEAST_PAIRS:
            raise DataError(f"found {len(pairs)} pairs to learn from, expected {_LEAST_PAIRS} or more")
        weights = [pair.weight for pair in pairs]
        model: Reranker = train(
            map(_item, pairs),  # type: ignore[arg-type]
            structure="candidates",
            learner=name,
            seed=seed,
            sample_weights=None if len(set(weights)) == 1 else weights,
            **settings,
        )
        return model

    return learn


def _item(pair: JudgedPair) -> dict[str, Any]:
    """Two candidates, each with the features that the other does not have."""
    _, easier, harder = triple(pair.easier, pair.harder)
    return {
        "candidates": [
            {"features": sorted(easier), "right": True},
            {"features": sorted(harder), "right": False},
        ]
    }


def folds_of(groups: Iterable[str], seed: int, folds: int = FOLDS) -> dict[str, int]:
    """The fold of each group, by chance."""
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    return {name: place % folds for place, name in enumerate(names)}


def held_out_margins(pairs: Sequence[JudgedPair], learn: Learn, seed: int, folds: int = FOLDS) -> list[float]:
    """How much the easier sentence of each pair is preferred by a model that has not seen its group."""
    fold_of = folds_of((pair.group for pair in pairs), seed, folds)
    margins = [0.0] * len(pairs)
    for fold in sorted(set(fold_of.values())):
        held_out = [number for number, pair in enumerate(pairs) if fold_of[pair.group] == fold]
        model = learn([pair for pair in pairs if fold_of[pair.group] != fold])
        for number, ranked in zip(
            held_out, model.rerank_all([_item(pairs[number]) for number in held_out]), strict=True
        ):
            scores = {one.number: one.score for one in ranked}
            margins[number] = scores[1] - scores[2]
    return margins


def fitted_temperature(margins: Sequence[float]) -> float:
    """By what margins are divided to be log odds: the likeliest of many."""
    found = np.array(margins)
    losses = [np.logaddexp(0, -found / one).sum() for one in _TEMPERATURES]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    return float(np.mean(values)), float(np.std(values)) or 1.0


def _means(model: ReadabilityModel, sentences: Sequence[Evidence]) -> dict[str, float]:
    """What the features of each family add to a sentence, on average."""
    sums: dict[str, float] = {}
    for found in sentences:
        for family, names in by_family(found & model.weights.keys()).items():
            sums[family] = sums.get(family, 0.0) + math.fsum(model.weights[name] for name in names)
    return {family: total / len(sentences) for family, total in sums.items() if total}
