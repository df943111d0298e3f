"""Re-ranking 2: a model of local and global features scores what a base model proposes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_learn_reranking import DEV, TRAIN

import marginalia as mg
from marginalia.decode.global_decoder import GlobalDecoder, proposing
from marginalia.learn.recipe import GlobalChoice
from marginalia.learn.reranking import Reranking, RerankingOptions
from marginalia.learn.retraining import prepared, retrained, retraining_recipe
from marginalia.model import file
from marginalia.model.global_part import global_weights

HYPOTHESES = 6


def reranked(base: Any, cache: Path, **settings: Any) -> tuple[Any, Any]:
    """The model, and its training run."""
    reranking = Reranking(base, RerankingOptions(hypotheses=HYPOTHESES, folds=3, features="nonlocal"))
    found = reranking.hypotheses(TRAIN, cache=cache)
    recipe = retraining_recipe(
        base.saved, GlobalChoice("nonlocal"), HYPOTHESES, 1, {"passes": 3, "C": 5.0} | settings
    )
    training = prepared(base, TRAIN, found, (DEV, reranking.dev_hypotheses(DEV)), recipe)
    for _ in training:
        pass
    return retrained(base, training), training


@pytest.fixture(scope="module", params=["chain", "segments"])
def base(request: pytest.FixtureRequest) -> Any:
    return mg.train(TRAIN, structure=request.param, passes=3, seed=5)


@pytest.fixture(scope="module")
def both(base: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return reranked(base, tmp_path_factory.mktemp("hypotheses"))


def test_the_best_of_what_the_base_model_proposes(base: Any, both: tuple[Any, Any]) -> None:
    model, training = both
    decoder = model.decoder
    assert isinstance(decoder, GlobalDecoder)
    own = 0
    for tokens, _ in DEV:
        block, proposed = model._block(tokens), base.nbest(tokens, HYPOTHESES)
        ids = [[model.saved.labels.index(label) for label in one.labels] for one in proposed]
        totals = [decoder.score(block, 0, y) for y in ids]
        found = model.nbest(tokens, HYPOTHESES)
        assert [one.score for one in found] == pytest.approx(sorted(totals, reverse=True), rel=1e-9)
        best = proposed[int(np.argmax(totals))].labels
        assert model.tag(tokens).labels == found[0].labels == best
        own += best != proposed[0].labels
    assert own > 0
    right = [model.tag(tokens).labels == tuple(labels) for tokens, labels in DEV]
    assert training.report.sentence_accuracy == pytest.approx(100 * sum(right) / len(right))


def test_scores_are_those_of_new_local_weights(base: Any, both: tuple[Any, Any]) -> None:
    model, _ = both
    assert (model.saved.arrays["weights"][:100] != base.saved.arrays["weights"][:100]).any()
    again = model.decoder._proposer
    for tokens, _ in DEV[:5]:
        block = model._block(tokens)
        assert again.best(block).tolist() == base.decoder.best(base._block(tokens)).tolist()
        explained = model.explain(tokens)
        assert explained.difference == pytest.approx(sum(r.difference for r in explained.reasons), rel=1e-6)


def test_files_keep_both_sets_of_weights(both: tuple[Any, Any], tmp_path: Path) -> None:
    model, _ = both
    model.save(tmp_path / "m.mg")
    again = mg.load(tmp_path / "m.mg")
    assert again.to_bytes() == model.to_bytes()
    assert [again.tag(t).labels for t, _ in DEV] == [model.tag(t).labels for t, _ in DEV]
    assert global_weights(again.saved.arrays)
    assert proposing(again.saved).global_features == {}
    small = mg.shrink(model, bits=16).model
    assert [one.labels for one in map(small.tag, (t for t, _ in DEV))]


@pytest.mark.parametrize("name", ["global.base.keys", "global.base.weights", "global.base.row_end"])
def test_damaged_base_weights_are_refused(both: tuple[Any, Any], name: str) -> None:
    model, _ = both
    for changed in (None, model.saved.arrays[name][:-1]):
        arrays = model.saved.arrays | {name: changed}
        if changed is None:
            del arrays[name]
        saved = replace(model.saved, arrays=arrays)
        with pytest.raises(mg.ModelError):
            type(model)(file.from_bytes(file.to_bytes(saved)))


def test_confidence_and_constraints(both: tuple[Any, Any]) -> None:
    model, _ = both
    calibrated = mg.calibrate(model, DEV)
    tokens = DEV[0][0]
    tagged = calibrated.tag(tokens, confidence=True)
    assert 0.0 <= tagged.confidence <= 1.0
    wanted = model.tag(tokens, constraints=["at most 0 NAME"])
    assert not any("NAME" in label for label in wanted.labels)
