"""A trial that is being recorded."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trajdiff.record import fingerprints, registry
from trajdiff.record.calls import Met, meet
from trajdiff.record.events import Events, now, recorded_error, recorded_result
from trajdiff.record.lines import RecordError
from trajdiff.record.pins import AGENT, END, USER, Pin, Places, read_pins
from trajdiff.record.setup import Setup, setup_from

#: Why the call of a pin was not made where the agent took the step itself.
TAKEN = "the agent took the step itself"

_current: contextvars.ContextVar[Trial | None] = contextvars.ContextVar("trajdiff_trial", default=None)
_open: list[Trial] = []
_open_lock = threading.Lock()


class StepLimitReached(BaseException):
    """The trial used up its steps. No ``Exception``, so that an agent's own handler does not go on after it."""


def current() -> Trial | None:
    """The trial of this task or thread; in a thread of its own the only open one, or None."""
    found = _current.get()
    if found is not None and not found.ended:
        return found
    with _open_lock:
        return _open[0] if len(_open) == 1 else None


def trial(task: str | None = None, trial: str | int | None = None, **about: Any) -> Trial:
    """A trial to be used with ``with`` or ``async with``; see ``Trial`` for what can be said about it."""
    return Trial(task, trial, **about)


class Trial:
    """Records one trial: ``with record.trial(model="m-1") as trial: ...``.

    Arguments: ids of task and trial, ``path`` of the trace and ``seed`` (each by default as the runner told);
    ``model``, ``agent``, ``sampling``, ``prompt`` (its text, kept as a hash) or ``prompt_version``,
    ``tool_version`` (by default a hash of the decorated tools), ``environment_version``; ``title`` of the task;
    ``metadata``; ``tools``, functions by name that a pin may call beside the decorated ones. Methods may be
    called from several threads. Raises ``RecordError`` where the trial cannot be recorded.
    """

    def __init__(
        self,
        task: str | None = None,
        trial: str | int | None = None,
        *,
        path: str | Path | None = None,
        seed: int | None = None,
        setup: Setup | None = None,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        **about: Any,
    ) -> None:
        told = setup if setup is not None else setup_from()
        self.task_id = task if task is not None else told.task if told.task is not None else "task"
        self.trial_id = str(trial) if trial is not None else told.trial if told.trial is not None else "0"
        self.seed = seed if seed is not None else told.seed
        self.work = told.work
        self.ended = False
        self._path = str(path) if path is not None else told.trace
        self._limit = told.step_limit
        self._about = about
        self._tools = dict(tools or {})
        pins, self._pins_about = read_pins(told.pins) if told.pins is not None else ((), {})
        if pins:
            self._pins_about["pinned"] = len(pins)
        self._places = Places(pins)
        self._lock = threading.Lock()
        self._taken = 0
        self._termination: str | None = None
        self._tokens: dict[str, int] = {}
        self._cost: float | None = None
        self._token: contextvars.Token[Trial | None] | None = None
        self._began = 0.0
        self._events: Events | None = None

    # Start and end

    def __enter__(self) -> Self:
        if self._events is not None:
            raise RecordError("a trial is recorded once")
        self._events = Events(self._path, self.task_id, self.trial_id)
        if self._path is not None:
            self._events.write("start", **self._header())
        self._began = time.monotonic()
        self._token = _current.set(self)
        with _open_lock:
            _open.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            for pin in self._reach(END):
                self._make(pin)
        return self._finish(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            for pin in self._reach(END):
                await self._amake(pin)
        return self._finish(error)

    def _header(self) -> dict[str, Any]:
        about = dict(self._about)
        prompt = about.pop("prompt", None)
        if prompt is not None:
            about.setdefault("prompt_version", fingerprints.digest(str(prompt)))
        about.setdefault("tool_version", fingerprints.tools({**registry.functions(), **self._tools}))
        about.setdefault("environment_version", fingerprints.environment())
        title, metadata = about.pop("title", None), dict(about.pop("metadata", None) or {})
        names = ("model", "agent", "sampling", "prompt_version", "tool_version", "environment_version")
        versions = (*names, "fixture_version", "scorer_version")
        said = {name: about.pop(name, None) for name in versions}
        if about:
            raise RecordError(f"unknown: {', '.join(sorted(about))}")
        said["seed"] = self.seed
        return {
            "started_at": now(),
            "task": None if title is None else {"title": title},
            "provenance": {name: value for name, value in said.items() if value is not None},
            "metadata": {**metadata, **self._pins_about} or None,
        }

    def _finish(self, error: BaseException | None) -> bool:
        limited = isinstance(error, StepLimitReached)
        clean = error is None or (isinstance(error, SystemExit) and error.code in (None, 0))
        reason, raw = self._termination or "agent_done", None
        if limited:
            reason = "max_steps"
        elif not clean and error is not None:
            reason = "agent_error" if isinstance(error, Exception) else "cancelled"
            raw = f"{type(error).__name__}: {error}"
        events = self._writing()
        usage = {"usage": self._tokens or None, "cost_usd": self._cost}
        events.write(
            "end",
            termination={"reason": reason, "raw": raw} if raw else reason,
            ended_at=now(),
            duration_s=round(time.monotonic() - self._began, 6),
            **usage,
        )
        self.ended = True
        if self._token is not None:
            try:
                _current.reset(self._token)
            except ValueError:  # ended in another context than it began in
                _current.set(None)
        with _open_lock:
            _open.remove(self)
        events.close()
        return limited

    def _writing(self) -> Events:
        if self._events is None or self.ended:
            raise RecordError("the trial is not open: use it inside its with block")
        return self._events

    # What the agent says about the trial

    def end(self, reason: str) -> None:
        """Why the trial stops, in the words of the format (``user_done``, ``refusal``)."""
        self._termination = reason

    def verdict(self, verdict: str | None = None, *, reward: float | None = None, **scores: Any) -> None:
        """The outcome, where the agent's own program judges it: a word of the format, a reward, sub-scores."""
        said = {"verdict": verdict, "reward": reward, "sub_scores": scores or None}
        self._writing().write("set", set={key: value for key, value in said.items() if value is not None})

    def usage(self, *, cost_usd: float | None = None, **tokens: int) -> None:
        """Adds tokens (``input``, ``output``, ``cache_read``, ``cache_write``, ``reasoning``) and cost."""
        with self._lock:
            for name, count in tokens.items():
                self._tokens[name] = self._tokens.get(name, 0) + count
            if cost_usd is not None:
                self._cost = (self._cost or 0.0) + cost_usd

    # Messages

    def user(self, text: str) -> str:
        """A message of the user; returns the text that the agent shall read, which a pin may change."""
        return self._message(USER, text)

    def agent(self, text: str) -> str:
        """A message of the agent; returns the text to be sent, which a pin may change."""
        self._count()
        return self._message(AGENT, text)

    def system(self, text: str) -> None:
        """A message of the harness."""
        self._writing().step({"actor": "system", "kind": "message", "text": text, "started_at": now()})

    def reasoning(self, text: str) -> None:
        """What the agent thought, where its model tells."""
        self._writing().step({"actor": "agent", "kind": "reasoning", "text": text, "started_at": now()})

    def _message(self, side: str, text: str) -> str:
        for pin in self._reach(side):
            if pin.kind == "call":
                self._make(pin)
            elif pin.kind == f"{side}_message":
                text = str(pin.value)
                self._tell(pin)
            elif pin.kind == "note":
                text = f"{text}\n{pin.value}"
                self._tell(pin)
            else:
                self._tell(pin, f"a pin of kind {pin.kind} has no place at a message")
        self._writing().step({"actor": side, "kind": "message", "text": text, "started_at": now()})
        return text

    # Tool calls

    def call(self, name: str, arguments: Mapping[str, Any], run: Callable[[dict[str, Any]], Any]) -> Any:
        """A tool call: ``run`` gets the arguments and returns the result. For agents that dispatch by name."""
        met = self.meet(name, arguments, registry.returns(name))
        for pin in met.first:
            self._make(pin)
        if met.instead is not None:
            return met.noted(self._make(met.instead))
        if met.blocked:
            return met.noted(met.answer)
        number = self.started(met.name, met.arguments)
        if met.answered:
            return self.answered(number, met.noted(met.answer))
        try:
            result = run(met.arguments)
        except BaseException as error:
            self.failed(number, error)
            raise
        return self.answered(number, met.noted(result))

    async def acall(
        self, name: str, arguments: Mapping[str, Any], run: Callable[[dict[str, Any]], Awaitable[Any]]
    ) -> Any:
        """The same for tools that are awaited."""
        met = self.meet(name, arguments, registry.returns(name))
        for pin in met.first:
            await self._amake(pin)
        if met.instead is not None:
            return met.noted(await self._amake(met.instead))
        if met.blocked:
            return met.noted(met.answer)
        number = self.started(met.name, met.arguments)
        if met.answered:
            return self.answered(number, met.noted(met.answer))
        try:
            result = await run(met.arguments)
        except BaseException as error:
            self.failed(number, error)
            raise
        return self.answered(number, met.noted(result))

    def meet(self, name: str, arguments: Mapping[str, Any], returns: Any = None) -> Met:
        """What the pins make of a call, which is counted. For proxies, which run calls themselves."""
        self._count()
        with self._lock:
            pins = self._places.at_call(name, arguments)
        met = meet(name, arguments, pins, returns)
        for pin in met.fired:
            self._tell(pin)
        for pin, reason in met.failed:
            self._tell(pin, reason)
        if met.blocked:
            self.system(f"a pin blocked {name}")
        return met

    def started(self, name: str, arguments: Mapping[str, Any], effect: str | None = None) -> int:
        """Records that a call begins; returns its number. The decorator's effect counts where none is given."""
        effect = registry.effect(name) if effect is None else effect
        with self._lock:
            self._places.made(name, arguments)
        step: dict[str, Any] = {"name": name, "arguments": dict(arguments), "started_at": now()}
        return self._writing().step(step if effect is None else {**step, "effect_hint": effect})

    def answered(self, number: int, result: Any) -> Any:
        """Records what came back; returns it."""
        self._writing().result(number, recorded_result(result))
        return result

    def told(self, number: int, result: Mapping[str, Any]) -> None:
        """Records a result in the words of the format (``text``, ``is_error``). For proxies."""
        self._writing().result(number, dict(result))

    def failed(self, number: int, error: BaseException) -> None:
        """Records that a call ended in an exception."""
        if not self.ended:
            self._writing().result(number, recorded_error(error))

    def made(self, pin: Pin, reason: str | None = None) -> None:
        """Says that the call of a pin was made, or why not. For proxies."""
        self._tell(pin, reason)

    def needed(self, pin: Pin) -> bool:
        """Whether the call of a pin must be made; where the agent made it itself, this is recorded."""
        with self._lock:
            needless = self._places.needless(pin)
        if needless:
            self._tell(pin, TAKEN)
        return not needless

    def reach_end(self) -> list[Pin]:
        """The pins whose place is the end of the trial. For proxies, which make the calls themselves."""
        return self._reach(END)

    # Pins

    def _count(self) -> None:
        with self._lock:
            self._taken += 1
            over = self._limit is not None and self._taken > self._limit
        if over:
            raise StepLimitReached(f"more than {self._limit} steps")

    def _reach(self, place: str) -> list[Pin]:
        with self._lock:
            return self._places.at(place)

    def _tell(self, pin: Pin, reason: str | None = None) -> None:
        self._writing().write("pin", kind=pin.kind, fired=reason is None, reason=reason)

    def _call_of(self, pin: Pin) -> tuple[Callable[..., Any] | None, str, dict[str, Any]]:
        name, arguments = pin.name or "", dict(pin.arguments or {})
        found = self._tools.get(name) or registry.find(name)
        if found is None:
            self._tell(pin, f"no tool {name} to call")
        return found, name, arguments

    def _make(self, pin: Pin) -> Any:
        """Makes the call of a pin; an error of the tool is its answer, as the agent did not ask for it."""
        if not self.needed(pin):
            return None
        function, name, arguments = self._call_of(pin)
        if function is None:
            return None
        if registry.is_async(function):
            return self._tell(pin, f"{name} must be awaited, and the place is not in asynchronous code")
        self._tell(pin)
        number = self.started(name, arguments)
        try:
            return self.answered(number, function(**arguments))
        except Exception as error:
            self.failed(number, error)
            return recorded_error(error)["text"]

    async def _amake(self, pin: Pin) -> Any:
        if not self.needed(pin):
            return None
        function, name, arguments = self._call_of(pin)
        if function is None:
            return None
        self._tell(pin)
        number = self.started(name, arguments)
        try:
            result = function(**arguments)
            return self.answered(number, await result if registry.is_async(function) else result)
        except Exception as error:
            self.failed(number, error)
            return recorded_error(error)["text"]
