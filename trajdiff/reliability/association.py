"""How strongly deviating goes with failing: inside a task, and across tasks by strata.

All p are exact fractions of integers. They describe the recorded trials; a node that was found with the same
trials gets an ``exploratory`` p, and no p here says what brought a failure about.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from msgspec import Struct

from trajdiff.reliability.pass_k import InvalidCountsError

ALPHA = 0.05
#: Up to so many trials all relabellings are enumerated; above, they are drawn.
ENUMERATED = 10
RELABELLINGS = 9_999
SEED = 0


class Table(Struct, frozen=True, kw_only=True):
    """One task: ``a`` trials deviate and fail, ``r`` deviate, ``c`` fail, ``n`` in all."""

    a: int
    r: int
    c: int
    n: int

    def __post_init__(self) -> None:
        low, high = max(0, self.r + self.c - self.n), min(self.r, self.c)
        if not (0 <= self.r <= self.n and 0 <= self.c <= self.n and low <= self.a <= high):
            raise InvalidCountsError(
                f"{self.a} of {self.r} deviating trials fail, {self.c} of {self.n} trials fail: impossible"
            )

    @property
    def informative(self) -> bool:
        """Whether both deviating and failing vary inside the task."""
        return 0 < self.r < self.n and 0 < self.c < self.n


class ExactTest(Struct, frozen=True, kw_only=True):
    """The exact two-sided test of "no association inside any task", outcomes ordered by probability.

    ``mid_p`` halves the observed outcome and is used for decisions; the two minima are the smallest values
    that tables with these margins can give. All are None where no task is informative.
    """

    informative: int
    p: Fraction | None = None
    mid_p: Fraction | None = None
    attainable_p: Fraction | None = None
    attainable_mid_p: Fraction | None = None

    def testable(self, alpha: float = ALPHA) -> bool:
        """Whether any outcome could have reached ``alpha``."""
        return self.attainable_mid_p is not None and self.attainable_mid_p <= alpha


class Adjusted(Struct, frozen=True, kw_only=True):
    """Benjamini-Hochberg over the testable nodes: ``q`` in the order given, None for untestable ones."""

    q: tuple[float | None, ...]
    tested: int
    untestable: int


def perfect_split(passes: int, failures: int) -> Table:
    """The table in which every failing trial deviates and no passing one does."""
    return Table(a=failures, r=failures, c=failures, n=passes + failures)


def perfect_split_p(passes: int, failures: int) -> Fraction:
    """The smallest two-sided p (Fisher) that any split of so many trials can reach; 1 where one side is empty.

    With all margins fixed: the most extreme table and, where it is as unlikely, its mirror image.
    """
    if not passes or not failures:
        return Fraction(1)
    return exact_test([perfect_split(passes, failures)]).attainable_p or Fraction(1)


def exact_test(tables: Sequence[Table]) -> ExactTest:
    """Stratified by task; one table gives Fisher's exact test. Tasks that vary in one way only drop out."""
    used = [table for table in tables if table.informative]
    if not used:
        return ExactTest(informative=0)
    start, weights = 0, [1]
    for table in used:
        low, own = _hypergeometric(table)
        start += low
        weights = _convolved(weights, own)
    total, seen = sum(weights), weights[sum(table.a for table in used) - start]
    least = min(weights)
    p = Fraction(sum(weight for weight in weights if weight <= seen), total)
    smallest = Fraction(sum(weight for weight in weights if weight == least), total)
    return ExactTest(
        informative=len(used),
        p=p,
        mid_p=p - Fraction(seen, 2 * total),
        attainable_p=smallest,
        attainable_mid_p=smallest - Fraction(least, 2 * total),
    )


def risk_difference(tables: Sequence[Table]) -> Fraction | None:
    """Mantel-Haenszel: P(fail | deviates) - P(fail | follows) inside tasks; None where none is informative."""
    above, below = Fraction(0), Fraction(0)
    for t in tables:
        if 0 < t.r < t.n:
            above += Fraction(t.a * (t.n - t.r) - (t.c - t.a) * t.r, t.n)
            below += Fraction(t.r * (t.n - t.r), t.n)
    return above / below if below else None


def benjamini_hochberg(
    p_values: Sequence[float | None], attainable: Sequence[float | None], alpha: float = ALPHA
) -> Adjusted:
    """Adjusts the p of nodes that could have reached ``alpha``; the others leave the family and are counted."""
    kept = [
        index
        for index, (p, least) in enumerate(zip(p_values, attainable, strict=True))
        if p is not None and least is not None and least <= alpha
    ]
    q: list[float | None] = [None] * len(p_values)
    # Step-up by hand: scipy.stats would cost a second of every report. A test holds it to SciPy's answers.
    least = 1.0
    for rank, index in sorted(enumerate(sorted(kept, key=lambda i: p_values[i] or 0.0), 1), reverse=True):
        least = min(least, (p_values[index] or 0.0) * len(kept) / rank)
        q[index] = least
    return Adjusted(q=tuple(q), tested=len(kept), untestable=len(p_values) - len(kept))


def luck_probability(passes: int, failures: int, nodes: int, q: float) -> float:
    """Chance that at least one of ``nodes`` irrelevant, independent nodes separates the groups perfectly.

    ``q`` is the chance that a trial deviates at a node.
    """
    if passes < 0 or failures < 0 or nodes < 0 or not 0 <= q <= 1:
        raise InvalidCountsError(f"luck of {nodes} nodes at {q} for {passes} passes, {failures} failures")
    one = q**passes * (1 - q) ** failures + (1 - q) ** passes * q**failures
    return 1.0 if one >= 1 and nodes else -math.expm1(nodes * math.log1p(-one)) if one < 1 else 0.0


class Relabelling(Struct, frozen=True, kw_only=True):
    """Share of relabellings for which some node is at least as good as the best one; ``seed`` where drawn."""

    best_p: Fraction
    p: Fraction
    relabellings: int
    seed: int | None = None


def relabelling(passed: Sequence[bool], nodes: Sequence[Sequence[bool]], *, seed: int = SEED) -> Relabelling:
    """The p of a task that allows for having looked at all its nodes.

    ``nodes`` holds for each node whether each trial deviates. Raises ``InvalidCountsError`` without nodes.
    """
    n, wins = len(passed), sum(passed)
    if not nodes or any(len(node) != n for node in nodes):
        raise InvalidCountsError("a relabelling needs nodes that cover every trial")
    # Trials as bits: nodes that part them in the same way count once, and a table costs one count of bits.
    masks = sorted({_bits(node) for node in nodes})
    cache: dict[tuple[int, int], Fraction] = {}
    best = _best(_bits(passed), masks, n, cache)
    if n <= ENUMERATED:
        every = [sum(1 << index for index in chosen) for chosen in combinations(range(n), wins)]
        good = sum(_best(chosen, masks, n, cache) <= best for chosen in every)
        return Relabelling(best_p=best, p=Fraction(good, len(every)), relabellings=len(every))
    rng = random.Random(seed)
    drawn = (sum(1 << index for index in rng.sample(range(n), wins)) for _ in range(RELABELLINGS))
    good = sum(_best(chosen, masks, n, cache) <= best for chosen in drawn)
    p = Fraction(good + 1, RELABELLINGS + 1)
    return Relabelling(best_p=best, p=p, relabellings=RELABELLINGS, seed=seed)


def ceiling(rows: Sequence[tuple[int, int, int]], k: int) -> float:
    """pass^k if each failing trial that deviates at a node had passed and nothing else had changed.

    ``rows`` are (n, c, f) per task, f failing trials deviating. An upper bound on what a repair can give;
    the ceilings of several nodes overlap and must not be added.
    """
    total = Fraction(0)
    for n, c, f in rows:
        if not (0 <= f <= n - c and 1 <= k <= n):
            raise InvalidCountsError(f"{f} failing trials of {n - c} deviate, k is {k} of {n}")
        total += Fraction(math.comb(c + f, k), math.comb(n, k))
    return float(total / len(rows))


def _bits(flags: Sequence[bool]) -> int:
    return sum(1 << index for index, flag in enumerate(flags) if flag)


def _best(passed: int, nodes: Sequence[int], n: int, cache: dict[tuple[int, int], Fraction]) -> Fraction:
    """The smallest Fisher p of any node if exactly these trials had passed."""
    failures = n - passed.bit_count()
    smallest = Fraction(1)
    for node in nodes:
        r = node.bit_count()
        a = r - (node & passed).bit_count()
        if (a, r) not in cache:
            cache[a, r] = exact_test([Table(a=a, r=r, c=failures, n=n)]).p or Fraction(1)
        smallest = min(smallest, cache[a, r])
    return smallest


def _hypergeometric(table: Table) -> tuple[int, list[int]]:
    """Smallest possible ``a`` and the number of ways to get each value from there on."""
    low, high = max(0, table.r + table.c - table.n), min(table.r, table.c)
    ways = [math.comb(table.r, a) * math.comb(table.n - table.r, table.c - a) for a in range(low, high + 1)]
    return low, ways


def _convolved(left: Sequence[int], right: Sequence[int]) -> list[int]:
    out = [0] * (len(left) + len(right) - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            out[i + j] += x * y
    return out
