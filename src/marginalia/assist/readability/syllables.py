"""Syllables of English words by their spelling: groups of vowels, corrected where letters are silent or
where two vowels beside each other are two syllables."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PARTS = re.compile(r"[a-z]+(?:'[a-z]+)?")
_GROUPS = re.compile(r"[aeiouy]+")
_ENDINGS = (
    "less|ness|ful|fully|ly|ty|some|what|how|times?|where|things?|house|body|bodies|book|fore|ball|day|"
    "holds?|style|land|man|men|work|sides?|lines?"
)
_FEWER = (  # groups of vowels that are not spoken
    r"[^aeiouy]e(?:'s)?$(?<![^aeiouyrlw]le)",  # make, but: table
    r"[gq]ue[sd]?$",  # league
    r"[^aeiouytd]ed$(?<![^aeiouyrlw]led)",  # worked, but: wanted, settled
    r"[^aeiouysxzcg]es$(?<![sc]hes)(?<![^aeiouyrlw]les)",  # makes, but: boxes, tables
    r"[aeiouy](?:[^aeiouyl]|[^aeiouyl]{2})e(?=ments?$)",  # movement, but: element
    rf"[aeiouy][^aeiouy]{{1,2}}e(?=(?:{_ENDINGS})$)",  # something, homeless
    r"a(?=lly$)(?<=ica)",  # basically
    r"(?<=iff)e(?=ren)|(?<=ev)e(?=r[yi]|ning$)|i(?=ness)(?<=busi)",  # different, every, evening
)
_MORE = (  # two syllables in one group of vowels, or a consonant that is one
    r"(?<=[dbrvpmkth])ia(?=n?s?$)(?<![^o]tia)(?<!shia)",  # India
    r"^[dgltbv]i[ao](?=[nlrbgmt])|(?<=cl)ient|^quiet|^scien",  # giant, diary, client
    r"(?<=[dbrvpmfhn])i(?:a[lrt]|o|u[ms]|est|er$|ety)(?<!ion)",  # radio, earlier
    r"(?<=..ci)at|(?<=..ti)at|iety|(?<=[dblnvp])ien[tc]",  # appreciate, society
    r"(?<=[ieou])ing|(?<=[^aeiouy]y)ing",  # being, carrying
    r"[aeou]y(?=[aeiou])(?!ye[ds]?$)|(?<=[nr])yone|^mayb",  # mayor, anyone
    r"(?<![qgb])u(?:a[lrt]|ity|ous|en[ct]|in$|ine[dr]|id$|icid)",  # usual, ruin
    r"^rea(?=ct|lit|li[sz])|(?<=cr)ea(?=t)(?!ture)|(?:id|ar)ea(?=s?$)|poe[mt]|thea|eum$|(?<=nuc)lear$|cha(?=os)",
    r"^coop(?=er[^s]?a)|(?:th|d|r|l|n)eo(?!n$|ns$|us|p)|(?<=[^aeiouygc])eous|^euro(?=pea)",
    r"(?:is|as|yth)m(?=s?$)",  # realism, rhythm
    r"(?<=[ds])n't$",  # didn't
)
_FEWER_RULES, _MORE_RULES = re.compile("|".join(_FEWER)), re.compile("|".join(_MORE))


@lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """How many syllables an English word has, at least 1; parts of compounds (`well-known`) add up."""
    plain = unicodedata.normalize("NFKD", word.lower().replace("’", "'"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return max(1, sum(map(_of_part, _PARTS.findall(plain))))


def _of_part(part: str) -> int:
    groups = len(_GROUPS.findall(part))
    if not groups and len(part) < 5:
        return len(part)  # spelled, letter by letter: TV
    return max(1, groups - len(_FEWER_RULES.findall(part)) + len(_MORE_RULES.findall(part)))
