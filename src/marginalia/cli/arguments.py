"""What the verbs' parsers share: looks, common options, values with a meaning, exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from marginalia.cli.reading import READER_OPTIONS
from marginalia.config import MOST_THREADS
from marginalia.errors import SettingsError

OK, FAILED, USAGE, DEFECT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 70, 130, 141  # exit codes

Verbs = Any  # argparse's own type for subparsers is private
Take = Callable[[argparse.Namespace, str], bool]  # what a verb does with a word; False: it has no use for it


class UsageError(SettingsError):
    """The command line itself is incomplete or contradictory."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):  # argparse forgets that verbs are indented more
            longest = max(map(len, action.choices))
            needed = longest + self._current_indent + self._indent_increment
            self._action_max_length = max(self._action_max_length, needed)


formatted = _Formatter


def verb_parser(
    verbs: Verbs, name: str, help: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """The parser of a verb; `examples` end its help. Its `take` is asked about each word behind options."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=formatted,
        allow_abbrev=False,
    )
    parser.set_defaults(take=lambda args, word: False, parser=parser)
    return parser


def taken_as(name: str, nothing: str | None) -> Take:
    """What stands behind options is the argument of this name, if that is still `nothing`."""

    def take(args: argparse.Namespace, word: str) -> bool:
        free: bool = getattr(args, name) == nothing
        if free:
            setattr(args, name, word)
        return free

    return take


def added_to(name: str) -> Take:
    """What stands behind options is one more argument of this name."""

    def take(args: argparse.Namespace, word: str) -> bool:
        getattr(args, name).append(word)
        return True

    return take


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Files of words that templates look at."""
    parser.add_argument(
        "--list", metavar="NAME=FILE", type=name_and_value, action="append", help="a phrase list (gazetteer)"
    )
    parser.add_argument(
        "--clusters",
        metavar="NAME=FILE",
        type=name_and_value,
        action="append",
        help="word clusters (path, tab, word, tab, count)",
    )
    parser.add_argument(
        "--lexicon",
        metavar="NAME=FILE",
        type=name_and_value,
        action="append",
        help="words with the labels that a model gave them (marginalia lexicon)",
    )
    parser.add_argument(
        "--dictionary",
        metavar="FILE",
        action="append",
        help="phrases with labels (phrase, tab, label), to learn how far to trust such a list",
    )


def add_reading(parser: argparse.ArgumentParser, fallback: str, *, unlabelled: bool = False) -> None:
    """Options that say how input is laid out; `fallback` says what happens without them."""
    formats = [
        "conll",
        "conllu",
        "jsonl",
        *(["plain"] if unlabelled else []),
        "segmented",
        "kytea",
        "conllu-text",
        "crfsuite",
    ]
    group = parser.add_argument_group(f"how to read the data (default: {fallback})")
    group.add_argument("--format", metavar="NAME", help=f"{', '.join(formats[:-1])} or {formats[-1]}")
    group.add_argument("--columns", metavar="NAMES", help='names of the columns, such as "word pos chunk"')
    group.add_argument("--label", metavar="NAME", help="the column with the labels")
    for option in READER_OPTIONS:
        takers = ", ".join(name for name in option.formats if name in formats)
        group.add_argument(
            option.flag, metavar=option.metavar, type=option.read, help=f"{takers}: {option.help}"
        )


def add_threads(parser: argparse.ArgumentParser, help: str, default: str = "1") -> None:
    """`--threads`, 1 by default."""
    parser.add_argument(
        "--threads", metavar="N", type=whole_number(1, MOST_THREADS), help=f"{help} (default: {default})"
    )


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A reader of whole numbers within these bounds."""
    return lambda text: _number(text, low, high)


def at_least_one(text: str) -> int:
    """A whole number from 1 to 1024."""
    return _number(text, 1, 1024)


def natural(text: str) -> int:
    """A whole number from 0 on."""
    return _number(text, 0, 2**63 - 1)


def probability(text: str) -> float:
    """A number from 0 to 1."""
    return _real(text, 1)


def percentage(text: str) -> float:
    """A number from 0 to 100."""
    return _real(text, 100)


def _real(text: str, most: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= most:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 0 to {most}")
    return number


def name_and_value(text: str) -> tuple[str, str]:
    """The sides of NAME=VALUE."""
    name, sign, value = text.partition("=")
    if not (name.strip() and sign):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=VALUE")
    return name.strip(), value.strip()


def _number(text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number from {low} to {high}")
    return number
