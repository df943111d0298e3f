"""Boosted training runs: rounds, dev data, stopping, warm starts, and what goes together with it."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import (
    Toys,
    a_run,
    arrays_of,
    assert_close,
    assert_same_arrays,
    conll_file,
    contradictory,
    finished,
    until,
    weights_of,
)

import marginalia as mg
from marginalia.learn import Training

LEARNERS = ("perceptron", "margin", "pa", "arow")
EASY = [(["a", "b"], ["X", "Y"]), (["b", "c"], ["Y", "Z"]), (["c"], ["Z"])]

# Everything that a round's learner may be combined with.
COMBINED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "margin": {"learner": "margin", "C": 2.0},
    "pa": {"learner": "pa"},
    "arow": {"learner": "arow"},
    "order 2": {"order": 2},
    "last weights": {"average": "none"},
    "l2": {"l2": 0.01},
    "l1": {"l1": 0.01},
    "l1-cumulative": {"l1_cumulative": 0.01},
    "dropout": {"dropout": "input:0.2,hide-features:0.2"},
    "shuffle-average": {"shuffle_average": 3},
    "bpm-init": {"bpm_init": 2},
    "both": {"learner": "arow", "shuffle_average": 2, "bpm_init": 2},
    "mixing": {"parallel": "mix", "threads": 2},
    "class weights": {"class_weights": "X:2,O:0.5"},
    "in order": {"shuffle": False},
    "segments": {"structure": "segments"},
    "segments, pa and shuffle-average": {"structure": "segments", "learner": "pa", "shuffle_average": 2},
}


def rounds_of(run: Training) -> list[mg.Progress]:
    """The last record of each round."""
    return [record for record in finished(run) if record.round_weight is not None]


def assert_bounds(run: Training, rounds: list[mg.Progress]) -> None:
    """They fall, and (with diagnostics) that of the model holds."""
    bounds = [record.bound or 0.0 for record in rounds]
    assert bounds == sorted(bounds, reverse=True)
    assert all(0 <= bound <= 1 for bound in bounds)
    found = run.model().saved.diagnostics
    assert found["error_bound"] in bounds
    assert found["within_error_bound"] is True
    assert found["share_not_separated"] <= found["error_bound"] * (1 + 1e-6)
    assert "mistake_bound" not in found


@pytest.mark.parametrize("name", COMBINED)
def test_rounds_combine_with_everything(toys: Toys, name: str) -> None:
    data = contradictory(toys, 30)
    run = a_run(data, boost=3, passes=4, diagnostics=True, **COMBINED[name])
    rounds = rounds_of(run)
    assert rounds
    assert_bounds(run, rounds)
    assert [record.round for record in rounds] == list(range(1, len(rounds) + 1))
    assert run.model().tag_all([columns for columns, _ in data])
    extra = bool(COMBINED[name].get("bpm_init"))
    for _, records in groupby(run.history, key=lambda record: record.round):
        assert 1 <= len(list(records)) <= 4 + extra


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_first_round_is_the_learner_alone(toys: Toys, learner: str) -> None:
    """A single round is the plain model, times its confidence over the number of examples."""
    data = contradictory(toys, 30)
    run = a_run(data, learner=learner, boost=1, passes=4)
    (record,) = rounds_of(run)
    plain = mg.train(data, learner=learner, passes=4)
    found = {f: w * len(data) / record.round_weight for f, w in weights_of(run.model()).items()}
    assert_close(found, weights_of(plain), 1e-6)


def test_zero_rounds_are_none(toys: Toys) -> None:
    data = contradictory(toys)
    run = a_run(data, boost=0, passes=3)
    assert all((r.round, r.round_weight, r.bound) == (None,) * 3 for r in finished(run))
    assert_same_arrays(run.model(), mg.train(data, passes=3))


@pytest.mark.parametrize(
    "name", ["nothing", "shuffle-average", "arow", "bpm-init", "segments, pa and shuffle-average"]
)
def test_threads_do_not_change_the_bytes(toys: Toys, tmp_path: Path, name: str) -> None:
    path = conll_file(tmp_path / "train.txt", contradictory(toys, 40))
    options = {"boost": 3, "passes": 3, "state": True, **COMBINED[name]}
    one, two, three = (mg.train(path, threads=threads, **options).to_bytes() for threads in (1, 2, 3))
    assert one == two == three


@pytest.mark.parametrize("name", COMBINED)
def test_two_rounds_and_two_more_are_four(toys: Toys, tmp_path: Path, name: str) -> None:
    """Bit for bit, also where a round ends early."""
    data, options = contradictory(toys, 30), {"passes": 3, "state": True, **COMBINED[name]}
    whole = a_run(data, boost=4, **options)
    expected = finished(whole)
    half = mg.train(data, boost=2, **options)
    half.save(tmp_path / "half.mg")
    rest = a_run(data, boost=2, start=mg.load(tmp_path / "half.mg").saved, **options)
    found = finished(rest)
    if len(half.saved.history) == len(expected):  # a round was of no use, and it would be again
        return
    assert_same_arrays(rest.model(), whole.model())
    after = expected[len(expected) - len(found) :]
    assert [(r.number, r.passes, r.round, r.round_weight, r.bound, r.error) for r in found] == [
        (r.number, max(r.passes, r.number), r.round, r.round_weight, r.bound, r.error) for r in after
    ]


def test_a_stream_is_the_same_and_goes_on(toys: Toys, tmp_path: Path) -> None:
    paths = [conll_file(tmp_path / f"{n}.txt", contradictory(toys, 10 + n)) for n in range(2)]
    options = {"boost": 3, "passes": 2, "shuffle": False, "state": True}
    kept, streamed = (mg.train(paths, stream=stream, **options) for stream in (False, True))
    assert weights_of(kept) == weights_of(streamed)
    half = mg.train(paths, stream=True, **(options | {"boost": 1}))
    more = mg.train(paths, stream=True, start=half, **(options | {"boost": 2}))
    assert_same_arrays(more, streamed)


def test_documents_are_examples(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    texts = []
    for n in range(6):
        one = conll_file(tmp_path / "one.txt", toys(3, seed=n))
        texts.append("-DOCSTART- -X- O\n\n" + one.read_text())
    path.write_text("".join(texts))
    run = a_run(path, unit="document", boost=2, passes=10, diagnostics=True)
    assert run.data.units == 6
    assert_bounds(run, rounds_of(run))


class TestWarmStart:
    """From a model's weights, and from states that say nothing about the data at hand."""

    def test_every_round_begins_with_the_weights(self, toys: Toys) -> None:
        data = contradictory(toys, 30)
        start = mg.train(data, passes=3)
        run = a_run(data, boost=2, passes=2, start=start.saved, average="none", sample_weights=[0.0] * 33)
        finished(run)  # nothing counts, so nothing is learned
        assert_close(weights_of(run.model()), weights_of(start), 0.0)
        cold, warm = (a_run(data, boost=2, passes=2, start=s) for s in (None, start.saved))
        first, second = finished(cold), finished(warm)
        assert second[0].error < first[0].error
        assert second[2].error < first[2].error

    def test_it_goes_on_from_a_start(self, toys: Toys) -> None:
        data, options = contradictory(toys, 30), {"passes": 2, "state": True}
        start = mg.train(data, passes=1)
        whole = mg.train(data, boost=3, start=start, **options)
        half = mg.train(data, boost=1, start=start, **options)
        assert_same_arrays(mg.train(data, boost=2, start=half, **options), whole)

    @pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0)])
    def test_boosted_and_plain_runs_give_each_other_weights(
        self, toys: Toys, before: int, after: int
    ) -> None:
        data = contradictory(toys, 20)
        with_state, without = (mg.train(data, boost=before, passes=2, state=s) for s in (True, False))
        found = [a_run(data, boost=after, passes=2, start=s.saved) for s in (with_state, without)]
        for run in found:
            assert finished(run)[0].number == 1
        assert_close(weights_of(found[0].model()), weights_of(found[1].model()), 1e-6)

    def test_other_data_begin_with_the_weights(self, toys: Toys) -> None:
        half = mg.train(contradictory(toys, 20), boost=2, passes=2, state=True)
        for data in (contradictory(toys, 25), [*toys(20, seed=5), *toys(3, seed=6)]):
            run = a_run(data, boost=2, passes=2, start=half.saved)
            assert [record.round for record in rounds_of(run)][:1] == [1]

    def test_damaged_states_are_refused(self, toys: Toys) -> None:
        data = contradictory(toys, 20)
        saved = mg.train(data, boost=2, passes=2, state=True).saved
        for name, array in {
            "samples": np.zeros(3),
            "numbers": np.zeros(1),
            "round": np.array([-1.0]),
            "sum.row_end": np.array([7], np.uint32),
        }.items():
            saved.arrays[f"state.{name}"], kept = array, saved.arrays[f"state.{name}"]
            with pytest.raises(mg.ModelError, match="weights cannot be used"):
                a_run(data, boost=2, start=saved)
            saved.arrays[f"state.{name}"] = kept
        saved.arrays["state.samples"] = saved.arrays["state.samples"] * np.nan
        with pytest.raises(mg.ModelError, match="do not sum to 1"):
            a_run(data, boost=2, start=saved)


class TestDev:
    """Rounds are judged, not passes."""

    def test_the_best_round_is_kept(self, toys: Toys) -> None:
        train, dev = contradictory(toys, 30), toys(20, seed=2)
        run = a_run(train, dev, boost=6, passes=3, patience=0, diagnostics=True)
        rounds = rounds_of(run)
        for record in run.history:
            assert (record.dev is None) == (record.round_weight is None)
            assert not record.best or record.dev is not None
        scores = [record.dev or 0.0 for record in rounds]
        best = int(np.argmax(scores))
        assert run.report is not None
        assert run.report.f1 == scores[best]
        assert_same_arrays(run.model(), mg.train(train, boost=best + 1, passes=3))
        assert run.model().saved.diagnostics["error_bound"] == rounds[best].bound

    def test_patience_counts_rounds(self, toys: Toys) -> None:
        train, dev = contradictory(toys, 30), toys(20, seed=2)
        for patience in (1, 2):
            run = a_run(train, dev, boost=50, passes=2, patience=patience)
            rounds = rounds_of(run)
            best = max(n for n, record in enumerate(rounds) if record.best)
            assert len(rounds) - 1 - best == patience or rounds[-1].round_weight == 0


class TestTheEnd:
    """Where rounds stop, and what is there if they are cut short."""

    def test_separable_data_stay_finite(self) -> None:
        """Nothing is wrong: Z would fall for ever, so the confidence is capped."""
        for learner in LEARNERS:
            run = a_run(EASY, learner=learner, boost=20, passes=30, diagnostics=True)
            rounds = rounds_of(run)
            assert_bounds(run, rounds)
            assert all(0 <= (r.round_weight or 0.0) < 1e6 for r in rounds)
            weights = np.array(list(weights_of(run.model()).values()))
            assert np.isfinite(weights).all()
            assert run.model().tag(["a", "b"]).labels == ("X", "Y")
            assert np.isfinite(run.model().nbest(["a", "b", "c"], 2)[0].score or 0.0)

    @pytest.mark.parametrize("size", [2.0**29, 2.0**-29])
    def test_huge_and_tiny_margins(self, toys: Toys, size: float) -> None:
        """Sample weights may have any size: it does not matter. (Powers of two keep ties.)"""
        data = contradictory(toys, 30)
        options = {"boost": 3, "passes": 4, "shuffle": False, "diagnostics": True}
        plain = rounds_of(a_run(data, **options))
        run = a_run(data, sample_weights=[size] * len(data), **options)
        rounds = rounds_of(run)
        assert_bounds(run, rounds)
        assert rounds[0].bound == pytest.approx(plain[0].bound, rel=1e-4)
        assert rounds[0].round_weight == pytest.approx(plain[0].round_weight, rel=1e-4)
        assert np.isfinite(list(weights_of(run.model()).values())).all()

    def test_examples_with_one_output_only(self) -> None:
        """They are always right: no round is needed after the first."""
        run = a_run([(["a"], ["X"]), (["b"], ["X"])], boost=5, passes=3, diagnostics=True)
        (record,) = rounds_of(run)
        assert record.bound == 0.0
        assert run.model().tag(["a", "b"]).labels == ("X", "X")
        assert run.model().saved.diagnostics["within_error_bound"] is True

    def test_a_useless_round_ends_it(self) -> None:
        """Contradictions only: half of the examples are wrong, whatever is learned."""
        data = [(["a"], ["X"]), (["a"], ["Y"])] * 4
        run = a_run(data, boost=5, passes=3, diagnostics=True)
        (record,) = rounds_of(run)
        assert (record.round_weight, record.bound) == (0.0, 1.0)
        assert_close(weights_of(run.model()), weights_of(mg.train(data, passes=3)), 0.0)
        assert run.model().saved.diagnostics["within_error_bound"] is True

    def test_examples_that_do_not_count(self, toys: Toys) -> None:
        """The bound is one of the weighted error, so those with weight 0 may be wrong."""
        data = [*toys(20), *(({"word": ["a"], "tag": ["T0"]}, [label]) for label in ("B-X", "B-Y"))]
        weights = [1.0] * 20 + [0.0, 0.0]
        run = a_run(data, boost=4, passes=5, diagnostics=True, sample_weights=weights)
        assert_bounds(run, rounds_of(run))
        assert run.model().saved.diagnostics["not_separated"] >= 1

    @pytest.mark.parametrize(("number", "steps"), [(0, 1), (1, 1), (3, 1), (4, 2)])
    @pytest.mark.parametrize("with_dev", [False, True])
    def test_ctrl_c_keeps_the_rounds_that_are_over(
        self, toys: Toys, number: int, steps: int, with_dev: bool
    ) -> None:
        data, dev = toys(300), toys(9, seed=2) if with_dev else None
        run = a_run(data, dev, boost=3, passes=2, state=True, diagnostics=True)
        records = until(run, number, steps)
        records.close()  # type: ignore[attr-defined]
        model = mg.Tagger.from_bytes(run.model().to_bytes())
        assert len(model.saved.history) == number
        if number >= 2 and not with_dev:
            assert weights_of(model) == weights_of(mg.train(data, boost=number // 2, passes=2))
        more = a_run(data, boost=1, passes=1, start=model.saved)
        assert rounds_of(more)[0].round == number // 2 + 1

    def test_asking_for_the_model_on_the_way_changes_nothing(self, toys: Toys) -> None:
        data, options = contradictory(toys, 30), {"boost": 3, "passes": 2, "state": True}
        asked = a_run(data, **options)
        for _ in asked:
            asked.model()
        assert_same_arrays(asked.model(), mg.train(data, **options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "vote", "boost": 2}, "average=vote keeps plain updates and does not go with boost"),
        ({"boost": -1}, "setting 'boost': found -1"),
        (
            {"learner": "crf", "boost": 2},
            "is one of perceptron, margin, nonlocal, pa, arow, not of crf",
        ),
        ({"learner": "maxent", "boost": 2}, "not of maxent"),
        ({"boost": 2, "l1": 0.1, "l2": 0.1}, "expected one of them"),
        ({"boost": 2, "shuffle_average": 2, "parallel": "mix"}, "expected one of them"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        mg.train("no such file", **options)
    assert message in str(caught.value)


def test_history_is_saved(toys: Toys) -> None:
    tagger = mg.train(contradictory(toys, 20), boost=2, passes=2)
    history = mg.Tagger.from_bytes(tagger.to_bytes()).saved.history
    assert [record["round"] for record in history] == [1, 1, 2, 2]
    assert [record["bound"] is None for record in history] == [True, False, True, False]
    assert arrays_of(tagger) == arrays_of(mg.train(contradictory(toys, 20), boost=2, passes=2))
