"""Pipelines on the command line: train --task ud, parse, eval, inspect, shrink, calibrate, models."""

from __future__ import annotations

import functools
import gc
import json
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest
from cli_world import Run, Shell

import marginalia as mg
from invented_treebank import treebank
from marginalia.cli import main
from marginalia.cli.parse import load_pipeline, pieces
from marginalia.corpus.words import Word

QUICK = ["--set", "tags.passes=3", "--set", "tags.shuffle-average=1", "--set", "parser.passes=3", "-q"]
TEXT = "The dog doesn't see the cats. Anna liked the house!\n\nDr. moved the book."


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.conllu, dev.conllu and the pipeline p.mg."""
    folder = tmp_path_factory.mktemp("bank")
    (folder / "train.conllu").write_text(treebank(120))
    (folder / "dev.conllu").write_text(treebank(30, seed=2))
    (folder / "story.txt").write_text(TEXT)
    words = ["train", f"{folder}/train.conllu", "--dev", f"{folder}/dev.conllu", "--task", "ud"]
    assert main([*words, "-o", f"{folder}/p.mg", *QUICK]) == 0
    return folder


def test_train_tells_of_each_part(run: Run, bank: Path, tmp_path: Path) -> None:
    words = ["train", bank / "train.conllu", "--task", "ud", "-o", tmp_path / "p.mg", *QUICK[:-1], "--json"]
    code, out, err = run(*words)
    found = json.loads(out)
    assert code == 0
    assert list(found["parts"]) == ["tokens", "multiword", "tags", "tags-2", "lemmas", "supertags", "parser"]
    assert all(f"{part}:" in err for part in found["parts"])
    assert "jack-knifing: fold 5/5" in err


def test_raw_text_becomes_conllu(run: Run, bank: Path, tmp_path: Path) -> None:
    code, out, err = run("parse", bank / "p.mg", bank / "story.txt")
    assert (code, err) == (0, "")
    (tmp_path / "out.conllu").write_text(out)
    document = mg.read_conllu(tmp_path / "out.conllu")
    assert document.text == TEXT
    assert [s.sent_id for s in document] == ["1", "2", "3"]
    assert [s.newpar for s in document] == ["", None, ""]
    assert run("parse", bank / "p.mg", "--text", TEXT) == (0, out, "")
    assert run("parse", bank / "p.mg", bank / "story.txt", "--threads", 2)[1] == out
    code, ranged, _ = run("parse", bank / "p.mg", "--text", TEXT, "--ranges")
    assert "TokenRange=4:7" in ranged


def test_standard_input_is_parsed(shell: Shell, bank: Path) -> None:
    done = shell("parse", bank / "p.mg", "--buffer", input=TEXT.encode())
    assert done.returncode == 0
    assert done.stdout.decode() == shell("parse", bank / "p.mg", bank / "story.txt").stdout.decode()
    broken = shell("parse", bank / "p.mg", input=b"fine\n\xff\n")
    assert broken.returncode == 1
    assert b"<stdin>:2: found byte 0xFF, expected UTF-8 text" in broken.stderr


@pytest.mark.parametrize("to", ["tree", "json", "html", "svg"])
def test_other_forms(run: Run, bank: Path, to: str) -> None:
    code, out, _ = run("parse", bank / "p.mg", bank / "story.txt", "--to", to)
    assert code == 0
    assert "Anna" in out
    if to == "json":
        assert len(json.loads(out)["sentences"]) == 3


def test_given_tokens_stay(run: Run, bank: Path) -> None:
    gold = mg.read_conllu(bank / "dev.conllu")
    code, out, _ = run("parse", bank / "p.mg", bank / "dev.conllu", "--given", "tokens,tags")
    assert code == 0
    rows = [
        line.split("\t") for line in out.splitlines() if line[:1].isdigit() and "-" not in line.split("\t")[0]
    ]
    assert [(row[1], row[3], row[4]) for row in rows] == [(w.form, w.upos, w.xpos) for w in gold.words]
    assert run("parse", bank / "p.mg", bank / "dev.conllu", "--given", "nothing")[0] == 1


def test_the_best_trees_stand_one_behind_the_other(run: Run, bank: Path) -> None:
    code, out, _ = run("parse", bank / "p.mg", "--text", "The dog saw the cats.", "--nbest", 2)
    assert code == 0
    assert out.count("# score = ") == 2
    assert out.count("# text = ") == 2


def test_eval_gives_the_table_of_conll_2018(run: Run, bank: Path) -> None:
    code, out, _ = run("eval", bank / "p.mg", bank / "dev.conllu")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:8]] == [
        "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats",
    ]  # fmt: skip
    code, out, _ = run("eval", bank / "p.mg", bank / "dev.conllu", "--given", "tokens,tags", "--json")
    metrics = json.loads(out)["metrics"]
    assert metrics["UPOS"]["f1"] == metrics["Words"]["f1"] == 100
    assert run("eval", bank / "p.mg", bank / "dev.conllu", "--confusion")[0] == 2


def test_what_is_parsed_may_be_piped_into_eval(shell: Shell, bank: Path) -> None:
    parsed = shell("parse", bank / "p.mg", bank / "dev.conllu", "--given", "tokens")
    scored = shell("eval", "--gold", bank / "dev.conllu", "--pred", "-", input=parsed.stdout)
    assert scored.stdout == shell("eval", bank / "p.mg", bank / "dev.conllu", "--given", "tokens").stdout
    assert b"LAS" in scored.stdout


def test_inspect_shows_parts(run: Run, bank: Path) -> None:
    code, out, _ = run("inspect", bank / "p.mg")
    assert code == 0
    assert "a pipeline of 7 parts" in out
    assert "table lexicon" in out
    assert json.loads(run("inspect", bank / "p.mg", "--json")[1])["parts"]["tags"]["label"] == "upos+xpos"
    assert "NOUN NN" in run("inspect", bank / "p.mg", "--part", "tags")[1]
    assert run("inspect", bank / "p.mg", "--part", "tagger")[0] == 1


def test_one_part_anew_and_a_model_added(run: Run, bank: Path, model: Path, tmp_path: Path) -> None:
    words = [
        "train",
        bank / "train.conllu",
        "--task",
        "ud",
        "--start",
        bank / "p.mg",
        "-o",
        tmp_path / "q.mg",
    ]
    code, out, _ = run(*words, "--part", "lemmas", "-q", "--json")
    assert code == 0
    assert list(json.loads(out)["parts"]) == [
        "tokens",
        "multiword",
        "tags",
        "tags-2",
        "lemmas",
        "supertags",
        "parser",
    ]
    code, out, _ = run(*words, "--part", "lemmas", "--add", f"chunks={model}", "-q", "--json")
    assert list(json.loads(out)["parts"])[-1] == "chunks"
    assert "chunks=B-" in run("parse", tmp_path / "q.mg", "--text", "The dog sees the cat.")[1]


def test_shrink_and_calibrate(run: Run, bank: Path, tmp_path: Path) -> None:
    size = (bank / "p.mg").stat().st_size * 9 // 10
    words = [
        "shrink",
        bank / "p.mg",
        "--target",
        size,
        "--dev",
        bank / "dev.conllu",
        "-o",
        tmp_path / "s.mg",
        "-q",
    ]
    assert run(*words)[0] == 0
    assert (tmp_path / "s.mg").stat().st_size <= size
    code, out, _ = run("calibrate", bank / "p.mg", bank / "dev.conllu", "-o", tmp_path / "c.mg", "-q")
    assert code == 0
    assert "tags: temperature" in out
    assert out.count("ECE 0.") == 3
    code, out, _ = run("parse", tmp_path / "c.mg", "--text", TEXT, "--confidence", "--to", "json")
    assert code == 0
    assert {"upos", "feats", "head"} <= set(json.loads(out)["sentences"][0]["words"][0]["confidence"])
    code, out, _ = run(
        "parse", tmp_path / "c.mg", bank / "dev.conllu", "--given", "tokens,tags", "--confidence"
    )
    assert out.count("Confidence=head:") == len(mg.read_conllu(bank / "dev.conllu").words)
    code, _, err = run("parse", bank / "p.mg", "--text", TEXT, "--confidence")
    assert code == 1
    assert "marginalia calibrate" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tag", "p.mg"], "pipeline of several models"),
        (["parse", "p.mg", "--text", "x", "--given", "tokens"], "--text is raw text"),
        (["parse", "nowhere.mg", "--text", "x"], "cannot read the model"),
        (
            ["train", "train.conllu", "--task", "ud", "-o", "x.mg", "--learner", "crf"],
            "--task ud trains several",
        ),
        (["train", "train.conllu", "--task", "pos", "-o", "x.mg", "--part", "tags"], "are for --task ud"),
        (["train", "train.conllu", "--task", "ud", "-o", "x.mg", "--part", "tagger"], "part: found 'tagger'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Run, bank: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(bank)
    code, _, err = run(*words)
    assert code in (1, 2)
    assert message in err


def test_ctrl_c_keeps_the_parts_that_are_done(bank: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "marginalia", "train", f"{bank}/train.conllu", "--task", "ud"]
    command += ["-o", f"{tmp_path}/p.mg", "--set", "tags.passes=100000", "--set", "tags.shuffle-average=1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"tags:"):
                break
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(60) == 130, rest
    pipeline = mg.load(f"{tmp_path}/p.mg")
    assert list(pipeline.bundle.parts) == ["tokens", "multiword", "tags"]  # type: ignore[attr-defined]


def test_ctrl_c_keeps_what_was_parsed(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text((TEXT + "\n\n") * 20_000)
    command = [sys.executable, "-m", "marginalia", "parse", f"{bank}/p.mg", f"{tmp_path}/long.txt"]
    partial = tmp_path / "out.conllu.partial"
    heard = functools.partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # a shell's background job ignores it
    with subprocess.Popen(
        [*command, "-o", f"{tmp_path}/out.conllu"], stderr=subprocess.PIPE, preexec_fn=heard
    ) as process:
        while process.poll() is None and not any(
            path.stat().st_size for path in tmp_path.iterdir() if path.name != "long.txt"
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert not (tmp_path / "out.conllu").exists()
    kept = mg.read_conllu(partial)
    assert 0 < len(kept) < 60_000
    assert [sentence.sent_id for sentence in kept] == [str(n + 1) for n in range(len(kept))]


def test_errors_in_treebanks_say_where(run: Run, tmp_path: Path) -> None:
    rows = [f"{i}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, head in ((1, 2), (2, 1))]
    cases = {
        "1:13: found a cycle": "".join(rows) + "\n",
        " found no sentences": "",
        "1:4: found 2 columns": "1\tx\n\n",
    }
    for message, text in cases.items():
        (tmp_path / "t.conllu").write_text(text)
        code, _, err = run("train", tmp_path / "t.conllu", "--task", "ud", "-o", tmp_path / "x.mg")
        assert code == 1
        assert f"t.conllu:{message}" in err


def test_models_are_listed(run: Run) -> None:
    code, out, _ = run("models", "--json")
    assert code == 0
    for model in json.loads(out)["models"]:
        assert model["licence"]
        assert mg.load(model["name"])


def test_a_file_wins_over_a_built_in_name_and_a_folder_does_not(
    run: Run, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").mkdir()
    assert "1\tShe\tshe\tPRON" in run("parse", "en", "--text", "She moved.")[1]
    (tmp_path / "en").rmdir()
    (tmp_path / "en").write_bytes((bank / "p.mg").read_bytes())
    assert run("parse", "en", "--text", TEXT) == run("parse", bank / "p.mg", "--text", TEXT)


def test_what_is_written_is_let_go(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text((TEXT + "\n\n") * 6000)
    arguments = {"to": "conllu", "given": None, "ranges": False, "text": None, "nbest": None}
    args = Namespace(**arguments, threads=1, confidence=False, buffer=False)
    gc.collect()
    gc.disable()
    try:
        alive = [
            sum(isinstance(one, Word) for one in gc.get_objects())
            for _ in pieces(args, load_pipeline(f"{bank}/p.mg"), [f"{tmp_path}/long.txt"])
        ]
    finally:
        gc.enable()
    assert len(alive) > 3
    assert max(alive) <= 1.5 * alive[0]


def test_a_long_text_is_parsed_in_parts(shell: Shell, bank: Path, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text((TEXT + "\n\n") * 3000)
    done = shell("parse", bank / "p.mg", tmp_path / "long.txt", "-o", tmp_path / "out.conllu")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.conllu").read_text().count("# sent_id") == 9000


def test_words_of_pipelines_are_explained(run: Run, bank: Path) -> None:
    model, story, dev = bank / "p.mg", ["--input", bank / "story.txt"], ["--input", bank / "dev.conllu"]
    code, out, _ = run("explain", model, *story, "--sentence", 2, "--word", 1, "--top", 2)
    assert code == 0
    assert out.startswith("word 1, Anna: PROPN nsubj of 2\n\npart tags\n")
    assert "part parser\nword 1: nsubj of 2, not " in out
    found = json.loads(run("explain", model, *story, "--sentence", 2, "--json", "--top", 1)[1])
    assert [word["form"] for word in found["words"]] == ["Anna", "liked", "the", "house", "!"]
    parts = found["words"][0]["parts"]
    assert parts["tags"]["chosen"]["labels"][0].startswith("PROPN ")
    assert parts["parser"]["rest"]["reasons"] > 0
    total = sum(r["difference"] for r in parts["parser"]["reasons"]) + parts["parser"]["rest"]["difference"]
    assert total == pytest.approx(parts["parser"]["difference"])
    words = [*dev, "--given", "tokens,tags", "--sentence", 3, "--word", 1, "--part", "parser"]
    code, out, err = run("explain", model, *words, "--against", ":root")
    assert (code, out.count(", not "), "root of " in out) == (0, 1, True), err
    assert run("explain", model, "Anna liked the house.", "--word", 2, "--part", "tags")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--sentence", 9], "found no sentence 9"), (["--word", 99], "from 1 to 8"),
     (["--word", 0], "from 1 to 8"),
     (["--part", "tokens"], "expected one of tags"), (["--html", "x.html"], "--html is not for pipelines"),
     (["--against", "VERB"], "--word N --part NAME"), (["--given", "words"], "given: found 'words'"),
     (["--all"], "--all is not for pipelines"), (["--columns", "word"], "--columns is not for pipelines")],
)  # fmt: skip
def test_what_pipelines_do_not_explain(run: Run, bank: Path, words: list[str], message: str) -> None:
    code, out, err = run("explain", bank / "p.mg", "--input", bank / "story.txt", *words)
    assert (code != 0, out) == (True, "")
    assert message in err


WHOLE = [f"--set={part}.{name}" for part in ("tags", "tags-2", "parser") for name in ("bits=32", "keep=0")]


def right(text: str, upos: str, deprel: str) -> str:
    """The first sentence with another tag and relation of its first word."""
    rows = [line.split("\t") for line in text.split("\n\n")[0].splitlines()]
    words = [row for row in rows if row[0].isdigit()]
    words[0][3], words[0][7] = upos, deprel
    return "\n".join("\t".join(row) for row in rows) + "\n\n"


def test_sentences_of_a_pipeline_are_corrected_and_taken_back(run: Run, bank: Path, tmp_path: Path) -> None:
    model, fixed, given = tmp_path / "p.mg", tmp_path / "f.mg", tmp_path / "right.conllu"
    assert run("train", bank / "train.conllu", "--task", "ud", "-o", model, *QUICK, *WHOLE)[0] == 0
    given.write_text(right((bank / "dev.conllu").read_text(), "NUM", "odd"))
    words = ["fix", model, "--input", given, "--check", bank / "dev.conllu"]
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out.endswith("nothing was written: -o FILE writes the model\n")
    assert "part tags\n" in out
    assert "new labels: NUM" in out
    assert "checked 30 sentences: " in out
    found = json.loads(run(*words, "--json", "-o", fixed)[1])
    assert list(found["parts"]) == ["tags", "tags-2", "parser"]
    assert [flip["number"] for flip in found["flips"]][:1] == [1]
    shown = run("parse", fixed, given, "--given", "tokens")[1]
    assert {"NUM", "odd"} <= set(shown.split("\n\n")[0].split())
    assert "1. tags: " in run("fix", fixed, "--log")[1]
    only = ["fix", fixed, "--input", bank / "dev.conllu", "--sentence", 2, "--part", "parser", "-o", fixed]
    assert run(*only)[0] == 0
    assert [list(one) for one in json.loads(run("fix", fixed, "--log", "--json")[1])["corrections"]] == [
        ["tags", "tags-2", "parser"], ["parser"],
    ]  # fmt: skip
    assert "1 correction left" in run("fix", fixed, "--undo", "-o", fixed)[1]
    assert "0 corrections left" in run("fix", fixed, "--undo", "-o", fixed)[1]
    assert fixed.read_bytes() == model.read_bytes()
    assert "there is none to undo" in run("fix", fixed, "--undo")[2]
    for more, message in (
        (["--part", "lemmas"], "part: found 'lemmas', expected one of tags, tags-2, parser"),
        (["--sentence", 2], "right.conllu: found no sentence 2"),
        (["--columns", "word"], "--columns is not for pipelines"),
        (["--passes", 2, "-o", fixed], "marginalia train --task ud --start MODEL --part NAME"),
    ):
        assert message in run("fix", model, "--input", given, *more)[2]
    assert "sentences of a CoNLL-U file" in run("fix", model, "Anna", "--labels", "NUM")[2]
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tAnna" + "\t_" * 8 + "\n\n")
    assert "neither tags nor heads" in run("fix", model, "--input", bare)[2]


def test_weights_of_few_bits_are_not_corrected(run: Run, bank: Path) -> None:
    code, _, err = run("fix", bank / "p.mg", "--input", bank / "dev.conllu", "--sentence", 1)
    assert code == 1
    assert "the part 'tags' cannot be corrected: its weights are kept in few bits" in err
    assert "--set tags.bits=32 --set tags.keep=0" in err
