"""Well-formedness: a paraphrase that is parsed again reads as it was meant.

It costs a parse, so it is not asked with the other checks: whoever has candidates asks for those that are
left, all in one batch. A paraphrase is lowered by what reads otherwise: its predicate, subject and objects.
If none of them is as it was meant, it is forbidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from marginalia.assist.trees import Tree

from .check import LOWERED, PASSED, VETOED, CheckResult, HasTrees

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence

NAME = "well-formedness"
Parse = Callable[[Sequence[str]], Sequence[Sequence["ParsedSentence"]]]
OTHER_PREDICATE, OTHER_ARGUMENT = 0.3, 0.2
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "PRON", "ADV"})


def well_formed(paraphrases: Sequence[HasTrees], parse: Parse) -> list[CheckResult]:
    """A result for each paraphrase. `parse` gives the sentences of texts, as `parses("en").parse` does."""
    meant = [tree for one in paraphrases for tree in one.trees]
    readings = iter(parse([tree.text for tree in meant]))
    return [_worst([_compared(tree, next(readings)) for tree in one.trees]) for one in paraphrases]


def _worst(results: Sequence[CheckResult]) -> CheckResult:
    return max(results, key=lambda result: result.penalty)


def _compared(meant: Tree, sentences: Sequence[ParsedSentence]) -> CheckResult:
    if len(sentences) != 1:
        return CheckResult(NAME, LOWERED, OTHER_PREDICATE, f"it reads as {len(sentences)} sentences")
    own, read = reading(meant), reading(Tree.of(sentences[0], meant.language))
    wrong = [what for what, is_same in own.compared(read).items() if not is_same]
    if len(wrong) == len(Reading._fields):
        return CheckResult(NAME, VETOED, 1.0, f"it does not read as it was meant: {', '.join(wrong)}")
    kept = 1.0
    for what in wrong:
        kept *= 1 - (OTHER_PREDICATE if what == "predicate" else OTHER_ARGUMENT)
    if not wrong:
        return CheckResult(NAME, PASSED)
    return CheckResult(NAME, LOWERED, 1 - kept, f"it may be read otherwise: {', '.join(wrong)}")


class Reading(NamedTuple):
    """Places of the words of a sentence: its predicate, subjects and objects."""

    predicate: frozenset[int]
    subject: frozenset[int]
    objects: frozenset[int]

    def compared(self, other: Reading) -> dict[str, bool]:
        """By name, whether something is read in the same way."""
        return {name: getattr(self, name) == getattr(other, name) for name in self._fields}


def reading(tree: Tree) -> Reading:
    """The reading of a sentence; places count characters, so that other tokens do not matter."""
    place, places = 0, {}
    for node in tree.nodes:
        places[id(node)] = place
        place += len(node.form)

    def found(kind: str) -> frozenset[int]:
        return frozenset(places[id(node)] for node in tree.root.daughters(kind) if node.upos in _CONTENT)

    return Reading(frozenset([places[id(tree.root)]]), found("subject"), found("object"))
