"""What counts as a secret or as personal data in running text.

Patterns ask for a shape that ordinary words and identifiers do not have. Neighbours are looked at as ASCII:
in Chinese or Japanese text a number may stand right beside a letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One shape. ``marks``: texts without any of these are skipped; ``accept`` has the last word about a match.

    A group ``value`` is what gets hidden; without one, the whole match.
    """

    kind: str
    regex: re.Pattern[str]
    marks: tuple[str, ...] = ()
    accept: Callable[[str], bool] | None = None


_SECRET_WORD = (
    r"(?:pass(?:word|wd|phrase|code)|secret|(?:api|access|private|signing|secret)[_-]?key"
    r"|credential|authorization|token|cookie|cvv|cvc|pin[_-]?code|ssn)"
)
_NAME = re.compile(rf"{_SECRET_WORD}(?:[_-](?:value|key|id|hash|text))?$", re.I)


def is_secret_name(name: str) -> bool:
    """Whether the name of an argument says that its value is a secret: ``password``, ``user.api_key``."""
    return len(name) <= 120 and _NAME.search(name) is not None


#: Texts without any of these name no secret; the words above are found without regard to case.
_NAMING = ("ass", "ASS", "ecret", "ECRET", "ey", "EY", "redential", "uthorization", "AUTHOR", "oken", "OKEN",
           "ookie", "cv", "CV", "pin", "PIN", "ssn", "SSN")  # fmt: skip

#: ``"password": "x"`` in JSON, also where that JSON is a text inside JSON.
_JSON_FIELD = re.compile(
    rf"""["'][A-Za-z0-9_.\-]{{0,40}}{_SECRET_WORD}\\*["']\s*:\s*\\*["'](?P<value>[^"'\\\n]{{3,4000}})""", re.I
)
#: ``password=x``, ``api_key: x``, ``Authorization: Bearer x``: one run without spaces that is no plain word.
_PLAIN_FIELD = re.compile(
    rf"""(?<![A-Za-z]){_SECRET_WORD}\s?(?:=|:)\s?["']?(?:bearer\s|basic\s|token\s)?"""
    r"""(?P<value>(?=[^\s"',;]*[0-9!#$%^&*+/_=])[^\s"',;<>()\[\]{}\\]{6,400})""",
    re.I,
)
SECRET_FIELDS = (
    Pattern(kind="secret", regex=_JSON_FIELD, marks=_NAMING),
    Pattern(kind="secret", regex=_PLAIN_FIELD, marks=("=", ":")),
)

#: Keys of well-known services, each told by its beginning.
_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)[-_][A-Za-z0-9_\-]{12,}"
    r"|sk-[A-Za-z0-9]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_\-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_\-]{35}"
    r"|ya29\.[0-9A-Za-z_\-]{20,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[A-Za-z0-9_\-]{40,}"
    r"|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"
    r"|lsv2_[a-z]{2}_[A-Za-z0-9_]{20,}"
    r")(?![A-Za-z0-9])"
)
_KEY_MARKS = ("sk", "pk", "rk", "gh", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "ya29.", "hf_",
              "npm_", "pypi-", "SG.", "lsv2_")  # fmt: skip

SECRETS = (
    Pattern(
        kind="key",
        regex=re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}-----|\Z)", re.S),
        marks=("-----BEGIN",),
    ),
    Pattern(kind="key", regex=_KEYS, marks=_KEY_MARKS),
    Pattern(
        kind="token",
        regex=re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
        marks=("eyJ",),
    ),
    Pattern(
        kind="token",
        regex=re.compile(r"(?<![A-Za-z])[Bb]earer\s+(?P<value>[A-Za-z0-9._~+/=-]{12,})"),
        marks=("earer",),
    ),
    Pattern(
        kind="secret",
        regex=re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:(?P<value>[^\s/@]{1,200})@"),
        marks=("://",),
    ),
    *SECRET_FIELDS,
)


def is_card(text: str) -> bool:
    """Whether digits are a card number: 13 to 19 of them, and the check digit is right (Luhn)."""
    digits = [int(one) for one in text if "0" <= one <= "9"]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_phone(text: str) -> bool:
    return 8 <= sum(one.isdigit() for one in text) <= 15


#: Neither inside a word nor inside a longer or a decimal number.
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_])(?<![0-9][.,:/-])", r"(?![A-Za-z0-9_]|[.,:/-][0-9])"

PERSONAL = (
    Pattern(
        kind="email",
        regex=re.compile(
            r"[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}"
        ),
        marks=("@",),
    ),
    Pattern(
        kind="card",
        regex=re.compile(_BEFORE + r"[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}" + _AFTER),
        accept=is_card,
    ),
    Pattern(
        kind="phone",
        regex=re.compile(r"(?<![A-Za-z0-9_+])\+[0-9][0-9 ().-]{6,18}[0-9]" + _AFTER),
        marks=("+",),
        accept=_is_phone,
    ),
    Pattern(
        kind="phone",
        regex=re.compile(_BEFORE + r"(?:\([0-9]{3}\) ?|[0-9]{3}[.-])[0-9]{3}[.-][0-9]{4}" + _AFTER),
        marks=("-", "."),
    ),
    Pattern(kind="phone", regex=re.compile(_BEFORE + r"1[3-9][0-9]{9}" + _AFTER)),
)
