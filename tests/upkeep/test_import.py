"""What comes with the library: numpy, and no room that is not needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import marginalia as mg

# Names the third-party packages and the rooms that were loaded, a line each, then the seconds of the import.
_REPORT = """
import sys, time
before = set(sys.modules)
started = time.perf_counter()
import marginalia
import marginalia.decode.tagger
seconds = time.perf_counter() - started
{work}
new = {{name for name in set(sys.modules) - before}}
tops = {{name.partition(".")[0] for name in new}}
print(*sorted(tops - sys.stdlib_module_names - {{"marginalia"}}))
print(*sorted({{".".join(name.split(".")[1:2]) for name in new if name.startswith("marginalia.")}}))
print(f"{{seconds:.3f}}")
"""


def loaded_after(work: str) -> tuple[set[str], set[str], str]:
    """Third-party packages and rooms that a fresh interpreter has loaded after some work; import time."""
    script = _REPORT.format(work=work)
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    packages, rooms, seconds = out.split("\n")[:3]
    return set(packages.split()), set(rooms.split()), seconds


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("import") / "tiny.mg"
    mg.train([(["a", "b"], ["B-X", "O"])], passes=1).save(path)
    return path


def test_import_brings_numpy_only() -> None:
    packages, rooms, seconds = loaded_after("")
    print(f"import of marginalia.decode.tagger: {seconds} s")  # shown with -rP; never asserted
    assert packages == {"numpy"}
    assert not rooms & {"learn", "evaluate", "cli"}


def test_bare_import_brings_nothing() -> None:
    script = "import sys, marginalia; print(*(m for m in ('numpy', 'marginalia.decode') if m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == ""


def test_tagging_brings_no_training(model_file: Path) -> None:
    packages, rooms, _ = loaded_after(
        f"tagger = marginalia.load({str(model_file)!r})\n"
        "tagger.tag(['a', 'b'])\n"
        "tagger.nbest(['a'], 2)\n"
        "marginalia.Tagger.from_bytes(tagger.to_bytes())\n"
    )
    assert packages == {"numpy"}
    assert not rooms & {"learn", "evaluate", "cli"}


def test_tagging_brings_no_template_languages(model_file: Path) -> None:
    """Start-up time is part of every short run."""
    script = (
        f"import sys, marginalia; marginalia.load({str(model_file)!r}).tag(['a', 'b'])\n"
        "print(*(name for name in sys.modules if name.startswith('marginalia.features.')))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert set(out.split()) == {
        f"marginalia.features.{name}" for name in ("compiling", "documents", "list_templates", "program")
    }


def test_facade_names_exist() -> None:
    assert [name for name in mg.__all__ if not hasattr(mg, name)] == []
    assert set(mg.__all__) <= set(dir(mg))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        mg.nonsense  # noqa: B018


def test_facade_names_are_no_rooms() -> None:
    """A loaded room becomes an attribute of the package and would hide a function of the same name."""
    script = (
        "import types, marginalia as mg\n"
        "import marginalia.cli, marginalia.decode, marginalia.evaluate, marginalia.learn\n"
        "print([name for name in mg.__all__ if isinstance(getattr(mg, name), types.ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_training_loads_what_it_needs_only(tmp_path: Path) -> None:
    """The same: no corrections, calibration, explanations or scoring, and one template language."""
    data, templates = tmp_path / "train.txt", tmp_path / "templates.txt"
    data.write_text("a B-X\nb O\n\nb O\na B-X\n\n")
    templates.write_text("U00:%x[0,0]\nB\n")
    script = (
        "import sys; from marginalia.cli import main\n"
        f"main(['train', {str(data)!r}, '-q', '-o', {str(tmp_path / 'm.mg')!r}, "
        f"'--features', {str(templates)!r}])\n"
        "print(*(name.removeprefix('marginalia.') for name in sys.modules if name.startswith('marginalia.')))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    loaded = set(out.splitlines()[-1].split())
    assert {"learn.training", "decode.tagger", "features.crfpp"} <= loaded
    unneeded = {"learn.api", "learn.correcting", "learn.calibration", "learn.labeler", "decode.explaining"}
    unneeded |= {"decode.classifier", "decode.ranking", "model.corrections", "model.table", "evaluate"}
    assert not loaded & (unneeded | {"features.templates", "features.wapiti"})
