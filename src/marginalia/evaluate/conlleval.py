"""Spans counted as the CoNLL script `conlleval` counts them, for well-formed and ill-formed labels alike.

The script walks over both columns at once, with a blank line as an O after each sentence, and asks at each
step whether a chunk ends and whether one starts. What it asks depends on two neighbouring labels only, so the
answers are table look-ups over whole arrays. Its one piece of memory, "the chunk we are in has been right so
far", is the last of the events that set or clear it.

Where the Perl script and its Python port differ the port is followed: the former does not know S and, as it
expects no B or bracket after E, glues E-X B-X into one chunk. On IOB and IOE labels they agree.
"""

from __future__ import annotations

import numpy as np

from marginalia.evaluate.encode import Flags, LabelColumns
from marginalia.evaluate.labels import CODES, ChunkColumn, chunk_columns, code_pairs, code_set
from marginalia.evaluate.tally import CORRECT, Tally, tally_steps

_STARTS = code_pairs((CODES, "BS[]"), ("ESO", "EI"))
_ENDS = code_pairs(("ES[]", CODES), ("BI", "BSO"))
# A change of type starts or ends a chunk, except in labels that are never part of one.
_TYPED = code_set(CODES.replace("O", "").replace(".", ""))


def tally_conlleval(encoded: LabelColumns) -> Tally:
    """Count the spans of both columns, and the ones that agree, by the rules of conlleval."""
    names, (gold, predicted) = chunk_columns(encoded)
    correct, open_at_end = _correct(gold, predicted)
    # A chunk starts in the later label of a step, but is known to be right when it ends: in the earlier one.
    later, earlier = slice(1, None), slice(None, -1)
    tally = tally_steps(
        encoded,
        names,
        (chunk_starts(gold), gold.types[later]),
        (chunk_starts(predicted), predicted.types[later]),
        (correct, gold.types[earlier]),
    )
    if open_at_end:
        tally.by_name[gold.types[-1], CORRECT] += 1
        tally.by_sentence[-1, CORRECT] += 1
    return tally


def chunk_starts(column: ChunkColumn) -> Flags:
    """The steps into the first token of a chunk."""
    return column.steps(_STARTS) | (_TYPED[column.codes[1:]] & ~column.same_type())


def chunk_ends(column: ChunkColumn) -> Flags:
    """The steps out of the last token of a chunk."""
    return column.steps(_ENDS) | (_TYPED[column.codes[:-1]] & ~column.same_type())


def _correct(gold: ChunkColumn, predicted: ChunkColumn) -> tuple[Flags, bool]:
    """The steps at which a correct chunk ends, and whether one is still open after the last."""
    agree = gold.types == predicted.types
    gold_ends, predicted_ends = chunk_ends(gold), chunk_ends(predicted)
    begins = chunk_starts(gold) & chunk_starts(predicted) & agree[1:]
    closes = gold_ends & predicted_ends & agree[:-1]
    breaks = closes | (gold_ends != predicted_ends) | ~agree[1:]
    inside = _last_event_begins(begins, breaks)
    return closes & inside[:-1], bool(inside[-1])


def _last_event_begins(begins: Flags, breaks: Flags) -> Flags:
    """Before each step, and after the last: was the latest event a beginning? (At one step it comes last.)"""
    steps = np.arange(1, begins.size + 1)
    latest = np.maximum.accumulate(np.where(begins | breaks, steps, 0))
    return np.append(False, np.append(False, begins)[latest])
