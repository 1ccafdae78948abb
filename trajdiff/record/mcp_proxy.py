"""Stands between an MCP client and a server on standard input and output: records and pins tool calls.

Everything but tool calls passes through as it is. The official ``mcp`` package carries the messages; it is
imported when a proxy is run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trajdiff.record.calls import Met
from trajdiff.record.lines import encoded
from trajdiff.record.pins import Pin
from trajdiff.record.trial import StepLimitReached, Trial

_OWN = "trajdiff-"
_LIMIT_REACHED = -32000


@dataclass(slots=True)
class _Tool:
    """What the server says about a tool: whether it only reads, and whether its results have a structure."""

    effect: str | None = None
    structured: bool = False


@dataclass(slots=True)
class _Answer:
    """The answer to a call that the proxy makes itself."""

    event: Any
    result: dict[str, Any] = field(default_factory=dict)


def run_proxy(trial: Trial, server: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Run the server and serve its client until one of them ends; False if it was the server.

    Raises ``ImportError`` without the ``mcp`` package and ``OSError`` where the server cannot be started.
    """
    import anyio

    return anyio.run(_serve, trial, tuple(server), dict(environment))


async def _serve(trial: Trial, server: tuple[str, ...], environment: dict[str, str]) -> bool:
    import anyio
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.server.stdio import stdio_server

    parameters = StdioServerParameters(command=server[0], args=list(server[1:]), env=environment)
    source: Any = _StandardInput()
    async with (
        stdio_client(parameters) as (from_server, to_server),
        stdio_server(stdin=source) as (from_client, to_client),
    ):
        relay = _Relay(trial, to_client, to_server)
        async with trial, anyio.create_task_group() as group:
            group.start_soon(relay.from_server, from_server, group.cancel_scope)
            async for message in from_client:
                await relay.from_client(message, group)
            await relay.end()
            group.cancel_scope.cancel()
        source.close()
        for stream in (to_client, from_client):
            await stream.aclose()
    return not relay.deserted


class _StandardInput:
    """The lines of standard input for the event loop.

    The package's own reader waits in a thread that nothing can end while the client holds the pipe open; a
    proxy whose server is gone must not wait for that.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        with contextlib.suppress(OSError, RuntimeError):  # the pipe is closed, or the loop has ended
            while block := os.read(0, 65536):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, line.decode("utf-8", "replace"))
            self._loop.call_soon_threadsafe(self.close)

    def close(self) -> None:
        """No more lines."""
        self._lines.put_nowait(None)

    def __aiter__(self) -> _StandardInput:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line


class _Relay:
    """The calls under way, by the id of their request."""

    def __init__(self, trial: Trial, to_client: Any, to_server: Any) -> None:
        self._trial, self._to_client, self._to_server = trial, to_client, to_server
        self._calls: dict[Any, tuple[int, Met]] = {}
        self._lists: set[Any] = set()
        self._own: dict[str, _Answer] = {}
        self._tools: dict[str, _Tool] = {}
        self._made = 0
        self.deserted = False

    # From the client

    async def from_client(self, message: Any, group: Any) -> None:
        """Pass a message on; a tool call goes its own way, so that others need not wait for it."""
        if isinstance(message, Exception):
            return  # the transport could not read it and has nobody to answer to
        inner = _inner(message)
        method = getattr(inner, "method", None)
        if method == "tools/call" and hasattr(inner, "id"):
            group.start_soon(self._call, message, inner)
            return
        if method == "tools/list" and hasattr(inner, "id"):
            self._lists.add(inner.id)
        await self._to_server.send(message)

    async def _call(self, message: Any, inner: Any) -> None:
        said = inner.params or {}
        name, arguments = str(said.get("name")), dict(said.get("arguments") or {})
        try:
            met = self._trial.meet(name, arguments)
        except StepLimitReached as error:
            await self._to_client.send(_error(inner.id, str(error)))
            return
        for pin in met.first:
            await self._make(pin)
        if met.instead is not None:
            result = await self._make(met.instead)
            await self._to_client.send(_response(inner.id, _with_notes(result, met)))
            return
        tool = self._tools.get(name, _Tool())
        if met.blocked:
            await self._to_client.send(_response(inner.id, _with_notes(_as_result(met.answer, tool), met)))
            return
        number = self._trial.started(name, met.arguments, tool.effect)
        if met.answered:
            result = _with_notes(_as_result(met.answer, tool), met)
            self._trial.told(number, recorded(result))
            await self._to_client.send(_response(inner.id, result))
            return
        self._calls[inner.id] = (number, met)
        inner.params = {**said, "arguments": met.arguments}
        await self._to_server.send(message)

    async def end(self) -> None:
        """The client is gone: the calls of pins whose place is the end."""
        for pin in self._trial.reach_end():
            await self._make(pin)

    async def _make(self, pin: Pin) -> dict[str, Any]:
        """Make the call of a pin."""
        import anyio

        if not self._trial.needed(pin):
            return {}
        name, arguments = pin.name or "", dict(pin.arguments or {})
        self._made += 1
        key = f"{_OWN}{self._made}"
        answer = self._own[key] = _Answer(event=anyio.Event())
        self._trial.made(pin)
        number = self._trial.started(name, arguments, self._tools.get(name, _Tool()).effect)
        await self._to_server.send(_request(key, name, arguments))
        await answer.event.wait()
        self._trial.told(number, recorded(answer.result))
        return answer.result

    # From the server

    async def from_server(self, messages: Any, scope: Any) -> None:
        """Pass on what the server says until it ends; without a server there is nothing left to serve."""
        async for message in messages:
            if isinstance(message, Exception):
                self._trial.system(f"the server wrote what is no message: {str(message)[:200]}")
                continue
            inner = _inner(message)
            if hasattr(inner, "id") and not hasattr(inner, "method") and self._answer(inner):
                continue
            await self._to_client.send(message)
        self.deserted = True
        self._trial.end("infra_error")
        scope.cancel()

    def _answer(self, inner: Any) -> bool:
        """Record a response; True if it answers a call of our own, of which the client knows nothing."""
        result = getattr(inner, "result", None)
        if isinstance(inner.id, str) and inner.id in self._own:
            answer = self._own.pop(inner.id)
            answer.result = result if result is not None else _failure(inner)
            answer.event.set()
            return True
        if inner.id in self._lists and isinstance(result, Mapping):
            self._lists.discard(inner.id)
            self._learn(result)
        if inner.id in self._calls:
            number, met = self._calls.pop(inner.id)
            if isinstance(result, Mapping):
                inner.result = _with_notes(dict(result), met)
            self._trial.told(number, recorded(inner.result if result is not None else _failure(inner)))
        return False

    def _learn(self, result: Mapping[str, Any]) -> None:
        for tool in result.get("tools") or ():
            if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
                hints = tool.get("annotations") or {}
                reads = hints.get("readOnlyHint") if isinstance(hints, Mapping) else None
                effect = None if reads is None else "read" if reads else "write"
                self._tools[tool["name"]] = _Tool(effect=effect, structured=bool(tool.get("outputSchema")))


def recorded(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a tool as the trace holds it: its text, or all parts as JSON, and the error flag."""
    parts = result.get("content") or []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    text = "\n".join(str(one) for one in texts) if len(texts) == len(parts) else encoded(parts).decode()
    said: dict[str, Any] = {"text": text, "truncated": False}
    if result.get("isError") is not None:
        said["is_error"] = bool(result["isError"])
    return said


def _as_result(value: Any, tool: _Tool) -> dict[str, Any]:
    """A pinned value as the result of a tool; with a structure where the tool promises one."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if tool.structured:
        result["structuredContent"] = value if isinstance(value, Mapping) else {"result": value}
    return result


def _with_notes(result: dict[str, Any], met: Met) -> dict[str, Any]:
    notes = [{"type": "text", "text": note} for note in met.notes]
    return {**result, "content": [*(result.get("content") or []), *notes]} if notes else result


def _failure(inner: Any) -> dict[str, Any]:
    problem = getattr(inner, "error", None)
    text = f"{getattr(problem, 'code', '')} {getattr(problem, 'message', 'no result')}".strip()
    return {"content": [{"type": "text", "text": text}], "isError": True}


# Messages of either generation of the package: in the first they are wrapped once more.


def _inner(message: Any) -> Any:
    return getattr(message.message, "root", message.message)


def _wrapped(inner: Any) -> Any:
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

    kind: Any = JSONRPCMessage
    return SessionMessage(kind(inner) if isinstance(kind, type) else inner)


def _request(key: str, name: str, arguments: dict[str, Any]) -> Any:
    from mcp.types import JSONRPCRequest

    parameters = {"name": name, "arguments": arguments}
    return _wrapped(JSONRPCRequest(jsonrpc="2.0", id=key, method="tools/call", params=parameters))


def _response(key: Any, result: dict[str, Any]) -> Any:
    from mcp.types import JSONRPCResponse

    return _wrapped(JSONRPCResponse(jsonrpc="2.0", id=key, result=result))


def _error(key: Any, text: str) -> Any:
    from mcp.types import ErrorData, JSONRPCError

    return _wrapped(JSONRPCError(jsonrpc="2.0", id=key, error=ErrorData(code=_LIMIT_REACHED, message=text)))
