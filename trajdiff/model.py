"""The frozen values everything else is built from: trials, steps, verdicts and where they were recorded.

Importers make these values, nothing changes them afterwards. Sequences are tuples, so that a trial can be
shared between tasks, threads and processes; a step's arguments and result may hold dicts, so steps are
compared by index or by canonical string, never hashed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, field

Value = TypeVar("Value")


class Verdict(StrEnum):
    """The outcome of a trial. Four states, never folded into one another silently."""

    PASS = "pass"
    FAIL = "fail"
    UNSCORED = "unscored"
    INFRA = "infra"


class StepKind(StrEnum):
    """What a step is. A paired tool call is one step that carries its result."""

    TOOL_CALL = "tool_call"
    MESSAGE = "message"
    REASONING = "reasoning"
    ERROR = "error"
    COMPACTION = "compaction"
    ORPHAN_RESULT = "orphan_result"
    TERMINATION = "termination"


class Actor(StrEnum):
    """Who acts. Sub-agents are recorded as ``subagent:<id>``, so ``Step.actor`` is a plain string."""

    AGENT = "agent"
    USER = "user"
    ENVIRONMENT = "environment"
    SYSTEM = "system"


class ArgumentState(StrEnum):
    """How the arguments of a call were recorded. ``absent`` (not recorded) never equals ``empty``."""

    OK = "ok"
    EMPTY = "empty"
    INVALID = "invalid"
    ABSENT = "absent"


class Effect(StrEnum):
    """What a tool does: look, change, steer the conversation (think, hand over), or not known."""

    READ = "read"
    WRITE = "write"
    CONTROL = "control"
    UNKNOWN = "unknown"


class TerminationReason(StrEnum):
    """Why a trial stopped. A label beside the verdict, which always wins."""

    AGENT_DONE = "agent_done"
    USER_DONE = "user_done"
    MAX_STEPS = "max_steps"
    TIME_LIMIT = "time_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    CONTEXT_LIMIT = "context_limit"
    TOO_MANY_ERRORS = "too_many_errors"
    AGENT_ERROR = "agent_error"
    USER_SIM_ERROR = "user_sim_error"
    INFRA_ERROR = "infra_error"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


#: Endings by the trial's own budget: without a verdict they count as failures.
LIMITS = frozenset(
    {
        TerminationReason.MAX_STEPS,
        TerminationReason.TIME_LIMIT,
        TerminationReason.TOKEN_LIMIT,
        TerminationReason.COST_LIMIT,
        TerminationReason.CONTEXT_LIMIT,
        TerminationReason.TOO_MANY_ERRORS,
    }
)


class Severity(StrEnum):
    """How much a diagnostic matters: ``error`` stops or skips, ``warning`` affects the result."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class SourceRef(Struct, frozen=True, kw_only=True, gc=False):
    """A place in a recorded log.

    ``path`` is the path as the user gave it, ``pointer`` a JSON path (``$.simulations[3].messages[8]``),
    ``line`` the 1-based line for JSONL, ``message_index`` the 0-based index into the recorded message list.
    """

    path: str
    pointer: str
    message_index: int | None = None
    line: int | None = None


class Diagnostic(Struct, frozen=True, kw_only=True):
    """Something about the input that the reader must be told; ``slug`` is stable and machine-readable."""

    severity: Severity
    slug: str
    message: str
    path: str | None = None
    pointer: str | None = None
    details: tuple[str, ...] = ()
    task_id: str | None = None
    trial_id: str | None = None


class Arguments(Struct, frozen=True, kw_only=True, gc=False):
    """The arguments of a tool call: the raw text where there was one, the parsed value and its state."""

    raw: str | None
    parsed: Any
    state: ArgumentState
    decoded_by: str | None = None


class Result(Struct, frozen=True, kw_only=True, gc=False):
    """What came back from a tool call. ``is_error`` is None where the log does not say."""

    text: str
    is_error: bool | None = None
    error_rule: str | None = None
    truncated: bool = False


class Candidate(Struct, frozen=True, kw_only=True):
    """A tool the agent could have chosen, with the recorded score or reason, where the log has them."""

    name: str
    arguments: Any = None
    score: float | None = None
    reason: str | None = None


class Step(Struct, frozen=True, kw_only=True, gc=False):
    """One entry of a trial: a message, a tool call with its result, an error, a compaction, or the end.

    ``index`` counts the steps of the trial from 0; ``source.message_index`` counts recorded messages.
    Steps from one recorded message share ``turn``; parallel calls share ``parallel_group``.
    """

    index: int
    actor: str
    kind: StepKind
    source: SourceRef
    text: str | None = None
    name: str | None = None
    arguments: Arguments | None = None
    result: Result | None = None
    result_source: SourceRef | None = None
    call_uid: str | None = None
    call_id: str | None = None
    effect_hint: Effect | None = None
    turn: int = 0
    parallel_group: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    model: str | None = None
    candidates: tuple[Candidate, ...] = ()
    choice_reason: str | None = None

    @property
    def is_call(self) -> bool:
        """Whether this step is a tool call (answered or not)."""
        return self.kind is StepKind.TOOL_CALL

    @property
    def failed(self) -> bool:
        """Whether the tool said that the call failed."""
        return self.result is not None and self.result.is_error is True


#: The rule of a trial that has several scores of which the user chose none: it was judged, so that its
#: limit decides nothing.
NONE_CHOSEN = "several scores, none chosen"


class Judgement(Struct, frozen=True, kw_only=True):
    """How the verdict of a trial came about: the raw value, the scorer and the rule that decided."""

    state: Verdict
    raw: Any = None
    scorer: str | None = None
    rule: str = ""
    threshold: float | None = None


class Termination(Struct, frozen=True, kw_only=True):
    """Why the trial stopped; ``rule`` says how the reason was found where the log does not record it."""

    reason: TerminationReason = TerminationReason.UNKNOWN
    raw: str | None = None
    rule: str | None = None


class CriterionItems(Struct, frozen=True, kw_only=True):
    """Expected against produced items of one acceptance criterion (identifiers or short texts)."""

    criterion: str
    expected: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of a trial. Unknown is None, never 0; ``input`` includes cache reads."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Human(Struct, frozen=True, kw_only=True):
    """A person's part in a trial: minutes spent, whether they corrected it, whether the task is in scope."""

    minutes: float | None = None
    assisted: bool | None = None
    in_scope: bool | None = None


class Provenance(Struct, frozen=True, kw_only=True):
    """What produced the trial; a difference inside a task makes its trials hard to compare."""

    model: str | None = None
    agent: str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    prompt_version: str | None = None
    tool_version: str | None = None
    environment_version: str | None = None
    fixture_version: str | None = None
    scorer_version: str | None = None


class ExpectedAction(Struct, frozen=True, kw_only=True):
    """A reference call recorded with the task (gold action); a set of them, never a sequence to copy."""

    name: str
    arguments: Any = None
    actor: str = Actor.AGENT


class Task(Struct, frozen=True, kw_only=True):
    """One problem with one grader. ``script`` is what the simulated user was told to do, where recorded."""

    task_id: str
    suite: str | None = None
    title: str | None = None
    fingerprint: str | None = None
    script: str | None = None
    expected_actions: tuple[ExpectedAction, ...] | None = None
    expected_outputs: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Tally(Struct, frozen=True, kw_only=True):
    """Counts over the steps of a trial, its end left out: ``tools`` are (name, calls, failed calls, calls for
    which the log itself names an effect) by tool and effect, in order of their first call; the
    name of a call without one is empty. ``ends`` counts the steps that are the end."""

    steps: int
    calls: int
    failed: int
    tools: tuple[tuple[str, int, int, Effect | None], ...] = ()
    ends: int = 1

    def hinted(self, effects: Mapping[str, Effect]) -> Tally:
        """The same where the log names the effects of these tools."""
        if not effects:
            return self
        tools = tuple((name, n, bad, effects.get(name, hint)) for name, n, bad, hint in self.tools)
        return Tally(steps=self.steps, calls=self.calls, failed=self.failed, tools=tools, ends=self.ends)


def tally_of(steps: Sequence[Step]) -> Tally:
    """Counts over steps."""
    tools: dict[tuple[str, Effect | None], list[int]] = {}
    counted = calls = failed = 0
    for step in steps:
        if step.kind is StepKind.TERMINATION:
            continue
        counted += 1
        if step.is_call:
            calls += 1
            failed += step.failed
            found = tools.setdefault((step.name or "", step.effect_hint), [0, 0])
            found[0] += 1
            found[1] += step.failed
    rows = tuple((name, found[0], found[1], hint) for (name, hint), found in tools.items())
    return Tally(steps=counted, calls=calls, failed=failed, tools=rows, ends=len(steps) - counted)


def remembered(trial: Trial, key: Hashable, compute: Callable[[], Value]) -> Value:
    """What ``compute`` makes of the steps of a trial; where these stay in their file, it is kept with them."""
    memo: dict[Hashable, Any] | None = getattr(trial.steps, "memo", None)
    if memo is None:
        return compute()
    if key not in memo:
        memo[key] = compute()
    found: Value = memo[key]
    return found


class Trial(Struct, frozen=True, kw_only=True):
    """One recorded attempt at one task, from start to end. The last step is its termination."""

    task_id: str
    trial_id: str
    ordinal: int
    steps: Sequence[Step]
    judgement: Judgement
    source: SourceRef
    suite: str | None = None
    producer_id: str | None = None
    reward: float | None = None
    sub_scores: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[CriterionItems, ...] = ()
    termination: Termination = field(default_factory=Termination)
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    duration_s: float | None = None
    started_at: str | None = None
    ended_at: str | None = None
    human: Human = field(default_factory=Human)
    provenance: Provenance = field(default_factory=Provenance)
    message_count: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The outcome of the trial."""
        return self.judgement.state

    @property
    def comparable(self) -> bool:
        """Whether anything but the end was recorded."""
        known = getattr(self.steps, "tally", None)
        if isinstance(known, Tally):
            return known.steps > 0
        return any(step.kind is not StepKind.TERMINATION for step in self.steps)

    @property
    def tally(self) -> Tally:
        """Counts over the steps; of steps that stay in their file it is known without reading them."""
        known = getattr(self.steps, "tally", None)
        return known if isinstance(known, Tally) else tally_of(self.steps)


class TaskTrials(Struct, frozen=True, kw_only=True):
    """All trials of one task, ordered by ordinal, then trial id.

    ``expected_n`` is the planned number of trials, None where no plan was recorded; ``missing`` names the
    planned trials that are not there. ``group`` says whose trials these are where a task was tried by several
    models or agents; the task id then ends in it, in brackets.
    """

    task: Task
    trials: tuple[Trial, ...]
    expected_n: int | None = None
    missing: tuple[str, ...] = ()
    group: str | None = None

    @property
    def task_id(self) -> str:
        """Id of the task."""
        return self.task.task_id

    def with_verdict(self, verdict: Verdict) -> tuple[Trial, ...]:
        """Trials with this verdict, in order."""
        return tuple(trial for trial in self.trials if trial.verdict is verdict)

    @property
    def passes(self) -> tuple[Trial, ...]:
        """Passed trials, in order."""
        return self.with_verdict(Verdict.PASS)

    @property
    def failures(self) -> tuple[Trial, ...]:
        """Failed trials, in order."""
        return self.with_verdict(Verdict.FAIL)


class InputFile(Struct, frozen=True, kw_only=True):
    """One file that was read: its format, how it was recognised, its hash and what came out of it."""

    path: str
    format: str
    sha256: str
    tasks: int
    trials: int
    recognised_by: str = ""
    producer: Mapping[str, Any] = field(default_factory=dict)


class Corpus(Struct, frozen=True, kw_only=True):
    """Everything that one call of ``load`` read: tasks in natural order of their ids, files, diagnostics."""

    tasks: tuple[TaskTrials, ...]
    files: tuple[InputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials of all tasks, in order."""
        return tuple(trial for task in self.tasks for trial in task.trials)
