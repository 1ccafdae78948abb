"""The task-level percentile bootstrap that stands beside the headline interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.reliability.intervals import LEVEL

#: Fixed before the data are seen, and printed with every bootstrap.
RESAMPLES = 9_999
SEED = 0
#: Numbers held at once while resampling; keeps memory at some hundred megabytes for any suite.
_AT_ONCE = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapInterval:
    """Percentile interval of one figure. ``degenerate``: all units are equal, and no width says nothing.

    ``mean`` and ``stderr`` are those of the resampled figures.
    """

    low: float
    high: float
    degenerate: bool
    mean: float
    stderr: float
    resamples: int = RESAMPLES
    seed: int = SEED
    level: float = LEVEL


def bootstrap_means(
    rows: Sequence[Sequence[float]],
    *,
    families: Sequence[str] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[BootstrapInterval | None, ...]:
    """One interval per row; a row holds one value per task, and all rows share the resamples.

    Tasks (or the ``families`` they belong to) are resampled with replacement, each with all its trials; trials
    inside a task are not, since that would centre on (c/n)^k. The order of tasks changes nothing. None for a
    row of fewer than two units.
    """
    if not rows or len(rows[0]) < 2:
        return tuple(None for _ in rows)
    if families is not None:
        return _of_families(rows, families, seed, resamples, level)
    import numpy as np
    from scipy.stats import bootstrap  # type: ignore[import-untyped]

    columns = sorted(zip(*rows, strict=True))
    data = np.array(columns, dtype=float).T
    found = bootstrap(
        (data,),
        np.mean,
        axis=-1,
        method="percentile",
        n_resamples=resamples,
        confidence_level=level,
        batch=max(_AT_ONCE // data.size, 1),
        rng=np.random.default_rng(seed),
    )
    interval, drawn = found.confidence_interval, found.bootstrap_distribution
    made = []
    for index, row in enumerate(rows):
        equal = len(set(row)) == 1
        made.append(
            BootstrapInterval(
                low=row[0] if equal else float(interval.low[index]),
                high=row[0] if equal else float(interval.high[index]),
                degenerate=equal,
                mean=float(np.mean(drawn[index])),
                stderr=float(np.std(drawn[index])),
                resamples=resamples,
                seed=seed,
                level=level,
            )
        )
    return tuple(made)


def _of_families(
    rows: Sequence[Sequence[float]], families: Sequence[str], seed: int, resamples: int, level: float
) -> tuple[BootstrapInterval | None, ...]:
    """Whole families are drawn; the mean stays that over tasks, so that a large family weighs what it holds."""
    if len(set(families)) < 2:
        return tuple(None for _ in rows)
    import numpy as np

    members: dict[str, list[int]] = {}
    for at, family in enumerate(families):
        members.setdefault(family, []).append(at)
    units = np.array(
        sorted([len(own), *(math.fsum(row[at] for at in own) for row in rows)] for own in members.values())
    )
    rng = np.random.default_rng(seed)
    sums = np.stack([units[rng.integers(0, len(units), size=len(units))].sum(axis=0) for _ in range(resamples)])
    tail = (1 - level) / 2 * 100
    made = []
    for index, row in enumerate(rows, start=1):
        drawn = sums[:, index] / sums[:, 0]
        equal = len(set(row)) == 1
        low, high = (row[0], row[0]) if equal else np.percentile(drawn, [tail, 100 - tail])
        made.append(
            BootstrapInterval(
                low=float(low),
                high=float(high),
                degenerate=equal,
                mean=float(np.mean(drawn)),
                stderr=float(np.std(drawn)),
                resamples=resamples,
                seed=seed,
                level=level,
            )
        )
    return tuple(made)


def bootstrap_ratio(
    tops: Sequence[float], bottoms: Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES
) -> tuple[float, float | None, float] | None:
    """Percentile interval of sum(tops) / sum(bottoms) over tasks, as (low, high, share without a bottom).

    ``high`` is None where some resamples have nothing to divide by. None for fewer than two tasks.
    """
    if len(tops) < 2:
        return None
    import numpy as np

    pairs = np.array(sorted(zip(tops, bottoms, strict=True)), dtype=float)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(pairs), size=(resamples, len(pairs)))
    above, below = pairs[drawn, 0].sum(axis=1), pairs[drawn, 1].sum(axis=1)
    empty = float(np.mean(below == 0))
    ratio = np.divide(above, below, out=np.full(resamples, np.inf), where=below > 0)
    tail = (1 - LEVEL) / 2 * 100
    low = float(np.percentile(ratio, tail, method="inverted_cdf"))
    high = float(np.percentile(ratio, 100 - tail, method="inverted_cdf"))
    return low, None if empty else high, empty
