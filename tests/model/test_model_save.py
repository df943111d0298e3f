"""Saving is all or nothing: whatever fails, the old file is whole and nothing is left beside it."""

from __future__ import annotations

import builtins
import errno
import io
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
OLD = b"the old file"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "model.mg"
    path.write_bytes(OLD)
    return path


def assert_untouched(target: Path) -> None:
    assert target.read_bytes() == OLD
    assert sorted(p.name for p in target.parent.iterdir()) == [target.name]


class FullDisk(io.FileIO):
    """Takes some bytes, then there is no room."""

    room = 100

    def write(self, data: Any) -> int:
        super().write(bytes(data)[: self.room])
        raise FULL


def test_full_disk_while_writing(tagger: mg.Tagger, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.open

    def opened(path: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        return FullDisk(path, mode.replace("b", "")) if "x" in mode else real(path, mode, *args, **options)

    monkeypatch.setattr(builtins, "open", opened)
    with pytest.raises(mg.ModelError, match="cannot write the model: No space left"):
        tagger.save(target)
    monkeypatch.undo()
    assert_untouched(target)


@pytest.mark.parametrize("function", ["fsync", "replace", "chmod"])
def test_failing_system_calls(
    tagger: mg.Tagger, target: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FULL

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(mg.ModelError, match="No space left"):
        tagger.save(target)
    monkeypatch.undo()
    assert_untouched(target)


def test_ctrl_c_while_writing(tagger: mg.Tagger, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tagger.save(target)
    monkeypatch.undo()
    assert_untouched(target)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable_folder(tagger: mg.Tagger, target: Path) -> None:
    target.parent.chmod(0o500)
    try:
        with pytest.raises(mg.ModelError, match="cannot write the model"):
            tagger.save(target)
        assert_untouched(target)
    finally:
        target.parent.chmod(0o700)


def test_unwritable_folder_by_permission_error(
    tagger: mg.Tagger, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.open

    def opened(path: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if "x" in mode:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, mode, *args, **options)

    monkeypatch.setattr(builtins, "open", opened)
    with pytest.raises(mg.ModelError, match="Permission denied"):
        tagger.save(target)
    monkeypatch.undo()
    assert_untouched(target)


@pytest.mark.parametrize(
    "place", ["folder", "", "model.mg/inside.mg", "missing/model.mg", "nul\0.mg", "n" * 300]
)
def test_impossible_places(tagger: mg.Tagger, target: Path, place: str) -> None:
    (target.parent / "folder").mkdir()
    with pytest.raises(mg.ModelError, match="cannot write the model"):
        tagger.save(f"{target.parent}/{place}")
    assert target.read_bytes() == OLD
    assert sorted(p.name for p in target.parent.iterdir()) == ["folder", "model.mg"]
    assert list((target.parent / "folder").iterdir()) == []


def test_long_names_are_no_problem(tagger: mg.Tagger, tmp_path: Path) -> None:
    path = tmp_path / ("n" * 252 + ".mg")
    tagger.save(path)
    assert path.read_bytes() == tagger.to_bytes()


def test_a_link_stays_a_link(tagger: mg.Tagger, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / "v1.mg", tmp_path / "current.mg"
    real.write_bytes(OLD)
    link.symlink_to(Path("store") / "v1.mg")
    tagger.save(link)
    assert link.is_symlink()
    assert real.read_bytes() == tagger.to_bytes()
    assert [p.name for p in (tmp_path / "store").iterdir()] == ["v1.mg"]


def test_a_link_to_nothing_gets_its_file(tagger: mg.Tagger, tmp_path: Path) -> None:
    link = tmp_path / "current.mg"
    link.symlink_to("later.mg")
    tagger.save(link)
    assert (tmp_path / "later.mg").read_bytes() == tagger.to_bytes()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_are_kept(tagger: mg.Tagger, target: Path, mode: int) -> None:
    target.chmod(mode)
    tagger.save(target)
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.read_bytes() == tagger.to_bytes()


def test_a_new_file_follows_the_umask(tagger: mg.Tagger, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        tagger.save(tmp_path / "new.mg")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.mg").stat().st_mode) == 0o640


def test_saving_to_a_path_object_and_a_relative_name(
    tagger: mg.Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tagger.save("here.mg")
    tagger.save(Path("there.mg"))
    assert (tmp_path / "here.mg").read_bytes() == (tmp_path / "there.mg").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here.mg", "there.mg"]
