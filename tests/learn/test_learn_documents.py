"""unit=document: the sentences of a document are learned and labelled at once, and read back as sentences."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import Toys, a_run, assert_same_arrays, finished

import marginalia as mg
from marginalia.corpus import convert, read_conllu_columns, validate, write_conll
from marginalia.evaluate import evaluate

LEARNERS = ["perceptron", "arow", "crf", "maxent"]


def documents(toys: Toys, count: int, seed: int = 1, scheme: str = "IOB2") -> list[mg.Sentence]:
    """Sentences, one to four in a document."""
    rng, number, found = np.random.default_rng(seed), 0, []
    for columns, labels in toys(count, seed=seed):
        found.append(mg.Sentence(columns | {"label": convert(labels, "IOB2", scheme)}, document=number))
        number += int(rng.random() < 0.4)
    return found


def joined(sentences: list[mg.Sentence]) -> list[Any]:
    """One (columns, labels) pair for each document."""
    found = []
    for _, group in groupby(sentences, key=lambda sentence: sentence.document):
        columns: dict[str, list[str]] = {}
        for sentence in group:
            for name, values in sentence.columns.items():
                columns.setdefault(name, []).extend(values)
        labels = columns.pop("label")
        found.append((columns, labels))
    return found


@pytest.fixture
def file(toys: Toys, tmp_path: Path) -> Path:
    path = tmp_path / "documents.txt"
    write_conll(documents(toys, 40), path)
    return path


@pytest.mark.parametrize("learner", LEARNERS)
def test_documents_are_long_sentences(toys: Toys, file: Path, learner: str) -> None:
    options = {"learner": learner, "passes": 3, "state": True}
    whole = joined(documents(toys, 40))
    expected = mg.train(whole, **options)
    columns = "word tag label"
    assert_same_arrays(mg.train(file, columns=columns, unit="document", **options), expected)
    assert_same_arrays(mg.train(documents(toys, 40), unit="document", **options), expected)
    sentences = mg.train(file, columns=columns, **options)
    assert sentences.saved.arrays["weights"].tolist() != expected.saved.arrays["weights"].tolist()


@pytest.mark.parametrize("learner", ["perceptron", "arow"])
def test_documents_of_a_stream(toys: Toys, file: Path, learner: str) -> None:
    """Their last one comes as a batch of its own, so that orders differ: here without any."""
    options = {"learner": learner, "passes": 3, "shuffle": False}
    streamed = mg.train(file, columns="word tag label", unit="document", stream=True, **options)
    assert_same_arrays(streamed, mg.train(joined(documents(toys, 40)), **options))


def test_what_is_counted(toys: Toys, file: Path) -> None:
    """Sentences are sentences; examples, which are visited and weighted, are documents."""
    run = a_run(file, unit="document", passes=2)
    count = len(joined(documents(toys, 40)))
    assert (run.data.sentences, run.data.units) == (40, count)
    assert {(r.sentences, r.total) for r in finished(run)} == {(count, count)}
    assert 10 < count < 30


def test_documents_of_several_files_are_not_joined(toys: Toys, tmp_path: Path) -> None:
    """Each file begins a document, whatever the number of its own."""
    parts = [documents(toys, 10, seed=seed) for seed in (1, 2)]
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for part, path in zip(parts, paths, strict=True):
        write_conll(part, path)
    by_files = mg.train(paths, columns="word tag label", unit="document", passes=2)
    assert_same_arrays(by_files, mg.train([*joined(parts[0]), *joined(parts[1])], passes=2))


def test_a_document_of_more_records_than_a_block(toys: Toys) -> None:
    sentences = [mg.Sentence(c | {"label": y}, document=int(i > 2100)) for i, (c, y) in enumerate(toys(2200))]
    run = a_run(sentences, unit="document", passes=1)
    assert (run.data.units, run.data.sentences) == (2, 2200)


def test_pairs_are_documents_of_their_own(toys: Toys) -> None:
    by_document = mg.train(toys(20), unit="document", passes=2)
    assert_same_arrays(by_document, mg.train(toys(20), passes=2))
    assert by_document.tag_all([c for c, _ in toys(9)]) == [by_document.tag(c) for c, _ in toys(9)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("scheme", ["IOB2", "IOBES", "IOB1", "IOE2"])
def test_labels_of_each_sentence_are_legal(toys: Toys, learner: str, scheme: str) -> None:
    """A span that goes on into the next sentence is cut: its rest begins anew."""
    train = documents(toys, 60, scheme=scheme)
    tagger = mg.train(train, unit="document", learner=learner, passes=4, scheme=scheme)
    text = documents(toys, 30, seed=2, scheme=scheme)
    for threads in (1, 2):
        tagged = tagger.tag_all(text, threads)
        assert [len(t.labels) for t in tagged] == [len(s) for s in text]
        for one in tagged:
            assert validate(one.labels, scheme) == []
            assert set(one.labels) <= set(tagger.labels)


def test_a_span_over_the_end_of_a_sentence() -> None:
    """Where the model sees one span, each sentence gets its part."""
    train = [
        mg.Sentence({"word": ["a", "a", "a", "b"], "label": ["B-X", "I-X", "I-X", "O"]}, document=i)
        for i in range(4)
    ]
    tagger = mg.train(train, unit="document", passes=5)
    halves = [mg.Sentence({"word": ["a", "a"]}, document=7), mg.Sentence({"word": ["a", "b"]}, document=7)]
    assert [t.labels for t in tagger.tag_all(halves)] == [("B-X", "I-X"), ("B-X", "O")]
    apart = [mg.Sentence(s.columns, document=i) for i, s in enumerate(halves)]
    assert [len(t.labels) for t in tagger.tag_all(apart)] == [2, 2]


def test_the_labels_of_a_document_are_found_together(toys: Toys) -> None:
    """Tagging a document is tagging its sentences as one."""
    tagger = mg.train(documents(toys, 60), unit="document", passes=4)
    plain = mg.train(joined(documents(toys, 60)), passes=4)
    text = documents(toys, 30, seed=2)
    together = [label for t in tagger.tag_all(text) for label in t.labels]
    as_one = [label for t in plain.tag_all([c for c, _ in joined(text)]) for label in t.labels]
    kinds = [label.partition("-")[2] for label in together]
    assert kinds == [label.partition("-")[2] for label in as_one]


def test_dev_data_are_documents_scored_by_sentence(toys: Toys, tmp_path: Path) -> None:
    train, dev = documents(toys, 60), documents(toys, 30, seed=2)
    run = a_run(train, dev, unit="document", passes=3, patience=0)
    best = max(record.dev or 0.0 for record in finished(run))
    write_conll(dev, tmp_path / "dev.txt")
    by_file = a_run(train, tmp_path / "dev.txt", unit="document", passes=3, patience=0)
    assert max(record.dev or 0.0 for record in finished(by_file)) == best
    predicted = [t.labels for t in run.model().tag_all(dev)]
    assert evaluate([s.columns["label"] for s in dev], predicted).f1 == pytest.approx(best)


CONLLU = "# newdoc\n1\tdogs\tdog\tNOUN\t_\t_\t0\t_\t_\t_\n\n1\tbark\tbark\tVERB\t_\t_\t0\t_\t_\t_\n\n"


def test_conllu_has_documents(tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(CONLLU * 3)
    run = a_run(path, unit="document", passes=2)
    assert (run.data.units, run.data.sentences) == (3, 6)
    finished(run)
    sentences = list(read_conllu_columns(path))
    assert [t.labels for t in run.model().tag_all(sentences)] == [("NOUN",), ("VERB",)] * 3


def test_records_in_a_row_with_one_key_are_a_document(tmp_path: Path) -> None:
    keys = ["a", "a", "b", "a", None, None, 1, 1.0, [1], [1]]
    records = [{"tokens": ["x"], "tags": ["A"]} | ({} if key is None else {"doc": key}) for key in keys]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert [s.document for s in mg.read_jsonl(path)] == [0, 0, 1, 2, 3, 4, 5, 5, 6, 6]
    run = a_run(path, unit="document", passes=1)
    assert (run.data.units, run.data.sentences) == (7, 10)


def test_formats_without_documents_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a b\n")
    with pytest.raises(mg.SettingsError, match="unit=document: segmented files do not tell documents apart"):
        mg.train(tmp_path / "t.txt", format="segmented", unit="document")


def test_a_document_model_goes_on_with_documents(toys: Toys) -> None:
    train = documents(toys, 20)
    whole = mg.train(train, unit="document", passes=4, state=True)
    half = mg.train(train, unit="document", passes=2, state=True)
    assert_same_arrays(mg.train(train, start=half, passes=2, state=True), whole)
    with pytest.raises(
        mg.SettingsError, match=r"setting 'unit': found sentence, but the model .* has document"
    ):
        mg.train(train, start=half, unit="sentence")
