"""Recorded logs of no format of their own, where they lie beside the project: what must come out of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from trajdiff.analysis import analyse
from trajdiff.divergence.finding import Divergence
from trajdiff.frozen import replace
from trajdiff.importers import ReadOptions, converted, draft_mapping, load
from trajdiff.model import Corpus, Effect
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings

#: The mapping a user writes for the made-up harness.
NIGHTLY = """
trajectories    = "results[*].attempts[*]"
task            = "$record.case_id"
trial           = "no"
outcome         = "grade.ok"
scorer          = "grade.by"
expected_trials = "$root.planned_attempts"
model           = "$root.agent.model"
prompt_version  = "$root.agent.prompt"
sampling        = {temperature = "$root.agent.temperature"}
duration_s      = "wall_s"
cost_usd        = "usd"
stop            = {path = "finish", values = {"crash*" = "infra_error", "*" = "unknown"}}

[steps]
path = "log[*]"
[[steps.when]]
if        = "kind == 'call'"
emit      = "tool_call"
name      = "fn"
arguments = {path = "input", decode = "json"}
result    = "output"
error     = "failed"
[[steps.when]]
if    = "kind == 'say'"
emit  = "message"
actor = {path = "who", values = {customer = "user", agent = "agent"}}
text  = "text"
"""


def reported(corpus: Corpus, settings: Settings | None = None) -> Report:
    chosen = settings or Settings()
    return build_report(corpus, analyse(corpus, chosen), chosen, name=None)


def claims(report: Report) -> list[tuple[object, ...]]:
    """Every divergence without places, its trials by their rank within the task."""
    found: list[tuple[object, ...]] = []
    for task in report.tasks:
        rank = {row.trial_id: number for number, row in enumerate(task.trials)}
        for one in task.finding.divergences:
            found.append((*_said(one), rank[one.trial_id], sorted(rank[trial] for trial in one.group)))
    return found


def _said(one: Divergence) -> Sequence[object]:
    root, manifest = (None if at is None else (at.step, at.message) for at in (one.root, one.manifest))
    return one.kind, one.tool, one.grade, root, manifest, one.headline, one.support, one.abstained


def test_the_made_up_harness_through_a_mapping(shared: Path) -> None:
    path = str(shared / "data/own_harness/nightly.json")
    maps = {
        "nightly": tomllib.loads(
            NIGHTLY.replace(', "*" = "unknown"', ', done = "agent_done", max_turns = "max_steps"')
        )
    }
    corpus = load([path], ReadOptions(map="nightly", maps=maps))
    assert [(task.task_id, [str(trial.verdict) for trial in task.trials]) for task in corpus.tasks] == [
        ("faq", ["pass", "pass", "pass"]),
        ("refund/late-friday", ["pass", "fail", "pass", "fail"]),
        ("退款/重复", ["pass", "pass", "fail", "unscored"]),
    ]
    assert [(task.expected_n, task.missing) for task in corpus.tasks] == [(4, ("4",)), (4, ()), (4, ())]
    assert corpus.tasks[2].trials[2].termination.reason == "max_steps"
    called = [step for trial in corpus.trials for step in trial.steps if step.is_call]
    assert all(
        step.result is not None and isinstance(step.arguments and step.arguments.parsed, dict)
        for step in called
    )
    # The name of one look-up says "may", which reads like a change: the settings say what it is.
    made = reported(corpus, replace(Settings(), tools={"policy.*": Effect.READ}))
    task = made.task("refund/late-friday")
    assert task is not None
    roots = {one.trial_id: (str(one.kind), one.tool) for one in task.finding.divergences}
    assert roots == {"2": ("result_difference", "parse_date"), "4": ("missing_step", "policy.may_refund")}


def test_a_newcomer_gets_a_report_of_it_from_the_draft_alone(shared: Path) -> None:
    path = str(shared / "data/own_harness/nightly.json")
    maps = tomllib.loads(draft_mapping(path))["map"]
    corpus = load([path], ReadOptions(map="nightly", maps=maps))
    passed = {task.task_id: (len(task.passes), len(task.failures)) for task in corpus.tasks}
    assert passed == {"faq": (3, 0), "refund/late-friday": (2, 2), "退款/重复": (2, 1)}


def test_bare_chats_with_a_manifest_agree_with_the_log_they_come_from(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data/openai_chat"
    manifest = tmp_path / "trials.toml"
    manifest.write_text(
        f'outcomes = "{folder}/outcomes.csv"\n[[trial]]\npath = "{folder}/{{task}}/attempt_{{trial}}.jsonl"\n'
    )
    chats = load([str(folder)], ReadOptions(outcomes=(str(manifest),)))
    assert (len(chats.tasks), len(chats.trials)) == (5, 20)
    assert [one.slug for one in chats.diagnostics if one.severity != "note"] == []
    original = tmp_path / "five.json"
    wanted = {int(task.task_id.removeprefix("task")) for task in chats.tasks}
    rows = json.loads((shared / "data/tau_bench/gpt-4o-airline.json").read_bytes())
    original.write_text(json.dumps([row for row in rows if row["task_id"] in wanted]))
    log = load([str(original)])
    made, known = reported(chats), reported(log)
    curves = [
        [(task.task_id.removeprefix("task"), task.reliability.pass_hat_k) for task in report.tasks]
        for report in (made, known)
    ]
    assert curves[0] == curves[1]
    assert len(claims(made)) == 11
    assert claims(made) == claims(known)


def test_results_of_verifiers_through_the_shipped_mapping(shared: Path) -> None:
    folder = shared / "data/verifiers"
    (path,) = folder.glob("*results.jsonl")
    corpus = load([str(path)])
    assert corpus.files[0].format == "verifiers results"
    assert [len(task.trials) for task in corpus.tasks] == [3] * 5
    rewards = [json.loads(line)["reward"] for line in path.read_text().splitlines()]
    (summary,) = folder.glob("*metadata.json")
    assert sum(trial.reward or 0 for trial in corpus.trials) / 15 == sum(rewards) / 15
    assert abs(sum(rewards) / 15 - json.loads(summary.read_text())["avg_reward"]) < 1e-12
    called = [step for trial in corpus.trials for step in trial.steps if step.is_call]
    # Calls are JSON texts whose arguments are JSON texts: each is decoded, and each has its result.
    assert len(called) == 30
    assert all(step.result is not None for step in called)
    assert all(step.arguments is not None and "code" in step.arguments.parsed for step in called)
    again = load(["-"], ReadOptions(stdin=converted(corpus).encode()))
    assert claims(reported(again)) == claims(reported(corpus))
