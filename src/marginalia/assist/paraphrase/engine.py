"""The engine: which rules can fire in a tree, what they make of it, and what comes of that."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from marginalia.assist.paraphrase.generation import generation_of
from marginalia.assist.paraphrase.index import RuleIndex
from marginalia.assist.paraphrase.loading import load_files, rule_paths
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.rule_files import RuleFile
from marginalia.assist.paraphrase.rules import Rule, bindings_text
from marginalia.assist.paraphrase.transfer import Transfer
from marginalia.assist.paraphrase.words import WordRule, word_rules
from marginalia.assist.trees import UNSPACED, Node, Tree
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline


@dataclass(frozen=True)
class Step:
    """One rule at work: its bindings, the text before and after, and what checks said of it."""

    rule: str
    family: str
    why: str
    bindings: dict[str, str]
    before: str
    after: str
    checks: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The step as plain values."""
        checks = [check.to_dict() if hasattr(check, "to_dict") else check for check in self.checks]
        return {**vars(self), "bindings": dict(self.bindings), "checks": checks}


@dataclass(frozen=True)
class Paraphrase:
    """What rules made of a sentence: its trees (more than one if it was split) and how they were made."""

    trees: tuple[Tree, ...]
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """The sentences as they are written."""
        return text_of(self.trees)

    def to_dict(self) -> dict[str, Any]:
        """The paraphrase as plain values, without its trees."""
        return {"text": self.text, "steps": [step.to_dict() for step in self.steps]}


@dataclass(frozen=True)
class Budget:
    """How far rules may be composed: rules one after the other, and results in all."""

    steps: int = 3
    results: int = 60


Check = Callable[[Tree, Paraphrase], Sequence[Any]]
"""What looks at a result: it gives records, of which one whose `action` is "vetoed" takes the result away."""


def text_of(trees: Sequence[Tree]) -> str:
    """Sentences one after the other, with a blank where the language has them."""
    blank = "" if trees and trees[0].language in UNSPACED else " "
    return blank.join(tree.text for tree in trees)


class MoreRules(Protocol):
    """Rules that are not listed, but found by the words of a tree."""

    def matches(self, tree: Tree) -> Iterator[tuple[WordRule, Bound]]:
        """Rules that fire in a tree, each with what it is bound to."""


@dataclass
class RuleSet:
    """Rules that work together. `protected` words are never touched; `off` are names of rules or families;
    `more` come behind those that are listed."""

    rules: list[Rule]
    word_rules: list[WordRule]
    files: list[RuleFile] = field(default_factory=list)
    protected: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    more: MoreRules | None = None

    def __post_init__(self) -> None:
        every: list[Rule | WordRule] = [*self.rules, *self.word_rules]
        known = {name for rule in every for name in (rule.name, rule.family)}
        if unknown := sorted(self.off - known):
            raise SettingsError(f"off: found '{unknown[0]}', expected the name of a rule or a family.")
        self._index = RuleIndex(
            [rule for rule in self.rules if self._is_on(rule)],
            [rule for rule in self.word_rules if self._is_on(rule)],
        )

    def _is_on(self, rule: Rule | WordRule) -> bool:
        return rule.name not in self.off and rule.family not in self.off

    def once(
        self, tree: Tree, family: str = "", name: str = ""
    ) -> Iterator[tuple[Rule | WordRule, Bound, Transfer]]:
        """All that one application of one rule makes of a tree, with forms and surface made; only of a family
        or of a rule, if they are named."""
        before = tree.text
        kept = self._protected(tree)
        generate = generation_of(tree.language)
        for rule, bound in chain(self._index.matches(tree), self.more.matches(tree) if self.more else ()):
            if (family and rule.family != family) or (name and rule.name != name):
                continue
            if kept and any(node.index in kept for node in _nodes(bound)):
                continue
            made = rule.apply(tree, bound)
            if made is None:
                continue
            for one in made.trees:
                inside = set(map(id, one.nodes))
                generate(one, tree, [node for node in made.changed if id(node) in inside])
            if text_of(made.trees) != before and (not kept or self._survive(tree, kept, made)):
                yield rule, bound, made

    def paraphrases(
        self, tree: Tree, budget: Budget | None = None, check: Check | None = None
    ) -> list[Paraphrase]:
        """What the rules make of a tree, one after the other: the fewest steps first, no text twice."""
        budget = budget or Budget()
        seen = {tree.text}
        found: list[Paraphrase] = []
        waiting = deque([Paraphrase((tree,), ())])
        while waiting and len(found) < budget.results:
            current = waiting.popleft()
            for new in self._next(current):
                if new.text in seen:
                    continue
                seen.add(new.text)
                checked = _checked(tree, new, check)
                if checked is None:
                    continue
                found.append(checked)
                if len(found) == budget.results:
                    break
                if len(checked.steps) < budget.steps:
                    waiting.append(checked)
        return found

    def _next(self, current: Paraphrase) -> Iterator[Paraphrase]:
        for place, tree in enumerate(current.trees):
            for rule, bound, made in self.once(tree):
                trees = (*current.trees[:place], *made.trees, *current.trees[place + 1 :])
                step = Step(
                    rule.name, rule.family, rule.why, bindings_text(bound), current.text, text_of(trees)
                )
                yield Paraphrase(trees, (*current.steps, step))

    def _protected(self, tree: Tree) -> set[int]:
        """Places of words that must not be touched: single words, and terms of several."""
        if not self.protected:
            return set()
        forms = [(node.form.lower(), node.lemma.lower()) for node in tree.nodes]
        places: set[int] = set()
        for term in self.protected:
            words = term.lower().split()
            for start in range(len(forms) - len(words) + 1):
                if all(word in forms[start + i] for i, word in enumerate(words)):
                    places.update(range(start, start + len(words)))
        return places

    def _survive(self, tree: Tree, kept: set[int], made: Transfer) -> bool:
        """Whether protected words are there after a transfer, as they were."""
        forms = {tree.nodes[place].form.lower() for place in kept}
        return forms <= {node.form.lower() for one in made.trees for node in one.nodes}


def _nodes(bound: Bound) -> Iterator[Node]:
    for value in bound.values():
        yield from (value,) if isinstance(value, Node) else value


def _checked(tree: Tree, new: Paraphrase, check: Check | None) -> Paraphrase | None:
    if check is None:
        return new
    results = tuple(check(tree, new))
    if any(getattr(result, "action", "") == "vetoed" for result in results):
        return None
    *steps, last = new.steps
    step = Step(last.rule, last.family, last.why, last.bindings, last.before, last.after, results)
    return Paraphrase(new.trees, (*steps, step))


def load(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    protected: Collection[str] = (),
    off: Collection[str] = (),
    pipeline: Callable[[str], Pipeline] | None = None,
) -> RuleSet:
    """The rules that ship for a language (`en`, `ja`), or those of files and folders."""
    files, rules = load_files(rule_paths(source), pipeline)
    return RuleSet(rules, list(word_rules(files)), files, frozenset(protected), frozenset(off))
