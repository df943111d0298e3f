"""The other output of an explanation: the runner-up, one that is spelled out, or the best with a target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.decode.constraints import At, Constraints, Names, token_constraints
from marginalia.decode.model_constraints import ModelConstraints
from marginalia.decode.structures import StructureDecoder
from marginalia.decode.tagged import UserLabels
from marginalia.errors import DataError, SettingsError
from marginalia.model import SavedModel


class Alternative(NamedTuple):
    """An output, its score, and in words which one it is."""

    ids: list[int]
    score: float
    what: str


def alternative_output(
    saved: SavedModel,
    decoder: StructureDecoder,
    shown: UserLabels,
    block: Block,
    chosen: Sequence[int],
    against: str | Sequence[str] | None,
) -> Alternative:
    """What the chosen output is to be compared with.

    None: the best of all others. A list of labels, or a text of them: that output. A text such as `3=B-NP`
    or `3-5=NP` (tokens count from 1; several with blanks between them; see `constraints.At`): the best output
    that is so.
    """
    if against is None:
        return _runner_up(decoder, block, chosen)
    parts = against.split() if isinstance(against, str) else list(against)
    if not parts:
        raise DataError("against: found nothing, expected labels, or a target such as 3=B-NP or 3-5=NP")
    targets = _targets(against, len(chosen), shown) if isinstance(against, str) else []
    if not targets:
        return _given(decoder, shown, block, chosen, parts)
    return _best_with(
        ModelConstraints(saved, shown, Constraints(tuple(targets))), decoder, shown, block, chosen, targets
    )


def labels_for_target(
    saved: SavedModel, decoder: StructureDecoder, shown: UserLabels, block: Block, text: str
) -> list[str]:
    """The labels of the best output that has the target; if the text has labels and no targets, those."""
    targets = _targets(text, block.table.tokens, shown, "labels")
    if not targets:
        return text.split()
    [(outputs, _)] = ModelConstraints(saved, shown, Constraints(tuple(targets))).outputs(
        decoder, Batch(block)
    )
    if outputs.violations:
        raise DataError(f"labels: there is no output with {text} that the model could give")
    return shown.user_labels(next(iter(outputs))[0].tolist())


def _runner_up(decoder: StructureDecoder, block: Block, chosen: Sequence[int]) -> Alternative:
    for ids, score in islice(decoder.k_best(block, 0), 2):
        if ids.tolist() != list(chosen):
            return Alternative(ids.tolist(), score, "runner-up")
    raise DataError("there is nothing to compare with: the sentence has only one legal output")


def _targets(text: str, length: int, shown: UserLabels, what: str = "against") -> list[At]:
    """The targets that all parts of a text are; none if some part is none, or if all are labels."""
    if len(labels := text.split()) == length and all(label in shown.labels for label in labels):
        return []
    names = Names(shown.labels, shown.scheme)
    return [_checked(at, length, names, what) for at in token_constraints(text)]


def _checked(at: At, length: int, names: Names, what: str) -> At:
    if not 1 <= at.first <= at.last <= length:
        raise DataError(f"{what}: found {at}, expected tokens from 1 to {length}, the first one first")
    try:
        return names.resolved(at, what)
    except SettingsError as error:
        raise DataError(str(error)) from None


def _best_with(
    model_constraints: ModelConstraints,
    decoder: StructureDecoder,
    shown: UserLabels,
    block: Block,
    chosen: Sequence[int],
    targets: Sequence[At],
) -> Alternative:
    written = " ".join(map(str, targets))
    if not model_constraints.broken(shown.user_labels(chosen), targets):
        raise DataError(f"against: found {written}, but that is what the model chose")
    [(outputs, _)] = model_constraints.outputs(decoder, Batch(block))
    if outputs.violations:
        raise DataError(f"against: there is no output with {written} that the model could give")
    ids, score = next(iter(outputs))
    return Alternative(ids.tolist(), score, f"best with {written}")


def _given(
    decoder: StructureDecoder, shown: UserLabels, block: Block, chosen: Sequence[int], labels: Sequence[str]
) -> Alternative:
    if len(labels) != len(chosen):
        raise DataError(
            f"against: found {len(labels)} labels, expected {len(chosen)}, one for each token; or targets "
            "such as 3=B-NP or 3-5=NP"
        )
    ids = shown.model_ids(labels)
    if ids == list(chosen):
        raise DataError("against: found the very labels that the model chose")
    score = decoder.score(block, 0, ids)
    if score == float("-inf"):
        shown.check(labels)
        raise DataError(f"against: found {' '.join(labels)}, which is no output that the model could give")
    return Alternative(ids, score, "given")
