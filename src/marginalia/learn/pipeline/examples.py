"""Training data of the parts of a pipeline, made of a treebank."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from marginalia.corpus.document import Document, ParsedSentence
from marginalia.corpus.edit_scripts import edit_script, shared_beginning
from marginalia.corpus.raw_text import paragraph_spans
from marginalia.corpus.records import Sentence
from marginalia.corpus.tree_answers import HEAD
from marginalia.corpus.words import MultiwordToken, Token
from marginalia.decode.pipeline.lemmas import LEMMA_COLUMNS, Key
from marginalia.decode.pipeline.multiword import UNSPLIT, dropped_letters, split_scripts
from marginalia.decode.pipeline.parts import EMPTY, SUPERTAG
from marginalia.decode.pipeline.tokens import BEGIN, INSIDE, OUTSIDE, SENTENCE
from marginalia.features.characters import LONGEST_KNOWN, all_columns

LABEL = "label"
_MOST_SPLITS = 640  # labels of multiword tokens; forms with others are looked up
_MOST_LABELS = 2500  # of one part: time and memory grow with them
_LONGEST = 2000  # characters of an example: longer paragraphs are cut where sentences begin
Columns = dict[str, list[str]]


def character_labels(document: Document, places: bool = False) -> list[str]:
    """The label of each character of a document's text, with its place in the token if there are no blanks
    that tell."""
    labels = [OUTSIDE] * len(document.text)
    for sentence in document.sentences:
        for number, token in enumerate(sentence.tokens):
            size = token.end - token.start
            for at in range(size):
                own = INSIDE if at else BEGIN if number else SENTENCE
                labels[token.start + at] = own + _place(at, size) if places else own
    return labels


def _place(at: int, size: int) -> str:
    """Of a token's characters: the only one, the last, the second of three and more."""
    return "1" if size == 1 else "." if at == size - 1 else "2" if at == 1 else ""


def has_breaks(document: Document) -> bool:
    """Whether there are ends of lines inside of paragraphs."""
    return any("\n" in document.text[start:end] for start, end in paragraph_spans(document.text))


def known_tokens(document: Document) -> dict[str, int]:
    """How often tokens of several characters occur, of a treebank whose text has few blanks between tokens;
    of others nothing: there a chunk between blanks says more."""
    counts: Counter[str] = Counter()
    tight = tokens = 0
    for sentence in document.sentences:
        for token in sentence.tokens:
            tokens += 1
            tight += not document.text[token.end : token.end + 1].isspace()
            counts[token.form] += 1
    if 2 * tight <= tokens:
        return {}
    return {form: n for form, n in counts.items() if 2 <= len(form) <= LONGEST_KNOWN}


def character_examples(
    document: Document, breaks: bool, lexicon: Set[str] = frozenset()
) -> Iterator[Sentence]:
    """Paragraphs, or stretches of them, as sentences of characters."""
    text, labels = document.text, character_labels(document, places=bool(lexicon))
    begins = [sentence.start for sentence in document.sentences]
    for start, end in paragraph_spans(text):
        for first, last in _stretches(start, end, begins):
            while text[last - 1].isspace():
                last -= 1
            columns = all_columns(text[first:last], breaks, lexicon)
            yield Sentence(columns | {LABEL: labels[first:last]})


def _stretches(start: int, end: int, begins: Sequence[int]) -> Iterator[tuple[int, int]]:
    while end - start > _LONGEST:
        at = bisect_left(begins, start + _LONGEST)
        cut = begins[at - 1] if begins[at - 1] > start else begins[at] if at < len(begins) else end
        if not start < cut < end:
            break
        yield start, cut
        start = cut
    yield start, end


def split_examples(document: Document) -> tuple[list[Sentence], list[str], list[str]]:
    """Sentences of tokens with their splits, and the lines of two tables: forms split in one way only, and
    what splits leave out of tokens."""
    ways: dict[str, Counter[tuple[str, ...]]] = {}
    rows = [[(token.form, _words_of(token)) for token in sentence.tokens] for sentence in document.sentences]
    for row in rows:
        for form, words in row:
            ways.setdefault(form, Counter())[words] += 1
    labels = _split_labels({(form, words) for form, own in ways.items() for words in own if words})
    examples = [
        Sentence({"word": [form for form, _ in row], LABEL: [labels.get(one, UNSPLIT) for one in row]})
        for row in rows
    ]
    known = [
        f"{form}\t{' '.join(words)}"
        for form, own in ways.items()
        for words in [next(iter(own))]
        if len(own) == 1 and words and not any(" " in word for word in words)
    ]
    dropped = {f"{label}\t{dropped_letters(form, label)}" for (form, _), label in labels.items()}
    return examples, sorted(known), sorted(dropped)


def _words_of(token: Token) -> tuple[str, ...]:
    return tuple(word.form for word in token.words) if isinstance(token, MultiwordToken) else ()


def _split_labels(splits: Set[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, tuple[str, ...]], str]:
    """Of each split the label that most forms share: `n't` is the same in many, `do` is not."""
    candidates = {one: split_scripts(*one) for one in sorted(splits)}
    shared = Counter(label for labels in candidates.values() for label in labels)
    chosen = {
        one: max(labels, key=lambda label: (shared[label], label))
        for one, labels in candidates.items()
        if labels
    }
    kept = dict(Counter(chosen.values()).most_common(_MOST_SPLITS))
    return {one: label for one, label in chosen.items() if label in kept}


def has_splits(document: Document) -> bool:
    """Whether there are multiword tokens."""
    return any(sentence.multiword for sentence in document.sentences)


def columns_of(document: Document) -> Columns:
    """The columns of all words, by the names that templates know them by."""
    words = document.words
    named = {name: [getattr(word, name) for word in words] for name in ("lemma", "upos", "xpos", "feats")}
    return {"word": [word.form for word in words], **named}


def supertags_of(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """By word the side of its head, L or R (0: the root), and its relation; EMPTY if they are not known."""
    found = []
    for word, (head, relation) in enumerate(zip(columns[HEAD], columns["deprel"], strict=True), 1):
        side = "0" if head == "0" else "L" if head != EMPTY and int(head) < word else "R"
        found.append(EMPTY if EMPTY in (head, relation) else f"{side}{relation}")
    return found


def with_supertags(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Sentences with their right supertags as one more column."""
    return [replace(one, columns={**one.columns, SUPERTAG: supertags_of(one.columns)}) for one in sentences]


def lengths_of(sentences: Sequence[ParsedSentence]) -> list[int]:
    """How many words each sentence has."""
    return [len(sentence.words) for sentence in sentences]


def sentences_of(columns: Mapping[str, Sequence[str]], lengths: Sequence[int]) -> list[Sentence]:
    """Columns of all words as sentences."""
    found, at = [], 0
    for length in lengths:
        found.append(Sentence({name: list(values[at : at + length]) for name, values in columns.items()}))
        at += length
    return found


def lemma_types(columns: Mapping[str, Sequence[str]]) -> dict[Key, str]:
    """Each word with its tags once, and the lemma that it has most often."""
    counts: dict[Key, Counter[str]] = {}
    for *key, lemma in zip(*(columns[name] for name in LEMMA_COLUMNS), columns["lemma"], strict=True):
        counts.setdefault(tuple(key), Counter())[lemma] += 1
    return {key: min(found.items(), key=lambda item: (-item[1], item[0]))[0] for key, found in counts.items()}


def lemma_examples(types: Mapping[Key, str]) -> list[Sentence]:
    """Words with their tags, each a sentence of its own, with edit scripts: if there are very many, the most
    frequent ones. Words with others are looked up."""
    scripts = {key: edit_script(key[0], lemma) for key, lemma in types.items()}
    kept = dict(Counter(scripts.values()).most_common(_MOST_LABELS))
    return [
        Sentence({name: [value] for name, value in zip(LEMMA_COLUMNS, key, strict=True)} | {LABEL: [script]})
        for key, script in scripts.items()
        if script in kept
    ]


def frequent_labels(labels: Sequence[str], most: int = _MOST_LABELS) -> list[str]:
    """The labels, of which `most` different ones stay; in the place of each rare one stands the frequent one
    that begins most like it, as what tags and features begin with matters most."""
    counts = Counter(labels)
    if len(counts) <= most:
        return list(labels)
    kept = sorted(label for label, _ in counts.most_common(most))
    near = {label: _begins_like(kept, label) for label in counts}
    return [near[label] for label in labels]


def _begins_like(names: Sequence[str], label: str) -> str:
    """Of sorted names the one with the longest shared beginning, which is next to the label's place."""
    at = bisect_left(names, label)
    near = names[max(at - 1, 0) : at + 1]
    return max(near, key=lambda name: (name == label, shared_beginning(name, label)))
