"""Splits the trials of each task into groups of one maker, and says which files plan trials of which group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from trajdiff.importers.copies import Entry
from trajdiff.importers.groups import Grouping, Maker

#: Suite, task id, and the label of the group; None where the task has one group.
GroupKey = tuple[str | None, str, str | None]
TaskKey = tuple[str | None, str]


class Split(Struct, kw_only=True):
    """The groups with their trials, and the files whose plans count for each."""

    groups: dict[GroupKey, list[Entry]] = field(default_factory=dict)
    units: dict[GroupKey, frozenset[int]] = field(default_factory=dict)


def split_groups(
    by_task: Mapping[TaskKey, Sequence[Entry]],
    planning: Mapping[TaskKey, Sequence[int]],
    common: Sequence[Maker | None],
    grouping: Grouping,
) -> Split:
    """Split every task. ``planning`` are the files that plan a task, ``common`` the one maker of each file.

    A file that plans a task and has no trial of it plans trials of its own maker, so that one that never ran
    is missed in the right group.
    """
    split = Split()
    for (suite, task_id), entries in by_task.items():
        planned = planning.get((suite, task_id), ())
        with_trials = {entry.unit for entry in entries}
        idle = [unit for unit in planned if unit not in with_trials]
        idle_makers = [maker for unit in idle if (maker := common[unit]) is not None]
        labels = grouping.labels([*(grouping.maker(one.trial) for one in entries), *idle_makers])
        names = dict.fromkeys(labels.values()) or {None: None}
        for label in names:
            mine = [one for one in entries if labels[grouping.maker(one.trial)] == label]
            units = {one.unit for one in mine}
            units |= {unit for unit in idle if (maker := common[unit]) is None or labels[maker] == label}
            split.groups[suite, task_id, label] = mine
            split.units[suite, task_id, label] = frozenset(units)
    return split
