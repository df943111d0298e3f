"""Progress: a bar on a terminal, a line a pass elsewhere, and never in the way of the work."""

from __future__ import annotations

import io

from marginalia.cli.progress import Notes, TrainingProgress
from marginalia.learn import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def record(**changes: object) -> Progress:
    values = {
        "number": 2,
        "passes": 10,
        "sentences": 5,
        "total": 10,
        "mistakes": 1,
        "error": 3.0,
        "seconds": 1.5,
    }
    return Progress(**(values | changes))  # type: ignore[arg-type]


def test_progress_on_a_terminal() -> None:
    stream = Terminal()
    progress = TrainingProgress(stream)
    progress.show(record())
    assert stream.getvalue().startswith("\r\x1b[Kpass  2/10 ")
    assert " 50%" in stream.getvalue()
    drawn = len(stream.getvalue())
    progress.show(record(sentences=6))  # too soon to be drawn
    assert len(stream.getvalue()) == drawn
    progress.show(record(finished=True, dev=90.0, best=True))
    assert stream.getvalue().endswith("\r\x1b[Kpass  2/10  training error  3.000%  dev  90.00 *  1.5 s\n")
    progress.end()


def test_progress_elsewhere() -> None:
    stream = io.StringIO()
    progress = TrainingProgress(stream)
    progress.show(record())
    assert stream.getvalue() == ""
    progress.show(record(finished=True))
    assert stream.getvalue() == "pass  2/10  training error  3.000%  1.5 s\n"


def test_progress_of_learners_without_errors() -> None:
    stream = io.StringIO()
    progress = TrainingProgress(stream)
    progress.show(record(finished=True, error=None, loss=12345.67, dev=90.0, best=True))
    progress.show(record(finished=True, error=None))
    assert stream.getvalue() == "pass  2/10  loss 12,345.7  dev  90.00 *  1.5 s\npass  2/10   1.5 s\n"
    terminal = Terminal()
    TrainingProgress(terminal).show(record(error=None))
    assert "error" not in terminal.getvalue()
    assert " 50%" in terminal.getvalue()


def test_a_stream_that_fails_is_left_alone() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    notes = Notes(Closed())
    notes.say("one")
    notes.say("two")
