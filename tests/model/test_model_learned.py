"""Models of every learner as files: what voting and going on need is kept, checked, and judged by others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.model import SavedModel, from_bytes, to_bytes

Toys = Callable[..., Any]
KINDS: dict[str, dict[str, Any]] = {
    "voted": {"average": "vote"},
    "voted, edges": {"average": "vote", "order": 2},
    "arow": {"learner": "arow", "l1_cumulative": 0.01},
    "several": {"shuffle_average": 2},
    "crf": {"learner": "crf", "l1": 0.1},
    "maxent": {"learner": "maxent", "search": "beam"},
}


@pytest.fixture(scope="module", params=list(KINDS))
def learned(request: pytest.FixtureRequest, toys: Toys) -> mg.Tagger:
    return mg.train(toys(8), passes=3, state=True, diagnostics=True, **KINDS[request.param])


def test_files_give_back_what_was_saved(learned: mg.Tagger, tmp_path: Path, toys: Toys) -> None:
    path = tmp_path / "m.mg"
    learned.save(path)
    copy = mg.load(path)
    assert copy.saved.arrays.keys() == learned.saved.arrays.keys()
    for name, array in learned.saved.arrays.items():
        assert copy.saved.arrays[name].dtype == array.dtype
        assert copy.saved.arrays[name].tolist() == array.tolist()
    assert copy.saved.diagnostics == learned.saved.diagnostics != {}
    assert copy.saved.settings == learned.saved.settings
    sentences = [columns for columns, _ in toys(10, seed=2)]
    assert copy.tag_all(sentences) == learned.tag_all(sentences)


def test_safetensors_reads_them(learned: mg.Tagger, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    learned.save(tmp_path / "m.mg")
    arrays = safetensors.load_file(tmp_path / "m.mg")
    assert arrays.keys() == learned.saved.arrays.keys()
    assert all(np.array_equal(arrays[name], learned.saved.arrays[name]) for name in arrays)


def test_models_keep_a_state_only_if_asked(toys: Toys) -> None:
    for kind in KINDS.values():
        with_state, without = (mg.train(toys(8), passes=2, state=state, **kind) for state in (True, False))
        assert any(name.startswith("state.") for name in with_state.saved.arrays)
        assert not any(name.startswith("state.") for name in without.saved.arrays)
        rest = {n: a.tolist() for n, a in with_state.saved.arrays.items() if not n.startswith("state.")}
        assert rest == {n: a.tolist() for n, a in without.saved.arrays.items()}


def test_a_state_is_no_burden_in_use(learned: mg.Tagger, toys: Toys) -> None:
    arrays = {n: a for n, a in learned.saved.arrays.items() if not n.startswith("state.")}
    light = mg.Tagger(replace(learned.saved, arrays=arrays))
    sentences = [columns for columns, _ in toys(10, seed=2)]
    assert light.tag_all(sentences) == learned.tag_all(sentences)


def test_files_without_diagnostics_are_older(learned: mg.Tagger) -> None:
    metadata = learned.saved.metadata()
    del metadata["diagnostics"]
    metadata["labels"], metadata["columns"] = list(metadata["labels"]), list(metadata["columns"])
    assert SavedModel.from_metadata(metadata, learned.saved.arrays).diagnostics == {}
    metadata["diagnostics"] = [1]
    with pytest.raises(mg.ModelError, match="damaged"):
        SavedModel.from_metadata(metadata, learned.saved.arrays)


def test_the_width_of_rows_is_that_of_labels_unless_the_file_says_so(learned: mg.Tagger) -> None:
    metadata = learned.saved.metadata()
    assert "row_width" not in metadata
    assert learned.saved.width == len(learned.saved.labels)
    metadata["labels"], metadata["columns"] = list(metadata["labels"]), list(metadata["columns"])
    other = SavedModel.from_metadata({**metadata, "row_width": 7}, learned.saved.arrays)
    assert (other.width, other.width_of(3), other.metadata()["row_width"]) == (7, 7, 7)
    with pytest.raises(mg.ModelError, match="rows of 7 outputs, expected"):
        mg.Tagger(other)  # a chain has no such rows
    for wrong in (0, -1, 2**31, "7", True, 1.5):
        with pytest.raises(mg.ModelError, match="damaged: row_width is"):
            SavedModel.from_metadata({**metadata, "row_width": wrong}, learned.saved.arrays)


VOTES = ["vote_row_end", "vote_outputs", "vote_change_end", "vote_steps", "vote_changes", "vote_versions"]


@pytest.mark.parametrize("name", VOTES)
@pytest.mark.parametrize("how", ["missing", "short", "long", "huge", "of another kind", "reversed"])
def test_forged_votes(toys: Toys, name: str, how: str) -> None:
    """Refused when loaded, or used without harm: never out of bounds."""
    saved = mg.train(toys(6), passes=2, average="vote").saved
    good = saved.arrays[name]
    huge = np.inf if good.dtype.kind == "f" else np.iinfo(good.dtype).max
    bad = {
        "short": good[:-1],
        "long": np.append(good, good[-1:]),
        "huge": np.full_like(good, huge),
        "of another kind": good.astype(np.uint8),
        "reversed": good[::-1].copy(),
    }
    arrays = {n: a for n, a in saved.arrays.items() if n != name}
    arrays |= {name: bad[how]} if how in bad else {}
    data = to_bytes(replace(saved, arrays=arrays))
    try:
        tagger = mg.Tagger(from_bytes(data))
    except mg.ModelError:
        return
    assert how in ("huge", "reversed", "long") or name == "vote_steps"
    for columns, labels in toys(6):
        assert len(tagger.tag(columns).labels) == len(labels)


@pytest.mark.parametrize("name", ["vote-candidates", "candidates"])  # as it was called in older files
@pytest.mark.parametrize("candidates", [None, 0, -1, "many", 1.5])
def test_forged_numbers_of_candidates(toys: Toys, name: str, candidates: Any) -> None:
    saved = mg.train(toys(6), passes=2, average="vote").saved
    settings = {n: v for n, v in saved.settings.items() if n != "vote-candidates"}
    settings |= {} if candidates is None else {name: candidates}
    with pytest.raises(mg.ModelError):
        mg.Tagger(replace(saved, settings=settings)).tag(toys(1)[0][0])


@pytest.mark.parametrize("beam", [None, -1, "wide", 1.5])
def test_forged_beams(toys: Toys, beam: Any) -> None:
    saved = mg.train(toys(6), passes=2, learner="maxent", search="beam").saved
    settings = {n: v for n, v in saved.settings.items() if n != "beam"}
    settings |= {} if beam is None else {"beam": beam}
    with pytest.raises(mg.ModelError):
        mg.Tagger(replace(saved, settings=settings))
