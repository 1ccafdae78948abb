"""Why a trial stopped, in the words harnesses have in common; words of several meanings are left out."""

from __future__ import annotations

from trajdiff.model import TerminationReason

_WORDS = {
    "done": TerminationReason.AGENT_DONE,
    "finished": TerminationReason.AGENT_DONE,
    "completed": TerminationReason.AGENT_DONE,
    "complete": TerminationReason.AGENT_DONE,
    "stop": TerminationReason.AGENT_DONE,
    "end_turn": TerminationReason.AGENT_DONE,
    "submitted": TerminationReason.AGENT_DONE,
    "max_turns": TerminationReason.MAX_STEPS,
    "max_iterations": TerminationReason.MAX_STEPS,
    "step_limit": TerminationReason.MAX_STEPS,
    "timeout": TerminationReason.TIME_LIMIT,
    "timed_out": TerminationReason.TIME_LIMIT,
    "length": TerminationReason.TOKEN_LIMIT,
    "max_tokens": TerminationReason.TOKEN_LIMIT,
    "context_length_exceeded": TerminationReason.CONTEXT_LIMIT,
    "canceled": TerminationReason.CANCELLED,
    "aborted": TerminationReason.CANCELLED,
    **{one.value: one for one in TerminationReason},
}


def reason_of(word: str) -> TerminationReason | None:
    """The reason a word stands for: one of our own names, or one in common use; else None."""
    return _WORDS.get(word.strip().lower().replace("-", "_").replace(" ", "_"))
