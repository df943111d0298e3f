"""Chinese words by another library: `segment.py jieba|spacy_pkuseg INPUT OUTPUT`, one thread."""

import importlib
import sys


def main() -> None:
    name, source, target = sys.argv[1:]
    library = importlib.import_module(name)
    cut = library.lcut if name == "jieba" else library.pkuseg().cut
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(" ".join(cut(line.rstrip("\n"))) + "\n")


if __name__ == "__main__":
    main()
