"""Drafts a mapping for an unknown JSON layout by the names of its keys: a start to edit and to check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from trajdiff.importers.document import Document
from trajdiff.importers.draft_guesses import GUESS, SUCCESS, contents_of, outcome_guess, task_guess, trial_guess
from trajdiff.importers.draft_shape import Layout, layout_of
from trajdiff.importers.draft_steps import steps_draft
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.protocol import Shape
from trajdiff.importers.termination_words import reason_of
from trajdiff.importers.toml_text import can_be_key, comment, path_text, toml

# fmt: off
#: Names of keys for each field, the likeliest first.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task_id", "case_id", "instance_id", "sample_id", "problem_id", "question_id", "example_id",
             "task", "case", "id", "name"),
    "trial": ("trial", "trial_id", "attempt", "attempt_no", "attempt_id", "run", "run_no", "run_id", "repeat",
              "repetition", "epoch", "iteration", "rollout", "no", "number", "index"),
    "outcome": ("verdict", "passed", "pass", "ok", "correct", "is_correct", "resolved", "solved", "reward",
                "score", "outcome", "grade"),
    "stop": ("termination_reason", "termination", "stop_reason", "finish_reason", "exit_status", "exit_reason",
             "finish", "stop", "end_reason", "status"),
    "model": ("model", "model_name", "model_id"),
    "expected_trials": ("expected_trials", "num_trials", "n_trials", "n_runs", "num_runs", "planned_trials",
                        "planned_attempts", "planned_runs", "repeats", "epochs"),
    "error": ("error", "exception"),
    "seed": ("seed",),
    "started_at": ("started_at", "start_time", "started"),
    "ended_at": ("ended_at", "end_time", "finished_at"),
    "duration_s": ("duration_s", "duration", "wall_s", "elapsed_s", "seconds"),
    "cost_usd": ("cost_usd", "usd", "cost", "total_cost"),
}
# fmt: on
_VALUES = 12
_LONGEST_NAME = 24


def draft_mapping(document: Document) -> str:
    """A draft of ``[map.NAME]`` as TOML, with comments where a guess must be checked."""
    root = _root(document)
    layout = layout_of(root, lines=document.shape is Shape.LINES)
    name, file = _name(document.path), comment(quote(document.path))
    lines = [
        "# A draft, made from the names of the keys. Look at every line, then:",
        f"#   trajdiff map check {file}",
        f"#   trajdiff report {file} --map {name}",
        "",
        f"[map.{name}]",
    ]
    trajectories = trajectories_of(layout)
    if trajectories is not None:
        lines.append(f"trajectories = {toml(trajectories)}")
    lines += _fields(layout)
    stop = _found(layout, "stop")
    if stop is not None:
        lines += ["", *_stop(name, *stop)]
    lines += ["", *steps_draft(name, layout)]
    lines += ["", "# What lies in the file, each key with its first value:", *contents_of(layout)]
    return "\n".join(lines) + "\n"


def _root(document: Document) -> Any:
    """The document; of lines and of a list the records that can be read."""
    values = []
    for record in document.records():
        try:
            values.append(record.decode())
        except BadJsonError:
            continue
    return values if document.shape in (Shape.LINES, Shape.ARRAY) else next(iter(values), None)


def _name(path: str) -> str:
    stem = path.rpartition("/")[2].partition(".")[0]
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_-").lower()
    return name if 0 < len(name) <= _LONGEST_NAME else "mine"


def trajectories_of(layout: Layout) -> str | None:
    """The expression that lists the trajectories; None where every record is one."""
    levels = layout.trajectories
    if levels and not levels[0].path:
        levels = levels[1:]
        # The entries of a list at the top are records already, unless trajectories lie inside them.
        if levels and not layout.lines:
            return "[*]." + ".".join(f"{path_text(one.path)}[*]" for one in levels)
    return ".".join(f"{path_text(one.path)}[*]" for one in levels) or None


def _fields(layout: Layout) -> list[str]:
    lines = []
    for key in _NAMES:
        if key == "stop":
            continue
        found = _found(layout, key)
        if found is not None:
            lines.append(f"{key:<8} = {toml(found[0])}{_shown(found[1])}")
        else:
            lines += _guessed(layout, key)
    return lines


def _guessed(layout: Layout, key: str) -> list[str]:
    """What the values say about a field that no name gives."""
    levels = layout.trajectories
    inner = levels[-1].entries if levels else ()
    if key == "task":
        around = levels[-2].entries if len(levels) > 1 else ()
        guess = task_guess(around)
        if guess is not None:
            return [f"task     = {toml(f'$parent.{guess}')}{GUESS}"]
        return ['task     = "task_id"   # no key looks like the id of a task: write where it is']
    if key == "trial":
        guess = trial_guess(inner)
        return [] if guess is None else [f"trial    = {toml(guess)}{GUESS}"]
    if key == "outcome":
        guess = outcome_guess(inner)
        return _without_outcome(layout) if guess is None else [f"outcome  = {toml(guess)}{GUESS}"]
    return []


def _without_outcome(layout: Layout) -> list[str]:
    for name in SUCCESS:
        for prefix, entries in _places(layout):
            if any(name in one for one in entries):
                said = f"# outcome = {toml(prefix + name)}"
                return [f"{said}   # only if it is the verdict: often it means that the run finished"]
    return ["# no key looks like a verdict: write outcome, or give --outcomes FILE"]


def _shown(values: Sequence[Any]) -> str:
    words = list(dict.fromkeys(json.dumps(one, ensure_ascii=False) for one in values if one is not None))
    text = comment(", ".join(word if len(word) < 24 else word[:23] + "…" for word in words[:3]))
    return f"   # {text}{', …' if len(words) > 3 else ''}" if text else ""


def _places(layout: Layout) -> Iterator[tuple[str, Sequence[dict[str, Any]]]]:
    """Where a field of a trajectory may lie: in it, in the record that holds it, in the document."""
    levels = layout.trajectories
    root = layout.root if isinstance(layout.root, dict) else None
    if levels:
        yield "", levels[-1].entries
    if len(levels) > 2:
        yield "$parent.", levels[-2].entries
    if len(levels) > 1:
        yield "$record.", levels[0].entries
    if root is not None:
        yield ("$root." if levels else ""), [root]


def _found(layout: Layout, key: str) -> tuple[str, list[Any]] | None:
    """The expression for a field and its values; the trajectory comes before what is around it."""
    for prefix, entries in _places(layout):
        if key in ("trial", "outcome", "stop", "error") and prefix:
            continue
        for path in _candidates(entries, _NAMES[key]):
            values = [_at(one, path) for one in entries]
            if any(_fits(key, value) for value in values):
                return prefix + path_text(path), values
    return None


def _candidates(entries: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for name in names:
        if any(name in one for one in entries):
            yield (name,)
    inner = list(dict.fromkeys(key for one in entries for key, value in one.items() if isinstance(value, dict)))
    for name in names:
        for key in inner:
            if any(isinstance(one.get(key), dict) and name in one[key] for one in entries):
                yield key, name


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _fits(key: str, value: Any) -> bool:
    if key in ("duration_s", "cost_usd", "seed", "expected_trials"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if key in ("stop", "model", "error", "started_at", "ended_at"):
        return isinstance(value, str)
    if key == "outcome":
        return isinstance(value, bool | int | float | str)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _stop(name: str, path: str, values: Sequence[Any]) -> list[str]:
    words = list(dict.fromkeys(one for one in values if isinstance(one, str) and can_be_key(one)))[:_VALUES]
    pairs = []
    for word in words:
        reason = reason_of(word)
        meaning = reason.value if reason is not None else "unknown"
        pairs.append(f"{toml(word)} = {toml(meaning)}")
    return [
        f"[map.{name}.stop]",
        "# agent_done, user_done, max_steps, time_limit, token_limit, agent_error, infra_error, ...",
        f"path   = {toml(path)}",
        f"values = {{{', '.join(pairs)}}}",
    ]
