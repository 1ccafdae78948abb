"""One task by itself: made ready, its passes held out one by one, its finding. A pure function of its trials.

Everything here is what a worker does for one task, wherever it runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from trajdiff import __version__
from trajdiff.align.batch import expect
from trajdiff.align.graph import (
    NotMergedError,
    SuccessGraph,
    align_all,
    graphs_to_come,
    success_graph,
    success_graphs,
)
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.stored_table import stored_table
from trajdiff.align.table import AlignedTable
from trajdiff.divergence import evidence
from trajdiff.divergence.abstain import abstention, infrastructure, inside_one_trial
from trajdiff.divergence.borrowed import borrowed_divergence
from trajdiff.divergence.case import ALL_LEVELS, Case, Levels, Suspect
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
from trajdiff.divergence.lower_levels import AGREEING
from trajdiff.divergence.near_misses import near_misses
from trajdiff.divergence.ways import ways_to_fail
from trajdiff.errors import UsageError
from trajdiff.execution.collector import collected_after
from trajdiff.frozen import replace
from trajdiff.model import TaskTrials, Trial, Verdict
from trajdiff.reliability.stored_trials import work_out
from trajdiff.task_jobs import TaskJob, TaskOutcome, without
from trajdiff.task_preparing import PreparedTask, prepare_task

#: Passes of a task that are held out; more of the same task add little and cost a graph each.
HELD_OUT_PER_TASK = 8


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


def lean(outcome: TaskOutcome, task: TaskTrials) -> TaskOutcome:
    """The outcome without the texts that stay in the files of the task's trials."""
    finding = outcome.finding
    if finding is None or finding.table is None:
        return outcome
    return replace(outcome, finding=replace(finding, table=stored_table(finding.table, task)))


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
    near = _near_misses(prepared, levels) if kind is FindingKind.ALWAYS_PASS else ()
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


def _near_misses(prepared: PreparedTask, levels: Levels) -> tuple[NearMiss, ...]:
    """Near misses of the trials of a task that always passes, each against the others."""
    # They use all levels in any case; asked for once.
    return prepared.answers.under(levels, ("near misses", ""), lambda _: _each_against_others(prepared))


def _each_against_others(prepared: PreparedTask) -> tuple[NearMiss, ...]:
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
