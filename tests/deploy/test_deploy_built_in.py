"""The maker of built-in models, and models by name."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import marginalia as mg
from invented_treebank import treebank
from marginalia.model import built_in

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "make_models.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_models", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["make_models"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_a_model_is_made_and_found_by_its_name(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source: Any = tool.MODELS["en"]
    bank = tmp_path / source.folder
    bank.mkdir()
    for seed, (name, size) in enumerate({"train": 100, "dev": 20, "test": 20}.items(), 1):
        (bank / f"{name}.conllu").write_text(treebank(size, seed))
    quick = source.settings | {"tags.passes": 2, "tags.shuffle-average": 1, "parser.passes": 2}
    made = tool.make("en", replace(source, settings=quick), tmp_path, 1)
    made.save(tmp_path / "zz.mg")
    monkeypatch.setattr(built_in, "FOLDER", tmp_path)
    monkeypatch.chdir(bank)
    [model] = built_in.built_in_models()
    assert (model.name, model.about["licence"]) == ("zz", "CC BY-SA 4.0")
    assert model.about["scores"]["given tokens"]["Words"] == 100
    assert model.size < tool.MOST_BYTES
    loaded: Any = mg.load("zz")
    assert loaded.to_bytes() == made.to_bytes()
    (bank / "zz").write_text("a file of that name wins")
    with pytest.raises(mg.ModelError, match="zz: not a model"):
        mg.load("zz")


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(mg.ModelError, match="no-such-model: cannot read the model"):
        mg.load("no-such-model")
