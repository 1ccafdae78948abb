"""The JSON Schemas of the project: found in the installed package or the source tree, and applied.

Violations come out in plain words and in a stable order. ``jsonschema`` is imported on first use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trajdiff.errors import TrajdiffError

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_MAX_SHOWN = 60


class Violation(Struct, frozen=True, kw_only=True):
    """One place where a document does not fit its schema.

    ``pointer`` is a JSON path from the document (``$.steps[3].name``), ``problem`` says in plain words what is
    wrong, ``expected`` what the schema asks for, ``found`` the value, shortened.
    """

    pointer: str
    problem: str
    expected: str
    found: str


def load_schema(name: str) -> dict[str, Any]:
    """The schema ``name`` (``trace`` for ``trace.schema.json``). Raises ``TrajdiffError`` if there is none."""
    return dict(_schema(name))


@cache
def _schema(name: str) -> Mapping[str, Any]:
    package = Path(__file__).resolve().parent
    for folder in (package / "_bundled" / "schemas", package.parent / "schemas"):
        path = folder / f"{name}.schema.json"
        if path.is_file():
            loaded: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return loaded
    raise TrajdiffError(f'no schema "{name}"', "the installation is incomplete; install trajdiff again")


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_schema(name))


def violations(document: Any, schema: str | Mapping[str, Any]) -> Iterator[Violation]:
    """Every place where ``document`` does not fit, ordered by place in the document.

    ``schema`` is a schema or the name of one. Of several alternatives the one that fits best is reported.
    """
    from jsonschema import Draft202012Validator

    validator = _validator(schema) if isinstance(schema, str) else Draft202012Validator(schema)
    found = [one for error in validator.iter_errors(document) for one in _violations_of(_best(error))]
    yield from (violation for _, violation in sorted(found, key=lambda one: (_order(one[0]), one[1].problem)))


def _order(place: tuple[Any, ...]) -> tuple[Any, ...]:
    # Numbers and names never stand at the same place of one document; the first field keeps them apart anyway.
    return tuple((0, part, "") if isinstance(part, int) else (1, 0, str(part)) for part in place)


def _best(error: ValidationError) -> ValidationError:
    """The error inside an alternative that was meant, instead of "fits none of them"."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        # The alternative that got furthest into the document is the one that was meant.
        error = max(error.context, key=lambda one: (len(one.absolute_path), str(one.schema_path)))
    return error


def _violations_of(error: ValidationError) -> Iterator[tuple[tuple[Any, ...], Violation]]:
    """The violations behind one validation error, each with its place as a tuple."""
    place = tuple(error.absolute_path)
    if error.validator == "required" and isinstance(error.instance, Mapping):
        # One validation error names one missing key; its message begins with it.
        required: Any = error.validator_value
        missing = [key for key in required if key not in error.instance]
        for key in (one for one in missing if error.message.startswith(repr(one))):
            violation = Violation(
                pointer=json_path((*place, key)),
                problem=f"{_named(error.schema)} has no {key}",
                expected=_title(error.schema, key) or f"a value for {key}",
                found="missing",
            )
            yield (*place, key), violation
        return
    yield (
        place,
        Violation(
            pointer=json_path(place),
            problem=_problem(error),
            expected=_expected(error),
            found=_shown(error.instance),
        ),
    )


def _problem(error: ValidationError) -> str:
    """What is wrong with this value, in plain words."""
    subject = _subject(error)
    if error.validator == "type":
        return f"{subject} is {_kind(error.instance)}"
    if error.validator in ("enum", "const"):
        return (
            f"{subject} is not one of the known values"
            if error.validator == "enum"
            else f"{subject} is another one"
        )
    if error.validator in ("minLength", "minItems"):
        return f"{subject} is empty"
    if error.validator in ("minimum", "exclusiveMinimum"):
        return f"{subject} is too small"
    if error.validator in ("maximum", "exclusiveMaximum"):
        return f"{subject} is too large"
    if error.validator == "pattern":
        return f"{subject} is not written as expected"
    return f"{subject} does not fit: {error.message[:120]}"


def _subject(error: ValidationError) -> str:
    last = next((part for part in reversed(error.absolute_path) if isinstance(part, str)), None)
    if not error.absolute_path:
        return "the record"
    if isinstance(error.absolute_path[-1], int):
        return f'entry {error.absolute_path[-1]} of "{last}"' if last else f"entry {error.absolute_path[-1]}"
    return f'"{last}"'


def _expected(error: ValidationError) -> str:
    value: Any = error.validator_value
    if error.validator == "type":
        return " or ".join(_WORDS[name] for name in ([value] if isinstance(value, str) else value))
    if error.validator == "enum":
        return "one of " + ", ".join("null" if one is None else str(one) for one in value)
    if error.validator == "const":
        return str(value)
    if error.validator in ("minimum", "maximum"):
        return f"{'at least' if error.validator == 'minimum' else 'at most'} {value}"
    if error.validator in ("minLength", "minItems"):
        return "something that is not empty"
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    if schema.get("examples"):
        return "something like " + ", ".join(str(one) for one in schema["examples"])
    return str(schema.get("title") or value)


def _named(schema: Any) -> str:
    """What the schema describes, with its article: "a tool call"."""
    title = str(schema.get("title") or "record") if isinstance(schema, Mapping) else "record"
    name = title[:1].lower() + title[1:]
    return f"{'an' if name[:1] in 'aeio' else 'a'} {name}"


def _title(schema: Any, key: str) -> str | None:
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    inner = properties.get(key, {})
    title = inner.get("title") if isinstance(inner, Mapping) else None
    return str(title) if title else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    for kind, word in ((bool, "true or false"), (int, "a whole number"), (float, "a number"), (str, "a text")):
        if isinstance(value, kind):
            return word
    return "a list" if isinstance(value, list | tuple) else "an object"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = str(type(value).__name__)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def json_path(parts: tuple[Any, ...]) -> str:
    """``("steps", 3, "name")`` as ``$.steps[3].name``; other keys are quoted."""
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif str(part).isidentifier():
            text += f".{part}"
        else:
            text += f"[{json.dumps(str(part), ensure_ascii=False)}]"
    return text
