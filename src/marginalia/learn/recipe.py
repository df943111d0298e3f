"""Recipes: what to train, resolved and checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from marginalia.config import Scalar, Setting, Settings, resolve, suggestion
from marginalia.corpus.formats import FORMATS, TREEBANK_TEXT, format_of
from marginalia.corpus.settings import DataSettings
from marginalia.decode.settings import SearchSettings, StructureOptions
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import ModelError, SettingsError
from marginalia.features.dictionary import Dictionary
from marginalia.features.global_features import GlobalFeatures, load_global_features
from marginalia.features.settings import FeatureSettings
from marginalia.kinds import kind_of
from marginalia.learn.boosting import BoostSettings
from marginalia.learn.fitting import check_fit, fits
from marginalia.learn.learners import LEARNERS
from marginalia.learn.likelihood import PriorSettings
from marginalia.learn.presets import USUAL, preset_named
from marginalia.learn.regularisers import RegulariserSettings
from marginalia.learn.run import LearnerSettings
from marginalia.learn.samples import parse_class_weights
from marginalia.model import SavedModel
from marginalia.model.global_part import NO_MORE_TRAINING
from marginalia.model.rules_part import CANNOT_CHANGE


@dataclass(frozen=True)
class RunSettings:
    """All settings of a training run: of the data, the features, the structure and the learner."""

    data: DataSettings
    features: FeatureSettings
    structure: Settings
    learner: LearnerSettings

    def to_json(self) -> dict[str, Scalar]:
        """All values by name, for the model file."""
        parts = (self.data, self.features, self.structure, self.learner)
        return {name: value for part in parts for name, value in part.to_json().items()}

    @property
    def options(self) -> StructureOptions[Any]:
        """What a structure in training depends on."""
        learner = self.learner
        return StructureOptions(
            self.structure,
            learner if isinstance(learner, SearchSettings) else SearchSettings(),
            self.features.cutoff,
            supported_only=isinstance(learner, PriorSettings),
            hides_input=isinstance(learner, RegulariserSettings) and learner.hides_input,
        )


@dataclass(frozen=True)
class Task:
    """Defaults for a kind of work.

    `sets` are ready-made sets of templates by structure, the best first: the structure is the first of them
    that goes with the learner. Other structures have usual sets of their own. `settings` are by structure,
    too, `options` are those of readers: each format has those that it takes.
    """

    help: str
    sets: Mapping[str, str]
    format: str | None = None
    label: str | None = None
    settings: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def structure(self, learner: str) -> str:
        """The best one for a learner."""
        return next((name for name in self.sets if learner not in LEARNERS or fits(name, learner)), "chain")

    def reading(
        self, path: object, format: str | None, options: Mapping[str, Any]
    ) -> tuple[str | None, dict[str, Any]]:
        """The format of training data and options of its reader: the task's, unless another is given or the
        suffix tells of one. Text in JSON lines and treebanks is cut as the task needs it."""
        name = format or (self.format and _suffix_format(path)) or self.format
        if self.format is not None and name == "conllu":
            name = TREEBANK_TEXT
        taken = FORMATS[name].options if name in FORMATS else ()
        return name, {**{k: v for k, v in self.options.items() if k in taken}, **options}

    def features(self, structure: str) -> str:
        """The set to use with a structure."""
        return self.sets.get(structure) or STRUCTURES[structure].features or self.sets["chain"]


def _suffix_format(path: object) -> str | None:
    """The format that a file's name tells of; None if it is the usual one of all other names."""
    found = format_of(path).name if isinstance(path, (str, os.PathLike)) else "conll"
    return None if found == "conll" else found


def _of_chains(help: str, features: str) -> Task:
    return Task(help, {"chain": features})


TASKS: dict[str, Task] = {
    "chunking": _of_chains("phrases from words and parts of speech", "chunking"),
    "np": _of_chains("base noun phrases with Collins' features", "collins-np"),
    "ner": _of_chains("named entities, slots and other spans, from words alone", "names"),
    "pos": _of_chains("parts of speech", "pos"),
    "segmentation": Task(
        "words from characters, in text with blanks between words",
        {"words": "words", "chain": "characters"},
        "segmented",
        settings={"words": {"word-beam": 4}},
        options={"tokenizer": "characters"},
    ),
    "segmentation-tags": Task(
        "words with their tags from characters, in text of words like word/tag",
        {"words": "words-tags", "chain": "characters"},
        "segmented",
        options={"tokenizer": "characters", "tag_separator": "/", "tag_column": "upos"},
    ),
    "fields": _of_chains("fields of short strings: addresses, citations, ingredients", "fields"),
}


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what is trained, but for the data."""

    structure: str
    features: str
    learner: str
    seed: int
    lists: Mapping[str, str]
    clusters: Mapping[str, str]
    lexicons: Mapping[str, str]
    settings: RunSettings
    own_features: bool = False  # were they chosen, or are they the usual ones?
    dictionary: Dictionary | None = None
    global_features: GlobalFeatures | None = None
    preset: str | None = None  # that chose the learner
    chosen: Mapping[str, object] = field(default_factory=dict)  # settings that it or the user chose


@dataclass(frozen=True)
class GlobalChoice:
    """Global features as users name them: a set or a file, functions of theirs, and a word list."""

    features: str | None = None
    functions: Sequence[str] = ()
    lowercase: str | None = None

    def loaded(self, learner: str) -> GlobalFeatures | None:
        """The features, if the learner has some; else an error if there is anything that it would ignore."""
        if LEARNERS[learner].has_globals:
            return load_global_features(self.features or "nonlocal", self.functions, self.lowercase)
        if self != GlobalChoice(functions=self.functions) or self.functions:
            able = ", ".join(name for name, other in LEARNERS.items() if other.has_globals)
            raise SettingsError(f"global features are for the learner {able}, not for {learner}.")
        return None


def make_recipe(
    task: str | None = None,
    *,
    structure: str | None = None,
    features: str | None = None,
    learner: str | None = None,
    preset: str | None = None,
    seed: int = 1,
    lists: Mapping[str, str] | None = None,
    clusters: Mapping[str, str] | None = None,
    lexicons: Mapping[str, str] | None = None,
    dictionary: Dictionary | None = None,
    global_choice: GlobalChoice | None = None,
    settings: Mapping[str, object] | None = None,
) -> Recipe:
    """A checked recipe; unknown names and values out of bounds are SettingsErrors. Without a learner a preset
    chooses it, for a task the usual one; with neither it is the perceptron."""
    chosen = TASKS[_known("task", task, TASKS)] if task is not None else TASKS["fields"]
    if learner is not None and preset is not None:
        raise SettingsError(f"found learner {learner} and preset {preset}: a preset chooses the learner.")
    name = preset or (USUAL if task and learner is None else None)
    if name is not None:
        used = preset_named(name, task or "fields")
        learner, settings = used.learner, {**used.settings, **_by_name(settings or {})}
        if structure is None and features is None:
            structure, features = used.structure, used.features
    learner = learner or "perceptron"
    structure = chosen.structure(learner) if structure is None else structure
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SettingsError(f"seed: found {seed!r}, expected a whole number from 0 to 2^63 - 1.")
    if dictionary is not None and not dictionary:
        raise SettingsError("dictionary: there is no phrase in it.")
    usual = chosen.settings.get(structure, {})
    resolved = _resolved(structure, learner, {**usual, **(settings or {})})
    tables = {"lists": lists, "clusters": clusters, "lexicons": lexicons, "dictionary": dictionary}
    kind_of(structure).reader.check_chosen({"task": task, **tables})
    own = bool(features or task or any(tables.values()))
    features = features or chosen.features(structure)
    whole = (global_choice or GlobalChoice()).loaded(learner)
    files = dict(lists or {}), dict(clusters or {}), dict(lexicons or {})
    return Recipe(
        structure, features, learner, seed, *files, resolved, own, dictionary, whole, name, settings or {}
    )


def _by_name(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings by the names that they were declared with."""
    return {name.replace("_", "-"): value for name, value in settings.items()}


def _resolved(structure: str, learner: str, given: Mapping[str, object]) -> RunSettings:
    """The settings of a run, given or by default, with what they leave to learner and structure."""
    records = _records(structure, learner).values()
    data, features, own, learners = resolve(records, given, lambda name: whose_setting(name, learner))
    parse_class_weights(data)
    settings = RunSettings(data, features, own, LEARNERS[learner].resolve(learners))
    check_fit(structure, learner, settings.data, settings.learner)
    if data.state and LEARNERS[learner].has_globals:
        raise SettingsError(f"learner {learner} does not go with state=on: its models cannot go on learning.")
    if LEARNERS[learner].ends:
        _check_ending(learner, data)
    if data.partial and settings.options.search.stepwise:
        raise SettingsError(
            f"learner {learner} learns each label after those before it, which partial=on may leave open: "
            "choose crf or another learner."
        )
    return replace(settings, data=_spelled_as(structure, kind_of(structure).reader.check_data(data)))


def _check_ending(learner: str, data: DataSettings) -> None:
    """An error if the data are to be used in a way that a learner whose models cannot go on does not have."""
    reasons = {
        "state": "its models cannot go on learning",
        "partial": "it needs one right label for each token",
        "diagnostics": "its scores are no sums of weights, so that they have no margin",
    }
    for name, reason in reasons.items():
        if getattr(data, name):
            raise SettingsError(f"learner {learner} does not go with {name}=on: {reason}.")


def goes_on(learner: str, boosted: bool) -> bool:
    """Whether models are learned example by example, so that learning can go on with any data."""
    return learner in LEARNERS and LEARNERS[learner].goes_on and not boosted


def check_goes_on(learner: str, boosted: bool) -> None:
    """An error unless learning can go on with any data."""
    if learner in LEARNERS and LEARNERS[learner].has_globals:
        raise ModelError(NO_MORE_TRAINING)
    if learner in LEARNERS and LEARNERS[learner].ends:
        raise ModelError(CANNOT_CHANGE)
    if not goes_on(learner, boosted):
        which = "a boosted model" if boosted else f"the learner {learner}"
        able = ", ".join(name for name, learner in LEARNERS.items() if learner.goes_on)
        raise SettingsError(
            f"{which} learns from all its data at once: correct the model instead (fix), or train it again "
            f"on old and new data together. To learn batch by batch, choose one of {able}."
        )


def recipe_of(saved: SavedModel, passes: int) -> Recipe:
    """What a model was trained with, to train it further."""
    check_goes_on(saved.learner, saved.settings_as(BoostSettings).boost > 0)
    return stored_recipe(saved, scheme="auto", encode="auto", passes=passes)  # the model brings its scheme


def stored_recipe(saved: SavedModel, **changed: object) -> Recipe:
    """The recipe that a model file tells of, but for its features; with some settings changed."""
    settings = _stored(saved, _records(saved.structure, saved.learner).values()) | changed
    return make_recipe(structure=saved.structure, learner=saved.learner, seed=saved.seed, settings=settings)


def recipe_beside(
    saved: SavedModel, learner: str, seed: int, global_choice: GlobalChoice, settings: Mapping[str, object]
) -> Recipe:
    """That of another learner for data, features and structure of a model."""
    own = _stored(saved, (DataSettings, FeatureSettings, STRUCTURES[saved.structure].record))
    return make_recipe(
        structure=saved.structure,
        learner=learner,
        seed=seed,
        global_choice=global_choice,
        settings=own | on_same_data(saved) | dict(settings),
    )


def on_same_data(saved: SavedModel) -> dict[str, object]:
    """Settings with which a run on a model's own data, beside it, spells labels as it does."""
    spelled = {"scheme": saved.scheme or "none", "encode": saved.encoding or "same"}
    return {**spelled, "stream": False, "state": False, "diagnostics": False}


def _stored(saved: SavedModel, records: Iterable[type[Settings]]) -> dict[str, object]:
    """The settings of a model that some records declare."""
    own: dict[str, object] = {}
    for record in records:
        values = saved.settings_as(record).to_json()
        own |= {setting.name: values[setting.name] for setting in record.declared()}
    return own


def recipe_with(
    start: SavedModel | None,
    task: str | None = None,
    *,
    structure: str | None = None,
    features: str | None = None,
    learner: str | None = None,
    preset: str | None = None,
    seed: int = 1,
    lists: Mapping[str, str] | None = None,
    clusters: Mapping[str, str] | None = None,
    lexicons: Mapping[str, str] | None = None,
    dictionary: Dictionary | None = None,
    global_choice: GlobalChoice | None = None,
    settings: Mapping[str, Any],
) -> Recipe:
    """The recipe of a run that may begin with a model: what the user gave, and what the model brings."""
    own: dict[str, Any] = {"features": features, "lists": lists, "clusters": clusters}
    own |= {"lexicons": lexicons, "dictionary": dictionary}
    if start is not None:
        structure = start.structure if structure is None else structure
        settings = _inherited(start, structure, settings, own)
    own |= {"global_choice": global_choice, "learner": learner, "preset": preset}
    return make_recipe(task, structure=structure, seed=seed, settings=settings, **own)


def _inherited(
    start: SavedModel, structure: str, settings: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings, with those that the model depends on."""
    found = [name for name in ("scheme", "encode") if str(settings.get(name, "auto")) != "auto"]
    found += [name for name, given in own.items() if given]
    if found:
        raise SettingsError(f"found {' and '.join(found)}, but a model to begin with brings its own.")
    if structure != start.structure:  # `prepare` refuses it
        return dict(settings)
    own = start.settings_as(STRUCTURES[structure].record).to_json()
    return own | {"unit": start.settings_as(DataSettings).unit} | _by_name(settings)


def check_start(recipe: Recipe, start: SavedModel) -> None:
    """An error if a recipe contradicts the model to begin with."""
    if recipe.structure != start.structure:
        raise SettingsError(
            f"structure: found {recipe.structure}, but the model to begin with has {start.structure}."
        )
    before = start.settings_as(STRUCTURES[start.structure].record)
    fixed = [setting for setting in before.declared() if not setting.changeable]
    values = [(setting.name, recipe.settings.structure, before) for setting in fixed]
    values.append(("unit", recipe.settings.data, start.settings_as(DataSettings)))
    for name, ours, theirs in values:
        found, expected = (settings.to_json()[name] for settings in (ours, theirs))
        if found != expected:
            raise SettingsError(
                f"setting '{name}': found {found}, but the model to begin with has {expected}."
            )


def _spelled_as(structure: str, data: DataSettings) -> DataSettings:
    """The settings of the data, with the scheme that a structure needs."""
    encoding = STRUCTURES[structure].encoding
    if encoding is None:
        return data
    if data.encode not in ("auto", "same", encoding):
        raise SettingsError(
            f"setting 'encode': found {data.encode}, but {structure} are spelled in {encoding}."
        )
    return replace(data, encode=encoding)


def whose_setting(name: str, learner: str) -> str | None:
    """Says of a setting that others have, but not this learner, whose it is."""
    owners = [other for other, how in LEARNERS.items() if name in {s.name for s in how.settings}]
    if not owners or learner in owners:
        return None
    return f"setting '{name}' is one of {', '.join(owners)}, not of {learner}."


def _records(structure: str, learner: str) -> dict[str, type[Settings]]:
    """The records of settings, by what they are of."""
    kind = STRUCTURES[_known("structure", structure, STRUCTURES)]
    how = LEARNERS[_known("learner", learner, LEARNERS)]
    return {
        "data": DataSettings,
        "features": FeatureSettings,
        f"structure {structure}": kind.record,
        f"learner {learner}": how.record,
    }


def declared_by_part(structure: str, learner: str) -> dict[str, tuple[Setting, ...]]:
    """The settings of the data, the features, this structure and this learner."""
    return {title: record.declared() for title, record in _records(structure, learner).items()}


def declared(structure: str, learner: str) -> tuple[Setting, ...]:
    """All settings that this combination knows."""
    return sum(declared_by_part(structure, learner).values(), ())


def _known(what: str, name: str, table: Mapping[str, Any]) -> str:
    if name not in table:
        raise SettingsError(f"unknown {what} '{name}'. {suggestion(name, list(table))}")
    return name
