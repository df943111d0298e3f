"""What all tests share: where the benchmark corpora are, and how hard Hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MARGINALIA_DATA") or ROOT.parent / "shared" / "data")

# No deadline: machines that run tests are busy. The same examples in each run: a failure is there to stay.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("MARGINALIA_HYPOTHESIS", "default"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs the benchmark corpora if they are not here."""
    if item.get_closest_marker("data") and not DATA.is_dir():
        pytest.skip(f"no benchmark corpora in {DATA}: set MARGINALIA_DATA to their folder")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the benchmark corpora; for tests marked `data`."""
    if not DATA.is_dir():
        pytest.skip(f"no benchmark corpora in {DATA}: set MARGINALIA_DATA to their folder")
    return DATA
