"""Warm starts: going on exactly where a model stopped, or from its weights with new words and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import (
    RUNS,
    Toys,
    a_run,
    arrays_of,
    assert_close,
    assert_same_arrays,
    conll_file,
    contradictory,
    finished,
    until,
    weights_of,
)

import marginalia as mg
from marginalia.corpus import pack
from marginalia.model import save

TEMPLATES = {
    "chain": "word[-1..1]\ntag[0]\nedge:\nedge: word[0]\n",
    "segments": "word[-1..1]\nlower(word)[b..e]\nlength/tag[b]\ntag[i]/word[e]\nedge:\n",
}
ENDLESS = {"margin": {"tolerance": 0.0}, "crf": {"tolerance": 0.0}, "maxent": {"tolerance": 0.0}}


@pytest.fixture
def templates(tmp_path: Path) -> Callable[..., str]:
    """Templates of a structure: those of tokens, and others."""

    def file(structure: str = "chain") -> str:
        path = tmp_path / f"{structure}.txt"
        path.write_text(TEMPLATES[structure])
        return str(path)

    return file


def structure_of(name: str) -> str:
    structure: str = RUNS[name][1].get("structure", "chain")
    return structure


def options_of(name: str) -> dict[str, Any]:
    learner, settings = RUNS[name]
    return {"learner": learner, **ENDLESS.get(learner, {}), **settings}


def assert_continued(data: Any, tmp_path: Path, **options: Any) -> None:
    """Six passes are three, saved, loaded, and three more."""
    whole = mg.train(data, passes=6, state=True, **options)
    half = mg.train(data, passes=3, state=True, **options)
    half.save(tmp_path / "half.mg")
    records: list[mg.Progress] = []
    more = {name: value for name, value in options.items() if name not in ("features", "scheme", "encode")}
    again = mg.train(
        data, passes=3, state=True, start=tmp_path / "half.mg", on_progress=records.append, **more
    )
    assert_same_arrays(again, whole)
    extra = bool(options.get("bpm_init"))
    assert {record.number for record in records} == {n + extra for n in (4, 5, 6)}
    assert {record.passes for record in records} == {6 + extra}


@pytest.mark.parametrize("name", RUNS)
def test_it_goes_on_where_it_stopped(
    toys: Toys, tmp_path: Path, templates: Callable[..., str], name: str
) -> None:
    assert_continued(
        contradictory(toys), tmp_path, features=templates(structure_of(name)), **options_of(name)
    )


@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron, l1-cumulative", "arow", "pa", "margin", "segments, arow"]
)
def test_mixing_goes_on_where_it_stopped(toys: Toys, tmp_path: Path, name: str) -> None:
    assert_continued(contradictory(toys), tmp_path, parallel="mix", threads=3, **options_of(name))


@pytest.mark.parametrize("name", ["perceptron", "crf", "maxent", "crf, sgd", "segments, pa", "segments, crf"])
def test_streams_and_cut_features_go_on_too(toys: Toys, tmp_path: Path, name: str) -> None:
    paths = [conll_file(tmp_path / f"{n}.txt", contradictory(toys, 3 + n)) for n in range(2)]
    chain = ({"encode": "IOBES"}, {"legal": False})
    segments = ({"max_length": 2}, {"max_length": "auto"})
    own = chain if structure_of(name) == "chain" else segments
    for more in ({"stream": True}, {"cutoff": 2}, {"names": False}, *own):
        assert_continued(paths, tmp_path, **more, **options_of(name))


@pytest.mark.parametrize(
    "name",
    ["perceptron", "margin", "crf", "perceptron, shuffle-average", "segments, margin", "segments, crf"],
)
def test_it_may_stop_more_than_once(toys: Toys, name: str) -> None:
    data, options = contradictory(toys), options_of(name)
    whole, part = mg.train(data, passes=5, state=True, **options), None
    for passes in (1, 2, 1, 1):
        part = mg.train(data, passes=passes, state=True, start=part, **options)
    assert part is not None
    assert_same_arrays(part, whole)


def test_convergence_is_remembered(toys: Toys) -> None:
    """The margin learner stops after three quiet passes; those before the stop count."""
    options = {"learner": "margin", "C": 1.0, "tolerance": 0.5, "passes": 30}
    whole = a_run(contradictory(toys), **options)
    number = len(finished(whole))
    assert 4 < number < 30
    first = mg.train(contradictory(toys), state=True, **(options | {"passes": number - 1}))
    rest = a_run(contradictory(toys), start=first.saved, **options)
    assert [record.number for record in finished(rest)] == [number]
    assert arrays_of(rest.model()) == arrays_of(whole.model())


@pytest.mark.parametrize("name", [n for n in RUNS if n != "perceptron, order 2"])
def test_without_state_it_begins_with_the_weights(
    toys: Toys, templates: Callable[..., str], name: str
) -> None:
    """Nothing is learned where no example counts: the weights are those of the model, whoever made it."""
    data = contradictory(toys)
    structure = structure_of(name)
    model = mg.train(data, features=templates(structure), passes=3, **options_of(name))
    run = a_run(
        data,
        structure=structure,
        average="none",
        passes=2,
        start=model.saved,
        sample_weights=[0] * 15,
    )
    assert [record.number for record in finished(run)] == [1]  # nothing changed: that is the end
    assert_close(weights_of(run.model()), weights_of(model), 0.0)


@pytest.mark.parametrize("name", RUNS)
def test_every_learner_can_begin_with_a_model_of_another(
    toys: Toys, templates: Callable[..., str], name: str
) -> None:
    """A model that knows the data gives its learner a better first pass than none."""
    more = {key: value for key, value in RUNS[name][1].items() if key in ("order", "structure")}
    data, options, structure = toys(20), options_of(name), structure_of(name)
    features = templates(structure)
    others = [{"learner": "arow"}, {"learner": "crf", "passes": 20}, {"learner": "maxent", "passes": 20}]
    for other in others[: 3 if structure == "chain" else 2]:
        for state in (False, True):
            start = mg.train(data, features=features, state=state, **other, **more)
            if start.saved.learner == options["learner"]:
                continue
            run = a_run(data, passes=2, start=start.saved, **options)
            (first, *_), (cold, *_) = (
                finished(run),
                finished(a_run(data, passes=2, features=features, **options)),
            )
            assert (first.number, first.passes) == (1, cold.passes - bool(options.get("bpm_init")))
            if first.error is not None:
                assert first.error < cold.error
            else:
                assert first.loss < cold.loss
            assert run.model().tag_all([columns for columns, _ in data])


# Pairs of runs of one learner whose states have nothing to say to each other.
OTHER_STATES = [
    ("crf", {}, {"algorithm": "sgd"}),
    ("crf", {"algorithm": "sgd"}, {}),
    ("perceptron", {"shuffle_average": 3}, {}),
    ("perceptron", {}, {"shuffle_average": 3}),
    ("perceptron", {"shuffle_average": 3}, {"shuffle_average": 2}),
    ("perceptron", {"shuffle_average": 2}, {"shuffle_average": 3}),
    ("perceptron", {"average": "vote"}, {}),
    ("perceptron", {}, {"average": "vote"}),
    ("perceptron", {"l2": 0.1}, {"l1_cumulative": 0.01}),
    ("perceptron", {"l1_cumulative": 0.01}, {}),
]


@pytest.mark.parametrize(("learner", "before", "after"), OTHER_STATES)
def test_a_state_of_another_kind_gives_its_weights(
    toys: Toys, learner: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """What is kept with the state does not matter then: the same as from the model without it."""
    data = contradictory(toys)
    with_state, without = (
        mg.train(data, learner=learner, passes=3, state=s, **before) for s in (True, False)
    )
    by_state, by_weights = (
        a_run(data, learner=learner, passes=2, start=start.saved, **after) for start in (with_state, without)
    )
    assert [r.number for r in finished(by_state)] == [r.number for r in finished(by_weights)] == [1, 2]
    assert_close(weights_of(by_state.model()), weights_of(by_weights.model()), 1e-6)


def test_l_bfgs_goes_on_with_other_data(toys: Toys) -> None:
    """New weights make its memory useless: it begins at the point, and does no worse than it was."""
    first = mg.train(toys(10), learner="crf", passes=10, state=True)
    run = a_run(toys(15), learner="crf", passes=5, start=first.saved)
    cold = a_run(toys(15), learner="crf", passes=5)
    assert finished(run)[-1].loss < finished(cold)[-1].loss


@pytest.mark.parametrize("name", ["crf", "maxent", "perceptron", "perceptron, shuffle-average", "crf, sgd"])
@pytest.mark.parametrize("steps", [0, 1])
def test_a_state_from_before_the_first_pass_was_over(toys: Toys, name: str, steps: int) -> None:
    """Interrupted, or never begun: there is a state, and it can be used."""
    options = options_of(name)
    run = a_run(toys(100), passes=5, state=True, **options)
    if steps:
        until(run, 0, steps)
    model = mg.Tagger.from_bytes(run.model().to_bytes())
    again = a_run(toys(100), passes=2, start=model.saved, **options)
    finished(again)
    assert again.model().tag(toys(1)[0][0]).labels


def test_an_interrupted_mix_keeps_all_shards(toys: Toys) -> None:
    """In the middle of a pass the state is that of the mean, not of one shard."""
    run = a_run(toys(400), parallel="mix", threads=2, average="none", passes=9, state=True)
    records = until(run, 1, 1)
    model = run.model()
    records.close()  # type: ignore[attr-defined]
    again = a_run(toys(400), average="none", start=model.saved, sample_weights=[0] * 400, passes=1)
    finished(again)
    assert_close(weights_of(again.model()), weights_of(model), 1e-6)


def scores(tagger: mg.Tagger, sentences: list[Any], labels: tuple[str, ...]) -> list[float]:
    """Of some outputs, as the model's labels are numbered."""
    found = []
    numbers = {label: i for i, label in enumerate(tagger.saved.labels)}
    for columns in sentences:
        block = pack([mg.Sentence(columns)], tagger.feature_columns)
        for shift in range(4):
            ids = [numbers[labels[(t * 7 + shift) % len(labels)]] for t in range(len(columns["word"]))]
            found.append(tagger.decoder.score(block, 0, ids))
    return found


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("learner", ["perceptron", "arow", "crf"])
def test_new_labels_and_words_leave_old_scores_alone(
    toys: Toys, templates: Callable[..., str], learner: str, state: bool, order: int
) -> None:
    settings = {"features": templates(), "legal": False, "order": order, "passes": 4, "state": state}
    settings |= {} if learner == "crf" else {"average": "none"}  # a state that goes on has other means
    model = mg.train(toys(20), learner=learner, **settings)
    new = [({"word": ["z1", "x1", "z2"], "tag": ["T9", "T0", "T9"]}, ["B-NEW", "I-NEW", "O"])]
    run = a_run(
        [*new, *toys(3)], learner="perceptron", average="none", start=model.saved, sample_weights=[0] * 4
    )
    finished(run)
    grown = run.model()
    assert grown.saved.labels == (*model.saved.labels, "B-NEW", "I-NEW")
    assert run.notes == ["labels that the model did not know: B-NEW, I-NEW"]
    sentences = [columns for columns, _ in toys(20, seed=2)]
    assert scores(grown, sentences, model.saved.labels) == scores(model, sentences, model.saved.labels)


def test_new_labels_are_learned_beside_the_old(toys: Toys) -> None:
    model = mg.train(toys(40, types="X"), passes=5)
    assert not {"B-Y", "I-Y"} & set(model.labels)
    grown = mg.train(toys(40), start=model, passes=5)
    assert set(model.saved.labels) | {"B-Y", "I-Y"} == set(grown.labels)
    right = [
        t.labels == tuple(y)
        for (_, y), t in zip(toys(40), grown.tag_all([c for c, _ in toys(40)]), strict=True)
    ]
    assert sum(right) > 35
    names = set(grown.saved.feature_names() or [])
    assert "word[0]=y1" in names
    assert "word[0]=x1" in names


def test_features_of_the_model_are_never_cut(toys: Toys) -> None:
    model = mg.train(toys(20), passes=3)
    grown = mg.train(toys(3, seed=9), start=model, cutoff=1000, passes=1)
    assert grown.saved.features == model.saved.features


def test_names_are_kept_only_if_the_model_has_them(toys: Toys) -> None:
    """Half of the names would be worse than none."""
    nameless, named = (mg.train(toys(10), names=names, passes=2) for names in (False, True))
    assert mg.train(toys(12), start=nameless, passes=2).saved.feature_names() is None
    assert mg.train(toys(12), start=named, passes=2, names=False).saved.feature_names() is None
    names = mg.train(toys(12), start=named, passes=2).saved.feature_names()
    assert names is not None
    assert {"word[0]=x1", "lower(word)[-1]=x1"} & set(names)


def test_a_tagger_and_its_file_are_the_same_start(toys: Toys, tmp_path: Path) -> None:
    model = mg.train(toys(10), passes=2)
    model.save(tmp_path / "m.mg")
    starts: list[Any] = [model, tmp_path / "m.mg", str(tmp_path / "m.mg")]
    one, two, three = (mg.train(toys(10), start=start, passes=2).to_bytes() for start in starts)
    assert one == two == three


def test_columns_and_label_are_those_of_the_model(toys: Toys, tmp_path: Path) -> None:
    path = conll_file(tmp_path / "t.txt", toys(10))
    model = mg.train(path, columns="w t chunk", passes=2)
    again = mg.train(path, start=model, passes=2)
    assert (again.saved.columns, again.saved.label) == (("w", "t", "chunk"), "chunk")
    with pytest.raises(mg.DataError, match="features also need"):
        mg.train(path, start=model, columns="a b chunk")


def test_a_model_without_weights_is_a_start_too(toys: Toys) -> None:
    nothing = a_run(toys(10)).model()
    assert weights_of(nothing) == {}
    cold, warm = mg.train(toys(10), passes=3), mg.train(toys(10), start=nothing, passes=3)
    assert_close(weights_of(warm), weights_of(cold), 1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 2}, "setting 'order': found 2, but the model to begin with has 1."),
        ({"legal": False}, "setting 'legal': found False, but the model to begin with has True."),
        ({"unit": "document"}, "setting 'unit': found document, but the model to begin with has sentence."),
        ({"structure": "tree"}, "unknown structure 'tree'"),
    ],
)
def test_another_structure_is_refused(toys: Toys, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        mg.train(toys(5), start=mg.train(toys(5), passes=1), **settings)
    assert message in str(caught.value)


def test_what_the_weights_depend_on_is_inherited(toys: Toys) -> None:
    model = mg.train(toys(10), order=2, legal=False, unit="document", encode="IOBES", passes=1)
    again = mg.train(toys(10), start=model, passes=1)
    assert {n: again.saved.settings[n] for n in ("order", "legal", "unit")} == {
        "order": 2,
        "legal": False,
        "unit": "document",
    }
    assert (again.saved.scheme, again.saved.encoding) == (model.saved.scheme, model.saved.encoding)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features": "pos"}, "found features, but a model to begin with brings its own."),
        ({"lists": {"a": "b"}}, "found lists, but"),
        ({"scheme": "IOB2", "encode": "IOBES"}, "found scheme and encode, but"),
    ],
)
def test_what_the_model_brings_cannot_be_given(toys: Toys, given: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        mg.train(toys(5), start=mg.train(toys(5), passes=1), **given)
    assert mg.train(toys(5), start=mg.train(toys(5), passes=1), scheme="auto", passes=1).labels


def test_labels_of_another_scheme_are_refused(toys: Toys) -> None:
    model = mg.train(toys(10), passes=1)
    with pytest.raises(mg.DataError, match="IOB2"):
        mg.train(toys(10, scheme="IOBES"), start=model, passes=1)


def test_a_structure_that_nobody_knows(toys: Toys) -> None:
    saved = replace(mg.train(toys(5), passes=1).saved, structure="tree")
    with pytest.raises(mg.SettingsError, match="structure: found chain, but the model to begin with has"):
        a_run(toys(5), start=saved)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\0" * 100])
def test_a_start_that_is_no_model(toys: Toys, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.mg").write_bytes(content)
    with pytest.raises(mg.ModelError, match=r"m\.mg: "):
        mg.train(toys(5), start=tmp_path / "m.mg")
    with pytest.raises(mg.ModelError, match=r"nothing\.mg: cannot read the model"):
        mg.train(toys(5), start=tmp_path / "nothing.mg")


def test_a_damaged_start(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "m.mg"
    data = mg.train(toys(5), passes=2, state=True).to_bytes()
    for place in (len(data) // 2, len(data) - 1):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(mg.ModelError, match=r"m\.mg: .*damaged"):
            mg.train(toys(5), start=path)
    path.write_bytes(data[:-100])
    with pytest.raises(mg.ModelError, match=r"m\.mg: "):
        mg.train(toys(5), start=path)


@pytest.mark.parametrize(
    "name",
    ["perceptron, voted", "arow", "perceptron, shuffle-average", "crf", "crf, sgd", "segments, arow"],
)
def test_forged_models_are_refused(toys: Toys, tmp_path: Path, name: str) -> None:
    """Whatever is wrong with an array, it ends with a ModelError or in a model, never otherwise."""
    model = mg.train(toys(4), passes=2, state=True, **options_of(name)).saved
    rng = np.random.default_rng(1)
    refused = 0
    for array, good in model.arrays.items():
        forged = {
            "missing": None,
            "short": good[:-1],
            "long": np.append(good, good[-1:]),
            "shuffled": rng.permutation(good),
            "huge": np.full_like(good, np.iinfo(good.dtype).max if good.dtype.kind == "u" else np.inf),
            "of another kind": good.astype(np.float32 if good.dtype.kind == "u" else np.uint8),
        }
        for bad in forged.values():
            arrays = {n: a for n, a in model.arrays.items() if n != array}
            arrays |= {} if bad is None else {array: bad}
            save(replace(model, arrays=arrays), tmp_path / "m.mg")
            try:
                mg.train(toys(4), start=tmp_path / "m.mg", passes=1, **options_of(name))
            except mg.ModelError:
                refused += 1
    assert refused > 10
