"""Make a model smaller and say what that costs: candidates, their sizes and their scores on held-out data."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marginalia.corpus.batches import Batch
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.corpus.source import Data, DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import DataError, SettingsError
from marginalia.kinds import kind_of, load, model_of
from marginalia.learn import source_for
from marginalia.model.file import to_bytes
from marginalia.model.shrinking import BITS, Shrinker

if TYPE_CHECKING:
    from marginalia.decode.pipeline import Pipeline

MAX_LOSS = 0.1  # points of F1 that may be lost if the user names no target
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.06)  # of the weights that may stay, with held-out data
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True)
class Candidate:
    """A model that was tried: bits of its weights, how many there are, the size of its file; on held-out data
    its score (F1, or accuracy for plain tags) and how much worse that is than the model's own."""

    bits: int
    weights: int
    features: int
    size: int
    score: float | None = None
    loss: float | None = None
    chosen: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary."""
        return asdict(self)


class Shrunk(NamedTuple):
    """The smaller model, and what was tried; the first candidate is the model as it was."""

    model: Any
    table: list[Candidate]


class HeldOutData(NamedTuple):
    """Labelled sentences, the column of their labels, and how many threads tag them."""

    batches: list[Batch]
    label: str
    threads: int


def shrink(
    model: TrainedModel | Pipeline | str | os.PathLike[str],
    target: int | str | None = None,
    dev: Data | None = None,
    *,
    max_loss: float | None = None,
    bits: int | None = None,
    threads: int = 1,
    on_progress: Callable[[Candidate], object] | None = None,
) -> Shrunk:
    """Make a model smaller: fewer weights, of fewer bits, without names and history.

    `target` is the size of the file ("1MB", "800kB", bytes). With `dev`, labelled files or sentences as for
    `train`, the best candidate that meets the target is taken or, without a target, the smallest that loses
    at most `max_loss` points (0.1). `bits` (32, 16 or 8) fixes the precision.
    """
    tagger: Any = load(model) if isinstance(model, (str, os.PathLike)) else model
    if tagger.kind == "pipeline":
        from marginalia.deploy.shrink_pipeline import shrink_pipeline
        from marginalia.learn.pipeline.api import read_treebank

        data: Any = dev
        treebank = None if data is None else read_treebank(data)
        return shrink_pipeline(
            tagger, size_in_bytes(target), treebank, max_loss, bits, threads, on_progress=on_progress
        )
    held_out = None if dev is None else source_for(tagger.saved, DataSource(dev))
    return shrink_on(tagger, size_in_bytes(target), held_out, max_loss, bits, threads, on_progress)


def shrink_on(
    tagger: TrainedModel,
    target: int | None,
    dev: DataSource | None,
    max_loss: float | None,
    bits: int | None,
    threads: int = 1,
    on_progress: Callable[[Candidate], object] | None = None,
) -> Shrunk:
    """`shrink` with a target in bytes and a source of held-out data."""
    check_wanted(target, dev is not None, max_loss, bits)
    shrinker = Shrinker(tagger.saved)
    held_out = None if dev is None else _held_out(dev, threads)
    show = on_progress or (lambda candidate: None)
    table = [_tried(tagger, 32, held_out, None)]
    show(table[0])
    chosen = tagger
    for precision, keep in _plans(shrinker, target, bits, dev is not None):
        smaller = model_of(shrinker.smaller(precision, keep))
        table.append(_tried(smaller, precision, held_out, table[0].score))
        show(table[-1])
        if choice(table, target, max_loss) == len(table) - 1:
            chosen = smaller
    best = choice(table, target, max_loss)
    check_loss(table, best, max_loss)
    table[best] = replace(table[best], chosen=True)
    return Shrunk(chosen, table)


def size_in_bytes(size: int | str | None) -> int | None:
    """Bytes from `800kB`, `1.5MB`, `1MiB` or a number."""
    if size is None or isinstance(size, int):
        return size
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", size.lower())
    if match is None or match[2] not in _UNITS:
        raise SettingsError(f"target: found {size!r}, expected a size such as 800kB, 1.5MB or 1000000.")
    return int(float(match[1]) * _UNITS[match[2]])


def check_wanted(target: int | None, scored: bool, max_loss: float | None, bits: int | None) -> None:
    """An error if what is wanted makes no sense; `scored`: whether there are held-out data."""
    if bits is not None and bits not in BITS:
        raise SettingsError(f"bits: found {bits}, expected {', '.join(map(str, BITS))}.")
    if target is not None and target < 1:
        raise SettingsError(f"target: found {target} bytes, expected at least 1.")
    if max_loss is not None and not scored:
        raise SettingsError("max-loss needs held-out data: give dev.")
    if max_loss is not None and not max_loss >= 0:
        raise SettingsError(f"max-loss: found {max_loss}, expected a number from 0 on.")
    if target is None and not scored and bits is None:
        raise SettingsError("expected a target, held-out data (dev) or bits: how small shall the model be?")


def _plans(
    shrinker: Shrinker, target: int | None, bits: int | None, scored: bool
) -> Iterator[tuple[int, int]]:
    """Bits and numbers of weights to try."""
    limits = {}
    for precision in BITS if bits is None else (bits,):
        limit = shrinker.weights if target is None else shrinker.fitting(precision, target)
        if limit is not None:
            limits[precision] = limit
    if not limits:
        least = len(to_bytes(shrinker.smaller(8, 0)))
        raise SettingsError(
            f"target: found {target} bytes, but labels, templates and lists alone take {least:,}."
        )
    if not scored:
        # 8 bits cost less than the weights that would have to go for the others, unless nothing has to go.
        whole = [precision for precision, limit in limits.items() if limit == shrinker.weights]
        precision = whole[0] if whole else min(limits)
        yield precision, limits[precision]
        return
    for precision, limit in limits.items():
        for share in SHARES:
            yield precision, round(limit * share)


def _tried(tagger: TrainedModel, bits: int, held_out: HeldOutData | None, before: float | None) -> Candidate:
    saved = tagger.saved
    weights = int(np.count_nonzero(saved.weights()) + np.count_nonzero(saved.arrays["constants"]))
    found = Candidate(bits, weights, saved.features, len(tagger.to_bytes()))
    if held_out is None:
        return found
    kind = kind_of(saved.structure)
    score = kind.evaluate(tagger, held_out.batches, held_out.label, held_out.threads).score
    return replace(found, score=score, loss=None if before is None else before - score)


def choice(table: Sequence[Candidate], target: int | None, max_loss: float | None) -> int:
    """The place of the best candidate so far; never the model as it was, unless it is the only one."""
    rest = range(1, len(table))
    if not rest:
        return 0
    if table[1].score is None:
        return 1
    best = min(rest, key=lambda i: (-(table[i].score or 0.0), table[i].size))
    if target is not None:
        return best
    bound = MAX_LOSS if max_loss is None else max_loss
    return min((i for i in rest if _loss(table[i]) <= bound), key=lambda i: table[i].size, default=best)


def _loss(candidate: Candidate) -> float:
    return candidate.loss or 0.0


def check_loss(table: Sequence[Candidate], best: int, max_loss: float | None) -> None:
    """An error if the best candidate loses too much."""
    if max_loss is not None and _loss(table[best]) > max_loss:
        raise SettingsError(
            f"max-loss: no candidate loses at most {max_loss:g} points: the best has "
            f"{table[best].size:,} bytes and loses {_loss(table[best]):.2f}."
        )


def _held_out(source: DataSource, threads: int) -> HeldOutData:
    batches = [Batch(block) for block in source.blocks()]
    if not batches:
        raise DataError("found no labelled sentences, expected some to hold out", file=source.name)
    for batch in batches if source.partial else ():
        refuse_open(batch.block, source.layout.label, SCORED)
    return HeldOutData(batches, source.layout.label, threads)
