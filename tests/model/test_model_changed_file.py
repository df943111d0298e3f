"""What happens to a model's file while the model is in use does not matter to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import marginalia as mg
from marginalia.errors import ModelError
from marginalia.model import container

STORED = sorted((Path(__file__).parent / "stored").glob("*.mg"))


def truncated(path: Path) -> None:
    os.truncate(path, 100)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def copied_over(path: Path) -> None:
    """What `cp other.mg live.mg` does: the same file with other bytes."""
    other = next(one for one in STORED if one.name != path.name)
    shutil.copyfile(other, path)


def scrambled(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


@pytest.mark.parametrize("change", [truncated, emptied, copied_over, scrambled])
def test_models_of_all_kinds_outlive_their_files(change: Callable[[Path], None], tmp_path: Path) -> None:
    models = []
    for stored in STORED:
        path = tmp_path / stored.name
        shutil.copyfile(stored, path)
        models.append((mg.load(path), mg.load(stored).to_bytes()))
        change(path)
    assert all(model.to_bytes() == before for model, before in models)


@pytest.mark.parametrize("change", [truncated, copied_over, scrambled])
def test_labels_stay_the_same(change: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "live.mg"
    shutil.copyfile(STORED[0].with_name("chain.mg"), path)
    model = mg.load(path)
    sentences = [["He", "reckons", str(n)] for n in range(50)]
    before = [tagged.labels for tagged in model.tag_all(sentences)]
    change(path)
    assert [tagged.labels for tagged in model.tag_all(sentences)] == before


def test_a_file_that_changes_while_it_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "live.mg"
    shutil.copyfile(STORED[0], path)
    stat = os.fstat

    def growing(number: int) -> os.stat_result:
        found = stat(number)
        with open(path, "ab") as file:
            file.write(b" ")
        return found

    monkeypatch.setattr(container.os, "fstat", growing)
    with pytest.raises(ModelError, match=r"live\.mg: the file was changed while it was read: load it again"):
        mg.load(path)


def test_files_that_nobody_changes_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "live.mg"
    shutil.copyfile(STORED[0].with_name("chain.mg"), path)
    mapped = mg.load(path, map=True)
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert str(path) in maps.read_text()
    assert mapped.to_bytes() == mg.load(path).to_bytes() == mg.Model.load(path, map=True).to_bytes()
