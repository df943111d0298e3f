"""What is saved: labels, weights, templates and settings; the `.mg` file."""

from marginalia.model.file import from_bytes, load, save, to_bytes
from marginalia.model.saved import SavedModel, frozen_arrays, phrases_of

__all__ = ["SavedModel", "from_bytes", "frozen_arrays", "load", "phrases_of", "save", "to_bytes"]
