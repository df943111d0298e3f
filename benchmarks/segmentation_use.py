"""Chinese words in use: with tags, in another kind of text, how fast and how small. See segmentation.py."""

from __future__ import annotations

import sys
from pathlib import Path

from chinese import (
    GSD,
    PKU,
    characters,
    f1,
    gsd_lines,
    raw,
    recall_of_unseen,
    split_daily,
    without_tags,
    write,
)
from harness import CommandFailed, measure, median_of, size_mb
from systems import OURS, PEERS

SEGMENTED = ["--format", "segmented"]
TAGGED = [*SEGMENTED, "--tag-separator", "/"]
WORDS = ["--structure", "words", "--features", "words"]
CHAIN = ["--structure", "chain", "--features", "characters"]
AROW = ["--learner", "arow", "--set", "r=10", "--set", "passes=6"]
CORRECTED = 100  # sentences
SPEED = {
    "character chain": CHAIN,
    "words": WORDS,
    "words, word-beam 4": [*WORDS, "--set", "word-beam=4"],
    "words, word-beam 4, max-length 8": [*WORDS, "--set", "word-beam=4", "--set", "max-length=8"],
}


def wanted(options, name: str) -> bool:
    return not options.only or name in options.only


def trained(model: Path, data: Path, *how) -> float:
    """Trains on a file; CPU seconds."""
    return median_of([*OURS, "train", data, "-o", model, *how, "--quiet"]).cpu


def tagged(model: Path, text: Path, output: Path, *how) -> Path:
    """The text with what a model says of it."""
    median_of([*OURS, "tag", model, text, "-o", output, *how])
    return output


def joint(options, folder: Path) -> list[dict]:
    """Words with tags, at once, one after the other and re-ranked: last tenth of People's Daily, and GSD."""
    train = split_daily(options.data, folder, options.share, held_out=True, tags=True)
    rows = _joint_rows(options, folder, "People's Daily", train, folder / "held.tags.txt")
    parts = [write(folder / f"gsd.{part}.txt", list(gsd_lines(options.data / GSD / f"{part}.conllu", True)))
             for part in ("train", "test")]  # fmt: skip
    return rows + _joint_rows(options, folder, "Chinese GSD", *parts)


def _joint_rows(options, folder: Path, corpus: str, train: Path, test: Path) -> list[dict]:
    text, words = raw(without_tags(test, folder / "words.txt"), folder / "raw.txt"), folder / "words.txt"
    chain = folder / "chain.mg"
    ways = {
        "pipeline": lambda out: _pipeline(folder, train, text, out),
        "joint, chain": lambda out: _joint(chain, train, text, out, CHAIN),
        "re-ranked chain": lambda out: _reranked(folder, chain, train, text, out),
        "joint, words": lambda out: _joint(
            folder / "words.mg", train, text, out, ["--structure", "words", "--features", "words-tags"]
        ),
    }
    rows = []
    for name, way in ways.items():
        if not wanted(options, name):
            continue
        output = folder / "output.txt"
        try:
            cpu = way(output)
        except CommandFailed as failure:
            rows.append({"system": name, "corpus": corpus, "note": f"failed: {failure}"})
            continue
        scores = {
            "joint F1": f1(test, output, tags=True),
            "words F1": f1(words, without_tags(output, folder / "w")),
        }
        rows.append({"system": name, "corpus": corpus, **scores, "CPU s": cpu})
        print(rows[-1], flush=True)
    return rows


def _joint(model: Path, train: Path, text: Path, output: Path, how: list) -> float:
    cpu = trained(model, train, *TAGGED, *how, *AROW)
    tagged(model, text, output)
    return cpu


def _reranked(folder: Path, base: Path, train: Path, text: Path, output: Path) -> float:
    """Needs the row of the joint chain, whose model it begins with; no data are left that it has not seen to
    choose a pass by, so all five are taken."""
    model = folder / "reranked.mg"
    features = ["--global-features", "words-reranking", "--learner", "margin", "--set", "passes=5"]
    run = median_of([*OURS, "rerank", train, "--base", base, "-o", model, *features,
                     "--hypotheses", "20", "--folds", "4", "--threads", "1", "--quiet"])  # fmt: skip
    tagged(model, text, output)
    return run.cpu


def _pipeline(folder: Path, train: Path, text: Path, output: Path) -> float:
    """Words first, then their tags by the set `pos` of words."""
    words = without_tags(train, folder / "pipeline.txt")
    cpu = trained(folder / "first.mg", words, *SEGMENTED, *CHAIN, *AROW)
    found = tagged(folder / "first.mg", text, folder / "found.txt")
    columns = write(folder / "columns.txt", _columns(train, tags=True))
    cpu += trained(folder / "second.mg", columns, "--task", "pos", *AROW)
    lines = write(folder / "found.columns.txt", _columns(found, tags=False))
    said = tagged(folder / "second.mg", lines, folder / "said.txt").read_text(encoding="utf-8")
    joined = ["  ".join("/".join(token.split()) for token in sentence.splitlines()) + "\n"
              for sentence in said.split("\n\n") if sentence.strip()]  # fmt: skip
    write(output, joined)
    return cpu


def _columns(path: Path, tags: bool) -> list[str]:
    """A word a line, with its tag behind a blank."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        found += [(" ".join(word.rsplit("/", 1)) if tags else word) + "\n" for word in words]
        found += ["\n"] if words else []
    return found


def adaptation(options, folder: Path) -> list[dict]:
    """F on both corpora before and after one hundred sentences of the other one."""
    train = split_daily(options.data, folder, options.share, held_out=False, tags=False)
    gsd = options.data / GSD
    few = write(folder / "few.txt", list(gsd_lines(gsd / "train.conllu", False))[:CORRECTED])
    test = write(folder / "gsd.txt", list(gsd_lines(gsd / "test.conllu", False)))
    base, model = folder / "base.mg", folder / "adapted.mg"
    trained(base, train, *SEGMENTED, *WORDS, *AROW, "--set", "state=on")
    phrases = sorted({word for line in few.read_text(encoding="utf-8").split("\n") for word in line.split()
                      if len(word) > 1})  # fmt: skip
    dictionary = write(folder / "words.tsv", [f"{' '.join(word)}\tword\n" for word in phrases])
    ways = {
        "before": ([], []),
        "partial_fit, 3 passes": ([*OURS, "fix", base, "--input", few, "--passes", "3", "-o", model], []),
        "fix": ([*OURS, "fix", base, "--input", few, "-o", model], []),
        "user dictionary": ([], ["--dictionary", dictionary]),
    }
    rows = []
    for name, (command, how) in ways.items():
        if not wanted(options, name):
            continue
        try:
            cpu = median_of(command).cpu if command else 0.0
            used = model if command else base
            scores = {}
            for corpus, gold in (("PKU", options.data / PKU), ("GSD test", test)):
                output = tagged(used, gold, folder / "output.txt", *how)
                scores |= {f"{corpus} F1": f1(gold, output), f"{corpus} unseen": recall_of_unseen(
                    train, gold, output)}  # fmt: skip
        except CommandFailed as failure:
            rows.append({"system": name, "note": f"failed: {failure}"})
            continue
        rows.append({"system": name, **scores, "CPU s": cpu})
        print(rows[-1], flush=True)
    return rows


def speed(options, folder: Path) -> list[dict]:
    """Raw text in, words out, one thread, start included; the test file ten times over."""
    train = split_daily(options.data, folder, options.share, held_out=False, tags=False)
    text = raw(options.data / PKU, folder / "raw.txt")
    write(text, [text.read_text(encoding="utf-8")] * 10)
    count, rows = characters(text), []
    for name, how in SPEED.items():
        if wanted(options, name):
            model = folder / "speed.mg"
            trained(model, train, *SEGMENTED, *how, *AROW)
            run = median_of([*OURS, "tag", model, text, "-o", folder / "out.txt"], options.repeat)
            rows.append({"system": name, "characters/CPU s": count / run.cpu, "CPU s": run.cpu})
    for peer in () if options.skip_peer else ("jieba", "spacy_pkuseg"):
        if not wanted(options, peer):
            continue
        if measure([sys.executable, "-c", f"import {peer}"]).code != 0:
            print(f"{peer} is not installed (see benchmarks/requirements.txt): not measured", file=sys.stderr)
            continue
        command = [sys.executable, PEERS / "segment.py", peer, text, folder / "out.txt"]
        try:
            run = median_of(command, options.repeat)
        except CommandFailed as failure:
            rows.append({"system": peer, "note": f"failed: {failure}"})
            continue
        rows.append({"system": peer, "characters/CPU s": count / run.cpu, "CPU s": run.cpu})
    jieba = [row["characters/CPU s"] for row in rows if row["system"] == "jieba" and "note" not in row]
    for row in rows:
        if jieba and "note" not in row:
            row["times jieba"] = row["characters/CPU s"] / jieba[0]
    return rows


def size(options, folder: Path) -> list[dict]:
    """The size of a model of words before and after `shrink`, chosen on the last tenth; F1 on it."""
    train = split_daily(options.data, folder, options.share, held_out=True, tags=False)
    lines = (folder / "held.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    dev, test = write(folder / "dev.txt", lines[::4]), write(folder / "rest.txt", lines[1::4])
    rows = []
    for name, how in (("character chain", CHAIN), ("words", WORDS)):
        if not wanted(options, name):
            continue
        whole, small = folder / "whole.mg", folder / "small.mg"
        trained(whole, train, *SEGMENTED, *how, *AROW)
        median_of([*OURS, "shrink", whole, "-o", small, "--target", "5MB", "--dev", dev, "--quiet"])
        for model in (whole, small):
            output = tagged(model, test, folder / "output.txt")
            rows.append({"system": f"{name}, {model.stem}", "MB": size_mb(model), "F1": f1(test, output)})
    return rows
