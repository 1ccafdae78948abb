"""One task by itself: made ready, its passes held out one by one, its finding. A pure function of its trials.

Everything here is what a worker does for one task, wherever it runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar, overload

import msgspec
from msgspec import Struct

from trajdiff import __version__
from trajdiff.align.batch import expect
from trajdiff.align.graph import (
    NotMergedError,
    SuccessGraph,
    align_all,
    align_to,
    graphs_to_come,
    success_graph,
    success_graphs,
)
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.rows import aligned_table
from trajdiff.align.similarity import Costs
from trajdiff.align.stored_table import stays_in_files, stored_table
from trajdiff.align.table import AlignedTable
from trajdiff.divergence import evidence
from trajdiff.divergence.abstain import abstention, infrastructure, inside_one_trial
from trajdiff.divergence.argument_roles import RoleCount, role_counts
from trajdiff.divergence.borrowed import References, borrowed_divergence, renamed
from trajdiff.divergence.case import ALL_LEVELS, FROM_ONE_PASS, Case, Levels, Suspect
from trajdiff.divergence.critical import earliest
from trajdiff.divergence.finding import (
    Divergence,
    FindingKind,
    Grade,
    Kind,
    NearMiss,
    Reason,
    TaskFinding,
    Variant,
    Way,
)
from trajdiff.divergence.gold import gold_trial
from trajdiff.divergence.lower_levels import AGREEING
from trajdiff.divergence.near_misses import near_misses
from trajdiff.divergence.ways import ways_to_fail
from trajdiff.errors import UsageError
from trajdiff.execution.collector import collected_after
from trajdiff.frozen import replace
from trajdiff.model import Effect, TaskTrials, Trial, Verdict
from trajdiff.reliability.stored_trials import TrialFacts, work_out
from trajdiff.settings import Settings

Found = TypeVar("Found")

#: A level below writes is used while its smoothed false-alarm rate on held-out passes stays at or under this.
#: Tighter than the 5 % a level is allowed in itself, so that all levels together stay under 2 % or so.
LEVEL_LIMIT = 0.02
#: The prior of that rate: so little that a handful of passes without an alarm does not forbid a level.
PRIOR_ALARMS, PRIOR_TRIALS = 0.2, 10
#: Passes of a task that are held out; more of the same task add little and cost a graph each.
HELD_OUT_PER_TASK = 8


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


def allowed_levels(outcomes: Iterable[TaskOutcome]) -> frozenset[str]:
    """The levels that held-out passes do not trip over, from outcomes with every level."""
    tried = Tried()
    for outcome in outcomes:
        tried = tried.and_of(outcome)
    return tried.allowed


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


def analyse_task(job: TaskJob) -> TaskOutcome:
    """The outcome of one task. Raises ``UsageError`` where a worker has another version than who asks it."""
    if job.version != __version__:
        raise UsageError(f"a worker has trajdiff {__version__}, this is {job.version}")
    expect(job.steps)
    with collected_after():
        return _analysed(job)


def _analysed(job: TaskJob) -> TaskOutcome:
    preparer = Preparer(settings=job.settings, effect_of=job.effect_of)
    prepared = prepare_task(preparer, job.task, job.references, {job.task.task_id: job.others})
    try:
        if job.only_roles:
            return TaskOutcome(task_id=job.task.task_id, roles=prepared.roles)
        return _with_those_ahead(job, prepared)
    finally:
        prepared.release()


def _with_those_ahead(job: TaskJob, prepared: PreparedTask) -> TaskOutcome:
    facts = work_out(job.task, job.write_tools, job.settings.gate)
    outcome = last = replace(_outcome(job, prepared), facts=facts)
    # The passes of this task speak too, or the first tasks of a log would all be worked out twice.
    likely = job.tried.and_of(outcome).allowed if job.tried is not None else ALL_LEVELS
    ahead = []
    while (again := without(job, last, likely)) is not None:
        last = replace(_outcome(again, prepared), facts=facts)
        ahead.append((again.levels, last))
        job = again
    return replace(outcome, ahead=tuple(ahead)) if ahead else outcome


def _outcome(job: TaskJob, prepared: PreparedTask) -> TaskOutcome:
    levels = Levels(job.levels)
    alarms, held_out = _held_out(prepared, levels)
    relied_held_out = tuple(sorted(levels.relied))
    finding = _finding(prepared, levels) if job.wanted else None
    outcome = TaskOutcome(
        task_id=job.task.task_id,
        alarms=tuple(alarms),
        held_out=held_out,
        relied=tuple(sorted(levels.relied)),
        relied_held_out=relied_held_out,
        finding=finding,
        roles=prepared.roles,
    )
    return lean(outcome, job.task)


def fitted(outcome: TaskOutcome, job: TaskJob) -> TaskOutcome:
    """The outcome of a job from one of the same work with its finding: where that is not asked for, as if it
    never had been."""
    if job.wanted or outcome.finding is None:
        return outcome
    return replace(outcome, finding=None, relied=outcome.relied_held_out)


def lean(outcome: TaskOutcome, task: TaskTrials) -> TaskOutcome:
    """The outcome without the texts that stay in the files of the task's trials."""
    finding = outcome.finding
    if finding is None or finding.table is None:
        return outcome
    return replace(outcome, finding=replace(finding, table=stored_table(finding.table, task)))


class Answers:
    """What was found out about the trials of one task, with the levels that it rested on: asked again with
    fewer levels, an answer that rested on none of those left out is the same."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Levels, Any]] = {}

    def under(self, levels: Levels, question: tuple[str, str], answer: Callable[[Levels], Found]) -> Found:
        """The answer to a question with these levels, which take note of what it relied on."""
        known = self._found.get(question)
        if known is None or not known[0].relied <= levels.allowed <= known[0].allowed:
            own = Levels(levels.allowed)
            known = self._found[question] = own, answer(own)
        levels.relied |= known[0].relied
        found: Found = known[1]
        return found


@dataclass(frozen=True, kw_only=True)
class PreparedTask:
    """One task made ready: all comparable trials, and the graph of its passes (or of its failures).

    ``borrowed`` are passes from elsewhere, used where the task has none; ``borrowed_first``: in any case.
    ``reference`` names the one pass that the user wants to compare with.
    """

    task: TaskTrials
    trials: Mapping[str, PreparedTrial]
    costs: Costs
    gold: PreparedTrial | None = None
    borrowed: tuple[PreparedTrial, ...] = ()
    borrowed_first: bool = False
    reference: str | None = None
    answers: Answers = field(default_factory=Answers, compare=False, repr=False)

    def of(self, verdict: Verdict) -> tuple[PreparedTrial, ...]:
        """Comparable trials with this verdict, in order."""
        return tuple(
            self.trials[t.trial_id] for t in self.task.with_verdict(verdict) if t.trial_id in self.trials
        )

    @property
    def compared_with(self) -> Sequence[PreparedTrial]:
        """The passes with steps that failing trials are compared with: the one that the user named, or all."""
        passes = self.of(Verdict.PASS)
        return [trial for trial in passes if trial.trial_id == self.reference] or passes

    def release(self) -> None:
        """Lets go of what refers to itself, so that it is freed at once: a search for it takes as long as
        to look at some trials."""
        self.costs.graphs.clear()
        self.costs.merged.clear()
        self.costs.table = None
        for trial in (*self.trials.values(), *self.borrowed, *([self.gold] if self.gold is not None else [])):
            trial.memo.clear()

    @cached_property
    def graph(self) -> SuccessGraph | None:
        """The graph of the passes, None where no pass has steps."""
        return success_graph(self.compared_with, self.costs) if self.compared_with else None

    @cached_property
    def table(self) -> AlignedTable | None:
        """All trials beside each other, None where no trial has steps."""
        base = self.of(Verdict.FAIL) or tuple(self.trials.values())
        graph = self.graph or (success_graph(base, self.costs) if base else None)
        if graph is None:
            return None
        inside = {trial.trial_id for trial in graph.trials}
        rest = [t for t in self.trials.values() if t.trial_id not in inside]
        order = [t.trial_id for t in (*graph.trials, *rest)]
        aligned = [(trial, align_to(graph, trial)) for trial in rest]
        bare = stays_in_files(self.task, order)
        return aligned_table(graph, aligned, order, self.graph is not None, bare=bare)

    @cached_property
    def ways_to_pass(self) -> tuple[str, ...]:
        """Where the passes succeed in different ways."""
        return self.graph.ways() if self.graph is not None else ()

    @cached_property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """Near misses of the passes, each against the others."""
        return _near_misses(self)

    @cached_property
    def roles(self) -> tuple[RoleCount, ...]:
        """What the arguments of the passes' calls are for."""
        return role_counts(self.graph)


def prepare_task(
    preparer: Preparer,
    task: TaskTrials,
    references: References | None = None,
    others: Mapping[str, Sequence[Trial]] | None = None,
) -> PreparedTask:
    """The task made ready; ``others`` are, by task, passes of other groups on the same problem."""
    references = references or References()
    path = task.trials[0].source.path if task.trials else ""
    # Tasks that have passes never use recorded reference calls.
    gold = None if task.passes else gold_trial(task.task, preparer, path)
    named = references.borrowed.get(task.task_id, ())
    elsewhere = named or (() if gold is not None else (others or {}).get(task.task_id, ()))
    comparable = [trial for trial in task.trials if trial.comparable]
    prepared = preparer.trials([*comparable, *renamed(elsewhere)])
    return PreparedTask(
        task=task,
        trials={trial.trial_id: trial for trial in prepared[: len(comparable)]},
        costs=Costs(),
        gold=None if named else gold,
        borrowed=prepared[len(comparable) :],
        borrowed_first=bool(named) and references.first,
        reference=references.own.get(task.task_id),
    )


def held_out_in(task: TaskTrials) -> int:
    """How many passes of a task are held out."""
    passes = sum(trial.comparable for trial in task.passes)
    return min(passes, HELD_OUT_PER_TASK) if passes > 1 else 0


def _held_out(prepared: PreparedTask, levels: Levels) -> tuple[list[tuple[str, str]], int]:
    """The passing trials of a task with two or more treated as if they had failed, at most
    ``HELD_OUT_PER_TASK``: those about which something is claimed, and how many were held out."""
    passes = prepared.of(Verdict.PASS)
    if len(passes) < 2:
        return [], 0
    held_out = passes[:HELD_OUT_PER_TASK]
    rests = [[other for other in passes if other is not trial] for trial in held_out]
    graphs = graphs_to_come(rests, prepared.costs, wait=True)
    claims: dict[str, Suspect | None] = {}
    waiting = []
    for trial, graph in zip(held_out, graphs, strict=True):
        try:
            claims[trial.trial_id] = _claimed(prepared, trial, graph, levels)
        except NotMergedError:
            waiting.append((graph, trial))
    if waiting:
        # The graph of all passes, which the finding asks for, grows beside those of the others.
        success_graphs([*(graph.trials for graph, _ in waiting), prepared.compared_with], prepared.costs)
        align_all(waiting)
        claims |= {trial.trial_id: _claimed(prepared, trial, graph, levels) for graph, trial in waiting}
    named = ((trial.trial_id, claims[trial.trial_id]) for trial in held_out)
    return [(trial_id, claim.level) for trial_id, claim in named if claim is not None], len(held_out)


def _claimed(
    prepared: PreparedTask, trial: PreparedTrial, graph: SuccessGraph, levels: Levels
) -> Suspect | None:
    """What is claimed about a pass held out. Raises ``NotMergedError`` where that takes a graph that waits."""

    def answer(levels: Levels) -> Suspect | None:
        return earliest(Case(task=prepared.task.task, failing=trial, graph=graph, levels=levels))

    return prepared.answers.under(levels, ("held out", trial.trial_id), answer)


def _finding(prepared: PreparedTask, levels: Levels) -> TaskFinding:
    graph = prepared.graph
    if graph is not None:
        merged = {trial.trial_id for trial in graph.trials}
        align_all([(graph, trial) for name, trial in prepared.trials.items() if name not in merged])
    rows = [
        prepared.answers.under(levels, ("judged", trial.trial_id), partial(_judge, prepared, trial))
        for trial in prepared.task.trials
    ]
    judged = _grouped([row for row in rows if row is not None])
    lead, others = _lead(judged)
    kind, text = _headline(prepared.task, judged, lead)
    ways, said = _ways(prepared, judged, kind)
    near = prepared.near_misses if kind is FindingKind.ALWAYS_PASS else ()
    if said and lead is None:
        text = f"never passes; {said}"
    return TaskFinding(
        task_id=prepared.task.task_id,
        kind=kind,
        text=text,
        divergences=judged,
        lead=lead,
        other_groups=others,
        reference=graph.trials[0].trial_id if graph is not None else None,
        variants=_variants(prepared),
        table=table_of(prepared, judged),
        notes=(
            *prepared.ways_to_pass,
            *([f"{said}."] if said else []),
            *(f"{way.text} (trials {', '.join(way.trials)})" for way in ways if len(ways) > 1 or lead is None),
            *(f"near miss in trial {one.trial_id}: {one.text}" for one in near),
        ),
        ways=ways,
        near_misses=near,
    )


def _ways(
    prepared: PreparedTask, judged: Sequence[Divergence], kind: FindingKind
) -> tuple[tuple[Way, ...], str]:
    """How the trials of a task fail that was compared with nothing."""
    failures = prepared.of(Verdict.FAIL)
    compared = any(row.grade is Grade.C for row in judged)
    if kind is not FindingKind.NEVER_PASS or compared or len(failures) < 2:
        return (), ""
    return ways_to_fail(failures, success_graph(failures, prepared.costs))


def _near_misses(prepared: PreparedTask) -> tuple[NearMiss, ...]:
    """Near misses of the trials of a task that always passes, each against the others."""
    passes = prepared.of(Verdict.PASS)
    held_out = passes[:HELD_OUT_PER_TASK] if len(passes) > AGREEING else ()
    rests = [[other for other in passes if other is not trial] for trial in held_out]
    graphs = graphs_to_come(rests, prepared.costs)
    cases = (
        Case(task=prepared.task.task, failing=trial, graph=graph)
        for trial, graph in zip(held_out, graphs, strict=True)
    )
    return tuple(near for case in cases for near in near_misses(case))


def _judge(prepared: PreparedTask, trial: Trial, levels: Levels) -> Divergence | None:
    if trial.verdict is Verdict.INFRA:
        return infrastructure(trial, prepared.trials.get(trial.trial_id))
    if trial.verdict is not Verdict.FAIL:
        return None
    failing = prepared.trials.get(trial.trial_id)
    task = prepared.task.task
    if failing is None:
        return abstention(trial, Reason.NOT_COMPARABLE, "nothing but the verdict is recorded")
    if prepared.graph is None or prepared.borrowed_first:
        return _without_pass(prepared, trial, failing, levels)
    failures = prepared.of(Verdict.FAIL)
    case = Case(task=task, failing=failing, graph=prepared.graph, levels=levels, failures=failures)
    suspect = earliest(case)
    if suspect is None:
        return abstention(trial, *evidence.nothing_separates(case), case=case)
    return evidence.divergence(case, suspect)


def _without_pass(prepared: PreparedTask, trial: Trial, failing: PreparedTrial, levels: Levels) -> Divergence:
    """Against borrowed passes or the recorded reference calls (grade C) where there are any, else inside the
    trial (grade D)."""
    failures = prepared.of(Verdict.FAIL)
    if prepared.borrowed:
        graph = success_graph(prepared.borrowed, prepared.costs)
        case = Case(task=prepared.task.task, failing=failing, graph=graph, levels=levels, failures=failures)
        suspect = earliest(case)
        if suspect is None:
            reason, text = evidence.nothing_separates(case)
            return abstention(trial, reason, f"{text}; the reference is borrowed")
        return borrowed_divergence(case, suspect)
    if prepared.gold is not None:
        graph = success_graph((prepared.gold,), prepared.costs)
        case = Case(task=prepared.task.task, failing=failing, graph=graph, borrowed=True, failures=failures)
        suspect = earliest(case)
        if suspect is not None:
            return evidence.divergence(case, suspect)
    return inside_one_trial(trial, failing, recorded=len(prepared.task.passes))


def _grouped(rows: list[Divergence]) -> tuple[Divergence, ...]:
    """Adds to every claim the failed trials that have the same one."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if not row.abstained and row.kind is not Kind.INFRASTRUCTURE:
            groups.setdefault(row.identity, []).append(row.trial_id)
    return tuple(replace(row, group=tuple(groups.get(row.identity, ()))) for row in rows)


def _lead(rows: tuple[Divergence, ...]) -> tuple[Divergence | None, int]:
    claims = [row for row in rows if not row.abstained and row.grade is not None]
    if not claims:
        return None, 0
    # A group speaks through its best-supported trial.
    first: dict[str, Divergence] = {}
    for row in sorted(claims, key=lambda r: r.grade or Grade.D):
        first.setdefault(row.identity, row)
    ranked = sorted(first.values(), key=lambda r: (r.grade or Grade.D, -len(r.group), claims.index(r)))
    return ranked[0], len(ranked) - 1


def _headline(
    task: TaskTrials, rows: tuple[Divergence, ...], lead: Divergence | None
) -> tuple[FindingKind, str]:
    verdicts = Counter(trial.verdict for trial in task.trials)
    passed, failed, infra = verdicts[Verdict.PASS], verdicts[Verdict.FAIL], verdicts[Verdict.INFRA]
    if not passed and not failed and not infra:
        return FindingKind.NOT_COMPARED, "not compared: no trial has a verdict"
    if not failed and not infra:
        return FindingKind.ALWAYS_PASS, "always passes"
    if not failed:
        first = next(row for row in rows if row.kind is Kind.INFRASTRUCTURE)
        return FindingKind.INFRASTRUCTURE, f"infrastructure: {first.headline}"
    if not passed:
        return FindingKind.NEVER_PASS, f"never passes; {lead.headline}" if lead else "never passes"
    if lead is not None:
        return FindingKind.DIVERGENCE, lead.headline
    same = [row for row in rows if row.reason is Reason.SAME_PATH]
    if same:
        return FindingKind.SAME_PATH, "same path, different outcome"
    abstained = next(row for row in rows if row.abstained)
    return FindingKind.ABSTAINED, f"abstained: {abstained.headline}"


def _variants(prepared: PreparedTask) -> tuple[Variant, ...]:
    groups: dict[str, list[str]] = {}
    for trial_id, trial in prepared.trials.items():
        groups.setdefault(trial.signature, []).append(trial_id)
    return tuple(Variant(trials=tuple(group)) for group in groups.values())


def table_of(prepared: PreparedTask, judged: Sequence[Divergence] = ()) -> AlignedTable | None:
    """The aligned table of a task, which shows the places that its divergences name."""
    named = {(p.trial_id, p.step) for row in judged for p in (row.root, row.manifest) if p is not None}
    return None if prepared.table is None else prepared.table.showing(named)
