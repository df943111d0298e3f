"""Names that patterns and rules may use: classes of words, forms of them, relations."""

from __future__ import annotations

from marginalia.assist.relations import RELATIONS

RELATION_NAMES = RELATIONS.names
"""Relations of universal dependencies and their classes."""

UPOS = frozenset({
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT",
    "SCONJ", "SYM", "VERB", "X",
})  # fmt: skip

CLASSES: dict[str, tuple[frozenset[str], dict[str, str]]] = {
    name: (frozenset(upos.split()), dict(pair.split("=") for pair in feats.split()))
    for name, upos, feats in (
        ("noun", "NOUN PROPN", ""),
        ("nominal", "NOUN PROPN PRON NUM", ""),
        ("name", "PROPN", ""),
        ("pronoun", "PRON", ""),
        ("verb", "VERB", ""),
        ("aux", "AUX", ""),
        ("verbal", "VERB AUX", ""),
        ("adjective", "ADJ", ""),
        ("adverb", "ADV", ""),
        ("number", "NUM", ""),
        ("determiner", "DET", ""),
        ("adposition", "ADP", ""),
        ("content", "NOUN PROPN VERB ADJ ADV", ""),
        ("predicate", "VERB ADJ NOUN PROPN", ""),
        ("part", "", "VerbForm=Part Tense=Past"),
        ("ing", "", "VerbForm=Ger|Part Tense=!Past"),
        ("inf", "", "VerbForm=Inf"),
        ("finite", "", "VerbForm=Fin"),
        ("past", "", "Tense=Past VerbForm=Fin"),
        ("present", "", "Tense=Pres VerbForm=Fin"),
        ("sg", "", "Number=Sing"),
        ("pl", "", "Number=Plur"),
        ("negative", "", "Polarity=Neg"),
        ("comparative", "", "Degree=Cmp"),
        ("superlative", "", "Degree=Sup"),
    )
}
"""Classes that patterns write behind a colon: parts of speech (any if none) and features of a word. Values of
a feature are alternatives with `|`, or what it must not be with `!`."""
