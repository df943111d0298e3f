"""Several models at once, against the same done by hand: means, starts from means, mixed shards."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import naive_chain as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_world import (
    Toys,
    a_run,
    arrays_of,
    assert_close,
    assert_same_arrays,
    contradictory,
    finished,
    weights_of,
)
from naive_chain import Pairs

import marginalia as mg
from marginalia import _core
from marginalia.learn import Training
from marginalia.learn.online import OnlineOptions, OnlineRun
from marginalia.learn.run import Counts

# By learner: its settings, and how its rule is made by hand.
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {},
    "margin": {"C": 2.0, "tolerance": 0.0},
    "pa": {"C": 0.3},
    "arow": {},
}


def rule_of(run: Training) -> _core.UpdateRule:
    settings: Any = run.recipe.settings.learner
    if run.recipe.learner == "perceptron":
        return _core.UpdateRule.perceptron()
    if run.recipe.learner == "margin":
        return _core.UpdateRule.margin(settings.C)
    if run.recipe.learner == "pa":
        return _core.UpdateRule.passive_aggressive("I", settings.C)
    return _core.UpdateRule.arow(settings.r)


def options_of(run: Training) -> OnlineOptions:
    settings: Any = run.recipe.settings.learner
    return OnlineOptions.of(settings, variances=run.recipe.learner == "arow")


def alone(run: Training, member: int, passes: range, start: _core.SparseRows | None = None) -> OnlineRun:
    """One member, trained by itself in these passes over the data of a run that is never iterated over."""
    one = OnlineRun(run._setup, rule_of(run), options_of(run), member=member)
    if start is not None:
        one.start_from(start)
    for number in passes:
        counts = Counts()
        for batch in run._batches(number):
            list(one.learn(batch, counts))
        one.end_pass(counts)
    return one


def named(run: Training, rows: _core.SparseRows) -> dict[Hashable, float]:
    """Weights by name and output, as `weights_of` has them."""
    found: dict[Hashable, float] = {}
    edges = run.data.index.edges
    for row in range(len(run.data.index) + 1):
        name = ("constant", None) if row == 0 else (bool(edges[row - 1]), run.data.index.name(row).decode())
        outputs, weights = rows.cells(row)
        for o, w in zip(outputs.tolist(), weights.tolist(), strict=True):
            found["constant" if row == 0 else name, o] = w
    return found


def mean_of(members: list[dict[Hashable, float]], how: str) -> dict[Hashable, float]:
    found = {}
    for place in set().union(*members):
        values = [member.get(place, 0.0) for member in members]
        divisor = len(values) if how == "all" else max(np.count_nonzero(values), 1)
        found[place] = sum(values) / divisor
    return {place: w for place, w in found.items() if w}


@pytest.mark.parametrize("how", ["all", "nonzero"])
@pytest.mark.parametrize("average", ["mean", "none"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_shuffle_average_is_the_mean_of_its_members(toys: Toys, learner: str, average: str, how: str) -> None:
    data, options = contradictory(toys), {"learner": learner, "average": average, **LEARNERS[learner]}
    tagger = mg.train(data, passes=3, shuffle_average=3, shuffle_mean=how, threads=2, **options)
    run = a_run(data, **options)
    members = [named(run, alone(run, member, range(1, 4)).finished()) for member in range(3)]
    assert members[0] != members[1] != members[2]
    assert_close(weights_of(tagger), mean_of(members, how), 1e-6)


@pytest.mark.parametrize("penalty", ["l1", "l2", "l1_cumulative"])
def test_members_are_regularised_one_by_one(toys: Toys, penalty: str) -> None:
    data, options = contradictory(toys), {penalty: 0.02, "dropout": "hide-features:0.2"}
    tagger = mg.train(data, passes=2, shuffle_average=2, shuffle_mean="all", **options)
    run = a_run(data, **options)
    members = [named(run, alone(run, member, range(1, 3)).finished()) for member in range(2)]
    assert_close(weights_of(tagger), mean_of(members, "all"), 1e-6)


def test_the_first_member_is_the_model_without_the_others(toys: Toys) -> None:
    """One model is no mean: shuffle-average=1 is off, and is what member 0 does."""
    data = contradictory(toys)
    run = a_run(data, passes=3)
    one = mg.train(data, passes=3, shuffle_average=1)
    assert arrays_of(one) == arrays_of(mg.train(data, passes=3))
    assert_close(weights_of(one), mean_of([named(run, alone(run, 0, range(1, 4)).finished())], "all"), 0.0)


@pytest.mark.parametrize("average", ["mean", "none"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_bpm_init_begins_with_the_mean_of_one_pass(toys: Toys, learner: str, average: str) -> None:
    """The start is the mean of last weights; it is no step of the average, and its passes come on top."""
    data, options = contradictory(toys), {"learner": learner, "average": average, **LEARNERS[learner]}
    started = a_run(data, passes=2, bpm_init=3, **options)
    assert [(r.number, r.passes) for r in finished(started)] == [(1, 3), (2, 3), (3, 3)]
    run = a_run(data, **options)
    starters = [alone(run, 1000 + k, range(1, 2)).weights.current for k in range(3)]
    expected = alone(run, 0, range(2, 4), _core.SparseRows.mean(starters, False)).finished()
    assert_close(weights_of(started.model()), mean_of([named(run, expected)], "all"), 1e-6)


def test_bpm_init_and_shuffle_average_together(toys: Toys) -> None:
    data = contradictory(toys)
    tagger = mg.train(data, passes=2, bpm_init=2, shuffle_average=2, shuffle_mean="all")
    run = a_run(data)
    start = _core.SparseRows.mean(
        [alone(run, 1000 + k, range(1, 2)).weights.current for k in range(2)], False
    )
    members = [named(run, alone(run, member, range(2, 4), start).finished()) for member in range(2)]
    assert_close(weights_of(tagger), mean_of(members, "all"), 1e-6)


def test_who_begins_with_a_model_needs_no_other_start(toys: Toys) -> None:
    data = contradictory(toys)
    model = mg.train(data, passes=2)
    plain, bpm = (mg.train(data, passes=2, start=model, bpm_init=k) for k in (0, 3))
    assert arrays_of(plain) == arrays_of(bpm)
    noted = [a_run(data, passes=2, start=model.saved, bpm_init=k).notes for k in (0, 3)]
    assert noted == [[], ["bpm-init=3 has no effect: training begins with the weights of a model"]]


def mixed(pairs: Pairs, labels: tuple[str, ...], shards: int, passes: int) -> tuple[dict, dict]:
    """McDonald et al. 2010: the last mean, and the mean over time of the means of all shards.

    Shards walk side by side; one that has no more examples waits for the others.
    """
    examples, w, history = naive.numbered(pairs, labels), {}, []
    for _ in range(passes):
        models, mistakes = [w] * shards, 0
        walks = [examples[k::shards] for k in range(shards)]
        for row in zip_longest(*walks):
            for k, example in enumerate(row):
                if example is not None:
                    mistakes += naive.best(models[k], example[0], len(labels)) != example[1]
                    models[k] = naive.learned(models[k], *example, len(labels))
            history.append(naive.mean(models))
        w = naive.mean(models)
        if not mistakes:
            break
    return w, naive.mean(history)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("templates") / "t.txt"
    path.write_text(naive.TEMPLATES)
    return str(path)


@settings(max_examples=60)
@given(pairs=naive.problems(labels="XY", most=8), shards=st.sampled_from([2, 4]), passes=st.integers(1, 4))
def test_mixing_is_its_pseudo_code(templates: str, pairs: Pairs, shards: int, passes: int) -> None:
    """Powers of two as numbers of shards: means are exact, so that ties are the same."""
    options = {"features": templates, "scheme": "none", "shuffle": False, "passes": passes}
    for average, which in (("none", 0), ("mean", 1)):
        tagger = mg.train(pairs, parallel="mix", threads=shards, average=average, **options)
        assert_close(weights_of(tagger), mixed(pairs, tagger.saved.labels, shards, passes)[which])


def test_mixing_shards_are_shuffled_within(toys: Toys) -> None:
    """Which sentences a shard has does not depend on the order, in which it visits them."""
    data = contradictory(toys)
    shuffled, in_order = (
        mg.train(data, parallel="mix", threads=2, passes=2, shuffle=shuffle) for shuffle in (True, False)
    )
    assert weights_of(shuffled) != weights_of(in_order)
    run = a_run(data, average="none")
    (batch,) = run._batches(1)
    order = batch.order(0)
    models = []
    for k in range(2):
        one = OnlineRun(run._setup, rule_of(run), options_of(run))
        examples = run._setup.structure.batch(batch.examples)
        examples.learn(one.weights, rule_of(run), order[order % 2 == k], 0, np.zeros(0))
        models.append(named(run, one.weights.current))
    mix = mg.train(data, parallel="mix", threads=2, passes=1, average="none")
    assert_close(weights_of(mix), mean_of(models, "all"), 1e-6)


def test_progress_counts_all_models_once(toys: Toys) -> None:
    """Sentences are those of the data, however many models visit them; the error is that of all."""
    data = contradictory(toys, 200)
    for more in ({"shuffle_average": 3}, {"bpm_init": 4}, {"parallel": "mix", "threads": 3}):
        run = a_run(data, passes=2, **more)
        records = list(run)
        assert all(0 < record.sentences <= 203 for record in records)
        assert all(record.sentences == 203 for record in records if record.finished)
        assert all(0 <= (record.error or 0.0) <= 100 for record in records)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shuffle_average": 3, "parallel": "mix"}, "found shuffle-average and parallel=mix, expected one"),
        ({"shuffle_average": 3, "shuffle": False}, "need shuffle=on"),
        ({"bpm_init": 3, "shuffle": "off"}, "need shuffle=on"),
        ({"l1": 0.1, "l2": 0.1}, "found the penalties l2 and l1, expected one of them"),
        ({"l1": 0.1, "l1_cumulative": 0.1}, "found the penalties l1 and l1-cumulative"),
        ({"l2": 0.6}, "setting 'l2': found 0.6, expected a number from 0.0 to 0.5"),
        ({"l2": float("nan")}, "setting 'l2'"),
        ({"l1": float("inf")}, "setting 'l1'"),
        ({"l1": -0.1}, "setting 'l1'"),
        ({"shuffle_average": 0}, "setting 'shuffle-average': found 0"),
        ({"shuffle_mean": "some"}, "expected nonzero or all"),
        ({"parallel": "split"}, "expected none or mix"),
        ({"dropout": "input"}, "setting 'dropout': found 'input', expected input:P"),
        ({"dropout": "input:1"}, "found 'input:1'"),
        ({"dropout": "values:1"}, "found 'values:1', expected input:P, values:P or hide-features:P"),
        ({"dropout": "hide-features:1"}, "found 'hide-features:1'"),
        ({"dropout": "input:0.1,words:0.2"}, "found 'words:0.2'"),
        ({"dropout": "hide-features:nan"}, "found 'hide-features:nan'"),
        ({"dropout": "features:nan"}, "found 'features:nan'"),
        ({"dropout": "values:0.1,features:0.8"}, "now hide-features:0.2"),
        ({"dropout": 0.5}, "found '0.5'"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict[str, Any], message: str) -> None:
    for learner in LEARNERS:
        with pytest.raises(mg.SettingsError) as caught:
            mg.train([(["a"], ["O"])], learner=learner, **settings)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["none", "off", "", "input:0", "hide-features:0", "input:0, values:0, hide-features:0"]
)
def test_no_dropout(toys: Toys, text: str) -> None:
    data = contradictory(toys)
    assert_same_arrays(mg.train(data, passes=2, dropout=text), mg.train(data, passes=2))


def test_saved_models_keep_the_meaning_of_dropout(toys: Toys) -> None:
    model = mg.train(toys(20), passes=2, dropout="values:0.1,hide-features:0.25", state=True)
    old = model.saved.settings | {"dropout": "values:0.1,features:0.75"}
    before = mg.Model(replace(model.saved, settings=old))
    assert before.partial_fit(toys(20)).saved.settings["dropout"] == "values:0.1,hide-features:0.25"
    arrays = [one.partial_fit(toys(20), passes=2).saved.arrays for one in (before, model)]
    assert all((arrays[0][name] == arrays[1][name]).all() for name in arrays[1])
