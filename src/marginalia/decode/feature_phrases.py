"""Features and transitions in words: what a template saw, and where."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import Term
from marginalia.decode.global_phrases import global_words
from marginalia.features.compiling import extracted, shown
from marginalia.features.program import (
    LENGTHS,
    OF_PREVIOUS,
    Attribute,
    Template,
    TemplateProgram,
    Value,
)
from marginalia.model import SavedModel, phrases_of

# What a function makes of a column, as the subject of a sentence: {} is the column with its place.
_SUBJECTS: dict[str, str] = {
    "column": "{}",
    "lower": "{} in lower case",
    "width": "{} in usual width",
    "nfkc": "{} in normal form",
    "prefix": "the prefix of {n} of {}",
    "suffix": "the suffix of {n} of {}",
    "lower-prefix": "the prefix of {n}, in lower case, of {}",
    "lower-suffix": "the suffix of {n}, in lower case, of {}",
    "shape": "the shape of {}",
    "collapsed-shape": "the collapsed shape of {}",
    "char-class": "the character class of {}",
    "match": "what '{a}' matches in {}",
    "cluster": "the cluster ({a}) of {}",
    "lexicon": "the lexicon ({a}) of {}",
    "sentence-form": "the form of the sentence of {}",
    "sentence-number": "the number of the sentence of {}",
    "document-first": "the first word of the document",
    "document-case": "how the document writes {}",
    "elsewhere-before": "neighbour {a} before {} elsewhere in the document",
    "elsewhere-after": "neighbour {a} behind {} elsewhere in the document",
    "elsewhere-list": "the place of {} in a phrase of the list '{a}' elsewhere in the document",
    "first-use-before": "what stands before {} where the document has it first",
    "first-use-after": "what stands behind {} where the document has it first",
    "run-before": "what stands before {} in the document's longest name with it",
    "run-after": "what stands behind {} in the document's longest name with it",
    "run-place": "the place of {} in the document's longest name with it",
    "lower-match": "what '{a}' matches in {}, in lower case,",
}
NOTHING_BEFORE = "_B-1"  # kNothingBefore of core/features/segment_extractor.hpp
_COUNTED = ("", "", "two ", "three ", "four ", "five ")
_LIST = {"B": "begins", "I": "goes on with", "1": "is"}


class SeenBlock:
    """The sentences of a block, as a model sees them."""

    def __init__(self, saved: SavedModel, block: Block) -> None:
        templates = extracted(saved.program)
        self.shown = cache(lambda number: shown(templates[number]))  # a template as it is written
        self.phrasing = cache(lambda number: Phrasing.of(saved.program, templates[number]))
        self.tokens = cache(block.readable)  # of a column
        self.phrases = cache(lambda: phrases_of(saved))


class Seen:
    """One of them: its tokens are those from `first` to `last` (exclusive)."""

    def __init__(self, block: SeenBlock, first: int, last: int) -> None:
        self.length, self.shown, self.phrasing = last - first, block.shown, block.phrasing
        self._block, self._place = block, slice(first, last)
        self._marks = cache(self._matches)

    def phrase(self, of: Attribute, at: int) -> str:
        """The phrase of a list that a token belongs to."""
        tokens, marks = self._marks(of.argument, of.column)
        begin = max(t for t in range(at + 1) if marks[t] == 1)
        end = next((t for t in range(begin + 1, len(marks)) if marks[t] != 2), len(marks))
        return " ".join(tokens[begin:end])

    def _matches(self, name: str, column: str) -> tuple[list[str], list[int]]:
        tokens = self._block.tokens(column)[self._place]
        return tokens, self._block.phrases()[name].matches(tokens).tolist()


def words_of(program: TemplateProgram, chosen: Term | None, other: Term | None, seen: Seen) -> str:
    """A term that one or two outputs of a sentence have, as a person would say it."""
    term = chosen or other
    assert term is not None, "one of the outputs has the term"
    if term.kind == "feature" and term.template is None:
        return f"the attribute '{term.feature}'" + ("" if term.times == 1 else f" is {term.times:g}")
    if term.kind == "rule":
        return "the rule " + " and ".join(term.texts)
    if term.kind == "sigmoid":
        return "log sigmoid(5 F) in place of F, the sum of the rules"
    if term.kind == "global":
        return global_words(term.feature, [0.0 if one is None else one.times for one in (chosen, other)])
    if term.template is None:
        phrases = [_constant(side) for side in (chosen, other) if side is not None]
        return phrases[0] if len(phrases) == 1 else f"{phrases[0]}, not {_arrows(other)}"
    phrasing = seen.phrasing(term.template)
    phrases = [_value(program, phrase, term.texts[phrase.piece], term, seen) for phrase in phrasing.phrases]
    return " and ".join(phrases) or phrasing.nothing


def _arrows(term: Term | None) -> str:
    return " → ".join(term.labels) if term is not None else ""


def _constant(term: Term) -> str:
    arrow = _arrows(term)
    if term.kind == "normaliser":
        return f"what else could follow {arrow}" if arrow else "what else could come first"
    if term.feature in ("start", "end"):
        return f"the sentence {term.feature}s with {arrow}"
    before = "^ → " if term.feature == "trigram" and len(term.labels) == 2 else ""
    return f"transition {before}{arrow}"


def _nothing(template: Template) -> str:
    plain = {"node": "the plain label", "item": "the plain class"}
    return plain.get(template.scope, "the template has no values")


class Phrase(NamedTuple):
    """What is said of a value of a template, as far as it is the same for all terms."""

    piece: int  # of the template
    value: Value
    place: str
    say: Callable[[str], str]  # the value's text in words


class Phrasing(NamedTuple):
    """What is said of a template: made once, for terms are many."""

    phrases: list[Phrase]
    nothing: str  # of one without values

    @classmethod
    def of(cls, program: TemplateProgram, template: Template) -> Phrasing:
        """That of one of a program's templates."""
        values = [(i, piece) for i, piece in enumerate(template.pieces) if isinstance(piece, Value)]
        phrases = [_phrase(program, i, value) for i, value in values]
        if template.scope == "before" and phrases:  # said of the segment before
            first = phrases[0]
            phrases[0] = first._replace(say=lambda text: f"what follows: {first.say(text)}")
        return cls(phrases, _nothing(template))


def _phrase(program: TemplateProgram, piece: int, value: Value) -> Phrase:
    if value.anchor in LENGTHS:
        which = "the segment" if value.anchor == "length" else "the segment before"
        return Phrase(
            piece,
            value,
            "",
            lambda text: (
                f"there is no {which.removeprefix('the ')}"
                if text == NOTHING_BEFORE
                else f"{which} has {text} token{'' if text == '1' else 's'}"
            ),
        )
    attribute = program.attributes[value.attribute]
    place = _place(attribute.column or "token", value)
    predicate = _PREDICATES.get(attribute.function)
    if predicate is not None:
        return Phrase(piece, value, place, lambda text: predicate(place, attribute, text))
    subject = _SUBJECTS.get(attribute.function, attribute.function + " of {}")
    letters = f"{attribute.argument} letter{'' if attribute.argument == '1' else 's'}"
    of = subject.format(place, n=letters, a=attribute.argument)
    return Phrase(piece, value, place, lambda text: f"{of} is '{text}'")


def _value(program: TemplateProgram, phrase: Phrase, text: str, term: Term, seen: Seen) -> str:
    value = phrase.value
    if value.anchor in LENGTHS:
        return phrase.say(text)
    if value.anchor in OF_PREVIOUS:
        return "there is no segment before" if text == NOTHING_BEFORE else phrase.say(text)
    attribute = program.attributes[value.attribute]
    where = _outside(value, term, seen.length)
    if where is not None:
        return f"there is no {attribute.column or 'token'} {where}"
    if value.anchor == "i" and text == "_none":
        return f"there is no {attribute.column} between the segment's ends"
    if attribute.function == "list" and attribute.argument in program.dictionary:
        at = _position(value, term, seen.length)
        said = "what" if text == "1" else f"'{seen.phrase(attribute, at)}', which"
        return f"{phrase.place} {_LIST.get(text, text)} {said} the dictionary has as {attribute.argument}"
    return phrase.say(text)


_PREDICATES: dict[str, Callable[[str, Attribute, str], str]] = {
    **dict.fromkeys(("ngrams", "chars"), lambda place, a, text: f"{place} has '{text}'"),
    **dict.fromkeys(
        ("lower-ngrams", "lower-chars"), lambda place, a, text: f"{place} has '{text}' in lower case"
    ),
    "number": lambda place, a, text: f"{place} is a number" + (f" (of {a.argument})" if a.argument else ""),
    "has": lambda place, a, text: f"{place} has {_article(a.argument)}",
    "is": lambda place, a, text: f"{place} is {a.argument}",
    "test": lambda place, a, text: (
        f"'{a.argument}' {'matches' if text == 'true' else 'does not match'} {place}"
    ),
    "list": lambda place, a, text: f"{place} {_LIST.get(text, text)} a phrase of the list '{a.argument}'",
    "first": lambda place, a, text: f"{place} is the first of the sentence",
}


def _article(flag: str) -> str:
    return {"digit": "a digit", "upper": "an upper-case letter", "hyphen": "a hyphen"}.get(flag, flag)


def _outside(value: Value, term: Term, length: int) -> str | None:
    """In words where a value is that lies outside the sentence; None if it does not."""
    if value.anchor == "whole" or (value.anchor == "i" and term.last - term.first < 2):
        return None
    at = _position(value, term, length)
    return None if 0 <= at < length or value.anchor == "j" else _beside(value)


def _position(value: Value, term: Term, length: int) -> int:
    if value.absolute:
        return value.offset if value.offset >= 0 else length + value.offset
    anchor = value.anchor
    return (term.first if anchor == "b" else term.last if anchor == "e" else term.inner) + value.offset


def _place(column: str, value: Value) -> str:
    """A column's value as a subject: `the word before`, `the pos two after the segment`."""
    if value.absolute:
        number = value.offset if value.offset >= 0 else -value.offset - 1
        end = "of the sentence" if value.offset >= 0 else "from the end of the sentence"
        return f"{column} {number + 1} {end}"
    if value.anchor == "whole":
        return f"the whole segment's {column}"
    if value.anchor == "previous":
        return f"the {column} of the whole segment before"
    if value.anchor == "p":
        return f"the first {column} of the segment before" + (f" ({value.offset:+})" if value.offset else "")
    if value.anchor == "i":
        return f"a {column} between the segment's ends" + (f" ({value.offset:+})" if value.offset else "")
    if value.anchor == "j":
        return f"a {column} of the segment" + (f" ({value.offset:+})" if value.offset else "")
    if value.anchor in ("b", "e") and value.offset == 0:
        return f"the segment's {'first' if value.anchor == 'b' else 'last'} {column}"
    return f"the {column} {_beside(value)}".rstrip()


def _beside(value: Value) -> str:
    offset, anchor = value.offset, value.anchor
    if value.absolute:
        return "there"
    if offset == 0:
        return ""
    size = abs(offset)
    counted = _COUNTED[size] if size < len(_COUNTED) else f"{size} "
    direction = "before" if offset < 0 else "after"
    if anchor == "b":
        return f"{counted}{direction} the segment" if offset < 0 else f"{counted}after the segment's first"
    if anchor == "e":
        return f"{counted}{direction} the segment" if offset > 0 else f"{counted}before the segment's last"
    return f"{counted}{direction}"
