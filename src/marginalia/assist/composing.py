"""Paraphrases of a sentence to choose from: by rules, by simpler words, and by both, all of them checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from marginalia.assist.checks import check, is_vetoed
from marginalia.assist.paraphrase import Budget, Paraphrase, RuleSet
from marginalia.assist.trees import Tree

if TYPE_CHECKING:
    from marginalia.assist.paraphrase import Step

BUDGET = Budget(steps=3, results=40)
_EACH = Budget(steps=1, results=24)  # of words, one at a time
_MOST_WORDS = 6  # that are replaced one after the other
_BEST = 4  # paraphrases by rules in which words are replaced, too

Value = Callable[[Paraphrase], float]


@dataclass(frozen=True)
class Words:
    """Simpler words as rules, without those that are `off`; `is_hard` says which words are to be replaced
    where all are replaced at once."""

    rules: RuleSet
    off: frozenset[str]
    is_hard: Callable[[str], bool]

    def instead(self, tree: Tree) -> list[Paraphrase]:
        """A sentence with one word replaced, in each way."""
        return [
            one for one in self.rules.paraphrases(tree, _EACH, check) if one.steps[0].rule not in self.off
        ]


def paraphrases(tree: Tree, rules: RuleSet, words: Words | None, value: Value) -> list[Paraphrase]:
    """By rules, one after the other; by each simpler word; by all hard words at once, in the sentence and in
    the best that rules made of it. No text comes twice."""
    ruled = [one for one in rules.paraphrases(tree, BUDGET, check) if one.text != tree.text]
    found = list(ruled)
    if words is not None:
        found += words.instead(tree)
        best = sorted(ruled, key=lambda one: (-value(one), one.text))[:_BEST]
        for one in (Paraphrase((tree,), ()), *best):
            found += _worded(tree, one, words)
    return list({one.text: one for one in reversed(found)}.values())


def _worded(tree: Tree, one: Paraphrase, words: Words) -> Iterator[Paraphrase]:
    """A paraphrase with all its hard words replaced, if it has any and the result passes the checks."""
    whole = one
    for place in reversed(range(len(one.trees))):
        for step, trees in _replaced(one.trees[place], words):
            after = Paraphrase((*whole.trees[:place], *trees, *whole.trees[place + 1 :]), ())
            step = replace(step, before=whole.text, after=after.text)
            whole = Paraphrase(after.trees, (*whole.steps, step))
    results = tuple(check(tree, whole)) if whole is not one else ()
    if results and not is_vetoed(results):
        *steps, last = whole.steps
        last = replace(last, after=whole.text, checks=results)  # repairs may have changed it
        yield Paraphrase(whole.trees, (*steps, last))


def _replaced(tree: Tree, words: Words) -> Iterator[tuple[Step, Sequence[Tree]]]:
    """The likeliest simpler word for each hard word of a sentence, one after the other."""
    done: set[str] = set()
    for _ in range(_MOST_WORDS):
        fresh = (one for one in words.instead(tree) if _is_next(one.steps[0].bindings["W"], words, done))
        one = next(fresh, None)
        if one is None:
            return
        done |= {one.steps[0].bindings["W"], *set(_forms(one.trees[0])) - set(_forms(tree))}
        tree = one.trees[0]
        yield one.steps[0], one.trees


def _is_next(word: str, words: Words, done: Collection[str]) -> bool:
    return word not in done and words.is_hard(word)


def _forms(tree: Tree) -> Iterator[str]:
    return (node.form for node in tree.nodes)
