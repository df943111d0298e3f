"""Models with lexicons, from training to every way of use: the file is needed for training only."""

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
from marginalia.model.file import to_bytes
from marginalia.model.word_tables import word_tables_of

Toys = Callable[..., Any]
KINDS = {"x": {"X": 2000, "Y|é": 30}, "y": {"Y|é": 500, "X": 12}, "o": {"O": 15}}
LEXICON = {f"{kind}{i}": counts for kind, counts in KINDS.items() for i in range(10)}
LEXICON |= {f"new{kind}": counts for kind, counts in KINDS.items()}
UNSEEN = [["o1", "newx", "o3"], ["newy", "newo"], ["NEWX", "o2", "newy"]]
RIGHT = [["O", "B-X", "O"], ["B-Y", "O"], ["B-X", "O", "B-Y"]]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.lex"
    path.write_text(
        "".join(
            "\t".join([word, *(str(field) for pair in counts.items() for field in pair)]) + "\n"
            for word, counts in LEXICON.items()
        )
    )
    return path


def trained(toys: Toys, words: Path, **more: Any) -> Any:
    plain = words.parent / "plain.txt"
    plain.write_text("node:\nedge:\n")  # little is known but the lexicon
    options: dict[str, Any] = {"passes": 4, "features": str(plain), "lexicons": {"w": str(words)}}
    return mg.train([(x["word"], y) for x, y in toys(60)], **(options | more))


def labels(model: Any) -> list[list[str]]:
    return [list(tagged.labels) for tagged in model.tag_all(UNSEEN)]


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_words_that_were_never_seen(toys: Toys, words: Path, tmp_path: Path, structure: str) -> None:
    model = trained(toys, words, structure=structure)
    words.unlink()
    assert labels(model) == RIGHT
    model.save(tmp_path / "m.mg")
    again = mg.load(tmp_path / "m.mg")
    assert labels(again) == RIGHT
    assert again.to_bytes() == model.to_bytes()
    assert word_tables_of(again.saved)["w"].text("NEWX") == "X\t1000\tY|é\t10"


def test_the_same_bytes(toys: Toys, words: Path) -> None:
    assert trained(toys, words).to_bytes() == trained(toys, words, threads=2).to_bytes()


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_shrunk_and_exported(toys: Toys, words: Path, tmp_path: Path, structure: str) -> None:
    model = trained(toys, words, structure=structure)
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
    assert json.loads(done.stdout) == RIGHT


ALL = "".join(f"lexicon(w,{how})(word)[0]\n" for how in ("candidate", "band", "rank", "set", "best"))


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_programs_ask_the_same(toys: Toys, words: Path, tmp_path: Path, language: str) -> None:
    """All that can be asked of a lexicon; scores tell whether the same features fired."""
    node = shutil.which("node")
    if language == "javascript" and node is None:
        pytest.skip("there is no node on the PATH to run JavaScript with")
    (tmp_path / "all.txt").write_text(f"{ALL}edge:\n")
    model = trained(toys, words, features=str(tmp_path / "all.txt"))
    program = tmp_path / ("m.py" if language == "python" else "m.mjs")
    program.write_text(mg.export(model, language))
    if language == "python":
        script = f"import json, m; print(json.dumps([m.tag(s) for s in {UNSEEN!r}]))"
        command = [sys.executable, "-c", script]
    else:
        text = f'import {{ tag }} from "./m.mjs"; console.log(JSON.stringify({json.dumps(UNSEEN)}.map(tag)));'
        (tmp_path / "run.mjs").write_text(text)
        command = [str(node), "run.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == labels(model) == RIGHT


def test_later_states_keep_them(toys: Toys, words: Path) -> None:
    model = trained(toys, words, state=True)
    fixed = model.fix(["newx", "newx"], ["O", "O"])
    words.unlink()
    longer = mg.train([(x["word"], y) for x, y in toys(60)], start=model, passes=2)
    for later in (fixed, longer, fixed.undo()):
        assert mg.Tagger.from_bytes(later.to_bytes()).tag(["newy"]).labels == ("B-Y",)
    with pytest.raises(mg.SettingsError, match="found lexicons, but a model to begin with brings its own"):
        mg.train([(["a"], ["O"])], start=model, lexicons={"w": "x"})


def test_explained_and_of_an_estimator(toys: Toys, words: Path) -> None:
    assert "the lexicon (w," in trained(toys, words).explain(["o1", "newx"]).to_text()
    data = [(x["word"], y) for x, y in toys(60)]
    estimator = mg.Labeler(lexicons={"w": str(words)}, passes=4)
    estimator.fit([x for x, _ in data], [y for _, y in data])
    assert estimator.predict(UNSEEN[:2]) == RIGHT[:2]


def test_sets_look_at_what_is_declared(toys: Toys, words: Path) -> None:
    """`ner-best` at all lexicons; its own templates, not those that the option adds to others."""
    model = trained(toys, words, features="ner-best")
    names = [str(t.pieces[0]) for t in model.saved.program.templates]
    assert "lexicon(w,set)(word)[0]=" in names
    assert not any("(token)" in name for name in names)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("clusters.w", None),
        ("cluster-paths.w", None),
        ("cluster-paths.w", lambda a: np.where(a == ord("\t"), ord(" "), a).astype(np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(toys: Toys, words: Path, name: str, change: Any) -> None:
    saved = trained(toys, words).saved
    arrays = dict(saved.arrays)
    array = arrays.pop(name)
    if change is not None:
        arrays[name] = change(array)
    object.__setattr__(saved, "arrays", arrays)
    with pytest.raises(mg.ModelError, match=r"do not fit|damaged"):
        mg.Tagger.from_bytes(to_bytes(saved)).tag(["a"])
