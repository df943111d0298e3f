"""Models with word clusters, from training to every way of use: the file is needed for training only."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.model.file import from_bytes, to_bytes
from marginalia.model.word_tables import word_tables_of

Toys = Callable[..., Any]
# The words of the toys x0 … y9 have clusters; some sentences have words that were never seen in training.
BROWN = {
    f"{kind}{i}": path for kind, path in (("x", "0010"), ("y", "0111"), ("o", "1000")) for i in range(10)
}
BROWN |= {f"new{kind}": path for kind, path in (("x", "0010"), ("y", "0111"), ("o", "1000"))}
UNSEEN = [["o1", "newx", "o3"], ["newy", "newo"], ["NEWX", "o2", "newy"]]


@pytest.fixture
def brown(tmp_path: Path) -> Path:
    path = tmp_path / "brown.txt"
    path.write_text("".join(f"{bits}\t{word}\t2\n" for word, bits in BROWN.items()))
    return path


def trained(toys: Toys, brown: Path, **more: Any) -> Any:
    plain = brown.parent / "plain.txt"
    plain.write_text("node:\nedge:\n")  # little is known but clusters
    options: dict[str, Any] = {"passes": 4, "features": str(plain), "clusters": {"b": str(brown)}}
    options["cluster_case"] = "any"
    return mg.train([(x["word"], y) for x, y in toys(60)], **(options | more))


def labels(model: Any) -> list[list[str]]:
    return [list(tagged.labels) for tagged in model.tag_all(UNSEEN)]


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_words_that_were_never_seen(toys: Toys, brown: Path, structure: str) -> None:
    model = trained(toys, brown, structure=structure)
    assert labels(model) == [["O", "B-X", "O"], ["B-Y", "O"], ["B-X", "O", "B-Y"]]
    as_written = trained(toys, brown, structure=structure, cluster_case="as-written")
    assert labels(as_written)[:2] == labels(model)[:2]
    assert word_tables_of(as_written.saved)["b"].text("NEWX") is None


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_tagging_needs_no_file(toys: Toys, brown: Path, tmp_path: Path, structure: str) -> None:
    model = trained(toys, brown, structure=structure)
    brown.unlink()
    model.save(tmp_path / "m.mg")
    again = mg.load(tmp_path / "m.mg")
    assert labels(again) == labels(model)
    assert again.to_bytes() == model.to_bytes()
    found = word_tables_of(again.saved)["b"]
    assert all(found.text(word) == path for word, path in BROWN.items())


def test_the_same_bytes(toys: Toys, brown: Path) -> None:
    assert trained(toys, brown).to_bytes() == trained(toys, brown, threads=2).to_bytes()


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_shrunk_and_exported(toys: Toys, brown: Path, tmp_path: Path, structure: str) -> None:
    model = trained(toys, brown, structure=structure)
    assert labels(mg.shrink(model, bits=16).model) == labels(model)
    (tmp_path / "program.py").write_text(mg.export(model, "python"))
    script = "import json, sys, program; print(json.dumps([program.tag(s) for s in json.load(sys.stdin)]))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(UNSEEN),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == labels(model)


@pytest.mark.parametrize("case", ["any", "as-written"])
def test_exported_to_javascript(toys: Toys, brown: Path, tmp_path: Path, case: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on the PATH to run JavaScript with")
    model = trained(toys, brown, cluster_case=case)
    (tmp_path / "m.mjs").write_text(mg.export(model, "javascript"))
    script = f'import {{ tag }} from "./m.mjs"; console.log(JSON.stringify({json.dumps(UNSEEN)}.map(tag)));'
    (tmp_path / "run.mjs").write_text(script)
    done = subprocess.run([node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == labels(model)


def test_later_states_keep_them(toys: Toys, brown: Path) -> None:
    """Corrections, edited weights, more passes, a warm start."""
    model = trained(toys, brown, state=True)
    fixed = model.fix(["newx", "newx"], ["O", "O"])
    assert fixed.tag(["newx", "newx"]).labels == ("O", "O")
    brown.unlink()
    longer = mg.train([(x["word"], y) for x, y in toys(60)], start=model, passes=2)
    for later in (fixed, longer, fixed.undo()):
        assert word_tables_of(later.saved)["b"].text("NEWY") == "0111"
        assert mg.Tagger.from_bytes(later.to_bytes()).tag(["newy"]).labels == ("B-Y",)
    with pytest.raises(mg.SettingsError, match="found clusters, but a model to begin with brings its own"):
        mg.train([(["a"], ["O"])], start=model, clusters={"b": "x"})


def test_explained(toys: Toys, brown: Path) -> None:
    text = trained(toys, brown).explain(["o1", "newx"]).to_text()
    assert "the cluster (b,4) of the word" in text or "the cluster (b,all) of the word" in text


def test_provenance_and_dropout(toys: Toys, brown: Path) -> None:
    model = trained(toys, brown, provenance=True, dropout="values:0.3")
    assert labels(model)[1] == ["B-Y", "O"]
    assert model.explain(["o1", "newx"], cite=2).to_text()


def test_labeler(toys: Toys, brown: Path) -> None:
    data = [(x["word"], y) for x, y in toys(60)]
    estimator = mg.Labeler(clusters={"b": str(brown)}, passes=4)
    estimator.fit([x for x, _ in data], [y for _, y in data])
    assert estimator.predict(UNSEEN[:2]) == [["O", "B-X", "O"], ["B-Y", "O"]]
    assert estimator.get_params()["clusters"] == {"b": str(brown)}


def test_not_for_items(brown: Path) -> None:
    with pytest.raises(mg.SettingsError, match="clusters, lexicons and dictionaries are for tokens"):
        mg.train([({"text": "a"}, "x")], structure="single", clusters={"b": str(brown)})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("clusters.b", None),
        ("cluster-paths.b", None),
        ("clusters.b", lambda a: a[::-1].copy()),
        ("clusters.b", lambda a: a.astype(np.float64)),
        ("clusters.b", lambda a: a | np.uint64(0xFFFF)),
        ("cluster-paths.b", lambda a: a + np.uint8(9)),
        ("cluster-paths.b", lambda a: a[:0]),
        ("cluster-paths.b", lambda a: a.astype(np.uint16)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(toys: Toys, brown: Path, name: str, change: Any) -> None:
    """With a right checksum; a wrong one is refused before."""
    saved = trained(toys, brown).saved
    arrays = dict(saved.arrays)
    array = arrays.pop(name)
    if change is not None:
        arrays[name] = change(array)
    object.__setattr__(saved, "arrays", arrays)
    with pytest.raises(mg.ModelError, match=r"do not fit|damaged"):
        mg.Tagger.from_bytes(to_bytes(saved)).tag(["a"])


def test_a_flipped_bit_is_refused(toys: Toys, brown: Path) -> None:
    model = trained(toys, brown)
    data = bytearray(model.to_bytes())
    at = data.index(model.saved.arrays["clusters.b"].tobytes())
    data[at + 3] ^= 1
    with pytest.raises(mg.ModelError, match=r"checksum|damaged"):
        from_bytes(bytes(data))
