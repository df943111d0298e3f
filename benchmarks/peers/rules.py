"""Boosted rules in one process, timed inside of it: rules.py curve … or binary …; prints JSON.

curve TRAIN DEV [SETTINGS, LEXICONS]: each look at held-out data, and the CPU time until then.
binary SYSTEM TRAIN DEV TOKENS QUESTIONS SETTINGS: does a noun phrase begin at a token? The words and tags of
five tokens, for rules and for a support vector machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ATTRIBUTES = tuple((column, offset) for column in (0, 1) for offset in range(-2, 3))


def curve(train: str, dev: str, chosen: str) -> dict:
    """Looks of one training."""
    import marginalia as mg

    settings, lexicons = json.loads(chosen)
    looks: list[dict] = []

    def on_progress(progress) -> None:
        if progress.finished:
            look = {"F1": progress.dev, "rules": progress.round, "bound": progress.bound}
            looks.append(look | {"CPU s": time.process_time()})

    options = {"features": "iwakura-chunking", "learner": "rules", "columns": "word pos chunk"}
    mg.train(train, dev or None, **options, lexicons=lexicons, on_progress=on_progress, **settings)
    return {"looks": looks}


def tokens(path: str) -> Iterator[tuple[list[str], bool]]:
    """The attributes of each token, and whether a noun phrase begins there."""
    for sentence in Path(path).read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split() for line in sentence.split("\n")]
        for i, row in enumerate(rows):
            near = [(c, o) for c, o in ATTRIBUTES if 0 <= i + o < len(rows)]
            yield [f"{c}[{o}]={rows[i + o][c]}" for c, o in near], row[2] == "B-NP"


class Rules:
    """One class against the other, items with attributes."""

    def __init__(self, settings: dict) -> None:
        self.settings = settings

    def fit(self, items: list[list[str]], gold: list[bool]) -> None:
        import marginalia as mg

        pairs = [(item, "yes" if y else "no") for item, y in zip(items, gold, strict=True)]
        self.model = mg.train(pairs, structure="single", learner="rules", **self.settings)

    def predict(self, items: list[list[str]]) -> list[bool]:
        return [label == "yes" for label in self.model.predict(items)]


class PolynomialSVM:
    """(x·z + 1)^2 over attributes that are there or not."""

    def __init__(self, settings: dict) -> None:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.svm import SVC

        self.model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, cache_size=1000, **settings)
        self.vectorizer = CountVectorizer(analyzer=lambda item: item)

    def fit(self, items: list[list[str]], gold: list[bool]) -> None:
        self.model.fit(self.vectorizer.fit_transform(items).astype(float), gold)

    def predict(self, items: list[list[str]]) -> list[bool]:
        return self.model.predict(self.vectorizer.transform(items).astype(float)).tolist()


SYSTEMS = {"rules": Rules, "svm": PolynomialSVM}


def binary(system: str, train: str, dev: str, most: str, questions: str, chosen: str) -> dict:
    """F1 of the class, and CPU seconds of learning and answering, with all modules loaded."""
    items, gold = zip(*list(tokens(train))[: int(most)], strict=True)
    asked, right = zip(*list(tokens(dev))[: int(questions)], strict=True)
    settings = json.loads(chosen)
    SYSTEMS[system](settings).fit(items[:50], gold[:50])  # loads all
    learner = SYSTEMS[system](settings)
    begin = time.process_time()
    learner.fit(items, gold)
    middle = time.process_time()
    found = learner.predict(asked)
    end = time.process_time()
    both = sum(a and b for a, b in zip(found, right, strict=True))
    f1 = 200 * both / max(sum(found) + sum(right), 1)
    return {"F1": f1, "learning s": middle - begin, "answering s": end - middle}


def main() -> None:
    """Print the figures as JSON."""
    mode, *arguments = sys.argv[1:]
    print(json.dumps({"curve": curve, "binary": binary}[mode](*arguments)))


if __name__ == "__main__":
    main()
