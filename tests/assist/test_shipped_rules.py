"""The rules that ship: all their examples, family by family, and their compiled form."""

from __future__ import annotations

from functools import cache

import pytest

import marginalia as mg
from marginalia.assist import paraphrase
from marginalia.assist.paraphrase.checking import ExampleResult, check_examples
from marginalia.assist.paraphrase.loading import COMPILED, SHIPPED, compile_text, rule_paths
from marginalia.assist.paraphrase.rule_files import read_rule_file

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


@pytest.mark.parametrize("language", sorted({language for language, _ in FAMILIES}))
def test_the_compiled_form_is_that_of_the_rules(language: str) -> None:
    """`python tools/compile_rules.py` makes it."""
    files = [read_rule_file(path) for path in rule_paths(language)]
    path = SHIPPED / language / COMPILED
    assert path.read_text(encoding="utf-8") == compile_text(files, mg.load(language))
