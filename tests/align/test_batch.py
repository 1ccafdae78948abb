"""Many alignments at once give what the search cell by cell gives, ties included."""

from __future__ import annotations

import random

import numpy as np
import pytest

from trajdiff.align.batch import BLOCKED, Problem, align_many, cost_many
from trajdiff.align.pairwise import Alignment, align


def problem(rng: random.Random, *, ties: bool) -> Problem:
    n, m = rng.randrange(14), rng.randrange(14)
    step = 100 if ties else 1
    rows = [
        [BLOCKED if rng.random() < 0.4 else step * rng.randrange(4 if ties else 900) for _ in range(m)]
        for _ in range(n)
    ]
    return Problem(
        pairs=np.array(rows, dtype=np.int32).reshape(n, m),
        deletes=[step * rng.randrange(1, 4 if ties else 800) for _ in range(n)],
        inserts=[step * rng.randrange(1, 4 if ties else 800) for _ in range(m)],
    )


def one_by_one(asked: Problem, gap_open: int) -> Alignment:
    rows = asked.pairs.tolist()
    deletes, inserts = list(asked.deletes), list(asked.inserts)
    return align(lambda i, j: None if rows[i][j] >= BLOCKED else rows[i][j], deletes, inserts, gap_open)


@pytest.mark.parametrize("gap_open", [0, 7, 120])
@pytest.mark.parametrize("ties", [True, False], ids=["ties", "costs"])
def test_a_batch_gives_what_each_search_gives(gap_open: int, ties: bool) -> None:
    rng = random.Random(gap_open)
    asked = [problem(rng, ties=ties) for _ in range(150)]
    expected = [one_by_one(one, gap_open) for one in asked]
    assert align_many(asked, gap_open) == expected
    assert cost_many(asked, gap_open) == [one.cost for one in expected]


def test_long_and_short_problems_keep_their_order() -> None:
    rng = np.random.default_rng(3)
    sizes = [(230, 200), (0, 3), (2, 0), (60, 61), (0, 0)]
    asked = [
        Problem(pairs=rng.integers(0, 900, (n, m), dtype=np.int32), deletes=[300] * n, inserts=[310] * m)
        for n, m in sizes
    ]
    assert align_many(asked, 120) == [one_by_one(one, 120) for one in asked]
