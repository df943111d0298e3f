"""Damaged, foreign, newer and forged model files: a ModelError, never a crash, never another model."""

from __future__ import annotations

import json
import pickle
import random
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

import marginalia as mg
from marginalia.corpus import pack
from marginalia.model import to_bytes
from marginalia.model.inspection import Inspection
from marginalia.model.packing import packed_arrays

Toys = Callable[..., Any]


def refused_or_same(data: bytes, original: bytes) -> bool:
    """Whether the bytes are refused; if not, they must be the same model."""
    try:
        tagger = mg.Tagger.from_bytes(data)
    except mg.ModelError:
        return True
    assert tagger.to_bytes() == original
    return False


@pytest.fixture
def data(tagger: mg.Tagger) -> bytes:
    return tagger.to_bytes()


def test_every_truncation_is_refused(data: bytes) -> None:
    rng = random.Random(1)
    ends = [*range(64), *rng.sample(range(len(data)), min(1500, len(data))), len(data) - 1]
    assert all(refused_or_same(data[:end], data) for end in ends)


def test_every_flipped_bit_is_refused(data: bytes) -> None:
    rng = random.Random(2)
    places = [*range(16 * 8), *(rng.randrange(8 * len(data)) for _ in range(2500))]
    for place in places:
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        assert refused_or_same(bytes(damaged), data), f"bit {place}"


def test_damaged_blocks_are_refused(data: bytes) -> None:
    rng = random.Random(3)
    for _ in range(600):
        size = rng.choice([1, 2, 8, 64, 512])
        a, b = rng.randrange(len(data) - size), rng.randrange(len(data) - size)
        kind = rng.choice(["zero", "noise", "copy", "cut", "insert", "swap"])
        damaged = bytearray(data)
        if kind == "zero":
            damaged[a : a + size] = bytes(size)
        elif kind == "noise":
            damaged[a : a + size] = rng.randbytes(size)
        elif kind == "copy":
            damaged[a : a + size] = data[b : b + size]
        elif kind == "cut":
            del damaged[a : a + size]
        elif kind == "insert":
            damaged[a:a] = rng.randbytes(size)
        else:
            damaged[a : a + size], damaged[b : b + size] = data[b : b + size], data[a : a + size]
        if bytes(damaged) != data:
            assert refused_or_same(bytes(damaged), data), f"{kind} {size} at {a}"


def test_garbage_is_refused() -> None:
    rng = random.Random(4)
    for _ in range(1500):
        body = rng.randbytes(rng.randrange(200))
        starts = (
            b"",
            len(body).to_bytes(8, "little"),
            len(body).to_bytes(8, "little") + b"{",
            b"\xff" * 8 + b"{",
        )
        with pytest.raises(mg.ModelError):
            mg.Tagger.from_bytes(rng.choice(starts) + body)


def container(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


@pytest.mark.parametrize(
    "header",
    [
        {},
        [],
        {"__metadata__": None},
        {"__metadata__": []},
        {"__metadata__": {"format": "pt"}},
        {"__metadata__": {"format": "marginalia"}},
        {"__metadata__": {"format": "marginalia", "format_version": "1"}},
        {"__metadata__": {"format": "marginalia", "format_version": "1", "model": 3, "checksum": "0"}},
        b"{" + b'"a":[' * 50_000,
        b'{"a":' + b"9" * 10_000 + b"}",
        b"{}" + b" " * 100,
        b'{"\xff": 1}',
        b'{"a": NaN}',
    ],
)
def test_foreign_headers_are_refused(header: object) -> None:
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(container(header))


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        "U8",
        {},
        {"dtype": "U8", "shape": [4], "data_offsets": [0]},
        {"dtype": "U8", "shape": [4], "data_offsets": [0, 5]},
        {"dtype": "U8", "shape": [4], "data_offsets": [-4, 0]},
        {"dtype": "U8", "shape": [4], "data_offsets": [4, 0]},
        {"dtype": "U8", "shape": [-4], "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": [4.0], "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": [True, 4], "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": "4", "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": [2**70], "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": [0, 2**70], "data_offsets": [0, 0]},
        {"dtype": "U8", "shape": [5], "data_offsets": [0, 5]},
        {"dtype": "U8", "shape": [10**12], "data_offsets": [0, 10**12]},
        {"dtype": "O", "shape": [4], "data_offsets": [0, 4]},
        {"dtype": [], "shape": [4], "data_offsets": [0, 4]},
        {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
    ],
)
def test_ill_described_arrays_are_refused(entry: object) -> None:
    metadata = {"format": "marginalia", "format_version": "1", "model": "{}", "checksum": ""}
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(container({"__metadata__": metadata, "a": entry}, b"abcd"))


def test_files_of_other_programs_are_refused(tmp_path: Path) -> None:
    arrays = {"weights": np.zeros(4, np.float32)}
    files = {
        "tensors": save_tensors(arrays, {"format": "pt"}),
        "bare tensors": save_tensors(arrays),
        "pickle": pickle.dumps({"a": 1}),
        "text": b"He PRP B-NP\nreckons VBZ B-VP\n" * 30,
        "zip": b"PK\x03\x04" + bytes(60),
        "gzip": zlib.compress(b"x" * 1000),
        "crfsuite": b"lCRF" + bytes(100),
        "empty": b"",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(mg.ModelError, match=name):
            mg.load(path)


def with_header(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    change(header)
    return container(header, data[8 + size :])


def test_a_newer_format_is_named(data: bytes) -> None:
    newer = with_header(data, lambda header: header["__metadata__"].update(format_version="10"))
    with pytest.raises(mg.ModelError, match="format version 10, this program reads 1 to 9"):
        mg.Tagger.from_bytes(newer)


def test_swapped_arrays_are_refused(data: bytes) -> None:
    def swapping(a: str, b: str) -> Callable[[dict[str, Any]], None]:
        def change(header: dict[str, Any]) -> None:
            header[a], header[b] = header[b], header[a]

        return change

    size = int.from_bytes(data[:8], "little")
    names = [name for name in json.loads(data[8 : 8 + size]) if name != "__metadata__"]
    for i, a in enumerate(names):
        for b in names[:i]:
            assert refused_or_same(with_header(data, swapping(a, b)), data)


def test_a_header_in_another_order_is_the_same_model(data: bytes, tagger: mg.Tagger) -> None:
    def reorder(header: dict[str, Any]) -> None:
        for name in sorted(header, reverse=True):
            header[name] = header.pop(name)

    # Offsets do not move, the header's length may: then the arrays are not aligned and are refused.
    assert refused_or_same(with_header(data, reorder), data) in (True, False)


# Forged files: their checksum is right, their parts do not fit.


def forged(
    tagger: mg.Tagger, arrays: dict[str, Any] | None = None, packed: bool = False, **fields: Any
) -> bytes:
    """The file with other arrays: as they are in memory, as older programs wrote shrunk models, or packed."""
    changed = (packed_arrays(tagger.saved) if packed else tagger.saved.arrays) | (arrays or {})
    kept = {name: array for name, array in changed.items() if array is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("marginalia.model.file.packed_arrays", lambda saved: saved.arrays)
        return to_bytes(replace(tagger.saved, arrays=kept, **fields))


def forms(tagger: mg.Tagger) -> list[tuple[bool, dict[str, Any]]]:
    """The arrays that a file may have, packed or not."""
    plain = (False, tagger.saved.arrays)
    return [plain, (True, packed_arrays(tagger.saved))] if tagger.saved.is_shrunk else [plain]


def use(tagger: mg.Tagger, toys: Toys) -> None:
    """Asks a model all questions: whatever its weights are, the answers are legal."""
    for columns, _ in toys(4, seed=3):
        best = tagger.tag(columns)
        assert len(best.labels) == len(columns["word"])
        assert set(best.labels) <= set(tagger.labels)
        if not tagger.saved.global_features:
            tagger.marginals(columns)
        block = pack([tagger._record(columns)], tagger.feature_columns)
        ids = tagger.decoder.best(block).tolist()
        tagger.decoder.features_of(block, 0, ids)
        tagger.explain(columns, cite=3 if "lesson_parts" in tagger.saved.arrays else 0).to_text()
        first = tagger.nbest(columns, 2)[0]
        if first.labels != best.labels and "vote_steps" not in tagger.saved.arrays:
            # Huge weights that cancel out: then rounding decides.
            arrays = tagger.saved.arrays
            largest = max(float(np.abs(arrays[name]).max()) for name in ("weights", "constants"))
            assert largest > 1e6
            assert abs((first.score or 0.0) - tagger.decoder.score(block, 0, ids)) < 1e-9 * largest
    for label in tagger.saved.labels:
        Inspection(tagger.saved).strongest(label, 3)
    Inspection(tagger.saved).transitions(3)
    with suppress(mg.ModelError):  # a forged log may say what never was
        model = mg.Model.of(tagger)
        assert len(model.corrections) == len(model.saved.corrections)
        while model.saved.corrections:
            model = model.undo()
            model.tag(columns)


OPTIONAL = ("names", "name_end")


def test_missing_resized_and_retyped_arrays_are_refused(tagger: mg.Tagger, toys: Toys) -> None:
    for packed, name, array in [(p, n, a) for p, arrays in forms(tagger) for n, a in arrays.items()]:
        dtype = np.uint16 if array.dtype.itemsize > 2 else np.uint32
        changes: dict[str, Any] = {
            "missing": None,
            "of another type": array.astype(dtype),
            "square": array.reshape(1, -1),
            "longer": np.append(array, array[-1:] if array.size else array.dtype.type(1)),
        }
        if array.size:
            changes |= {"shorter": array[:-1], "empty": array[:0]}
        for what, changed in changes.items():
            if what in ("shorter", "longer", "empty") and name.startswith(("list.", "global.lowercase")):
                continue  # another list of phrases, or of words
            damaged = forged(tagger, {name: changed}, packed)
            assert refused_or_same(damaged, tagger.to_bytes()), f"{name} {what} was accepted"


def test_other_values_are_refused_or_harmless(tagger: mg.Tagger, toys: Toys) -> None:
    rng = np.random.default_rng(5)
    refused = accepted = 0
    for packed, name, array in [(p, n, a) for p, arrays in forms(tagger) for n, a in arrays.items()]:
        for _ in range(60):
            changed = array.copy()
            if not changed.size:
                continue
            raw = changed.view(np.uint8)
            kind = rng.integers(4)
            if kind == 0:
                raw[rng.integers(raw.size)] ^= np.uint8(1 << rng.integers(8))
            elif kind == 1:
                raw[:] = rng.integers(0, 256, raw.size, dtype=np.uint8)
            elif kind == 2:
                changed[rng.integers(changed.size)] = changed[rng.integers(changed.size)]
            else:
                rng.shuffle(changed)
            try:
                damaged = mg.Tagger.from_bytes(forged(tagger, {name: changed}, packed))
            except mg.ModelError:
                refused += 1
                continue
            accepted += 1
            use(damaged, toys)
    assert refused > 100
    assert accepted > 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["weights", "constants"])
def test_weights_must_be_finite(taggers: dict[str, mg.Tagger], name: str, value: float) -> None:
    changed = taggers["full"].saved.arrays[name].copy()
    changed[len(changed) // 2] = value
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(forged(taggers["full"], {name: changed}))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38])
@pytest.mark.parametrize(("kind", "name"), [("16 bits", "scale"), ("8 bits", "codebook")])
def test_codes_must_stand_for_finite_weights(
    taggers: dict[str, mg.Tagger], kind: str, name: str, value: float
) -> None:
    changed = taggers[kind].saved.arrays[name].copy()
    changed[-1] = value
    if kind == "8 bits" and value == 1e38:
        assert mg.Tagger.from_bytes(forged(taggers[kind], {name: changed}))
        return
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(forged(taggers[kind], {name: changed}))


@pytest.mark.parametrize("name", ["scale", "codebook"])
def test_what_makes_numbers_of_codes_belongs_to_its_kind_of_weights(
    taggers: dict[str, mg.Tagger], name: str
) -> None:
    for kind, tagger in taggers.items():
        extra = {"scale": np.ones(1, np.float32), "codebook": np.ones(256, np.float32)}[name]
        if name not in tagger.saved.arrays:
            with pytest.raises(mg.ModelError, match=name):
                mg.Tagger.from_bytes(forged(tagger, {name: extra}))
        else:
            assert kind in ("16 bits", "8 bits", "5 bits")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", ("B-X", "B-X")),
        ("labels", ()),
        ("labels", ("B-X", "nonsense")),
        ("labels", ("B-X", "O")),
        ("labels", tuple(f"B-{i}" for i in range(9000))),
        ("columns", ("label",)),
        ("columns", ("word", "word", "label")),
        ("columns", ("word", 3)),
        ("label", "nothing"),
        ("label", None),
        ("scheme", "IOB9"),
        ("scheme", 3),
        ("scheme", None),
        ("encoding", "IOB9"),
        ("encoding", "BMES"),
        ("structure", "tree"),
        ("structure", None),
        ("settings", {}),
        ("settings", []),
        ("settings", {"order": 3, "legal": True}),
        ("settings", {"order": "1", "legal": True}),
        ("settings", {"order": -1, "legal": True}),
        ("settings", {"order": None, "legal": True}),
        ("seed", "1"),
        ("history", {}),
        ("history", [3]),
        ("format", None),
        ("fingerprint", 0),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(
    taggers: dict[str, mg.Tagger], field: str, value: object
) -> None:
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(forged(taggers["full"], **{field: value}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"column"', '"colour"'),
        ('"list","xs"', '"list","ys"'),
        ('"edge"', '"sledge"'),
        ('"version":1', '"version":2'),
        ("[0,-1,false", "[99,-1,false"),
        ('"word"', '"wort"'),
        ('["_B-1"]', "[]"),
        ("{", "["),
    ],
)
def test_damaged_programs_are_refused(taggers: dict[str, mg.Tagger], old: str, new: str) -> None:
    class Text:
        def __init__(self, text: str) -> None:
            self.text = text

        def to_json(self) -> str:
            return self.text

    text = taggers["full"].saved.program.to_json()
    if old not in text:
        pytest.skip(f"this program has no {old}")
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(forged(taggers["full"], program=Text(text.replace(old, new, 1))))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", ("O",)),
        ("labels", ("I-X",)),
        ("labels", ("O", "B-X", "I-X", "B-Y", "I-Y", "")),
        ("labels", tuple(f"B-{i}" for i in range(9000))),
        ("encoding", "IOBES"),
        ("structure", "chain"),
        ("settings", {}),
        *(("settings", {"max-length": n}) for n in (0, -1, 1001, 2**31, 2**70, "auto", None)),
    ],
)
def test_descriptions_of_segments(taggers: dict[str, mg.Tagger], field: str, value: object) -> None:
    with pytest.raises(mg.ModelError):
        mg.Tagger.from_bytes(forged(taggers["segments"], **{field: value}))


def test_provenance_that_does_not_fit_is_refused(taggers: dict[str, mg.Tagger]) -> None:
    tagger = taggers["full"]
    arrays = tagger.saved.arrays
    examples, ends = arrays["lesson_examples"], arrays["lesson_end"]
    nothing = np.full_like(arrays["lesson_parts"], np.nan)
    wrong: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"files": ["one", "two"]}),
        ({}, {"files": []}),
        ({}, {"files": [1]}),
        ({}, {"edits": [1]}),
        ({"lesson_examples": examples + np.uint32(len(arrays["example_lines"]) + 1)}, {}),
        ({"lesson_end": ends[::-1].copy()}, {}),
        ({"lesson_parts": nothing}, {}),
        ({"lesson_outputs": np.zeros_like(arrays["lesson_outputs"])}, {}),
    ]
    for changed, fields in wrong:
        with pytest.raises(mg.ModelError):
            mg.Tagger.from_bytes(forged(tagger, changed, **fields))
    without = dict.fromkeys([name for name in arrays if name.startswith(("lesson_", "example_", "file_"))])
    mg.Tagger.from_bytes(forged(tagger, without, files=[]))


def test_logs_that_do_not_fit_are_refused(taggers: dict[str, mg.Tagger]) -> None:
    tagger = taggers["corrected"]
    first, second = tagger.saved.corrections
    example = first["examples"][0]
    wrong: list[Any] = [
        [first],
        [first, second, second],
        [first, 3],
        [first, {}],
        [first, second | {"labels": 99}],
        [first, second | {"labels": 0}],
        [first | {"labels": -1}, second],
        [first, second | {"labels": "7"}],
        [first, second | {"updates": 1.5}],
        [first, second | {"margin": "1"}],
        [first, second | {"margin": float("nan")}],
        [first, second | {"margin": 0.0}],
        [first, second | {"examples": {}}],
        [first, second | {"examples": [3]}],
        [first, second | {"examples": ["abc"]}],
        [first, second | {"examples": [example | {"labels": ["O"]}]}],
        [first, second | {"examples": [example | {"labels": [1, 2, 3]}]}],
        [first, second | {"examples": [example | {"said": None}]}],
        [first, second | {"examples": [example | {"columns": []}]}],
        [first, second | {"examples": [example | {"columns": {}}]}],
        [first, second | {"examples": [example | {"columns": {"word": "abc"}}]}],
    ]
    for records in wrong:
        with pytest.raises(mg.ModelError, match=r"correction|is missing") as caught:
            mg.Tagger.from_bytes(forged(tagger, corrections=records))
        assert "Error" not in str(caught.value)  # a text, and not what Python calls it


def test_forged_logs_are_refused_when_they_are_used(taggers: dict[str, mg.Tagger]) -> None:
    tagger = taggers["corrected"]
    first, second = tagger.saved.corrections
    example = second["examples"][0]
    for changed in (
        {"columns": {"word": [1, 2, 3]}},
        {"columns": {"word": [["a"], "b", None]}},
        {"columns": {"word": ["a", "b", "c"], "tag": [{}, [], 3]}},
        {"columns": {"other": ["a", "b", "c"]}},
        {"labels": ["O", "B-UNKNOWN", "O"]},
    ):
        record = second | {"examples": [example | changed]}
        damaged = mg.Model.from_bytes(forged(tagger, corrections=[first, record]))
        with pytest.raises(mg.MarginaliaError):
            damaged.fix({"word": ["u"], "tag": ["T0"]}, ["O"])
    arrays = tagger.saved.arrays
    for name, value in (("fix.keys", 12345), ("fix.outputs", 2**32 - 1), ("fix.outputs", 5000)):
        changed_array = np.full_like(arrays[name], value)
        damaged = mg.Model.from_bytes(forged(tagger, {name: changed_array}))
        with pytest.raises(mg.ModelError):
            damaged.undo()
        with pytest.raises(mg.ModelError):
            _ = damaged.corrections
