"""Fixed points of two long sequences: members that occur once on either side and keep their order.

Between two fixed points each stretch is aligned by itself, so that trials of thousands of steps take time by
their length (the patience method of Cohen's ``diff``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence


def anchors(left: Sequence[Collection[str]], right: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Pairs (i, j), both growing, where ``right[j]`` is one of the keys ``left[i]`` and that key is nowhere
    else on either side; the longest such chain, the first of equals."""
    once = {key for key, times in Counter(right).items() if times == 1}
    times = Counter(key for keys in left for key in set(keys))
    at = {key: j for j, key in enumerate(right) if key in once and times[key] == 1}
    pairs = []
    for i, keys in enumerate(left):
        found = sorted({at[key] for key in keys if key in at})
        if len(found) == 1:
            pairs.append((i, found[0]))
    return _longest(pairs)


def _longest(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The longest chain of pairs whose second numbers grow; the first numbers grow already."""
    ends: list[int] = []
    tops: list[int] = []
    before: list[int | None] = []
    for number, (_, j) in enumerate(pairs):
        place = bisect_left(ends, j)
        before.append(tops[place - 1] if place else None)
        if place == len(ends):
            ends.append(j)
            tops.append(number)
        else:
            ends[place], tops[place] = j, number
    chain = []
    number_or_none = tops[-1] if tops else None
    while number_or_none is not None:
        chain.append(pairs[number_or_none])
        number_or_none = before[number_or_none]
    return tuple(reversed(chain))
