"""The training loop: passes, dev data, early stopping, interruption, streaming; always the same result."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia import learn
from marginalia.corpus import convert, spans_of, validate, write_conll
from marginalia.corpus.source import DataSource
from marginalia.learn import Training, make_recipe, prepare

Toys = Callable[..., Any]


def conll_file(path: Path, data: Any) -> Path:
    write_conll([mg.Sentence(columns | {"label": labels}) for columns, labels in data], path)
    return path


def a_run(data: Any, dev: Any = None, *, seed: int = 1, **settings: Any) -> Training:
    return prepare(DataSource(data), dev, make_recipe(seed=seed, settings=settings))


def arrays_of(tagger: mg.Tagger) -> dict[str, Any]:
    return {name: array.tolist() for name, array in tagger.saved.arrays.items()}


def score(tagger: mg.Tagger, data: Any) -> float:
    from marginalia.evaluate import evaluate

    predicted = [tagged.labels for tagged in tagger.tag_all([columns for columns, _ in data])]
    return evaluate([labels for _, labels in data], predicted).f1


def test_it_learns(toys: Toys) -> None:
    tagger = mg.train(toys(200), passes=5)
    assert score(tagger, toys(100, seed=2)) > 60


def test_training_names_no_structure() -> None:
    room = Path(learn.__file__).parent
    assert [
        path.name for path in room.glob("*.py") if "decode.chain" in path.read_text(encoding="utf-8")
    ] == []


def test_files_are_read_with_options(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("% a note\nNew York\tB-X\nsleeps\tO\n\n")
    options = {"separator": "\t", "comments": "%"}
    tagger = mg.train(path, path, options=options, passes=2)
    assert tagger.saved.options == options
    assert tagger.tag(["New York", "sleeps"]).labels == ("B-X", "O")
    with pytest.raises(mg.SettingsError, match="the option 'seperator', but conll files take: separator"):
        mg.train(path, options={"seperator": "\t"})


def test_the_model_is_that_of_the_best_pass(toys: Toys) -> None:
    train, dev = toys(60), toys(40, seed=2)
    run = a_run(train, dev, passes=12, patience=0, average="none")
    after: list[dict[str, Any]] = []
    for record in run:
        if record.finished:
            after.append(arrays_of(a_run_until(train, record.number)))
    scores = [record.dev for record in run.history]
    best = int(np.argmax(scores))  # the first of equals
    assert len(set(scores)) > 1
    assert [record.best for record in run.history] == [
        record.dev > max([-1.0, *scores[:i]]) for i, record in enumerate(run.history)
    ]
    assert arrays_of(run.model()) == after[best]
    assert run.report is not None
    assert run.report.f1 == scores[best] == pytest.approx(score(run.model(), dev))


def a_run_until(train: Any, passes: int) -> mg.Tagger:
    """Weights after so many passes: dev data do not change what is learned, nor does a later end."""
    return mg.train(train, passes=passes, average="none")


def test_patience(toys: Toys) -> None:
    for patience in (1, 2, 4):
        history = list(finished(a_run(toys(60), toys(40, seed=2), passes=40, patience=patience)))
        best = [record.best for record in history]
        stopped_early = len(history) < 40 and history[-1].mistakes > 0
        if stopped_early:
            assert best[-patience:] == [False] * patience
            assert best[-patience - 1]
        for i in range(len(best) - patience):
            assert any(best[i : i + patience])


def finished(run: Training) -> list[mg.Progress]:
    return [record for record in run if record.finished]


def test_without_dev_or_patience_all_passes_are_made(toys: Toys) -> None:
    noisy = [(c, labels) for c, labels in toys(50)] + [(c, ["O"] * len(labels)) for c, labels in toys(50)]
    assert len(finished(a_run(noisy, passes=9))) == 9
    assert len(finished(a_run(noisy, toys(5, seed=3), passes=9, patience=0))) == 9


def test_training_ends_when_nothing_is_wrong() -> None:
    history = finished(a_run([(["a", "b"], ["B-X", "O"])], passes=50))
    assert len(history) < 50
    assert history[-1].mistakes == 0
    assert history[-1].error == 0.0


def test_progress_records(toys: Toys) -> None:
    run = a_run(toys(50), passes=3)
    records = list(run)
    done = [r for r in records if r.finished]
    assert [r.number for r in done] == [1, 2, 3]
    assert all(r.passes == 3 and r.total == 50 for r in records)
    assert all(r.sentences == 50 for r in done)
    assert all(a.seconds <= b.seconds for a, b in pairwise(records))
    assert done[-1].error < done[0].error
    assert done[0].to_json()["number"] == 1
    assert run.history == done


def test_interrupted_in_a_later_pass_it_keeps_the_best(toys: Toys) -> None:
    train, dev = toys(60), toys(40, seed=2)
    run = a_run(train, dev, passes=10, patience=0)
    steps = iter(run)
    for record in steps:
        if record.finished and record.number == 3:
            break
    next(steps)  # inside the fourth pass
    steps.close()  # type: ignore[attr-defined]
    whole = a_run(train, dev, passes=3, patience=0)
    list(whole)
    assert len(run.history) == 3
    assert arrays_of(run.model()) == arrays_of(whole.model())


def test_interrupted_in_the_first_pass_it_gives_what_it_has(toys: Toys) -> None:
    for dev in (None, toys(5, seed=2)):
        run = a_run(toys(60), dev, passes=10)
        next(iter(run))
        tagger = run.model()
        assert tagger.saved.history == []
        assert mg.Tagger.from_bytes(tagger.to_bytes()).tag(toys(1)[0][0]).labels


def test_a_model_before_any_step(toys: Toys) -> None:
    tagger = a_run(toys(10)).model()
    columns = toys(1, seed=4)[0][0]
    assert len(tagger.tag(columns).labels) == len(columns["word"])
    assert mg.Tagger.from_bytes(tagger.to_bytes()).tag(columns) == tagger.tag(columns)


def test_ctrl_c_through_the_callback(toys: Toys) -> None:
    def stop(record: mg.Progress) -> None:
        if record.finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mg.train(toys(20), on_progress=stop)


@pytest.mark.parametrize("threads", [1, 2, 7, 100])
def test_threads_do_not_change_the_result(toys: Toys, threads: int) -> None:
    expected = mg.train(toys(40), toys(20, seed=2), passes=3).to_bytes()
    assert mg.train(toys(40), toys(20, seed=2), passes=3, threads=threads).to_bytes() == expected


def test_no_threads_are_refused(toys: Toys) -> None:
    with pytest.raises(mg.SettingsError, match="threads: found 0"):
        mg.train(toys(40), passes=3, threads=0)


def test_seed_and_shuffle(toys: Toys) -> None:
    one, two = (arrays_of(mg.train(toys(40), seed=seed, passes=2)) for seed in (1, 2))
    assert one != two
    one, two = (arrays_of(mg.train(toys(40), seed=seed, passes=2, shuffle=False)) for seed in (1, 2))
    assert one == two


def test_files_and_records_give_the_same_model(toys: Toys, tmp_path: Path) -> None:
    train, dev = toys(80), toys(20, seed=2)
    files = [conll_file(tmp_path / "a.txt", train[:50]), conll_file(tmp_path / "b.txt", train[50:])]
    dev_file = conll_file(tmp_path / "dev.txt", dev)
    by_files = mg.train(files, dev_file, columns="word tag label", passes=3)
    by_names = mg.train([str(f) for f in files], str(dev_file), columns=["word", "tag", "label"], passes=3)
    by_pairs = mg.train(train, dev, passes=3)
    by_sentences = mg.train(iter([mg.Sentence(c | {"label": y}) for c, y in train]), iter(dev), passes=3)
    assert by_files.to_bytes() == by_names.to_bytes()
    assert by_pairs.to_bytes() == by_sentences.to_bytes()
    assert arrays_of(by_files) == arrays_of(by_pairs)


def test_streaming_sees_every_sentence(toys: Toys, tmp_path: Path) -> None:
    train = toys(2500) * 12  # more than a block of the reader
    path = conll_file(tmp_path / "train.txt", train)
    run = a_run(str(path), stream="on", passes=2)
    done = finished(run)
    assert [r.sentences for r in done] == [30000, 30000]
    assert run.data.tokens == sum(len(labels) for _, labels in train)
    assert sum(1 for _ in run.data.batches()) > 1
    streamed, kept = run.model(), mg.train(path, passes=2)
    held_out = toys(100, seed=2)
    assert streamed.saved.labels == kept.saved.labels
    assert streamed.saved.fingerprint == kept.saved.fingerprint
    assert score(streamed, held_out) > score(kept, held_out) - 5
    assert a_model(path) == a_model(path)


def a_model(path: Path) -> bytes:
    return mg.train(path, stream=True, passes=1).to_bytes()


def test_streaming_without_shuffling_is_the_same_as_keeping(toys: Toys, tmp_path: Path) -> None:
    path = conll_file(tmp_path / "train.txt", toys(2500) * 12)
    kept, streamed = (
        mg.train(path, passes=2, shuffle=False, stream=stream, cutoff=3) for stream in (False, True)
    )
    assert arrays_of(kept) == arrays_of(streamed)


def test_cutoff_counts_in_the_training_data(toys: Toys) -> None:
    train = toys(60)
    seen: dict[str, int] = {}
    for columns, _ in train:
        for word in columns["word"]:
            seen[f"word[0]={word}"] = seen.get(f"word[0]={word}", 0) + 1
    limit = sorted(seen.values())[len(seen) // 2]
    names = set(mg.train(train, cutoff=limit, passes=5).saved.feature_names() or [])
    assert names
    assert not [name for name in names if seen.get(name, limit) < limit]
    everything = set(mg.train(train, cutoff=0, passes=5).saved.feature_names() or [])
    assert everything == set(mg.train(train, cutoff=1, passes=5).saved.feature_names() or [])
    assert len(names) < len(everything)


def test_a_cutoff_above_all_counts_leaves_transitions(toys: Toys) -> None:
    tagger = mg.train(toys(20), cutoff=10**6, passes=2)
    assert tagger.saved.arrays["weights"].size == 0
    columns = toys(1)[0][0]
    copy = mg.Tagger.from_bytes(tagger.to_bytes())
    assert copy.tag(columns) == tagger.tag(columns)


def test_names_can_be_left_out(toys: Toys) -> None:
    named, nameless = (mg.train(toys(30), passes=2, names=names) for names in ("on", "off"))
    assert nameless.saved.feature_names() is None
    assert len(nameless.to_bytes()) < len(named.to_bytes())
    sentences = [columns for columns, _ in toys(20, seed=2)]
    assert nameless.tag_all(sentences) == named.tag_all(sentences)


def test_encoding_changes_nothing_for_the_user(toys: Toys) -> None:
    dev = toys(30, seed=2)
    run = a_run(toys(80), dev, passes=4, encode="IOBES")
    list(run)
    tagger = run.model()
    assert any(label.startswith("S-") for label in tagger.saved.labels)
    assert {label[0] for label in tagger.labels} <= set("BIO")
    for tagged in tagger.tag_all([columns for columns, _ in dev]):
        assert validate(tagged.labels, "IOB2") == []
        assert list(tagged.spans) == spans_of(tagged.labels, "IOB2")
    assert run.report is not None
    assert run.report.f1 == pytest.approx(score(tagger, dev))


def test_iob1_data(toys: Toys) -> None:
    data = [(c, convert(labels, "IOB2", "IOB1")) for c, labels in toys(80)]
    assert any("B-X" in labels or "B-Y" in labels for _, labels in data)
    tagger = mg.train(data, passes=3)
    assert tagger.saved.scheme == "IOB1"
    for tagged in tagger.tag_all([c for c, _ in toys(30, seed=2)]):
        assert validate(tagged.labels, "IOB1") == []


def test_dev_labels_that_training_has_not_seen(toys: Toys) -> None:
    dev = [({"word": ["z1", "z2"], "tag": ["T0", "T0"]}, ["B-NEW", "I-NEW"]), *toys(10, seed=2)]
    run = a_run(toys(40), dev, passes=2)
    list(run)
    assert run.report is not None
    assert run.report.f1 == pytest.approx(score(run.model(), dev))
    assert "B-NEW" not in run.model().labels


def test_dev_tags_that_training_has_not_seen() -> None:
    run = a_run([(["a", "b"], ["B", "NN"])] * 3, [(["a", "c"], ["B", "ODD"])], scheme="none", passes=2)
    list(run)
    assert run.report is not None
    assert run.report.accuracy == run.report.f1 == 50.0


def test_one_label(tmp_path: Path) -> None:
    for label in ("O", "B-X", "NN"):
        tagger = mg.train([(["a", "b", "c"], [label] * 3)], passes=2)
        copy = mg.Tagger.from_bytes(tagger.to_bytes())
        assert copy.tag(["z", "a"]).labels[:1] == (label,)
        assert copy.labels[:1] == (label,)


def test_labels_that_leave_some_lengths_without_output_get_one() -> None:
    tagger = mg.train([(["a", "b"], ["B-X", "E-X"])] * 3, scheme="IOBES", passes=2)
    for length in range(1, 5):
        assert validate(tagger.tag(["a"] * length).labels, "IOBES") == []
