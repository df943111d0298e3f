"""When training ends, what an interrupted run still gives, and what the diagnostics say of the end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import naive_chain as naive
import numpy as np
import pytest
from hypothesis import given, settings
from learn_world import (
    RUNS,
    Toys,
    a_run,
    arrays_of,
    assert_same_arrays,
    contradictory,
    finished,
    until,
    weights_of,
)

import marginalia as mg
from marginalia.evaluate import evaluate

EASY = [(["a", "b"], ["X", "Y"]), (["b", "c"], ["Y", "Z"]), (["c"], ["Z"])]


def score(tagger: mg.Tagger, data: Any) -> float:
    predicted = [tagged.labels for tagged in tagger.tag_all([columns for columns, _ in data])]
    return evaluate([labels for _, labels in data], predicted).f1


@pytest.mark.parametrize(
    "name",
    ["crf", "crf, l1", "crf, sgd", "maxent", "maxent, beam", "arow", "perceptron, shuffle-average"],
)
def test_dev_data_keep_the_best_pass_and_stop(toys: Toys, name: str) -> None:
    learner, settings = RUNS[name]
    train, dev = contradictory(toys, 25), toys(15, seed=2)
    for patience in (1, 3):
        run = a_run(train, dev, learner=learner, passes=60, patience=patience, **settings)
        history = finished(run)
        assert len(history) < 60
        scores = [record.dev or 0.0 for record in history]
        best = int(np.argmax(scores))  # the first of equals
        assert [record.best for record in history].index(True) == 0
        assert len(history) - 1 - best == patience or run._run.converged
        assert score(run.model(), dev) == pytest.approx(scores[best])
        assert run.report is not None
        assert run.report.f1 == scores[best]
        shorter = mg.train(train, learner=learner, passes=best + 1, **settings)
        assert_same_arrays(run.model(), shorter)


def test_patience_zero_never_stops_a_crf(toys: Toys) -> None:
    run = a_run(toys(10), toys(5, seed=2), learner="crf", passes=25, patience=0, tolerance=0.0)
    assert len(finished(run)) == 25


@pytest.mark.parametrize("learner", ["crf", "maxent"])
def test_a_likelihood_converges(toys: Toys, learner: str) -> None:
    """It stops by itself; a smaller tolerance goes further down, and the gradient vanishes there."""
    losses, lengths = [], []
    for tolerance in (1e-2, 1e-4, 1e-7):
        run = a_run(toys(20), learner=learner, tolerance=tolerance)
        history = finished(run)
        assert run._run.converged
        assert len(history) < 500
        assert history[-1].error is None
        losses.append(history[-1].loss)
        lengths.append(len(history))
    assert lengths == sorted(lengths)
    assert losses == sorted(losses, reverse=True)
    assert losses[1] - losses[2] < 1e-3 * losses[2]


def test_losses_never_grow(toys: Toys) -> None:
    for name in ("crf", "crf, l1", "maxent", "maxent, l1"):
        learner, settings = RUNS[name]
        losses = [record.loss for record in finished(a_run(toys(15), learner=learner, passes=40, **settings))]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("tolerance", [0.01, 0.1, 0.5])
def test_the_margin_learner_stops_after_three_quiet_passes(toys: Toys, tolerance: float) -> None:
    """Its training error changed by less than the tolerance, relative, in each of the last three passes."""
    run = a_run(contradictory(toys, 30), learner="margin", C=5.0, tolerance=tolerance, passes=100)
    errors = [record.error for record in finished(run)]
    assert 4 <= len(errors) < 100
    quiet = [abs(b - a) / a < tolerance if a else a == b for a, b in pairwise(errors)]
    assert quiet[-3:] == [True] * 3
    assert not any(all(quiet[i : i + 3]) for i in range(len(quiet) - 3))


def test_without_tolerance_the_margin_learner_goes_on(toys: Toys) -> None:
    run = a_run(contradictory(toys, 20), learner="margin", C=5.0, tolerance=0.0, passes=30)
    assert len(finished(run)) == 30


def test_the_margin_learner_goes_on_where_the_perceptron_stops() -> None:
    """No mistakes are left, but margins are to be made: it ends when all are larger than C."""
    perceptron, margin = (
        a_run(EASY, passes=200),
        a_run(EASY, learner="margin", C=20.0, tolerance=0.0, passes=200),
    )
    assert len(finished(perceptron)) < len(finished(margin)) < 200
    assert margin.history[-1].error == 0.0
    found = a_run(EASY, learner="margin", C=20.0, tolerance=0.0, passes=200, average="none", diagnostics=True)
    finished(found)
    assert found.model().saved.diagnostics["margin"] > 20.0


SEVERAL = [{}, {"shuffle_average": 3}, {"bpm_init": 2}, {"parallel": "mix", "threads": 2}]


@pytest.mark.parametrize("more", SEVERAL)
def test_training_ends_when_nothing_changes(more: dict[str, Any]) -> None:
    run = a_run(EASY, passes=1000, **more)
    assert len(finished(run)) < 1000
    assert run.history[-1].error == 0.0
    assert right(run.model()) == [True] * 3


@pytest.mark.parametrize("learner", ["pa", "arow"])
@pytest.mark.parametrize("more", SEVERAL)
def test_aggressive_learners_come_ever_closer(learner: str, more: dict[str, Any]) -> None:
    """They change less and less. (The error they show is that of outputs whose cost speaks for them.)"""
    run = a_run(EASY, learner=learner, passes=30, **more)
    losses = [record.loss or 0.0 for record in finished(run)]
    assert losses[-1] < 0.1 * losses[0]
    assert right(run.model()) == [True] * 3


def right(tagger: mg.Tagger) -> list[bool]:
    return [tagger.tag(words).labels == tuple(labels) for words, labels in EASY]


@pytest.mark.parametrize("name", ["crf", "crf, l1", "maxent"])
def test_a_likelihood_that_is_interrupted_gives_its_last_point(toys: Toys, name: str) -> None:
    """Half of the sums of an evaluation say nothing: the model is that of the passes before."""
    learner, settings = RUNS[name]
    for number in (1, 4):
        run = a_run(toys(20), learner=learner, passes=30, **settings)
        records = until(run, number, 3)
        records.close()  # type: ignore[attr-defined]
        assert len(run.history) == number
        assert_same_arrays(run.model(), mg.train(toys(20), learner=learner, passes=number, **settings))


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("number", "steps"), [(0, 1), (0, 2), (1, 1)])
def test_an_interrupted_run_gives_a_model(toys: Toys, name: str, number: int, steps: int) -> None:
    """In the middle of the first pass or of a later one, with and without dev data."""
    learner, settings = RUNS[name]
    for dev in (None, toys(5, seed=2)):
        run = a_run(toys(300), dev, learner=learner, passes=5, state=True, diagnostics=True, **settings)
        records = until(run, number, steps)
        records.close()  # type: ignore[attr-defined]
        tagger = mg.Tagger.from_bytes(run.model().to_bytes())
        columns, labels = toys(1)[0]
        assert len(tagger.tag(columns).labels) == len(labels)
        assert len(tagger.saved.history) == number


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_mean_knows_all_members(toys: Toys, threads: int) -> None:
    run = a_run(toys(300), passes=5, shuffle_average=3, threads=threads)
    records = until(run, 0, 2)
    records.close()  # type: ignore[attr-defined]
    assert score(run.model(), toys(50)) > 30
    assert all(member.step > 0 for member in run._run._runs)  # type: ignore[attr-defined]


def test_asking_for_the_model_on_the_way_changes_nothing(toys: Toys) -> None:
    for name in RUNS:
        learner, settings = RUNS[name]
        data, options = contradictory(toys), {"learner": learner, "passes": 3, "state": True, **settings}
        asked = a_run(data, **options)
        for _ in asked:
            asked.model()
        assert_same_arrays(asked.model(), mg.train(data, **options))
    mixed = a_run(data, passes=3, parallel="mix", threads=2, state=True)
    for _ in mixed:
        mixed.model()
    assert_same_arrays(mixed.model(), mg.train(data, passes=3, parallel="mix", threads=2, state=True))


class TestDiagnostics:
    """What theory says of a finished run."""

    def test_separable_data(self) -> None:
        for average in ("none", "mean"):
            found = mg.train(EASY, passes=100, average=average, diagnostics=True).saved.diagnostics
            assert found["separable"] is True
            assert found["not_separated"] == 0
            assert found["margin"] > 0
            assert 0 < found["relative_margin"] <= found["margin"]
            assert found["mistakes"] == found["updates"] > 0
            assert found["mistakes"] <= found["mistake_bound"]
            assert found["within_bound"] is True

    @settings(max_examples=40)
    @given(pairs=naive.problems())
    def test_the_bound_holds_where_data_are_separable(self, pairs: naive.Pairs) -> None:
        tagger = mg.train(pairs, scheme="none", passes=200, average="none", diagnostics=True)
        found, seen = tagger.saved.diagnostics, {}
        consistent = all(seen.setdefault(tuple(words), labels) == labels for words, labels in pairs)
        if found["separable"]:
            assert consistent
            assert found.get("within_bound", True)
        assert found["separable"] == (None if found["margin"] is None else found["margin"] > 0)
        if tagger.saved.history[-1]["mistakes"] == 0:
            assert (found["margin"] or 0) >= 0

    def test_the_bound_by_hand(self) -> None:
        """(R / margin)² with the largest difference of feature vectors, for weights of norm 1."""
        tagger = mg.train(EASY, passes=100, average="none", diagnostics=True)
        found = tagger.saved.diagnostics
        norm = np.linalg.norm(list(weights_of(tagger).values()))
        assert found["relative_margin"] == pytest.approx(found["margin"] / norm)
        bound = (found["largest_difference"] / found["relative_margin"]) ** 2
        assert found["mistake_bound"] == pytest.approx(bound)

    def test_the_margin_is_that_of_the_second_best(self) -> None:
        tagger = mg.train(EASY, passes=100, diagnostics=True)
        margins = []
        for words, _ in EASY:
            first, second = tagger.nbest(words, 2)
            margins.append((first.score or 0.0) - (second.score or 0.0))
        assert tagger.saved.diagnostics["margin"] == pytest.approx(min(margins), rel=1e-6)

    @pytest.mark.parametrize("learner", ["perceptron", "margin", "pa", "arow", "crf", "maxent"])
    def test_data_that_contradict_themselves(self, learner: str) -> None:
        data = [*EASY, (["a", "b"], ["X", "Z"])]
        found = mg.train(data, learner=learner, passes=20, diagnostics=True).saved.diagnostics
        assert found["separable"] is False
        assert found["margin"] <= 0
        assert found["not_separated"] >= 1
        assert "mistake_bound" not in found

    @pytest.mark.parametrize("learner", ["crf", "maxent"])
    def test_a_likelihood_counts_no_mistakes(self, learner: str) -> None:
        found = mg.train(EASY, learner=learner, diagnostics=True).saved.diagnostics
        assert found["separable"] is True
        assert not {"mistakes", "updates", "mistake_bound"} & found.keys()
        assert mg.train(EASY, learner=learner).saved.diagnostics == {}

    @pytest.mark.parametrize(
        "more",
        [
            {"shuffle_average": 5},
            {"bpm_init": 5},
            {"parallel": "mix", "threads": 2},
            {"l2": 0.01},
            {"dropout": "hide-features:0.1"},
            {"class_weights": "X:2"},
            {"learner": "margin"},
        ],
    )
    def test_the_bound_is_that_of_the_plain_perceptron(self, more: dict[str, Any]) -> None:
        """Several models, penalties and the like make other mistakes than the theorem counts."""
        found = mg.train(EASY, passes=50, diagnostics=True, **more).saved.diagnostics
        assert "mistakes" in found
        assert not {"mistake_bound", "within_bound"} & found.keys()

    def test_a_warm_start_and_weighted_samples_have_no_bound(self) -> None:
        start = mg.train(EASY, passes=1)
        for more in ({"start": start}, {"sample_weights": [1, 2, 3]}):
            found = mg.train(EASY, passes=50, diagnostics=True, **more).saved.diagnostics
            assert "mistake_bound" not in found

    @pytest.mark.parametrize("learner", ["perceptron", "margin", "pa", "arow", "crf", "maxent"])
    def test_sentences_with_one_output_only(self, learner: str) -> None:
        """There is nothing they could be confused with."""
        tagger = mg.train([(["a"], ["X"]), (["b"], ["X"])], learner=learner, passes=3, diagnostics=True)
        found = tagger.saved.diagnostics
        assert tagger.tag(["a", "b"]).labels == ("X", "X")
        assert (found["margin"], found["not_separated"]) == (None, 0)

    def test_they_are_saved_and_do_not_depend_on_threads(self, toys: Toys) -> None:
        taggers = [
            mg.train(toys(20), passes=5, diagnostics=True, threads=threads, stream=False)
            for threads in (1, 3)
        ]
        one, three = (tagger.saved.diagnostics for tagger in taggers)
        assert one == three
        assert mg.Tagger.from_bytes(taggers[0].to_bytes()).saved.diagnostics == one
        assert "margin" not in mg.train(toys(20), passes=5).saved.diagnostics
        assert arrays_of(mg.train(toys(20), passes=5)) == arrays_of(taggers[0])
