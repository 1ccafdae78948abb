"""How often the earliest critical divergence is where readers place it, on every labelled set that is there.

    python -m tests.benchmarks.localization [--shared FOLDER] [--times]

FOLDER holds recorded runs and their labels (by default the folder ``shared`` beside the project); without it
only the bundled sample traces are measured. The same input prints the same bytes, but for the seconds of
``--times``.

Per set: the divergences by grade, beside five rules of thumb; the self-check; and the same figures where the
expected actions and the details of the rewards are taken out of the file for every task with a passed trial.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.stripping import without_gold
from trajdiff.analysis import Analysis, analyse, judge_as_failed
from trajdiff.importers import load
from trajdiff.localization import Label, Measured, Score, measure, read_labels
from trajdiff.model import Corpus
from trajdiff.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
SHARED = PROJECT.parent / "shared"
COLUMNS = ("exact", "acceptable", "near", "either", "kind", "actor", "abstained")
HEADS = ("exact", "accept.", "within 3", "either", "kind", "actor", "abstained")
#: Set to (labels, traces) below the folder of recorded runs.
SETS = {
    "airline": ("labels/airline.jsonl", "data/tau_bench/gpt-4o-airline.json"),
    "retail": ("labels/retail.jsonl", "data/tau2_bench/retail-gpt-4.1-mini.json"),
    "four agents": ("labels/retail-four-agents.jsonl", "data/tau_bench/retail-four-agents.json"),
    "no pass": ("labels/airline-no-pass.jsonl", "data/tau_bench/gpt-4o-airline.json"),
}
INJECTED = ("data/injected/labels.jsonl", "data/injected/airline-injected.json")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one set gave: scores, the analysis, the labels whose right answer is to claim nothing, and seconds
    of reading and of analysing."""

    name: str
    measured: Measured
    analysis: Analysis
    silent: Score
    seconds: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Trials that passed and were judged as if they had failed: what was claimed, by mutator."""

    clean: Mapping[str, tuple[int, int]]
    differing: Mapping[str, tuple[int, int]]

    @property
    def total(self) -> tuple[int, int]:
        """False claims and trials of the mutators that change nothing or were repaired."""
        return sum(c for c, _ in self.clean.values()), sum(n for _, n in self.clean.values())


class Measurer:
    """Measures sets; a file of traces that two sets share is read and analysed once."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Corpus, Analysis, tuple[float, float]]] = {}

    def analysed(self, traces: Path) -> tuple[Corpus, Analysis, tuple[float, float]]:
        """The trials of a file, their analysis, and the seconds that reading and analysing took."""
        if traces not in self._known:
            began = time.perf_counter()
            corpus = load([str(traces)])
            read = time.perf_counter()
            analysis = analyse(corpus, Settings())
            self._known[traces] = corpus, analysis, (read - began, time.perf_counter() - read)
        return self._known[traces]

    def result(self, name: str, labels: Sequence[Label], traces: Path) -> Result:
        """One labelled set. Labels without a root say that nothing should be claimed."""
        corpus, analysis, seconds = self.analysed(traces)
        placed = [label for label in labels if label.critical or not label.fatal]
        silent = [label for label in labels if label.fatal and not label.critical]
        return Result(
            name=name,
            measured=measure(corpus, analysis, placed, Settings()),
            analysis=analysis,
            silent=measure(corpus, analysis, silent, Settings()).overall,
            seconds=seconds,
        )


def sample_labels() -> tuple[Label, ...]:
    """The known answers of the bundled sample traces."""
    rows = json.loads((PROJECT / "tests/samples/known_roots.json").read_text("utf-8"))
    made = [
        {
            "task_id": row["task_id"],
            "trial_id": row["trial_id"],
            "critical": [] if row["root"] is None else [row["root"]],
            "acceptable": row["acceptable"],
            "kinds": row["kind"],
            "actors": [row["actor"]],
        }
        for row in rows
    ]
    return read_labels("\n".join(map(json.dumps, made)), "known_roots.json")


def labels_at(path: Path) -> tuple[Label, ...]:
    """The labels of a file."""
    return read_labels(path.read_text("utf-8"), str(path))


def false_claims(corpus: Corpus, labels: Path, levels: Sequence[str]) -> Claims:
    """The injected trials that passed, each judged as if it had failed. Trials that passed although a fault was
    put in really differ from the others: they are counted apart."""
    rows = [json.loads(line) for line in labels.read_text("utf-8").splitlines() if line.strip()]
    passed = [row for row in rows if row["label"] != "fatal"]
    keys = [(str(row["task_id"]), str(row["trial"])) for row in passed]
    claims = judge_as_failed(corpus, Settings(), keys, levels)
    faults = {row["mutator"] for row in rows if row["label"] == "fatal"}
    counts: dict[str, dict[str, Counter[bool]]] = {"clean": {}, "differing": {}}
    for row, key in zip(passed, keys, strict=True):
        # A fault that was repaired is judged by the repair, whatever became of others of its mutator.
        differs = row["mutator"] in faults and row["label"] == "benign"
        group = counts["differing" if differs else "clean"]
        group.setdefault(f"{row['mutator']} ({row['label']})", Counter())[claims[key] is not None] += 1
    made = {
        name: {mutator: (c[True], c.total()) for mutator, c in sorted(found.items())}
        for name, found in counts.items()
    }
    return Claims(clean=made["clean"], differing=made["differing"])


def pooled(results: Iterable[Result]) -> dict[str, Score]:
    """Scores by grade over several sets."""
    found: dict[str, list[Score]] = {}
    for result in results:
        for grade, score in result.measured.by_grade.items():
            found.setdefault(grade, []).append(score)
    return {name: added(scores) for name, scores in sorted(found.items())}


def added(scores: Sequence[Score]) -> Score:
    """The sum of scores."""
    names = ("n", *COLUMNS)
    return Score(**{name: sum(getattr(score, name) for score in scores) for name in names})


def heading(text: str) -> str:
    """A heading over columns."""
    return f"{text:<42}{'n':>5}" + "".join(f"{head:>10}" for head in HEADS)


def grade_name(grade: str) -> str:
    """What a line says of a grade; abstentions and crashes have none."""
    return "  no grade" if grade == "-" else f"  grade {grade}"


def row(name: str, score: Score, columns: Sequence[str] = COLUMNS) -> str:
    """One line of figures: shares of ``n``, abstentions as a count."""
    cells = []
    for column in columns:
        value = getattr(score, column)
        share = f"{value / score.n:.2f}" if score.n else "n/a"
        cells.append(f"{value if column == 'abstained' else share:>10}")
    return f"{name:<42}{score.n:>5}{''.join(cells)}"


def self_check(analysis: Analysis) -> str:
    """The self-check and the levels that it allowed."""
    check = analysis.self_check
    levels = ", ".join(("writes", *analysis.levels))
    return f"self-check: {check.false_alarms} false alarms in {check.passing_trials} passing trials; {levels}"


def lines_of(result: Result, *, times: bool, groups: bool = False) -> Iterator[str]:
    """The figures of one set."""
    measured = result.measured
    yield heading(result.name)
    yield row("divergences", measured.overall)
    yield from (row(grade_name(grade), score) for grade, score in measured.by_grade.items())
    if groups:
        yield from (row(f"  {group}", score) for group, score in measured.by_group.items())
    if result.silent.n:
        yield f"nothing to claim: abstained in {result.silent.abstained} of {result.silent.n}"
    for rule, score in measured.rules.items():
        yield row(f"  rule: {rule}", score, ("exact", "acceptable", "near"))
    if measured.unmatched:
        yield f"labels without a failed trial: {', '.join(measured.unmatched)}"
    yield self_check(result.analysis)
    if times:
        yield f"seconds: {result.seconds[0]:.1f} reading, {result.seconds[1]:.1f} analysing"
    yield ""


def claim_lines(claims: Claims) -> Iterator[str]:
    """What was claimed about injected trials that passed."""
    wrong, n = claims.total
    apart = sum(c for c, _ in claims.differing.values()), sum(n for _, n in claims.differing.values())
    yield f"injected, passed, judged as failed: {wrong} false claims in {n} trials without a lasting fault"
    yield from (f"  {mutator:<40}{c:>5} of {n}" for mutator, (c, n) in claims.clean.items())
    yield f"apart, trials that passed with a fault in them: {apart[0]} claims in {apart[1]}"
    yield from (f"  {mutator:<40}{c:>5} of {n}" for mutator, (c, n) in claims.differing.items())
    yield ""


def sample_result(measurer: Measurer) -> Result:
    """The bundled sample traces."""
    return measurer.result("sample traces", sample_labels(), PROJECT / "sample_traces")


def shared_results(measurer: Measurer, shared: Path) -> list[Result]:
    """The labelled sets of recorded runs."""
    return [
        measurer.result(name, labels_at(shared / labels), shared / traces)
        for name, (labels, traces) in SETS.items()
    ]


def injected_result(measurer: Measurer, shared: Path) -> tuple[Result, Claims]:
    """The injected faults: the fatal ones located, the others judged as failed with the levels that the
    recorded run they come from allows."""
    labels, traces = (shared / part for part in INJECTED)
    result = measurer.result("injected", labels_at(labels), traces)
    corpus, _, _ = measurer.analysed(traces)
    _, of_the_run, _ = measurer.analysed(shared / SETS["airline"][1])
    return result, false_claims(corpus, labels, of_the_run.levels)


def stripped_results(shared: Path, folder: Path) -> list[Result]:
    """The sets with passes once more, from copies without expected actions, outputs and reward details."""
    measurer, results = Measurer(), []
    for name in ("airline", "retail", "four agents"):
        labels, traces = SETS[name]
        copy = folder / Path(traces).name
        data: Any = json.loads((shared / traces).read_text("utf-8"))
        copy.write_text(json.dumps(without_gold(data)), "utf-8")
        results.append(measurer.result(name, labels_at(shared / labels), copy))
    return results


def lines_of_shared(measurer: Measurer, shared: Path, *, times: bool) -> Iterator[str]:
    """The figures of everything that lies in the folder of recorded runs."""
    results = shared_results(measurer, shared)
    for result in results:
        yield from lines_of(result, times=times)
    injected, claims = injected_result(measurer, shared)
    yield from lines_of(injected, times=times, groups=True)
    yield from claim_lines(claims)
    yield heading("all four label files")
    yield row("divergences", added([result.measured.overall for result in results]))
    yield from (row(grade_name(grade), score) for grade, score in pooled(results).items())
    yield ""
    yield heading("without expected actions and reward details")
    with TemporaryDirectory() as folder:
        for result in stripped_results(shared, Path(folder)):
            yield row(result.name, result.measured.overall)
            yield f"  {self_check(result.analysis)}"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument(
        "--shared", type=Path, default=SHARED, metavar="FOLDER", help="recorded runs and labels"
    )
    parser.add_argument("--times", action="store_true", help="print the seconds of each set, too")
    asked = parser.parse_args()
    measurer = Measurer()
    for line in lines_of(sample_result(measurer), times=asked.times):
        print(line)
    if not (asked.shared / "labels").is_dir():
        print(f"no recorded runs with labels at {asked.shared}: only the sample traces were measured")
        return
    for line in lines_of_shared(measurer, asked.shared, times=asked.times):
        print(line, flush=True)


if __name__ == "__main__":
    main()
