"""Work on batches in several threads, with results in the order of the batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def in_order(work: Callable[[Any], T], items: Iterable[Any], threads: int) -> Iterator[T]:
    """work(item) for each item, in order, on several threads, reading only a little ahead."""
    return map(work, items) if threads <= 1 else _on_threads(work, items, threads)


def _on_threads(work: Callable[[Any], T], items: Iterable[Any], threads: int) -> Iterator[T]:
    from concurrent.futures import ThreadPoolExecutor  # slow to load, and one thread does without

    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[T]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
