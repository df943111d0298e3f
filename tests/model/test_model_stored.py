"""Model files of every kind that older versions wrote: they load and answer as they did then.

tools/make_stored_models.py made them; they are never made anew.
"""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.decode.pipeline import Pipeline

STORED = Path(__file__).parent / "stored"
FILES = sorted(STORED.glob("*.mg"))


def sentence_for(model: Any, tokens: list[str]) -> Any:
    """A sentence as the model takes it: its tokens, or the attributes that it was trained on."""
    if not model.saved.program.explicit:
        return tokens
    if model.saved.learner == "crf":  # python-crfsuite's model
        return [[f"w={token}"] for token in tokens]
    return [{f"w={token}": 1.0, "length": len(token) / 4} for token in tokens]


def answers(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def test_there_is_a_file_of_each_kind() -> None:
    models = [mg.load(path) for path in FILES]
    structures = {model.kind if isinstance(model, Pipeline) else model.saved.structure for model in models}
    assert structures >= {"chain", "segments", "words", "single", "candidates", "trees", "pipeline"}
    assert len(FILES) >= 30


def check_rankings(model: Any, expected: list[dict[str, Any]]) -> None:
    """The same of lists of candidates."""
    for one in expected:
        found = model.rerank(one["item"])
        assert [c.number for c in found] == [number for number, _, _ in one["ranked"]]
        assert [c.score for c in found] == pytest.approx([score for _, score, _ in one["ranked"]], rel=1e-9)
        if found[0].probability is not None:
            assert [c.probability for c in found] == pytest.approx([p for *_, p in one["ranked"]], rel=1e-9)
        reasons = [[reason.feature, reason.difference] for reason in model.explain(one["item"]).reasons[:5]]
        assert [name for name, _ in reasons] == [name for name, _ in one["explained"]]
        assert [d for _, d in reasons] == pytest.approx([d for _, d in one["explained"]], rel=1e-9)


def check_classes(model: Any, expected: list[dict[str, Any]]) -> None:
    """The same of items."""
    for one in expected:
        best, reasons = model.nbest(one["item"], 3), model.explain(one["item"]).reasons[:5]
        assert [c.label for c in best] == [label for label, _ in one["nbest"]]
        assert [c.score for c in best] == pytest.approx([score for _, score in one["nbest"]], rel=1e-6)
        assert [reason.feature for reason in reasons] == [name for name, _ in one["explained"]]
        differences = [difference for _, difference in one["explained"]]
        assert [reason.difference for reason in reasons] == pytest.approx(differences, rel=1e-6)


def check_parses(model: Any, expected: list[dict[str, Any]]) -> None:
    """The same of parsers."""
    for one in expected:
        tree, best = model.parse(one["columns"]), model.nbest(one["columns"], 3, confidence=True)
        assert [list(tree.heads), list(tree.labels)] == [one["heads"], one["labels"]]
        assert [[list(t.heads), list(t.labels)] for t in best] == [row[:2] for row in one["nbest"]]
        assert [t.score for t in best] == pytest.approx([row[2] for row in one["nbest"]], rel=1e-6)
        assert [t.confidence for t in best] == pytest.approx([row[3] for row in one["nbest"]], rel=1e-5)


def check_documents(model: Pipeline, expected: list[dict[str, Any]]) -> None:
    """The same of pipelines."""
    for one in expected:
        document, sure = model.parse(one["text"]), model.parse(one["text"], confidence=True)
        assert document.to_conllu() == one["conllu"]
        for word, known in zip(sure.words, one["confidence"], strict=True):
            assert word.confidence == pytest.approx(known, abs=2e-4)
        for other, (arcs, scores) in zip(document.nbest(2), one["nbest"], strict=True):
            assert [[w.head, w.deprel] for w in other.words] == arcs
            assert [float(s.comment("score") or "") for s in other] == pytest.approx(scores, rel=1e-6)


def check_answers(model: Any, expected: list[dict[str, Any]]) -> None:
    """Labels, the best outputs with scores, probabilities and reasons are those that are expected."""
    checks: dict[type, Any] = {
        Pipeline: check_documents,
        mg.Reranker: check_rankings,
        mg.Classifier: check_classes,
        mg.Parser: check_parses,
    }
    for kind, check in checks.items():
        if isinstance(model, kind):
            check(model, expected)
            return
    sentences = [sentence_for(model, one["tokens"]) for one in expected]
    assert [list(t.labels) for t in model.tag_all(sentences)] == [one["labels"] for one in expected]
    for x, one in zip(sentences, expected, strict=True):
        best = model.nbest(x, 3)
        assert [list(b.labels) for b in best] == [labels for labels, _ in one["nbest"]]
        assert [b.score for b in best] == pytest.approx([score for _, score in one["nbest"]], rel=1e-9)
        if one["confidence"] is not None:
            assert model.tag(x, confidence=True).confidence == pytest.approx(one["confidence"], rel=1e-9)
        reasons = [[reason.feature, reason.difference] for reason in model.explain(x).reasons[:5]]
        assert [name for name, _ in reasons] == [name for name, _ in one["explained"]]
        assert [d for _, d in reasons] == pytest.approx([d for _, d in one["explained"]], rel=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_stored_models_answer_as_they_did(path: Path) -> None:
    check_answers(mg.load(path), answers(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_stored_models_are_saved_again_with_the_same_answers(path: Path, tmp_path: Path) -> None:
    model = mg.load(path)
    model.save(tmp_path / "again.mg")
    check_answers(mg.load(tmp_path / "again.mg"), answers(path))


def test_stored_corrections_can_be_undone() -> None:
    model = mg.load(STORED / "chain-corrected.mg")
    before = mg.load(STORED / "chain.mg")
    undone = model.undo().undo()
    sentences = [one["tokens"] for one in answers(STORED / "chain.mg")]
    assert model.tag_all(sentences) != before.tag_all(sentences)
    assert [t.labels for t in undone.tag_all(sentences)] == [t.labels for t in before.tag_all(sentences)]
    assert undone.corrections == ()


def test_stored_states_go_on_as_they_did() -> None:
    """`TEST` of the tool are the first sentences of the built-in test corpus."""
    model = mg.load(STORED / "chain-state.mg")
    with (files("marginalia") / "data" / "ingredients" / "test.txt").open("rb") as source:
        sentences = list(islice(mg.read_conll(source, columns="word label"), 6))
    data = [(list(s.columns["word"]), list(s.columns["label"])) for s in sentences]
    more = model.partial_fit(data, passes=2)
    check_answers(more, json.loads((STORED / "chain-state.continued.json").read_text(encoding="utf-8")))


def test_stored_provenance_is_cited() -> None:
    model = mg.load(STORED / "chain-provenance.mg")
    one = answers(STORED / "chain-provenance.mg")[0]
    reasons = model.explain(one["tokens"], cite=2).reasons
    assert any(reason.citations for reason in reasons)
