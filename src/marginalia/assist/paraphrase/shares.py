"""How many of a hundred sentences have a lemma, a relation or a part of speech: rare ones are asked first."""

from __future__ import annotations

_ENGLISH = """
root 100 dependency 95 :PUNCT 84 punct 84 modifier 81 nominal 79 :NOUN 76 function 73 core 69 subject 64
:VERB 63 nsubj 63 oblique 61 /. 57 :PRON 54 :ADJ 53 :ADP 52 :DET 51 case 51 det 50 :AUX 50 object 43 obj 42
advmod 41 amod 41 :PROPN 41 :ADV 40 clausal 40 /be 39 obl 38 nmod 38 multiword 37 parallel 33 aux 33
coordination 32 /the 31 cc 30 conj 30 compound 30 :CCONJ 30 cop 27 mark 27 /, 25 :PART 25 /and 23 /to 22 /a 22
complement 22 /i 20 loose 18 :SCONJ 17 nmod:poss 16 advcl 16 /in 16 /of 16 acl 16 xcomp 16 insertion 14
/have 14 :NUM 13 /you 13 /for 11 /it 11 flat 10 acl:relcl 10 parataxis 9 ccomp 9 /that 9 /not 9 /? 8 /do 8
/on 8 aux:pass 8 /this 7 nsubj:pass 7 /they 7 /with 7 nummod 6 appos 6 appositive 6 discourse 6 obl:unmarked 5
/will 5 :INTJ 5 /at 5 /my 5 /can 5 /but 5 /if 5 /we 4 expl 4 /he 4 /she 4 /as 4 /by 3 /from 3 /who 2 /which 2
"""
_JAPANESE = """
/の 67 /、 53 /は 52 /に 51 /た 49 /て 47 /する 47 /が 46 /を 45 /だ 44 /と 38 /いる 27 /で 27 /も 22 /れる 19
/ある 18 /ます 14 /から 13 /年 11 /ない 11 /なる 10 /こと 8 /や 7 /いう 7 /ため 6 /など 6 fixed 55
"""


def _table(text: str) -> dict[str, float]:
    words = text.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


SHARES = _table(_ENGLISH) | _table(_JAPANESE)
"""Percentages, counted in the dev parts of EWT and GSD."""


def share_of(key: str) -> float:
    """The share of a key; other lemmas are rare, other relations and parts of speech less so."""
    return SHARES.get(key, 0.5 if key[0] == "/" else 4.0)
