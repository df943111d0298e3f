"""Files that declare features: a name, what they look for, a sentence for teachers, and examples.

docs/readability.md describes the format. A `feature` is a pattern or a list of words and phrases; a `family`
is a measure with thresholds, each of which is a feature (`words>=20`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...corpus.streams import Source, name_of, read_lines
from ...errors import DataError
from ..paraphrase import Pattern, parse_pattern
from ..paraphrase.lexer import Place
from .measures import MEASURES

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_FIELDS = {
    "feature": ("why", "match", "words", "yes", "no"),
    "family": ("why", "measure", "at-least", "yes", "no"),
}
_REPEATED = {"match", "words", "yes", "no"}


@dataclass(frozen=True)
class Example:
    """A sentence that has a feature, or has not."""

    text: str
    feature: str
    fires: bool
    line: int


@dataclass(frozen=True)
class Feature:
    """A binary feature: what it is called, what a teacher reads of it, and where it is looked for.

    It has patterns, or phrases (each a tuple of forms or lemmas), or a measure that reaches a threshold.
    """

    name: str
    why: str
    patterns: tuple[Pattern, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    measure: str = ""
    at_least: float = 0.0
    examples: tuple[Example, ...] = ()
    line: int = 0


@dataclass
class _Block:
    """The lines of one declaration, by field; each with its line and the column of its text."""

    kind: str
    name: str
    file: str
    line: int
    fields: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def error(self, message: str, line: int | None = None, column: int | None = None) -> DataError:
        return DataError(message, file=self.file, line=line or self.line, column=column)

    def texts(self, name: str) -> list[str]:
        return [text for text, _, _ in self.fields.get(name, [])]

    def one(self, name: str) -> tuple[str, int, int]:
        if name not in self.fields:
            raise self.error(f"found no '{name}' in {self.kind} {self.name}, expected one")
        return self.fields[name][0]


def read_features(source: Source) -> list[Feature]:
    """The features of a file, in their order; a DataError names the place of what is wrong."""
    features = [one for block in _blocks(source) for one in _features_of(block)]
    seen: set[str] = set()
    for one in features:
        if one.name in seen:
            message = f"found '{one.name}' a second time, expected a new name"
            raise DataError(message, file=name_of(source), line=one.line)
        seen.add(one.name)
    return features


def _blocks(source: Source) -> Iterator[_Block]:
    file = name_of(source)
    block: _Block | None = None
    for number, raw in read_lines(source):
        line = raw.rstrip().removeprefix("\ufeff")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line[0].isspace():
            if block is not None:
                yield block
            block = _head(line, file, number)
        elif block is None:
            raise DataError(
                "found an indented line, expected 'feature NAME' or 'family NAME'", file=file, line=number
            )
        else:
            _add(block, line, number)
    if block is not None:
        yield block


def _head(line: str, file: str, number: int) -> _Block:
    kind, _, name = line.partition(" ")
    if kind not in _FIELDS:
        raise DataError(
            f"found '{kind}', expected 'feature NAME' or 'family NAME'", file=file, line=number, column=1
        )
    if not _NAME.fullmatch(name.strip()):
        message = f"found the name '{name.strip()}', expected lower-case letters, digits and hyphens"
        raise DataError(message, file=file, line=number, column=len(kind) + 2)
    return _Block(kind, name.strip(), file, number)


def _add(block: _Block, line: str, number: int) -> None:
    name, _, text = line.strip().partition(" ")
    at = line.index(name) + 1
    if name not in _FIELDS[block.kind]:
        expected = ", ".join(_FIELDS[block.kind])
        raise block.error(f"found '{name}' in a {block.kind}, expected one of {expected}", number, at)
    if not text.strip():
        raise block.error(f"found '{name}' without a text, expected one behind it", number, at)
    if name in block.fields and name not in _REPEATED:
        raise block.error(f"found '{name}' a second time in {block.kind} {block.name}", number, at)
    stripped = text.strip()
    column = line.index(stripped, at - 1 + len(name)) + 1
    block.fields.setdefault(name, []).append((stripped, number, column))


def _features_of(block: _Block) -> Iterable[Feature]:
    why, line, column = block.one("why")
    if not (block.texts("yes") and block.texts("no")):
        raise block.error(
            f"found no 'yes' or no 'no' in {block.kind} {block.name}, expected examples of both"
        )
    if block.kind == "family":
        return _family(block, why)
    if "{" in why:
        raise block.error("found '{' in a sentence of a feature; only families have numbers", line, column)
    return [_feature(block, why)]


def _feature(block: _Block, why: str) -> Feature:
    words = [word.strip() for text in block.texts("words") for word in text.split(",")]
    phrases = tuple(tuple(word.lower().split()) for word in words if word)
    lexicons = {"words": frozenset(" ".join(phrase) for phrase in phrases)} if phrases else {}
    patterns = tuple(
        parse_pattern(text, lexicons, Place(block.file, line, column))
        for text, line, column in block.fields.get("match", [])
    )
    if not patterns and not phrases:
        raise block.error(f"found neither 'match' nor 'words' in feature {block.name}, expected one of them")
    examples = tuple(
        Example(text, block.name, kind == "yes", line)
        for kind in ("yes", "no")
        for text, line, _ in block.fields[kind]
    )
    return Feature(block.name, why, patterns, () if patterns else phrases, examples=examples, line=block.line)


def _family(block: _Block, why: str) -> Iterator[Feature]:
    measure, line, column = block.one("measure")
    if measure not in MEASURES:
        raise block.error(
            f"found the measure '{measure}', expected one of {', '.join(MEASURES)}", line, column
        )
    text, line, column = block.one("at-least")
    thresholds = text.split()
    for threshold in thresholds:
        if not re.fullmatch(r"\d+(\.\d+)?", threshold):
            raise block.error(f"found the threshold '{threshold}', expected a number", line, column)
    for threshold in thresholds:
        name = f"{block.name}>={threshold}"
        examples = tuple(_family_examples(block, thresholds, threshold, name))
        sentence = why.replace("{n}", threshold)
        yield Feature(
            name, sentence, measure=measure, at_least=float(threshold), examples=examples, line=block.line
        )


def _family_examples(block: _Block, thresholds: list[str], threshold: str, name: str) -> Iterator[Example]:
    for kind in ("yes", "no"):
        for text, line, column in block.fields[kind]:
            number, _, sentence = text.partition(" ")
            if number not in thresholds or not sentence.strip():
                message = f"found '{text}', expected a threshold of the family and a sentence"
                raise block.error(message, line, column)
            if number == threshold:
                yield Example(sentence.strip(), name, kind == "yes", line)
