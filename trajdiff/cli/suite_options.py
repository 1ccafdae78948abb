"""Options about what the figures of a suite rest on: families of tasks, a judge, a declared design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.options import Numbers, together
from trajdiff.cli.session import read_text
from trajdiff.errors import UsageError
from trajdiff.files import is_file
from trajdiff.reliability.declared import DESIGNS
from trajdiff.reliability.families import Families, read_families, recorded_families
from trajdiff.reliability.labels import Labels, read_labels

if TYPE_CHECKING:
    from trajdiff.model import TaskTrials
    from trajdiff.reliability.judging import Calibration

families_option = click.option(
    "--families",
    metavar="FILE|KEY",
    help="Tasks that belong together are one unit: CSV with task_id, family, or a recorded property.",
)
calibration_option = click.option(
    "--calibration",
    type=Numbers(least=0),
    metavar="A,B,C,D",
    help="A of B trials that people passed were judged pass, C of D that people failed were judged fail.",
)
suite_options = together(
    families_option,
    click.option(
        "--labels", metavar="FILE", help="Labels by another judge, as for judges: how far verdicts agree."
    ),
    calibration_option,
    click.option(
        "--design",
        type=click.Choice(DESIGNS),
        help="How the number of trials was chosen, where it depends on outcomes.",
    ),
)


def families_of(options: Mapping[str, Any]) -> Families | str | None:
    """Families of the file that was named, or the key to look for in the record."""
    wanted = options.get("families")
    if wanted is None or not is_file(wanted):
        return wanted if wanted else None
    return read_families(read_text(wanted, "families"), wanted)


def families_for(
    options: Mapping[str, Any], tasks: Sequence[TaskTrials], known: Sequence[str]
) -> Families | None:
    """Families for a comparison: checked against the tasks of both sides. Raises ``UsageError``."""
    wanted = families_of(options)
    if isinstance(wanted, str):
        return recorded_families(tasks, wanted)
    if wanted is not None:
        wanted.check(known)
    return wanted


def labels_of(options: Mapping[str, Any]) -> tuple[Labels, ...]:
    """The labels of a file."""
    path = options.get("labels")
    return read_labels(read_text(path, "labels"), path) if path else ()


def calibration_of(options: Mapping[str, Any]) -> Calibration | None:
    """Four counts, checked. Raises ``UsageError``."""
    given = options.get("calibration")
    if given is None:
        return None
    if len(given) != 4:
        raise UsageError("--calibration needs four numbers", "judged pass, of passed, judged fail, of failed")
    right, positives, rejected, negatives = given
    for part, whole in ((right, positives), (rejected, negatives)):
        if part > whole or not whole:
            raise UsageError(f"--calibration: {part} of {whole} is impossible")
    return right, positives, rejected, negatives
