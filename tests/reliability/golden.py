"""What the tests of golden values share: picking cases, reading counts in any of their forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

Case = dict[str, Any]


def of(cases: dict[str, Case], group: str) -> list[Case]:
    found = [case for case in cases.values() if case["group"] == group]
    assert found, f"no golden case in group {group}"
    return found


def strings(case: Case, cases: dict[str, Case]) -> list[str]:
    given = case["input"]
    return given.get("trial_strings") or strings(cases[given["trial_strings_of"]], cases)


def counts(case: Case, cases: dict[str, Case]) -> list[tuple[int, int]]:
    """(n, c) per task."""
    given = case["input"]
    if "trial_strings" in given or "trial_strings_of" in given:
        return [(len(text), text.count("1")) for text in strings(case, cases)]
    if "histogram" in given:
        return [(given["n"], c) for c, tasks in enumerate(given["histogram"]) for _ in range(tasks)]
    n = given["n"] if isinstance(given["n"], list) else [given["n"]] * len(given["c"])
    return list(zip(n, given["c"], strict=True))


def exactly(texts: list[Any]) -> list[Any]:
    return [None if text is None else Fraction(text) for text in texts]


def near(value: Any, tolerance: float = 1e-9) -> Any:
    return pytest.approx(value, abs=tolerance, rel=0)
