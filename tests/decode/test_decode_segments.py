"""Models of segments in use: alternatives, probabilities and reasons, against each other and enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import pack, validate

Toys = Callable[..., Any]

TEMPLATES = """
word[-1..0]
word[b]/tag[e]
word[b..e]
tag[i]/word[e]
word[b]/word[i]
tag[j]/tag[j+1]
length
edge:
"""
SHORT = [
    {"word": ["x1"], "tag": ["T0"]},
    {"word": ["x1", "any1"], "tag": ["T0", "T1"]},
    {"word": ["o2", "y3", "new", "x1"], "tag": ["T1", "T1", "T2", "T0"]},
]
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {},
    "crf": {"learner": "crf"},
    "short": {"learner": "crf", "max_length": 2},
}


@pytest.fixture(scope="module", params=list(LEARNERS))
def tagger(request: pytest.FixtureRequest, toys: Toys, tmp_path_factory: pytest.TempPathFactory) -> mg.Tagger:
    path = tmp_path_factory.mktemp("templates") / "t.txt"
    path.write_text(TEMPLATES)
    more = LEARNERS[request.param]
    return mg.train(toys(30), structure="segments", features=str(path), passes=8, **more)


def block_of(tagger: mg.Tagger, columns: Any) -> Any:
    return pack([mg.Sentence(columns)], tagger.feature_columns)


def every_output(tagger: mg.Tagger, columns: Any) -> dict[tuple[int, ...], float]:
    """The score of each output of segments that are not too long."""
    labels, most, found = tagger.saved.labels, tagger.saved.settings["max-length"], {}
    for ids in product(range(len(labels)), repeat=len(columns["word"])):
        names = [labels[i] for i in ids]
        runs = "".join(name[0] for name in names).replace("O", "B").split("B")
        if not validate(names, "IOB2") and max(map(len, runs)) < most:
            found[ids] = tagger.decoder.score(block_of(tagger, columns), 0, ids)
    return found


def test_alternatives_are_all_outputs_in_order(tagger: mg.Tagger) -> None:
    for columns in SHORT:
        outputs = every_output(tagger, columns)
        assert all(score > -math.inf for score in outputs.values())
        listed = list(tagger.iter_nbest(columns))
        assert {t.labels for t in listed} == {tuple(tagger.saved.labels[i] for i in ids) for ids in outputs}
        assert [t.score for t in listed] == pytest.approx(sorted(outputs.values(), reverse=True), abs=1e-6)
        assert tagger.nbest(columns, 3) == listed[:3]
        assert tagger.tag(columns).labels == listed[0].labels


def test_probabilities_are_those_of_all_outputs(tagger: mg.Tagger) -> None:
    for columns in SHORT:
        outputs = every_output(tagger, columns)
        log_z = np.logaddexp.reduce(list(outputs.values()))
        expected = np.zeros((len(columns["word"]), len(tagger.saved.labels)))
        for ids, score in outputs.items():
            expected[np.arange(len(ids)), ids] += math.exp(score - log_z)
        np.testing.assert_allclose(tagger.marginals(columns), expected, atol=1e-9)
        found = tagger.decoder.expectations(block_of(tagger, columns), 0)
        assert found["log_z"] == pytest.approx(log_z, abs=1e-9)


def test_features_explain_scores(tagger: mg.Tagger, toys: Toys) -> None:
    known = set(tagger.saved.feature_names() or []) | {"start", "end", "transition"}
    for columns in SHORT:
        for ids, score in every_output(tagger, columns).items():
            reasons = tagger.decoder.features_of(block_of(tagger, columns), 0, ids)
            assert sum(r.weight * r.count for r in reasons) == pytest.approx(score, abs=1e-4)
            assert {r.feature for r in reasons} <= known
    for columns, _ in toys(10, seed=3):
        block, (best,) = block_of(tagger, columns), tagger.nbest(columns, 1)
        reasons = tagger.decoder.features_of(block, 0, tagger.decoder.best(block).tolist())
        assert sum(r.weight * r.count for r in reasons) == pytest.approx(best.score, abs=1e-3)


def test_illegal_outputs_have_no_score(tagger: mg.Tagger) -> None:
    labels = tagger.saved.labels
    outside, inside = labels.index("O"), labels.index("I-X")
    assert tagger.decoder.score(block_of(tagger, SHORT[1]), 0, [outside, inside]) == -math.inf


def test_empty_long_and_unknown(tagger: mg.Tagger) -> None:
    empty = {"word": [], "tag": []}
    assert [t.labels for t in tagger.nbest(empty, 3)] == [()]
    assert tagger.tag(empty).labels == ()
    long = {"word": ["x1", "o2", "new"] * 1000, "tag": ["T0"] * 3000}
    found = tagger.tag(long)
    assert len(found.labels) == 3000
    assert validate(found.labels, "IOB2") == []
    np.testing.assert_allclose(tagger.marginals(long).sum(axis=1), 1.0, atol=1e-6)


def test_the_probabilities_of_a_crf_fit_its_data(toys: Toys) -> None:
    """The loss of training is what the model says of its training data."""
    records: list[mg.Progress] = []
    tagger = mg.train(
        toys(10), learner="crf", structure="segments", l2=0.0, passes=20, on_progress=records.append
    )
    total, numbers = 0.0, {label: i for i, label in enumerate(tagger.saved.labels)}
    for columns, labels in toys(10):
        block = block_of(tagger, columns)
        score = tagger.decoder.score(block, 0, [numbers[label] for label in labels])
        total -= score - tagger.decoder.expectations(block, 0)["log_z"]
    assert records[-1].loss == pytest.approx(total, rel=1e-3)


def test_votes(toys: Toys, tmp_path: Path) -> None:
    """Every version of the weights votes among the k best: here by the state that has them all."""
    tagger = mg.train(toys(15), structure="segments", average="vote", vote_candidates=4, passes=2)
    tagger.save(tmp_path / "m.mg")
    for columns, _ in toys(20, seed=4):
        candidates = [t.labels for t in tagger.nbest(columns, 4)]
        assert tagger.tag(columns).labels in candidates
        assert mg.load(tmp_path / "m.mg").tag(columns) == tagger.tag(columns)
