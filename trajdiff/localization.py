"""How well divergences hit labelled places, beside rules of thumb that anybody could follow.

A label names, for one failing trial, the message indices that readers gave as the root (``critical``), those a
reasonable reviewer would accept (``acceptable``), the kinds and optionally the actors. Indices count the
recorded message list from 0.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.divergence.effects import classify
from trajdiff.divergence.finding import Divergence
from trajdiff.divergence.ledger import closest, effective_writes, is_write
from trajdiff.errors import InputError
from trajdiff.model import Corpus, TaskTrials
from trajdiff.settings import Settings

if TYPE_CHECKING:
    from trajdiff.analysed import Analysis

#: Words that label files use for the product's kinds.
SYNONYMS = {
    "missing_call": "missing_step",
    "loop_or_stall": "loop",
    "checker_fault": "same_path_other_outcome",
}
#: Kinds that say the same as a label's kind, besides itself: readers differ in the word that they choose for a
#: step that is not there or a value that was taken wrongly, and a wrong write often stands for a missing one.
ALIKE: Mapping[str, frozenset[str]] = {
    "missing_step": frozenset({"early_stop", "unrecovered_error"}),
    "early_stop": frozenset({"missing_step", "unrecovered_error"}),
    "wrong_tool": frozenset({"missing_step", "extra_write"}),
    "extra_write": frozenset({"wrong_tool"}),
    "misread_result": frozenset({"wrong_argument", "wrong_answer", "missing_step", "extra_write"}),
    "wrong_answer": frozenset({"extra_write", "wrong_argument"}),
    "infrastructure": frozenset({"early_stop", "loop"}),
}
#: An answer this many messages off is counted as near.
NEAR = 3
RULES = (
    "random agent message",
    "last agent message",
    "last write",
    "first raw difference",
    "first effective-write difference",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One labelled failing trial."""

    task_id: str
    trial_id: str
    critical: frozenset[int]
    acceptable: frozenset[int]
    kinds: frozenset[str]
    actors: frozenset[str]
    group: str = ""
    fatal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Counts over ``n`` labelled trials; rule-of-thumb scores may be fractions of trials (a random choice).

    ``either`` counts trials whose root or whose manifest step is acceptable.
    """

    n: int
    exact: float = 0
    acceptable: float = 0
    near: float = 0
    either: float = 0
    kind: int = 0
    actor: int = 0
    abstained: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Scores of the divergences, of each grade and group, and of the rules of thumb; labels without a trial."""

    overall: Score
    by_grade: Mapping[str, Score] = field(default_factory=dict)
    by_group: Mapping[str, Score] = field(default_factory=dict)
    rules: Mapping[str, Score] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()


def read_labels(text: str, path: str) -> tuple[Label, ...]:
    """Labels from JSONL. Raises InputError with file, line and problem."""
    labels: dict[tuple[str, str], Label] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                label = _label(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
                raise InputError(
                    f"{path}: line {number} is no label ({why})",
                    "a label has task_id, trial_id, critical (message indices), acceptable, kinds",
                ) from None
            trial = label.task_id, label.trial_id
            if trial in labels:
                raise InputError(f"{path}: line {number}: {'/'.join(trial)} has a label already")
            labels[trial] = label
    if not labels:
        raise InputError(f"{path}: no labels found", "one JSON object a line")
    return tuple(labels.values())


def measure(corpus: Corpus, analysis: Analysis, labels: Sequence[Label], settings: Settings) -> Measured:
    """Scores the analysis and the rules of thumb against the labels."""
    rows = {(d.task_id, d.trial_id): d for f in analysis.findings.values() for d in f.divergences}
    known = [label for label in labels if label.fatal and (label.task_id, label.trial_id) in rows]
    named = {(label.task_id, label.trial_id) for label in known}
    lost = [x for x in labels if x.fatal and (x.task_id, x.trial_id) not in named]
    judged = [(label, rows[label.task_id, label.trial_id]) for label in known]
    grades = {d.grade.value if d.grade is not None else "-" for _, d in judged}
    groups = {label.group for label in known if label.group}
    return Measured(
        overall=_score(judged),
        by_grade={g: _score([p for p in judged if (p[1].grade or "-") == g]) for g in sorted(grades)},
        by_group={g: _score([p for p in judged if p[0].group == g]) for g in sorted(groups)},
        rules=_rules_of_thumb(corpus, known, settings),
        unmatched=tuple(f"{label.task_id}/{label.trial_id}" for label in lost),
    )


def _label(row: dict[str, Any]) -> Label:
    trial = row["trial_id"] if "trial_id" in row else row["trial"]
    for name, value in (("task_id", row["task_id"]), ("trial_id", trial)):
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(f"{name} must be a text or a number")
    if "critical" in row:
        critical, acceptable, kinds = row["critical"], row.get("acceptable", []), row.get("kinds", [])
    else:
        critical = [] if row["root_message_index"] is None else [row["root_message_index"]]
        acceptable = row.get("acceptable_message_indices") or []
        kinds = [row["kind"], *(row.get("acceptable_kinds") or [])] if row.get("kind") else []
    actors = row.get("actors") or ([row["actor"]] if row.get("actor") else [])
    return Label(
        task_id=str(row["task_id"]),
        trial_id=str(trial),
        critical=_indices(critical, "critical"),
        acceptable=_indices(critical, "critical") | _indices(acceptable, "acceptable"),
        kinds=frozenset(SYNONYMS.get(kind, kind) for kind in _words(kinds, "kinds")),
        actors=frozenset(_words(actors, "actors")),
        group=str(row.get("mutator") or row.get("group") or ""),
        fatal=row.get("label", "fatal") == "fatal",
    )


def _indices(value: object, name: str) -> frozenset[int]:
    """Message indices. Raises ``ValueError`` for anything else: half an index is not rounded."""
    if not isinstance(value, list) or any(type(one) is not int or one < 0 for one in value):
        raise ValueError(f"{name} must be a list of message indices from 0")
    return frozenset(value)


def _words(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be a list of texts")
    return value


def _score(pairs: Sequence[tuple[Label, Divergence]]) -> Score:
    counts: Counter[str] = Counter()
    for label, found in pairs:
        counts["kind"] += _same_kind(found, label)
        counts["actor"] += found.actor is not None and (
            found.actor in label.actors if label.actors else found.actor in _actors(label)
        )
        root = found.root.message if found.root is not None and not found.abstained else None
        counts["abstained"] += root is None
        hits = _hits(root, label)
        for name, hit in hits.items():
            counts[name] += hit
        manifest = found.manifest.message if found.manifest is not None and root is not None else None
        counts["either"] += hits["acceptable"] or manifest in label.acceptable
    return Score(
        n=len(pairs), exact=counts["exact"], acceptable=counts["acceptable"], near=counts["near"],
        either=counts["either"], kind=counts["kind"], actor=counts["actor"], abstained=counts["abstained"],
    )  # fmt: skip


def _hits(root: int | None, label: Label) -> dict[str, bool]:
    if root is None or not label.critical:
        return {"exact": False, "acceptable": False, "near": False}
    return {
        "exact": root in label.critical,
        "acceptable": root in label.acceptable,
        "near": min(abs(root - place) for place in label.critical) <= NEAR,
    }


def _same_kind(found: Divergence, label: Label) -> bool:
    if found.kind is None:
        return False
    return any(found.kind.value == kind or found.kind.value in ALIKE.get(kind, ()) for kind in label.kinds)


def _actors(label: Label) -> frozenset[str]:
    by_kind = {"user_deviation": "user", "infrastructure": "infrastructure", "result_difference": "environment",
               "same_path_other_outcome": "grader"}  # fmt: skip
    return frozenset(by_kind.get(kind, "agent") for kind in label.kinds)


def _rules_of_thumb(corpus: Corpus, labels: Sequence[Label], settings: Settings) -> dict[str, Score]:
    effects = classify(corpus.trials, settings)
    preparer = Preparer(settings=settings, effect_of=effects.of)
    tasks = {task.task_id: task for task in corpus.tasks}
    prepared = {name: _prepared(preparer, tasks[name]) for name in sorted({x.task_id for x in labels})}
    totals = {rule: Counter[str]() for rule in RULES}
    for label in labels:
        trials = prepared[label.task_id]
        passes = [trials[t.trial_id] for t in tasks[label.task_id].passes if t.trial_id in trials]
        failing = trials.get(label.trial_id)
        guesses = _guesses(failing, passes) if failing is not None else {}
        for rule, places in guesses.items():
            for place in places:
                for name, hit in _hits(place, label).items():
                    totals[rule][name] += hit / len(places)  # type: ignore[assignment]
    n = len(labels)
    return {
        rule: Score(n=n, exact=t["exact"], acceptable=t["acceptable"], near=t["near"])
        for rule, t in totals.items()
    }


def _prepared(preparer: Preparer, task: TaskTrials) -> dict[str, PreparedTrial]:
    comparable = [trial for trial in task.trials if trial.comparable]
    return {trial.trial_id: trial for trial in preparer.trials(comparable)}


def _guesses(failing: PreparedTrial, passes: Sequence[PreparedTrial]) -> dict[str, list[int]]:
    """What each rule of thumb would answer, as message indices; several where it is a random choice."""
    agent = [s for s in failing.steps if s.by_agent and (s.is_call or s.is_message)]
    writes = [s for s in failing.steps if is_write(s)]
    end = failing.steps[-1:] if failing.steps else ()
    places: dict[str, Iterable[Any]] = {
        "random agent message": agent,
        "last agent message": agent[-1:],
        "last write": writes[-1:] or end,
        "first raw difference": _first_difference(failing, passes, lambda t: t.calls) or end,
        "first effective-write difference": _first_write_debt(failing, passes) or writes[-1:] or end,
    }
    return {
        rule: sorted({s.step.source.message_index for s in steps if s.step.source.message_index is not None})
        for rule, steps in places.items()
    }


def _first_difference(
    failing: PreparedTrial, passes: Sequence[PreparedTrial], steps: Callable[[PreparedTrial], Sequence[Any]]
) -> list[Any]:
    own, latest = steps(failing), -1
    for other in map(steps, passes):
        same = next(
            (n for n, (a, b) in enumerate(zip(own, other, strict=False)) if a.call_key != b.call_key), None
        )
        latest = max(latest, same if same is not None else min(len(own), len(other)))
    return [own[latest]] if 0 <= latest < len(own) else []


def _first_write_debt(failing: PreparedTrial, passes: Sequence[PreparedTrial]) -> list[Any]:
    if not passes:
        return list(effective_writes(failing)[:1])
    found = [debt.found for debt in closest(failing, passes).debts if debt.found is not None]
    return sorted(found, key=lambda s: s.position)[:1]
