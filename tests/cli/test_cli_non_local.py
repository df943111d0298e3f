"""Global features on the command line: training, tagging with more hypotheses, word lists, refusals."""

from __future__ import annotations

import gzip
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from cli_world import Run

import marginalia as mg

NAMES = ("Alba", "Bern", "Carl")
DOCSTART = "-DOCSTART- -X- -X- O\n\n"
Words = list[tuple[str, str]]


def documents(count: int) -> list[list[Words]]:
    """Documents of two sentences, of words with labels: only the first tells the class of the name."""
    found = []
    for i in range(count):
        name, type_ = NAMES[i % 3], ("PER", "LOC")[i // 3 % 2]
        hint = "Mr" if type_ == "PER" else "in"
        tag = f"I-{type_}"
        found.append([[(hint, "O"), (name, tag), (".", "O")], [(name, tag), ("!", "O")]])
    return found


def labels_of(count: int) -> list[str]:
    return [label for document in documents(count) for sentence in document for _, label in sentence]


def columns(count: int, *, label: bool = True) -> str:
    """The same as column text."""
    text = ""
    for document in documents(count):
        text += DOCSTART if label else DOCSTART.replace(" O", "")
        for sentence in document:
            text += "".join(f"{word} X Y{f' {tag}' if label else ''}\n" for word, tag in sentence) + "\n"
    return text


def last_fields(text: str) -> list[str]:
    """The last column, without that of marks."""
    return [line.split()[-1] for line in text.splitlines() if line and not line.startswith("-DOC")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nonlocal")
    (folder / "eng.train").write_text(columns(18))
    (folder / "eng.testa").write_text(columns(6))
    (folder / "new.txt").write_text(columns(6, label=False))
    (folder / "people.txt").write_text("Alba\n")
    return folder


@pytest.fixture
def model(run: Run, folder: Path) -> Path:
    path = folder / "m.mg"
    if path.exists():
        return path
    words = ["train", folder / "eng.train", "--dev", folder / "eng.testa", "--columns", "word pos chunk ne"]
    words += ["--features", "ner", "--set", "cutoff=2", "--set", "encode=IOB2", "--learner", "nonlocal"]
    words += ["--set", "unit=document", "--set", "n=20", "--list", f"people={folder / 'people.txt'}", "-q"]
    code, _, err = run(*words, "-o", path)
    assert (code, err) == (0, "")
    return path


def test_documents_are_tagged_with_so_many_hypotheses(run: Run, folder: Path, model: Path) -> None:
    code, out, _ = run("tag", model, folder / "new.txt", "--hypotheses", 100)
    assert (code, last_fields(out)) == (0, labels_of(6))
    code, out, _ = run("eval", model, folder / "eng.testa", "--hypotheses", 6400, "--json")
    assert (code, json.loads(out)["f1"]) == (0, 100.0)
    for bad in ("0", "x", "1000001"):
        code, _, err = run("tag", model, folder / "new.txt", "--hypotheses", bad)
        assert code == 2
        assert "expected a whole number from 1 to 1000000" in err


def test_files_are_documents_of_their_own(run: Run, model: Path, tmp_path: Path) -> None:
    alone = []
    for text in columns(6, label=False).split(DOCSTART.replace(" O", ""))[1:]:
        (tmp_path / "one.txt").write_text(text)
        alone += last_fields(run("tag", model, tmp_path / "one.txt")[1])
    assert alone == labels_of(6)


def assert_answered_one_by_one(model: Path, parts: list[str]) -> None:
    """What `tag` says of three documents from a pipe: the first when the second is there, far less than a
    block."""
    command = [sys.executable, "-m", "marginalia", "tag", str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(parts[:2]).encode())
        process.stdin.flush()
        early = b""
        while len(early.splitlines()) < len(parts[0].splitlines()):
            assert select.select([process.stdout], [], [], 60)[0], "nothing was written"
            early += os.read(process.stdout.fileno(), 1 << 16)
        late, _ = process.communicate(parts[2].encode(), timeout=60)
    assert len(early.splitlines()) == len(parts[0].splitlines())
    whole = subprocess.run(command, input="".join(parts).encode(), capture_output=True, check=True)
    assert early + late == whole.stdout


def test_documents_from_a_pipe_are_answered_one_by_one(model: Path) -> None:
    text = columns(3, label=False)
    assert_answered_one_by_one(model, [f"-DOC{part}" for part in text.split("-DOC")[1:]])


def record(number: int, sentence: Words, *, spans: bool) -> str:
    tokens = [word for word, _ in sentence]
    found = [[t, t + 1, tag[2:]] for t, (_, tag) in enumerate(sentence) if tag != "O"]
    return json.dumps({"tokens": tokens, "doc": number} | ({"spans": found} if spans else {})) + "\n"


def test_keys_of_records_are_documents(run: Run, tmp_path: Path) -> None:
    for name, spans in (("train.jsonl", True), ("in.jsonl", False)):
        rows = [record(n, one, spans=spans) for n, document in enumerate(documents(18)) for one in document]
        (tmp_path / name).write_text("".join(rows))
    words = ("train", tmp_path / "train.jsonl", "-o", tmp_path / "m.mg", "--learner", "nonlocal", "-q")
    assert run(*words, "--set", "unit=document")[0] == 0
    lines = (tmp_path / "in.jsonl").read_text().splitlines(keepends=True)
    assert_answered_one_by_one(tmp_path / "m.mg", ["".join(lines[i : i + 2]) for i in (0, 2, 4)])
    code, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "in.jsonl")
    found, expected = (
        [json.loads(line)["spans"] for line in text.splitlines()]
        for text in (out, (tmp_path / "train.jsonl").read_text())
    )
    assert (code, found) == (0, expected)


def conllu(count: int, *, label: bool) -> str:
    text = ""
    for document in documents(count):
        for number, sentence in enumerate(document):
            text += "" if number else "# newdoc\n"
            for t, (word, tag) in enumerate(sentence, 1):
                text += f"{t}\t{word}\t_\t{tag if label else '_'}" + "\t_" * 6 + "\n"
            text += "\n"
    return text


def test_newdoc_comments_begin_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.conllu").write_text(conllu(18, label=True))
    (tmp_path / "in.conllu").write_text(conllu(18, label=False))
    words = ("train", tmp_path / "train.conllu", "-o", tmp_path / "m.mg", "--learner", "nonlocal", "-q")
    assert run(*words, "--label", "upos", "--set", "unit=document", "--set", "scheme=none")[0] == 0
    code, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "in.conllu")
    assert (code, [line.split("\t")[3] for line in out.splitlines() if "\t" in line]) == (0, labels_of(18))


def test_explain_and_inspect_name_global_features(run: Run, folder: Path, model: Path) -> None:
    words = ("explain", model, "--input", folder / "new.txt", "--hypotheses", 50)
    code, out, _ = run(*words, "--json", "--top", 1000)
    found = json.loads(out)
    assert code == 0
    assert len(found["tokens"]) == 5
    assert "global" in {reason["kind"] for reason in found["reasons"]}
    outputs = zip(found["chosen"]["labels"], found["other"]["labels"], strict=True)
    changed = [t for t, (one, other) in enumerate(outputs) if one != other]
    for reason in found["reasons"]:
        if reason["kind"] == "global":
            assert (reason["start"], reason["end"]) == (changed[0], changed[-1] + 1)
    assert sum(reason["difference"] for reason in found["reasons"]) == pytest.approx(found["difference"])
    code, out, _ = run("inspect", model, "--no-color")
    assert code == 0
    assert "global features, strongest first" in out
    assert "same(" in out
    assert "of column word, 100 hypotheses" in out
    code, out, _ = run("inspect", model, "--json")
    assert {"feature", "weight"} <= set(json.loads(out)["global_weights"][0])


def test_nbest_and_confidence(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    code, _, err = run("tag", model, folder / "new.txt", "--confidence")
    assert code == 1
    assert "marginalia calibrate" in err
    assert run("calibrate", model, folder / "eng.testa", "-o", tmp_path / "c.mg")[0] == 0
    code, out, _ = run("tag", tmp_path / "c.mg", folder / "new.txt", "--confidence")
    numbers = [float(line.split()[3]) for line in out.splitlines() if "X Y" in line]
    assert code == 0
    assert len(numbers) == 30
    assert all(0 <= number <= 1 for number in numbers)
    code, out, _ = run("tag", model, folder / "new.txt", "--nbest", 3, "--constrain", "at most 1 PER")
    assert code == 0
    assert out


def test_what_models_with_global_features_cannot_do(
    run: Run, folder: Path, model: Path, tmp_path: Path
) -> None:
    train = ("train", folder / "eng.train", "-q")
    for words, expected in (
        (("fix", model, "--input", folder / "eng.testa"), "cannot be corrected"),
        (("export", model, "--to", "python", "-o", tmp_path / "p.py"), "global features cannot be exported"),
        ((*train, "--start", model, "--learner", "nonlocal", "-o", tmp_path / "x.mg"), "trained further"),
    ):
        code, _, err = run(*words)
        assert code == 1
        assert expected in err
    assert run("shrink", model, "-o", tmp_path / "s.mg", "--bits", 16)[0] == 0
    assert run("eval", tmp_path / "s.mg", folder / "eng.testa")[0] == 0


def test_options_that_are_for_global_features_only(run: Run, folder: Path, tmp_path: Path) -> None:
    plain = ("train", folder / "eng.train", "-o", tmp_path / "p.mg", "--set", "passes=1", "-q")
    assert run(*plain)[0] == 0
    code, _, err = run("tag", tmp_path / "p.mg", folder / "new.txt", "--hypotheses", 5)
    assert code == 1
    assert "has no global features" in err
    code, _, err = run(*plain, "--global-features", "nonlocal")
    assert code == 1
    assert "are for the learner nonlocal, not for perceptron" in err
    files = ("--gold", folder / "eng.testa", "--pred", folder / "eng.testa")
    code, _, err = run("eval", *files, "--hypotheses", 3)
    assert code == 2
    assert "are for MODEL TEST" in err


def test_casing_lists_words_that_are_mostly_small(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cat saw the dog. The well-known U.S. cat, Rome's!\n")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write('{"text": "Dog and Dog, the end"}\n\n{"text": "the the"}\n')
    files = (tmp_path / "a.txt", tmp_path / "b.jsonl.gz")
    code, out, err = run("casing", *files)
    assert (code, out.split()) == (0, ["and", "cat", "end", "saw", "the", "well-known"])
    assert "are mostly in lower case" in err
    assert run("casing", *files, "--least", 2, "-o", tmp_path / "w.txt", "-q")[0] == 0
    assert (tmp_path / "w.txt").read_text().split() == ["cat", "the"]
    (tmp_path / "bad.jsonl").write_text('{"words": 1}\n')
    code, _, err = run("casing", tmp_path / "bad.jsonl")
    assert code == 1
    assert "bad.jsonl:1: expected a JSON object with a text" in err


def test_word_lists_and_recipes(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("in\n")
    (tmp_path / "families.txt").write_text("GF\nBO\n")
    (tmp_path / "recipe.toml").write_text(
        f'train = "{folder / "eng.train"}"\noutput = "r.mg"\nlearner = "nonlocal"\n'
        'global_features = "families.txt"\nlowercase = "words.txt"\n[set]\npasses = 2\n'
    )
    assert run("train", tmp_path / "recipe.toml", "-q")[0] == 0
    model = mg.load(tmp_path / "r.mg")
    assert model.saved.global_features["families"] == ["GF", "BO"]
    assert model.saved.arrays["global.lowercase"].tobytes() == b"in"
    code, _, err = run("train", tmp_path / "recipe.toml", "--global-function", "nothing", "-q")
    assert code == 1
    assert "found 'nothing', expected its name, module:function" in err
