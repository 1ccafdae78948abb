"""Designs in which the number of trials depends on outcomes, for those who declare them.

``screened``: the first trial of each task was a screening run; all tasks that failed it and a random sample of
those that passed were repeated. The screening trial stays out; tasks are weighted by stratum.

``stop-at-failure``: each task was run until its first failure, at most as often as planned. Only pass^n at the
planned n can be had from that: a task passes it with all its planned trials passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.errors import InputError, UsageError
from trajdiff.natural import plural
from trajdiff.reliability.designs import two_phase
from trajdiff.reliability.intervals import SuiteInterval, interval_of, suite_interval
from trajdiff.reliability.pass_k import pass_hat_fraction

SCREENED, STOP_AT_FAILURE = "screened", "stop-at-failure"
DESIGNS = (SCREENED, STOP_AT_FAILURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRow:
    """pass^k under a declared design, in place of the macro curve.

    ``points`` are (k, estimate, interval or None). ``text`` says what was done, in one sentence.
    """

    design: str
    text: str
    points: tuple[tuple[int, float, SuiteInterval | None], ...]

    def at(self, k: int) -> tuple[float, SuiteInterval | None] | None:
        """Estimate and interval of pass^k, None for a k that the design does not give."""
        return next(((value, found) for each, value, found in self.points if each == k), None)


def design_row(
    design: str, outcomes: Mapping[str, Sequence[bool]], planned: Mapping[str, int | None]
) -> DesignRow:
    """The row of a declared design.

    ``outcomes`` holds the counted trials of each task in trial order, ``planned`` the expected trials. Raises
    ``UsageError`` for an unknown design, ``InputError`` where the record does not follow the declared one.
    """
    used = {task: tuple(row) for task, row in outcomes.items() if row}
    if not used:
        raise InputError(f"--design {design}: no task has a counted trial")
    if design == SCREENED:
        return _screened(used)
    if design == STOP_AT_FAILURE:
        return _stopped(used, planned)
    raise UsageError(f"--design {design}: no such design", f"known: {', '.join(DESIGNS)}")


def _screened(outcomes: Mapping[str, Sequence[bool]]) -> DesignRow:
    """Both strata weighted by their sizes; every task that failed the screening must have been repeated."""
    failed = {task: row[1:] for task, row in outcomes.items() if not row[0]}
    passed = {task: row[1:] for task, row in outcomes.items() if row[0]}
    left = [task for task, row in failed.items() if not row]
    if left:
        more = " ..." if len(left) > 5 else ""
        raise InputError(
            f"--design screened: {plural(len(left), 'task')} failed the first trial and were not repeated:"
            f" {', '.join(left[:5])}{more}"
        )
    again = {task: row for task, row in passed.items() if row}
    if len(again) < min(2, len(passed)):
        raise InputError(
            f"--design screened: {len(again)} of {len(passed)} tasks that passed the first trial repeated,"
            " at least 2 are needed"
        )
    reach = min(len(row) for row in (*failed.values(), *again.values()))
    points = tuple(_two_phase_point(failed, again, len(passed), k) for k in range(1, reach + 1))
    weight = f", each for {len(passed) / len(again):.2f}" if again else ""
    text = (
        f"the first trial screened {plural(len(outcomes), 'task')} and is left out: {len(failed)} failed it,"
        f" all repeated; {len(passed)} passed it, {len(again)} repeated{weight}, taken as drawn at random"
    )
    return DesignRow(design=SCREENED, text=text, points=points)


def _two_phase_point(
    failed: Mapping[str, Sequence[bool]], again: Mapping[str, Sequence[bool]], m_passed: int, k: int
) -> tuple[int, float, SuiteInterval | None]:
    strata = [
        [pass_hat_fraction(len(row), sum(row), k) for row in stratum.values()] for stratum in (failed, again)
    ]
    found = two_phase(strata[0], strata[1], len(failed), m_passed)
    trials = sum(len(row) for row in (*failed.values(), *again.values()))
    if found.units < 2:
        return k, found.estimate, None
    mean, square = Fraction(found.estimate), Fraction(max(found.variance, 0.0))
    made = interval_of(mean, square, units=found.units, size=float(found.units), trials=trials)
    return k, found.estimate, made


def _stopped(outcomes: Mapping[str, Sequence[bool]], planned: Mapping[str, int | None]) -> DesignRow:
    plans = {planned.get(task) for task in outcomes}
    (n,) = plans if len(plans) == 1 else (None,)
    if n is None:
        raise InputError(
            "--design stop-at-failure needs one planned number of trials for all tasks",
            "give it with --expected-trials N",
        )
    values = []
    for task, row in outcomes.items():
        if False in row[:-1] or (all(row) and len(row) < n) or len(row) > n:
            raise InputError(
                f'--design stop-at-failure: task "{task}" does not end with its only failure and has'
                f" not passed {n} times"
            )
        values.append(Fraction(int(all(row))))
    made = suite_interval(values, sum(map(len, outcomes.values())))
    estimate = float(sum(values, Fraction(0)) / len(values))
    text = f"each task was run until its first failure, at most {n} times: pass^{n} alone can be had from that"
    return DesignRow(design=STOP_AT_FAILURE, text=text, points=((n, estimate, made),))
