"""What makes trials comparable, as far as it is recorded, and what the data cannot show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trajdiff.model import TaskTrials, Trial
from trajdiff.natural import natural, plural

#: What is looked at, in the order of the report.
FIELDS: tuple[tuple[str, Callable[[Trial], str | None]], ...] = (
    ("model", lambda trial: trial.provenance.model),
    ("agent", lambda trial: trial.provenance.agent),
    ("prompts", lambda trial: trial.provenance.prompt_version),
    ("tools", lambda trial: trial.provenance.tool_version),
    ("environment", lambda trial: trial.provenance.environment_version),
    ("fixtures", lambda trial: trial.provenance.fixture_version),
    ("scorer", lambda trial: trial.provenance.scorer_version or trial.judgement.scorer),
    ("sampling", lambda trial: _sampling(trial)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One property of the trials: its recorded values in natural order, and how many trials record none."""

    name: str
    values: tuple[str, ...]
    without: int
    trials: int

    @property
    def recorded(self) -> bool:
        """Whether any trial records it."""
        return bool(self.values)


def versions(tasks: Sequence[TaskTrials]) -> tuple[Version, ...]:
    """Every property over all recorded trials."""
    trials = [trial for task in tasks for trial in task.trials]
    made = []
    for name, read in FIELDS:
        found = [value for value in map(read, trials) if value]
        made.append(
            Version(
                name=name,
                values=natural(dict.fromkeys(found)),
                without=len(trials) - len(found),
                trials=len(trials),
            )
        )
    return tuple(made)


def differences(a: Sequence[TaskTrials], b: Sequence[TaskTrials]) -> tuple[str, ...]:
    """What is recorded on both sides and is not the same, in words; definitions of shared tasks too."""
    told = []
    for left, right in zip(versions(a), versions(b), strict=True):
        if left.recorded and right.recorded and left.values != right.values:
            told.append(f"{left.name} differs: {', '.join(left.values)} against {', '.join(right.values)}")
    other = {task.task_id: task.task for task in b}
    changed = [
        task.task_id
        for task in a
        if task.task_id in other
        and None not in (task.task.fingerprint, other[task.task_id].fingerprint)
        and task.task.fingerprint != other[task.task_id].fingerprint
    ]
    if changed:
        shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        told.append(f"the definition of {plural(len(changed), 'task')} differs: {shown}")
    return tuple(told)


def not_measured(tasks: Sequence[TaskTrials], made: Sequence[Version]) -> tuple[str, ...]:
    """What these data cannot show, so that silence is not taken for a result."""
    trials = [trial for task in tasks for trial in task.trials]
    told = ["independence of trials"]
    seedless = sum(trial.provenance.seed is None for trial in trials)
    if seedless:
        told.append(f"seeds (missing in {seedless} of {len(trials)} trials)")
    if not any(trial.cost_usd is not None for trial in trials):
        told.append("cost")
    if not any(trial.duration_s is not None for trial in trials):
        told.append("latency")
    if not any(trial.human.minutes is not None for trial in trials):
        told.append("human minutes")
    absent = [version.name for version in made if not version.recorded]
    if absent:
        told.append(f"versions of {', '.join(absent)}")
    return tuple(told)


def _sampling(trial: Trial) -> str | None:
    sampling = trial.provenance.sampling
    return ", ".join(f"{key}={sampling[key]}" for key in sorted(sampling)) or None
