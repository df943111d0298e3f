"""A text with its sentences, words and trees, as CoNLL-U has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import DataError
from .words import EmptyNode, MultiwordToken, Row, Token, Word

if TYPE_CHECKING:
    import os


@dataclass(slots=True)
class Layout:
    """What a file had between its fields: the text before the first line, line breaks, blank lines behind."""

    before: str
    breaks: list[str]
    behind: str


@dataclass(slots=True)
class ParsedSentence:
    """A sentence of a document: words, multiword tokens, empty nodes and comments.

    `comments` are whole lines (`# sent_id = 1`). `text` is the part of the document's text from the character
    `start` on. `line` is where the first word was read.
    """

    words: list[Word]
    multiword: list[MultiwordToken] = field(default_factory=list)
    empty: list[EmptyNode] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str = ""
    start: int = 0
    line: int = field(default=0, compare=False)
    layout: Layout | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for part in (self.words, self.multiword):
            for one in part:
                one.sentence = self

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    @property
    def end(self) -> int:
        """Where in the document's text the sentence ends."""
        return self.start + len(self.text)

    @property
    def tokens(self) -> list[Token]:
        """What stands in the text, from left to right: multiword tokens, and the words outside of them."""
        if not self.multiword:
            return list(self.words)
        tokens: list[Token] = []
        done = 0
        for token in self.multiword:
            tokens += [*self.words[done : token.first - 1], token]
            done = token.last
        return tokens + self.words[done:]

    @property
    def rows(self) -> list[Row]:
        """All lines but comments, in their order."""
        if not self.multiword and not self.empty:
            return list(self.words)
        keyed: list[tuple[tuple[int, int, int], Row]] = [((word.id, 0, 0), word) for word in self.words]
        keyed += [((token.first - 1, 2, 0), token) for token in self.multiword]
        keyed += [((node.after, 3 if node.late else 1, node.index), node) for node in self.empty]
        return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]

    @property
    def root(self) -> Word | None:
        """The first word with the head 0."""
        return next((word for word in self.words if word.head == 0), None)

    def child_ids(self) -> list[list[int]]:
        """For 0 and each word, the ids of the words that depend on it; heads out of range are left out."""
        children: list[list[int]] = [[] for _ in range(len(self.words) + 1)]
        for word in self.words:
            if word.head is not None and word.head < len(children):
                children[word.head].append(word.id)
        return children

    def comment(self, key: str) -> str | None:
        """The value of the comment `# key = value`, "" if it has none; None if there is no such comment."""
        pattern = re.compile(rf"#\s*{re.escape(key)}\s*(?:=\s*(.*?)\s*)?$", re.DOTALL)
        matches = (pattern.match(comment) for comment in self.comments)
        return next((match[1] or "" for match in matches if match), None)

    def set_comment(self, key: str, value: str) -> None:
        """Put `# key = value` in the place of the old comment, or behind all; white space is blanks."""
        line = f"# {key} = {' '.join(value.split())}"
        pattern = re.compile(rf"#\s*{re.escape(key)}\s*(=|$)")
        for i, comment in enumerate(self.comments):
            if pattern.match(comment):
                self.comments[i] = line
                return
        self.comments.append(line)

    @property
    def sent_id(self) -> str | None:
        """The sentence's name."""
        return self.comment("sent_id")

    @property
    def newdoc(self) -> str | None:
        """The id of the document that begins here, "" if it has none; None if none begins."""
        return self._beginning("newdoc")

    @property
    def newpar(self) -> str | None:
        """The id of the paragraph that begins here, "" if it has none; None if none begins."""
        return self._beginning("newpar")

    def _beginning(self, key: str) -> str | None:
        named = self.comment(f"{key} id")
        return self.comment(key) if named is None else named

    def to_conllu(self) -> str:
        """The sentence as CoNLL-U, with the line breaks that it was read with."""
        lines = [*self.comments, *map(self._line, self.rows)]
        if self.layout is None:
            return "\n".join(lines) + "\n\n"
        breaks = self.layout.breaks
        if len(breaks) != len(lines):
            breaks = [breaks[0] or "\n"] * len(lines)
        body = "".join(line + break_ for line, break_ in zip(lines, breaks, strict=True))
        return f"{self.layout.before}{body}{self.layout.behind}"

    def to_tree_text(self) -> str:
        """The tree for a terminal: a word on a line, dependents indented."""
        from .tree_text import tree_text

        return tree_text(self)

    def to_svg(self) -> str:
        """The tree as arcs over words."""
        from .tree_svg import document_svg

        return document_svg([self])

    def _line(self, row: Row) -> str:
        fields = row.fields()
        line = "\t".join(fields)
        if "" in fields or line.count("\t") != 9 or "\n" in line or line.endswith("\r"):
            raise DataError(f"fields {fields!r} cannot be written to CoNLL-U", line=self.line or None)
        return line


class Document:
    """Sentences, and the text that they are of; words know their characters in it.

    `read_conllu` reads one, `Document.made` makes one of sentences that are not placed in a text yet.
    """

    def __init__(self, sentences: Iterable[ParsedSentence], text: str) -> None:
        self.sentences = list(sentences)
        self.text = text

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[ParsedSentence]:
        return iter(self.sentences)

    def __repr__(self) -> str:
        return f"<Document: {len(self.sentences)} sentences, {len(self.words)} words>"

    @cached_property
    def words(self) -> list[Word]:
        """The words of all sentences; made once, when first asked for."""
        return [word for sentence in self.sentences for word in sentence.words]

    @classmethod
    def made(cls, sentences: Iterable[ParsedSentence], *, spaces: bool | None = None) -> Document:
        """A document of sentences with comments and MISC, its text and offsets made of them.

        `spaces` says whether the language puts blanks between words; by default the script decides.
        """
        from .spacing import Placing

        placing = Placing(spaces)
        placed = [placing.place(sentence) for sentence in sentences]
        return cls(placed, placing.text())

    def mark_spaces(self, *, ranges: bool = False, start: int = 0) -> None:
        """Write into MISC how the text has white space between tokens, so that a reader gets the same text.

        `SpaceAfter=No`, and `SpacesAfter` where it is not as expected; with `ranges` `TokenRange=start:end`,
        counted from `start` on for a text that is a part of a longer one.
        """
        from .spacing import mark_spaces

        mark_spaces(self, ranges, start)

    def to_conllu(self) -> str:
        """The document as CoNLL-U; one that was read and not changed has the bytes of its file."""
        return "".join(sentence.to_conllu() for sentence in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """The text and all sentences as plain values, for `json.dumps`."""
        from .rendering import sentence_json

        return {"text": self.text, "sentences": [sentence_json(sentence) for sentence in self.sentences]}

    def to_tree_text(self) -> str:
        """The trees for a terminal."""
        return "\n".join(sentence.to_tree_text() for sentence in self.sentences)

    def to_svg(self) -> str:
        """One picture of all trees."""
        from .tree_svg import document_svg

        return document_svg(self.sentences)

    def to_html(self, title: str = "Trees") -> str:
        """One page of all trees that needs nothing else."""
        from .tree_html import html_parts

        return "".join(html_parts(self.sentences, title))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a CoNLL-U file, whole or not at all; gzip by suffix."""
        import os

        from .streams import replacing

        with replacing(os.fspath(path)) as stream:
            for sentence in self.sentences:
                stream.write(sentence.to_conllu().encode())
