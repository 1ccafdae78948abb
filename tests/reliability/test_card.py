"""The report card of made-up trials: scope, remedy, consistency, required steps, slices, versions, plan."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reliability.trials import passes_of, trial
from trajdiff.analysis import Analysis
from trajdiff.divergence.finding import ToolEffect
from trajdiff.frozen import replace
from trajdiff.model import (
    Actor,
    Arguments,
    ArgumentState,
    Corpus,
    CriterionItems,
    ExpectedAction,
    Human,
    Provenance,
    Result,
    SourceRef,
    Step,
    StepKind,
    Task,
    TaskTrials,
)
from trajdiff.reliability.card import Card, CardOptions
from trajdiff.reliability.consistency import Met, Reading
from trajdiff.reliability.figures import suite_figures
from trajdiff.reliability.intervals import highest_lower_end, suite_interval
from trajdiff.reliability.pass_k import pass_hat_fraction
from trajdiff.reliability.versions import differences
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings

WRITES = Analysis(findings={}, tools=(ToolEffect(tool="book", effect="write", rule="name", calls=1, errors=0),))


def report(*tasks: TaskTrials, **options: Any) -> Report:
    return build_report(Corpus(tasks=tasks), WRITES, Settings(), card=CardOptions(**options))


def card(*tasks: TaskTrials, **options: Any) -> Card:
    made = report(*tasks, **options).card
    assert made is not None
    return made


def call(index: int, name: str, failed: bool = False, **arguments: Any) -> Step:
    return Step(
        index=index,
        actor=Actor.AGENT,
        kind=StepKind.TOOL_CALL,
        source=SourceRef(path="r", pointer="$"),
        name=name,
        arguments=Arguments(raw=None, parsed=arguments, state=ArgumentState.OK),
        result=Result(text="no" if failed else "ok", is_error=failed),
    )


def said(index: int, text: str) -> Step:
    where = SourceRef(path="r", pointer="$")
    return Step(index=index, actor=Actor.AGENT, kind=StepKind.MESSAGE, source=where, text=text)


def task(task_id: str, trials: list[tuple[str, tuple[Step, ...]]], **about: Any) -> TaskTrials:
    made = tuple(
        replace(trial(task_id, number, "agent_done", verdict), steps=steps)
        for number, (verdict, steps) in enumerate(trials)
    )
    return TaskTrials(task=Task(task_id=task_id, **about), trials=made)


def with_all(found: TaskTrials, **fields: Any) -> TaskTrials:
    return replace(found, trials=tuple(replace(one, **fields) for one in found.trials))


def test_tasks_out_of_scope_are_in_no_rate_and_in_the_coverage() -> None:
    inside, outside = passes_of("a", 4, 4), with_all(passes_of("b", 4, 0), human=Human(in_scope=False))
    made = report(with_all(inside, human=Human(in_scope=True)), outside)
    assert made.card is not None
    assert (made.suite.tasks, made.suite.pass_hat_k[0]) == (1, 1.0)
    assert made.card.effort.coverage.support_coverage == 0.5
    assert made.card.out_of_scope == ("b",)
    assert [one.task_id for one in made.tasks] == ["a", "b"] or len(made.tasks) == 2
    silent = card(inside, passes_of("b", 4, 0)).effort.coverage
    assert (silent.support_coverage, silent.human_remedy_rate) == (None, None)


def test_help_by_a_person_is_no_unassisted_success() -> None:
    helped = passes_of("a", 4, 3)
    trials = tuple(
        replace(one, human=Human(assisted=number == 0, minutes=2.0)) for number, one in enumerate(helped.trials)
    )
    cover = card(replace(helped, trials=trials)).effort.coverage
    assert (cover.human_remedy_rate, cover.unassisted_rate) == (0.25, 0.5)
    assert (cover.human_minutes, cover.minutes_per_unassisted) == (8.0, 4.0)


def test_the_same_wrong_way_is_told_from_different_ways() -> None:
    wrong = (call(0, "look"), call(1, "book", size="large"), said(2, "Done."))
    other = (call(0, "book", size="huge"), said(1, "Done."))
    right = (call(0, "book", size="small"), said(1, " done.  "))
    failed_call = (call(0, "book", size="x", failed=True), call(1, "book", size="small"), said(2, "Done!"))
    made = card(
        task("same", [("fail", wrong), ("fail", wrong), ("fail", wrong)]),
        task("ways", [("fail", wrong), ("fail", other), ("pass", right)]),
        task("right", [("pass", right), ("pass", failed_call)]),
    )
    found = {one.task_id: one for one in made.behaviour}
    assert (found["same"].writes.reading, found["same"].failures_alike) == (Reading.WRONG, True)
    assert (found["ways"].writes.distinct, found["ways"].failures_alike) == (3, False)
    assert found["ways"].answers == 1
    assert (found["right"].writes.reading, found["right"].failures_alike) == (Reading.RIGHT, None)


def test_criteria_and_items_are_followed_over_trials() -> None:
    scored = task("t", [("fail", (said(0, "x"),)), ("fail", (said(0, "y"),))])
    trials = tuple(
        replace(
            one,
            sub_scores={"db": 1.0, "facts": float(number)},
            items=(CriterionItems(criterion="labels", expected=("AC3", "AC7"), produced=("AC3",)),),
        )
        for number, one in enumerate(scored.trials)
    )
    criteria = card(replace(scored, trials=trials)).behaviour[0].criteria
    assert {one.name: one.stability for one in criteria} == {
        "db": Met.ALWAYS,
        "facts": Met.SOMETIMES,
        "labels: AC3": Met.ALWAYS,
        "labels: AC7": Met.NEVER,
    }


def test_required_steps_describe_and_do_not_judge() -> None:
    gold = (ExpectedAction(name="book", arguments={"size": "small"}), ExpectedAction(name="look", arguments={}))
    book, look, extra = (call(0, "book", size="small"), call(1, "look"), call(2, "look", deep=True))
    made = card(
        task(
            "t",
            [("pass", (book, look)), ("fail", (book, look, extra)), ("pass", (book,)), ("fail", (extra,))],
            expected_actions=gold,
        )
    ).required
    assert [one.relation for one in made] == ["exact", "superset", "subset", "neither"]
    assert [one.recall for one in made] == [1.0, 1.0, 0.5, 0.0]
    assert [one.precision for one in made] == [1.0, pytest.approx(2 / 3), 1.0, 0.0]


def test_slices_do_not_depend_on_the_outcome() -> None:
    """Tools and writes come from the required steps, else from the passes; failures take any number."""
    one = (call(0, "book", size="small"),)
    many = tuple(call(i, name) for i, name in enumerate(("a", "b", "c", "book")))
    made = card(
        task("from-passes", [("pass", one), ("fail", many), ("fail", many)]),
        task("from-gold", [("fail", many)], expected_actions=(ExpectedAction(name="book"),)),
        task("unknown", [("fail", many)]),
        by=("tools", "writes"),
    ).slices
    assert [(row.key, row.value, row.tasks) for row in made] == [
        ("tools", "1 tool", 2),
        ("tools", "unknown (no required steps, no pass)", 1),
        ("writes", "1 write", 2),
        ("writes", "unknown (no required steps, no pass)", 1),
    ]


def test_versions_that_differ_are_told_between_runs() -> None:
    old, new = passes_of("a", 2, 1), passes_of("a", 2, 1)
    before = with_all(old, provenance=Provenance(model="m1", environment_version="e"))
    after = with_all(new, provenance=Provenance(model="m2", sampling={"temperature": 0}))
    assert differences([before], [after]) == ("model differs: m1 against m2",)
    changed = [replace(one, task=replace(one.task, fingerprint=mark)) for one, mark in ((old, "x"), (new, "y"))]
    assert differences(changed[:1], changed[1:]) == ("the definition of 1 task differs: a",)
    made = card(before)
    assert {one.name: one.values for one in made.versions if one.recorded} == {
        "model": ("m1",),
        "environment": ("e",),
    }
    assert "seeds (missing in 2 of 2 trials)" in made.not_measured


def test_the_plan_repeats_all_failures_and_a_seeded_sample() -> None:
    tasks = [passes_of(f"f{i}", 4, 2) for i in range(3)] + [passes_of(f"p{i}", 4, 4) for i in range(12)]
    plan = card(*tasks, plan=True, seed=5).plan
    assert plan is not None
    assert plan.failed == ("f0", "f1", "f2")
    assert len(plan.sampled) == 3
    assert plan.weight == 4.0
    assert (plan.naive, plan.measured) == (1.0, 0.8)  # each first trial passed, so all were "stable"
    again = card(*reversed(tasks), plan=True, seed=5).plan
    assert again is not None
    assert again.sampled == plan.sampled
    other = card(*tasks, plan=True, seed=6).plan
    assert other is not None
    assert other.sampled != plan.sampled


COUNTS = st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(st.lists(COUNTS, min_size=2, max_size=30))
def test_intervals_contain_the_estimate_and_never_beat_a_suite_without_failure(
    pairs: list[tuple[int, int]],
) -> None:
    values = [pass_hat_fraction(n, c, 1) for n, c in pairs]
    made = suite_interval(values, sum(n for n, _ in pairs))
    wide = suite_interval(values, sum(n for n, _ in pairs), level=0.99)
    assert made is not None
    assert wide is not None
    assert 0 <= made.low <= made.estimate <= made.high <= 1
    assert made.low <= highest_lower_end(len(pairs)) + 1e-15
    assert wide.low <= made.low
    assert made.high <= wide.high


@given(st.lists(COUNTS, min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order_of_tasks(pairs: list[tuple[int, int]], rng: Any) -> None:
    from trajdiff.reliability.estimators import task_reliability

    tasks = [passes_of(f"t{i}", n, c) for i, (n, c) in enumerate(pairs)]
    shuffled = list(tasks)
    rng.shuffle(shuffled)
    made = [suite_figures(some, [task_reliability(one) for one in some]) for some in (tasks, shuffled)]
    assert made[0].hat == made[1].hat
    assert made[0].at == made[1].at
    assert made[0].spread == made[1].spread
    assert made[0].histogram == made[1].histogram
    assert made[0].index_means == made[1].index_means
