"""Models of CRFsuite and CRF++, converted: the same outputs as the original's, and damaged files."""

from __future__ import annotations

import itertools
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.model.converting import convert

LABELS = ["B-X", "I-X", "O"]


def random_data(seed: int, count: int = 60) -> list[tuple[list[Any], list[str]]]:
    """Sequences with attributes of every kind, and labels that follow from them, mostly."""
    rng, data = random.Random(seed), []
    for _ in range(count):
        words = [rng.choice("abcdefgh") for _ in range(rng.randint(1, 8))]
        labels = ["O" if word in "abc" or rng.random() < 0.1 else "X" for word in words]
        spelled = [
            f"{'I' if a == 'X' else 'B'}-X" if b == "X" else "O"
            for a, b in zip(["O", *labels], labels, strict=False)
        ]
        items = [
            {"w": w, "é:\\": rng.random(), "t": {"b": b}} for w, b in zip(words, ["^", *words], strict=False)
        ]
        data.append((items, spelled))
    return data


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that python-crfsuite trained."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    path = tmp_path_factory.mktemp("crfsuite") / "model.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in random_data(1):
        trainer.append(x, y)
    trainer.train(str(path))
    return path


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_a_model_of_crfsuite_tags_identically(tmp_path: Path, algorithm: str) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    path = tmp_path / "model"
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    for x, y in random_data(2):
        trainer.append(x, y)
    trainer.train(str(path))
    tagger, ours = pycrfsuite.Tagger(), mg.Tagger(convert(path))
    tagger.open(str(path))
    for x, _ in random_data(3):
        assert list(ours.tag(x).labels) == tagger.tag(x)
        tagger.set(x)
        theirs = [[tagger.marginal(label, t) for label in ours.saved.labels] for t in range(len(x))]
        assert ours.marginals(x) == pytest.approx(np.array(theirs), abs=1e-5)


def test_what_is_converted(original: Path) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    tagger = pycrfsuite.Tagger()
    tagger.open(str(original))
    saved, info = convert(original), tagger.info()
    assert sorted(saved.labels) == sorted(info.labels)
    assert [saved.labels[i] for i in sorted(map(int, info.labels.values()))] == sorted(
        info.labels, key=lambda label: int(info.labels[label])
    )
    assert (saved.scheme, saved.format, saved.structure) == ("IOB2", "crfsuite", "chain")
    names = saved.feature_names()
    assert names is not None
    found = {
        (name, saved.labels[o]): w
        for row, name in enumerate(names)
        for o, w in zip(*(a.tolist() for a in saved.cells(row)), strict=True)
        if w
    }
    assert found == pytest.approx(
        {k: v for k, v in info.state_features.items() if np.float32(v)}, abs=1e-6
    )  # theirs are printed so


def test_converted_models_are_saved_and_learn_on(original: Path, tmp_path: Path) -> None:
    model = mg.Tagger(convert(original))
    model.save(tmp_path / "model.mg")
    loaded, data = mg.load(tmp_path / "model.mg"), random_data(4)
    assert [t.labels for t in loaded.tag_all([x for x, _ in data])] == [
        t.labels for t in model.tag_all([x for x, _ in data])
    ]
    better = mg.train(data, start=loaded, passes=3)
    assert set(loaded.saved.labels) <= set(better.saved.labels)


@pytest.mark.parametrize("scheme", ["IOB2", "iobes", "none"])
def test_the_scheme_may_be_said(original: Path, scheme: str) -> None:
    assert convert(original, scheme=scheme).scheme == {"none": None}.get(scheme, scheme.upper())


def test_a_scheme_that_does_not_fit_is_refused(original: Path) -> None:
    with pytest.raises(mg.SettingsError, match="which has no label 'O'"):
        convert(original, scheme="BMES")
    with pytest.raises(mg.SettingsError, match="columns are for models of CRF"):
        convert(original, columns="word label")


def test_truncated_models_are_refused(original: Path, tmp_path: Path) -> None:
    data, path = original.read_bytes(), tmp_path / "cut"
    for size in [*range(60), *range(60, len(data), max(1, len(data) // 50))]:
        path.write_bytes(data[:size])
        with pytest.raises(mg.ModelError):
            convert(path)


def test_damaged_models_never_crash(original: Path, tmp_path: Path) -> None:
    data, path, rng = original.read_bytes(), tmp_path / "damaged", random.Random(5)
    refused = 0
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            at = rng.choice([rng.randrange(48), rng.randrange(len(data))])
            damaged[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", rng.randbytes(4)])
        path.write_bytes(damaged[: len(data)])
        try:
            mg.Tagger(convert(path)).tag([["w:a"]])
        except mg.ModelError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a model of CRFsuite"),
        (b"hello", "not a model of CRFsuite"),
        (b"lCRF" + bytes(44), "of type b'', version 0"),
        (b"lCRF", "truncated"),
        (struct.pack("<Ii", 100, 0) + bytes(100), "binary model of CRF++"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(data)
    with pytest.raises(mg.ModelError) as caught:
        convert(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file() -> None:
    with pytest.raises(mg.ModelError, match="No such file"):
        convert("nowhere.crfsuite")


# ---- CRF++


UNIGRAMS = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,1]", "U02:%x[1,0]", "U03"]
BIGRAMS = ["B", "B01:%x[0,1]"]


class Crfpp:
    """A model of CRF++ made at random, its text form, and its scores by the book."""

    def __init__(self, seed: int, factor: float = 1.0, bigrams: list[str] = BIGRAMS) -> None:
        self.rng, self.factor, self.templates = random.Random(seed), factor, [*UNIGRAMS, *bigrams]
        self.sentences = [self.sentence() for _ in range(12)]
        names = {n for s in self.sentences[:8] for t in range(len(s)) for n in self.names(s, t)}
        self.first, self.size = {}, 0
        for name in sorted(names):
            self.first[name] = self.size
            self.size += 3 if name[0] == "U" else 9
        self.weights = [round(self.rng.gauss(0, 1), 3) for _ in range(self.size)]

    def sentence(self) -> list[tuple[str, str]]:
        return [(self.rng.choice("abc"), self.rng.choice("PQ")) for _ in range(self.rng.randint(1, 5))]

    def names(self, sentence: list[tuple[str, str]], t: int) -> list[str]:
        def value(offset: int, column: int) -> str:
            at = t + offset
            if at < 0:
                return f"_B{at}"
            return sentence[at][column] if at < len(sentence) else f"_B+{at - len(sentence) + 1}"

        found = []
        for template in self.templates:
            for offset, column in itertools.product((-1, 0, 1), (0, 1)):
                template = template.replace(f"%x[{offset},{column}]", value(offset, column))
            found.append(template)
        return found

    def score(self, sentence: list[tuple[str, str]], y: tuple[int, ...]) -> float:
        total = 0.0
        for t in range(len(sentence)):
            for name in self.names(sentence, t):
                if name in self.first and name[0] == "U":
                    total += self.weights[self.first[name] + y[t]]
                elif name in self.first and t > 0:
                    total += self.weights[self.first[name] + y[t - 1] * 3 + y[t]]
        return total * self.factor

    def best(self, sentence: list[tuple[str, str]]) -> tuple[int, ...]:
        return max(itertools.product(range(3), repeat=len(sentence)), key=lambda y: self.score(sentence, y))

    def text(self) -> str:
        header = f"version: 100\ncost-factor: {self.factor:g}\nmaxid: {self.size}\nxsize: 2\n"
        index = "\n".join(f"{first} {name}" for name, first in self.first.items())
        weights = "\n".join(f"{weight:.16f}" for weight in self.weights)
        labels, templates = "\n".join(LABELS), "\n".join(self.templates)
        return f"{header}\n{labels}\n\n{templates}\n\n{index}\n\n{weights}\n"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bigrams", [BIGRAMS, ["B"], [], ["B", "B99"]])
def test_a_model_of_crfpp_tags_identically(tmp_path: Path, seed: int, bigrams: list[str]) -> None:
    model, path = Crfpp(seed, 1.5 if seed % 2 else 1.0, bigrams), tmp_path / "model.txt"
    path.write_text(model.text())
    tagger = mg.Tagger(convert(path))
    assert tagger.saved.labels == tuple(LABELS)
    for sentence in model.sentences:
        columns = {"word": [w for w, _ in sentence], "c1": [p for _, p in sentence]}
        found = tagger.nbest(columns, 1)[0]
        assert found.labels == tuple(LABELS[label] for label in model.best(sentence))
        assert found.score == pytest.approx(model.score(sentence, model.best(sentence)), abs=1e-4)


def test_columns_of_crfpp_models_have_names(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text(Crfpp(1).text())
    assert convert(path).columns == ("word", "c1", "label")
    assert convert(path, columns="form pos").columns == ("form", "pos", "label")
    saved = convert(path, columns="form pos chunk")
    assert (saved.columns, saved.label, saved.format) == (("form", "pos", "chunk"), "chunk", "conll")
    with pytest.raises(mg.SettingsError, match="found 1 names, expected 2"):
        convert(path, columns="form")


def changed(old: str, new: str) -> str:
    text = Crfpp(1).text()
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (Crfpp(1).text()[:-200], "truncated: found"),
        (changed("version: 100", "version: 200"), "found version 200"),
        (changed("xsize: 2\n", ""), "the header ends without xsize"),
        (changed("xsize: 2", "xsize: 0"), "found 0 columns"),
        (changed("xsize: 2", "xsize: 1"), "templates cannot look at it"),
        (changed("maxid:", "maxid"), "expected NAME: NUMBER"),
        (changed("I-X", "O"), "expected distinct ones"),
        (changed("\n0 B", "\nx B"), "expected the number and the name of a feature"),
        (changed("\n0 B", "\n999999 B"), "lie outside of the file"),
        (changed("U00:%x[0,0]", "X00:%x[0,0]"), "expected a template that begins with U or B"),
        (Crfpp(1).text().rstrip("\n")[:-3] + "nan\n", "expected a number"),
        ("version: 100\n", "the header ends without"),
        ("version: \ud800", "not UTF-8"),
    ],
)
def test_damaged_models_of_crfpp_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "model.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(mg.ModelError) as caught:
        convert(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "templates", "features", "message"),
    [
        (["A"], "U:%x[10000000,0]", ["0 U:a"], "found the offset 10000000"),
        ([str(i) for i in range(5000)], "U:%x[0,0]", [], "found 5000 labels, expected at most 4096"),
        (["A", "B"], "B:%x[0,0]", [f"0 B:{i}" for i in range(9)], "are also another's"),
    ],
)
def test_tiny_models_cannot_become_huge(
    tmp_path: Path, labels: list[str], templates: str, features: list[str], message: str
) -> None:
    header = "version: 100\ncost-factor: 1\nmaxid: 4\nxsize: 1"
    parts = [header, "\n".join(labels), templates, "\n".join(features), "0\n" * 4]
    (tmp_path / "m.txt").write_text("\n\n".join(parts))
    with pytest.raises(mg.ModelError, match=message):
        mg.convert(tmp_path / "m.txt")
