"""Pipes: an answer comes as soon as there is something to answer, and is the one that files get."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

STORED = Path(__file__).parents[1] / "model" / "stored"
RANKED = json.dumps(json.loads((STORED / "candidates.json").read_text())[0]["item"]) + "\n"
TREE = "1\tOne\tone\t_\t_\t_\t0\troot\t_\t_\n\n"

LINES = {
    "columns": ("tag chain.mg", "1\ncup\n\n"),
    "threads": ("tag chain.mg --threads 2", "1\ncup\n\n"),
    "alternatives": ("tag chain.mg --nbest 2", "1\ncup\n\n"),
    "jsonl": ("tag chain.mg --format jsonl", '{"text": "1 cup"}\n'),
    "plain": ("tag chain.mg --format plain", "1 cup\n"),
    "item lines": ("tag chain-crfsuite.mg", "\tw=1\n\tw=cup\n\n"),
    "items": ("tag single.mg", '{"text": "1 cup"}\n'),
    "candidates": ("tag candidates.mg", RANKED),
    "raw text": ("parse pipeline.mg", "One cup.\n\n"),
    "raw text, threads": ("parse pipeline.mg --threads 2", "One cup.\n\n"),
    "given tokens": ("parse pipeline.mg --given tokens", TREE),
}


def command(words: str) -> list[str]:
    verb, model, *rest = words.split()
    return [sys.executable, "-m", "marginalia", verb, str(STORED / model), *rest]


def next_answer(stream: IO[bytes]) -> bytes:
    """What there is to read within a while."""
    ready, _, _ = select.select([stream], [], [], 30)
    return os.read(stream.fileno(), 1 << 16) if ready else b""


@pytest.mark.parametrize("kind", LINES)
def test_each_line_is_answered_at_once(kind: str) -> None:
    words, text = LINES[kind]
    pipe = subprocess.PIPE
    found = b""
    with subprocess.Popen(command(words), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        late = kind == "given tokens"  # blank lines that may follow belong to the sentence before them
        for number in range(3):
            process.stdin.write(text.encode())
            process.stdin.flush()
            if number or not late:
                answer = next_answer(process.stdout)
                assert answer, number
                found += answer
        process.stdin.close()
        found += process.stdout.read()
    whole = subprocess.run(
        command(f"{words} --buffer"), input=3 * text.encode(), capture_output=True, check=True, timeout=60
    )
    assert without_white_space(found) == without_white_space(whole.stdout)


def without_white_space(answer: bytes) -> bytes:
    """Trees without what is said of the white space behind a part of a text, wherever it was cut."""
    return answer.replace(rb"SpacesAfter=\n\n", b"_")
