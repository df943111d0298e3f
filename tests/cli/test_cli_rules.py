"""`marginalia inspect` of models of rules: precision on other data, and rules that contradict each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, corpus


def noisy(text: str) -> str:
    """With every third verb outside of phrases, so that no rule is right everywhere."""
    pieces = text.split("VBZ B-VP")
    return (
        "".join(piece + ("VBZ O" if i % 3 else "VBZ B-VP") for i, piece in enumerate(pieces[:-1]))
        + pieces[-1]
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules")
    (path / "train.txt").write_text(noisy(corpus(30, 1)), encoding="utf-8")
    # words that training has not seen, and a label too
    dev = corpus(20, 2).replace("near IN B-PP", "near IN B-ADVP").replace("old JJ", "blue JJ")
    (path / "dev.txt").write_text(dev, encoding="utf-8")
    return path


@pytest.fixture
def rules(folder: Path, run: Run) -> Path:
    path = folder / "rules.mg"
    if not path.exists():
        words = ["--columns", COLUMNS, "--features", "iwakura-chunking", "--learner", "rules", "--quiet"]
        assert (
            run(
                "train",
                folder / "train.txt",
                *words,
                "--set",
                "rules=120",
                "--set",
                "buckets=10",
                "--set",
                "size=3",
                "-o",
                path,
            )[0]
            == 0
        )
    return path


def inspected(run: Run, *words: object) -> dict[str, Any]:
    code, out, err = run("inspect", *words, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def samples(text: str) -> list[tuple[set[str], str]]:
    """Each token as its atoms and its label, by reading the file plainly."""
    found = []
    for sentence in text.strip().split("\n\n"):
        rows = [line.split() for line in sentence.split("\n")]
        for t, row in enumerate(rows):
            atoms = {"(always)"}
            for column, name in enumerate(("word", "pos")):
                for offset in range(-2, 3):
                    at = t + offset
                    outside = f"_B-{-at}" if at < 0 else f"_B+{at - len(rows) + 1}"
                    value = rows[at][column] if 0 <= at < len(rows) else outside
                    atoms.add(f"{name}[{offset}]={value}")
            if t + 1 < len(rows):
                atoms.add(f"label[1]={rows[t + 1][2]}")
            found.append((atoms, row[2]))
    return found


def test_support_and_precision_are_plain_counts(run: Run, folder: Path, rules: Path) -> None:
    found = inspected(run, rules, "--dev", folder / "dev.txt", "--top", 1000)
    data = {name: samples((folder / f"{name}.txt").read_text(encoding="utf-8")) for name in ("train", "dev")}
    checked = 0
    for label, sides in found["strongest"].items():
        for item in sides["positive"] + sides["negative"]:
            atoms = set(item["feature"].split(" & "))
            held = {name: [gold for own, gold in listed if atoms <= own] for name, listed in data.items()}
            assert item["support"] == len(held["train"])
            right = sum((gold == label) == (item["weight"] > 0) for gold in held["dev"])
            assert item["dev"] == {"samples": len(held["dev"]), "right": right}
            checked += 0 < right < len(held["dev"])
    assert checked > 5, "rules that are right about some samples and wrong about others"
    code, out, _ = run("inspect", rules, "--dev", folder / "dev.txt", "--label", "B-NP", "--top", 3)
    assert code == 0
    assert "; dev: right for " in out


def test_conflicting_rules_stand_side_by_side(run: Run, folder: Path, rules: Path) -> None:
    pairs = inspected(run, rules, "--conflicts", "--top", 10_000)["conflicts"]
    assert pairs
    every = {
        (item["feature"], item["labels"][0]): item["weight"]
        for sides in inspected(run, rules, "--top", 10_000)["strongest"].values()
        for item in sides["positive"] + sides["negative"]
        if item["feature"] != "(always)"
    }
    expected = set()
    for (one, label), weight in every.items():
        for (other, other_label), other_weight in every.items():
            wider = set(one.split(" & ")) < set(other.split(" & "))
            if wider and label == other_label and weight * other_weight < 0:
                expected.add(((one, label), (other, other_label)))
            if one == other and label < other_label and weight > 0 < other_weight:
                expected.add(((one, label), (other, other_label)))
    listed = [tuple((item["feature"], item["labels"][0]) for item in pair) for pair in pairs]
    assert {tuple(sorted(pair)) for pair in listed} == {tuple(sorted(pair)) for pair in expected}
    strengths = [min(abs(item["weight"]) for item in pair) for pair in pairs]
    assert strengths == sorted(strengths, reverse=True)
    one = inspected(run, rules, "--conflicts", "--label", "B-NP", "--top", 10_000)["conflicts"]
    assert all("B-NP" in [item["labels"][0] for item in pair] for pair in one)
    assert len(one) < len(pairs)
    code, out, _ = run("inspect", rules, "--conflicts", "--min-support", 3, "--dev", folder / "dev.txt")
    assert code == 0
    assert "say different things" in out
    code, out, _ = run("inspect", rules, "--conflicts", "--min-support", 1_000_000)
    assert out.splitlines()[-1] == "  none"


def test_what_is_for_rules_only(run: Run, folder: Path, rules: Path) -> None:
    words = ["--columns", COLUMNS, "--features", "iwakura-chunking", "--quiet", "--set", "passes=2"]
    assert run("train", folder / "train.txt", *words, "-o", folder / "plain.mg")[0] == 0
    for option in (["--dev", folder / "dev.txt"], ["--conflicts"], ["--min-support", 2]):
        code, _, err = run("inspect", folder / "plain.mg", *option)
        assert code == 1
        assert "model of rules" in err or "models of rules" in err
    assert run("inspect", rules, "--conflicts", "--find", "word")[0] == 2
    code, _, err = run("inspect", rules, "--dev", folder / "missing.txt")
    assert (code, "missing.txt" in err) == (1, True)


def test_deleted_and_changed_rules_come_back(run: Run, folder: Path, rules: Path) -> None:
    """What a person changes in the table is what the new model has, and nothing else changes."""
    table = folder / "rules.tsv"
    assert run("inspect", rules, "--export", table)[0] == 0
    lines = table.read_text(encoding="utf-8").splitlines()
    features = [i for i, line in enumerate(lines) if line.startswith("feature\t") and "(always)" not in line]
    gone, changed = features[0], features[1]
    fields = lines[changed].split("\t")
    lines[changed] = "\t".join([*fields[:3], "1.25"])
    edited = [line for i, line in enumerate(lines) if i != gone]
    table.write_text("\n".join(edited) + "\n", encoding="utf-8")
    code, _, err = run("inspect", rules, "--import", table, "-o", folder / "edited.mg")
    assert (code, "1 changed, 0 added, 1 removed" in err) == (0, True)
    again = folder / "again.tsv"
    assert run("inspect", folder / "edited.mg", "--export", again)[0] == 0
    assert sorted(again.read_text(encoding="utf-8").splitlines()) == sorted(edited)
    assert run("templates", "--from", folder / "edited.mg")[0] == 0
