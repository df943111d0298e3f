"""Work in several processes: the same results and errors as in one, and nothing is left behind."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import pack
from marginalia.corpus.records import Sentence
from marginalia.decode.processes import in_processes
from marginalia.errors import DataError, MarginaliaError

HERE = str(Path(__file__).parent)
WORDS = ["the", "cat", "sees", "a", "dog"]
SENTENCES = [(["the", "cat", "sees", "a", "dog"], ["B-NP", "I-NP", "O", "B-NP", "I-NP"])] * 3 + [
    (["cat", "sees", "dog"], ["B-NP", "O", "B-NP"]),
    (["see", "the", "dog"], ["O", "B-NP", "I-NP"]),
]


def preparing(kind: str) -> Callable[[Any], Any]:
    """What a worker does, by name."""
    return {"double": lambda n: (n * 2, os.getpid()), "odd": odd, "exit": os._exit, "sleep": time.sleep}[kind]


def odd(n: int) -> int:
    if n == 3:
        raise DataError("found three", file="numbers.txt", line=n)
    return n


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import this file to find `preparing`."""
    monkeypatch.syspath_prepend(HERE)


def of(kind: str) -> partial[Callable[[Any], Any]]:
    return partial(preparing, kind)


def test_results_are_in_order_and_of_other_processes() -> None:
    found = list(in_processes(of("double"), range(20), 2))
    assert [n for n, _ in found] == [n * 2 for n in range(20)]
    assert os.getpid() not in {process for _, process in found}


def test_only_a_little_is_read_ahead() -> None:
    read = []

    def items() -> Iterator[int]:
        for n in range(1000):
            read.append(n)
            yield n

    results = in_processes(of("double"), items(), 2)
    next(results)
    results.close()
    assert len(read) <= 6


def test_an_error_is_raised_as_it_was_after_the_results_before_it() -> None:
    results = in_processes(of("odd"), range(100), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match=r"^numbers.txt:3: found three$") as caught:
        next(results)
    assert (caught.value.message, caught.value.file, caught.value.line) == ("found three", "numbers.txt", 3)


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(MarginaliaError, match="ended with code 7"):
        list(in_processes(of("exit"), [7, 7], 2))


def test_who_stops_does_not_wait_for_the_workers() -> None:
    results = in_processes(of("sleep"), iter([0, 600, 600, 600, 600, 600]), 2)
    next(results)
    results.close()  # would take ten minutes


def test_ctrl_c_ends_all_without_a_word_of_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, threading, sys\n"
        f"sys.path[:0] = [{HERE!r}]\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
        "from contextlib import closing\n"
        "from test_decode_processes import of\n"
        "from marginalia.decode.processes import in_processes\n"
        "try:\n"
        "    with closing(in_processes(of('sleep'), iter([0] + [600] * 9), 2)) as results:\n"
        "        next(results)\n"
        "        threading.Timer(0.2, lambda: os.kill(0, signal.SIGINT)).start()\n"
        "        next(results)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, start_new_session=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("stopped\n", "", 0)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> mg.Tagger:
    """A model that is in no file."""
    features = tmp_path_factory.mktemp("features") / "features.txt"
    features.write_text("word[-1..1]\nedge:\n")
    data = [{"word": tokens, "label": labels} for tokens, labels in SENTENCES]
    return mg.train([Sentence(dict(one)) for one in data], features=str(features), passes=3)


def test_explanations_of_a_model_in_memory(tagger: mg.Tagger) -> None:
    given = [tokens for tokens, _ in SENTENCES] * 50
    assert tagger.explain_all(given, threads=2) == tagger.explain_all(given)


def test_explanations_with_dictionaries_and_constraints(tagger: mg.Tagger) -> None:
    own = tagger.with_dictionary({"sees": "NP"})
    given = [tokens for tokens, _ in SENTENCES] * 50
    found = own.explain_all(given, threads=2, constraints="at most 2 NP")
    assert found == own.explain_all(given, constraints="at most 2 NP")
    assert any(reason.kind == "constraint" for one in found for reason in one.reasons)


def test_classes_of_users_are_as_their_bases(tagger: mg.Tagger) -> None:
    class Own(mg.Tagger):
        """Other processes cannot know it."""

    own = Own(tagger.saved)
    given = [WORDS] * 250
    assert own.explain_all(given, threads=2) == tagger.explain_all(given)


def test_errors_of_a_batch_are_as_in_one_process(tagger: mg.Tagger) -> None:
    blocks = [
        pack([Sentence({"word": WORDS[:size]}, line=10 * size)], file="some.txt") for size in (5, 4, 1, 5)
    ]
    messages = []
    for threads in (1, 2):
        with pytest.raises(DataError) as caught:
            list(tagger.explain_batches(map(Batch, blocks), "2=I-NP|O|B-NP 1=O", threads))
        messages.append((str(caught.value), caught.value.line))
    assert messages[0] == messages[1]
    assert messages[0][0].startswith("some.txt:10: against: found 2=")


@pytest.mark.parametrize("attributes", [False, True])
def test_blocks_survive_the_way(attributes: bool) -> None:
    columns: dict[str, list[Any]] = {"word": ["a", "", "ü"], "pos": ["X", "Y", "Z"]}
    if attributes:
        columns = {"attributes": [{"w": 1.0, "x": 0.5}, {}, {"w": 2.0}]}
    block = pack([Sentence(dict(columns), document=4), Sentence(dict(columns), document=5)], file="f.txt")
    again = pickle.loads(pickle.dumps(block))
    assert list(again.sentences()) == list(block.sentences())
    assert (again.file, again.columns) == (block.file, block.columns)
    assert again.table.text == block.table.text
    assert np.array_equal(again.table.lines, block.table.lines)
    assert again.table.attribute_bytes == block.table.attribute_bytes


def test_a_broken_state_is_no_table() -> None:
    table = pack([Sentence({"word": ["a", "b"]})]).table
    state = table.__getstate__()
    for broken in (state[:5], (b"", *state[1:]), (*state[:4], b"abc", *state[5:])):
        with pytest.raises(ValueError, match="table"):
            type(table).__new__(type(table)).__setstate__(broken)
