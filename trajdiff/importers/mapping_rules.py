"""A mapping table ``[map.NAME]`` as rules: every key checked, every expression compiled.

Each key takes one expression, or a table whose ``path`` is the expression and that says more about the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.importers.expressions import Expression, compile_expression, is_alternative
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import shortened
from trajdiff.importers.transforms import READERS, Transform, transforms_of
from trajdiff.model import Verdict

# fmt: off
#: Keys that give one value of the record, by the name they have in a mapping.
FIELDS = (
    "task", "trial", "suite", "title", "script", "fingerprint", "expected_trials", "producer_id", "reward",
    "scorer", "model", "agent", "seed", "prompt_version", "tool_version", "env_version", "fixture_version",
    "scorer_version", "error", "started_at", "ended_at", "duration_s", "cost_usd",
)
#: Keys that give an object: one expression for the whole, or a table with an expression for each entry.
OBJECTS = ("usage", "sampling", "sub_scores", "metadata")
_STEP_FIELDS = (
    "id", "name", "arguments", "result", "text", "actor", "error", "model", "started_at", "ended_at",
)
#: What the short form of ``steps`` may build, and which field it means.
SHORT_KEYS = {
    "tool": "name", "name": "name", "arguments": "arguments", "input": "arguments", "result": "result",
    "output": "result", "error": "error", "text": "text", "actor": "actor", "role": "actor", "id": "id",
    "model": "model", "started_at": "started_at", "ended_at": "ended_at",
}
EMITS = ("tool_call", "tool_result", "message", "reasoning", "error", "compaction", "skip")
PAIRINGS = ("id", "order", "none")
_VALUE_KEYS = frozenset(("path", "decode", "prefix", "pattern", "group", "values", "missing"))
_OUTCOME_KEYS = frozenset(("pass", "fail", "infra", "unscored", "threshold"))
_TOP_KEYS = frozenset((*FIELDS, *OBJECTS, "files", "recognise", "trajectories", "outcome", "stop", "steps"))
# fmt: on


class ValueRule(Struct, frozen=True, kw_only=True):
    """How one value is found: expression, transforms, translation, and what stands for a missing one."""

    key: str
    expression: Expression
    decode: tuple[Transform, ...] = ()
    values: Mapping[str, Any] | None = None
    missing: Any = None


class OutcomeRule(Struct, frozen=True, kw_only=True):
    """How the outcome is found, and which values mean which verdict; None where the usual rules hold."""

    value: ValueRule
    states: tuple[tuple[Verdict, tuple[Any, ...]], ...] = ()
    missing: Verdict | None = None
    threshold: float | None = None


class StepRule(Struct, frozen=True, kw_only=True):
    """What one kind of entry becomes: ``condition`` is None for every entry."""

    condition: Expression | None
    emit: str
    values: Mapping[str, ValueRule] = field(default_factory=dict)


class StepsRule(Struct, frozen=True, kw_only=True):
    """Where the entries of a trajectory are and what they become.

    ``reader`` names a built-in reader of messages; ``rules`` are the long form; with neither an entry has the
    keys of ``SHORT_KEYS``.
    """

    expression: Expression
    decode: tuple[Transform, ...] = ()
    reader: str | None = None
    pairing: str = "id"
    rules: tuple[StepRule, ...] = ()


class MappingRules(Struct, frozen=True, kw_only=True):
    """A whole mapping. ``recognise`` are keys by which a file is known without being asked for."""

    name: str
    files: str | None = None
    recognise: tuple[str, ...] = ()
    trajectories: Expression | None = None
    fields: Mapping[str, ValueRule] = field(default_factory=dict)
    objects: Mapping[str, ValueRule | Mapping[str, ValueRule]] = field(default_factory=dict)
    outcome: OutcomeRule | None = None
    stop: ValueRule | None = None
    steps: StepsRule | None = None


def compile_mapping(name: str, table: Mapping[str, Any], origin: str) -> MappingRules:
    """The rules of ``[map.NAME]``; ``origin`` is the settings file. Raises ``UsageError`` for what is wrong."""
    where = f"{origin}: map.{name}"
    _known(table, _TOP_KEYS, where)
    if "task" not in table:
        raise UsageError(f"{where} has no task", 'task = "case_id" says which task a trajectory is about')
    trajectories = table.get("trajectories")
    return MappingRules(
        name=name,
        files=_text(table, "files", where),
        recognise=tuple(_texts(table.get("recognise", ()), f"{where}.recognise")),
        trajectories=None if trajectories is None else _expression(trajectories, f"{where}.trajectories"),
        fields={key: _value(table[key], f"{where}.{key}", key) for key in FIELDS if key in table},
        objects={key: _object(table[key], f"{where}.{key}", key) for key in OBJECTS if key in table},
        outcome=_outcome(table["outcome"], f"{where}.outcome") if "outcome" in table else None,
        stop=_value(table["stop"], f"{where}.stop", "stop") if "stop" in table else None,
        steps=_steps(table["steps"], f"{where}.steps") if "steps" in table else None,
    )


def _known(table: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    for key in table:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, sorted(known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(known))}"
            raise UsageError(f'{where}: unknown key "{shortened(key, 40)}"', hint)


def _expression(value: Any, where: str) -> Expression:
    if not isinstance(value, str) or not value.strip():
        found = shortened(repr(value), 40)
        raise UsageError(f"{where} must be an expression (found {found})", 'for instance "grade.ok"')
    return compile_expression(value, where)


def _text(table: Mapping[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value):
        raise UsageError(f"{where}.{key} must be a text (found {shortened(repr(value), 40)})")
    return value


def _texts(value: Any, where: str) -> Sequence[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one for one in value):
        raise UsageError(f"{where} must be a list of texts (found {shortened(repr(value), 40)})")
    return value


def _value(said: Any, where: str, key: str, more: frozenset[str] = frozenset()) -> ValueRule:
    if not isinstance(said, dict):
        return ValueRule(key=key, expression=_expression(said, where))
    _known(said, _VALUE_KEYS | more, where)
    if "path" not in said:
        raise UsageError(f"{where} has no path", 'path = "grade.ok" says where the value is')
    values = said.get("values")
    if values is not None and not isinstance(values, dict):
        raise UsageError(f"{where}.values must be a table (found {shortened(repr(values), 40)})")
    decode = transforms_of(said, where)
    if any(one.name in READERS for one in decode):
        raise UsageError(f"{where}: {decode[-1].name} reads messages; it belongs to steps")
    return ValueRule(
        key=key,
        expression=_expression(said["path"], f"{where}.path"),
        decode=decode,
        values=values,
        missing=said.get("missing"),
    )


def _object(said: Any, where: str, key: str) -> ValueRule | Mapping[str, ValueRule]:
    if not isinstance(said, dict) or "path" in said:
        return _value(said, where, key)
    return {name: _value(one, f"{where}.{name}", f"{key}.{name}") for name, one in said.items()}


def _outcome(said: Any, where: str) -> OutcomeRule:
    # What stands for a missing outcome is a verdict, not a value to be judged.
    value = replace(_value(said, where, "outcome", _OUTCOME_KEYS), missing=None)
    if is_alternative(value.expression):
        raise UsageError(
            f"{where}: || cannot choose a verdict, since false counts as missing for it",
            "use one path, or reward for a number",
        )
    if not isinstance(said, dict):
        return OutcomeRule(value=value)
    states: list[tuple[Verdict, tuple[Any, ...]]] = []
    for state in Verdict:
        if state.value in said:
            listed = said[state.value]
            states.append((state, tuple(listed) if isinstance(listed, list) else (listed,)))
    missing, threshold = said.get("missing"), said.get("threshold")
    if missing is not None and missing not in tuple(Verdict):
        known = ", ".join(Verdict)
        raise UsageError(f"{where}.missing must be one of {known} (found {shortened(repr(missing), 40)})")
    if threshold is not None and plain_number(threshold) is None:
        raise UsageError(f"{where}.threshold must be a number (found {shortened(repr(threshold), 40)})")
    return OutcomeRule(
        value=value,
        states=tuple(states),
        missing=None if missing is None else Verdict(missing),
        threshold=plain_number(threshold),
    )


def _steps(said: Any, where: str) -> StepsRule:
    if not isinstance(said, dict):
        expression = _expression(said, where)
        _known(dict.fromkeys(expression.keys() or ()), frozenset(SHORT_KEYS), where)
        return StepsRule(expression=expression)
    _known(said, frozenset(("path", "decode", "prefix", "pattern", "group", "pairing", "when")), where)
    if "path" not in said:
        raise UsageError(f"{where} has no path", 'path = "log[*]" says where the entries are')
    pairing = said.get("pairing", "id")
    if pairing not in PAIRINGS:
        raise UsageError(f"{where}.pairing must be one of {', '.join(PAIRINGS)} (found {pairing!r})")
    decode = transforms_of(said, where)
    readers = [one.name for one in decode if one.name in READERS]
    when = said.get("when", [])
    if not isinstance(when, list) or not all(isinstance(one, dict) for one in when):
        raise UsageError(f"{where}.when must be tables: [[{where.rpartition(': ')[2]}.when]]")
    if readers and (when or decode[-1].name != readers[0] or len(readers) > 1):
        raise UsageError(f"{where}: {readers[0]} reads the messages itself; it comes last and without when")
    expression = _expression(said["path"], f"{where}.path")
    if not readers and not when:
        _known(dict.fromkeys(expression.keys() or ()), frozenset(SHORT_KEYS), where)
    return StepsRule(
        expression=expression,
        decode=tuple(one for one in decode if one.name not in READERS),
        reader=readers[0] if readers else None,
        pairing=pairing,
        rules=tuple(_step(one, f"{where}.when[{number}]") for number, one in enumerate(when)),
    )


def _step(said: Mapping[str, Any], where: str) -> StepRule:
    _known(said, frozenset(("if", "emit", *_STEP_FIELDS)), where)
    emit = said.get("emit")
    if emit not in EMITS:
        raise UsageError(f"{where}.emit must be one of {', '.join(EMITS)} (found {emit!r})")
    if emit == "tool_call" and "name" not in said:
        raise UsageError(f"{where}: a tool_call needs a name", 'name = "fn" says which tool was called')
    values: dict[str, ValueRule] = {}
    for key in _STEP_FIELDS:
        if key not in said:
            continue
        if key == "actor" and isinstance(said[key], str) and said[key] in _ACTORS:
            values[key] = _value(f"'{said[key]}'", f"{where}.{key}", key)
        else:
            values[key] = _value(said[key], f"{where}.{key}", key)
    return StepRule(
        condition=_expression(said["if"], f"{where}.if") if "if" in said else None, emit=emit, values=values
    )


#: ``actor = "agent"`` is the word itself, not a field of that name.
_ACTORS = ("agent", "user", "environment", "system")
