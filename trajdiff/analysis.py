"""The pipeline: from all trials to one finding per task.

Corpus-wide figures come first (effects of tools), then every task is a pure function of its trials and those
figures, wherever it is worked on. Which levels held-out passes allow is known when all tasks are done; tasks
whose answer rests on a level that is not allowed are done again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trajdiff.align.graph import align_to, success_graph
from trajdiff.align.prepared import Preparer
from trajdiff.align.rows import aligned_table
from trajdiff.align.table import AlignedTable
from trajdiff.analysed import Analysis as Analysis
from trajdiff.chosen_tasks import ChosenTasks
from trajdiff.divergence import evidence
from trajdiff.divergence.argument_roles import RoleCount, totals, with_roles
from trajdiff.divergence.borrowed import References, of_other_groups
from trajdiff.divergence.case import ALL_LEVELS, OF_COMMANDS, Case, Levels
from trajdiff.divergence.critical import earliest
from trajdiff.divergence.effects import Effects, classify
from trajdiff.divergence.finding import Divergence, FindingKind, SelfCheck, TaskFinding, ToolEffect
from trajdiff.errors import UsageError
from trajdiff.execution.runner import SERIAL, Lost, Runner
from trajdiff.frozen import replace
from trajdiff.model import Corpus, Diagnostic, TaskTrials, Verdict
from trajdiff.settings import Settings
from trajdiff.task_analysis import table_of
from trajdiff.task_jobs import Forecast, TaskJob, TaskOutcome, Tried, tried_in
from trajdiff.task_preparing import prepare_task
from trajdiff.task_runs import again, outcomes_of, problem


def analyse(
    corpus: Corpus,
    settings: Settings,
    *,
    tasks: Sequence[str] | None = None,
    whole: bool = True,
    progress: Callable[[int, int], None] | None = None,
    references: References | None = None,
    runner: Runner = SERIAL,
) -> Analysis:
    """Finds, for every task (or those named), where its failing trials left the ways of succeeding.

    ``progress(done, total)`` is called after each of these. With ``tasks=()`` only the tools are classified.
    Without ``whole`` nothing is asked for but the findings of these tasks, which spares most work on others.
    ``references`` are those the user named; passes of other agents on the same task are borrowed without.
    ``runner`` says where tasks are worked on; the result does not depend on it.
    """
    references = references or References()
    effects = _effects(corpus, settings, references)
    jobs = task_jobs(corpus, settings, effects, tasks, references)
    if not any(job.wanted for job in jobs):
        return Analysis(findings={}, tools=effects.rows)
    if not whole and not all(job.wanted for job in jobs):
        return _of_chosen(corpus, ChosenTasks(jobs, runner), effects.rows, progress)
    forecast = Forecast()
    first = _run(jobs, runner, forecast, progress)
    tried = tried_in(outcome for outcome in first if isinstance(outcome, TaskOutcome))
    found = dict(enumerate(first))
    asked = dict(enumerate(jobs))
    while redo := again(asked, found, tried.allowed):
        asked |= redo
        found |= zip(redo, _run(list(redo.values()), runner, forecast), strict=True)
    return assembled(corpus, [found[at] for at in range(len(jobs))], tried, effects.rows)


def _of_chosen(
    corpus: Corpus,
    chosen: ChosenTasks,
    tools: tuple[ToolEffect, ...],
    progress: Callable[[int, int], None] | None,
) -> Analysis:
    """The analysis of some tasks alone."""
    outcomes = chosen.outcomes(progress)
    findings, _ = _findings(
        [(corpus.tasks[at], outcomes[at]) for at in sorted(outcomes)], chosen.roles(outcomes)
    )
    # Those of other tasks are told too: with them another answer might have been given.
    problems = tuple(problem(corpus.tasks[at], lost) for at, lost in sorted(chosen.lost.items()))
    return Analysis(findings=findings, tools=tools, problems=problems)


def task_jobs(
    corpus: Corpus,
    settings: Settings,
    effects: Effects,
    tasks: Sequence[str] | None,
    references: References,
) -> list[TaskJob]:
    """One job per task. The levels and the self-check speak of the whole input, whichever tasks are shown, so
    that one task alone and the report give the same finding."""
    wanted = None if tasks is None else frozenset(tasks)
    if wanted is not None and not any(task.task_id in wanted for task in corpus.tasks):
        return []
    others = of_other_groups(corpus)
    steps = sum(len(trial.steps) for trial in corpus.trials)
    return [
        TaskJob(
            task=task,
            effect_of=effects.of,
            settings=settings,
            references=references.of(task.task_id),
            others=others.get(task.task_id, ()),
            wanted=wanted is None or task.task_id in wanted,
            steps=steps,
        )
        for task in corpus.tasks
    ]


def assembled(
    corpus: Corpus,
    outcomes: Sequence[TaskOutcome | Lost],
    tried: Tried,
    tools: tuple[ToolEffect, ...],
) -> Analysis:
    """The analysis from the outcomes of all tasks of a corpus, in its order; ``tried`` is what held-out passes
    said when all levels were tried."""
    done = [one for one in outcomes if isinstance(one, TaskOutcome)]
    roles = [count for one in done for count in one.roles]
    findings, problems = _findings(list(zip(corpus.tasks, outcomes, strict=True)), roles)
    alarms = [f"{one.task_id}/{trial}" for one in done for trial, _ in one.alarms]
    held_out = sum(one.held_out for one in done)
    by_level = tuple((level, tried.alarms.get(level, 0)) for level in sorted(ALL_LEVELS))
    check = SelfCheck(
        false_alarms=len(alarms), passing_trials=held_out, alarms=tuple(alarms), by_level=by_level
    )
    return Analysis(
        findings=findings,
        tools=tools,
        self_check=check,
        levels=tuple(sorted(tried.allowed - (OF_COMMANDS - _relied(outcomes)))),
        problems=problems,
    )


def _findings(
    worked_on: Sequence[tuple[TaskTrials, TaskOutcome | Lost]], roles: Sequence[RoleCount]
) -> tuple[dict[str, TaskFinding], tuple[Diagnostic, ...]]:
    """The findings of tasks by id, with what ``roles`` teach about arguments, and what is told of lost ones."""
    taught = totals(roles)
    findings = {}
    problems = []
    for task, outcome in worked_on:
        if isinstance(outcome, Lost):
            problems.append(problem(task, outcome))
            text = f"not analysed: {outcome.reason}"
            findings[task.task_id] = TaskFinding(task_id=task.task_id, kind=FindingKind.NOT_COMPARED, text=text)
        elif outcome.finding is not None:
            findings[task.task_id] = with_roles(outcome.finding, taught)
    return findings, tuple(problems)


def _relied(outcomes: Sequence[TaskOutcome | Lost]) -> frozenset[str]:
    """Levels that any answer rests on, or was looked for at."""
    return frozenset(level for one in outcomes if isinstance(one, TaskOutcome) for level in one.relied)


def _run(
    jobs: Sequence[TaskJob],
    runner: Runner,
    forecast: Forecast,
    progress: Callable[[int, int], None] | None = None,
) -> list[TaskOutcome | Lost]:
    """The outcome of each job, in the order of the jobs."""
    total = sum(job.wanted for job in jobs)
    done = 0
    found: list[TaskOutcome | Lost] = [Lost(reason="it was not reached")] * len(jobs)
    for at, outcome in outcomes_of(jobs, runner, forecast):
        found[at] = outcome
        if jobs[at].wanted:
            done += 1
            if progress is not None:
                progress(done, total)
    return found


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
        prepared = prepare_task(preparer, task)
        for trial_id in wanted[task.task_id]:
            rest = [trial for trial in prepared.of(Verdict.PASS) if trial.trial_id != trial_id]
            if rest and trial_id in prepared.trials:
                graph = success_graph(rest, prepared.costs)
                failing = prepared.trials[trial_id]
                case = Case(task=task.task, failing=failing, graph=graph, levels=Levels(levels))
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
    prepared = prepare_task(Preparer(settings=settings, effect_of=effects.of), task)
    for trial_id in (left[1], right[1]):
        if trial_id not in prepared.trials:
            known = any(t.trial_id == trial_id for t in task.trials)
            why = "has no steps to compare" if known else "does not exist"
            raise UsageError(f'trial "{left[0]}/{trial_id}" {why}')
    pair = (prepared.trials[left[1]], prepared.trials[right[1]])
    whole = table_of(prepared)
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
