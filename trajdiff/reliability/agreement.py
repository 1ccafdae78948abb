"""Agreement of judges, votes, and rates corrected for a judge's errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from trajdiff.errors import InputError, UsageError
from trajdiff.model import Verdict
from trajdiff.reliability.intervals import LEVEL

if TYPE_CHECKING:
    from numpy import float64
    from numpy.random import Generator
    from numpy.typing import NDArray

ONE_LABEL = "undefined (one label only)"
STRONG, ACCEPTABLE = 0.8, 0.6
#: TPR + TNR at or below this: the judge says next to nothing, and the correction divides by next to nothing.
INFORMATIVE = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Cohen's kappa of two judges with pass and fail.

    ``table`` is ((both pass, only the first), (only the second, both fail)). ``kappa``, its standard error
    and its ends are None with ``reason`` where only one label occurs.
    """

    items: int
    table: tuple[tuple[int, int], tuple[int, int]]
    p_o: float
    p_e: float
    kappa: float | None
    stderr: float | None
    low: float | None
    high: float | None
    reason: str | None = None

    @property
    def band(self) -> str | None:
        """The band, and which others the interval reaches; None where kappa is undefined."""
        if self.kappa is None or self.low is None or self.high is None:
            return None
        return band_within(self.kappa, self.low, self.high)

    @property
    def perfect(self) -> bool:
        """Whether no disagreement was seen: then the interval has no width and says nothing."""
        return self.p_o == 1.0 and self.kappa is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleiss:
    """Fleiss' kappa of three or more judges, and the smallest Cohen's kappa of two of them."""

    items: int
    raters: int
    p_bar: float
    p_e: float
    kappa: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A rate corrected for the judge's errors; ``raw`` before clipping to [0, 1]. None where refused."""

    value: float | None
    raw: float | None
    clipped: bool
    refused: bool
    low: float | None = None
    high: float | None = None


def cohen(table: Sequence[Sequence[int]]) -> Kappa:
    """Kappa of a two by two table of counts. Raises ``InputError`` for anything else, or no items."""
    if len(table) != 2 or any(len(row) != 2 for row in table):
        raise InputError("two judges with pass and fail give a two by two table")
    (both, first), (second, none) = table
    counts = (both, first, second, none)
    if any(isinstance(x, bool) or not isinstance(x, int) or x < 0 for x in counts) or not sum(counts):
        raise InputError(f"impossible counts of judgements: {counts}")
    n = sum(counts)
    p_o = Fraction(both + none, n)
    p1, p2 = Fraction(both + first, n), Fraction(both + second, n)
    p_e = p1 * p2 + (1 - p1) * (1 - p2)
    kept = ((both, first), (second, none))
    if p_e == 1:
        return Kappa(
            items=n,
            table=kept,
            p_o=float(p_o),
            p_e=1.0,
            kappa=None,
            stderr=None,
            low=None,
            high=None,
            reason=ONE_LABEL,
        )
    stderr, low, high = _interval(kept)
    return Kappa(
        items=n,
        table=kept,
        p_o=float(p_o),
        p_e=float(p_e),
        kappa=float((p_o - p_e) / (1 - p_e)),
        stderr=stderr,
        low=low,
        high=high,
    )


def cohen_of(first: Sequence[bool], second: Sequence[bool]) -> Kappa:
    """Kappa of two judges' labels (True: pass) on the same trials; ``InputError`` for unequal lengths."""
    if len(first) != len(second):
        raise InputError(f"one judge labelled {len(first)} trials, the other {len(second)}")
    table = [[0, 0], [0, 0]]
    for x, y in zip(first, second, strict=True):
        table[not x][not y] += 1
    return cohen(table)


def fleiss(counts: Sequence[tuple[int, int]]) -> Fleiss:
    """Fleiss' kappa of (pass votes, fail votes) per trial, with the same number of votes everywhere."""
    if not counts:
        raise InputError("no trials were judged")
    raters = sum(counts[0])
    if raters < 2 or any(sum(row) != raters or min(row) < 0 for row in counts):
        raise InputError("judges differ in number between trials")
    pairs = sum((Fraction(sum(x * (x - 1) for x in row), raters * (raters - 1)) for row in counts), Fraction(0))
    share = Fraction(sum(row[0] for row in counts), raters * len(counts))
    p_bar, p_e = pairs / len(counts), share**2 + (1 - share) ** 2
    kappa = None
    if p_e != 1:
        import numpy as np
        from statsmodels.stats.inter_rater import fleiss_kappa  # type: ignore[import-untyped]

        kappa = float(fleiss_kappa(np.array(counts), method="fleiss"))
    return Fleiss(
        items=len(counts),
        raters=raters,
        p_bar=float(p_bar),
        p_e=float(p_e),
        kappa=kappa,
        reason=None if kappa is not None else ONE_LABEL,
    )


def smallest_pair(labels: Sequence[Sequence[bool]]) -> tuple[int, int, Kappa] | None:
    """The two judges with the smallest kappa, by their index; None where no pair has one."""
    made = [(i, j, cohen_of(labels[i], labels[j])) for i, j in combinations(range(len(labels)), 2)]
    defined = [entry for entry in made if entry[2].kappa is not None]
    return min(defined, key=lambda entry: (entry[2].kappa, entry[0], entry[1])) if defined else None


def band(kappa: float) -> str:
    """``strong`` from 0.8, ``acceptable`` from 0.6, else ``weak``."""
    return "strong" if kappa >= STRONG else "acceptable" if kappa >= ACCEPTABLE else "weak"


def band_within(kappa: float, low: float, high: float) -> str:
    """The band; what else the interval reaches is said, for a band is claimed only by a whole interval."""
    own, ends = band(kappa), (band(low), band(high))
    reach = [name for name in ("weak", "acceptable", "strong") if name != own and _between(name, *ends)]
    return own if not reach else f"{own} (interval reaches {' and '.join(reach)})"


def majority(votes: Sequence[bool | None]) -> Verdict:
    """Verdict of an odd panel; without a majority of the full panel the trial is unscored, never a pass."""
    if len(votes) % 2 == 0:
        return Verdict.UNSCORED
    needed = len(votes) // 2 + 1
    if sum(vote is True for vote in votes) >= needed:
        return Verdict.PASS
    return Verdict.FAIL if sum(vote is False for vote in votes) >= needed else Verdict.UNSCORED


def majority_accuracy(accuracy: float) -> float:
    """How often three judges vote right if their errors were independent: an upper limit, they share errors."""
    return accuracy**3 + 3 * accuracy**2 * (1 - accuracy)


def rogan_gladen(rate: float, tpr: float, tnr: float) -> Corrected:
    """A pass rate corrected for a judge with these true positive and true negative rates. Not for pass^k."""
    for name, value in (("rate", rate), ("TPR", tpr), ("TNR", tnr)):
        if not 0 <= value <= 1:
            raise UsageError(f"{name} is {value}, not between 0 and 1")
    if tpr + tnr <= INFORMATIVE:
        return Corrected(value=None, raw=None, clipped=False, refused=True)
    raw = (rate + tnr - 1) / (tpr + tnr - 1)
    value = min(max(raw, 0.0), 1.0)
    return Corrected(value=value, raw=raw, clipped=value != raw, refused=False)


def corrected_rate(
    rates: Sequence[float],
    positives: tuple[int, int],
    negatives: tuple[int, int],
    *,
    families: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 9_999,
) -> Corrected:
    """The corrected mean of per-task rates, with an interval that holds the noise of the calibration too.

    ``positives`` and ``negatives`` are (judged right, labelled so by people). Tasks (or the ``families`` they
    belong to) are resampled and both rates of the judge drawn from their Beta distributions at the same time.
    No interval for one task or family.
    """
    for right, all_of in (positives, negatives):
        if not 0 <= right <= all_of or all_of < 1:
            raise UsageError(f"{right} of {all_of} calibration items judged right: impossible")
    mean = sum(rates) / len(rates)
    found = rogan_gladen(mean, positives[0] / positives[1], negatives[0] / negatives[1])
    units = unit_sums([[rate] for rate in rates], families)
    if found.refused or len(units) < 2:
        return found
    import numpy as np

    rng = np.random.default_rng(seed)
    means = resampled_means(units, rng, resamples)[:, 0]
    tpr = rng.beta(positives[0] + 0.5, positives[1] - positives[0] + 0.5, size=resamples)
    tnr = rng.beta(negatives[0] + 0.5, negatives[1] - negatives[0] + 0.5, size=resamples)
    scale = np.maximum(tpr + tnr - 1, INFORMATIVE - 1)
    drawn = np.clip((means + tnr - 1) / scale, 0, 1)
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return Corrected(
        value=found.value, raw=found.raw, clipped=found.clipped, refused=False, low=float(low), high=float(high)
    )


def unit_sums(rows: Sequence[Sequence[float]], families: Sequence[str] | None) -> list[list[float]]:
    """What is drawn in a resample: (number of tasks, sum of each value) of every task or family, sorted."""
    if families is None:
        return sorted([1.0, *row] for row in rows)
    members: dict[str, list[Sequence[float]]] = {}
    for family, row in zip(families, rows, strict=True):
        members.setdefault(family, []).append(row)
    return sorted([float(len(own)), *map(math.fsum, zip(*own, strict=True))] for own in members.values())


def resampled_means(units: Sequence[Sequence[float]], rng: Generator, resamples: int) -> NDArray[float64]:
    """Means over tasks of so many draws of the units with replacement, shape (resamples, values)."""
    import numpy as np

    table = np.array(units)
    sums = np.stack([table[rng.integers(0, len(table), size=len(table))].sum(axis=0) for _ in range(resamples)])
    means: NDArray[float64] = sums[:, 1:] / sums[:, :1]
    return means


def corrected_curve(pass_hat: Sequence[float], tpr: float, tnr: float) -> tuple[float, ...] | None:
    """The curve behind an observed one if judge errors were independent between trials; None where refused.

    Noisy, and wrong for a judge that repeats its own mistake: optional, never the headline.
    """
    if tpr + tnr <= INFORMATIVE:
        return None
    a, b = tpr + tnr - 1, 1 - tnr
    curve = (1.0, *pass_hat)
    return tuple(
        sum(math.comb(k, j) * (-b) ** (k - j) * curve[j] for j in range(k + 1)) / a**k
        for k in range(1, len(curve))
    )


def _interval(table: Sequence[Sequence[int]]) -> tuple[float, float, float]:
    """Standard error and 95 % ends of kappa, by statsmodels."""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    found = cohens_kappa(np.array(table))
    return float(found.std_kappa), float(found.kappa_low), float(found.kappa_upp)


def _between(name: str, low: str, high: str) -> bool:
    order = ("weak", "acceptable", "strong")
    return order.index(low) <= order.index(name) <= order.index(high)
