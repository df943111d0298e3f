"""Case of English pronouns: I and me, who and whom, my and mine."""

from __future__ import annotations

# nominative, accusative, possessive determiner, possessive pronoun, reflexive; person, number
PERSONAL = (
    ("i", "me", "my", "mine", "myself", 1, "Sing"),
    ("you", "you", "your", "yours", "yourself", 2, "Sing"),
    ("he", "him", "his", "his", "himself", 3, "Sing"),
    ("she", "her", "her", "hers", "herself", 3, "Sing"),
    ("it", "it", "its", "its", "itself", 3, "Sing"),
    ("we", "us", "our", "ours", "ourselves", 1, "Plur"),
    ("they", "them", "their", "theirs", "themselves", 3, "Plur"),
    ("who", "whom", "whose", "whose", "", 3, "Sing"),
    ("whoever", "whomever", "", "", "", 3, "Sing"),
)
_NOMINATIVE, _ACCUSATIVE, _DETERMINER = 0, 1, 2
CASES = {"Nom": _NOMINATIVE, "Acc": _ACCUSATIVE, "Gen": _DETERMINER}
_ROW_OF = {form: row for row in reversed(PERSONAL) for form in row[:5] if form}


def in_case(form: str, case: str) -> str:
    """A pronoun in another case (`Nom`, `Acc`, `Gen`); any other word comes back unchanged.

    >>> in_case("him", "Nom")
    'he'
    """
    row = _ROW_OF.get(form.lower())
    if row is None:
        return form
    changed = str(row[CASES[case]])
    if changed == "i":
        return "I"
    return changed[:1].upper() + changed[1:] if form[:1].isupper() and form != "I" else changed


def is_nominative(form: str) -> bool:
    """Whether a word is the form that a subject has and an object has not: I, he, we, who."""
    row = _ROW_OF.get(form.lower())
    return row is not None and form.lower() == row[0] != row[1]


def is_accusative(form: str) -> bool:
    """Whether a word is the form that an object has and a subject has not: me, him, whom."""
    row = _ROW_OF.get(form.lower())
    return row is not None and form.lower() == row[1] != row[0]


def person_of(form: str) -> tuple[int, bool] | None:
    """Person, and whether it is plural, of a personal pronoun; None for any other word."""
    row = _ROW_OF.get(form.lower())
    return None if row is None or row[0] in ("who", "whoever") else (int(row[5]), row[6] == "Plur")
