"""What users of an exported program call, and its command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .labels import labels_of, spans_of


class Tagger:
    """A model as data, ready to label sentences."""

    def __init__(self, data: Mapping[str, Any], model: Any) -> None:
        self._data, self._model = data, model
        self.columns: list[str] = data["needed"]

    def tag(self, columns: Mapping[str, Sequence[str]] | Sequence[str]) -> list[str]:
        """A label for each token: of the columns by name, or of the tokens if there is but one column."""
        if isinstance(columns, str):
            raise TypeError("found a string, expected a list of tokens (or a mapping of columns)")
        given = columns if isinstance(columns, Mapping) else {self.columns[0]: columns}
        missing = [name for name in self.columns if name not in given]
        if missing:
            raise ValueError(f"found columns {', '.join(given)}, expected also {', '.join(missing)}")
        sizes = {len(given[name]) for name in self.columns}
        if len(sizes) > 1:
            raise ValueError("found columns of different lengths, expected one value per token in each")
        ids = self._model.best(given, sizes.pop())
        labels = [self._data["labels"][i] for i in ids]
        encoding, scheme = self._data["encoding"], self._data["scheme"]
        if encoding == scheme:
            return labels
        return labels_of(spans_of(labels, encoding), len(labels), scheme)

    def tag_lines(self, lines: Sequence[str]) -> list[str]:
        """Labels for the lines of a sentence in a column file, whose label column may be missing."""
        names = self._data["columns"]
        without = [name for name in names if name != self._data["label"]]
        rows = [line.split("\t") if self._data["tabs"] else line.split() for line in lines]
        for line, row in zip(lines, rows, strict=True):
            if len(row) not in (len(names), len(without)) or len(row) != len(rows[0]):
                raise ValueError(
                    f"found {len(row)} columns in {line!r}, expected {len(names)} ({' '.join(names)}), "
                    f"or {len(without)} without '{self._data['label']}'"
                )
        used = names if len(rows[0]) == len(names) else without
        return self.tag({name: [row[i] for row in rows] for i, name in enumerate(used)})

    def is_comment(self, line: str) -> bool:
        """Whether a line before a sentence is a comment."""
        names = self._data["columns"]
        fields = len(line.split("\t") if self._data["tabs"] else line.split())
        return line.startswith("#") and fields not in (len(names), len(names) - 1)

    def with_label(self, line: str, label: str | None = None) -> str:
        """A line with one more field; what has no label of its own gets that of no span."""
        text = line.rstrip(" \t\r\n")
        separator = "\t" if "\t" in text else " "
        return text + separator + (self._data["filler"] if label is None else label) + line[len(text) :]


def tagged_lines(tagger: Tagger, source: Iterable[str]) -> Iterator[str]:
    """The lines of a column file with one more column: the labels. Blank lines and comments stay."""
    sentence: list[str] = []
    for line in chain(source, [""]):
        mark = line.split()[:1] == ["-DOCSTART-"]
        comment = not sentence and tagger.is_comment(line)
        if line.strip() and not mark and not comment:
            sentence.append(line)
            continue
        labels = tagger.tag_lines([token.strip(" \r\n") for token in sentence]) if sentence else []
        yield from map(tagger.with_label, sentence, labels)
        sentence = []
        yield tagger.with_label(line) if mark else line


def main(tagger: Tagger, arguments: Sequence[str]) -> int:
    """`python FILE.py [INPUT]`: a column file in, the same with labels out."""
    if len(arguments) > 1 or any(word.startswith("-") and word != "-" for word in arguments):
        sys.stderr.write(f"usage: python {sys.argv[0]} [INPUT]\n  columns: {' '.join(tagger.columns)}\n")
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    source = arguments[0] if arguments and arguments[0] != "-" else 0
    try:
        with (
            open(source, encoding="utf-8-sig", newline="\n") as stream,
            open(1, "w", encoding="utf-8", newline="\n", closefd=False) as target,
        ):
            target.writelines(tagged_lines(tagger, stream))
    except BrokenPipeError:
        return 141
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{sys.argv[0]}: error: {error}\n")
        return 1
    return 0
