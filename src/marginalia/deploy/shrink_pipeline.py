"""Make a pipeline smaller: all its parts at once, each as far as it bears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from marginalia.corpus.document import Document
from marginalia.decode.pipeline import Pipeline
from marginalia.decode.pipeline.parts import TAGS
from marginalia.deploy.shrink import SHARES, Candidate, Shrunk, check_loss, check_wanted, choice
from marginalia.errors import SettingsError
from marginalia.kinds.pipelines import evaluate_pipeline
from marginalia.model.bundle import Bundle
from marginalia.model.shrinking import Shrinker

_STEPS = 8  # halvings of the share that meets a target
_BITS = (8, 6, 5)
# How much more of its weights a small part keeps than the largest. 0: as much; 1: all keep as many.
_SPREAD = 0.3
_NEEDED = {TAGS: 1.7}  # times as many: all parts behind this one look at what it says


class PipelineShrinker:
    """A pipeline whose weights are ranked, part by part."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._parts = {name: Shrinker(part) for name, part in bundle.parts.items()}

    def smaller(self, bits: int, share: float) -> Bundle:
        """The bundle with this share of the weights of its largest part, and a larger share of smaller ones:
        there a byte says more."""
        largest = max(part.weights for part in self._parts.values())
        parts = {}
        for name, part in self._parts.items():
            own = share * (largest / max(part.weights, 1)) ** _SPREAD * _NEEDED.get(name, 1.0)
            parts[name] = part.smaller(bits, round(part.weights * min(own, 1.0)))
        return replace(self._bundle, parts=parts)

    def fitting(self, bits: int, size: int) -> float | None:
        """The greatest share with which the file has so many bytes; None if it cannot."""
        if len(self.smaller(bits, 1.0).to_bytes()) <= size:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            fits = len(self.smaller(bits, middle).to_bytes()) <= size
            low, high = (middle, high) if fits else (low, middle)
        return low or None


def shrink_pipeline(
    pipeline: Pipeline,
    target: int | None,
    dev: Document | None,
    max_loss: float | None = None,
    bits: int | None = None,
    threads: int = 1,
    on_progress: Callable[[Candidate], object] | None = None,
) -> Shrunk:
    """A smaller pipeline, and what was tried; with `dev` the best by its score with given tokens, as of one
    model (docs/shrink.md)."""
    check_wanted(target, dev is not None, max_loss, bits)
    shrinker, show = PipelineShrinker(pipeline.bundle), on_progress or (lambda candidate: None)
    table = [_tried(pipeline, 32, dev, None, threads)]
    show(table[0])
    chosen = pipeline
    for precision, share in _plans(shrinker, target, bits, dev is not None):
        smaller = Pipeline(shrinker.smaller(precision, share))
        table.append(_tried(smaller, precision, dev, table[0].score, threads))
        show(table[-1])
        if choice(table, target, max_loss) == len(table) - 1:
            chosen = smaller
    best = choice(table, target, max_loss)
    check_loss(table, best, max_loss)
    table[best] = replace(table[best], chosen=True)
    return Shrunk(chosen, table)


def _plans(
    shrinker: PipelineShrinker, target: int | None, bits: int | None, scored: bool
) -> Iterator[tuple[int, float]]:
    """Bits and shares to try."""
    limits = {}
    for precision in _BITS if bits is None else (bits,):
        limit = 1.0 if target is None else shrinker.fitting(precision, target)
        if limit is not None:
            limits[precision] = limit
    if not limits:
        least = len(shrinker.smaller(_BITS[-1], 0.0).to_bytes())
        raise SettingsError(f"target: found {target} bytes, but labels, templates and tables take {least:,}.")
    if not scored:
        precision = next((one for one, limit in limits.items() if limit == 1.0), min(limits))
        yield precision, limits[precision]
        return
    for precision, limit in limits.items():
        for share in SHARES if target is None else (1.0,):
            yield precision, limit * share


def _tried(
    pipeline: Pipeline, bits: int, dev: Document | None, before: float | None, threads: int
) -> Candidate:
    parts = pipeline.bundle.parts.values()
    weights = sum(
        int(np.count_nonzero(part.weights()) + np.count_nonzero(part.arrays["constants"])) for part in parts
    )
    size = len(pipeline.to_bytes())
    candidate = Candidate(bits, weights, sum(part.features for part in parts), size)
    if dev is None:
        return candidate
    score = evaluate_pipeline(pipeline, dev, ("tokens",), threads).score
    return replace(candidate, score=score, loss=None if before is None else before - score)
