"""Corrections: afterwards the example is right, the report is true, and undoing gives the same bytes."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from learn_world import RUNS, Toys, assert_close, conll_file, weights_of
from naive_chain import TEMPLATES, features_of, problems, score

import marginalia as mg
from marginalia.corpus import Span, labels_of

HAIR = 1e-4
Weights = dict[Hashable, float]


def other_labels(
    columns: dict[str, list[str]], seed: int, scheme: str = "IOB2", types: str = "XY"
) -> list[str]:
    """Legal labels that have nothing to do with the words."""
    rng, spans, at = random.Random(seed), [], 0
    while at < len(columns["word"]):
        end = min(at + rng.randint(1, 3), len(columns["word"]))
        kind = rng.choice([*types, "O"])
        spans += [Span(at, end, kind)] if kind != "O" else []
        at = end
    return labels_of(spans, len(columns["word"]), scheme)


def new_words(size: int, seed: int) -> dict[str, list[str]]:
    """A sentence that no model knows, so that its words can be told apart."""
    return {"word": [f"new{seed}-{t}" for t in range(size)], "tag": ["T0"] * size}


def train(toys: Toys, name: str, count: int = 15, **more: Any) -> mg.Model:
    learner, chosen = RUNS[name]
    return mg.train(toys(count), learner=learner, **({"passes": 4} | chosen | more))


@pytest.mark.parametrize("name", [name for name in RUNS if "voted" not in name])
def test_fixed_and_undone(toys: Toys, name: str) -> None:
    """Of every learner and structure: what was corrected stays right, and each step back is exact."""
    model = train(toys, name)
    versions, asked = [model], []
    for seed, (columns, _) in enumerate([*toys(2, seed=5), (new_words(5, 1), []), (new_words(1, 2), [])]):
        right = other_labels(columns, seed)
        fixed = versions[-1].fix(columns, right)
        assert fixed.correction_report is not None
        assert fixed.correction_report.lead >= fixed.correction_report.margin * 0.999
        asked.append((columns, right))
        assert [list(fixed.tag(x).labels) for x, _ in asked] == [y for _, y in asked]
        versions.append(mg.Model.from_bytes(fixed.to_bytes()))
    for before, after in itertools.pairwise(reversed(versions)):
        assert before.undo().to_bytes() == after.to_bytes()


@pytest.mark.parametrize(
    "more",
    [
        {"encode": "IOBES"},
        {"scheme": "none"},
        {"names": False},
        {"legal": False},
        {"state": True},
        {"provenance": True, "contributions": 2},
        {"order": 2, "state": True, "provenance": True},
        {"cutoff": 2},
        {"structure": "segments", "state": True, "provenance": True},
        {"structure": "segments", "cutoff": 2},
    ],
    ids=str,
)
def test_new_labels_and_features(toys: Toys, more: dict[str, Any], tmp_path: Path) -> None:
    """A new type brings all its labels; old weights stay where they belong."""
    path = tmp_path / "templates.txt"
    path.write_text("word[-1..1]\ntag[0]\nedge:\n" + ("" if more.get("structure") else "edge: tag[0]\n"))
    model = mg.train(toys(15), passes=3, features=str(path), **more)
    columns = new_words(6, 1)
    right = ["B-NEW", "I-NEW", "B-NEW", "O", "B-X", "I-X"]
    fixed = model.fix(columns, right)
    assert list(fixed.tag(columns).labels) == right
    assert fixed.correction_report is not None
    expected = {"IOBES": {"B-NEW", "I-NEW", "E-NEW", "S-NEW"}}.get(more.get("encode", ""), {"B-NEW", "I-NEW"})
    assert set(fixed.correction_report.new_labels) == expected
    assert fixed.correction_report.new_features > 0
    again = fixed.fix(new_words(3, 2), ["B-ODD", "O", "B-NEW"])
    assert list(again.tag(columns).labels) == right
    loaded = mg.Model.from_bytes(again.to_bytes())
    assert loaded.undo().to_bytes() == fixed.to_bytes()
    assert loaded.undo().undo().to_bytes() == model.to_bytes()


def test_a_new_type_of_a_translated_scheme(toys: Toys) -> None:
    """IOB1 is learned as IOBES; users see IOB1."""
    model = mg.train(toys(15, scheme="IOB1"), passes=3)
    assert model.saved.encoding == "IOBES"
    columns = new_words(5, 1)
    right = ["I-NEW", "B-NEW", "I-NEW", "O", "I-X"]
    fixed = model.fix(columns, right)
    assert list(fixed.tag(columns).labels) == right
    assert fixed.corrections[0].examples[0].labels == tuple(right)
    assert fixed.undo().to_bytes() == model.to_bytes()


def differences(before: mg.Tagger, after: mg.Tagger) -> Weights:
    """What each exported weight is afterwards, if it is another."""

    def table(model: mg.Tagger, path: list[str]) -> dict[Hashable, str]:
        rows = [line.rstrip("\n").split("\t") for line in path[1:]]
        return {(kind, feature, labels): weight for kind, feature, labels, weight in rows}

    def lines(model: mg.Tagger) -> list[str]:
        from marginalia.model.weights_text import weight_lines

        return list(weight_lines(model.saved))

    old, new = (table(model, lines(model)) for model in (before, after))
    return {
        place: (float(old.get(place, "0")), float(new.get(place, "0")))  # type: ignore[misc]
        for place in old.keys() | new.keys()
        if old.get(place) != new.get(place)
    }


@pytest.mark.parametrize("name", ["perceptron, order 2", "crf", "maxent", "segments, pa"])
def test_the_receipt_is_the_difference_of_the_weight_tables(toys: Toys, name: str) -> None:
    model = train(toys, name)
    columns = toys(1, seed=8)[0][0]
    fixed = model.fix(columns, other_labels(columns, 3))
    assert fixed.correction_report is not None
    told = {
        (c.kind, c.feature, " ".join(c.labels)): (c.before, c.after) for c in fixed.correction_report.changes
    }
    expected = differences(model, fixed)
    assert told.keys() == expected.keys()
    for place, values in told.items():
        assert values == pytest.approx(expected[place], rel=1e-6)
    sizes = [abs(change.after - change.before) for change in fixed.correction_report.changes]
    assert sizes == sorted(sizes, reverse=True)
    assert fixed.corrections[-1].changes == fixed.correction_report.changes
    assert mg.Model.from_bytes(fixed.to_bytes()).corrections == fixed.corrections


def naive_correction(
    w: Weights, words: list[str], gold: tuple[int, ...], labels: int, margin: float
) -> Weights:
    """Passive-aggressive steps on dictionaries, against the best other output of all."""
    w = dict(w)
    outputs = [y for y in itertools.product(range(labels), repeat=len(words)) if y != gold]
    for _ in range(1000):
        ranked = sorted(outputs, key=lambda y: -score(w, words, y, labels))
        top = [score(w, words, y, labels) for y in ranked[:2]]
        lead = score(w, words, gold, labels) - top[0]
        assume(len(top) < 2 or top[0] - top[1] > HAIR)  # else rounding decides
        assume(abs(lead - margin) > HAIR)
        if lead > margin:
            return w
        net = features_of(words, gold, labels)
        net.subtract(features_of(words, ranked[0], labels))
        norm = sum(value * value for value in net.values())
        assume(norm)
        for f, value in net.items():
            w[f] = w.get(f, 0.0) + (1.01 * margin - lead) / norm * value
    assume(False)
    return w


@settings(max_examples=60)
@given(problems(), st.lists(st.sampled_from("abcde"), min_size=1, max_size=3, unique=True), st.randoms())
def test_against_a_naive_correction(tmp_path_factory: Any, pairs: Any, words: list[str], chance: Any) -> None:
    path = tmp_path_factory.mktemp("templates") / "templates.txt"
    path.write_text(TEMPLATES)
    pairs = [*pairs, (["a", "b", "c"], ["X", "Y", "Z"])]
    model = mg.train(pairs, features=str(path), scheme="none", passes=3)
    labels = list(model.labels)
    right = [chance.choice(labels) for _ in words]
    fixed = model.fix(words, right)
    assert fixed.correction_report is not None
    gold = tuple(labels.index(label) for label in right)
    start = weights_of(model)
    scale = np.sqrt(np.mean(np.square(list(start.values())))) if start else 1.0
    assert fixed.correction_report.margin == pytest.approx(scale, rel=1e-5)
    expected = naive_correction(start, words, gold, len(labels), fixed.correction_report.margin)
    assert_close(weights_of(fixed), {f: value for f, value in expected.items() if value}, 1e-4)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["chain", "segments"]), st.integers(1, 4))
def test_random_worlds(toys: Toys, seed: int, structure: str, count: int) -> None:
    """Several corrections of random sentences of known words, all of them kept right."""
    rng = random.Random(seed)
    words = [f"{kind}{i}" for kind in "xyo" for i in range(10)]
    model = mg.train(toys(8, seed=seed), structure=structure, passes=2)
    first, asked = model, []
    for k in range(count):
        size = rng.randint(1, 6)
        columns = {"word": rng.sample(words, size), "tag": [f"T{rng.randint(0, 2)}" for _ in range(size)]}
        asked = [(x, y) for x, y in asked if x["word"] != columns["word"]]  # tags are no features here
        asked.append((columns, other_labels(columns, seed + k)))
        model = model.fix(*asked[-1])
        assert [list(model.tag(x).labels) for x, _ in asked] == [y for _, y in asked]
    for _ in range(count):
        model = model.undo()
    assert model.to_bytes() == first.to_bytes()


def test_what_is_right_already_changes_nothing(toys: Toys) -> None:
    for learner in ("perceptron", "maxent"):
        model = mg.train(toys(20), learner=learner, passes=20)
        columns, right = toys(20)[3]
        assert list(model.tag(columns).labels) == right
        fixed = model.fix(columns, right, margin=1e-3)
        assert fixed.correction_report is not None
        assert (fixed.correction_report.updates, fixed.correction_report.changes) == (0, ())
        assert weights_of(fixed) == weights_of(model)
        assert len(fixed.corrections) == 1  # but it will stay right from now on


def test_a_larger_margin_leads_by_more(toys: Toys) -> None:
    model = mg.train(toys(15), passes=3)
    columns = new_words(4, 1)
    leads = []
    for margin in (0.1, 1.0, 10.0):
        correction_report = model.fix(columns, other_labels(columns, 1), margin=margin).correction_report
        assert correction_report is not None
        leads.append(correction_report.lead)
        best, second = model.fix(columns, other_labels(columns, 1), margin=margin).nbest(columns, 2)
        assert best.score is not None
        assert second.score is not None
        assert correction_report.lead == pytest.approx(best.score - second.score, rel=1e-5)
    assert leads[0] < leads[1] < leads[2]


def test_earlier_corrections_keep_their_own_margin(toys: Toys) -> None:
    """A later one by a larger margin does not ask for more of them than was asked before."""
    for learner in ("perceptron", "maxent"):
        model = mg.train(toys(15), learner=learner, passes=5)
        first = model.fix(new_words(1, 1), ["B-Y"], margin=0.1)
        assert first.correction_report is not None
        sure = None
        for columns, _ in toys(30, seed=6):
            best, second = first.nbest(columns, 2)
            if (best.score or 0.0) - (second.score or 0.0) > 20.5 * first.correction_report.margin:
                sure = columns
        assert sure is not None
        again = first.fix(sure, first.tag(sure).labels, margin=2.0)
        assert again.correction_report is not None
        assert (
            again.correction_report.lead
            > again.correction_report.margin
            > 15 * first.correction_report.margin
        )
        assert again.correction_report.updates == 0


def test_labels_are_never_repaired(toys: Toys) -> None:
    """What was asked for would not be what is learned."""
    model = mg.train(toys(15), passes=2, repair=True)
    with pytest.raises(mg.DataError, match="I-X"):
        model.fix(new_words(2, 1), ["O", "I-X"])


def test_a_later_correction_of_the_same_sentence_replaces_the_first(toys: Toys) -> None:
    model = mg.train(toys(15), passes=3)
    columns = new_words(3, 1)
    first = model.fix(columns, ["B-X", "I-X", "O"])
    second = mg.Model.from_bytes(first.to_bytes()).fix(columns, ["O", "O", "B-Y"])
    assert second.correction_report is not None
    assert second.correction_report.replaced == 1
    assert list(second.tag(columns).labels) == ["O", "O", "B-Y"]
    third = second.fix(new_words(2, 2), ["B-X", "O"])
    assert third.correction_report is not None
    assert third.correction_report.replaced == 0
    assert list(third.tag(columns).labels) == ["O", "O", "B-Y"]
    assert list(third.undo().undo().tag(columns).labels) == ["B-X", "I-X", "O"]


def test_many_examples_are_right_at_once(toys: Toys, tmp_path: Path) -> None:
    data = [(new_words(4, n), other_labels(new_words(4, n), n)) for n in range(12)]
    path = conll_file(tmp_path / "corrected.txt", data)
    for structure in ("chain", "segments"):
        model = mg.train(toys(15), structure=structure, passes=3)
        for given_data in (data, path):
            fixed = model.fix_all(given_data, columns="word tag label")
            assert [list(t.labels) for t in fixed.tag_all([x for x, _ in data])] == [y for _, y in data]
            assert len(fixed.corrections) == 1
            assert len(fixed.corrections[0].examples) == 12
            assert fixed.undo().to_bytes() == model.to_bytes()


def test_wishes_are_as_in_explain(toys: Toys) -> None:
    model = mg.train(toys(20), passes=5)
    columns = {"word": ["x1", "o2", "o3", "y4"], "tag": ["T0"] * 4}
    assert model.tag(columns).labels == ("B-X", "O", "O", "B-Y")
    assert model.fix(columns, "2-3=Y").tag(columns).labels == ("B-X", "B-Y", "I-Y", "B-Y")
    assert model.fix(columns, "4=O").tag(columns).labels == ("B-X", "O", "O", "O")
    assert model.fix(columns, "O O O O").tag(columns).labels == ("O", "O", "O", "O")
    with pytest.raises(mg.DataError, match="labels: found 5=O, expected tokens from 1 to 4"):
        model.fix(columns, "5=O")
    with pytest.raises(mg.DataError, match=r"labels: found .*: the model does not know 'B-Z'"):
        model.fix(columns, "1=B-Z")


def test_checked_sentences(toys: Toys) -> None:
    """The flips are those that comparing both models on all sentences gives."""
    model = mg.train(toys(6), passes=2)
    columns = {"word": ["x1", "y2", "o3"], "tag": ["T0", "T1", "T2"]}
    check = toys(60, seed=4)
    fixed = model.fix(columns, ["O", "B-X", "B-Y"], margin=5.0, check=check, threads=2)
    assert fixed.correction_report is not None
    assert fixed.correction_report.checked == 60
    expected = []
    for number, (x, y) in enumerate(check, 1):
        before, after = model.tag(x).labels, fixed.tag(x).labels
        if before != after:
            right = tuple(y)
            kind = "broken" if before == right else "mended" if after == right else "changed"
            expected.append((number, kind, tuple(x["word"]), right, before, after))
    assert {kind for _, kind, *_ in expected} >= {"broken", "changed"}
    found = [(f.number, f.kind, f.tokens, f.right, f.before, f.after) for f in fixed.correction_report.flips]
    assert found == expected
    assert len(fixed.correction_report.flipped("broken")) == sum(kind == "broken" for _, kind, *_ in expected)


def test_explicit_attributes() -> None:
    def attributes(words: str) -> list[dict[str, float]]:
        return [{f"w={word}": 1.0, "length": len(word) / 2} for word in words.split()]

    data = [(attributes("a bb a"), ["X", "Y", "X"]), (attributes("bb a ccc"), ["Y", "X", "Z"])] * 3
    for structure in ("chain", "segments"):
        model = mg.train(data, structure=structure, passes=3)
        x = [{"w=new": 2.0, "a": 0.5}, {"w=a": 1.0}]
        fixed = model.fix(x, ["NEW", "Z"])
        assert fixed.tag(x).labels == ("NEW", "Z")
        loaded = mg.Model.from_bytes(fixed.to_bytes())
        again = loaded.fix(attributes("a dddd"), ["Z", "Z"])
        assert again.tag(x).labels == ("NEW", "Z")
        assert again.undo().undo().to_bytes() == model.to_bytes()
        replaced = again.fix(x, ["Z", "Z"]).correction_report
        assert replaced is not None
        assert replaced.replaced == 1


def test_documents_are_corrected_whole(toys: Toys, tmp_path: Path) -> None:
    data = [
        mg.Sentence(columns | {"label": labels}, document=n // 2)
        for n, (columns, labels) in enumerate(toys(12))
    ]
    model = mg.train(data, unit="document", passes=3)
    pair = [
        mg.Sentence(new_words(3, 1) | {"label": ["B-X", "I-X", "O"]}),
        mg.Sentence(new_words(2, 2) | {"label": ["O", "B-Y"]}),
    ]
    fixed = model.fix_all(pair)
    assert len(fixed.corrections[0].examples) == 1
    asked = [mg.Sentence({n: c for n, c in s.columns.items() if n != "label"}) for s in pair]
    assert [list(t.labels) for t in fixed.tag_all(asked)] == [s.columns["label"] for s in pair]
    assert fixed.undo().to_bytes() == model.to_bytes()
    alone = model.fix(new_words(3, 1), ["B-X", "I-X", "O"])
    assert alone.tag(new_words(3, 1)).labels == ("B-X", "I-X", "O")


def test_provenance_stays_with_the_weights(toys: Toys) -> None:
    """Weights that a correction does not touch are taught by the same examples as before."""
    from marginalia.model.provenance import Provenance

    model = mg.train(toys(20), passes=3, provenance=True)
    fixed = model.fix(new_words(4, 1), ["B-NEW", "O", "B-X", "O"])

    def contributions(tagger: mg.Tagger) -> dict[Hashable, Any]:
        saved, known = tagger.saved, Provenance(tagger.saved)
        rows = np.flatnonzero(saved.arrays["keys"]).tolist()
        return {
            (saved.feature_name(row), output): known.contributions(row, output)
            for row in rows
            for output in range(len(model.saved.labels))
        }

    before, after = contributions(model), contributions(fixed)
    assert any(parts for parts, _ in before.values())
    assert {place: after[place] for place in before} == before
    assert all(after[place] == ([], 0.0) for place in after.keys() - before.keys())
    size = len(fixed.saved.labels)
    old, new = Provenance(model.saved), Provenance(fixed.saved)
    for a, b in itertools.product(range(size - 2), repeat=2):
        place, moved = 2 * (size - 2) + a * (size - 2) + b, 2 * size + a * size + b
        rows = (len(m.saved.arrays["keys"]) for m in (model, fixed))
        assert old.contributions(next(rows), place) == new.contributions(next(rows), moved)


def test_what_makes_models_makes_ones_that_can_be_taught(toys: Toys, tmp_path: Path) -> None:
    model = mg.train(toys(8), passes=2)
    model.save(tmp_path / "m.mg")
    made = [
        model,
        mg.load(tmp_path / "m.mg"),
        mg.calibrate(model, toys(5, seed=2)),
        pickle.loads(pickle.dumps(model)),
        mg.Model.from_bytes(model.to_bytes()),
        model.partial_fit(toys(2)),
    ]
    assert [type(one) for one in made] == [mg.Model] * len(made)
    fixed = made[1].fix(new_words(2, 1), ["O", "B-X"])
    assert type(fixed) is type(fixed.undo()) is mg.Model
    assert made[1].correction_report is None
    assert mg.train.__doc__ is not None
    assert mg.train.__doc__.startswith("Train a model")


def test_calibration_survives_a_correction(toys: Toys) -> None:
    model = mg.calibrate(mg.train(toys(12), passes=3), toys(8, seed=3))
    fixed = model.fix(new_words(2, 1), ["O", "B-X"])
    assert fixed.temperature == model.temperature
    calibrated = mg.calibrate(fixed, toys(8, seed=3))
    assert calibrated.undo().saved.arrays.keys() == model.saved.arrays.keys()


def test_edited_and_shrunk_models_have_no_log(toys: Toys, tmp_path: Path) -> None:
    fixed = mg.train(toys(12), passes=3).fix(new_words(2, 1), ["O", "B-X"])
    fixed.export_weights(tmp_path / "w.tsv")
    lines = (tmp_path / "w.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "w.tsv").write_text("".join(lines[:-1]))
    for changed in (
        fixed.with_weights(tmp_path / "w.tsv"),
        mg.Model.of(mg.shrink(fixed, bits=16).model),
    ):
        assert changed.corrections == ()
        with pytest.raises(mg.ModelError, match="no corrections"):
            changed.undo()
    shrunk = mg.Model(mg.shrink(fixed, bits=16).model.saved)
    assert shrunk.tag(new_words(2, 1)).labels == ("O", "B-X")
    with pytest.raises(mg.ModelError, match="a shrunk model cannot be corrected"):
        shrunk.fix(["a"], ["O"])


def test_what_cannot_be_corrected(toys: Toys) -> None:
    model = mg.train(toys(12), passes=3)
    with pytest.raises(mg.DataError, match="found 1 labels, expected 2, one for each token"):
        model.fix(new_words(2, 1), ["O"])
    with pytest.raises(mg.DataError, match="found 0 labels"):
        model.fix(new_words(2, 1), "")
    with pytest.raises(mg.DataError, match="expected some"):
        model.fix({"word": [], "tag": []}, [])
    with pytest.raises(mg.DataError, match="found label 'nonsense', expected a label of IOB2"):
        model.fix(new_words(2, 1), ["O", "nonsense"])
    with pytest.raises(mg.DataError, match="I-X"):
        model.fix(new_words(2, 1), ["O", "I-X"])
    with pytest.raises(mg.SettingsError, match="margin"):
        model.fix(new_words(2, 1), ["O", "B-X"], margin=0.0)
    with pytest.raises(mg.DataError, match="example 2 is the same as an earlier one"):
        model.fix_all([(new_words(2, 1), ["O", "B-X"]), (new_words(2, 1), ["O", "O"])])
    voted = mg.train(toys(12), passes=3, average="vote")
    with pytest.raises(mg.ModelError, match="vote"):
        voted.fix(new_words(2, 1), ["O", "B-X"])
    assert model.corrections == ()


def test_labels_that_the_features_cannot_tell_apart(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text("word[0]\n")
    pairs = [(["a", "b"], ["X", "Y"])] * 3
    for learner in ("perceptron", "crf", "maxent"):
        model = mg.train(pairs, features=str(path), scheme="none", learner=learner, passes=3)
        with pytest.raises(mg.DataError, match=r"this example cannot be made right.* a a"):
            model.fix(["a", "a"], ["X", "Y"])
        fixed = model.fix(["c"], ["X"])
        with pytest.raises(mg.DataError, match="cannot be made right"):
            fixed.fix(["c", "d"], ["Y", "Y"])


def test_segments_that_are_too_long(toys: Toys) -> None:
    model = mg.train(toys(12), structure="segments", max_length=3, passes=2)
    with pytest.raises(
        mg.DataError, match="more than max-length=3 tokens, which the model cannot give: new1-0"
    ):
        model.fix(new_words(4, 1), ["B-X", "I-X", "I-X", "I-X"])


def test_a_model_without_weights(toys: Toys) -> None:
    from learn_world import a_run

    empty = mg.Model(a_run(toys(5)).model().saved)
    fixed = empty.fix(new_words(3, 1), ["B-X", "O", "O"])
    assert fixed.tag(new_words(3, 1)).labels == ("B-X", "O", "O")
    assert fixed.undo().to_bytes() == empty.to_bytes()
