"""The model file: what goes in comes out, equal runs give equal bytes, others can read the container."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load as load_tensors

import marginalia as mg
from marginalia.model import SavedModel, from_bytes, load, save, to_bytes
from marginalia.model.packing import packed_arrays

Toys = Callable[..., Any]


def outputs(tagger: mg.Tagger, toys: Toys) -> list[Any]:
    """All that a model says of some sentences."""
    sentences = [columns for columns, _ in toys(15, seed=7)]
    few = sentences[:3]
    return [
        tagger.tag_all(sentences),
        [tagger.nbest(s, 4) for s in few],
        [tagger.marginals(s).tolist() for s in few if not tagger.saved.global_features],
    ]


def same(a: SavedModel, b: SavedModel) -> bool:
    arrays = a.arrays.keys() == b.arrays.keys() and all(
        np.array_equal(a.arrays[k], b.arrays[k]) for k in a.arrays
    )
    return arrays and a.metadata() == b.metadata()


def test_file_bytes_and_pickle_keep_everything(tagger: mg.Tagger, saved_file: Path, toys: Toys) -> None:
    expected, data = outputs(tagger, toys), tagger.to_bytes()
    assert saved_file.read_bytes() == data
    for copy in (mg.load(saved_file), mg.Tagger.from_bytes(data), pickle.loads(pickle.dumps(tagger))):
        assert same(copy.saved, from_bytes(data))
        assert copy.to_bytes() == data
        assert outputs(copy, toys) == expected


def test_saved_model_round_trip(tagger: mg.Tagger, tmp_path: Path) -> None:
    save(tagger.saved, tmp_path / "a.mg")
    assert to_bytes(load(str(tmp_path / "a.mg"))) == to_bytes(tagger.saved)


def test_loaded_arrays_cannot_be_written(saved_file: Path) -> None:
    for array in load(saved_file).arrays.values():
        assert not array.flags.writeable


def test_model_outlives_its_file(saved_file: Path, toys: Toys) -> None:
    tagger = mg.load(saved_file)
    expected = outputs(tagger, toys)
    saved_file.unlink()
    assert outputs(tagger, toys) == expected


def test_model_outlives_a_newer_one_in_its_place(saved_file: Path, toys: Toys) -> None:
    tagger = mg.load(saved_file)
    expected = outputs(tagger, toys)
    mg.train(toys(30, seed=9), passes=1).save(saved_file)
    assert outputs(tagger, toys) == expected


def test_equal_runs_give_equal_bytes(toys: Toys) -> None:
    first, again, other = (mg.train(toys(40), seed=seed, passes=2).to_bytes() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_threads_and_progress_do_not_change_the_bytes(toys: Toys) -> None:
    records: list[mg.Progress] = []
    one = mg.train(toys(40), toys(20, seed=5), passes=4, on_progress=records.append)
    three = mg.train(toys(40), toys(20, seed=5), passes=4, threads=3)
    assert one.to_bytes() == three.to_bytes()
    assert records


def test_the_container_is_safetensors(saved_file: Path, tagger: mg.Tagger) -> None:
    tensors = load_tensors(saved_file.read_bytes())
    expected = packed_arrays(tagger.saved)
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        assert np.array_equal(tensor, expected[name])
    with safe_open(saved_file, "numpy") as opened:
        metadata = opened.metadata()
    version = "4" if tagger.saved.global_features else "7" if "packed" in tensors else "2"
    assert (metadata["format"], metadata["format_version"]) == ("marginalia", version)


@pytest.mark.parametrize("tagger", ["plain", "full"], indirect=True)
def test_the_first_format_can_still_be_read(tagger: mg.Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia.model.file.VERSION", 1)
    old = tagger.to_bytes()
    monkeypatch.undo()
    assert b'"format_version":"1"' in old
    assert mg.Tagger.from_bytes(old).to_bytes() == tagger.to_bytes()


def test_metadata_tell_how_the_model_was_made(taggers: dict[str, mg.Tagger], tmp_path: Path) -> None:
    taggers["full"].save(tmp_path / "m.mg")
    with safe_open(tmp_path / "m.mg", "numpy") as opened:
        told = json.loads(opened.metadata()["model"])
    assert told["labels"][:1] == list(taggers["full"].saved.labels)[:1]
    assert (told["scheme"], told["encoding"]) == ("IOB2", "IOBES")
    assert (told["columns"], told["label"]) == (["word", "tag", "label"], "label")
    assert (told["structure"], told["learner"], told["seed"]) == ("chain", "perceptron", 1)
    assert told["settings"]["order"] == 2
    assert [record["number"] for record in told["history"]] == list(range(1, len(told["history"]) + 1))
    assert all(record["dev"] is not None for record in told["history"])
    assert "seconds" not in told["history"][0]
    assert len(told["fingerprint"]) == 32


def test_many_labels_take_wide_outputs(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("word[0]\nedge: word[0]\n")
    pairs = [([f"w{i}", f"w{i + 1}"], [f"L{i}", f"L{i + 1}"]) for i in range(400)]
    tagger = mg.train(pairs, features=str(tmp_path / "t.txt"), passes=1)
    assert "wide" in tagger.saved.arrays
    copy = mg.Tagger.from_bytes(tagger.to_bytes())
    assert [copy.tag(words).labels for words, _ in pairs] == [tagger.tag(words).labels for words, _ in pairs]


def test_one_model_serves_many_threads(tagger: mg.Tagger, toys: Toys) -> None:
    sentences = [columns for columns, _ in toys(60, seed=8)]
    expected = [tagger.tag(s) for s in sentences]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tagger.tag, sentences)) == expected


@pytest.mark.parametrize("name", ["nothing.mg", "folder", "no-folder/model.mg", "nul\0.mg"])
def test_what_cannot_be_opened_is_a_model_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(mg.ModelError, match="cannot read the model"):
        mg.load(str(tmp_path / name))


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chunker.mg"
    path.write_bytes(b"nonsense, and more than ten bytes of it")
    with pytest.raises(mg.ModelError, match=r"chunker\.mg: not a model"):
        mg.load(path)
