"""A small invented treebank with multiword tokens, paragraphs and abbreviations."""

from __future__ import annotations

import random

_NOUNS = ("dog", "cat", "house", "garden", "story", "book", "word", "tree")
_VERBS = (
    ("see", "sees", "saw"),
    ("like", "likes", "liked"),
    ("find", "finds", "found"),
    ("move", "moves", "moved"),
)
_NAMES = ("Anna", "Bert", "Mrs.", "Dr.")
Row = tuple[str, str, str, str, str, int, str]


def treebank(sentences: int, seed: int = 1, *, text: bool = True, lemmas: bool = True) -> str:
    """CoNLL-U of so many sentences, always the same for a seed."""
    rng = random.Random(seed)
    return "".join(_sentence(rng, number, text, lemmas) for number in range(sentences))


def _sentence(rng: random.Random, number: int, text: bool, lemmas: bool) -> str:
    rows, ranges = _words(rng)
    comments = ["# newpar"] * (number % 3 == 0) + [f"# sent_id = {number + 1}"]
    comments[:0] = ["# newdoc"] * (number % 12 == 0)
    lines, surface = [], ""
    for i, (form, lemma, upos, xpos, feats, head, deprel) in enumerate(rows, 1):
        tight = i + 1 < len(rows) + 1 and (i == len(rows) - 1 or (i, i + 1) in ranges)
        inside = any(first <= i <= last for first, last in ranges)
        if (span := next((r for r in ranges if r[0] == i), None)) is not None:
            whole = "".join(row[0] for row in rows[span[0] - 1 : span[1]])
            after = "SpaceAfter=No" if span[1] == len(rows) - 1 else "_"
            lines.append(f"{span[0]}-{span[1]}\t{whole}" + "\t_" * 7 + f"\t{after}")
        misc = "SpaceAfter=No" if tight and not inside else "_"
        lemma = lemma if lemmas else "_"
        lines.append("\t".join((str(i), form, lemma, upos, xpos, feats, str(head), deprel, "_", misc)))
        glued = tight or any(first <= i < last for first, last in ranges)
        surface += form + ("" if glued or i == len(rows) else " ")
    comments += [f"# text = {surface}"] if text else []
    return "\n".join([*comments, *lines]) + "\n\n"


def _words(rng: random.Random) -> tuple[list[Row], list[tuple[int, int]]]:
    base, present, past = rng.choice(_VERBS)
    noun, thing = rng.sample(_NOUNS, 2)
    plural = rng.random() < 0.3
    subject: list[Row] = (
        [("The", "the", "DET", "DT", "_", 2, "det"), (noun, noun, "NOUN", "NN", "Number=Sing", 0, "nsubj")]
        if rng.random() < 0.6
        else [(rng.choice(_NAMES), "", "PROPN", "NNP", "Number=Sing", 0, "nsubj")]
    )
    subject = [(form, lemma or form, *rest) for form, lemma, *rest in subject]  # type: ignore[misc]
    ranges: list[tuple[int, int]] = []
    if rng.random() < 0.35:
        at = len(subject) + 1
        ranges.append((at, at + 1))
        verb: list[Row] = [
            ("does", "do", "AUX", "VBZ", "VerbForm=Fin", at + 2, "aux"),
            ("n't", "not", "PART", "RB", "Polarity=Neg", at + 2, "advmod"),
            (base, base, "VERB", "VB", "VerbForm=Inf", 0, "root"),
        ]
    else:
        form, xpos = (present, "VBZ") if rng.random() < 0.5 else (past, "VBD")
        verb = [(form, base, "VERB", xpos, "VerbForm=Fin", 0, "root")]
    root = len(subject) + len(verb)
    subject[-1] = (*subject[-1][:5], root, "nsubj")
    object_ = [
        ("the", "the", "DET", "DT", "_", root + 2, "det"),
        (thing + "s" * plural, thing, "NOUN", "NNS" if plural else "NN",
         f"Number={'Plur' if plural else 'Sing'}", root, "obj"),
    ]  # fmt: skip
    end: Row = (rng.choice(".!?"), "", "PUNCT", ".", "_", root, "punct")
    rows = [*subject, *verb, *object_, (end[0], end[0], *end[2:])]
    return rows, ranges
