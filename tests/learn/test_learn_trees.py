"""Parsers trained, saved, used."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus.tree_answers import MOST_LABELS
from marginalia.decode.shares import ShareMap
from marginalia.decode.trees import GivenTree
from marginalia.evaluate import score_trees
from marginalia.learn.calibration import fit_map

NOUNS, VERBS = ("dog", "cat", "house"), ("sees", "likes")


def sentence(rng: random.Random) -> mg.Sentence:
    """A noun phrase, a verb, a noun phrase: subject and object are told by their place."""
    words, tags, heads, labels = [], [], [], []
    verb = 0
    for role in ("nsubj", "obj"):
        if rng.random() < 0.6:
            words.append("the"), tags.append("D"), heads.append(len(words) + 1), labels.append("det")
        words.append(rng.choice(NOUNS)), tags.append("N"), heads.append(-1), labels.append(role)
        if role == "nsubj":
            words.append(rng.choice(VERBS)), tags.append("V"), heads.append(0), labels.append("root")
            verb = len(words)
    heads = [verb if head == -1 else head for head in heads]
    return mg.Sentence({"word": words, "upos": tags, "head": list(map(str, heads)), "deprel": labels})


def treebank(count: int, seed: int = 1) -> list[mg.Sentence]:
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]


def trained(**more: Any) -> Any:
    options = {"passes": 3, "tree_beam": 4, "features": "huang-sagae"} | more
    return mg.train(treebank(40), structure="trees", **options)


def bare(one: mg.Sentence) -> dict[str, list[str]]:
    return {name: one.columns[name] for name in ("word", "upos")}


@pytest.fixture(scope="module")
def parser() -> Any:
    return trained()


def las(parser: Any, data: list[mg.Sentence]) -> float:
    parsed = parser.parse_all([bare(one) for one in data])
    pairs = [
        (str(head), label) == gold
        for one, tree in zip(data, parsed, strict=True)
        for head, label, gold in zip(
            tree.heads, tree.labels, zip(one.columns["head"], one.columns["deprel"], strict=True), strict=True
        )
    ]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"system": "arc-eager", "features": "trees"},
        {"system": "arc-hybrid"},
        {"system": "swap"},
        {"merge": True},
        {"tree_beam": 1},
        {"update": "early"},
        {"learner": "pa"},
        {"learner": "arow"},
        {"learner": "margin"},
        {"l2": 0.0001},
        {"average": "vote"},
        {"dropout": "hide-features:0.1"},
        {"cutoff": 2},
        {"boost": 2},
        {"parallel": "mix", "threads": 2},
    ],
    ids=str,
)
def test_all_ways_of_learning_learn_the_toy_grammar(more: dict[str, Any]) -> None:
    assert las(trained(**more), treebank(20, 2)) > 0.9


def test_learners_that_need_expectations_are_refused() -> None:
    with pytest.raises(mg.SettingsError, match="learner crf needs expected features"):
        trained(learner="crf")
    with pytest.raises(mg.SettingsError, match="merge=on goes with system=arc-standard"):
        trained(merge=True, system="arc-eager")


def test_the_same_run_gives_the_same_bytes_and_a_file_the_same_trees(parser: Any, tmp_path: Path) -> None:
    assert trained().to_bytes() == parser.to_bytes()
    parser.save(tmp_path / "p.mg")
    data = [bare(one) for one in treebank(30, 3)]
    assert mg.load(tmp_path / "p.mg").parse_all(data, threads=2) == parser.parse_all(data)


def test_given_heads_and_labels_are_kept(parser: Any) -> None:
    one = bare(treebank(1, 4)[0])
    last = len(one["word"])
    for system in ("arc-standard", "arc-eager", "arc-hybrid", "swap"):
        tree = (parser if system == "arc-standard" else trained(system=system)).parse(one, heads={last: 0})
        assert tree.heads[-1] == 0
        assert tree.heads.count(0) == 1
    assert parser.parse(one, labels={2: "det"}).labels[1] == "det"
    with pytest.raises(mg.DataError, match="no tree"):  # no word behind it can be its head
        parser.parse(one, labels={last: "det"})
    with pytest.raises(mg.DataError, match="no tree"):
        parser.parse(one, heads={1: 2, 2: 1})
    with pytest.raises(mg.SettingsError, match="expected one of"):
        parser.parse(one, labels={1: "what"})


def test_spans_that_are_given_are_subtrees(parser: Any) -> None:
    one = {"word": ["the", "dog", "sees", "the", "cat"], "upos": ["D", "N", "V", "D", "N"]}
    assert parser.parse(one).heads == (2, 3, 0, 5, 3)
    for system in ("arc-standard", "arc-eager", "arc-hybrid", "swap"):
        other = parser if system == "arc-standard" else trained(system=system)
        heads = other.parse(one, spans=[(2, 3), (1, 3)]).heads
        assert sum(not 2 <= head <= 3 for head in heads[1:3]) == 1
        assert other.parse(one, spans=[(1, 2), (4, 5), (1, 5)]) == other.nbest(one, 1)[0]
    assert all(sum(h not in (3, 4) for h in t.heads[2:4]) == 1 for t in parser.nbest(one, 8, spans=[(3, 4)]))
    with pytest.raises(mg.DataError, match="no tree that has the heads, labels and spans that are given"):
        parser.parse(one, heads={1: 3, 2: 3}, spans=[(1, 2)])
    for span in ((0, 2), (3, 2), (1, 6), (1,), ("1", 2)):
        with pytest.raises(mg.SettingsError, match="spans: found"):
            parser.parse(one, spans=[span])


def test_the_k_best_trees_come_once_best_first(parser: Any) -> None:
    found = parser.nbest(bare(treebank(1, 5)[0]), 4)
    assert len({(tree.heads, tree.labels) for tree in found}) == len(found) > 1
    assert [tree.score for tree in found] == sorted((tree.score for tree in found), reverse=True)
    assert found[0].heads == parser.parse(bare(treebank(1, 5)[0])).heads


def test_reasons_add_up_to_the_difference_of_scores(parser: Any) -> None:
    one = bare(treebank(1, 6)[0])
    last = len(one["word"])
    found = parser.explain(one, last, head=1 if last != 2 else 0)
    block = parser._block(one)
    given = GivenTree.of(last, {last - 1: found.other_heads[-1]}, {})
    best, other = parser.decoder.trees(block, 0)[0], parser.decoder.trees(block, 0, given)[0]
    assert found.difference == pytest.approx(best[2] - other[2], abs=1e-4)
    assert found.heads[-1] == int(best[0][-1]) // MOST_LABELS
    assert str(found.other_heads[-1]) in found.to_text(3)


def test_calibrated_parsers_know_how_sure_they_are(parser: Any) -> None:
    with pytest.raises(mg.ModelError, match="fit a temperature"):
        parser.parse(bare(treebank(1)[0]), confidence=True)
    tree = mg.calibrate(parser, treebank(30, 7)).parse(bare(treebank(1, 8)[0]), confidence=True)
    assert tree.arc_confidence is not None
    assert all(0 <= p <= 1 for p in tree.arc_confidence)
    assert 0 < tree.confidence <= min(tree.arc_confidence) + 1e-9


def test_arcs_that_the_whole_beam_has_are_not_certain(parser: Any) -> None:
    """Every third held-out sentence has wrong labels: confidences say so, whatever the beam agrees in."""
    data = treebank(60, 7)
    for one in data[::3]:
        one.columns["deprel"][:] = ["det"] * len(one)
    calibrated = mg.calibrate(parser, data)
    calibration = calibrated.saved.calibration
    assert calibration["method"] == "beam"
    assert calibration["words"]["ece"] < 0.05
    sure, right = [], []
    for one in data:
        tree = calibrated.parse(bare(one), confidence=True)
        sure += tree.arc_confidence
        gold = zip(one.columns["head"], one.columns["deprel"], strict=True)
        right += [arc == (str(h), d) for arc, h, d in zip(gold, tree.heads, tree.labels, strict=True)]
    assert np.mean(right) < 0.85
    assert np.mean(sure) == pytest.approx(np.mean(right), abs=0.02)


def test_the_map_of_shares_is_the_best_of_a_grid() -> None:
    rng = np.random.default_rng(1)
    shares = np.where(rng.random(400) < 0.7, 1.0, rng.random(400))
    right = rng.random(400) < 0.3 + 0.6 * shares
    found = fit_map(shares, right)

    def loss(one: ShareMap) -> float:
        sure = one(shares)
        return float(-np.log(np.where(right, sure, 1 - sure)).mean())

    near = [
        ShareMap(found.slope + a / 20, found.offset + b / 20) for a in range(-9, 10) for b in range(-9, 10)
    ]
    assert loss(found) <= min(map(loss, near)) + 1e-4
    assert fit_map(shares, shares < 0.5).slope == 0.0


def test_heads_that_are_not_known_are_found_by_the_model() -> None:
    data = treebank(40)
    for one in data[::2]:
        for column in ("head", "deprel"):
            one.columns[column][0] = "_"
    parser = mg.train(data, structure="trees", features="huang-sagae", passes=4, tree_beam=4)
    assert las(parser, treebank(20, 2)) > 0.9


def open_treebank(**columns: list[str]) -> list[mg.Sentence]:
    return [mg.Sentence({"word": list("abcd"), "upos": list("WXYZ")} | columns)] * 4


def test_a_treebank_without_relations_gives_heads_alone() -> None:
    data = open_treebank(head=["2", "0", "2", "3"], deprel=["_"] * 4)
    parser: Any = mg.train(data, structure="trees", features="huang-sagae", passes=3)
    tree = parser.parse(bare(data[0]))
    assert (tree.heads, tree.labels) == ((2, 0, 2, 3), ("_",) * 4)


@pytest.mark.parametrize(
    "heads",
    [
        ["2", "_", "2", "3"],  # no root is known
        ["3", "4", "_", "_"],  # arcs that cross: no tree of the system has them
        ["_", "_", "_", "0"],  # nothing to the right is known
    ],
)
@pytest.mark.parametrize("learner", ["perceptron", "pa"])
def test_whatever_arcs_are_known_trees_are_learned(heads: list[str], learner: str) -> None:
    labels = ["_" if head == "_" else "root" if head == "0" else "dep" for head in heads]
    data = open_treebank(head=heads, deprel=labels)
    parser: Any = mg.train(data, structure="trees", features="huang-sagae", learner=learner, passes=3)
    tree = parser.parse(bare(data[0]))
    assert tree.heads.count(0) == 1
    assert "_" not in tree.labels
    if heads[0] != "3":
        assert all(
            str(found) == given for found, given in zip(tree.heads, heads, strict=True) if given != "_"
        )


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        (["2", "1"], "sentence 1: heads go round in a circle"),
        (["0", "0"], "sentence 1: there is not exactly one root"),
        (["0", "3"], "sentence 1: a head is not in the sentence"),
        (["0", "one"], "found the head 'one'"),
    ],
)
def test_what_is_no_tree_is_refused(heads: list[str], message: str) -> None:
    one = mg.Sentence({"word": ["a", "b"], "head": heads, "deprel": ["x", "y"]})
    with pytest.raises(mg.DataError, match=message):
        mg.train([one], structure="trees", features="huang-sagae")


def test_parsers_go_on_learning_with_new_labels(parser: Any) -> None:
    new = mg.Sentence(
        {"word": ["go", "!"], "upos": ["V", "P"], "head": ["0", "1"], "deprel": ["root", "punct"]}
    )
    later = parser.partial_fit([new] * 3, passes=3)
    assert later.parse(bare(new)).labels == ("root", "punct")
    assert later.labels == (*parser.labels, "punct")
    assert las(later, treebank(20, 2)) > 0.5


def test_damaged_actions_are_a_model_error(parser: Any) -> None:
    from dataclasses import replace

    for array in (np.zeros(2, np.uint8), np.zeros(3, np.float32)):
        with pytest.raises(mg.ModelError):
            mg.Parser(replace(parser.saved, arrays=parser.saved.arrays | {"tree.actions": array}))
    without = {name: array for name, array in parser.saved.arrays.items() if name != "tree.actions"}
    with pytest.raises(mg.ModelError):
        mg.Parser(replace(parser.saved, arrays=without))
    nothing = np.zeros_like(parser.saved.arrays["tree.actions"])
    with pytest.raises((mg.ModelError, ValueError)):
        mg.Parser(replace(parser.saved, arrays=parser.saved.arrays | {"tree.actions": nothing})).parse(
            bare(treebank(1)[0])
        )


def test_attachment_scores_by_hand() -> None:
    heads, labels = np.array([2, 0, 2, 0, -1], np.int32), np.array([0, 1, 2, 1, 0], np.int32)
    found = score_trees(
        heads,
        labels,
        np.array([2, 0, 1, 0, 1], np.int32),
        np.array([1, 1, 2, 1, 0], np.int32),
        [0, 3],
        ["a", "b", "c"],
    )
    assert (found.words, found.sentences) == (4, 2)
    assert (found.uas, found.las, found.complete) == (75.0, 50.0, 50.0)
    assert found.confusion[0] == ("a", "b", 1)


@pytest.mark.data
@pytest.mark.parametrize("bank", ["ud-english-ewt", "ud-czech-cltt"])
def test_every_gold_tree_can_be_made(data_dir: Path, bank: str) -> None:
    from marginalia import _core
    from marginalia.corpus.conllu import read_conllu_columns

    labels: dict[str, int] = {}
    trees = []
    for one in read_conllu_columns(data_dir / bank / "dev.conllu"):
        heads = np.array([int(head) for head in one.columns["head"]], np.int32)
        numbers = [labels.setdefault(name, len(labels)) for name in one.columns["deprel"]]
        trees.append((heads, np.array(numbers, np.int32)))
    shape = _core.TreeShape(list(labels), "swap", 1, True, False, "early")
    for heads, numbers in trees:
        actions = shape.oracle(heads, numbers).tolist()
        assert replayed(actions, len(heads)) == list(zip(heads.tolist(), numbers.tolist(), strict=True))


def replayed(actions: list[int], length: int) -> list[tuple[int, int]]:
    """The arcs that actions of the system swap make."""
    stack, queue, arcs = [], list(range(length)), {}
    for action in actions:
        if action == 0:
            stack.append(queue.pop(0))
        elif action == 2:
            queue.insert(0, stack.pop(-2))
        else:
            move, label = action % 3, (action - 3) // 3
            child = stack.pop(-2) if move == 0 else stack.pop()
            arcs[child] = (0 if move == 2 else stack[-1] + 1, label)
    assert not stack
    assert not queue
    return [arcs[token] for token in range(length)]
