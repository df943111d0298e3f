"""Settings as records: typed, never changed, declared once, and kept in model files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any, get_type_hints

import pytest

import marginalia as mg
from marginalia.config import Settings, setting
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.segments import SegmentSettings
from marginalia.decode.settings import SearchSettings, VoteSettings
from marginalia.decode.structures import STRUCTURES
from marginalia.features.settings import FeatureSettings
from marginalia.learn import make_recipe, prepare
from marginalia.learn.learners import LEARNERS, CrfSettings, MarginSettings
from marginalia.learn.provenance import ProvenanceSettings
from marginalia.learn.recipe import declared

Toys = Callable[..., Any]
RECORDS = [
    DataSettings,
    FeatureSettings,
    *(structure.record for structure in STRUCTURES.values()),
    *(learner.record for learner in LEARNERS.values()),
]


@dataclass(frozen=True, kw_only=True)
class Base(Settings):
    first: int = setting(1, "One.", 0, 9)
    shared: float = setting(0.5, "Half.", 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Derived(Base):
    own_one: bool = setting(False, "Own.")
    shared: float = setting(0.25, "A quarter.", 0.0, 1.0)
    secret: str = setting("x", "Not for users.", hidden=True)
    renamed: int = setting(3, "Three.", 1, 9, formerly=("old-name",))


def test_a_class_lists_its_own_settings_before_those_of_its_bases() -> None:
    assert [one.name for one in Derived.declared()] == ["own-one", "shared", "renamed", "first"]
    assert [one.default for one in Derived.declared()] == [False, 0.25, 3, 1]
    assert [one.attribute for one in Derived.declared()] == ["own_one", "shared", "renamed", "first"]


def test_values_are_read_by_name() -> None:
    found = Derived.of({"own-one": "on", "shared": "1", "elsewhere": 3})
    assert found == Derived(own_one=True, shared=1.0)
    assert isinstance(found.shared, float)
    with pytest.raises(
        mg.SettingsError, match="setting 'first': found 10, expected a whole number from 0 to 9"
    ):
        Derived.of({"first": 10})


def test_a_file_may_be_older_but_not_damaged() -> None:
    assert Derived.stored({}) == Derived()
    assert Derived.stored({"old-name": 4, "secret": "y", "gone": []}) == Derived(renamed=4, secret="y")
    assert Derived.stored({"shared": 1}) == Derived(shared=1)  # JSON does not tell 1 from 1.0
    for damaged in ({"first": "1"}, {"first": True}, {"first": 10}, {"own-one": 1}, {"shared": None}):
        with pytest.raises(mg.ModelError, match="damaged: setting"):
            Derived.stored(damaged)
    with pytest.raises(mg.ModelError, match="setting 'first' is missing"):
        Derived.stored({}, needs=("first",))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_fields_have_the_types_of_their_defaults(record: type[Settings]) -> None:
    hints = get_type_hints(record)
    for field in fields(record):
        expected = int | str if field.metadata["setting"].words else type(field.default)
        assert hints[field.name] == expected
    assert record.stored(record().to_json()) == record()


def test_nothing_changes_a_record() -> None:
    recipe = make_recipe(learner="crf", structure="segments", settings={"max_length": "auto"})
    for record, name in ((recipe.settings, "data"), (recipe.settings.learner, "passes")):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, 3)
    assert recipe.settings.structure == SegmentSettings(max_length="auto")
    data = [(["a", "b", "c"], ["B-X", "I-X", "I-X"]), (["a"], ["B-X"])]
    run = prepare(DataSource(data), None, recipe)
    assert run.recipe.settings.structure == SegmentSettings(max_length=3)
    assert recipe.settings.structure == SegmentSettings(max_length="auto")  # the recipe serves other data


def test_what_settings_leave_open_is_resolved_in_a_new_record() -> None:
    given = CrfSettings()
    assert LEARNERS["crf"].resolve(given) == replace(given, passes=500)
    assert given.passes == 0


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name not in ("rank-boost", "rules")])
def test_the_file_has_every_setting_of_the_run(toys: Toys, learner: str) -> None:
    saved = mg.train(toys(6), learner=learner, passes=1).saved
    names = {one.name for one in declared("chain", learner)}
    assert saved.settings.keys() == names | ({"normalise"} if learner == "maxent" else set())
    assert saved.settings_as(SearchSettings).stepwise == (learner == "maxent")
    assert saved.settings_as(LEARNERS[learner].record).passes == 1
    assert saved.settings_as(LEARNERS[learner].record) is saved.settings_as(LEARNERS[learner].record)


def test_an_old_name_is_understood(toys: Toys) -> None:
    new = mg.train(toys(6), passes=1, average="vote", vote_candidates=7)
    old = mg.train(toys(6), passes=1, average="vote", candidates=7)
    assert old.to_bytes() == new.to_bytes()
    earlier = {n.replace("vote-candidates", "candidates"): v for n, v in new.saved.settings.items()}
    assert replace(new.saved, settings=earlier).settings_as(VoteSettings).vote_candidates == 7
    assert mg.Tagger(replace(new.saved, settings=earlier)).tag(toys(1)[0][0]) == new.tag(toys(1)[0][0])
    assert mg.Labeler(candidates=7).get_params()["candidates"] == 7


def test_the_old_name_of_contributions_is_understood(toys: Toys) -> None:
    new = mg.train(toys(6), passes=1, provenance=True, contributions=3)
    assert mg.train(toys(6), passes=1, provenance=True, lessons=3).to_bytes() == new.to_bytes()
    earlier = {name.replace("contributions", "lessons"): v for name, v in new.saved.settings.items()}
    assert replace(new.saved, settings=earlier).settings_as(ProvenanceSettings).contributions == 3


def test_learners_have_their_own_defaults() -> None:
    assert (MarginSettings().passes, MarginSettings().C) == (100, 100.0)
    assert make_recipe(learner="margin").settings.learner == MarginSettings()
