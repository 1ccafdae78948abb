"""Exports as Parquet, one typed column per column of the table. Needs the extra ``parquet``."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from trajdiff.errors import UsageError
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import clean
from trajdiff.render.tables import TABLES, columns_of, flat

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report


def render(name: str, report: Report, view: View) -> bytes:
    """The rows of an export. Numbers and truth values keep their type, lists and objects are JSON texts."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UsageError("writing .parquet needs an extra: pip install 'trajdiff[parquet]'") from error
    rows = TABLES[name].rows(report, view.choice)
    types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
    arrays = {}
    for column in columns_of(name, report, view.columns):
        values, kind = _typed([row.get(column) for row in rows])
        arrays[column] = pa.array(values, type=types.get(kind, pa.string()))
    out = io.BytesIO()
    pq.write_table(pa.table(arrays), out, compression="zstd")
    return out.getvalue()


def _typed(values: Sequence[Any]) -> tuple[list[Any], str]:
    """The values of a column and the one type they share; a mixed column becomes text."""
    made = [flat(value) for value in values]
    kinds = {type(value) for value in made if value is not None}
    if kinds == {bool}:
        return made, "bool"
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in made):
        return made, "int"
    if kinds and kinds <= {int, float}:
        return [None if value is None else float(value) for value in made], "float"
    return [None if value is None else clean(str(value)) for value in made], "text"


RENDERERS = tuple(
    Renderer(
        name="parquet",
        subject=name if name == "report" else f"export-{name}",
        render=partial(render, name),
        suffixes=(".parquet",),
    )
    for name in TABLES
)
