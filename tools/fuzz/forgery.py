"""Forged model files: what a checksum does not find. The description or the arrays of a good model are
changed, in one place or in a few, and the checksum is made anew."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from marginalia.model.container import checksum, container, read_arrays, read_header
from marginalia.model.packing import packed_text, unpacked_text

Arrays = dict[str, Any]
Place = tuple[Any, Any]  # a list or an object, and where in it

_PARTS = "parts"  # of a pipeline: an array with the descriptions of its parts


def _deep() -> Any:
    nested: Any = 0
    for _ in range(300):
        nested = [nested]
    return nested


_WRONG: tuple[Any, ...] = (
    *(None, True, False, "", [], {}, [[]], [{}], {"": None}, [None], "x", "\ud800", "a\tb", "a\nb"),
    *("\0", "\x1b[2J", "é", "auto", "on", "1", "B-", "-", "_", "O", "I-X", "#", "x" * 100_000),
    *(0, 1, -1, 2, 7, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63), 10**30),
    *(0.0, -0.0, 0.5, -1.5, 1e-320, 1e38, 1e308, float("nan"), float("inf"), float("-inf")),
    _deep(),
)

_TYPES = ("uint8", "uint16", "uint32", "uint64", "int16", "float32", "float64")


def forged(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """A forgery of a good model file, and what was done."""
    metadata, header, body = read_header(memoryview(data))
    arrays = read_arrays(header, body)
    description = json.loads(metadata["model"])
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if rng.random() < 0.65:
            done.append(_forge_description(description, arrays, rng))
        else:
            done.append(_forge_arrays(arrays, rng))
    text = json.dumps(description, ensure_ascii=False)
    metadata |= {"model": text, "checksum": checksum(text, arrays)}
    return b"".join(container(arrays, metadata)), "; ".join(done)


def _forge_description(description: Any, arrays: Arrays, rng: random.Random) -> str:
    if _PARTS in arrays and rng.random() < 0.8:
        parts = json.loads(unpacked_text(arrays[_PARTS]))
        done = _forge_tree(parts, rng)
        arrays[_PARTS] = packed_text(json.dumps(parts))
        return done
    return _forge_tree(description, rng)


def _forge_tree(tree: Any, rng: random.Random) -> str:
    """Change one place of a description; programs are descriptions in a text."""
    places = list(_places(tree))
    place, path = rng.choice(rng.choice([group for group in _by_depth(places) if group]))
    inside, key = place
    old = inside[key]
    if isinstance(old, str) and old.startswith("{") and rng.random() < 0.9:
        program = json.loads(old)
        done = _forge_tree(program, rng)
        inside[key] = json.dumps(program, ensure_ascii=False)
        return f"{path}: {done}"
    return f"{path}: {_change(inside, key, places, rng)}"


def _change(inside: Any, key: Any, places: list[tuple[Place, str]], rng: random.Random) -> str:
    kind = rng.choice(("wrong", "wrong", "wrong", "delete", "double", "wrap", "swap", "near", "rename"))
    old = inside[key]
    if kind == "delete":
        del inside[key]
    elif kind == "double" and isinstance(inside, list):
        inside.insert(rng.randrange(len(inside) + 1), copy.deepcopy(old))
    elif kind == "wrap":
        inside[key] = [old]
    elif kind == "swap":
        (other, there), _ = rng.choice(places)
        inside[key] = copy.deepcopy(other[there])
    elif kind == "near" and isinstance(old, (int, float)):
        inside[key] = rng.choice((old + 1, old - 1, -old, old * 1000, float(old), str(old)))
    elif kind == "rename" and isinstance(inside, dict):
        inside[f"{key}x"] = inside.pop(key)
    else:
        kind, inside[key] = "wrong", copy.deepcopy(rng.choice(_WRONG))
    new = repr(inside[key])[:40] if kind not in ("delete", "rename") else ""
    return f"{kind} {new}"


def _places(tree: Any, path: str = "") -> Iterator[tuple[Place, str]]:
    keys: Any = tree.keys() if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield (tree, key), f"{path}/{key}"
        yield from _places(tree[key], f"{path}/{key}")


def _by_depth(places: list[tuple[Place, str]]) -> list[list[tuple[Place, str]]]:
    """The places by their depth, so that long lists deep inside do not hide all others."""
    depths: dict[int, list[tuple[Place, str]]] = {}
    for place, path in places:
        depths.setdefault(path.count("/"), []).append((place, path))
    return list(depths.values())


def _forge_arrays(arrays: Arrays, rng: random.Random) -> str:
    name = rng.choice(sorted(arrays))
    array = np.array(arrays[name])
    kind = rng.choice(("values", "values", "values", "bits", "sort", "shorten", "lengthen", "type", "other"))
    if kind == "other":
        return f"{name}: {_replace_array(arrays, name, rng)}"
    arrays[name] = _CHANGES[kind](array, rng) if array.size else np.zeros(rng.randrange(3), array.dtype)
    return f"{name}: {kind}"


def _values(array: Any, rng: random.Random) -> Any:
    flat = array.reshape(-1)
    for _ in range(rng.choice((1, 1, 3, flat.size))):
        flat[rng.randrange(flat.size)] = _extreme(array.dtype, flat, rng)
    return array


def _extreme(dtype: Any, flat: Any, rng: random.Random) -> Any:
    if dtype.kind == "f":
        return rng.choice((0.0, -1.0, 1e30, float("nan"), float("inf"), float("-inf"), 1e-40))
    info = np.iinfo(dtype)
    size = min(flat.size, info.max)
    return rng.choice((0, 1, info.max, info.max - 1, info.min, size, rng.choice(flat.tolist())))


def _bits(array: Any, rng: random.Random) -> Any:
    raw = bytearray(array.tobytes())
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)


def _type(array: Any, rng: random.Random) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(_TYPES))


_CHANGES: dict[str, Callable[[Any, random.Random], Any]] = {
    "values": _values,
    "bits": _bits,
    "sort": lambda array, rng: np.sort(array)[:: rng.choice((1, -1))].copy(),
    "shorten": lambda array, rng: array[: rng.randrange(array.shape[0])].copy(),
    "lengthen": lambda array, rng: np.concatenate([array, array[: rng.randrange(1, 9)]]),
    "type": _type,
}


def _replace_array(arrays: Arrays, name: str, rng: random.Random) -> str:
    kind = rng.choice(("remove", "rename", "swap", "empty", "flat", "square"))
    array = arrays[name]
    if kind == "remove":
        del arrays[name]
    elif kind == "rename":
        arrays[rng.choice(("x", "global.x", "fix.keys", "list.x", "first.keys", "edge"))] = arrays.pop(name)
    elif kind == "swap":
        other = rng.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif kind == "empty":
        arrays[name] = array[:0].copy()
    else:
        shape = (1, -1) if kind == "square" else (-1,)
        arrays[name] = np.ascontiguousarray(array).reshape(shape)
    return kind
