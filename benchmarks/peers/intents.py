"""Train one classifier of ATIS intents and score it: intents.py SYSTEM FOLDER PART SETTINGS."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

Items = tuple[list[str], list[str]]


def load(path: Path) -> Items:
    """Texts and intents."""
    texts: list[str] = []
    intents: list[str] = []
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# intent = "):
            intents.append(line.removeprefix("# intent = "))
        elif line:
            words.append(line.split("\t")[0])
        elif words:
            texts.append(" ".join(words))
            words = []
    if words:
        texts.append(" ".join(words))
    assert len(texts) == len(intents)
    return texts, intents


def sklearn(system: str, train: Items, test: Items, settings: dict) -> dict:
    """LinearSVC or LogisticRegression over counts."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    warnings.simplefilter("ignore")
    kinds = {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression}
    more = {"max_iter": 1000} if system == "LogisticRegression" else {}
    begin = time.process_time()
    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]")
    rows = vectorizer.fit_transform(train[0])
    middle = time.process_time()
    model = kinds[system](**settings, **more).fit(rows, train[1])
    end = time.process_time()
    right = (model.predict(vectorizer.transform(test[0])) == test[1]).mean()
    return {"accuracy": 100 * float(right), "CPU s": end - begin, "fit s": end - middle}


def marginalia(learner: str, train: Items, test: Items, settings: dict) -> dict:
    """A learner of ours over the same features."""
    from marginalia.corpus.source import DataSource
    from marginalia.learn import prepare
    from marginalia.learn.recipe import make_recipe

    templates = Path(__file__).resolve().parents[1] / "templates" / "intents.txt"
    pairs = list(zip(*train, strict=True))
    prepare(
        DataSource(pairs[:9]), None, recipe(make_recipe, learner, templates, settings)
    ).finish()  # loads all
    begin = time.process_time()
    run = prepare(DataSource(pairs), None, recipe(make_recipe, learner, templates, settings))
    middle = time.process_time()
    model = run.finish()
    end = time.process_time()
    right = sum(a == b for a, b in zip(model.predict(test[0]), test[1], strict=True))
    return {"accuracy": 100 * right / len(test[0]), "CPU s": end - begin, "fit s": end - middle}


def recipe(make_recipe, learner: str, templates: Path, settings: dict):
    return make_recipe(structure="single", features=str(templates), learner=learner, settings=settings)


def main() -> None:
    """Print the figures as JSON."""
    system, folder, part, settings = sys.argv[1:]
    train, test = (load(Path(folder) / f"{name}.txt") for name in ("train", part))
    chosen = json.loads(settings)
    if system.startswith("marginalia "):
        found = marginalia(system.split()[1], train, test, chosen)
    else:
        found = sklearn(system, train, test, chosen)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
