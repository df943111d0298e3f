"""Parsed text, kept by paragraph: what was looked at before is not parsed again."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from marginalia.assist.languages import LANGUAGES
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence
    from marginalia.decode.pipeline import Pipeline

_NO_TEXT = re.compile("[\0-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_MOST_CHARACTERS = 2_000_000


def cleaned(text: str) -> str:
    """A text of the same length in which all is text: control characters and halves of surrogate pairs become
    replacement characters."""
    return _NO_TEXT.sub("\ufffd", text)


class Parses:
    """Parsed paragraphs of a language, as many as fit into a number of characters. Many threads may ask."""

    def __init__(self, pipeline: Pipeline, most_characters: int = _MOST_CHARACTERS) -> None:
        self._pipeline, self._most = pipeline, most_characters
        self._kept: OrderedDict[str, list[ParsedSentence]] = OrderedDict()
        self._size, self._lock = 0, threading.Lock()

    def parse(self, texts: Sequence[str]) -> list[list[ParsedSentence]]:
        """The sentences of each text; nobody may change them."""
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        documents = self._pipeline.parse_all(new)
        found |= {text: document.sentences for text, document in zip(new, documents, strict=True)}
        self._keep(found)
        return [found[text] for text in texts]

    def _keep(self, found: dict[str, list[ParsedSentence]]) -> None:
        with self._lock:
            for text, sentences in found.items():
                if text not in self._kept:
                    self._size += len(text)
                self._kept[text] = sentences
                self._kept.move_to_end(text)
            while self._size > self._most and self._kept:
                self._size -= len(self._kept.popitem(last=False)[0])


@cache
def parses(language: str) -> Parses:
    """Those of the built-in pipeline of a language."""
    from marginalia.kinds import load

    if language not in LANGUAGES:
        raise SettingsError(f"language: found '{language}', expected {' or '.join(LANGUAGES)}.")
    return Parses(load(language))
