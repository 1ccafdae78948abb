"""SWE-bench reports: the verdicts of SWE-agent, mini-swe-agent and OpenHands trajectories.

A report beside the trajectories, or in one of the folders above, is joined by instance id. Resolved is a pass,
unresolved and empty patch are failures, error and infrastructure failure are invalid, incomplete is unscored;
"submitted" decides nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajdiff.importers import jsontext
from trajdiff.importers.bare import NO_OUTCOME, tell_bare
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import id_text
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Claim, Imported, Peek, ReadOptions, Shape, Source
from trajdiff.model import Judgement, Severity, Verdict

_LISTS = (
    ("resolved_ids", Verdict.PASS),
    ("infra_failure_ids", Verdict.INFRA),
    ("error_ids", Verdict.INFRA),
    ("empty_patch_ids", Verdict.FAIL),
    ("unresolved_ids", Verdict.FAIL),
    ("ambiguous_failure_ids", Verdict.FAIL),
    ("incomplete_ids", Verdict.UNSCORED),
)
_MAX_REPORT = 50 << 20
#: How many folders above a trajectory are looked at.
_ABOVE = 3


class _SweReport(Struct, frozen=True):
    name: str = "swe-bench-report"
    title: str = "SWE-bench report or predictions"
    recognised_by: str = "object with resolved_ids; object of reports with resolved; object of model_patch"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """A report of a run or an instance, or the predictions: companions of trajectories."""
        if peek.shape is not Shape.OBJECT or not peek.heads or not peek.heads[0].keys:
            return None
        head = peek.heads[0]
        if head.has("resolved_ids") and head.keys & {"unresolved_ids", "error_ids", "submitted_ids"}:
            return Claim(rule="resolved_ids and unresolved_ids")
        first = as_object(head.get(min(head.keys)))
        if "resolved" in first and "patch_exists" in first:
            return Claim(rule="the report of an instance")
        return (
            Claim(rule="predictions with model_patch")
            if {"instance_id", "model_patch"} <= first.keys()
            else None
        )

    def records(self, document: Document) -> Iterable[Record]:
        """A report holds no trials."""
        return ()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """No trial: the trajectories beside it are joined with it."""
        notices = source.document.notices
        notices.add(Severity.NOTE, "companion", "a companion of trajectories; it holds no steps of its own")
        return Imported(
            trials=(), diagnostics=notices.all(), unread=1, reported=tuple(_instances(source.document))
        )


IMPORTER = _SweReport()


def _instances(document: Document) -> Iterator[str]:
    """The instances that a report judges; a list of predictions judges none."""
    for record in document.records():
        if record.problem is not None:
            continue
        value = as_object(record.decode())
        if "resolved_ids" in value:
            for name, _ in _LISTS:
                yield from (known for one in as_list(value.get(name)) if (known := id_text(one)) is not None)
        else:
            yield from (key for key, one in value.items() if "resolved" in as_object(one))


def joined(path: str, instance: str, notices: Notices, what: str) -> Judgement:
    """The verdict of an instance by the reports near ``path``; unscored where none names it."""
    reports = 0
    for report in _reports_near(path, instance):
        reports += 1
        found = _state(report, instance)
        if found is not None:
            name, state = found
            return Judgement(
                state=state, raw=name, scorer="SWE-bench report", rule=f"listed under {name} in {_name(report)}"
            )
    if not reports:
        tell_bare(notices, what)
        return NO_OUTCOME
    notices.add(
        Severity.WARNING,
        "not_in_report",
        f'no report near it names the instance "{instance}"',
        "it has no outcome",
        task_id=instance,
    )
    return Judgement(state=Verdict.UNSCORED, rule="not in the report")


class _Report(Struct, frozen=True, kw_only=True):
    path: str
    value: Mapping[str, Any]


def _name(report: _Report) -> str:
    return report.path.rpartition("/")[2]


def _state(report: _Report, instance: str) -> tuple[str, Verdict] | None:
    if "resolved_ids" in report.value:
        for name, state in _LISTS:
            if instance in [id_text(one) for one in as_list(report.value.get(name))]:
                return name, state
        return None
    said = as_object(report.value.get(instance))
    if said.get("patch_is_None") is True or said.get("patch_exists") is False:
        return "an empty patch", Verdict.FAIL
    if isinstance(said.get("resolved"), bool):
        return ("resolved", Verdict.PASS) if said["resolved"] else ("unresolved", Verdict.FAIL)
    return None


def _reports_near(path: str, instance: str) -> Iterator[_Report]:
    """Reports in the folder of a file and in those above, the nearest first, by name."""
    folder = path.rpartition("/")[0] if "/" in path else "."
    for _ in range(_ABOVE + 1):
        places = [f"{folder}/{name}" for name in _json_names(folder)]
        places += sorted(
            str(one) for one in Path(folder).glob(f"logs/run_evaluation/*/*/{_plain(instance)}/report.json")
        )
        for place in places:
            value = _report_in(place)
            if value is not None:
                yield _Report(path=place, value=value)
        if folder in (".", "", "/"):
            return
        folder = folder.rpartition("/")[0] or ("/" if folder.startswith("/") else ".")


def _plain(instance: str) -> str:
    """The instance as a part of a glob: nothing in it is a wildcard or a separator."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in instance.replace("/", "_"))


def _json_names(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(".json") and not name.endswith(".traj.json"))


def _report_in(path: str) -> Mapping[str, Any] | None:
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return _read_report(path, about.st_mtime_ns, about.st_size) if about.st_size <= _MAX_REPORT else None


@lru_cache(maxsize=64)
def _read_report(path: str, _changed: int, _size: int) -> Mapping[str, Any] | None:
    """The report in a file; None if it is none. Every trajectory of a run asks for the same few files."""
    try:
        data = Path(path).read_bytes()
        if b'"resolved' not in data:
            return None
        value = jsontext.decode(data)
    except (OSError, BadJsonError):
        return None
    if not isinstance(value, dict):
        return None
    instances = any("resolved" in as_object(one) for one in value.values())
    return value if isinstance(value.get("resolved_ids"), list) or instances else None
