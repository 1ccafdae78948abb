"""Steps that say the same are made once and shared; each is what it would be if it were made by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.divergence.made import agent, broken, call, corpus, record, user
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.readings import Readings
from trajdiff.divergence.effects import classify
from trajdiff.importers import load
from trajdiff.model import Trial
from trajdiff.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
DERIVED = (
    "about", "acts", "argument_values", "arguments_by_path", "call_key", "commitments", "entities", "full_key",
    "references", "result_values", "thinks",
)  # fmt: skip


class Forgetful(dict[Any, Any]):
    """Keeps nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


def both_ways(trials: tuple[Trial, ...]) -> tuple[tuple[PreparedTrial, ...], tuple[PreparedTrial, ...]]:
    """The trials with what equal steps share, and with every step made by itself."""
    effects = classify(trials, Settings()).of
    alone = Readings()
    alone.steps = Forgetful()
    return (
        Preparer(effect_of=effects).trials(trials),
        Preparer(effect_of=effects, readings=alone).trials(trials),
    )


def assert_equal(trials: tuple[Trial, ...]) -> int:
    """Compares both ways; the number of steps that are shared."""
    together, alone = both_ways(trials)
    for one, other in zip(together, alone, strict=True):
        assert one.steps == other.steps
        assert [step.position for step in one.steps] == list(range(len(one.steps)))
        for step, single in zip(one.steps, other.steps, strict=True):
            assert step.step is single.step
            assert [getattr(step, name) for name in DERIVED] == [getattr(single, name) for name in DERIVED]
    steps = [step for trial in together for step in trial.steps]
    return len(steps) - len({id(step.shared) for step in steps})


def test_steps_of_the_samples_are_what_they_are_alone() -> None:
    assert sum(assert_equal(task.trials) for task in load([str(PROJECT / "sample_traces")]).tasks) > 0


def test_steps_on_what_a_trial_created_are_what_they_are_alone() -> None:
    def steps(new: str) -> list[Any]:
        look = call("get_order", {"order_id": new, "status": "new"}, order_id=new)
        return [
            user("Please order two lamps."),
            broken("get_order", "Error: busy", order_id="A1001"),
            call("get_order", {"status": "paid"}, order_id="A1001"),
            call("create_order", {"order_id": new, "items": ["LAMP-1"]}, item="LAMP-1", count=2),
            look,
            look,
            call("get_order", {"status": "paid"}, order_id="A1001"),
            agent(f"Order {new} is made."),
        ]

    trials = corpus([record("a", steps("N-7001")), record("b", steps("N-7002")), record("c", steps("N-7001"))])
    assert assert_equal(trials.trials) > 0
    (first, second, _), _ = both_ways(trials.trials)
    # What is told in other words stays apart; a call on what each created is the same call.
    assert first.steps[-2].full_key != second.steps[-2].full_key
