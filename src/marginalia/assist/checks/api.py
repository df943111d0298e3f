"""Checking paraphrases."""

from __future__ import annotations

from marginalia.assist.trees import Tree

from .check import CheckResult, HasTrees, Transfer, run
from .registry import checks_of


def check(before: Tree, paraphrase: HasTrees) -> list[CheckResult]:
    """What all checks of the language find; repairs change the trees of the paraphrase.

    A check that finds nothing has a result, too (`passed`); after a veto the checks behind it are not asked.
    """
    return run(checks_of(before.language), Transfer(before, paraphrase.trees))
