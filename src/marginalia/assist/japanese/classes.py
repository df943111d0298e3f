"""Which conjugation a word has, from its lemma and its part of speech."""

from __future__ import annotations

from functools import lru_cache

_I_AND_E = frozenset(
    "いきしちにひみりぎじびぴえけせてねへめれげぜでべぺイキシチニヒミリギジビエケセテネヘメレゲゼデベ"
)
_GODAN_ENDS = frozenset("うくぐすつぬぶむ")
_AUXILIARIES = {
    "だ": "だ", "です": "です", "ます": "ます", "た": "た", "ぬ": "ぬ", "ん": "ん",
    "べし": "べし", "まい": "まい", "ごとし": "ごとし", "如し": "ごとし",
    "れる": "一段", "られる": "一段", "せる": "一段", "させる": "一段", "てる": "一段", "かねる": "一段",
    "ちゃう": "五段", "がる": "五段", "たがる": "五段", "とく": "五段",
}  # fmt: skip


@lru_cache(maxsize=20000)
def class_of(lemma: str, xpos: str) -> str | None:
    """五段, 一段, サ変, ザ変, カ変, 形容詞 or an auxiliary's own; None for a word that does not conjugate."""
    if xpos.startswith(("助動詞", "接尾辞")) and lemma in _AUXILIARIES:
        return _AUXILIARIES[lemma]
    if xpos.startswith(("形容詞", "接尾辞-形容詞", "助動詞")) and lemma.endswith("い"):
        return "形容詞"
    if xpos.startswith(("動詞", "接尾辞-動詞")):
        return verb_class(lemma)
    return None


@lru_cache(maxsize=20000)
def verb_class(lemma: str) -> str | None:
    """The class of a verb by its lemma: the ending, and for verbs in る the kana or kanji before it."""
    if lemma.endswith(("する", "為る")):
        return "サ変"
    if lemma.endswith("ずる") and len(lemma) > 2:
        return "ザ変"
    if lemma in ("くる", "来る") or lemma.endswith(("てくる", "て来る")):
        return "カ変"
    if lemma[-1:] != "る":
        return "五段" if lemma[-1:] in _GODAN_ENDS else None
    godan, ichidan = _exceptions()
    if lemma in godan:
        return "五段"
    return "一段" if lemma.endswith(ichidan) or lemma[-2:-1] in _I_AND_E else "五段"


@lru_cache(maxsize=1)
def _exceptions() -> tuple[frozenset[str], tuple[str, ...]]:
    """Godan verbs in -iru and -eru, and what ichidan verbs with a kanji before る end in."""
    from importlib import resources

    path = resources.files("marginalia") / "data" / "assist" / "ja" / "verbs.txt"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    named = {kind: [verb for one, verb in rows if one == kind] for kind in ("五段", "一段")}
    return frozenset(named["五段"]), tuple(named["一段"])
