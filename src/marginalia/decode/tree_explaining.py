"""Why a word has its head and not another: two trees compared, term by term."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block
from marginalia.corpus.tree_answers import MOST_LABELS
from marginalia.decode.trees import GivenTree, TreeDecoder
from marginalia.errors import DataError, SettingsError
from marginalia.model import SavedModel
from marginalia.model.outputs import action_name


@dataclass(frozen=True)
class ArcReason:
    """A feature with an action: what it adds to the score of one tree that it does not add to the other's."""

    feature: str
    action: str
    difference: float


@dataclass(frozen=True)
class ArcExplanation:
    """The best tree and another one, in which a word has another arc, with the reasons for the difference of
    their scores, largest first. Their sum is the difference."""

    word: int
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    other_heads: tuple[int, ...]
    other_labels: tuple[str, ...]
    reasons: tuple[ArcReason, ...]

    @property
    def difference(self) -> float:
        """By how much the best tree is preferred."""
        return math.fsum(reason.difference for reason in self.reasons)

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, with the first reasons only if `top` is given; what is left out is summed up."""
        rest = [] if top is None else self.reasons[top:]
        left = {"reasons": len(rest), "difference": math.fsum(reason.difference for reason in rest)}
        found = asdict(replace(self, reasons=self.reasons[:top]))
        return {**found, "difference": self.difference, "rest": left}

    def to_text(self, top: int | None = 10) -> str:
        """For people to read."""
        at = self.word - 1
        lines = [
            f"word {self.word}: {self.labels[at]} of {self.heads[at]}, not {self.other_labels[at]} of "
            f"{self.other_heads[at]}, by {self.difference:.4f}"
        ]
        lines += [f"{one.difference:+10.4f}  {one.action:16} {one.feature}" for one in self.reasons[:top]]
        if rest := [] if top is None else self.reasons[top:]:
            lines.append(f"{math.fsum(r.difference for r in rest):+10.4f}  {len(rest)} others")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.to_text()


def explained(
    saved: SavedModel, decoder: TreeDecoder, block: Block, word: int, head: int | None, label: str | None
) -> ArcExplanation:
    """The best tree against the best one in which a word has another arc."""
    length = block.table.tokens
    if type(word) is not int or not 1 <= word <= length:
        raise SettingsError(f"word: found {word!r}, expected a number from 1 to {length}.")
    own, actions, _ = decoder.trees(block, 0)[0]
    found = _other(saved, decoder, block, word - 1, own, head, label)
    if found is None:
        raise DataError(f"there is nothing to compare with: no other tree was found for word {word}")
    other, other_actions, _ = found
    return ArcExplanation(
        word,
        *_arcs(saved, own),
        *_arcs(saved, other),
        tuple(_reasons(saved, decoder, block, actions, other_actions)),
    )


def _arcs(saved: SavedModel, arcs: npt.NDArray[np.int32]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    labels = (saved.labels[label] for label in (arcs % MOST_LABELS).tolist())
    return tuple((arcs // MOST_LABELS).tolist()), tuple(labels)


def _other(
    saved: SavedModel,
    decoder: TreeDecoder,
    block: Block,
    token: int,
    own: npt.NDArray[np.int32],
    head: int | None,
    label: str | None,
) -> Any:
    """The best tree with the arc that is asked for; of those with any other arc, one for each other head."""
    length = block.table.tokens
    if label is not None and label not in saved.labels:
        raise SettingsError(f"label: found '{label}', expected one of {', '.join(saved.labels)}.")
    if head is not None and not (0 <= head <= length and head != token + 1):
        raise SettingsError(f"head: found {head}, expected another token's number up to {length}, or 0.")
    number = {} if label is None else {token: saved.labels.index(label)}
    if head is not None:
        wanted = [GivenTree.of(length, {token: head}, number)]
    elif label is not None:
        wanted = [GivenTree.of(length, {}, number)]
    else:
        others = [h for h in range(length + 1) if h not in (token + 1, int(own[token]) // MOST_LABELS)]
        wanted = [GivenTree.of(length, {token: h}, {}) for h in others]
    found = [tree for given in wanted for tree in decoder.trees(block, 0, given)[:1]]
    found = [tree for tree in found if tree[0][token] != own[token]]
    return max(found, key=lambda tree: tree[2], default=None)


def _reasons(
    saved: SavedModel,
    decoder: TreeDecoder,
    block: Block,
    actions: npt.NDArray[np.uint32],
    others: npt.NDArray[np.uint32],
) -> list[ArcReason]:
    sums: dict[tuple[str, int], float] = defaultdict(float)
    for sign, taken in ((1.0, actions), (-1.0, others)):
        for term in decoder.action_terms(block, 0, taken):
            sums["".join(term.texts), term.action] += sign * term.weight
    found = [
        ArcReason(name, action_name(action, saved.labels), value)
        for (name, action), value in sums.items()
        if value
    ]
    return sorted(found, key=lambda reason: (-abs(reason.difference), reason.feature, reason.action))
