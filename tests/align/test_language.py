"""Quick ways of reading texts give what the rules say, for any text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from trajdiff.align.language import CONSENT, acts, fold, languages
from trajdiff.align.mentions import mentions

_ASCII = st.text(alphabet=[chr(code) for code in range(128)], max_size=60)
_CUES = [(act, cue) for language in languages() for act, cues in language.acts for cue in cues]
_SPOKEN = st.lists(
    st.one_of(
        st.sampled_from([cue for _, cue in _CUES]),
        st.sampled_from([" ", " ", "a", "zz", ".", ", ", "é", "办", "-"]),
    ),
    max_size=8,
).map("".join)


@given(st.one_of(_ASCII, st.text(max_size=40)))
def test_text_is_folded_by_one_rule(text: str) -> None:
    other_signs = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
    plain = unicodedata.normalize("NFKC", text).translate(other_signs).casefold()
    assert fold(text) == re.sub(r"\s+", " ", plain).strip()


@given(st.one_of(_ASCII, st.text(alphabet="ab1_-.:@/+ ,$", max_size=40)))
def test_tokens_begin_and_end_in_letters_or_digits(text: str) -> None:
    found = re.findall(r"[^\W_](?:[\w@.\-/:+]*[^\W_])?", fold(text))
    assert mentions(text).tokens == set(found)


def _stands_in(cue: str, text: str) -> bool:
    start = r"(?<![a-z])" if cue[0].isascii() and cue[0].isalpha() else ""
    end = r"(?![a-z])" if cue[-1].isascii() and cue[-1].isalpha() else ""
    return re.search(start + re.escape(cue) + end, text) is not None


@given(_SPOKEN)
def test_a_text_does_what_a_cue_in_it_says(text: str) -> None:
    said = {act for act, cue in _CUES if _stands_in(cue, fold(text))}
    assert said - {CONSENT} == acts(text) - {CONSENT}
    assert CONSENT in said or CONSENT not in acts(text)


@given(st.sampled_from([cue for act, cue in _CUES if act == CONSENT]), st.sampled_from(["", "zz. ", "a, "]))
def test_one_clause_that_agrees_is_enough(cue: str, before: str) -> None:
    assert CONSENT in acts(before + cue)
    assert CONSENT not in acts(f"{before}{cue} or not?")
