"""Attributes of whole documents, written down as plainly as possible: the judge of the native ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from naive_attributes import digit, letter, lower, lowered, upper
from naive_program import longest_matches

Document = Sequence[Sequence[str]]
Values = list[list[str | None]]


def capitalised(text: str) -> bool:
    return text != "" and upper(text[0])


def in_capitals(text: str) -> bool:
    return any(map(upper, text)) and not any(map(lower, text))


def sentence_in_capitals(sentence: Sequence[str]) -> bool:
    letters = [w for w in sentence if any(map(letter, w))]
    return bool(letters) and sum(in_capitals(w) for w in sentence) * 5 >= 4 * len(letters)


def uses(document: Document) -> list[tuple[int, int]]:
    """Sentence and token of each word that begins in upper case where that tells something."""
    return [
        (s, t)
        for s, sentence in enumerate(document)
        if not sentence_in_capitals(sentence)
        for t, word in enumerate(sentence)
        if capitalised(word)
    ]


def before(sentence: Sequence[str], t: int) -> str:
    return sentence[t - 1] if t else "_B-1"


def after(sentence: Sequence[str], t: int) -> str:
    return sentence[t + 1] if t + 1 < len(sentence) else "_B+1"


def form(sentence: Sequence[str]) -> str:
    n = len(sentence)
    length = "a" if n <= 3 else "b" if n <= 8 else "c" if n <= 15 else "d"
    digits = sum(any(map(digit, w)) for w in sentence)
    names, capitals = sum(map(capitalised, sentence)), sum(map(in_capitals, sentence))
    end = "." if sentence[-1] == "." else "-"
    return f"{length}{digits * 4 // n}{names * 4 // n}{capitals * 3 // n}{end}"


def written(document: Document, word: str) -> str:
    times, within, small = 0, False, False
    for sentence in document:
        for t, text in enumerate(sentence):
            if lowered(text) != word:
                continue
            times += 1
            if sentence_in_capitals(sentence):
                continue
            small = small or (text != "" and lower(text[0]))
            inside = t > 0 and sentence[t - 1] not in ("``", '"', ":", ".")
            within = within or (inside and capitalised(text))
    return (("X" * within + "x" * small) or "-") + ("+" if times > 1 else "1")


def elsewhere(document: Document, s: int, t: int, n: int, neighbour: object) -> str | None:
    word = lowered(document[s][t])
    found = Counter(
        neighbour(document[a], b)  # type: ignore[operator]
        for a, b in uses(document)
        if lowered(document[a][b]) == word and (a, b) != (s, t)
    )
    ranked = sorted(found, key=lambda text: (-found[text], text.encode()))
    return ranked[n - 1] if len(ranked) >= n else None


def first_use(document: Document, s: int, t: int, neighbour: object) -> str | None:
    word = lowered(document[s][t])
    found = next(((a, b) for a, b in uses(document) if lowered(document[a][b]) == word), None)
    return None if found in (None, (s, t)) else neighbour(document[found[0]], found[1])  # type: ignore


def runs(document: Document) -> list[tuple[Sequence[str], int, int]]:
    """The longest stretches of uses: sentence, begin, end."""
    known, found = set(uses(document)), []
    for s, sentence in enumerate(document):
        t = 0
        while t < len(sentence):
            end = t
            while (s, end) in known:
                end += 1
            if end > t:
                found.append((sentence, t, end))
            t = max(end, t + 1)
    return found


def run(document: Document, word: str) -> tuple[Sequence[str], int, int, int] | None:
    """The longest run with a word, the first of several; and the word's first place there."""
    best = None
    for sentence, begin, end in runs(document):
        for t in range(begin, end):
            if lowered(sentence[t]) == word and (best is None or end - begin > best[2] - best[1]):
                best = sentence, begin, end, t
    return best


def in_run(document: Document, word: str, function: str) -> str | None:
    found = run(document, word)
    if found is None:
        return None
    sentence, begin, end, t = found
    if function == "run-place":
        return f"{t - begin}.{end - begin}"
    if function == "run-before":
        return sentence[t - 1] if t > begin else None
    return sentence[t + 1] if t + 1 < end else None


def places(sentence: Sequence[str], phrases: Collection[str]) -> list[str]:
    marks, out = [*longest_matches(sentence, phrases), None], [""] * len(sentence)
    for b in range(len(sentence)):
        if marks[b] == "B":
            e = next(i for i in range(b + 1, len(marks)) if marks[i] != "I")
            for t in range(b, e):
                place = "S" if e - b == 1 else "B" if t == b else "E" if t == e - 1 else "I"
                out[t] = f"{place}{min(e - b, 5)}"
    return out


def listed(document: Document, phrases: Collection[str]) -> Values:
    own = [places(sentence, phrases) for sentence in document]
    best: dict[str, str] = {}
    for s, t in uses(document):
        word = lowered(document[s][t])
        if own[s][t] and own[s][t][0] != "S" and (word not in best or own[s][t][1] > best[word][1]):
            best[word] = own[s][t]
    return [
        [
            best[lowered(text)]
            if capitalised(text) and best.get(lowered(text), own[s][t]) != own[s][t]
            else None
            for t, text in enumerate(sentence)
        ]
        for s, sentence in enumerate(document)
    ]


def values(function: str, argument: str, document: Document, lists: dict[str, list[str]]) -> Values:
    """The values of an attribute at all tokens of a document."""
    if function == "elsewhere-list":
        return listed(document, lists[argument])
    first = next(text for sentence in document for text in sentence)

    def value(s: int, t: int) -> str | None:
        word = lowered(document[s][t])
        neighbour = before if function.endswith("before") else after
        if function.startswith("elsewhere"):
            return elsewhere(document, s, t, int(argument), neighbour)
        if function.startswith("first-use"):
            return first_use(document, s, t, neighbour)
        if function.startswith("run"):
            return in_run(document, word, function)
        return {
            "sentence-form": lambda: form(document[s]),
            "sentence-number": lambda: str(min(s + 1, 5)),
            "document-first": lambda: lowered(first),
            "document-case": lambda: written(document, word),
        }[function]()

    return [[value(s, t) for t in range(len(sentence))] for s, sentence in enumerate(document)]
