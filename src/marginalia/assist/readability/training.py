"""Models of readability from pairs of sentences of which one is known to be easier."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import DataError
from .evidence import Evidence, by_family, triple
from .model import ReadabilityModel, sides
from .ratings import threshold_for

if TYPE_CHECKING:
    from ...decode.reranker import Reranker

FOLDS = 10
PRECISION = 0.95  # at which θ is chosen
_LEAST_PAIRS = 2
_OF_SENTENCES = {"l2": 4.0}  # with the cut-off of pairs
_TEMPERATURES = np.geomspace(0.02, 50, 120)


Scored = list[tuple[float, str]]


@dataclass(frozen=True)
class JudgedPair:
    """Evidence of the easier and of the harder sentence; pairs of a `group` are never in two folds, and those
    that do not `count` are learned from, not scored."""

    easier: Evidence
    harder: Evidence
    group: str
    weight: float = 1.0
    counts: bool = True


@dataclass(frozen=True)
class Trained:
    """A model, and the scores that pairs that count had from models that had not seen their group: positive
    where the easier one, the left one here, is found."""

    model: ReadabilityModel
    scored: Scored


def train_model(
    pairs: Sequence[JudgedPair],
    language: str,
    levels: Mapping[str, Sequence[Evidence]],
    *,
    learner: str = "arow",
    settings: Mapping[str, Any] | None = None,
    precision: float = PRECISION,
    seed: int = 1,
    about: Mapping[str, Any] | None = None,
) -> Trained:
    """A model of pairs; temperature and θ are fitted on folds that it was not trained on, `levels` are
    sentences written for readers of each level."""
    learn = learning(learner, settings or {}, seed)
    some_count = any(pair.counts for pair in pairs)
    found = zip(pairs, held_out_margins(pairs, learn, seed), strict=True)
    margins = [margin for pair, margin in found if pair.counts or not some_count]
    temperature = fitted_temperature(margins)
    scored = [(math.tanh(margin / (2 * temperature)), "left") for margin in margins]
    threshold = threshold_for(scored, precision)
    items = [(_features_item(pair), pair.weight) for pair in pairs]
    cutoff = {name: value for name, value in (settings or {}).items() if name == "cutoff"}
    sentences = learning("maxent", _OF_SENTENCES | cutoff, seed)(items).saved
    saved = learn([(pair_item(pair), pair.weight) for pair in pairs]).saved
    model = ReadabilityModel(saved, sentences, language, temperature, threshold, {}, {}, None, about or {})
    known = {level: _spread([model.ease(one) for one in found]) for level, found in levels.items()}
    everything = [one for found in levels.values() for one in found]
    return Trained(replace(model, levels=known, means=_means(model, everything)), scored)


Items = Sequence[tuple[dict[str, Any], float]]
"""Items of candidates, with how much each counts."""

Learn = Callable[[Items], "Reranker"]


def learning(name: str, settings: Mapping[str, Any], seed: int) -> Learn:
    """A learner of candidates, ready to be given items."""
    from ...learn import train

    def learn(items: Items) -> Reranker:
        if len(items) < _LEAST_PAIRS:
            raise DataError(f"found {len(items)} pairs to learn from, expected {_LEAST_PAIRS} or more")
        weights = [weight for _, weight in items]
        model: Reranker = train(
            [item for item, _ in items],  # type: ignore[arg-type]
            structure="candidates",
            learner=name,
            seed=seed,
            sample_weights=None if len(set(weights)) == 1 else weights,
            **settings,
        )
        return model

    return learn


def pair_item(pair: JudgedPair) -> dict[str, Any]:
    """Two candidates, the easier one first, each with what the other does not have."""
    return _item(*sides(pair.easier, pair.harder))


def _features_item(pair: JudgedPair) -> dict[str, Any]:
    """The same with features of sentences alone."""
    _, easier, harder = triple(pair.easier, pair.harder)
    return _item(dict.fromkeys(easier, 1.0), dict.fromkeys(harder, 1.0))


def _item(easier: Mapping[str, float], harder: Mapping[str, float]) -> dict[str, Any]:
    return {
        "candidates": [
            {"features": dict(sorted(easier.items())), "right": True},
            {"features": dict(sorted(harder.items())), "right": False},
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
    items = [(pair_item(pair), pair.weight) for pair in pairs]
    margins = [0.0] * len(pairs)
    for fold in sorted(set(fold_of.values())):
        held_out = [number for number, pair in enumerate(pairs) if fold_of[pair.group] == fold]
        model = learn([item for item, pair in zip(items, pairs, strict=True) if fold_of[pair.group] != fold])
        answers = model.rerank_all([items[number][0] for number in held_out])
        for number, ranked in zip(held_out, answers, strict=True):
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
        for family, names in by_family(found.features & model.weights.keys()).items():
            sums[family] = sums.get(family, 0.0) + math.fsum(model.weights[name] for name in names)
    return {family: total / len(sentences) for family, total in sums.items() if total}
