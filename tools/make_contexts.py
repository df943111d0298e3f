"""Count in which contexts English words stand: python tools/make_contexts.py ../shared/data

Counted are the training part of UD English EWT, OneStopEnglish, CompLex (training sentences) and the glosses
of the built-in WordNet. `assist/words/contexts.py` says what the lines of the list are. The vectors are the
first singular vectors of positive pointwise mutual information, each weighed by the root of its singular
value, found by subspace iteration.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from marginalia.assist.words import wordnet
from marginalia.assist.words.contexts import NUMBER
from marginalia.assist.words.packed import SHIPPED, write_packed

WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*|[.,;:!?()\"]|\d+")
LEAST, LEAST_PAIR, SIZE, SPARE, ROUNDS = 6, 3, 60, 30, 3
WEIGHTS = {1: 1.0, 2: 0.7, 3: 0.5, 4: 0.3}  # of words so far away
SMOOTHING = 0.75  # of counts of contexts
GAP = [""] * max(WEIGHTS)


def tokens(text: str) -> list[str]:
    """Words in lower case, marks, and one sign for all numbers."""
    found = WORD.findall(text.lower().replace("\u2019", "'"))
    return [NUMBER if word[0].isdigit() else word for word in found]


def texts(data: Path) -> Iterator[str]:
    """All text that is counted."""
    for line in (data / "ud-english-ewt" / "train.conllu").read_text(encoding="utf-8").splitlines():
        if line.startswith("# text = "):
            yield line.removeprefix("# text = ")
    onestop = data / "simplification" / "onestopenglish" / "Texts-SeparatedByReadingLevel"
    for file in sorted(onestop.glob("*/*.txt")):
        yield from file.read_text(encoding="utf-8", errors="replace").splitlines()
    for kind in ("single", "multi"):
        file = data / "readability" / "complex_lcp" / "train" / f"lcp_{kind}_train.tsv"
        rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[1:])
        yield from dict.fromkeys(row[2] for row in rows)
    for number in range(len(wordnet())):
        synset = wordnet().synset(number)
        yield f"{' '.join(synset.lemmas[:4])} . {synset.gloss}"


def pairs(ids: np.ndarray, distance: int, size: int) -> sparse.csr_matrix:
    """How often a word stands so far behind another one."""
    left, right = ids[:-distance], ids[distance:]
    known = (left >= 0) & (right >= 0)
    ones = np.ones(int(known.sum()), np.float32)
    return sparse.coo_matrix((ones, (left[known], right[known])), shape=(size, size)).tocsr()


def information(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Positive pointwise mutual information, with smoothed contexts."""
    sums = np.asarray(counts.sum(axis=1)).ravel()
    share = sums**SMOOTHING
    share /= share.sum()
    cells = counts.tocoo()
    values = np.log(cells.data / (sums[cells.row] * share[cells.col]))
    kept = values > 0
    shape = (cells.row[kept], cells.col[kept])
    return sparse.csr_matrix((values[kept].astype(np.float32), shape), shape=counts.shape)


def vectors(matrix: sparse.csr_matrix) -> np.ndarray:
    """Rows as whole numbers between -127 and 127."""
    start = np.random.default_rng(0).standard_normal((matrix.shape[0], SIZE + SPARE), dtype=np.float32)
    basis = matrix @ start
    for _ in range(ROUNDS):
        basis = matrix @ (matrix.T @ np.linalg.qr(basis)[0])
    basis = np.linalg.qr(basis)[0]
    inner = (matrix.T @ basis).T
    turned, squares, _ = np.linalg.svd(inner @ inner.T)
    found = (basis @ turned)[:, :SIZE] * squares[:SIZE] ** 0.25
    return np.round(127 * found / np.maximum(np.abs(found).max(axis=1, keepdims=True), 1e-9)).astype(np.int8)


def lines(sentences: Sequence[list[str]]) -> list[str]:
    """The lines of the list, the most frequent words first."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [
        word for word, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])) if count >= LEAST
    ]
    numbers = {word: number for number, word in enumerate(words)}
    ids = np.array([numbers.get(word, -1) for sentence in sentences for word in (*sentence, *GAP)])
    near = {distance: pairs(ids, distance, len(words)) for distance in WEIGHTS}
    weighted = sum(near[distance] * weight for distance, weight in WEIGHTS.items())
    rows = vectors(information((weighted + weighted.T).tocsr()))
    followers = near[1].tolil()
    return [str(sum(counts.values()))] + [
        "\t".join([word, str(counts[word]), b64encode(rows[i].tobytes()).decode(), _behind(followers, i)])
        for i, word in enumerate(words)
    ]


def _behind(followers: sparse.lil_matrix, number: int) -> str:
    seen = zip(followers.rows[number], followers.data[number], strict=True)
    return " ".join(f"{other}:{int(count)}" for other, count in seen if count >= LEAST_PAIR)


def main(data: Path) -> None:
    """Write the list."""
    target = SHIPPED / "en" / "contexts.words"
    found = lines([tokens(text) for text in texts(data)])
    write_packed(str(target), "contexts", found)
    print(f"{target}: {len(found) - 1:,} words, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
