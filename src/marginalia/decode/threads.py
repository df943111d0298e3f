"""Work on batches in several threads, with results in the order of the batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from marginalia.config import MOST_THREADS
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

T = TypeVar("T")


def in_order(work: Callable[[Any], T], items: Iterable[Any], threads: int) -> Iterator[T]:
    """work(item) for each item, in order, on several threads, reading only a little ahead."""
    return map(work, items) if threads <= 1 else on_threads(work, items, threads)


def check_threads(threads: int) -> None:
    """An error for more threads than make sense."""
    if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
        raise SettingsError(f"threads: found {threads!r}, expected a whole number from 1 to {MOST_THREADS}.")


def _submitted(pool: Executor, work: Callable[[Any], T], item: Any, threads: int) -> Future[T]:
    try:
        return pool.submit(work, item)
    except RuntimeError as error:
        raise SettingsError(f"threads: cannot start {threads} threads ({error}): ask for fewer.") from None


def on_threads(
    work: Callable[[Any], T], items: Iterable[Any], threads: int, end: Callable[[], None] = lambda: None
) -> Generator[T, None, None]:
    """`in_order` on threads. `end` is called when no more results are wanted, be it because of an error: it
    may cut short what still runs."""
    from concurrent.futures import ThreadPoolExecutor  # slow to load, and one thread does without

    check_threads(threads)
    pool = ThreadPoolExecutor(threads)
    pending: deque[Future[T]] = deque()
    try:
        for item in items:
            pending.append(_submitted(pool, work, item, threads))
            while pending and (len(pending) > 2 * threads or pending[0].done()):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        end()
        pool.shutdown(cancel_futures=True)
