"""`Labeler` as an estimator: alone, and in the hands of scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from learn_world import Toys, assert_same_arrays

import marginalia as mg


@pytest.fixture(scope="module")
def data(toys: Toys) -> tuple[list[Any], list[list[str]]]:
    """Attributes of tokens, and labels."""
    found = toys(30)
    return [features(columns) for columns, _ in found], [labels for _, labels in found]


def features(columns: dict[str, list[str]]) -> list[dict[str, Any]]:
    """A feature function as users of sklearn-crfsuite write it."""
    return [
        {"word": word, "first": word[0], "digit": int(word[-1]) / 10, "tag": {"0": tag}}
        for word, tag in zip(columns["word"], columns["tag"], strict=True)
    ]


def test_grids_give_each_learner_its_own_settings() -> None:
    labeler = mg.Labeler().set_params(learner="arow", r=2.0)
    assert labeler.fit([["a"]], [["X"]]).predict([["a"]]) == [["X"]]
    expected = r"setting 'r' is one of arow.*, not of perceptron\. In a grid, give each learner its own part"
    with pytest.raises(mg.SettingsError, match=expected):
        labeler.set_params(learner="perceptron").fit([["a"]], [["X"]])


def test_it_trains_and_predicts_as_train_does(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(passes=4, seed=3).fit(X, y)
    expected = mg.train(list(zip(X, y, strict=True)), passes=4, seed=3)
    assert_same_arrays(labeler.model_, expected)
    assert labeler.predict(X) == [list(t.labels) for t in expected.tag_all(X)]
    assert labeler.predict_single(X[0]) == labeler.predict(X[:1])[0]
    assert labeler.classes_ == list(expected.labels)


def test_tokens_and_columns_are_taken(toys: Toys) -> None:
    found = toys(20)
    y = [labels for _, labels in found]
    records = [mg.Sentence(dict(columns)) for columns, _ in found]
    for X in ([columns["word"] for columns, _ in found], [columns for columns, _ in found], records):
        assert 0 < mg.Labeler(passes=3).fit(X, y).score(X, y) <= 1


def test_marginals_are_those_of_the_model(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(learner="crf").fit(X, y)
    for x, array, tokens in zip(
        X[:3], labeler.predict_proba(X[:3]), labeler.predict_marginals(X[:3]), strict=True
    ):
        assert array.sum(1) == pytest.approx(np.ones(len(x)))
        assert (array == labeler.model_.marginals(x)).all()
        assert [list(token.values()) for token in tokens] == array.tolist()
        assert all(list(token) == labeler.marginal_labels_ for token in tokens)


def test_scores_that_are_no_probabilities_are_not_given_as_such(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(passes=1).fit(X, y)
    for ask in (labeler.predict_proba, labeler.predict_marginals):
        with pytest.raises(mg.ModelError, match="gives scores, not probabilities"):
            ask(X[:1])


def test_the_score_is_f1_of_spans_or_accuracy(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(passes=1).fit(X[:10], y[:10])
    from marginalia.evaluate import evaluate

    assert labeler.score(X, y) == evaluate(y, labeler.predict(X)).f1 / 100
    tags = [[label[-1] + "tag" for label in labels] for labels in y]
    plain = mg.Labeler(passes=1).fit(X[:10], tags[:10])
    assert plain.model_.saved.scheme is None
    right = [a == b for p, g in zip(plain.predict(X), tags, strict=True) for a, b in zip(p, g, strict=True)]
    assert plain.score(X, tags) == pytest.approx(sum(right) / len(right))


def test_held_out_data_and_sample_weights(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(passes=5).fit(X[:20], y[:20], X[20:], y[20:])
    assert labeler.model_.saved.history[-1]["dev"] is not None
    with pytest.raises(mg.DataError, match="expected both or neither"):
        mg.Labeler().fit(X, y, X_dev=X)
    without = mg.Labeler(passes=3, shuffle=False).fit(X[:10], y[:10], sample_weight=[1] * 9 + [0])
    assert (
        without.model_.saved.diagnostics != mg.Labeler(passes=3).fit(X[:10], y[:10]).model_.saved.diagnostics
    )


def test_parameters(data: Any) -> None:
    labeler = mg.Labeler(learner="pa", C=0.1, settings={"passes": 2}, l1_cumulative=0.01)
    assert labeler.get_params() == {
        "structure": "chain",
        "features": None,
        "learner": "pa",
        "task": None,
        "lists": None,
        "clusters": None,
        "lexicons": None,
        "dictionary": None,
        "seed": 1,
        "threads": 1,
        "settings": {"passes": 2},
        "C": 0.1,
        "l1_cumulative": 0.01,
    }
    labeler.set_params(C=0.2, seed=5, cutoff=1)
    assert (labeler.get_params()["C"], labeler.get_params()["cutoff"]) == (0.2, 1)
    assert repr(labeler).startswith("Labeler(learner='pa', seed=5, settings={'passes': 2}, C=0.2")
    saved = labeler.fit(*data).model_.saved
    chosen = {name: saved.settings[name] for name in ("C", "passes", "l1-cumulative", "cutoff")}
    assert chosen == {"C": 0.2, "passes": 2, "l1-cumulative": 0.01, "cutoff": 1}


def test_errors(data: Any) -> None:
    X, y = data
    with pytest.raises(mg.SettingsError, match="Did you mean 'passes'"):
        mg.Labeler(pases=3)
    with pytest.raises(mg.SettingsError, match="call fit first"):
        mg.Labeler().predict(X)
    with pytest.raises(mg.DataError, match="found 30 sequences and 29 lists of labels"):
        mg.Labeler().fit(X, y[1:])
    with pytest.raises(mg.SettingsError, match="setting 'C' is one of"):
        mg.Labeler(C=2).fit(X, y)


def test_it_can_be_pickled(data: Any) -> None:
    X, y = data
    labeler = mg.Labeler(passes=2).fit(X, y)
    again = pickle.loads(pickle.dumps(labeler))
    assert again.predict(X) == labeler.predict(X)
    assert again.get_params() == labeler.get_params()


def test_it_needs_no_scikit_learn() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import marginalia as mg\n"
        "l = mg.Labeler(passes=2).fit([[['a'], ['b']]], [['X', 'Y']])\n"
        "print(l.predict([[['a'], ['b']]]), mg.Labeler(**l.get_params()).fit([[['a']]], [['X']]).classes_)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[['X', 'Y']] ['X']\n", "")


# ---- scikit-learn


def test_clone() -> None:
    base = pytest.importorskip("sklearn.base")
    labeler = mg.Labeler(learner="crf", l2=0.1, settings={"passes": 3})
    cloned = base.clone(labeler)
    assert cloned is not labeler
    assert cloned.get_params() == labeler.get_params()


def test_grid_search(data: Any) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    X, y = data
    grid = {"passes": [1, 4], "cutoff": [0, 100]}
    search = selection.GridSearchCV(mg.Labeler(), grid, cv=3).fit(X, y)
    assert search.best_params_["cutoff"] == 0
    assert search.best_estimator_.get_params()["passes"] == search.best_params_["passes"]
    assert search.predict(X[:2]) == search.best_estimator_.predict(X[:2])
    assert search.score(X, y) > 0.5


def test_grid_search_on_two_processes(data: Any) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    search = selection.GridSearchCV(mg.Labeler(), {"passes": [1, 3]}, cv=2, n_jobs=2).fit(*data)
    assert len(search.cv_results_["mean_test_score"]) == 2


def test_cross_validation(data: Any) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    X, y = data
    scores = selection.cross_val_score(mg.Labeler(passes=3), X, y, cv=3)
    expected = []
    for train, test in selection.KFold(3).split(X):
        labeler = mg.Labeler(passes=3).fit([X[i] for i in train], [y[i] for i in train])
        expected.append(labeler.score([X[i] for i in test], [y[i] for i in test]))
    assert scores.tolist() == expected
    weighted = selection.cross_val_score(
        mg.Labeler(passes=1), X, y, cv=3, params={"sample_weight": np.ones(len(X))}
    )
    assert len(weighted) == 3


def test_a_pipeline_with_a_feature_function(toys: Toys) -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    selection = pytest.importorskip("sklearn.model_selection")
    found = toys(20)
    X, y = [columns for columns, _ in found], [labels for _, labels in found]
    transform = preprocessing.FunctionTransformer(lambda some: [features(columns) for columns in some])
    steps = pipeline.Pipeline([("features", transform), ("labels", mg.Labeler(passes=2))])
    assert steps.fit(X, y).score(X, y) > 0.5
    search = selection.GridSearchCV(steps, {"labels__passes": [1, 3]}, cv=2).fit(X, y)
    assert search.best_estimator_.named_steps["labels"].passes in (1, 3)


def test_the_tags_that_scikit_learn_asks_for() -> None:
    utils = pytest.importorskip("sklearn.utils")
    validation = pytest.importorskip("sklearn.utils.validation")
    tags = utils.get_tags(mg.Labeler())
    assert tags.target_tags.required
    with pytest.raises(Exception, match="not fitted"):
        validation.check_is_fitted(mg.Labeler())
    validation.check_is_fitted(mg.Labeler(passes=1).fit([[["a"]]], [["X"]]))
