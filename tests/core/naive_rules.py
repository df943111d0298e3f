"""AdaBoost.SDF as the paper has it (Iwakura and Okamoto 2008, Figs. 1 to 4), in sets and dictionaries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

Atom = int
Rule = tuple[Atom, ...]  # by rising id
Samples = list[tuple[frozenset[Atom], int]]  # atoms of a sample and its sign, +1 or -1


@dataclass(frozen=True)
class Options:
    rules_per_round: int = 1
    width: int = 0  # 0: all
    size: int = 2
    frequency: int = 1
    buckets: int = 1
    by_weight: bool = True
    smoothing: float = 1.0


def ids_of(samples: Samples, frequency: int) -> dict[Atom, int]:
    """Ids that ascend with frequency, then with the atom's own number."""
    counts: dict[Atom, int] = {}
    for atoms, _ in samples:
        for atom in atoms:
            counts[atom] = counts.get(atom, 0) + 1
    kept = [atom for atom in counts if counts[atom] >= frequency]
    return {atom: i for i, atom in enumerate(sorted(kept, key=lambda atom: (counts[atom], atom)))}


class NaiveRules:
    """The rules of one label, found round by round by looking at all samples."""

    def __init__(self, samples: Samples, options: Options) -> None:
        ids = ids_of(samples, options.frequency)
        self.atoms = list(ids)
        self.samples = [(frozenset(ids[a] for a in atoms if a in ids), y) for atoms, y in samples]
        self.options = options
        plus, minus = (sum(1.0 for _, y in samples if y == sign) for sign in (1, -1))
        self.default = 0.5 * math.log(plus / minus)
        self.weights = [math.exp(-y * self.default) for _, y in samples]
        self.rules: list[tuple[Rule, float]] = []
        self.bucket = 0
        self.order = list(range(len(ids)))
        self.buckets = max(1, min(options.buckets, len(ids)))

    def sums(self, rule: Rule) -> tuple[float, float, int]:
        """W+, W- and how many samples have all atoms."""
        plus = minus = 0.0
        count = 0
        for (atoms, y), weight in zip(self.samples, self.weights, strict=True):
            if atoms.issuperset(rule):
                plus, minus = (plus + weight, minus) if y > 0 else (plus, minus + weight)
                count += 1
        return plus, minus, count

    def gain(self, rule: Rule) -> float:
        plus, minus, _ = self.sums(rule)
        return abs(math.sqrt(plus) - math.sqrt(minus))

    def bound(self, rule: Rule) -> float:
        return max(map(math.sqrt, self.sums(rule)[:2]))

    def best(self, rules: list[Rule], count: int) -> list[Rule]:
        found = sorted(rules, key=lambda rule: (-self.gain(rule), len(rule), rule))
        return found[:count] if count else found

    def weak_learner(self, sets: list[Rule], count: int, found: list[Rule], size: int = 1) -> list[Rule]:
        """Fig. 3."""
        options = self.options
        found = self.best([*found, *(f for f in sets if self.gain(f) > 0)], count)
        if size >= options.size:
            return found
        least = self.gain(found[-1]) if len(found) == count else 0.0
        grown = [
            (*f, atom)
            for f in self.best(sets, options.width)
            if self.bound(f) >= least
            for atom in range(f[-1] + 1, len(self.atoms))
        ]
        grown = [f for f in grown if self.sums(f)[2] >= options.frequency]
        return self.weak_learner(grown, count, found, size + 1)

    def round(self, most: int) -> None:
        """Fig. 4: one bucket, and its rules one after another."""
        options = self.options
        if self.bucket == 0 and options.by_weight:
            weight = [self._weight_of(atom) for atom in range(len(self.atoms))]
            self.order = sorted(range(len(self.atoms)), key=lambda atom: (weight[atom], atom))
        sets = [(atom,) for atom in self.order[self.bucket :: self.buckets]]
        count = min(options.rules_per_round, most - len(self.rules))
        for rule in self.weak_learner(sets, count, []):
            plus, minus, _ = self.sums(rule)
            c = 0.5 * math.log((plus + options.smoothing) / (minus + options.smoothing))
            self.weights = [
                weight * math.exp(-y * c) if atoms.issuperset(rule) else weight
                for (atoms, y), weight in zip(self.samples, self.weights, strict=True)
            ]
            self.rules.append((rule, c))
        self.bucket = (self.bucket + 1) % self.buckets

    def _weight_of(self, atom: int) -> float:
        pairs = zip(self.samples, self.weights, strict=True)
        return sum((weight for (atoms, _), weight in pairs if atom in atoms), 0.0)

    def run(self, rounds: int, most: int) -> list[tuple[tuple[Atom, ...], float]]:
        """The rules so far, with atoms as they were given."""
        for _ in range(rounds):
            if len(self.rules) < most:
                self.round(most)
        return [(tuple(self.atoms[a] for a in rule), c) for rule, c in self.rules]

    def score(self, atoms: frozenset[int]) -> float:
        """F of a sample whose atoms have these ids."""
        return self.default + sum(c for rule, c in self.rules if atoms.issuperset(rule))

    def all_rules(self) -> list[Rule]:
        """Every combination that enough samples have."""
        found = [
            rule
            for size in range(1, self.options.size + 1)
            for rule in combinations(range(len(self.atoms)), size)
        ]
        return [rule for rule in found if self.sums(rule)[2] >= self.options.frequency]
