"""`tag` with a model of words: whatever comes in, its characters come out, in words with their offsets."""

from __future__ import annotations

import io
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

import marginalia as mg
from marginalia.cli import main
from marginalia.corpus import read_conllu_text

SIGNS = "我爱北京大学生ab1 \t\r　\xa0\x85\u2028e\u0301\u0327👩\u200d👩🏽\ufe0f/|-_#\ue000\U0010fffd"
LINES = ["我/r  爱/v  北京/ns  大学/n", "大学生/n  爱/v  北京/ns"]


@pytest.fixture(scope="module", params=["words", "chain"])
def model(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("words")
    (folder / "train.txt").write_text("\n".join(LINES * 8) + "\n", encoding="utf-8")
    beam = {"word_beam": 2} if request.param == "words" else {}
    how = {"task": "segmentation-tags", "structure": request.param, "passes": 3, **beam}
    made = mg.train(folder / "train.txt", **how)
    made.save(folder / "m.mg")
    return folder / "m.mg"


def assert_words_of(record: dict[str, object]) -> None:
    """Spans in order that hold all characters but white space between them, and none twice."""
    text, spans = str(record["text"]), [(a, b) for a, b, _ in record["spans"]]  # type: ignore[attr-defined]
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))
    assert all(text[a:b].strip() == text[a:b] for a, b in spans)
    covered = {at for a, b in spans for at in range(a, b)}
    assert {at for at, sign in enumerate(text) if not sign.isspace()} <= covered


@pytest.mark.parametrize("given", [[], ["--given", "blanks"]])
def test_words_of_any_text_have_its_offsets(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    rng, text = random.Random(3), tmp_path / "text.txt"
    lines = ["".join(rng.choices(SIGNS, k=rng.randint(0, 16))).rstrip("\r") for _ in range(120)]
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    assert main(["tag", str(model), str(text), "--format", "plain", "--to", "jsonl", *given]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
    assert [record["text"] for record in records] == lines
    for record in records:
        assert_words_of(record)
        if given:
            assert not any(sign.isspace() for a, b, _ in record["spans"] for sign in record["text"][a:b])


FILES = {
    "txt": "我爱北京大学\n\n大学生 爱北京\r\n".encode(),
    "jsonl": '{"text": "我爱 北京", "id": 1}\n{"text": "大\\u5b66生", "spans": [[0, 3, "n"]]}\n'.encode(),
    "conllu": (
        "# text = 我爱\n1\t我\t_\tr\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t爱\t_\tv\t_\t_\t_\t_\t_\t_\n\n"
    ).encode(),
}
SPICE = [
    b"",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\0",
    b"\xff",
    b"\xe3\x81",
    b'"',
    b"{",
    b"\\ud800",
    b"#",
    b"1\t",
    b"\xef\xbb\xbf",
]


def assert_spelled(path: Path, said: str) -> None:
    """The words of an output have the characters of the input."""
    if path.suffix == ".jsonl":
        for record in map(json.loads, said.split("\n")[:-1]):
            if "tokens" not in record:
                assert_words_of(record)
    elif path.suffix == ".conllu":
        ours, theirs = (
            [one.tokens for one in read_conllu_text(source)] for source in (io.StringIO(said), path)
        )
        assert ours == theirs
    else:
        words = [[word.rpartition("/")[0] for word in line.split(" ")] for line in said.split("\n")]
        lines = path.read_bytes().decode().removeprefix("\ufeff").split("\n")
        kept = [line.rstrip("\r").replace(" ", "").replace("\t", "") for line in lines]
        assert ["".join(line) for line in words if line != [""]] == [line for line in kept if line]


@pytest.mark.parametrize("suffix", FILES)
def test_damaged_input_is_an_error_or_is_cut(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    """An error has the place; else the words spell the input."""
    rng, path, errors = random.Random(suffix), tmp_path / f"damaged.{suffix}", 0
    for _ in range(60):
        data = FILES[suffix] * 2
        for _ in range(rng.randint(1, 3)):
            a, b = sorted(rng.randint(0, len(data)) for _ in range(2))
            data = data[:a] + rng.choice([*SPICE, data[a:b]]) + data[rng.choice([a, a, a + 1, b]) :]
        path.write_bytes(data)
        code = main(["tag", str(model), str(path)])
        said = capsys.readouterr()
        if code:
            errors += 1
            assert said.err.startswith(f"marginalia: error: {path}:")
            continue
        assert_spelled(path, said.out)
    assert errors
