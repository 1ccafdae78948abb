"""Hard gates: what no trial may do, counted apart from every average.

A call breaks a gate whether or not the tool carried it out: the attempt is what the gate is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from trajdiff.model import Step, TaskTrials, Trial, remembered
from trajdiff.reliability.acceptance import met
from trajdiff.reliability.counting import states_of
from trajdiff.reliability.gates import upper_bound
from trajdiff.settings import GateRule


class Breach(Struct, frozen=True, kw_only=True):
    """One trial that broke a gate, and how; ``step`` indexes ``Trial.steps``, None for a failed sub-score."""

    task_id: str
    trial_id: str
    text: str
    step: int | None = None

    @property
    def ref(self) -> str:
        """``task/trial``."""
        return f"{self.task_id}/{self.trial_id}"


class HardGate(Struct, frozen=True, kw_only=True):
    """One gate over all counted trials, accepted or not.

    ``upper`` is the one-sided 95 % bound on the share of tasks with a breach (Clopper-Pearson over tasks, since
    trials of a task are not independent); None without tasks. ``unjudged`` counts trials without the sub-score
    that the gate is about.
    """

    name: str
    breaches: tuple[Breach, ...]
    tasks: tuple[str, ...]
    trials_checked: int
    tasks_checked: int
    upper: float | None
    unjudged: int = 0

    @property
    def broken(self) -> bool:
        """Whether any trial broke it."""
        return bool(self.breaches)


def hard_gates(tasks: Sequence[TaskTrials], rules: Sequence[GateRule]) -> tuple[HardGate, ...]:
    """Every rule over every counted trial, in the order of the rules."""
    checked = [(task, tuple(_counted(task))) for task in tasks]
    return tuple(_gate(rule, checked) for rule in rules)


def _gate(rule: GateRule, checked: Sequence[tuple[TaskTrials, tuple[Trial, ...]]]) -> HardGate:
    breaches: list[Breach] = []
    units = trials = unjudged = 0
    for _, counted in checked:
        seen = 0
        for trial in counted:
            if rule.score is not None and met(trial.sub_scores.get(rule.score)) is None:
                unjudged += 1
                continue
            seen += 1
            found = breach(rule, trial)
            if found is not None:
                breaches.append(found)
        units += seen > 0
        trials += seen
    broken = tuple(dict.fromkeys(breach.task_id for breach in breaches))
    return HardGate(
        name=rule.name,
        breaches=tuple(breaches),
        tasks=broken,
        trials_checked=trials,
        tasks_checked=units,
        upper=upper_bound(len(broken), units) if units else None,
        unjudged=unjudged,
    )


def _counted(task: TaskTrials) -> Iterable[Trial]:
    """Trials inside the plan that ended, whatever became of them: a gate broken before a crash is broken."""
    states = states_of(task)
    return (trial for trial in task.trials if states.get(trial.trial_id, "missing") != "missing")


def breach(rule: GateRule, trial: Trial) -> Breach | None:
    """How a trial breaks a gate, None where it does not."""
    if rule.score is not None:
        if met(trial.sub_scores.get(rule.score)) is False:
            return Breach(task_id=trial.task_id, trial_id=trial.trial_id, text=f"{rule.score} not met")
        return None
    return remembered(trial, ("gate", repr(rule)), lambda: _breach(rule, trial))


def _breach(rule: GateRule, trial: Trial) -> Breach | None:
    met_before = False
    for index, step in enumerate(trial.steps):
        if not step.is_call or step.name is None:
            continue
        if rule.tool is not None and fnmatchcase(step.name, rule.tool) and _concerns(rule, step):
            if rule.needs is None:
                return _at(trial, index, f"calls {step.name}")
            if not met_before:
                return _at(trial, index, f"calls {step.name} without {rule.needs}")
        if rule.needs is not None and fnmatchcase(step.name, rule.needs) and not step.failed:
            met_before = True
    return None


def _at(trial: Trial, index: int, text: str) -> Breach:
    return Breach(task_id=trial.task_id, trial_id=trial.trial_id, text=text, step=index)


def _concerns(rule: GateRule, step: Step) -> bool:
    """Whether the arguments of the call are those the rule speaks of."""
    values = dict(_leaves(step.arguments.parsed if step.arguments is not None else None))
    wanted = all(_matches(values, path, glob) for path, glob in rule.arguments.items())
    excused = bool(rule.unless) and all(_matches(values, path, glob) for path, glob in rule.unless.items())
    return wanted and not excused


def _matches(values: Mapping[str, str], path: str, glob: str) -> bool:
    return any(fnmatchcase(name, path) and fnmatchcase(text, glob) for name, text in values.items())


def _leaves(value: Any, path: str = "") -> Iterable[tuple[str, str]]:
    """Every value of the arguments with its path: ``item.id``, list places as numbers."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _leaves(part, f"{path}.{index}" if path else str(index))
    elif value is not None:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)
