"""Which values a message states: numbers, identifiers, dates; and the test whether it states a given one.

A message is compared by what it commits to, not by its wording. The mention test errs on
the side of "no": a short number or a common word counts only beside a word of the argument's name, so that a
"2" in a list is not taken for a count of two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from trajdiff.align.language import fold, month_numbers, number_words
from trajdiff.align.values import number, words

# Only ASCII letters and digits bind a number or an identifier: in scripts without spaces the words around it
# follow directly.
_NUMBERS = re.compile(
    r"(?<![a-z0-9_])(?<![a-z0-9][.,\-])([$€£¥]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![a-z0-9_]|-\d)"
)
_TOKENS = re.compile(r"[^\W_](?:[\w@.\-/:+]*[^\W_])?")
_ASCII_TOKENS = re.compile(r"[a-z0-9](?:[a-z0-9_@.\-/:+]*[a-z0-9])?")
#: What may stand inside a token but not at its ends, and spaces for all other signs of ASCII.
_INNER = "_@.-/:+"
_APART = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in _INNER)}
_DIGIT = re.compile(r"\d")
_PLAIN = re.compile(r"[\d.,]+")
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_CJK_DATE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]")
#: What stands between a day and its month.
_BETWEEN = frozenset({"th", "st", "nd", "rd", "of", "the"})
_SENTENCES = re.compile(r"[.!?;\n。！？；]+\s*")
#: Longer texts are documents, not statements; only their head is searched.
_TEXT_CAP = 20_000
#: A whole number below this, or a word of at most this many letters, is too common to identify anything.
_WEAK_NUMBER, _WEAK_WORD = 100, 3
#: Letters that the words of an identifier need to be a name of their own.
_SPOKEN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What one text states. ``values`` holds canonical numbers, ids and dates (month-day); ``amounts`` those
    numbers that are written with a currency sign or decimals, which no list number or count is."""

    folded: str
    tokens: frozenset[str]
    values: frozenset[str]
    amounts: frozenset[str]


@lru_cache(maxsize=4096)
def mentions(text: str) -> Mentions:
    """The values a text states."""
    folded = fold(text[:_TEXT_CAP])
    tokens = _tokens(folded)
    spoken = number_words()
    numbers, amounts = {str(spoken[token]) for token in spoken.keys() & tokens}, set()
    if _DIGIT.search(folded) is None:
        return Mentions(folded=folded, tokens=tokens, values=frozenset(numbers), amounts=frozenset())
    for sign, whole, decimals in _NUMBERS.findall(folded):
        value = number(whole.replace(",", "") + decimals) or whole
        numbers.add(value)
        if sign or decimals:
            amounts.add(value)
    ids = {token for token in tokens if not token.isalpha() and _is_id(token)}
    dates, used = _dates(folded)
    values = frozenset((numbers - used) | amounts | ids | set(dates))
    return Mentions(folded=folded, tokens=tokens, values=values, amounts=frozenset(amounts))


def _tokens(folded: str) -> frozenset[str]:
    if folded.isascii():  # what ``_TOKENS`` finds, in a tenth of the time
        found = {chunk.strip(_INNER) for chunk in folded.translate(_APART).split()}
        found.discard("")
        return frozenset(found)
    return frozenset(_TOKENS.findall(folded)) | frozenset(_ASCII_TOKENS.findall(folded))


def _is_id(token: str) -> bool:
    """Whether a token names something: digits beside letters, or parted by signs. Another spelling of a number
    or date is no value of its own, nor is a stretch of text without spaces that holds a number."""
    if not token.isascii() or _DIGIT.search(token) is None:
        return False
    return not (_PLAIN.fullmatch(token) or _ISO_DATE.fullmatch(token))


def commitments(text: str) -> frozenset[str]:
    """The values that make a statement specific: identifiers, dates and numbers, list numbering left out."""
    return frozenset(v for v in mentions(text).values if not (v.isdigit() and int(v) < 10))


def states(text: str, value: str, path: str = "") -> bool:
    """Whether a text states a canonical scalar that stood at ``path`` of an argument or result."""
    found = mentions(text)
    value = value.lstrip("#")
    if not value or value in ("null", "true", "false"):
        return False
    date = _ISO_DATE.fullmatch(value)
    if date:
        return f"{int(date[2])}-{int(date[3])}" in found.values
    plain = number(value)
    if plain is not None and len(value) < 7:
        return _states_number(found, plain, path)
    if " " not in value and value.isascii():
        known = value in found.tokens or value in found.values
        if not known and _words_of_id(value) is not None:
            return f" {_words_of_id(value)} " in f" {' '.join(_TOKENS.findall(found.folded))} "
        return known and (len(value) > _WEAK_WORD or _near_name(found.folded, value, path))
    # Only ASCII letters and digits have boundaries of their own; a number never ends inside a longer one.
    start = r"(?<![a-z0-9])" if value[0].isascii() and value[0].isalnum() else ""
    end = r"(?![a-z0-9])" if value[-1].isascii() and value[-1].isalnum() else ""
    return len(value) > 1 and re.search(start + re.escape(value) + end, found.folded) is not None


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text's head."""
    return tuple(part for part in re.split(r"(?<=[.!?;。！？；])\s+|\n", text[:_TEXT_CAP]) if part.strip())


@lru_cache(maxsize=4096)
def _words_of_id(value: str) -> str | None:
    """What people say for an identifier that begins with words (``spare_part_1234``: spare part), or None."""
    parts = [part for part in re.split(r"[_\-]", value) if part]
    spoken = [part for part in parts if part.isalpha() and len(part) > 2]
    numbered = any(part.isdigit() for part in parts)
    return " ".join(spoken) if numbered and spoken and len("".join(spoken)) >= _SPOKEN else None


def _states_number(found: Mentions, plain: str, path: str) -> bool:
    values = {v for v in (plain, plain.lstrip("-")) if v in found.values}
    if not values:
        return False
    if abs(float(plain)) >= _WEAK_NUMBER or values & found.amounts:
        return True
    return _near_name(found.folded, plain, path)


def _near_name(folded: str, value: str, path: str) -> bool:
    """Whether a sentence has the value and a word that looks like one of the argument's name."""
    stems = {word[: max(3, len(word) - 2)] for word in words(path) if len(word) > 2 and not word.isdigit()}
    number_names = {name for name, amount in number_words().items() if str(amount) == value}
    for sentence in _SENTENCES.split(folded):
        here = _TOKENS.findall(sentence)
        if (value in here or number_names & set(here)) and any(w.startswith(s) for w in here for s in stems):
            return True
    return False


def _dates(folded: str) -> tuple[list[str], frozenset[str]]:
    """Dates of a text as month-day, and the numbers that only are parts of dates written in words."""
    found = [f"{int(m)}-{int(d)}" for _, m, d in _ISO_DATE.findall(folded)]
    used: set[str] = set()
    if not folded.isascii():
        cjk = _CJK_DATE.findall(folded)
        found += [f"{int(m)}-{int(d)}" for _, m, d in cjk]
        used |= {part for match in cjk for part in match if part}
    months = month_numbers()
    if any(name in folded for name in months):
        parts = [part for part in re.findall(r"[a-z]+|\d+", folded) if part not in _BETWEEN]
        for at, pair in enumerate(pairwise(parts)):
            if months.keys().isdisjoint(pair):
                continue
            for month, day in (pair, pair[::-1]):
                if month in months and day.isdigit() and 1 <= int(day) <= 31:
                    found.append(f"{months[month]}-{int(day)}")
                    used |= {day, *(year for year in parts[at + 2 : at + 3] if re.fullmatch(r"\d{4}", year))}
    return found, frozenset(number(part.lstrip("0") or "0") or part for part in used)
