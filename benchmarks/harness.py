"""Run commands as child processes, measure them, print tables. No benchmark knows how this is done.

The peak memory that Linux reports for a child is never below the peak of the process that started it, so
this process must stay small: benchmarks stream files and never hold a corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
MB = 1024 * 1024
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in kilobytes on Linux


@dataclass
class Run:
    """What one child process cost and said. `code` is negative when a signal ended it."""

    cpu: float
    wall: float
    peak_mb: float
    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def last_words(self) -> str:
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit code {self.code}"


class CommandFailed(Exception):
    def __init__(self, run: Run):
        super().__init__(run.last_words)
        self.run = run


def measure(command: list[str], timeout: float | None = None, memory_gb: float | None = None) -> Run:
    """Run once. CPU is user + system time of the child and of the children it waited for."""
    environment = dict(os.environ, PYTHONHASHSEED="0")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment,
            preexec_fn=_limiter(memory_gb),
        )
        killed = threading.Event()
        timer = _start_timer(child.pid, timeout, killed)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        if timer:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        return Run(
            usage.ru_utime + usage.ru_stime,
            wall,
            usage.ru_maxrss * RSS_UNIT / MB,
            child.returncode,
            _text(out),
            _text(err),
            killed.is_set(),
        )


def _limiter(memory_gb: float | None):
    if memory_gb is None:
        return None
    limit = int(memory_gb * 1024 * MB)
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _start_timer(pid: int, timeout: float | None, killed: threading.Event) -> threading.Timer | None:
    if timeout is None:
        return None

    def kill():
        killed.set()
        os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(timeout, kill)
    timer.start()
    return timer


def _text(stream) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def median_of(command: list[str], repetitions: int = 1, **limits) -> Run:
    """The repetition with the median CPU time; of an even number the lower one."""
    runs = []
    for _ in range(repetitions):
        run = measure(command, **limits)
        if run.code != 0:
            raise CommandFailed(run)
        runs.append(run)
    return sorted(runs, key=lambda run: run.cpu)[(repetitions - 1) // 2]


def size_mb(path: Path) -> float:
    """Of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / MB


def cost_row(system: str, run: Run, model: Path | None = None, **more) -> dict:
    """A row of the usual table; `more` carries the score and whatever else a benchmark adds."""
    row = {"system": system, **more, "CPU s": run.cpu, "wall s": run.wall, "peak MB": run.peak_mb}
    if model is not None:
        row["model MB"] = size_mb(model)
    return row


def failed_row(system: str, failure: Exception) -> dict:
    return {"system": system, "note": f"failed: {failure}"}


def add_ratio(rows: list[dict], peer: str, column: str, name: str) -> None:
    """Add `name`: this row's `column` over the peer's; failed rows have no such column and stay."""
    base = next((row[column] for row in rows if row["system"] == peer and column in row), None)
    for row in rows:
        if base and column in row:
            row[name] = row[column] / base


def print_table(title: str, rows: list[dict]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    print(f"\n{title}")
    for line in [columns, ["-" * width for width in widths], *cells]:
        aligned = [
            _align(cell, width, place) for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(aligned).rstrip())
    sys.stdout.flush()


def _cell(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _align(cell: str, width: int, place: int) -> str:
    return cell.ljust(width) if place == 0 else cell.rjust(width)


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark shares."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "--data",
        type=Path,
        default=default_data(),
        metavar="DIR",
        help="corpora (default: $MARGINALIA_DATA, else ../shared/data beside the checkout)",
    )
    options.add_argument("--repeat", type=int, default=3, help="repetitions; that of median CPU time counts")
    options.add_argument("--skip-peer", action="store_true", help="measure only marginalia")
    options.add_argument("--skip-ours", action="store_true", help="measure only the peers")
    options.add_argument("--json-out", type=Path, metavar="FILE", help="also write the tables as JSON")
    return options


def add_only(options: argparse.ArgumentParser, names: Iterable[str], what: str) -> None:
    """An option that picks rows by name; other names are an error, since they would run nothing."""
    known = list(names)
    options.add_argument(
        "--only",
        nargs="+",
        default=[],
        choices=known,
        metavar="NAME",
        help=f"{what} to run: {'; '.join(known)}",
    )


def default_data() -> Path:
    return Path(os.environ.get("MARGINALIA_DATA") or CHECKOUT.parent / "shared" / "data")


def need(path: Path) -> Path:
    if not path.exists():
        sys.exit(f"{path} not found: say where the corpora are with --data DIR or MARGINALIA_DATA")
    return path


def write_json(path: Path | None, tables: dict[str, list[dict]]) -> None:
    if path:
        path.write_text(json.dumps({"machine": machine(), "tables": tables}, indent=2) + "\n")


def machine() -> dict:
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "harness peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT / MB,
    }
