"""Training and use of the structure `single`: every learner, and all that a model can be asked."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.learn.fitting import fits
from marginalia.learn.learners import LEARNERS

WORDS = {
    "fly": ["flight", "plane", "airport", "depart"],
    "eat": ["food", "meal", "lunch", "cook"],
    "rain": ["weather", "sun", "rain", "cold"],
}
Item = tuple[dict[str, Any], str]


def items(count: int, seed: int = 1) -> list[Item]:
    """Texts with one or two words of their class among others, a channel and a number that help."""
    chance, found = random.Random(seed), []
    for _ in range(count):
        label = chance.choice(list(WORDS))
        words = [chance.choice(["the", "a", "show", "me", "please", "now"]) for _ in range(4)]
        words.insert(chance.randrange(4), chance.choice(WORDS[label]))
        channel = chance.choice(["mail", "phone"]) if label != "rain" else "app"
        found.append(({"text": " ".join(words), "channel": channel, "price": len(label) * 10}, label))
    return found


def train(data: Any = None, **settings: Any) -> Any:
    return mg.train(data or items(120), structure="single", **settings)


def accuracy(model: Any, data: list[Item]) -> float:
    found = model.predict([item for item, _ in data])
    return sum(a == b for a, (_, b) in zip(found, data, strict=True)) / len(data)


SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"learner": name} for name in LEARNERS if fits("single", name)},
    "sgd": {"learner": "crf", "algorithm": "sgd"},
    "voted": {"average": "vote"},
    "no average": {"average": "none"},
    "shuffle": {"shuffle_average": 3},
    "boosted": {"boost": 3},
    "dropout": {"dropout": "hide-features:0.8"},
    "hidden columns": {"dropout": "values:0.2"},
    "l2": {"l2": 0.001},
    "l1": {"l1_cumulative": 0.001},
    "L1 of a crf": {"learner": "crf", "l1": 0.1},
    "class weights": {"class_weights": "fly:2"},
    "cutoff": {"cutoff": 2},
    "mixed": {"parallel": "mix", "threads": 2},
    "bpm": {"bpm_init": 2},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_learner_learns(name: str) -> None:
    settings = SETTINGS[name]
    model = train(**settings)
    assert accuracy(model, items(100, seed=2)) > 0.9
    again = train(**settings)
    assert again.to_bytes() == model.to_bytes()


def test_the_same_in_any_form(tmp_path: Path) -> None:
    """Pairs, records, JSONL, CSV and TSV give the same weights."""
    data = items(60)
    records = [item | {"label": label} for item, label in data]
    model = train(data)
    assert (model.labels, model.saved.columns) == (
        train(records).labels,
        ("text", "channel", "price", "label"),
    )
    lines = {
        "d.jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "d.csv": "text,channel,price,label\n"
        + "".join(",".join(map(str, r.values())) + "\n" for r in records),
        "d.tsv": "\t".join(records[0])
        + "\n"
        + "".join("\t".join(map(str, r.values())) + "\n" for r in records),
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
        other = train(str(tmp_path / name))
        for array in ("keys", "weights", "row_end"):
            assert np.array_equal(other.saved.arrays[array], model.saved.arrays[array]), name
        streamed = train(str(tmp_path / name), stream=True)
        assert np.array_equal(streamed.saved.arrays["weights"], model.saved.arrays["weights"])


def test_texts_and_attributes() -> None:
    texts = train([(item["text"], label) for item, label in items(120)], label="kind")
    assert texts.saved.columns == ("text", "kind")
    assert texts.classify("the flight").label == texts.classify({"text": "the flight"}).label == "fly"
    bags = train([(item["text"].split(), label) for item, label in items(120)])
    assert bags.saved.program.explicit
    assert bags.classify(["the", "meal"]).label == bags.classify({"meal": 1.0}).label == "eat"
    with pytest.raises(DataError, match="found int"):
        texts.classify(3)


def test_dev_data_choose_the_pass() -> None:
    seen: list[Any] = []
    model = train(items(40), dev=items(40, seed=3), on_progress=seen.append, passes=5)
    assert max(one.dev for one in seen if one.dev is not None) == pytest.approx(
        100 * accuracy(model, items(40, seed=3))
    )


@pytest.fixture(scope="module")
def model() -> Any:
    return train(learner="crf")


TEXT = {"text": "show me the flight", "channel": "mail", "price": 30}


def test_probabilities_nbest_and_confidence(model: Any) -> None:
    found = model.probabilities(TEXT)
    assert sum(found.values()) == pytest.approx(1.0)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    best = model.nbest(TEXT, 10)
    assert [one.label for one in best] == list(found)
    assert [one.confidence for one in best] == pytest.approx(list(found.values()))
    scores = np.array([one.score for one in best])
    assert np.exp(scores) / np.exp(scores).sum() == pytest.approx(list(found.values()))
    one = model.classify(TEXT, confidence=True)
    assert (one.label, one.confidence) == (best[0].label, pytest.approx(best[0].confidence))
    assert model.classify(TEXT).confidence is None
    unsure = model.classify(TEXT, min_confidence=0.9999999)
    assert (unsure.label, unsure.abstained) == (None, "fly")
    assert model.classify(TEXT, min_confidence=0.1) == one


def test_batches_do_not_depend_on_threads(model: Any) -> None:
    many = [item for item, _ in items(1200, seed=5)]
    alone = model.classify_all(many, confidence=True)
    assert model.classify_all(many, threads=3, confidence=True) == alone
    assert [model.classify(item, confidence=True) for item in many[:5]] == alone[:5]
    assert model.classify_all([]) == []


def test_scores_need_calibration() -> None:
    plain = train()
    with pytest.raises(ModelError, match="marginalia calibrate"):
        plain.classify(TEXT, confidence=True)
    sure = mg.calibrate(plain, items(100, seed=7))
    assert 0 < sure.classify(TEXT, confidence=True).confidence <= 1
    assert sure.saved.calibration["items"]["count"] == 100


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        ("never fly", ["eat", "rain"]),
        ("only eat rain", ["eat", "rain"]),
        ("1=eat|rain", ["eat", "rain"]),
        ("1!=fly", ["eat", "rain"]),
        (["1=eat|rain", "never eat"], ["rain"]),
        ("at most 0 fly", ["eat", "rain"]),
        ("exactly 1 rain", ["rain"]),
    ],
)
def test_constraints(model: Any, constraints: Any, expected: list[str]) -> None:
    order = [one.label for one in model.nbest(TEXT, 3) if one.label in expected]
    assert order[0] != model.classify(TEXT).label
    assert model.classify(TEXT, constraints=constraints).label == order[0]
    assert [one.label for one in model.nbest(TEXT, 3, constraints=constraints)] == order
    only_one = mg.Constraints.of((), {2: [constraints] if isinstance(constraints, str) else constraints})
    found = [one.label for one in model.classify_all([TEXT, TEXT, TEXT], constraints=only_one)]
    assert found == ["fly", order[0], "fly"]


def test_constraints_that_cannot_be_met(model: Any) -> None:
    found = model.classify(TEXT, constraints=["never fly", "1=fly", "never eat"])
    assert found.label in ("fly", "rain")
    assert len(found.broken) == 1
    with pytest.raises(SettingsError, match="the model does not know 'walk'"):
        model.classify(TEXT, constraints="never walk")


def test_explanations_sum_up(model: Any) -> None:
    found = model.explain(TEXT)
    best = model.nbest(TEXT, 2)
    assert (found.chosen.labels, found.other.labels) == ((best[0].label,), (best[1].label,))
    assert found.difference == pytest.approx(best[0].score - best[1].score, abs=1e-4)
    words = {reason.words for reason in found.reasons}
    assert "the text has 'flight' in lower case" in words
    assert "the channel is 'mail'" in words
    assert any(word.startswith("the price is a number") for word in words)
    assert model.explain(TEXT, against="1=rain").other.labels == ("rain",)
    assert model.explain(TEXT, "rain").other.labels == ("rain",)
    assert "flight" in found.to_text() and "flight" in found.to_html()  # noqa: PT018
    traced = train(provenance=True).explain(TEXT, cite=2)
    assert all(reason.citations for reason in traced.reasons if reason.chosen)


def test_fix_undo_and_new_classes(model: Any) -> None:
    fixed = model.fix(TEXT, "rain")
    assert fixed.classify(TEXT).label == "rain"
    assert fixed.undo().to_bytes() == model.to_bytes()
    assert fixed.undo().saved.arrays["constants"].size == 0
    newer = fixed.fix({"text": "quite another thing", "channel": "fax", "price": 1}, "other", check=items(20))
    assert newer.labels == (*model.labels, "other")
    assert newer.classify(TEXT).label == "rain"
    assert newer.correction_report.checked == 20
    both = model.fix_all([(TEXT, "eat"), ({"text": "the food", "channel": "mail", "price": 30}, "fly")])
    assert both.predict([TEXT, {"text": "the food", "channel": "mail", "price": 30}]) == ["eat", "fly"]


def test_open_classes() -> None:
    """One of two classes, or nobody knows: the rest tells them apart."""
    chance, data = random.Random(4), items(200)
    opened = [
        (item, [label, chance.choice([one for one in WORDS if one != label])] if i % 2 else label)
        for i, (item, label) in enumerate(data)
    ]
    opened += [(item, None) for item, _ in items(10, seed=8)]
    for learner in ("perceptron", "pa", "crf"):
        model = train(opened, partial=True, learner=learner)
        assert model.labels == train(data).labels or set(model.labels) == set(WORDS)
        assert accuracy(model, items(100, seed=2)) > 0.9
    with pytest.raises(DataError, match="others are for training with partial=on"):
        train(opened)


def test_warm_starts_and_further_training() -> None:
    first = train(items(30), state=True)
    later = first.partial_fit(items(200, seed=9))
    assert accuracy(later, items(100, seed=2)) >= accuracy(first, items(100, seed=2))
    started = train(items(120), start=first, passes=3)
    assert started.labels == first.labels
    with pytest.raises(SettingsError, match="the model to begin with has single"):
        mg.train([(["a"], ["B"])], structure="chain", start=first)


def test_sample_weights() -> None:
    data = [("a b", "x"), ("a b", "y")]
    for weights, expected in (([1.0, 0.01], "x"), ([0.01, 1.0], "y")):
        assert train(data, learner="crf", sample_weights=weights).classify("a b").label == expected


def test_files_pickles_and_weights(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.mg"
    model.save(path)
    loaded = mg.load(path)
    assert isinstance(loaded, mg.Classifier)
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.classify(TEXT) == model.classify(TEXT) == pickle.loads(pickle.dumps(model)).classify(TEXT)
    with pytest.raises(ModelError, match="whose outputs are classes, not labels"):
        mg.Tagger.load(path)
    table = tmp_path / "w.tsv"
    model.export_weights(table)
    assert loaded.with_weights(table).nbest(TEXT, 3) == model.nbest(TEXT, 3)
    with open(table, "a") as file:
        file.write(f"start\t\t{model.labels[0]}\t1\n")  # a class has no neighbours
    with pytest.raises((ModelError, DataError)):
        loaded.with_weights(table)


def test_shrink_and_export(model: Any) -> None:
    found = mg.shrink(model, "3kB", items(100, seed=2))
    assert len(found.model.to_bytes()) <= 3000
    assert accuracy(found.model, items(100, seed=2)) > 0.9
    with pytest.raises(ModelError, match="cannot be exported: exported programs know no bags of words"):
        mg.export(model, "python")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheme": "IOB2"}, "setting 'scheme': found IOB2, but an item has one class"),
        ({"unit": "document"}, "setting 'unit': found document"),
        ({"task": "ner"}, "are for tokens"),
        ({"features": "nothing"}, "'nothing' is neither a ready-made set for items nor a template file"),
        ({"order": 2}, "order"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        train(**settings)


def test_data_that_make_no_sense_are_refused() -> None:
    with pytest.raises(DataError, match="item 2: found str, expected a pair of an item and its class"):
        train([("a", "x"), "b"])
    with pytest.raises(DataError, match="found no items"):
        mg.train([], structure="single")
    with pytest.raises(DataError, match="found no class in 'label'"):
        train([("a", "x"), ("b", "")])
    wrong = [({"price": "dear"}, "x")]
    numbers = train([({"price": 1}, "x"), ({"price": 2}, "y")])
    with pytest.raises(DataError, match="found 'dear', expected a number"):
        numbers.predict([one for one, _ in wrong])


def test_classes_are_not_taken_for_spans() -> None:
    data = [("a", "B-X"), ("b", "I-X"), ("c", "O")] * 5
    model = train(data)
    assert (model.saved.scheme, model.labels) == (None, ("B-X", "I-X", "O"))
    assert model.predict(["a", "b", "c"]) == ["B-X", "I-X", "O"]
