"""Constraints on outputs, as users write them: in words, or as the tuples that the words stand for.

A name is a type of spans (`NP`), which stands for whole spans, or a label (`B-NP`, `O`, a plain tag), which
stands for tokens; `*-NP` is any label of the type. Tokens count from 1. See docs/constraints.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from marginalia.config import suggestion
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import UNTYPED, spans_of, split_label
from marginalia.corpus.streams import Source, name_of, read_lines
from marginalia.errors import DataError, SettingsError

UNKNOWN = "_"  # a label that is not given
ANY_LABEL = "*-"
ANY_TYPE = "-*"
_BLANK = "\0"  # stands for a blank in quotes
_MOST = 10**9


class At(NamedTuple):
    """The tokens `first` to `last` are one span of one of the types, or each has one of the labels; with
    `forbid` they are not, or have not. It may be required by the `phrase` of a dictionary."""

    first: int
    last: int
    names: tuple[str, ...]
    forbid: bool = False
    phrase: str | None = None

    def __str__(self) -> str:
        place = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{place}{'!=' if self.forbid else '='}{'|'.join(map(_quoted, self.names))}"


class Count(NamedTuple):
    """There are at least and at most so many spans of a type, or tokens with a label."""

    name: str
    least: int = 0
    most: int | None = None

    def __str__(self) -> str:
        name = _quoted(self.name)
        if self.most == self.least != 0:
            return f"exactly {self.least} {name}"
        parts = [f"at least {self.least} {name}"] if self.least or self.most is None else []
        return " and ".join([*parts, *([] if self.most is None else [f"at most {self.most} {name}"])])


class Before(NamedTuple):
    """Nothing of the first name comes after anything of the second one."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{_quoted(self.first)} before {_quoted(self.second)}"


class Never(NamedTuple):
    """There is nothing of this name; or nothing of it right before something of the other name."""

    name: str
    then: str | None = None

    def __str__(self) -> str:
        then = "" if self.then is None else f" then {_quoted(self.then)}"
        return f"never {_quoted(self.name)}{then}"


class Only(NamedTuple):
    """All spans have one of these types (`O` is always possible), all tokens one of these labels."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"only {' '.join(map(_quoted, self.names))}"


Constraint = At | Count | Before | Never | Only
Some = TypeVar("Some", bound=Constraint)

_AT = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?(!?=)(\S+)")


def _at(match: re.Match[str]) -> At:
    first, last, sign, names = match.groups()
    return At(int(first), int(last or first), _names(names), forbid=sign == "!=")


_FORMS: tuple[tuple[str, Callable[[re.Match[str]], Constraint]], ...] = (
    (_AT.pattern, _at),
    (r"at most ([0-9]{1,18}) (\S+)", lambda m: Count(_name(m[2]), 0, int(m[1]))),
    (r"at least ([0-9]{1,18}) (\S+)", lambda m: Count(_name(m[2]), int(m[1]))),
    (r"exactly ([0-9]{1,18}) (\S+)", lambda m: Count(_name(m[2]), int(m[1]), int(m[1]))),
    (r"never (\S+) then (\S+)", lambda m: Never(_name(m[1]), _name(m[2]))),
    (r"never (\S+)", lambda m: Never(_name(m[1]))),
    (r"only (\S+(?: \S+)*)", lambda m: Only(tuple(map(_name, m[1].split())))),
    (r"(\S+) before (\S+)", lambda m: Before(_name(m[1]), _name(m[2]))),
)
_EXPECTED = (
    "3=B-NP, 3!=O, 3-5=NP|VP, at most 1 NP, at least 1 NP, exactly 1 NP, NP before VP, never NP, "
    "never NP then VP, or only NP VP"
)


def _joined(text: str) -> str:
    """The text, in which blanks inside of quotes are no blanks until its form is known."""
    return re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(" ", _BLANK), text)


def _name(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return (text[1:-1] if quoted else text).replace(_BLANK, " ")


def _names(text: str) -> tuple[str, ...]:
    return tuple(_name(part) for part in text.split("|"))


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


def parse_constraint(constraint: str | Constraint) -> Constraint:
    """What a text stands for; checked as far as it can be without a model."""
    if isinstance(constraint, str):
        text = " ".join(_joined(constraint).split())
        matches = ((re.fullmatch(form, text, re.IGNORECASE), make) for form, make in _FORMS)
        found = next((make(match) for match, make in matches if match), None)
        if found is None:
            raise SettingsError(f"constraint: found '{constraint}', expected something like {_EXPECTED}.")
        constraint = found
    if not isinstance(constraint, (At, Count, Before, Never, Only)):
        raise SettingsError(
            f"constraint: found {constraint!r}, expected a text, or one of At, Count, Before, Never, Only."
        )
    if isinstance(constraint, At) and not 1 <= constraint.first <= constraint.last <= _MOST:
        raise SettingsError(
            f"constraint: found {constraint}, expected tokens from 1 on (to {_MOST:,}), the first one first."
        )
    if (
        isinstance(constraint, Count)
        and not 0 <= constraint.least <= (_MOST if constraint.most is None else constraint.most) <= _MOST
    ):
        raise SettingsError(
            f"constraint: found {tuple(constraint)}, expected 0 <= least <= most <= {_MOST:,}."
        )
    if isinstance(constraint, (At, Only)) and not all(constraint.names or [""]):
        raise SettingsError(f"constraint: found {constraint}, expected names of types or labels.")
    return constraint


def token_constraints(text: str) -> list[At]:
    """The constraints of a text such as `3=B-NP 4-5=NP`; none if a part of it is none."""
    matches = [_AT.fullmatch(part) for part in _joined(text).split()]
    return [_at(match) for match in matches if match] if all(matches) else []


@dataclass(frozen=True)
class Constraints:
    """What is required of all sentences, and of some of them by their numbers (from 1 on)."""

    everywhere: tuple[Constraint, ...] = ()
    by_sentence: Mapping[int, tuple[Constraint, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, given: ConstraintsLike, by_sentence: Mapping[int, Iterable[str | Constraint]] | None = None
    ) -> Constraints:
        """Constraints from texts, tuples or both."""
        if isinstance(given, Constraints):
            return given
        listed: Iterable[Any] = () if given is None else [given]
        if isinstance(given, Iterable) and not isinstance(given, (str, At, Count, Before, Never, Only)):
            listed = given
        some = {number: tuple(map(parse_constraint, texts)) for number, texts in (by_sentence or {}).items()}
        return cls(tuple(map(parse_constraint, listed)), some)

    def __bool__(self) -> bool:
        return bool(self.everywhere or self.by_sentence)

    def check_numbers(self, sentences: int) -> None:
        """An error if there are constraints on sentences that do not exist."""
        for number, some in self.by_sentence.items():
            if not 1 <= number <= sentences:
                listed = ", ".join(map(str, some))
                raise SettingsError(f"constraint: found {listed} for sentence {number} of {sentences}.")

    def and_also(self, other: Constraints) -> Constraints:
        """Both."""
        numbers = dict.fromkeys([*self.by_sentence, *other.by_sentence])
        some = {n: (*self.by_sentence.get(n, ()), *other.by_sentence.get(n, ())) for n in numbers}
        return Constraints(self.everywhere + other.everywhere, some)


ConstraintsLike = Constraints | str | Constraint | Iterable[str | Constraint] | None


def read_constraints(source: Source) -> Constraints:
    """A file with a constraint on each line; `12: 3=B-NP` is for sentence 12 alone, `#` begins a comment."""
    everywhere: list[Constraint] = []
    some: dict[int, tuple[Constraint, ...]] = {}
    for line, raw in read_lines(source):
        text = raw.removeprefix("\ufeff").strip()
        if not text or text.startswith("#"):
            continue
        try:
            number, constraint = _numbered(text)
            if number is None:
                everywhere.append(parse_constraint(constraint))
            else:
                some[number] = (*some.get(number, ()), parse_constraint(constraint))
        except SettingsError as error:
            raise DataError(str(error), file=name_of(source), line=line) from None
    return Constraints(tuple(everywhere), some)


def _numbered(text: str) -> tuple[int | None, str]:
    match = re.match(r"([0-9]{1,18}):\s+", text)
    if match is None:
        return None, text
    if int(match[1]) == 0:
        raise SettingsError("constraint: found sentence 0, expected a number from 1 on.")
    return int(match[1]), text[match.end() :]


def given(labels: Iterable[str | None]) -> list[At]:
    """The labels that are known of a sentence: None or `_` where none is, `A|B` where one of several is."""
    return [
        At(position, position, tuple(label.split("|")))
        for position, label in enumerate(labels, 1)
        if label and label != UNKNOWN
    ]


class Names:
    """What the names of constraints mean for a model: types of spans, or labels."""

    def __init__(self, labels: Sequence[str], scheme: str | None) -> None:
        self.labels, self.scheme = tuple(labels), scheme
        types = dict.fromkeys(split_label(label)[1] for label in labels if label != "O")
        self.types = {name or UNTYPED: name for name in types} if scheme is not None else {}

    def is_type(self, name: str) -> bool:
        """Whether a name stands for spans."""
        return name in self.types

    def type_of_any(self, name: str) -> str | None:
        """The type of a name like `*-NP`."""
        rest = name.removeprefix(ANY_LABEL)
        return self.types.get(rest) if rest != name else None

    def resolved(self, constraint: Some, what: str = "constraint") -> Some:
        """A checked constraint; what looks like several labels may be one of which `|` is a part."""
        if isinstance(constraint, At) and (whole := "|".join(constraint.names)) in self.labels:
            constraint = constraint._replace(names=(whole,))
        if isinstance(constraint, At):
            expanded = [one for name in constraint.names for one in self._with_any_type(name)]
            constraint = constraint._replace(names=tuple(expanded))
        self._check(constraint, what)
        return constraint

    def _with_any_type(self, name: str) -> list[str]:
        """The labels that a name like `B-*` stands for; others stand for themselves."""
        if name in self.labels or not name.endswith(ANY_TYPE):
            return [name]
        return [label for label in self.labels if label.startswith(name[:-1])] or [name]

    def _check(self, constraint: Constraint, what: str) -> None:
        """An error for names that the model does not know, and for spans mixed with labels."""
        for name in names_of(constraint):
            if not self.is_type(name) and name not in self.labels and self.type_of_any(name) is None:
                known = [*self.types, *self.labels]
                raise SettingsError(
                    f"{what}: found {constraint}: the model does not know '{name}'. {suggestion(name, known)}"
                )
        if isinstance(constraint, At) and len({self.is_type(name) for name in constraint.names}) > 1:
            raise SettingsError(f"{what}: found {constraint}, expected types of spans or labels, not both.")

    def holds(self, constraint: Constraint, labels: Sequence[str]) -> bool:
        """Whether the labels of a sentence, as users see them, satisfy a constraint."""
        if isinstance(constraint, At):
            if constraint.last > len(labels):
                return True
            return (
                self._has(constraint, labels) != constraint.forbid
                if self._is_span(constraint)
                else self._each(constraint, labels)
            )
        if isinstance(constraint, Count):
            found = len(self._firsts(constraint.name, labels))
            return constraint.least <= found <= (found if constraint.most is None else constraint.most)
        if isinstance(constraint, Before):
            first, second = self._firsts(constraint.first, labels), self._firsts(constraint.second, labels)
            return not first or not second or max(first) <= min(second)
        if isinstance(constraint, Only):
            return all(
                any(self._stands_for(name, label) for name in constraint.names)
                or (label == "O" and any(map(self.is_type, constraint.names)))
                for label in labels
            )
        if constraint.then is None:
            return not any(self._stands_for(constraint.name, label) for label in labels)
        ends, firsts = self._ends(constraint.name, labels), set(self._firsts(constraint.then, labels))
        return not any(end + 1 in firsts for end in ends)

    def _is_span(self, constraint: At) -> bool:
        return self.is_type(constraint.names[0])

    def _has(self, constraint: At, labels: Sequence[str]) -> bool:
        spans = set(spans_of(labels, str(self.scheme)))
        return any(
            Span(constraint.first - 1, constraint.last, self.types[name]) in spans
            for name in constraint.names
        )

    def _each(self, constraint: At, labels: Sequence[str]) -> bool:
        inside = labels[constraint.first - 1 : constraint.last]
        return all(
            any(self._stands_for(n, label) for n in constraint.names) != constraint.forbid for label in inside
        )

    def _stands_for(self, name: str, label: str) -> bool:
        """Whether a token with this label is one of the name, or in a span of it."""
        type_ = self.types.get(name, self.type_of_any(name))
        return label == name if type_ is None else label != "O" and split_label(label)[1] == type_

    def _firsts(self, name: str, labels: Sequence[str]) -> list[int]:
        if not self.is_type(name):
            return [t for t, label in enumerate(labels) if self._stands_for(name, label)]
        return [span.start for span in spans_of(labels, str(self.scheme)) if span.label == self.types[name]]

    def _ends(self, name: str, labels: Sequence[str]) -> list[int]:
        if not self.is_type(name):
            return self._firsts(name, labels)
        return [span.end - 1 for span in spans_of(labels, str(self.scheme)) if span.label == self.types[name]]


def names_of(constraint: Constraint) -> Iterator[str]:
    """The names that a constraint speaks of."""
    if isinstance(constraint, (At, Only)):
        yield from constraint.names
    elif isinstance(constraint, Before):
        yield from (constraint.first, constraint.second)
    else:
        yield constraint.name
        if isinstance(constraint, Never) and constraint.then is not None:
            yield constraint.then
