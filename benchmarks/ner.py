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

DOCUMENTS = {"cutoff": 2, "unit": "document", "encode": "IOB2"}
SENTENCES = {"cutoff": 2}
TABLE_1 = (
    Model("perceptron", settings=DOCUMENTS | {"average": "none", "passes": 30}, published=89.01),
    Model("averaged perceptron", settings=DOCUMENTS | {"passes": 30}, published=89.32),
    Model("margin perceptron", "margin", DOCUMENTS | {"C": 2000, "passes": 40}, published=90.98),
    Model("CRF", "crf", DOCUMENTS, published=91.10, threads=2),
    Model("margin perceptron, by sentence", "margin", SENTENCES | {"C": 300, "passes": 15}),
)
RICH = (
    Model("margin perceptron, by sentence, ner-rich", "margin", SENTENCES | {"C": 100, "passes": 12}),
    Model("AROW, shuffled 5, by sentence, ner-rich", "arow", SENTENCES | {"r": 10, "shuffle-average": 5}),
    Model("CRF, by sentence, ner-rich", "crf", SENTENCES, threads=2),
)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options = options.parse_args()
    corpus = options.data / "conll2003"
    need(corpus / "eng.train")
    if not use_ours(options):
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        lists = joined_lists(options.data / "gazetteers", Path(folder))
        for features, models in (("ner", TABLE_1), ("ner-rich", RICH)):
            job = Job(
                corpus / "eng.train",
                corpus / "eng.testa",
                features,
                ["--columns", "word pos chunk ne"],
                lists,
            )
            wanted = [model for model in models if not options.only or model.name in options.only]
            rows += [run(job, model, 1) for model in wanted]
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
