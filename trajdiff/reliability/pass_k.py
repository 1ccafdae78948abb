"""The two estimators and their means over tasks, in exact arithmetic.

pass^k = C(c,k) / C(n,k): the chance that k trials drawn without replacement from the n counted ones all
pass. pass@k = 1 - C(n-c,k) / C(n,k): the chance that at least one of them does. Both for 1 <= k <= n.
For future runs this assumes independent trials with a fixed success probability per task.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from trajdiff.errors import InputError


class InvalidCountsError(InputError, ValueError):
    """Counts for which pass^k has no value: not 1 <= k <= n, not 0 <= c <= n, not integers, no tasks."""


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Chance that k of n trials, drawn without replacement, are all among the c accepted ones.

    C(c,k) / C(n,k), integers divided exactly and rounded once (Yao et al. 2024, arXiv:2406.12045).
    Raises ``InvalidCountsError`` (a ``ValueError``) unless 0 <= c <= n and 1 <= k <= n, all integers.
    """
    _check(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k of n trials, drawn without replacement, is accepted.

    1 - C(n-c,k) / C(n,k) without cancellation (Chen et al. 2021, arXiv:2107.03374). Raises as ``pass_hat_k``.
    """
    _check(n, c, k)
    draws = math.comb(n, k)
    return (draws - math.comb(n - c, k)) / draws


def pass_hat_fraction(n: int, c: int, k: int) -> Fraction:
    """``pass_hat_k`` as a fraction, for sums that must not round on the way. Raises as ``pass_hat_k``."""
    _check(n, c, k)
    return Fraction(math.comb(c, k), math.comb(n, k))


def pass_at_fraction(n: int, c: int, k: int) -> Fraction:
    """``pass_at_k`` as a fraction. Raises as ``pass_hat_k``."""
    _check(n, c, k)
    return 1 - Fraction(math.comb(n - c, k), math.comb(n, k))


def none_of_k(n: int, c: int, k: int) -> float:
    """Chance that none of k trials is accepted: what to show where pass@k rounds to 1. Raises as above."""
    _check(n, c, k)
    return math.comb(n - c, k) / math.comb(n, k)


def log10_pass_hat_k(n: int, c: int, k: int) -> float:
    """Base-10 logarithm of pass^k, for values that underflow; minus infinity where pass^k is 0 (c < k).

    Absolute error about 1e-16 times the larger of the two logarithms. Raises as ``pass_hat_k``.
    """
    _check(n, c, k)
    return math.log10(math.comb(c, k)) - math.log10(math.comb(n, k)) if c >= k else -math.inf


def task_curve(n: int, c: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """pass^k and pass@k of one task for k = 1 up to n; both empty for n = 0. Raises as ``pass_hat_k``."""
    return suite_curve([(n, c)]) if n else ((), ())


def suite_curve(
    counts: Iterable[tuple[int, int]], most: int | None = None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """pass^k and pass@k of a suite: equal-weight means over tasks, for k = 1 up to the smallest n.

    ``counts`` are (n, c) per task; tasks with n = 0 have no value and are left out. ``most`` ends the curve
    earlier. Summed exactly, so that the order of tasks cannot change a digit. Raises
    ``InvalidCountsError`` where no task is left.
    """
    tasks = Counter(counts)
    used = {(n, c): tasks[n, c] for n, c in tasks if not (n == 0 and c == 0)}
    if not used:
        raise InvalidCountsError("no task has a counted trial" if tasks else "no tasks")
    for n, c in used:
        _check(n, c, 1)
    size = sum(used.values())
    reach = min(min(n for n, _ in used), most or math.inf)
    # C(a,k) of every a in use, carried from one k to the next: math.comb anew would cost a second per task
    # where thousands of trials are planned.
    ways = dict.fromkeys({a for n, c in used for a in (n, c, n - c)}, 1)
    hat, at = [], []
    for k in range(1, int(reach) + 1):
        ways = {a: way * max(a - k + 1, 0) // k for a, way in ways.items()}
        hat.append(_mean(((n, times * ways[c]) for (n, c), times in used.items()), ways, size))
        some = ((n, times * (ways[n] - ways[n - c])) for (n, c), times in used.items())
        at.append(_mean(some, ways, size))
    return tuple(hat), tuple(at)


def _mean(parts: Iterable[tuple[int, int]], ways: Mapping[int, int], size: int) -> float:
    """Mean of numerators over C(n,k): one division per n, rounded once at the end."""
    above: Counter[int] = Counter()
    for n, numerator in parts:
        above[n] += numerator
    if len(above) == 1:
        (n,) = above
        return above[n] / (ways[n] * size)
    return float(sum((Fraction(above[n], ways[n]) for n in above), Fraction(0)) / size)


def disagreement(n: int, c: int) -> float | None:
    """Share of pairs of trials with different outcomes, c(n-c) / C(n,2); None below two trials."""
    return c * (n - c) / math.comb(n, 2) if n >= 2 else None


def format_k(values: Sequence[float], k: int) -> str:
    """pass^k for a table, two decimals; ``n/a`` where k is larger than the number of counted trials.

    ``values[k-1]`` belongs to k, as in ``TaskReliability``. Raises ``InvalidCountsError`` for k < 1.
    """
    if k < 1:
        raise InvalidCountsError(f"k is {k}, not 1 or more")
    return f"{values[k - 1]:.2f}" if k <= len(values) else "n/a"


def gap_contribution(n: int, c: int, k: int) -> float:
    """What one task adds to mean minus pass^k: c/n - C(c,k)/C(n,k), above 0 for mixed tasks only."""
    return float(Fraction(c, n) - pass_hat_fraction(n, c, k)) if n else 0.0


def format_rate(value: float, stderr: float | None) -> str:
    """A rate for people: two decimals, three only where the standard error is above 0 and below 0.01."""
    return f"{value:.3f}" if stderr is not None and 0 < stderr < 0.01 else f"{value:.2f}"


def why_absent(k: int, smallest_n: int) -> str:
    """Why a suite has no pass^k at this k: ``needs 5 trials, smallest n is 4``."""
    return f"needs {k} trials, smallest n is {smallest_n}"


def _check(n: int, c: int, k: int) -> None:
    for name, value in (("n", n), ("c", c), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidCountsError(f"{name} is {value!r}, not an integer")
    if n < 1:
        raise InvalidCountsError(f"n is {n}: pass^k needs a counted trial")
    if not 0 <= c <= n:
        raise InvalidCountsError(f"{c} accepted of {n} counted trials")
    if not 1 <= k <= n:
        raise InvalidCountsError(f"k is {k}, not 1 to {n}")
