"""Dictionaries on the command line: options, and files that change while a verb is at work."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from marginalia.cli.arguments import UsageError
from marginalia.cli.progress import Notes
from marginalia.cli.reading import must_exist
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.corpus.batches import Batch, Layout
    from marginalia.decode import Tagger

T = TypeVar("T")

_RETRY = 1.0  # seconds before a file that could not be read is tried again


class Named(NamedTuple):
    """A dictionary as it is named on the command line."""

    mode: str
    path: str


def add_dictionary(parser: argparse.ArgumentParser, *, reload: bool = False) -> None:
    """Options that give a model a dictionary."""
    group = parser.add_argument_group("dictionaries (docs/dictionaries.md)")
    group.add_argument(
        "--dictionary",
        metavar="[hard=|soft=]FILE",
        type=_named,
        action="append",
        default=[],
        help="phrases with labels (phrase, tab, label). hard (the default): they get these labels. "
        "soft: they are features of a model that was trained with a dictionary. May be repeated",
    )
    group.add_argument("--ignore-case", action="store_true", help="hard: whatever the case of phrases")
    group.add_argument("--dictionary-column", metavar="NAME", help="hard: where (default: the first column)")
    if reload:
        group.add_argument("--reload", action="store_true", help="read files again when they have changed")


def _named(text: str) -> Named:
    for mode in ("hard", "soft"):
        if text.startswith(f"{mode}=") and len(text) > len(mode) + 1:
            return Named(mode, text[len(mode) + 1 :])
    return Named("hard", text)


def with_dictionaries(tagger: Tagger, args: argparse.Namespace, layout: Layout | None = None) -> Tagger:
    """The model with the dictionaries that were named; their phrases are cut as the text is."""
    from marginalia.corpus.tokenizers import tokenizer_of

    _check(args)
    must_exist([named.path for named in args.dictionary])
    cut = None if layout is None else tokenizer_of(layout.format, layout.options)
    for mode in ("soft", "hard"):
        paths = [named.path for named in args.dictionary if named.mode == mode]
        hard = {"column": args.dictionary_column, "ignore_case": args.ignore_case} if mode == "hard" else {}
        if paths:
            tagger = tagger.with_dictionary(*paths, mode=mode, tokenizer=cut, **hard)
    return tagger


def _check(args: argparse.Namespace) -> None:
    """An error for what would be of no effect."""
    modes = {named.mode for named in args.dictionary}
    if getattr(args, "reload", False) and not modes:
        raise UsageError("--reload is for --dictionary FILE.")
    for given, flag in ((args.ignore_case, "--ignore-case"), (args.dictionary_column, "--dictionary-column")):
        if given and "hard" not in modes:
            raise UsageError(f"{flag} is for hard dictionaries.")


def reloading(
    tagger: Tagger,
    batches: Iterable[Batch],
    threads: int,
    answers: Callable[[Tagger, Iterable[Batch]], Iterator[T]],
) -> Iterator[T]:
    """What a model answers, batch by batch, each with the dictionaries as their files are when it is read."""
    from marginalia.decode.threads import in_order

    newest = Newest(tagger)
    work: Callable[[Any], T] = lambda pair: next(answers(pair[0], [pair[1]]))  # noqa: E731
    return in_order(work, ((newest(), batch) for batch in batches), threads)


class Newest:
    """A model with its dictionaries as their files are now; a file that is not good is told, and the model
    goes on with what it had."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger, self._told, self._after = tagger, "", 0.0

    def __call__(self) -> Tagger:
        """The model at this moment."""
        if time.monotonic() < self._after:
            return self._tagger
        try:
            self._tagger, self._told = self._tagger.reloaded(), ""
        except DataError as error:
            self._after = time.monotonic() + _RETRY
            if str(error) != self._told:
                Notes(sys.stderr).say(f"marginalia: {error}; the dictionary stays as it was")
            self._told = str(error)
        return self._tagger
