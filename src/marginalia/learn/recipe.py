"""Recipes: what to train, resolved and checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marginalia.config import Scalar, Setting, resolve, suggestion
from marginalia.corpus.schemes import SCHEMES
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import SettingsError
from marginalia.features.dictionary import Dictionary
from marginalia.learn.fitting import check_fit
from marginalia.learn.learners import LEARNERS
from marginalia.learn.samples import CLASS_WEIGHTS, parse_class_weights
from marginalia.model import SavedModel

DATA_SETTINGS = (
    Setting(
        "scheme",
        "auto",
        "Label scheme of the data; auto detects it, none means plain tags.",
        choices=("auto", "none", *SCHEMES),
    ),
    Setting(
        "encode",
        "auto",
        "Scheme to train in; tagging translates back. auto: IOBES if the data have IOB1 or IOE1, else same.",
        choices=("auto", "same", *SCHEMES),
    ),
    Setting(
        "repair",
        False,
        "Repair labels that the scheme does not allow (they are counted) instead of refusing.",
    ),
    Setting(
        "partial",
        False,
        "Labels may leave open what is right: any (_), one of several, or known by type or by prefix only.",
    ),
    Setting(
        "unit",
        "sentence",
        "What is labelled at once: a sentence, or a document with its sentences joined.",
        choices=("sentence", "document"),
    ),
    CLASS_WEIGHTS,
    Setting(
        "state",
        False,
        "Keep in the model all that learning needs to go on exactly where it stopped; makes it larger.",
    ),
    Setting("diagnostics", False, "Measure the margin on the training data at the end (inspect shows it)."),
    Setting("stream", False, "Read the training file again in every pass instead of keeping it in memory."),
)
FEATURE_SETTINGS = (
    Setting("cutoff", 0, "Keep only features seen at least so many times in training.", 0, 2**31),
    Setting(
        "dictionary-dropout",
        0.5,
        "Hide this share of a dictionary's phrases in training, lest the model relies on it alone.",
        0.0,
        1.0,
    ),
    Setting("names", True, "Keep the features' names in the model, for inspect; off makes it smaller."),
)


@dataclass(frozen=True)
class Task:
    """Defaults for a kind of work."""

    help: str
    features: str
    format: str | None = None
    label: str | None = None
    settings: dict[str, Scalar] = field(default_factory=dict)


TASKS: dict[str, Task] = {
    "chunking": Task("phrases from words and parts of speech", "chunking"),
    "np": Task("base noun phrases with Collins' features", "collins-np"),
    "ner": Task("named entities from words (and pos, chunk columns if there are any)", "ner"),
    "pos": Task("parts of speech", "pos"),
    "segmentation": Task(
        "words from characters, in text with blanks between words", "characters", "segmented"
    ),
    "fields": Task("fields of short strings: addresses, citations, ingredients", "fields"),
}


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what is trained, but for the data."""

    structure: str = "chain"
    features: str = "fields"
    learner: str = "perceptron"
    seed: int = 1
    lists: Mapping[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    own_features: bool = False  # were they chosen, or are they the usual ones?
    dictionary: Dictionary | None = None


def make_recipe(
    task: str | None = None,
    *,
    structure: str = "chain",
    features: str | None = None,
    learner: str = "perceptron",
    seed: int = 1,
    lists: Mapping[str, str] | None = None,
    dictionary: Dictionary | None = None,
    settings: Mapping[str, object] | None = None,
) -> Recipe:
    """A checked recipe; unknown names and values out of bounds are SettingsErrors."""
    chosen = TASKS[_known("task", task, TASKS)] if task is not None else TASKS["fields"]
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SettingsError(f"seed: found {seed!r}, expected a whole number from 0 to 2^63 - 1.")
    if dictionary is not None and not dictionary:
        raise SettingsError("dictionary: there is no phrase in it.")
    _check_learner(structure, learner, settings or {})
    resolved = resolve(declared(structure, learner), chosen.settings | dict(settings or {}))
    parse_class_weights(resolved)
    LEARNERS[learner].check(resolved)
    resolved |= LEARNERS[learner].fixed
    _check_structure(structure, learner, resolved)
    own = bool(features or task or lists or dictionary)
    features = features or STRUCTURES[structure].features or chosen.features
    return Recipe(structure, features, learner, seed, dict(lists or {}), resolved, own, dictionary)


def goes_on(learner: str, settings: Mapping[str, Any]) -> bool:
    """Whether models are learned example by example, so that learning can go on with any data."""
    return learner in LEARNERS and LEARNERS[learner].goes_on and not settings.get("boost")


def check_goes_on(learner: str, settings: Mapping[str, Any]) -> None:
    """An error unless learning can go on with any data."""
    if not goes_on(learner, settings):
        which = "a boosted model" if settings.get("boost") else f"the learner {learner}"
        able = ", ".join(name for name, learner in LEARNERS.items() if learner.goes_on)
        raise SettingsError(
            f"{which} learns from all its data at once: correct the model instead (fix), or train it again "
            f"on old and new data together. To learn batch by batch, choose one of {able}."
        )


def recipe_of(saved: SavedModel, passes: int) -> Recipe:
    """What a model was trained with, to train it further."""
    check_goes_on(saved.learner, saved.settings)
    known = {setting.name for setting in declared(saved.structure, saved.learner)}
    own = {name: value for name, value in saved.settings.items() if name in known}
    settings = own | {"scheme": "auto", "encode": "auto", "passes": passes}  # the model brings its own
    return make_recipe(structure=saved.structure, learner=saved.learner, seed=saved.seed, settings=settings)


# What the weights of a model depend on: a run that begins with it has the same.
_INHERITED = {"order": 1, "legal": True, "unit": "sentence"}
_KEPT = ("max-length",)  # the same, unless another is given


def recipe_with(
    start: SavedModel | None,
    task: str | None = None,
    *,
    structure: str | None = None,
    features: str | None = None,
    learner: str = "perceptron",
    seed: int = 1,
    lists: Mapping[str, str] | None = None,
    dictionary: Dictionary | None = None,
    settings: Mapping[str, Any],
) -> Recipe:
    """The recipe of a run that may begin with a model: what the user gave, and what the model brings."""
    own: dict[str, Any] = {"features": features, "lists": lists, "dictionary": dictionary}
    if structure is None:
        structure = start.structure if start is not None else "chain"
    if start is not None:
        settings = _inherited(start, structure, settings, own)
    return make_recipe(task, structure=structure, learner=learner, seed=seed, settings=settings, **own)


def _inherited(
    start: SavedModel, structure: str, settings: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings, with those that the model depends on."""
    found = [name for name in ("scheme", "encode") if str(settings.get(name, "auto")) != "auto"]
    found += [name for name, given in own.items() if given]
    if found:
        raise SettingsError(f"found {' and '.join(found)}, but a model to begin with brings its own.")
    names = (*_INHERITED, *_KEPT) if structure == start.structure else ()  # `prepare` refuses another one
    return {name: start.settings[name] for name in names if name in start.settings} | dict(settings)


def check_start(recipe: Recipe, start: SavedModel) -> None:
    """An error if a recipe contradicts the model to begin with."""
    if recipe.structure != start.structure:
        raise SettingsError(
            f"structure: found {recipe.structure}, but the model to begin with has {start.structure}."
        )
    for name, default in _INHERITED.items():
        if (found := recipe.settings.get(name, default)) != start.settings.get(name, default):
            raise SettingsError(
                f"setting '{name}': found {found}, but the model to begin with has "
                f"{start.settings.get(name, default)}."
            )


def _check_structure(structure: str, learner: str, settings: dict[str, Any]) -> None:
    """What structure, learner and labels need of each other."""
    kind = STRUCTURES[structure]
    check_fit(structure, learner, settings)
    if settings.get("normalise") == "steps" and settings["partial"]:
        raise SettingsError(
            f"learner {learner} learns each label after those before it, which partial=on may leave open: "
            "choose crf or another learner."
        )
    if kind.encoding is not None:
        if settings["encode"] not in ("auto", "same", kind.encoding):
            raise SettingsError(
                f"setting 'encode': found {settings['encode']}, but {structure} are spelled in "
                f"{kind.encoding}."
            )
        settings["encode"] = kind.encoding


def _check_learner(structure: str, learner: str, settings: Mapping[str, object]) -> None:
    """Says of a setting that others have, but not this learner, whose it is."""
    known = {setting.name for setting in declared(structure, learner)}
    for name in (given.replace("_", "-") for given in settings):
        owners = [other for other, how in LEARNERS.items() if name in {s.name for s in how.settings}]
        if name not in known and owners:
            raise SettingsError(f"setting '{name}' is one of {', '.join(owners)}, not of {learner}.")


def declared_by_part(structure: str, learner: str) -> dict[str, tuple[Setting, ...]]:
    """The settings of the data, the features, this structure and this learner."""
    chosen = STRUCTURES[_known("structure", structure, STRUCTURES)]
    how = LEARNERS[_known("learner", learner, LEARNERS)]
    return {
        "data": DATA_SETTINGS,
        "features": FEATURE_SETTINGS,
        f"structure {structure}": chosen.settings,
        f"learner {learner}": how.settings,
    }


def declared(structure: str, learner: str) -> tuple[Setting, ...]:
    """All settings that this combination knows."""
    return sum(declared_by_part(structure, learner).values(), ())


def _known(what: str, name: str, table: Mapping[str, Any]) -> str:
    if name not in table:
        raise SettingsError(f"unknown {what} '{name}'. {suggestion(name, list(table))}")
    return name
