"""`Labeler`: training and tagging as an estimator, for scikit-learn and for those who know its manners.

It needs no scikit-learn: it has the methods that `clone`, `Pipeline`, `GridSearchCV` and the like ask for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.config import suggestion
from marginalia.corpus.records import Sentence
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.model import TrainedModel
from marginalia.decode.structures import STRUCTURES
from marginalia.decode.tagger import Tagger
from marginalia.errors import DataError, SettingsError
from marginalia.evaluate import evaluate
from marginalia.features.dictionary import Dictionary
from marginalia.features.settings import FeatureSettings
from marginalia.learn.api import continued, train
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import check_goes_on, whose_setting

_OWN = {
    "structure": "chain",
    "features": None,
    "learner": "perceptron",
    "task": None,
    "lists": None,
    "clusters": None,
    "lexicons": None,
    "dictionary": None,
    "seed": 1,
    "threads": 1,
    "settings": None,
}


class Labeler:
    """An estimator of label sequences.

    `X` is a list of sequences: lists of tokens, mappings from column names to lists, lists of attributes (a
    list of strings or a dictionary for each token), or `Sentence` records; `y` has a list of labels for each
    (with `partial`: None, a label or several of them for each token).
    The arguments are those of `train`; all its settings may be given as keywords, or in the dictionary
    `settings`.

    After `fit`: `model_`, a `Tagger`; `classes_`, its labels; `marginal_labels_`, what the columns of
    `predict_proba` stand for (the same, unless the model was trained in another scheme).
    """

    model_: Tagger
    classes_: list[str]
    marginal_labels_: list[str]

    def __init__(
        self,
        structure: str = "chain",
        features: str | None = None,
        learner: str = "perceptron",
        task: str | None = None,
        lists: Mapping[str, str] | None = None,
        clusters: Mapping[str, str] | None = None,
        lexicons: Mapping[str, str] | None = None,
        dictionary: Dictionary | str | os.PathLike[str] | Mapping[Any, Any] | None = None,
        seed: int = 1,
        threads: int = 1,
        settings: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        self.structure, self.features, self.learner, self.task = structure, features, learner, task
        self.lists, self.clusters, self.lexicons = lists, clusters, lexicons
        self.dictionary = dictionary
        self.seed, self.threads = seed, threads
        self.settings = settings
        self._more: tuple[str, ...] = ()
        self.set_params(**more)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All arguments by name, and the settings that were given as keywords."""
        return {name: getattr(self, name) for name in (*_OWN, *self._more)}

    def set_params(self, **params: Any) -> Labeler:
        """Change arguments or settings; they count from the next `fit`."""
        for name, value in params.items():
            if name not in _OWN and name not in self._more:
                _check_setting(name)
                self._more = (*self._more, name)
            setattr(self, name, value)
        return self

    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Sequence[str]],
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Sequence[str]] | None = None,
        *,
        sample_weight: Sequence[float] | None = None,
    ) -> Labeler:
        """Train. `X_dev` and `y_dev` are held-out data, to keep the best pass and to stop early."""
        if (X_dev is None) != (y_dev is None):
            raise DataError("found one of X_dev and y_dev, expected both or neither")
        return self._take(
            train(
                _pairs(X, y),
                None if X_dev is None or y_dev is None else _pairs(X_dev, y_dev),
                sample_weights=None if sample_weight is None else list(sample_weight),
                **self._arguments(),
            )
        )

    def partial_fit(
        self,
        X: Iterable[Any],
        y: Iterable[Sequence[str]],
        classes: Iterable[str] | None = None,
        *,
        sample_weight: Sequence[float] | None = None,
    ) -> Labeler:
        """One pass over a batch, on from where the last one ended; labels and features may be new in any
        batch. `classes` are labels that are known at the first one, which decides about their scheme, unless
        the setting `scheme` does."""
        weights = None if sample_weight is None else list(sample_weight)
        known = [] if classes is None else list(classes)
        if not self.__sklearn_is_fitted__():
            arguments = self._arguments() | {"passes": 1, "state": True}
            check_goes_on(arguments["learner"], bool(arguments.get("boost")))
            return self._take(train(_pairs(X, y), labels=known, sample_weights=weights, **arguments))
        if new := sorted(set(known) - set(self.classes_)):
            raise SettingsError(f"classes: found {new[0]!r}, which was not among those of the first batch.")
        run = continued(
            self.model_.saved, DataSource(_pairs(X, y)), threads=self.threads, sample_weights=weights
        )
        return self._take(run.finish())

    def _arguments(self) -> dict[str, Any]:
        """Of `train`."""
        for name in self._more:
            _check_owner(name, self.learner)
        own = {name: getattr(self, name) for name in _OWN if name != "settings"}
        return own | dict(self.settings or {}) | {name: getattr(self, name) for name in self._more}

    def _take(self, model: TrainedModel) -> Labeler:
        if not isinstance(model, Tagger):
            raise SettingsError(f"structure: found {model.saved.structure}, expected one that labels tokens.")
        self.model_ = model
        self.classes_ = list(model.labels)
        self.marginal_labels_ = list(model.saved.labels)
        return self

    def predict(self, X: Iterable[Any]) -> list[list[str]]:
        """The labels of each sequence."""
        return [list(tagged.labels) for tagged in self._fitted.tag_all(X, self.threads)]

    def predict_single(self, x: Any) -> list[str]:
        """The labels of one sequence."""
        return list(self._fitted.tag(x).labels)

    def predict_proba(self, X: Iterable[Any]) -> list[npt.NDArray[np.float64]]:
        """P(label | sequence) as an array [tokens, labels] for each sequence; see `Tagger.marginals`. A
        ModelError if the learner's scores are no probabilities."""
        needed_temperature(self._fitted.saved)
        return [self._fitted.marginals(x) for x in X]

    def predict_marginals(self, X: Iterable[Any]) -> list[list[dict[str, float]]]:
        """P(label | sequence) as a dictionary from labels to probabilities for each token."""
        return [self.predict_marginals_single(x) for x in X]

    def predict_marginals_single(self, x: Any) -> list[dict[str, float]]:
        """P(label | sequence) of each token of one sequence; as `predict_proba`."""
        needed_temperature(self._fitted.saved)
        rows = self._fitted.marginals(x).tolist()
        return [dict(zip(self.marginal_labels_, row, strict=True)) for row in rows]

    def score(self, X: Iterable[Any], y: Iterable[Sequence[str]]) -> float:
        """F1 of spans from 0 to 1, as conlleval counts; of labels that spell no spans, the accuracy."""
        spans, gold = self._fitted.saved.scheme is not None, [list(labels) for labels in y]
        report = evaluate(gold, self.predict(X), spans=spans)
        return report.score / 100.0

    @property
    def _fitted(self) -> Tagger:
        if not self.__sklearn_is_fitted__():
            raise SettingsError("this Labeler is not trained yet: call fit first.")
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn asks

        targets = TargetTags(required=True)
        inputs = InputTags(one_d_array=False, two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=targets, input_tags=inputs, no_validation=True)

    def __repr__(self) -> str:
        changed = {n: v for n, v in self.get_params().items() if n in self._more or v != _OWN[n]}
        return f"Labeler({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _check_setting(name: str) -> None:
    declared = [DataSettings.declared(), FeatureSettings.declared()]
    declared += [structure.settings for structure in STRUCTURES.values()]
    declared += [learner.settings for learner in LEARNERS.values()]
    names = {name for part in declared for one in part for name in (one.name, *one.formerly)}
    known = {name.replace("-", "_") for name in names}
    if name not in known:
        raise SettingsError(f"unknown setting '{name}'. {suggestion(name, [*_OWN, *sorted(known)])}")


def _check_owner(name: str, learner: str) -> None:
    if whose := whose_setting(name.replace("_", "-"), learner):
        raise SettingsError(
            f"{whose} In a grid, give each learner its own part: "
            f"[{{'learner': [...], '{name}': [...]}}, {{'learner': ['{learner}']}}]."
        )


def _pairs(X: Iterable[Any], y: Iterable[Sequence[str]]) -> list[tuple[Any, list[str]]]:
    sequences = [x.columns if isinstance(x, Sentence) else x for x in X]
    labels = [list(one) for one in y]
    if len(sequences) != len(labels):
        raise DataError(f"found {len(sequences)} sequences and {len(labels)} lists of labels")
    return list(zip(sequences, labels, strict=True))
