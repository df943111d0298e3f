"""Lexical offers: which simpler word for a word in its sentence, on BenchLS and TSAR-2022 (English).

Scores are those of the shared task: how often the first offer is one of the annotators' (ACC@1), and how
often one of the first three is (potential@3). Rankers are the one that ships, and two learned from BenchLS:
with what ships, and with contexts counted in Reuters and Brown and clusters of the Wall Street Journal and of
Twitter besides. Those of BenchLS are judged there by five folds of words. Nothing is chosen by TSAR.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import harness

sys.path.append(str(harness.CHECKOUT / "tools"))

MOST_READINGS = 3
SETTINGS = {"learner": "crf", "partial": True, "l2": 3.0}
FOLDS = 5


@dataclass
class Item:
    """A word, its candidates with features, and what annotators said."""

    word: str
    choices: list
    gold: set[str]


def benchls(data: Path) -> Iterator[tuple[str, str, int, set[str]]]:
    """Sentences, words, how often the word stands before that place, and the gold words."""
    path = harness.need(data / "simplification" / "lexical" / "bert_ls" / "BenchLS.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        sentence, word, place, *gold = line.split("\t")
        before = sentence.split(" ")[: int(place)].count(word)
        yield sentence, word, before, {each.partition(":")[2].lower() for each in gold}


def tsar(data: Path) -> Iterator[tuple[str, str, int, set[str]]]:
    """The same of the test data of TSAR-2022."""
    folder = data / "simplification" / "lexical" / "tsar2022" / "datasets" / "test"
    for line in harness.need(folder / "tsar2022_en_test_gold.tsv").read_text(encoding="utf-8").splitlines():
        sentence, word, *gold = line.split("\t")
        yield sentence, word, 0, {each.lower() for each in gold if each}


def items(rows: Iterator[tuple[str, str, int, set[str]]], more: list[Callable]) -> list[Item]:
    """Words with their candidates; `more` add features."""
    import marginalia as mg
    from marginalia.assist.lexical.evidence import Token, choices

    rows = list(rows)
    found = []
    documents = mg.load("en").parse_all([row[0] for row in rows])
    for (_, word, before, gold), document in zip(rows, documents, strict=True):
        words = [each for sentence in document.sentences for each in sentence.words]
        tokens = [Token(each.form, each.lemma, each.upos, each.xpos) for each in words]
        place = place_of(word.lower(), [token.form.lower() for token in tokens], before)
        listed = [] if place is None else choices(tokens, place, MOST_READINGS)
        for add in more:
            add(tokens, place, listed)
        found.append(Item(word.lower(), listed, gold - {word.lower()}))
    return found


def place_of(word: str, forms: list[str], before: int) -> int | None:
    """Where a word stands that stood so often before; else where a form has it inside."""
    places = [number for number, form in enumerate(forms) if form == word]
    inside = [number for number, form in enumerate(forms) if word in form]
    return next(iter([*places[before:], *places, *inside]), None)


def contexts_of_news(data: Path, folder: Path) -> Callable:
    """Features of counts in what ships, Reuters and Brown together."""
    import make_contexts

    from marginalia.assist.lexical.evidence import Place, context_features
    from marginalia.assist.words.contexts import Contexts
    from marginalia.assist.words.packed import write_packed

    def texts() -> Iterator[str]:
        yield from make_contexts.texts(data)
        yield from reuters(data)
        yield from brown(data)

    path = str(folder / "news.words")
    write_packed(path, "contexts", make_contexts.lines([make_contexts.tokens(text) for text in texts()]))
    known = Contexts(path)

    def add(tokens: list, number: int | None, choices: list) -> None:
        place = None if number is None else Place.of(tokens, number, known)
        for choice in choices:
            found = context_features(place, choice.reading, choice.form)
            choice.features.update({f"news: {name}": value for name, value in found.items()})

    return add


def reuters(data: Path) -> Iterator[str]:
    import gzip
    import json

    with gzip.open(harness.need(data / "reuters" / "reuters21578.jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield f"{document.get('title') or ''} . {document.get('body') or document.get('text') or ''}"


def brown(data: Path) -> Iterator[str]:
    text = harness.need(data / "brown" / "brown.txt").read_text(encoding="utf-8")
    for sentence in text.split("\n\n"):
        yield " ".join(line.partition("\t")[0] for line in sentence.split("\n") if "\t" in line)


def clusters(path: Path, name: str) -> Callable:
    """Features of Brown clusters: whether two words are in one, and how much of their paths is the same."""
    rows = (line.split("\t") for line in harness.need(path).read_text(encoding="utf-8").splitlines())
    paths = {row[1]: row[0] for row in reversed([row for row in rows if len(row) > 1])}

    def add(tokens: list, number: int | None, choices: list) -> None:
        own = None if number is None else paths.get(tokens[number].form.lower())
        for choice in choices:
            other = paths.get(choice.form)
            if own is None or other is None:
                choice.features[f"{name}: unknown"] = 1.0
                continue
            choice.features[f"{name}: same"] = float(own == other)
            choice.features[f"{name}: path"] = shared(own, other) / 10

    return add


def shared(left: str, right: str) -> int:
    """The length of what two paths begin with."""
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )


def learned(data: list[Item], folder: Path):
    """A ranker of words of which some candidates are right."""
    import marginalia as mg
    from marginalia.assist.lexical.ranker import read_ranker

    listed = []
    for item in data:
        right = [choice.form in item.gold for choice in item.choices]
        if any(right) and not all(right):
            pairs = zip(item.choices, right, strict=True)
            listed.append(
                {"candidates": [{"features": each.features, "right": fits} for each, fits in pairs]}
            )
    path = str(folder / "ranker.weights")
    mg.train(listed, structure="candidates", **SETTINGS).export_weights(path)
    return read_ranker(path)


def offers(ranker, data: list[Item]) -> list[list[str]]:
    """Forms by rank."""
    return [[one.choice.form for one in ranker.ranked(item.choices)] for item in data]


def folded(data: list[Item], folder: Path) -> list[list[str]]:
    """Offers by rankers that have not seen the word."""
    words = sorted({item.word for item in data})
    random.Random(1).shuffle(words)
    fold = {word: number % FOLDS for number, word in enumerate(words)}
    found: dict[int, list[str]] = {}
    for number in range(FOLDS):
        ranker = learned([item for item in data if fold[item.word] != number], folder)
        held = [place for place, item in enumerate(data) if fold[item.word] == number]
        found |= dict(zip(held, offers(ranker, [data[place] for place in held]), strict=True))
    return [found[place] for place in range(len(data))]


def row_of(name: str, data: str, gold: list[Item], ranked: list[list[str]]) -> dict:
    pairs = list(zip(gold, ranked, strict=True))
    return {
        "ranker": name,
        "data": data,
        "words": len(pairs),
        "ACC@1": round(
            sum(any(form in item.gold for form in forms[:1]) for item, forms in pairs) / len(pairs), 4
        ),
        "potential@3": round(
            sum(any(f in item.gold for f in forms[:3]) for item, forms in pairs) / len(pairs), 4
        ),
        "any": round(sum(any(f in item.gold for f in forms) for item, forms in pairs) / len(pairs), 4),
    }


def rows_of(options, folder: Path) -> Iterator[dict]:
    from marginalia.assist.lexical.ranker import shipped_ranker

    for name, more in (("what ships", []), ("and news and clusters", extra(options.data, folder))):
        bench = items(benchls(options.data), more)
        test = items(tsar(options.data), more) if options.test else []
        if name == "what ships":
            yield row_of("shipped", "BenchLS", bench, offers(shipped_ranker(), bench))
            if test:
                yield row_of("shipped", "TSAR", test, offers(shipped_ranker(), test))
        title = f"BenchLS, {name}"
        yield row_of(title, f"BenchLS, {FOLDS} folds", bench, folded(bench, folder))
        if test:
            yield row_of(title, "TSAR", test, offers(learned(bench, folder), test))


def extra(data: Path, folder: Path) -> list[Callable]:
    """Everything that does not ship."""
    return [
        contexts_of_news(data, folder),
        clusters(data / "clusters" / "brown-bllip-wsj-c1000.txt", "Wall Street Journal"),
        clusters(data / "clusters" / "brown-twitter-56m-c1000.txt", "Twitter"),
    ]


def main() -> None:
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--test", action="store_true", help="score TSAR, too")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = list(rows_of(options, Path(name)))
    harness.print_table("Offers for a word", rows)
    harness.write_json(options.json_out, {"lexical": rows})


if __name__ == "__main__":
    main()
