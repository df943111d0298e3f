"""Rule tables that are damaged or forged give clear errors, or models that work."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
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
    used(made)


ATTRIBUTES = st.text("&\\ a", min_size=1, max_size=5)


@settings(derandomize=True, deadline=None, database=None, max_examples=40)
@given(st.lists(ATTRIBUTES, min_size=2, max_size=5, unique=True), st.randoms(use_true_random=False))
def test_signs_of_rules_in_attributes(names: list[str], chance: Any) -> None:
    """Tables can be read back and edited, whatever attributes are called; only a single one that has the
    name of a rule is taken for it."""
    assume(not any(" & " in name for name in names))
    items = [(chance.sample(names, chance.randint(1, len(names))), chance.choice("xy")) for _ in range(12)]
    made = mg.train(items, structure="single", learner="rules", rules=60, rules_per_round=3, size=3)
    table = io.StringIO()
    made.export_weights(table)
    assert made.with_weights(io.StringIO(table.getvalue())).saved is made.saved
    kept = table.getvalue().splitlines(keepends=True)
    del kept[chance.randrange(1, len(kept))]
    edited, again = made.with_weights(io.StringIO("".join(kept))), io.StringIO()
    edited.export_weights(again)
    assert again.getvalue() == "".join(kept)
    assert edited.with_weights(io.StringIO(table.getvalue())).nbest(items[0][0], 2) == made.nbest(
        items[0][0], 2
    )


def test_rules_that_cannot_be(model: Any, table: list[str]) -> None:
    """A person's mistakes, with their place."""
    label = table[1].split("\t")[2]
    for rule, message in (
        ("word[0]=a & word[0]=a", "found an atom twice"),
        ("label[1]=O & word[0]=a & label[1]=B-QTY", "found two labels of one neighbour"),
        (" & ".join(f"word[0]={i}" for i in range(65)), "found 65 atoms, expected no more than 64"),
    ):
        with pytest.raises(DataError, match=f":{len(table) + 1}:9: {message}"):
            model.with_weights(io.StringIO("\n".join([*table, f"feature\t{rule}\t{label}\t1\n"])))
    once = f"feature\tword[0]=a & word[0]=b\t{label}\t1\nfeature\tword[0]=b & word[0]=a\t{label}\t1\n"
    with pytest.raises(DataError, match="a second line of this weight"):
        model.with_weights(io.StringIO("\n".join([*table, once])))
