"""Models on their way to where they are used: made small, or written as programs without dependencies."""

from marginalia.deploy.export import LANGUAGES, export
from marginalia.deploy.shrink import Candidate, Shrunk, shrink, shrink_on, size_in_bytes

__all__ = ["LANGUAGES", "Candidate", "Shrunk", "export", "shrink", "shrink_on", "size_in_bytes"]
