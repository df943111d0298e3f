"""CoNLL-2003 named entities, development file: the learners of Kazama and Torisawa (2007), table 2.

Their local features (the `ner` set) with lists of names, sentences of a document joined, features seen at
least twice. The published figures are theirs, with other lists.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from harness import CHECKOUT, need, parser, print_table, write_json
from name_lists import write_lists
from systems import use_ours
from table import Job, Model, run

DOCUMENTS = {"cutoff": 2, "unit": "document", "encode": "IOB2"}
SENTENCES = {"cutoff": 2}
MARGIN = DOCUMENTS | {"C": 4000, "passes": 30, "bpm-init": 10}
FIVE = DOCUMENTS | {"C": 2000, "passes": 20, "bpm-init": 10, "shuffle-average": 5}
TABLE_1 = (
    Model("perceptron", settings=DOCUMENTS | {"average": "none", "passes": 15}, published=89.01),
    Model("averaged perceptron", settings=DOCUMENTS | {"passes": 15}, published=89.32),
    Model("margin perceptron", "margin", MARGIN, published=90.98),
    Model("margin perceptron, shuffled 5", "margin", FIVE),
    Model("CRF", "crf", DOCUMENTS | {"l2": 1, "tolerance": 0.002}, published=91.10, threads=2),
    Model("margin perceptron, by sentence", "margin", SENTENCES | {"C": 300, "passes": 15}),
)
WITH_ENDS = (
    Model("margin perceptron, sentence ends", "margin", MARGIN),
    Model("margin perceptron, shuffled 5, sentence ends", "margin", FIVE),
    Model("CRF, sentence ends", "crf", DOCUMENTS | {"l2": 1, "tolerance": 0.002}, threads=2),
)
RICH = (
    Model("margin perceptron, by sentence, ner-rich", "margin", SENTENCES | {"C": 100, "passes": 12}),
    Model("AROW, shuffled 5, by sentence, ner-rich", "arow", SENTENCES | {"r": 10, "shuffle-average": 5}),
    Model("CRF, by sentence, ner-rich", "crf", SENTENCES, threads=2),
)
ENDS = "both: at[-2..2]\nboth: at[-1]/at[0]\nboth: at[0]/at[1]\n"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options = options.parse_args()
    corpus = options.data / "conll2003"
    need(corpus / "eng.train")
    if not use_ours(options):
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lists = write_lists(options.data / "gazetteers", folder)
        plain = ["--columns", "word pos chunk ne"]
        jobs = (
            (Job(corpus / "eng.train", corpus / "eng.testa", "ner", plain, lists), TABLE_1),
            (with_ends(corpus, folder, lists), WITH_ENDS),
            (Job(corpus / "eng.train", corpus / "eng.testa", "ner-rich", plain, lists), RICH),
        )
        for job, models in jobs:
            wanted = [model for model in models if not options.only or model.name in options.only]
            rows += [run(job, model, 1) for model in wanted]
    print_table("CoNLL-2003, development file", rows)
    write_json(options.json_out, {"ner": rows})


def with_ends(corpus: Path, folder: Path, lists: dict[str, Path]) -> Job:
    """The `ner` set and a column that tells where a token stands in its sentence, which joining hides."""
    for name in ("eng.train", "eng.testa"):
        with (
            open(corpus / name, encoding="utf-8") as source,
            open(folder / name, "w", encoding="utf-8") as target,
        ):
            target.writelines(marked_lines(source))
    features = folder / "ner-ends.txt"
    features.write_text((CHECKOUT / "src/marginalia/features/sets/ner.txt").read_text() + ENDS)
    columns = ["--columns", "word pos chunk at ne"]
    return Job(folder / "eng.train", folder / "eng.testa", features, columns, lists)


def marked_lines(lines: Iterable[str]) -> Iterator[str]:
    """Each token's line with B, M, E or S (begin, middle, end, single) before its label."""
    previous, last = "", ""
    for line in chain(lines, [""]):
        if last.strip():
            begins, ends = not previous.strip(), not line.strip()
            place = "S" if begins and ends else "B" if begins else "E" if ends else "M"
            *fields, label = last.split()
            yield " ".join([*fields, place, label]) + "\n"
        else:
            yield last
        previous, last = last, line


if __name__ == "__main__":
    main()
