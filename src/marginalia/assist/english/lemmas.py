"""Lemmas that a parser has made up (shin of shining, sung of sung), mended by the dictionary of forms."""

from __future__ import annotations

from functools import lru_cache

from .inflection import _lemminflect


@lru_cache(maxsize=65536)
def lemma_of(form: str, lemma: str, upos: str) -> str:
    """The lemma of a form: the given one, unless the dictionary knows the form and only of other lemmas."""
    if upos not in ("VERB", "NOUN", "ADJ"):
        return lemma
    known = _lemminflect().getLemma(form.lower(), upos, lemmatize_oov=False)
    return lemma if not known or lemma.lower() in known else known[0]
