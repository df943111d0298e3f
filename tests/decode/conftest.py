"""Lets these tests use the oracle of the features room."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "features"))
