"""Structural patterns as they are written: what a tree must have at a node, and conditions on variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from marginalia.assist.paraphrase.classes import CLASSES, RELATION_NAMES
from marginalia.assist.paraphrase.lexer import Place, Token, Tokens

NUMERIC = ("size", "length", "depth", "daughters", "distance")
"""Constraints on numbers: words of the phrase, letters, arcs to the root, daughters, words to the head."""

_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*'*")
_MOST_ALTERNATIVES = 64


@dataclass(frozen=True)
class Constraint:
    """Something a node must have: `key operator values`; `@` looks the lemma up in a list."""

    key: str
    operator: str = "has"  # has, lacks, =, !=, ~, !~, <, <=, >, >=, @, !@
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.operator in ("@", "!@"):
            return f"{self.operator}{self.key}"
        if not self.values:
            return self.key if self.operator == "has" else f"!{self.key}"
        return f"{self.key}{self.operator}{'|'.join(map(quoted, self.values))}"


@dataclass(frozen=True)
class NodePattern:
    """A node: its variable, what it must be, and what must stand around it."""

    name: str = ""
    classes: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    arcs: tuple[Arc, ...] = ()

    def __str__(self) -> str:
        text = self.name + "".join(f":{one}" for one in self.classes)
        text += f"/{'|'.join(map(quoted, self.lemmas))}" if self.lemmas else ""
        text += f"[{', '.join(map(str, self.constraints))}]" if self.constraints else ""
        return text + (f"({', '.join(map(str, self.arcs))})" if self.arcs else "")


@dataclass(frozen=True)
class Arc:
    """What must (`one`), may (`?`), must not (`not`) or may repeatedly (`*`, `+`: at least once) be there.

    `axis` is where: "" a daughter, "^" the head, ">>" something below and "^^" something above, reached along
    arcs of the relations.
    """

    relations: tuple[str, ...]
    node: NodePattern
    count: str = "one"
    axis: str = ""

    def __str__(self) -> str:
        sign = self.count if self.count in "?*+" else ""
        relations = "|".join(self.relations)
        return f"{'not ' if self.count == 'not' else ''}{self.axis}{relations}{sign} {self.node}".rstrip()


@dataclass(frozen=True)
class Condition:
    """A condition on variables: `before`, `after`, `next`, `=`, `!=`, `~`, `is`, `not`, `and`, `or`."""

    kind: str
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    node: NodePattern | None = None
    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        if self.kind == "not":
            return f"not ({self.parts[0]})"
        if self.parts:
            return f" {self.kind} ".join(
                f"({part})" if part.kind in ("and", "or") else str(part) for part in self.parts
            )
        if self.kind == "is":
            return f"{self.names[0]} is {self.node}"
        ends = [".".join(end) for end in zip(self.names, self.keys, strict=False)] or self.names
        return f" {self.kind} ".join(ends)


@dataclass(frozen=True)
class PatternText:
    """A pattern as it was read: alternatives, each a node, and a condition."""

    alternatives: tuple[NodePattern, ...]
    condition: Condition | None = None

    def __str__(self) -> str:
        where = "" if self.condition is None else f" where {self.condition}"
        return " | ".join(map(str, self.alternatives)) + where


@dataclass
class PatternReader:
    """Reads patterns from tokens."""

    tokens: Tokens
    names: set[str] = field(default_factory=set)

    def pattern(self) -> PatternText:
        """A whole pattern, with what it says after `where`."""
        alternatives = list(self.node())
        while self.tokens.sign("|"):
            alternatives += self.node()
        condition = self.condition() if self.tokens.word("where") else None
        return PatternText(tuple(alternatives), condition)

    def node(self) -> list[NodePattern]:
        """A node; several, if it has alternatives in braces."""
        start = self.tokens.peek
        node = self.head()
        if not self.tokens.sign("("):
            if self.tokens.peek is start:
                raise self.tokens.expected("a node, such as V:verb, /be or N[Number=Plur]")
            return [node]
        return [replace(node, arcs=arcs) for arcs in self._arcs(")")]

    def head(self) -> NodePattern:
        """A node without its arcs."""
        tokens, name = self.tokens, ""
        if tokens.peek.kind == "word" and _NAME.fullmatch(tokens.peek.text):
            name = tokens.take().text
            self.names.add(name)
        classes = []
        while tokens.sign(":"):
            classes.append(self._class())
            while tokens.peek.text == "|" and _upper(tokens.second):
                tokens.take()
                classes[-1] += f"|{self._class()}"
        lemmas = self._words() if tokens.sign("/") else ()
        constraints = self._constraints() if tokens.sign("[") else ()
        return NodePattern(name, tuple(classes), lemmas, constraints)

    def _class(self) -> str:
        token = self.tokens.peek
        word = self.tokens.expect_word("a class, such as verb or NOUN")
        if not word.isupper() and word not in CLASSES:
            known = ", ".join(sorted(CLASSES))
            raise self.tokens.expected(f"a part of speech such as NOUN, or one of {known}", token)
        return word

    def _words(self) -> tuple[str, ...]:
        """Words with `|` between them."""
        words = [self.tokens.expect_word("a word")]
        while self.tokens.peek.text == "|" and self.tokens.touching() and self.tokens.second.kind != "sign":
            self.tokens.take()
            words.append(self.tokens.expect_word("a word"))
        return tuple(words)

    def _constraints(self) -> tuple[Constraint, ...]:
        found = [self._constraint()]
        while self.tokens.expect_sign(",", "]") == ",":
            found.append(self._constraint())
        return tuple(found)

    def _constraint(self) -> Constraint:
        tokens = self.tokens
        without = tokens.sign("!") is not None
        if tokens.sign("@"):
            return Constraint(tokens.expect_word("the name of a list"), "!@" if without else "@")
        key = tokens.expect_word("a feature, such as lemma, Number or size")
        if without:
            return Constraint(key, "lacks")
        token = tokens.peek
        if (operator := tokens.sign("=", "!=", "~", "!~", "<", "<=", ">", ">=")) is None:
            return Constraint(key)
        words = self._words()
        if operator[0] in "<>" or key in NUMERIC:
            if key not in NUMERIC:
                raise tokens.error(f"found '{key}' before {operator}, expected {', '.join(NUMERIC)}", token)
            if not all(word.isdecimal() for word in words):
                raise tokens.error(f"found '{words[0]}', expected a number", token)
        if "~" in operator:
            self._check_expressions(words, token)
        return Constraint(key, operator, words)

    def _check_expressions(self, words: tuple[str, ...], token: Token) -> None:
        for word in words:
            try:
                re.compile(word)
            except re.error as error:
                raise self.tokens.error(f"found the regular expression '{word}': {error}", token) from None

    def _arcs(self, end: str) -> list[tuple[Arc, ...]]:
        """Arcs up to a closing bracket; each tuple is one way to read them."""
        ways: list[tuple[Arc, ...]] = [()]
        while True:
            more = self._group() if self.tokens.sign("{") else self._arc()
            ways = [(*way, *arcs) for way in ways for arcs in more]
            if len(ways) > _MOST_ALTERNATIVES:
                raise self.tokens.error(f"found more than {_MOST_ALTERNATIVES} alternatives, expected fewer")
            if end == "}":
                if self.tokens.peek.text in ("|", "}"):
                    return ways
                self.tokens.expect_sign(",", "|", "}")
            elif self.tokens.expect_sign(",", end) == end:
                return ways

    def _group(self) -> list[tuple[Arc, ...]]:
        ways = self._arcs("}")
        while self.tokens.expect_sign("|", "}") == "|":
            ways += self._arcs("}")
        return ways

    def _arc(self) -> list[tuple[Arc, ...]]:
        tokens = self.tokens
        without = tokens.word("not") is not None
        axis = tokens.sign("^", "^^", ">>") or ""
        relations = [self._relation()]
        while tokens.sign("|"):
            relations.append(self._relation())
        token = tokens.peek
        sign = tokens.sign("?", "*", "+") if tokens.touching() else None
        if sign and without:
            raise tokens.expected("a node: 'not' says already that there is none", token)
        if sign in ("*", "+") and axis:
            raise tokens.expected("a node: only daughters can be repeated", token)
        empty = tokens.peek.kind == "sign" and tokens.peek.text in ",)}|"
        nodes = [NodePattern()] if empty else self.node()
        if sign in ("*", "+") and any(node.arcs for node in nodes):
            raise tokens.error("found a repeated node with nodes around it, expected a node alone", token)
        count = "not" if without else sign or "one"
        if count == "not" and len(nodes) > 1:  # none of them
            return [tuple(Arc(tuple(relations), node, count, axis) for node in nodes)]
        return [(Arc(tuple(relations), node, count, axis),) for node in nodes]

    def _relation(self) -> str:
        exact = "=" if self.tokens.sign("=") else ""
        token = self.tokens.peek
        name = self.tokens.expect_word("a relation, such as nsubj or modifier")
        if self.tokens.peek.text == ":" and self.tokens.touching():
            self.tokens.take()
            name += f":{self.tokens.expect_word('a subtype, such as pass')}"
        if name.partition(":")[0] not in RELATION_NAMES:
            raise self.tokens.expected("a relation of universal dependencies, or a class of them", token)
        return exact + name

    def condition(self) -> Condition:
        """What follows `where`."""
        return self._joined("or", lambda: self._joined("and", self._single))

    def _joined(self, word: str, read: Callable[[], Condition]) -> Condition:
        parts = [read()]
        while self.tokens.word(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else Condition(word, parts=tuple(parts))

    def _single(self) -> Condition:
        if self.tokens.word("not"):
            return Condition("not", parts=(self._single(),))
        if self.tokens.sign("("):
            inside = self.condition()
            self.tokens.expect_sign(")")
            return inside
        first, key = self._variable()
        if key is not None:
            kind = self.tokens.expect_sign("=", "!=", "~")
            second, other = self._variable()
            return Condition(kind, (first, second), (key, other or key))
        if self.tokens.word("is"):
            return self._is(first)
        if (order := self.tokens.word("before", "after", "next")) is None:
            raise self.tokens.expected("before, after, next or is")
        return Condition(order, (first, self._variable()[0]))

    def _is(self, name: str) -> Condition:
        without = self.tokens.word("not") is not None
        names, self.names = self.names, set()
        ways = [Condition("is", (name,), node=node) for node in self.node()]
        self.names = names
        found = ways[0] if len(ways) == 1 else Condition("or", parts=tuple(ways))
        return Condition("not", parts=(found,)) if without else found

    def _variable(self) -> tuple[str, str | None]:
        token = self.tokens.peek
        name = self.tokens.expect_word("a variable")
        if name not in self.names:
            known = ", ".join(sorted(self.names)) or "none are there"
            raise self.tokens.expected(f"a variable of the pattern ({known})", token)
        return name, self.tokens.expect_word("a feature") if self.tokens.sign(".") else None


def _upper(token: Token) -> bool:
    return token.kind == "word" and token.text.isupper() and len(token.text) > 2


def quoted(word: str) -> str:
    """A word as it can be read again, in quotes if it must."""
    if re.fullmatch(r"[^\s()\[\]{},|/:=~<>@?*+^!.;\"]+", word) and "->" not in word:
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_pattern(text: str, place: Place | None = None) -> PatternText:
    """A pattern of its text; a DataError names the place of what is wrong."""
    reader = PatternReader(Tokens(text, place))
    pattern = reader.pattern()
    reader.tokens.finish()
    return pattern
