"""CoNLL-2000 with labels hidden at random: what training on what is left gives, and what people do instead.

Models are trained on the first nine tenths of the training file and judged on the last.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from calibration import split
from harness import need, parser, print_table, write_json
from systems import use_ours
from table import Job, Model, run

Sentence = list[list[str]]  # the fields of each token
OPEN = {"partial": "on"}
MODELS = {
    "perceptron": Model("perceptron"),
    "segments": Model("segments", structure="segments", features="segments"),
    "margin": Model("margin", "margin", {"passes": 20}),
    "crf": Model("crf", "crf"),
}


def hidden(share: float, label: str) -> Callable[[list[Sentence]], list[Sentence]]:
    """Every label is hidden with the same probability; the same ones for all."""

    def hide(sentences: list[Sentence]) -> list[Sentence]:
        chance = random.Random(1)
        return [
            [[*token[:-1], label if chance.random() < share else token[-1]] for token in sentence]
            for sentence in sentences
        ]

    return hide


def complete(share: float) -> Callable[[list[Sentence]], list[Sentence]]:
    """The sentences of which no label is hidden."""

    def choose(sentences: list[Sentence]) -> list[Sentence]:
        found = hidden(share, "_")(sentences)
        return [sentence for sentence in found if all(token[-1] != "_" for token in sentence)]

    return choose


def first(share: float) -> Callable[[list[Sentence]], list[Sentence]]:
    """As many labels, but of whole sentences."""
    return lambda sentences: sentences[: round(len(sentences) * share)]


def without_boundaries(sentences: list[Sentence]) -> list[Sentence]:
    """Of each token only the type of its chunk, but for every tenth sentence."""
    return [
        [
            [*token[:-1], f"*{token[-1][1:]}" if number % 10 and token[-1] != "O" else token[-1]]
            for token in one
        ]
        for number, one in enumerate(sentences)
    ]


def tenth(sentences: list[Sentence]) -> list[Sentence]:
    """Every tenth sentence."""
    return sentences[::10]


def doubtful(sentences: list[Sentence]) -> list[Sentence]:
    """Each label with another one, that of some token of the corpus, which may be the same."""
    chance = random.Random(1)
    labels = [token[-1] for sentence in sentences for token in sentence]
    return [
        [[*token[:-1], f"{token[-1]}|{chance.choice(labels)}"] for token in sentence]
        for sentence in sentences
    ]


# By name: what is made of the training data, and settings.
CASES: dict[str, tuple[Callable[[list[Sentence]], list[Sentence]], dict[str, object]]] = {
    "all labels": (first(1.0), {}),
    **{
        f"{share:.0%} hidden, {how}": (make, settings)
        for share in (0.5, 0.8, 0.9)
        for how, make, settings in (
            ("partial=on", hidden(share, "_"), OPEN),
            ("complete sentences only", complete(share), {}),
            ("taken for O", hidden(share, "O"), {"repair": "on"}),
            ("as many labels in whole sentences", first(1.0 - share), {}),
        )
    },
    "boundaries in every tenth sentence, types in all": (without_boundaries, OPEN),
    "every tenth sentence": (tenth, {}),
    "one of two labels": (doubtful, OPEN),
}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--models", nargs="+", choices=MODELS, default=["perceptron"])
    options.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose names contain one")
    options = options.parse_args()
    source = need(options.data / "conll2000" / "train.txt")
    if not use_ours(options):
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, dev = split(source, folder)
        for case, (_, settings) in CASES.items():
            if options.only and not any(text in case for text in options.only):
                continue
            job = Job(folder / "case.txt", dev, "chunking", ["--columns", "word pos chunk"])
            with ProcessPoolExecutor(1) as child:  # this process must stay small
                known = child.submit(prepare, case, train, job.train).result()
            for kind in options.models:
                model = MODELS[kind]
                named = Model(
                    f"{case}: {kind}", model.learner, model.settings | settings, None, 1, model.structure
                )
                named.features = model.features
                rows.append(run(job, named, options.repeat) | {"known labels": known})
    print_table("CoNLL-2000: labels that leave open what is right", rows)
    write_json(options.json_out, {"partial": rows})


def prepare(case: str, train: Path, path: Path) -> int:
    """Writes what is made of the training data; how many labels are complete."""
    return write(CASES[case][0](read(train)), path)


def read(path: Path) -> list[Sentence]:
    parts = path.read_text().strip().split("\n\n")
    return [[line.split() for line in part.split("\n")] for part in parts]


def write(sentences: list[Sentence], path: Path) -> int:
    """How many labels are complete."""
    with path.open("w") as file:
        for sentence in sentences:
            file.write("\n".join(" ".join(token) for token in sentence) + "\n\n")
    labels = [token[-1] for sentence in sentences for token in sentence]
    return sum(label != "_" and "*" not in label and len(set(label.split("|"))) == 1 for label in labels)


if __name__ == "__main__":
    main()
