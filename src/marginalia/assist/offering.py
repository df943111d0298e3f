"""What could be said instead of a sentence: made by rules and of words, checked, ranked by the model of
readability."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from marginalia.assist.difference import difference
from marginalia.assist.paraphrase import Paraphrase
from marginalia.assist.profile import Profile
from marginalia.assist.records import CheckReport, Offer, OfferStep, Reason
from marginalia.assist.trees import Tree

if TYPE_CHECKING:
    from marginalia.assist.checks import CheckResult
    from marginalia.assist.checks.reading import Parse
    from marginalia.assist.composing import Words
    from marginalia.assist.paraphrase import RuleSet, Step
    from marginalia.assist.readability.evidence import Evidence

_MOST_READ = 16  # paraphrases that are parsed again, the best ones
WORDS = "plainer-word"  # the family of all simpler words


class Judge:
    """How hard sentences are for a reader, by the model of the reader's profile or the one that ships."""

    def __init__(self, language: str, profile: Profile) -> None:
        from marginalia.assist.readability.model import load_model, shipped_model

        self.model = load_model(profile.reader) if profile.reader else shipped_model(language)
        self._level = profile.level

    def evidence(self, trees: Sequence[Tree]) -> Evidence:
        """What the model sees of sentences."""
        from marginalia.assist.readability.evidence import evidence

        return evidence(trees)

    def difficulty(self, tree: Tree) -> tuple[float, tuple[Reason, ...]]:
        """How hard a sentence is, 0 to 100, and why."""
        found = self.evidence([tree])
        return self.model.difficulty(found, self._level), self.model.reasons(found)

    def hardest(self, trees: Iterable[Tree]) -> float:
        """The difficulty of the hardest of several sentences."""
        return max(self.difficulty(tree)[0] for tree in trees)


class Ranked(NamedTuple):
    """A paraphrase with how much easier it is, and that less what its checks found."""

    value: float
    gain: float
    paraphrase: Paraphrase


def ranked_offers(
    tree: Tree, judge: Judge, rules: RuleSet, words: Words | None, profile: Profile, parse: Parse
) -> tuple[Offer, ...]:
    """The best offers for a sentence: each is easier by as much as the reader wants, or more."""
    from marginalia.assist.composing import paraphrases

    before = judge.evidence([tree])
    gains: dict[str, float] = {}

    def value(one: Paraphrase) -> float:
        """How much easier it is, less what its checks found."""
        if one.text not in gains:
            gains[one.text] = judge.model.score(judge.evidence(one.trees), before)
        return gains[one.text] * (1 - _penalty(one))

    ranked = []
    for one in paraphrases(tree, rules, words, value):
        worth = round(value(one), 9)
        if worth > 0 and worth >= profile.picky and _keeps(tree.text, one.text, profile.protected):
            ranked.append(Ranked(worth, gains[one.text], one))
    lexical = {rule.name for rule in rules.word_rules}
    best = sorted(ranked, key=_place)[: max(_MOST_READ, 2 * profile.offers)]
    read = [one for one in _read_again(best, lexical, parse) if one.value >= profile.picky]
    return tuple(
        _offer(tree, one, judge, lexical) for one in _varied(sorted(read, key=_place), profile.offers)
    )


def _place(one: Ranked) -> tuple[float, int, str]:
    return -one.value, len(one.paraphrase.steps), one.paraphrase.text


def _read_again(ranked: Sequence[Ranked], lexical: Collection[str], parse: Parse) -> Iterator[Ranked]:
    """Paraphrases that the parser reads as they were meant, or nearly so; another word alone must not change
    how a sentence is read at all."""
    from marginalia.assist.checks.reading import well_formed

    results = well_formed([one.paraphrase for one in ranked], parse)
    for one, result in zip(ranked, results, strict=True):
        *steps, last = one.paraphrase.steps
        strict = all(_is_lexical(step, lexical) for step in one.paraphrase.steps)
        if result.action == "vetoed" or (strict and result.action != "passed"):
            continue
        last = replace(last, checks=(*last.checks, result))
        value = round(one.value * (1 - result.penalty), 9)
        yield Ranked(value, one.gain, Paraphrase(one.paraphrase.trees, (*steps, last)))


def _varied(ranked: Sequence[Ranked], most: int) -> list[Ranked]:
    """The best, and then always the one that is best for what it has not in common with those before."""
    waiting = [(one, frozenset(map(_key, one.paraphrase.steps))) for one in ranked]
    chosen: list[tuple[Ranked, frozenset[tuple[str, str]]]] = []
    while waiting and len(chosen) < most:
        worth = [
            one.value - max((_overlap(steps, other) for _, other in chosen), default=0.0)
            for one, steps in waiting
        ]
        chosen.append(waiting.pop(worth.index(max(worth))))
    return [one for one, _ in chosen]


def _key(step: Step) -> tuple[str, str]:
    return step.rule, " ".join(step.bindings.values())


def _overlap(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> float:
    return len(one & other) / len(one | other)


def _keeps(before: str, after: str, protected: Iterable[str]) -> bool:
    """Whether each protected term is there as often as before."""
    return all(_count(term, after) >= _count(term, before) for term in protected)


def _count(term: str, text: str) -> int:
    return len(re.findall(rf"(?<![A-Za-z0-9]){re.escape(term)}(?![A-Za-z0-9])", text, re.IGNORECASE))


def _results(one: Paraphrase) -> Iterator[CheckResult]:
    return (result for step in one.steps for result in step.checks)


def _penalty(one: Paraphrase) -> float:
    """What the last checks took off: they looked at all that was done."""
    from marginalia.assist.checks import penalty_of

    return penalty_of(one.steps[-1].checks)


def _offer(tree: Tree, ranked: Ranked, judge: Judge, lexical: Collection[str]) -> Offer:
    one = ranked.paraphrase
    kinds = {"lexical" if _is_lexical(step, lexical) else "structural" for step in one.steps}
    checks = dict.fromkeys(CheckReport(each.name, each.action, each.reason) for each in _results(one))
    return Offer(
        text=one.text,
        kind="both" if len(kinds) > 1 else kinds.pop(),
        gain=ranked.gain,
        difficulty=judge.hardest(one.trees),
        reason=" ".join(dict.fromkeys(step.why for step in one.steps)),
        steps=tuple(map(_step, one.steps)),
        checks=tuple(checks),
        segments=difference(tree.text, one.text),
    )


def _is_lexical(step: Step, lexical: Collection[str]) -> bool:
    return step.rule in lexical or step.family == WORDS


def _step(step: Step) -> OfferStep:
    segments = difference(step.before, step.after)
    return OfferStep(step.rule, step.family, step.why, step.before, step.after, step.bindings, segments)
