"""The rules that ship: all their examples, family by family, and their compiled form."""

from __future__ import annotations

from functools import cache

import pytest

import marginalia as mg
from marginalia.assist import paraphrase
from marginalia.assist.paraphrase.checking import ExampleResult, check_examples
from marginalia.assist.paraphrase.loading import COMPILED, SHIPPED, compile_text, rule_paths
from marginalia.assist.paraphrase.rule_files import read_rule_file
from marginalia.assist.trees import Tree

FAMILIES = [
    (language, family.name)
    for language in ("en", "ja")
    for path in rule_paths(language)
    for family in read_rule_file(path).families
]


@cache
def results(language: str) -> dict[str, list[ExampleResult]]:
    """All examples of a language, parsed in one batch."""
    rules = paraphrase.load(language, pipeline=mg.load)
    found: dict[str, list[ExampleResult]] = {}
    for result in check_examples(rules, mg.load(language)):
        found.setdefault(result.family, []).append(result)
    return found


@pytest.mark.parametrize(("language", "family"), FAMILIES)
def test_examples_of_a_family(language: str, family: str) -> None:
    own = results(language)[family]
    assert [result.message for result in own if not result.passed] == []
    assert sum(result.example.after is not None for result in own) >= 5
    assert sum(result.example.after is None for result in own) >= 5


def test_each_english_rule_fires_in_an_example() -> None:
    rules = paraphrase.load("en", pipeline=mg.load)
    own = [result for family in results("en").values() for result in family]
    fired = {
        rule.name
        for result in own
        if result.example.after is not None
        for tree in result.trees
        for rule, _, _ in rules.once(tree, result.family)
    }
    assert {rule.name for rule in (*rules.rules, *rules.word_rules)} - fired == set()


@pytest.mark.parametrize("language", sorted({language for language, _ in FAMILIES}))
def test_what_rules_make_of_a_tree_is_trees(language: str) -> None:
    """All rules on all examples, also on those of other families; the tree before stays as it was."""
    rules = paraphrase.load(language, pipeline=mg.load)
    for tree in (tree for family in results(language).values() for result in family for tree in result.trees):
        before = tree.to_tree_text()
        for _, _, made in rules.once(tree):
            for one in made.trees:
                assert_tree(one)
        assert tree.to_tree_text() == before


def assert_tree(tree: Tree) -> None:
    assert [node.index for node in tree] == list(range(len(tree)))
    assert tree.root.head is None
    assert sum(len(node.children) for node in tree) == len(tree) - 1
    for node in tree:
        assert all(child.head is node and child in tree.nodes for child in node.children)
        assert node is tree.root or tree.root in node.ancestors()
        assert [child.index for child in node.children] == sorted(child.index for child in node.children)


@pytest.mark.parametrize("language", sorted({language for language, _ in FAMILIES}))
def test_the_compiled_form_is_that_of_the_rules(language: str) -> None:
    """`python tools/compile_rules.py` makes it."""
    files = [read_rule_file(path) for path in rule_paths(language)]
    path = SHIPPED / language / COMPILED
    assert path.read_text(encoding="utf-8") == compile_text(files, mg.load(language))
