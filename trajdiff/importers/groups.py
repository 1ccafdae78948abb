"""Which trials of one task are pooled: those of one model and one agent, unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from trajdiff.importers.copies import Entry
from trajdiff.importers.jsontext import canonical
from trajdiff.importers.naming import shortened
from trajdiff.importers.protocol import GROUP_DIMENSIONS
from trajdiff.model import Diagnostic, Severity, Trial
from trajdiff.natural import natural_key

DEFAULT = ("model", "agent")
_LABEL = 60
_SHOWN = 8

#: The values of one trial for the dimensions asked for; None where nothing is recorded.
Maker = tuple[str | None, ...]


class Grouping(Struct, frozen=True, kw_only=True):
    """The dimensions that keep trials apart."""

    dimensions: tuple[str, ...]

    def maker(self, trial: Trial) -> Maker:
        """What is recorded of a trial's making."""
        return tuple(_value(trial, name) for name in self.dimensions)

    def common_maker(self, trials: Iterable[Trial]) -> Maker | None:
        """The maker of all these trials, None where they have none in common."""
        makers = {self.maker(trial) for trial in trials}
        return makers.pop() if len(makers) == 1 else None

    def labels(self, makers: Sequence[Maker]) -> dict[Maker, str | None]:
        """The label of every maker of one task; None for all where nothing differs.

        A value that is not recorded goes with the only one that is, and stands alone beside several.
        """
        distinct = [
            {maker[at] for maker in makers if maker[at] is not None} for at in range(len(self.dimensions))
        ]
        apart = [at for at, values in enumerate(distinct) if len(values) > 1]
        return {maker: self._label(maker, apart) for maker in makers}

    def _label(self, maker: Maker, apart: Sequence[int]) -> str | None:
        if not apart:
            return None
        parts = [maker[at] or f"{self.dimensions[at].replace('_', ' ')} unknown" for at in apart]
        return shortened(", ".join(parts), _LABEL)


def grouping_of(asked: tuple[str, ...] | None) -> Grouping:
    """The grouping the user asked for; None means model and agent, empty means none."""
    wanted = DEFAULT if asked is None else asked
    return Grouping(dimensions=tuple(name for name in GROUP_DIMENSIONS if name in wanted and name != "suite"))


def _value(trial: Trial, name: str) -> str | None:
    value = getattr(trial.provenance, name)
    if value is None or value == {}:
        return None
    return value if isinstance(value, str) else canonical(dict(value))


def tell_groups(groups: Mapping[str, Sequence[Sequence[Entry]]], path: str | None) -> list[Diagnostic]:
    """A note that trials of one task were kept apart; ``groups`` are the tasks of every label."""
    if not groups:
        return []
    rows = [
        f"{label}: {_count(len(tasks), 'task')}, {_count(sum(map(len, tasks)), 'trial')}"
        for label, tasks in sorted(groups.items(), key=lambda item: natural_key(item[0]))
    ]
    more = [f"and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return [
        Diagnostic(
            severity=Severity.NOTE,
            slug="several_groups",
            message="some tasks were tried by several models or agents; each of them has a row of its own",
            path=path,
            details=(
                *rows[:_SHOWN],
                *more,
                "suite figures average over all rows; give one model alone, or pool with --group-by none",
            ),
        )
    ]


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
