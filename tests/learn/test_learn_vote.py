"""average=vote: the tagger gives the output that most weight vectors of the training would have given."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import naive_chain as naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_world import Toys, a_run, assert_same_arrays, contradictory, finished, weights_of
from naive_chain import Pairs

import marginalia as mg
from marginalia.corpus import pack
from marginalia.evaluate import evaluate

UNSEEN = [["a"], ["b", "c"], ["c", "a", "b"], ["z", "a"], ["b", "b", "b"]]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("templates") / "t.txt"
    path.write_text(naive.TEMPLATES)
    return str(path)


def options(templates: str, **more: Any) -> dict[str, Any]:
    return {"features": templates, "scheme": "none", "shuffle": False, **more}


def candidates_of(tagger: mg.Tagger, words: list[str], k: int | None) -> list[naive.Output]:
    """The best outputs by the mean weights, best first."""
    block = pack([mg.Sentence({"word": words})], tagger.feature_columns)
    return [tuple(ids.tolist()) for ids, _ in tagger.decoder.k_best(block, 0, k)]


def assert_votes(tagger: mg.Tagger, voters: list[Any], sentences: list[list[str]], k: int | None) -> None:
    labels = tagger.saved.labels
    for words in sentences:
        candidates = candidates_of(tagger, words, k)
        expected = naive.voted(candidates, voters, words, len(labels))
        assert tagger.tag(words).labels == tuple(labels[c] for c in expected), words


@settings(max_examples=60)
@given(pairs=naive.problems(), passes=st.integers(1, 5))
def test_all_weight_vectors_vote_on_all_outputs(templates: str, pairs: Pairs, passes: int) -> None:
    tagger = mg.train(pairs, average="vote", candidates=100, passes=passes, **options(templates))
    voters = list(naive.versions(pairs, tagger.saved.labels, passes))
    assert tagger.saved.arrays["vote_versions"].tolist() == [len(voters)]
    assert_votes(tagger, voters, UNSEEN + [words for words, _ in pairs], None)


@settings(max_examples=40)
@given(pairs=naive.problems(), passes=st.integers(1, 4), k=st.integers(1, 4))
def test_they_vote_on_what_the_mean_likes_best(templates: str, pairs: Pairs, passes: int, k: int) -> None:
    tagger = mg.train(pairs, average="vote", candidates=k, passes=passes, **options(templates))
    mean = mg.train(pairs, average="mean", passes=passes, **options(templates))
    voters = list(naive.versions(pairs, tagger.saved.labels, passes))
    assert_votes(tagger, voters, UNSEEN, k)
    assert weights_of(tagger) == weights_of(mean)
    if k == 1:
        assert tagger.tag_all(UNSEEN) == mean.tag_all(UNSEEN)


@settings(max_examples=40)
@given(first=naive.problems(), second=naive.problems(), state=st.booleans())
def test_weights_to_begin_with_count_in_every_vote(
    templates: str, first: Pairs, second: Pairs, state: bool
) -> None:
    start = mg.train(first, average="none", passes=3, state=state, **options(templates))
    run = {"average": "vote", "candidates": 1000, "passes": 2, "start": start, "shuffle": False}
    tagger = mg.train(second, **run)
    voters = list(naive.versions(second, tagger.saved.labels, 2, moved(start, len(tagger.saved.labels))))
    assert_votes(tagger, voters, UNSEEN, None)


def moved(tagger: mg.Tagger, labels: int) -> dict[Any, float]:
    """A model's weights as those of one with more labels: constants have other places."""
    old, found = len(tagger.saved.labels), {}
    for (name, output), w in weights_of(tagger).items():
        place = output
        if name == "constant":
            part, at = (output // old, output % old) if output < 2 * old else (2, output - 2 * old)
            place = part * labels + (at // old * labels + at % old if part == 2 else at)
        found[name, place] = w
    return found


def test_segments_of_one_token_vote_as_a_chain_does(tmp_path: Path) -> None:
    path, rng = tmp_path / "t.txt", random.Random(1)
    path.write_text("word[0]\nword[-1]/word[0]\nedge:\n")
    texts = [[rng.choice("abcdef") for _ in range(rng.randint(1, 4))] for _ in range(300)]
    differ = 0
    for k in range(10):
        pairs = [
            (words, [rng.choice(["B-X", "B-Y", "O"]) for _ in words]) for words in texts[8 * k : 8 * k + 8]
        ]
        chosen = {"features": str(path), "scheme": "IOB2", "passes": 3, "shuffle": False}
        segments = {"structure": "segments", "max_length": 1, **chosen}
        voted = mg.train(pairs, average="vote", candidates=100, **segments).tag_all(texts)
        assert voted == mg.train(pairs, average="vote", candidates=100, **chosen).tag_all(texts)
        differ += voted != mg.train(pairs, **segments).tag_all(texts)
    assert differ > 5  # from the mean


def test_a_vote_may_differ_from_the_mean(toys: Toys) -> None:
    """Otherwise the tests above would prove nothing."""
    voted, mean = (mg.train(contradictory(toys, 30), passes=3, average=how) for how in ("vote", "mean"))
    sentences = [columns for columns, _ in toys(100, seed=2)]
    differ = [a != b for a, b in zip(voted.tag_all(sentences), mean.tag_all(sentences), strict=True)]
    assert any(differ)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("extra", ["", "edge: word[0]\n"])
def test_dev_data_are_voted_on_as_text_is(toys: Toys, tmp_path: Path, order: int, extra: str) -> None:
    (tmp_path / "t.txt").write_text(f"word[-1..1]\nedge:\n{extra}")
    dev = toys(30, seed=2)
    settings = {"average": "vote", "features": str(tmp_path / "t.txt"), "order": order, "patience": 0}
    run = a_run(toys(30), dev, passes=4, **settings)
    best = max(record.dev or 0.0 for record in finished(run))
    predicted = [tagged.labels for tagged in run.model().tag_all([c for c, _ in dev], threads=2)]
    assert evaluate([y for _, y in dev], predicted).f1 == pytest.approx(best)


def test_the_voters_are_those_of_the_best_pass(toys: Toys) -> None:
    train, dev = contradictory(toys, 20), toys(20, seed=2)
    seen = set()
    for seed in range(6):
        run = a_run(train, dev, average="vote", passes=6, patience=0, seed=seed)
        best = max(record.number for record in finished(run) if record.best)
        seen.add(best)
        assert_same_arrays(run.model(), mg.train(train, average="vote", passes=best, seed=seed))
    assert min(seen) < 6


def test_everything_else_asks_the_mean(toys: Toys) -> None:
    """Alternatives, probabilities and reasons are those of the mean weights."""
    voted, mean = (mg.train(toys(20), passes=3, average=how) for how in ("vote", "mean"))
    for columns, _ in toys(5, seed=2):
        assert voted.nbest(columns, 5) == mean.nbest(columns, 5)
        assert voted.marginals(columns).tolist() == mean.marginals(columns).tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {"l1": 0.1},
        {"l2": 0.1},
        {"l1_cumulative": 0.1},
        {"shuffle_average": 2},
        {"bpm_init": 2},
        {"parallel": "mix"},
    ],
)
def test_what_does_not_go_with_votes(settings: dict[str, Any]) -> None:
    (name,) = (f"{n}={v}" if v == "mix" else n.replace("_", "-") for n, v in settings.items())
    with pytest.raises(mg.SettingsError, match=f"average=vote .* does not go with {name}"):
        mg.train([(["a"], ["O"])], average="vote", **settings)
