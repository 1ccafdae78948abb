"""Long text on a terminal goes through a pager; anything else is written straight."""

from __future__ import annotations

import sys

import click

from trajdiff.cli.streams import is_terminal, put


def page_or_put(text: str, *, wanted: bool | None) -> None:
    """``wanted`` is what the user asked for; None: a pager where the text is longer than the screen."""
    if wanted is False or not (is_terminal(sys.stdout) and is_terminal(sys.stdin)):
        put(text)
    elif wanted or text.count("\n") >= _lines():
        click.echo_via_pager(text, color="\x1b[" in text)
    else:
        put(text)


def _lines() -> int:
    """Lines of the screen."""
    import shutil

    return shutil.get_terminal_size((80, 24)).lines
