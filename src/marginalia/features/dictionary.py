"""Dictionaries of users: phrases with labels, read from files that may change while they are in use."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from marginalia import _core
from marginalia.corpus.phrases import (
    Phrase,
    Place,
    checked_labels,
    checked_phrase,
    read_entries,
    write_entries,
)
from marginalia.corpus.schemes import UNTYPED
from marginalia.corpus.tokenizers import tokenizer_named
from marginalia.errors import DataError

Entries = Mapping[Any, Any]  # phrase, or its tokens: label, or several
PathName = str | os.PathLike[str]
OUTSIDE = "O"  # the label of what is no span


class _Stamp(NamedTuple):
    """A file as it was when it was read."""

    path: str
    state: tuple[int, int, int] | None  # None: it was not there

    @classmethod
    def of(cls, path: str) -> _Stamp:
        try:
            found = os.stat(path)
        except OSError:
            return cls(path, None)
        return cls(path, (found.st_mtime_ns, found.st_size, found.st_ino))


class Dictionary(Mapping[Phrase, tuple[str, ...]]):
    """Phrases and their labels. A dictionary never changes: `|`, `without` and `reloaded` give others.

    A phrase is a text, which is cut into tokens as the text of a model is, or a sequence of tokens. It may
    have several labels, of which any will do, and none ("") for models whose spans have no labels. Neither
    the order of phrases nor that of dictionaries matters.
    """

    def __init__(self, entries: Entries | Iterable[tuple[Any, Any]] = ()) -> None:
        self._labels: dict[Phrase, tuple[str, ...]] = {}
        self._places: dict[str, Place] = {}
        self._stamps: tuple[_Stamp, ...] = ()
        self._made: dict[Any, Any] = {}  # for a way of cutting phrases: what finds them
        self._alone: dict[str, tuple[str]] = {}  # most phrases have one label, which all of them share
        for phrase, labels in entries.items() if isinstance(entries, Mapping) else entries:
            for label in checked_labels(labels):
                self._add(checked_phrase(phrase), label, Place())

    def _add(self, phrase: Phrase, label: str, place: tuple[str | None, int | None, int | None]) -> None:
        known = self._labels.get(phrase)
        if known is None:
            self._labels[phrase] = self._alone.setdefault(label, (label,))
        elif label not in known:
            self._labels[phrase] = tuple(sorted((*known, label)))
        if label not in self._places:
            self._places[label] = Place(*place)

    @classmethod
    def read(cls, *paths: PathName) -> Dictionary:
        """The dictionary of one or more files: lines of phrase, tab, label; or, if the name ends in `.jsonl`,
        objects with `phrase` (a text or a list of tokens) and `label` (a text or a list)."""
        made = cls()
        names = [os.fspath(path) for path in paths]
        # Before they are read: what comes later is a change.
        made._stamps = tuple(_Stamp.of(name) for name in names)
        for name in names:
            for phrase, label, place in read_entries(name):
                made._add(phrase, label, place)
        return made

    def reloaded(self) -> Dictionary:
        """The dictionary as its files are now: itself if they have not changed. Raises DataError if one of
        them cannot be read; this dictionary is as good as before, then."""
        if all(_Stamp.of(stamp.path) == stamp for stamp in self._stamps):
            return self
        return Dictionary.read(*(stamp.path for stamp in self._stamps))

    def save(self, path: PathName) -> None:
        """Write a file for `read`; an old file of that name survives any failure, and whoever reads it while
        it is written sees it whole."""
        write_entries(path, ((p, label) for p, labels in self._labels.items() for label in labels))

    def __or__(self, other: Dictionary | Entries) -> Dictionary:
        """The phrases of both; one that is in both has the labels of both."""
        return united([self, other if isinstance(other, Dictionary) else Dictionary(other)])

    def without(self, *phrases: str | Sequence[str]) -> Dictionary:
        """All but these phrases; a KeyError if one is not there."""
        gone = {checked_phrase(phrase) for phrase in phrases}
        if missing := gone - self._labels.keys():
            raise KeyError(min(map(str, missing)))
        return united([self], gone)

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that phrases have, sorted."""
        return tuple(sorted(self._places))

    @property
    def list_names(self) -> tuple[str, ...]:
        """What its phrase lists are called, each once."""
        return tuple(dict.fromkeys(label or UNTYPED for label in self.labels))

    def place_of(self, label: str) -> Place:
        """Where a label stood first."""
        return self._places.get(label, Place())

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self._labels)

    def __getitem__(self, phrase: str | Sequence[str]) -> tuple[str, ...]:
        return self._labels[checked_phrase(phrase)]

    def __contains__(self, phrase: object) -> bool:
        try:
            return checked_phrase(phrase) in self._labels
        except DataError:
            return False

    def __repr__(self) -> str:
        return f"<Dictionary of {len(self)} phrases: {', '.join(self.labels[:20])}>"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": {}}

    def finder(self, tokenizer: str, ignore_case: bool) -> PhraseFinder:
        """What finds the phrases in text whose tokens are cut like this; made once."""
        wanted = (tokenizer, ignore_case)
        if wanted not in self._made:
            self._made[wanted] = PhraseFinder(self, tokenizer, ignore_case)
        found: PhraseFinder = self._made[wanted]
        return found

    def most_tokens(self, tokenizer: str) -> int:
        """How many tokens the longest phrase has, cut like this; counted once."""
        wanted = ("most tokens", tokenizer)
        if wanted not in self._made:
            cut = _cutter(tokenizer)
            sizes = (len(p.split() if isinstance(p, str) else p) for p in map(cut, self._labels))
            self._made[wanted] = max(sizes, default=0)
        found: int = self._made[wanted]
        return found

    def lists(self, tokenizer: str) -> dict[str, _core.PhraseSet]:
        """The phrases of each label as a phrase list for templates; made once."""
        if tokenizer not in self._made:
            cut = _cutter(tokenizer)
            listed: dict[str, list[Phrase]] = {name: [] for name in self.list_names}
            for phrase, labels in self._labels.items():
                tokens = cut(phrase)
                for label in labels:
                    listed[label or UNTYPED].append(tokens)
            self._made[tokenizer] = {label: _core.PhraseSet(phrases) for label, phrases in listed.items()}
        lists: dict[str, _core.PhraseSet] = self._made[tokenizer]
        return lists


class PhraseFinder:
    """Finds the phrases of a dictionary in tables of tokens."""

    def __init__(self, dictionary: Dictionary, tokenizer: str, ignore_case: bool) -> None:
        cut = _cutter(tokenizer)
        phrases = [cut(phrase) for phrase in dictionary]
        self._book = _core.PhraseBook(phrases, ignore_case)
        self._labels = list(dictionary.values())
        self.also_outside: str | None = None  # a phrase that has the label O and others
        for i, number in enumerate(self._book.numbers.tolist()):
            labels = self._labels[i]
            if number != i:  # phrases that are cut alike, or differ in case only
                labels = self._labels[number] = tuple(sorted({*self._labels[number], *labels}))
            if len(labels) > 1 and OUTSIDE in labels:
                found = phrases[number]
                self.also_outside = found if isinstance(found, str) else " ".join(found)

    @property
    def bytes(self) -> int:
        """Memory of what looks phrases up."""
        size: int = self._book.bytes
        return size

    def longest(self, table: _core.TokenTable, column: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """First token, end and labels of the matches in a table, none of which overlap: the longest are
        chosen first, of equally long ones that further left."""
        begins, ends, phrases = (found.tolist() for found in self._book.longest(table, column))
        return [(b, e, self._labels[p]) for b, e, p in zip(begins, ends, phrases, strict=True)]


def united(dictionaries: Sequence[Dictionary], without: Collection[Phrase] = ()) -> Dictionary:
    """The phrases of all of them, but for some."""
    made = Dictionary()
    for dictionary in dictionaries:
        for phrase, labels in dictionary.items():
            for label in labels if phrase not in without else ():
                made._add(phrase, label, dictionary.place_of(label))
    return made


def dictionary_of(given: Dictionary | PathName | Entries) -> Dictionary:
    """A dictionary from what users may give for one: itself, a file, or phrases with their labels."""
    if isinstance(given, Dictionary):
        return given
    return Dictionary.read(given) if isinstance(given, (str, os.PathLike)) else Dictionary(given)


def _cutter(tokenizer: str) -> Callable[[Phrase], Phrase]:
    """From a phrase to its tokens, or to a text with blanks between them."""
    cuts = tokenizer_named(tokenizer)
    if tokenizer == "whitespace":
        return lambda phrase: phrase

    def cut(phrase: Phrase) -> Phrase:
        if not isinstance(phrase, str):
            return phrase
        return tuple(phrase[start:end] for start, end in cuts(phrase))

    return cut
