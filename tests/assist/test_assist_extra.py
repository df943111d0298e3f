"""What is said when the packages of an extra are missing."""

from __future__ import annotations

import pytest

from marginalia.errors import MissingExtra, needs_extra


def test_a_missing_package_names_the_extra() -> None:
    with (
        pytest.raises(MissingExtra, match=r"assist --serve needs no_such, .* pip install 'marginalia\[serve"),
        needs_extra("assist --serve", "serve"),
    ):
        import no_such.part  # type: ignore[import-not-found]  # noqa: F401


def test_a_module_of_our_own_is_not_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such"), needs_extra("x"):
        import marginalia.no_such  # type: ignore[import-not-found]  # noqa: F401
