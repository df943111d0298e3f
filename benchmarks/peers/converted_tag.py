"""Tags as crfsuite_tag.py does, with the converted model: the same features, made by the same function."""

from __future__ import annotations

import argparse
from itertools import islice

import marginalia as mg
from corpus import columns_and_labels, is_conllu, sentences, with_labels
from features import extractor

BATCH = 500


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model")
    options.add_argument("source")
    options.add_argument("target")
    options.add_argument("--features", required=True, help="as in training")
    options.add_argument("--items", action="store_true", help="write the item file instead of labels")
    options = options.parse_args()
    (write_items if options.items else tag)(options)


def tag(options: argparse.Namespace) -> None:
    extract, conllu = extractor(options.features), is_conllu(options.source)
    tagger = mg.load(options.model)
    rest = iter(sentences(options.source))
    with open(options.target, "w", encoding="utf-8") as target:
        while batch := list(islice(rest, BATCH)):
            tagged = tagger.tag_all(extract(columns_and_labels(lines, conllu)[0]) for lines in batch)
            for lines, found in zip(batch, tagged, strict=True):
                target.write("\n".join(with_labels(lines, list(found.labels), conllu)) + "\n\n")


def write_items(options: argparse.Namespace) -> None:
    """What users of the command line have: the features in a file."""
    from marginalia.corpus import write_crfsuite

    extract, conllu = extractor(options.features), is_conllu(options.source)
    found = (columns_and_labels(lines, conllu) for lines in sentences(options.source))
    write_crfsuite(
        (mg.Sentence({"attributes": extract(columns), "label": labels}) for columns, labels in found),
        options.target,
    )


if __name__ == "__main__":
    main()
