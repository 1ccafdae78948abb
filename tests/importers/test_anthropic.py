"""Anthropic messages and Claude Code sessions: split responses, branches, compaction, quota messages."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, jsonl, only_trial, put, read, results, said, slugs, told
from tests.importers.fixtures_anthropic import answer, line, session, text, tokens, use
from trajdiff.importers import load
from trajdiff.model import StepKind, Trial

# Messages

BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix the lamp."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look first.", "signature": "x"},
            text("Looking."),
            use("Read", {"path": "a"}, "t1"),
            use("Grep", {"for": "b"}, "t2"),
        ],
    },
    {
        "role": "user",
        "content": [answer([text("two")], "t2"), answer("one", "t1", is_error=True), text("Go on.")],
    },
    {"role": "assistant", "content": [text("Fixed.")]},
]


@pytest.mark.parametrize("way", ["list", "lines", "object"])
def test_messages_in_blocks(way: str) -> None:
    data: Any = {"list": BLOCKS, "lines": jsonl(*BLOCKS), "object": {"messages": BLOCKS, "system": "Be kind."}}[
        way
    ]
    trial = only_trial(data)
    steps = [(one.actor, one.kind, one.text or one.name) for one in trial.steps]
    assert steps[1 if way == "object" else 0 :] == [
        ("user", "message", "Fix the lamp."),
        ("agent", "reasoning", "Look first."),
        ("agent", "message", "Looking."),
        ("agent", "tool_call", "Read"),
        ("agent", "tool_call", "Grep"),
        ("user", "message", "Go on."),
        ("agent", "message", "Fixed."),
        ("environment", "termination", "unknown"),
    ]
    assert results(trial) == ["one", "two"]
    assert [one.result.is_error for one in calls(trial) if one.result] == [True, None]
    assert len({one.parallel_group for one in calls(trial)}) == 1
    assert (trial.steps[0].actor == "system") is (way == "object")


def test_server_tools_are_calls_too() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"title": "lamps"}]}
    asked = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "lamp"}}
    trial = only_trial([{"role": "assistant", "content": [asked, found, text("Found.")]}])
    assert [one.name for one in calls(trial)] == ["web_search"]
    assert "lamps" in str(results(trial)[0])


# Sessions


def session_trial(*lines: dict[str, Any]) -> Trial:
    return only_trial(jsonl(*lines))


def test_FIL_11_one_response_over_several_lines_is_one_message() -> None:
    trial = session_trial(*session())
    assert [one.name for one in calls(trial)] == ["Read", "Grep"]
    assert results(trial) == ["one", "two"]
    assert [one.call_uid for one in calls(trial)] == ["1.0", "1.1"]
    assert len({one.parallel_group for one in calls(trial)}) == 1
    # Of the growing usage of one response the last counts, once.
    assert (trial.usage.input, trial.usage.output, trial.usage.cache_read) == (14, 11, 7)
    assert (trial.termination.reason, trial.verdict) == ("agent_done", "unscored")
    assert (trial.producer_id, trial.provenance.model, trial.provenance.tool_version) == ("s1", "m-1", "2.1.0")
    assert [one.source.line for one in trial.steps[:4]] == [3, 4, 5, 6]
    assert [one.result_source.line for one in calls(trial) if one.result_source] == [8, 7]


def test_repeated_lines_count_once() -> None:
    corpus = read(jsonl(*session(), session()[4]))
    (trial,) = corpus.trials
    assert len(calls(trial)) == 2
    assert told(corpus, "repeated_line").severity == "note"


def test_branches_that_were_left_again_are_no_steps() -> None:
    lines = session()
    branch = [
        line("assistant", "x1", "r2", [use("Write", {"path": "z"}, "t9")], "m9"),
        line("user", "x2", "x1", [answer("no", "t9")]),
    ]
    corpus = read(jsonl(*lines[:-1], *branch, lines[-1]))
    (trial,) = corpus.trials
    assert [one.name for one in calls(trial)] == ["Read", "Grep"]
    assert "2 lines" in told(corpus, "abandoned_branch").message


def test_DIV_06_compaction_is_one_step() -> None:
    lines = session()
    after = [
        {"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": None,
         "logicalParentUuid": "a4", "sessionId": "s1", "content": "Conversation compacted"},
        line("user", "c2", "c1", "So far: the lamp is fixed.", isCompactSummary=True),
        line("assistant", "a5", "c2", [text("Bye.")], "m3"),
    ]  # fmt: skip
    trial = session_trial(*lines, *after)
    assert [one.text for one in trial.steps if one.kind is StepKind.COMPACTION] == [
        "So far: the lamp is fixed."
    ]
    assert [one.name for one in calls(trial)] == ["Read", "Grep"]


@pytest.mark.parametrize(
    ("said_by_client", "last", "verdict"),
    [
        ("Claude usage limit reached. Your limit will reset at 3pm.", True, "infra"),
        ("Your credit balance is too low", True, "infra"),
        ("No response requested.", True, "unscored"),
        ("Claude usage limit reached. Your limit will reset at 3pm.", False, "unscored"),
    ],
)
def test_a_trial_cut_off_by_a_quota_message_is_invalid(said_by_client: str, last: bool, verdict: str) -> None:
    lines = session()
    quota = line("assistant", "q", "a4", [text(said_by_client)], "m8", model="<synthetic>")
    more = [] if last else [line("assistant", "a5", "q", [text("Here again.")], "m9")]
    trial = session_trial(*lines, quota, *more)
    assert trial.verdict == verdict
    assert trial.provenance.model == "m-1"
    (client,) = (one for one in trial.steps if one.kind is StepKind.ERROR)
    assert (client.actor, client.text) == ("environment", said_by_client)
    assert ("inferred" in trial.judgement.rule) is (verdict == "infra")


def test_sub_agents_and_meta_lines_are_not_the_agent_or_the_user(tmp_path: Path) -> None:
    side = line("assistant", "b1", None, [use("Dig", {}, "d1")], "m7", isSidechain=True, agentId="k")
    meta = line("user", "u0", None, "<caveat>", isMeta=True)
    put(tmp_path, "proj/s1.jsonl", jsonl(meta, *session(), side))
    put(tmp_path, "proj/s1/subagents/agent-z.jsonl", jsonl(
        line("user", "z1", None, "Dig."), line("assistant", "z2", "z1", [use("Spade", {}, "z")], "m1"),
    ))  # fmt: skip
    corpus = load([str(tmp_path)])
    (trial,) = corpus.trials
    assert [(one.name, one.actor) for one in calls(trial)] == [
        ("Read", "agent"), ("Grep", "agent"), ("Dig", "subagent:k"), ("Spade", "subagent:z"),
    ]  # fmt: skip
    assert trial.steps[0].actor == "system"
    assert "sub_agent" in slugs(corpus)
    assert calls(trial)[3].source.path.endswith("agent-z.jsonl")


@pytest.mark.parametrize(
    ("subtype", "reason"),
    [("success", "agent_done"), ("error_max_turns", "max_steps"), ("error_during_execution", "agent_error")],
)
def test_streams(subtype: str, reason: str) -> None:
    stream: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": "s2", "model": "m-1", "tools": ["Read"]},
        {"type": "assistant", "session_id": "s2", "message": {"id": "m1", "role": "assistant", "model": "m-1",
         "content": [use("Read", {"path": "a"})], "usage": tokens(1, 2)}},
        {"type": "user", "session_id": "s2", "message": {"role": "user", "content": [answer("one")]}},
        {"type": "result", "subtype": subtype, "session_id": "s2", "total_cost_usd": 0.5, "duration_ms": 1500},
    ]  # fmt: skip
    trial = session_trial(*stream)
    assert results(trial) == ["one"]
    assert (trial.termination.reason, trial.cost_usd, trial.duration_s) == (reason, 0.5, 1.5)
    assert trial.producer_id == "s2"


def test_meta_tools_are_marked() -> None:
    lines = session()
    lines[4] = line("assistant", "a2", "a1", [use("ToolSearch", {"q": "x"}, "t1")], "m1")
    assert [one.effect_hint for one in calls(session_trial(*lines))] == ["control", None]


def test_unknown_lines_are_told_and_plain_chat_is_no_session() -> None:
    assert (
        told(read(jsonl(*session(), {"type": "novelty", "sessionId": "s1"})), "unknown_line").severity == "note"
    )
    assert read(jsonl(said("user", "Hi."), said("assistant", "Hi."))).files[0].format.startswith("chat")
