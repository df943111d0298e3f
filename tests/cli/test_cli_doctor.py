"""`marginalia doctor` tells what there is, and notices a core that does not work."""

from __future__ import annotations

import json
import platform

import pytest
from cli_world import Run

import marginalia as mg
from marginalia.cli.doctor import extras


def test_it_tells_what_is_there(run: Run) -> None:
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    lines = dict(line.split(None, 1) for line in out.splitlines())
    assert lines["marginalia"].startswith(mg.__version__)
    assert platform.python_version() in lines["python"]
    assert lines["works"] == "yes"
    assert "en (" in lines["models"]


def test_json_has_every_package_of_the_extras(run: Run) -> None:
    found = json.loads(run("doctor", "--json")[1])
    assert found["works"] == "yes"
    assert found["extras"] == extras()
    assert found["extras"]["test"]["hypothesis"]
    assert "wordfreq" in found["extras"]["assist"]
    assert found["core"]["bytes"] > 100_000
    assert found["core"]["build"]


def test_a_core_that_does_not_work_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise mg.ModelError("it is damaged.")

    monkeypatch.setattr(mg, "train", broken)
    code, out, _ = run("doctor")
    assert code == 1
    assert "no: it is damaged." in out
