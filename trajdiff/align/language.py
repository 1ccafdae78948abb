"""Word lists and speech-act cues, read from ``languages/*.toml``; the folded form of text.

Languages are data: a file more is a language more. All lists of all languages apply at once, because a log
does not say which language it is in and a trial may hold several.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

_SPACES = re.compile(r"\s+")
_RUNS = re.compile(r"[a-z]+")
_PAIR = re.compile(r"[a-z]{2}")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
_CLAUSES = re.compile(r"[^.,;:!?\n。，；：！？、]+[?？]?")
_QUESTION = ("?", "？")
#: The speech act that is looked at clause by clause.
CONSENT = "consent"
#: Characters of a clause that may be a cue of one character and a particle.
_WHOLE_CLAUSE = 2
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")


#: Words, and characters of scripts without spaces, that a word of negation reaches.
_NEGATED, _NEGATED_UNSPACED = 4, 6

#: Longer texts are results and documents: remembering them would hold the whole log in memory.
_REMEMBERED = 1_000


def fold(text: str) -> str:
    """Text as it is compared: compatibility forms (full-width = half-width), case and white space folded."""
    return _fold(text) if len(text) > _REMEMBERED else _fold_remembered(text)


@lru_cache(maxsize=8192)
def _fold_remembered(text: str) -> str:
    return _fold(text)


def _fold(text: str) -> str:
    if text.isascii():  # the same in a quarter of the time: no other forms, no other case
        return " ".join(text.lower().split())
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()).strip()


@lru_cache(maxsize=8192)
def is_unspaced(text: str) -> bool:
    """Whether the text is mostly in a script that puts no spaces between words."""
    if text.isascii():
        return False
    return 0 < sum(map(str.isalpha, text)) <= 2 * len(_UNSPACED.findall(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language's lists. ``acts`` maps a speech act (consent, refuse, ask, handover, done) to its cues,
    folded."""

    code: str
    opposites: tuple[tuple[str, str], ...]
    negations: tuple[str, ...]
    months: tuple[tuple[str, ...], ...]
    numbers: tuple[tuple[str, int], ...]
    acts: tuple[tuple[str, tuple[str, ...]], ...]


@lru_cache(maxsize=1)
def languages() -> tuple[Language, ...]:
    """All languages that are shipped, in order of their codes."""
    folder = resources.files("trajdiff.align") / "languages"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda e: e.name)
    return tuple(_language(entry.name[:-5], tomllib.loads(entry.read_text("utf-8"))) for entry in files)


def acts(text: str) -> frozenset[str]:
    """The speech acts whose cues occur in the text."""
    return _acts(fold(text))


@lru_cache(maxsize=8192)
def _acts(folded: str) -> frozenset[str]:
    by_run, signs, others = _all_cues()
    beginning = by_run.keys() & _RUNS.findall(folded)
    cues = [cue for run in beginning for cue in by_run[run] if cue.is_in(folded)]
    cues += [cue for cue in (signs if folded.isascii() else others) if cue.is_in(folded)]
    found = {cue.act for cue in cues}
    if CONSENT in found:
        # Only a clause that has one of the cues that the text has can be one that agrees.
        agreeing = [cue.text for cue in cues if cue.act == CONSENT]
        apart = (clause for clause in _CLAUSES.findall(folded) if any(cue in clause for cue in agreeing))
        if not any(map(_consents, apart)):
            found.discard(CONSENT)
    return frozenset(found)


def clauses(text: str) -> tuple[str, ...]:
    """The clauses of a text, folded, each with the sign of a question it ends in."""
    return tuple(_CLAUSES.findall(fold(text)))


def asserted(text: str) -> str:
    """A text, folded, without what its words of negation reach: the few words behind one in the same clause. A
    question keeps its own ("can't you cancel it?" asks for it)."""
    return " ; ".join(c if c.endswith(_QUESTION) else _without_negated(c) for c in clauses(text))


def _without_negated(clause: str) -> str:
    kept: list[str] = []
    reach = 0
    for word in clause.split():
        reach = _NEGATED if word.isascii() and word in _negations() else reach - 1
        if reach < 0:
            kept.append(word)
    return _unspaced_negation().sub(" ", " ".join(kept))


@lru_cache(maxsize=1)
def _negations() -> frozenset[str]:
    return frozenset(no for language in languages() for no in language.negations)


@lru_cache(maxsize=1)
def _unspaced_negation() -> re.Pattern[str]:
    # Longer entries are greetings that hold a word of consent.
    signs = "".join(sorted(no for no in _negations() if len(no) == 1 and not no.isascii()))
    return re.compile(f"[{signs}].{{0,{_NEGATED_UNSPACED}}}")


def declines(text: str) -> bool:
    """Whether a text begins with a no: a word of negation, in scripts without spaces one that the text begins
    with. Greetings and words of consent that hold one are none."""
    if CONSENT in acts(text):
        return False
    first = next((clause.strip() for clause in clauses(text) if clause.strip()), "")
    if first.endswith(_QUESTION):
        return False
    opening = first.split()[:1]
    return any(
        [no] == opening if no.isascii() else len(no) == 1 and first.startswith(no)
        for language in languages()
        for no in language.negations
    )


def _consents(clause: str) -> bool:
    """Whether a clause agrees: it has a cue, nothing in it says no ("no, do not proceed"), and it asks nothing
    ("how do we proceed?"). A cue of one character is a word only where it is the whole clause."""
    clause = clause.strip()
    if clause.endswith(_QUESTION):
        return False
    cues = [pattern.search(clause) for pattern in _consent_patterns()]
    if not any(cue is not None and (len(cue.group()) > 1 or len(clause) <= _WHOLE_CLAUSE) for cue in cues):
        return False
    # "没问题" agrees although it holds a word of negation: what a cue itself says denies nothing.
    for cue in cues:
        clause = clause.replace(cue.group(), " ") if cue is not None and len(cue.group()) > 1 else clause
    terms = set(clause.split())
    return not any(no in terms or (not no.isascii() and no in clause) for no in _negations())


@lru_cache(maxsize=1)
def _consent_patterns() -> tuple[re.Pattern[str], ...]:
    """The patterns of consent, language by language."""
    return tuple(_pattern(cues) for lang in languages() for act, cues in lang.acts if act == CONSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cue:
    """One cue of a speech act; ``alone`` where it is a single word of letters a to z."""

    act: str
    text: str
    alone: bool

    def is_in(self, folded: str) -> bool:
        """Whether it stands in the text as a word; of a single word that the text has that is known."""
        if self.alone:
            return True
        at = folded.find(self.text)
        while at >= 0:
            if _is_bounded(folded, at, at + len(self.text)):
                return True
            at = folded.find(self.text, at + 1)
        return False


def _is_bounded(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a text ends where its words end. Only letters a to z have such bounds: other scripts
    have none."""
    before, after = text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1]
    return _PAIR.fullmatch(before) is None and _PAIR.fullmatch(after) is None


@lru_cache(maxsize=1)
def _all_cues() -> tuple[dict[str, tuple[_Cue, ...]], tuple[_Cue, ...], tuple[_Cue, ...]]:
    """The cues of all acts by the letters a to z that they begin with, and those that begin otherwise: the ones
    in ASCII, then all of them. A text has few of the words that cues begin with, so that few are looked for."""
    by_run: dict[str, list[_Cue]] = {}
    others: list[_Cue] = []
    for language in languages():
        for act, cues in language.acts:
            for text in cues:
                run = _RUNS.match(text)
                cue = _Cue(act=act, text=text, alone=run is not None and run.group() == text)
                (others if run is None else by_run.setdefault(run.group(), [])).append(cue)
    signs = tuple(cue for cue in others if cue.text.isascii())
    return {run: tuple(cues) for run, cues in by_run.items()}, signs, tuple(others)


@lru_cache(maxsize=8)
def cue_words(act: str) -> frozenset[str]:
    """All words of the cues of a speech act, over all languages."""
    return frozenset(
        word
        for lang in languages()
        for name, cues in lang.acts
        if name == act
        for cue in cues
        for word in cue.split()
    )


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[str]]:
    """Every word that has opposites, with them, over all languages."""
    found: dict[str, set[str]] = {}
    for language in languages():
        for left, right in language.opposites:
            found.setdefault(left, set()).add(right)
            found.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in found.items()}


@lru_cache(maxsize=1)
def number_words() -> dict[str, int]:
    """Number words of all languages that have spaces between words."""
    return {word: value for language in languages() for word, value in language.numbers if word.isascii()}


@lru_cache(maxsize=1)
def month_numbers() -> dict[str, int]:
    """Month names of all languages, to 1..12."""
    pairs = (
        (name, number) for lang in languages() for number, names in enumerate(lang.months, 1) for name in names
    )
    return dict(pairs)


def opposed(left: Iterable[str], right: Iterable[str]) -> bool:
    """Whether two bags of words differ by a pair of opposite words."""
    left, right = frozenset(left), frozenset(right)
    known = opposites()
    right_only = right - left
    return any(word in known and not known[word].isdisjoint(right_only) for word in left - right)


def _language(code: str, data: dict[str, Any]) -> Language:
    return Language(
        code=code,
        opposites=tuple((a, b) for a, b in data["opposites"]),
        negations=tuple(data["negations"]),
        months=tuple(tuple(names) for names in data["months"]),
        numbers=tuple(data["numbers"].items()),
        acts=tuple((name, tuple(map(fold, cues))) for name, cues in data["acts"].items()),
    )


def _pattern(cues: Sequence[str]) -> re.Pattern[str]:
    # Word boundaries only where the cue begins or ends with an ASCII letter: other scripts have none.
    def bounded(cue: str) -> str:
        start = r"(?<![a-z])" if cue[0].isascii() and cue[0].isalpha() else ""
        end = r"(?![a-z])" if cue[-1].isascii() and cue[-1].isalpha() else ""
        return start + re.escape(cue) + end

    return re.compile("|".join(bounded(cue) for cue in sorted(cues, key=lambda c: (-len(c), c))))
