"""The pipeline: from all trials to one finding per task.

Corpus-wide figures come first (effects of tools, the levels that held-out passes allow), then every task is a
pure function of its trials and those figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from trajdiff.align.batch import expect
from trajdiff.align.graph import SuccessGraph, align_all, align_to, success_graph, success_graphs
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.rows import aligned_table
from trajdiff.align.similarity import Costs
from trajdiff.align.table import AlignedTable
from trajdiff.divergence import evidence
from trajdiff.divergence.abstain import abstention, infrastructure, inside_one_trial
from trajdiff.divergence.borrowed import References, borrowed_divergence, of_other_groups, renamed
from trajdiff.divergence.case import ALL_LEVELS, Case, Suspect
from trajdiff.divergence.critical import earliest
from trajdiff.divergence.effects import Effects, classify
from trajdiff.divergence.finding import (
    Divergence,
    FindingKind,
    Grade,
    Kind,
    NearMiss,
    Reason,
    SelfCheck,
    TaskFinding,
    ToolEffect,
    Variant,
    Way,
)
from trajdiff.divergence.gold import gold_trial
from trajdiff.divergence.lower_levels import AGREEING
from trajdiff.divergence.near_misses import near_misses
from trajdiff.divergence.ways import ways_to_fail
from trajdiff.errors import UsageError
from trajdiff.model import Corpus, TaskTrials, Trial, Verdict
from trajdiff.settings import Settings

#: A level below writes is used while its smoothed false-alarm rate on held-out passes stays at or under this.
#: Tighter than the 5 % a level is allowed in itself, so that all levels together stay under 2 % or so.
LEVEL_LIMIT = 0.02
#: The prior of that rate: so little that a handful of passes without an alarm does not forbid a level.
PRIOR_ALARMS, PRIOR_TRIALS = 0.2, 10
#: Passes of a task that are held out; more of the same task add little and cost a graph each.
HELD_OUT_PER_TASK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Findings by task id, effects of tools, the self-check, and the levels below writes that were used."""

    findings: Mapping[str, TaskFinding]
    tools: tuple[ToolEffect, ...] = ()
    self_check: SelfCheck = field(default_factory=lambda: SelfCheck(false_alarms=0, passing_trials=0))
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Prepared:
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

    def of(self, verdict: Verdict) -> tuple[PreparedTrial, ...]:
        """Comparable trials with this verdict, in order."""
        return tuple(
            self.trials[t.trial_id] for t in self.task.with_verdict(verdict) if t.trial_id in self.trials
        )

    @cached_property
    def graph(self) -> SuccessGraph | None:
        """The graph of the passes, None where no pass has steps."""
        passes = self.of(Verdict.PASS)
        chosen = [trial for trial in passes if trial.trial_id == self.reference] or passes
        return success_graph(chosen, self.costs) if chosen else None


def analyse(
    corpus: Corpus,
    settings: Settings,
    *,
    tasks: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    references: References | None = None,
) -> Analysis:
    """Finds, for every task (or those named), where its failing trials left the ways of succeeding.

    ``progress(done, total)`` is called after each task. With ``tasks=()`` only the tools are classified.
    ``references`` are those the user named; passes of other agents on the same task are borrowed without.
    """
    references = references or References()
    effects = _effects(corpus, settings, references)
    chosen = [t for t in corpus.tasks if tasks is None or t.task_id in tasks]
    if not chosen:
        return Analysis(findings={}, tools=effects.rows)
    preparer = Preparer(settings=settings, effect_of=effects.of)
    expect(sum(len(trial.steps) for trial in corpus.trials))
    # The levels and the self-check speak of the whole input, whichever tasks are shown, so that `compare task`
    # and `report` give the same finding.
    others = of_other_groups(corpus)
    everything = [_prepare(preparer, task, references, others) for task in corpus.tasks]
    alarms, held_out = _held_out(everything, ALL_LEVELS)
    levels = _allowed(alarms, held_out)
    if levels != ALL_LEVELS:
        alarms, held_out = _held_out(everything, levels)
    check = SelfCheck(
        false_alarms=len(alarms), passing_trials=held_out, alarms=tuple(name for name, _ in alarms)
    )
    findings = {}
    wanted = {task.task_id for task in chosen}
    done = 0
    for prepared in everything:
        if prepared.task.task_id in wanted:
            findings[prepared.task.task_id] = _finding(prepared, levels)
            done += 1
            if progress is not None:
                progress(done, len(chosen))
    return Analysis(findings=findings, tools=effects.rows, self_check=check, levels=tuple(sorted(levels)))


def judge_as_failed(
    corpus: Corpus, settings: Settings, trials: Sequence[tuple[str, str]], levels: Sequence[str] = ()
) -> dict[tuple[str, str], Divergence | None]:
    """What would be claimed about these (task id, trial id) if they had failed, whatever their verdict: each is
    compared with the other passing trials of its task. None where nothing is claimed.

    ``levels`` are the levels below writes to use, for instance ``Analysis.levels``. Trials without steps,
    without another pass, or of unknown tasks are left out of the answer.
    """
    effects = _effects(corpus, settings)
    preparer = Preparer(settings=settings, effect_of=effects.of)
    wanted: dict[str, list[str]] = {}
    for task_id, trial_id in trials:
        wanted.setdefault(task_id, []).append(trial_id)
    out: dict[tuple[str, str], Divergence | None] = {}
    for task in corpus.tasks:
        if task.task_id not in wanted:
            continue
        prepared = _prepare(preparer, task)
        for trial_id in wanted[task.task_id]:
            rest = [trial for trial in prepared.of(Verdict.PASS) if trial.trial_id != trial_id]
            if rest and trial_id in prepared.trials:
                graph = success_graph(rest, prepared.costs)
                failing = prepared.trials[trial_id]
                case = Case(task=task.task, failing=failing, graph=graph, levels=frozenset(levels))
                found = earliest(case)
                out[task.task_id, trial_id] = evidence.divergence(case, found) if found is not None else None
    return out


def compare_trials(
    corpus: Corpus, settings: Settings, left: tuple[str, str], right: tuple[str, str]
) -> AlignedTable:
    """Two trials of one task as a cut through the task's aligned table; row numbers are the task's.

    Raises UsageError where the trials belong to different tasks or do not exist.
    """
    if left[0] != right[0]:
        raise UsageError(
            f'"{left[0]}/{left[1]}" and "{right[0]}/{right[1]}" are trials of different tasks',
            "two trials are compared step by step only within one task",
        )
    task = next((t for t in corpus.tasks if t.task_id == left[0]), None)
    if task is None:
        raise UsageError(f'no task "{left[0]}"')
    effects = _effects(corpus, settings)
    prepared = _prepare(Preparer(settings=settings, effect_of=effects.of), task)
    for trial_id in (left[1], right[1]):
        if trial_id not in prepared.trials:
            known = any(t.trial_id == trial_id for t in task.trials)
            why = "has no steps to compare" if known else "does not exist"
            raise UsageError(f'trial "{left[0]}/{trial_id}" {why}')
    pair = (prepared.trials[left[1]], prepared.trials[right[1]])
    whole = _table(prepared)
    graph = success_graph(pair[:1], prepared.costs)
    two = aligned_table(graph, [(pair[1], align_to(graph, pair[1]))], [t.trial_id for t in pair])
    if whole is None:
        return two
    numbers = {
        (cell.trial_id, cell.step): row.number
        for row in whole.rows
        for cell in row.cells
        if cell.step is not None
    }
    rows = []
    for row in two.rows:
        found = (numbers.get((cell.trial_id, cell.step)) for cell in row.cells if cell.step is not None)
        rows.append(replace(row, number=next((n for n in found if n is not None), row.number)))
    return replace(two, rows=tuple(rows))


def _effects(corpus: Corpus, settings: Settings, references: References | None = None) -> Effects:
    expected = (task.task.expected_actions or () for task in corpus.tasks)
    elsewhere = references.borrowed if references is not None else {}
    trials = {id(trial): trial for trial in corpus.trials}
    trials |= {id(trial): trial for task in sorted(elsewhere) for trial in elsewhere[task]}
    return classify(trials.values(), settings, (action.name for actions in expected for action in actions))


def _prepare(
    preparer: Preparer,
    task: TaskTrials,
    references: References | None = None,
    others: Mapping[str, Sequence[Trial]] | None = None,
) -> _Prepared:
    references = references or References()
    path = task.trials[0].source.path if task.trials else ""
    # Tasks that have passes never use recorded reference calls.
    gold = None if task.passes else gold_trial(task.task, preparer, path)
    named = references.borrowed.get(task.task_id, ())
    elsewhere = named or (() if gold is not None else (others or {}).get(task.task_id, ()))
    comparable = [trial for trial in task.trials if trial.comparable]
    prepared = preparer.trials([*comparable, *renamed(elsewhere)])
    return _Prepared(
        task=task,
        trials={trial.trial_id: trial for trial in prepared[: len(comparable)]},
        costs=Costs(),
        gold=None if named else gold,
        borrowed=prepared[len(comparable) :],
        borrowed_first=bool(named) and references.first,
        reference=references.own.get(task.task_id),
    )


def _held_out(everything: Sequence[_Prepared], levels: frozenset[str]) -> tuple[list[tuple[str, Suspect]], int]:
    """Passing trials of tasks with two or more passes treated as if they had failed, at most
    ``HELD_OUT_PER_TASK`` of a task: what is claimed about them, and how many were held out."""
    alarms: list[tuple[str, Suspect]] = []
    total = 0
    for prepared in everything:
        passes = prepared.of(Verdict.PASS)
        if len(passes) < 2:
            continue
        held_out = passes[:HELD_OUT_PER_TASK]
        rests = [[other for other in passes if other is not trial] for trial in held_out]
        graphs = success_graphs(rests, prepared.costs)
        align_all(list(zip(graphs, held_out, strict=True)))
        for trial, graph in zip(held_out, graphs, strict=True):
            total += 1
            case = Case(task=prepared.task.task, failing=trial, graph=graph, levels=levels)
            claimed = earliest(case)
            if claimed is not None:
                alarms.append((f"{prepared.task.task_id}/{trial.trial_id}", claimed))
    return alarms, total


def _allowed(alarms: Sequence[tuple[str, Suspect]], total: int) -> frozenset[str]:
    counts = Counter(suspect.level for _, suspect in alarms)
    return frozenset(
        level for level in ALL_LEVELS if (counts[level] + PRIOR_ALARMS) / (total + PRIOR_TRIALS) <= LEVEL_LIMIT
    )


def _finding(prepared: _Prepared, levels: frozenset[str]) -> TaskFinding:
    graph = prepared.graph
    if graph is not None:
        merged = {trial.trial_id for trial in graph.trials}
        align_all([(graph, trial) for name, trial in prepared.trials.items() if name not in merged])
    rows = [_judge(prepared, trial, levels) for trial in prepared.task.trials]
    judged = _grouped([row for row in rows if row is not None])
    lead, others = _lead(judged)
    kind, text = _headline(prepared.task, judged, lead)
    ways, said = _ways(prepared, judged, kind)
    near = _near_misses(prepared) if kind is FindingKind.ALWAYS_PASS else ()
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
        table=_table(prepared, judged),
        notes=(
            *(graph.ways() if graph is not None else ()),
            *([f"{said}."] if said else []),
            *(f"{way.text} (trials {', '.join(way.trials)})" for way in ways if len(ways) > 1 or lead is None),
            *(f"near miss in trial {one.trial_id}: {one.text}" for one in near),
        ),
        ways=ways,
        near_misses=near,
    )


def _ways(prepared: _Prepared, judged: Sequence[Divergence], kind: FindingKind) -> tuple[tuple[Way, ...], str]:
    """How the trials of a task fail that was compared with nothing."""
    failures = prepared.of(Verdict.FAIL)
    compared = any(row.grade is Grade.C for row in judged)
    if kind is not FindingKind.NEVER_PASS or compared or len(failures) < 2:
        return (), ""
    return ways_to_fail(failures, success_graph(failures, prepared.costs))


def _near_misses(prepared: _Prepared) -> tuple[NearMiss, ...]:
    """Near misses of the trials of a task that always passes, each against the others."""
    passes = prepared.of(Verdict.PASS)
    held_out = passes[:HELD_OUT_PER_TASK] if len(passes) > AGREEING else ()
    rests = [[other for other in passes if other is not trial] for trial in held_out]
    graphs = success_graphs(rests, prepared.costs)
    cases = (
        Case(task=prepared.task.task, failing=trial, graph=graph)
        for trial, graph in zip(held_out, graphs, strict=True)
    )
    return tuple(near for case in cases for near in near_misses(case))


def _judge(prepared: _Prepared, trial: Trial, levels: frozenset[str]) -> Divergence | None:
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


def _without_pass(
    prepared: _Prepared, trial: Trial, failing: PreparedTrial, levels: frozenset[str]
) -> Divergence:
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


def _variants(prepared: _Prepared) -> tuple[Variant, ...]:
    groups: dict[str, list[str]] = {}
    for trial_id, trial in prepared.trials.items():
        groups.setdefault(trial.signature, []).append(trial_id)
    return tuple(Variant(trials=tuple(group)) for group in groups.values())


def _table(prepared: _Prepared, judged: Sequence[Divergence] = ()) -> AlignedTable | None:
    base = prepared.of(Verdict.FAIL) or tuple(prepared.trials.values())
    graph = prepared.graph or (success_graph(base, prepared.costs) if base else None)
    if graph is None:
        return None
    inside = {trial.trial_id for trial in graph.trials}
    rest = [t for t in prepared.trials.values() if t.trial_id not in inside]
    order = [t.trial_id for t in (*graph.trials, *rest)]
    aligned = [(trial, align_to(graph, trial)) for trial in rest]
    named = {(p.trial_id, p.step) for row in judged for p in (row.root, row.manifest) if p is not None}
    return aligned_table(graph, aligned, order, prepared.graph is not None).showing(named)
