"""Shrunk models: what stays, how exact it is, how small the file gets, and which candidate is chosen."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_world import random_case
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus import pack
from marginalia.deploy import size_in_bytes
from marginalia.deploy.shrink import MAX_LOSS
from marginalia.model import SavedModel
from marginalia.model.short_rows import ShortRows, _ends
from marginalia.model.shrinking import _COMPANY, BITS, Shrinker

Toys = Callable[..., Any]
Cells = dict[tuple[int, int], float]

KINDS: dict[str, dict[str, Any]] = {
    "chain": {},
    "order 2": {"order": 2, "encode": "IOBES"},
    "segments": {"structure": "segments", "features": "segments"},
    "crf": {"learner": "crf"},
    "maxent": {"learner": "maxent"},
    "voted": {"average": "vote"},
    "many labels": {"scheme": "none"},  # pairs of them are far apart
}
MANY = "word[-1..1]\nedge: word[0]\nedge: pos[0]\nedge:\n"


@pytest.fixture(scope="module", params=KINDS)
def tagger(request: pytest.FixtureRequest, toys: Toys, tmp_path_factory: pytest.TempPathFactory) -> mg.Tagger:
    """A model of each kind."""
    data = [({"word": c["word"], "pos": c["tag"]}, labels) for c, labels in toys(60)]
    settings = dict(KINDS[request.param])
    if request.param == "many labels":
        settings["features"] = str(tmp_path_factory.mktemp("many") / "templates.txt")
        Path(settings["features"]).write_text(MANY)
        data = [(c, [f"{w}{t}{i % 4}" for i, (w, t) in enumerate(rows(c))]) for c, _ in data]
    return mg.train(data, passes=3, state=True, **settings)


def rows(columns: dict[str, list[str]]) -> list[tuple[str, str]]:
    return list(zip(columns["word"], columns["pos"], strict=True))


def sentences(toys: Toys) -> list[dict[str, list[str]]]:
    return [{"word": columns["word"], "pos": columns["tag"]} for columns, _ in toys(30, seed=9)]


def cells_of(saved: SavedModel) -> Cells:
    """Weights that are not zero, by upper half of the key and output."""
    keys, found = saved.arrays["keys"], {}
    for row in np.flatnonzero(keys).tolist():
        key = int(keys[row]) if saved.is_shrunk else int(keys[row]) >> 32
        outputs, weights = saved.cells(row)
        found |= {(key, o): w for o, w in zip(outputs.tolist(), weights.tolist(), strict=True) if w}
    return found


def as_trained(saved: SavedModel, cells: Cells) -> SavedModel:
    """The model with other weights, in the form of one that was never shrunk: an oracle for the core."""
    arrays = {name: array for name, array in saved.arrays.items() if not name.startswith("vote_")}
    ends, outputs = arrays["row_end"].astype(int), saved.outputs().tolist()
    rows = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0)).tolist()
    keys = (arrays["keys"] >> np.uint64(32)).tolist()
    weights = [cells.get((keys[row], output), 0.0) for row, output in zip(rows, outputs, strict=True)]
    return replace(saved, arrays=arrays | {"weights": np.array(weights, np.float32)})


def answers(tagger: mg.Tagger, given_sentences: list[dict[str, list[str]]]) -> list[Any]:
    """Outputs with their scores, and the terms of the scores."""
    found: list[Any] = []
    for sentence in given_sentences:
        best = tagger.nbest(sentence, 3)
        found.append([(b.labels, b.score) for b in best])
        block = pack([tagger._record(sentence)], tagger.feature_columns)
        terms = tagger.decoder.features_of(block, 0, tagger.decoder.best(block).tolist())
        found.append(sorted((c.labels, c.weight, c.count) for c in terms))
    return found


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_the_core_reads_what_is_there(tagger: mg.Tagger, toys: Toys, bits: int, share: float) -> None:
    """A shrunk model answers as one with the same weights that was never shrunk: scores, terms and all."""
    shrinker = Shrinker(tagger.saved)
    small = shrinker.smaller(bits, round(shrinker.weights * share))
    twin = as_trained(tagger.saved, cells_of(small))
    constants = {name: small.arrays[name] for name in ("constant_at", "constants")}
    twin = replace(twin, arrays=twin.arrays | constants)
    assert cells_of(small) == cells_of(twin)
    given_sentences = sentences(toys)
    assert answers(mg.Tagger(small), given_sentences) == answers(mg.Tagger(twin), given_sentences)


def test_what_is_left_out(tagger: mg.Tagger) -> None:
    small = mg.shrink(tagger, bits=16).model.saved
    assert set(small.arrays) <= {
        *("homes", "keys", "row_end", "row_base", "gaps", "narrow", "weights", "scale", "edge"),
        *("constant_at", "constants"),
    }
    assert (small.history, small.diagnostics) == ([], {})
    assert small.arrays["keys"].dtype == np.uint32
    again = mg.Tagger.from_bytes(mg.Tagger(small).to_bytes())
    assert again.to_bytes() == mg.Tagger(small).to_bytes()


numbers = st.floats(-1e6, 1e6, width=32).filter(lambda number: number == 0 or abs(number) > 1e-30)


@settings(max_examples=60)
@given(st.lists(numbers, min_size=1, max_size=60), st.sampled_from([16, 8, 6, 5]))
def test_how_exact_weights_are(weights: list[float], bits: int) -> None:
    saved = a_model(weights)
    before, after = cells_of(saved), cells_of(Shrinker(saved).smaller(bits, len(weights)))
    greatest, least = max(map(abs, weights)), min(map(abs, weights))
    for place, weight in before.items():
        gap = abs(weight - after.get(place, 0.0))
        if bits == 16:
            assert gap <= greatest / 65534 * (1 + 1e-5)
        elif bits == 8:
            assert gap <= max(abs(weight) * 0.034, greatest / 8191)
        else:  # square roots are equally far apart
            step = (np.sqrt(greatest) - np.sqrt(least)) / ((1 << bits - 1) - 2)
            assert gap <= step * (np.sqrt(abs(weight)) + step) * 1.001


def a_model(weights: list[float], keys: list[int] | None = None) -> SavedModel:
    """A model with one weight for each of some features."""
    tagger = mg.train([({"word": ["a", "b"]}, ["x", "y"])], passes=1, names=False, scheme="none")
    count = len(weights)
    if keys is None:
        keys = sorted(np.random.default_rng(count).choice(2**32 - 2, count, replace=False).tolist())
        keys = [(key + 1) << 32 for key in keys]
    arrays = {name: tagger.saved.arrays[name] for name in ("constant_at", "constants")}
    homes = 1  # all keys one after another, from their common home on
    arrays |= {
        "homes": np.array([homes], np.uint64),
        "keys": np.array([*keys, 0], np.uint64),
        "row_end": np.array([*range(1, count + 1), count], np.uint32),
        "narrow": np.zeros(count, np.uint16),
        "weights": np.array(weights, np.float32),
    }
    return replace(tagger.saved, arrays=arrays)


places = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 5000), min_size=1, max_size=6), max_size=5)


@settings(max_examples=100)
@given(places, st.integers(1, 3))
def test_gaps_between_outputs(by_row: dict[int, set[int]], saving: int) -> None:
    """Outputs follow from the gaps; where one is too wide, cells without weight stand between."""
    cells = [(row, output) for row in sorted(by_row) for output in sorted(by_row[row])]
    sizes = np.array([len(by_row[row]) for row in sorted(by_row)], np.int64)
    outputs = np.array([output for _, output in cells], np.uint32)
    codes = np.arange(1, len(cells) + 1, dtype=np.int16)
    keys = np.arange(1, sizes.size + 1, dtype=np.uint32)
    filled = ShortRows(keys, sizes, np.zeros(sizes.size, bool), outputs, codes)._filled(saving)
    fillers = sum(
        sum((b - a - 1) // 256 for a, b in zip([-1, *sorted(row)], sorted(row), strict=False))
        for row in by_row.values()
    )
    assert (filled is None) == (fillers * 3 > len(cells) * saving)
    if filled is None:
        return
    own_sizes, gaps, own_codes = filled
    own_rows = np.repeat(np.array(sorted(by_row), np.int64), own_sizes)
    found, next_output, previous = [], 0, -1
    for row, gap, code in zip(own_rows.tolist(), gaps.tolist(), own_codes.tolist(), strict=True):
        next_output = (next_output if row == previous else 0) + gap
        found += [(row, next_output)] if code else []
        next_output, previous = next_output + 1, row
    assert found == cells


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=200))
def test_ends_of_rows(sizes: list[int]) -> None:
    ends = np.cumsum(sizes)
    found = _ends(ends)
    assert ("row_base" in found) == (max(sum(sizes[k : k + 64]) for k in range(0, len(sizes), 64)) < 1 << 16)
    bases = np.repeat(found.get("row_base", np.zeros(200)), 64)[: len(sizes)]
    assert (bases + found["row_end"]).tolist() == ends.tolist()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_weakest_weights_go_first(tagger: mg.Tagger, share: float) -> None:
    """Strong is what is great, up to a factor, and stands beside a greater one."""
    shrinker = Shrinker(tagger.saved)
    before, after = cells_of(tagger.saved), cells_of(shrinker.smaller(32, round(shrinker.weights * share)))
    greatest: dict[int, float] = {}
    for (key, _), weight in before.items():
        greatest[key] = max(greatest.get(key, 0.0), abs(weight))
    strength = {
        (key, output): min(greatest[key], np.float32(_COMPANY) * np.float32(abs(weight)))
        for (key, output), weight in before.items()
    }
    assert min(strength[place] for place in after) >= max(
        strength[place] for place in before.keys() - after.keys()
    )
    assert all(before[place] == weight for place, weight in after.items())


@settings(max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(0, 30), st.integers(0, 9))
def test_the_greatest_weights_stay(weights: list[int], keep: int, seed: int) -> None:
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(weights))
    saved = a_model((np.array(weights) * signs).tolist())
    kept = sorted(abs(w) for w in cells_of(Shrinker(saved).smaller(32, keep)).values())
    assert kept == sorted(map(float, weights))[max(0, len(weights) - keep) :]


def test_of_features_with_the_same_short_key_the_strongest_stays() -> None:
    keys = [5, 7 << 32, (7 << 32) + 1, (7 << 32) + 9, 1 << 63]
    saved = a_model([1.0, 2.0, -3.0, 2.5, 4.0], keys)
    mg.Tagger(saved)
    small = Shrinker(saved).smaller(32, 9)
    mg.Tagger(small)
    found = {int(k): w for (k, _), w in cells_of(small).items()}
    assert found == {1: 1.0, 7: -3.0, 1 << 31: 4.0}


@settings(max_examples=30)
@given(st.integers(0, 2**20))
def test_shrinking_twice_is_shrinking_once(seed: int) -> None:
    saved = a_model(np.random.default_rng(seed).normal(size=20).tolist())
    once = Shrinker(saved).smaller(32, 7)
    assert cells_of(Shrinker(Shrinker(saved).smaller(32, 12)).smaller(32, 7)) == cells_of(once)


# ---- targets and tables


@pytest.mark.parametrize("bits", [None, 32, 16, 8, 5])
def test_targets_are_met(tagger: mg.Tagger, bits: int | None) -> None:
    whole = len(mg.shrink(tagger, bits=bits or 32).model.to_bytes())
    least = len(mg.Tagger(Shrinker(tagger.saved).smaller(8, 0)).to_bytes())
    sizes = []
    for target in np.linspace(least + 20, whole * 1.1, 6).astype(int).tolist():
        small, table = mg.shrink(tagger, target, bits=bits)
        sizes.append(len(small.to_bytes()))
        assert sizes[-1] <= target
        assert [candidate.chosen for candidate in table] == [False, True]
        assert table[1].size == sizes[-1]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 2


def test_impossible_targets_are_refused(tagger: mg.Tagger) -> None:
    with pytest.raises(mg.SettingsError, match="target: found 100 bytes, but labels, templates and lists"):
        mg.shrink(tagger, 100)


@pytest.fixture(scope="module")
def chunker(toys: Toys) -> mg.Tagger:
    return mg.train(toys(150), passes=4)


def test_the_best_that_meets_the_target_is_chosen(chunker: mg.Tagger, toys: Toys) -> None:
    shown: list[Any] = []
    small, table = mg.shrink(chunker, "12kB", toys(80, seed=4), on_progress=shown.append)
    first, *rest = table
    assert [replace(c, chosen=False) for c in table] == shown
    assert {c.bits for c in rest} == set(BITS)
    assert all(c.size <= 12_000 for c in rest)
    assert all(c.loss == pytest.approx(first.score - c.score) for c in rest)
    best = max(c.score for c in rest)
    chosen = next(c for c in rest if c.chosen)
    assert chosen == min((c for c in rest if c.score == best), key=lambda c: c.size)
    assert len(small.to_bytes()) == chosen.size
    assert mg.shrink(small, bits=32, dev=toys(80, seed=4)).table[0].score == chosen.score


@pytest.mark.parametrize("bound", [None, 0.0, 2.0, 20.0])
def test_without_a_target_the_smallest_good_one_is_chosen(
    chunker: mg.Tagger, toys: Toys, bound: float | None
) -> None:
    small, (_, *rest) = mg.shrink(chunker, dev=toys(80, seed=4), max_loss=bound)
    good = [c for c in rest if c.loss <= (MAX_LOSS if bound is None else bound)]
    chosen = next(c for c in rest if c.chosen)
    assert chosen.size == min(c.size for c in good) == len(small.to_bytes())


def test_a_loss_that_is_too_great_is_an_error(chunker: mg.Tagger, toys: Toys) -> None:
    with pytest.raises(mg.SettingsError, match=r"max-loss: no candidate loses at most 0.01 points: the best"):
        mg.shrink(chunker, 6700, toys(80, seed=4), max_loss=0.01)


def test_dev_data_may_be_files(chunker: mg.Tagger, toys: Toys, tmp_path: Path) -> None:
    data = toys(20, seed=4)
    path = tmp_path / "dev.txt"
    lines = [
        "".join(f"{w} {t} {label}\n" for w, t, label in zip(c["word"], c["tag"], labels, strict=True))
        for c, labels in data
    ]
    path.write_text("\n".join(lines))
    by_file = mg.shrink(chunker, bits=8, dev=str(path)).table
    assert [c.to_json() for c in by_file] == [c.to_json() for c in mg.shrink(chunker, bits=8, dev=data).table]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "how small shall the model be"),
        ({"bits": 7}, "bits: found 7, expected 32, 16, 8, 6, 5"),
        ({"target": "1 apple"}, "target: found '1 apple', expected a size such as 800kB"),
        ({"target": 0}, "target: found 0 bytes, expected at least 1"),
        ({"target": "1MB", "max_loss": 1.0}, "max-loss needs held-out data"),
        ({"dev": [(["a"], ["O"])], "max_loss": -1.0}, "max-loss: found -1.0"),
        ({"dev": [(["a"], ["O"])], "max_loss": float("nan")}, "max-loss: found nan"),
    ],
)
def test_wrong_settings_are_named(chunker: mg.Tagger, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        mg.shrink(chunker, **options)


def test_dev_data_must_not_be_empty(chunker: mg.Tagger, tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("\n\n")
    with pytest.raises(mg.DataError, match="found no"):
        mg.shrink(chunker, dev=str(tmp_path / "dev.txt"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("800kB", 800_000), ("1.5 MB", 1_500_000), ("1MiB", 2**20), ("77", 77), ("1gb", 10**9), ("3b", 3)],
)
def test_sizes(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


def test_a_shrunk_model_cannot_be_trained_further(chunker: mg.Tagger, toys: Toys) -> None:
    with pytest.raises(mg.ModelError, match="a shrunk model cannot be trained further"):
        mg.train(toys(5), start=mg.shrink(chunker, bits=16).model)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_all_kinds_of_models_can_be_shrunk(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tagger, given_sentences = random_case(seed, Path(folder))
    small = mg.shrink(tagger, bits=32).model
    assert [t.labels for t in small.tag_all(given_sentences)] == [
        t.labels for t in tagger.tag_all(given_sentences)
    ]


@pytest.mark.parametrize("kind", ["chain", "segments", "order 2"])
@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_shrunk_model_explains_itself_but_cites_and_edits_nothing(
    toys: Toys, kind: str, bits: int, tmp_path: Path
) -> None:
    data = [({"word": c["word"], "pos": c["tag"]}, labels) for c, labels in toys(40)]
    tagger = mg.train(data, passes=2, provenance=True, **KINDS[kind])
    assert tagger.saved.files
    small = mg.Tagger.from_bytes(mg.shrink(tagger, bits=bits).model.to_bytes())
    assert not small.saved.files
    assert not [name for name in small.saved.arrays if name.startswith(("lesson_", "example_", "file_"))]
    for sentence in sentences(toys)[:5]:
        found = small.explain(sentence)
        assert found.chosen.labels == small.tag(sentence).labels
        assert found.chosen.score is not None
        assert found.other.score is not None
        assert found.difference == pytest.approx(found.chosen.score - found.other.score, abs=1e-5)
        with pytest.raises(mg.ModelError, match="provenance=on"):
            small.explain(sentence, cite=1)
    small.export_weights(tmp_path / "weights.tsv")
    with pytest.raises(mg.ModelError, match="shrunk"):
        small.with_weights(tmp_path / "weights.tsv")
