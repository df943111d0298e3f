"""Is one labelling really better than another: McNemar's test on tokens, randomisation on F1, and both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from marginalia.evaluate.encode import LabelColumns, Sentences, encode
from marginalia.evaluate.report import Report
from marginalia.evaluate.sampling import count_as_extreme
from marginalia.evaluate.scoring import report_on
from marginalia.evaluate.scoring_rules import ScoringRules, resolve
from marginalia.evaluate.tally import precision_recall_f1

# Below this many tokens on which just one labelling is right, chi-square is too rough an approximation.
EXACT_BELOW = 25
_NAMES = ("gold", "a", "b")


class McNemar(NamedTuple):
    """McNemar's test: tokens by who got them right, chi-square with continuity correction, two-sided p.

    `exact` tells that p is the binomial probability itself, because few tokens tell a from b.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    statistic: float
    p_value: float
    exact: bool


class Randomisation(NamedTuple):
    """Approximate randomisation: the F1 of b minus that of a, and how often chance does as much."""

    difference: float
    rounds: int
    as_extreme: int
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """Two labellings of the same sentences side by side; differences are b minus a."""

    a: Report
    b: Report
    mcnemar: McNemar
    randomisation: Randomisation

    @property
    def difference(self) -> float:
        """The F1 of b minus the F1 of a."""
        return self.b.f1 - self.a.f1

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        return {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "difference": self.difference,
            "mcnemar": self.mcnemar._asdict(),
            "randomisation": self.randomisation._asdict(),
        }

    def to_text(self) -> str:
        """A small table, and a line for each test."""
        return "\n".join([*self._table(), *self._tests()]) + "\n"

    def _table(self) -> Iterator[str]:
        yield f"{'':18}{'a':>8}{'b':>8}{'b - a':>8}"
        for name in ("precision", "recall", "f1", "accuracy", "sentence_accuracy"):
            a, b = getattr(self.a, name), getattr(self.b, name)
            yield f"{name.replace('_', ' '):18}{a:8.2f}{b:8.2f}{b - a:+8.2f}"

    def _tests(self) -> Iterator[str]:
        test, chance = self.mcnemar, self.randomisation
        how = "exact" if test.exact else f"chi-square {test.statistic:.2f}"
        yield f"tokens only a got right: {test.only_a}, only b: {test.only_b}"
        yield f"McNemar, tokens ({how}): p = {test.p_value:.4g}"
        yield f"randomisation, F1 ({chance.rounds} rounds): p = {chance.p_value:.4g}"


def mcnemar(gold: Sentences, a: Sentences, b: Sentences) -> McNemar:
    """McNemar's paired test on tokens: are those that only a or only b gets right evenly shared?"""
    return _mcnemar(encode(_NAMES, gold, a, b))


def approximate_randomisation(
    gold: Sentences,
    a: Sentences,
    b: Sentences,
    rounds: int = 10000,
    seed: int = 1,
    *,
    mode: str = "conlleval",
    scheme: str | None = None,
    spans: bool | None = None,
) -> Randomisation:
    """How often swapping a and b in randomly chosen sentences changes F1 as much as they really differ."""
    encoded = encode(_NAMES, gold, a, b)
    return _randomise(encoded, resolve(encoded, mode, scheme, spans), rounds, seed)


def compare(
    gold: Sentences,
    a: Sentences,
    b: Sentences,
    *,
    mode: str = "conlleval",
    scheme: str | None = None,
    spans: bool | None = None,
    rounds: int = 10000,
    seed: int = 1,
) -> Comparison:
    """Score a and b against the same gold labels and test whether they differ; options as in `evaluate`."""
    encoded = encode(_NAMES, gold, a, b)
    rules = resolve(encoded, mode, scheme, spans)
    report_a, report_b = (report_on(_pair(encoded, column), rules, None, 0, seed) for column in (1, 2))
    return Comparison(report_a, report_b, _mcnemar(encoded), _randomise(encoded, rules, rounds, seed))


def _pair(encoded: LabelColumns, column: int) -> LabelColumns:
    return LabelColumns(encoded.labels, encoded.starts, (encoded.columns[0], encoded.columns[column]))


def _randomise(encoded: LabelColumns, rules: ScoringRules, rounds: int, seed: int) -> Randomisation:
    counts_a, counts_b = (rules.tally(_pair(encoded, column)).by_sentence for column in (1, 2))
    f1_a, f1_b = (precision_recall_f1(*map(int, counts.sum(axis=0)))[2] for counts in (counts_a, counts_b))
    extreme = count_as_extreme(counts_a, counts_b, rounds=rounds, seed=seed)
    # The labelling as it is counts as one more round, so that p is never 0.
    return Randomisation(f1_b - f1_a, rounds, extreme, (extreme + 1) / (rounds + 1))


def _mcnemar(encoded: LabelColumns) -> McNemar:
    gold, a, b = encoded.columns
    right_a, right_b = a == gold, b == gold
    both, only_a, only_b, neither = (
        int(flags.sum())
        for flags in (right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~(right_a | right_b))
    )
    told, gap = only_a + only_b, abs(only_a - only_b)
    statistic = max(gap - 1, 0) ** 2 / told if told else 0.0
    exact = told < EXACT_BELOW
    p_value = _binomial_two_sided(min(only_a, only_b), told) if exact else math.erfc(math.sqrt(statistic / 2))
    return McNemar(both, only_a, only_b, neither, statistic, p_value, exact)


def _binomial_two_sided(fewer: int, trials: int) -> float:
    """The probability of a split at least as uneven as this one, if either side is equally likely."""
    tail = sum(math.comb(trials, k) for k in range(fewer + 1))
    return min(1.0, math.ldexp(tail, 1 - trials))
