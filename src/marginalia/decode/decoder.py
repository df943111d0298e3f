"""What the decoders of all structures share: a saved model, its programs, a space for each thread."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.decode.confidence import shown_as_they_are, spelling_of
from marginalia.errors import DataError, MarginaliaError, ModelError
from marginalia.model import SavedModel, phrases_of

Ids = npt.NDArray[np.int32]
Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class Contribution:
    """One term of an output's score: a feature, the labels it fired with, its weight, how often."""

    feature: str
    labels: tuple[str, ...]
    weight: float
    count: float


@dataclass(frozen=True)
class Parts(Generic[Shape]):
    """What a structure makes a decoder of."""

    shape: Callable[[SavedModel], Shape]
    model: Callable[[Shape, dict[str, Any]], Any]
    compile: Callable[..., Any]
    space: Callable[[], Any]
    labels_are_whole: bool = True  # the probability of a label is not a sum over those of segments


class Decoder(Generic[Shape]):
    """A saved model, ready to use from any number of threads."""

    def __init__(self, saved: SavedModel, parts: Parts[Shape]) -> None:
        self._saved, self._parts = saved, parts
        try:
            self._shape = parts.shape(saved)
            self._model = parts.model(self._shape, saved.arrays)
            self._candidates = _candidates_of(saved)
            self._phrases = phrases_of(saved)
            program = parts.compile(saved.program, saved.columns, self._phrases)
        except (ValueError, LookupError, TypeError, OverflowError, RuntimeError, MarginaliaError) as error:
            raise ModelError(f"the parts of the model do not fit each other: {error}") from error
        self._programs: dict[tuple[str, ...], Any] = {saved.columns: program}
        self._local = threading.local()

    @cached_property
    def _spelling(self) -> _core.Spelling:
        return spelling_of(self._saved, self._parts.labels_are_whole and shown_as_they_are(self._saved))

    def best(self, block: Block) -> Ids:
        """The best label ids of all tokens of a block."""
        if not block.table.tokens:  # such a block may have no columns
            return np.zeros(0, np.int32)
        program, space = self._program(block), self._space()
        if self._candidates:
            voted: Ids = self._model.voted(program, block.table, self._candidates, space)
            return voted
        best: Ids = self._model.best(program, block.table, space)
        return best

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first, lazily; all of them if k is None."""
        return islice(self._lattice(block, sentence).k_best(), k)

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output, -inf if it is not legal."""
        score: float = self._lattice(block, sentence).score(np.ascontiguousarray(ids, dtype=np.uint32))
        return score

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of what label ids of a block say, scores divided by the temperature being
        log-probabilities: of tokens, of spans, first tokens of spans, their ends, of outputs.

        Users see sentences that begin at the tokens `sentences`, of which those of the block may consist.
        """
        found: tuple[npt.NDArray[Any], ...] = self._model.confidences(
            self._program(block),
            block.table,
            ids,
            sentences,
            self._spelling,
            1.0 / temperature,
            self._space(),
        )
        return found

    def _contributions(
        self, places: Iterable[tuple[int, int, float]], constants: Iterable[tuple[str, int, tuple[int, ...]]]
    ) -> list[Contribution]:
        """What stands at (row, output), so often, of the weights, and (name, place, labels) of the
        constants."""
        counts: dict[tuple[int, int], float] = {}
        for row, output, value in places:
            counts[row, output] = counts.get((row, output), 0) + (int(value) if value == 1 else value)
        found = [self._observed(row, output, n) for (row, output), n in counts.items()]
        at, weights = (self._saved.arrays[name].tolist() for name in ("constant_at", "constants"))
        by_place = dict(zip(at, weights, strict=True))
        counted = Counter(item for item in constants if item[1] in by_place)
        return [c for c in found if c is not None] + [
            Contribution(name, self._named(labels), by_place[place], n)
            for (name, place, labels), n in counted.items()
        ]

    def _observed(self, row: int, output: int, count: float) -> Contribution | None:
        saved = self._saved
        outputs, weights = saved.cells(row)
        place = np.flatnonzero(outputs == output)
        if not place.size or not weights[place[0]]:  # nearly full rows are kept with their zeros
            return None
        pair = divmod(output, len(saved.labels)) if saved.is_edge(row) else (output,)
        return Contribution(saved.feature_name(row), self._named(pair), float(weights[place[0]]), count)

    def _named(self, labels: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._saved.labels[label] for label in labels)

    def _lattice(self, block: Block, sentence: int) -> Any:
        return self._model.lattice(self._program(block), block.table, sentence, self._space())

    def _program(self, block: Block) -> Any:
        if self._saved.program.explicit and not block.table.has_attributes:
            raise DataError(
                f"found columns {' '.join(block.columns)}, but this model was trained on explicit attributes",
                file=block.file,
            )
        program = self._programs.get(block.columns)
        if program is None:
            program = self._parts.compile(self._saved.program, block.columns, self._phrases)
            self._programs[block.columns] = program
        return program

    def _space(self) -> Any:
        if not hasattr(self._local, "space"):
            self._local.space = self._parts.space()
        return self._local.space


def _candidates_of(saved: SavedModel) -> int:
    """On how many outputs the versions of the weights vote; 0 if they do not."""
    if "vote_steps" not in saved.arrays:
        return 0
    candidates = saved.settings["candidates"]
    if not isinstance(candidates, int) or candidates < 1:
        raise ValueError(f"votes: found {candidates!r} candidates")
    if len(saved.arrays["vote_row_end"]) != len(saved.arrays["keys"]) + 1:
        raise ValueError("votes: the log does not fit the weights")
    return candidates


def constants_of(ids: Sequence[int], size: int, order: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Name, place in row 0 and labels of a sequence's constants: the layout of core/search/lattice.hpp."""
    for t, label in enumerate(ids):
        if t == 0:
            yield "start", int(label), (label,)
        if t == len(ids) - 1:
            yield "end", int(size + label), (label,)
        if t > 0:
            yield "transition", int(2 * size + ids[t - 1] * size + label), (ids[t - 1], label)
        if t > 0 and order == 2:
            older = size if t == 1 else ids[t - 2]
            seen = (ids[t - 1], label) if t == 1 else (ids[t - 2], ids[t - 1], label)
            at = 2 * size + size * size + (older * size + ids[t - 1]) * size + label
            yield "trigram", int(at), seen
