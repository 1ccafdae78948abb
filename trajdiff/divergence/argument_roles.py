"""What passes teach about an argument: whether two passes of a task agree in it where they make the same call.

Counted over all tasks of the report, since one task has few passes. An argument that passes vary freely says
little when a failed trial varies it too; one that they never vary says much. The counts are evidence beside a
divergence, never a reason to claim or to withhold one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from trajdiff.align.graph import SuccessGraph
from trajdiff.align.prepared import PreparedStep
from trajdiff.divergence.finding import Divergence, Kind, TaskFinding
from trajdiff.frozen import replace

#: (tool, argument, aligned pairs of calls, pairs that agree in the argument).
RoleCount = tuple[str, str, int, int]
#: The smoothed share of agreeing pairs, (agree + 1) / (pairs + 2), from which an argument counts as invariant,
#: and up to which as variable. Eight agreeing pairs without an exception make one invariant.
INVARIANT, VARIABLE = 0.9, 0.5


class Role(StrEnum):
    """What an argument is between passes."""

    INVARIANT = "invariant"
    VARIABLE = "variable"
    MIXED = "mixed"
    UNSEEN = "unseen"


class ArgumentRole(Struct, frozen=True, kw_only=True):
    """The role of one argument and the aligned pairs of passes' calls that it rests on."""

    role: Role
    pairs: int
    agree: int


def role_of(pairs: int, agree: int) -> ArgumentRole:
    """The role from counts, smoothed with one pair of either kind (a Beta(1, 1) prior)."""
    share = (agree + 1) / (pairs + 2)
    if not pairs:
        role = Role.UNSEEN
    elif share >= INVARIANT:
        role = Role.INVARIANT
    else:
        role = Role.VARIABLE if share <= VARIABLE else Role.MIXED
    return ArgumentRole(role=role, pairs=pairs, agree=agree)


def role_counts(graph: SuccessGraph | None) -> tuple[RoleCount, ...]:
    """The counts of one task, in order of tool and argument: each pass's call against the first pass's one."""
    pairs: Counter[tuple[str, str]] = Counter()
    agree: Counter[tuple[str, str]] = Counter()
    if graph is None:
        return ()
    for column in range(len(graph.columns)):
        first, *others = graph.steps(column)
        if not first.is_call or not first.by_agent or first.failed:
            continue
        left = _by_name(first) if others else {}
        for other in others:
            right = _by_name(other)
            for name in sorted({*left, *right}):
                key = (first.step.name or "", name)
                pairs[key] += 1
                agree[key] += left.get(name) == right.get(name)
    return tuple((*key, pairs[key], agree[key]) for key in sorted(pairs))


def _by_name(step: PreparedStep) -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for path, value in step.argument_leaves:
        found.setdefault(name_of(path), []).append((path, value))
    return {name: tuple(leaves) for name, leaves in found.items()}


def name_of(path: str) -> str:
    """The argument that a path is in: ``flights[].date`` is in ``flights``."""
    return path.split("[")[0].split(".")[0]


def totals(counts: Iterable[RoleCount]) -> Mapping[tuple[str, str], ArgumentRole]:
    """The roles over all tasks, by tool and argument."""
    pairs: Counter[tuple[str, str]] = Counter()
    agree: Counter[tuple[str, str]] = Counter()
    for tool, name, seen, same in counts:
        pairs[tool, name] += seen
        agree[tool, name] += same
    return {key: role_of(pairs[key], agree[key]) for key in sorted(pairs)}


def with_roles(finding: TaskFinding, roles: Mapping[tuple[str, str], ArgumentRole]) -> TaskFinding:
    """The finding with what passes teach about each argument that is blamed."""
    told = {id(row): _told(row, roles) for row in finding.divergences}
    lead = told.get(id(finding.lead), finding.lead) if finding.lead is not None else None
    return replace(finding, divergences=tuple(told[id(row)] for row in finding.divergences), lead=lead)


def blamed(finding: TaskFinding) -> frozenset[tuple[str, str]]:
    """The (tool, argument) that a finding names as wrong."""
    return frozenset(name for row in finding.divergences if (name := _blamed(row)) is not None)


def _blamed(row: Divergence) -> tuple[str, str] | None:
    if row.kind is not Kind.WRONG_ARGUMENT or row.tool is None or row.argument is None:
        return None
    return row.tool, name_of(row.argument)


def _told(row: Divergence, roles: Mapping[tuple[str, str], ArgumentRole]) -> Divergence:
    key = _blamed(row)
    if key is None:
        return row
    name = key[1]
    found = roles.get(key, role_of(0, 0))
    if found.role is Role.UNSEEN:
        text = (
            f"{name}: no two passed trials of a task make this call, so it is not known whether it may differ"
        )
    else:
        text = f"{name} is the same in {found.agree} of {found.pairs} aligned pairs of passed trials' calls"
        text += f" ({found.role} over all tasks)"
    return replace(row, evidence=(text, *row.evidence))
