"""Parts of speech with candidates: what our own model's answers to raw newswire bring to English taggers.

A model of the set `pos` tags Reuters, and for EWT the words of Brown, too; a lexicon keeps which tags each
word got. Every system is trained without that lexicon and with it. EWT is judged on its dev file, or
(`--test`) on its test file; of Brown, every tenth document is held out.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import harness
from reuters_text import write_text
from systems import OURS, use_ours

SETS = harness.CHECKOUT / "src" / "marginalia" / "features" / "sets"
LEAST = 2  # times that a word got a label, to be a candidate

Sentences = list[list[str]]  # lines of word, tab, tag
SYSTEMS = {  # name: set, learner, settings
    "pos, perceptron": ("pos", "perceptron", {"passes": 10}),
    "pos, AROW": ("pos", "arow", {"passes": 8, "r": 10}),
    "pos, AROW, words hidden": ("pos", "arow", {"passes": 8, "r": 10, "dropout": "values:0.1"}),
    "iwakura-pos, rules": ("iwakura-pos", "rules", {"rules": 2000}),
}


def main() -> None:
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--corpus", choices=("ewt", "brown"), default="ewt")
    options.add_argument("--test", action="store_true", help="ewt: score the test file")
    options.add_argument("--only", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    options.add_argument("--share", type=int, default=1, help="learn from every so many-th sentence")
    options = options.parse_args()
    if not use_ours(options):
        return
    train, held_out = ewt(options) if options.corpus == "ewt" else brown(options.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "train.txt", train[:: options.share])
        write(folder / "held-out.txt", held_out)
        lexicon = candidates(folder, options.data, options.corpus)
        rows = [
            row_of(system, folder, with_them, options.repeat)
            for system in options.only
            for with_them in (None, lexicon)
        ]
    harness.print_table(f"{options.corpus}: tags right, without and with candidates", rows)
    harness.write_json(options.json_out, {"pos_candidates": rows})


def ewt(options) -> tuple[Sentences, Sentences]:
    """Sentences with XPOS: to learn from, and held out."""
    folder = options.data / "ud-english-ewt"
    return tuple(
        list(conllu(harness.need(folder / f"{part}.conllu")))
        for part in ("train", "test" if options.test else "dev")
    )


def conllu(path: Path) -> Iterator[list[str]]:
    for sentence in path.read_text(encoding="utf-8").split("\n\n"):
        fields = [line.split("\t") for line in sentence.split("\n") if line and not line.startswith("#")]
        if tokens := [f"{f[1].replace(' ', '_')}\t{f[4]}" for f in fields if f[0].isdigit()]:
            yield tokens


def brown(data: Path) -> tuple[Sentences, Sentences]:
    """The same of Brown: every tenth document is held out."""
    parts: tuple[Sentences, Sentences] = [], []
    document = -1
    text = harness.need(data / "brown" / "brown.txt").read_text(encoding="utf-8")
    for sentence in text.split("\n\n"):
        lines = sentence.strip("\n").split("\n")
        document += any(line.startswith("# doc") for line in lines)
        if tokens := [line for line in lines if "\t" in line]:
            parts[document % 10 == 9].append(tokens)
    return parts


def write(path: Path, sentences: Sentences) -> None:
    """Words twice, so that one can be hidden in training and the other looked up."""
    text = ("".join(f"{word_of(line)}\t{line}\n" for line in one) + "\n" for one in sentences)
    path.write_text("".join(text), encoding="utf-8")


def word_of(line: str) -> str:
    return line.partition("\t")[0]


def candidates(folder: Path, data: Path, corpus: str) -> Path:
    """The lexicon of raw text by a model of the training data."""
    texts = [write_text(harness.need(data / "reuters" / "reuters21578.jsonl.gz"), folder / "reuters.txt")]
    if corpus == "ewt":
        texts.append(brown_text(data, folder / "brown.txt"))
    train(folder, "first.mg", "pos", "perceptron", {"passes": 10}, None, 1)
    lexicon = ["lexicon", folder / "first.mg", *texts, "--format", "plain", "-q"]
    harness.median_of([*OURS, *lexicon, "--min-count", LEAST, "-o", folder / "words.lex"])
    return folder / "words.lex"


def brown_text(data: Path, target: Path) -> Path:
    """The words of Brown, a sentence a line."""
    with target.open("w", encoding="utf-8") as file:
        for one in itertools.chain(*brown(data)):
            file.write(" ".join(map(word_of, one)) + "\n")
    return target


def features_of(folder: Path, features: str, settings: dict) -> str | Path:
    """The set; if words are hidden, with candidates of the copies, which are not."""
    if "dropout" not in settings:
        return features
    path = folder / "copies.txt"
    templates = (SETS / f"{features}.txt").read_text(encoding="utf-8")
    path.write_text(re.sub(r"^(lexicon\(.*?\))\(word\)", r"\1(copy)", templates, flags=re.MULTILINE))
    return path


def train(
    folder: Path, model: str, features: str, learner: str, settings: dict, lexicon: Path | None, repeat: int
) -> harness.Run:
    """A model in the folder."""
    command = [*OURS, "train", folder / "train.txt", "-o", folder / model, "--columns", "word copy tag", "-q"]
    command += ["--separator", "tab", "--comments", "none", "--learner", learner]
    command += ["--features", features_of(folder, features, settings)]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    command += [] if lexicon is None else ["--lexicon", f"raw={lexicon}"]
    return harness.median_of(command, repeat)


def row_of(name: str, folder: Path, lexicon: Path | None, repeat: int) -> dict:
    cost = train(folder, "model.mg", *SYSTEMS[name], lexicon, repeat)
    judged = harness.median_of([*OURS, "eval", folder / "model.mg", folder / "held-out.txt", "--json"])
    score = json.loads(judged.stdout)["accuracy"]
    title = name if lexicon is None else f"{name}, candidates"
    print(f"{title}: {score:.2f}", file=sys.stderr, flush=True)
    return harness.cost_row(title, cost, folder / "model.mg", accuracy=score)


if __name__ == "__main__":
    main()
