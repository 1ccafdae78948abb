"""trajdiff in Python: recorded runs in, data frames and documents out.

Nothing here prints, exits or reads the environment. Frames have the columns of the exports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.importers import ReadOptions, manifest_traces
from trajdiff.importers import load as read
from trajdiff.model import Corpus, Diagnostic
from trajdiff.render.choosing import Choice
from trajdiff.render.view import View
from trajdiff.report import Report, build_report
from trajdiff.review.joining import judged
from trajdiff.review.places import reviews_file
from trajdiff.review.verdicts import read_reviews
from trajdiff.settings import Settings, default_traces, load_settings, override

if TYPE_CHECKING:
    import pandas as pd

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

#: Reading options that are settings, too.
_SETTINGS = ("infra", "unscored", "threshold", "expected_trials", "outcomes", "name")


def load(traces: Paths = (), *, config: str | None = None, use_config: bool = True, **options: Any) -> Runs:
    """Reads recorded trials: files, folders, globs; without any, those the command line would take.

    Settings are found upwards from the current folder, or named with ``config``, or left out with
    ``use_config=False``. ``options`` are those of the command line with ``_`` for ``-``: ``outcomes``,
    ``threshold``, ``infra``, ``map``, ``group_by`` … (``format`` for ``--from``). What cannot be used is listed
    in ``warnings`` of the result. Raises ``TrajdiffError`` where nothing can be read, ``TypeError`` for an
    unknown option.
    """
    settings = load_settings(config, use_config=use_config, start=Path.cwd())
    ours = {name: options.pop(name) for name in _SETTINGS if name in options}
    if "outcomes" in ours:
        ours["outcomes"] = tuple(_paths(ours["outcomes"]))
    settings = override(settings, origin="load()", **ours)
    if isinstance(options.get("group_by"), list):
        options["group_by"] = tuple(options["group_by"])
    paths = _paths(traces)
    if not paths and not settings.traces:
        paths = list(manifest_traces(settings.outcomes))
    if not paths:
        paths, _ = default_traces(settings, Path.cwd())
    reading = ReadOptions(
        maps=settings.map,
        maps_origin=settings.origins.get("map", "settings"),
        outcomes=settings.outcomes,
        threshold=settings.threshold,
        expected_trials=settings.expected_trials,
        **options,
    )
    return Runs(corpus=read(paths, reading), settings=settings, paths=tuple(paths))


def _paths(given: Paths) -> list[str]:
    return [os.fspath(given)] if isinstance(given, str | os.PathLike) else [os.fspath(one) for one in given]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Recorded trials of some tasks. ``corpus`` holds them as they were read."""

    corpus: Corpus
    settings: Settings
    paths: tuple[str, ...]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What a reader of the input must be told, as the command line does."""
        return self.corpus.diagnostics

    def report(
        self,
        tasks: Sequence[str] | None = None,
        *,
        seed: int = 0,
        reviews: bool = True,
        today: date | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> RunsReport:
        """Analyses all tasks, or those named: pass^k, and where outcomes separate.

        Verdicts of reviewers are added unless ``reviews`` is off; accept entries are held against ``today``.
        ``progress(done, total)`` is called after each task. Raises ``UsageError`` for an unknown task.
        """
        from trajdiff.analysis import analyse
        from trajdiff.reliability.card import CardOptions

        known = {task.task_id for task in self.corpus.tasks}
        for task in tasks or ():
            if task not in known:
                raise UsageError(f'no task "{task}"', f"there are {len(known)} tasks")
        analysis = analyse(self.corpus, self.settings, tasks=tasks, progress=progress)
        made = build_report(
            self.corpus,
            analysis,
            self.settings,
            name=self.settings.name,
            card=CardOptions(detailed=True, seed=seed),
        )
        file = reviews_file(self.settings.reviews, self.paths)
        made = judged(
            made,
            self.settings,
            self.corpus.trials,
            read_reviews(file, str(file)) if reviews else (),
            today=today or date.today(),
            whole=tasks is None,
        )
        return RunsReport(data=made, settings=self.settings)

    def __repr__(self) -> str:
        files = ", ".join(self.paths)
        return f"<trajdiff.Runs {len(self.corpus.tasks)} tasks, {len(self.corpus.trials)} trials from {files}>"

    def _repr_html_(self) -> str:
        from trajdiff.render.notebook import runs_html

        return runs_html(self.corpus)


def _typed(values: list[Any]) -> tuple[list[Any], None, Any]:
    """The values of a column, no index, and its type; an unknown value never makes it another type."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return values, None, "boolean"
    if kinds == {int}:
        return values, None, "Int64"
    if kinds and kinds <= {int, float}:
        return values, None, "Float64"
    return values, None, "string" if kinds == {str} else object


@dataclass(frozen=True, kw_only=True)
class RunsReport:
    """What the analysis says, as data frames. ``data`` is the report that all output is made of."""

    data: Report
    settings: Settings

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """One row per task: pass^k and its finding."""
        return self._frame("report")

    @cached_property
    def divergences(self) -> pd.DataFrame:
        """One row per failing or infrastructure trial: its divergence, or why none is claimed."""
        return self._frame("divergences")

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per trial, missing ones included."""
        return self._frame("trials")

    def alignment(self, task_id: str) -> pd.DataFrame:
        """The aligned table of a task: one row per step and trial, gaps included. Raises ``UsageError``."""
        if self.data.task(task_id) is None:
            raise UsageError(f'no task "{task_id}" in the report')
        return self._frame("alignment", Choice(tasks=(task_id,)))

    def write(self, path: str | os.PathLike[str], *, redact: bool = True, content: bool = True) -> None:
        """Writes the report; the suffix names the format (.html .md .json .jsonl .csv .tsv .xlsx .parquet).

        Secrets and personal data are hidden unless ``redact`` is off; without ``content`` only the shape is
        written. Raises ``UsageError`` for an unknown suffix, ``OSError`` where the file cannot be written.
        """
        from trajdiff.files import write_file
        from trajdiff.redaction import Redactor
        from trajdiff.render.registry import by_suffix

        renderer = by_suffix("report", os.fspath(path))
        made = self.data
        if not content:
            from trajdiff.shape import without_content

            made = without_content(made)
        if redact:
            redactor = Redactor(self.settings.redact)
            made = redactor.apply(made)
            made = replace(made, redacted=tuple(sorted(redactor.counts.items())))
        write_file(path, renderer.render(made, View(k=self.settings.k)))

    def _frame(self, name: str, choice: Choice | None = None) -> pd.DataFrame:
        import pandas as pd

        from trajdiff.render.tables import TABLES, columns_of

        rows = TABLES[name].rows(self.data, choice or Choice())
        columns = columns_of(name, self.data)
        return pd.DataFrame(
            {column: pd.Series(*_typed([row.get(column) for row in rows])) for column in columns},
            columns=list(columns),
        )

    def __repr__(self) -> str:
        return f"<trajdiff.RunsReport {len(self.data.tasks)} tasks, {len(self.divergences)} failing trials>"

    def _repr_html_(self) -> str:
        from trajdiff.render.notebook import report_html

        return report_html(self.data)
