"""How alike two steps are, and what it costs to leave one out. All weights stand here, as integers.

Likeness runs from 0 to 1000. Costs are integers so that ties are exact and sums do not depend on order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import filterfalse
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from trajdiff.align.language import fold, is_unspaced, opposed, opposites
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import is_identifier, number, words
from trajdiff.model import Effect, StepKind

#: A number, or an array of them.
Number = TypeVar("Number", int, Any)

FULL = 1000
#: Below this two steps are never put into one row. A same-tool call always reaches it; messages of one actor
#: need little in common, since what they say varies freely and what stands around them places them.
ENOUGH = 250
#: What a call with the same tool and nothing else in common is worth: the same kind of act, other object.
SAME_TOOL = 500
#: An equal call with another result is nearly the same step; the difference is reported, not realigned.
OTHER_RESULT = 960
#: Tools whose names are spelled alike and whose arguments and results agree count as one tool.
NEAR_NAME, NEAR_NAME_RATIO = 800, 84
#: Words of opposite action are never similar enough, whatever the rest says.
OPPOSED = 200

#: Weight of a step by what it can change. A write is worth two reads because passes agree on writes and
#: differ in reads; messages stand below reads because wording varies freely; thinking weighs next to nothing.
WEIGHTS = {Effect.WRITE: 800, Effect.UNKNOWN: 600, Effect.READ: 400, Effect.CONTROL: 60}
AGENT_MESSAGE, USER_MESSAGE, REASONING, FOLDED, END = 240, 200, 20, 30, 400
#: Opening a gap costs half a message, so that leaving out a stretch is cheaper than many single steps.
GAP_OPEN = 120

#: Likeness from which two messages are ground that two trials share; say about the same; make the same offer.
GROUND, SHARED, SAME_OFFER = 500, 600, 900
#: Below this two messages say nothing in common.
UNLIKE = 450

#: Shares of a message's likeness: what it states, what it does, how it is worded.
STATED, ACTED, WORDED = 500, 150, 350
#: Texts are compared by their head: the rest only says that they are long.
HEAD = 400
#: Pairs of texts from which comparing them together pays.
FEW = 8


def weight(step: PreparedStep) -> int:
    """What it costs to leave the step out (without the gap opening)."""
    if step.folded:
        return FOLDED
    if step.is_call:
        return WEIGHTS[step.effect]
    if step.step.kind is StepKind.MESSAGE:
        return USER_MESSAGE if step.by_user else AGENT_MESSAGE
    if step.step.kind is StepKind.TERMINATION:
        return END
    return REASONING


def likeness(left: PreparedStep, right: PreparedStep) -> int:
    """How alike two steps are, 0 to 1000; symmetric; 1000 exactly when they are equal."""
    found = _unworded(left, right)
    return message_likeness(left, right) if found is None else found


def likenesses(pairs: Sequence[tuple[PreparedStep, PreparedStep]]) -> list[int]:
    """``likeness`` of each pair, all together: a third of the time."""
    found = [_unworded(left, right) for left, right in pairs]
    messages = [pair for pair, value in zip(pairs, found, strict=True) if value is None]
    worded = iter(text_likenesses([(left.text, right.text) for left, right in messages]))
    said = (message_likeness(left, right, next(worded)) for left, right in messages)
    return [next(said) if value is None else value for value in found]


def _unworded(left: PreparedStep, right: PreparedStep) -> int | None:
    """How alike two steps are where that does not depend on the wording of messages, else None."""
    if left.step.kind is not right.step.kind or left.step.actor != right.step.actor:
        return 0
    if left.call_key == right.call_key:
        return FULL if left.result_text == right.result_text else OTHER_RESULT
    if left.is_call:
        return _call_likeness(left, right)
    return SAME_TOOL if left.step.kind is StepKind.TERMINATION else None


def text_likeness(left: str, right: str) -> int:
    """How alike two texts are, 0 to 1000: by words, or by pairs of characters where there are no spaces."""
    one, other = _head_of(left), _head_of(right)
    found = _without_words(one, other)
    if found is not None:
        return found
    return _by_words(_fuzz().ratio(one.in_order, other.in_order), _shared_words(one, other))


def text_likenesses(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """``text_likeness`` of each pair: the library compares many at a time in a fraction of the time."""
    if len(pairs) < FEW:
        return [text_likeness(left, right) for left, right in pairs]
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cpdist

    heads = [(_head_of(left), _head_of(right)) for left, right in pairs]
    found = [_without_words(one, other) for one, other in heads]
    rest = [pair for pair, value in zip(heads, found, strict=True) if value is None]
    ratios = cpdist(
        [one.in_order for one, _ in rest],
        [other.in_order for _, other in rest],
        scorer=_fuzz().ratio,
        dtype=np.float64,
    )
    parted = [_parted(one, other) for one, other in rest]
    gaps = cpdist(
        [one.own for one in parted], [one.theirs for one in parted], scorer=Indel.distance, dtype=np.int64
    )
    numbers = zip(ratios.tolist(), parted, gaps.tolist(), strict=True)
    worded = (_by_words(ratio, _shared_share(one, gap)) for ratio, one, gap in numbers)
    return [next(worded) if value is None else value for value in found]


def _without_words(one: _Head, other: _Head) -> int | None:
    """How alike two texts are where that is not a matter of their words one by one, else None."""
    if one.text == other.text:
        return FULL
    if not one.facing.isdisjoint(other.terms) and opposed(one.terms, other.terms):
        return OPPOSED
    if one.unspaced or other.unspaced:
        from rapidfuzz.distance import Indel

        return int(FULL * Indel.normalized_similarity(_pairs(one.text), _pairs(other.text)))
    return None


def _by_words(in_order: float, shared: float) -> int:
    # Half of it forgives words that only one side adds: a question asked with more courtesy is the same one.
    return int(5 * (in_order + shared))


def message_likeness(left: PreparedStep, right: PreparedStep, worded: int | None = None) -> int:
    """How alike two messages of one actor are: what they state, what they do, how they are worded (which is
    worked out where it is not known)."""
    worded = text_likeness(left.text, right.text) if worded is None else worded
    if worded == OPPOSED:
        return OPPOSED
    acted = _overlap(left.acts, right.acts)
    if not left.commitments and not right.commitments:
        return (ACTED * acted + (STATED + WORDED) * worded) // FULL
    stated = _overlap(left.commitments, right.commitments)
    return (STATED * stated + ACTED * acted + WORDED * worded) // FULL


def argument_likeness(left: PreparedStep, right: PreparedStep) -> int:
    """How alike the arguments of two calls are, 0 to 1000: ids, amounts and dates exactly, prose by words."""
    if left.argument_text == right.argument_text:
        return FULL
    left_at, right_at = left.arguments_by_path, right.arguments_by_path
    paths = sorted({*left_at, *right_at})
    if not paths:
        return FULL
    return sum(_values_likeness(left_at.get(p, ()), right_at.get(p, ())) for p in paths) // len(paths)


def near_names(left: str, right: str) -> bool:
    """Whether two tool names are spelled alike (``get_order``, ``getOrder``), not opposed."""
    left_words, right_words = words(left), words(right)
    if opposed(left_words, right_words):
        return False
    shared = set(left_words) & set(right_words)
    alike = _fuzz().token_sort_ratio(" ".join(left_words), " ".join(right_words)) >= NEAR_NAME_RATIO
    return alike or (bool(shared) and 2 * len(shared) >= len({*left_words, *right_words}))


def same_look(left: PreparedStep, right: PreparedStep) -> bool:
    """Whether two reads of tools that share a word (``get_order``, ``fetch_order_details``) are one: they got
    the same answer, and one that says something."""
    both_read = left.effect is Effect.READ and right.effect is Effect.READ
    return both_read and len(left.result_leaves) > 1 and bool(set(words(left.label)) & set(words(right.label)))


@dataclass
class Costs:
    """Integer costs of aligning steps, each distinct pair computed once per task; and what was built with
    them: costs of pairs of trials and graphs of passes, by trial ids, and graphs by those in merged order."""

    known: dict[tuple[int, int], int] = field(default_factory=dict)
    pairs: dict[tuple[str, str], int] = field(default_factory=dict)
    graphs: dict[tuple[str, ...], Any] = field(default_factory=dict)
    merged: dict[tuple[str, ...], Any] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    table: Any = None

    def number(self, step: PreparedStep) -> int:
        """Equal steps have equal numbers: their identities are long texts."""
        return self.numbers.setdefault(step.full_key, len(self.numbers))

    def likeness(self, left: PreparedStep, right: PreparedStep) -> int:
        """Likeness of two steps, remembered by their identity."""
        a, b = self.number(left), self.number(right)
        key = (a, b) if a <= b else (b, a)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = likeness(left, right)
        return found

    def likenesses(self, pairs: Sequence[tuple[PreparedStep, PreparedStep]]) -> list[int]:
        """Likeness of the steps of each pair, remembered like that of one pair."""
        numbers = [(self.number(left), self.number(right)) for left, right in pairs]
        keys = [(a, b) if a <= b else (b, a) for a, b in numbers]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self.known}
        self.known |= zip(new, likenesses(list(new.values())), strict=True)
        return [self.known[key] for key in keys]

    def substitute(self, left: PreparedStep, right: PreparedStep) -> int | None:
        """Cost of putting two steps into one row, None where they do not belong together."""
        alike = self.likeness(left, right)
        return None if alike < ENOUGH else cost_of_pair(weight(left) + weight(right), alike)


def cost_of_pair(weights: Number, alike: Number) -> Number:
    """Cost of putting two steps into one row, from the sum of their weights and how alike they are (from
    ``ENOUGH``); of many pairs where these are arrays."""
    return weights * (FULL - alike) // (2 * FULL)


def _call_likeness(left: PreparedStep, right: PreparedStep) -> int:
    if left.label == right.label:
        return SAME_TOOL + (OTHER_RESULT - SAME_TOOL) * argument_likeness(left, right) // FULL
    agree = left.result_text == right.result_text and argument_likeness(left, right) == FULL
    return NEAR_NAME if agree and (near_names(left.label, right.label) or same_look(left, right)) else 0


def _values_likeness(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    if left == right:
        return FULL
    if len(left) == len(right) == 1 and _is_prose(left[0]) and _is_prose(right[0]):
        return text_likeness(left[0], right[0])
    return _overlap(frozenset(left), frozenset(right))


def _is_prose(value: str) -> bool:
    return number(value) is None and not is_identifier(value) and (" " in value or is_unspaced(value))


def _overlap(left: frozenset[str], right: frozenset[str]) -> int:
    if left == right:
        return FULL
    both = len(left & right)
    union = len(left) + len(right) - both
    return FULL * both // union


@dataclass(frozen=True, slots=True)
class _Head:
    """The compared head of a text, folded: its words with opposites, these opposites, whether it has spaces
    between words, its words in order of the alphabet as one text, and each of them once; ``letters`` counts
    those."""

    text: str
    terms: frozenset[str]
    facing: frozenset[str]
    unspaced: bool
    in_order: str
    distinct: tuple[str, ...]
    words: frozenset[str]
    letters: int


@lru_cache(maxsize=4096)
def _head_of(text: str) -> _Head:
    head = fold(text)[:HEAD]
    found = frozenset(head.split())
    terms = _terms(head)
    return _Head(
        text=head,
        terms=terms,
        facing=frozenset().union(*(opposites()[word] for word in terms)),
        unspaced=is_unspaced(head),
        in_order=" ".join(sorted(head.split())),
        distinct=tuple(sorted(found)),
        words=found,
        letters=sum(map(len, found)),
    )


class _Parted(NamedTuple):
    """The words that only one of two texts has, in order as one text, and of those that both have how many and
    how long they are as one text. ``decided`` is the share of words where no comparison is needed."""

    own: str
    theirs: str
    common: int = 0
    shared: int = 0
    decided: float | None = None


def _parted(one: _Head, other: _Head) -> _Parted:
    if not one.words or not other.words:
        return _Parted("", "", decided=0.0)
    left = list(filterfalse(other.words.__contains__, one.distinct))
    right = list(filterfalse(one.words.__contains__, other.distinct))
    count = len(one.distinct) - len(left)
    if count and not (left and right):
        return _Parted("", "", decided=100.0)
    own = " ".join(left)
    shared = one.letters - (len(own) - len(left) + 1) + count - 1 if count else 0
    return _Parted(own, " ".join(right), count, shared)


def _shared_share(parted: _Parted, distance: int) -> float:
    """``token_set_ratio`` of RapidFuzz, 0 to 100, from the distance between the words that only one has."""
    if parted.decided is not None:
        return parted.decided
    own, theirs, shared = len(parted.own), len(parted.theirs), parted.shared
    gap = 1 if parted.common else 0
    best = 100.0 - 100.0 * distance / (2 * (shared + gap) + own + theirs)
    if not gap:
        return best
    return max(best, *(100.0 - 100.0 * (1 + rest) / (2 * shared + 1 + rest) for rest in (own, theirs)))


def _shared_words(one: _Head, other: _Head) -> float:
    """``token_set_ratio`` of RapidFuzz on words that were parted and sorted before: three times as quick where
    every text is compared with many."""
    parted = _parted(one, other)
    return _shared_share(parted, _indel()(parted.own, parted.theirs))


@lru_cache(maxsize=16384)
def _pairs(text: str) -> tuple[str, ...]:
    joined = "".join(text.split())
    return tuple(joined[i : i + 2] for i in range(max(len(joined) - 1, 1)))


@lru_cache(maxsize=8192)
def _terms(text: str) -> frozenset[str]:
    """The words of a text that have opposites; no other word can make two texts opposed."""
    known = opposites()
    terms = {word for word in text.split() if word in known}
    # In scripts without spaces the words are looked for as substrings.
    if is_unspaced(text):
        terms |= {word for word in known if word in text}
    return frozenset(terms)


@lru_cache(maxsize=1)
def _indel() -> Callable[[str, str], int]:
    from rapidfuzz.distance import Indel

    return Indel.distance


@lru_cache(maxsize=1)
def _fuzz() -> ModuleType:
    """The scorers, loaded at the first use: asking for them at every pair costs more than many pairs."""
    from rapidfuzz import fuzz

    return fuzz
