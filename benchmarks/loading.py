"""Time to load a model, best of several; a child of chunking.py. Prints seconds."""

from __future__ import annotations

import sys
import time


def load_crfsuite(path: str) -> None:
    import pycrfsuite

    pycrfsuite.Tagger().open(path)


def load_marginalia(path: str) -> None:
    import marginalia

    marginalia.load(path)


def main() -> None:
    system, path, repetitions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    load = {"crfsuite": load_crfsuite, "marginalia": load_marginalia}[system]
    load(path)  # the import, and the file into the page cache
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        load(path)
        times.append(time.perf_counter() - start)
    print(min(times))


if __name__ == "__main__":
    main()
