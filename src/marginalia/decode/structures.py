"""The structures by name. Whoever adds one gives its settings, its side in training and its side in use."""

from __future__ import annotations

from typing import NamedTuple

from marginalia.config import Setting
from marginalia.decode import chain


class Structure(NamedTuple):
    """A kind of output: how it is set, how it answers a learner, how it answers a user."""

    settings: tuple[Setting, ...]
    training: type[chain.ChainTraining]
    decoder: type[chain.ChainDecoder]


STRUCTURES: dict[str, Structure] = {
    "chain": Structure(chain.SETTINGS, chain.ChainTraining, chain.ChainDecoder)
}
