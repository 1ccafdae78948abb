"""The same 8 trials through other tools: only those that are installed.

    python -m tests.benchmarks.peers own|difflib|deepdiff|agentdiff FILE

prints processor seconds for all pairs of trials of the first task (for ``own`` with everything trajdiff does to
make steps comparable: preparation, similarity of all distinct steps, alignment of all pairs).
"""

from __future__ import annotations

import difflib
import importlib.metadata
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from trajdiff.importers import load
from trajdiff.model import Trial

#: Name of the distribution of each peer; difflib comes with Python.
PEERS = {"difflib": None, "deepdiff": "deepdiff", "agentdiff": "agent-trajectory-diff"}


def version(peer: str) -> str | None:
    """The version of an installed peer, None where it is not there."""
    name = PEERS[peer]
    if name is None:
        return f"Python {sys.version.split()[0]}"
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _plain(trial: Trial) -> list[dict[str, Any]]:
    return [
        {
            "kind": step.kind.value,
            "actor": step.actor,
            "name": step.name,
            "text": step.text,
            "arguments": step.arguments.parsed if step.arguments is not None else None,
            "result": step.result.text if step.result is not None else None,
        }
        for step in trial.steps
    ]


def own(trials: Sequence[Trial]) -> None:
    """Preparation, similarity and alignment of all pairs."""
    from trajdiff.align.batch import MANY_STEPS, expect
    from trajdiff.align.graph import pair_costs
    from trajdiff.align.prepared import Preparer
    from trajdiff.align.similarity import Costs

    expect(MANY_STEPS)  # loads what a run of this size loads
    pair_costs(list(itertools.combinations(Preparer().trials(trials), 2)), Costs())


def with_difflib(trials: Sequence[Trial]) -> None:
    """Equal steps only: no similarity."""
    texts = [[repr(step) for step in _plain(trial)] for trial in trials]
    for left, right in itertools.combinations(texts, 2):
        difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def with_deepdiff(trials: Sequence[Trial]) -> None:
    """The differences of the lists of steps, by position."""
    from deepdiff import DeepDiff  # type: ignore[import-not-found,unused-ignore]

    for left, right in itertools.combinations([_plain(trial) for trial in trials], 2):
        DeepDiff(left, right)


def with_agentdiff(trials: Sequence[Trial]) -> None:
    """Its structural comparison, alignment included."""
    from agentdiff import AgentTrace, TraceStep, compare  # type: ignore[import-not-found,unused-ignore]

    make_step: Any = TraceStep
    traces = [
        AgentTrace(
            trace_id=trial.trial_id,
            agent_name="agent",
            task_input={},
            steps=[
                make_step(
                    step_id=str(number),
                    step_index=number,
                    step_type="tool_call" if step["name"] else "llm_call",
                    name=step["name"] or step["actor"],
                    input_payload=step["arguments"] or {"text": step["text"]},
                    output_payload={"text": step["result"] or step["text"]},
                )
                for number, step in enumerate(_plain(trial))
            ],
        )
        for trial in trials
    ]
    for left, right in itertools.combinations(traces, 2):
        compare(left, right)


TOOLS: dict[str, Callable[[Sequence[Trial]], None]] = {
    "own": own,
    "difflib": with_difflib,
    "deepdiff": with_deepdiff,
    "agentdiff": with_agentdiff,
}


def main() -> None:
    """Prints the seconds of one tool; loading its modules is not counted."""
    tool, path = sys.argv[1:]
    trials = load([path]).tasks[0].trials
    TOOLS[tool](trials[:2])
    start = time.process_time()
    TOOLS[tool](trials)
    print(time.process_time() - start)


if __name__ == "__main__":
    main()
