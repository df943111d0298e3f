"""Rules proposed from examples: they give what they were made of, and pairs that differ alike agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.assist import paraphrase
from marginalia.assist.paraphrase.alignment import Alignment
from marginalia.assist.paraphrase.learning import read_pairs
from marginalia.assist.paraphrase.proposing import propose
from marginalia.assist.paraphrase.rule_files import read_rules
from marginalia.assist.trees import Node, Tree
from marginalia.cli import main
from marginalia.errors import DataError

PAIRS = [
    ("The cat was chased by the dog.", "The dog chased the cat."),
    ("It was a Honda that John sold.", "John sold a Honda."),
    ("Tom bought the car from Mary.", "Mary sold the car to Tom."),
    ("He made a decision to leave.", "He decided to leave."),
    ("There is a cat in the garden.", "A cat is in the garden."),
    ("I know the reason why he left.", "I know why he left."),
    ("My brother, who lives in Rome, is a doctor.", "My brother is a doctor. My brother lives in Rome."),
    ("The letters were written by my aunt.", "My aunt wrote the letters."),
]


def test_each_candidate_is_right_in_its_pairs_and_a_file_that_passes(tmp_path: Path) -> None:
    candidates = paraphrase.learn(PAIRS, mg.load("en"), "en")
    assert {pair for one in candidates for pair in one.pairs} == set(PAIRS)
    assert all(len(one.pairs) <= one.right <= one.fires for one in candidates)
    assert candidates[0].pairs == (PAIRS[0], PAIRS[7])  # two passives are one rule, and the best
    path = tmp_path / "learned.rules"
    texts = (one.to_text(f"learned-{number}") for number, one in enumerate(candidates))
    path.write_text("language en\n" + "".join(texts), encoding="utf-8")
    assert main(["paraphrase", "--check", str(path)]) == 0


def test_least_hides_what_one_pair_alone_proposes() -> None:
    assert [one.pairs for one in paraphrase.learn(PAIRS, mg.load("en"), "en", 2)] == [(PAIRS[0], PAIRS[7])]


def test_pairs_are_read_and_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\n\na\tb\nc\td\n", encoding="utf-8")
    assert read_pairs(path) == [("a", "b"), ("c", "d")]
    path.write_text("a\tb\nc\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv:2: found 1 columns, expected a sentence, a tab"):
        read_pairs(path)


def test_the_verb_proposes_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = PAIRS[5]
    assert main(["paraphrase", "--new", before, after]) == 0
    assert f"+ {before} -> {after}" in capsys.readouterr().out
    assert main(["paraphrase", "--new", before, after, "--json"]) == 0
    (candidate,) = json.loads(capsys.readouterr().out)["candidates"]
    assert (candidate["fires"], candidate["right"]) == (1, 1)


def test_the_verb_says_that_no_rule_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paraphrase", "--new", "It rains.", "It rains."]) == 1
    assert "no rule found" in capsys.readouterr().err
    assert main(["paraphrase", "--learn", "no-such-file.tsv"]) == 1


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    size = draw(st.integers(1, 6))
    one_of: Callable[[str], str] = lambda text: draw(st.sampled_from(text.split()))  # noqa: E731
    nodes = [
        Node(one_of("a b c"), upos=one_of("NOUN VERB ADP AUX"), relation=one_of("nsubj obj case aux"))
        for _ in range(size)
    ]
    for place in range(1, size):
        nodes[place].head = nodes[draw(st.integers(0, place - 1))]
    return Tree(list(draw(st.permutations(nodes))))


@settings(max_examples=200)
@given(trees(), st.lists(trees(), min_size=1, max_size=2))
def test_any_two_trees_give_a_rule_that_can_be_read(before: Tree, after: list[Tree]) -> None:
    try:
        rule = propose(before, after)
    except DataError:  # they are the same
        return
    file = read_rules(f"language en\nfamily f\nwhy Because.\ntree r: {rule}\n")
    assert len(paraphrase.loading.rules_of([file])) == 1


@settings(max_examples=200)
@given(trees(), trees())
def test_words_are_aligned_one_to_one(before: Tree, after: Tree) -> None:
    alignment = Alignment(before, [after])
    for node in before:
        twin = alignment.after_of(node)
        assert twin is None or alignment.before_of(twin) is node
