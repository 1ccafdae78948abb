"""Rules about what leaves the tool: what is hidden in shared files, and which divergences are accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from trajdiff.errors import UsageError
from trajdiff.frozen import field_names
from trajdiff.settings_check import near, quote


class RedactRules(msgspec.Struct, frozen=True, kw_only=True):
    """What is hidden in files that are meant to be shared; ``patterns`` are own regular expressions."""

    secrets: bool = True
    personal: bool = True
    patterns: tuple[str, ...] = ()


class AcceptRule(msgspec.Struct, frozen=True, kw_only=True):
    """A divergence that a person knows and takes for harmless: it stays visible and fails no gate.

    ``task`` and ``tool`` are globs, ``kind`` and ``argument`` exact; what is None matches anything. From the
    day after ``until`` (ISO date) on, the entry no longer applies.
    """

    why: str
    task: str | None = None
    kind: str | None = None
    tool: str | None = None
    argument: str | None = None
    until: str | None = None


#: The kinds an entry may name; a test holds them to those the analysis knows.
KINDS = (
    "missing_step", "wrong_argument", "wrong_tool", "extra_write", "ineffective_write", "duplicate_write",
    "wrong_order", "result_difference", "misread_result", "wrong_answer", "unrecovered_error", "early_stop",
    "loop", "user_deviation", "infrastructure", "same_path_other_outcome",
)  # fmt: skip


def undated(document: dict[str, Any]) -> dict[str, Any]:
    """The table with dates of accept entries as texts: TOML has dates, the schema (JSON) has none."""
    entries = document.get("accept")
    if not isinstance(entries, list):
        return document

    def text(entry: Any) -> Any:
        if not isinstance(entry, dict) or not isinstance(entry.get("until"), date):
            return entry
        return {**entry, "until": entry["until"].isoformat()}

    return {**document, "accept": [text(entry) for entry in entries]}


def redact_rules(table: Mapping[str, Any], origin: str) -> RedactRules:
    """Redaction rules from their table. Raises ``UsageError`` for a pattern that is no regular expression."""
    patterns = tuple(table.get("patterns", ()))
    for at, pattern in enumerate(patterns):
        place = f"at redact.patterns[{at}] (found {quote(pattern)})"
        try:
            empty = re.compile(pattern).search("") is not None
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{origin}: no regular expression: {error}", place) from error
        if empty:
            raise UsageError(f"{origin}: a redaction pattern must not match an empty text", place)
    return RedactRules(**{**table, "patterns": patterns})


def accept_rule(entry: Mapping[str, str], number: int, origin: str) -> AcceptRule:
    """An accept entry from its table; ``number`` counts from 1. Raises ``UsageError``."""
    place = f"at accept[{number - 1}]"
    rule = AcceptRule(**entry)
    if not (rule.task or rule.kind or rule.tool or rule.argument):
        raise UsageError(
            f"{origin}: accept entry {number} would accept everything",
            place,
            "name a task, kind, tool or argument",
        )
    if rule.kind is not None and rule.kind not in KINDS:
        hint = near(rule.kind, KINDS) or f"known: {', '.join(KINDS)}"
        raise UsageError(f"{origin}: accept entry {number}: no kind {rule.kind}", f"{place}.kind", hint)
    if rule.until is not None:
        try:
            date.fromisoformat(rule.until)
        except ValueError as error:
            raise UsageError(
                f"{origin}: accept entry {number}: until must be a date such as 2027-03-01",
                f"{place}.until (found {quote(rule.until)})",
            ) from error
    return rule


def accept_parts(rule: AcceptRule) -> dict[str, str]:
    """What an entry says, without what it leaves open."""
    parts = {f: getattr(rule, f) for f in field_names(AcceptRule)}
    return {key: part for key, part in parts.items() if part is not None}
