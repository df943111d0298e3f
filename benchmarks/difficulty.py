"""How difficult is a word in its sentence: Pearson's r on single words of CompLex, settings chosen on trial.

The model is that of `tools/make_difficulty.py`, a logistic regression by our re-ranker: as it ships; with
features of the corpus that a sentence comes from, which CompLex says; and with Brown clusters besides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import harness

sys.path.append(str(harness.CHECKOUT / "tools"))

BY_CORPUS = ("frequency", "length", "syllables", "seen", "in tagged text", "long and rare", "senses")
PREFIXES = (4, 6, 8, 12, 20)
STRENGTHS = (10.0, 30.0, 60.0)


def with_corpus(judged: list) -> None:
    """Add the corpus, and features of the word apart for each corpus."""
    for one in judged:
        own = {name: value for name, value in one.features.items() if name.startswith(BY_CORPUS)}
        one.features.update({f"{one.corpus}: {name}": value for name, value in own.items()})
        one.features[one.corpus] = 1.0


def with_clusters(path: Path, name: str) -> Callable[[list], None]:
    """Add prefixes of the path of the word's cluster, and how often it was seen."""
    rows = [line.split("\t") for line in harness.need(path).read_text(encoding="utf-8").splitlines()]
    known = {row[1].lower(): row for row in reversed(rows) if len(row) > 1}

    def add(judged: list) -> None:
        for one in judged:
            row = known.get(one.word)
            if row is None:
                one.features[f"{name}: unknown"] = 1.0
                continue
            one.features.update({f"{name}: {row[0][:size]} {size}": 0.5 for size in PREFIXES})

    return add


def rows_of(options) -> Iterator[dict]:
    from make_difficulty import correlation, learned, read

    parts = {
        part: read(options.data, part) for part in ("train", "trial", *(["test"] if options.test else []))
    }
    folder = options.data / "clusters"
    steps: dict[str, list[Callable[[list], None]]] = {
        "as it ships": [],
        "and the corpus": [with_corpus],
        "and clusters": [
            with_clusters(folder / "brown-bllip-wsj-c1000.txt", "Wall Street Journal"),
            with_clusters(folder / "brown-twitter-56m-c1000.txt", "Twitter"),
        ],
    }
    for name, adding in steps.items():
        for add in adding:
            for judged in parts.values():
                add(judged)
        tried = [(learned(parts["train"], l2), l2) for l2 in STRENGTHS]
        best, l2 = max(tried, key=lambda pair: correlation(pair[0], parts["trial"]))
        row = {"features": name, "l2": l2, "weights": len(best)}
        yield row | {
            f"r, {part}": round(correlation(best, parts[part]), 4) for part in parts if part != "train"
        }


def main() -> None:
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--test", action="store_true", help="score the test part, too")
    options = options.parse_args()
    rows = list(rows_of(options))
    harness.print_table("Difficulty of words: CompLex", rows)
    harness.write_json(options.json_out, {"difficulty": rows})


if __name__ == "__main__":
    main()
