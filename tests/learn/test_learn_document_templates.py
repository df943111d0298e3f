"""Models whose templates look at whole documents, while sentences are labelled one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.corpus.batches import read_batches
from marginalia.kinds.reader import Reading
from marginalia.kinds.sentences import SENTENCES

# What a name is, only the first word of its document says.
TOPICS = {"soccer": "B-ORG", "weather": "B-LOC"}
SENTENCES_OF = (["Ann", "is", "here"], ["then", "Bob"], ["so", "Ann"])


def documents(count: int = 12) -> list[mg.Sentence]:
    made = []
    for number in range(count):
        topic, label = list(TOPICS.items())[number % 2]
        for words in ([topic], *SENTENCES_OF):
            labels = [label if word[0].isupper() else "O" for word in words]
            made.append(mg.Sentence({"word": words, "label": labels}, document=number))
    return made


def written(path: Path, sentences: list[mg.Sentence], repeat: int = 1) -> Path:
    lines: list[str] = []
    for _ in range(repeat):
        before = None
        for sentence in sentences:
            if sentence.document != before:
                lines += ["-DOCSTART- O", ""]
            before = sentence.document
            pairs = zip(sentence.columns["word"], sentence.columns["label"], strict=True)
            lines += [*(f"{word} {label}" for word, label in pairs), ""]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def templates(tmp_path: Path) -> str:
    path = tmp_path / "t.txt"
    path.write_text("is(lower-case)(word)[0]\ndocument-first(word)[0]/is(initial-cap)(word)[0]\n")
    return str(path)


def right(sentences: list[mg.Sentence]) -> list[list[str]]:
    return [sentence.columns["label"] for sentence in sentences]


def labels(found: Any) -> list[list[str]]:
    return [list(tagged.labels) for tagged in found]


@pytest.mark.parametrize("structure", ["chain", "segments"])
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_a_name_is_what_its_document_is_about(templates: str, structure: str, learner: str) -> None:
    data = documents()
    model = mg.train(data, structure=structure, features=templates, learner=learner, passes=10)
    assert labels(model.tag_all(data)) == right(data)
    # Alone, a sentence is a document of its own.
    assert [model.tag(["Ann"]).labels == ("B-LOC",), model.tag(["soccer", "Ann"]).labels[1]] == [
        False,
        "B-ORG",
    ]
    again = mg.Tagger.from_bytes(model.to_bytes())
    assert labels(again.tag_all(data, threads=2)) == right(data)
    assert [list(best[0].labels) for best in again.nbest_all(data, 2)] == right(data)


def test_files_are_cut_where_documents_end(templates: str, tmp_path: Path) -> None:
    """Records, files and streams give the same model, and small blocks the same labels."""
    data = documents()
    path = written(tmp_path / "train.txt", data)
    options: dict[str, Any] = {"features": templates, "passes": 10}
    model = mg.train(str(path), columns="word label", **options)
    streamed = mg.train(str(path), columns="word label", stream=True, **options)
    assert labels(streamed.tag_all(data)) == labels(model.tag_all(data)) == right(data)
    layout = SENTENCES.layout(model.saved, Reading())
    assert layout.to_document_ends
    batches = list(read_batches(str(path), layout, block_bytes=16))
    assert len(batches) == 12
    tagged = [answer.ids for _, answer in model.tag_batches(batches)]
    expected = [label for sentence in data for label in sentence.columns["label"]]
    assert [model.labels[i] for ids in tagged for i in ids.tolist()] == expected


def test_dev_and_eval(templates: str, tmp_path: Path) -> None:
    data = documents()
    path = str(written(tmp_path / "train.txt", data, repeat=3))
    model = mg.train(path, path, columns="word label", features=templates, passes=10)
    assert model.saved.history[-1]["dev"] == 100


def test_corrections_see_their_sentence_alone(templates: str) -> None:
    model = mg.train(documents(), features=templates, passes=10)
    fixed = model.fix(["soccer", "Eve"], ["O", "B-LOC"])
    assert fixed.tag(["soccer", "Eve"]).labels == ("O", "B-LOC")
    assert fixed.undo().tag(["soccer", "Eve"]).labels == model.tag(["soccer", "Eve"]).labels


def test_shrunk_explained_and_not_exported(templates: str) -> None:
    data = documents()
    model = mg.train(data, features=templates, passes=10)
    assert labels(mg.shrink(model, bits=8).model.tag_all(data)) == right(data)
    explained = model.explain(["soccer", "Ann"], against=["O", "B-LOC"]).to_text()
    assert "the first word of the document is 'soccer'" in explained
    with pytest.raises(mg.ModelError, match="look at whole documents cannot be exported"):
        mg.export(model)


def test_one_sentence_is_explained_in_its_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from marginalia.cli import main

    (tmp_path / "t.txt").write_text("word[0]\ndocument-first(word)[0]/is(initial-cap)(word)[0]\n")
    path = written(tmp_path / "train.txt", documents())
    model = mg.train(path, columns="word label", features=str(tmp_path / "t.txt"), passes=8)
    model.save(tmp_path / "m.mg")
    expected = [list(sentence.columns["label"]) for sentence in documents(2)]
    for number, labels in enumerate(expected, 1):
        words = ["explain", str(tmp_path / "m.mg"), "--input", str(path), "--sentence", str(number), "--json"]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["chosen"]["labels"] == labels
    gone = [word if word != str(number) else "999" for word in words]
    assert main(gone) == 1
    assert "found no sentence 999" in capsys.readouterr().err
    assert main([*words, "--against", "2=O"]) == 0
    assert "without the rest of its document" in capsys.readouterr().err
