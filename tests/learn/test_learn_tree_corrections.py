"""Corrections of trees: afterwards the tree is right, and undoing gives the same bytes."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from test_learn_trees import bare, trained, treebank

import marginalia as mg

ODD = {
    "word": ["dog", "the", "cat", "sees", "house"],
    "upos": ["N", "D", "N", "V", "N"],
    "head": ["3", "1", "0", "5", "3"],
    "deprel": ["nsubj", "det", "root", "det", "obj"],
}
NEW = {
    "word": ["see", "the", "cat", "!"],
    "upos": ["V", "D", "N", "P"],
    "head": ["0", "3", "1", "1"],
    "deprel": ["root", "det", "obj", "punct"],
}


def other_trees(data: list[mg.Sentence], seed: int) -> list[mg.Sentence]:
    """Sentences whose words hang on the word before, with any labels."""
    rng = random.Random(seed)
    heads = [[str(t) for t in range(len(one.columns["word"]))] for one in data]
    return [
        mg.Sentence(
            bare(one) | {"head": own, "deprel": ["root", *rng.choices(["obj", "det"], k=len(own) - 1)]}
        )
        for one, own in zip(data, heads, strict=True)
    ]


def is_right(parser: Any, one: mg.Sentence) -> bool:
    tree = parser.parse(bare(one))
    return [list(map(str, tree.heads)), list(tree.labels)] == [one.columns["head"], one.columns["deprel"]]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"system": "arc-eager"},
        {"system": "arc-hybrid"},
        {"system": "swap"},
        {"tree_beam": 1},
        {"merge": True},
        {"update": "early"},
        {"names": False},
        {"state": True, "provenance": True},
    ],
    ids=str,
)
def test_fixed_and_undone(more: dict[str, Any]) -> None:
    """What was corrected stays right, with new labels and actions too, and each step back is exact."""
    versions, asked = [trained(**more)], list[mg.Sentence]()
    for one in (*other_trees(treebank(2, 3), 1), mg.Sentence(ODD), mg.Sentence(NEW)):
        assert not is_right(versions[-1], one)
        fixed = versions[-1].fix(one)
        asked.append(one)
        assert all(is_right(fixed, earlier) for earlier in asked)
        assert fixed.correction_report.lead >= fixed.correction_report.margin * 0.999
        versions.append(mg.ParseModel.from_bytes(fixed.to_bytes()))
        assert all(is_right(versions[-1], earlier) for earlier in asked)
    assert versions[-1].corrections[-1].new_labels == ("punct",)
    assert versions[-1].corrections[-2].new_labels == ()
    for after, before in itertools.pairwise(reversed(versions)):
        assert after.undo().to_bytes() == before.to_bytes()


@pytest.mark.parametrize("state", [False, True])
def test_corrected_parsers_go_on_learning(state: bool) -> None:
    fixed = trained(state=state).fix(mg.Sentence(ODD)).fix(mg.Sentence(NEW))
    later = fixed.partial_fit([mg.Sentence(NEW)] * 3, passes=2)
    assert is_right(later, mg.Sentence(NEW))
    assert later.labels == fixed.labels


def test_the_report_names_arcs_and_actions() -> None:
    parser, check = trained(), treebank(10, 5)
    report = parser.fix(mg.Sentence(NEW), check=check).correction_report
    assert report.examples[0].labels == ("root:0", "det:3", "obj:1", "punct:1")
    assert any(change.labels == ("right punct",) for change in report.changes)
    assert report.checked == 10
    assert all(flip.before != flip.after for flip in report.flips)
    again = parser.fix(mg.Sentence(NEW)).fix(mg.Sentence(NEW | {"head": ["0", "3", "1", "3"]}))
    assert again.correction_report.replaced == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"head": ["0", "_", "1", "1"]}, "sentence 1: found _ for a head"),
        ({"deprel": ["root", "det", "_", "obj"]}, "sentence 1: found _ for a head or a label"),
        ({"head": ["3", "4", "0", "3"]}, "arcs that cross, which a parser with system=arc-standard"),
        ({"head": ["2", "1", "0", "3"]}, "sentence 1: heads go round in a circle"),
        ({"head": ["0", "9", "1", "1"]}, "sentence 1: a head is not in the sentence"),
    ],
)
def test_what_cannot_be_right_is_refused(columns: dict[str, list[str]], message: str) -> None:
    with pytest.raises(mg.DataError, match=message):
        trained(passes=1).fix(mg.Sentence(NEW | columns))
