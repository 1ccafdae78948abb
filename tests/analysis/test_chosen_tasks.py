"""The finding of a task that is asked for alone is the one it has beside all others, from less work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajdiff.analysis import analyse
from trajdiff.divergence.argument_roles import blamed
from trajdiff.divergence.case import ALL_LEVELS
from trajdiff.execution.runner import Lost, Serial
from trajdiff.importers import load
from trajdiff.model import Corpus
from trajdiff.settings import Settings
from trajdiff.task_jobs import TaskOutcome, Tried, tried_in


class Watched(Serial):
    """Works here, and writes down which tasks are worked on, and whether for more than roles."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.for_roles: list[str] = []

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number, job in enumerate(jobs):
            (self.for_roles if job.only_roles else self.tried).append(job.task.task_id)
            yield number, function(job)


@pytest.fixture(scope="module", params=["sample_traces", "tau_bench/retail-four-agents.json"])
def corpus(request: pytest.FixtureRequest, project: Path) -> Corpus:
    """The samples, and recorded runs in which passes forbid a level that findings rely on."""
    if request.param == "sample_traces":
        return load([str(project / request.param)])
    shared: Path = request.getfixturevalue("shared")
    return load([str(shared / "data" / request.param)])


def test_alone_and_beside_all_others_a_task_has_one_finding(corpus: Corpus) -> None:
    settings = Settings()
    whole = analyse(corpus, settings)
    spared = 0
    for task in corpus.tasks:
        runner = Watched()
        alone = analyse(corpus, settings, tasks=[task.task_id], whole=False, runner=runner)
        assert alone.findings == {task.task_id: whole.findings[task.task_id]}
        assert len(runner.tried) <= len(corpus.tasks) + 2
        if not blamed(whole.findings[task.task_id]):
            assert not runner.for_roles
        spared += set(runner.tried) == {task.task_id}
    assert spared > len(corpus.tasks) / 2


class Losing(Watched):
    """Loses every task but one."""

    def __init__(self, but: str) -> None:
        super().__init__()
        self._but = but

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number, outcome in super().run(function, jobs):
            lost = jobs[number].task.task_id != self._but
            yield number, Lost(reason="it took too long") if lost else outcome


def test_other_tasks_that_were_lost_are_told(corpus: Corpus) -> None:
    told = 0
    for task in corpus.tasks:
        runner = Losing(task.task_id)
        alone = analyse(corpus, Settings(), tasks=[task.task_id], whole=False, runner=runner)
        others = {*runner.tried, *runner.for_roles} - {task.task_id}
        assert {problem.task_id for problem in alone.problems} == others
        told += bool(others)
    assert told


def test_several_tasks_have_the_findings_that_they_have_alone(corpus: Corpus) -> None:
    names = [task.task_id for task in corpus.tasks[::3]]
    whole = analyse(corpus, Settings())
    chosen = analyse(corpus, Settings(), tasks=names, whole=False)
    assert chosen.findings == {name: whole.findings[name] for name in names}


LEVELS = sorted(ALL_LEVELS)
OUTCOMES = st.lists(
    st.one_of(
        st.lists(st.sampled_from([None, None, *LEVELS[:2], "endings"]), min_size=0, max_size=8),
        st.none(),  # a task that is lost, with as many passes as the others have
    ),
    max_size=60,
)


@given(OUTCOMES)
def test_what_is_settled_does_not_change_with_what_comes_later(made: list[list[str | None] | None]) -> None:
    outcomes: list[TaskOutcome | Lost] = [
        Lost(reason="")
        if found is None
        else TaskOutcome(
            task_id="t",
            alarms=tuple((str(at), level) for at, level in enumerate(found) if level is not None),
            held_out=len(found),
        )
        for found in made
    ]
    sizes = [8 if found is None else len(found) for found in made]
    allowed_at_last = tried_in(one for one in outcomes if isinstance(one, TaskOutcome)).allowed
    for done in range(len(outcomes) + 1):
        tried = Tried()
        for one in outcomes[:done]:
            tried = tried.and_of(one) if isinstance(one, TaskOutcome) else tried
        allowed, forbidden = tried.settled(sum(sizes[done:]))
        assert allowed <= allowed_at_last
        assert forbidden.isdisjoint(allowed_at_last)
    assert allowed | forbidden == ALL_LEVELS
