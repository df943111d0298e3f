"""Explanations of batch after batch, in this process or in several: Python words them, under its lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from marginalia.corpus.batches import Batch, numbered
from marginalia.decode.dictionaries import ModelDictionaries, ResolvedDictionaries
from marginalia.model import file

if TYPE_CHECKING:
    from marginalia.decode.explanation import Explanation

Explainer = Callable[[Batch, int], "list[Explanation]"]
"""Explains all sentences of a batch, which stands behind so many others."""


class Explainable(Protocol):
    """A model that can explain its outputs, and be made again of its parts."""

    @property
    def dictionaries(self) -> ModelDictionaries:
        """The saved model with what was added to it."""

    def explainer(self, against: Any, cite: int, constraints: Any) -> Explainer:
        """Explains batches; options as of `explain_batches`."""


@dataclass(frozen=True)
class ExplainingTask:
    """What is asked: options of `explain_batches`, and `shown`, what is to be made of each explanation.

    That is done where it is made: a text is sent from process to process much quicker than an explanation.
    """

    against: Any = None
    cite: int = 0
    constraints: Any = ()
    shown: Callable[[Explanation], Any] | None = None

    def of(self, model: Explainable) -> Callable[[tuple[int, Batch]], list[Any]]:
        """The work on one batch."""
        explain, shown = model.explainer(self.against, self.cite, self.constraints), self.shown

        def work(item: tuple[int, Batch]) -> list[Any]:
            before, batch = item
            with batch.block.naming_errors():
                found = explain(batch, before)
            return found if shown is None else [*map(shown, found)]

        return work


def explain_in_order(
    model: Explainable, batches: Iterable[Batch], task: ExplainingTask, processes: int = 1
) -> Iterator[tuple[Batch, list[Any]]]:
    """What the task makes of batch after batch, the same for any number of processes; only a few are in
    memory at a time. There are never more than the machine has processors, and none for a single batch."""
    work, items = task.of(model), numbered(batches)
    processes = min(processes, os.cpu_count() or 1)
    first = list(islice(items, 2)) if processes > 1 else []
    if len(first) < 2:
        for item in chain(first, items):
            yield item[1], work(item)
        return
    waiting: deque[Batch] = deque()

    def sent() -> Iterator[tuple[int, Batch]]:
        for item in chain(first, items):
            waiting.append(item[1])
            yield item

    from marginalia.decode.processes import in_processes  # one process does without

    with TemporaryDirectory(prefix="marginalia-", ignore_cleanup_errors=True) as folder:
        own = model.dictionaries
        path = os.path.join(folder, "model.mg")
        file.save(own.base, path)
        prepare = _Preparing(_class_of(model), path, own.soft, own.hard, task)
        with closing(in_processes(prepare, sent(), processes)) as results:
            for found in results:
                yield waiting.popleft(), found


@dataclass(frozen=True)
class _Preparing:
    """What a process needs to begin: the model, whose file all of them map, and the task."""

    made: Any
    path: str
    soft: ResolvedDictionaries | None
    hard: ResolvedDictionaries | None
    task: ExplainingTask

    def __call__(self) -> Callable[[tuple[int, Batch]], list[Any]]:
        own = ModelDictionaries(file.load(self.path), self.soft, self.hard)
        return self.task.of(self.made.with_parts(own))


def _class_of(model: Explainable) -> type:
    """The model's class as other processes know it: what a user derives from it may be in a script."""
    return next(cls for cls in type(model).__mro__ if cls.__module__.startswith("marginalia."))
