"""Confidence against its definition: the sum over all outputs, listed one by one, that say the same."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import pack, spans_of, validate
from marginalia.decode import Tagger

Toys = Callable[..., Any]

EDGES = "word[-1..1]\ntag[0]\nedge:\nedge: word[0]\n"
PLAIN = "word[-1..1]\ntag[0]\nedge:\n"
SEGMENTS = "word[b]\nword[e]\nword[i]\nlength\nedge:\n"
# By name: the scheme of the data, the templates, the settings.
VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "crf": ("IOB2", PLAIN, {"learner": "crf"}),
    "crf, order 2": ("IOB2", PLAIN, {"learner": "crf", "order": 2}),
    "crf, edge features": ("IOB2", EDGES, {"learner": "crf"}),
    "crf, edge features, order 2": ("IOB2", EDGES, {"learner": "crf", "order": 2}),
    "crf, all legal": ("IOB2", PLAIN, {"learner": "crf", "legal": False}),
    "maxent": ("IOB2", PLAIN, {"learner": "maxent"}),
    "maxent, order 2": ("IOB2", EDGES, {"learner": "maxent", "order": 2}),
    "maxent, beam": ("IOB2", PLAIN, {"learner": "maxent", "search": "beam", "beam": 2}),
    "perceptron": ("IOB2", PLAIN, {}),
    "perceptron, order 2": ("IOB2", EDGES, {"order": 2}),
    "voted": ("IOB2", PLAIN, {"average": "vote", "vote_candidates": 4}),
    "margin": ("IOB2", EDGES, {"learner": "margin"}),
    "IOBES for IOB2": ("IOB2", PLAIN, {"learner": "crf", "encode": "IOBES"}),
    "IOBES for IOB2, order 2": ("IOB2", PLAIN, {"learner": "crf", "encode": "IOBES", "order": 2}),
    "IOB2 for IOBES": ("IOBES", PLAIN, {"learner": "crf", "encode": "IOB2"}),
    "IOB2 for IOBES, order 2": ("IOBES", EDGES, {"encode": "IOB2", "order": 2}),
    "IOBES for IOB1": ("IOB1", PLAIN, {"learner": "crf", "encode": "IOBES", "scheme": "IOB1"}),
    "IOB2 for IOB1, order 2": ("IOB1", PLAIN, {"encode": "IOB2", "order": 2, "scheme": "IOB1"}),
    "IOB2 for IOE1": ("IOE1", PLAIN, {"learner": "crf", "encode": "IOB2", "scheme": "IOE1"}),
    "IOB1": ("IOB1", PLAIN, {"learner": "crf", "encode": "IOB1", "scheme": "IOB1"}),
    "IOE2 for BILOU": ("BILOU", PLAIN, {"learner": "crf", "encode": "IOE2"}),
    "segments": ("IOB2", SEGMENTS, {"structure": "segments"}),
    "segments, crf": ("IOB2", SEGMENTS, {"structure": "segments", "learner": "crf"}),
    "segments for IOBES": ("IOBES", SEGMENTS, {"structure": "segments", "learner": "crf"}),
    "segments for IOB1": ("IOB1", SEGMENTS, {"structure": "segments", "scheme": "IOB1", "learner": "crf"}),
    "segments for IOE1": ("IOE1", SEGMENTS, {"structure": "segments", "scheme": "IOE1", "learner": "crf"}),
    "segments, no pairs": ("IOB1", "word[i]\nword[b]\n", {"structure": "segments", "scheme": "IOB1"}),
    "segments, voted": ("IOB2", SEGMENTS, {"structure": "segments", "average": "vote"}),
}
SHORT = [
    {"word": ["x1"], "tag": ["T0"]},
    {"word": ["x1", "any1"], "tag": ["T0", "T1"]},
    {"word": ["o2", "y3", "new"], "tag": ["T1", "T1", "T2"]},
    {"word": ["x2", "x3", "any2", "y1"], "tag": ["T1", "T0", "T0", "T2"]},
]


def at_temperature(tagger: Tagger, temperature: float) -> Tagger:
    return Tagger(replace(tagger.saved, calibration={"temperature": temperature}))


def made(toys: Toys, folder: Path, name: str, count: int = 25) -> Tagger:
    scheme, templates, settings = VARIANTS[name]
    path = folder / "templates.txt"
    path.write_text(templates)
    settings = {"passes": 5} | settings
    return mg.train(toys(count, scheme=scheme, types="X"), features=str(path), **settings)


def joined(sentences: list[Any]) -> dict[str, list[str]]:
    """The tokens of all sentences as one."""
    return {name: [value for columns in sentences for value in columns[name]] for name in ("word", "tag")}


class Listed:
    """All outputs of a sentence, with their probabilities by the definition."""

    def __init__(self, tagger: Tagger, columns: Any, temperature: float) -> None:
        block = pack([mg.Sentence(columns)], tagger.feature_columns)
        scores = {}
        for ids in product(range(len(tagger.saved.labels)), repeat=len(columns["word"])):
            score = tagger.decoder.score(block, 0, ids)
            if score > -math.inf:
                scores[ids] = score / temperature
        most = max(scores.values())
        total = sum(math.exp(score - most) for score in scores.values())
        self.by_labels: dict[tuple[str, ...], float] = defaultdict(float)
        for ids, score in scores.items():
            self.by_labels[tuple(tagger._shown.user_labels(ids))] += math.exp(score - most) / total
        self.scheme = tagger.saved.scheme

    def label(self, token: int, label: str) -> float:
        return sum(p for labels, p in self.by_labels.items() if labels[token] == label)

    def span(self, span: mg.Span) -> float:
        return sum(p for y, p in self.by_labels.items() if self.scheme and span in spans_of(y, self.scheme))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("temperature", [None, 0.7, 3.0])
def test_by_definition(toys: Toys, tmp_path: Path, name: str, temperature: float | None) -> None:
    """Tokens, spans and sentences, for every structure, order and pair of schemes."""
    tagger = made(toys, tmp_path, name)
    if temperature is None and tagger.temperature is None:
        temperature = 1.0
    if temperature is not None:
        tagger = at_temperature(tagger, temperature)
    for columns in SHORT:
        listed = Listed(tagger, columns, temperature or 1.0)
        for tagged in (tagger.tag(columns, confidence=True), *tagger.nbest(columns, 4, confidence=True)):
            assert tagged.label_confidence is not None
            assert tagged.span_confidence is not None
            assert tagged.confidence == pytest.approx(listed.by_labels[tagged.labels], abs=1e-9)
            for token, label in enumerate(tagged.labels):
                assert tagged.label_confidence[token] == pytest.approx(listed.label(token, label), abs=1e-9)
            assert len(tagged.span_confidence) == len(tagged.spans)
            for span, confidence in zip(tagged.spans, tagged.span_confidence, strict=True):
                assert confidence == pytest.approx(listed.span(span), abs=1e-9)


def test_variants_are_what_they_say(toys: Toys, tmp_path: Path) -> None:
    """Else the test above would test less than it seems to."""
    for name, (scheme, _, settings) in VARIANTS.items():
        saved = made(toys, tmp_path, name, 10).saved
        assert (saved.scheme, saved.encoding) == (
            scheme,
            "IOB2" if "structure" in settings else settings.get("encode", saved.encoding),
        )


def test_illegal_outputs_that_are_allowed(toys: Toys, tmp_path: Path) -> None:
    """A model that may give I after O: the span begins there, and the label is what it is."""
    tagger = made(toys, tmp_path, "crf, all legal")
    found = [t for columns in SHORT for t in tagger.nbest(columns, 30, confidence=True)]
    assert any(validate(tagged.labels, "IOB2") for tagged in found)
    for tagged in found:
        assert len(tagged.spans) == len(tagged.span_confidence or ())


def test_plain_tags(toys: Toys) -> None:
    for structure in ("chain", "segments"):
        data = [(columns["word"], columns["tag"]) for columns, _ in toys(20)]
        tagger = mg.train(data, structure=structure, learner="crf")
        words = ["x1", "any1", "y2"]
        tagged = tagger.tag(words, confidence=True)
        marginals = tagger.marginals(words)
        ids = [tagger.saved.labels.index(label) for label in tagged.labels]
        assert tagged.label_confidence == pytest.approx([marginals[t][i] for t, i in enumerate(ids)])
        assert tagged.spans == ()
        assert tagged.span_confidence == ()
        assert sum(t.confidence or 0.0 for t in tagger.iter_nbest(words)) == pytest.approx(1.0)


@pytest.mark.parametrize("structure", ["chain", "segments"])
@pytest.mark.parametrize("scheme", ["IOB2", "IOB1", "IOBES"])
def test_documents(toys: Toys, structure: str, scheme: str) -> None:
    """The spans of documents end with their sentences, whatever the model would join across."""
    data = [
        mg.Sentence(c | {"label": y}, document=i // 3) for i, (c, y) in enumerate(toys(30, scheme=scheme))
    ]
    tagger = mg.train(data, structure=structure, learner="crf", unit="document", scheme=scheme, passes=8)
    tagger = at_temperature(tagger, 4.0)
    parts = [["x1", "any1"], ["x2"], ["any2"]]
    sentences = [mg.Sentence({"word": part, "tag": ["T0"] * len(part)}, document=7) for part in parts]
    columns = joined([s.columns for s in sentences])
    block = pack([mg.Sentence(columns)], tagger.feature_columns)
    found = tagger.tag_all(sentences, confidence=True)
    outputs = [(tuple(ids.tolist()), score / 4.0) for ids, score in tagger.decoder.k_best(block, 0)]
    most = outputs[0][1]
    total = sum(math.exp(score - most) for _, score in outputs)
    cuts = [(0, 2), (2, 3), (3, 4)]
    sums: dict[Any, float] = defaultdict(float)
    for ids, score in outputs:
        p = math.exp(score - most) / total
        for s, (first, last) in enumerate(cuts):
            labels = tagger._shown.user_labels(ids[first:last])
            for token, label in enumerate(labels):
                sums[s, token, label] += p
            for span in spans_of(labels, scheme):
                sums[s, span] += p
    assert [tagged.confidence for tagged in found] == pytest.approx([1 / total] * 3)
    for s, tagged in enumerate(found):
        expected = [sums[s, token, label] for token, label in enumerate(tagged.labels)]
        assert tagged.label_confidence == pytest.approx(expected)
        assert tagged.span_confidence == pytest.approx([sums[s, span] for span in tagged.spans])


@pytest.mark.parametrize("name", ["crf", "crf, order 2", "IOBES for IOB2, order 2", "segments, crf"])
def test_long_sentences_and_threads(toys: Toys, tmp_path: Path, name: str) -> None:
    """Nothing depends on threads or on what stands beside; nothing under- or overflows."""
    tagger = made(toys, tmp_path, name)
    sentences = [columns for columns, _ in toys(1200, seed=3, types="XO")]
    long = joined(sentences[:300])
    one = tagger.tag_all([*sentences, long], confidence=True)
    assert tagger.tag_all([*sentences, long], 3, confidence=True) == one
    assert tagger.tag(sentences[7], confidence=True) == one[7]
    assert all(0.0 < p <= 1.0 for p in one[-1].label_confidence or ())
    plain = tagger.tag_all([*sentences, long])
    assert [t.labels for t in plain] == [t.labels for t in one]
    assert plain[0].confidence is None
    cold = at_temperature(tagger, 1e-3).tag(long, confidence=True)
    assert all(np.isfinite(cold.label_confidence or ()))
    assert 0.1 < (cold.confidence or 0.0) <= 1.0


def test_scores_are_no_probabilities(toys: Toys) -> None:
    tagger = mg.train(toys(10), passes=2)
    assert tagger.temperature is None
    for call in (
        lambda: tagger.tag(SHORT[0], confidence=True),
        lambda: tagger.tag(SHORT[0], min_confidence=0.5),
        lambda: tagger.nbest(SHORT[0], 2, confidence=True),
    ):
        with pytest.raises(mg.ModelError, match="calibrate"):
            call()
    assert tagger.nbest(SHORT[0], 2)[0].confidence is None


@pytest.mark.parametrize("scheme", ["IOB2", "IOB1", "IOE1", "IOBES"])
@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_abstention(toys: Toys, scheme: str, structure: str) -> None:
    tagger = mg.train(toys(30, scheme=scheme), learner="crf", scheme=scheme, structure=structure, passes=4)
    taken = 0
    for columns, _ in toys(60, seed=9, types="X"):
        sure = tagger.tag(columns, confidence=True)
        pairs = list(zip(sure.spans, sure.span_confidence or (), strict=True))
        least = 0.9
        left = tagger.tag(columns, min_confidence=least)
        assert left.spans == tuple(span for span, p in pairs if p >= least)
        assert left.abstained == tuple((span, p) for span, p in pairs if p < least)
        assert left.span_confidence == tuple(p for _, p in pairs if p >= least)
        assert left.label_confidence == sure.label_confidence
        assert not validate(left.labels, scheme)
        taken += len(left.abstained)
    assert taken
    assert tagger.tag(SHORT[3], min_confidence=0.0).abstained == ()


def test_abstention_of_tags(toys: Toys) -> None:
    data = [(columns["word"], columns["tag"]) for columns, _ in toys(20)]
    tagger = mg.train(data, learner="crf")
    tagged = tagger.tag(["x1", "new", "y1"], confidence=True)
    least = sorted(tagged.label_confidence or ())[1]
    left = tagger.tag(["x1", "new", "y1"], min_confidence=least)
    gone = [i for i, p in enumerate(tagged.label_confidence or ()) if p < least]
    assert [i for i, label in enumerate(left.labels) if label == "_"] == gone
    expected = [(mg.Span(i, i + 1, tagged.labels[i]), tagged.label_confidence[i]) for i in gone]  # type: ignore[index]
    assert list(left.abstained) == expected


def test_abstention_that_makes_no_sense(toys: Toys) -> None:
    tagger = mg.train(toys(10), learner="crf", passes=2)
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(mg.SettingsError, match="from 0 to 1"):
            tagger.tag(SHORT[0], min_confidence=bad)
    segmenter = mg.train([(["a", "b"], ["B", "E"]), (["c"], ["S"])], learner="crf", passes=2, scheme="BMES")
    with pytest.raises(mg.SettingsError, match="every token is in a span"):
        segmenter.tag(["a"], min_confidence=0.5)


def test_empty_sentences(toys: Toys) -> None:
    tagger = mg.train(toys(10), learner="crf", passes=2)
    empty = {"word": [], "tag": []}
    assert tagger.tag(empty, confidence=True).confidence == 1.0
    assert [t.confidence for t in tagger.tag_all([empty, SHORT[0], empty], confidence=True)][::2] == [
        1.0,
        1.0,
    ]
    assert tagger.tag_all([], confidence=True) == []
