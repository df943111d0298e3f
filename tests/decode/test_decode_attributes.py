"""Models of explicit attributes in all uses of models: reasons, confidence, tables, shrinking."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import pack

Toys = Callable[..., Any]
Items = list[dict[str, Any]]

KINDS: dict[str, dict[str, Any]] = {
    "chain": {"learner": "crf"},
    "order 2": {"learner": "crf", "order": 2},
    "another encoding": {"learner": "crf", "encode": "IOBES"},
    "maxent": {"learner": "maxent"},
    "maxent, order 2": {"learner": "maxent", "order": 2},
    "segments": {"learner": "crf", "structure": "segments", "max_length": 4},
}


def items_of(columns: dict[str, list[str]]) -> Items:
    rows = zip(columns["word"], columns["tag"], strict=True)
    return [{"word": word, "length": len(word) / 4, "near": {"tag": tag}} for word, tag in rows]


def data_of(toys: Toys, count: int, **more: Any) -> list[tuple[Items, list[str]]]:
    return [(items_of(columns), labels) for columns, labels in toys(count, **more)]


@pytest.fixture(scope="module", params=KINDS)
def tagger(request: pytest.FixtureRequest, toys: Toys) -> mg.Tagger:
    return mg.train(data_of(toys, 40), **KINDS[request.param])


@pytest.fixture(scope="module")
def sentences(toys: Toys) -> list[Items]:
    found = [items[:4] for items, _ in data_of(toys, 12, seed=5)]
    return [items for items in found if items]


def test_reasons_sum_and_are_named_by_attributes(tagger: mg.Tagger, sentences: list[Items]) -> None:
    named = set()
    for items in sentences:
        block = pack([mg.Sentence({"attributes": items})], tagger.feature_columns)
        for ids, score in tagger.decoder.k_best(block, 0, 20):
            terms = tagger.decoder.terms(block, 0, ids.tolist())
            assert math.fsum(t.value for t in terms) == pytest.approx(score, abs=1e-4)
            parts = tagger.decoder.features_of(block, 0, ids.tolist())
            plain = math.fsum(t.value for t in terms if t.kind != "normaliser")
            assert math.fsum(c.weight * c.count for c in parts) == pytest.approx(plain, abs=1e-4)
        found = tagger.explain(items)
        assert found.chosen.labels == tagger.tag(items).labels
        assert all(isinstance(token, str) for token in found.tokens)
        assert found.chosen.score is not None
        assert found.other.score is not None
        assert found.difference == pytest.approx(found.chosen.score - found.other.score, abs=1e-4)
        named |= {(r.feature.partition(":")[0], r.words) for r in found.reasons if r.kind == "feature"}
        assert found.to_text()
        assert found.to_html()
    assert {name for name, _ in named} == {"word", "length", "near"}
    assert ("length", "the attribute 'length' is 0.5") in named


def test_confidence_is_that_of_all_outputs(tagger: mg.Tagger, sentences: list[Items]) -> None:
    for items in sentences:
        outputs = list(tagger.iter_nbest(items))
        scores = np.array([output.score for output in outputs])
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        best = tagger.tag(items, confidence=True)
        assert best.confidence == pytest.approx(probabilities[0], abs=1e-5)
        assert best.label_confidence is not None
        for t, sure in enumerate(best.label_confidence):
            same = [output.labels[t] == best.labels[t] for output in outputs]
            assert sure == pytest.approx(probabilities[same].sum(), abs=1e-5)


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_shrunk(tagger: mg.Tagger, sentences: list[Items], bits: int) -> None:
    small = mg.Tagger.from_bytes(mg.shrink(tagger, bits=bits).model.to_bytes())
    assert small.saved.program.explicit
    for items in sentences:
        found = small.explain(items)
        assert found.chosen.score is not None
        if bits > 8:
            assert found.chosen.labels == tagger.tag(items).labels
            assert found.chosen.score == pytest.approx(tagger.nbest(items, 1)[0].score, abs=0.05)


def test_not_exported(tagger: mg.Tagger) -> None:
    for language in ("python", "javascript"):
        with pytest.raises(mg.ModelError, match="explicit attributes cannot be exported"):
            mg.export(tagger, language)


def test_weights_as_a_table(tagger: mg.Tagger, tmp_path: Path) -> None:
    path = tmp_path / "weights.tsv"
    tagger.export_weights(path)
    assert tagger.with_weights(path).to_bytes() == tagger.to_bytes()
    label = next(name for name in tagger.saved.labels if name.startswith("B-"))
    path.write_text(path.read_text() + f"feature\tcolour:red\t{label}\t1000\n")
    edited = tagger.with_weights(path)
    assert edited.saved.edits[-1]["added"] == 1
    block = pack([mg.Sentence({"attributes": [{"colour": "red"}]})], edited.feature_columns)
    terms = edited.decoder.terms(block, 0, [tagger.saved.labels.index(label)])
    assert [t.value for t in terms if t.feature == "colour:red"] == [1000]


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_provenance(toys: Toys, sentences: list[Items], structure: str) -> None:
    from marginalia.model.provenance import Provenance

    tagger = mg.train(
        data_of(toys, 20),
        passes=2,
        structure=structure,
        provenance=True,
        contributions=0,
        learner="perceptron",
    )
    taught, saved = Provenance(tagger.saved), tagger.saved
    for row in np.flatnonzero(saved.arrays["keys"]).tolist():
        for output, weight in zip(*saved.cells(row), strict=True):
            contributions, rest = taught.contributions(row, int(output))
            assert math.fsum(part for _, part in contributions) + rest == pytest.approx(weight, abs=1e-4)
    cited = [c for items in sentences for r in tagger.explain(items, cite=2).reasons for c in r.citations]
    assert cited
