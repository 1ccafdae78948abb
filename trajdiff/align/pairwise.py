"""Global alignment of two sequences with affine gaps and integer costs (Gotoh 1982), O(n·m) time and space.

A gap of length L costs ``gap_open`` plus the weights of its members. Ties are part of the result: among
alignments of equal cost the one is taken that, read from the start, prefers the diagonal, then a delete, then
an insert, so that a trial has not diverged while it can still be explained as agreeing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Cost of a pair, or None where the two do not belong into one row.
PairCost = Callable[[int, int], int | None]
_INFINITY = 1 << 60
#: Above this many cells only a band around the diagonal is searched (memory: about 100 bytes a cell).
CELLS = 250_000
#: The band is never narrower than this to either side.
LEAST_BAND = 32
#: Above this many cells equal starts and ends, and fixed points between them, are taken as they are.
LONG = 40_000
_MATCH, _DELETE, _INSERT = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Pairs of indices into the two sequences in order, None for a gap; and the cost. Lower is better."""

    pairs: tuple[tuple[int | None, int | None], ...]
    cost: int


def align(
    pair_cost: PairCost,
    deletes: Sequence[int],
    inserts: Sequence[int],
    gap_open: int = 0,
    fixed: Callable[[], Sequence[tuple[int, int]]] | None = None,
) -> Alignment:
    """Aligns a reference of ``len(deletes)`` members with a candidate of ``len(inserts)`` members.

    Arguments: ``pair_cost(i, j)``; ``deletes[i]``, the cost of leaving out reference member i; ``inserts[j]``,
    the cost of an extra candidate member j; ``gap_open``, added once per gap; ``fixed()``, pairs (growing on
    both sides) that stand in one row where the sequences are long: only what lies between is searched.
    """
    n, m = len(deletes), len(inserts)
    head, tail = _equal_ends(pair_cost, n, m)
    long = (n + 1) * (m + 1) > LONG
    inside = (
        [(i, j) for i, j in fixed() if i >= head <= j and i < n - tail and j < m - tail]
        if fixed and long
        else []
    )
    ends = [(n - at, m - at) for at in range(tail, 0, -1)]
    # The band keeps the whole work near the limit, however many stretches there are.
    left, right = n - head - tail, m - head - tail
    band = None if (left + 1) * (right + 1) <= CELLS else CELLS // (2 * max(left, 1))
    pairs: list[tuple[int | None, int | None]] = [(at, at) for at in range(head)]
    total, i, j = 0, head, head
    for stop in (*inside, (n - tail, m - tail)):
        found = _search(pair_cost, deletes, inserts, gap_open, (i, j), stop, band)
        pairs += found.pairs
        total += found.cost
        if stop[0] < n - tail and stop[1] < m - tail:
            pairs.append(stop)
            total += pair_cost(*stop) or 0
            i, j = stop[0] + 1, stop[1] + 1
    return Alignment(pairs=(*pairs, *ends), cost=total)


def _search(
    pair_cost: PairCost,
    deletes: Sequence[int],
    inserts: Sequence[int],
    gap_open: int,
    start: tuple[int, int],
    stop: tuple[int, int],
    band: int | None,
) -> Alignment:
    """The best alignment of one stretch of both sequences, with indices into the whole ones."""
    (from_i, from_j), (to_i, to_j) = start, stop
    n, m = to_i - from_i, to_j - from_j
    if band is not None:
        band = max(band, LEAST_BAND, m // max(n, 1) + 1)
    costs, moves = _costs_to_go(
        lambda i, j: pair_cost(i + from_i, j + from_j),
        deletes[from_i:to_i],
        inserts[from_j:to_j],
        gap_open,
        band,
    )
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    state = _MATCH
    while i < n or j < m:
        state, step = _next(moves[i][j], state)
        if step == _MATCH:
            pairs.append((i + from_i, j + from_j))
            i, j = i + 1, j + 1
        elif step == _DELETE:
            pairs.append((i + from_i, None))
            i += 1
        else:
            pairs.append((None, j + from_j))
            j += 1
    return Alignment(pairs=tuple(pairs), cost=costs)


def score(
    pairs: Sequence[tuple[int | None, int | None]],
    pair_cost: PairCost,
    deletes: Sequence[int],
    inserts: Sequence[int],
    gap_open: int = 0,
) -> int:
    """Cost of a given alignment, computed without the search; the check on ``align``."""
    total, last = 0, _MATCH
    for i, j in pairs:
        if i is not None and j is not None:
            cost = pair_cost(i, j)
            total += _INFINITY if cost is None else cost
            last = _MATCH
        elif i is not None:
            total += deletes[i] + (gap_open if last != _DELETE else 0)
            last = _DELETE
        elif j is not None:
            total += inserts[j] + (gap_open if last != _INSERT else 0)
            last = _INSERT
    return total


def _equal_ends(pair_cost: PairCost, n: int, m: int) -> tuple[int, int]:
    """How many members at the start and at the end of two long sequences cost nothing as pairs. Leaving them
    out of the search loses no cost; at the end it may decide a tie otherwise, so short sequences are searched
    whole."""
    if (n + 1) * (m + 1) <= LONG:
        return 0, 0
    most = min(n, m)
    head = next((at for at in range(most) if pair_cost(at, at) != 0), most)
    tail = next((at for at in range(most - head) if pair_cost(n - 1 - at, m - 1 - at) != 0), most - head)
    return head, tail


# A cell holds, for each state we may arrive in (after a match, inside a delete, inside an insert), the move to
# make. Packed as one integer of three base-3 digits.
def _next(packed: int, state: int) -> tuple[int, int]:
    move = (packed // (1, 3, 9)[state]) % 3
    return move, move


def _costs_to_go(
    pair_cost: PairCost, deletes: Sequence[int], inserts: Sequence[int], gap_open: int, band: int | None
) -> tuple[int, list[dict[int, int] | list[int]]]:
    """Cost of the best alignment and, per cell, the move that begins the best rest from there.

    ``go[s][j]`` is the cost of aligning the rest of both sequences when the last move was of kind s. Computed
    from the end, so that ties can be broken reading forward.
    """
    n, m = len(deletes), len(inserts)
    below: list[list[int]] = [[_INFINITY] * (m + 2) for _ in range(3)]
    moves: list[dict[int, int] | list[int]] = [[] for _ in range(n + 1)]
    for i in range(n, -1, -1):
        row = [[_INFINITY] * (m + 2) for _ in range(3)]
        low, high = _window(i, n, m, band)
        picked: dict[int, int] | list[int] = {} if band else [0] * (m + 1)
        delete_here = deletes[i] if i < n else _INFINITY
        below_match, below_delete = below[_MATCH], below[_DELETE]
        row_match, row_delete, row_insert = row
        for j in range(high, low - 1, -1):
            if i == n and j == m:
                row_match[j] = row_delete[j] = row_insert[j] = 0
                continue
            cost = pair_cost(i, j) if i < n and j < m else None
            matched = _INFINITY if cost is None else cost + below_match[j + 1]
            deleted = delete_here + below_delete[j] if i < n else _INFINITY
            inserted = inserts[j] + row_insert[j + 1] if j < m else _INFINITY
            # From each arriving state: a gap of the same kind goes on free, any other one opens.
            opened_delete, opened_insert = deleted + gap_open, inserted + gap_open
            a = _pick(matched, opened_delete, opened_insert)
            b = _pick(matched, deleted, opened_insert)
            c = _pick(matched, opened_delete, inserted)
            row_match[j] = (matched, opened_delete, opened_insert)[a]
            row_delete[j] = (matched, deleted, opened_insert)[b]
            row_insert[j] = (matched, opened_delete, inserted)[c]
            picked[j] = a + 3 * b + 9 * c
        moves[i] = picked
        below = row
    return below[_MATCH][0], moves


def _pick(matched: int, deleted: int, inserted: int) -> int:
    if matched <= deleted and matched <= inserted:
        return _MATCH
    return _DELETE if deleted <= inserted else _INSERT


def _window(i: int, n: int, m: int, band: int | None) -> tuple[int, int]:
    if band is None:
        return 0, m
    centre = i * m // max(n, 1)
    return max(0, centre - band), min(m, centre + band)
