"""Edit scripts: what makes one form of a word of another, such as a lemma of a form, as a label to learn.

A script is `CASE;FRONT;BACK;SIZE;TEXT`: take the form as it is (`k`), in lower case (`l`), or in lower case
with a capital (`t`); take FRONT characters from its beginning and BACK from its end; put the first SIZE
characters of TEXT before and the others behind it. `=TEXT` is the text itself, whatever the form.
"""

from __future__ import annotations

from difflib import SequenceMatcher

WHOLE = "="
UNCHANGED = "k;0;0;0;"


def edit_script(form: str, lemma: str) -> str:
    """The script that makes `lemma` of `form`: one with a part of the form in it, if they share any."""
    low, target = form.lower(), lemma.lower()
    if len(low) != len(form) or len(target) != len(lemma):  # such as İ, which is two characters in lower case
        low, target = form, lemma
    front, at, size = _shared(low, target)
    if not size:
        return WHOLE + lemma
    back, added = len(form) - front - size, len(lemma) - at - size
    for case in "klt":
        text = _spelled(lemma, at, added, case)
        script = f"{case};{front};{back};{at};{text}"
        if apply_script(form, script) == lemma:
            return script
    return WHOLE + lemma


def apply_script(form: str, script: str) -> str | None:
    """What the script makes of a form; None if the form is too short for it."""
    if script.startswith(WHOLE):
        return script[1:]
    first, last = kept_stretch(form, script)
    if first == last:
        return None
    case, _, _, size, text = script.split(";", 4)
    before = int(size)
    base = form if case == "k" else form.lower()
    made = text[:before] + base[first:last] + text[before:]
    return made[:1].upper() + made[1:] if case == "t" else made


def kept_stretch(form: str, script: str) -> tuple[int, int]:
    """Where the part of a form begins and ends that the script keeps; an empty one if it keeps none."""
    if script.startswith(WHOLE):
        return 0, 0
    _, front, back, _, _ = script.split(";", 4)
    first, last = int(front), len(form) - int(back)
    return (first, last) if first < last else (0, 0)


def is_script(text: str) -> bool:
    """Whether a text is a script that can be applied."""
    if text.startswith(WHOLE):
        return True
    parts = text.split(";", 4)
    return len(parts) == 5 and parts[0] in ("k", "l", "t") and all(n.isdecimal() for n in parts[1:4])


def shared_beginning(one: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    size = 0
    while size < min(len(one), len(other)) and one[size] == other[size]:
        size += 1
    return size


def _spelled(lemma: str, before: int, behind: int, case: str) -> str:
    """What is put around, without the capital that the case brings."""
    front, end = lemma[:before], lemma[len(lemma) - behind :] if behind else ""
    if case == "t" and before:
        front = front[:1].lower() + front[1:]
    return front + end


def _shared(low: str, target: str) -> tuple[int, int, int]:
    """The longest part that both have: where it is in each, and its length. A shared beginning of at least
    half of the shorter one is taken first: endings are what changes in most languages. Less than half of the
    shorter one is chance (are, be)."""
    size = shared_beginning(low, target)
    if 2 * size >= min(len(low), len(target)):
        return 0, 0, size
    found = SequenceMatcher(None, low, target, autojunk=False).find_longest_match()
    return (found.a, found.b, found.size) if found.size > min(len(low), len(target)) // 2 else (0, 0, 0)
