"""Ways to fail: the failed trials of a task without any reference, grouped by what they left behind.

Nothing is claimed here. Trials that make the same effective writes and end alike fail alike; where all differ,
the tools they write with are compared instead of the arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from trajdiff.align.graph import SuccessGraph
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.finding import StepRef, Way
from trajdiff.divergence.ledger import effective_writes, key
from trajdiff.model import StepKind
from trajdiff.natural import plural

Mark = Callable[[PreparedStep], str]


def ways_to_fail(failures: Sequence[PreparedTrial], graph: SuccessGraph) -> tuple[tuple[Way, ...], str]:
    """The groups of failed trials (largest first, then in order), and one sentence on all of them.

    ``graph`` holds the same trials merged. Fewer than two trials give no groups and no sentence.
    """
    if len(failures) < 2:
        return (), ""
    exact = _grouped(failures, key)
    groups = exact if len(exact) < len(failures) else _grouped(failures, lambda step: step.label)
    found = sorted(groups, key=lambda group: -len(group))
    alike = len(exact) < len(failures)
    ways = tuple(_way(group, len(failures), same_arguments=alike) for group in found)
    return ways, _sentence(ways, failures, graph)


def _grouped(failures: Sequence[PreparedTrial], mark: Mark) -> list[list[PreparedTrial]]:
    groups: dict[tuple[object, ...], list[PreparedTrial]] = {}
    for trial in failures:
        left = tuple(sorted(map(mark, effective_writes(trial))))
        groups.setdefault((left, trial.trial.termination.reason), []).append(trial)
    return list(groups.values())


def _way(group: Sequence[PreparedTrial], total: int, *, same_arguments: bool) -> Way:
    writes = effective_writes(group[0])
    counts = Counter(step.step.name or step.label for step in writes)
    done = ", ".join(name if times == 1 else f"{name} ×{times}" for name, times in counts.items())
    if len(group) > 1 and writes and not same_arguments:
        done += " (other arguments)"
    ending = group[0].trial.termination.reason.value
    return Way(
        trials=tuple(trial.trial_id for trial in group),
        text=f"{len(group)}/{total}: {done or 'nothing changed'}, then {ending}",
        writes=tuple(counts),
        ending=ending,
        at=tuple(place for trial in group if (place := _place(trial)) is not None),
    )


def _place(trial: PreparedTrial) -> StepRef | None:
    """The trial's last standing write, else its last step of the agent."""
    acted = [s for s in trial.steps if s.by_agent and (s.is_call or s.is_message)]
    step = next(reversed((*acted[-1:], *effective_writes(trial))), None)
    if step is None:
        return None
    source = step.step.source
    return StepRef(
        trial_id=trial.trial_id, step=step.index, message=source.message_index, pointer=source.pointer,
        path=source.path, line=source.line,
    )  # fmt: skip


def _sentence(ways: Sequence[Way], failures: Sequence[PreparedTrial], graph: SuccessGraph) -> str:
    total = len(failures)
    if len(ways) == 1:
        where = f" at {ways[0].writes[-1]}" if ways[0].writes else ""
        return f"{total}/{total} fail alike{where}"
    parted = _parted(graph)
    if len(ways) == total:
        return f"{plural(total, 'trial')} fail in {total} different ways{parted}"
    return f"{plural(total, 'trial')} fail in {plural(len(ways), 'way')}{parted}"


def _parted(graph: SuccessGraph) -> str:
    """Where the trials stop agreeing: the last call that all of them share before one that they do not."""
    last: PreparedStep | None = None
    for number in range(len(graph.columns)):
        step = graph.steps(number)[0]
        if not step.is_call or step.folded:
            if step.step.kind is StepKind.TERMINATION:
                break
            continue
        members = graph.steps(number)
        if len(members) < len(graph.trials) or len({member.call_key for member in members}) > 1:
            return f", parting after {last.step.name}" if last is not None else ", parting at the first call"
        last = step
    return f", parting after {last.step.name}" if last is not None else ""
