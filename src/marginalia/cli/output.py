"""Writing results: checked before the work begins, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO

from marginalia.cli.arguments import UsageError
from marginalia.corpus.streams import replacing
from marginalia.errors import DataError

STDOUT = "-"


# Options that name a file to write; whatever else a command line names is an input.
_OUTPUTS = ("output", "added", "export", "html", "save", "reliability_plot", "plot", "write_recipe")


def check_output(
    path: str,
    *given: object,
    stdout: bool = True,
    model: bool = False,
    may_replace: str | None = None,
) -> None:
    """An error if a file could not be written there, or would replace an input, before any work is done.

    Inputs are all that the records `given` name (an argparse namespace, a plan), by whatever links, but for
    their outputs; the one that it `may_replace` is the model that is changed. `stdout`: whether `-` is
    standard output, where a `model` never goes.
    """
    if path == STDOUT:
        if model or not stdout:
            raise UsageError("found the output -, expected the name of a file (./- for one of that name).")
        return
    try:
        target = os.path.realpath(path)
        taken = [name for record in given for name in _inputs(vars(record)) if _same_file(name, target)]
    except ValueError as error:
        raise DataError(f"cannot write: {error}", file=repr(path)) from error
    if any(may_replace is None or not _same_file(may_replace, name) for name in taken):
        raise DataError("cannot write: this is one of the inputs", file=path)
    _check_writable(path, target, model)


def _check_writable(path: str, target: str, model: bool) -> None:
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise DataError("cannot write: this is a folder", file=path)
    if not os.path.isdir(folder):
        raise DataError(f"cannot write: there is no folder {folder}", file=path)
    replaced = not os.path.exists(target) or os.path.isfile(target)
    if model and not replaced:
        raise DataError("cannot write a model there: this is not a regular file", file=path)
    if not os.access(folder if replaced else target, os.W_OK):
        raise DataError("cannot write: no permission", file=path)


def _inputs(values: Mapping[str, object]) -> Iterator[str]:
    return (text for name, value in values.items() if name not in _OUTPUTS for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    """All texts in an option's value: names of files, and what cannot be one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _same_file(name: str, target: str) -> bool:
    """Whether a name is that of a file which is there, reached by links or not."""
    with suppress(OSError, ValueError):
        return os.path.isfile(target) and os.path.samefile(name, target)
    return False


@contextmanager
def opened_target(path: str, keep_partial: bool = False) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when all is done, or, if wanted, partly after Ctrl-C."""
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(path, keep_partial) as stream:
        yield stream
