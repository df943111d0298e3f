"""Chinese corpora as segmented text and word/tag, cut as the benchmark of segmentation needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PEOPLES_DAILY = Path("peoples-daily") / "199801.wordpos.txt"
PKU = Path("pku") / "test.txt"
GSD = Path("ud-chinese-gsd")


def daily_lines(data: Path, tags: bool) -> Iterator[str]:
    """Lines of the People's Daily that have any words, with parts of speech or without."""
    with open(data / PEOPLES_DAILY, encoding="utf-8") as lines:
        for line in lines:
            words = [word if tags else word.rpartition("/")[0] for word in line.split()]
            if words:
                yield "  ".join(words) + "\n"


def gsd_lines(path: Path, tags: bool) -> Iterator[str]:
    """Sentences of a treebank, with UPOS or without."""
    words: list[str] = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                form = fields[1].replace(" ", "")
                words.append(f"{form}/{fields[3]}" if tags else form)
            elif not line.strip() and words:
                yield "  ".join(words) + "\n"
                words = []
    if words:
        yield "  ".join(words) + "\n"


def split_daily(data: Path, folder: Path, share: tuple[int, int], *, held_out: bool, tags: bool) -> Path:
    """Writes every n-th line (k of each n) to train on; with `held_out` the last tenth of all lines becomes
    `held.txt`, and is not trained on."""
    lines = list(daily_lines(data, tags))
    cut = len(lines) * 9 // 10 if held_out else len(lines)
    few, of = share
    train = folder / ("train.tags.txt" if tags else "train.txt")
    write(train, [line for i, line in enumerate(lines[:cut]) if i % of < few])
    if held_out:
        write(folder / ("held.tags.txt" if tags else "held.txt"), lines[cut:])
    return train


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def without_tags(source: Path, target: Path) -> Path:
    """Words of a file of word/tag."""
    words = [[word.rpartition("/")[0] for word in line.split()] for line in _lines(source)]
    return write(target, ["  ".join(line) + "\n" for line in words])


def raw(source: Path, target: Path) -> Path:
    """The characters of a file of words."""
    return write(target, ["".join(line.split()) + "\n" for line in _lines(source)])


def characters(path: Path) -> int:
    return sum(len("".join(line.split())) for line in _lines(path))


def recall_of_unseen(train: Path, gold: Path, predicted: Path) -> float:
    """The share of words of a test file that training did not have, in per cent, that were found."""
    known = {word for line in _lines(train) for word in line.split()}
    found = total = 0
    for right, said in zip(_spans(gold), _spans(predicted), strict=True):
        for span, word in right.items():
            if word not in known:
                total += 1
                found += span in said
    return 100.0 * found / max(total, 1)


def _spans(path: Path, tags: bool = False) -> Iterator[dict[tuple[int, int], str]]:
    """The words of each line by their places, as they are written."""
    for line in _lines(path):
        spans, begin = {}, 0
        for word in line.split():
            end = begin + len(word.rpartition("/")[0] if tags else word)
            spans[begin, end] = word
            begin = end
        if spans:
            yield spans


def f1(gold: Path, predicted: Path, tags: bool = False) -> float:
    """Of words, or of words with their tags, in per cent."""
    right = said = both = 0
    for ours, theirs in zip(_spans(predicted, tags), _spans(gold, tags), strict=True):
        right, said = right + len(theirs), said + len(ours)
        both += sum(theirs.get(span) == word for span, word in ours.items())
    return 200.0 * both / max(right + said, 1)


def _lines(path: Path) -> list[str]:
    with open(path, encoding="utf-8") as lines:
        return [line for line in lines if line.strip()]
