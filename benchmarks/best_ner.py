"""CoNLL-2003 named entities, the best we have (recipes/ner-best.toml), and what each part of it brings.

Parts are judged on the training file alone: folds of whole documents, each fifth held out in turn. Nothing
is ever chosen on the development file; `--test` trains on all of the training file and scores it once.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import (
    HERE,
    CommandFailed,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from systems import OURS, use_ours

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECIPE = HERE / "recipes" / "ner-best.toml"
SHARED = "../../../shared/data"  # where the recipe says that the corpora are
MARK = "-DOCSTART- -X- O O\n"
FOLDS = 5
Recipe = dict[str, Any]
FIRST = r"first-(?:label|elsewhere|agreement|same|longer)"  # columns that only two stages have
DOCUMENT = r"(?:document-|sentence-|elsewhere-|first-use-|run-)"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--folds", nargs="+", type=int, default=[FOLDS - 1], help="which fifths to hold out")
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options.add_argument("--test", action="store_true", help="train on all, score the development file")
    options.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings for all rows"
    )
    options = options.parse_args()
    corpus = options.data / "conll2003"
    need(corpus / "eng.train")
    if not use_ours(options):
        return
    recipe = placed(tomllib.loads(RECIPE.read_text(encoding="utf-8")), options.data)
    recipe["set"] |= dict(setting.split("=", 1) for setting in options.set)
    wanted = {name: make for name, make in PARTS.items() if not options.only or name in options.only}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.test:
            pairs = [("testa", corpus / "eng.train", corpus / "eng.testa")]
            wanted = {name: wanted[name] for name in wanted if options.only or name == "all of it"}
        else:
            pairs = [(f"fold {k}", *split(corpus / "eng.train", folder, k)) for k in options.folds]
        rows = [row_of(name, make(recipe, folder), pairs, folder) for name, make in wanted.items()]
    print_table("CoNLL-2003, the best recipe and its parts", rows)
    write_json(options.json_out, {"best-ner": rows})


def placed(recipe: Recipe, data: Path) -> Recipe:
    """The recipe with the corpora of a folder."""

    def place(path: str) -> str:
        return path.replace(SHARED, str(data), 1)

    tables = {table: {n: place(p) for n, p in recipe[table].items()} for table in ("lists", "clusters")}
    return {**recipe, **tables, "set": dict(recipe["set"])}


def split(train: Path, folder: Path, k: int) -> tuple[Path, Path]:
    """All documents but every k-th fifth, and those."""
    documents = train.read_text(encoding="utf-8").split(MARK)[1:]
    begin, end = len(documents) * k // FOLDS, len(documents) * (k + 1) // FOLDS
    parts = {"train": documents[:begin] + documents[end:], "dev": documents[begin:end]}
    for name, part in parts.items():
        (folder / f"{k}.{name}").write_text("".join(MARK + text for text in part), encoding="utf-8")
    return folder / f"{k}.train", folder / f"{k}.dev"


def row_of(name: str, recipe: Recipe, pairs: list[tuple[str, Path, Path]], folder: Path) -> dict:
    scores, cost = {}, None
    model = folder / "model.mg"
    try:
        for title, train, test in pairs:
            cost = median_of(command(recipe, train, model))
            scores[title] = json.loads(median_of([*OURS, "eval", model, test, "--json"]).stdout)["f1"]
            print(f"{name}: {title} {scores[title]:.2f}", file=sys.stderr, flush=True)
    except (CommandFailed, OSError, ValueError) as failure:
        return failed_row(name, failure)
    mean = {"mean": sum(scores.values()) / len(scores)} if len(scores) > 1 else {}
    assert cost is not None
    return cost_row(name, cost, model, **scores, **mean)


def command(recipe: Recipe, train: Path, model: Path) -> list:
    parts = [*OURS, "train", train, "-o", model, "--columns", recipe["columns"], "--json", "--quiet"]
    parts += ["--features", recipe["features"], "--learner", recipe["learner"]]
    parts += ["--structure", recipe.get("structure", "chain")]
    for table, option in (("set", "--set"), ("lists", "--list"), ("clusters", "--clusters")):
        parts += [part for name, value in recipe[table].items() for part in (option, f"{name}={value}")]
    return parts


def setting(**values: object) -> Callable[[Recipe, Path], Recipe]:
    changed = {name.replace("_", "-"): value for name, value in values.items()}
    return lambda recipe, folder: {**recipe, "set": {**recipe["set"], **changed}}


def without(pattern: str) -> Callable[[Recipe, Path], Recipe]:
    """Without the templates that a pattern is found in."""

    def changed(recipe: Recipe, folder: Path) -> Recipe:
        text = (HERE.parent / "src/marginalia/features/sets" / f"{recipe['features']}.txt").read_text()
        found = pattern if int(recipe["set"]["stages"]) > 1 else f"{pattern}|{FIRST}"
        lines = [line for line in text.splitlines() if line.startswith("#") or not re.search(found, line)]
        path = folder / f"{abs(hash(pattern))}.txt"
        path.write_text("\n".join(lines) + "\n")
        return {**recipe, "features": path}

    return changed


def without_table(table: str, *names: str) -> Callable[[Recipe, Path], Recipe]:
    """Without some lists or clusters; all if none is named."""
    return lambda recipe, folder: {
        **recipe,
        table: {n: path for n, path in recipe[table].items() if names and n not in names},
    }


PARTS: dict[str, Callable[[Recipe, Path], Recipe]] = {
    "all of it": lambda recipe, folder: recipe,
    "one model instead of five": setting(shuffle_average=1),
    "one stage instead of two": setting(stages=1),
    "one stage, one model": setting(stages=1, shuffle_average=1),
    "no hidden values": setting(dropout="none"),
    "encoded as IOB2": setting(encode="IOB2"),
    "no lists": without_table("lists"),
    "no clusters": without_table("clusters"),
    "no clusters of tweets": without_table("clusters", "tweets"),
    "clusters as written": setting(cluster_case="as-written"),
    "nothing of documents": without(DOCUMENT),
    "no form of sentences": without("sentence-"),
    "no first word of documents": without("document-first"),
    "no case in documents": without("document-case"),
    "no neighbours elsewhere": without("elsewhere-(before|after)|first-use"),
    "no longest names": without("run-"),
    "no lists elsewhere": without("elsewhere-list"),
    "ner-rich alone": lambda recipe, folder: {**recipe, "features": "ner-rich", "lists": {}, "clusters": {}},
}


if __name__ == "__main__":
    main()
