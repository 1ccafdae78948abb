"""What ``map check`` found: coverage of a mapping and the first trial as it is read, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from trajdiff.model import Arguments, ArgumentState, Diagnostic, Step, StepKind, Trial
from trajdiff.render.json_report import diagnostic_object
from trajdiff.render.json_text import to_json
from trajdiff.render.safety import cells, cut, one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.render.view import View

#: Steps of the first trial, and entries or records without a place, that are shown.
_STEPS, _SHOWN = 12, 3


class Key(Protocol):
    """One key of a mapping."""

    @property
    def key(self) -> str:
        """Its name."""

    @property
    def expression(self) -> str:
        """Its expression."""

    @property
    def found(self) -> int:
        """How many records have a value."""

    @property
    def null(self) -> int:
        """How many have none."""

    @property
    def example(self) -> str | None:
        """The first value."""


class Checked(Protocol):
    """One file and what the mapping found in it."""

    @property
    def path(self) -> str:
        """The path as given."""

    @property
    def mapping(self) -> str:
        """Name of the mapping."""

    @property
    def records(self) -> int:
        """Trajectories found."""

    @property
    def trials(self) -> int:
        """Trials read."""

    @property
    def entries(self) -> int:
        """Entries of all trajectories."""

    @property
    def keys(self) -> Sequence[Key]:
        """Coverage of every key."""

    @property
    def unmatched(self) -> Sequence[tuple[str, str]]:
        """Entries that no rule fits."""

    @property
    def left_out(self) -> Sequence[tuple[str, str]]:
        """Records without a trial."""

    @property
    def first(self) -> Trial | None:
        """The first trial."""

    @property
    def record(self) -> dict[str, Any] | None:
        """The first trial as a record of the own format."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """What reading had to say."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left over."""


def map_check_text(files: Sequence[Checked], view: View) -> str:
    """Coverage and first trial of every file."""
    blocks = ["\n".join(_block(file, view)) for file in files]
    return "\n\n".join(blocks) + "\n"


def _block(file: Checked, view: View) -> list[str]:
    counts = f"{plural(file.records, 'trajectory', 'trajectories')}, {plural(file.trials, 'trial')}"
    lines = [f"{one_line(file.path)}   mapping {one_line(file.mapping)}   {counts}, {file.entries} entries"]
    if file.keys:
        lines += ["", *_table(file.keys, view)]
    for what, found in (("entries that no rule fits", file.unmatched), ("records left out", file.left_out)):
        if found:
            lines += ["", f"{what}: {len(found)}"]
            lines += [
                cut(f"  {one_line(place)}  {one_line(text)}", view.width) for place, text in found[:_SHOWN]
            ]
    if file.first is not None:
        lines += ["", *_trial(file.first, view)]
    lines += ["", "nothing is left over" if file.complete else "something is left over; see above"]
    return lines


def _table(keys: Sequence[Key], view: View) -> list[str]:
    rows = [("key", "expression", "found", "null", "first value")]
    rows += [
        (
            one_line(key.key),
            one_line(key.expression),
            str(key.found),
            str(key.null),
            one_line(key.example or "-"),
        )
        for key in keys
    ]
    sizes = [max(cells(row[at]) for row in rows) for at in range(4)]
    lines = []
    for row in rows:
        padded = [
            " " * (sizes[at] - cells(row[at])) + row[at] if at in (2, 3) else _pad(row[at], sizes[at])
            for at in range(4)
        ]
        lines.append(cut("  ".join((*padded, row[4])).rstrip(), view.width))
    return lines


def _pad(text: str, size: int) -> str:
    return text + " " * (size - cells(text))


def _trial(trial: Trial, view: View) -> list[str]:
    judgement = trial.judgement
    said = [
        f"task {one_line(trial.task_id)}",
        f"trial {one_line(trial.trial_id) or '(numbered when read)'}",
        f"{judgement.state} ({one_line(judgement.rule)})",
        f"ended {trial.termination.reason}",
    ]
    lines = ["first trial as it is read", cut("  " + " · ".join(said), view.width)]
    shown = trial.steps[:_STEPS]
    for step in shown:
        lines.append(cut(f"  {step.index:>3}  {one_line(step.actor):<11} {_step(step)}", view.width))
    if len(trial.steps) > len(shown):
        lines.append(f"       and {len(trial.steps) - len(shown)} more steps")
    return lines


def _step(step: Step) -> str:
    if step.kind is StepKind.TERMINATION:
        return f"end: {step.text}"
    if step.kind is not StepKind.TOOL_CALL:
        kind = "" if step.kind is StepKind.MESSAGE else f"{step.kind}: "
        return f"{kind}{one_line(step.text or (step.result.text if step.result else ''))}"
    result = "no result" if step.result is None else one_line(step.result.text)
    mark = "! " if step.failed else ""
    return f"{one_line(step.name or '?')}{_arguments(step.arguments)} → {mark}{result}"


def _arguments(arguments: Arguments | None) -> str:
    if arguments is None or arguments.state is ArgumentState.ABSENT:
        return "(not recorded)"
    if not isinstance(arguments.parsed, dict):
        return f"({one_line(arguments.raw or '')})"
    pairs = [f"{one_line(str(key))}={one_line(str(value))}" for key, value in arguments.parsed.items()]
    return f"({', '.join(pairs)})"


def map_check_json(files: Sequence[Checked]) -> str:
    """The same as JSON, with the first trial as a record of the own format."""
    return to_json(
        {
            "schema": "trajdiff.map-check/1",
            "files": [
                {
                    "path": file.path,
                    "mapping": file.mapping,
                    "trajectories": file.records,
                    "trials": file.trials,
                    "entries": file.entries,
                    "complete": file.complete,
                    "keys": [
                        {
                            "key": key.key,
                            "expression": key.expression,
                            "found": key.found,
                            "null": key.null,
                            "example": key.example,
                        }
                        for key in file.keys
                    ],
                    "unmatched": [{"place": place, "text": text} for place, text in file.unmatched],
                    "left_out": [{"place": place, "text": text} for place, text in file.left_out],
                    "first_trial": file.record,
                    "warnings": [diagnostic_object(one) for one in file.diagnostics],
                }
                for file in files
            ],
        }
    )
