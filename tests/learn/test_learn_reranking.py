"""Re-ranking: the model file says what the re-ranker says of the base model's hypotheses."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia import _core
from marginalia.corpus.schemes import spans_of
from marginalia.features.global_features import mention_labels
from marginalia.learn.reranking import Reranking, RerankingOptions, reranking_recipe
from marginalia.model import file
from marginalia.model.global_part import global_weights

INGREDIENTS = files("marginalia") / "data" / "ingredients"
LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("rank-boost", {"rounds": 200, "look": 50}),
    ("perceptron", {"passes": 2, "average": "vote", "base-scale": 0.5}),
    ("margin", {"passes": 2, "base-scale": 0.1}),
    ("arow", {"passes": 2}),
    ("maxent", {"passes": 5}),
]


def pairs(name: str, count: int) -> list[tuple[list[str], list[str]]]:
    with (INGREDIENTS / name).open("rb") as source:
        sentences = list(mg.read_conll(source, columns="word label"))[:count]
    return [(list(s.columns["word"]), list(s.columns["label"])) for s in sentences]


TRAIN, DEV = pairs("train.txt", 120), pairs("dev.txt", 40)


@pytest.fixture(scope="module")
def base() -> Any:
    return mg.train(TRAIN, task="fields", passes=3, seed=5)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hypotheses")


def reranked(base: Any, cache: Path, learner: str, settings: dict[str, Any], **options: Any) -> Any:
    """The re-ranked model and the re-ranker itself, with dev candidates."""
    reranking = Reranking(base, RerankingOptions(hypotheses=6, folds=3, **options))
    train = reranking.candidates(reranking.hypotheses(TRAIN, cache=cache), grow=True)
    dev = reranking.candidates(reranking.dev_hypotheses(DEV), grow=False)
    training = reranking.prepared(train, dev, reranking_recipe(learner, 1, settings))
    for _ in training:
        pass
    return reranking.model(training), training.model(), dev


@pytest.mark.parametrize(("learner", "settings"), LEARNERS)
def test_the_model_chooses_what_the_reranker_chooses(
    base: Any, cache: Path, learner: str, settings: dict[str, Any]
) -> None:
    model, reranker, dev = reranked(base, cache, learner, settings)
    chosen = reranker.decoder.best(dev.block())
    starts = [0, *np.cumsum(dev.lengths).tolist()]
    for s, (tokens, _) in enumerate(DEV):
        [at] = np.flatnonzero(chosen[starts[s] : starts[s + 1]] == 0)
        assert model.tag(tokens).labels == base.nbest(tokens, 6)[at].labels
    again = type(model)(file.from_bytes(file.to_bytes(model.saved)))
    assert [again.tag(tokens).labels for tokens, _ in DEV] == [model.tag(tokens).labels for tokens, _ in DEV]


def test_scores_are_those_of_base_model_and_global_features(base: Any, cache: Path) -> None:
    model, _, _ = reranked(base, cache, "margin", {"passes": 2}, features="nonlocal")
    weights, part = dict(global_weights(model.saved.arrays)), model.decoder.part
    native = part.features.native(base.saved.labels, base.saved.encoding)
    extractor = _core.GlobalExtractor(native, mention_labels(base.saved.labels, base.saved.encoding))
    for tokens, _ in DEV[:10]:
        block = base._block(tokens)
        texts = _core.GlobalTexts(native)
        texts.add(block.table, 0)
        found = base.decoder.ranked(block, 6)
        names = extractor.names(texts, 0, np.ascontiguousarray(found.ids.ravel()))
        totals = [
            part.scale * local + sum(count * weights.get(name, 0.0) for name, count in features.items())
            for local, features in zip(found.scores[:, 0], names, strict=True)
        ]
        ranked = model.nbest(tokens, len(totals))
        assert [one.score for one in ranked] == pytest.approx(sorted(totals, reverse=True), abs=1e-4)


def test_losses_are_wrong_tags_or_spans(base: Any, cache: Path) -> None:
    gold = [labels for _, labels in DEV]
    for loss, expected in (("tags", wrong_tags), ("spans", wrong_spans)):
        reranking = Reranking(base, RerankingOptions(hypotheses=4, folds=3, loss=loss))
        found = reranking.candidates(reranking.dev_hypotheses(DEV), grow=True)
        losses = np.split(found.losses, np.cumsum(found.lengths)[:-1])
        for (tokens, _), right, own in zip(DEV, gold, losses, strict=True):
            assert own.tolist() == [expected(one.labels, right) for one in base.nbest(tokens, 4)]


def wrong_tags(labels: Any, right: Any) -> int:
    return sum(one != other for one, other in zip(labels, right, strict=True))


def wrong_spans(labels: Any, right: Any) -> int:
    return len({*spans_of(labels, "IOB2")} ^ {*spans_of(right, "IOB2")})


def test_what_cannot_be_reranked_is_refused(base: Any, cache: Path) -> None:
    model, _, _ = reranked(base, cache, "margin", {"passes": 1})
    with pytest.raises(mg.SettingsError, match="global features already"):
        Reranking(model, RerankingOptions())
    items = mg.train([("a b", "x"), ("c d", "y")], structure="single", passes=1)
    with pytest.raises(mg.SettingsError, match="the structure single"):
        Reranking(items, RerankingOptions())
    partial = mg.train([(["a", "b"], ["B-A", None])], features="fields", passes=1, partial=True)
    with pytest.raises(mg.SettingsError, match="partial labels"):
        Reranking(partial, RerankingOptions())
    with pytest.raises(mg.SettingsError, match="loss: found 'words'"):
        Reranking(base, RerankingOptions(loss="words"))


def test_names_of_features_are_kept_once(base: Any, cache: Path) -> None:
    reranking = Reranking(base, RerankingOptions(hypotheses=6, folds=3))
    train = reranking.candidates(reranking.hypotheses(TRAIN, cache=cache), grow=True)
    dev = reranking.candidates(reranking.dev_hypotheses(DEV), grow=False)
    assert dev.names is train.names
    assert len(train.names) == len(train.keys) == int(train.features.max()) + 1
    seen = list(train.names)
    more = reranking.candidates(reranking.dev_hypotheses(DEV), grow=True)
    assert train.names == seen == more.names[: len(seen)]
    assert len(more.names) == len(more.keys)
