"""pass^k and pass@k by exact arithmetic, per task and over tasks (statistics.md 4).

pass^k = C(c,k) / C(n,k): the chance that k trials drawn without replacement from the n counted ones all
pass. pass@k = 1 - C(n-c,k) / C(n,k): the chance that at least one of them does. Both for 1 <= k <= n.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReliability:
    """One task. ``pass_hat_k[k-1]`` is pass^k; both tuples reach from k = 1 to n, empty when n = 0.

    ``n`` counted trials, ``c`` accepted ones, ``expected`` None when no plan was recorded.
    """

    task_id: str
    n: int
    c: int
    expected: int | None
    completed: int
    infra: tuple[str, ...]
    unscored: tuple[str, ...]
    missing: tuple[str, ...]
    pass_hat_k: tuple[float, ...]
    pass_at_k: tuple[float, ...]
    disagreement: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReliability:
    """All tasks. ``pass_hat_k[k-1]`` is the equal-weight mean over tasks, up to the smallest n.

    ``always``, ``sometimes`` and ``never`` count tasks with c = n, 0 < c < n and c = 0; ``no_trials`` names
    tasks without a counted trial (n/a, not in any mean).
    """

    tasks: int
    expected: int | None
    completed: int
    counted: int
    passed: int
    failed: int
    infra: tuple[str, ...]
    unscored: tuple[str, ...]
    missing: tuple[str, ...]
    no_trials: tuple[str, ...]
    pass_hat_k: tuple[float, ...]
    pass_at_k: tuple[float, ...]
    micro: float | None
    always: int
    sometimes: int
    never: int
    n_min: int
    n_max: int
    infra_policy: str
    unscored_policy: str
