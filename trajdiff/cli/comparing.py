"""``trajdiff compare``: a group whose commands are imported when they are called."""

from __future__ import annotations

import click

from trajdiff.cli.later import LaterGroup, Place

PLACES = (
    Place(
        name="task",
        module="trajdiff.cli.compare",
        attribute="compare_task",
        short_help="one task: all its trials, aligned",
    ),
    Place(
        name="trials",
        module="trajdiff.cli.compare",
        attribute="compare_trials",
        short_help="two trials, step by step",
    ),
    Place(
        name="runs",
        module="trajdiff.cli.runs",
        attribute="compare_runs",
        short_help="two runs of the same tasks",
    ),
)


@click.group(
    cls=LaterGroup,
    places=PLACES,
    short_help="compare trials",
    examples=("trajdiff compare task L1-061 runs", "trajdiff compare trials L1-061/0 L1-061/1 runs"),
)
def compare() -> None:
    """Compare the trials of one task, or two trials."""
