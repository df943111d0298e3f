"""How the user says that data are laid out: reader options by format, and pipes that are read twice."""

from __future__ import annotations

import os
import stat
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from marginalia.errors import DataError, SettingsError

if TYPE_CHECKING:
    from marginalia.kinds.reader import ExampleReader

STDIN = "-"


class ReaderOption(NamedTuple):
    """An option of the readers of some formats: its name there, how to read and to explain its value."""

    name: str
    formats: tuple[str, ...]
    metavar: str
    read: Callable[[str], Any]
    help: str

    @property
    def flag(self) -> str:
        """As it is written on the command line."""
        return "--" + self.name.replace("_", "-")


def _separator(text: str) -> str:
    known = {"tab": "\t", "\\t": "\t", "blanks": "blanks"}
    if text not in known and len(text) != 1:
        raise ArgumentTypeError(f"found {text!r}, expected tab or blanks (in csv files: one character)")
    return known.get(text, text)


READER_OPTIONS = (
    ReaderOption("separator", ("conll", "csv"), "tab|blanks|SIGN", _separator, "what is between fields"),
    ReaderOption("comments", ("conll",), "auto|none|PREFIX", str, "how comment lines begin"),
    ReaderOption("tokenizer", ("jsonl", "plain"), "NAME", str, "how text is cut"),
    ReaderOption("misaligned", ("jsonl",), "error|drop|expand", str, "spans that cut tokens"),
    ReaderOption("tag_separator", ("segmented", "kytea"), "SIGN", str, "sign between a word and its tag"),
    ReaderOption("tag_column", ("conllu-text",), "upos|xpos", str, "where tags of words are"),
)


def given_options(source: Mapping[str, Any]) -> dict[str, Any]:
    """The reader options that were given, from parsed arguments or a recipe."""
    return {o.name: source[o.name] for o in READER_OPTIONS if source.get(o.name) is not None}


def check_layout(reader: ExampleReader, format: str, columns: object, options: Mapping[str, Any]) -> None:
    """An error for what files of this format do not take, which would be ignored otherwise."""
    for option in READER_OPTIONS:
        if option.name in options and option.name not in reader.formats[format]:
            takers = " and ".join(name for name, taken in reader.formats.items() if option.name in taken)
            raise SettingsError(
                f"{option.flag} is for {takers or 'no'} files, but these are read as {format}."
            )
    if format == "conll" and options.get("separator") not in (None, "\t", "tab", "blanks"):
        from marginalia.cli.arguments import UsageError

        raise UsageError(f"--separator: found {options['separator']!r}, expected tab or blanks.")
    if columns is not None and format not in reader.named_columns:
        takers = " and ".join(reader.named_columns) or "no"
        raise SettingsError(f"--columns is for {takers} files, but these are read as {format}.")


def reader_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the readers take them."""
    spelled: dict[str, dict[str, str | None]] = {
        "separator": {"blanks": None, "tab": "\t"},
        "comments": {"none": None},
    }
    return {name: spelled.get(name, {}).get(value, value) for name, value in options.items()}


@contextmanager
def seekable(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, with a copy in a temporary file for each that can be read only once (`-`, pipes)."""
    if not any(map(_once, paths)):
        yield list(paths)
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="marginalia-") as folder:
        yield [_copied(path, f"{folder}/{i}") if _once(path) else path for i, path in enumerate(paths)]


def _once(path: str) -> bool:
    try:
        return path == STDIN or stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def _copied(path: str, folder: str) -> str:
    import shutil

    os.mkdir(folder)  # so that the copy can have the name of what it is
    target = os.path.join(folder, "stdin" if path == STDIN else os.path.basename(path))
    try:
        with open(target, "wb") as copy:
            if path == STDIN:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                with open(path, "rb") as stream:
                    shutil.copyfileobj(stream, copy)
    except OSError as error:
        raise DataError(f"cannot read: {error.strerror or error}", file=path) from error
    return target


def must_exist(paths: Sequence[str]) -> None:
    """An error that names the first path which is no readable file, before any work is done."""
    for path in paths:
        if path == STDIN:
            continue
        if os.path.isdir(path):
            raise DataError("found a folder, expected a file", file=path)
        if not os.access(path, os.R_OK):
            why = "no permission to read it" if os.path.exists(path) else "there is no such file"
            raise DataError(f"cannot read: {why}", file=path)
