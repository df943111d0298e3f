"""Models that were trained to give probabilities: whole outputs sum to one, and so do labels; beams."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import pack, validate

Toys = Callable[..., Any]

TEMPLATES = "word[-1..1]\ntag[0]\n"
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "order 1": ("edge:\n", {}),
    "order 2": ("edge:\n", {"order": 2}),
    "edge features": ("edge:\nedge: word[0]\n", {}),
    "edge features, order 2": ("edge:\nedge: word[0]\n", {"order": 2}),
    "no transitions": ("", {}),
    "another encoding": ("edge:\n", {"encode": "IOBES"}),
    "illegal allowed": ("edge:\n", {"legal": False}),
    "all weights": ("edge:\n", {"support": "all"}),
    "sparse": ("edge:\n", {"l1": 0.2, "l2": 0.0}),
}
SHORT = [
    {"word": ["x1"], "tag": ["T0"]},
    {"word": ["x1", "any1"], "tag": ["T0", "T1"]},
    {"word": ["o2", "y3", "new"], "tag": ["T1", "T1", "T2"]},
]


@pytest.fixture(scope="module", params=list(VARIANTS))
def train(
    request: pytest.FixtureRequest, toys: Toys, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., mg.Tagger]:
    """A maker of models of one variant, with more settings."""
    extra, settings = VARIANTS[request.param]
    path = tmp_path_factory.mktemp("templates") / "t.txt"
    path.write_text(TEMPLATES + extra)
    made: dict[str, mg.Tagger] = {}

    def make(**more: Any) -> mg.Tagger:
        key = repr(more)
        if key not in made:
            made[key] = mg.train(toys(25), features=str(path), passes=15, **settings, **more)
        return made[key]

    return make


def block_of(tagger: mg.Tagger, columns: Any) -> Any:
    return pack([mg.Sentence(columns)], tagger.feature_columns)


def every_output(tagger: mg.Tagger, columns: Any) -> dict[tuple[int, ...], float]:
    """The score of each legal output, asked for one by one."""
    block, found = block_of(tagger, columns), {}
    for ids in product(range(len(tagger.saved.labels)), repeat=len(columns["word"])):
        score = tagger.decoder.score(block, 0, ids)
        if score > -math.inf:
            found[ids] = score
    return found


def test_scores_of_maxent_are_log_probabilities(train: Callable[..., mg.Tagger], toys: Toys) -> None:
    """They sum to one over all outputs of a sentence, to less over some."""
    tagger = train(learner="maxent")
    for columns in SHORT:
        outputs = every_output(tagger, columns)
        assert sum(map(math.exp, outputs.values())) == pytest.approx(1.0)
        listed = list(tagger.iter_nbest(columns))
        assert len(listed) == len(outputs)
        assert sum(math.exp(t.score or 0.0) for t in listed) == pytest.approx(1.0)
    for columns, _ in toys(10, seed=5):
        scores = [t.score or 0.0 for t in tagger.nbest(columns, 30)]
        assert scores == sorted(scores, reverse=True)
        assert all(score <= 1e-9 for score in scores)
        assert sum(map(math.exp, scores)) <= 1 + 1e-9


@pytest.mark.parametrize("learner", ["maxent", "crf"])
def test_marginals_are_those_of_all_outputs(
    train: Callable[..., mg.Tagger], learner: str, toys: Toys
) -> None:
    tagger = train(learner=learner)
    for columns in SHORT:
        outputs = every_output(tagger, columns)
        log_z = np.logaddexp.reduce(list(outputs.values()))
        expected = np.zeros((len(columns["word"]), len(tagger.saved.labels)))
        for ids, score in outputs.items():
            expected[np.arange(len(ids)), ids] += math.exp(score - log_z)
        np.testing.assert_allclose(tagger.marginals(columns), expected, atol=1e-9)
        found = tagger.decoder.expectations(block_of(tagger, columns), 0)
        assert found["log_z"] == pytest.approx(log_z if learner == "crf" else 0.0, abs=1e-9)
    for columns, _ in toys(10, seed=5):
        np.testing.assert_allclose(tagger.marginals(columns).sum(axis=1), 1.0, atol=1e-9)


def test_each_label_of_maxent_is_a_choice_after_those_before(train: Callable[..., mg.Tagger]) -> None:
    """The probability of a beginning does not depend on its end: it is the sum of all that go on with it."""
    tagger = train(learner="maxent")
    outputs = every_output(tagger, SHORT[2])
    firsts = tagger.marginals(SHORT[2])[0]
    for label in range(len(tagger.saved.labels)):
        total = sum(math.exp(score) for ids, score in outputs.items() if ids[0] == label)
        assert total == pytest.approx(firsts[label], abs=1e-9)


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_beam_gives_at_most_so_many(train: Callable[..., mg.Tagger], toys: Toys, beam: int) -> None:
    tagger, exact = train(learner="maxent", search="beam", beam=beam), train(learner="maxent")
    for columns, _ in toys(10, seed=5):
        listed = tagger.nbest(columns, 100)
        assert 1 <= len(listed) <= beam
        assert listed == list(tagger.iter_nbest(columns))
        assert listed[0].labels == tagger.tag(columns).labels
        scores = [t.score or 0.0 for t in listed]
        assert scores == sorted(scores, reverse=True)
        assert all(score <= 1e-9 for score in scores)
        best = exact.nbest(columns, 1)[0].score
        assert best is not None
        assert scores[0] <= best + 1e-9
        if tagger.saved.settings["legal"]:
            assert all(validate(t.labels, "IOB2") == [] for t in listed)


def test_a_beam_finds_probabilities_of_whole_outputs(train: Callable[..., mg.Tagger]) -> None:
    """What it gives is scored as the exact search scores it."""
    tagger, exact = train(learner="maxent", search="beam", beam=4), train(learner="maxent")
    for columns in SHORT:
        outputs = every_output(exact, columns)
        for ids, score in tagger.decoder.k_best(block_of(tagger, columns), 0):
            assert score == pytest.approx(outputs[tuple(ids.tolist())], abs=1e-9)


def test_a_wide_beam_is_exact(train: Callable[..., mg.Tagger], toys: Toys) -> None:
    wide, exact = train(learner="maxent", search="beam", beam=5000), train(learner="maxent")
    assert wide.saved.arrays["weights"].tolist() == exact.saved.arrays["weights"].tolist()
    for columns in SHORT:
        one, two = list(wide.iter_nbest(columns)), list(exact.iter_nbest(columns))
        assert [t.score for t in one] == pytest.approx([t.score for t in two], abs=1e-9)
    for columns, _ in toys(10, seed=5):
        assert wide.tag(columns) == exact.tag(columns)


def test_the_marginals_of_a_beam_are_exact(train: Callable[..., mg.Tagger], toys: Toys) -> None:
    narrow, exact = train(learner="maxent", search="beam", beam=1), train(learner="maxent")
    for columns, _ in toys(5, seed=5):
        np.testing.assert_allclose(narrow.marginals(columns), exact.marginals(columns), atol=1e-12)


def test_the_probabilities_of_a_crf_fit_its_data(toys: Toys) -> None:
    """The loss of training is what the model says of its training data, with the prior."""
    for learner in ("crf", "maxent"):
        records: list[mg.Progress] = []
        tagger = mg.train(toys(10), learner=learner, l2=0.0, passes=20, on_progress=records.append)
        total, numbers = 0.0, {label: i for i, label in enumerate(tagger.saved.labels)}
        for columns, labels in toys(10):
            block = block_of(tagger, columns)
            score = tagger.decoder.score(block, 0, [numbers[label] for label in labels])
            total -= score - tagger.decoder.expectations(block, 0)["log_z"]
        assert records[-1].loss == pytest.approx(total, rel=1e-4)


def test_empty_and_long_sentences_by_beam(toys: Toys) -> None:
    tagger = mg.train(toys(20), learner="maxent", search="beam", beam=2, passes=5)
    empty = {"word": [], "tag": []}
    assert [t.labels for t in tagger.nbest(empty, 3)] == [()]
    assert tagger.tag(empty).labels == ()
    long = {"word": ["x1", "o2"] * 5000, "tag": ["T0"] * 10_000}
    assert len(tagger.tag(long).labels) == 10_000
    np.testing.assert_allclose(tagger.marginals(long).sum(axis=1), 1.0, atol=1e-6)


def test_features_explain_the_score_of_a_crf(train: Callable[..., mg.Tagger]) -> None:
    tagger = train(learner="crf")
    for columns in SHORT:
        for ids, score in every_output(tagger, columns).items():
            reasons = tagger.decoder.features_of(block_of(tagger, columns), 0, ids)
            assert sum(r.weight * r.count for r in reasons) == pytest.approx(score, abs=1e-4)
