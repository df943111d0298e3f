"""Training of segments: labels of all schemes, segments that are too long, settings, starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from learn_world import Toys, a_run, arrays_of, assert_close, conll_file, contradictory, finished, weights_of

import marginalia as mg
from marginalia.corpus import convert, spans_of
from marginalia.decode.segments import SegmentSettings
from marginalia.evaluate import evaluate

TEMPLATES = "word[0]\nword[b]/word[e]\nword[i]\nlength\nedge:\n"
LONG = [({"word": list("abcdefg"), "tag": ["T"] * 7}, ["B-X", *["I-X"] * 5, "O"])]


@pytest.fixture
def features(tmp_path: Path) -> str:
    path = tmp_path / "templates.txt"
    path.write_text(TEMPLATES)
    return str(path)


def accuracy(tagger: mg.Tagger, data: Any) -> float:
    predicted = [tagged.labels for tagged in tagger.tag_all([columns for columns, _ in data])]
    return evaluate([labels for _, labels in data], predicted).accuracy


def train(data: Any, **settings: Any) -> mg.Tagger:
    return mg.train(data, **{"structure": "segments", "passes": 8, **settings})


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES"])
def test_any_scheme_of_spans(toys: Toys, scheme: str, features: str) -> None:
    """Learned as IOB2, answered as it was given; the model is the same."""
    data = [(columns, convert(labels, "IOB2", scheme)) for columns, labels in toys(40)]
    tagger = train(data, scheme=scheme, features=features)
    assert (tagger.saved.scheme, tagger.saved.encoding) == (scheme, "IOB2")
    assert accuracy(tagger, data) > 90
    assert weights_of(tagger) == weights_of(train(toys(40), features=features))


def test_plain_tags_are_segments_of_one_token(toys: Toys) -> None:
    data = [(columns, [label[-1] for label in labels]) for columns, labels in toys(40)]
    for learner in ("perceptron", "crf"):
        options = {"scheme": "none", "learner": learner, "passes": 6, "features": "fields"}
        tagger, chain = train(data, **options), mg.train(data, **options)
        assert tagger.saved.encoding is None
        sentences = [columns for columns, _ in toys(40, seed=2)]
        assert [t.labels for t in tagger.tag_all(sentences)] == [t.labels for t in chain.tag_all(sentences)]
        assert_close(weights_of(tagger), weights_of(chain), 1e-3)


def test_segmented_text(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("ab cde ab\ncde f ab\nf f cde\nab f\n")
    tagger = train(path, task="segmentation", passes=10)
    assert tagger.saved.encoding == "IOB2"
    assert "".join(tagger.tag(list("abcdef")).labels) == "BEBMES"


@pytest.mark.parametrize("stream", [False, True])
def test_segments_that_are_too_long_are_cut(tmp_path: Path, stream: bool) -> None:
    """Six tokens at most four: four and two. It is said, and counted once."""
    path = conll_file(tmp_path / "t.txt", [*LONG, *LONG])
    run = a_run([path], structure="segments", features="fields", max_length=4, stream=stream, passes=20)
    finished(run)
    assert [note for note in run.notes if "is not used" not in note] == [
        "cut 2 segments of more than max-length=4 tokens into pieces"
    ]
    found = run.model().tag(LONG[0][0]).labels
    assert found == ("B-X", "I-X", "I-X", "I-X", "B-X", "I-X", "O")


def test_as_long_as_the_longest() -> None:
    run = a_run(LONG, structure="segments", features="fields", max_length="auto", passes=20)
    finished(run)
    assert run.notes == []
    assert run.model().saved.settings["max-length"] == 6
    assert run.model().tag(LONG[0][0]).labels == tuple(LONG[0][1])


def test_even_auto_has_an_end() -> None:
    """Memory grows with the longest segment: a thousand tokens are enough."""
    data = [(["a"] * 1500, ["B-X", *["I-X"] * 1499])]
    run = a_run(data, structure="segments", features="fields", max_length="auto", passes=1)
    assert run.recipe.settings.structure == SegmentSettings(max_length=1000)
    assert run.notes == ["cut 1 segments of more than max-length=1000 tokens into pieces"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"learner": "maxent"},
            "learner maxent needs outputs that are made choice by choice, which the structure segments does "
            "not have: choose another learner (perceptron, margin, nonlocal, pa, arow, crf) or",
        ),
        ({"encode": "IOBES"}, "setting 'encode': found IOBES, but segments are spelled in IOB2."),
        ({"max_length": 0}, "max-length"),
        ({"max_length": 1001}, "max-length"),
        ({"max_length": "long"}, "max-length"),
        ({"order": 2}, "order"),
    ],
)
def test_settings_that_do_not_fit(toys: Toys, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        train(toys(3), **settings)
    assert message in str(caught.value)


def test_only_features_of_right_and_wrong_answers_have_weights(toys: Toys, features: str) -> None:
    """Far fewer than there are segments; with a cut-off, those of right answers alone."""
    data = toys(30)
    tagger, cut = (train(data, features=features, passes=3, cutoff=n) for n in (1, 2))
    words = [columns["word"] for columns, _ in data]
    ends = {f"word[b]/word[e]={w[i]}/{w[j]}" for w in words for i in range(len(w)) for j in range(i, len(w))}
    names = {name for name in tagger.saved.feature_names() or [] if name}
    assert 0 < len(names & ends) < len(ends) / 2
    kept = {name for name in cut.saved.feature_names() or [] if name}
    assert len(kept & ends) < len(names & ends)
    assert kept & ends <= {f"word[b]/word[e]={a}/{b}" for a, b in gold_ends(data)}


def gold_ends(data: Any) -> set[tuple[str, str]]:
    """The first and the last word of all segments, O being one of one token."""
    found = set()
    for columns, labels in data:
        spans = [(s.start, s.end - 1) for s in spans_of(labels, "IOB2")]
        spans += [(t, t) for t, label in enumerate(labels) if label == "O"]
        found |= {(columns["word"][b], columns["word"][e]) for b, e in spans}
    return found


def test_looking_at_held_out_data_adds_nothing(toys: Toys) -> None:
    """Their features must not get rows: votes looked for rows that were not there."""
    for settings in ({}, {"average": "vote"}):
        run = a_run(toys(5), toys(20, seed=9), structure="segments", passes=2, patience=0, **settings)
        before = []
        for record in run:
            if record.finished:
                before.append(len(run.data.index))
        alone = a_run(toys(5), structure="segments", passes=2, **settings)
        after = []
        for record in alone:
            if record.finished:
                after.append(len(alone.data.index))
        assert before == after


def test_documents_are_long_sentences(toys: Toys, features: str) -> None:
    pairs = [(columns["word"], labels) for columns, labels in toys(30)]
    records = [
        mg.Sentence({"word": words, "label": labels}, document=number // 3)
        for number, (words, labels) in enumerate(pairs)
    ]
    joined = [
        ([w for words, _ in three for w in words], [y for _, labels in three for y in labels])
        for three in (pairs[k : k + 3] for k in range(0, 30, 3))
    ]
    by_document = train(records, unit="document", features=features)
    assert weights_of(by_document) == weights_of(train(joined, features=features))


@pytest.mark.parametrize("learner", ["perceptron", "pa", "crf"])
@pytest.mark.parametrize("state", [False, True])
def test_new_labels_in_a_warm_start(toys: Toys, features: str, learner: str, state: bool) -> None:
    """Old scores stay as they are, and new types are learned."""
    plain = {} if learner == "crf" else {"average": "none"}  # a state that goes on has other means
    model = train(toys(20), features=features, learner=learner, state=state, **plain)
    new = [({"word": ["z1", "z2", "o1"], "tag": ["T"] * 3}, ["B-NEW", "I-NEW", "O"])]
    run = a_run(
        [*new, *toys(3)],
        structure="segments",
        average="none",
        start=model.saved,
        sample_weights=[0] * 4,
        passes=1,
    )
    finished(run)
    assert run.notes == ["labels that the model did not know: B-NEW, I-NEW"]
    assert_close(named(run.model()), named(model), 0.0)
    grown = mg.train([*new, *toys(3)], structure="segments", start=model, passes=5, **plain)
    assert grown.tag(new[0][0]).labels == ("B-NEW", "I-NEW", "O")


def named(tagger: mg.Tagger) -> dict[Any, float]:
    """Weights by the names of labels, where numbers may differ."""
    labels, found = tagger.saved.labels, {}
    for (name, place), weight in weights_of(tagger).items():
        if name != "constant":
            found[name, labels[place]] = weight
            continue
        kind, at = ("ends", place) if place < 2 * len(labels) else ("pair", place - 2 * len(labels))
        first, second = divmod(at, len(labels))
        found[kind, first if kind == "ends" else labels[first], labels[second]] = weight
    return found


def test_a_start_keeps_its_longest_segments(toys: Toys) -> None:
    model = train(toys(5), max_length=3)
    assert mg.train(toys(5), start=model).saved.settings["max-length"] == 3
    assert train(toys(5), start=model, max_length=5).saved.settings["max-length"] == 5
    for start, structure in [(model, "chain"), (mg.train(toys(5), passes=1), "segments")]:
        with pytest.raises(mg.SettingsError, match=rf"structure: found {structure}, but the model"):
            mg.train(toys(5), start=start, structure=structure)
    with pytest.raises(mg.SettingsError, match="structure"):
        mg.train(toys(5), start=model, structure="")


def test_sample_and_class_weights(toys: Toys) -> None:
    data, lies = toys(20), [(columns, ["O"] * len(labels)) for columns, labels in toys(10)]
    options = {"passes": 4, "shuffle": False, "average": "none"}
    weighted = train([*data, *lies], sample_weights=[1] * 20 + [0] * 10, **options)
    assert weights_of(weighted) == weights_of(train(data, **options))
    fearless, plain = (train([*data, *lies], passes=6, **w) for w in ({"class_weights": "O:0.05"}, {}))
    sentences = [columns for columns, _ in toys(30, seed=3)]
    spans = [sum(len(t.spans) for t in tagger.tag_all(sentences)) for tagger in (fearless, plain)]
    assert spans[0] > spans[1]


def test_the_bound_of_the_perceptron_and_margins(toys: Toys, features: str) -> None:
    """Diagnostics: the margin is positive where all is learned, and the bound holds."""
    tagger = train(toys(20), features=features, diagnostics=True, passes=60, average="none")
    assert tagger.saved.diagnostics["margin"] > 0
    assert accuracy(tagger, toys(20)) == 100


def test_two_threads_add_rows_in_any_order(toys: Toys) -> None:
    """The same bytes again and again, with all that is kept of the state."""
    options = {"shuffle_average": 4, "state": True, "passes": 3, "learner": "pa", "diagnostics": True}
    found = {
        train(contradictory(toys, 60), threads=threads, **options).to_bytes() for threads in (1, 4, 4, 3)
    }
    assert len(found) == 1


def test_the_default_templates_are_those_of_the_task(toys: Toys) -> None:
    with_pos = [({"word": c["word"], "pos": c["tag"]}, labels) for c, labels in toys(20)]
    tagger = train(with_pos, features="segments", learner="crf")
    assert accuracy(tagger, with_pos) > 90
    assert arrays_of(tagger) == arrays_of(train(with_pos, features="segments", learner="crf", threads=3))
