"""Files of writers that were killed are removed by the next one, those of writers at work are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from marginalia.corpus.streams import replacing
from marginalia.model.container import write_file

_WRITER = """
import sys, time
from marginalia.corpus.streams import replacing
with replacing(sys.argv[1]) as stream:
    stream.write(b"half")
    print("writing", flush=True)
    time.sleep(60)
"""


def writer(target: Path) -> subprocess.Popen[bytes]:
    """A process that has begun to write a file."""
    process = subprocess.Popen([sys.executable, "-c", _WRITER, str(target)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    return process


def test_only_files_of_dead_writers_are_removed(tmp_path: Path) -> None:
    target, others = tmp_path / "a.txt", tmp_path / "a.txt.more"
    first, second, other = writer(target), writer(target), writer(others)
    first.kill()
    first.wait()
    other.kill()
    other.wait()
    assert len(list(tmp_path.iterdir())) == 3
    write_file(target, [b"whole"])  # models are written the same way
    assert len(list(tmp_path.glob(".a.txt.????????????????.tmp"))) == 1  # the living writer's
    second.kill()
    second.wait()
    with replacing(str(target)) as stream:
        stream.write(b"new")
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 2  # and what was beside another file
    assert target.read_bytes() == b"new"
    write_file(others, [b"x"])
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "a.txt.more"}
