"""Work on batches in several processes, for work that Python must do: threads cannot share it.

Workers are interpreters that are started anew, and get all they need through a pipe. So nothing of the
program that asks for them is run again (no `if __name__ == "__main__"` is needed), and its threads and locks
are not copied in the middle of something.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from multiprocessing.spawn import get_executable
from queue import SimpleQueue
from typing import IO, Any, BinaryIO, TypeVar, cast

from marginalia.decode.threads import on_threads
from marginalia.errors import MarginaliaError

T = TypeVar("T")
_START = "import sys, pickle; sys.path[:] = pickle.load(sys.stdin.buffer); from {0} import serve; serve()"


def in_processes(
    prepare: Callable[[], Callable[[Any], T]], items: Iterable[Any], count: int
) -> Generator[T, None, None]:
    """work(item) for each item, in order, in so many processes, reading only a little ahead.

    Each process makes its own `work = prepare()`. All that goes to and fro is pickled; functions must be
    those of modules. An error of `work` is raised here as it would be without processes.
    """
    workers = [_Worker(prepare) for _ in range(count)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def work(item: Any) -> T:
        worker = idle.get()
        try:
            return cast(T, worker(item))
        finally:
            idle.put(worker)

    def end() -> None:
        for worker in workers:
            worker.end()

    return on_threads(work, items, count, end)


class _Worker:
    """A process that does one piece of work after another."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]]) -> None:
        self._process = subprocess.Popen(
            [os.fsdecode(get_executable() or sys.executable), "-c", _START.format(__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the one who asked, who then ends the worker
        )
        self._items = cast(IO[bytes], self._process.stdin)
        self._results = cast(IO[bytes], self._process.stdout)
        self._first = pickle.dumps(sys.path) + pickle.dumps(prepare, pickle.HIGHEST_PROTOCOL)

    def __call__(self, item: Any) -> Any:
        """The result of the work on an item; its error is raised."""
        sent, self._first = self._first + pickle.dumps(item, pickle.HIGHEST_PROTOCOL), b""
        try:
            self._items.write(sent)
            self._items.flush()
            result, error = pickle.load(self._results)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise MarginaliaError(f"a process that worked on a part of the data {self._fate()}.") from None
        if error is not None:
            raise error
        return result

    def _fate(self) -> str:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "does not answer"
        return f"was ended by signal {-code} (too little memory?)" if code < 0 else f"ended with code {code}"

    def end(self) -> None:
        """End the process, also in the middle of its work."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # what the process did not read
            self._items.close()
        self._results.close()


def serve() -> None:
    """The worker's side: results and errors of items until there are no more."""
    items, results = sys.stdin.buffer, _own_output()
    work: Callable[[Any], Any] | None = None
    prepare = pickle.load(items)
    while True:
        try:
            item = pickle.load(items)
        except EOFError:
            return
        try:
            work = work or prepare()
            answer: tuple[Any, Exception | None] = work(item), None
        except Exception as error:  # whatever it is, it belongs to the one who asked
            if not isinstance(error, MarginaliaError):
                traceback.print_exc()  # does not survive the way
            answer = None, error
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()


def _own_output() -> BinaryIO:
    """Standard output for results alone: what is printed goes where errors go."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return results
