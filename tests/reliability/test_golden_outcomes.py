"""Golden values about what counts as a success and what stands beside it (3.2, 9, 10, 11, 12, 15, 16.2)."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.reliability.golden import Case, counts, near, of
from tests.reliability.trials import trial
from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers import load
from trajdiff.importers.verdicts import from_reward
from trajdiff.model import Task, TaskTrials, Verdict
from trajdiff.reliability.acceptance import verdict_of
from trajdiff.reliability.agreement import (
    ONE_LABEL,
    band,
    cohen,
    corrected_curve,
    fleiss,
    majority,
    majority_accuracy,
    rogan_gladen,
)
from trajdiff.reliability.consistency import consistency, criterion
from trajdiff.reliability.cost import delivery_cost, latency
from trajdiff.reliability.estimators import task_reliability
from trajdiff.reliability.gates import Outcome, exit_code, threshold_gate, upper_bound
from trajdiff.reliability.hard_gates import hard_gates
from trajdiff.reliability.intervals import suite_interval
from trajdiff.reliability.pass_k import format_rate, pass_hat_fraction
from trajdiff.reliability.scope import coverage
from trajdiff.settings import GateRule


def test_success_rule(cases: dict[str, Case]) -> None:
    for case in of(cases, "success_rule"):
        rewards = [float("nan") if x == "NaN" else x for x in case["input"]["rewards"]]
        expected = case["expected"]
        assert [from_reward(x).state for x in rewards] == expected["default"]
        threshold = case["input"]["threshold"]
        assert [from_reward(x, threshold=threshold).state for x in rewards] == expected["with_threshold"]


def test_acceptance(cases: dict[str, Case]) -> None:
    for case in of(cases, "acceptance"):
        scores = case["input"]["trials"]
        verdicts = [verdict_of(one, sorted(one)) for one in scores]
        assert verdicts == case["expected"]["verdict"]
        trials = tuple(
            replace(trial("t", number, "agent_done", verdict.value), sub_scores=one)
            for number, (one, verdict) in enumerate(zip(scores, verdicts, strict=True))
        )
        task = TaskTrials(task=Task(task_id="t"), trials=trials)
        gate = hard_gates([task], [GateRule(name="prohibition kept", score="prohibition")])[0]
        assert len(gate.breaches) == case["expected"]["hard_gate_failures"]
        assert [breach.ref for breach in gate.breaches] == ["t/1"]
        assert task_reliability(task).pass_hat_k[0] == float(Fraction(case["exact"]["success_rate"]))


def test_scope(cases: dict[str, Case]) -> None:
    for case in of(cases, "scope"):
        given, expected = case["input"], case["expected"]
        made = coverage(
            tasks_received=given["tasks_received"],
            out_of_scope=given["out_of_scope"],
            counted=given["counted_trials"],
            unassisted=given["accepted_unassisted"],
            corrected=given["accepted_after_correction"],
            human_minutes=given["human_minutes"],
        )
        assert made.support_coverage == near(expected["support_coverage"])
        assert made.unassisted_rate == near(expected["success_rate"])
        assert made.human_remedy_rate == near(expected["human_remedy_rate"])
        assert made.minutes_per_unassisted == near(expected["human_minutes_per_unassisted_acceptance"])


def written(case: Case, folder: Path) -> str:
    """The records as one file, each with its slot of the plan and the id of the producer's run."""
    rows = case["input"]["records_task_trial_termination_verdict_id"]
    lines = []
    for task, slot, reason, verdict, run in rows:
        record = {
            "schema": "trajdiff/1",
            "task_id": task,
            "trial_id": str(slot),
            "producer_id": run,
            "task": {"expected_trials": case["input"]["plan"][task]},
            "verdict": verdict,
            "termination": reason,
            "steps": [{"actor": "agent", "kind": "message", "text": f"done {run}"}],
        }
        lines.append(json.dumps(record) + "\n")
    (folder / "runs.jsonl").write_text("".join(lines), encoding="utf-8")
    return str(folder)


def test_duplicates_are_counted_once(cases: dict[str, Case], tmp_path: Path) -> None:
    case = cases["duplicates_are_counted_once"]
    corpus = load([written(case, tmp_path)])
    rows = [task_reliability(task) for task in corpus.tasks]
    assert [row.n for row in rows] == case["expected"]["n"]
    assert [row.c for row in rows] == case["expected"]["c"]
    told = [entry for entry in corpus.diagnostics if entry.slug == "duplicate_trial"]
    assert len(told) == case["expected"]["duplicates_removed"]


def test_records_error(cases: dict[str, Case], tmp_path: Path) -> None:
    for case in of(cases, "records_error"):
        with pytest.raises(InputError):
            load([written(case, tmp_path)])


def test_severe(cases: dict[str, Case]) -> None:
    for case in of(cases, "severe"):
        made = [upper_bound(*row) for row in case["input"]["rows_events_units"]]
        assert made == near(case["expected"]["upper"])
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    for events, units in ((1, 7), (3, 20), (19, 20)):
        assert upper_bound(events, units) == near(proportion_confint(events, units, 0.10, "beta")[1])
    assert upper_bound(4, 4) == 1.0


def test_consistency(cases: dict[str, Case]) -> None:
    for case in of(cases, "consistency"):
        expected = case["expected"]
        for index, task in enumerate(case["input"]["tasks"]):
            made = consistency(task["outputs"], list(map(bool, task["passed"])))
            assert made.output_agreement == near(expected["output_agreement"][index])
            assert made.modal_share == near(expected["modal_share"][index])
            assert made.pass_rate == near(expected["pass_rate"][index])
            assert made.verdict_agreement == near(expected["verdict_agreement"][index])
            assert made.reading == expected["label"][index]
    one = consistency(["x"], [True])
    assert (one.output_agreement, one.verdict_agreement) == (None, None)


def test_criteria(cases: dict[str, Case]) -> None:
    for case in of(cases, "criteria"):
        columns = zip(*case["input"]["met"], strict=True)
        made = [
            criterion(name, list(map(bool, column)))
            for name, column in zip(case["input"]["criteria"], columns, strict=True)
        ]
        assert [one.met for one in made] == case["expected"]["met_count"]
        assert [one.stability for one in made] == case["expected"]["class"]
        assert case["input"]["verdict"].count("pass") == case["expected"]["successes"]


def test_cost(cases: dict[str, Case]) -> None:
    assert len(of(cases, "cost")) == 5
    case = cases["cost_per_accepted"]
    given = case["input"]
    for total, accepted, value in zip(
        given["cost"], given["accepted"], case["expected"]["per_accepted"], strict=True
    ):
        costs = [total / (2 * accepted)] * (2 * accepted)
        assert delivery_cost(costs, accepted).per_accepted == near(value)
    none = cases["no_accepted_delivery"]
    made = delivery_cost([none["input"]["cost"][0], 0.0], 0)
    assert (made.per_accepted, made.reason, made.total) == (
        None,
        none["expected"]["reason"],
        none["expected"]["total"],
    )
    all_trials = cases["failed_and_infra_trials_cost_money"]
    accepted = all_trials["input"]["verdicts"].count("pass")
    made = delivery_cost(all_trials["input"]["trial_costs"], accepted)
    assert (made.total, made.accepted) == (all_trials["expected"]["total"], all_trials["expected"]["accepted"])
    assert made.per_accepted == float(Fraction(all_trials["exact"]["per_accepted"][0]))
    bound = cases["missing_cost_is_a_lower_bound"]
    known = [bound["input"]["known_cost"] / 17] * 17
    made = delivery_cost([*known, None, None, None], bound["input"]["accepted"])
    assert made.per_accepted == near(bound["expected"]["per_accepted_at_least"])
    assert made.label == bound["expected"]["label"]
    repeat = cases["cost_of_repeating"]["input"]
    made = delivery_cost([repeat["cost_per_pass"]] * repeat["trials"], 1)
    assert made.total == cases["cost_of_repeating"]["expected"]["total"]


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_impossible_amounts_are_refused(cost: float) -> None:
    with pytest.raises(InputError, match="not a finite amount"):
        delivery_cost([1.0, cost], 1)
    with pytest.raises(InputError, match="not a finite amount"):
        latency([cost])


def test_latency(cases: dict[str, Case]) -> None:
    for case in of(cases, "latency"):
        made, short = latency(case["input"]["seconds"]), latency(case["input"]["short"])
        expected = case["expected"]
        assert made is not None
        assert short is not None
        assert (made.p50, made.p95, made.maximum) == (expected["p50"], expected["p95"], None)
        assert (short.p50, short.p95, short.maximum) == (expected["short_p50"], expected["short_p95"], 3)
    assert latency([None, None]) is None
    slow = latency([1.0, 300.0, None], [False, True, False])
    assert slow is not None
    assert (slow.at_limit, slow.without) == (True, 1)


def test_kappa(cases: dict[str, Case]) -> None:
    for case in of(cases, "kappa"):
        made, expected, exact = cohen(case["input"]["table"]), case["expected"], case["exact"]
        assert made.p_o == float(Fraction(exact["p_o"]))
        assert made.p_e == float(Fraction(exact["p_e"]))
        if expected["kappa"] is None:
            assert (made.kappa, made.reason, made.band) == (None, expected["reason"], None)
            continue
        assert made.kappa == float(Fraction(exact["kappa"]))
        assert (made.stderr, made.low, made.high) == near((expected["stderr"], *expected["interval"]))
        assert made.band == "acceptable (interval reaches weak and strong)"


def test_kappa_values(cases: dict[str, Case]) -> None:
    for case in of(cases, "kappa_values"):
        made = [cohen(table).kappa for table in case["input"]["tables"]]
        assert made == [float(Fraction(x)) for x in case["exact"]["kappa"]]


def test_kappa_bands(cases: dict[str, Case]) -> None:
    for case in of(cases, "kappa_bands"):
        assert [band(x) for x in case["input"]["kappa"]] == case["expected"]["band"]
    assert cohen([[400, 4], [5, 420]]).band == "strong"


def test_fleiss(cases: dict[str, Case]) -> None:
    for case in of(cases, "fleiss"):
        made = fleiss([tuple(row) for row in case["input"]["counts"]])
        assert (made.p_bar, made.p_e) == tuple(float(Fraction(case["exact"][x])) for x in ("p_bar", "p_e"))
        assert made.kappa == near(case["expected"]["kappa"])
    one = fleiss([(3, 0), (3, 0)])
    assert (one.kappa, one.reason) == (None, ONE_LABEL)
    with pytest.raises(InputError, match="differ in number"):
        fleiss([(3, 0), (2, 0)])


def test_majority(cases: dict[str, Case]) -> None:
    words = {"pass": True, "fail": False, None: None}
    for case in of(cases, "majority"):
        made = [majority([words[vote] for vote in votes]) for votes in case["input"]["votes"]]
        assert made == case["expected"]["verdict"]
    assert majority([True, True, True, True]) is Verdict.UNSCORED  # an even panel votes on nothing


def test_majority_accuracy(cases: dict[str, Case]) -> None:
    for case in of(cases, "majority_accuracy"):
        made = [majority_accuracy(a) for a in case["input"]["a"]]
        assert made == near(case["expected"]["accuracy"], 1e-12)


def test_rogan_gladen(cases: dict[str, Case]) -> None:
    for case in of(cases, "rogan_gladen"):
        made = [rogan_gladen(*row) for row in case["input"]["rows_p_tpr_tnr"]]
        expected = case["expected"]
        assert [one.refused for one in made] == expected["refused"]
        assert [None if one.refused else one.clipped for one in made] == expected["clipped"]
        for one, value, raw in zip(made, expected["value"], expected["raw"], strict=True):
            assert one.value == (None if value is None else near(value))
            assert one.raw == (None if raw is None else near(raw))


def test_rogan_gladen_curve(cases: dict[str, Case]) -> None:
    for case in of(cases, "rogan_gladen_curve"):
        given = case["input"]
        made = corrected_curve(given["pass_hat_observed"], given["tpr"], given["tnr"])
        assert made == near(tuple(case["expected"]["corrected"]))
        wrong = rogan_gladen(given["pass_hat_observed"][3], given["tpr"], given["tnr"]).value
        assert wrong == near(case["expected"]["wrong_value_formula_on_pass_hat_4"])
        assert corrected_curve(given["pass_hat_observed"], 0.5, 0.5) is None


def test_gates(cases: dict[str, Case]) -> None:
    for case in of(cases, "gates"):
        rows = [{key: row[key] for key in row if key != "name"} for row in case["input"]["rows"]]
        assert [exit_code(**row) for row in rows] == case["expected"]["exit"]


def test_gates_threshold(cases: dict[str, Case]) -> None:
    for case in of(cases, "gates_threshold"):
        given, expected = case["input"], case["expected"]
        pairs = counts(case, cases)
        x = [pass_hat_fraction(n, c, given["k"]) for n, c in pairs]
        made = suite_interval(x, sum(n for n, _ in pairs))
        for point, name in ((False, "pass_by_lower_bound"), (True, "pass_by_point")):
            result = threshold_gate("min", given["threshold"], interval=made, point=point)
            assert (result.outcome is Outcome.PASS) is expected[name]


def test_format(cases: dict[str, Case]) -> None:
    for case in of(cases, "format"):
        made = [format_rate(value, stderr) for value, stderr in case["input"]["rows_value_stderr"]]
        assert made == case["expected"]["text"]
