"""Jack-knifing: what parts say of training data that they have not seen, so that later parts learn from input
as it will be in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from marginalia.corpus.records import Sentence
from marginalia.corpus.source import DataSource
from marginalia.decode.pipeline.parts import LabelPart
from marginalia.decode.threads import in_order
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import Recipe

FOLDS = 5


class Stopped(Exception):
    """Jack-knifing was asked to stop."""


def fold_bounds(lengths: Sequence[int], folds: int = FOLDS) -> list[tuple[int, int]]:
    """Stretches of sentences of about as many words each; as many as there can be."""
    folds = max(min(folds, len(lengths)), 1)
    total, ends = sum(lengths), list(accumulate(lengths))
    cuts = [0]
    for fold in range(1, folds):
        wanted = next((i + 1 for i, end in enumerate(ends) if end * folds >= total * fold), len(lengths))
        cuts.append(min(max(wanted, cuts[-1] + 1), len(lengths) - (folds - fold)))
    cuts.append(len(lengths))
    return [(cuts[i], cuts[i + 1]) for i in range(folds)]


def jackknifed(
    name: str,
    examples: Sequence[Sentence],
    label: str,
    recipe: Recipe,
    threads: int = 1,
    stop: Callable[[], bool] = lambda: False,
    together: int = 1,
) -> Iterator[list[Sentence]]:
    """By fold, its sentences with the columns that a model of all other folds predicts; `threads` folds at
    once, with the same result. Each `together` examples in turn are of one sentence, and in one fold."""
    lengths = [len(sentence) for sentence in examples[::together]]
    bounds = [(first * together, last * together) for first, last in fold_bounds(lengths)]

    def predicted(bound: tuple[int, int]) -> list[Sentence]:
        first, last = bound
        others = [*examples[:first], *examples[last:]] or list(examples)
        training = prepare(DataSource(others, label=label), None, recipe)
        for _ in training:
            if stop():
                raise Stopped
        part = LabelPart(name, training.model().saved)
        return predict(part, examples[first:last], label)

    return in_order(predicted, bounds, threads)


def predict(part: LabelPart, sentences: Sequence[Sentence], label: str) -> list[Sentence]:
    """Sentences with the columns that a part predicts, and without that of labels."""
    lengths = [len(sentence) for sentence in sentences]
    names = [name for name in sentences[0].columns if name != label] if sentences else []
    flat = {name: [value for one in sentences for value in one.columns[name]] for name in names}
    flat |= part.values(flat, lengths)
    found, at = [], 0
    for length in lengths:
        found.append(Sentence({name: values[at : at + length] for name, values in flat.items()}))
        at += length
    return found
