"""What the tasks can be filtered by: for each facet its values with the number of tasks that have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import Blame, FindingKind, Grade
from trajdiff.model import Verdict
from trajdiff.render.choosing import MIXED, is_mixed
from trajdiff.render.safety import one_line
from trajdiff.render.wording import GROUPS

if TYPE_CHECKING:
    from trajdiff.report import TaskReport

#: Facets in the order in which they are offered; those of ``CHIPS`` are buttons, the others lists.
FACETS = ("show", "grade", "actor", "kind", "tool", "stop", "has")
CHIPS = ("show", "grade", "actor", "has")
TOOL_ERROR = "tool error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a facet: how it is stored, how it reads, in how many tasks it is."""

    value: str
    label: str
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A facet and its values, in a fixed order."""

    name: str
    values: tuple[Value, ...]


def task_facets(task: TaskReport) -> dict[str, tuple[str, ...]]:
    """The values that one task has, by facet."""
    claims = [one for one in task.finding.divergences if not one.abstained]
    mixed = (MIXED,) if is_mixed(task) else ()
    return {
        "show": (*mixed, task.finding.kind.value),
        "grade": _distinct(str(one.grade) for one in claims if one.grade is not None),
        "actor": _distinct(str(one.actor) for one in claims if one.actor is not None),
        "kind": _distinct(str(one.kind) for one in claims if one.kind is not None),
        "tool": _distinct(one_line(one.tool) for one in claims if one.tool),
        "stop": _distinct(
            one_line(trial.termination) for trial in task.trials if trial.verdict is not Verdict.PASS
        ),
        "has": _has(task),
    }


def _has(task: TaskReport) -> tuple[str, ...]:
    found = {
        TOOL_ERROR: any(trial.errors for trial in task.trials),
        "accepted": any(one.accepted for one in task.finding.divergences),
        "reviewed": any(one.reviews for one in task.finding.divergences),
    }
    return tuple(name for name, has in found.items() if has)


def facets(tasks: Sequence[TaskReport]) -> tuple[Facet, ...]:
    """All facets with the values that occur; a facet with nothing to choose is left out."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for task in tasks:
        for name, values in task_facets(task).items():
            counts[name].update(values)
    made = [Facet(name=name, values=_values(name, counts[name])) for name in FACETS]
    return tuple(facet for facet in made if facet.values)


def _values(name: str, counts: Counter[str]) -> tuple[Value, ...]:
    fixed = {
        "show": [MIXED, *(kind.value for kind in GROUPS)],
        "grade": [grade.value for grade in Grade],
        "actor": [actor.value for actor in Blame],
    }.get(name)
    order = fixed or sorted(counts, key=lambda value: (-counts[value], value))
    return tuple(
        Value(value=value, label=_label(name, value), tasks=counts[value]) for value in order if counts[value]
    )


def _label(name: str, value: str) -> str:
    if name == "show":
        return MIXED if value == MIXED else GROUPS[FindingKind(value)].removeprefix("with a ")
    return value.replace("_", " ") if name in ("kind", "stop") else value


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
