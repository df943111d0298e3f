"""Make the models of readability that ship: python tools/make_readability.py FOLDER [NAME …]

FOLDER has onestopenglish/ and snow_t15.tsv. English is learned from aligned sentences of OneStopEnglish,
Japanese from pairs of SNOW T15. Models are written to src/marginalia/data/assist/, in less than 300 KB each;
the same data give the same bytes.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simplified_texts import ONESTOP_LEVELS, Pair, onestop_pairs, onestop_texts, snow_pairs

from marginalia.assist.readability.evidence import Evidence, evidence
from marginalia.assist.readability.model import ReadabilityModel
from marginalia.assist.readability.regression import Features, fit_ridge
from marginalia.assist.readability.text_model import LEVEL_MARKS, TextModel
from marginalia.assist.readability.texts import text_features
from marginalia.assist.readability.training import JudgedPair, fitted_temperature, folds_of, train_model
from marginalia.assist.trees import trees_of
from marginalia.kinds import load

MOST_BYTES = 300_000
HOME = Path(__file__).resolve().parent.parent / "src" / "marginalia" / "data" / "assist"


@dataclass(frozen=True)
class Source:
    """What a model is made of."""

    data: str
    attribution: str
    licence: str
    most_pairs: int
    precision: float


STRENGTH, TEXT_FOLDS = 1000.0, 5
SETTINGS = {"r": 100.0, "cutoff": 5}
SOURCES = {
    "en": Source("OneStopEnglish", "Vajjala and Lučić 2018", "CC BY-SA 4.0", 6_000, 0.95),
    "ja": Source("SNOW T15", "Maruyama and Yamamoto 2018", "CC BY 4.0", 5_000, 0.99),
}


def pairs_of(language: str, folder: Path) -> list[Pair]:
    """The pairs that a model is learned from: all, or as many as it takes, by chance."""
    pairs = (
        onestop_pairs(folder / "onestopenglish") if language == "en" else snow_pairs(folder / "snow_t15.tsv")
    )
    most = SOURCES[language].most_pairs
    return pairs if len(pairs) <= most else random.Random(1).sample(pairs, most)


def evidence_of(texts: Sequence[str], language: str) -> dict[str, Evidence]:
    """What the model sees of each text."""
    parsed = load(language).parse_all(texts)
    return {
        text: evidence(trees_of(document.sentences, language))
        for text, document in zip(texts, parsed, strict=True)
    }


def sentences_by_level(pairs: Sequence[Pair], language: str) -> dict[str, list[str]]:
    """Sentences written for readers of each level. Those of SNOW T15 are for beginners if they were made
    easier, and for all others if they were not."""
    found: dict[str, set[str]] = {level: set() for level in ONESTOP_LEVELS.values()}
    for pair in pairs:
        for text, level in zip((pair.harder, pair.easier), pair.levels, strict=True):
            if language == "en":
                found[ONESTOP_LEVELS[level]].add(text)
            else:
                for name in ("beginner",) if level == "EASY" else ("intermediate", "advanced"):
                    found[name].add(text)
    return {level: sorted(texts) for level, texts in found.items()}


def make(language: str, folder: Path) -> ReadabilityModel:
    """Train a model."""
    source, pairs = SOURCES[language], pairs_of(language, folder)
    texts = sorted({text for pair in pairs for text in (pair.harder, pair.easier)})
    known = evidence_of(texts, language)
    judged = [JudgedPair(known[pair.easier], known[pair.harder], pair.group) for pair in pairs]
    levels = {
        level: [known[text] for text in own] for level, own in sentences_by_level(pairs, language).items()
    }
    about = {"data": source.data, "attribution": source.attribution, "licence": source.licence}
    trained = train_model(
        judged, language, levels, settings=SETTINGS, precision=source.precision, about=about
    )
    of_texts = onestop_text_model(folder / "onestopenglish") if language == "en" else None
    return replace(trained.model, texts=of_texts)


def onestop_text_model(folder: Path) -> TextModel:
    """The regression from texts of OneStopEnglish to the marks of the levels that they were written for."""
    texts = {
        (article, level): text
        for article, levels in onestop_texts(folder).items()
        for level, text in levels.items()
    }
    parsed = load("en").parse_all(list(texts.values()))
    return text_model_of(list(texts), [text_features(trees_of(one.sentences, "en")) for one in parsed])


def text_model_of(texts: Sequence[tuple[str, str]], features: Sequence[Features]) -> TextModel:
    """The model of texts (their articles and levels); its temperature is fitted to difficulties of models
    that have not seen the article."""
    marks = [LEVEL_MARKS[ONESTOP_LEVELS[level]] for _, level in texts]
    folds = folds_of((article for article, _ in texts), seed=1, folds=TEXT_FOLDS)
    difficulty: dict[tuple[str, str], float] = {}
    for fold in range(TEXT_FOLDS):
        inside = [place for place, (article, _) in enumerate(texts) if folds[article] != fold]
        ridge = fit_ridge([features[i] for i in inside], [marks[i] for i in inside], STRENGTH)
        for place, text in enumerate(texts):
            if folds[text[0]] == fold:
                difficulty[text] = ridge.predict(features[place])
    margins = [
        difficulty[article, harder] - difficulty[article, easier]
        for article in folds
        for harder, easier in (("ADV", "INT"), ("INT", "ELE"), ("ADV", "ELE"))
    ]
    return TextModel(fit_ridge(features, marks, STRENGTH), fitted_temperature(margins))


def main() -> None:
    """Make the models that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="the folder of data")
    parser.add_argument("names", nargs="*", choices=[[], *SOURCES], help="en, ja (default: all)")
    parser.add_argument("--output", type=Path, default=HOME, help="where the files go")
    args = parser.parse_args()
    for name in args.names or SOURCES:
        path = args.output / name / "readability.mg"
        path.parent.mkdir(parents=True, exist_ok=True)
        model = make(name, args.folder)
        model.save(path)
        size = path.stat().st_size
        print(f"{name}: {size:,} bytes, temperature {model.temperature:.3f}, threshold {model.threshold:.3f}")
        if size > MOST_BYTES:
            raise SystemExit(f"{name}: found {size:,} bytes, expected at most {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
