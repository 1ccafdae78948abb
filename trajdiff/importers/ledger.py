"""The side files of one call of ``load``: puts manifest entries to trials, and tells what is left.

A manifest entry belongs to a file and is applied when the file was read; an outcome row belongs to a task and a
trial and is joined when all trials have their numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from trajdiff.files import real_path
from trajdiff.frozen import replace
from trajdiff.importers.manifest import ManifestEntry, entries_of
from trajdiff.importers.outcome_rows import Row, read_rows
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Imported, Plan
from trajdiff.importers.row_fields import (
    BadRowError,
    expected_of,
    names_of_row,
    number_of,
    with_row,
    with_row_task,
)
from trajdiff.importers.steps import StepBuilder
from trajdiff.model import Diagnostic, Judgement, Severity, SourceRef, Task, Termination, Trial, Verdict
from trajdiff.natural import natural_key

_SHOWN = 8
#: What a reader says about a trial without names or outcome; settled where a row gave them.
SETTLED = frozenset({"bare_trace", "no_outcome", "odd_reward"})
_UNSCORED = Judgement(state=Verdict.UNSCORED, rule="no outcome recorded")


class Ledger(Struct, kw_only=True):
    """All rows, and which of them found their trial so far."""

    rows: tuple[Row, ...]
    entries: tuple[ManifestEntry, ...]
    files: tuple[str, ...]
    threshold: float | None
    notes: list[Diagnostic] = field(default_factory=list)
    judged_files: set[str] = field(default_factory=set)
    _matched: set[int] = field(default_factory=set)
    _without_entry: list[str] = field(default_factory=list)

    def say(self, severity: Severity, slug: str, message: str, *details: str, path: str | None = None) -> None:
        """Keep a diagnostic about a side file, or about ``path``."""
        where = path if path is not None else self.files[0]
        self.notes.append(
            Diagnostic(severity=severity, slug=slug, message=message, path=where, details=details)
        )

    def rows_of(self, path: str) -> list[Row]:
        """The manifest rows of a file: those that name it, else the first pattern that fits."""
        real = real_path(path).replace(os.sep, "/")
        found: list[Row] = []
        for number, entry in enumerate(self.entries):
            row = entry.match(real)
            if row is None or (found and entry.single is None):
                continue
            self._matched.add(number)
            found.append(row)
            if entry.single is None:
                break
        return found

    def forced_format(self, path: str) -> str | None:
        """The format that the manifest gives for a file."""
        return next((row.text("format") for row in self.rows_of(path) if row.text("format")), None)

    def apply(self, path: str, imported: Imported) -> Imported:
        """The content of a file with its manifest rows applied."""
        rows = self.rows_of(path)
        if any(row.judged for row in rows):
            self.judged_files.add(path)
        if not rows:
            if self.entries and path != "-":
                self._without_entry.append(path)
            return imported
        if len(rows) == 1:
            return self._apply_one(path, imported, rows[0])
        trials = list(imported.trials)
        for row in rows:
            task, trial = names_of_row(row)
            fits = [
                number
                for number, one in enumerate(trials)
                if task in (None, one.task_id) and trial in (None, one.trial_id, one.producer_id)
            ]
            if len(fits) != 1:
                what = "no trial" if not fits else f"{len(fits)} trials"
                self.say(
                    Severity.WARNING,
                    "unmatched_row",
                    f"an entry fits {what} of {path}",
                    row.shown,
                    path=row.file,
                )
                continue
            trials[fits[0]] = self.with_row(trials[fits[0]], row)
        return _settled(replace(imported, trials=tuple(trials)))

    def _apply_one(self, path: str, imported: Imported, row: Row) -> Imported:
        task, trial = names_of_row(row)
        single = len(imported.trials) == 1
        if not single and imported.trials and (trial is not None or row.judged):
            self.say(
                Severity.WARNING,
                "entry_for_one_trial",
                f"{path} holds {len(imported.trials)} trials, its entry is about one",
                row.shown,
                "trial and verdict of the entry are not used",
                path=row.file,
            )
            row = replace(row, columns={k: v for k, v in row.columns.items() if k not in ("verdict", "reward")})
            trial = None
        renamed: dict[tuple[str | None, str], Task] = {}
        trials = []
        for one in imported.trials:
            made = self.with_row(one, row)
            if task is not None:
                made = replace(made, task_id=task)
            if trial is not None:
                made = replace(made, trial_id=trial, ordinal=number_of(trial))
            trials.append(made)
            renamed[one.suite, one.task_id] = Task(task_id=made.task_id, suite=made.suite)
        plans = [_renamed(plan, renamed, row) for plan in imported.plans]
        if not plans:
            plans = [
                Plan(task=with_row_task(one, row), expected_n=expected_of(row), whole_task=True)
                for one in renamed.values()
            ]
        changed = replace(imported, trials=tuple(trials), plans=tuple(plans))
        return _settled(changed, names=trials[0] if single else None, named=task is not None)

    def with_row(self, trial: Trial, row: Row) -> Trial:
        """The trial with a row put over it; a row that cannot be read is told and not used."""
        try:
            return with_row(trial, row, self.threshold)
        except BadRowError as error:
            self.say(Severity.ERROR, "bad_row", str(error), row.shown, "the row is not used", path=row.file)
            return trial

    def trial_of_unreadable(self, path: str, *, empty: bool) -> Imported | None:
        """The trial of an unreadable file, where a row says which it is: without steps, with its verdict.

        An ``empty`` file is also looked up by the names in its path.
        """
        rows = [row for row in self.rows_of(path) if None not in names_of_row(row)]
        if len(rows) == 1:
            return self._outcome_only(path, rows[0])
        names = names_of(path)
        if empty and not rows and names.trial_id:
            known = [row for row in self.outcome_rows() if names_of_row(row) == (names.task_id, names.trial_id)]
            if len(known) == 1:
                return self._outcome_only(path, known[0])
        return None

    def _outcome_only(self, path: str, row: Row) -> Imported:
        task, trial_id = (name or "" for name in names_of_row(row))
        steps = StepBuilder(path=path, pointer="$").finish(Termination(), messages=0, at="")
        bare = Trial(
            task_id=task,
            trial_id=trial_id,
            ordinal=number_of(trial_id),
            steps=steps,
            judgement=_UNSCORED,
            source=SourceRef(path=path, pointer="$"),
        )
        trial = self.with_row(bare, row)
        note = Diagnostic(
            severity=Severity.WARNING,
            slug="no_trace",
            message=f'trial {trial_id} of task "{task}" has an outcome and no readable trace',
            path=path,
            details=("it counts in pass^k and is not compared", row.shown),
            task_id=task,
            trial_id=trial_id,
        )
        plan = Plan(task=with_row_task(Task(task_id=task), row), expected_n=expected_of(row), whole_task=True)
        return Imported(trials=(trial,), plans=(plan,), diagnostics=(note,))

    def absent_files(self, read: Iterable[str]) -> list[tuple[str, Imported]]:
        """Trials of entries whose file does not exist and that give a verdict; the others are told."""
        there = {real_path(path) for path in read}
        found: list[tuple[str, Imported]] = []
        left: list[Row] = []
        for number, entry in enumerate(self.entries):
            if number in self._matched or (entry.single is not None and entry.single in there):
                continue
            row = entry.row
            gone = entry.single is not None and not os.path.exists(entry.single)  # noqa: PTH110
            if gone and row.judged and None not in names_of_row(row):
                found.append((_beside(row), self._outcome_only(_beside(row), row)))
            else:
                left.append(row)
        self._tell_left(left)
        return found

    def _tell_left(self, left: Sequence[Row]) -> None:
        if left:
            count = f"{len(left)} manifest {'entry has' if len(left) == 1 else 'entries have'}"
            self.say(
                Severity.WARNING, "entry_without_file", f"{count} no file among those read", *_listed(left)
            )
        if self._without_entry:
            names = sorted(self._without_entry, key=natural_key)
            count = f"{len(names)} {'file has' if len(names) == 1 else 'files have'}"
            self.say(
                Severity.WARNING,
                "file_without_entry",
                f"{count} no entry in the manifest",
                *names[:_SHOWN],
                *([f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []),
                "read with what they record themselves",
            )

    def outcome_rows(self) -> list[Row]:
        """The rows that name a task and no path."""
        return [row for row in self.rows if row.text("path") is None]


def read_ledger(paths: Sequence[str], threshold: float | None) -> Ledger | None:
    """The ledger of these files; None where there are none. Raises ``InputError`` for a file that is wrong."""
    if not paths:
        return None
    rows = read_rows(paths)
    files = tuple(dict.fromkeys((*paths, *(row.file for row in rows))))
    return Ledger(rows=rows, entries=entries_of(rows), files=files, threshold=threshold)


def _beside(row: Row) -> str:
    """The path of a row as the user would write it."""
    folder = row.file.rpartition("/")[0]
    written = row.text("path") or ""
    return f"{folder}/{written}" if folder and not os.path.isabs(written) else written  # noqa: PTH117


def _listed(rows: Sequence[Row]) -> list[str]:
    more = [f"and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return [*(row.shown for row in rows[:_SHOWN]), *more]


def _renamed(plan: Plan, renamed: Mapping[tuple[str | None, str], Task], row: Row) -> Plan:
    to = renamed.get((plan.task.suite, plan.task.task_id))
    task = plan.task if to is None else replace(plan.task, task_id=to.task_id, suite=to.suite)
    expected = expected_of(row)
    if expected is None:
        return replace(plan, task=with_row_task(task, row))
    return replace(plan, task=with_row_task(task, row), expected_n=expected, whole_task=True)


def _settled(imported: Imported, *, names: Trial | None = None, named: bool = False) -> Imported:
    """Without what was said about missing names and outcomes that are there now."""
    judged = all(trial.verdict is not Verdict.UNSCORED for trial in imported.trials)
    kept = [
        one
        for one in imported.diagnostics
        if not (one.slug in SETTLED and (judged or (named and one.slug == "bare_trace")))
    ]
    if names is not None:
        kept = [
            replace(one, task_id=names.task_id, trial_id=names.trial_id or None) if one.task_id else one
            for one in kept
        ]
    return replace(imported, diagnostics=tuple(kept))


def settled_after_join(diagnostics: Iterable[Diagnostic], trials: Iterable[Trial]) -> list[Diagnostic]:
    """The diagnostics without those about outcomes that a row supplied in the meantime."""
    by_path: dict[str, list[Trial]] = {}
    for trial in trials:
        by_path.setdefault(trial.source.path, []).append(trial)

    def open_still(one: Diagnostic) -> bool:
        if one.slug not in SETTLED:
            return True
        about = by_path.get(one.path or "", [])
        if one.trial_id is not None and one.task_id is not None:
            named = [trial for trial in about if (trial.task_id, trial.trial_id) == (one.task_id, one.trial_id)]
            about = named or about
        return not about or any(trial.verdict is Verdict.UNSCORED for trial in about)

    return [one for one in diagnostics if open_still(one)]
