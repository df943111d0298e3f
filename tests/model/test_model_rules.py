"""Rule tables that are damaged or forged give clear errors, or models that work."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.errors import DataError, ModelError

quick = settings(derandomize=True, deadline=None, database=None, max_examples=100)


@pytest.fixture(scope="module")
def model() -> Any:
    return mg.load(Path(__file__).parent / "stored" / "rules.mg")


@pytest.fixture(scope="module")
def table(model: Any) -> list[str]:
    written = io.StringIO()
    model.export_weights(written)
    return written.getvalue().splitlines()


def used(model: Any) -> None:
    """Ask it all that looks at rules."""
    words = {column: ["x", "y", "x"] for column in model.feature_columns}
    assert len(model.tag(words).labels) == 3
    assert model.nbest(words, 2)
    assert model.explain(words).reasons is not None


@quick
@given(st.sampled_from(["keys", "end", "atoms", "support"]), st.data())
def test_forged_arrays(model: Any, name: str, data: st.DataObject) -> None:
    arrays, name = model.saved.arrays, f"rule.{name}"
    forged = arrays[name].copy()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(forged) - 1))
        others = st.sampled_from([0, 1, 2**31, 2**32 - 1, *arrays["rule.atoms"][:4].tolist()])
        forged[at] = np.array(data.draw(others), np.uint64).astype(forged.dtype)
    kept = data.draw(st.sampled_from([len(forged), len(forged) - 1]))
    try:
        made = mg.Model(replace(model.saved, arrays=arrays | {name: forged[:kept]}))
    except ModelError as error:
        assert "do not fit" in str(error)  # noqa: PT017
        return
    used(made)


PIECES = [
    "feature",
    "edge",
    "start",
    "\t",
    " & ",
    "label[1]=",
    "label[9]=O",
    "word[0]=",
    "=",
    "\\q",
    "1e99",
    "nan",
    "\x00",
    "é",
]


@quick
@given(st.data())
def test_fuzzed_tables(model: Any, table: list[str], data: st.DataObject) -> None:
    lines = list(table)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(lines) - 1))
        line = lines[number]
        begin = data.draw(st.integers(0, len(line)))
        end = data.draw(st.integers(begin, min(len(line), begin + 6)))
        lines[number] = line[:begin] + data.draw(st.sampled_from(["", *PIECES])) + line[end:]
    try:
        made = model.with_weights(io.StringIO("\n".join(lines) + "\n"))
    except DataError as error:
        assert error.line is not None  # noqa: PT017
        return
    except ModelError as error:
        assert "rules: " in str(error)  # noqa: PT017
        return
    used(made)
