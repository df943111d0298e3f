"""Every error the library raises on purpose. Each message says what was found and what was expected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MarginaliaError(Exception):
    """Base of all errors of this library."""


class SettingsError(MarginaliaError):
    """A setting, option or template is unknown, out of bounds or contradictory."""


class DataError(MarginaliaError):
    """Input text or labels are not what the format or the scheme promises."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.message, self.file, self.line, self.column = message, file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class ModelError(MarginaliaError):
    """A model file is truncated, damaged, foreign, too new, or does not fit the request."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; what was done until then is in the file `kept`."""

    def __init__(self, kept: str) -> None:
        self.kept = kept
        super().__init__()


class MissingExtra(MarginaliaError):
    """Something needs a package that only an extra of this library brings."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(
            f"{what} needs {package}, which is not installed: pip install 'marginalia[{extra}]'."
        )


@contextmanager
def needs_extra(what: str, extra: str = "assist") -> Iterator[None]:
    """Around imports of packages that only those who asked for an extra have."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        if package == "marginalia":
            raise
        raise MissingExtra(what, package, extra) from None
