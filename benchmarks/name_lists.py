"""Lists of names made from the gazetteers: whole phrases of each class, and words that begin and end them.

The gazetteers hold one phrase for each first word (284,074 phrases, 284,073 first words), so nearly all
well-known names are missing as phrases ("london", "john smith"). They still occur inside other phrases: as
surnames, after the comma of a place, with a period. The corpus has hyphens without blanks and no accents.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

EVENTS = "wiki_competitions_battles_events"
WORKS = ("wiki_artwork", "wiki_films", "wiki_songs_albums", "wiki_manmade_objects")
OFTEN = 3


def write_lists(source: Path, folder: Path) -> dict[str, Path]:
    """Write the lists to the folder; their files by name."""
    written = {}
    for name, phrases in made_lists(source):
        written[name] = folder / f"{name}.txt"
        forms = (form for phrase in phrases for form in (phrase, without_accents(phrase)))
        lines = {form for form in forms if any(map(str.isalpha, form))}
        written[name].write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    return written


def made_lists(source: Path) -> Iterator[tuple[str, Iterable[str]]]:
    people = phrases_of(source, "wiki_people")
    full_names = [name.split() for name in people if " " in name]
    surnames = [name[-1] for name in full_names if len(name) <= 3]
    yield "per", people + phrases_of(source, "person_names")
    yield "perfirst", [name[0] for name in full_names]
    yield "perlast", surnames
    yield "peroften", frequent(surnames)

    located = [place.split(" , ") for place in phrases_of(source, "wiki_locations")]
    places = phrases_of(source, "places", "us_state_abbrev")
    yield "loc", [*places, *map(without_period, places), *(part for place in located for part in place)]
    yield "loclast", last_words(place[0] for place in located)

    organizations = phrases_of(source, "wiki_organizations", "corporations")
    yield "org", organizations
    yield "orgfirst", [name.split()[0] for name in organizations if " " in name]
    yield "orglast", last_words(organizations)
    yield "orgoften", frequent(word for name in organizations for word in name.split()[1:])

    yield "misc", phrases_of(source, "nationalities", EVENTS, *WORKS)
    yield "misclast", last_words(phrases_of(source, EVENTS))


def phrases_of(source: Path, *names: str) -> list[str]:
    """The phrases of gazetteers, with hyphens as in running text."""
    texts = ((source / f"{name}.txt").read_text(encoding="utf-8") for name in names)
    return [line.strip().replace(" - ", "-") for text in texts for line in text.splitlines()]


def last_words(phrases: Iterable[str]) -> list[str]:
    return [phrase.split()[-1] for phrase in phrases if " " in phrase]


def frequent(words: Iterable[str]) -> list[str]:
    return [word for word, count in Counter(words).items() if count >= OFTEN]


def without_period(phrase: str) -> str:
    """`montreal` for `montreal.`, but `u.s.` as it is."""
    return phrase[:-1] if phrase.endswith(".") and phrase.count(".") == 1 else phrase


def without_accents(phrase: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", phrase) if not unicodedata.combining(c))
