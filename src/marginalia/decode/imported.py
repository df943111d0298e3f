"""Models of other programs in use."""

from __future__ import annotations

import os
from collections.abc import Sequence

from marginalia.decode.tagger import Tagger


def convert(
    path: str | os.PathLike[str], *, scheme: str = "auto", columns: str | Sequence[str] | None = None
) -> Tagger:
    """The model of CRFsuite, or the text model of CRF++, in a file, as one of ours that tags as it does.

    `scheme` is that of its labels (auto finds it, none means plain tags); `columns` names the columns of the
    data of a CRF++ model.
    """
    from marginalia.model import converting  # most models are our own

    return Tagger(converting.convert(path, scheme=scheme, columns=columns))
