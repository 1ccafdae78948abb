"""``--github``: the step summary of a workflow. trajdiff itself calls no network; a workflow posts comments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trajdiff.errors import UsageError

if TYPE_CHECKING:
    from trajdiff.cli.session import Session

#: Bytes of a step summary that GitHub shows are 1 MiB; a summary beyond that is not shown at all.
MOST_BYTES = 900_000

github_option = click.option("--github", is_flag=True, help="Append Markdown to the step summary of GitHub.")


def append_summary(session: Session, text: str) -> None:
    """Appends to the file named by GITHUB_STEP_SUMMARY; outside GitHub that is a note and no error."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        session.note("note", "--github: GITHUB_STEP_SUMMARY is not set, nothing appended")
        return
    data = text.encode("utf-8", "backslashreplace")
    try:
        path = Path(summary)
        used = path.stat().st_size if path.exists() else 0
        if used + len(data) > MOST_BYTES:
            session.note("note", f"--github: the step summary is full ({used} bytes), nothing appended")
            return
        with path.open("ab") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"{summary}: cannot be written ({error.strerror or error})") from error
    session.note("wrote", "the step summary")
