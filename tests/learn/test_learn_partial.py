"""Training on labels that leave open what is right."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import RUNS, Toys, a_run, assert_same_arrays, conll_file, finished, weights_of

import marginalia as mg
from marginalia.cli import main
from marginalia.corpus import convert, write_crfsuite, write_jsonl
from marginalia.decode.segments import SegmentSettings
from marginalia.evaluate import evaluate

OPEN_RUNS = {name: run for name, run in RUNS.items() if run[0] != "maxent"}
OPEN_RUNS |= {
    f"{structure}{learner}, boosted": (learner, settings | {"boost": 2, "passes": 2})
    for structure, settings in [("", {}), ("segments, ", {"structure": "segments"})]
    for learner in ("perceptron", "pa")
}


def hidden(data: Any, share: float, seed: int = 1, scheme: str = "IOB2") -> Any:
    """The same data, of whose labels about this share is open, in all ways that can be written."""
    chance = random.Random(seed)

    def one(label: str) -> str:
        if chance.random() > share:
            return label
        kinds = ["_", "_", f"{label}|O"]
        if "-" in label:
            kinds += [f"*-{label.partition('-')[2]}", f"{label.partition('-')[0]}-*"]
        return chance.choice(kinds)

    return [(columns, [one(label) for label in labels]) for columns, labels in data]


def accuracy(tagger: mg.Tagger, data: Any) -> float:
    predicted = [list(tagged.labels) for tagged in tagger.tag_all([columns for columns, _ in data])]
    return evaluate([labels for _, labels in data], predicted).accuracy


def train(data: Any, **options: Any) -> mg.Tagger:
    usual = {"passes": 6, "partial": True} | ({} if "start" in options else {"features": "fields"})
    return mg.train(data, **usual | options)


@pytest.mark.parametrize("name", OPEN_RUNS)
def test_every_learner_and_structure(toys: Toys, name: str) -> None:
    """Half of the labels open: nearly what all of them teach."""
    learner, options = OPEN_RUNS[name]
    features = "segments" if options.get("structure") == "segments" else "fields"
    passes = 40 if learner == "crf" else 6
    tagger = train(
        hidden(toys(150), 0.5), learner=learner, **{"features": features, "passes": passes} | options
    )
    assert sorted(tagger.saved.labels) == ["B-X", "B-Y", "I-X", "I-Y", "O"]
    assert accuracy(tagger, toys(60, seed=7)) > 70  # nothing but O: 25


@pytest.mark.parametrize("name", OPEN_RUNS)
def test_complete_labels_give_the_same_model(toys: Toys, name: str) -> None:
    learner, options = OPEN_RUNS[name]
    options = {"learner": learner, "features": "fields", "passes": 3, **options}
    if options.get("structure") == "segments":
        options["features"] = "segments"
    assert_same_arrays(mg.train(toys(30), partial=True, **options), mg.train(toys(30), **options))


@pytest.mark.parametrize("structure", ["chain", "segments"])
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_complete_sentences_beside_open_ones(toys: Toys, structure: str, learner: str) -> None:
    """A sentence of which nothing is known teaches nothing; but segments have features that it may add."""
    nothing = [({"word": ["q1", "q2"], "tag": ["T0", "T1"]}, ["_", "_"])]
    options: dict[str, Any] = {
        "structure": structure,
        "learner": learner,
        "shuffle": False,
        "average": "none",
    }
    if learner == "crf":
        options = {"structure": structure, "learner": learner, "passes": 300, "tolerance": 1e-9}
    with_it, without = train([*toys(30), *nothing], **options), train(toys(30), **options)
    for place, weight in weights_of(without).items():
        assert weights_of(with_it).get(place, 0.0) == pytest.approx(weight, abs=1e-2)


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_streams_and_files(toys: Toys, tmp_path: Path, structure: str) -> None:
    path = conll_file(tmp_path / "train.txt", hidden(toys(60), 0.6))
    options = {"structure": structure, "columns": "word tag label", "shuffle": False}
    kept, streamed = train(path, **options), train(path, stream=True, **options)
    assert_same_arrays(streamed, kept)
    records = list(mg.read_conll(path, "word tag label"))
    assert_same_arrays(train(records, structure=structure, shuffle=False), kept)


@pytest.mark.parametrize("scheme", ["IOB1", "IOE1", "IOE2", "IOBES", "BILOU"])
@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_any_scheme(toys: Toys, scheme: str, structure: str) -> None:
    """Open labels are read in the scheme of the data, whatever is trained in."""
    data = [(columns, convert(labels, "IOB2", scheme)) for columns, labels in toys(150)]
    test = [(columns, convert(labels, "IOB2", scheme)) for columns, labels in toys(60, seed=7)]
    tagger = train(hidden(data, 0.4), structure=structure, scheme=scheme)
    assert tagger.saved.scheme == scheme
    assert accuracy(tagger, test) > 80
    for encode in ("IOB2", "IOBES") if structure == "chain" else ():
        assert accuracy(train(hidden(data, 0.4), scheme=scheme, encode=encode), test) > 80


def test_the_scheme_is_found_behind_open_labels(toys: Toys) -> None:
    for scheme in ("IOB2", "IOBES", "IOB1"):
        data = [(columns, convert(labels, "IOB2", scheme)) for columns, labels in toys(100)]
        assert train(hidden(data, 0.5), passes=1).saved.scheme == scheme
    only_types = [({"word": ["a", "b"]}, ["*-X", "_"])]
    tagger = train(only_types)
    assert (tagger.saved.scheme, sorted(tagger.saved.labels)) == ("IOB2", ["B-X", "I-X", "O"])
    tags = train([({"word": ["a", "b", "c"]}, ["NN", "_", "VB|JJ"])])
    assert (tags.saved.scheme, sorted(tags.saved.labels)) == (None, ["JJ", "NN", "VB"])


def test_plain_tags(toys: Toys) -> None:
    """Segments of one token learn from them what chains do."""
    data = [(columns, [label[-1] for label in labels]) for columns, labels in toys(60)]
    for learner in ("perceptron", "crf"):
        options: dict[str, Any] = {"scheme": "none", "learner": learner}
        chain, segments = (train(hidden(data, 0.5), structure=s, **options) for s in ("chain", "segments"))
        sentences = [columns for columns, _ in toys(40, seed=2)]
        assert [t.labels for t in chain.tag_all(sentences)] == [t.labels for t in segments.tag_all(sentences)]
        assert accuracy(chain, data) > 85


def test_python_labels(toys: Toys) -> None:
    written = [(["a", "b", "c"], ["B-X", "_", "O|B-Y"]), (["c", "a"], ["B-Y", "O"])]
    given = [(["a", "b", "c"], ["B-X", None, {"O", "B-Y"}]), (["c", "a"], ["B-Y", ("O",)])]
    sorted_ = [(["a", "b", "c"], ["B-X", "_", "B-Y|O"]), written[1]]
    assert_same_arrays(train(given), train(sorted_))
    assert_same_arrays(train(written), train(sorted_))
    for column in ("label", "chunk"):
        records = [mg.Sentence({"word": words, column: labels}) for words, labels in given]
        assert_same_arrays(train(records), train(sorted_))
    labeler = mg.Labeler(features="fields", passes=6, partial=True)
    labeler.fit([words for words, _ in given], [labels for _, labels in given])
    assert_same_arrays(labeler.model_, train(sorted_))
    with pytest.raises(mg.DataError, match="labelled completely"):
        labeler.score([["a"]], [[None]])
    items = [([["a"], ["b"], ["c"]], ["B-X", None, ["O", "B-Y"]]), ([["c"], ["a"]], ["B-Y", "O"])]
    assert train(items, features=None).tag([["a"], ["b"]]).labels[0] == "B-X"


def test_item_files(tmp_path: Path) -> None:
    path = tmp_path / "train.items"
    items = [({"w=a": 1.0}, "B-X"), ({"w=b": 1.0}, "_"), ({"w=c": 1.0}, "O|B-Y")]
    columns: dict[str, list[Any]] = {"attributes": [i for i, _ in items], "label": [y for _, y in items]}
    write_crfsuite([mg.Sentence(columns)], path)
    tagger = train(path, features=None, format="crfsuite")
    assert sorted(tagger.saved.labels) == ["B-X", "B-Y", "I-X", "I-Y", "O"]


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    lines = [
        {"text": "ann met bob", "spans": [[0, 3, "PER"], [8, 11, "PER"]]},
        {"text": "bob saw the thing", "spans": [[0, 3, "PER"]], "unknown": [[4, 17]]},
        {"text": "old rome fell", "spans": [], "unknown": [[0, 8, "LOC"]]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    tagger = train(path)
    assert sorted(tagger.saved.labels) == ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]
    assert {span.label for span in tagger.tag(["old", "rome", "fell"]).spans} == {"LOC"}
    records = train(list(mg.read_jsonl(path)))
    assert_same_arrays(records, tagger)


def test_unknown_regions_need_the_setting(tmp_path: Path) -> None:
    """Else they would be learned to be outside."""
    path = tmp_path / "train.jsonl"
    line = {"tokens": ["ann", "met", "bob"], "spans": [[0, 1, "PER"]], "unknown": [[2, 3]]}
    path.write_text(json.dumps(line) + "\n")
    for data in (path, list(mg.read_jsonl(path))):
        with pytest.raises(mg.DataError, match=r'found regions that are "unknown".*partial=on'):
            mg.train(data)
    whole = mg.train([(["ann", "met", "bob"], ["B-PER", "O", "B-PER"])])
    with pytest.raises(mg.DataError, match="unknown"):
        mg.calibrate(whole, path)
    path.write_text(json.dumps(line | {"unknown": "a key of somebody else's"}) + "\n")
    assert mg.train(path).labels == ("B-PER", "O")


def test_regions_without_any_span(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"tokens": ["old", "rome"], "unknown": [[0, 2, "LOC"]]}\n')
    records = train(list(mg.read_jsonl(path)))
    assert sorted(records.labels) == ["B-LOC", "I-LOC", "O"]
    assert_same_arrays(records, train(path))


def test_what_was_tagged_is_known(tmp_path: Path) -> None:
    """The output of `tag` can be trained on; reading and writing alone changes nothing."""
    data, tagged = tmp_path / "train.jsonl", tmp_path / "tagged.jsonl"
    line = {"text": "ann met bob", "spans": [[0, 3, "PER"]], "unknown": [[8, 11, "PER"]]}
    data.write_text(json.dumps(line) + "\n")
    train(data).save(tmp_path / "model.mg")
    assert main(["tag", str(tmp_path / "model.mg"), str(data), "-o", str(tagged)]) == 0
    assert json.loads(tagged.read_text()) == {"text": line["text"], "spans": [[0, 3, "PER"], [8, 11, "PER"]]}
    train(tagged)
    write_jsonl(mg.read_jsonl(data), tagged)
    assert json.loads(tagged.read_text()) == line


def test_documents(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    documents = [conll_file(path, hidden(toys(4, seed=n), 0.5, seed=n)).read_text() for n in range(25)]
    path.write_text("".join(f"-DOCSTART- -X- O\n\n{text}" for text in documents))
    assert accuracy(train(path, columns="word tag label", unit="document"), toys(40)) > 70


def test_long_segments(toys: Toys) -> None:
    """What must be longer than segments may be is cut somewhere; auto takes what is surely inside."""
    data = [({"word": list("abcdefg")}, ["B-X", *["I-X"] * 5, "_"]), ({"word": ["o"]}, ["O"])]
    tagger = train(data, structure="segments", features="segments", max_length=2)
    assert max(span.end - span.start for span in tagger.tag(list("abcdefg")).spans) <= 2
    run = a_run(data, structure="segments", partial=True, max_length=3)
    assert any("cut 1 segments" in note for note in run.notes)
    run = a_run(data, structure="segments", partial=True, max_length="auto")
    assert run.recipe.settings.structure == SegmentSettings(max_length=6)


def test_class_weights_of_sets(toys: Toys) -> None:
    """A token that may have several labels counts as they do in the mean."""
    run = a_run([({"word": ["a", "b"]}, ["B-X", "B-X|O"])], partial=True, class_weights="X:4,O:2")
    [batch] = run._batches(0)
    assert batch.sample_weights.tolist() == [(4 + 3) / 2]


def test_provenance_and_states(toys: Toys, tmp_path: Path) -> None:
    data = hidden(toys(40), 0.5)
    tagger = train(data, provenance=True, state=True)
    assert tagger.explain(toys(1)[0][0], cite=1).reasons[0].citations
    begun = train(data, passes=2, state=True)
    assert_same_arrays(train(data, passes=2, start=begun, state=True), train(data, passes=4, state=True))
    again = train([({"word": ["x1", "new"]}, ["_", "B-Z"])], start=tagger, passes=1)
    assert set(again.saved.labels) == set(tagger.saved.labels) | {"B-Z", "I-Z"}


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_a_crf_goes_on_where_it_stopped(toys: Toys, structure: str) -> None:
    data = hidden(toys(40), 0.5)
    options: dict[str, Any] = {"learner": "crf", "structure": structure, "state": True, "tolerance": 0.0}
    begun = train(data, passes=8, **options)
    assert_same_arrays(train(data, passes=7, start=begun, **options), train(data, passes=15, **options))


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_threads_do_not_matter(toys: Toys, structure: str) -> None:
    data = hidden(toys(40), 0.5)
    for options in ({"learner": "crf"}, {"shuffle_average": 2}, {"boost": 2}):
        one, two = (train(data, structure=structure, threads=n, **options) for n in (1, 2))
        assert_same_arrays(two, one)
    mixed = train(data, structure=structure, threads=2, parallel="mix")
    assert accuracy(mixed, toys(40)) > 75


def test_the_loss_of_a_crf_falls(toys: Toys) -> None:
    run = a_run(hidden(toys(60), 0.7), learner="crf", partial=True, passes=15, features="fields")
    losses = [record.loss for record in finished(run)]
    assert losses[-1] < losses[0]
    assert np.isfinite(losses).all()


def test_diagnostics_speak_of_margins_but_not_of_bounds(toys: Toys) -> None:
    tagger = train(hidden(toys(40), 0.5), diagnostics=True)
    assert "margin" in tagger.saved.diagnostics
    assert "mistake_bound" not in tagger.saved.diagnostics


def test_repair_is_for_complete_sentences() -> None:
    data = [({"word": ["a", "b"]}, ["O", "I-X"]), ({"word": ["a"]}, ["_"])]
    run = a_run(data, partial=True, repair=True, scheme="IOB2")
    assert any("repaired 1 labels" in note for note in run.notes)
    with pytest.raises(mg.DataError, match="I-X cannot follow O in IOB2"):
        a_run(data, partial=True, scheme="IOB2")


def refusal(text: str, tmp_path: Path, **options: Any) -> str:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(mg.DataError) as error:
        train(path, **options)
    return str(error.value)


def test_what_cannot_be_right(tmp_path: Path) -> None:
    found = refusal("a O\nb I-X\nc _\n\n", tmp_path, scheme="IOB2")
    assert "bad.txt:2:3: found I-X after O, which no labels of IOB2 fit" in found
    found = refusal("a B-X\nb _\n\na I-X|I-Y\nb _\n\n", tmp_path, scheme="IOB2")
    assert "bad.txt:4:3: found I-X|I-Y at the start of a sentence" in found
    assert "expected labels of IOB2" in refusal("a B-X\nb Q|O\nc _\n\n", tmp_path, scheme="IOB2")
    assert "plain tags" in refusal("a NN\nb *-X\n\n", tmp_path)
    assert "bad.txt:2:3: found label '*', expected a type behind *" in refusal("a B-X\nb *\n\n", tmp_path)
    assert "found label '*|O'" in refusal("a B-X\nb *|O\n\n", tmp_path)
    assert "no label that is known" in refusal("a _\nb _\n\n", tmp_path)
    for label in (None, {"O", "B-X"}):
        with pytest.raises(mg.DataError, match="partial=on"):
            mg.train([(["a"], [label])])
        with pytest.raises(mg.DataError, match="partial=on"):
            mg.train([mg.Sentence({"word": ["a"], "label": [label]})])
        for tagger in (mg.train([(["a"], ["O"])]), train([(["a"], ["O"])])):
            with pytest.raises(mg.DataError, match=r"found the label .*, expected a string"):
                tagger.fix(["a"], [label])
            with pytest.raises(mg.DataError, match="which the model does not give"):
                tagger.explain(["a"], against=[label])
    with pytest.raises(mg.DataError, match="found the label 3"):
        train([(["a"], [3])])
    with pytest.raises(mg.DataError, match=r"found the label \{.*None"):
        train([(["a", "b"], ["N", {None, "V"}])])
    with pytest.raises(mg.SettingsError, match="choose crf"):
        mg.train([(["a"], ["O"])], learner="maxent", partial=True)


def test_scores_need_complete_labels(toys: Toys) -> None:
    for label in (None, {"O", "B-X"}, ["O"]):
        with pytest.raises(mg.DataError, match=r"found the label .* must be labelled completely"):
            evaluate([["O", label]], [["O", "O"]])
    data, dev = hidden(toys(30), 0.5), hidden(toys(10, seed=3), 0.5)
    with pytest.raises(mg.DataError, match="must be labelled completely"):
        train(data, dev=dev)
    tagger = train(data, dev=toys(10, seed=3))
    with pytest.raises(mg.DataError, match="must be labelled completely"):
        mg.calibrate(tagger, dev)
    with pytest.raises(mg.DataError, match="must be labelled completely"):
        mg.shrink(tagger, dev=dev)
    assert mg.calibrate(tagger, toys(10, seed=3)).saved.calibration


def test_without_the_setting_labels_are_labels() -> None:
    tagger = mg.train([(["a", "b"], ["_", "x|y"])], features="fields")
    assert tagger.saved.labels == ("_", "x|y")


def test_a_model_of_spans_without_types_goes_on() -> None:
    begun = train([(["a", "b", "c"], ["B", "I", "_"])], state=True)
    again = train([(["b", "c"], ["_", "O"])], start=begun, passes=1)
    assert set(again.saved.labels) == {"B", "I", "O"}
    assert set(train([(["b", "c"], ["*", "O"])], start=begun, passes=1).saved.labels) == {"B", "I", "O"}
