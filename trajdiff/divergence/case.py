"""One failing trial against the passes of its task: what every rule of this package is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from msgspec import Struct

from trajdiff.align.graph import Match, SuccessGraph, align_to
from trajdiff.align.memo import once
from trajdiff.align.mentions import Mentions, mentions, sentences, states
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.records import aliases
from trajdiff.align.similarity import GROUND
from trajdiff.align.values import leaf_name, words
from trajdiff.divergence.effects import name_parts
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.model import Effect, Task

Found = TypeVar("Found")

#: Comparison levels below writes; each is used only where held-out passes do not trip over it.
ALL_LEVELS = frozenset(
    {"answers", "checks", "common answers", "definitions", "endings", "facts", "paths", "reads", "results"}
)
#: Those that say something about agents that work by commands only.
OF_COMMANDS = frozenset({"checks", "definitions", "paths"})
#: Those that say something where the task has one pass only.
FROM_ONE_PASS = frozenset({"endings"})


class Levels:
    """The levels that answers may use (``allowed``), and a note of those they rested on (``relied``): without
    any of the others every answer is the same.

    One such object goes through all cases of a task. It is the only part of a case that changes, so it is no
    frozen value: answers never depend on what is noted.
    """

    def __init__(self, allowed: Iterable[str] = ALL_LEVELS) -> None:
        self.allowed = frozenset(allowed)
        self.relied: set[str] = set()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A failing trial, the passes (at least one) and its alignment to their graph.

    ``levels`` names the comparison levels below writes that may be used, and notes which were.
    ``borrowed`` marks a reference that is no trial of this task: recorded reference calls, which have writes
    and nothing else, so that nothing can be concluded from what they do not say.
    ``failures`` are all failing trials of the task with steps, for counting; they never change the answer.
    ``left_out`` passes are not compared with, to see whether the answer stays the same. ``memo`` keeps what was
    worked out for the case, so that it is worked out once.
    """

    task: Task
    failing: PreparedTrial
    graph: SuccessGraph
    levels: Levels = field(default_factory=Levels)
    borrowed: bool = False
    failures: tuple[PreparedTrial, ...] = ()
    left_out: int = 0
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, question: str, step: PreparedStep, answer: Callable[[Case, PreparedStep], Found]) -> Found:
        """What is asked about a step of a trial of this case by several rules, worked out for the first."""
        known: dict[int, Found] = self.memo.setdefault(question, {})
        if id(step) not in known:
            known[id(step)] = answer(self, step)
        return known[id(step)]

    @property
    def witnesses(self) -> int:
        """How many passes the task has: leaving one out to see whether the answer stays takes no rule away."""
        return len(self.passes) + self.left_out

    def may_use(self, level: str) -> bool:
        """Whether a level may be used; say with ``relies_on`` where it gave an answer."""
        return level in self.levels.allowed

    def relies_on(self, level: str) -> None:
        """Takes note that without this level another answer may be given."""
        self.levels.relied.add(level)

    @property
    def passes(self) -> tuple[PreparedTrial, ...]:
        """The passing trials, reference first."""
        return self.graph.trials

    @property
    def steps(self) -> tuple[PreparedStep, ...]:
        """Steps of the failing trial."""
        return self.failing.steps

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """The failing trial aligned to the graph of passes."""
        return align_to(self.graph, self.failing)

    @cached_property
    def common_ground(self) -> bool:
        """Whether the trial shares anything with a pass: a call of one semantic step, or a message that says
        about the same. A trial that does nothing has left nothing, and recorded calls have no messages
        to share: both count as common ground."""
        if self.borrowed or all(step.failed for step in self.failing.calls):
            return True
        if any(not self.failing.done.isdisjoint(trial.done) for trial in self.passes):
            return True
        return any(
            self.graph.costs.likeness(step, other) >= GROUND
            for step in self.failing.messages
            for trial in self.passes
            for other in trial.messages
        )

    @cached_property
    def column_at(self) -> dict[int, int]:
        """Position in the failing trial to the column it is matched with."""
        return {m.position: m.column for m in self.matches if m.position is not None and m.column is not None}

    @cached_property
    def calls_of_passes(self) -> frozenset[str]:
        """Identities (without results) of all calls of the passes."""
        return frozenset[str]().union(*(trial.calls_by_key for trial in self.passes))

    @cached_property
    def written_in_passes(self) -> frozenset[tuple[str, str]]:
        """Paths and values of all arguments of the passes' calls that are no reads."""
        return frozenset[tuple[str, str]]().union(*map(_leaves_but_of_reads, self.passes))

    @cached_property
    def arguments_of_passes(self) -> frozenset[tuple[str, str]]:
        """Paths and values of the arguments of all calls of the passes."""
        return frozenset[tuple[str, str]]().union(*map(_leaves, self.passes))

    @cached_property
    def argument_leaves(self) -> frozenset[tuple[str, str]]:
        """Paths and values of the arguments of all calls in this task's trials."""
        trials = (*self._trials, *self.failures)
        return frozenset[tuple[str, str]]().union(*map(_leaves, trials))

    @cached_property
    def argument_names(self) -> frozenset[tuple[str, ...]]:
        """What the arguments of those calls are called, as words."""
        names = {leaf_name(path) for path, _ in self.argument_leaves}
        return frozenset(tuple(words(name)) for name in names) - {()}

    def column_of(self, trial: PreparedTrial, step: PreparedStep) -> int | None:
        """Column of a pass's step."""
        number = next((n for n, other in enumerate(self.passes) if other.trial_id == trial.trial_id), None)
        return None if number is None else self.graph.column_of(number, step.position)

    def states(self, text: str, value: str, path: str) -> bool:
        """Whether a text states a value, or what singles out the record that the value identifies."""
        if states(text, value, path):
            return True
        return any(states(text, v, p) for p, v in self._aliases_of(value))

    def _aliases_of(self, value: str) -> Collection[tuple[str, str]]:
        """What singles out the record that a value identifies, in any result of the case."""
        found = self._aliases.get(value)
        if found is None:
            told = frozenset[tuple[str, str]]().union(*(aliases(trial, value) for trial in self._trials))
            found = self._aliases[value] = tuple(leaf for leaf in told if _is_telling(leaf[1]))
        return found

    @cached_property
    def _aliases(self) -> dict[str, Collection[tuple[str, str]]]:
        return {}

    @property
    def _trials(self) -> tuple[PreparedTrial, ...]:
        return (self.failing, *self.passes)

    def stated_in_passes(self, value: str, path: str) -> bool:
        """Whether any pass has a message that states the value."""
        return any(_stated_in(trial, value, path) for trial in self.passes)

    def agent_steps(self, after: int = -1) -> Iterator[PreparedStep]:
        """The failing trial's agent steps behind a position, folded ones left out."""
        return (
            s for s in self.steps[after + 1 :] if s.by_agent and not s.folded and (s.is_call or s.is_message)
        )

    @cached_property
    def _label_words(self) -> Mapping[str, frozenset[str]]:
        labels = sorted(frozenset[str]().union(*map(_labels, self._trials)))
        return {label: _words_of(label) for label in labels}

    def names_act(self, text: str, call: PreparedStep) -> bool:
        """Whether a text has a word that names this act and no other tool of the task, by its stem."""
        found = mentions(text)
        own = [word for word in _words_of(call.label) if _is_a_word(word) and _may_say(found, word)]
        if any(self._is_its_own(word, call.label) and _says(found, word) for word in own):
            return True
        # What no word of the text begins with stands in none of its sentences.
        return len(own) >= 2 and any(self._names_best(sentence, call.label) for sentence in sentences(text))

    def _is_its_own(self, word: str, label: str) -> bool:
        """Whether no other tool of the task has the word in its name."""
        return not any(word in found for other, found in self._label_words.items() if other != label)

    def _names_best(self, sentence: str, label: str) -> bool:
        """Whether a sentence has two words or more of this tool's name, and more than of any other's."""
        found = mentions(sentence)
        said = {word for word in self._name_words if _says(found, word)}
        counts = {other: len(said & known) for other, known in self._label_words.items()}
        own = counts.pop(label, len(said & _words_of(label)))
        return own >= 2 and all(own > count for count in counts.values())

    @cached_property
    def _name_words(self) -> frozenset[str]:
        return frozenset(w for found in self._label_words.values() for w in found if _is_a_word(w))

    @cached_property
    def last_agent_step(self) -> PreparedStep | None:
        """The last thing the agent did."""
        return next((s for s in reversed(self.steps) if s.by_agent and (s.is_call or s.is_message)), None)


@once
def _leaves(trial: PreparedTrial) -> frozenset[tuple[str, str]]:
    """Paths and values of the arguments of a trial's calls."""
    return frozenset([leaf for step in trial.calls for leaf in step.argument_leaves])


@once
def _leaves_but_of_reads(trial: PreparedTrial) -> frozenset[tuple[str, str]]:
    calls = (step for step in trial.calls if step.effect is not Effect.READ)
    return frozenset([leaf for step in calls for leaf in step.argument_leaves])


def _stated_in(trial: PreparedTrial, value: str, path: str) -> bool:
    """Whether a trial has a message that states the value; every failing trial asks the same of every pass."""
    known: dict[tuple[str, str], bool] = trial.memo.setdefault("stated", {})
    found = known.get((value, path))
    if found is None:
        found = known[value, path] = any(states(step.text, value, path) for step in trial.messages)
    return found


@once
def _labels(trial: PreparedTrial) -> frozenset[str]:
    """The semantic steps of all calls of a trial."""
    return frozenset([step.label for step in trial.steps if step.is_call])


@lru_cache(maxsize=4096)
def _words_of(label: str) -> frozenset[str]:
    return frozenset(name_parts(label))


def _is_a_word(word: str) -> bool:
    """Whether a part of a name is long enough to be looked for in a text."""
    return len(word) > (3 if word.isascii() else 1)


def _says(found: Mentions, word: str) -> bool:
    """Whether a text has a word by its stem; without spaces it may stand anywhere."""
    if not _may_say(found, word):
        return False
    stem = _stem(word)
    return any(token.startswith(stem) for token in found.tokens) or (
        not word.isascii() and word in found.folded
    )


def _may_say(found: Mentions, word: str) -> bool:
    """Whether a text has the stem of a word anywhere: quicker than to look at its words one by one."""
    return _stem(word) in found.folded


def _stem(word: str) -> str:
    return word[: max(4, len(word) - 2)]


def _is_telling(value: str) -> bool:
    # A price or a name singles a record out; a count or a yes does not.
    return len(value) > 3 and value.strip("0.") != ""


class Suspect(Struct, frozen=True, kw_only=True):
    """A place where the failing trial may have left the ways of succeeding.

    ``root`` and ``manifest`` are positions in the failing trial; ``expected`` is the pass's step at the place,
    ``reference`` the pass it belongs to; ``path`` and ``value`` the deciding value, if any. ``level`` says what
    the claim rests on: ``write``, ``end``, or one of the levels below writes. ``sure`` marks a missing write
    whose place is more than a guess, ``denied`` names the input that the user said not to have. ``said`` is
    headline and sentence where the rule words them itself.
    """

    kind: Kind
    actor: Blame
    root: int
    manifest: int
    level: str
    tool: str | None = None
    expected: PreparedStep | None = None
    reference: PreparedTrial | None = None
    path: str | None = None
    value: str | None = None
    expected_value: str | None = None
    instead: str | None = None
    announced: bool = False
    sure: bool = False
    denied: str | None = None
    said: tuple[str, str] | None = None
