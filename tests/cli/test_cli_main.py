"""The frame of the command line: help, version, exit codes, lazy loading."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from cli_world import Run, Shell

import marginalia
from marginalia.cli import VERBS, main


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"marginalia {marginalia.__version__}\n", "")


def test_help_names_all_verbs(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert all(f"\n    {verb} " in out for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_examples(run: Run, verb: str) -> None:
    code, out, _ = run(verb, "--help")
    assert code == 0
    description, _, examples = out.partition("\nexamples:\n")
    assert len(description.split("\n\n")[1]) > 100
    assert 2 <= examples.count(f"marginalia {verb}") <= 7


@pytest.mark.parametrize(
    "words",
    [[], ["fly"], ["tag"], ["train", "--what"], ["tag", "m", "i", "j"], ["inspect", "m", "--top", "-1"]],
)
def test_wrong_command_lines(run: Run, words: list[str]) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith("usage: ")


def test_the_module_and_the_script(shell: Shell) -> None:
    assert shell("--version").stdout.decode() == f"marginalia {marginalia.__version__}\n"
    script = shutil.which("marginalia", path=sysconfig.get_path("scripts"))
    if script is None:
        pytest.skip("the script is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, check=True)
    assert done.stdout.decode() == f"marginalia {marginalia.__version__}\n"


def test_tagging_loads_no_other_verb_and_no_learning(model: Path, data: Path) -> None:
    program = (
        "import sys; from marginalia.cli import main\n"
        f"assert main(['tag', {str(model)!r}, {str(data / 'test.txt')!r}, '-o', {str(data / 'o')!r}]) == 0\n"
        "print(*(name for name in sys.modules if name.startswith('marginalia')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split() if "." in name}
    assert not rooms & {"learn", "evaluate"}
    assert not {f"marginalia.cli.{verb}" for verb in VERBS if verb != "tag"} & set(done.stdout.split())


def test_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for place in ("marginalia.model.file.open_file", "marginalia.cli.build_parser"):
        monkeypatch.setattr(place, interrupted)
        assert main(["inspect", str(model)]) == 130
        assert capsys.readouterr().err == "marginalia: interrupted\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device", "here"), "here: No space left on device"),
        (MemoryError(), "there is not enough memory."),
    ],
)
def test_errors_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, run: Run, model: Path, error: Exception, message: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("marginalia.model.file.open_file", fail)
    assert run("inspect", model) == (1, "", f"marginalia: error: {message}\n")
