"""CoNLL-U files as documents: every line kept, trees checked, tokens placed in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import DataError
from .conllu_lines import SentenceLines, read_sentence_lines
from .document import Document, Layout, ParsedSentence
from .spacing import Placing
from .streams import Source
from .words import EmptyNode, MultiwordToken, Word

_HEAD, _COMMON = 6, 256
_HEADS: dict[str, int | None] = {"_": None} | {str(i): i for i in range(_COMMON)}
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_BLANK = "\ufeff \t\r\n"


def read_conllu(source: Source, *, strict: bool = True, spaces: bool | None = None) -> Document:
    """A CoNLL-U file as a document. What is no CoNLL-U is a `DataError` with its place.

    `strict`: heads must be those of a tree (where they are given), and `# text` must agree with the forms;
    else the file is taken as it is. `spaces`: whether the language has blanks between words, for
    sentences without `# text`; by default the script decides.
    """
    placing = Placing(spaces)
    sentences = list(_sentences(source, strict, placing))
    return Document(sentences, placing.text())


def iterate_conllu(
    source: Source, *, strict: bool = True, spaces: bool | None = None
) -> Iterator[ParsedSentence]:
    """The sentences of a CoNLL-U file, one after the other; takes the memory of one. As `read_conllu`."""
    return _sentences(source, strict, Placing(spaces, keep_text=False))


def _sentences(source: Source, strict: bool, placing: Placing) -> Iterator[ParsedSentence]:
    for lines in read_sentence_lines(source):
        sentence = _made(lines)
        if strict:
            _check_tree(lines, [word.head for word in sentence.words])
        try:
            placing.place(sentence, strict)
        except DataError as error:
            raise DataError(error.message, file=lines.file, line=error.line) from None
        yield sentence


def _made(lines: SentenceLines) -> ParsedSentence:
    words = []
    for i, row in enumerate(lines.rows):
        _, form, lemma, upos, xpos, feats, head, deprel, deps, misc = row
        number = _HEADS[head] if head in _HEADS else _head(lines, i, head)
        words.append(Word(i + 1, form, lemma, upos, xpos, feats, number, deprel, deps, misc))
    sentence = ParsedSentence(words, comments=lines.comments, line=lines.first_line + lines.places[0])
    if lines.others:
        _add_others(lines, sentence)
    if not lines.canonical:
        sentence.layout = _layout(lines)
    return sentence


def _head(lines: SentenceLines, word: int, head: str) -> int:
    if not _NUMBER.fullmatch(head):
        expected = f"_ or a number from 0 to {len(lines.rows)}"
        shown = head if len(head) <= 20 else f"{head[:20]}…"
        lines.fail(f"found head {shown!r}, expected {expected}", lines.places[word], _HEAD)
    return int(head)


def _add_others(lines: SentenceLines, sentence: ParsedSentence) -> None:
    begun = 0  # where the last multiword token begins
    for _, row in lines.others:
        id_, form, lemma, upos, xpos, feats, head, deprel, deps, misc = row
        if "-" in id_:
            first, last = map(int, id_.split("-"))
            token = MultiwordToken(
                first, last, form, lemma, upos, xpos, feats, head, deprel, deps, misc, sentence=sentence
            )
            sentence.multiword.append(token)
            begun = first
        else:
            after, index = map(int, id_.split("."))
            late = begun == after + 1
            sentence.empty.append(
                EmptyNode(after, index, form, lemma, upos, xpos, feats, head, deprel, deps, misc, late)
            )


def _layout(lines: SentenceLines) -> Layout:
    """What stands around the fields: comments and rows follow one another without a blank line between."""
    count = len(lines.comments) + len(lines.rows) + len(lines.others)
    first = next(i for i, line in enumerate(lines.lines) if line.strip(_BLANK))
    body = lines.lines[first : first + count]
    mark = "\ufeff" if body[0].startswith("\ufeff") and lines.first_line + first == 1 else ""
    breaks = [line[len(line.rstrip("\r\n")) :] for line in body]
    return Layout("".join(lines.lines[:first]) + mark, breaks, "".join(lines.lines[first + count :]))


def _check_tree(lines: SentenceLines, heads: list[int | None]) -> None:
    """An error if the heads that are given are not those of one tree."""
    root: int | None = None
    for i, head in enumerate(heads):
        if head == 0:
            if root is not None:
                _fail(lines, i, f"found a second root, expected one: word {root + 1} has head 0, too")
            root = i
        elif head is not None and head > len(heads):
            _fail(lines, i, f"found head {head}, expected a number from 0 to {len(heads)}")
        elif head == i + 1:
            _fail(lines, i, f"found head {head}, expected another word than itself")
    _check_cycles(lines, heads)


def _check_cycles(lines: SentenceLines, heads: list[int | None]) -> None:
    seen = [0] * len(heads)  # by which walk to the root
    for i in range(len(heads)):
        at = i
        while not seen[at]:
            seen[at] = i + 1
            head = heads[at]
            if not head:
                break
            at = head - 1
            if seen[at] == i + 1:
                _fail(lines, at, f"found a cycle, expected a tree: {_cycle(heads, at)}")


def _cycle(heads: list[int | None], start: int) -> str:
    path, at = [str(start + 1)], (heads[start] or 0) - 1
    while at != start and len(path) < 12:
        path.append(str(at + 1))
        at = (heads[at] or 0) - 1
    return " → ".join([*path, str(start + 1) if at == start else "…"])


def _fail(lines: SentenceLines, word: int, message: str) -> None:
    lines.fail(message, lines.places[word], _HEAD)
