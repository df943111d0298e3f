"""The parts of pages that are made from the code. To bring the pages up to date: run this file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from marginalia import _core
from marginalia.config import Setting
from marginalia.corpus.settings import DataSettings
from marginalia.decode.structures import STRUCTURES
from marginalia.features.sets import SETS, text_of_set
from marginalia.features.settings import FeatureSettings
from marginalia.learn.fitting import OPTIONS, lacking
from marginalia.learn.learners import LEARNERS
from marginalia.learn.regularisers import RegulariserSettings

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def settings() -> str:
    """All settings, a table for each place that declares some."""
    parts = {"Data": DataSettings.declared(), "Features": FeatureSettings.declared()}
    parts |= {f"Structure `{name}`": structure.settings for name, structure in STRUCTURES.items()}
    parts[f"Learners {_quoted(online_learners())}"] = shared_settings()
    parts |= {f"Learner `{name}`": own_settings(name) for name in LEARNERS}
    return "\n\n".join(f"## {title}\n\n{_table(declared)}" for title, declared in parts.items())


def online_learners() -> list[str]:
    """The learners that go from example to example and have the regularisers among their settings."""
    return [name for name, learner in LEARNERS.items() if issubclass(learner.record, RegulariserSettings)]


def shared_settings() -> tuple[Setting, ...]:
    """What all online learners declare in the same way."""
    first, *others = (LEARNERS[name].settings for name in online_learners())
    return tuple(setting for setting in first if all(setting in other for other in others))


def own_settings(name: str) -> tuple[Setting, ...]:
    """The settings of a learner without those that it shares."""
    shared = shared_settings() if name in online_learners() else ()
    return tuple(setting for setting in LEARNERS[name].settings if setting not in shared)


def sets() -> str:
    """The full text of the ready-made sets."""
    return "\n\n".join(f"### {name}\n\n```\n{text_of_set(name)}```" for name in SETS)


def pairs() -> str:
    """What goes with what: learners and options, by structure, with the tier that each needs."""
    names, texts = list(STRUCTURES), _core.tiers()
    options = {f"learner `{name}`": learner.needs for name, learner in LEARNERS.items()}
    options |= {f"`{name}`": frozenset({tier}) for name, tier in OPTIONS.items()}
    rows = [f"| | needs | {' | '.join(f'`{name}`' for name in names)} |", "|---" * (len(names) + 2) + "|"]
    for what, needs in options.items():
        able = [not (what == "learner `nonlocal`" and STRUCTURES[name].global_tiers is None) for name in names]
        marks = ["no" if lacking(name, needs) or not ok else "yes" for name, ok in zip(names, able, strict=True)]
        tiers = ", ".join(texts[tier] for tier in texts if tier in needs) or "nothing more"
        rows.append(f"| {what} | {tiers} | {' | '.join(marks)} |")
    return "\n".join(rows)


PARTS: dict[str, Callable[[], str]] = {"settings.md": settings, "features.md": sets, "learners.md": pairs}


def updated(name: str) -> str:
    """A page of `PARTS` with its part as it should be."""
    mark, end = "<!-- made by tests/docs/generated_parts.py -->", "<!-- end of what is made -->"
    page = (DOCS / name).read_text(encoding="utf-8")
    made = f"{mark}\n\n{PARTS[name]()}\n\n{end}"
    return re.sub(re.escape(mark) + ".*" + re.escape(end), lambda _: made, page, flags=re.DOTALL)


def _table(declared: Iterable[Setting]) -> str:
    rows = ["| setting | default | values | meaning |", "|---|---|---|---|"]
    rows += [f"| `{s.name}` | `{_spelled(s.default)}` | {_values(s)} | {s.help} |" for s in declared]
    return "\n".join(rows)


def _values(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    if isinstance(setting.default, bool):
        return "`on`, `off`"
    if setting.low is None or setting.high is None:
        return setting.expected()
    words = [f"`{word}`" for word in setting.words]
    return " or ".join((f"{_number(setting.low)} to {_number(setting.high)}", *words))


def _number(value: float) -> str:
    if value == int(value) and value <= 2**31:
        return f"{int(value):,}"
    return f"{value:g}".replace("e+", "e")


def _spelled(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    for name in PARTS:
        (DOCS / name).write_text(updated(name), encoding="utf-8")
