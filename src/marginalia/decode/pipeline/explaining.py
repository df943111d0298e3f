"""Why a word has its tags, its lemma and its head: explanations by the parts of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marginalia.corpus.words import Word
from marginalia.decode.constraints import At
from marginalia.decode.explanation import Explanation
from marginalia.decode.pipeline.annotating import Annotator, for_added
from marginalia.decode.pipeline.lemmas import LEMMA_COLUMNS
from marginalia.decode.pipeline.parts import LEMMAS, PARSER, LabelPart
from marginalia.errors import DataError, ModelError, SettingsError


def explain_word(
    annotator: Annotator, word: Word, part: str | None = None, against: str | None = None
) -> dict[str, Any]:
    """By part (or by one of them alone), why a word has what it has, and not what it would have else, or what
    `against` names: a tag, or `3:obj`, `3` or `:obj` of an arc."""
    if word.sentence is None:
        raise ModelError("the word is of no sentence.")
    if against is not None and part is None:
        raise SettingsError("against: say of which part it is.")
    if part is not None and part not in (names := explaining_parts(annotator)):
        raise SettingsError(f"part: found '{part}', expected one of {', '.join(names)}.")
    found = _explanations(annotator, word, word.sentence.words, part, against)
    return {name: one for name, one in found if one is not None}


def explaining_parts(annotator: Annotator) -> list[str]:
    """The parts that explain words, in the order in which they work."""
    names = [part.name for part in annotator.tags]
    names += [LEMMAS] if annotator.lemmas is not None else []
    names += [part.name for part in annotator.added]
    return names + ([PARSER] if annotator.parser is not None else [])


def _explanations(
    annotator: Annotator, word: Word, words: Sequence[Word], only: str | None, against: str | None
) -> Iterator[tuple[str, Any]]:
    columns = annotator.tagged(words, [len(words)], given=False)
    for part in annotator.tags:
        if only in (None, part.name):
            yield part.name, explain_label(part, columns, word.id - 1, against)
    seen = annotator.tagged(words, [], given=True)  # as the words stand: with the tags that they were given
    seen["lemma"] = [one.lemma for one in words]
    if annotator.lemmas is not None and only in (None, LEMMAS):
        own = {name: [seen[name][word.id - 1]] for name in LEMMA_COLUMNS}
        looked_up = tuple(values[0] for values in own.values()) in annotator.lemmas.exceptions
        if only and looked_up:
            raise DataError("the lemma is looked up: this form was seen with these tags and this lemma")
        yield LEMMAS, None if looked_up else explain_label(annotator.lemmas, own, 0, against)
    for part in annotator.added:
        if only in (None, part.name):
            yield part.name, explain_label(part, for_added(seen), word.id - 1, against)
    if annotator.parser is not None and only in (None, PARSER):
        if len(words) > 1:
            trees = annotator.for_parser(seen, [len(words)])
            yield PARSER, annotator.parser.explain(trees, word.id, *arc_of(against))
        elif only:
            raise DataError("a single word has one head only: there is nothing to compare with")


def explain_label(
    part: LabelPart, columns: Mapping[str, Sequence[str]], token: int, against: str | None = None
) -> Explanation | None:
    """Why a token has its label, and not that of the best output in which it has another one, or one that
    has the value `against`; None if there is no other label."""
    tagger, here = part.tagger, (token + 1, token + 1)
    sentence = {name: columns[name] for name in tagger.feature_columns}
    own = tagger.tag(sentence).labels[token]
    if against is None:
        return tagger.explain(sentence, str(At(*here, (own,), True))) if len(tagger.labels) > 1 else None
    wanted = [label for label in tagger.labels if against == label or against in label.split(" ")]
    if not wanted or own in wanted:
        what = "which is what the word has" if wanted else "which is no label of this part"
        raise DataError(f"against: found '{against}', {what}")
    found = [tagger.explain(sentence, str(At(*here, (label,)))) for label in wanted]
    return min(found, key=lambda one: one.difference)


def arc_of(against: str | None) -> tuple[int | None, str | None]:
    """The head and the relation that `3:obj`, `3` or `:obj` stand for; None is any."""
    if against is None:
        return None, None
    head, _, relation = against.partition(":")
    if head and not head.isdecimal():
        raise DataError(f"against: found '{against}', expected a head and a relation: 3:obj, 3 or :obj")
    return (int(head) if head else None), relation or None
