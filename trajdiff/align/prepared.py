"""Steps made ready for comparison: canonical arguments and result, label, weight, interned identity.

A trial is prepared once; everything that aligns or judges it works on prepared steps and points back to the
recorded ones by index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

from trajdiff.align.language import acts, fold
from trajdiff.align.mentions import commitments
from trajdiff.align.readings import RESULT_CAP, Reading, Readings
from trajdiff.align.surrogates import Surrogates
from trajdiff.align.values import canonical, ignored, is_reference, leaves, prune, words
from trajdiff.model import Actor, ArgumentState, Effect, Step, StepKind, Trial
from trajdiff.settings import Settings

Value = TypeVar("Value")


class _Shared(Generic[Value]):
    """An attribute that follows from what a step says, not from where it stands: steps that say the same share
    it, so that it is worked out for the first of them that is asked."""

    def __init__(self, compute: Callable[[PreparedStep], Value]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, step: None, owner: type) -> Self: ...
    @overload
    def __get__(self, step: PreparedStep, owner: type) -> Value: ...
    def __get__(self, step: PreparedStep | None, owner: type) -> Value | Self:
        if step is None:
            return self
        if self._name not in step.shared:
            step.shared[self._name] = self._compute(step)
        # From now on it is an attribute like any other.
        found: Value = step.__dict__.setdefault(self._name, step.shared[self._name])
        return found


@dataclass(frozen=True, kw_only=True)
class PreparedStep:
    """One step ready for comparison.

    ``position`` is its place in the prepared trial, ``index`` its place in ``Trial.steps``. ``label`` is the
    semantic step (from settings, else the tool's name in canonical words). ``call_key`` identifies the call
    without its result; two steps with equal keys are the same call. The leaves are (path, canonical scalar)
    of everything in arguments and result; a result above the cap has none. ``arguments`` are without what the
    ignore rules leave out; ``hides`` says whether they left out anything. ``reading`` is shared by all steps
    with the same result.

    ``is_call``: a tool call; ``is_message``: a message of agent or user; ``by_agent``, ``by_user``: who acts;
    ``failed``: the tool said that the call failed; ``text``: that of a message, empty for anything else.
    ``shared`` keeps, for all steps that say the same, what was worked out from one.
    """

    position: int
    index: int
    step: Step
    label: str
    effect: Effect
    arguments: Any
    argument_text: str
    result: Any
    result_text: str
    argument_leaves: tuple[tuple[str, str], ...]
    result_leaves: tuple[tuple[str, str], ...]
    is_call: bool
    is_message: bool
    by_agent: bool
    by_user: bool
    failed: bool
    text: str
    folded: bool = False
    hides: bool = False
    reading: Reading | None = field(default=None, compare=False, repr=False)
    shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def again(self, step: Step, position: int) -> PreparedStep:
        """The same where it is said once more: by ``step``, at another place."""
        made = object.__new__(PreparedStep)
        made.__dict__.update(self.__dict__, position=position, index=step.index, step=step)
        return made

    @_Shared
    def thinks(self) -> bool:
        """Whether the call only steers the agent itself (a scratchpad): nothing comes back from it."""
        return self.is_call and self.effect is Effect.CONTROL and self.result in (None, "")

    @_Shared
    def call_key(self) -> str:
        """Identity of the step without its result."""
        if self.is_call:
            return f"{self.step.actor}\0{self.label}\0{self.argument_text}"
        return f"{self.step.actor}\0{self.step.kind}\0{fold(self.text)}"

    @_Shared
    def full_key(self) -> str:
        """Identity of the step with its result."""
        return f"{self.call_key}\0{self.result_text}"

    @_Shared
    def argument_values(self) -> frozenset[str]:
        """The canonical scalars of the arguments, wherever they stand."""
        return frozenset([value for _, value in self.argument_leaves])

    @_Shared
    def arguments_by_path(self) -> Mapping[str, tuple[str, ...]]:
        """The canonical scalars of the arguments by their paths, sorted."""
        found: dict[str, list[str]] = {}
        for path, value in self.argument_leaves:
            found.setdefault(path, []).append(value)
        return {path: tuple(sorted(values)) for path, values in found.items()}

    @_Shared
    def result_values(self) -> frozenset[str]:
        """The canonical scalars of the result, wherever they stand."""
        shared = self.reading is not None and self.result_leaves is self.reading.leaves
        if shared and self.reading is not None:
            return self.reading.values
        return frozenset([value for _, value in self.result_leaves])

    @_Shared
    def references(self) -> tuple[tuple[str, str], ...]:
        """The (path, canonical scalar) of the arguments that refer to a record."""
        return tuple([leaf for leaf in self.argument_leaves if is_reference(*leaf)])

    @_Shared
    def entities(self) -> frozenset[str]:
        """Identifiers among the arguments: what the call is about."""
        return frozenset([value for _, value in self.references])

    @_Shared
    def about(self) -> str | None:
        """The one record that a call is about: the reference among its arguments that its result names in the
        same way, else the first one in order of names (the order in which arguments were written means
        nothing)."""
        if not self.references:
            return None
        said, answered = self.result_values, self.result_leaves
        named = (leaf[1] for leaf in self.references if leaf[1] in said and leaf in answered)
        return next(named, self.references[0][1])

    @_Shared
    def commitments(self) -> frozenset[str]:
        """Values a message states."""
        return commitments(self.text)

    @_Shared
    def acts(self) -> frozenset[str]:
        """Speech acts of a message."""
        return acts(self.text)


@dataclass(frozen=True, kw_only=True)
class PreparedTrial:
    """A trial and its prepared steps, in order; system messages are left out.

    ``memo`` keeps what was worked out from the trial alone, so that it is worked out once.
    """

    trial: Trial
    steps: tuple[PreparedStep, ...]
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def trial_id(self) -> str:
        """Id of the trial."""
        return self.trial.trial_id

    @cached_property
    def calls(self) -> tuple[PreparedStep, ...]:
        """The agent's tool calls."""
        return tuple(step for step in self.steps if step.is_call and step.by_agent)

    @cached_property
    def messages(self) -> tuple[PreparedStep, ...]:
        """The messages of agent and user."""
        return tuple(step for step in self.steps if step.is_message)

    @cached_property
    def done(self) -> frozenset[str]:
        """The semantic steps of the agent's calls that did not fail."""
        return frozenset(step.label for step in self.calls if not step.failed)

    @cached_property
    def result_values(self) -> frozenset[str]:
        """The canonical scalars of all results of the agent's calls."""
        return frozenset().union(*(step.result_values for step in self.calls))

    @cached_property
    def calls_by_key(self) -> Mapping[str, tuple[PreparedStep, ...]]:
        """The agent's tool calls by identity, each in order."""
        found: dict[str, list[PreparedStep]] = {}
        for step in self.calls:
            found.setdefault(step.call_key, []).append(step)
        return {key: tuple(steps) for key, steps in found.items()}

    @cached_property
    def signature(self) -> str:
        """Hash of the path: calls with results, and what messages state. Equal signatures are one variant."""
        parts = []
        for step in self.steps:
            if step.is_call:
                parts.append(step.full_key)
            elif step.is_message:
                parts.append(f"{step.step.actor}\0{sorted(step.commitments)}")
        return hashlib.sha256("\1".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Preparer:
    """Prepares trials under the settings; ``effect_of`` maps tool names to effects.

    ``readings`` remembers what equal results and arguments say.
    """

    settings: Settings = field(default_factory=Settings)
    effect_of: Mapping[str, Effect] = field(default_factory=dict)
    readings: Readings = field(default_factory=Readings, compare=False, repr=False)

    def trials(self, trials: Sequence[Trial]) -> tuple[PreparedTrial, ...]:
        """The trials of one task made ready for comparison."""
        texts: list[Container[str]] = [_ResultsText(trial, self.readings) for trial in trials]
        return tuple(
            self.trial(trial, [*texts[:number], *texts[number + 1 :]]) for number, trial in enumerate(trials)
        )

    def trial(self, trial: Trial, elsewhere: Sequence[Container[str]] = ()) -> PreparedTrial:
        """A trial made ready for comparison; ``elsewhere`` holds what the task's other trials got back."""
        steps = [s for s in trial.steps if s.actor != Actor.SYSTEM and not self._left_out(s)]
        recorded = [self.readings.of_arguments(argument_value(step)) for step in steps]
        folded = _folded(steps, recorded)
        surrogates = Surrogates(elsewhere)
        prepared = [
            self._step(step, position, position in folded, surrogates, recorded[position])
            for position, step in enumerate(steps)
        ]
        return PreparedTrial(trial=trial, steps=tuple(prepared))

    def answers_differ(self, trial: Trial) -> bool:
        """Whether a call of the trial, repeated as it was, may have got another result than the time before.

        Cheap, and errs on the side of yes: results are compared as they were recorded.
        """
        last: dict[tuple[str, str], str | None] = {}
        for step in trial.steps:
            if step.is_call and not self._left_out(step):
                recorded = self.readings.of_arguments(argument_value(step))
                out = scoped(self.settings.ignore.arguments, step.name or "")
                arguments = prune(recorded.value, out)
                shown = recorded.canonical(out) if arguments is recorded.value else canonical(arguments, out)
                key = (step.actor, f"{self._label(step, arguments)}\0{shown}")
                text = step.result.text if step.result is not None else None
                if last.setdefault(key, text) != text:
                    return True
        return False

    def _left_out(self, step: Step) -> bool:
        return step.name is not None and ignored(step.name, self.settings.ignore.tools)

    def _step(
        self, step: Step, position: int, folded: bool, surrogates: Surrogates, recorded: Reading
    ) -> PreparedStep:
        reading = self.readings.of_result(step.result.text) if step.result is not None else None
        found = self._plain(step, position, folded, recorded, reading)
        shown = surrogates.rename(found.arguments)
        if found.is_call:
            surrogates.see_values(found.argument_values)
            if found.effect is Effect.WRITE and not found.failed:
                surrogates.create(found.label, found.result_leaves)
            surrogates.see_values(found.result_values)
        elif step.text:
            surrogates.see_text(step.text)
        if not surrogates.names:
            return found
        rules, name = self.settings.ignore, step.name or ""
        texts = (
            argument_text(step, shown, scoped(rules.arguments, name), recorded),
            result_text(step, reading, surrogates, scoped(rules.results, name)),
        )
        return found if texts == (found.argument_text, found.result_text) else _renamed(found, *texts)

    def _plain(
        self, step: Step, position: int, folded: bool, recorded: Reading, reading: Reading | None
    ) -> PreparedStep:
        """The step as it stands, without names for what the trial created: made once for all that say the
        same."""
        result = step.result
        said = (step.kind, step.actor, step.name, step.text, folded, recorded, reading)
        key = (*said, step.arguments and step.arguments.state, result and result.is_error)
        known: PreparedStep | None = self.readings.steps.get(key)
        if known is not None:
            return known.again(step, position)
        rules, name = self.settings.ignore, step.name or ""
        out = scoped(rules.arguments, name)
        arguments = prune(recorded.value, out)
        given: tuple[tuple[str, str], ...] = ()
        got: tuple[tuple[str, str], ...] = ()
        if step.is_call:
            given = recorded.leaves if arguments is recorded.value else tuple(leaves(arguments))
            got = reading.leaves if reading is not None else tuple(leaves(None))
        made = self.readings.steps[key] = PreparedStep(
            position=position,
            index=step.index,
            step=step,
            label=self._label(step, arguments),
            effect=self.effect_of.get(name, Effect.UNKNOWN) if step.is_call else Effect.CONTROL,
            arguments=arguments,
            argument_text=argument_text(step, arguments, out, recorded),
            result=None if reading is None else reading.value,
            result_text=result_text(step, reading, Surrogates(), scoped(rules.results, name)),
            argument_leaves=given,
            result_leaves=got,
            is_call=step.is_call,
            is_message=step.kind is StepKind.MESSAGE,
            by_agent=step.actor == Actor.AGENT,
            by_user=step.actor == Actor.USER,
            failed=step.failed,
            text=step.text or "",
            folded=folded,
            hides=arguments is not recorded.value and arguments != recorded.value,
            reading=reading,
        )
        return made

    def _label(self, step: Step, arguments: Any) -> str:
        if not step.is_call or step.name is None:
            return str(step.kind)
        for rule in self.settings.steps:
            if fnmatchcase(step.name, rule.tool) and matches(arguments, rule.arguments):
                return rule.label
        return " ".join(words(step.name)) or step.name


class _ResultsText:
    """All text that a trial got back, folded when it is first searched."""

    def __init__(self, trial: Trial, readings: Readings) -> None:
        self._trial, self._readings = trial, readings
        self._text: str | None = None
        self._asked: dict[object, bool] = {}

    def __contains__(self, text: object) -> bool:
        # The other trials of a task ask about the same identifiers.
        known = self._asked.get(text)
        if known is None:
            if self._text is None:
                texts = (step.result.text for step in self._trial.steps if step.result is not None)
                self._text = "\n".join([self._readings.of_result(text).folded for text in texts])
            known = self._asked[text] = isinstance(text, str) and text in self._text
        return known


def argument_value(step: Step) -> Any:
    """The parsed arguments of a call; the raw text where they are not an object, None where not recorded."""
    if step.arguments is None or step.arguments.state is ArgumentState.ABSENT:
        return None
    if step.arguments.state is ArgumentState.INVALID:
        return step.arguments.raw
    return step.arguments.parsed if step.arguments.parsed is not None else {}


def argument_text(step: Step, arguments: Any, ignore: tuple[str, ...], recorded: Reading) -> str:
    """Canonical arguments; calls whose arguments were not recorded never equal calls without arguments."""
    if step.arguments is not None and step.arguments.state is ArgumentState.ABSENT:
        return "(not recorded)"
    if not step.is_call:
        return ""
    return recorded.canonical(ignore) if arguments is recorded.value else canonical(arguments, ignore)


def result_text(step: Step, reading: Reading | None, surrogates: Surrogates, ignore: tuple[str, ...]) -> str:
    """Canonical result; long ones are represented by their hash."""
    if step.result is None or reading is None:
        return "(no result)" if step.is_call else ""
    flag = "!" if step.result.is_error else ""
    if len(step.result.text) > RESULT_CAP:
        return flag + hashlib.sha256(step.result.text.encode("utf-8", "surrogatepass")).hexdigest()
    if reading.holds_none_of(surrogates.names):
        return flag + reading.canonical(ignore)
    renamed = surrogates.rename(reading.value)
    return flag + (reading.canonical(ignore) if renamed is reading.value else canonical(renamed, ignore))


def _renamed(step: PreparedStep, argument_text: str, result_text: str) -> PreparedStep:
    """The step with what the trial created under other names; shared too by all that say the same."""
    known = step.shared.setdefault("renamed", {}).setdefault((argument_text, result_text), {})
    made = object.__new__(PreparedStep)
    kept = {name: value for name, value in step.__dict__.items() if name in _FIELDS}
    made.__dict__.update(kept, argument_text=argument_text, result_text=result_text, shared=known)
    return made


_FIELDS = frozenset(PreparedStep.__dataclass_fields__)


def _folded(steps: Sequence[Step], arguments: Sequence[Reading]) -> frozenset[int]:
    """Positions of steps that add nothing: a failed call repeated successfully later, a call repeated with the
    same result, an empty message beside its tool call."""
    out: set[int] = set()
    calls = [
        (at, step, (step.actor, step.name, arguments[at].canonical()))
        for at, step in enumerate(steps)
        if step.is_call
    ]
    later_success: set[tuple[str, str | None, str]] = set()
    for at, step, key in reversed(calls):
        if not step.failed:
            later_success.add(key)
        elif key in later_success:
            out.add(at)
    seen: dict[tuple[str, str | None, str], str] = {}
    for at, step, key in calls:
        if step.result is not None and not step.failed:
            if seen.get(key) == step.result.text:
                out.add(at)
            seen[key] = step.result.text
    for at, step in enumerate(steps):
        if step.kind is StepKind.MESSAGE and not (step.text or "").strip():
            out.add(at)
    return frozenset(out)


def scoped(patterns: tuple[str, ...], tool: str) -> tuple[str, ...]:
    """Ignore patterns that apply to one tool, without the tool's part (``tool.path`` or ``*.path``)."""
    out = []
    for pattern in patterns:
        head, _, rest = pattern.partition(".")
        if rest and fnmatchcase(tool, head):
            out.append(rest)
            if head == "*":
                out.append(f"*.{rest}")
        elif not rest:
            out.append(pattern)
    return tuple(out)


def matches(arguments: Any, patterns: Mapping[str, str]) -> bool:
    """Whether the arguments have a fitting value at every path of the patterns."""
    found = dict(leaves(arguments))
    return all(fnmatchcase(found.get(path, ""), fold(pattern)) for path, pattern in patterns.items())
