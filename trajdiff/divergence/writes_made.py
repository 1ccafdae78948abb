"""Suspects for writes that the trial made and no pass did: who committed to them, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import changed_paths
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import Debt, DebtKind, Difference, subject, written
from trajdiff.divergence.lower_levels import AGREEING
from trajdiff.divergence.places import place_of_call, unmade_reads
from trajdiff.divergence.provenance import Commitment, commitment
from trajdiff.divergence.users import changed_the_subject, turned, wish


def made_suspects(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that the trial made and no pass did."""
    if debt.found is None:
        return
    call = debt.found
    if debt.kind in (DebtKind.DUPLICATE, DebtKind.ORDER):
        kind = Kind.DUPLICATE_WRITE if debt.kind is DebtKind.DUPLICATE else Kind.WRONG_ORDER
        yield suspect_for(case, difference, debt, kind, Commitment(position=call.position, by="call"))
        return
    theirs = [written(trial) for trial in case.passes]
    differing = [leaf for leaf in call.argument_leaves if not any(leaf in values for values in theirs)]
    own = set(call.argument_leaves)
    expected = [leaf for leaf in debt.expected.argument_leaves if leaf not in own] if debt.expected else []
    if debt.kind is DebtKind.CHANGED:
        kind = Kind.WRONG_ARGUMENT
    else:
        kind = Kind.EXTRA_WRITE if debt.kind is DebtKind.EXTRA else Kind.WRONG_TOOL
        # Passes make no such call: values that the trial merely read (what is there already) announce nothing.
        read = _read_before(case, call)
        differing, expected = [leaf for leaf in differing if leaf[1] not in read], []
    found = commitment(case, call, differing, expected)
    if debt.kind is not DebtKind.CHANGED and found.by in ("call", "consent"):
        replaces = debt.kind is DebtKind.OTHER_TOOL
        other = changed_the_subject(case, found) if replaces else turned(case, call)
        found = wish(case, call) or other or found
    suspect = suspect_for(case, difference, debt, kind, found)
    known = debt.expected is not None or case.witnesses >= AGREEING
    skipped = _skipped_read(case, difference, call, expected) if known else None
    yield skipped if skipped is not None and skipped.root <= suspect.root else suspect


def suspect_for(case: Case, difference: Difference, debt: Debt, kind: Kind, found: Commitment) -> Suspect:
    """The suspect for a write of the trial's own, given who committed to it."""
    call = debt.found
    assert call is not None
    actor, level = Blame.AGENT, "write"
    tool = call.step.name
    if found.by == "user":
        kind, actor = Kind.USER_DEVIATION, Blame.USER
    elif found.by == "result":
        kind, actor = Kind.RESULT_DIFFERENCE, Blame.ENVIRONMENT
        tool = case.steps[found.position].step.name
    expected = debt.expected
    path, value, theirs = found.path, found.value, None
    if expected is not None and debt.kind is DebtKind.CHANGED:
        changed = changed_paths(expected.arguments, call.arguments)
        path = path if path and path.split("[")[0] in changed else next(iter(changed), path)
        theirs = _at(expected, path)
        value = _at(call, path) or value
    return Suspect(
        kind=kind, actor=actor, root=found.position, manifest=call.position, level=level, tool=tool,
        expected=expected, reference=difference.reference, path=path, value=value, expected_value=theirs,
        instead=expected.step.name if expected is not None and kind is Kind.WRONG_TOOL else None,
        announced=found.by in ("announcement", "consent"),
    )  # fmt: skip


def _read_before(case: Case, call: PreparedStep) -> frozenset[str]:
    """All values that calls before this one answered with."""
    return frozenset[str]().union(*(s.result_values for s in case.steps[: call.position] if s.is_call))


def _at(step: PreparedStep, path: str | None) -> str | None:
    found = [value for at, value in step.argument_leaves if at == path or at.split("[")[0] == path]
    return ", ".join(found) if found else None


def _skipped_read(
    case: Case, difference: Difference, call: PreparedStep, expected: Sequence[tuple[str, str]]
) -> Suspect | None:
    """A read that every pass makes and the trial never does before its write: it looks at the entity that is
    written, or brings a value that the passes' write has and the trial's lacks."""
    values = {value for _, value in expected}
    if case.witnesses < AGREEING:
        # What one pass reads may be by the way: only a value that the trial never read needs it.
        values -= _read_before(case, call)
    about = subject(call)
    for read in unmade_reads(case, difference.reference):
        looks = about is not None and subject(read) == about
        if not looks and values.isdisjoint(read.result_values):
            continue
        place = place_of_call(case, difference.reference, read)
        if place is not None and place.position <= call.position:
            return Suspect(
                kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=place.position, manifest=call.position,
                level="write", tool=read.step.name, expected=read, reference=difference.reference,
            )  # fmt: skip
    return None
