"""Signs and words of patterns and rules, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from marginalia.errors import DataError

_TOKEN = re.compile(
    r"(?P<blank>\s+)|\"(?P<string>(?:[^\"\\]|\\.)*)\"|(?P<open_string>\")"
    r"|(?P<sign>->|\|\||\^\^|>>|!=|!~|<=|>=|[()\[\]{},|/:=~<>@?*+^!.;])"
    r"|(?P<word>(?:(?!->)[^\s()\[\]{},|/:=~<>@?*+^!.;\"])+)"
)


class Token(NamedTuple):
    """A word, a string in quotes or a sign; `start` and `end` count characters of the text it is of."""

    kind: str  # word, string, sign, end
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Place:
    """Where a text begins in a file, so that errors in it can name the line and column."""

    file: str | None = None
    line: int = 1
    column: int = 1

    def error(self, text: str, offset: int, message: str) -> DataError:
        """An error at a character of the text."""
        above = text.count("\n", 0, offset)
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        return DataError(
            message,
            file=self.file,
            line=self.line + above,
            column=column + (self.column - 1 if above == 0 else 0),
        )


class Tokens:
    """Tokens of a text, read from left to right."""

    def __init__(self, text: str, place: Place | None = None) -> None:
        self.text, self.place = text, place or Place()
        self._tokens = list(self._read())
        self._next = 0

    def _read(self) -> list[Token]:
        tokens, end = [], len(self.text)
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup or ""
            if kind == "open_string":
                raise self.place.error(
                    self.text, match.start(), 'found " without its end, expected another "'
                )
            if kind == "string":
                inside = re.sub(r"\\(.)", r"\1", match["string"])
                tokens.append(Token(kind, inside, match.start(), match.end()))
            elif kind != "blank":
                tokens.append(Token(kind, match[0], match.start(), match.end()))
        return [*tokens, Token("end", "", end, end)]

    @property
    def peek(self) -> Token:
        """The next token, which stays the next one."""
        return self._tokens[self._next]

    @property
    def second(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token."""
        token = self.peek
        if token.kind != "end":
            self._next += 1
        return token

    def sign(self, *signs: str) -> str | None:
        """The next token, if it is one of these signs."""
        if self.peek.kind == "sign" and self.peek.text in signs:
            return self.take().text
        return None

    def word(self, *words: str) -> str | None:
        """The next token, if it is one of these words (or any word, if none are named)."""
        if self.peek.kind == "word" and (not words or self.peek.text in words):
            return self.take().text
        return None

    def touching(self) -> bool:
        """Whether the next token follows the last one without a blank."""
        return self._next > 0 and self._tokens[self._next - 1].end == self.peek.start

    def expect_sign(self, *signs: str) -> str:
        """The next token, which must be one of these signs."""
        if (token := self.sign(*signs)) is None:
            raise self.expected(" or ".join(f"'{sign}'" for sign in signs))
        return token

    def expect_word(self, what: str) -> str:
        """The next token, which must be a word, or a string in quotes."""
        if self.peek.kind not in ("word", "string"):
            raise self.expected(what)
        return self.take().text

    def expected(self, what: str, at: Token | None = None) -> DataError:
        """An error at the next token, or at another one."""
        token = self.peek if at is None else at
        found = "the end" if token.kind == "end" else f"'{token.text}'"
        return self.error(f"found {found}, expected {what}", token)

    def error(self, message: str, at: Token | None = None) -> DataError:
        """An error with a message of its own."""
        return self.place.error(self.text, (self.peek if at is None else at).start, message)

    def finish(self) -> None:
        """Nothing may follow."""
        if self.peek.kind != "end":
            raise self.expected("the end")
