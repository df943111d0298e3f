"""From columns of text to the keys of features, and from keys to weights."""

from __future__ import annotations

import sys
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .text import Attributes, Characters

PRIME = 2**61 - 1
BASE = 0x0F3A9C5D71B8E246 % PRIME
WORD = 2**64 - 1

Hashed = tuple[int, int]  # hash of a text, BASE to the power of its length
Data = Mapping[str, Any]


def numbers(text: str, kind: str) -> Any:
    """An array from its base64 text; `kind` is a type code of `array`."""
    found = array(kind, b64decode(text))
    if sys.byteorder == "big":
        found.byteswap()
    return found


def hash_of(text: str) -> Hashed:
    """Hashes of texts can be joined: see `joined`."""
    value, power = 0, 1
    for byte in text.encode():
        value = (value * BASE + byte + 1) % PRIME
        power = power * BASE % PRIME
    return value, power


def joined(left: Hashed, right: Hashed) -> Hashed:
    """The hash of two texts, one behind the other."""
    return (left[0] * right[1] + right[0]) % PRIME, left[1] * right[1] % PRIME


def scrambled(x: int) -> int:
    """The bits of a number mixed well."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def key_of(name: int, edge: bool) -> int:
    """The key of a feature from the hash of its name."""
    return scrambled((name * 2 + edge + 0x9E3779B97F4A7C15) & WORD) or 1


def outside(values: Sequence[Hashed], distance: int) -> Hashed:
    """The value that is used `distance` tokens outside of the sentence."""
    return values[min(distance, len(values)) - 1]


class Phrases:
    """A list of phrases as hashes of token sequences; tokens are compared in lower case."""

    ENDS, CONTINUES = 1, 2

    def __init__(self, states: Sequence[int], characters: Characters) -> None:
        self._flags = {state & ~3: state & 3 for state in reversed(states)}
        self._lower = characters.lower

    def matches(self, tokens: Sequence[str], begin: int) -> Iterator[int]:
        """The last tokens of all phrases that begin at a token."""
        state, flags, at = 0, self.CONTINUES, begin
        while at < len(tokens) and flags & self.CONTINUES:
            mixed = (state | 3) + hash_of(self._lower(tokens[at]))[0]
            state = scrambled(mixed & WORD) & ~3
            flags = self._flags.get(state, 0)
            if flags & self.ENDS:
                yield at
            at += 1

    def longest(self, tokens: Sequence[str]) -> list[str | None]:
        """Longest matches from left to right: "B" at the first token, "I" inside."""
        out: list[str | None] = [None] * len(tokens)
        begin = 0
        while begin < len(tokens):
            end = max(self.matches(tokens, begin), default=begin - 1) + 1
            for at in range(begin, end):
                out[at] = "B" if at == begin else "I"
            begin = max(end, begin + 1)
        return out


class Words:
    """Words with the paths of their clusters or their entries in a lexicon, as hashes."""

    SPELLINGS = 0x9E3779B97F4A7C15

    def __init__(self, table: Data, characters: Characters) -> None:
        texts = table["texts"].split("\n")
        self._texts = {entry >> 16: texts[entry & 0xFFFF] for entry in numbers(table["entries"], "Q")}
        self._any_case, self._lower = table["any_case"], characters.lower

    def cluster(self, bits: str, word: str) -> str | None:
        """So many first bits (or "all") of the path of a word; None for unknown words."""
        path = self._text(word)
        return path if path is None or bits == "all" else path[: int(bits)]

    def lexicon(self, asked: str, word: str) -> str | None:
        """What a word's entry says of a label, or of all its labels; None for unknown words."""
        how, _, label = asked.partition(",")
        fields = (self._text(word) or "").split("\t")
        labels, bands = fields[::2], fields[1::2]
        if how in ("set", "best") or label not in labels:
            return {"set": "|".join(sorted(labels)), "best": labels[0]}.get(how) or None
        at = labels.index(label)
        return {"candidate": "1", "band": bands[at], "rank": str(at + 1)}[how] if bands else None

    def _text(self, word: str) -> str | None:
        found = self._texts.get(scrambled(hash_of(word)[0]) >> 16)
        if found is not None or not self._any_case:
            return found
        hashed = hash_of(self._lower(word))[0]
        found = self._texts.get(scrambled(hashed + self.SPELLINGS & WORD) >> 16)
        return self._texts.get(scrambled(hashed) >> 16) if found is None else found


class Values:
    """What the attributes of a model say of the tokens of a sentence, as hashes."""

    def __init__(self, data: Data) -> None:
        characters = Characters(
            numbers(data["ranges"], "I"), numbers(data["lowers"], "i"), numbers(data["widths"], "i")
        )
        self.attributes: list[list[str]] = data["attributes"]
        self._words = {name: Words(table, characters) for name, table in data["words"].items()}
        known = Attributes(characters)
        self._functions: dict[int, Callable[[str], str | None]] = {
            i: self._looked_up(name, argument) or known.function(name, argument)
            for i, (name, argument, _) in enumerate(self.attributes)
            if name not in ("first", "list")
        }
        self.lists = {
            name: Phrases(numbers(states, "Q"), characters) for name, states in data["lists"].items()
        }
        self._known: dict[tuple[int, str], Hashed | None] = {}

    def _looked_up(self, function: str, argument: str) -> Callable[[str], str | None] | None:
        name, _, asked = argument.partition(",")
        if function not in ("cluster", "lexicon"):
            return None
        return partial(getattr(self._words[name], function), asked)

    def of(self, columns: Mapping[str, Sequence[str]], length: int) -> list[list[Hashed | None]]:
        """[attribute][token], None where there is no value."""
        return [self._row(i, columns, length) for i in range(len(self.attributes))]

    def _row(self, i: int, columns: Mapping[str, Sequence[str]], length: int) -> list[Hashed | None]:
        name, argument, column = self.attributes[i]
        if name == "first":
            return [hash_of("1") if at == 0 else None for at in range(length)]
        if name == "list":
            found = self.lists[argument].longest(columns[column])
            return [None if value is None else hash_of(value) for value in found]
        return [self._value(i, text) for text in columns[column]]

    def _value(self, i: int, text: str) -> Hashed | None:
        if (i, text) not in self._known:
            if len(self._known) > 1 << 18:  # memory stays bounded however much is tagged
                self._known.clear()
            value = self._functions[i](text)
            self._known[i, text] = None if value is None else hash_of(value)
        return self._known[i, text]


class Weights:
    """The weights of features, by key."""

    def __init__(self, data: Data) -> None:
        self._short = data["short_keys"]
        keys = numbers(data["keys"], "I" if self._short else "Q")
        self._rows = {key: row for row, key in enumerate(keys)}
        ends = numbers(data["row_end"], "I")
        outputs = numbers(data["outputs"], {1: "B", 2: "H", 4: "I"}[data["output_bytes"]])
        weights = self._numbers(data)
        begins = [0, *ends][: len(ends)]
        self._cells = [
            tuple(zip(outputs[b:e], weights[b:e], strict=True)) for b, e in zip(begins, ends, strict=True)
        ]
        self._edges = frozenset(numbers(data["edges"], "I"))

    def _numbers(self, data: Data) -> Any:
        bits, text = data["weight_bits"], data["weights"]
        if bits == 32:
            return numbers(text, "f")
        extra = numbers(data["codebook"], "f")
        if bits == 16:  # to the nearest number of 32 bits, as all weights are
            return array("f", [code * extra[0] for code in numbers(text, "h")])
        return array("f", [extra[code] for code in numbers(text, "B")])

    def find(self, key: int, edge: bool = False) -> Sequence[tuple[int, float]] | None:
        """The outputs of a feature with their weights."""
        row = self._rows.get((key >> 32 or 1) if self._short else key)
        return None if row is None or (row in self._edges) != edge else self._cells[row]
