"""The learner `nonlocal` as users call it: what its models answer, and what goes with it."""

from __future__ import annotations

import itertools
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.decode.global_decoder import GlobalDecoder
from marginalia.decode.global_training import WholeExamples, WholeTraining
from marginalia.model.global_part import global_weights

sys.path.append(str(Path(__file__).parent.parent / "features"))
from naive_global import NaiveGlobal, spans_of

FAMILIES = (
    "same\nsame/length\nsub\nmajority\ntoken-majority\nsuper-majority/length\nconjunction\nWE\nGF\nBO\n"
)


def documents(count: int = 12) -> list[mg.Sentence]:
    """Two sentences each: in the first the word before a name tells its class, in the second nothing does."""
    found = []
    for i in range(count):
        name, type_ = ("Alba", "Bern", "Carl")[i % 3], ("PER", "LOC")[i // 3 % 2]
        first = ["Mr" if type_ == "PER" else "in", name, "."]
        found.append(mg.Sentence({"word": first, "label": ["O", f"B-{type_}", "O"]}, document=i))
        found.append(mg.Sentence({"word": [name, "!"], "label": [f"B-{type_}", "O"]}, document=i))
    return found


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("templates")
    (folder / "t.txt").write_text("word[-1..0]\nedge:\n")
    (folder / "families.txt").write_text(FAMILIES)
    return str(folder / "t.txt")


OPTIONS: dict[str, Any] = {
    "label": "label",
    "unit": "document",
    "learner": "nonlocal",
    "passes": 60,
    "C": 5.0,
    "local_C": 5.0,
}


@pytest.fixture(scope="module")
def model(templates: str) -> mg.Model:
    return mg.train(documents(), features=templates, n=30, hypotheses=40, **OPTIONS)


@pytest.fixture(scope="module")
def full(templates: str) -> mg.Model:
    """With families of mentions and quotations as well."""
    families = str(Path(templates).parent / "families.txt")
    return mg.train(documents(), features=templates, global_features=families, n=6, hypotheses=9, **OPTIONS)


def told(document: list[mg.Sentence]) -> list[list[str]]:
    return [list(sentence.columns["label"]) for sentence in document]


def test_one_name_gets_one_class_throughout_a_document(model: mg.Model, templates: str) -> None:
    test = documents()
    asked = [mg.Sentence({"word": s.columns["word"]}, document=s.document) for s in test]
    assert [list(t.labels) for t in model.tag_all(asked)] == told(test)
    local_options = {name: value for name, value in OPTIONS.items() if name != "local_C"}
    local = mg.train(test, features=templates, **(local_options | {"learner": "margin"}))
    assert [list(t.labels) for t in local.tag_all(asked)] != told(test)
    alone = model.with_hypotheses(1)
    assert [list(t.labels) for t in alone.tag_all(asked)] != told(test)
    assert model.with_hypotheses(1).with_hypotheses(40).to_bytes() == model.to_bytes()


def enumerated(model: mg.Model, words: list[str]) -> list[tuple[tuple[str, ...], float, float]]:
    """Labels, local score and score by all features of every legal output, by falling local score."""
    decoder = model.decoder
    assert isinstance(decoder, GlobalDecoder)
    weights, block = dict(global_weights(model.saved.arrays)), model._block(words)
    naive, found = NaiveGlobal(words), []
    for ids in itertools.product(range(len(model.saved.labels)), repeat=len(words)):
        labels = [model.saved.labels[i] for i in ids]
        local = decoder._base.score(block, 0, ids)
        counts = naive.features(decoder.part.features.families, spans_of(labels))
        whole = sum(weights.get(name, 0.0) * count for name, count in counts.items())
        if local > -math.inf:
            found.append((tuple(labels), local, local + whole))
    return sorted(found, key=lambda one: -one[1])


@pytest.mark.parametrize("words", [["Mr", "Alba", "Alba"], ["in", "Bern", "and", "Carl"], ["Carl"]])
def test_the_best_of_the_n_best_are_those_of_enumeration(full: mg.Model, words: list[str]) -> None:
    listed = enumerated(full, words)
    expected = sorted(listed[:9], key=lambda one: -one[2])
    found = full.nbest(words, 9)
    assert [f.score for f in found] == pytest.approx([total for _, _, total in expected], rel=1e-9)
    assert {f.labels for f in found} == {labels for labels, _, _ in expected}
    assert full.tag(words).labels == expected[0][0]


def test_explanations_add_up(full: mg.Model) -> None:
    explained = full.explain(["Mr", "Alba", "and", "Alba"], "4=B-LOC")
    gap = explained.chosen.score - explained.other.score
    assert explained.difference == pytest.approx(gap, rel=1e-9)
    words = [reason.words for reason in explained.reasons if reason.kind == "global"]
    assert words
    assert all(" times, not " in said for said in words)
    assert any("a string is" in said or "a mention" in said for said in words)


def test_confidence_is_over_the_hypotheses(full: mg.Model) -> None:
    test = [(list(s.columns["word"]), list(s.columns["label"])) for s in documents(6)]
    sure = mg.calibrate(full, test)
    words = ["Mr", "Alba", "Alba"]
    listed = sorted(enumerated(sure, words)[:9], key=lambda one: -one[2])
    shares = np.exp((np.array([total for *_, total in listed]) - listed[0][2]) / sure.temperature)
    shares /= shares.sum()
    tagged = sure.tag(words, confidence=True)
    by_token = [
        sum(p for p, (labels, *_) in zip(shares, listed, strict=True) if labels[t] == tagged.labels[t])
        for t in range(3)
    ]
    assert tagged.label_confidence == pytest.approx(by_token, rel=1e-6)
    assert tagged.confidence == pytest.approx(shares[0], rel=1e-6)


def test_constraints_are_met_by_the_best_that_do(full: mg.Model) -> None:
    words = ["Mr", "Alba", "Alba"]
    found = full.tag(words, constraints=["at most 1 PER", "at most 0 LOC"])
    fitting = [one for one in enumerated(full, words) if str(one[0]).count("B-PER") <= 1]
    fitting = [one for one in fitting if "LOC" not in str(one[0])][:9]
    assert found.labels == max(fitting, key=lambda one: one[2])[0]
    ranked = full.nbest(words, 3, constraints=["at most 1 PER", "at most 0 LOC"])
    expected = sorted(fitting, key=lambda one: -one[2])[:3]
    assert [r.labels for r in ranked] == [labels for labels, _, _ in expected]


def test_models_survive_files_pickles_and_shrinking(full: mg.Model, tmp_path: Path) -> None:
    sentences = [s.columns["word"] for s in documents()]
    expected = [t.labels for t in full.tag_all(sentences)]
    full.save(tmp_path / "m.mg")
    for other in (mg.load(tmp_path / "m.mg"), pickle.loads(pickle.dumps(full))):
        assert other.to_bytes() == full.to_bytes()
        assert [t.labels for t in other.tag_all(sentences)] == expected
    shrunk = mg.shrink(full, bits=16).model
    assert "global.names" not in shrunk.saved.arrays
    assert [t.labels for t in shrunk.tag_all(sentences)] == expected
    assert shrunk.saved.global_features == full.saved.global_features
    full.export_weights(tmp_path / "weights.tsv")
    lines = (tmp_path / "weights.tsv").read_text().splitlines()
    (tmp_path / "weights.tsv").write_text("\n".join(lines[:-1]) + "\n")
    edited = full.with_weights(tmp_path / "weights.tsv")
    assert edited.saved.arrays["global.keys"].tolist() == full.saved.arrays["global.keys"].tolist()


def test_threads_streams_and_blocks_change_nothing(templates: str, tmp_path: Path) -> None:
    options = OPTIONS | {"features": templates, "n": 5, "passes": 3, "bpm_init": 3, "shuffle_average": 2}
    one = mg.train(documents(), **options)
    assert mg.train(documents(), threads=2, **options).to_bytes() == one.to_bytes()
    path = tmp_path / "train.txt"
    with path.open("w") as file:
        for number, sentence in enumerate(documents()):
            file.write("" if number % 2 else "-DOCSTART- O\n\n")
            rows = zip(sentence.columns["word"], sentence.columns["label"], strict=True)
            file.writelines(f"{word} {label}\n" for word, label in rows)
            file.write("\n")
    plain = options | {"label": None, "shuffle": False, "bpm_init": 0, "shuffle_average": 1}
    streamed, kept = (
        mg.train(str(path), columns="word label", stream=stream, **plain) for stream in (True, False)
    )
    assert dict(global_weights(streamed.saved.arrays)) == dict(global_weights(kept.saved.arrays))


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_kept_of_documents_changes_nothing(
    templates: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    families = str(Path(templates).parent / "families.txt")
    options = OPTIONS | {"features": templates, "global_features": families, "n": 5, "passes": 6}
    kept = mg.train(documents(), bpm_init=3, threads=threads, **options)
    made: list[WholeExamples] = []

    def anew(training: WholeTraining, examples: WholeExamples) -> Any:
        made.append(examples)
        return training._make_batch(examples)

    monkeypatch.setattr(WholeTraining, "batch", anew)
    forgotten = mg.train(documents(), bpm_init=3, threads=threads, **options)
    assert forgotten.to_bytes() == kept.to_bytes()
    assert len(made) > len(set(made)) > 0  # the same examples in each pass


def test_segments_and_second_order_have_global_features(templates: str, tmp_path: Path) -> None:
    test = documents()
    asked = [mg.Sentence({"word": s.columns["word"]}, document=s.document) for s in test]
    (tmp_path / "s.txt").write_text("word[b-1]\nword[b..e]\nedge:\n")
    made = [
        mg.train(test, features=str(tmp_path / "s.txt"), structure="segments", n=30, **OPTIONS),
        mg.train(test, features=templates, order=2, n=30, **OPTIONS),
        mg.train(test, features=str(tmp_path / "s.txt"), structure="segments", cutoff=2, n=30, **OPTIONS),
    ]
    for model in made:
        assert [list(t.labels) for t in model.tag_all(asked)] == told(test)
        assert global_weights(model.saved.arrays)


def test_training_stops_when_nothing_is_left(model: mg.Model) -> None:
    history = model.saved.history
    assert len(history) < 60
    assert history[-1]["mistakes"] == 0


def test_plain_tags_are_mentions_of_one_token() -> None:
    data = [(["a", "b", "a"], ["X", "O", "X"]), (["b", "a"], ["O", "Y"])] * 3
    model = mg.train(data, learner="nonlocal", passes=3, scheme="none")
    assert any(name.startswith("same(X,X)") for name, _ in global_weights(model.saved.arrays))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "vote"}, "does not go with average=vote"),
        ({"provenance": True}, "does not go with provenance=on"),
        ({"boost": 2}, "does not go with boost"),
        ({"state": True}, "does not go with state=on"),
        ({"l2": 0.1}, "l2 needs the rows .* which the structure chain with global features does not have"),
        ({"partial": True}, "partial=on needs examples with more than one right output"),
        ({"structure": "single"}, "needs outputs that label tokens.*choose structure=chain or segments"),
        (
            {"learner": "margin", "global_features": "nonlocal"},
            "are for the learner nonlocal, not for margin",
        ),
        ({"learner": "crf", "global_functions": ["a:b"]}, "are for the learner nonlocal, not for crf"),
        ({"global_features": "non-local"}, "neither a ready-made set nor a file"),
        ({"n": 1}, "setting 'n'"),
    ],
)
def test_what_does_not_go_with_it(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.MarginaliaError, match=message):
        mg.train(documents(), **({"learner": "nonlocal", "label": "label"} | options))


def test_what_its_models_cannot_do(full: mg.Model) -> None:
    with pytest.raises(mg.ModelError, match="global features cannot be corrected"):
        full.fix(["Mr", "Alba"], ["O", "B-LOC"])
    with pytest.raises(mg.ModelError, match="global features cannot be trained further"):
        full.partial_fit([(["Mr", "Alba"], ["O", "B-PER"])])
    with pytest.raises(mg.ModelError, match="global features cannot be trained further"):
        mg.train(documents(), start=full, label="label", unit="document", learner="nonlocal")
    with pytest.raises(mg.ModelError, match="global features cannot be exported"):
        mg.export(full)
    with pytest.raises(mg.ModelError, match="no sums over all outputs"):
        full.marginals(["Mr", "Alba"])
    with pytest.raises(mg.SettingsError, match="hypotheses: found 0"):
        full.with_hypotheses(0)
    with pytest.raises(mg.ModelError, match="has no global features"):
        mg.train([(["a"], ["B-X"])], passes=1).with_hypotheses(2)


def test_huge_documents_are_refused_with_the_reason(templates: str) -> None:
    long = [mg.Sentence({"word": ["a"] * 9000, "label": ["O"] * 9000}, document=1), *documents(3)]
    message = "a document of 9,0.. tokens.*may take .* MiB, expected at most 1: divide it"
    options = OPTIONS | {"features": templates, "document_memory": 1, "passes": 1}
    with pytest.raises(mg.DataError, match="document 2: found " + message):
        mg.train([*documents(2), *long], **options)
    model = mg.train(documents(3), **options)
    with pytest.raises(mg.DataError, match=message):
        model.tag(["a"] * 9000)


def test_huge_documents_of_files_are_named_by_their_line(templates: str, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("-DOCSTART- O\n\na O\nAnn B-PER\n\n")
    (tmp_path / "long.txt").write_text(("-DOCSTART- O\n\na O\n\n") * 3 + "a O\n" * 9000)
    options = OPTIONS | {"features": templates, "document_memory": 1, "passes": 1, "label": None}
    files = [str(tmp_path / name) for name in ("short.txt", "long.txt")]
    for train, dev in ((files, None), (files[:1], files[1])):
        with pytest.raises(mg.DataError, match=r"long.txt:11: found a document of 9,001 tokens"):
            mg.train(train, dev=dev, **options)


def test_a_model_whose_function_is_gone_is_refused(
    templates: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone_features.py").write_text(
        "def count(tokens, spans):\n    return [f'{len(spans)} names in {len(tokens)}']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    model = mg.train(
        documents(), features=templates, global_functions=["gone_features:count"], n=4, **OPTIONS
    )
    assert any(name.startswith("count:") for name, _ in global_weights(model.saved.arrays))
    model.save(tmp_path / "m.mg")
    asked = [s.columns["word"] for s in documents()]
    assert [t.labels for t in mg.load(tmp_path / "m.mg").tag_all(asked)] == [
        t.labels for t in model.tag_all(asked, threads=2)
    ]
    monkeypatch.delitem(sys.modules, "gone_features")
    (tmp_path / "gone_features.py").unlink()
    with pytest.raises(mg.ModelError, match=r"gone_features cannot be imported.*PYTHONPATH"):
        mg.load(tmp_path / "m.mg")
