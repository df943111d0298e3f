"""Training and use of the structure `candidates`: every learner, and all that a model can be asked."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus.source import DataSource
from marginalia.decode.candidates import CandidateSettings
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.learn import make_recipe, prepare
from marginalia.learn.fitting import fits
from marginalia.learn.learners import LEARNERS

WEIGHTS = {"good": 2.0, "fine": 1.0, "odd": -1.0, "bad": -2.0, "noise": 0.0}
Item = dict[str, Any]


def items(count: int, seed: int = 1, size: int = 5) -> list[Item]:
    """Features say which candidate loses least; the base score knows half of it."""
    chance, found = random.Random(seed), []
    for number in range(count):
        listed = []
        for n in range(size):
            features = {name: 1.0 for name in WEIGHTS if chance.random() < 0.5}
            if "good" in features:
                features["good"] = chance.choice([0.5, 1.0, 2.0])
            quality = sum(WEIGHTS[name] * value for name, value in features.items())
            score = 0.3 * quality + chance.gauss(0.0, 1.0)
            listed.append(
                {"score": score, "features": features, "loss": 5.0 - quality, "output": f"candidate {n}"}
            )
        found.append({"id": number, "candidates": listed})
    return found


def train(data: Any = None, **settings: Any) -> Any:
    return mg.train(items(120) if data is None else data, structure="candidates", **settings)


def mean_loss(model: Any, data: list[Item]) -> float:
    return float(np.mean([ranked[0].given["loss"] for ranked in model.rerank_all(data)]))


def base_loss(data: list[Item]) -> float:
    return float(np.mean([max(item["candidates"], key=lambda c: c["score"])["loss"] for item in data]))


SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"learner": name} for name in LEARNERS if fits("candidates", name)},
    "sgd": {"learner": "crf", "algorithm": "sgd"},
    "voted": {"average": "vote"},
    "no average": {"average": "none"},
    "shuffle": {"shuffle_average": 3},
    "boosted": {"boost": 3},
    "dropout": {"dropout": "hide-features:0.2"},
    "hidden candidates": {"dropout": "input:0.1"},
    "l2": {"l2": 0.001},
    "l1": {"l1_cumulative": 0.001},
    "L1 of a crf": {"learner": "crf", "l1": 0.1},
    "cutoff": {"cutoff": 2},
    "ties": {"partial": True, "learner": "crf"},
    "ties of pairs": {"partial": True, "learner": "rank-boost"},
    "ties online": {"partial": True, "learner": "margin"},
    "scaled": {"base_scale": 0.3},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_learner_beats_the_base_scores(name: str) -> None:
    test = items(200, 2)
    model = train(dev=items(40, 3), **SETTINGS[name])
    least = float(np.mean([min(c["loss"] for c in item["candidates"]) for item in test]))
    assert mean_loss(model, test) - least < 0.4 * (base_loss(test) - least)
    again = train(dev=items(40, 3), **SETTINGS[name])
    assert model.to_bytes() == again.to_bytes()


def test_rank_boost_is_for_lists_only() -> None:
    with pytest.raises(SettingsError, match="rank-boost needs lists of outputs that are given"):
        mg.train([(["a"], ["X"])], learner="rank-boost")


def test_what_a_reranker_says(tmp_path: Path) -> None:
    model = train(learner="maxent")
    item = items(1, 9)[0]
    ranked = model.rerank(item)
    assert isinstance(model, mg.Reranker)
    assert sorted(one.number for one in ranked) == [1, 2, 3, 4, 5]
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert sum(one.probability for one in ranked) == pytest.approx(1.0)
    assert ranked[0].output == item["candidates"][ranked[0].number - 1]["output"]
    assert model.best(item) == ranked[0]
    assert model.nbest(item, 2) == ranked[:2]
    assert model.rerank_all([item] * 3, threads=2) == [ranked] * 3
    model.save(tmp_path / "m.mg")
    for other in (mg.load(tmp_path / "m.mg"), pickle.loads(pickle.dumps(model))):
        assert other.rerank(item) == ranked
    assert mg.train(items(20), structure="candidates").rerank(item)[0].probability is None
    with pytest.raises(ModelError, match="calibrate"):
        mg.train(items(20), structure="candidates").rerank(item, confidence=True)


def test_scores_are_sums_of_features() -> None:
    model = train(learner="crf", base_scale="0.5")
    lines = [line.split("\t") for line in _exported(model)]
    weights = {feature: float(weight) for _, feature, _, weight in lines[1:]}
    for item in items(5, 4):
        for one in model.rerank(item):
            given = one.given
            expected = weights["base score"] * 0.5 * given["score"]
            expected += sum(weights[name] * value for name, value in given["features"].items())
            assert one.score == pytest.approx(expected, abs=1e-4)


def _exported(model: Any) -> list[str]:
    import io

    out = io.BytesIO()
    model.export_weights(out)
    return out.getvalue().decode().splitlines()


def test_explanations_sum_to_the_difference() -> None:
    model = train(provenance=True)
    item = items(1, 5)[0]
    ranked = model.rerank(item)
    for against in (None, ranked[-1].number):
        found = model.explain(item, against, cite=2)
        other = ranked[1] if against is None else ranked[-1]
        assert found.difference == pytest.approx(ranked[0].score - other.score, abs=1e-5)
        assert found.chosen.labels.index("best") == ranked[0].number - 1
        assert found.other.labels.index("best") == other.number - 1
        assert found.tokens == tuple(f"candidate {n}" for n in range(5))
        assert any(reason.citations for reason in found.reasons)
        assert "candidate" in found.to_text()
    with pytest.raises(DataError, match="the very candidate that the model chose"):
        model.explain(item, ranked[0].number)
    with pytest.raises(DataError, match="expected the number of a candidate, 1 to 5"):
        model.explain(item, 6)
    with pytest.raises(DataError, match="only one candidate"):
        model.explain({"candidates": item["candidates"][:1]})


def test_corrections_and_undoing() -> None:
    model = train()
    item = items(1, 6)[0]
    wrong = model.rerank(item)[2].number
    fixed = model.fix(item, wrong, check=items(30, 7))
    assert fixed.best(item).number == wrong
    assert fixed.correction_report.checked == 30
    assert fixed.undo().to_bytes() == model.to_bytes()
    twice = fixed.fix_all(items(3, 8))
    assert twice.best(item).number == wrong
    for one in items(3, 8):
        assert twice.best(one).given["loss"] == min(c["loss"] for c in one["candidates"])
    further = model.partial_fit(items(30, 8))
    assert mean_loss(further, items(100, 2)) < base_loss(items(100, 2))


def test_calibration_and_shrinking() -> None:
    model = train(dev=items(50, 3))
    calibrated = mg.calibrate(model, items(200, 4))
    item = items(1, 5)[0]
    assert sum(one.probability for one in calibrated.rerank(item, confidence=True)) == pytest.approx(1.0)
    assert calibrated.saved.calibration["items"]["count"] == 200
    small = mg.shrink(model, dev=items(50, 3), bits=8)
    assert len(small.model.to_bytes()) < len(model.to_bytes())
    assert mean_loss(small.model, items(100, 2)) < base_loss(items(100, 2))


def test_the_target_is_the_one_with_the_least_loss() -> None:
    """Ties go to the greater score, then to the first; marks go before losses."""

    def chosen(*candidates: Item, **settings: Any) -> int:
        for number, one in enumerate(candidates):
            one["features"] = [f"f{number}"]
        model = train([{"candidates": list(candidates)}], passes=20, **settings)
        return int(model.best({"candidates": list(candidates)}).number)

    assert chosen({"loss": 1}, {"loss": 0.5}, {"loss": 0.5}) == 2
    assert chosen({"loss": 1, "score": 0}, {"loss": 0.5, "score": 1}, {"loss": 0.5, "score": 2}) == 3
    assert chosen({"right": False}, {}, {"right": True}) == 3
    assert chosen({"loss": 0, "right": False}, {"loss": 0, "right": True}) == 2


def test_the_weights_of_examples() -> None:
    """Items that count for nothing are as if they were not there."""
    data = items(60)
    weights = [1.0] * 30 + [0.0] * 30
    for learner in ("rank-boost", "maxent", "pa"):
        some = train(data, learner=learner, sample_weights=weights)
        less = train(data[:30], learner=learner)
        assert mean_loss(some, items(100, 2)) == pytest.approx(mean_loss(less, items(100, 2)), abs=0.2)


def test_the_base_scale_is_tuned_on_dev() -> None:
    for scales in ("0.1,1,10", "auto"):
        model = train(dev=items(60, 3), base_scale=scales, passes=3, average="vote")
        single = model.saved.settings["base-scale"]
        assert float(single) in CandidateSettings(base_scale=scales).scales
        best = train(dev=items(60, 3), base_scale=single, passes=3, average="vote")
        assert best.to_bytes() == model.to_bytes()
    scores = {
        scale: max(
            record["dev"] for record in train(dev=items(60, 3), base_scale=scale, passes=3).saved.history
        )
        for scale in ("0.1", "1", "10")
    }
    model = train(dev=items(60, 3), base_scale="0.1,1,10", passes=3)
    assert scores[model.saved.settings["base-scale"]] == max(scores.values())
    with pytest.raises(SettingsError, match="of which dev data choose one"):
        train(base_scale="0.1,1")
    with pytest.raises(SettingsError, match="expected numbers from 0 to 1e6, or auto"):
        train(base_scale="big")


def test_rounds_are_chosen_on_dev() -> None:
    run: list[Any] = []
    model = train(
        dev=items(60, 3), learner="rank-boost", rounds=200, look=10, patience=0, on_progress=run.append
    )
    ended = [record for record in run if record.finished]
    assert [record.number for record in ended] == list(range(1, len(ended) + 1))
    assert [record.round for record in ended][:3] == [10, 20, 30]
    losses = [record.loss for record in ended]
    assert losses == sorted(losses, reverse=True)
    assert all(record.bound == pytest.approx(record.loss / 120) for record in ended)
    best = max(record.dev for record in ended)
    first = next(record for record in ended if record.dev == best)
    again = train(learner="rank-boost", rounds=10 * first.number, look=10)
    assert mean_loss(model, items(100, 2)) == pytest.approx(mean_loss(again, items(100, 2)))


def test_boosting_goes_on_exactly() -> None:
    start = train(learner="rank-boost", rounds=30, look=10, state=True)
    ahead = train(learner="rank-boost", rounds=60, look=10)
    on = train(learner="rank-boost", rounds=30, look=10, start=start)
    item = items(1, 4)[0]
    assert [one.score for one in on.rerank(item)] == [one.score for one in ahead.rerank(item)]


def arrays_of(data: list[Item]) -> mg.CandidateArrays:
    """The same items without texts in between."""
    flat = [one for item in data for one in item["candidates"]]
    names = list(dict.fromkeys(name for one in flat for name in one["features"]))
    features = [names.index(name) for one in flat for name in one["features"]]
    return mg.CandidateArrays(
        np.array([len(item["candidates"]) for item in data], np.uint32),
        np.cumsum([len(one["features"]) for one in flat]).astype(np.uint64),
        np.array(features, np.uint32),
        names,
        np.array([value for one in flat for value in one["features"].values()], np.float32),
        np.array([one["score"] for one in flat]),
        np.array([one["loss"] for one in flat]),
    )


@pytest.mark.parametrize("learner", ["perceptron", "maxent", "rank-boost"])
def test_arrays_are_the_same_as_dictionaries(learner: str) -> None:
    ours = train(arrays_of(items(60)), dev=arrays_of(items(20, 3)), learner=learner)
    theirs = train(items(60), dev=items(20, 3), learner=learner)
    for item in items(10, 5):
        assert ours.rerank(item) == theirs.rerank(item)
    with pytest.raises(DataError, match="a feature has no name"):
        train(arrays_of(items(3))._replace(names=[]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lengths": [1, 2]}, "lengths: found list, expected a numpy array of uint32 with 1 dimension$"),
        ({"ends": np.zeros(3, np.int64)}, "ends: found an array of int64 with 1 dim.* uint64 "),
        ({"losses": np.zeros((3, 1))}, "losses: found .* with 2 dimensions, .*, or None$"),
        ({"names": [1, 2]}, "names: found something else than texts"),
    ],
)  # fmt: skip
def test_arrays_of_something_else_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        train(arrays_of(items(3))._replace(**wrong))


def test_settings_that_make_no_sense_are_refused() -> None:
    for settings, what in (
        ({"class_weights": "best:2"}, "class-weights"),
        ({"unit": "document"}, "unit"),
        ({"encode": "IOB2"}, "encode"),
        ({"features": "ner"}, "explicit attributes"),
        ({"task": "ner"}, "tasks, lists, clusters, lexicons and dictionaries"),
        ({"label": "other"}, "marked by 'right'"),
        ({"format": "conll"}, "read from jsonl"),
    ):
        with pytest.raises(SettingsError, match=what):
            train(items(5), **settings)


def test_files_of_items(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items(30)))
    by_file, by_objects = train(str(path)), train(items(30))
    assert by_file.rerank(items(1, 5)[0]) == by_objects.rerank(items(1, 5)[0])
    with pytest.raises(DataError, match="item 2: found int"):
        train([items(1)[0], 7])
    for learner in ("perceptron", "rank-boost"):
        streamed, kept = (train(str(path), learner=learner, stream=stream) for stream in (True, False))
        assert streamed.rerank(items(1, 5)[0]) == kept.rerank(items(1, 5)[0])
    with pytest.raises(SettingsError, match="dictionaries"):
        by_file.with_dictionary({"a": "b"})
    with pytest.raises(SettingsError, match="constraints"):
        by_file.explain(items(1)[0], constraints=["1=best"])


def test_an_interrupted_run_keeps_the_best_so_far() -> None:
    settings = {"rounds": 100_000, "look": 5, "patience": 0}
    recipe = make_recipe(structure="candidates", learner="rank-boost", settings=settings)
    run = prepare(DataSource(items(60)), items(20, 3), recipe)
    started = run.model()  # nothing but the base score has a weight yet
    assert started.best(items(1, 2)[0]).number == 1 + int(
        np.argmax([one["score"] for one in items(1, 2)[0]["candidates"]])
    )
    for record in run:
        if record.number == 8 and not record.finished:
            break
    best = max(run.history, key=lambda record: (record.dev, -record.number))
    assert len(run.history) == 7
    again = train(items(60), learner="rank-boost", rounds=5 * best.number, look=5)
    assert [one.score for one in run.model().rerank(items(1, 2)[0])] == [
        one.score for one in again.rerank(items(1, 2)[0])
    ]
