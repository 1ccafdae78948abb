"""Two systems on the same tasks: differences per task, never two intervals side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.natural import natural
from trajdiff.reliability.bootstrap import BootstrapInterval, bootstrap_means
from trajdiff.reliability.intervals import LEVEL
from trajdiff.reliability.pass_k import InvalidCountsError, pass_hat_fraction
from trajdiff.reliability.quantiles import t_quantile
from trajdiff.reliability.sign_flip import SEED, SignFlip, sign_flip

#: With fewer differing tasks no p can reach .05, and the interval is marked.
DIFFERING_NEEDED = 6
#: Multiple of the standard error that is found with 80 % power.
POWER_80 = 2.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTasks:
    """Task ids in natural order: present on both sides, and on one side only."""

    compared: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The difference b minus a of pass^k over the tasks that both have.

    ``low`` and ``high`` are the t interval, None with ``reason`` where there is none. ``differing_at_most``
    bounds the share of differing tasks where none was seen to differ (one-sided 95 %).
    ``detectable`` is the difference that 80 % of such comparisons would show. ``families`` is their number
    where these, and not the tasks, are the units of all of it.
    """

    k: int
    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    stderr: float | None
    stderr_unpaired: float | None
    low: float | None
    high: float | None
    reason: str | None
    wins: int
    ties: int
    losses: int
    test: SignFlip
    detectable: float | None
    differing_at_most: float | None = None
    bootstrap: BootstrapInterval | None = None
    level: float = LEVEL
    families: int | None = None

    @property
    def few_differ(self) -> bool:
        """Whether too few tasks differ for any p to reach .05."""
        return self.test.differing < DIFFERING_NEEDED

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out 0: a difference was shown."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def pair_tasks(a: Iterable[str], b: Iterable[str]) -> PairedTasks:
    """Pairs tasks by id."""
    left, right = set(a), set(b)
    return PairedTasks(
        compared=natural(left & right), only_a=natural(left - right), only_b=natural(right - left)
    )


def largest_k(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    """The largest k that every paired task has on both sides; 0 where one has no counted trial."""
    return min((n for n, _ in (*a, *b)), default=0)


def paired_difference(
    a: Sequence[tuple[int, int]],
    b: Sequence[tuple[int, int]],
    k: int,
    *,
    families: Sequence[str] | None = None,
    with_bootstrap: bool = False,
    seed: int = SEED,
) -> PairedDifference:
    """Compares (n, c) of the same tasks, in the same order, each side with its own n.

    Raises ``InvalidCountsError`` for no tasks, sides of unequal length, and a k above any n.
    """
    if not a or len(a) != len(b):
        raise InvalidCountsError(f"{len(a)} tasks against {len(b)}: nothing to pair")
    values_a = [pass_hat_fraction(n, c, k) for n, c in a]
    values_b = [pass_hat_fraction(n, c, k) for n, c in b]
    differences = [y - x for x, y in zip(values_a, values_b, strict=True)]
    units = _by_family(differences, families)
    m, mean = len(differences), sum(differences, Fraction(0)) / len(differences)
    square = _square(differences, units, mean, families)
    stderr = None if square is None else math.sqrt(square)
    low = high = None
    if square:
        half = t_quantile(LEVEL, len(units) - 1) * math.sqrt(square)
        low, high = max(float(mean) - half, -1.0), min(float(mean) + half, 1.0)
    test = sign_flip(units, seed=seed)
    made = None
    if with_bootstrap:
        made = bootstrap_means([[float(d) for d in differences]], families=families, seed=seed)[0]
    return PairedDifference(
        k=k,
        tasks=m,
        mean_a=float(sum(values_a, Fraction(0)) / m),
        mean_b=float(sum(values_b, Fraction(0)) / m),
        difference=float(mean),
        stderr=stderr,
        stderr_unpaired=_unpaired(values_a, values_b),
        low=low,
        high=high,
        reason=None if square else _reason(m, differences),
        wins=sum(d > 0 for d in differences),
        ties=sum(d == 0 for d in differences),
        losses=sum(d < 0 for d in differences),
        test=test,
        detectable=None if stderr is None else POWER_80 * stderr,
        differing_at_most=differing_at_most(m) if not any(differences) else None,
        bootstrap=made,
        families=None if families is None else len(units),
    )


def differing_at_most(tasks: int) -> float:
    """Upper bound (one-sided 95 %) on the share of differing tasks where none of so many differs."""
    if tasks < 1:
        raise InvalidCountsError("no tasks")
    return -math.expm1(math.log(1 - LEVEL) / tasks)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p, in the order given."""
    if not p_values:
        return ()
    from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

    return tuple(float(value) for value in multipletests(list(p_values), method="holm")[1])


def _reason(m: int, differences: Sequence[Fraction]) -> str:
    if m == 1:
        return "1 task: no interval"
    return "no task differs" if not any(differences) else "all tasks differ by the same amount: no interval"


def _by_family(differences: Sequence[Fraction], families: Sequence[str] | None) -> list[Fraction]:
    """What signs are flipped of: the tasks, or the sums of families."""
    if families is None:
        return list(differences)
    sums: dict[str, Fraction] = {}
    for family, value in zip(families, differences, strict=True):
        sums[family] = sums.get(family, Fraction(0)) + value
    return list(sums.values())


def _square(
    differences: Sequence[Fraction],
    units: Sequence[Fraction],
    mean: Fraction,
    families: Sequence[str] | None,
) -> Fraction | None:
    """Squared standard error of the mean difference, over tasks or families; None for fewer than two."""
    m, size = len(differences), len(units)
    if size < 2:
        return None
    if families is None:
        return sum(((d - mean) ** 2 for d in differences), Fraction(0)) / (m * (m - 1))
    members: dict[str, int] = {}
    for family in families:
        members[family] = members.get(family, 0) + 1
    sums = zip(units, members.values(), strict=True)
    spread = sum(((total - count * mean) ** 2 for total, count in sums), Fraction(0))
    return Fraction(size, size - 1) * spread / m**2


def _unpaired(a: Sequence[Fraction], b: Sequence[Fraction]) -> float | None:
    m = len(a)
    if m < 2:
        return None
    squares = Fraction(0)
    for values in (a, b):
        mean = sum(values, Fraction(0)) / m
        squares += sum(((x - mean) ** 2 for x in values), Fraction(0)) / (m * (m - 1))
    return math.sqrt(squares)
