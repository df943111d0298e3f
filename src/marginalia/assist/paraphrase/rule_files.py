"""Rule files as they are written: statements, families, examples; nothing is compiled yet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from marginalia.assist.paraphrase.lexer import Place
from marginalia.assist.words.packed import read_packed
from marginalia.corpus.guarded import read_at_most
from marginalia.corpus.streams import open_source, read_numbered
from marginalia.errors import DataError

_LARGEST = 1 << 24  # bytes of a file
_KEYWORDS = ("language", "family", "why", "rule", "tree", "words", "where", "fill", "list", "macro", "+", "-")
PACKED = "easier"
"""The kind of packed lists that rules of words are read from."""
_STATEMENT = re.compile(r"\s*(\+|-|[a-z]+)(?:\s+|$)")
_NAME = re.compile(r"[^\s:]+")
_FROM = re.compile(r"([^\s:]+)\s+from\s+(\S+)\s*")
_MACRO = re.compile(r"@([A-Za-z][\w-]*)")


@dataclass(frozen=True)
class Example:
    """A sentence, and what a rule must give for it; None if it must not fire."""

    before: str
    after: str | None
    place: Place


@dataclass
class RuleSource:
    """A rule as it stands in a file: `layer` is rule, tree or words."""

    name: str
    layer: str
    left: str
    right: str
    place: Place
    right_place: Place
    where: list[tuple[str, Place]] = field(default_factory=list)
    fill: dict[str, str] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What the compiled form of the rule depends on."""
        where = " and ".join(f"({text})" for text, _ in self.where)
        fill = ", ".join(f"{name}={words}" for name, words in sorted(self.fill.items()))
        text = " ".join(f"{self.left} -> {self.right}".split())
        return text + (f" where {where}" if where else "") + (f" fill {fill}" if fill else "")


@dataclass
class Family:
    """Rules that do the same thing, with the sentence that says why it helps a reader."""

    name: str
    why: str
    place: Place
    rules: list[RuleSource] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)


@dataclass
class RuleFile:
    """All that a file says."""

    path: str
    language: str = ""
    families: list[Family] = field(default_factory=list)
    lists: dict[str, frozenset[str]] = field(default_factory=dict)
    pairs: dict[str, dict[str, str]] = field(default_factory=dict)  # of lists with "word: other word"
    macros: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Statement:
    keyword: str
    text: str
    place: Place  # of the text


def read_rule_file(path: str | os.PathLike[str]) -> RuleFile:
    """A rule file; a DataError names the place of what is wrong."""
    name = os.fspath(path)
    try:
        with open_source(name) as stream:
            text = read_at_most(stream, _LARGEST, name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"found a byte that is no UTF-8 ({error.reason})", file=name) from None
    return read_rules(text, name)


def read_rules(text: str, path: str = "rules") -> RuleFile:
    """The rules of a text."""
    reader = _Reader(RuleFile(path))
    for statement in _statements(text, path):
        reader.take(statement)
    if not reader.file.language:
        raise DataError("found no language, expected a line such as 'language en'", file=path, line=1)
    return reader.file


def _statements(text: str, path: str) -> Iterator[_Statement]:
    """Statements, with lines that belong to the one before put to it."""
    current: _Statement | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _STATEMENT.match(line)
        if match is not None and match[1] in _KEYWORDS:
            if current is not None:
                yield current
            current = _Statement(match[1], line[match.end() :], Place(path, number, match.end() + 1))
        elif current is None or (match is not None and match.start(1) == 0):
            found = line.split()[0]
            expected = f"one of {', '.join(_KEYWORDS)}, or a line that goes on, with a blank before it"
            raise DataError(
                f"found '{found}', expected {expected}",
                file=path,
                line=number,
                column=1,
            )
        else:
            missing = number - current.place.line - current.text.count("\n")
            current = _Statement(current.keyword, current.text + "\n" * missing + line, current.place)
    if current is not None:
        yield current


class _Reader:
    """Puts statements where they belong."""

    def __init__(self, file: RuleFile) -> None:
        self.file = file
        self._names: dict[str, Place] = {}

    def take(self, statement: _Statement) -> None:
        if statement.keyword in ("+", "-"):
            self._example(statement)
        elif statement.keyword in ("rule", "tree", "words"):
            self._rule(statement)
        else:
            getattr(self, f"_{statement.keyword}")(statement)

    def _language(self, statement: _Statement) -> None:
        if self.file.language:
            raise _error(statement, f"found a second language, expected one ({self.file.language})")
        self.file.language = _one_word(statement, "a language such as en or ja")

    def _family(self, statement: _Statement) -> None:
        name = _one_word(statement, "the name of a family, without blanks")
        if any(family.name == name for family in self.file.families):
            raise _error(statement, f"found the family '{name}' a second time, expected another name")
        self.file.families.append(Family(name, "", statement.place))

    def _why(self, statement: _Statement) -> None:
        family = self._current(statement)
        if family.why:
            raise _error(statement, f"found a second why of the family '{family.name}', expected one")
        family.why = " ".join(statement.text.split())

    def _rule(self, statement: _Statement) -> None:
        family = self._current(statement)
        if not family.why:
            raise _error(
                statement, f"found a rule, expected a line 'why …' of the family '{family.name}' first"
            )
        if statement.keyword == "words" and (listed := _FROM.fullmatch(statement.text)):
            self._words_from(listed[1], listed[2], family, statement)
            return
        text = statement.text
        match = _NAME.match(text)
        if match is None or text[match.end() : match.end() + 1] != ":":
            raise _error(statement, "found a rule without a name, expected 'NAME: left -> right'")
        if match[0] in self._names and statement.keyword != "words":
            line = self._names[match[0]].line
            raise _error(statement, f"found the name '{match[0]}' of line {line} again, expected another one")
        self._names[match[0]] = statement.place
        left, arrow, right = text[match.end() + 1 :].partition("->")
        if not arrow or not left.strip() or not right.strip():
            raise _error(statement, "found no two sides, expected 'left -> right'", match.end() + 1)
        start = match.end() + 1
        place, right_place = _moved(statement, start), _moved(statement, start + len(left) + 2)
        left, right = self._expanded(left, statement), self._expanded(right, statement)
        family.rules.append(RuleSource(match[0], statement.keyword, left, right, place, right_place))

    def _words_from(self, name: str, file: str, family: Family, statement: _Statement) -> None:
        """A rule of words for each line of a packed list: left and right side, with a tab between them."""
        place = statement.place
        for line in read_packed(str(Path(self.file.path).parent / file), PACKED):
            left, right, *_ = line.split("\t")
            family.rules.append(RuleSource(name, "words", left, right, place, place))

    def _where(self, statement: _Statement) -> None:
        text = self._expanded(statement.text, statement)
        self._last_rule(statement).where.append((text, statement.place))

    def _fill(self, statement: _Statement) -> None:
        rule = self._last_rule(statement)
        for part in statement.text.split(","):
            name, equals, words = part.partition("=")
            if not equals or not name.strip() or not words.strip():
                raise _error(statement, f"found '{part.strip()}', expected VARIABLE=words")
            rule.fill[name.strip()] = words.strip()

    def _list(self, statement: _Statement) -> None:
        name, words = _assignment(statement, ("=", "from"))
        if statement.text.split()[1] == "from":
            path = Path(self.file.path).parent / words
            try:
                lines: Iterable[str] = [line for _, line in read_numbered(str(path), "list")]
            except DataError as error:
                raise _error(statement, error.message) from None
        else:
            lines = words.split(",")
        pairs = [w.lower().partition(":") for w in lines if w.strip() and w[0] != "#"]
        self.file.lists[name] = frozenset(word.strip() for word, _, _ in pairs)
        self.file.pairs[name] = {word.strip(): other.strip() for word, colon, other in pairs if colon}

    def _macro(self, statement: _Statement) -> None:
        name, text = _assignment(statement, ("=",))
        self.file.macros[name] = self._expanded(text, statement)

    def _example(self, statement: _Statement) -> None:
        family = self._current(statement)
        before, arrow, after = statement.text.partition("->")
        if statement.keyword == "+" and (not arrow or not after.strip()):
            raise _error(statement, "found no '->', expected '+ before -> after'")
        result = after.strip() if statement.keyword == "+" else None
        text = before.strip() if statement.keyword == "+" else statement.text.strip()
        if not text:
            raise _error(statement, "found no sentence, expected one")
        if statement.keyword == "+" and not family.rules:
            raise _error(
                statement, "found an example above all rules, expected it below the rule that gives it"
            )
        owner = family.rules[-1].examples if family.rules else family.examples
        owner.append(Example(text, result, statement.place))

    def _expanded(self, text: str, statement: _Statement) -> str:
        """The text with macros in it replaced; `[@name]` is a list."""

        def body(match: re.Match[str]) -> str:
            if text.rfind("[", 0, match.start()) > text.rfind("]", 0, match.start()):
                return match[0]  # a list, in the constraints of a node
            if match[1] not in self.file.macros:
                known = ", ".join(sorted(self.file.macros)) or "none are there"
                message = f"found the macro '{match[0]}', expected one that is declared above ({known})"
                raise _error(statement, message)
            return self.file.macros[match[1]]

        return _MACRO.sub(body, text)

    def _current(self, statement: _Statement) -> Family:
        if not self.file.families:
            raise _error(statement, f"found '{statement.keyword}', expected a line 'family NAME' first")
        return self.file.families[-1]

    def _last_rule(self, statement: _Statement) -> RuleSource:
        family = self._current(statement)
        if not family.rules:
            raise _error(statement, f"found '{statement.keyword}', expected a rule above it")
        return family.rules[-1]


def _moved(statement: _Statement, offset: int) -> Place:
    """The place of a character of a statement's text."""
    above = statement.text.count("\n", 0, offset)
    start = statement.text.rfind("\n", 0, offset) + 1
    column = offset - start + (statement.place.column if above == 0 else 1)
    return Place(statement.place.file, statement.place.line + above, column)


def _error(statement: _Statement, message: str, offset: int = 0) -> DataError:
    place = _moved(statement, offset)
    return DataError(message, file=place.file, line=place.line, column=place.column)


def _one_word(statement: _Statement, what: str) -> str:
    words = statement.text.split()
    if len(words) != 1:
        raise _error(statement, f"found '{statement.text.strip()}', expected {what}")
    return words[0]


def _assignment(statement: _Statement, signs: tuple[str, ...]) -> tuple[str, str]:
    parts = statement.text.split(maxsplit=2)
    if len(parts) < 3 or parts[1] not in signs:
        raise _error(statement, f"found '{statement.text.strip()}', expected NAME {' or '.join(signs)} …")
    return parts[0], parts[2]
