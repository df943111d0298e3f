"""Feature templates: our language, CRF++'s, Wapiti's and ready-made sets, compiled for the native core."""

from marginalia.features.crfpp import parse_crfpp
from marginalia.features.loading import load_features
from marginalia.features.program import Attribute, Program, Template, Value
from marginalia.features.reading import Columns
from marginalia.features.sets import SETS, load_set, text_of_set, with_lists
from marginalia.features.templates import parse_templates
from marginalia.features.wapiti import parse_wapiti

__all__ = [
    "SETS",
    "Attribute",
    "Columns",
    "Program",
    "Template",
    "Value",
    "load_features",
    "load_set",
    "parse_crfpp",
    "parse_templates",
    "parse_wapiti",
    "text_of_set",
    "with_lists",
]
