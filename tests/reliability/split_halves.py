"""A against A: random halves of the trials of one file, compared as if they were two systems.

``python -m tests.reliability.split_halves FILE [SPLITS] [SPLITS_WITH_ANALYSIS]`` prints how often a gate turns
red although nothing changed, how often the interval of the difference covers 0, and how often a divergence of
one half is found again, by its identity, in the other.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trajdiff.analysis import Analysis, analyse
from trajdiff.comparison import compare_sides
from trajdiff.gate import DROP, GateOptions, check
from trajdiff.importers import load
from trajdiff.model import Corpus, TaskTrials
from trajdiff.reliability.card import CardOptions
from trajdiff.reliability.gates import Outcome
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings
from trajdiff.sides import Side, side_of


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of splits (red gates, covered intervals) and of recurring divergences (found on both sides)."""

    splits: int
    red: float
    covered: float
    intervals: int
    again: float | None
    recurring: int


def halves(corpus: Corpus, rng: random.Random) -> tuple[Corpus, Corpus]:
    """Every task's trials dealt to two sides at random."""
    sides: tuple[list[TaskTrials], list[TaskTrials]] = ([], [])
    for task in corpus.tasks:
        order = list(task.trials)
        rng.shuffle(order)
        half = len(order) // 2
        for side, part in zip(sides, (order[:half], order[half : 2 * half]), strict=True):
            trials = tuple(sorted(part, key=lambda trial: trial.ordinal))
            side.append(replace(task, trials=trials, expected_n=None, missing=()))
    return Corpus(tasks=tuple(sides[0])), Corpus(tasks=tuple(sides[1]))


def measure(corpus: Corpus, *, splits: int, k: int, analysed: int = 0, seed: int = 0) -> Shares:
    """Splits the corpus so many times; the first ``analysed`` splits look for divergences too."""
    rng = random.Random(seed)
    red = covered = intervals = again = recurring = 0
    whole = side_of(_report(corpus, whole=True), corpus, "whole") if analysed else None
    for at in range(splits):
        one, other = halves(corpus, rng)
        reports = [_report(side, whole=at < analysed) for side in (one, other)]
        sides = [side_of(made, side, "half") for made, side in zip(reports, (one, other), strict=True)]
        made = compare_sides(sides[0], sides[1], k=k, with_bootstrap=False)
        result = check(reports[1], GateOptions(fail_on=(DROP,)), made)
        red += any(gate.outcome is Outcome.FAIL for gate in result.results)
        if made.decision.low is not None and made.decision.high is not None:
            intervals += 1
            covered += made.decision.low <= 0 <= made.decision.high
        if at < analysed:
            found, of = _again(whole, sides)
            again, recurring = again + found, recurring + of
    return Shares(
        splits=splits,
        red=red / splits,
        covered=covered / intervals if intervals else 0.0,
        intervals=intervals,
        again=again / recurring if recurring else None,
        recurring=recurring,
    )


def _again(whole: Side | None, sides: Sequence[Side]) -> tuple[int, int]:
    """(found on both sides, dealt to both sides) of the divergences that several failed trials share.

    Recurring is a divergence that the whole run claims for two or more failed trials of a task; it is dealt to
    both sides where each has one of these trials and a pass to compare it with.
    """
    found = of = 0
    for task in whole.tasks.values() if whole is not None else ():
        groups: dict[str, set[str]] = {}
        for one in task.divergences:
            groups.setdefault(one.identity, set()).add(one.trial_id)
        for identity, trials in groups.items():
            parts = [side.tasks[task.task_id] for side in sides]
            dealt = [{trial for trial in part.trials if trial in trials} for part in parts]
            if all(dealt) and all(part.c for part in parts):
                of += 1
                found += all(any(one.identity == identity for one in part.divergences) for part in parts)
    return found, of


def _report(corpus: Corpus, *, whole: bool) -> Report:
    settings = Settings()
    analysis = analyse(corpus, settings) if whole else Analysis(findings={})
    return build_report(corpus, analysis, settings, card=CardOptions())


def main(arguments: Sequence[str]) -> None:
    """Print the shares."""
    path, splits, analysed = arguments[0], int((*arguments, "200")[1]), int((*arguments, "200", "10")[2])
    corpus = load([path]).tasks
    for k in (1, 2):
        made = measure(Corpus(tasks=corpus), splits=splits, k=k, analysed=analysed if k == 1 else 0)
        print(
            f"k={k}: {made.splits} splits, red gates {made.red:.3f}, intervals that cover 0 {made.covered:.3f}"
        )
        if made.again is not None:
            print(f"recurring divergences found on both sides {made.again:.2f} of {made.recurring}")


if __name__ == "__main__":
    main(sys.argv[1:])
