"""Results as data for other programs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class PlainData:
    """A record that gives plain data: lists, dictionaries, texts and numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Its fields, without those that are not known."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in values.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """The same, under the name that reports have for what `json.dumps` takes."""
        return self.to_dict()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: one for name, one in value._asdict().items() if one is not None}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    return dict(value) if hasattr(value, "keys") else value
