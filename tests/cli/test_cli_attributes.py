"""Item files and converted models on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import Run

import marginalia as mg
from marginalia.corpus import write_crfsuite


@pytest.fixture(scope="module")
def items(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as item files."""
    folder = tmp_path_factory.mktemp("items")
    for name in ("train", "dev", "test"):
        sentences = []
        for sentence in mg.read_conll(data / f"{name}.txt"):
            *observed, label = sentence.columns
            rows = zip(*(sentence.columns[column] for column in observed), strict=True)
            attributes = [dict(zip(observed, row, strict=True)) | {"bias": 0.5} for row in rows]
            sentences.append(mg.Sentence({"attributes": attributes, "label": sentence.columns[label]}))
        write_crfsuite(sentences, folder / f"{name}.txt")
    return folder


@pytest.fixture(scope="module")
def trained(items: Path) -> Path:
    mg.train(items / "train.txt", format="crfsuite", passes=5).save(items / "model.mg")
    return items / "model.mg"


def test_item_files_from_training_to_scores(run: Run, items: Path, tmp_path: Path, trained: Path) -> None:
    model, out = tmp_path / "model.mg", tmp_path / "out.txt"
    words = ["train", items / "train.txt", "-o", model, "--format", "crfsuite", "--set", "passes=5", "-q"]
    assert run(*words)[0] == 0
    assert mg.load(model).to_bytes() == trained.read_bytes()
    code, report, _ = run("eval", model, items / "test.txt", "--json")
    assert code == 0
    assert run("tag", model, items / "test.txt", "-o", out, "--threads", 2)[0] == 0
    code, other, _ = run(
        "eval", "--gold", items / "test.txt", "--pred", out, "--format", "crfsuite", "--json"
    )
    assert json.loads(other)["f1"] == json.loads(report)["f1"] > 50


def test_tagging_keeps_the_lines(run: Run, items: Path, trained: Path, tmp_path: Path) -> None:
    text = "\n\tword\\:a\tpos\\:\\\\:2\r\nZ\tword\\:b  \t\n\n\n? \tx:\n\n"
    path = tmp_path / "odd.txt"
    path.write_bytes(text.encode())
    code, found, complaints = run("tag", trained, path)
    assert (code, complaints) == (0, "")
    rest = [line.partition("\t")[1:] for line in found.split("\n")]
    assert rest == [line.partition("\t")[1:] for line in text.split("\n")]
    assert {line.partition("\t")[0] for line in found.split("\n") if line} <= set(mg.load(trained).labels)


def test_streams_recipes_and_dev_data(run: Run, items: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'train = "{items}/train.txt"\ndev = "{items}/dev.txt"\noutput = "m.mg"\nformat = "crfsuite"\n'
        'structure = "segments"\n[set]\npasses = 2\nstream = true\n'
    )
    code, found, _ = run("train", recipe, "--json", "-q")
    assert code == 0
    assert json.loads(found)["dev"]["f1"] > 10
    assert run("inspect", tmp_path / "m.mg", "--top", 1)[1].count("features  explicit attributes") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["tag", "{model}", "{text}", "--format", "conll"],
            "trained on explicit attributes: expected crfsuite",
        ),
        (["tag", "{other}", "{items}/test.txt", "--format", "crfsuite"], "the model has templates"),
        (
            ["train", "{items}/train.txt", "-o", "x.mg", "--format", "crfsuite", "--columns", "a b"],
            "--columns is for",
        ),
        (
            ["train", "{items}/train.txt", "-o", "x.mg", "--format", "crfsuite", "--task", "ner"],
            "choose no task",
        ),
        (
            ["train", "{items}/train.txt", "-o", "x.mg", "--format", "crfsuite", "--set", "unit=document"],
            "crfsuite files do not tell documents apart",
        ),
        (["train", "{bad}", "-o", "x.mg", "--format", "crfsuite"], "bad.txt:2:1: found no label"),
        (["eval", "{model}", "{bad}"], "bad.txt:2:1: found no label"),
    ],
)
def test_what_is_refused(
    run: Run,
    items: Path,
    trained: Path,
    model: Path,
    data: Path,
    tmp_path: Path,
    words: list[str],
    message: str,
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("O\ta\n\tb\n")
    places = {"model": trained, "other": model, "items": items, "text": data / "test.txt", "bad": bad}
    code, found, complaints = run(*(word.format(**places) for word in words))
    assert (code, found) == (1, "")
    assert message in complaints


def test_convert(run: Run, items: Path, tmp_path: Path) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    theirs, ours, out = tmp_path / "model.crfsuite", tmp_path / "model.mg", tmp_path / "out.txt"
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in mg.read_crfsuite(items / "train.txt"):
        trainer.append(sentence.columns["attributes"], sentence.columns["label"])
    trainer.train(str(theirs))
    code, found, _ = run("convert", theirs, "-o", ours, "--json")
    assert code == 0
    assert json.loads(found)["scheme"] == "IOB2"
    assert run("convert", theirs, "-o", ours)[1].startswith(f"{json.loads(found)['features']:,} features")
    assert run("tag", ours, items / "test.txt", "-o", out)[0] == 0
    tagger = pycrfsuite.Tagger()
    tagger.open(str(theirs))
    for sentence in mg.read_crfsuite(out):
        assert tagger.tag(sentence.columns["attributes"]) == sentence.columns["label"]


def test_what_item_files_and_programs_cannot_hold(run: Run, items: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.mg"
    mg.train(items / "train.txt", format="crfsuite", learner="crf", passes=5).save(model)
    for option, message in ((["--confidence"], "for confidences"), (["--nbest", 2], "for several outputs")):
        code, _, complaints = run("tag", model, items / "test.txt", "-o", tmp_path / "out.txt", *option)
        assert code == 1
        assert f"item files have no place {message}" in complaints
        assert not (tmp_path / "out.txt").exists()
    code, _, complaints = run("export", model, "--to", "python", "-o", tmp_path / "tagger.py")
    assert code == 1
    assert "a model of explicit attributes cannot be exported" in complaints


def test_convert_refuses(run: Run, tmp_path: Path, model: Path) -> None:
    before, out = model.read_bytes(), tmp_path / "out.mg"
    code, _, complaints = run("convert", model, "-o", out)
    assert code == 1
    assert "not a model of CRFsuite" in complaints
    assert not out.exists()
    assert run("convert", model, "-o", model)[0] != 0
    assert model.read_bytes() == before
    assert run("convert", tmp_path / "none", "-o", out)[0] == 1
    assert run("convert", model)[0] == 2
    assert run("convert", model, "more", "-o", out)[0] == 2
