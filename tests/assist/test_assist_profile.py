"""Profiles: read, checked, written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.profile import LEVELS, Profile, level_or_profile, load_profile, profile_of
from marginalia.config import read_toml
from marginalia.errors import SettingsError

_terms = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(str.strip), unique=True
).map(tuple)
_profiles = st.builds(
    Profile,
    level=st.sampled_from(LEVELS),
    language=st.sampled_from(["", "en", "ja"]),
    known=_terms,
    protected=_terms,
    off=_terms,
    picky=st.floats(0, 1),
    offers=st.integers(1, 50),
    reader=st.just(""),
)


@given(_profiles)
def test_a_profile_survives_its_file(profile: Profile) -> None:
    import sys
    from importlib import import_module

    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    assert profile_of(toml.loads(profile.to_toml())) == profile
    assert profile_of(profile.to_dict()) == profile


def test_levels_and_files(tmp_path: Path) -> None:
    path = tmp_path / "pupil.toml"
    path.write_text('level = "beginner"\nknown = ["bee", "bee"]\nreader = "own.mg"\n', encoding="utf-8")
    found = level_or_profile(str(path))
    assert (found.level, found.known, found.reader) == ("beginner", ("bee",), str(tmp_path / "own.mg"))
    assert load_profile(path) == found
    assert level_or_profile("advanced") == Profile(level="advanced")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("levle = 'beginner'", "unknown key 'levle'. Did you mean 'level'"),
        ("level = 'hard'", "'level': found 'hard', expected beginner or intermediate or advanced"),
        ("known = 'bee'", "'known': found 'bee', expected a list"),
        ("known = ['']", "expected a list"),
        ("picky = 2", "'picky': found 2, expected a number from 0 to 1"),
        ("offers = true", "'offers': found True, expected a whole number from 1 to 50"),
        ("level", "this is not TOML"),
    ],
)
def test_a_wrong_profile_names_key_and_value(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"p\.toml: ") as error:
        load_profile(path)
    assert message in str(error.value)


def test_a_level_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Did you mean 'beginner'"):
        level_or_profile("begin")
    with pytest.raises(SettingsError, match="cannot read the profile"):
        read_toml(tmp_path / "none.toml", "profile")
