"""The graph of passes and the alignment of other trials to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.divergence.made import Line, agent, broken, call, corpus, record, think, user
from trajdiff.align.graph import Match, SuccessGraph, align_to, medoid, pair_cost, success_graph
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.similarity import Costs
from trajdiff.divergence.effects import classify
from trajdiff.importers import load
from trajdiff.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]


def ready(*trials: Sequence[Line]) -> tuple[PreparedTrial, ...]:
    """Trials of one task, prepared together, in the given order."""
    found = corpus([record(str(number), steps) for number, steps in enumerate(trials)]).trials
    return Preparer(effect_of=classify(found, Settings()).of).trials(found)


def names(graph: SuccessGraph) -> list[tuple[str | None, int]]:
    """Tool of each column of calls, and how many passes show it."""
    return [
        (graph.steps(number)[0].step.name, graph.support(number))
        for number in range(len(graph.columns))
        if graph.steps(number)[0].is_call
    ]


def found_in(graph: SuccessGraph, trial: PreparedTrial) -> list[tuple[str | None, str]]:
    """Tool of each match of calls, and how it matched."""
    out = []
    for match in align_to(graph, trial):
        step = trial.steps[match.position] if match.position is not None else None
        shown = step or graph.steps(match.column or 0)[0]
        if shown.is_call:
            how = (
                "missing"
                if step is None
                else "extra"
                if match.column is None
                else "moved"
                if match.moved
                else "same"
            )
            out.append((shown.step.name, "split" if match.split is not None else how))
    return out


ASK = user("Please refund A1001.")
USER = call("get_user", {"name": "Ann"}, user_id="U-71")
ORDER = call("get_order", {"status": "paid"}, order_id="A1001")
STOCK = call("get_stock", {"left": 3}, sku="LAMP-1")
REFUND = call("refund_item", {"ok": True}, order_id="A1001")
DONE = agent("It is refunded.")


def test_equal_passes_are_one_way() -> None:
    graph = success_graph(ready((ASK, USER, ORDER, REFUND, DONE), (ASK, USER, ORDER, REFUND, DONE)))
    assert names(graph) == [("get_user", 2), ("get_order", 2), ("refund_item", 2)]
    assert nx.is_isomorphic(graph.digraph, nx.path_graph(len(graph.columns) + 1, create_using=nx.DiGraph))


def test_two_ways_are_two_branches() -> None:
    way = (ASK, call("search_orders", [], text="lamp"), call("list_orders", [], page=2), REFUND, DONE)
    graph = success_graph(ready((ASK, USER, ORDER, REFUND, DONE), way))
    support = dict(names(graph))
    assert support["refund_item"] == 2
    assert support["get_user"] == support["list_orders"] == 1
    columns = {graph.steps(number)[0].step.name: number for number in range(len(graph.columns))}
    beside = {graph.steps(n)[0].step.name for n in graph.alternatives(columns["get_user"])}
    assert beside == {"search_orders", "list_orders"}
    assert graph.alternatives(columns["refund_item"]) == ()


def test_reads_in_another_order_are_moves() -> None:
    graph = success_graph(ready((ASK, USER, ORDER, REFUND, DONE), (ASK, ORDER, USER, REFUND, DONE)))
    assert sorted(names(graph)) == [("get_order", 2), ("get_user", 2), ("refund_item", 2)]


def moved(reference: Sequence[Line], other: Sequence[Line]) -> bool:
    one, two = ready(reference, other)
    return any(match.moved for match in align_to(success_graph([one]), two))


ANN = user("I am Ann, please look at my order.")
FIND = call("find_order", {"order_id": "A1001"}, name="Ann")


def test_steps_that_conflict_never_move() -> None:
    assert not moved((ASK, ORDER, REFUND, DONE), (ASK, REFUND, ORDER, DONE))
    other = call("refund_item", {"ok": True}, order_id="A1002")
    assert moved((ASK, ORDER, other, DONE), (ASK, other, ORDER, DONE))


def test_what_the_user_said_first_makes_no_dependency() -> None:
    assert moved((ASK, FIND, ORDER, DONE), (ASK, ORDER, FIND, DONE))


def test_what_the_user_said_first_makes_no_dependency_either_way() -> None:
    assert moved((ASK, ORDER, FIND, DONE), (ASK, FIND, ORDER, DONE))


def test_steps_that_feed_each_other_never_move() -> None:
    assert not moved((ANN, FIND, ORDER, DONE), (ANN, ORDER, FIND, DONE))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((ASK, USER, ORDER, REFUND, DONE), ["same", "same", "same"]),
        ((ASK, USER, REFUND, DONE), ["same", "missing", "same"]),
        ((ASK, USER, ORDER, STOCK, REFUND, DONE), ["same", "same", "extra", "same"]),
        # The tie rule leaves a step out before it inserts one: the first of the two is the moved one.
        ((ASK, ORDER, USER, REFUND, DONE), ["moved", "same", "same"]),
        ((ASK, USER, ORDER, DONE), ["same", "same", "missing"]),
        ((ASK, DONE), ["missing", "missing", "missing"]),
    ],
    ids=["the same", "one missing", "one extra", "reads swapped", "the write missing", "no calls"],
)
def test_alignment_of_a_failing_trial(steps: Sequence[Line], expected: list[str]) -> None:
    one, other = ready((ASK, USER, ORDER, REFUND, DONE), steps)
    assert [how for _, how in found_in(success_graph([one]), other)] == expected


def test_one_step_done_in_two_calls() -> None:
    both = call("get_account", {"name": "Ann", "points": 40}, user_id="U-71", card="K-12")
    name = call("get_name", {"name": "Ann"}, user_id="U-71")
    points = call("get_points", {"points": 40}, card="K-12")
    one, other = ready((ASK, both, DONE), (ASK, name, points, DONE))
    (split,) = (match for match in align_to(success_graph([one]), other) if match.split is not None)
    assert (split.position, split.split) == (1, 2)


def test_the_medoid_is_nearest_to_all_and_the_first_of_equals() -> None:
    far = (ASK, call("list_plans", [], page=1), call("list_users", [], page=1), DONE)
    near, nearer = (ASK, USER, ORDER, STOCK, REFUND, DONE), (ASK, USER, ORDER, REFUND, DONE)
    trials = ready(far, near, nearer, nearer)
    assert medoid(trials, Costs()) == 2
    assert success_graph(trials).trials[0].trial_id == "2"
    assert medoid(trials[:2], Costs()) == 0, "two trials have no middle"


def test_a_failing_trial_never_reshapes_the_graph() -> None:
    one, other = ready((ASK, USER, ORDER, REFUND, DONE), (ASK, STOCK, DONE))
    graph = success_graph([one])
    columns = graph.columns
    align_to(graph, other)
    assert graph.columns == columns


# Laws

BUSY = broken("get_order", "busy", order_id="A1001")
NEW_ORDER = call("get_order", {"status": "new"}, order_id="A1001")
OTHER_REFUND = call("refund_item", {"ok": True}, order_id="A1002")
STEPS = st.sampled_from(
    [ASK, USER, ORDER, NEW_ORDER, STOCK, BUSY, REFUND, OTHER_REFUND, DONE, think("hm"), user("Yes."),
     user("No."), agent("I can refund 49.90."), agent("That is 99.80.")]
)  # fmt: skip
TRIALS = st.lists(st.lists(STEPS, max_size=7), min_size=2, max_size=4)


def complete(matches: Sequence[Match], graph: SuccessGraph, trial: PreparedTrial) -> None:
    """Every column and every step appears exactly once; unmoved columns come in order."""
    assert sorted(m.column for m in matches if m.column is not None) == list(range(len(graph.columns)))
    positions = [m.position for m in matches if m.position is not None]
    positions += [m.split for m in matches if m.split is not None]
    assert sorted(positions) == list(range(len(trial.steps)))
    in_order = [m.column for m in matches if m.column is not None and not m.moved]
    assert in_order == sorted(in_order)


def lawful(trials: Sequence[PreparedTrial]) -> None:
    """The laws for one set of trials: all but the last are passes."""
    *passes, other = trials
    graph = success_graph(passes)
    complete(align_to(graph, other), graph, other)
    assert nx.is_directed_acyclic_graph(graph.digraph)
    assert sorted(graph.digraph) == list(range(-1, len(graph.columns)))
    for node in graph.digraph:
        assert 1 <= graph.digraph.nodes[node]["support"] <= len(passes), node
    members = sorted(member for column in graph.columns for member in column.members)
    assert members == [(n, at) for n, trial in enumerate(graph.trials) for at in range(len(trial.steps))]
    assert sorted(t.trial_id for t in graph.trials) == sorted(t.trial_id for t in passes)
    for trial in trials:
        assert pair_cost(trial, trial, Costs()) == 0


@given(TRIALS)
@settings(max_examples=40)
def test_laws_on_any_trials(steps: list[list[Line]]) -> None:
    # A trial without steps is not comparable and never comes this far.
    lawful(ready(*([ASK, *trial] for trial in steps)))


@given(st.lists(STEPS, max_size=7), st.lists(STEPS, max_size=7))
@settings(max_examples=40)
def test_the_cost_of_a_pair_is_the_same_both_ways(left: list[Line], right: list[Line]) -> None:
    one, other = ready([ASK, *left], [ASK, *right])
    assert pair_cost(one, other, Costs()) == pair_cost(other, one, Costs())


def test_laws_on_every_sample_task() -> None:
    found = load([str(PROJECT / "sample_traces")])
    preparer = Preparer(effect_of=classify(found.trials, Settings()).of)
    for task in found.tasks:
        trials = preparer.trials([trial for trial in task.trials if trial.comparable])
        lawful(trials)
        for trial in trials:
            graph = success_graph([trial])
            matches = align_to(graph, trial)
            assert [(m.column, m.position) for m in matches] == [(n, n) for n in range(len(trial.steps))]
