"""What is asked about one task and what comes back; which levels held-out passes of all tasks allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import overload

import msgspec
from msgspec import Struct

from trajdiff import __version__
from trajdiff.divergence.argument_roles import RoleCount
from trajdiff.divergence.borrowed import References
from trajdiff.divergence.case import ALL_LEVELS, FROM_ONE_PASS
from trajdiff.divergence.finding import TaskFinding
from trajdiff.frozen import replace
from trajdiff.model import Effect, TaskTrials, Trial
from trajdiff.reliability.stored_trials import TrialFacts
from trajdiff.settings import Settings

#: A level below writes is used while its smoothed false-alarm rate on held-out passes stays at or under this.
#: Tighter than the 5 % a level is allowed in itself, so that all levels together stay under 2 % or so.
LEVEL_LIMIT = 0.02
#: The prior of that rate: so little that a handful of passes without an alarm does not forbid a level.
PRIOR_ALARMS, PRIOR_TRIALS = 0.2, 10


class Tried(Struct, frozen=True, kw_only=True):
    """What held-out passes said: how many of them each level accuses first, and how many were held out."""

    alarms: Mapping[str, int] = msgspec.field(default_factory=dict)
    held_out: int = 0

    def and_of(self, outcome: TaskOutcome) -> Tried:
        """This and what those of one more task said."""
        alarms = Counter(self.alarms)
        alarms.update(level for _, level in outcome.alarms)
        return Tried(alarms=alarms, held_out=self.held_out + outcome.held_out)

    @property
    def allowed(self) -> frozenset[str]:
        """The levels that held-out passes do not trip over."""
        # A level that speaks from one pass alone has to have been tried on passes, not only assumed.
        usable = ALL_LEVELS if self.held_out >= PRIOR_TRIALS else ALL_LEVELS - FROM_ONE_PASS
        trials = self.held_out + PRIOR_TRIALS
        return frozenset(
            level for level in usable if (self.alarms.get(level, 0) + PRIOR_ALARMS) / trials <= LEVEL_LIMIT
        )

    def settled(self, left: int) -> tuple[frozenset[str], frozenset[str]]:
        """The levels that are allowed and those that are not, whatever comes of ``left`` further held-out
        passes: each may be an alarm, or its task may be lost."""
        total = self.held_out + left
        worst = Tried(alarms={level: self.alarms.get(level, 0) + left for level in ALL_LEVELS}, held_out=total)
        untried = FROM_ONE_PASS if self.held_out < PRIOR_TRIALS else frozenset()
        return worst.allowed - untried, ALL_LEVELS - Tried(alarms=self.alarms, held_out=total).allowed


class TaskJob(Struct, frozen=True, kw_only=True):
    """What a worker is given: the task, what is known about the whole input, and whether its finding is asked
    for (the self-check speaks of all tasks, whichever are shown).

    ``references`` are those that the user named for this task, ``others`` passes of other groups on it.
    ``tried`` is what held-out passes of other tasks said so far: where the outcome relies on a level that will
    not be allowed as far as one can tell, the one without it comes ``ahead``. None where it is not asked for.
    ``steps`` is how many the whole input has. With ``only_roles`` nothing is asked for but what the arguments
    of the passes' calls are for.
    """

    task: TaskTrials
    effect_of: Mapping[str, Effect]
    settings: Settings
    references: References = References()
    others: tuple[Trial, ...] = ()
    levels: tuple[str, ...] = tuple(sorted(ALL_LEVELS))
    wanted: bool = True
    tried: Tried | None = None
    steps: int = 0
    only_roles: bool = False
    version: str = __version__

    @property
    def write_tools(self) -> frozenset[str]:
        """The tools that change something."""
        return frozenset(tool for tool, effect in self.effect_of.items() if effect is Effect.WRITE)


class TaskOutcome(Struct, frozen=True, kw_only=True):
    """What comes back. ``alarms`` are (trial id, level) of held-out passes about which something is claimed, of
    ``held_out`` in all; without the levels it ``relied`` on, the outcome may be another one, and what is said
    of held-out passes without those of ``relied_held_out``. ``facts`` are what the card wants to know of each
    trial. ``ahead`` are outcomes with fewer levels, by these levels."""

    task_id: str
    alarms: tuple[tuple[str, str], ...] = ()
    held_out: int = 0
    relied: tuple[str, ...] = ()
    relied_held_out: tuple[str, ...] = ()
    finding: TaskFinding | None = None
    roles: tuple[RoleCount, ...] = ()
    facts: tuple[TrialFacts | None, ...] = ()
    ahead: tuple[tuple[tuple[str, ...], TaskOutcome], ...] = ()


def tried_in(outcomes: Iterable[TaskOutcome]) -> Tried:
    """What held-out passes said in all, from outcomes with every level."""
    tried = Tried()
    for outcome in outcomes:
        tried = tried.and_of(outcome)
    return tried


def without(job: TaskJob, outcome: TaskOutcome, levels: Collection[str]) -> TaskJob | None:
    """The job without the forbidden levels that its outcome relied on; None where there are none.

    Levels that were not relied on change nothing, so that one outcome serves many sets of levels.
    """
    relied = set(outcome.relied) - set(levels)
    return replace(job, levels=tuple(one for one in job.levels if one not in relied)) if relied else None


class Forecast:
    """Which levels will be allowed, as far as one can tell while tasks are worked on one after the other.

    A task whose answer rests on a level that will not be is worked out without it too while it is prepared;
    where the forecast is wrong that is done later, so that the result does not depend on it.
    """

    def __init__(self, *, hints: bool = True) -> None:
        self._hints = hints
        self._tried = Tried()
        self._ready: dict[tuple[str, tuple[str, ...]], TaskOutcome] = {}

    def take(self, job: TaskJob) -> TaskOutcome | None:
        """An outcome that was worked out ahead."""
        return self._ready.pop((job.task.task_id, job.levels), None)

    def note(self, job: TaskJob, outcome: TaskOutcome) -> TaskOutcome:
        """The outcome without those ahead of it, of which this takes note, and of what held-out passes said."""
        for levels, ahead in outcome.ahead:
            self._ready[outcome.task_id, levels] = ahead
        if len(job.levels) == len(ALL_LEVELS):
            self._tried = self._tried.and_of(outcome)
        return replace(outcome, ahead=()) if outcome.ahead else outcome

    def hint(self, job: TaskJob) -> TaskJob:
        """The job with what held-out passes said so far."""
        asked = self._hints and len(job.levels) == len(ALL_LEVELS)
        return replace(job, tried=self._tried) if asked else job


class Hinted(Sequence[TaskJob]):
    """Jobs that are told what the forecast says when they are handed out."""

    def __init__(self, jobs: Sequence[TaskJob], forecast: Forecast) -> None:
        self._jobs, self._forecast = jobs, forecast

    def __len__(self) -> int:
        return len(self._jobs)

    @overload
    def __getitem__(self, index: int) -> TaskJob: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TaskJob]: ...
    def __getitem__(self, index: int | slice) -> TaskJob | Sequence[TaskJob]:
        if isinstance(index, slice):
            return Hinted(self._jobs[index], self._forecast)
        return self._forecast.hint(self._jobs[index])


def fitted(outcome: TaskOutcome, job: TaskJob) -> TaskOutcome:
    """The outcome of a job from one of the same work with its finding: where that is not asked for, as if it
    never had been."""
    if job.wanted or outcome.finding is None:
        return outcome
    return replace(outcome, finding=None, relied=outcome.relied_held_out)
