"""Train one classifier of items and score it: single.py TASK SYSTEM DATA PART SETTINGS."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Items = tuple[list[Any], list[str]]  # texts, or lists of attributes; and their classes
LEVELS = 5
TEMPLATES = Path(__file__).resolve().parents[1] / "templates" / "intents.txt"


def intents(data: Path, part: str) -> Items:
    """Texts and intents."""
    texts: list[str] = []
    classes: list[str] = []
    words: list[str] = []
    for line in (data / "atis" / f"{part}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# intent = "):
            classes.append(line.removeprefix("# intent = "))
        elif line:
            words.append(line.split("\t")[0])
        elif words:
            texts.append(" ".join(words))
            words = []
    if words:
        texts.append(" ".join(words))
    assert len(texts) == len(classes)
    return texts, classes


def complexity(data: Path, part: str) -> Items:
    """Words in their sentences, as attributes, and how complex they are: 0 to 4 (no training word is a 4)."""
    paths = {"train": "train/lcp_single_train", "dev": "trial/lcp_single_trial"}
    path = data / "readability" / "complex_lcp" / f"{paths.get(part, 'test-labels/lcp_single_test')}.tsv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    wanted = {form for _, _, _, word, _ in rows for form in (word, word.lower())}
    known: dict[str, tuple[str, int]] = {}
    with open(data / "clusters" / "brown-bllip-wsj-c1000.txt", encoding="utf-8", newline="\n") as file:
        for line in file:
            bits, word, count = line.rstrip("\n").split("\t")
            if word in wanted:
                known[word] = bits, int(count)
    items = [list(attributes(corpus, sentence, word, known)) for _, corpus, sentence, word, _ in rows]
    return items, [str(round(float(mean) * (LEVELS - 1))) for *_, mean in rows]


def attributes(corpus: str, sentence: str, word: str, known: dict[str, tuple[str, int]]) -> Iterator[str]:
    """What is said of a word of a sentence."""
    lower, (bits, count) = word.lower(), known.get(word) or known.get(word.lower()) or ("", 0)
    yield from ("bias", f"corpus={corpus}", f"word={lower}", f"length={min(len(word), 14)}")
    yield f"vowels={min(len(re.findall('[aeiouy]+', lower)), 7)}"
    yield f"frequency={count.bit_length()}"
    yield from (f"cluster{n}={bits[:n]}" for n in (4, 6, 10, 20))
    marked = f"^{lower}$"
    yield from (f"letters={marked[i : i + n]}" for n in (2, 3, 4) for i in range(len(marked) - n + 1))
    for before, after in pairwise(re.findall(r"\w+|[^\w\s]", sentence)):
        if after == word:
            yield f"before={before.lower()}"
        if before == word:
            yield f"after={after.lower()}"


def sklearn(
    system: str, task: str, train: Items, test: Items, settings: dict
) -> tuple[list[str], float, float]:
    """Classes, all CPU seconds and those of the fit, of LinearSVC or LogisticRegression over counts."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads that wait cost CPU time
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    warnings.simplefilter("ignore")
    kinds = {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression}
    more = {"max_iter": 1000} if system == "LogisticRegression" else {}
    texts: dict[str, Any] = {"ngram_range": (1, 2), "token_pattern": r"\w+|[^\w\s]"}
    begin = time.process_time()
    vectorizer = CountVectorizer(**(texts if task == "intents" else {"analyzer": list}))
    rows = vectorizer.fit_transform(train[0])
    middle = time.process_time()
    model = kinds[system](**settings, **more).fit(rows, train[1])
    end = time.process_time()
    return list(model.predict(vectorizer.transform(test[0]))), end - begin, end - middle


def marginalia(
    system: str, task: str, train: Items, test: Items, settings: dict
) -> tuple[list[str], float, float]:
    """The same of a learner of ours over the same features."""
    from marginalia.corpus.source import DataSource
    from marginalia.learn import prepare
    from marginalia.learn.recipe import make_recipe

    learner, _, costs = system.removeprefix("marginalia ").partition(", ")
    recipe: dict[str, Any] = {"structure": "single", "learner": learner}
    if task == "intents":
        recipe["features"] = str(TEMPLATES)
    with tempfile.TemporaryDirectory() as folder:
        if costs:
            settings = settings | {"costs": distances(Path(folder) / "costs.txt", set(train[1]))}
        made = make_recipe(**recipe, settings=settings)
        pairs = list(zip(*train, strict=True))
        each = {label: (item, label) for item, label in pairs}
        prepare(DataSource([*each.values()]), None, made).finish()  # loads all
        begin = time.process_time()
        run = prepare(DataSource(pairs), None, made)
        middle = time.process_time()
        model = run.finish()
        end = time.process_time()
    return model.predict(test[0]), end - begin, end - middle


def distances(path: Path, levels: set[str]) -> str:
    """Costs of levels: how far one is from another."""
    pairs = [(a, b, abs(int(a) - int(b))) for a in levels for b in levels if a != b]
    path.write_text("".join(f"{a} {b} {cost}\n" for a, b, cost in sorted(pairs)), encoding="utf-8")
    return str(path)


def main() -> None:
    """Print the figures as JSON."""
    task, system, data, part, settings = sys.argv[1:]
    load = {"intents": intents, "complexity": complexity}[task]
    train, test = (load(Path(data), name) for name in ("train", part))
    fit = marginalia if system.startswith("marginalia ") else sklearn
    found, cpu, fitted = fit(system, task, train, test, json.loads(settings))
    pairs = list(zip(found, test[1], strict=True))
    figures = {"accuracy": 100 * sum(a == b for a, b in pairs) / len(pairs), "CPU s": cpu, "fit s": fitted}
    if task == "complexity":
        figures["levels off"] = sum(abs(int(a) - int(b)) for a, b in pairs) / len(pairs)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
