"""Generation of English: forms of words, agreement, auxiliaries, articles, case, capitals, punctuation.

| what | where |
|---|---|
| lemma and tag, or lemma and UD features, to a form; comparatives | `inflection.py` |
| chains of auxiliaries as features, and built from them | `verbs.py` |
| … read off a tree and written into it | `groups.py` |
| person and number of a subject | `agreement.py` |
| a and an; case of pronouns | `articles.py`, `pronouns.py` |
| what a transfer leaves on the surface | `surface.py` |
"""

from .agreement import Agreement, agreement_of, subject_of
from .articles import article_before
from .groups import active, chain_of, finite_subject, group_of, mend_features, passive, write_group
from .inflection import degree, form_of, inflect, lemma_of, tag_of
from .pronouns import in_case
from .surface import end_with_stop, is_known, mend
from .verbs import VerbGroup, Word, build, read

__all__ = [
    "Agreement",
    "VerbGroup",
    "Word",
    "active",
    "agreement_of",
    "article_before",
    "build",
    "chain_of",
    "degree",
    "end_with_stop",
    "finite_subject",
    "form_of",
    "group_of",
    "in_case",
    "inflect",
    "is_known",
    "lemma_of",
    "mend",
    "mend_features",
    "passive",
    "read",
    "subject_of",
    "tag_of",
    "write_group",
]
