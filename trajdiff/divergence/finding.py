"""What the analysis says about a task and about each of its failed trials.

These are plain values: the analysis fills them, the report joins them with the reliability rows, renderers
print them. Step numbers here are indices into ``Trial.steps``; row numbers of the aligned table are added by
the report, because rows shift when trials are added.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from trajdiff.align.table import AlignedTable


class Kind(StrEnum):
    """What kind of difference separates the outcomes."""

    MISSING_STEP = "missing_step"
    WRONG_ARGUMENT = "wrong_argument"
    WRONG_TOOL = "wrong_tool"
    EXTRA_WRITE = "extra_write"
    INEFFECTIVE_WRITE = "ineffective_write"
    DUPLICATE_WRITE = "duplicate_write"
    WRONG_ORDER = "wrong_order"
    RESULT_DIFFERENCE = "result_difference"
    MISREAD_RESULT = "misread_result"
    WRONG_ANSWER = "wrong_answer"
    UNRECOVERED_ERROR = "unrecovered_error"
    EARLY_STOP = "early_stop"
    LOOP = "loop"
    USER_DEVIATION = "user_deviation"
    INFRASTRUCTURE = "infrastructure"
    SAME_PATH = "same_path_other_outcome"


#: How the line of evidence begins that says what coarser comparisons would have said: a detail for a full view.
COARSER = "writes that stand at the end: "


class Blame(StrEnum):
    """Whose step the root is."""

    AGENT = "agent"
    USER = "user"
    ENVIRONMENT = "environment"
    INFRASTRUCTURE = "infrastructure"
    GRADER = "grader"


class Grade(StrEnum):
    """How much stands behind a divergence; A is most, D is a finding inside one trial."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"


class Reason(StrEnum):
    """Why nothing is claimed about a failed trial."""

    NO_SEPARATING_STEP = "no_separating_step"
    TOO_FEW_TRIALS = "too_few_trials"
    NO_COMMON_GROUND = "no_common_ground"
    WORDING_ONLY = "wording_only"
    NOT_COMPARABLE = "not_comparable"
    NO_PASSING_TRIAL = "no_passing_trial"
    SAME_PATH = "same_path_other_outcome"
    INFRASTRUCTURE = "infrastructure"


class FindingKind(StrEnum):
    """The one thing a task row says."""

    DIVERGENCE = "divergence"
    SAME_PATH = "same_path_other_outcome"
    ABSTAINED = "abstained"
    INFRASTRUCTURE = "infrastructure"
    NEVER_PASS = "never_pass"
    ALWAYS_PASS = "always_pass"
    NOT_COMPARED = "not_compared"


class StepRef(Struct, frozen=True, kw_only=True, gc=False):
    """A step of a trial: ``step`` indexes ``Trial.steps``; ``message`` the recorded message list."""

    trial_id: str
    step: int
    message: int | None
    pointer: str
    path: str
    line: int | None = None


class Support(Struct, frozen=True, kw_only=True, gc=False):
    """How many failed and passed trials with steps show the deviation, by one test for both sides.
    ``smallest_p``: the smallest two-sided p any split of these trials could reach (Fisher)."""

    failed_with: int
    failed: int
    passed_with: int
    passed: int
    smallest_p: float | None


class ValueOrigin(Struct, frozen=True, kw_only=True, gc=False):
    """Where the deciding value was first seen in the failed trial.

    ``origin`` is ``user_message``, ``tool_result``, ``system_message`` or ``nowhere``.
    """

    value: str
    origin: str
    tool: str | None = None
    message: int | None = None
    path: str | None = None


class Side(Struct, frozen=True, kw_only=True, gc=False):
    """One side of a changed step, as text: ``trial_id``, the call or message, its message index."""

    trial_id: str
    text: str
    message: int | None


class FirstDifference(Struct, frozen=True, kw_only=True, gc=False):
    """The earliest call of the agent that is not the same as in the passes; usually harmless.

    ``step`` is the failing trial's step; for a missing call it is the pass's, because the trial has none.
    ``trial_id`` is the failing trial.
    """

    trial_id: str
    step: StepRef
    kind: str
    text: str
    recovered: bool


class Recovered(Struct, frozen=True, kw_only=True, gc=False):
    """A deviation that was repaired later, or is seen in passes too: shown, never critical."""

    text: str
    opened_at: StepRef
    closed_at: StepRef | None
    closed_by: str


class ReviewNote(Struct, frozen=True, kw_only=True):
    """What a reviewer said about a divergence: ``agree``, ``disagree`` or ``unsure``.

    ``ref`` is a better place, ``carried`` True where it was said about an earlier run with the same identity.
    """

    verdict: str
    category: str | None = None
    ref: str | None = None
    note: str | None = None
    reviewer: str | None = None
    carried: bool = False


class Tested(Struct, frozen=True, kw_only=True):
    """What an intervention at a divergence came to: failures and trials of its arms, exact p, conclusion.

    ``label`` says what was held fixed, ``ref`` which recorded step. Without a placebo its counts are None.
    """

    label: str
    ref: str | None
    conclusion: str
    control_failures: int
    control_trials: int
    pinned_failures: int
    pinned_trials: int
    placebo_failures: int | None = None
    placebo_trials: int | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


class Divergence(Struct, frozen=True, kw_only=True):
    """The earliest critical divergence of one failed trial, or the reason why none is claimed.

    ``root`` is the step that first commits to the other way, ``manifest`` the step where it takes effect;
    both are steps of the failed trial. ``passed_root`` and ``passed_manifest`` are the steps of the reference
    at the same places, None where passes have none. ``headline`` fits a table cell, ``sentence`` is one
    sentence for people; ``before`` names the call that went ahead without a missing step. ``identity`` survives
    a rerun: task, kind, step label, argument path, place.
    ``failed_put_back`` and ``passed_put_back`` count trials that made the same write and undid it by their end;
    ``ignored_differences`` the argument differences that ignore rules hid. ``accepted`` is the reason of the
    accept entry that matched, ``reviews`` what reviewers said, ``tested`` what interventions came to; these are
    added after the analysis.
    """

    task_id: str
    trial_id: str
    abstained: bool
    reason: Reason | None = None
    kind: Kind | None = None
    actor: Blame | None = None
    grade: Grade | None = None
    tool: str | None = None
    argument: str | None = None
    headline: str = ""
    before: str | None = None
    sentence: str = ""
    root: StepRef | None = None
    manifest: StepRef | None = None
    passed_root: StepRef | None = None
    passed_manifest: StepRef | None = None
    root_sides: tuple[Side, ...] = ()
    manifest_sides: tuple[Side, ...] = ()
    support: Support | None = None
    provenance: ValueOrigin | None = None
    evidence: tuple[str, ...] = ()
    recovered: tuple[Recovered, ...] = ()
    first_difference: FirstDifference | None = None
    group: tuple[str, ...] = ()
    identity: str = ""
    row_id: str = ""
    ignored_differences: int = 0
    failed_put_back: int = 0
    passed_put_back: int = 0
    accepted: str | None = None
    reviews: tuple[ReviewNote, ...] = ()
    tested: tuple[Tested, ...] = ()


class Variant(Struct, frozen=True, kw_only=True):
    """Trials of a task with the same path (same calls, arguments, results and stated facts)."""

    trials: tuple[str, ...]


class Way(Struct, frozen=True, kw_only=True):
    """Failed trials of a task without reference that left the same behind and ended alike. ``writes`` are tool
    names in order; ``at`` is the last standing write of each trial, else its last step."""

    trials: tuple[str, ...]
    text: str
    writes: tuple[str, ...]
    ending: str
    at: tuple[StepRef, ...] = ()


class NearMiss(Struct, frozen=True, kw_only=True):
    """Something in a passed trial of a task that always passes that would be looked at had it failed.

    ``kind`` is ``guard_skipped``, ``write_undone`` or ``repeated``.
    """

    trial_id: str
    kind: str
    text: str
    step: StepRef


class TaskFinding(Struct, frozen=True, kw_only=True):
    """What a task row says: one finding, and a divergence or abstention for every failed or infra trial.

    ``lead`` is the divergence the row shows (first group by grade, then size); ``other_groups`` counts the
    further ones. ``ways`` groups the failed trials of a task without reference; ``near_misses`` are of tasks
    that always pass. ``notes`` say both in words.
    """

    task_id: str
    kind: FindingKind
    text: str
    divergences: tuple[Divergence, ...] = ()
    lead: Divergence | None = None
    other_groups: int = 0
    reference: str | None = None
    variants: tuple[Variant, ...] = ()
    table: AlignedTable | None = None
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()


class ToolEffect(Struct, frozen=True, kw_only=True):
    """The effect of a tool over the whole report, and the rule that decided it."""

    tool: str
    effect: str
    rule: str
    calls: int
    errors: int


class SelfCheck(Struct, frozen=True, kw_only=True):
    """Each passing trial of a task with two or more passes, treated as if it had failed.

    ``by_level`` says for each level below writes how many of these trials it accuses when all levels are tried:
    a level that accuses too many is not used.
    """

    false_alarms: int
    passing_trials: int
    alarms: tuple[str, ...] = ()
    by_level: tuple[tuple[str, int], ...] = ()
