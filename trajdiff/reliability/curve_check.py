"""Whether a published curve can come from so many tasks with so many trials each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from trajdiff.errors import UsageError

#: Room given to the solver's floats; a histogram it finds is confirmed with fractions.
_SLACK = 1e-7
#: Other numbers of trials that are tried where the given one is impossible.
MOST_TRIALS = 10


class Status(StrEnum):
    """What the figures allow."""

    UNIQUE = "unique"
    AMBIGUOUS = "ambiguous"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One published figure: ``metric`` is ``pass_hat`` or ``pass_at``, the value within ``half_unit``."""

    metric: str
    k: int
    value: Fraction
    half_unit: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveCheck:
    """The answer. ``ranges[c]`` are the fewest and most tasks with c passes; ``histogram`` where only one fits.

    ``unrounded`` solves the figures as they stand (empty where not all of pass^1 ... pass^n are given);
    ``possible_with`` names other numbers of trials that fit, where this one does not.
    """

    status: Status
    tasks: int
    n: int
    histogram: tuple[int, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    unrounded: tuple[Fraction, ...] = ()
    possible_with: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """One line for people; "impossible" never says which of the figures is off."""
        if self.status is Status.UNIQUE:
            return f"histogram {' '.join(map(str, self.histogram))} (unique)"
        if self.status is Status.AMBIGUOUS:
            spans = [str(a) if a == b else f"{a} to {b}" for a, b in self.ranges]
            return f"not determined: tasks with 0 to {self.n} passes {', '.join(spans)}"
        also = f"; possible with n = {', '.join(map(str, self.possible_with))}" if self.possible_with else ""
        return f"no {self.tasks} tasks with {self.n} trials each give this curve{also}"


def published(metric: str, k: int, text: str) -> Published:
    """A figure as it was printed: ``.420``, ``0.42``, ``75.9%``. Its last digit says how it was rounded."""
    clean = text.strip()
    percent = clean.endswith("%")
    digits = clean.removesuffix("%").strip()
    try:
        value = Fraction(digits)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{text!r} is no figure such as .420 or 42.0%") from None
    if "/" in digits or "e" in digits.lower():
        raise UsageError(f"{text!r} is no figure such as .420 or 42.0%")
    places = len(digits.partition(".")[2])
    scale = 100 if percent else 1
    value /= scale
    if not 0 <= value <= 1:
        raise UsageError(f"{text!r} is not between 0 and 1")
    return Published(metric=metric, k=k, value=value, half_unit=Fraction(1, 2 * 10**places * scale))


def histogram_of(pass_hat: Sequence[Fraction], tasks: int) -> tuple[Fraction, ...]:
    """How many tasks have 0 ... n passes, from the exact curve pass^1 ... pass^n of equal n."""
    n = len(pass_hat)
    counts = [Fraction(0)] * (n + 1)
    for k in range(n, 0, -1):
        above = sum((counts[c] * math.comb(c, k) for c in range(k + 1, n + 1)), Fraction(0))
        counts[k] = pass_hat[k - 1] * tasks * math.comb(n, k) - above
    counts[0] = tasks - sum(counts[1:], Fraction(0))
    return tuple(counts)


def check_curve(figures: Sequence[Published], tasks: int, n: int, *, try_others: bool = True) -> CurveCheck:
    """Looks for histograms that round to all figures. Raises ``UsageError`` for impossible arguments."""
    if tasks < 1 or n < 1 or not figures:
        raise UsageError("a curve needs at least one task, one trial and one figure")
    for figure in figures:
        if not 1 <= figure.k <= n:
            raise UsageError(f"k is {figure.k}, not 1 to {n}")
    ranges = _ranges(figures, tasks, n)
    unrounded = _unrounded(figures, tasks, n)
    if ranges is None:
        smallest = max(figure.k for figure in figures)
        others = [
            other
            for other in (range(smallest, MOST_TRIALS + 1) if try_others else ())
            if other != n and _ranges(figures, tasks, other, only_feasible=True) is not None
        ]
        return CurveCheck(
            status=Status.IMPOSSIBLE, tasks=tasks, n=n, unrounded=unrounded, possible_with=tuple(others)
        )
    unique = all(low == high for low, high in ranges)
    return CurveCheck(
        status=Status.UNIQUE if unique else Status.AMBIGUOUS,
        tasks=tasks,
        n=n,
        histogram=tuple(low for low, _ in ranges) if unique else (),
        ranges=ranges,
        unrounded=unrounded,
    )


def _value(metric: str, n: int, c: int, k: int) -> Fraction:
    if metric == "pass_hat":
        return Fraction(math.comb(c, k), math.comb(n, k))
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def _fits(histogram: Sequence[int], figures: Sequence[Published], tasks: int, n: int) -> bool:
    """Whether a histogram rounds to every figure, in fractions."""
    if sum(histogram) != tasks or min(histogram) < 0:
        return False
    for figure in figures:
        total = sum(
            (count * _value(figure.metric, n, c, figure.k) for c, count in enumerate(histogram)), Fraction(0)
        )
        if abs(total / tasks - figure.value) > figure.half_unit:
            return False
    return True


def _ranges(
    figures: Sequence[Published], tasks: int, n: int, *, only_feasible: bool = False
) -> tuple[tuple[int, int], ...] | None:
    """Fewest and most tasks for each c; None where no histogram fits."""
    solve = _solver(figures, tasks, n)
    if solve([0.0] * (n + 1)) is None:
        return None
    if only_feasible:
        return ()
    out = []
    for c in range(n + 1):
        ends = []
        for sign in (1.0, -1.0):
            found = solve([sign if index == c else 0.0 for index in range(n + 1)])
            if found is None:
                return None
            ends.append(found[c])
        out.append((ends[0], ends[1]))
    return tuple(out)


def _solver(figures: Sequence[Published], tasks: int, n: int) -> Any:
    """A function from an objective to the histogram that minimises it, or None."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    rows = [[1.0] * (n + 1)]
    low, high = [float(tasks)], [float(tasks)]
    for figure in figures:
        rows.append([float(_value(figure.metric, n, c, figure.k)) for c in range(n + 1)])
        low.append(float((figure.value - figure.half_unit) * tasks) - _SLACK)
        high.append(float((figure.value + figure.half_unit) * tasks) + _SLACK)
    limits = LinearConstraint(np.array(rows), low, high)

    def solve(objective: Sequence[float]) -> tuple[int, ...] | None:
        found = milp(
            np.array(objective),
            constraints=limits,
            integrality=np.ones(n + 1),
            bounds=Bounds(0, tasks),
            options={"mip_rel_gap": 0.0},
        )
        if found.x is None:
            return None
        histogram = tuple(int(value) for value in np.rint(found.x))
        return histogram if _fits(histogram, figures, tasks, n) else None

    return solve


def _unrounded(figures: Sequence[Published], tasks: int, n: int) -> tuple[Fraction, ...]:
    by_k: Mapping[int, Fraction] = {f.k: f.value for f in figures if f.metric == "pass_hat"}
    if sorted(by_k) != list(range(1, n + 1)):
        return ()
    return histogram_of([by_k[k] for k in range(1, n + 1)], tasks)
