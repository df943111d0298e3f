"""What cannot be trained is refused before work begins, with the reason and, if there is any, a hint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus.source import DataSource
from marginalia.decode.structures import STRUCTURES
from marginalia.learn import TASKS, make_recipe, prepare
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import declared

Toys = Callable[..., Any]
PAIR = (["a", "b"], ["B-X", "O"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pases": 3}, "unknown setting 'pases'. Did you mean 'passes'?"),
        ({"cut_off": 3}, "Did you mean 'cutoff'?"),
        (
            {"xyzzy": 3},
            "Expected one of: average, boost, bpm-init, class-weights, cluster-case",
        ),
        ({"l1_cumulativ": 3}, "unknown setting 'l1-cumulativ'. Did you mean 'l1-cumulative'?"),
        ({"rate": 0.1}, "setting 'rate' is one of crf, not of perceptron."),
        (
            {"learner": "crf", "average": "mean"},
            "'average' is one of perceptron, margin, nonlocal, pa, arow, not of",
        ),
        ({"learner": "maxent", "normalise": "steps"}, "unknown setting 'normalise'"),
        ({"task": "chunkin"}, "unknown task 'chunkin'. Did you mean 'chunking'?"),
        ({"structure": "chian"}, "Did you mean 'chain'?"),
        ({"learner": "perceptrons"}, "Did you mean 'perceptron'?"),
        ({"learner": "max-ent"}, "unknown learner 'max-ent'. Did you mean 'maxent'?"),
        (
            {"learner": "svm"},
            "Expected one of: arow, crf, margin, maxent, nonlocal, pa, perceptron",
        ),
        ({"features": "chunkng"}, "chunking"),
        ({"passes": 0}, "found 0, expected a whole number from 1 to"),
        ({"passes": "many"}, "setting 'passes': found 'many'"),
        ({"passes": 1.5}, "setting 'passes': found 1.5"),
        ({"passes": True}, "setting 'passes': found True"),
        ({"passes": None}, "setting 'passes'"),
        ({"passes": float("inf")}, "setting 'passes'"),
        ({"passes": float("nan")}, "setting 'passes'"),
        ({"order": 3}, "setting 'order': found 3"),
        ({"patience": -1}, "setting 'patience'"),
        ({"average": "median"}, "expected mean, none or vote"),
        ({"vote_candidates": 0}, "setting 'vote-candidates': found 0"),
        ({"candidates": 0}, "setting 'vote-candidates': found 0"),
        ({"candidates": 3, "vote-candidates": 3}, "is now called 'vote-candidates': found both"),
        ({"learner": "margin", "C": -1}, "setting 'C': found -1, expected a number from 0.0 to"),
        ({"learner": "pa", "C": 0}, "setting 'C': found 0"),
        ({"learner": "pa", "C": float("nan")}, "setting 'C': found nan"),
        ({"learner": "pa", "C": "nan"}, "setting 'C': found 'nan'"),
        ({"learner": "pa", "variant": "III"}, "setting 'variant': found 'III', expected 0, I or II"),
        ({"learner": "arow", "r": 0}, "setting 'r': found 0"),
        ({"learner": "crf", "algorithm": "gis"}, "setting 'algorithm': found 'gis', expected lbfgs or sgd"),
        ({"learner": "crf", "support": "some"}, "setting 'support': found 'some', expected gold or all"),
        ({"learner": "crf", "decay": 1.5}, "setting 'decay': found 1.5"),
        ({"learner": "crf", "memory": 0}, "setting 'memory': found 0"),
        ({"learner": "crf", "tolerance": -1e-9}, "setting 'tolerance': found -1e-09"),
        ({"learner": "crf", "algorithm": "sgd", "l1": 1}, "algorithm=sgd takes l1 or l2, not both"),
        ({"learner": "crf", "algorithm": "sgd", "l2": 1}, "setting 'l2': found 1.0 for 1 examples"),
        ({"learner": "maxent", "search": "greedy"}, "setting 'search': found 'greedy', expected exact or be"),
        ({"learner": "maxent", "beam": 0}, "setting 'beam': found 0"),
        ({"unit": "paragraph"}, "setting 'unit': found 'paragraph', expected sentence or document"),
        ({"state": "perhaps"}, "setting 'state': found 'perhaps', expected on or off"),
        ({"shuffle": "perhaps"}, "expected on or off"),
        ({"scheme": "IOB9"}, "setting 'scheme'"),
        ({"encode": "IOB9"}, "setting 'encode'"),
        ({"dropout": "input:0.1,input:0.2"}, "setting 'dropout': found 'input' twice"),
        ({"class_weights": "X:2,X:3"}, "setting 'class-weights': found 'X' twice"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": 2**63}, "seed: found"),
        ({"seed": 1.5}, "seed: found 1.5"),
        ({"seed": "1"}, "seed: found '1'"),
    ],
)
def test_unknown_and_unfit_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        mg.train([PAIR], **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [3, "3", 3.0, np.int64(3)])
def test_numbers_may_come_in_any_shape(value: object) -> None:
    assert make_recipe(settings={"passes": value}).settings.learner.passes == 3


@pytest.mark.parametrize("value", ["on", "ON", "true", "yes", "1", True, 1])
def test_truth_may_come_in_any_shape(value: object) -> None:
    assert make_recipe(settings={"stream": value}).settings.data.stream is True


@pytest.mark.parametrize("value", ["IOB2", "iob2", "Iob2"])
def test_choices_may_come_in_any_case(value: str) -> None:
    assert make_recipe(settings={"scheme": value, "encode": "SAME"}).settings.data.scheme == "IOB2"
    assert make_recipe(settings={"encode": "SAME"}).settings.data.encode == "same"


@pytest.mark.parametrize(("algorithm", "passes"), [("lbfgs", 500), ("sgd", 30)])
def test_what_a_pass_is_worth_depends_on_the_algorithm(algorithm: str, passes: int) -> None:
    recipe = make_recipe(learner="crf", settings={"algorithm": algorithm})
    assert recipe.settings.learner.passes == passes
    given = make_recipe(learner="crf", settings={"algorithm": algorithm, "passes": 7})
    assert given.settings.learner.passes == 7


def test_names_may_have_either_line() -> None:
    """A hyphen cannot stand in a keyword: Python writes l1_cumulative, the shell l1-cumulative."""
    for name in ("l1-cumulative", "l1_cumulative"):
        assert make_recipe(settings={name: 0.5}).settings.to_json()["l1-cumulative"] == 0.5


def test_expected_values_are_spelled_plainly() -> None:
    with pytest.raises(mg.SettingsError, match="found -1, expected a whole number from 0 to 2147483648"):
        make_recipe(settings={"cutoff": -1})
    with pytest.raises(mg.SettingsError, match=r"found 'IOB3', expected auto, none, IOB2, .* or IOE1"):
        make_recipe(settings={"scheme": "IOB3"})


def test_settings_are_declared_once() -> None:
    for structure in STRUCTURES:
        for learner in LEARNERS:
            names = [setting.name for setting in declared(structure, learner)]
            assert len(set(names)) == len(names)
            for setting in declared(structure, learner):
                assert setting.read(setting.default) == setting.default
                assert setting.help.endswith(".")
                assert setting.expected()
    defaults = {setting.name: setting.default for setting in declared("chain", "perceptron")}
    assert defaults == make_recipe().settings.to_json()


@pytest.mark.parametrize("task", TASKS)
def test_settings_that_are_a_learners_own_choice_reach_the_structure(task: str) -> None:
    assert make_recipe(task, learner="maxent").settings.options.search.stepwise
    assert "normalise" not in make_recipe(task).settings.to_json()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_a_recipe(task: str) -> None:
    recipe = make_recipe(task)
    assert recipe.features == TASKS[task].features(recipe.structure)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "found no sentences"),
        (iter(()), "found no sentences"),
        ([([], [])], "found no labelled sentences"),
        ([(["a"], ["O", "O"])], "example 1: found 2 labels, expected 1, one for each token"),
        ([({"word": ["a"], "tag": []}, ["O"])], "complete column 'tag'"),
        ([("ab", ["O", "O"])], "found a string"),
        ([(["a"], "O")], "found a string"),
        ([(["a"], ["O"], ["O"])], "expected a Sentence or a pair"),
        ([3], "expected a Sentence or a pair"),
        (
            [mg.Sentence({"word": ["a"], "label": ["O"]}), mg.Sentence({"word": ["a"]})],
            "complete column 'label'",
        ),
    ],
)
def test_unfit_records(data: Any, message: str) -> None:
    with pytest.raises(mg.DataError, match=message):
        mg.train(data)


@pytest.mark.parametrize("content", ["", "\n\n\n", "# only a comment\n\n"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    path, good = tmp_path / "empty.txt", tmp_path / "good.txt"
    path.write_text(content)
    good.write_text("a B-X\n\n")
    for options in ({"columns": "word label"}, {}):
        with pytest.raises(mg.MarginaliaError) as caught:
            mg.train(path, **options)
        assert "empty.txt" in str(caught.value) or isinstance(caught.value, mg.SettingsError)
        with pytest.raises(mg.DataError, match=r"empty\.txt: found no labelled sentences"):
            mg.train(good, path, **options)


def test_a_tail_of_blank_lines_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a B-X\nb O\n\n" * 10 + "\n" * (3 << 20) + "# the end\n")
    assert mg.train(path, path, passes=1, columns="word label").labels == ("B-X", "O")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(mg.DataError, match=r"nothing\.txt"):
        mg.train(tmp_path / "nothing.txt")


def test_files_without_the_label_column(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a T\nb T\n\n")
    with pytest.raises(mg.DataError, match=r"a\.txt.*no label column 'label'"):
        mg.train(tmp_path / "a.txt", columns="word tag label")
    with pytest.raises(mg.SettingsError, match="label: found 'chunk'"):
        mg.train(tmp_path / "a.txt", columns="word tag", label="chunk")


def test_illegal_labels_are_refused_or_repaired(tmp_path: Path) -> None:
    legal = "a B-X\nb I-X\nc O\n\n" * 20
    path = tmp_path / "a.txt"
    path.write_text(legal + "a O\nb I-X\nc B-Y\n\n")
    with pytest.raises(mg.DataError, match=r"a\.txt:82:3: I-X cannot follow O in IOB2"):
        mg.train(path, scheme="IOB2")
    run = prepare(
        DataSource(str(path)), None, make_recipe(settings={"repair": "on", "scheme": "IOB2", "passes": 1})
    )
    list(run)
    assert run.coder.repaired == 1
    assert run.notes == ["repaired 1 labels that IOB2 does not allow"]
    streamed = {"repair": "on", "scheme": "IOB2", "passes": 3, "stream": True}
    run = prepare(DataSource(str(path)), None, make_recipe(settings=streamed))
    list(run)
    assert run.coder.repaired == 1


def test_labels_outside_the_scheme_are_placed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a B-X\nb NN\n\n")
    with pytest.raises(mg.DataError, match=r"a\.txt:2:3: found label 'NN', expected a label of IOB2"):
        mg.train(tmp_path / "a.txt", scheme="IOB2")


@pytest.mark.parametrize(("order", "most"), [(1, 4096), (2, 256)])
def test_too_many_labels_are_refused(order: int, most: int) -> None:
    words = [f"w{i}" for i in range(most + 1)]
    with pytest.raises(mg.DataError, match=f"found {most + 1} distinct labels, expected at most {most}"):
        mg.train([(words, words)], order=order)


def test_a_hundred_labels_of_order_two() -> None:
    words = [f"w{i}" for i in range(100)]
    tagger = mg.train([(words, words)], order=2, average="none", passes=100)
    assert tagger.tag(words).labels == tuple(words)


def test_left_out_templates_are_noted() -> None:
    run = prepare(DataSource([(["a"], ["O"])]), None, make_recipe("chunking"))
    assert any("pos" in note for note in run.notes)


def test_users_records_are_not_changed() -> None:
    records = [
        mg.Sentence({"word": ["Anna", "slept"]}, spans=[mg.Span(0, 1, "P")]),
        mg.Sentence({"word": ["a"]}),
    ]
    tagger = mg.train(records, passes=3)
    assert tagger.labels == ("B-P", "O")
    assert [list(record.columns) for record in records] == [["word"], ["word"]]


def test_sentences_without_spans_among_those_with(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "nobody slept", "spans": []}\n{"text": "Anna slept", "spans": [[0, 4, "P"]]}\n',
        encoding="utf-8",
    )
    by_records, by_file = mg.train(mg.read_jsonl(path), passes=3), mg.train(path, passes=3)
    assert by_records.tag(["Anna", "slept"]).labels == by_file.tag(["Anna", "slept"]).labels == ("B-P", "O")


def test_feature_columns_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("word[0]\npos[0]\n")
    with pytest.raises(mg.SettingsError, match="pos"):
        mg.train([PAIR], features=str(tmp_path / "t.txt"))


def test_values_that_are_not_strings_are_refused() -> None:
    with pytest.raises(mg.DataError, match="found a token or label that is not a string"):
        mg.train([(["a", 1], ["X", "Y"])])  # type: ignore[list-item]


@pytest.mark.parametrize(("rate", "fits"), [(0.1, True), (19.0, True), (21.0, False)])
def test_a_step_of_gradient_descent_must_not_turn_weights_around(toys: Toys, rate: float, fits: bool) -> None:
    options: dict[str, Any] = {"learner": "crf", "algorithm": "sgd", "passes": 1, "l2": 1.0, "rate": rate}
    if fits:
        assert mg.train(toys(20), **options).labels
        return
    with pytest.raises(mg.SettingsError, match=r"l2 and rate \* l2 must be below the number of examples"):
        mg.train(toys(20), **options)
