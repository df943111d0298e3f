"""Algorithms 4.1 and 4.2 of Kazama and Torisawa (2007), weight for weight, against their pseudo-codes: over
chains of both orders and over segments, with every family of global features; with n best outputs of their
own, and with given ones (re-ranking 2)."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import HAIR, Change, NaiveLearner, TieError
from oracles import Output, steady
from segment_worlds import SegmentWorld, random_segment_world, segment_worlds
from worlds import Trained, World, assert_close, random_world, worlds

from marginalia import _core

sys.path.append(str(Path(__file__).parent.parent / "features"))
from naive_global import NaiveGlobal, Span

FAMILIES = [name for name in _core.global_families() if name != "TO2"]
LINES = [*FAMILIES, *(f"{name}/length" for name in FAMILIES[:6])]
TYPES = ["A", "B"]
seeds = st.integers(0, 2**32 - 1)


class Options(NamedTuple):
    n: int = 4
    c: float = 1.5
    local_c: float = 0.7
    local_updates: bool = True
    given: bool = False  # are the hypotheses those of another model?

    def native(self) -> _core.NonLocalOptions:
        return _core.NonLocalOptions(self.n, self.n, self.c, self.local_c, self.local_updates)


def mention_labels(labels: int) -> _core.MentionLabels:
    """Label 0 is in no mention, odd ones begin mentions of A or B, even ones may go on with them."""
    types = [2**32 - 1 if k == 0 else (k - 1) // 2 % 2 for k in range(labels)]
    joined = [[_joins(a, b) for b in range(labels)] for a in range(labels)]
    return _core.MentionLabels(TYPES, np.array(types, np.uint32), np.array(joined, np.uint8).ravel())


def _joins(before: int, label: int) -> bool:
    same = before > 0 and (before - 1) // 2 % 2 == (label - 1) // 2 % 2
    return same and label > 0 and label % 2 == 0


def spans_of(y: Output) -> list[Span]:
    spans: list[Span] = []
    for t, label in enumerate(y):
        if label and t and _joins(y[t - 1], label):
            spans[-1] = (spans[-1][0], t + 1, spans[-1][2])
        elif label:
            spans.append((t, t + 1, TYPES[(label - 1) // 2 % 2]))
    return spans


class WholeTrained(Trained):
    """A world whose outputs have global features, being learned."""

    def __init__(self, trained: Trained, options: Options) -> None:
        vars(self).update(vars(trained))
        self._set = _core.GlobalSet(LINES, ["w1", "w3"], [])
        self._texts = _core.GlobalTexts(self._set)
        self._texts.add(self.world.table(), 0)
        self._options = options
        self.given: _core.HypothesisLists | None = None

    def batch(self, costs: np.ndarray | None = None) -> Any:
        world, labels = self.world, mention_labels(self.world.labels)
        rest: tuple[Any, ...] = (self.examples, self._set, labels, self._texts, self.index, True)
        rest += (self._options.native(), self.given)
        if isinstance(world, SegmentWorld):
            return _core.WholeSegmentBatch(world.shape, world.extractor, world.open, *rest)
        return _core.WholeChainBatch(world.shape, *rest)


class WholeLearner(NaiveLearner):
    """The pseudo-code: dictionaries and enumeration."""

    def __init__(self, world: Any, w: dict[Hashable, float], samples: np.ndarray, options: Options) -> None:
        super().__init__(world, w, lambda learner, i: algorithm(self, i, options), samples)
        self.met: Counter[str] = Counter()
        self.given: list[list[Output]] = []
        self.whole = [
            {y: self._global(i, y) for y in legal} | {gold: self._global(i, gold)}
            for i, (legal, gold) in enumerate(zip(self.legal, world.gold, strict=True))
        ]

    def _global(self, i: int, y: Output) -> dict[Hashable, float]:
        naive = NaiveGlobal([word for word, _ in self.world.sentences[i]], ["w1", "w3"])
        return {((False, name), 0): n for name, n in naive.features(LINES, spans_of(y)).items()}

    def all_minus(self, i: int, y: Output) -> dict[Hashable, float]:
        gold, other = self.whole[i][self.world.gold[i]], self.whole[i][y]
        change = {f: gold.get(f, 0.0) - other.get(f, 0.0) for f in gold.keys() | other.keys()}
        return self.minus(i, y) | {f: value for f, value in change.items() if value}

    def whole_score(self, i: int, y: Output) -> float:
        return self.score(self.legal[i][y]) + self.score(self.whole[i][y])

    def n_best(self, i: int, n: int) -> list[Output]:
        return self.given[i][:n] if self.given else self.own_best(i, n)

    def own_best(self, i: int, n: int) -> list[Output]:
        local = {y: self.score(phi) for y, phi in self.legal[i].items()}
        ranking = sorted(local, key=lambda y: -local[y])
        if any(local[a] - local[b] < HAIR for a, b in itertools.pairwise(ranking[: n + 1])):
            raise TieError
        return ranking[:n]

    def by_all(self, i: int, outputs: list[Output]) -> list[Output]:
        totals = {y: self.whole_score(i, y) for y in outputs}
        ranking = sorted(totals, key=lambda y: -totals[y])
        if any(totals[a] - totals[b] < HAIR for a, b in itertools.pairwise(ranking[:3])):
            raise TieError
        return ranking


def algorithm(learner: WholeLearner, i: int, options: Options) -> Change:
    """Algorithm 4.2, or 4.1 without local updates."""

    def due(change: dict[Hashable, float], c: float) -> bool:
        if abs(learner.score(change) - c) < HAIR:
            raise TieError
        return learner.score(change) <= c

    gold = learner.world.gold[i]
    outputs = learner.n_best(i, options.n)
    ranking = learner.by_all(i, outputs)
    for part, y in zip(("A, best", "A, second"), ranking, strict=False):
        if y != gold and due(change := learner.all_minus(i, y), options.c):
            learner.met[part] += 1
            return change, 1.0
    if not options.local_updates:
        return {}, 1.0
    own = learner.own_best(i, 2)
    if own[0] != gold:
        learner.met["B, best"] += 1
        return learner.minus(i, own[0]), 1.0
    if len(own) > 1 and due(change := learner.minus(i, own[1]), options.local_c):
        learner.met["B, second"] += 1
        return change, 1.0
    return {}, 1.0


def both(world: Any, options: Options, seed: int) -> tuple[WholeTrained, WholeLearner]:
    rng = np.random.default_rng(seed)
    trained = WholeTrained(world.untrained(), options)
    start = trained.scatter(rng)
    learner = WholeLearner(world, start, rng.uniform(0.1, 2.0, len(world.sentences)), options)
    if options.given and all(learner.legal):
        trained.given = _core.HypothesisLists()
        for legal, sentence in zip(learner.legal, world.sentences, strict=True):
            outputs = list(legal)
            chosen = [outputs[k] for k in rng.permutation(len(outputs))[:6]]
            learner.given.append(chosen)
            trained.given.add(np.array(chosen, np.int32).ravel(), len(sentence), world.labels)
    return trained, learner


def compare(world: Any, options: Options, seed: int) -> WholeLearner:
    """The pseudo-code after its run, which is that of the core."""
    trained, learner = both(world, options, seed)
    order = [i for k in range(3) for i in _core.permutation(5, (seed + k) % 2**32).tolist()]
    order = learner.learn_until_tie(order)
    counted = trained.learn(_core.UpdateRule.margin(options.c), order, learner.samples)
    assert counted["updates"] == learner.updates
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())
    return learner


OPTIONS = st.builds(
    Options,
    st.sampled_from([2, 3, 8, 40]),
    st.sampled_from([0.0, 1.5, 20.0]),
    st.sampled_from([0.0, 0.7, 10.0]),
    st.booleans(),
    st.booleans(),
)


@settings(steady, max_examples=100)
@given(worlds(most=4, count=5), OPTIONS, seeds)
def test_chains_against_the_pseudo_code(world: World, options: Options, seed: int) -> None:
    compare(world, options, seed)


@settings(steady, max_examples=100)
@given(segment_worlds(most=4, count=5), OPTIONS, seeds)
def test_segments_against_the_pseudo_code(world: SegmentWorld, options: Options, seed: int) -> None:
    compare(world, options, seed)


@pytest.mark.parametrize("lists", [False, True])
def test_hairs_are_rare_and_both_parts_are_met(lists: bool) -> None:
    """The tests above compare whole runs, with updates of both parts."""
    whole, met = 0, Counter[str]()
    for seed in range(8):
        chain = random_world(seed, 3, 1 + seed % 2, edges=True, transitions=True, masked=False, most=4)
        for world in (chain, random_segment_world(seed)):
            learner = compare(world, Options(local_c=10.0, given=lists), seed)
            whole += learner.step == 15
            met += learner.met
    assert whole >= 12
    assert min(met[part] for part in ("A, best", "A, second", "B, best", "B, second")) > 0


@settings(steady, max_examples=80)
@given(st.one_of(worlds(most=4, count=5), segment_worlds(most=4, count=5)), st.booleans(), seeds)
def test_the_best_of_the_n_best(world: Any, lists: bool, seed: int) -> None:
    options = Options(n=6, given=lists)
    trained, learner = both(world, options, seed)
    done = learner.learn_until_tie([*range(5)] * 2)
    trained.learn(_core.UpdateRule.margin(options.c), done, learner.samples)
    learner.w = trained.current()
    found = trained.batch().best(trained.weights.current, 0, len(world.sentences)).tolist()
    for i, sentence in enumerate(world.sentences):
        own, found = tuple(found[: len(sentence)]), found[len(sentence) :]
        try:
            assert own == learner.by_all(i, learner.n_best(i, 6))[0]
        except TieError:
            continue


def test_what_it_has_no_tier_for() -> None:
    world = random_world(1, 3, 1, edges=False, transitions=True, masked=False)
    trained, learner = both(world, Options(), 1)
    with pytest.raises(ValueError, match="arow needs costs of wrong outputs, which the structure non-local"):
        trained.learn(_core.UpdateRule.arow(1.0), [0], learner.samples)
    assert "dropout" in _core.WholeChainBatch.tiers()
    assert not {"costs", "expectations", "partial", "penalties"} & _core.WholeChainBatch.tiers()


def test_hypotheses_that_do_not_fit_are_refused() -> None:
    world = random_world(1, 3, 1, edges=False, transitions=True, masked=False)
    lists = _core.HypothesisLists()
    for labels, tokens in (([0, 1, 2], 2), ([], 2), ([0, 3], 2), ([0, -1], 2), ([0], 0)):
        with pytest.raises(ValueError, match="hypotheses: "):
            lists.add(np.array(labels, np.int32), tokens, 3)
    trained, _ = both(world, Options(), 1)
    trained.given = lists
    with pytest.raises(ValueError, match="hypotheses: they do not fit the examples"):
        trained.batch()
