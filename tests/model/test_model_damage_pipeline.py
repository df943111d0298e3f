"""Damaged and forged files of pipelines, and logs of corrected trees that do not fit."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.decode.pipeline import Pipeline
from marginalia.model import to_bytes
from marginalia.model.bundle import Bundle

STORED = Path(__file__).parent / "stored"
TEXT = "1 cup sugar. And so on."


@pytest.fixture(scope="module", params=["pipeline", "pipeline-supertags"])
def data(request: pytest.FixtureRequest) -> bytes:
    return (STORED / f"{request.param}.mg").read_bytes()


def refused_or_same(data: bytes, original: bytes) -> bool:
    """Whether the bytes are refused; if not, they must be the same pipeline."""
    try:
        pipeline = Pipeline.from_bytes(data)
    except mg.ModelError:
        return True
    return pipeline.to_bytes() == original


def test_truncations_flipped_bits_and_blocks_are_refused(data: bytes) -> None:
    rng = random.Random(1)
    ends = [*range(0, 64, 8), *rng.sample(range(len(data)), 60), len(data) - 1]
    assert all(refused_or_same(data[:end], data) for end in ends)
    for _ in range(120):
        damaged = bytearray(data)
        at, size = rng.randrange(len(data) - 64), rng.choice([1, 8, 64])
        if rng.random() < 0.5:
            damaged[at] ^= 1 << rng.randrange(8)
        else:
            damaged[at : at + size] = rng.randbytes(size)
        assert refused_or_same(bytes(damaged), data), at


def forged(bundle: Bundle, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another description, and a checksum that is right."""
    described = {
        "bundle": bundle.about,
        "parts": [[name, part.metadata()] for name, part in bundle.parts.items()],
        "tables": list(bundle.tables),
    }
    described = json.loads(json.dumps(described))
    change(described)
    from marginalia.model.container import checksum, container
    from marginalia.model.file import BUNDLE_VERSION, FORMAT

    description = json.dumps(described)
    arrays = {
        f"{name}/{array}": np.ascontiguousarray(values)
        for name, part in bundle.parts.items()
        for array, values in part.arrays.items()
    }
    for name, lines in bundle.tables.items():
        arrays[f"table.{name}"] = np.frombuffer("\n".join(lines).encode(), np.uint8)
    arrays = dict(sorted(arrays.items()))
    metadata = {
        "format": FORMAT,
        "format_version": str(BUNDLE_VERSION),
        "checksum": checksum(description, arrays),
        "model": description,
    }
    return b"".join(container(arrays, metadata))


DESCRIPTIONS: list[tuple[str, Any]] = [
    ("bundle", None),
    ("bundle", []),
    ("parts", {}),
    ("parts", [1]),
    ("parts", [["tokens"]]),
    ("parts", [["tokens", {}]]),
    ("parts", [[3, {}]]),
    ("tables", {}),
    ("tables", ["no such table"]),
    ("tables", [["lexicon"]]),
]


def test_descriptions_that_do_not_fit_are_refused(data: bytes) -> None:
    bundle = Bundle.from_bytes(data)
    assert Pipeline.from_bytes(forged(bundle, lambda described: None)).parse(TEXT).words
    for name, value in DESCRIPTIONS:
        with pytest.raises(mg.ModelError):
            Pipeline.from_bytes(forged(bundle, lambda d, n=name, v=value: d.update({n: v})))


def test_parts_in_the_place_of_others_are_refused_or_harmless(data: bytes) -> None:
    """Whatever parts and tables a file has: an error, or trees."""
    bundle = Bundle.from_bytes(data)
    names = list(bundle.parts)
    others = [
        replace(bundle, parts=bundle.parts | {one: bundle.parts[two]}) for one in names for two in names
    ]
    others += [bundle.with_part(name, None) for name in names]
    others += [replace(bundle, tables=bundle.tables | {t: ("a", "b\tc\td")}) for t in bundle.tables]
    others += [replace(bundle, tables={})]
    refused = 0
    for other in others:
        try:
            document = Pipeline(other).parse(TEXT)
        except mg.MarginaliaError:
            refused += 1
            continue
        assert mg.Document(document.sentences, TEXT).to_conllu()
    assert 10 < refused < len(others)


def corrected() -> mg.Model:
    """A parser with a correction that brought a label and actions."""
    parser: Any = mg.load(STORED / "trees.mg")
    odd = {"word": ["1", "cup", "sugar"], "pos": ["Y", "T", "E"], "head": ["3", "1", "0"],
           "deprel": ["new", "UNIT", "root"]}  # fmt: skip
    fixed: mg.Model = parser.fix(mg.Sentence(odd))
    return fixed


WRONG_LOGS: list[dict[str, Any]] = [
    {"width": 0},
    {"width": -3},
    {"width": "7"},
    {"width": 1.5},
    {"width": True},
    {"replaced": []},
    {"replaced": {"tree.actions": 3}},
    {"replaced": {"tree.actions": "abc"}},
    {"replaced": {"tree.actions": [[1], 2]}},
    {"replaced": {"tree.actions": ["a"]}},
    {"replaced": {"tree.actions": [300]}},
    {"replaced": {"tree.actions": [-1]}},
    {"replaced": {"tree.actions": []}},
    {"replaced": {"no such array": [1]}},
    {"replaced": {"weights": [1]}},
    {"width": 2**40},
    {"width": 1},
    {"width": 10_000},
]


@pytest.mark.parametrize("change", WRONG_LOGS, ids=str)
def test_logs_of_trees_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    parser = corrected()
    (record,) = parser.saved.corrections
    assert {"width", "replaced"} <= set(record)
    columns = {"word": ["1", "cup"], "pos": ["Y", "T"]}
    undone: Any = parser.undo()
    assert undone.parse(columns)
    damaged = to_bytes(replace(parser.saved, corrections=(record | change,)))
    with pytest.raises(mg.ModelError):
        type(parser).from_bytes(damaged).undo()
