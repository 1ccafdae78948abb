"""``trajdiff formats``: what is read and written, and the JSON Schemas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from trajdiff.cli.options import common_options
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put, width
from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line

_SUFFIX = ".schema.json"


@click.command(
    cls=Command,
    short_help="formats read and written; JSON schemas",
    examples=(
        "trajdiff formats",
        "trajdiff formats --schema trace",
        "trajdiff formats --schema report",
    ),
)
@click.option("--schema", metavar="NAME", help="Print a JSON Schema instead, for instance trace or report.")
@click.option(
    "--format",
    type=click.Choice(("text", "json"), case_sensitive=False),
    help="Format of the result.  [default: text]",
)
@click.option("--json", is_flag=True, help="Short for --format json.")
@common_options
@click.pass_context
def formats(ctx: click.Context, /, schema: str | None, **options: Any) -> int:
    """Formats that are read and how each is recognised, and what is written."""
    from trajdiff.importers import known_formats
    from trajdiff.render.formats_table import formats_json, formats_text

    session = Session(ctx, options)
    if schema is not None:
        _print_schema(schema)
        return 0
    known = known_formats()
    if session.format() == "json":
        put(formats_json(known), utf8=True)
    else:
        put(formats_text(known, width(os.environ)))
    session.hint("trajdiff inspect PATH")
    return 0


def _print_schema(name: str) -> None:
    from trajdiff.cli.suggest import nearest
    from trajdiff.render.json_text import to_json
    from trajdiff.schema import load_schema

    names = schema_names()
    if name not in names:
        near = nearest(name, names)
        hints = [f"did you mean {near[0]}?"] if near else []
        raise UsageError(f'no schema "{one_line(name)}"', *hints, f"known: {', '.join(names)}")
    put(to_json(load_schema(name)), utf8=True)


def schema_names() -> list[str]:
    """Names of the schemas that came with the package."""
    package = Path(__file__).resolve().parent.parent
    folders = (package / "_bundled" / "schemas", package.parent / "schemas")
    folder = next((folder for folder in folders if folder.is_dir()), folders[0])
    return sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))
