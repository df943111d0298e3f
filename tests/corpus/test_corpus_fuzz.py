"""Damaged files: every reader gives sentences or a located `DataError`, and nothing else."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator

import pytest

from marginalia.corpus import (
    Sentence,
    read_conll,
    read_conllu_columns,
    read_conllu_text,
    read_jsonl,
    read_kytea,
    read_plain,
    read_segmented,
)
from marginalia.errors import DataError

ROW = "\tx\ty\tN\tN\t_\t0\troot\t_\tNE=B-X|A=1\n"
FILES: dict[str, tuple[bytes, Callable[..., Iterator[Sentence]]]] = {
    "conll": ("\ufeff-DOCSTART- O O\n\n# c\né N B-X\r\nb N I-X\n\n日 V O\n".encode() * 3, read_conll),
    "conllu": (f"# text = é\n1-2{ROW}1{ROW}2{ROW}2.1{ROW}\n# newdoc\n1{ROW}\n".encode(), read_conllu_columns),
    "conllu-text": (
        f"# text = xx yx\n1{ROW}2{ROW}\n1-2{ROW}1{ROW}2{ROW}\n".replace("\ty\t", "\t_\t").encode(),
        read_conllu_text,
    ),
    "jsonl": (
        '{"text": "é b\\u00e9", "spans": [[0, 1, "X"]], "n": 1e5}\n'
        '{"tokens": ["a", "b"], "tags": ["O", "O"]}\n'
        '{"tokens": ["a", "b"], "spans": [{"start": 0, "end": 1, "label": "X"}]}\n'.encode(),
        read_jsonl,
    ),
    "plain": ("\ufeffé b\r\n日本 c\n".encode() * 3, read_plain),
    "segmented": ("我/r  喜欢/v\n日本/ns\n".encode() * 3, lambda source: read_segmented(source, "/")),
    "kytea": ("我/r|喜-欢/v\n日-本 語\n".encode() * 3, lambda source: read_kytea(source, "/")),
}
SPICE = [
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"#",
    b"\0",
    b"\xff",
    b"\xe3\x81",
    b"-DOCSTART-",
    b'"',
    b"{",
    b"[",
    b"-",
    b"9",
    b"/",
    b".",
]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Up to four cuts, insertions, swaps or repetitions."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randint(0, len(data)) for _ in range(2))
        middle = rng.choice(
            [b"", rng.choice(SPICE), bytes([rng.randrange(256)]), data[a:b] * 2, data[a : a + 1]]
        )
        data = data[:a] + middle + data[rng.choice([a, a, min(a + 1, len(data)), b]) :]
    return data


@pytest.mark.parametrize("name", FILES)
def test_damage_is_an_error_or_a_valid_result(name: str) -> None:
    valid, reader = FILES[name]
    assert list(reader(io.BytesIO(valid)))
    rng, errors = random.Random(name), []
    for _ in range(1500):
        try:
            sentences = list(reader(io.BytesIO(damaged(valid, rng))))
        except DataError as error:
            errors.append(error)
            continue
        for sentence in sentences:
            assert {len(values) for values in sentence.columns.values()} == {len(sentence)}
            assert all(0 <= span.start < span.end <= len(sentence) for span in sentence.spans)
    assert len(errors) > 100
    assert all(error.file == "<stream>" and error.line is not None for error in errors)
