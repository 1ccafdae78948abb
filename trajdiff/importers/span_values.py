"""Spans out of every container: OTLP JSON, lists of SDK spans, Phoenix rows, bare attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text

_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
#: Attributes by which bare objects are told to be spans.
MARKS = ("gen_ai.operation.name", "openinference.span.kind", "gen_ai.system", "traceloop.span.kind")
_FAILED = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR"})
_FINE = frozenset({"1", "OK", "STATUS_CODE_OK", "StatusCode.OK"})
_MAX_DEPTH = 6


class Span(Struct, frozen=True, kw_only=True):
    """One span; times are nanoseconds (0 where not recorded), ``at`` its JSON path in the record."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed: bool | None = None
    at: str = ""
    line: int | None = None

    @property
    def order(self) -> tuple[int, int, str]:
        """Siblings often start together: start, end, id."""
        return self.start, self.end, self.span_id

    def text(self, *names: str) -> str | None:
        """The first of these attributes that is a text."""
        return next((found for one in names if (found := as_text(self.attributes.get(one)))), None)

    def moment(self, ns: int) -> str | None:
        """A time of the span as ISO 8601."""
        if not ns:
            return None
        try:
            return datetime.fromtimestamp(ns / 1e9, UTC).isoformat()
        except (OverflowError, ValueError, OSError):
            return None


class SpanFinder(Struct, kw_only=True):
    """Finds the spans of a record; ``number`` counts spans that have no id of their own."""

    number: int = 0
    _found: list[Span] = field(default_factory=list)

    def spans(self, value: Any, at: str, line: int | None) -> list[Span]:
        """Every span inside a record."""
        self._found = []
        self._look(value, at, line, {}, 0)
        return self._found

    def _look(self, value: Any, at: str, line: int | None, above: Mapping[str, Any], depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        if isinstance(value, list):
            for place, one in enumerate(value):
                self._look(one, f"{at}[{place}]", line, above, depth + 1)
            return
        if not isinstance(value, dict):
            return
        holders = [key for key in ("resourceSpans", "resource_spans") if isinstance(value.get(key), list)]
        if holders:
            self._look(value[holders[0]], f"{at}.{holders[0]}", line, above, depth + 1)
            return
        scopes = [key for key in _SCOPES if isinstance(value.get(key), list)]
        if scopes:
            resource = attributes_of(as_object(value.get("resource")).get("attributes"))
            inner = {**above, **{f"resource.{key}": one for key, one in resource.items()}}
            self._look(value[scopes[0]], f"{at}.{scopes[0]}", line, inner, depth + 1)
        elif isinstance(value.get("spans"), list):
            self._look(value["spans"], f"{at}.spans", line, above, depth + 1)
        elif is_span(value):
            self._found.append(self._span(value, at, line, above))
        elif value and all(isinstance(one, list) for one in value.values()):
            for key, one in value.items():
                self._look(one, f"{at}[{key!r}]", line, above, depth + 1)

    def _span(self, value: Mapping[str, Any], at: str, line: int | None, above: Mapping[str, Any]) -> Span:
        self.number += 1
        context = as_object(value.get("spanContext")) or as_object(value.get("context"))
        bare = not isinstance(value.get("attributes"), list | dict)
        attributes = attributes_of(_columns(value) if bare else value["attributes"])
        kind = as_text(value.get("span_kind"))
        if kind and "openinference.span.kind" not in attributes:
            attributes = {**attributes, "openinference.span.kind": kind}
        span_id = _first(value, context, "spanId", "span_id", "context.span_id") or f"span {self.number}"
        return Span(
            trace_id=_first(value, context, "traceId", "trace_id", "context.trace_id") or "",
            span_id=span_id,
            parent_id=_first(value, {}, "parentSpanId", "parent_span_id", "parent_id", "parentId") or None,
            name=as_text(value.get("name")) or "",
            start=nanoseconds_of(value, "startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time"),
            end=nanoseconds_of(value, "endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time"),
            attributes={**above, **attributes},
            events=tuple(_events(value.get("events"))),
            failed=_failed(value, attributes),
            at=at,
            line=line,
        )


def is_span(value: Mapping[str, Any]) -> bool:
    """Whether an object is a span, or the attributes of one."""
    if isinstance(value.get("attributes"), list | dict) and (
        value.keys() & {"spanId", "span_id", "spanContext", "context", "context.span_id"}
    ):
        return True
    return any(isinstance(value.get(one), str) for one in MARKS) or "context.span_id" in value


def _columns(value: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a row with dotted columns, or of an object that is nothing but attributes."""
    dotted = {
        key.removeprefix("attributes."): one for key, one in value.items() if key.startswith("attributes.")
    }
    return dotted or dict(value)


def attributes_of(recorded: Any) -> dict[str, Any]:
    """Attributes by dotted name, of a list of pairs, a flat object or a nested one."""
    if isinstance(recorded, list):
        pairs = [as_object(one) for one in recorded]
        return {str(one.get("key")): _value(one.get("value")) for one in pairs if one.get("key") is not None}
    made: dict[str, Any] = {}
    for key, one in as_object(recorded).items():
        if isinstance(one, dict) and one:
            _flatten(key, one, made, 0)
        else:
            made[key] = one
    return made


def _flatten(prefix: str, value: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:
    if depth == 0:
        made[prefix] = value
    for key, one in value.items():
        name = f"{prefix}.{key}"
        if isinstance(one, dict) and one and depth < _MAX_DEPTH * 2:
            _flatten(name, one, made, depth + 1)
        elif isinstance(one, list) and any(isinstance(inner, dict) for inner in one) and depth < _MAX_DEPTH * 2:
            made[name] = one
            for place, inner in enumerate(one):
                _flatten(f"{name}.{place}", as_object(inner), made, depth + 1)
        else:
            made[name] = one


def _value(recorded: Any) -> Any:
    """An OTLP value in any of its forms; 64-bit integers come as text."""
    if not isinstance(recorded, dict):
        return recorded
    for key, one in recorded.items():
        name = key.replace("_", "").lower()
        if name in ("intvalue",) and isinstance(one, str) and one.lstrip("-").isdigit():
            return int(one[:30])
        if name in ("stringvalue", "boolvalue", "intvalue", "doublevalue", "bytesvalue"):
            return one
        if name == "arrayvalue":
            return [_value(inner) for inner in as_list(as_object(one).get("values"))]
        if name == "kvlistvalue":
            return attributes_of(as_object(one).get("values"))
    return recorded


def _first(value: Mapping[str, Any], context: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        found = id_text(value.get(name)) or id_text(context.get(name))
        if found is not None:
            return found.removeprefix("0x")
    return None


def nanoseconds_of(value: Mapping[str, Any], *names: str) -> int:
    """A time in nanoseconds: a count (number or text), seconds with nanoseconds, or ISO 8601."""
    for name in names:
        one = value.get(name)
        if isinstance(one, str) and one.isascii() and one.isdigit():
            return int(one[:25])
        if isinstance(one, list) and len(one) == 2 and all(plain_number(part) is not None for part in one):
            return int(one[0] * 1_000_000_000 + one[1])
        if isinstance(one, str):
            try:
                moment = datetime.fromisoformat(one)
            except ValueError:
                continue
            whole = moment.replace(tzinfo=moment.tzinfo or UTC)
            return int(whole.timestamp()) * 1_000_000_000 + whole.microsecond * 1000
        number = plain_number(one)
        if number is not None and number >= 0:
            return int(number)
    return 0


def _events(recorded: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in as_list(recorded):
        event = as_object(one)
        body = attributes_of(event.get("body")) if isinstance(event.get("body"), dict) else {}
        yield as_text(event.get("name")) or "", {**attributes_of(event.get("attributes")), **body}


def _failed(value: Mapping[str, Any], attributes: Mapping[str, Any]) -> bool | None:
    status = value.get("status")
    code = status.get("code") if isinstance(status, dict) else value.get("status_code", status)
    word = str(code)
    if word in _FAILED or attributes.get("error.type") is not None:
        return True
    if any(as_text(as_object(one).get("name")) == "exception" for one in as_list(value.get("events"))):
        return True
    return False if word in _FINE else None
