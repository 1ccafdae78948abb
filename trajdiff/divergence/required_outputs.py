"""What a task's record says that the user has to be told, where no trial of the task passed.

Recorded outputs belong to the expected actions: tasks that have passes never use them. They are looked for as a
part of what the agent says, commas of thousands left out, so that no way of writing one is accused.
"""

from __future__ import annotations

from trajdiff.align.language import fold
from trajdiff.align.mentions import mentions
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import number
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind

LEVEL = "outputs"


def untold_output(case: Case) -> Suspect | None:
    """The first required output that no message of the agent states, at the last message that tells a value of
    the trial's own, else at the last message."""
    if not case.borrowed:
        return None
    left_out = [v for v in case.task.expected_outputs or () if v.strip() and not tells(case.failing, v)]
    talk = _talk(case.failing)
    if not left_out or not talk:
        return None
    given = {v for s in case.steps if s.is_message and s.by_user for v in mentions(s.text).values}
    telling = [step for step in talk if step.commitments - given]
    place = (telling or talk)[-1]
    return Suspect(
        kind=Kind.WRONG_ANSWER, actor=Blame.AGENT, root=place.position, manifest=place.position, level=LEVEL,
        expected_value=left_out[0],
        said=(
            f"message leaves out {left_out[0]}",
            f"No message states {left_out[0]}, which the recorded outputs of the task have.",
        ),
    )  # fmt: skip


def tells(trial: PreparedTrial, output: str) -> bool:
    """Whether a message of the agent has an output in it, as it is written or as a number."""
    wanted = fold(output).replace(",", "")
    value = number(wanted.lstrip("$€£¥"))
    return any(
        wanted in fold(step.text).replace(",", "")
        or (value is not None and value in mentions(step.text).values)
        for step in _talk(trial)
    )


def _talk(trial: PreparedTrial) -> list[PreparedStep]:
    return [step for step in trial.steps if step.is_message and step.by_agent]
