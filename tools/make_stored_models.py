"""Make the files of tests/model/stored: a model of each kind, with what it answered when it was written.

The files prove that models of older versions keep loading and giving the same output, so existing ones are
never made anew: run this with the version that first writes a new kind, naming the kind.

    python tools/make_stored_models.py tests/model/stored [KIND ...]
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import marginalia as mg
from marginalia.decode.pipeline import Pipeline
from marginalia.features.global_features import text_of_global_set
from marginalia.learn.pipeline import train_pipeline
from marginalia.learn.pipeline.calibrating import calibrated_pipeline
from marginalia.learn.recipe import GlobalChoice
from marginalia.learn.reranking import Reranking, RerankingOptions
from marginalia.learn.retraining import prepared, retrained, retraining_recipe

INGREDIENTS = files("marginalia") / "data" / "ingredients"
Pairs = list[tuple[list[str], list[str]]]


def pairs(name: str, count: int) -> Pairs:
    """The first sentences of a part of the built-in corpus, as tokens and labels."""
    with (INGREDIENTS / name).open("rb") as file:
        sentences = list(mg.read_conll(file, columns="word label"))[:count]
    return [(list(s.columns["word"]), list(s.columns["label"])) for s in sentences]


TRAIN, TEST = pairs("train.txt", 30), pairs("test.txt", 6)
SMALL: dict[str, Any] = {"passes": 3, "seed": 7}
TEMPLATES = "word[0]  word[-1]/word[0]  suffix(2)(word)[0]  shape(word)[1]  edge:"
CLUSTERS = "0010 sugar 9\n0010 salt 7\n0011 Butter 4\n110 cup 30\n110 teaspoon 7\n1110 1 50\n1110 2 40\n"
LEXICON = "cup\tB-UNIT\t120\tB-NAME\t11\nflour\tB-NAME\t40\nsugar\tB-NAME\t1500\tI-NAME\t300\n"
PHRASES = {"lemon juice": "NAME", "cup": "UNIT", "large": "SIZE"}


def trained(data: Any = TRAIN, templates: str = TEMPLATES, **options: Any) -> Any:
    """A small model of the built-in corpus, its features a few templates."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "templates.txt"
        path.write_text("\n".join(templates.split("  ")), encoding="utf-8")
        chosen = {name: value for name, value in (SMALL | options).items() if value is not None}
        return mg.train(data, features=str(path), **chosen)


def documents(data: Pairs) -> list[mg.Sentence]:
    """The sentences, three to a document."""
    return [
        mg.Sentence({"word": tokens, "label": labels}, document=i // 3)
        for i, (tokens, labels) in enumerate(data)
    ]


def attributes(tokens: list[str]) -> list[dict[str, float]]:
    """Explicit attributes of a sentence, one with a real value."""
    return [{f"w={token}": 1.0, "length": len(token) / 4} for token in tokens]


def spelled_iob1(data: Pairs) -> Pairs:
    """The data with labels of another scheme than they are trained in."""
    from marginalia.corpus import convert

    return [(tokens, convert(labels, "IOB2", "IOB1")) for tokens, labels in data]


def half_labelled(data: Pairs) -> Pairs:
    """The data with the labels of two in three tokens unknown."""
    return [(x, ["_" if i % 3 else label for i, label in enumerate(y)]) for x, y in data]


def segments(**options: Any) -> Any:
    """A small model of segments."""
    templates = "word[b]/word[e]  word[b-1]  word[b..e]  length  suffix(2)(word)[e]  edge:"
    return trained(templates=templates, structure="segments", max_length=4, **options)


def with_word_file(option: str, text: str, **options: Any) -> Any:
    """A small model with word clusters or a lexicon."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.txt"
        path.write_text(text, encoding="utf-8")
        model = trained(**{option: {"small": str(path)}}, **options)
    # Where the file was is no part of the test.
    files = {name: one._replace(path="words.txt") for name, one in model.saved.program.word_files.items()}
    return type(model)(replace(model.saved, program=replace(model.saved.program, word_files=files)))


def words(**options: Any) -> Any:
    """A small model of segments that looks at the one before."""
    templates = "word[b..e]  word[p..q]/word[b]  previous-length/length  before: word[b]  suffix(2)(word)[e]"
    return trained(templates=templates, structure="words", max_length=4, **options)


def items() -> list[tuple[str, str]]:
    """Lines of the built-in corpus; the class of each is its first label."""
    return [(" ".join(tokens), labels[0]) for tokens, labels in TRAIN]


def corrected() -> Any:
    """A model with two corrections in its log."""
    model = trained()
    for tokens, labels in TEST[:2]:
        model = model.fix(tokens, labels)
    return model


def global_features() -> Any:
    """A calibrated model with global features of all families, a word list among them."""
    with tempfile.TemporaryDirectory() as folder:
        families = "\n".join((*text_of_global_set("nonlocal").splitlines()[1:], "GF", "LWLC", "QF"))
        (Path(folder) / "families.txt").write_text(families + "\nlowercase = words.txt\n")
        (Path(folder) / "words.txt").write_text("cup\nlarge\n")
        model = trained(learner="nonlocal", n=10, global_features=f"{folder}/families.txt")
    return mg.calibrate(model, pairs("dev.txt", 40))


def two_stages() -> Any:
    return trained(templates=TEMPLATES + "  first-label[-1..1]  first-elsewhere[0]", stages=2)


def retrained_model() -> Any:
    """Local features learned again among the hypotheses of a base model."""
    base = trained()
    with tempfile.TemporaryDirectory() as folder:
        reranking = Reranking(base, RerankingOptions(hypotheses=5, folds=2, features="nonlocal"))
        found = reranking.hypotheses(TRAIN, cache=folder)
        choice = GlobalChoice("nonlocal")
        recipe = retraining_recipe(base.saved, choice, 5, 1, {"passes": 2, "bpm-init": 0})
        run = prepared(base, TRAIN, found, None, recipe)
        for _ in run:
            pass
        return retrained(base, run)


def from_crfsuite() -> Any:
    """A converted model of python-crfsuite."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"max_iterations": 10})
    for tokens, labels in TRAIN:
        trainer.append([[f"w={token}"] for token in tokens], labels)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/m.crfsuite")
        return mg.convert(f"{folder}/m.crfsuite")


def candidate_lists(count: int) -> list[dict[str, Any]]:
    """Items with three candidates each: labels of a sentence, of which all but the first have mistakes."""
    found = []
    for number, (tokens, labels) in enumerate(TRAIN[:count]):
        listed = []
        for wrong in range(3):
            given = ["O" if (i + number) % 4 < wrong else label for i, label in enumerate(labels)]
            features = {f"{label}:{token}": 1.0 for token, label in zip(tokens, given, strict=True)}
            loss = sum(a != b for a, b in zip(labels, given, strict=True))
            score = -abs(wrong - number % 3) - loss / 8
            item = {"score": score, "features": features | {"O": given.count("O") / 4}, "loss": loss}
            listed.append(item | {"output": given})
        found.append({"id": number, "candidates": listed})
    return found


def candidates(**options: Any) -> Any:
    """A small model that re-ranks."""
    return mg.train(candidate_lists(20), structure="candidates", **(SMALL | options))


def boosted_candidates() -> Any:
    """The same by boosting."""
    return mg.train(candidate_lists(20), structure="candidates", learner="rank-boost", rounds=50)


def treebank() -> list[mg.Sentence]:
    """Sentences of the built-in corpus as trees: each token hangs on the one before it."""
    found = []
    for tokens, labels in TRAIN:
        heads = [str(number) for number in range(len(tokens))]
        deprels = ["root", *(label.partition("-")[2] or "dep" for label in labels[1:])]
        found.append(
            mg.Sentence({"word": tokens, "pos": [x[-1] for x in labels], "head": heads, "deprel": deprels})
        )
    return found


def trees(**options: Any) -> Any:
    """A small parser, calibrated."""
    model = mg.train(treebank(), structure="trees", features="huang-sagae", tree_beam=3, **(SMALL | options))
    return mg.calibrate(model, treebank())


def pipeline(**settings: Any) -> Any:
    """A small pipeline, calibrated, whose treebank has the words of the built-in corpus; the first two of a
    sentence are one token."""
    rows = []
    for one in treebank():
        words, tags = one.columns["word"], one.columns["pos"]
        lines = [f"1-2\t{words[0]}{words[1]}" + "\t_" * 8] if len(words) > 1 else []
        for i, (word, tag, head, relation) in enumerate(
            zip(words, tags, one.columns["head"], one.columns["deprel"], strict=True), 1
        ):
            lines.append(
                f"{i}\t{word}\t{word.lower()}\t{tag}\t_\tLength={len(word)}\t{head}\t{relation}\t_\t_"
            )
        rows.append("\n".join(lines) + "\n\n")
    document = mg.read_conllu(io.BytesIO("".join(rows).encode()))
    given: dict[str, Any] = {}
    for part in ("tokens", "multiword", "tags", "tags-2", "lemmas", "supertags", "parser"):
        given |= {f"{part}.passes": 2, f"{part}.keep": 700}
    made = train_pipeline(document, settings={**given, "tags.shuffle-average": 1, **settings})
    return calibrated_pipeline(made, document)


KINDS: dict[str, Callable[[], Any]] = {
    "chain": trained,
    "chain-order-2": lambda: trained(order=2),
    "chain-edges": lambda: trained(templates=TEMPLATES + " suffix(2)(word)[0]"),
    "chain-voted": lambda: trained(average="vote", candidates=10),
    "chain-iob1": lambda: trained(spelled_iob1(TRAIN)),
    "chain-documents": lambda: trained(documents(TRAIN), unit="document"),
    "chain-attributes": lambda: mg.train([(attributes(x), y) for x, y in TRAIN], **SMALL),
    "chain-clusters": lambda: with_word_file("clusters", CLUSTERS.replace(" ", "\t"), cluster_case="any"),
    "chain-lexicon": lambda: with_word_file("lexicons", LEXICON),
    "chain-dictionary": lambda: trained(dictionary=PHRASES),
    "chain-state": lambda: trained(state=True, learner="arow"),
    "chain-provenance": lambda: trained(provenance=True),
    "chain-nameless": lambda: trained(names=False),
    "chain-corrected": corrected,
    "chain-calibrated": lambda: mg.calibrate(trained(), pairs("dev.txt", 40)),
    "chain-boosted": lambda: trained(boost=2),
    "chain-shrunk": lambda: mg.shrink(trained(), bits=8).model,
    "chain-packed": lambda: mg.shrink(trained(), bits=5).model,
    "chain-crfsuite": from_crfsuite,
    "maxent-beam": lambda: trained(learner="maxent", search="beam", beam=5, passes=20),
    "rules": lambda: trained(learner="rules", rules=40, buckets=20, passes=None),
    "crf": lambda: trained(learner="crf", passes=20),
    "crf-partial": lambda: trained(half_labelled(TRAIN), learner="crf", partial=True, scheme="IOB2"),
    "chain-global": global_features,
    "chain-stages": two_stages,
    "chain-retrained": retrained_model,
    "segments": segments,
    "segments-crf": lambda: segments(learner="crf", algorithm="sgd", l1=1.0, l2=0),
    "segments-shrunk": lambda: mg.shrink(segments(), bits=16).model,
    "words": words,
    "words-voted": lambda: words(average="vote", update="early"),
    "single": lambda: mg.train(items(), structure="single", **SMALL),
    "single-rules": lambda: mg.train(items(), structure="single", learner="rules", rules=20),
    "trees": trees,
    "trees-swap": lambda: trees(system="swap", average="vote"),
    "pipeline": lambda: pipeline(**{"parser.features": "trees"}),
    "pipeline-supertags": pipeline,
    "candidates": lambda: candidates(base_scale="0.5"),
    "candidates-voted": lambda: candidates(average="vote"),
    "candidates-maxent": lambda: candidates(learner="maxent", passes=20),
    "candidates-boosted": boosted_candidates,
}


def input_of(model: Any, tokens: list[str]) -> Any:
    """A sentence as the model takes it."""
    if model.saved.program.explicit:
        whole = model.saved.learner == "crf"  # the one that python-crfsuite made
        return [[f"w={token}"] for token in tokens] if whole else attributes(tokens)
    return tokens


def rankings_of(model: Any) -> list[dict[str, Any]]:
    """What a model says of lists of candidates: numbers, scores and probabilities, and the reasons."""
    found = []
    for item in candidate_lists(26)[20:]:
        ranked = [[one.number, one.score, one.probability] for one in model.rerank(item)]
        reasons = [[reason.feature, reason.difference] for reason in model.explain(item).reasons[:5]]
        found.append({"item": item, "ranked": ranked, "explained": reasons})
    return found


def classes_of(model: Any) -> list[dict[str, Any]]:
    """What a model says of items: classes with their scores, and the reasons."""
    found = []
    for tokens, _ in TEST:
        item = " ".join(tokens)
        best = [[one.label, one.score] for one in model.nbest(item, 3)]
        reasons = [[reason.feature, reason.difference] for reason in model.explain(item).reasons[:5]]
        found.append({"item": item, "nbest": best, "explained": reasons})
    return found


def parses_of(model: Any) -> list[dict[str, Any]]:
    """What a parser says of some sentences."""
    found = []
    for one in treebank()[:6]:
        columns = {name: one.columns[name] for name in ("word", "pos")}
        tree, best = model.parse(columns), model.nbest(columns, 3, confidence=True)
        found.append(
            {
                "columns": columns,
                "heads": list(tree.heads),
                "labels": list(tree.labels),
                "nbest": [[list(t.heads), list(t.labels), t.score, t.confidence] for t in best],
            }
        )
    return found


def documents_of(model: Any) -> list[dict[str, Any]]:
    """What a pipeline makes of some texts, how sure it is, and its best trees."""
    found = []
    for tokens, _ in TEST:
        text = " ".join(tokens) + ". And so on."
        document, sure = model.parse(text), model.parse(text, confidence=True)
        trees = [
            [[[w.head, w.deprel] for w in one.words], [float(s.comment("score")) for s in one]]
            for one in document.nbest(2)
        ]
        confidence = [word.confidence for word in sure.words]
        found.append({"text": text, "conllu": document.to_conllu(), "confidence": confidence, "nbest": trees})
    return found


def answers_of(model: Any) -> list[dict[str, Any]]:
    """What a model says of the test sentences: labels, scores of the best outputs, probabilities."""
    if isinstance(model, Pipeline):
        return documents_of(model)
    if isinstance(model, mg.Reranker):
        return rankings_of(model)
    if isinstance(model, mg.Classifier):
        return classes_of(model)
    if isinstance(model, mg.Parser):
        return parses_of(model)
    found = []
    for tokens, _ in TEST:
        x = input_of(model, tokens)
        reasons = model.explain(x).reasons[:5]
        found.append(
            {
                "tokens": tokens,
                "labels": list(model.tag(x).labels),
                "nbest": [[list(one.labels), one.score] for one in model.nbest(x, 3)],
                "confidence": None if model.temperature is None else model.tag(x, confidence=True).confidence,
                "explained": [[reason.feature, reason.difference] for reason in reasons],
            }
        )
    return found


def write(path: Path, answers: list[dict[str, Any]]) -> None:
    """Answers as JSON."""
    path.write_text(json.dumps(answers, ensure_ascii=False) + "\n", encoding="utf-8")


def main(folder: str, *kinds: str) -> None:
    """Write the files of the kinds, of all if none is named; files that exist are left alone."""
    for kind in kinds or KINDS:
        path = Path(folder) / f"{kind}.mg"
        if path.exists():
            print(f"{path} exists")
            continue
        model = KINDS[kind]()
        model.save(path)
        write(path.with_suffix(".json"), answers_of(mg.load(path)))
        if kind == "chain-state":
            write(path.with_suffix(".continued.json"), answers_of(mg.load(path).partial_fit(TEST, passes=2)))
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
