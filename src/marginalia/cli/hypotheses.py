"""How many hypotheses a model with global features looks at: the option of the verbs that use models."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import whole_number

if TYPE_CHECKING:
    from marginalia.decode import Tagger

_MOST = 1_000_000


def add_hypotheses(parser: argparse.ArgumentParser) -> None:
    """`--hypotheses`."""
    parser.add_argument(
        "--hypotheses",
        metavar="N",
        type=whole_number(1, _MOST),
        help="global features: among how many of the best outputs by local ones (default: as trained)",
    )


def with_hypotheses(tagger: Tagger, args: argparse.Namespace) -> Any:
    """The model, looking at so many; an error if it has no global features."""
    return tagger if args.hypotheses is None else tagger.with_hypotheses(args.hypotheses)
