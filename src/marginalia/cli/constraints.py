"""Constraints on the command line: how they are said, and what is told of those that could not be met."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from marginalia.cli.reading import must_exist

if TYPE_CHECKING:
    from marginalia.decode.constraints import Constraints

_MOST_REPORTED = 10


def add_constraints(parser: argparse.ArgumentParser) -> None:
    """Options for what labels must be like."""
    parser.add_argument(
        "--constrain",
        metavar="WHAT",
        action="append",
        default=[],
        help="what all sentences must be like: 'at most 1 X', 'exactly 1 X', 'X before Y', 'never X then Y', "
        "'only X Y', '3=B-X', '3-5=X', '3!=O'…; may be repeated",
    )
    parser.add_argument(
        "--constraints", metavar="FILE", help="the same, one on a line; '12: 3=B-X' is for sentence 12"
    )


def constraints_of(args: argparse.Namespace) -> Constraints:
    """What was said."""
    from marginalia.decode.constraints import Constraints, read_constraints

    constraints = Constraints.of(args.constrain)
    if args.constraints is None:
        return constraints
    must_exist([args.constraints])
    return read_constraints(args.constraints).and_also(constraints)


class ConstrainedTagging:
    """What labels must be like, and what became of it."""

    def __init__(self, constraints: Constraints, given: str | None) -> None:
        self.constraints, self.given = constraints, given
        self._sentences, self._inexact = 0, 0
        self._broken: list[tuple[int, tuple[str, ...]]] = []

    @property
    def options(self) -> dict[str, Any]:
        """For the tagger."""
        return {"constraints": self.constraints, "given": self.given}

    def count(self, sentences: int, broken: Mapping[int, tuple[str, ...]], inexact: frozenset[int]) -> None:
        """Notes what became of a batch."""
        self._broken += [(self._sentences + s + 1, constraints) for s, constraints in sorted(broken.items())]
        self._inexact += len(inexact)
        self._sentences += sentences

    def report(self) -> None:
        """Says which sentences break constraints, on standard error."""
        for number, constraints in self._broken[:_MOST_REPORTED]:
            _note(f"sentence {number}: no labels satisfy all constraints; broken: {', '.join(constraints)}")
        if len(self._broken) > _MOST_REPORTED:
            _note(f"… and {len(self._broken) - _MOST_REPORTED:,} more of {self._sentences:,} sentences")
        if self._inexact:
            _note(f"{self._inexact:,} sentences may have better labels: not all could be searched")
        for number in sorted(n for n in self.constraints.by_sentence if n > self._sentences):
            _note(f"constraints for sentence {number}: there are {self._sentences:,} sentences")


def _note(text: str) -> None:
    print(f"marginalia: note: {text}", file=sys.stderr)
