"""From a suspect to what the reader is told: support on both sides, grade, sentence, sources, identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from trajdiff.align.graph import align_all, graphs_to_come, success_graphs
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.rows import argument_texts
from trajdiff.align.values import only_left
from trajdiff.divergence import deviations
from trajdiff.divergence.case import ALL_LEVELS, Case, Levels, Suspect
from trajdiff.divergence.critical import earliest
from trajdiff.divergence.finding import (
    COARSER,
    Divergence,
    FirstDifference,
    Grade,
    Kind,
    Reason,
    Recovered,
    Side,
    StepRef,
    Support,
    ValueOrigin,
)
from trajdiff.divergence.ledger import effective_writes, is_write, key, subject
from trajdiff.divergence.lower_levels import lower_levels
from trajdiff.divergence.provenance import origin
from trajdiff.divergence.support import put_back, showing, smallest_p
from trajdiff.divergence.wording import headline, sentence
from trajdiff.divergence.work.claims import by_commands, no_level
from trajdiff.frozen import replace

#: Levels at which a difference reaches a state-changing call or the end of the trial.
STRONG_LEVELS = frozenset({"write", "end"})
#: Passes that are left out one by one to see whether an answer stays.
MOST_LEFT_OUT = 16
#: Longer values are texts; where a text came from says nothing.
LONGEST_VALUE = 60


def divergence(case: Case, suspect: Suspect) -> Divergence:
    """The divergence of one failing trial; its group is added when all failures of the task are judged."""
    failing = case.failing
    root, manifest = case.steps[suspect.root], case.steps[suspect.manifest]
    expected, reference = suspect.expected, suspect.reference
    known = reference is not None and expected is not None and not case.borrowed
    passed = ref(reference, expected) if known and reference and expected else None
    counterpart = _counterpart(case, suspect)
    graded, lacks = grade(case, suspect)
    hidden = deviations.hidden(case)
    return Divergence(
        task_id=case.task.task_id,
        trial_id=failing.trial_id,
        abstained=False,
        kind=suspect.kind,
        actor=suspect.actor,
        grade=graded,
        tool=suspect.tool,
        argument=suspect.path,
        headline=headline(suspect),
        before=_went_ahead(case, suspect),
        sentence=sentence(case, suspect),
        root=ref(failing, root),
        manifest=ref(failing, manifest),
        passed_root=passed,
        passed_manifest=counterpart and ref(counterpart[0], counterpart[1]),
        root_sides=_sides(failing, root, reference, expected),
        manifest_sides=_sides(failing, manifest, *(counterpart or (None, None))),
        support=support(case, suspect),
        provenance=_origin(case, suspect, counterpart),
        evidence=(*_evidence(case, suspect), *(f"grade {graded}: {why}" for why in lacks), *_hidden(hidden)),
        recovered=recovered(case, suspect),
        failed_put_back=put_back(case, suspect, case.failures),
        passed_put_back=0 if case.borrowed else put_back(case, suspect, case.passes),
        ignored_differences=hidden,
        first_difference=None if case.borrowed else first_difference(case),
        identity=identity(case, suspect),
        row_id=row_id(case, suspect),
    )  # fmt: skip


def _went_ahead(case: Case, suspect: Suspect) -> str | None:
    """The call that was made although a step before it is missing; None where a message or the end stands
    there."""
    manifest = case.steps[suspect.manifest]
    if suspect.kind is not Kind.MISSING_STEP or not manifest.is_call or manifest.step.name == suspect.tool:
        return None
    return manifest.step.name


def _counterpart(case: Case, suspect: Suspect) -> tuple[PreparedTrial, PreparedStep] | None:
    """What the passes do where the trial's manifest step stands: the step in the same column, else the same
    tool's call, else the expected step itself."""
    manifest, reference = case.steps[suspect.manifest], suspect.reference
    if case.borrowed or reference is None:
        return None
    number = next(n for n, trial in enumerate(case.passes) if trial.trial_id == reference.trial_id)
    column = case.column_at.get(manifest.position)
    position = case.graph.columns[column].position(number) if column is not None else None
    if position is not None:
        return reference, reference.steps[position]
    if manifest.is_call:
        same = next((s for s in reference.calls if s.label == manifest.label and not s.failed), None)
        if same is not None:
            return reference, same
    return (reference, suspect.expected) if suspect.expected is not None else None


def ref(trial: PreparedTrial, step: PreparedStep) -> StepRef:
    """The place of a step in its log."""
    source = step.step.source
    return StepRef(
        trial_id=trial.trial_id, step=step.index, message=source.message_index, pointer=source.pointer,
        path=source.path, line=source.line,
    )  # fmt: skip


def show(step: PreparedStep) -> str:
    """A step as one text: the call with its arguments and result, or the message."""
    if not step.is_call:
        return step.text or step.step.kind.value
    arguments = ", ".join(f"{name}={value}" if name else value for name, value in argument_texts(step))
    result = f" → {step.step.result.text}" if step.step.result is not None else ""
    return f"{step.step.name}({arguments}){result}"


def first_difference(case: Case) -> FirstDifference | None:
    """The earliest call that is not the same as in the passes, or None where only words differ."""
    found = next(iter(deviations.find(case)), None)
    if found is None:
        return None
    step = found.step or case.steps[min(found.place, len(case.steps) - 1)]
    shown = found.step or found.expected
    name = shown.step.name if shown is not None else None
    made = found.step is not None and deviations.in_passes(case, found.step)
    words = {"missing": "missing", "extra": "at another place" if made else "only here",
             "changed": "at another place" if made else "with other arguments",
             "other_result": "same call, other result"}[found.kind]  # fmt: skip
    paths = f" ({', '.join(found.paths[:3])})" if found.paths and not made else ""
    closed = any(r.opened.position == step.position for r in deviations.repairs(case))
    place = ref(case.failing, step)
    if found.step is None and found.expected is not None:
        place = ref(case.passes[0], found.expected)
    return FirstDifference(
        trial_id=case.failing.trial_id,
        step=place,
        kind=found.kind.value,
        text=f"{name} {words}{paths}",
        recovered=closed and found.step is not None,
    )


def recovered(case: Case, suspect: Suspect | None = None) -> tuple[Recovered, ...]:
    """Deviations up to the root that the trial repaired itself, and by something else than what is claimed."""
    claimed = () if suspect is None else (suspect.root, suspect.manifest)
    before = len(case.steps) if suspect is None else suspect.root
    return tuple(
        Recovered(
            text=f"{repair.opened.step.name}: {repair.deviation}",
            opened_at=ref(case.failing, repair.opened),
            closed_at=ref(case.failing, repair.closed),
            closed_by=repair.closed.step.name or "",
        )
        for repair in deviations.repairs(case)
        if repair.opened.position <= before and repair.closed.position not in claimed
    )


def support(case: Case, suspect: Suspect) -> Support:
    """How many failed and passed trials with steps show the deviation, and the smallest p they could reach."""
    passes = () if case.borrowed else case.passes
    failures = case.failures or (case.failing,)
    return Support(
        failed_with=showing(case, suspect, failures),
        failed=len(failures),
        passed_with=showing(case, suspect, passes),
        passed=len(passes),
        smallest_p=smallest_p(len(failures), len(passes)),
    )


def grade(case: Case, suspect: Suspect) -> tuple[Grade, tuple[str, ...]]:
    """The grade and what it lacks to be better.

    A: every pass agrees (two or more), none shows the deviation, the difference reaches a write or the end, the
    root is a call (readers accepted such places in nine of ten answers, places in messages in seven), and
    leaving out any one pass gives the same answer. B: something of this is missing. C: a borrowed reference.
    """
    if case.borrowed:
        return Grade.C, ("the reference is the task's recorded expected actions: no trial of it passed",)
    lacks = []
    if len(case.passes) < 2:
        lacks.append("only one passed trial")
    if suspect.level not in STRONG_LEVELS:
        lacks.append("rests on what was read or said, not on a write or the end")
    if not case.steps[suspect.root].is_call:
        lacks.append("the place rests on what a message says, not on a call")
    if showing(case, suspect, case.passes):
        lacks.append("a passed trial shows it too")
    if len({tuple(sorted(map(key, effective_writes(trial)))) for trial in case.passes}) > 1:
        lacks.append("passed trials do not agree in what they change")
    if not lacks and not stable(case, suspect):
        lacks.append("another answer when one passed trial is left out")
    return (Grade.B if lacks else Grade.A), tuple(lacks)


def stable(case: Case, suspect: Suspect) -> bool:
    """Whether the answer stays the same whichever single pass is left out; of many passes the first, which is
    the reference, and the last are tried: graphs that begin alike share their work."""
    everyone = range(len(case.passes))
    tried = everyone if len(everyone) <= MOST_LEFT_OUT else (0, *everyone[1 - MOST_LEFT_OUT :])
    rests = [[case.passes[n] for n in everyone if n != left_out] for left_out in tried]
    graphs = graphs_to_come(rests, case.graph.costs)
    together = False
    for graph in graphs:
        again = earliest(
            Case(task=case.task, failing=case.failing, graph=graph, levels=case.levels, left_out=1)
        )
        if again is None or (again.kind, again.root) != (suspect.kind, suspect.root):
            return False
        if graph.is_made and not together:  # so will be the others, which together is quicker
            success_graphs([one.trials for one in graphs], case.graph.costs)
            align_all([(one, case.failing) for one in graphs])
            together = True
    return True


def identity(case: Case, suspect: Suspect) -> str:
    """What stays the same when the tool runs again on new trials: task, kind, step, argument, place. Steps go
    by their labels: a tool that was renamed or split keeps them where ``steps`` of the settings says so."""
    root, manifest = case.steps[suspect.root], case.steps[suspect.manifest]
    step = suspect.expected or manifest
    path = (suspect.path or "").split("[")[0] if suspect.kind is Kind.WRONG_ARGUMENT else ""
    labels = (s.label for s in (step, manifest, root) if s.step.name == suspect.tool)
    tool = next(labels, suspect.tool or "") if suspect.tool else ""
    return "|".join((case.task.task_id, suspect.kind.value, tool, path, step.label))


def row_id(case: Case, suspect: Suspect) -> str:
    """Identity of the row: task, content of the trials, kind and root; not row numbers."""
    contents = sorted(trial.signature for trial in (case.failing, *case.passes))
    root = case.steps[suspect.root].step.source
    parts = [case.task.task_id, case.failing.trial_id, suspect.kind.value, root.message_index, contents]
    digest = hashlib.sha256(json.dumps(parts).encode("utf-8", "backslashreplace")).hexdigest()
    return f"d-{digest[:10]}"


def _origin(
    case: Case, suspect: Suspect, counterpart: tuple[PreparedTrial, PreparedStep] | None
) -> ValueOrigin | None:
    """Where the deciding value came from; without one, the first value in which the manifest step differs from
    the passes' call there."""
    path, value = suspect.path, suspect.value
    manifest = case.steps[suspect.manifest]
    if value is None and counterpart is not None and manifest.is_call and counterpart[1].is_call:
        differing = only_left(manifest.arguments, counterpart[1].arguments) if is_write(manifest) else ()
        path, value = differing[0] if differing else (None, None)
    if value is None or path is None or ", " in value or len(value) > LONGEST_VALUE:
        return None
    return origin(case.failing, value, path, suspect.manifest)


def _sides(
    failing: PreparedTrial, step: PreparedStep, reference: PreparedTrial | None, expected: PreparedStep | None
) -> tuple[Side, ...]:
    own = Side(trial_id=failing.trial_id, text=show(step), message=step.step.source.message_index)
    if reference is None or expected is None:
        return (own,)
    theirs = Side(trial_id=reference.trial_id, text=show(expected), message=expected.step.source.message_index)
    return theirs, own


def _evidence(case: Case, suspect: Suspect) -> tuple[str, ...]:
    lines = []
    if suspect.announced:
        lines.append("announced in a message first; the call that carries it out comes later")
    if suspect.expected_value is not None and suspect.value is not None:
        theirs = (
            "expected"
            if case.borrowed
            else f"in trial {suspect.reference.trial_id}"
            if suspect.reference
            else ""
        )
        own = f"in trial {case.failing.trial_id}"
        lines.append(f"{suspect.path}: {suspect.expected_value} {theirs}, {suspect.value} {own}")
    if suspect.level == "write":
        lines.append(_how_coarse(case))
    if case.borrowed:
        return tuple(lines)
    writes: Sequence[int] = sorted({len(effective_writes(trial)) for trial in case.passes})
    if writes == [0] and effective_writes(case.failing):
        lines.append("no passed trial changes anything")
    return tuple(lines)


def _how_coarse(case: Case) -> str:
    """What coarser comparisons of the standing writes would have said: by tool and record, by tool alone."""

    def left(trial: PreparedTrial, coarse: Callable[[PreparedStep], tuple[str, ...]]) -> list[tuple[str, ...]]:
        return sorted(coarse(write) for write in effective_writes(trial))

    def differs(coarse: Callable[[PreparedStep], tuple[str, ...]]) -> str:
        own = left(case.failing, coarse)
        return "the same as a reference" if any(own == left(t, coarse) for t in case.passes) else "different"

    by_record = differs(lambda write: (write.label, subject(write) or ""))
    by_tool = differs(lambda write: (write.label,))
    return f"{COARSER}different in full, {by_record} by tool and record, {by_tool} by tool"


def _hidden(differences: int) -> tuple[str, ...]:
    """What the ignore rules hid, so that a lost difference is not taken for none."""
    return (f"ignore rules hid {differences} argument differences",) if differences else ()


def _in_order(trial: PreparedTrial) -> list[str]:
    return [step.full_key for step in trial.calls]


def _calls_of_the_user(trial: PreparedTrial) -> tuple[str, ...]:
    return tuple(sorted(step.full_key for step in trial.steps if step.is_call and step.by_user))


def nothing_separates(case: Case) -> tuple[Reason, str]:
    """Why nothing is claimed about a failing trial, for the reader."""
    if any(trial.signature == case.failing.signature for trial in case.passes):
        return Reason.SAME_PATH, "same path as a passed trial: look at the grader or unrecorded state"
    if not case.common_ground:
        return Reason.NO_COMMON_GROUND, "the trial shares no step with any passed trial"
    if case.last_agent_step is None:
        return Reason.NOT_COMPARABLE, "the agent never acts in this trial"
    if by_commands(case):
        few = len(case.passes) < 2
        return (Reason.TOO_FEW_TRIALS if few else Reason.NO_SEPARATING_STEP), no_level(case)
    paths = {tuple(sorted(step.full_key for step in trial.calls)) for trial in case.passes}
    if tuple(sorted(step.full_key for step in case.failing.calls)) in paths:
        if _in_order(case.failing) not in map(_in_order, case.passes):
            return Reason.NO_SEPARATING_STEP, "the trial makes the calls of a passed trial in another order"
        users = {_calls_of_the_user(trial) for trial in case.passes}
        if _calls_of_the_user(case.failing) not in users:
            return Reason.NO_SEPARATING_STEP, "only calls of the user differ, and those are not judged"
        return Reason.WORDING_ONLY, "the trials differ in free text alone"
    if len(case.passes) < 2:
        return Reason.TOO_FEW_TRIALS, "one passed trial is too few to say which difference matters"
    unused = _at_an_unused_level(case)
    if unused is not None:
        return Reason.NO_SEPARATING_STEP, unused
    return Reason.NO_SEPARATING_STEP, (
        "each difference found is seen in passed trials, was repaired, or changes nothing"
    )


def _at_an_unused_level(case: Case) -> str | None:
    """What a level would have said that is not used here: held-out passes trip over it, or are too few."""
    if case.levels.allowed >= ALL_LEVELS:
        return None
    suspect = lower_levels(replace(case, levels=Levels(ALL_LEVELS)))
    if suspect is None or suspect.level in case.levels.allowed:
        return None
    said = headline(suspect)
    unlike = f'only the level "{suspect.level}" tells it apart ({said})'
    return f"{unlike}, which held-out passed trials do not bear out"
