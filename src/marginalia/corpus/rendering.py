"""Documents as texts of several kinds: CoNLL-U, JSON, trees for the terminal, pictures, a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import SettingsError
from .document import Document, ParsedSentence
from .words import EmptyNode, MultiwordToken, Word

Renderer = Callable[[Iterable[ParsedSentence]], Iterator[str]]


def render(parts: Iterable[Document | ParsedSentence], to: str) -> Iterator[str]:
    """Documents or sentences in the form `to`, a name of `RENDERERS`, in pieces to be written one by one.

    All but `svg`, a picture whose size must be known first, need the memory of one part.
    """
    if to not in RENDERERS:
        raise SettingsError(f"found the form {to!r}, expected one of {', '.join(RENDERERS)}")
    sentences = (one for part in parts for one in ([part] if isinstance(part, ParsedSentence) else part))
    return RENDERERS[to](sentences)


def sentence_json(sentence: ParsedSentence) -> dict[str, Any]:
    """A sentence as plain values; columns that are `_` are None."""
    return {
        "sent_id": sentence.sent_id,
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "newdoc": sentence.newdoc,
        "newpar": sentence.newpar,
        "comments": sentence.comments,
        "words": [_word_json(word) for word in sentence.words],
        "multiword": [_multiword_json(token) for token in sentence.multiword],
        "empty": [_empty_json(node) for node in sentence.empty],
    }


def _word_json(word: Word) -> dict[str, Any]:
    placed = {"head": word.head, "start": word.start, "end": word.end}
    sure = {"confidence": word.confidence} if word.confidence else {}
    return {"id": word.id} | _columns(word) | placed | sure


def _multiword_json(token: MultiwordToken) -> dict[str, Any]:
    return {
        "first": token.first,
        "last": token.last,
        "form": token.form,
        "feats": token.features,
        "misc": _given(token.misc),
        "start": token.start,
        "end": token.end,
    }


def _empty_json(node: EmptyNode) -> dict[str, Any]:
    return {"id": f"{node.after}.{node.index}"} | _columns(node)


def _columns(row: Word | EmptyNode) -> dict[str, Any]:
    named = {name: _given(getattr(row, name)) for name in ("lemma", "upos", "xpos", "deprel", "deps", "misc")}
    return {"form": row.form} | named | {"feats": row.features}


def _given(value: str) -> str | None:
    return None if value == "_" else value


def _conllu(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    return (sentence.to_conllu() for sentence in sentences)


def _json(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """One object, a sentence on a line."""
    yield '{"sentences": ['
    for number, sentence in enumerate(sentences):
        yield f"{',' if number else ''}\n{json.dumps(sentence_json(sentence), ensure_ascii=False)}"
    yield "\n]}\n"


def _tree(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    from .tree_text import tree_text

    for number, sentence in enumerate(sentences):
        yield "\n" * bool(number) + tree_text(sentence)


def _svg(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    from .tree_svg import document_svg

    yield document_svg(sentences)


def _html(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    from .tree_html import html_parts

    return html_parts(sentences)


RENDERERS: dict[str, Renderer] = {
    "conllu": _conllu,
    "json": _json,
    "tree": _tree,
    "svg": _svg,
    "html": _html,
}
"""Names of the forms that a document can be written in, and what writes them."""
