"""Models of rules from end to end: decoded by a trie as by a scan of all rules, explained, edited."""

from __future__ import annotations

import io
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_world import Toys

import marginalia as mg
from marginalia import _core
from marginalia.corpus.schemes import legal_transitions, validate
from marginalia.corpus.source import DataSource
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.features.compiling import compile_extractor
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import make_recipe
from marginalia.model import file

TEMPLATES = "word[-1..1]\ntag[0]\nedge:\n"
SMALL: dict[str, Any] = {"learner": "rules", "rules": 60, "buckets": 5, "columns": "word tag label"}


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rules") / "templates.txt"
    path.write_text(TEMPLATES, encoding="utf-8")
    return str(path)


def records(toys: Toys, count: int, seed: int = 1) -> list[mg.Sentence]:
    return [mg.Sentence(columns | {"label": labels}) for columns, labels in toys(count, seed)]


def scanned(model: Any, columns: dict[str, list[str]], ids: tuple[int, ...]) -> float:
    """The score of an output, by looking at every rule for every token."""
    saved, length = model.saved, len(ids)
    table = _core.from_columns([columns["word"], columns["tag"]], [length])
    extractor = compile_extractor(saved.program, ("word", "tag"), {}, {})
    names = [{name for edge, name in token if not edge} for token in extractor.names(table)]
    backwards = saved.settings["direction"] == "right-to-left"
    for t, atoms in enumerate(names):
        for distance in range(1, (saved.settings["neighbours"] or saved.settings["order"]) + 1):
            at = t + distance if backwards else t - distance
            if 0 <= at < length:
                atoms.add(f"label[{'' if backwards else '-'}{distance}]={saved.labels[ids[at]]}")
    score = 0.0
    for t, atoms in enumerate(names):
        total = 0.0
        for row in np.flatnonzero(saved.arrays["keys"]).tolist():
            name = saved.feature_name(row)
            if name == "(always)" or set(name.split(" & ")) <= atoms:
                outputs, weights = saved.cells(row)
                total += float(weights[outputs == ids[t]].sum())
        score += -math.log1p(math.exp(-5 * total))
    return score


@pytest.mark.parametrize("direction", ["right-to-left", "left-to-right"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("size", [1, 3])
def test_k_best_and_probabilities_are_those_of_all_outputs(
    toys: Toys, features: str, direction: str, order: int, size: int
) -> None:
    model = mg.train(
        records(toys, 25), features=features, **SMALL, direction=direction, order=order, size=size
    )
    labels = model.saved.labels
    start, transition, end = legal_transitions(labels, model.saved.encoding)
    for length in (1, 2, 3):
        columns = {"word": ["x1", "o2", "y3"][:length], "tag": ["T0", "T1", "T0"][:length]}
        legal = [
            ids
            for ids in itertools.product(range(len(labels)), repeat=length)
            if start[ids[0]] and end[ids[-1]] and all(transition[a][b] for a, b in itertools.pairwise(ids))
        ]
        expected = {ids: scanned(model, columns, ids) for ids in legal}
        found = model.nbest(columns, len(legal) + 5)
        assert len(found) == len(legal)
        numbers = {label: i for i, label in enumerate(labels)}
        scores = {tuple(numbers[label] for label in one.labels): one.score for one in found}
        assert scores == pytest.approx(expected, abs=1e-9)
        assert found[0].score == max(scores.values())
        assert model.tag(columns).labels == found[0].labels
        calibrated = mg.calibrate(model, records(toys, 5, 3))
        temperature = calibrated.temperature
        total = math.fsum(math.exp(s / temperature) for s in expected.values())
        sure = calibrated.nbest(columns, 1, confidence=True)[0]
        assert sure.confidence == pytest.approx(math.exp(found[0].score / temperature) / total)


ATOMS = ["word[0]=a", "word[0]=b", "word[1]=b", "tag[0]=T0", "tag[0]=T1"]
LABELS = ["N", "V", "O"]


@pytest.fixture(scope="module", params=["right-to-left", "left-to-right"])
def wide(request: pytest.FixtureRequest, features: str) -> Any:
    """A model whose rules ask for three neighbours, and whose beam holds all outputs of four tokens."""
    sentence = {"word": list("abab"), "tag": ["T0", "T1", "T0", "T0"], "label": ["N", "V", "O", "N"]}
    more = {"direction": request.param, "neighbours": 3, "beam": 100, "legal": False}
    return mg.train([mg.Sentence(sentence)], features=features, **SMALL, **more)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[tuple[str, ...], str, float]]:
    """Rules of features and of labels by distance, with confidences."""
    labels = st.tuples(*[st.sampled_from([None, *LABELS])] * 3)
    found: dict[tuple[tuple[str, ...], str], float] = {}
    for _ in range(draw(st.integers(1, 12))):
        asked = [f"label[{k}]={label}" for k, label in enumerate(draw(labels), 1) if label is not None]
        atoms = (*sorted(draw(st.sets(st.sampled_from(ATOMS), max_size=2))), *asked)
        weight = draw(st.integers(-20, 20)) / 16
        if atoms and weight:
            found[atoms, draw(st.sampled_from(LABELS))] = weight
    return [(*place, weight) for place, weight in found.items()]


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(tables(), st.integers(1, 4), st.data())
def test_three_neighbours_are_found_by_a_beam_that_holds_all(
    wide: Any, table: list[tuple[tuple[str, ...], str, float]], length: int, data: st.DataObject
) -> None:
    sign = "" if wide.saved.settings["direction"] == "right-to-left" else "-"
    lines = ["kind\tfeature\tlabels\tweight"]
    for atoms, label, weight in table:
        name = " & ".join(atom.replace("label[", f"label[{sign}") for atom in atoms)
        lines.append(f"feature\t{name}\t{label}\t{weight}")
    model = wide.with_weights(io.StringIO("\n".join(lines) + "\n"))
    columns = {
        "word": data.draw(st.lists(st.sampled_from("ab"), min_size=length, max_size=length)),
        "tag": data.draw(st.lists(st.sampled_from(["T0", "T1"]), min_size=length, max_size=length)),
    }
    outputs = itertools.product(range(3), repeat=length)
    expected = {ids: scanned(model, columns, ids) for ids in outputs}
    found = model.nbest(columns, 100)
    numbers = {label: i for i, label in enumerate(model.saved.labels)}
    scores = {tuple(numbers[label] for label in one.labels): one.score for one in found}
    assert scores == pytest.approx(expected, abs=1e-9)
    assert [one.score for one in found] == sorted(scores.values(), reverse=True)
    assert model.tag(columns).labels == found[0].labels
    explained = model.explain(columns)
    difference = math.fsum(reason.difference for reason in explained.reasons)
    assert difference == pytest.approx(found[0].score - found[1].score, abs=1e-9)


def test_what_needs_states_is_refused_of_three_neighbours(wide: Any, toys: Toys, features: str) -> None:
    again = mg.Model.from_bytes(wide.to_bytes())
    assert again.saved.settings["search"] == "beam"
    assert any("label[3]" in name or "label[-3]" in name for name in again.saved.feature_names())
    columns = {"word": ["a", "b"], "tag": ["T0", "T1"]}
    assert again.tag(columns).labels == wide.tag(columns).labels
    with pytest.raises(ModelError, match="without confidence"):
        mg.calibrate(again, [mg.Sentence(columns | {"label": ["N", "V"]})])
    with pytest.raises(ModelError, match="without constraints"):
        again.tag(columns, constraints="1=O")
    data = records(toys, 10)
    with pytest.raises(SettingsError, match="choose order=2 or search=beam"):
        mg.train(data, features=features, **SMALL, neighbours=2)
    two = mg.train(data, features=features, **SMALL, neighbours=2, search="beam")
    assert any("label[2]" in name for name in two.saved.feature_names())
    one = mg.train(data, features=features, **SMALL, neighbours=1, order=2)
    assert not any("label[2]" in name for name in one.saved.feature_names())
    rows = [{"text": "a", "label": "T"}, {"text": "b", "label": "F"}]
    with pytest.raises(SettingsError, match="only in a chain"):
        mg.train(rows, structure="single", learner="rules", neighbours=3)


def test_a_beam_of_one_finds_legal_outputs(toys: Toys, features: str) -> None:
    model = mg.train(records(toys, 25), features=features, **SMALL, neighbours=3, beam=1)
    for columns, _ in toys(30, 5):
        found = model.tag(columns).labels
        assert not validate(list(found), str(model.saved.scheme))
        assert [one.labels for one in model.nbest(columns, 5)] == [found]


def test_rules_of_plain_labels_ask_for_no_neighbours(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text("word[0]\ntag[0]\n", encoding="utf-8")
    model = mg.train(records(toys, 20), features=str(path), **SMALL)
    assert not any("label[" in name for name in model.saved.feature_names())


def test_the_number_of_sets_that_grow_is_not_that_of_a_beam() -> None:
    """Both are widths."""
    exact = make_recipe(learner="rules", settings={"width": 7}).settings.options.search
    by_beam = make_recipe(learner="rules", settings={"width": 7, "neighbours": 3}).settings.options.search
    assert (exact.beam_width, by_beam.beam_width) == (0, 20)


def test_threads_and_bytes(toys: Toys, features: str) -> None:
    data = records(toys, 30)
    one, two = (
        mg.train(data[:25], dev=data[25:], features=features, **SMALL, threads=n).to_bytes() for n in (1, 2)
    )
    assert one == two
    assert file.version_of(mg.Model.from_bytes(one).saved) == file.RULES_VERSION


def test_explanations_add_up(toys: Toys, features: str) -> None:
    data = records(toys, 25)
    model = mg.train(data, features=features, **SMALL)
    found = model.explain(data[0])
    difference = math.fsum(reason.difference for reason in found.reasons)
    assert difference == pytest.approx(found.chosen.score - found.other.score, abs=1e-9)
    rules = [reason for reason in found.reasons if reason.kind == "rule"]
    assert rules
    assert all(reason.words.startswith("the rule ") for reason in rules)


def test_an_interrupted_pass_is_kept(toys: Toys, features: str) -> None:
    """What was learned before Ctrl-C, although no look at the dev score has come."""
    data = records(toys, 30)
    recipe = make_recipe(features=features, learner="rules", settings={"rules": 1000, "buckets": 5})
    run = prepare(DataSource(data, label="label"), data[:5], recipe)
    for record in run:
        assert not record.finished
        break
    model: Any = run.model()
    rules = set(model.saved.feature_names()) - {"", "(always)"}
    assert len(rules) > 20
    assert (
        mg.Model.from_bytes(model.to_bytes()).tag(data[0].columns).labels == model.tag(data[0].columns).labels
    )


def test_buckets_follow_from_the_number_of_rules() -> None:
    """Ten sweeps, and no more than a thousand buckets."""

    def buckets(**settings: int) -> int:
        found: Any = make_recipe(learner="rules", settings=settings).settings.learner
        return int(found.buckets)

    assert buckets() == 200
    assert buckets(rules=1000, rules_per_round=1) == 100
    assert buckets(rules=50) == 1
    assert buckets(rules=1_000_000) == 1000
    assert buckets(rules=50, buckets=7) == 7


def test_single_items() -> None:
    pairs = [("x1 o2", "T"), ("o2 o3", "F"), ("x1", "T"), ("o3", "F")] * 3
    rows = [{"text": text, "label": label} for text, label in pairs]
    model = mg.train(rows, dev=rows, structure="single", learner="rules", rules=20)
    again = mg.Classifier.from_bytes(model.to_bytes())
    assert [again.classify(text).label for text, _ in pairs] == [label for _, label in pairs]
    best = again.nbest("x1 o2", 2)
    found = again.explain("x1 o2")
    assert math.fsum(r.difference for r in found.reasons) == pytest.approx(best[0].score - best[1].score)


def test_items_with_attributes_of_their_own() -> None:
    pairs = [(["a", "b"], "T"), (["b", "c"], "F"), (["a"], "T"), (["c"], "F")] * 3
    model = mg.train(pairs, structure="single", learner="rules", rules=20)
    assert model.predict([attributes for attributes, _ in pairs]) == [label for _, label in pairs]


def test_rules_can_be_changed_by_hand(toys: Toys, features: str) -> None:
    data = records(toys, 25)
    model = mg.train(data, features=features, **SMALL)
    table = io.StringIO()
    model.export_weights(table)
    assert model.with_weights(io.StringIO(table.getvalue())).saved is model.saved
    lines = table.getvalue().splitlines()
    label = model.saved.labels[-1]
    new = f"feature\tword[0]=zebra & label[1]=O\t{label}\t50"
    edited = model.with_weights(io.StringIO("\n".join([*lines, new]) + "\n"))
    columns = {"word": ["zebra", "o1"], "tag": ["T0", "T0"]}
    ids = tuple(model.saved.labels.index(one) for one in (label, "O"))
    assert scanned(edited, columns, ids) > scanned(model, columns, ids)
    again = mg.Model.from_bytes(edited.to_bytes())
    assert again.nbest(columns, 3)[0].score == edited.nbest(columns, 3)[0].score
    assert any("zebra" in name for name in again.saved.feature_names())
    for wrong in ("label[-1]=O", "nothing=here", "label[1]=Q & word[0]=a"):
        bad = f"feature\t{wrong}\t{label}\t1\n"
        with pytest.raises(DataError, match="which no template of the model could give"):
            model.with_weights(io.StringIO(table.getvalue() + bad))


def test_what_does_not_go_with_rules_is_refused(toys: Toys, features: str) -> None:
    data = records(toys, 20)
    for structure in ("segments", "words", "trees", "candidates"):
        with pytest.raises(SettingsError, match="labels that are each of one token"):
            mg.train(data, learner="rules", structure=structure)
    for name in ("state", "partial", "diagnostics"):
        with pytest.raises(SettingsError, match=f"does not go with {name}=on"):
            mg.train(data, features=features, **SMALL, **{name: True})
    model = mg.train(data, features=features, **SMALL)
    with pytest.raises(ModelError, match="a model of rules cannot be corrected"):
        model.fix(data[0], list(data[0].columns["label"]))
    with pytest.raises(ModelError, match="train it again"):
        model.partial_fit(data)
    with pytest.raises(ModelError, match="train it again"):
        mg.train(data, start=model)


def test_forged_rules_are_model_errors(toys: Toys, features: str) -> None:
    from dataclasses import replace

    saved = mg.train(records(toys, 20), features=features, **SMALL).saved
    forgeries: dict[str, Any] = {
        "rule.end": saved.arrays["rule.end"][:-1],
        "rule.atoms": saved.arrays["rule.atoms"][:-1],
        "rule.keys": np.append(saved.arrays["rule.keys"][1:], np.uint64(7)).astype(np.uint32),
    }
    for name, array in forgeries.items():
        with pytest.raises(ModelError, match="do not fit"):
            mg.Model(replace(saved, arrays=saved.arrays | {name: array}))


def test_shrunk_rules(toys: Toys, features: str) -> None:
    data = records(toys, 30)
    model = mg.train(data, features=features, **SMALL)
    small = mg.shrink(model, bits=16).model
    assert [small.tag(one).labels for one in data] == [model.tag(one).labels for one in data]
