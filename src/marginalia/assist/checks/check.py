"""What a check is: it judges a paraphrase without knowing which rules made it.

A check looks at the tree before and the trees after, and yields what it finds wrong. It may repair: then it
has changed the trees after. Or it lowers the rank by a penalty, or forbids the paraphrase with a veto. Each
finding has a reason that a teacher understands; a check that finds nothing has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

from marginalia.assist.trees import Node, Tree

PASSED, REPAIRED, LOWERED, VETOED = "passed", "repaired", "lowered", "vetoed"


@dataclass(frozen=True)
class CheckResult:
    """What one check made of a paraphrase. `penalty` is 0 to 1, and 1 for a veto."""

    name: str
    action: str  # passed, repaired, lowered or vetoed
    penalty: float = 0.0
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Finding:
    """Something that a check finds wrong: it was repaired, or lowers the rank, or forbids the paraphrase."""

    action: str
    reason: str
    penalty: float = 0.0


def repaired(reason: str) -> Finding:
    """The check has changed the trees, and nothing is wrong any more."""
    return Finding(REPAIRED, reason)


def lowered(penalty: float, reason: str) -> Finding:
    """The paraphrase may do, if there is nothing better."""
    return Finding(LOWERED, reason, penalty)


def vetoed(reason: str) -> Finding:
    """The paraphrase must not be offered."""
    return Finding(VETOED, reason, 1.0)


class HasTrees(Protocol):
    """What checks need of a paraphrase."""

    @property
    def trees(self) -> Sequence[Tree]:
        """A tree for each of its sentences."""


class Transfer:
    """A sentence before and after a paraphrase, as checks see it. The trees after may be repaired."""

    def __init__(self, before: Tree, after: Sequence[Tree]) -> None:
        self.before, self.after, self.language = before, after, before.language

    @property
    def nodes(self) -> Iterator[Node]:
        """All words after it."""
        return (node for tree in self.after for node in tree.nodes)

    @cached_property
    def origins(self) -> dict[int, Node]:
        """Words before it, by their number in the sentence that was read."""
        return {node.origin: node for node in self.before.nodes if node.origin is not None}

    def source(self, node: Node) -> Node | None:
        """The word before that a word after it was; None if a rule made it."""
        return None if node.origin is None else self.origins.get(node.origin)

    def is_changed(self, node: Node) -> bool:
        """Whether a word is new, or stands in another relation or under another head than before."""
        source = self.source(node)
        if source is None or source.lemma != node.lemma or source.relation != node.relation:
            return True
        heads = source.head, node.head
        if heads[0] is None or heads[1] is None:
            return heads[0] is not heads[1]
        return heads[0].origin != heads[1].origin or heads[0].lemma != heads[1].lemma


@dataclass(frozen=True)
class Check:
    """A check by its name, what it is for, and how it judges."""

    name: str
    purpose: str
    judge: Callable[[Transfer], Iterable[Finding]]


def run(checks: Sequence[Check], transfer: Transfer) -> list[CheckResult]:
    """The results of checks in their order; after a veto the others are not asked."""
    results: list[CheckResult] = []
    for check in checks:
        findings = list(check.judge(transfer))
        results += [CheckResult(check.name, each.action, each.penalty, each.reason) for each in findings]
        if not findings:
            results.append(CheckResult(check.name, PASSED))
        if any(each.action == VETOED for each in findings):
            break
    return results


def is_vetoed(results: Iterable[CheckResult]) -> bool:
    """Whether a check forbids the paraphrase."""
    return any(result.action == VETOED for result in results)


def penalty_of(results: Iterable[CheckResult]) -> float:
    """How much a paraphrase loses by its results, 0 to 1: each penalty takes its share of what is left."""
    kept = 1.0
    for result in results:
        kept *= 1.0 - min(1.0, max(0.0, result.penalty))
    return 1.0 - kept
