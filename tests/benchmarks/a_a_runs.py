"""A against A: random halves of the trials of one file, compared as if they were two systems.

Nothing has changed between the halves, so a gate that turns red is a false alarm, an interval of the
difference should hold 0, and a failure that readers place alike in both halves should carry the same identity.

    python -m tests.benchmarks.a_a_runs FILE [--labels LABELS] [--splits 200] [--analysed 10]

LABELS are readers' labels of failed trials, one JSON object per line with ``task_id``, ``trial_id``, ``kinds``
and ``tools``. They say which failures are the same without asking the tool: two failed trials of a task recur
where the labels share a kind and a tool. The same arguments print the same table.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trajdiff.analysis import Analysis, analyse
from trajdiff.comparison import Comparison, compare_sides
from trajdiff.frozen import replace
from trajdiff.gate import DROP, NEW_DIVERGENCE, NEW_FAILURE, GateOptions, check
from trajdiff.importers import load
from trajdiff.model import Corpus, TaskTrials, Verdict
from trajdiff.reliability.card import CardOptions
from trajdiff.reliability.gates import Outcome
from trajdiff.reliability.paired import paired_difference
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings
from trajdiff.sides import Side, SideDivergence, side_of

#: Kind and tool words that readers gave to a failed trial.
Label = tuple[frozenset[str], frozenset[str]]
Labels = Mapping[tuple[str, str], Label]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Counts over splits: red gates at one k, and intervals of the difference that hold 0."""

    k: int
    splits: int
    red: int
    intervals: int
    covered: int


@dataclass(frozen=True, kw_only=True)
class Recurring:
    """Failures that recur by the readers' eyes, by what the tool makes of them.

    ``again`` of ``claimed`` identities are found in the other half, where both halves have a passed trial to
    compare with; in ``abstained`` further ones the tool claims nothing. ``without_pass`` failures recur where
    a half has no passed trial, ``without_pass_again`` of them with the same identity.
    """

    splits: int
    claimed: int
    again: int
    abstained: int
    without_pass: int
    without_pass_again: int
    red: tuple[tuple[str, int], ...]
    missed: tuple[str, ...]


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


def figures(corpus: Corpus, *, splits: int, k: int, seed: int = 0) -> Figures:
    """``compare runs`` and ``check --fail-on pass-k-drop`` on so many random halves."""
    rng = random.Random(seed)
    red = covered = intervals = 0
    for _ in range(splits):
        made, report = _compared([_side(half, Analysis(findings={})) for half in halves(corpus, rng)], k)
        result = check(report, GateOptions(fail_on=(DROP,)), made)
        red += any(gate.outcome is Outcome.FAIL for gate in result.results)
        if made.decision.low is not None and made.decision.high is not None:
            intervals += 1
            covered += made.decision.low <= 0 <= made.decision.high
    return Figures(k=k, splits=splits, red=red, intervals=intervals, covered=covered)


def counts_only(corpus: Corpus, *, splits: int, k: int, seed: int = 0) -> Figures:
    """The same from counts alone, which is quick enough for thousands of splits."""
    rng = random.Random(seed)
    rows = [[trial.verdict is Verdict.PASS for trial in task.trials] for task in corpus.tasks]
    red = covered = intervals = 0
    for _ in range(splits):
        sides: list[list[tuple[int, int]]] = [[], []]
        for row in rows:
            dealt, half = rng.sample(row, len(row)), len(row) // 2
            for side, part in zip(sides, (dealt[:half], dealt[half : 2 * half]), strict=True):
                side.append((half, sum(part)))
        made = paired_difference(sides[0], sides[1], k)
        if made.low is not None and made.high is not None:
            intervals += 1
            covered += made.low <= 0 <= made.high
            red += made.high < 0
    return Figures(k=k, splits=splits, red=red, intervals=intervals, covered=covered)


def recurring(corpus: Corpus, labels: Labels, *, splits: int, seed: int = 0) -> Recurring:
    """Whether recurring failures keep their identity, over so many random halves that are analysed anew."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    red: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    gates = GateOptions(fail_on=(NEW_FAILURE, NEW_DIVERGENCE))
    for _ in range(splits):
        parts = [_side(half, analyse(half, Settings())) for half in halves(corpus, rng)]
        made, report = _compared(parts, 1)
        red.update(gate.name for gate in check(report, gates, made).results if gate.outcome is Outcome.FAIL)
        sides = [side for side, _ in parts]
        for task_id, pairs in _recurrences(sides, labels):
            what = _found([side.tasks[task_id].divergences for side in sides], pairs)
            if not all(side.tasks[task_id].c for side in sides):
                counts["without"] += 1
                counts["without again"] += what == "again"
                continue
            counts[what] += 1
            missed.update([task_id] * (what == "missed"))
    return Recurring(
        splits=splits,
        claimed=counts["again"] + counts["missed"],
        again=counts["again"],
        abstained=counts["abstained"],
        without_pass=counts["without"],
        without_pass_again=counts["without again"],
        red=tuple((name, red[name]) for name in gates.fail_on),
        missed=tuple(sorted(missed)),
    )


def read_labels(path: str) -> Labels:
    """Readers' labels by task and trial."""
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    return {(r["task_id"], r["trial_id"]): (frozenset(r["kinds"]), frozenset(r["tools"])) for r in rows}


def _recurrences(sides: Sequence[Side], labels: Labels) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Tasks that fail alike on both sides, with the pairs of trials (one of each) that readers place alike."""
    for task_id in sides[0].tasks:
        failed = [[t for t in side.tasks[task_id].trials if (task_id, t) in labels] for side in sides]
        pairs = [(a, b) for a in failed[0] for b in failed[1] if _alike(labels[task_id, a], labels[task_id, b])]
        if pairs:
            yield task_id, pairs


def _alike(one: Label, other: Label) -> bool:
    about_the_same = bool(one[1] & other[1]) or not (one[1] or other[1])
    return bool(one[0] & other[0]) and about_the_same


def _found(claims: Sequence[Sequence[SideDivergence]], pairs: Sequence[tuple[str, str]]) -> str:
    """``again`` where a pair has one identity, ``missed`` where it was claimed and not found again."""
    by_trial = [{one.trial_id: one.identity for one in side} for side in claims]
    if not any(a in by_trial[0] or b in by_trial[1] for a, b in pairs):
        return "abstained"
    same = any(a in by_trial[0] and by_trial[0][a] == by_trial[1].get(b) for a, b in pairs)
    return "again" if same else "missed"


def _side(half: Corpus, analysis: Analysis) -> tuple[Side, Report]:
    made = build_report(half, analysis, Settings(), card=CardOptions())
    return side_of(made, half, "half"), made


def _compared(parts: Sequence[tuple[Side, Report]], k: int) -> tuple[Comparison, Report]:
    (before, _), (after, report) = parts
    return compare_sides(before, after, k=k, with_bootstrap=False), report


def _share(part: int, whole: int) -> str:
    return f"{part / whole:5.3f}  {part} of {whole}" if whole else "  n/a  none of them"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="A against A on random halves of one file")
    parser.add_argument("file")
    parser.add_argument("--labels")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--counted", type=int, default=3_000)
    parser.add_argument("--analysed", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    corpus = Corpus(tasks=load([asked.file]).tasks)
    print(f"{asked.file}: {len(corpus.tasks)} tasks, seed {asked.seed}")
    smallest = min(len(task.trials) // 2 for task in corpus.tasks)
    for k in (k for k in (1, 2) if k <= smallest):
        made = figures(corpus, splits=asked.splits, k=k, seed=asked.seed)
        print(f"k={k}  pass-k-drop is red               {_share(made.red, made.splits)} splits")
        print(f"k={k}  interval of the difference has 0 {_share(made.covered, made.intervals)} intervals")
        many = counts_only(corpus, splits=asked.counted, k=k, seed=asked.seed)
        print(f"k={k}  the same from counts alone: red   {_share(many.red, many.splits)} splits")
        print(f"k={k}                             has 0  {_share(many.covered, many.intervals)} intervals")
    if not asked.labels:
        return
    found = recurring(corpus, read_labels(asked.labels), splits=asked.analysed, seed=asked.seed)
    print("recurring failures (readers' labels), both halves with a passed trial:")
    print(f"     identity found again             {_share(found.again, found.claimed)} claimed")
    print(f"     nothing claimed in either half   {found.abstained}")
    print("recurring failures, a half without a passed trial:")
    print(f"     identity found again             {_share(found.without_pass_again, found.without_pass)}")
    for name, times in found.red:
        print(f"     {name:<15} is red           {_share(times, found.splits)} splits, by any change of a task")
    print(f"     identities missed in tasks       {', '.join(found.missed) or 'none'}")


if __name__ == "__main__":
    main()
