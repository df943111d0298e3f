"""Models in use: labels, spans, alternatives, probabilities and reasons agree with one another."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus import SCHEMES, convert, pack, spans_of, validate
from marginalia.corpus.batches import Batch

Toys = Callable[..., Any]

TEMPLATES = """
word[-1..1]
prefix(1)(word)[0]
tag[0]
"""
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "order 1": ("edge:\n", {}),
    "order 2": ("edge:\n", {"order": 2}),
    "edge features": ("edge:\nedge: word[0]\nedge: tag[-1]/tag[0]\n", {}),
    "edge features, order 2": ("edge:\nedge: word[0]\n", {"order": 2}),
    "edge features only": ("edge: word[0]\n", {}),
    "no transitions": ("", {}),
    "another encoding": ("edge:\n", {"encode": "IOBES"}),
    "illegal allowed": ("edge:\n", {"legal": False}),
    "last weights, no names": ("edge:\n", {"average": "none", "names": False}),
}


@pytest.fixture(scope="module", params=list(VARIANTS))
def tagger(request: pytest.FixtureRequest, toys: Toys, tmp_path_factory: pytest.TempPathFactory) -> mg.Tagger:
    extra, settings = VARIANTS[request.param]
    path = tmp_path_factory.mktemp("templates") / "t.txt"
    path.write_text(TEMPLATES + extra)
    return mg.train(toys(25), features=str(path), passes=2, **settings)


@pytest.fixture(scope="module")
def sentences(toys: Toys) -> list[dict[str, list[str]]]:
    return [columns for columns, _ in toys(12, seed=11)]


def test_features_explain_the_score(tagger: mg.Tagger, sentences: list[Any]) -> None:
    rng = np.random.default_rng(1)
    size = len(tagger.saved.labels)
    for columns in sentences:
        block = pack([mg.Sentence(columns)], tagger.feature_columns)
        length = len(columns["word"])
        outputs = [ids.tolist() for ids, _ in tagger.decoder.k_best(block, 0, 5)]
        outputs += [rng.integers(0, size, length).tolist() for _ in range(5)]
        for ids in outputs:
            score = tagger.decoder.score(block, 0, ids)
            reasons = tagger.decoder.features_of(block, 0, ids)
            if score > -math.inf:
                assert sum(r.weight * r.count for r in reasons) == pytest.approx(score, abs=1e-4)
            assert all(r.weight and r.count > 0 and r.feature for r in reasons)
            assert {label for r in reasons for label in r.labels} <= {tagger.saved.labels[i] for i in ids}


def test_best_is_first_of_nbest(tagger: mg.Tagger, sentences: list[Any]) -> None:
    for columns in sentences:
        found = tagger.nbest(columns, 10)
        scores = [t.score for t in found if t.score is not None]
        assert found[0].labels == tagger.tag(columns).labels
        assert len(scores) == len(found)
        assert scores == sorted(scores, reverse=True)
        if tagger.saved.settings["legal"]:
            assert len({t.labels for t in found}) == len(found)


def test_iter_nbest_is_lazy(tagger: mg.Tagger) -> None:
    columns = {"word": ["x1"] * 2000, "tag": ["T0"] * 2000}
    found = tagger.iter_nbest(columns)  # far too many to list
    assert [next(found).labels for _ in range(5)] == [t.labels for t in tagger.nbest(columns, 5)]


def test_nbest_ends_with_the_last_legal_output(tagger: mg.Tagger) -> None:
    everything = tagger.nbest({"word": ["x1"], "tag": ["T0"]}, 10_000)
    assert 1 <= len(everything) <= len(tagger.saved.labels)


def test_marginals_are_probabilities(tagger: mg.Tagger, sentences: list[Any]) -> None:
    for columns in sentences:
        found = tagger.marginals(columns)
        assert found.shape == (len(columns["word"]), len(tagger.saved.labels))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def test_marginals_sum_what_nbest_lists(tagger: mg.Tagger) -> None:
    columns = {"word": ["x1", "any1"], "tag": ["T0", "T1"]}
    block = pack([mg.Sentence(columns)], tagger.feature_columns)
    listed = [(ids, score) for ids, score in tagger.decoder.k_best(block, 0)]
    log_z = np.logaddexp.reduce([score for _, score in listed])
    expected = np.zeros((2, len(tagger.saved.labels)))
    for ids, score in listed:
        expected[[0, 1], ids] += math.exp(score - log_z)
    np.testing.assert_allclose(tagger.marginals(columns), expected, atol=1e-9)
    assert tagger.decoder.expectations(block, 0)["log_z"] == pytest.approx(log_z)


def test_output_is_legal_and_spans_are_those_of_the_labels(tagger: mg.Tagger, sentences: list[Any]) -> None:
    for tagged in tagger.tag_all(sentences):
        assert tagger.saved.scheme == "IOB2"
        assert set(tagged.labels) <= set(tagger.labels)
        assert list(tagged.spans) == spans_of(tagged.labels, "IOB2")
        assert list(tagged) == list(zip(tagged.tokens, tagged.labels, strict=True))
        if tagger.saved.settings["legal"]:
            assert validate(tagged.labels, "IOB2") == []


def test_threads_batches_and_company_do_not_matter(tagger: mg.Tagger, toys: Toys) -> None:
    many = [columns for columns, _ in toys(1300, seed=12)]
    alone = [tagger.tag(columns) for columns in many[:40]]
    one, two, eight = (tagger.tag_all(many, threads) for threads in (1, 2, 8))
    assert one[:40] == alone
    assert one == two == eight
    assert len(one) == len(many)


def test_tag_batches_is_lazy_and_in_order(tagger: mg.Tagger, sentences: list[Any]) -> None:
    read: list[int] = []

    def batches() -> Any:
        for number in range(50):
            read.append(number)
            yield Batch(pack([mg.Sentence(sentences[number % 12])], tagger.feature_columns, str(number)))

    results = tagger.tag_batches(batches(), threads=2)
    first, _ = next(results)
    assert first.block.file == "0"
    assert len(read) < 10
    assert [batch.block.file for batch, _ in results] == [str(number) for number in range(1, 50)]


def test_an_error_in_a_thread_reaches_the_caller(tagger: mg.Tagger, sentences: list[Any]) -> None:
    good = Batch(pack([mg.Sentence(sentences[0])], tagger.feature_columns))
    bad = Batch(pack([mg.Sentence({"other": ["x"]})]))
    with pytest.raises(mg.DataError, match="also need"):
        list(tagger.tag_batches([good, bad, good], threads=2))


def test_input_as_record_or_mapping(tagger: mg.Tagger, sentences: list[Any]) -> None:
    columns = sentences[0]
    assert tagger.tag(mg.Sentence(columns)) == tagger.tag(columns)
    assert tagger.tag(mg.Sentence(columns | {"label": ["?"] * len(columns["word"])})) == tagger.tag(columns)
    assert tagger.tag({"tag": columns["tag"], "word": tuple(columns["word"])}) == tagger.tag(columns)


def test_the_empty_sentence(tagger: mg.Tagger) -> None:
    empty = {"word": [], "tag": []}
    assert tagger.tag(empty).labels == ()
    assert [t.labels for t in tagger.nbest(empty, 3)] == [()]
    assert tagger.marginals(empty).shape == (0, len(tagger.saved.labels))
    assert tagger.tag_all([]) == []
    full = {"word": ["x1"], "tag": ["T0"]}
    assert [len(t.labels) for t in tagger.tag_all([empty, full, empty, empty, full])] == [0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a string", "found a string"),
        (["x1", "x2"], "also needs tag"),
        ({"word": ["x1"]}, "also needs tag"),
        ({"tag": ["x1"]}, "also needs word"),
        ({"word": ["x1", "x2"], "tag": ["T0"]}, "different lengths"),
        ({"word": "x1", "tag": ["T0", "T1"]}, "found a string"),
        (mg.Sentence({"word": ["x1"]}), "column 'tag'"),
        (mg.Sentence({"word": ["x1", "x2"], "tag": ["T0"]}), "column 'tag'"),
    ],
)
def test_unfit_input_is_explained(tagger: mg.Tagger, given: Any, message: str) -> None:
    for ask in (tagger.tag, tagger.marginals, lambda s: tagger.nbest(s, 2), lambda s: tagger.tag_all([s])):
        with pytest.raises(mg.DataError, match=message):
            ask(given)


@pytest.mark.parametrize("k", [0, -1])
def test_nbest_needs_a_positive_number(tagger: mg.Tagger, k: int) -> None:
    with pytest.raises(mg.SettingsError, match="expected at least 1"):
        tagger.nbest({"word": ["x1"], "tag": ["T0"]}, k)


def test_unseen_words_and_odd_characters(tagger: mg.Tagger) -> None:
    words = ["", "日本", "e\u0301", "x" * 10_000, "a b", "\N{NO-BREAK SPACE}", "😀"]
    assert len(tagger.tag({"word": words, "tag": ["?"] * len(words)}).labels) == len(words)


def test_one_column_models_take_plain_lists() -> None:
    tagger = mg.train([(["Anna", "slept"], ["B-P", "O"])], passes=3)
    assert tagger.feature_columns == ("word",)
    assert tagger.tag(["Anna"]).spans == (mg.Span(0, 1, "P"),)
    assert tagger.tag(("Anna",)) == tagger.tag(["Anna"])


def test_plain_tags_have_no_spans() -> None:
    tagger = mg.train([(["dogs", "bark"], ["NOUN", "VERB"])], passes=3)
    assert tagger.saved.scheme is None
    assert tagger.tag(["dogs", "bark"]) == mg.Tagged(("dogs", "bark"), ("NOUN", "VERB"))


@pytest.mark.parametrize("encode", SCHEMES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_scheme_can_be_trained_in_any_other(toys: Toys, scheme: str, encode: str, tmp_path: Path) -> None:
    data = toys(60, scheme="IOB2")
    if "BMES" in (scheme, encode):  # has no word for outside: only spans side by side
        data = [
            (
                {
                    "word": [w for w in c["word"] if w[0] in "xy"],
                    "tag": ["T"] * sum(w[0] in "xy" for w in c["word"]),
                },
                0,
            )
            for c, _ in data
        ]
        data = [(c, ["B-" + w[0].upper() for w in c["word"]]) for c, _ in data if c["word"]]
    spelled = [(c, convert(labels, "IOB2", scheme)) for c, labels in data]
    tagger = mg.train(spelled, scheme=scheme, encode=encode, passes=4)
    assert (tagger.saved.scheme, tagger.saved.encoding) == (scheme, encode)
    for (columns, gold), tagged in zip(spelled, tagger.tag_all([c for c, _ in spelled]), strict=True):
        assert validate(tagged.labels, scheme) == []
        assert set(tagged.labels) <= set(tagger.labels)
        assert len(tagged.labels) == len(gold) == len(columns["word"])


def test_a_long_sentence() -> None:
    tagger = mg.train([(["a", "b"], ["B-X", "O"])] * 2, passes=2)
    words = ["a", "b"] * 20_000
    assert tagger.tag(words).labels == ("B-X", "O") * 20_000
    assert len(tagger.nbest(words, 3)) == 3
    np.testing.assert_allclose(tagger.marginals(words).sum(axis=1), 1.0, atol=1e-6)
