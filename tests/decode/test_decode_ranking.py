"""The k best outputs of batches: those of each sentence, and of whole documents by brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import Block, pack, spans_of
from marginalia.corpus.batches import Batch
from marginalia.decode.decoder import RankedOutputs

Toys = Callable[..., Any]

MODELS: dict[str, dict[str, Any]] = {
    "chain": {},
    "crf": {"learner": "crf"},
    "order 2, IOBES": {"order": 2, "encode": "IOBES"},
    "beam": {"learner": "maxent", "search": "beam", "beam": 3},
    "segments": {"structure": "segments"},
    "segments, crf": {"structure": "segments", "learner": "crf"},
    "votes": {"average": "vote"},
}


@pytest.fixture(scope="module", params=list(MODELS))
def tagger(request: pytest.FixtureRequest, toys: Toys) -> mg.Tagger:
    return mg.train(toys(25), passes=2, **MODELS[request.param])


@pytest.fixture(scope="module")
def sentences(toys: Toys) -> list[Any]:
    return [{name: [] for name in ("word", "tag")}, *[columns for columns, _ in toys(20, seed=11)]]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_outputs_are_those_of_each_sentence(tagger: mg.Tagger, sentences: list[Any], k: int) -> None:
    block = pack([mg.Sentence(columns) for columns in sentences], tagger.feature_columns)
    starts = block.table.sentence_starts
    found = tagger.decoder.ranked(block, k)
    for s, (first, last) in enumerate(itertools.pairwise(starts.tolist())):
        expected = list(tagger.decoder.k_best(block, s, k))
        scores = found.scores[:, s]
        assert scores[: len(expected)].tolist() == [score for _, score in expected]
        assert np.isnan(scores[len(expected) :]).all()
        own = [ids[first:last].tolist() for ids in found.ids]
        assert own[: len(expected)] == [ids.tolist() for ids, _ in expected]
        assert all(more == own[0] for more in own[len(expected) :])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("constraints", [[], ["at most 1 X"], ["at least 2 X", "never X then Y"], ["1=X"]])
def test_nbest_of_all_is_nbest_of_each(
    tagger: mg.Tagger, sentences: list[Any], constraints: list[str], threads: int
) -> None:
    given = sentences[1:]
    found = tagger.nbest_all(given, 4, threads, constraints=constraints)
    for sentence, outputs in zip(given, found, strict=True):
        expected = tagger.nbest(sentence, 4, constraints=constraints)
        assert [one.confidence for one in outputs] == pytest.approx([one.confidence for one in expected])
        strip = [
            [mg.Tagged(o.tokens, o.labels, o.scheme, o.score, broken=o.broken, exact=o.exact) for o in listed]
            for listed in (outputs, expected)
        ]
        assert strip[0] == strip[1]


def test_constraints_of_some_sentences(tagger: mg.Tagger, sentences: list[Any]) -> None:
    """Sentences with other constraints are searched apart and come back in their places."""
    given = sentences[1:]
    constraints = mg.Constraints.of(["at most 2 X"], {2: ["never X"], 5: ["at least 1 Y"], 6: ["never X"]})
    found = tagger.nbest_all(given, 3, constraints=constraints)
    for number, sentence in enumerate(given, 1):
        own = mg.Constraints.of(["at most 2 X"]).everywhere + constraints.by_sentence.get(number, ())
        expected = tagger.nbest(sentence, 3, constraints=own)
        assert [o.labels for o in found[number - 1]] == [o.labels for o in expected]
        assert [o.broken for o in found[number - 1]] == [o.broken for o in expected]


def test_confidence_of_all_outputs(toys: Toys, sentences: list[Any]) -> None:
    tagger = mg.train(toys(25), passes=2, learner="crf", encode="IOBES")
    for sentence, outputs in zip(sentences, tagger.nbest_all(sentences, 3, confidence=True), strict=True):
        for one, expected in zip(outputs, tagger.nbest(sentence, 3, confidence=True), strict=True):
            assert one.confidence == pytest.approx(expected.confidence)
            assert one.label_confidence == pytest.approx(expected.label_confidence)
            assert one.span_confidence == pytest.approx(expected.span_confidence)
    with pytest.raises(mg.ModelError, match="calibrate"):
        mg.train(toys(5), passes=1).nbest_all(sentences, 2, confidence=True)
    with pytest.raises(mg.SettingsError, match="found k = 0"):
        tagger.nbest_all(sentences, 0)


DOCUMENTS = [[["x1", "any1"], ["y2"]], [["any2"]], [["x2"], ["x1"], ["any1"]]]


@pytest.fixture(scope="module", params=["chain", "segments"])
def of_documents(request: pytest.FixtureRequest, toys: Toys) -> mg.Tagger:
    data = [
        mg.Sentence(c | {"label": y}, document=i // 3) for i, (c, y) in enumerate(toys(30, scheme="IOB1"))
    ]
    return mg.train(data, structure=request.param, learner="crf", unit="document", scheme="IOB1", passes=8)


def records() -> list[mg.Sentence]:
    return [
        mg.Sentence({"word": words, "tag": ["T0"] * len(words)}, document=number)
        for number, document in enumerate(DOCUMENTS)
        for words in document
    ]


def by_brute_force(tagger: mg.Tagger, block: Block) -> list[tuple[float, tuple[int, ...]]]:
    """All legal outputs of a block's only sentence with their scores, best first."""
    labels, tokens = range(len(tagger.saved.labels)), block.table.tokens
    outputs = [(tagger.decoder.score(block, 0, ids), ids) for ids in itertools.product(labels, repeat=tokens)]
    return sorted((one for one in outputs if one[0] > -math.inf), reverse=True)


@pytest.mark.parametrize("constraints", [[], ["at most 1 X"], ["at least 2 X"]])
def test_documents_by_brute_force(of_documents: mg.Tagger, constraints: list[str]) -> None:
    """Outputs are ranked by document; constraints are on each of its sentences."""
    tagger = of_documents
    found = tagger.nbest_all(records(), 6, constraints=constraints)
    place = 0
    for document in DOCUMENTS:
        words = [word for sentence in document for word in sentence]
        columns = {"word": words, "tag": ["T0"] * len(words)}
        all_outputs = by_brute_force(tagger, pack([mg.Sentence(columns)], tagger.feature_columns))
        cuts = list(itertools.pairwise(itertools.accumulate([0, *map(len, document)])))
        log_z = math.log(sum(math.exp(score) for score, _ in all_outputs))
        shown = [(s, [tagger._shown.user_labels(ids[a:b]) for a, b in cuts]) for s, ids in all_outputs]
        missed = [(missing(labels, constraints), -score, labels) for score, labels in shown]
        least = min(count for count, _, _ in missed)
        best = [(-minus, labels) for count, minus, labels in missed if count == least][:6]
        outputs = list(zip(*found[place : place + len(document)], strict=True))
        place += len(document)
        assert [[list(one.labels) for one in output] for output in outputs] == [labels for _, labels in best]
        for output, (score, _) in zip(outputs, best, strict=True):
            assert [one.score for one in output] == pytest.approx([score] * len(document))
            assert [one.confidence for one in output] == pytest.approx(
                [math.exp(score - log_z)] * len(document)
            )


def missing(labels: list[list[str]], constraints: list[str]) -> int:
    """By how many spans the sentences of a document are away from its constraints."""
    low, high = {"at most 1 X": (0, 1), "at least 2 X": (2, 99)}[constraints[0]] if constraints else (0, 99)
    counts = [sum(span.label == "X" for span in spans_of(one, "IOB1")) for one in labels]
    return sum(max(low - count, count - high, 0) for count in counts)


def test_units_of_a_batch_of_documents(of_documents: mg.Tagger) -> None:
    batch = Batch(pack(records(), of_documents.feature_columns), records())
    [(_, ranked)] = of_documents.nbest_batches([batch], 2)
    assert [one.bounds.tolist() for one in ranked] == [[0, 2, 3, 6]] * 2
    assert len(set(ranked[1].scores.tolist())) == 3


def test_a_block_without_tokens(tagger: mg.Tagger) -> None:
    batch = Batch(pack([mg.Sentence({name: [] for name in tagger.feature_columns})] * 2))
    [(_, [ranked])] = tagger.nbest_batches([batch], 3, constraints="at most 1 X")
    assert (ranked.ids.tolist(), ranked.scores.tolist()) == ([], [0.0, 0.0])


def test_outputs_of_chosen_sentences_and_others() -> None:
    def outputs(ranks: int, number: int) -> RankedOutputs:
        ids = np.full((ranks, 3), number, np.int32) + 10 * np.arange(ranks, dtype=np.int32)[:, None]
        scores = np.full((ranks, 2), float(number))
        return RankedOutputs(ids, scores, np.full(2, number, np.uint32), np.full(2, number, np.uint8))

    chosen, starts = np.array([0, 1], np.uint8), np.array([0, 1, 3], np.uint32)
    found = outputs(1, 1).where(chosen, outputs(2, 0), starts)
    assert found.ids.tolist() == [[0, 1, 1], [10, 1, 1]]
    assert found.scores[0].tolist() == [0.0, 1.0]
    assert found.scores[1, 0] == 0.0
    assert np.isnan(found.scores[1, 1])
    assert (found.violations.tolist(), found.exact.tolist()) == ([0, 1], [0, 1])
