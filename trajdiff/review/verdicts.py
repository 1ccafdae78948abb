"""A reviewer's verdict on one divergence or abstention, and the file they are kept in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from trajdiff.errors import InputError, UsageError
from trajdiff.files import read_text
from trajdiff.natural import natural_key

AGREE, DISAGREE, UNSURE = "agree", "disagree", "unsure"
VERDICTS = (AGREE, DISAGREE, UNSURE)
NOT_A_FAILURE = "not a failure"
CATEGORIES = ("agent", "user", "environment", "infrastructure", "grader", NOT_A_FAILURE, "other")

#: Where verdicts are kept unless told otherwise.
DEFAULT_FILE = "trajdiff.reviews.jsonl"
SCHEMA = "trajdiff.review/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One verdict. ``row_id`` and ``identity`` name the divergence; the latter is the same in a rerun, and
    empty for an abstention. ``grade`` and ``sentence`` are what was shown to the reviewer."""

    row_id: str
    task_id: str
    trial_id: str
    verdict: str
    category: str | None = None
    ref: str | None = None
    note: str | None = None
    reviewer: str | None = None
    identity: str = ""
    grade: str | None = None
    sentence: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """One reviewer has one verdict on a row; a later one replaces it."""
        return self.row_id, self.reviewer or ""


def merged(old: Iterable[Review], new: Iterable[Review]) -> tuple[Review, ...]:
    """All verdicts, the new ones in the place of older ones by the same reviewer, in a total order."""
    kept = {one.key: one for one in old}
    kept |= {one.key: one for one in new}
    return tuple(
        sorted(
            kept.values(),
            key=lambda one: (
                natural_key(one.task_id),
                natural_key(one.trial_id),
                one.row_id,
                one.reviewer or "",
            ),
        )
    )


def to_lines(reviews: Iterable[Review]) -> str:
    """One line per verdict, made to be committed: sorted keys, no empty fields, no date."""
    lines = []
    for one in reviews:
        entry = {name: value for name, value in asdict(one).items() if value not in (None, "")}
        lines.append(json.dumps({"schema": SCHEMA, **entry}, ensure_ascii=False, sort_keys=True))
    return "".join(f"{line}\n" for line in lines)


def read_reviews(path: Path, shown: str) -> tuple[Review, ...]:
    """The verdicts of a file; none where there is no such file. Raises ``InputError`` that names the line."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}: not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"{shown}: reviews cannot be read ({error.strerror or error})") from error
    return tuple(
        _review(line, number, shown) for number, line in enumerate(text.splitlines(), 1) if line.strip()
    )


def _review(line: str, number: int, shown: str) -> Review:
    place = f"{shown}: line {number}"
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: no JSON", "repair the line, or remove it") from error
    if not isinstance(entry, dict) or entry.get("schema") != SCHEMA:
        raise InputError(f"{place}: no review ({SCHEMA})", "written by: trajdiff review import")
    return _checked(entry, place)


def _checked(entry: dict[str, Any], place: str) -> Review:
    known = {one.name for one in fields(Review)}
    values = {name: value for name, value in entry.items() if name in known}
    for name in ("row_id", "task_id", "trial_id", "verdict"):
        if not isinstance(values.get(name), str):
            raise InputError(f"{place}: {name} is missing", f"a review ({SCHEMA}) has one")
    if values["verdict"] not in VERDICTS:
        raise InputError(f"{place}: no verdict {values['verdict']!r}", f"known: {', '.join(VERDICTS)}")
    if any(value is not None and not isinstance(value, str) for value in values.values()):
        raise InputError(f"{place}: all fields of a review are texts")
    return Review(**values)
