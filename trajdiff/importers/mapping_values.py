"""Finds the values of a mapping in a document, translates them, and counts what was found and what was not."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.expressions import Scope
from trajdiff.importers.jsontext import compact
from trajdiff.importers.mapping_rules import ValueRule
from trajdiff.importers.naming import shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.transforms import BadValueError, apply_all
from trajdiff.model import Severity


class Coverage(Struct, kw_only=True):
    """What a mapping found in one file.

    ``found`` and ``null`` count values by key; ``unmatched`` are entries of trajectories that no rule fitted,
    ``left_out`` records that gave no trial, each as its place and its beginning.
    """

    records: int = 0
    trials: int = 0
    entries: int = 0
    found: dict[str, int] = field(default_factory=dict)
    null: dict[str, int] = field(default_factory=dict)
    expressions: dict[str, str] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def count(self, key: str, expression: str, value: Any) -> None:
        """Note a value of the record, or that there is none."""
        self.expressions[key] = expression
        if value is None:
            self.null[key] = self.null.get(key, 0) + 1
            return
        self.found[key] = self.found.get(key, 0) + 1
        self.examples.setdefault(key, shortened(value if isinstance(value, str) else compact(value), 40))


class Reader:
    """Reads values by their rules; a value that does not fit is told once for each key and kind."""

    def __init__(self, notices: Notices, coverage: Coverage) -> None:
        self.notices = notices
        self.coverage = coverage
        self.place = "$"

    def counted(self, rule: ValueRule, scope: Scope) -> Any:
        """A value of the record, counted for the coverage."""
        value = self.value(rule, scope)
        self.coverage.count(rule.key, rule.expression.text, value)
        return value

    def value(self, rule: ValueRule, scope: Scope, *, keep_bad: bool = False) -> Any:
        """The value after transforms and translation; with ``keep_bad`` one that does not fit is kept."""
        value = rule.expression.value(scope)
        try:
            value = apply_all(rule.decode, value)
        except BadValueError as error:
            if keep_bad:
                return value
            self.tell_bad(rule.key, value, str(error))
            value = None
        if value is None:
            return rule.missing
        if rule.values is None:
            return value
        known, translated = translate(rule.values, value)
        if not known:
            self.tell_unknown(rule, value)
            return None if rule.key == "stop" else value
        return translated

    def tell_bad(self, key: str, value: Any, expected: str) -> None:
        """Tell that a transform does not fit a value."""
        found = shortened(value if isinstance(value, str) else compact(value), 40)
        self.notices.once(
            Severity.WARNING,
            "bad_value",
            f"{key}: {expected}",
            f"{key}: expected {expected}, found {found}",
            f"at {self.place}; read as not recorded",
        )

    def tell_unknown(self, rule: ValueRule, value: Any) -> None:
        """Tell that a value is not in its table: an error, since the mapping says that it lists them all."""
        found = shortened(value if isinstance(value, str) else compact(value), 40)
        self.notices.once(
            Severity.ERROR,
            "unknown_value",
            f"{rule.key}: {found}",
            f'{rule.key}: the value "{found}" is not in the table of the mapping',
            f"at {self.place}, {rule.expression.text}",
            f"add it to {rule.expression.where.removesuffix('.path')}",
        )


def translate(values: Mapping[str, Any], value: Any) -> tuple[bool, Any]:
    """Whether the table has this value, and what it means; keys are texts or globs, the first match wins."""
    word = value if isinstance(value, str) else compact(value)
    if word in values:
        return True, values[word]
    for pattern, meaning in values.items():
        if fnmatchcase(word, pattern):
            return True, meaning
    return False, None
