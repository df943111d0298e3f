"""The meaning of templates over segments, written down as plainly as possible."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from naive_attributes import lowered
from naive_extractor import Sentence, attribute_values, value_at

from marginalia.features.compiling import is_label_bigram
from marginalia.features.program import OF_PREVIOUS, Template, TemplateProgram, Value

Lists = Mapping[str, Collection[str]]
Named = tuple[int | None, str]  # the token, of templates of tokens; the name
FARTHEST = 100  # offsets go no farther
EIGHT = 8  # tokens that are looked at where a template has both ends


class Naive:
    """A sentence as the templates of a program see it. Nothing is known of `hidden` values,
    which are (token, column)."""

    def __init__(
        self,
        program: TemplateProgram,
        sentence: Sentence,
        lists: Lists | None = None,
        hidden: Collection[tuple[int, str]] = (),
    ) -> None:
        self.program, self.sentence, self.lists, self.hidden = program, sentence, lists or {}, set(hidden)
        length = len(next(iter(sentence.values())))
        self.grid: list[list[str | None]] = []
        for attribute in program.attributes:
            values = attribute_values(attribute, sentence, length, self.lists)
            hides = [(t, attribute.column) in self.hidden for t in range(length)]
            self.grid.append([None if hide else value for hide, value in zip(hides, values, strict=True)])

    def names(self, begin: int, last: int) -> list[Named]:
        """The features of tokens begin..last (both included), in the order of the templates."""
        return [
            named
            for template in self.program.templates
            if not is_label_bigram(template) and not template.of_neighbours
            for named in self._named(template, begin, last)
        ]

    def neighbours(self, previous: int | None, begin: int, last: int) -> list[tuple[bool, str]]:
        """The features of a segment and the one before, whose first token is `previous`: whether they are for
        that one's type, and the name."""
        found = []
        for template in self.program.templates:
            before = template.scope == "before"
            if not template.of_neighbours or (before and previous is None):
                continue
            parts = [
                p if isinstance(p, str) else self._of_two(p, previous, begin, last) for p in template.pieces
            ]
            if None not in parts:
                found.append((before, "".join(str(part) for part in parts)))
        return found

    def _of_two(self, value: Value, previous: int | None, begin: int, last: int) -> str | None:
        if value.anchor not in OF_PREVIOUS:
            return self._value(value, begin, last, None)
        if previous is None:
            return "_B-1"
        anchor = {"p": "b", "previous": "whole", "previous-length": "length"}[value.anchor]
        return self._value(replace(value, anchor=anchor), previous, begin - 1, None)

    def _named(self, template: Template, begin: int, last: int) -> Iterator[Named]:
        of_tokens = template.scope == "node" and any(isinstance(p, Value) for p in template.pieces)
        for inner in self._inner(template, begin, last):
            parts = [p if isinstance(p, str) else self._value(p, begin, last, inner) for p in template.pieces]
            if None not in parts:
                yield (inner if of_tokens else None), "".join(str(part) for part in parts)

    def _inner(self, template: Template, begin: int, last: int) -> Sequence[int | None]:
        """Where the template is looked at: None for once, or for nothing inside."""
        values = [p for p in template.pieces if isinstance(p, Value)]
        anchors = {value.anchor for value in values}
        if anchors == {""}:
            return range(begin, last + 1)
        offsets = [value.offset for value in values if value.anchor == "j"]
        if offsets:
            near = range(begin - FARTHEST, last + FARTHEST + 1)
            inner = [p for p in near if all(begin <= p + offset <= last for offset in offsets)]
        elif "i" in anchors:
            inner = list(range(begin + 1, last))
        else:
            return [None]
        if anchors >= {"b", "e"} or anchors & {"whole", "length"}:
            inner = inner[:EIGHT]
        return inner if inner or offsets else [None]

    def _value(self, value: Value, begin: int, last: int, inner: int | None) -> str | None:
        if value.anchor == "length":
            length = last - begin + 1
            return str(length) if length < value.offset else f"{value.offset}+"
        if value.anchor == "whole":
            return self._whole(value.attribute, begin, last)
        if value.anchor == "i" and inner is None:
            return "_none"
        at = {"b": begin, "e": last}.get(value.anchor, inner)
        assert at is not None
        return value_at(value, self.grid[value.attribute], at)

    def _whole(self, number: int, begin: int, last: int) -> str | None:
        attribute, tokens = self.program.attributes[number], range(begin, last + 1)
        if attribute.function == "list":
            phrase = [lowered(self.sentence[attribute.column][t]) for t in tokens]
            known = [lowered(each).split(" ") for each in self.lists[attribute.argument]]
            hides = any((t, attribute.column) in self.hidden for t in tokens)
            return "1" if phrase in known and not hides else None
        values = [self.grid[number][t] for t in tokens]
        return None if None in values else " ".join(str(value) for value in values)
