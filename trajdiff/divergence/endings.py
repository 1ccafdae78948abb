"""How a trial ended: cut by the harness or its limit, a loop, a refused call that it left at that.

An ending is a divergence in its own right only where it explains what is missing at the end; an unknown ending
explains nothing.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from trajdiff.align.prepared import PreparedStep
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.places import unmade_reads
from trajdiff.model import LIMITS, Effect, TerminationReason

#: Endings by the harness: whoever had not acted yet did not stop.
BROKEN = frozenset(
    {TerminationReason.USER_SIM_ERROR, TerminationReason.INFRA_ERROR, TerminationReason.CANCELLED}
)
#: The same call with the same result this often is a loop.
LOOP = 3


def loop(
    steps: Sequence[PreparedStep], needed: Container[str] = (), *, in_a_row: bool = False
) -> PreparedStep | None:
    """The first needless call of a run of three or more equal calls with equal results, or the first
    repetition of a call made that often in all; None where the trial does not repeat itself. ``needed`` are
    calls that passes make too: the first of those is no repetition. ``in_a_row`` asks for a run."""
    calls = [step for step in steps if step.is_call and step.by_agent]
    keys = [step.full_key for step in calls]
    for at in range(len(calls) - LOOP + 1):
        if all(key == keys[at] for key in keys[at + 1 : at + LOOP]):
            first, second = calls[at], calls[at + 1]
            return first if keys[at] in keys[:at] or first.call_key not in needed else second
    if in_a_row:
        return None
    seen: dict[str, list[PreparedStep]] = {}
    for step in calls:
        seen.setdefault(step.full_key, []).append(step)
    loops = [found[1] for found in seen.values() if len(found) >= LOOP]
    return min(loops, key=lambda s: s.position, default=None)


def ending(case: Case, owes: bool) -> Suspect | None:
    """An ending of the trial's own: cut by its limit, or a loop as the last act where a write is owed."""
    last = case.last_agent_step
    reason = case.failing.trial.termination.reason
    if reason in BROKEN and owes and case.steps:
        end = case.steps[-1].position
        return Suspect(
            kind=Kind.INFRASTRUCTURE, actor=Blame.INFRASTRUCTURE, root=end, manifest=end, level="end"
        )  # fmt: skip
    cut = reason in LIMITS
    if last is None or not (cut or owes):
        return None
    repeated = loop(case.steps, case.calls_of_passes, in_a_row=not cut)
    if repeated is not None and not cut:
        other = [s for s in case.failing.calls if s.position > repeated.position and not s.thinks]
        if any(s.call_key != repeated.call_key and s.effect is not Effect.CONTROL for s in other):
            return None
    if repeated is None and not cut:
        return None
    place = repeated or last
    return Suspect(
        kind=Kind.LOOP if repeated is not None else Kind.EARLY_STOP, actor=Blame.AGENT, root=place.position,
        manifest=last.position, level="end", tool=place.step.name,
    )  # fmt: skip


def own_ending(case: Case) -> Suspect | None:
    """An ending that no pass has, in a trial that owes no write: it repeats itself to the end where every pass
    looks at something that it never does, or leaves it at the refusal of a call that every pass gets through.
    """
    last = case.last_agent_step
    calls = [step for step in case.failing.calls if not step.thinks]
    if last is None or not calls:
        return None
    end, kind = calls[-1], Kind.UNRECOVERED_ERROR
    repeated = loop(calls[-LOOP:], case.calls_of_passes, in_a_row=True)
    root: PreparedStep | None = repeated
    done: list[PreparedStep | None] = []
    if repeated is not None:
        if next(unmade_reads(case, case.passes[0]), None) is None:
            return None
        kind = Kind.LOOP
    elif end.failed and not any(s.call_key == end.call_key and not s.failed for s in calls):
        done = [
            next((s for s in t.calls if s.call_key == end.call_key and not s.failed), None) for t in case.passes
        ]
        root = next(case.agent_steps(end.position), end) if all(done) else None
    if root is None:
        return None
    return Suspect(
        kind=kind, actor=Blame.AGENT, root=root.position, manifest=last.position, level="endings",
        tool=end.step.name, expected=done[0] if done else None, reference=case.passes[0] if done else None,
    )  # fmt: skip
