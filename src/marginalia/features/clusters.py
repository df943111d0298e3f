"""Word clusters: files of words with paths of bits (Brown clusters), and what they add to templates.

A line of a file is `path⇥word` or `path⇥word⇥count`. A template asks for some first bits of a word's path:
`cluster(wsj,4|6|10|all)(word)[0]` is four templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from marginalia import _core
from marginalia.corpus.phrases import Place
from marginalia.corpus.streams import read_lines
from marginalia.errors import DataError, SettingsError
from marginalia.features.lexicons import lexicon_files, lexicon_table
from marginalia.features.program import TemplateProgram, WordFile
from marginalia.features.reading import Line, nearest
from marginalia.features.settings import ANY_CASE

_ARGUMENT = re.compile(r"(?P<name>[^\s(),|\"#]+)\s*,\s*(?P<bits>[^\s(),|\"#]+(?:\s*\|\s*[^\s(),|\"#]+)*)")
_EXPECTED = "a name and numbers of bits, as in cluster(wsj,4|6|all)(word)[0]"
_PATH = re.compile("[01]{1,255}")
_LINE = "expected path, tab, word, or path, tab, word, tab, count"
_MOST_COUNT = 2**63


def cluster_arguments(line: Line, at: int, files: Mapping[str, WordFile]) -> tuple[tuple[str, ...], int]:
    """The arguments `name,bits` that begin there, one for each number of bits, and where they end."""
    found = _ARGUMENT.match(line.text, at)
    if not found:
        shown = line.text[at:].split()
        raise line.error(at, f"found '{shown[0] if shown else ''}', expected {_EXPECTED}.")
    known = [name for name, file in files.items() if not file.labels]
    if found["name"] not in known:
        hint = nearest(found["name"], known)
        raise line.error(at, f"no 'clusters {found['name']} = file' and no option declares it. {hint}")
    bits = [text.strip() for text in found["bits"].split("|")]
    for text in bits:
        try:
            _core.check_path_bits(text)
        except ValueError as error:
            raise line.error(found.start("bits"), f"{error}.") from None
    return tuple(f"{found['name']},{text}" for text in bits), found.end()


def load_word_tables(program: TemplateProgram) -> dict[str, _core.WordTable]:
    """The tables of words in the files that a program names, be they clusters or lexicons."""
    return {
        name: lexicon_table(name, file) if file.labels else _table(name, file)
        for name, file in program.word_files.items()
    }


def _table(name: str, file: WordFile) -> _core.WordTable:
    if not Path(file.path).is_file():
        raise SettingsError(f"clusters '{name}': cannot read {file.path}: there is no such file.")
    paths: list[str] = []
    counts: list[int] = []
    lines: dict[str, int] = {}  # by word
    for number, path, word, count in _entries(file.path):
        if word in lines:
            raise Place(file.path, number).error(
                f"found the word '{word}' again, which line {lines[word]} has: expected each word once"
            )
        lines[word] = number
        paths.append(path)
        counts.append(count)
    if not paths:
        raise SettingsError(f"clusters '{name}': there is no word in {file.path}.")
    try:
        return _core.WordTable(paths, list(lines), np.array(counts, np.uint64), file.any_case)
    except ValueError as error:
        raise DataError(f"clusters '{name}': {error}", file=file.path) from None


def _entries(file: str) -> Iterator[tuple[int, str, str, int]]:
    """Line numbers, paths, words and counts; 0 if there are none."""
    for number, line in read_lines(file):
        text = (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        if not text:
            continue
        path, *rest = text.split("\t")
        if not _PATH.fullmatch(path):
            raise Place(file, number, 1).error(
                f"found '{path[:40]}', expected a path of 1 to 255 bits 0 and 1; {_LINE}"
            )
        if not 1 <= len(rest) <= 2 or not rest[0]:
            raise Place(file, number).error(f"found {len(rest) + 1} fields, {_LINE}")
        yield number, path, rest[0], _count(rest[1], file, number) if len(rest) == 2 else 0


def _count(text: str, file: str, number: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= _MOST_COUNT:
        raise Place(file, number).error(f"found the count '{text[:40]}', expected a whole number; {_LINE}")
    return int(text)


def word_files(clusters: Mapping[str, str], lexicons: Mapping[str, str], case: str) -> dict[str, WordFile]:
    """The files of clusters and lexicons by name, with how words are looked up."""
    for what, paths in (("clusters", clusters), ("lexicon", lexicons)):
        for name in paths:
            if not re.fullmatch(r"[^\s(),|\"#*=]+", name):
                raise SettingsError(
                    f"{what}: found the name '{name}', expected one without blanks and any of "
                    '( ) , | " # * =.'
                )
            if name in clusters and name in lexicons:
                raise SettingsError(f"found clusters and a lexicon '{name}', expected two names.")
    return cased({name: WordFile(path) for name, path in clusters.items()}, case) | lexicon_files(lexicons)


def cased(files: Mapping[str, WordFile], case: str) -> dict[str, WordFile]:
    """The same files, words of clusters looked up as the setting `cluster-case` says."""
    return {
        name: file if file.labels else file._replace(any_case=case == ANY_CASE)
        for name, file in files.items()
    }
