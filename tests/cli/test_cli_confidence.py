"""`tag --confidence`, `--min-confidence`, `--nbest`; `calibrate`; `eval --reliability`; in every format."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_world import COLUMNS, Run, Shell, corpus, without_last_column

import marginalia as mg
from marginalia.cli import main
from marginalia.evaluate import reliability


@pytest.fixture(scope="session")
def crf(data: Path) -> Path:
    """A chunker that is not too sure of itself."""
    path = data / "crf.mg"
    words = ["train", f"{data}/train.txt", "-o", f"{path}", "--task", "chunking", "--columns", COLUMNS]
    assert main([*words, "--learner", "crf", "--set", "passes=4", "-q"]) == 0
    return path


@pytest.fixture(scope="session")
def words_crf(data: Path) -> Path:
    """A chunker that sees words alone."""
    rows = [line.split(" ") for line in corpus(60, 9).split("\n")]
    text = "\n".join(f"{row[0]}\t{row[2]}" if len(row) == 3 else "" for row in rows)
    (data / "words_crf.txt").write_text(text)
    path = data / "words_crf.mg"
    words = ["train", f"{data}/words_crf.txt", "-o", f"{path}", "--columns", "word chunk", "--learner", "crf"]
    assert main([*words, "--set", "passes=4", "-q"]) == 0
    return path


SENTENCE = ["the", "old", "cat", "near", "a", "new", "river", "."]
JSON = [{"tokens": SENTENCE, "spans": []}, {"text": " ".join(SENTENCE), "spans": [], "id": 7}]


def tagged(model: Path, **options: Any) -> mg.Tagged:
    return mg.load(model).tag(SENTENCE, **options)


def decimals(numbers: Any) -> list[str]:
    return [f"{number:.4f}" for number in numbers]


def span_column(found: mg.Tagged) -> list[str]:
    column = ["_"] * len(found.tokens)
    for span, p in zip(found.spans, found.span_confidence or (), strict=True):
        column[span.start : span.end] = [f"{p:.4f}"] * (span.end - span.start)
    return column


class TestColumns:
    def test_confidence(self, run: Run, crf: Path, data: Path) -> None:
        code, out, _ = run("tag", crf, data / "test.txt", "--confidence")
        assert code == 0
        plain = run("tag", crf, data / "test.txt")[1]
        columns = [line.split(" ") for line in out.split("\n") if line]
        assert [[*c[:3], c[-1]] for c in columns] == [line.split(" ") for line in plain.split("\n") if line]
        rows = [line.split(" ") for line in (data / "test.txt").read_text().split("\n\n")[0].split("\n")]
        one = mg.load(crf).tag({"word": [r[0] for r in rows], "pos": [r[1] for r in rows]}, confidence=True)
        first = columns[: len(rows)]
        assert [c[3] for c in first] == decimals(one.label_confidence)
        assert [c[4] for c in first] == span_column(one)
        assert {c[5] for c in first} == set(decimals([one.confidence]))

    def test_eval_reads_what_tag_wrote(self, run: Run, crf: Path, data: Path, tmp_path: Path) -> None:
        """The label stays the last column."""
        scores = []
        for options in ((), ("--confidence",), ("--min-confidence", "0", "--confidence")):
            run("tag", crf, data / "test.txt", "-o", tmp_path / "out", *options)
            words = ("--gold", data / "test.txt", "--columns", COLUMNS, "--pred", tmp_path / "out", "--json")
            scores.append(json.loads(run("eval", *words)[1])["f1"])
        assert len(set(scores)) == 1

    def test_abstention(self, run: Run, crf: Path, data: Path) -> None:
        first = [line.split(" ") for line in run("tag", crf, data / "test.txt")[1].split("\n") if line]
        sure = run("tag", crf, data / "test.txt", "--confidence")[1]
        confidences = [line.split(" ")[4] for line in sure.split("\n") if line]
        left = run("tag", crf, data / "test.txt", "--min-confidence", "0.9")[1]
        rows = [line.split(" ") for line in left.split("\n") if line]
        doubtful = [p != "_" and float(p) < 0.9 for p in confidences]
        assert any(doubtful)
        expected = [
            [row[3], "O"] if gone else ["_", row[3]] for row, gone in zip(first, doubtful, strict=True)
        ]
        assert [row[3:] for row in rows] == expected

    def test_nbest(self, run: Run, crf: Path, tmp_path: Path, data: Path) -> None:
        text = "-DOCSTART- -X- O\n\n# a comment of some length\nthe DT\ncat NN\n\n\nsees VBZ"
        (tmp_path / "in").write_text(text)
        code, out, _ = run("tag", crf, tmp_path / "in", "--nbest", 3)
        assert code == 0
        tagger = mg.load(crf)
        first = tagger.nbest({"word": ["the", "cat"], "pos": ["DT", "NN"]}, 3)
        blocks = out.split("#rank=")
        assert blocks[0] == "-DOCSTART- -X- O O\n\n# a comment of some length\n"
        assert len(blocks) == 7
        for rank, (block, one) in enumerate(zip(blocks[1:4], first, strict=True), start=1):
            score, probability = round(one.score or 0.0, 4), round(one.confidence or 0.0, 4)
            head = f"{rank};score={score};probability={probability}\n"
            assert block.startswith(f"{head}the DT {one.labels[0]}\ncat NN {one.labels[1]}\n\n")
        again = run("tag", crf, tmp_path / "in", "--nbest", 3, "--threads", 2)[1]
        assert again == out
        (tmp_path / "out").write_text(out)
        read = list(mg.read_conll(tmp_path / "out", columns="word pos chunk"))
        assert [len(sentence) for sentence in read] == [2, 2, 2, 1, 1, 1]
        fields = run("tag", crf, tmp_path / "in", "--nbest", 2, "--confidence")[1].split("\n")
        assert [len(line.split(" ")) for line in fields if line.startswith("cat")] == [6, 6]

    def test_fewer_outputs_than_asked_for(self, run: Run, crf: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text("the DT\n\nthe DT\ncat NN\nsees VBZ\n")
        labels = {label for label in mg.load(crf).labels if not label.startswith("I-")}
        out = run("tag", crf, tmp_path / "in", "--nbest", 20)[1]
        assert out.count("\nthe DT") == len(labels) + 20

    def test_threads(self, shell: Shell, crf: Path, data: Path) -> None:
        text = (data / "test.txt").read_bytes() * 200  # several blocks
        words = ("tag", crf, "--confidence", "--min-confidence", "0.8")
        one, two = (shell(*words, "--threads", n, input=text).stdout for n in (1, 3))
        assert one
        assert one == two


class TestOtherFormats:
    def test_plain(self, run: Run, words_crf: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text(" ".join(SENTENCE) + "\n")
        found = tagged(words_crf, confidence=True)
        columns = (found.tokens, decimals(found.label_confidence), span_column(found))
        whole = decimals([found.confidence]) * len(SENTENCE)
        lines = ["\t".join(row) for row in zip(*columns, whole, found.labels, strict=True)]
        words = ("tag", words_crf, tmp_path / "in", "--format", "plain")
        assert run(*words, "--confidence")[1] == "\n".join(lines) + "\n\n"
        best = [t.labels for t in mg.load(words_crf).nbest(SENTENCE, 2)]
        out = run(*words, "--nbest", 2)[1].split("\n")
        assert [line.split("\t")[1] for line in out if "\t" in line] == [*best[0], *best[1]]
        left = tagged(words_crf, min_confidence=0.9)
        out = run(*words, "--min-confidence", 0.9)[1].split("\n")
        assert [line.split("\t")[2] for line in out if line] == list(left.labels)
        taken = {t for span, _ in left.abstained for t in range(span.start, span.end)}
        assert {i for i, line in enumerate(out) if line and line.split("\t")[1] != "_"} == taken

    def test_jsonl(self, run: Run, words_crf: Path, tmp_path: Path) -> None:
        (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, JSON)) + "\n")
        words = ("tag", words_crf, tmp_path / "in.jsonl", "--format", "jsonl", "--tokenizer", "whitespace")
        found = tagged(words_crf, confidence=True)
        tokens, text = map(json.loads, run(*words, "--confidence")[1].splitlines())
        spans = [
            {**span._asdict(), "confidence": round(p, 4)}
            for span, p in zip(found.spans, found.span_confidence or (), strict=True)
        ]
        assert tokens["spans"] == spans
        assert tokens["confidence"] == text["confidence"] == round(found.confidence or 0.0, 4)
        assert tokens["token_confidence"] == [round(p, 4) for p in found.label_confidence or ()]
        assert text["id"] == 7
        assert "token_confidence" not in text
        cut = [text["text"][span["start"] : span["end"]] for span in text["spans"]]
        assert cut == [" ".join(SENTENCE[span.start : span.end]) for span in found.spans]
        assert [span["confidence"] for span in text["spans"]] == [span["confidence"] for span in spans]

    def test_jsonl_abstention(self, run: Run, words_crf: Path, tmp_path: Path) -> None:
        (tmp_path / "in.jsonl").write_text(json.dumps(JSON[0]) + "\n")
        words = ("tag", words_crf, tmp_path / "in.jsonl", "--format", "jsonl", "--min-confidence", 0.9)
        left = tagged(words_crf, min_confidence=0.9)
        assert left.abstained
        found = json.loads(run(*words)[1])
        assert found["spans"] == [list(span) for span in left.spans]
        assert found["abstained"] == [span._asdict() for span, _ in left.abstained]
        assert "confidence" not in found
        found = json.loads(run(*words, "--confidence")[1])
        assert [one["confidence"] for one in found["abstained"]] == [round(p, 4) for _, p in left.abstained]

    def test_jsonl_nbest(self, run: Run, words_crf: Path, tmp_path: Path) -> None:
        (tmp_path / "in.jsonl").write_text(json.dumps(JSON[0]) + "\n")
        words = ("tag", words_crf, tmp_path / "in.jsonl", "--format", "jsonl", "--nbest", 3)
        found = json.loads(run(*words)[1])
        expected = mg.load(words_crf).nbest(SENTENCE, 3)
        assert [one["spans"] for one in found["nbest"]] == [[list(s) for s in t.spans] for t in expected]
        assert [one["rank"] for one in found["nbest"]] == [1, 2, 3]
        assert [one["probability"] for one in found["nbest"]] == [
            round(t.confidence or 0, 4) for t in expected
        ]
        assert found["spans"] == found["nbest"][0]["spans"]
        sure = json.loads(run(*words, "--confidence")[1])
        assert all("confidence" in span for one in sure["nbest"] for span in one["spans"])

    def test_jsonl_of_tags(self, run: Run, tmp_path: Path) -> None:
        """A tag is a span of its token; one that was taken back is none."""
        data = [(["a", "b", "c"], ["X", "Y", "Y"]), (["c", "a"], ["Y", "X"])]
        mg.train(data, learner="crf", passes=3).save(tmp_path / "m.mg")
        records = [{"tokens": ["a", "q"], "spans": []}, {"tokens": ["a", "q"], "tags": ["X", "X"]}]
        (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
        found = mg.load(tmp_path / "m.mg").tag(["a", "q"], confidence=True)
        sure = [round(p, 4) for p in found.label_confidence or ()]
        assert sure[0] > sure[1]
        words = ("tag", tmp_path / "m.mg", tmp_path / "in.jsonl", "--format", "jsonl", "--confidence")
        spans, tags = map(json.loads, run(*words, "--min-confidence", sure[0] - 1e-4)[1].splitlines())
        kept = {"start": 0, "end": 1, "label": "X", "confidence": sure[0]}
        gone = {"start": 1, "end": 2, "label": found.labels[1], "confidence": sure[1]}
        assert (spans["spans"], spans["abstained"]) == ([kept], [gone])
        assert (tags["tags"], tags["abstained"]) == (["X", "_"], [gone])
        assert tags["token_confidence"] == sure

    def test_conllu(self, run: Run, words_crf: Path, tmp_path: Path) -> None:
        rows = [f"{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\tA=b" for i, word in enumerate(SENTENCE, start=1)]
        (tmp_path / "in.conllu").write_text("# sent_id = 1\n" + "\n".join(rows) + "\n\n")
        words = ("tag", words_crf, tmp_path / "in.conllu", "--format", "conllu", "--label", "misc.C")
        found = tagged(words_crf, confidence=True)
        out = run(*words, "--confidence")[1].split("\n")
        assert out[:2] == ["# sent_id = 1", f"# confidence = {found.confidence:.4f}"]
        spans = span_column(found)
        for i, line in enumerate(out[2:-2]):
            keys = dict(item.split("=") for item in line.split("\t")[-1].split("|"))
            assert keys["A"] == "b"
            assert keys["Confidence"] == decimals(found.label_confidence)[i]
            assert keys.get("SpanConfidence", "_") == spans[i]
            assert keys.get("C", "O") == found.labels[i]
        left = tagged(words_crf, min_confidence=0.9)
        out = run(*words, "--min-confidence", 0.9)[1].split("\n")
        taken = [i for i, line in enumerate(out[1:]) if "Abstained=" in line]
        assert taken == [t for span, _ in left.abstained for t in range(span.start, span.end)]
        out = run(*words, "--nbest", 2)[1].split("\n")
        ranks = [line for line in out if line.startswith("# rank")]
        assert ranks == ["# rank = 1", "# rank = 2"]
        assert out.count("# sent_id = 1") == 2

    def test_tags(self, run: Run, tmp_path: Path, data: Path) -> None:
        text = "".join(
            " ".join(line.split(" ")[:2]) + "\n" for line in (data / "train.txt").read_text().split("\n")
        )
        (tmp_path / "pos.txt").write_text(text)
        words = ("--columns", "word pos", "--learner", "crf", "--set", "passes=2", "-q")
        run("train", tmp_path / "pos.txt", "-o", tmp_path / "m.mg", *words)
        sure = run("tag", tmp_path / "m.mg", tmp_path / "pos.txt", "--confidence")[1]
        rows = [line.split(" ") for line in sure.split("\n") if line]
        assert {row[3] for row in rows} == {"_"}
        least = sorted(float(row[2]) for row in rows)[5] + 1e-4
        left = run("tag", tmp_path / "m.mg", tmp_path / "pos.txt", "--min-confidence", least)[1]
        for before, after in zip(rows, [line.split(" ") for line in left.split("\n") if line], strict=True):
            gone = after[-1] == "_"
            assert after[-2] == (before[-1] if gone else "_")
            assert gone == (float(before[2]) < least) or abs(float(before[2]) - least) < 1e-4


@pytest.mark.parametrize(
    ("options", "why", "code"),
    [
        (["--confidence"], "calibrate MODEL DEV", 1),
        (["--min-confidence", "0.5"], "calibrate MODEL DEV", 1),
        (["--min-confidence", "1.5"], "from 0 to 1", 2),
        (["--min-confidence", "x"], "from 0 to 1", 2),
        (["--nbest", "0"], "from 1", 2),
        (["--nbest", "2", "--min-confidence", "0.5"], "does not go with", 2),
        (["--format", "segmented", "--nbest", "2"], "no place", 1),
    ],
)
def test_what_makes_no_sense(
    run: Run, model: Path, data: Path, tmp_path: Path, options: list[str], why: str, code: int
) -> None:
    found, out, err = run("tag", model, data / "test.txt", "-o", tmp_path / "out", *options)
    assert (found, out) == (code, "")
    assert why in err
    assert not (tmp_path / "out").exists()


class TestCalibrate:
    def test_calibrate(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        target = tmp_path / "calibrated.mg"
        code, out, _ = run("calibrate", model, data / "dev.txt", "-o", target)
        assert code == 0
        assert out.startswith("temperature ")
        again = json.loads(
            run("calibrate", model, "-o", target, data / "dev.txt", "--threads", 2, "--json")[1]
        )
        assert again == mg.load(target).saved.calibration
        assert mg.load(target).temperature == again["temperature"] > 0
        plain, sure = (run("tag", m, data / "test.txt")[1] for m in (model, target))
        assert plain == sure
        assert run("tag", target, data / "test.txt", "--confidence")[0] == 0
        assert "temperature" in run("inspect", target)[1]

    def test_in_place_and_from_a_pipe(self, shell: Shell, model: Path, data: Path, tmp_path: Path) -> None:
        own = tmp_path / "own.mg"
        own.write_bytes(model.read_bytes())
        done = shell("calibrate", own, "-o", own, input=(data / "dev.txt").read_bytes())
        assert done.returncode == 0, done.stderr
        assert mg.load(own).temperature is not None

    @pytest.mark.parametrize("text", ["", "# nothing\n\n"])
    def test_no_data(self, run: Run, model: Path, tmp_path: Path, text: str) -> None:
        (tmp_path / "in").write_text(text)
        code, _, err = run("calibrate", model, tmp_path / "in", "-o", tmp_path / "out.mg")
        assert code == 1
        assert "found no labelled sentences" in err
        assert not (tmp_path / "out.mg").exists()

    def test_data_without_labels(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text(without_last_column((data / "dev.txt").read_text()))
        code, _, err = run("calibrate", model, tmp_path / "in", "-o", tmp_path / "out.mg")
        assert code == 1
        assert "no label column" in err


class TestReliability:
    def test_numbers(self, run: Run, crf: Path, data: Path) -> None:
        code, out, _ = run("eval", crf, data / "test.txt", "--reliability", "--json")
        assert code == 0
        found = json.loads(out)["reliability"]
        sure = run("tag", crf, data / "test.txt", "--confidence")[1]
        rows = [line.split(" ") for line in sure.split("\n") if line]
        right = [row[2] == row[-1] for row in rows]
        expected = reliability([float(row[3]) for row in rows], right)
        assert found["tokens"]["count"] == len(rows)
        assert found["tokens"]["brier"] == pytest.approx(expected.brier, abs=1e-3)
        assert found["spans"]["count"] == json.loads(out)["predicted_spans"]
        correct = json.loads(out)["correct_spans"]
        assert found["spans"]["accuracy"] * found["spans"]["count"] == pytest.approx(correct)
        assert sum(one["number"] for one in found["spans"]["bins"]) == found["spans"]["count"]
        text = run("eval", crf, data / "test.txt", "--reliability")[1]
        assert f"spans: ECE {found['spans']['ece']:.4f}" in text
        assert "reliability" not in json.loads(run("eval", crf, data / "test.txt", "--json")[1])

    @pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
    def test_plot(self, run: Run, crf: Path, data: Path, tmp_path: Path, suffix: str, begins: bytes) -> None:
        pytest.importorskip("matplotlib")
        pictures = []
        for name in ("a", "b"):
            target = tmp_path / f"{name}.{suffix}"
            assert run("eval", crf, data / "test.txt", "--reliability-plot", target)[0] == 0
            pictures.append(target.read_bytes())
        assert pictures[0].startswith(begins)
        assert pictures[0] == pictures[1]

    def test_errors(
        self, run: Run, model: Path, crf: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "calibrate" in run("eval", model, data / "test.txt", "--reliability")[2]
        words = ("eval", "--gold", data / "test.txt", "--pred", data / "test.txt", "--label", "chunk")
        assert run(*words, "--reliability")[0] == 2
        assert ".svg or .png" in run("eval", crf, data / "test.txt", "--reliability-plot", "x.pdf")[2]
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        code, _, err = run("eval", crf, data / "test.txt", "--reliability-plot", tmp_path / "x.svg")
        assert code == 1
        assert "marginalia[plot]" in err
        assert np.isfinite(reliability([], []).ece)
