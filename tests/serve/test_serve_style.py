"""Colours of the page: WCAG AA contrast in both themes, by the formula of WCAG 2."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import marginalia

CSS = (Path(marginalia.__file__).parent / "serve" / "static" / "style.css").read_text(encoding="utf-8")
THEMES = dict(zip(("light", "dark"), re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2], strict=True))

TEXT = [  # what is read, and on what
    *product(["ink", "soft"], ["paper", "card", "tint"]),
    *product(["ink"], ["band1", "band2", "band3", "removed-back"]),
    *product(["accent"], ["paper", "card"]),
    ("on-accent", "accent"),
    ("added", "added-back"),
    ("removed", "removed-back"),
    ("done", "paper"),
    *product(["done"], ["band1", "band2", "band3"]),
    ("paper", "ink"),
]
SIGNS = [  # edges of controls and marks
    *product(["edge", "accent"], ["paper", "card"]),
    *product(["word2", "word3"], ["paper", "band1", "band2", "band3"]),
]


def colours(theme: str) -> dict[str, str]:
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", THEMES["light"]))
    return found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", THEMES[theme]))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_contrast_is_enough(theme: str) -> None:
    known = colours(theme)
    low = {
        (front, back): round(contrast(known[front], known[back]), 2)
        for pairs, least in ((TEXT, 4.5), (SIGNS, 3.0))
        for front, back in pairs
        if contrast(known[front], known[back]) < least
    }
    assert low == {}
