"""What ``replay`` found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.render.json_text import to_json
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.running.replay import Replayed, ReplayedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The patch test: what was changed, the replay with it, the passing replay, and where their ends differ.

    ``before`` are the differences of the failed trial's own end. None where the environment tells no state.
    """

    text: str
    replayed: Replayed
    passed: Replayed
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


_MOST = 20


def replay_text(replayed: Replayed, patch: Patch | None, view: View) -> str:
    """The first call with another result, and what the patch came to."""
    calls = replayed.calls
    compared = [call for call in calls if call.same is not None]
    other = [call for call in compared if not call.same]
    name = f"{one_line(replayed.task_id)}/{one_line(replayed.trial_id)}"
    lines = [f"{name}: {plural(len(calls), 'call')} made again, {len(compared)} with a recorded result"]
    if replayed.seed is None:
        lines.append("no seed is recorded, so whatever the environment draws may differ")
    first = replayed.first_difference
    if first is None:
        lines.append(
            f"all {plural(len(compared), 'result')} are the same" if compared else "nothing to compare"
        )
    else:
        lines += [
            f"first other result: message {first.call.message}, {one_line(first.call.name)}"
            f" ({len(other)} of {len(compared)} differ)",
            f"  recorded: {one_line(first.call.recorded or '')[:300]}",
            f"  now:      {one_line(first.result)[:300]}",
            "the result depends on state that the trace does not hold",
        ]
    if patch is not None:
        lines += ["", *_patch_lines(patch)]
    return view.marks.words("\n".join(lines)) + "\n"


def _patch_lines(patch: Patch) -> list[str]:
    lines = [f"patch: {one_line(patch.text)}"]
    passed = f"trial {one_line(patch.passed.trial_id)}"
    if patch.before is None or patch.after is None:
        return [*lines, "the environment tells no state, so ends cannot be compared"]
    lines.append(f"end state against that of {passed}: {_count(patch.before)} without the patch")
    if not patch.after:
        lines.append("with the patch the end state is the same")
    else:
        lines.append(f"with the patch: {_count(patch.after)}")
        lines += [f"  {one_line(one)}" for one in patch.after[:_MOST]]
        left = len(patch.after) - _MOST
        lines += [f"  and {left} more"] if left > 0 else []
    return lines


def _count(differences: Sequence[str]) -> str:
    return plural(len(differences), "difference")


def replay_json(replayed: Replayed, patch: Patch | None) -> str:
    """The same, for programs."""
    document: dict[str, Any] = {
        "schema": "trajdiff.replay/1",
        "tool_version": __version__,
        "task_id": replayed.task_id,
        "trial_id": replayed.trial_id,
        "seed": replayed.seed,
        "calls": [_call(one) for one in replayed.calls],
        "first_difference": None if replayed.first_difference is None else _call(replayed.first_difference),
        "state": replayed.state,
        "patch": None,
    }
    if patch is not None:
        document["patch"] = {
            "text": patch.text,
            "calls": [_call(one) for one in patch.replayed.calls],
            "state": patch.replayed.state,
            "passed_trial": patch.passed.trial_id,
            "passed_state": patch.passed.state,
            "differences_before": None if patch.before is None else list(patch.before),
            "differences_after": None if patch.after is None else list(patch.after),
        }
    return to_json(document)


def _call(one: ReplayedCall) -> Mapping[str, Any]:
    return {
        "message": one.call.message,
        "name": one.call.name,
        "arguments": dict(one.call.arguments),
        "recorded": one.call.recorded,
        "result": one.result,
        "same": one.same,
    }
