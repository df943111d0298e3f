"""Chinese words from characters: People's Daily 1998 to learn from, the PKU test file of Bakeoff 2005.

Cases (`--cases`): `characters` and `words`, the rows of Zhang, Su and Zhou (2014), tables 2 and 3, by chain
and by structure words; `best`; `curves`, their figures 2 to 5 on the last tenth; `joint`, words with tags on
the last tenth and on Chinese GSD; `adaptation`; `speed`; `size`. With `--held-out` rows are trained without
the last tenth and scored on it: settings are chosen so. `--share 1/8` trains on every eighth line.
Differences between models are judged by bootstrap and randomisation over sentences.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from chinese import PEOPLES_DAILY, PKU, recall_of_unseen, split_daily
from harness import median_of, need, parser, print_table, write_json
from segmentation_use import adaptation, joint, size, speed
from systems import OURS, use_ours
from table import Job, Model, run

SHUFFLE = {"shuffle-average": 5}
L2, DROPOUT = {"l2": 1e-7}, {"dropout": "input:0.03"}


def _row(name: str, published: float | None = None, **more: object) -> Model:
    settings = {key.replace("_", "-"): value for key, value in more.items()}
    return Model(name, settings={"passes": 8, **settings}, published=published)


# Chosen on the last tenth of the People's Daily text, with the rest to train on.
CHARACTERS = (
    _row("averaged perceptron", 97.34),
    _row("+ shuffle (eq. 8)", 97.55, shuffle_average=5),
    _row("+ shuffle (eq. 7)", shuffle_average=5, shuffle_mean="all"),
    _row("+ l2", 97.36, l2=1e-7),
    _row("+ l1", l1=1e-6),
    _row("+ cumulative l1", l1_cumulative=1e-6),
    _row("+ dropout", 97.41, dropout="input:0.03"),
    _row("+ dropout of features", dropout="hide-features:0.03"),
    _row("+ dropout + shuffle", 97.65, dropout="input:0.03", shuffle_average=5),
    _row("+ l2 + shuffle", 97.72, l2=1e-7, shuffle_average=5),
    _row("+ l2 + dropout", 97.49, l2=1e-7, dropout="input:0.03"),
    _row("+ l2 + dropout + shuffle", 97.71, l2=1e-7, dropout="input:0.03", shuffle_average=5),
    Model("AROW", "arow", {"passes": 8, "r": 10}),
    Model("AROW + shuffle", "arow", {"passes": 8, "r": 10, "shuffle-average": 5}),
    Model("CRF", "crf", published=97.42),
)
_WORDS_PUBLISHED = {
    "averaged perceptron": 97.58,
    "+ shuffle (eq. 8)": 97.87,
    "+ l2 + shuffle": 97.91,
    "+ l2 + dropout + shuffle": 97.91,
}
WORDS = tuple(
    replace(
        model,
        name=f"words: {model.name}",
        structure="words",
        features="words",
        published=_WORDS_PUBLISHED.get(model.name),
    )
    for model in CHARACTERS
    if model.learner != "crf"
)
BEST = (
    Model("words: AROW, 6 passes", "arow", {"passes": 6, "r": 10}, structure="words", features="words"),
    Model("words: averaged perceptron", settings={"passes": 8}, structure="words", features="words"),
    Model(
        "words: averaged perceptron, shuffled 5",
        settings={"passes": 8, "shuffle_average": 5},
        structure="words",
        features="words",
    ),
)
BASE, CRF = "averaged perceptron", "CRF"


def _curves() -> list[Model]:
    rows = [_row(f"passes {n}", passes=n) for n in (1, 2, 4, 8, 16)]
    rows += [_row(f"shuffle {n}, eq. {e}", shuffle_average=n, shuffle_mean=mean)
             for e, mean in ((8, "nonzero"), (7, "all")) for n in (2, 3, 5, 10)]  # fmt: skip
    for name, key in (("l2", "l2"), ("l1", "l1"), ("cumulative l1", "l1_cumulative")):
        rows += [_row(f"{name} {rate:g}", **{key: rate}) for rate in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)]
        rows += [
            _row(f"{name} {rate:g} + shuffle", shuffle_average=5, **{key: rate}) for rate in (1e-7, 1e-6)
        ]
    rows += [_row(f"dropout of inputs {p:g}", dropout=f"input:{p:g}") for p in (0.01, 0.03, 0.05, 0.1)]
    rows += [_row(f"dropout of features {q:g}", dropout=f"hide-features:{q:g}") for q in (0.01, 0.03, 0.1)]
    rows += [
        _row(f"dropout of inputs {p:g} + shuffle", shuffle_average=5, dropout=f"input:{p:g}")
        for p in (0.01, 0.03, 0.05, 0.1)
    ]
    return rows


def _rows_of(models):
    return lambda options, folder: compare(options, folder, models)


CASES = {
    "characters": ("words from characters by a chain (published: CTB5)", _rows_of(CHARACTERS)),
    "words": ("the same by words (published: CTB5)", _rows_of(WORDS)),
    "best": ("best settings", _rows_of(BEST)),
    "curves": (
        "curves over passes, models, penalties and dropout, last tenth",
        lambda options, folder: compare(_held_out(options), folder, _curves()),
    ),
    "joint": ("words with tags", joint),
    "adaptation": ("one hundred corrected sentences of Chinese GSD", adaptation),
    "speed": ("characters a second, file to file", speed),
    "size": ("model size after shrink", size),
}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cases", nargs="+", default=["characters", "words", "best"], choices=CASES)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options.add_argument("--share", type=_share, default=(1, 1), metavar="K/N", help="of the training lines")
    options.add_argument("--held-out", action="store_true", help="score the last tenth of train, not PKU")
    options.add_argument("--threads", type=int, default=1)
    options = options.parse_args()
    need(options.data / PEOPLES_DAILY)
    if not use_ours(options):
        return
    tables = {}
    for case in options.cases:
        title, rows = CASES[case]
        with tempfile.TemporaryDirectory() as folder:
            tables[case] = rows(options, Path(folder))
        print_table(f"Chinese, {title}; share {options.share[0]}/{options.share[1]}", tables[case])
    write_json(options.json_out, tables)


def _share(text: str) -> tuple[int, int]:
    few, _, of = text.partition("/")
    return int(few), int(of)


def _held_out(options):
    options.held_out = True
    return options


def compare(options, folder: Path, models) -> list[dict]:
    """A row for each model, with its interval and how it differs from the base and the CRF."""
    chosen = [model for model in models if not options.only or model.name in options.only]
    train = split_daily(options.data, folder, options.share, held_out=options.held_out, tags=False)
    test = folder / "held.txt" if options.held_out else options.data / PKU
    job = Job(train, test, "characters", ["--format", "segmented"])
    rows, outputs = [], {}
    for number, model in enumerate(chosen):
        model.threads = options.threads
        output = folder / f"{number}.txt"
        row = run(job, model, 1, bootstrap=1000, keep=output)
        if output.exists():
            outputs[model.name] = output
            row["unseen words"] = recall_of_unseen(train, test, output)
        print_table(model.name, [row])  # a long run that is stopped has told what it knew
        rows.append(row)
    for row in rows:
        for peer in (BASE, CRF):
            row[f"p against {peer}"] = significance(test, outputs, row["system"], peer)
    return rows


def significance(gold: Path, outputs: dict[str, Path], name: str, peer: str) -> float | None:
    """How probable a difference as large as this one is by chance."""
    peer = f"words: {peer}" if name.startswith("words: ") else peer
    if name == peer or name not in outputs or peer not in outputs:
        return None
    files = ["--gold", gold, "--pred", outputs[name], "--compare", outputs[peer]]
    run = median_of([*OURS, "eval", *files, "--format", "segmented", "--json"])
    return json.loads(run.stdout.strip().splitlines()[-1])["comparison"]["randomisation"]["p_value"]


if __name__ == "__main__":
    main()
