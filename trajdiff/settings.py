"""Settings of a project: ``trajdiff.toml`` or ``[tool.trajdiff]`` in ``pyproject.toml``.

``load_settings`` finds and checks them, ``override`` puts options above them, ``explain`` says where each
value came from, ``default_traces`` what to read where a command was given no TRACES.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from trajdiff.errors import UsageError
from trajdiff.files import read_file
from trajdiff.frozen import field_names, replace
from trajdiff.model import Effect
from trajdiff.settings_check import check, key_path, quote
from trajdiff.settings_rules import AcceptRule, RedactRules, accept_parts, accept_rule, redact_rules, undated

OWN_FILE = "trajdiff.toml"
PROJECT_FILE = "pyproject.toml"

#: Directories tried, in this order, where neither the command nor the settings name TRACES.
TRACE_FOLDERS = ("traces", "sample_traces")


class StepLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A semantic step: calls whose tool and arguments match these glob patterns carry ``label``.

    ``arguments`` maps an argument path (``item.id``) to a glob pattern for its value.
    """

    label: str
    tool: str
    arguments: Mapping[str, str] = msgspec.field(default_factory=dict)


class IgnoreRules(msgspec.Struct, frozen=True, kw_only=True):
    """What never counts as a difference: glob patterns for ``tool.path`` of arguments, results; and tools."""

    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class GateRule(msgspec.Struct, frozen=True, kw_only=True):
    """A hard gate: what no trial may do, whatever its verdict.

    ``tool`` is a glob of tool names whose calls break it, with ``arguments`` (path to glob) only those calls,
    with ``unless`` not those, with ``needs`` (a glob of tool names) only calls without an earlier successful
    one of these. ``score`` names a recorded sub-score that must be met instead.
    """

    name: str
    tool: str | None = None
    needs: str | None = None
    arguments: Mapping[str, str] = msgspec.field(default_factory=dict)
    unless: Mapping[str, str] = msgspec.field(default_factory=dict)
    score: str | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings in effect. ``origin`` is the file they came from, None for defaults.

    ``tools`` maps glob patterns of tool names to an effect; the first match wins. ``traces`` are relative to
    the directory the settings were loaded for, and so are ``outcomes``. ``map`` holds the mappings as they are
    written; the reader checks them. ``origins`` says for each key that is not a default where its
    value came from: the settings file, or what ``override`` was told.
    """

    origin: str | None = None
    traces: tuple[str, ...] = ()
    name: str | None = None
    k: tuple[int, ...] = ()
    expected_trials: int | None = None
    threshold: float | None = None
    outcomes: tuple[str, ...] = ()
    infra: str = "fail"
    unscored: str = "exclude"
    tools: Mapping[str, Effect] = msgspec.field(default_factory=dict)
    steps: tuple[StepLabel, ...] = ()
    ignore: IgnoreRules = msgspec.field(default_factory=IgnoreRules)
    gate: tuple[GateRule, ...] = ()
    accept: tuple[AcceptRule, ...] = ()
    redact: RedactRules = msgspec.field(default_factory=RedactRules)
    reviews: str | None = None
    map: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    origins: Mapping[str, str] = msgspec.field(default_factory=dict)


def load_settings(config: str | None = None, *, use_config: bool = True, start: Path) -> Settings:
    """The settings in effect for the directory ``start``.

    ``config`` names a settings file; without it, the nearest directory from ``start`` upwards that holds
    ``trajdiff.toml`` or a ``pyproject.toml`` with ``[tool.trajdiff]`` gives them (the former wins). With
    ``use_config=False``, or where nothing is found, all settings have their defaults. Raises ``UsageError``
    for a file that cannot be read, bad TOML, unknown keys and wrong types.
    """
    start = Path(os.path.normpath(start.absolute()))
    if not use_config:
        if config is not None:
            raise UsageError("--config and --no-config exclude each other")
        return Settings()
    found = _given(start / config, config) if config is not None else _find(start)
    if found is None:
        return Settings()
    file, document = found
    origin = _from(start, file)
    where = f"{origin}: [tool.trajdiff]" if file.name == PROJECT_FILE else origin
    document = undated(document)
    check(document, where=where)
    return _settings(document, origin, file.parent, start)


def override(settings: Settings, *, origin: str, **values: Any) -> Settings:
    """Settings with the values that are not None put above, for instance from options.

    ``origin`` (``--infra``, ``TRAJDIFF_REPORT_INFRA``) is what ``explain`` shows for them. Raises ``TypeError``
    for a name that is no setting.
    """
    given = {key: value for key, value in values.items() if value is not None}
    origins = {**settings.origins, **dict.fromkeys(given, origin)}
    return replace(settings, origins=origins, **given)


def explain(settings: Settings) -> tuple[tuple[str, str, str], ...]:
    """Every setting in effect as (key, value, origin), in the order of the settings; for people.

    Tables give one row per entry (``tools.refund_item``). The origin of a value nobody set is ``default``.
    """
    rows: list[tuple[str, str, str]] = []
    for key in (f for f in field_names(Settings) if f not in ("origin", "origins")):
        origin = settings.origins.get(key, "default")
        rows.extend((key_path(path), text, origin) for path, text in _entries(key, getattr(settings, key)))
    return tuple(rows)


def default_traces(settings: Settings, start: Path) -> tuple[list[str], str]:
    """What to read where a command was given no TRACES, and the words that say why.

    The paths are relative to ``start``. Raises ``UsageError`` where there is nothing to fall back on.
    """
    if settings.traces:
        source = settings.origins.get("traces", "settings")
        return list(settings.traces), f"no TRACES given; traces in {source}"
    passed_over = [f"no traces in {settings.origin}" if settings.origin else "no configuration"]
    for folder in TRACE_FOLDERS:
        if (start / folder).is_dir():
            return [folder], f"no TRACES given; {', '.join(passed_over)}"
        passed_over.append(f"no ./{folder}")
    raise UsageError(
        "no TRACES given and none found",
        f"looked at: traces in {OWN_FILE} or [tool.trajdiff], ./traces, ./sample_traces",
        "give a path, or try: trajdiff demo",
    )


def _find(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """The nearest settings file from ``start`` upwards, with its table."""
    for folder in (start, *start.parents):
        own = folder / OWN_FILE
        if own.is_file():
            return own, _read(own, _from(start, own))
        project = folder / PROJECT_FILE
        if project.is_file():
            table = _project_table(project, _from(start, project))
            if table is not None:
                return project, table
    return None


def _given(file: Path, shown: str) -> tuple[Path, dict[str, Any]]:
    """The settings file the user named, with its table."""
    if file.name != PROJECT_FILE:
        return file, _read(file, shown)
    table = _project_table(file, shown)
    if table is None:
        raise UsageError(f"{shown}: no [tool.trajdiff] in it")
    return file, table


def _project_table(file: Path, shown: str) -> dict[str, Any] | None:
    """``[tool.trajdiff]`` of a ``pyproject.toml``, None where it has none.

    A file that does not even hold the name is not parsed: it may belong to another project, be broken, and
    be no business of ours.
    """
    if b"trajdiff" not in _bytes(file, shown):
        return None
    tool = _read(file, shown).get("tool")
    table = tool.get("trajdiff") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise UsageError(f"{shown}: tool.trajdiff must be a table", f"at tool.trajdiff (found {quote(table)})")


def _bytes(file: Path, shown: str) -> bytes:
    try:
        return read_file(file)
    except OSError as error:
        raise UsageError(f"{shown}: settings cannot be read ({error.strerror or error})") from error


def _read(file: Path, shown: str) -> dict[str, Any]:
    """A TOML file as a dict; a byte order mark is tolerated."""
    import tomllib

    data = _bytes(file, shown)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise UsageError(f"{shown}: not UTF-8 text", f"at line {line}, column {column}") from error
    except RecursionError as error:
        raise UsageError(f"{shown}: not valid TOML: nested too deeply") from error
    except ValueError as error:
        what, _, place = str(error).removesuffix(")").partition(" (at ")
        details = (f"at {place}",) if place else ()
        raise UsageError(f"{shown}: not valid TOML: {what[:1].lower()}{what[1:]}", *details) from error


def _settings(document: Mapping[str, Any], origin: str, folder: Path, start: Path) -> Settings:
    """Settings from a checked table of a file in ``folder``."""
    values = dict(document)
    if "traces" in values:
        values["traces"] = tuple(_pattern(pattern, folder, start) for pattern in values["traces"])
    if "outcomes" in values:
        files = values["outcomes"]
        named = [files] if isinstance(files, str) else files
        values["outcomes"] = tuple(_pattern(one, folder, start) for one in named)
    if "k" in values:
        values["k"] = tuple(values["k"])
    if "threshold" in values:
        values["threshold"] = float(values["threshold"])
    if "tools" in values:
        values["tools"] = {name: Effect(effect) for name, effect in values["tools"].items()}
    if "steps" in values:
        values["steps"] = tuple(_step(label, rule) for label, rule in values["steps"].items())
    if "ignore" in values:
        values["ignore"] = IgnoreRules(**{key: tuple(rules) for key, rules in values["ignore"].items()})
    if "accept" in values:
        values["accept"] = tuple(accept_rule(entry, at, origin) for at, entry in enumerate(values["accept"], 1))
    if "redact" in values:
        values["redact"] = redact_rules(values["redact"], origin)
    if "reviews" in values:
        values["reviews"] = _pattern(values["reviews"], folder, start)
    if "gate" in values:
        values["gate"] = tuple(_gate(rule, origin) for rule in values["gate"])
    return Settings(origin=origin, origins=dict.fromkeys(values, origin), **values)


def _gate(rule: Mapping[str, Any], origin: str) -> GateRule:
    """A gate from its table. Raises ``UsageError`` unless it is about a tool or about a sub-score."""
    if ("tool" in rule) == ("score" in rule):
        raise UsageError(
            f"{origin}: gate {quote(rule['name'])} needs either a tool or a score",
            "tool: a call that no trial may make; score: a sub-score that every trial must meet",
        )
    extra = [key for key in ("needs", "arguments", "unless") if key in rule and "score" in rule]
    if extra:
        raise UsageError(f"{origin}: gate {quote(rule['name'])} is about a score: {extra[0]} goes with a tool")
    return GateRule(**rule)


def _step(label: str, rule: str | Mapping[str, Any]) -> StepLabel:
    if isinstance(rule, str):
        return StepLabel(label=label, tool=rule)
    return StepLabel(label=label, tool=rule["tool"], arguments=dict(rule.get("arguments", {})))


def _pattern(pattern: str, folder: Path, start: Path) -> str:
    """A path or glob of a file in ``folder``, as it must be written in ``start``."""
    if pattern == "-" or Path(pattern).is_absolute():
        return pattern
    base, here = str(folder), str(start)
    if glob.has_magic(pattern):  # then brackets in the names of directories must not count as magic
        base, here = glob.escape(base), glob.escape(here)
    return _relative(str(Path(base, pattern)), here)


def _from(start: Path, file: Path) -> str:
    return _relative(str(file), str(start))


def _relative(path: str, start: str) -> str:
    """``path`` as seen from ``start``, with ``/``; as it is where no relative way leads there."""
    try:
        return Path(os.path.relpath(path, start)).as_posix()
    except ValueError:  # on another drive
        return Path(path).as_posix()


def _entries(key: str, value: Any) -> list[tuple[tuple[str, ...], str]]:
    """The rows of one setting: key path and value as text."""
    match value:
        case None:
            return [((key,), "not set")]
        case IgnoreRules():
            return [((key, f), _text(list(getattr(value, f)))) for f in field_names(IgnoreRules)]
        case RedactRules():
            shown = {f: getattr(value, f) for f in field_names(RedactRules)}
            return [((key, name), _text(list(v) if isinstance(v, tuple) else v)) for name, v in shown.items()]
        case (AcceptRule(), *_):
            return [((key, str(at)), _text(accept_parts(rule))) for at, rule in enumerate(value, 1)]
        case Mapping() if value:
            return [((key, name), _text(effect)) for name, effect in value.items()]
        case (GateRule(), *_):
            return [((key, rule.name), _gate_text(rule)) for rule in value]
        case (StepLabel(), *_):
            return [((key, step.label), _step_text(step)) for step in value]
        case Mapping():
            return [((key,), "{}")]
        case tuple():
            return [((key,), _text(list(value)))]
        case _:
            return [((key,), _text(value))]


def _step_text(step: StepLabel) -> str:
    return _text({"tool": step.tool, "arguments": dict(step.arguments)} if step.arguments else step.tool)


def _gate_text(rule: GateRule) -> str:
    parts = {f: getattr(rule, f) for f in field_names(GateRule) if f != "name"}
    return _text(
        {key: dict(part) if isinstance(part, Mapping) else part for key, part in parts.items() if part}
    )


def _text(value: Any) -> str:
    return quote(value, limit=None)
