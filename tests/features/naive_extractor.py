"""The meaning of a program, written down as plainly as possible: the judge of the native one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from naive_attributes import evaluate, lowered

from marginalia.features.program import Attribute, TemplateProgram, Value

Sentence = Mapping[str, Sequence[str]]


def expand(
    program: TemplateProgram, sentence: Sentence, lists: Mapping[str, Collection[str]] | None = None
) -> list[list[tuple[str, str]]]:
    """For every position the (scope, name) of its features, in the order of the templates.

    `sentence` gives the strings of each column, `lists` the phrases of each list (tokens joined by a space).
    Edge features at position 0 belong to the edge that enters the sentence.
    """
    length = len(next(iter(sentence.values())))
    grid = [attribute_values(a, sentence, length, lists or {}) for a in program.attributes]
    result = []
    for at in range(length):
        features = []
        for template in program.templates:
            parts = [p if isinstance(p, str) else value_at(p, grid[p.attribute], at) for p in template.pieces]
            if None not in parts:
                features.append((template.scope, "".join(parts)))
        result.append(features)
    return result


def attribute_values(
    attribute: Attribute, sentence: Sentence, length: int, lists: Mapping[str, Collection[str]]
) -> list[str | None]:
    """The values of an attribute at every token."""
    if attribute.function == "first":
        return ["1" if at == 0 else None for at in range(length)]
    tokens = sentence[attribute.column]
    if attribute.function == "list":
        return longest_matches(tokens, lists[attribute.argument])
    return [evaluate(attribute.function, attribute.argument, token) for token in tokens]


def longest_matches(tokens: Sequence[str], phrases: Collection[str]) -> list[str | None]:
    """IOB2 of the longest phrases, from left to right, ignoring case."""
    known = {tuple(lowered(token) for token in phrase.split(" ")) for phrase in phrases}
    words = [lowered(token) for token in tokens]
    result: list[str | None] = [None] * len(tokens)
    at = 0
    while at < len(tokens):
        ends = [end for end in range(at + 1, len(words) + 1) if tuple(words[at:end]) in known]
        for i in range(at, max(ends, default=at)):
            result[i] = "B" if i == at else "I"
        at = max(ends, default=at + 1)
    return result


def value_at(value: Value, values: Sequence[str | None], at: int) -> str | None:
    """The value that a template has at a position."""
    where = at + value.offset
    if value.absolute:
        where = value.offset if value.offset >= 0 else len(values) + value.offset
    if where < 0:
        return value.before[min(-where, len(value.before)) - 1]
    if where >= len(values):
        return value.after[min(where - len(values) + 1, len(value.after)) - 1]
    return values[where]
