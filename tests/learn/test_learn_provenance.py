"""Provenance: the examples' parts of a weight sum to it, and who is cited is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import conll_file, contradictory

import marginalia as mg
from marginalia.corpus.conll import write_conll
from marginalia.model.provenance import Provenance

Toys = Callable[..., Any]

LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {},
    "perceptron, last weights": {"average": "none"},
    "perceptron, voted": {"average": "vote"},
    "perceptron, order 2": {"order": 2},
    "perceptron, dropout": {"dropout": "input:0.2,hide-features:0.2"},
    "perceptron, class weights": {"class_weights": "X:2,O:0.5"},
    "perceptron, stream": {"stream": True},
    "margin": {"learner": "margin", "C": 2.0},
    "pa": {"learner": "pa"},
    "pa II": {"learner": "pa", "variant": "II"},
    "arow": {"learner": "arow"},
    "segments": {"structure": "segments", "features": "segments"},
    "segments, pa": {"structure": "segments", "features": "segments", "learner": "pa"},
}


def parts_of(tagger: mg.Tagger) -> dict[tuple[int, int], tuple[float, float, int]]:
    """By place: the weight, the sum of its contributions, and how many are kept."""
    saved, provenance = tagger.saved, Provenance(tagger.saved)
    found = {}
    for row in np.flatnonzero(saved.arrays["keys"]).tolist():
        for output, weight in zip(*(a.tolist() for a in saved.cells(row)), strict=True):
            contributions, rest = provenance.contributions(row, output)
            found[row, output] = weight, sum(part for _, part in contributions) + rest, len(contributions)
    slots = len(saved.arrays["keys"])
    constants = zip(saved.arrays["constant_at"].tolist(), saved.arrays["constants"].tolist(), strict=True)
    for at, weight in constants:
        contributions, rest = provenance.contributions(slots, at)
        found[slots, at] = weight, sum(part for _, part in contributions) + rest, len(contributions)
    return found


@pytest.mark.parametrize("dev", [False, True], ids=["", "dev"])
@pytest.mark.parametrize("name", LEARNERS)
def test_contributions_sum_to_the_weights(name: str, dev: bool, toys: Toys, tmp_path: Path) -> None:
    data: Any = contradictory(toys, 20)
    settings = dict(LEARNERS[name])
    if settings.get("stream"):
        data = [conll_file(tmp_path / f"{k}.txt", data[k::2]) for k in (0, 1)]
        settings["columns"] = "word tag label"
    for contributions in (0, 2):
        held_out = toys(8, seed=7) if dev else None
        tagger = mg.train(data, held_out, passes=4, provenance=True, contributions=contributions, **settings)
        found = parts_of(tagger)
        assert found
        scale = max(abs(weight) for weight, _, _ in found.values())
        for weight, total, count in found.values():
            assert total == pytest.approx(weight, abs=2e-6 * scale)
            assert contributions == 0 or count <= contributions
        assert mg.Tagger.from_bytes(tagger.to_bytes()).saved.files == tagger.saved.files
    plain = mg.train(data, held_out, passes=4, **settings)
    assert plain.saved.arrays["weights"].tobytes() == tagger.saved.arrays["weights"].tobytes()
    assert plain.saved.files == []


def test_an_example_teaches_only_what_it_has(toys: Toys) -> None:
    """Features of one example's words alone are taught by this example alone."""
    data = [*toys(15), ({"word": ["zebra", "o1"], "tag": ["T0", "T1"]}, ["B-Y", "O"])]
    tagger = mg.train(data, passes=3, provenance=True, contributions=0)
    provenance, saved = Provenance(tagger.saved), tagger.saved
    rows = [
        r for r in np.flatnonzero(saved.arrays["keys"]).tolist() if saved.feature_name(r) == "word[0]=zebra"
    ]
    assert rows
    for output in saved.cells(rows[0])[0].tolist():
        contributions, rest = provenance.contributions(rows[0], output)
        assert {example for example, _ in contributions} <= {15}
        assert rest == 0


def test_files_lines_and_numbers(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    data = contradictory(toys, 20)
    first, second = conll_file(tmp_path / "a" / "one.txt", data[:9]), tmp_path / "two.txt"
    second.write_text("\n\n")
    with second.open("ab") as stream:
        write_conll([mg.Sentence(columns | {"label": labels}) for columns, labels in data[9:]], stream)
    tagger = mg.train([first, second], passes=3, provenance=True, contributions=0)
    assert tagger.saved.files == ["one.txt", "two.txt"]
    cited = {
        (c.file, c.number, c.line)
        for columns, _ in toys(10, seed=3)
        for reason in tagger.explain(columns, cite=50).reasons
        for c in reason.citations
    }
    assert {file for file, _, _ in cited} == {"one.txt", "two.txt"}
    for file, number, line in cited:
        path = first if file == "one.txt" else second
        sentence = list(mg.read_conll(path, "word tag label"))[number - 1]
        assert line is not None
        assert path.read_text().splitlines()[line - 1].split()[0] == sentence.tokens[0]
        assert (
            sentence.columns["word"] == (data[:9] if file == "one.txt" else data[9:])[number - 1][0]["word"]
        )


def test_documents_are_examples(toys: Toys, tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    parts = []
    for k in range(4):
        one = conll_file(tmp_path / "one.txt", toys(3, seed=k))
        parts.append("-DOCSTART- T0 O\n\n" + one.read_text())
    path.write_text("".join(parts))
    tagger = mg.train(path, passes=3, provenance=True, unit="document", contributions=0)
    assert len(tagger.saved.arrays["example_lines"]) == 4
    lines = path.read_text().splitlines()
    for line in tagger.saved.arrays["example_lines"].tolist():
        assert lines[line - 3].startswith("-DOCSTART-")


def test_the_model_to_begin_with_is_a_teacher(toys: Toys) -> None:
    for state in (False, True):
        start = mg.train(toys(12), passes=2, provenance=True, state=state)
        tagger = mg.train(toys(12, seed=5), passes=2, provenance=True, contributions=0, start=start)
        found = parts_of(tagger)
        scale = max(abs(weight) for weight, _, _ in found.values())
        assert all(total == pytest.approx(w, abs=2e-6 * scale) for w, total, _ in found.values())
        cited: Counter[str] = Counter()
        for columns, _ in toys(5, seed=3):
            for reason in tagger.explain(columns, cite=9).reasons:
                cited.update(c.where for c in reason.citations)
        assert cited["the model that training began with"]
        assert any("training data, sentence" in where for where in cited)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2": 0.01}, "does not go with l2"),
        ({"l1": 0.01}, "does not go with l1"),
        ({"l1_cumulative": 0.01}, "does not go with l1-cumulative"),
        ({"shuffle_average": 3}, "does not go with shuffle-average"),
        ({"bpm_init": 3}, "does not go with bpm-init"),
        ({"parallel": "mix"}, "does not go with parallel=mix"),
        ({"boost": 3}, "does not go with boost"),
        (
            {"learner": "crf"},
            "is one of perceptron, margin, nonlocal, pa, arow, not of crf",
        ),
        ({"learner": "crf", "algorithm": "sgd"}, "not of crf"),
        ({"learner": "maxent"}, "not of maxent"),
    ],
)
def test_what_is_no_sum_of_updates_is_refused(toys: Toys, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        mg.train(toys(3), provenance=True, **settings)


def test_equal_runs_give_equal_models(toys: Toys) -> None:
    first, second = (mg.train(toys(15), passes=3, provenance=True).to_bytes() for _ in range(2))
    assert first == second
