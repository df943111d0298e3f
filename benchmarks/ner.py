"""CoNLL-2003 named entities, development file: the learners of Kazama and Torisawa (2007), table 2.

Their local features (the `ner` set) with lists of names, sentences of a document joined, features seen at
least twice. The published figures are theirs, with other lists.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness import need, parser, print_table, write_json
from systems import use_ours
from table import Job, Model, run

GROUPS = {
    "per": ("person_names", "wiki_people"),
    "loc": ("places", "wiki_locations", "us_state_abbrev"),
    "org": ("corporations", "wiki_organizations"),
    "misc": (
        "nationalities",
        "wiki_competitions_battles_events",
        "wiki_artwork",
        "wiki_films",
        "wiki_songs_albums",
        "wiki_manmade_objects",
    ),
}

FEATURES = {"cutoff": 2, "unit": "document", "encode": "IOB2"}
MODELS = (
    Model("perceptron", settings={"average": "none", "passes": 40}, published=89.01),
    Model("averaged perceptron", settings={"passes": 40}, published=89.32),
    Model("margin perceptron", "margin", {"C": 11313, "passes": 60}, published=90.98),
    Model("CRF", "crf", {"l2": 0.1}, published=91.10),
)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options = options.parse_args()
    corpus = options.data / "conll2003"
    need(corpus / "eng.train")
    if not use_ours(options):
        return
    chosen = [model for model in MODELS if not options.only or model.name in options.only]
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            corpus / "eng.train",
            corpus / "eng.testa",
            "ner",
            ["--columns", "word pos chunk ne"],
            joined_lists(options.data / "gazetteers", Path(folder)),
        )
        for model in chosen:
            model.settings |= FEATURES
        rows = [run(job, model, 1) for model in chosen]
    print_table("CoNLL-2003, development file", rows)
    write_json(options.json_out, {"ner": rows})


def joined_lists(source: Path, folder: Path) -> dict[str, Path]:
    """One list for each class of names."""
    for group, names in GROUPS.items():
        with open(folder / f"{group}.txt", "w", encoding="utf-8") as target:
            for name in names:
                target.writelines(f"{line}\n" for line in (source / f"{name}.txt").read_text().splitlines())
    return {group: folder / f"{group}.txt" for group in GROUPS}


if __name__ == "__main__":
    main()
