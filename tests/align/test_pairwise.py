"""Laws of the pairwise alignment, against an independent implementation where there is one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from trajdiff.align.pairwise import align, score

WORDS = st.text(alphabet="abcd", max_size=9)


def unit(left: str, right: str, gap_open: int = 0) -> tuple[int, tuple[tuple[int | None, int | None], ...]]:
    found = align(lambda i, j: 0 if left[i] == right[j] else 1, [1] * len(left), [1] * len(right), gap_open)
    return found.cost, found.pairs


@given(WORDS, WORDS)
def test_unit_costs_equal_levenshtein(left: str, right: str) -> None:
    assert unit(left, right)[0] == Levenshtein.distance(left, right)


@given(WORDS)
def test_aligning_with_itself_costs_nothing(text: str) -> None:
    cost, pairs = unit(text, text, gap_open=3)
    assert cost == 0
    assert pairs == tuple((i, i) for i in range(len(text)))


@given(WORDS, WORDS, st.integers(0, 4))
def test_every_index_appears_once_and_in_order(left: str, right: str, gap_open: int) -> None:
    pairs = unit(left, right, gap_open)[1]
    assert [i for i, _ in pairs if i is not None] == list(range(len(left)))
    assert [j for _, j in pairs if j is not None] == list(range(len(right)))


@given(WORDS, WORDS, st.integers(0, 4))
def test_the_trace_costs_what_the_search_says(left: str, right: str, gap_open: int) -> None:
    cost, pairs = unit(left, right, gap_open)
    again = score(
        pairs, lambda i, j: 0 if left[i] == right[j] else 1, [1] * len(left), [1] * len(right), gap_open
    )
    assert cost == again


@given(st.text(alphabet="ab", max_size=5), st.text(alphabet="ab", max_size=5), st.integers(0, 3))
def test_no_alignment_is_cheaper(left: str, right: str, gap_open: int) -> None:
    assert unit(left, right, gap_open)[0] == min(_all_costs(left, right, gap_open))


def _all_costs(left: str, right: str, gap_open: int) -> list[int]:
    """Costs of every possible alignment, by walking all of them."""
    found: list[int] = []

    def walk(i: int, j: int, total: int, last: str) -> None:
        if i == len(left) and j == len(right):
            found.append(total)
        if i < len(left) and j < len(right):
            walk(i + 1, j + 1, total + (left[i] != right[j]), "m")
        if i < len(left):
            walk(i + 1, j, total + 1 + (gap_open if last != "d" else 0), "d")
        if j < len(right):
            walk(i, j + 1, total + 1 + (gap_open if last != "i" else 0), "i")

    walk(0, 0, 0, "m")
    return found


def test_ties_are_broken_reading_forward_diagonal_first() -> None:
    # "ab" against "b": deleting a costs 1 whichever way; the first step that can agree does not diverge early.
    assert unit("aa", "a")[1] == ((0, 0), (1, None))
    # A substitution ties with delete + insert when both cost 2: the diagonal wins.
    found = align(lambda i, j: 2, [1], [1])
    assert found.pairs == ((0, 0),)
    # Where the pair is forbidden, the delete comes before the insert.
    assert align(lambda i, j: None, [1], [1]).pairs == ((0, None), (None, 0))


def test_a_gap_is_opened_once() -> None:
    # Two separate deletions cost two openings, one run only one: the run wins although equal otherwise.
    found = align(lambda i, j: 0 if "xaax"[i] == "xx"[j] else None, [1] * 4, [1] * 2, gap_open=5)
    assert found.pairs == ((0, 0), (1, None), (2, None), (3, 1))
    assert found.cost == 7


def test_a_very_long_pair_is_searched_in_a_band() -> None:
    # 2,100 x 2,090 exceeds the full search; the planted gap is still found.
    left, right = list(range(2100)), [*range(1000), *range(1010, 2100)]
    found = align(lambda i, j: 0 if left[i] == right[j] else None, [1] * 2100, [1] * 2090, gap_open=1)
    assert found.cost == 11
