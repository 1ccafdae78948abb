"""Spans of every dialect: one call from all, repeated histories, wrappers, order, what was not captured."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, jsonl, names, only_trial, read, results
from tests.importers.fixtures_spans import (
    ASKED,
    CALLED,
    LAST,
    genai,
    openinference,
    otlp,
    pairs,
    said_in_parts,
    span,
    tool,
    whole_trace,
)
from trajdiff.importers import load
from trajdiff.model import Trial

DIALECTS: dict[str, Any] = {
    "genai": otlp(*whole_trace()),
    "lines": jsonl(*(otlp(one) for one in whole_trace())),
    "openinference": openinference(),
    "traceloop": otlp(
        span(1, {
            "gen_ai.system": "x", "gen_ai.request.model": "m-1", "gen_ai.usage.prompt_tokens": 20,
            "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Fix the lamp.",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "look",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"at": "lamp"}',
        }),
        span(2, {"traceloop.span.kind": "tool", "traceloop.entity.name": "look",
                 "traceloop.entity.output": "broken"}),
        span(3, {"gen_ai.operation.name": "chat", "gen_ai.completion.0.role": "assistant",
                 "gen_ai.completion.0.content": "It is broken."}),
    ),
    "events": otlp(
        span(1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1",
                 "gen_ai.usage.input_tokens": 20},
             events=[
            {"name": "gen_ai.user.message", "attributes": pairs({"content": "Fix the lamp."})},
            {"name": "gen_ai.choice", "attributes": pairs({"message": json.dumps({"tool_calls": [
                {"id": "c1", "function": {"name": "look", "arguments": '{"at": "lamp"}'}}]})})},
        ]),
        span(2, tool(**{"gen_ai.tool.call.result": "broken"})),
        span(3, {"gen_ai.operation.name": "chat"}, events=[
            {"name": "gen_ai.choice", "attributes": pairs({"content": "It is broken."})}]),
    ),
}  # fmt: skip


def shape(trial: Trial) -> list[tuple[str, str, Any]]:
    return [(one.actor, one.kind, one.name or one.text) for one in trial.steps[:-1]]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_CAL_10_every_dialect_gives_the_same_steps(dialect: str) -> None:
    trial = only_trial(DIALECTS[dialect])
    assert shape(trial) == [
        ("user", "message", "Fix the lamp."), ("agent", "tool_call", "look"),
        ("agent", "message", "It is broken."),
    ]  # fmt: skip
    (call,) = calls(trial)
    assert (call.call_id, call.arguments and call.arguments.parsed, results(trial)) == (
        "c1",
        {"at": "lamp"},
        ["broken"],
    )
    assert (trial.provenance.model, trial.usage.input, trial.verdict) == ("m-1", 20, "unscored")


def test_CAL_08_the_order_of_the_file_does_not_matter() -> None:
    same = [span(1, tool(f"c{n}", **{"gen_ai.tool.call.result": str(n)}), spanId=f"f{n}") for n in range(6)]
    wanted = [one.call_id for one in calls(only_trial(otlp(*same)))]
    assert wanted == [f"c{n}" for n in range(6)]
    for seed in range(5):
        random.Random(seed).shuffle(same)
        assert [one.call_id for one in calls(only_trial(otlp(*same)))] == wanted


def test_CAL_09_what_was_not_captured_is_absent_and_filled_from_the_message() -> None:
    (bare,) = calls(only_trial(otlp(span(2, tool()))))
    assert (bare.arguments and bare.arguments.state, bare.result) == ("absent", None)
    (filled,) = calls(only_trial(otlp(span(1, genai([ASKED], [CALLED])), span(2, tool()))))
    assert filled.arguments is not None
    assert filled.arguments.parsed == {"at": "lamp"}


def test_CAL_11_wrappers_are_read_by_their_children_and_no_result_is_an_answer() -> None:
    wrapper = span(0, genai([ASKED], [LAST], **{"gen_ai.operation.name": "chat"}), spanId="77")
    inner = [
        span(1, genai([ASKED], [CALLED]), 0x77),
        span(2, tool(**{"gen_ai.tool.call.result": "broken"}), 0x77),
    ]
    trial = only_trial(otlp(wrapper, *inner))
    assert shape(trial) == [("user", "message", "Fix the lamp."), ("agent", "tool_call", "look")]


def test_errors_and_sub_agents() -> None:
    agents = [
        span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "boss"}),
        span(2, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "digger"}, 1),
    ]
    failed = span(3, tool("c1", **{"gen_ai.tool.call.result": "no"}), 2, status={"code": 2})
    fine = span(4, tool("c2", **{"gen_ai.tool.call.result": "yes"}), 1, status={"code": "STATUS_CODE_OK"})
    trial = only_trial(otlp(*agents, failed, fine))
    assert [(one.actor, one.failed) for one in calls(trial)] == [("subagent:digger", True), ("agent", False)]


def test_equal_messages_said_twice_count_twice() -> None:
    again = said_in_parts("user", {"type": "text", "content": "Go on."})
    trial = only_trial(otlp(span(1, genai([again], [LAST])), span(2, genai([again, LAST, again], [LAST]))))
    assert [one.text for one in trial.steps[:-1]] == ["Go on.", "It is broken.", "Go on.", "It is broken."]


def test_traces_are_trials_conversations_join_them_and_evaluations_decide() -> None:
    score = [{"name": "gen_ai.evaluation.result", "attributes": pairs(
        {"gen_ai.evaluation.name": "right", "gen_ai.evaluation.score.value": 1.0})}]  # fmt: skip
    two = [
        span(1, genai([ASKED], [LAST]), trace="aa", events=score),
        span(2, genai([ASKED], [LAST]), trace="bb"),
    ]
    corpus = read(otlp(*two))
    assert names(corpus) == ["trace#aa/0", "trace#bb/0"]
    assert [one.verdict for one in corpus.trials] == ["pass", "unscored"]
    talk = {"gen_ai.conversation.id": "k"}
    joined = [span(n, genai([ASKED], [LAST], **talk), trace=f"0{n}") for n in (1, 2)]
    assert only_trial(otlp(*joined)).producer_id == "k"


def test_the_published_spans(shared: Path) -> None:
    corpus = load([str(shared / "data/openinference")])
    assert len(corpus.trials) == 25
    called = {(one.name, one.result is not None) for trial in corpus.trials for one in calls(trial)}
    assert called == {("get_weather", True)}
    assert {one.slug for one in corpus.diagnostics} == {"bare_trace", "not_recognised", "no_steps"}
