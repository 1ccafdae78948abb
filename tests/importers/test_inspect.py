"""inspect_ai logs: archives of every kind, the order of events, several scorers, and the published logs."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.fixtures import calls, names, only_trial, put, read, results, slugs, told
from tests.importers.fixtures_inspect import header, inspect_call, inspect_messages, members, packed, sample
from trajdiff.errors import InputError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus, StepKind, Trial

TWO = (sample(), sample(epoch=2, scores={"match": {"value": "I"}}))


def log(*samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    return header(**more) | {"samples": list(samples)}


WAYS = {
    "json": json.dumps(log(*TWO)).encode(),
    "deflate": packed(members(*TWO, head=header())),
    "zstd": packed(members(*TWO, head=header()), method="zstd"),
    "FIL-01 several frames": packed(members(*TWO, head=header()), method="zstd", frames=3),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_packing_gives_the_same_trials(way: str) -> None:
    corpus = read(WAYS[way])
    assert names(corpus) == ["lamp/7/1", "lamp/7/2"]
    assert [one.verdict for one in corpus.trials] == ["pass", "fail"]
    assert slugs(corpus) == ["no_events"]
    (task,) = corpus.tasks
    assert (task.expected_n, task.missing, task.task.suite) == (2, (), "lamps")
    first = corpus.trials[0]
    assert [one.name for one in calls(first)] == ["find_lamp", "stock"]
    assert results(first) == ["lamp 7", "no answer"]
    assert [one.failed for one in calls(first)] == [False, True]
    assert len({one.parallel_group for one in calls(first)}) == 1
    assert (first.usage.input, first.usage.output, first.usage.cache_read) == (40, 4, 30)
    assert (first.provenance.model, dict(first.provenance.sampling)) == ("m-1", {"temperature": 0.5})
    assert first.termination.reason == "agent_done"


def test_FIL_01_without_a_decompressor_the_file_and_the_way_out_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("backports", "compression"):
            raise ImportError(name)
        return real(name, *rest, **more)

    new = put(tmp_path, "new.eval", WAYS["zstd"])
    old = put(tmp_path, "old.eval", WAYS["deflate"])
    monkeypatch.setattr(builtins, "__import__", without)
    corpus = load([str(new), str(old)])
    assert {one.source.path for one in corpus.trials} == {str(old)}
    said = [str(one.message) for one in corpus.diagnostics if one.path == str(new)]
    assert any("method 93" in one and "pip install backports.zstd" in one for one in said)


def test_TRI_04_a_log_without_header_gives_what_is_finished() -> None:
    corpus = read(packed(members(TWO[0]), method="zstd"))
    assert names(corpus) == ["lamp/7/1"]
    assert "run crashed" in told(corpus, "incomplete_log").message
    assert (corpus.tasks[0].expected_n, corpus.tasks[0].missing) == (2, ("2",))


@pytest.mark.parametrize("method", ["deflate", "zstd"])
def test_FIL_02_a_cut_archive_gives_its_complete_members(method: str, tmp_path: Path) -> None:
    whole = packed(members(*TWO, head=header()), method=method)
    second = whole.index(b"lamp/7_epoch_2") - 30
    cut = put(tmp_path, "cut.eval", whole[: second + 60])
    good = put(tmp_path, "good.eval", packed(members(sample("other"), head=header(1, ["other"]))))
    corpus = load([str(cut), str(good)])
    assert names(corpus) == ["lamp/7/1", "other/1"]
    assert told(corpus, "truncated_archive").path == str(cut)
    assert corpus.tasks[0].missing == ("2",)


def what_is_said(data: bytes) -> list[str]:
    try:
        return slugs(read(data))
    except InputError as error:
        return ["error", str(error)]


def test_FIL_02_every_cut_of_an_archive_is_named() -> None:
    whole = WAYS["zstd"]
    for end in range(4, len(whole), 37):
        assert {"truncated_archive", "error"} & set(what_is_said(whole[:end]))


def test_a_damaged_member_costs_one_sample() -> None:
    whole = WAYS["zstd"]
    at = whole.index(b"lamp/7_epoch_1") + 60
    corpus = read(whole[:at] + bytes(8) + whole[at + 8 :])
    assert names(corpus) == ["lamp/7/2"]
    assert "samples/lamp/7_epoch_1.json" in str(told(corpus, "unreadable_record").pointer)


def test_chunked_samples_are_put_together() -> None:
    whole = sample()
    parts = {f"messages/{start}": whole["messages"][start : start + 4] for start in (0, 4)}
    parts["attachments/0"] = ["Look lamps up."]
    parts["messages/0"][0] = parts["messages/0"][0] | {"content": "attachment://0"}
    files = {f"samples/lamp/7_epoch_1/{name}.json": json.dumps(one).encode() for name, one in parts.items()}
    short = {key: one for key, one in whole.items() if key != "messages"}
    files["samples/lamp/7_epoch_1/sample.json"] = json.dumps(short).encode()
    trial = only_trial(packed(files | members(head=header(1))))
    assert trial.steps[0].text == "Look lamps up."
    assert results(trial) == ["lamp 7", "no answer"]


def test_FIL_04_a_list_of_logs_is_no_log() -> None:
    with pytest.raises(InputError, match="a list of logs, not a log"):
        read({"a.eval": header(), "b.eval": header()})


def test_zips_of_other_things_are_no_logs() -> None:
    with pytest.raises(InputError, match="zip archive"):
        read(packed({"word/document.xml": b"<a/>"}))


# Verdicts

SEVERAL = {
    "match": {"value": "C"},
    "policy": {"value": {"asked": 1.0, "polite": False}},
    "list": {"value": [0, 1]},
    "half": {"value": "P"},
}


def test_VER_18_several_scorers_need_a_choice_and_are_listed() -> None:
    corpus = read(log(sample(scores=SEVERAL), sample(epoch=2, scores=SEVERAL)))
    assert [one.verdict for one in corpus.trials] == ["unscored", "unscored"]
    assert "half, list.0, list.1, match, policy.asked, policy.polite" in told(corpus, "several_scorers").message


@pytest.mark.parametrize(
    ("scorer", "threshold", "verdict"),
    [
        ("match", None, "pass"),
        ("policy.asked", None, "pass"),
        ("policy.polite", None, "fail"),
        ("list.0", None, "fail"),
        ("list.1", None, "pass"),
        ("half", None, "fail"),
        ("half", 0.5, "pass"),
        ("half", 0.6, "fail"),
        ("policy", None, "unscored"),
        ("nobody", None, "unscored"),
    ],
)
def test_the_chosen_scorer_decides(scorer: str, threshold: float | None, verdict: str) -> None:
    trial = only_trial(log(sample(scores=SEVERAL), epochs=1), scorer=scorer, threshold=threshold)
    assert trial.verdict == verdict
    assert trial.judgement.scorer == scorer or verdict == "unscored"


@pytest.mark.parametrize(
    ("value", "more", "verdict"),
    [
        (1, {}, "pass"),
        (0.5, {}, "fail"),
        (True, {}, "pass"),
        ("N", {}, "fail"),
        (math.nan, {}, "unscored"),
        (None, {}, "unscored"),
        (None, {"error": {"message": "ran dry"}}, "infra"),
        (0, {"error": {"message": "ran dry"}}, "fail"),
        ("C", {"invalidation": {"author": "x"}}, "infra"),
        ("C", {"limit": {"type": "message", "limit": 3}}, "pass"),
    ],
)
def test_FIL_03_values_errors_and_limits(value: Any, more: dict[str, Any], verdict: str) -> None:
    trial = only_trial(log(sample(scores={"match": {"value": value}}, **more), epochs=1))
    assert trial.verdict == verdict
    if "limit" in more:
        assert (trial.termination.reason, trial.termination.raw) == ("max_steps", "message")


def test_an_unknown_letter_is_an_error_that_costs_the_verdict_only() -> None:
    corpus = read(log(sample(scores={"match": {"value": "Q"}}), sample(epoch=2)))
    assert [one.verdict for one in corpus.trials] == ["unscored", "pass"]
    assert told(corpus, "unknown_letter").severity == "error"


def test_VER_17_the_status_of_the_run_changes_no_verdict() -> None:
    corpus = read(log(*TWO) | {"status": "error", "error": {"message": "host down"}})
    assert [one.verdict for one in corpus.trials] == ["pass", "fail"]
    assert "error" in told(corpus, "run_status").message


# Events


def model(*seen: dict[str, Any], says: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": "model", "input": list(seen), "output": {"choices": [{"message": says}]}} | more


def tool(call_id: str, name: str, result: Any, message_id: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "event": "tool", "id": call_id, "function": name, "arguments": {"from": "event"}, "result": result,
        "timestamp": "2026-01-01T00:00:01Z", "completed": "2026-01-01T00:00:02Z", "message_id": message_id,
    } | more  # fmt: skip


def with_events(*events: dict[str, Any], messages: Any = None) -> Trial:
    messages = inspect_messages() if messages is None else messages
    return only_trial(log(sample(events=list(events), messages=messages), epochs=1))


def test_calls_keep_the_times_of_their_events() -> None:
    m = inspect_messages()
    # The second tool event repeats the message id of the first, as some versions do.
    trial = with_events(
        model(m[0], m[1], says=m[2]), tool("c1", "find_lamp", "lamp 7", "m3"), tool("c2", "stock", "?", "m3"),
        model(*m[:5], says=m[5]),
    )  # fmt: skip
    assert trial.message_count == 6
    assert results(trial) == ["lamp 7", "?"]
    assert [one.started_at for one in calls(trial)] == ["2026-01-01T00:00:01Z"] * 2
    places = [(one.source.message_index, one.source.pointer) for one in trial.steps[:2]]
    assert places == [(0, "$.samples[0].messages[0]"), (1, "$.samples[0].messages[1]")]
    answered = [one.result_source.message_index for one in calls(trial) if one.result_source]
    assert answered == [3, 4]


def test_history_lost_to_compaction_comes_from_the_events() -> None:
    m = inspect_messages()
    summary = {"id": "s", "role": "user", "content": "So far: nothing sold."}
    trial = with_events(
        model(m[0], m[1], says=m[2]), tool("c1", "find_lamp", "lamp 7"), tool("c2", "stock", "0"),
        model(m[0], summary, says=m[5]), messages=[m[0], summary, m[5]],
    )  # fmt: skip
    assert [one.name for one in calls(trial)] == ["find_lamp", "stock"]
    assert results(trial) == ["lamp 7", "0"]
    assert [one.text for one in trial.steps if one.kind is StepKind.MESSAGE] == [
        m[0]["content"], m[1]["content"], summary["content"], m[5]["content"],
    ]  # fmt: skip
    assert [one.turn for one in trial.steps] == sorted(one.turn for one in trial.steps)


def test_a_tool_that_ends_the_trial_is_kept() -> None:
    m = inspect_messages()
    last = m[5] | {"tool_calls": [inspect_call("submit", {"answer": "7"}, "c9")]}
    trial = with_events(model(*m[:5], says=last), tool("c9", "submit", "7"))
    assert [one.name for one in calls(trial)] == ["find_lamp", "stock", "submit"]
    assert calls(trial)[-1].source.pointer.startswith("$.samples[0].events[0].output")


def test_scorers_and_failed_model_calls_are_no_part_of_the_trial_and_sub_agents_are_named() -> None:
    m = inspect_messages()
    inner = {"id": "i", "role": "assistant", "content": "", "tool_calls": [inspect_call("dig", {}, "d1")]}
    grade = {"id": "g", "role": "assistant", "content": "GRADE: C"}
    spans = [
        {"event": "span_begin", "id": "a", "type": "agent", "name": "boss"},
        {"event": "span_begin", "id": "b", "type": "agent", "name": "digger", "parent_id": "a"},
        {"event": "span_begin", "id": "s", "type": "scorer", "name": "judge"},
    ]
    trial = with_events(
        *spans,
        model(m[0], m[1], says=m[2], span_id="a"),
        model(says=inner, span_id="b"),
        tool("d1", "dig", "sand", span_id="b"),
        model(m[0], says={"id": "e", "role": "assistant", "content": ""}, span_id="a", error="down"),
        model(says=grade, span_id="s"),
        model(says=grade, role="grader"),
    )
    assert [(one.name, one.actor) for one in calls(trial)] == [
        ("find_lamp", "agent"), ("stock", "agent"), ("dig", "subagent:digger"),
    ]  # fmt: skip
    assert results(trial) == ["lamp 7", "no answer", "sand"]
    assert not [one for one in trial.steps if one.text in ("GRADE: C", "")]


def test_FIL_09_removed_events_are_told() -> None:
    assert told(read(log(sample(), epochs=1) | {}), "no_events").severity == "note"


def test_arguments_the_producer_could_not_parse_are_invalid() -> None:
    m = inspect_messages()[:3]
    m[2]["tool_calls"] = [inspect_call("find_lamp", {}, "c1", parse_error="cut")]
    (call,) = calls(only_trial(log(sample(messages=m), epochs=1)))
    assert call.arguments is not None
    assert call.arguments.state == "invalid"


def test_TRI_03_TRI_12_summaries_and_reductions_are_no_trials() -> None:
    files = members(*TWO, head=header())
    row = {"id": "lamp/7", "epoch": 1, "scores": {"match": {"value": "C"}}}
    files["summaries.json"] = json.dumps([row, row]).encode()
    reduced = [{"scorer": "match", "samples": [{"sample_id": "x", "value": 1}]}]
    files["reductions.json"] = json.dumps(reduced).encode()
    assert names(read(packed(files))) == ["lamp/7/1", "lamp/7/2"]


def test_the_same_run_under_two_names_counts_once(tmp_path: Path) -> None:
    one, other = put(tmp_path, "a.eval", WAYS["zstd"]), put(tmp_path, "b.json", WAYS["json"])
    corpus = load([str(one), str(other)])
    assert [task.expected_n for task in corpus.tasks] == [2]
    assert len(corpus.trials) == 2
    assert "duplicate_trial" in slugs(corpus)


def run_file(tmp_path: Path, name: str, *samples: dict[str, Any], task_id: str = "T1", epochs: int = 2) -> str:
    head = header(epochs)
    head["eval"] = head["eval"] | {"task_id": task_id, "eval_id": name}
    return str(put(tmp_path, f"{name}.json", head | {"samples": list(samples)}))


def test_TRI_01_the_producers_retries_are_superseded_by_the_scored_one(tmp_path: Path) -> None:
    broken = sample(scores={}, error={"message": "host down"}, uuid="r1", completed_at="2026-01-03T00:00:00Z")
    good = sample(uuid="r2", completed_at="2026-01-02T00:00:00Z")
    paths = [
        run_file(tmp_path, "a", broken),
        run_file(tmp_path, "b", good),
        run_file(tmp_path, "c", sample(epoch=2)),
    ]
    corpus = load(paths)
    assert [(one.trial_id, one.verdict) for one in corpus.trials] == [("1", "pass"), ("2", "pass")]
    assert corpus.tasks[0].expected_n == 2
    assert told(corpus, "superseded_trial").severity == "note"


def test_separate_runs_of_one_task_add_up(tmp_path: Path) -> None:
    failed = {"match": {"value": "I"}}
    paths = [
        run_file(tmp_path, "a", sample(uuid="r1"), sample(epoch=2, uuid="r2")),
        run_file(tmp_path, "b", sample(uuid="r3", scores=failed), sample(epoch=2, uuid="r4"), task_id="T2"),
    ]
    corpus = load(paths)
    assert [(one.expected_n, len(one.trials), len(one.passes)) for one in corpus.tasks] == [(4, 4, 3)]


def test_an_absurd_number_of_epochs_is_told_and_nothing_hangs() -> None:
    corpus = read(log(sample(), epochs=10**30))
    assert told(corpus, "odd_plan").severity == "warning"
    assert (corpus.tasks[0].expected_n, len(corpus.trials)) == (None, 1)


@given(noise=st.binary(min_size=1, max_size=8), where=st.integers(0, 10_000), way=st.sampled_from(sorted(WAYS)))
def test_garbled_archives_are_told_and_never_crash(noise: bytes, where: int, way: str) -> None:
    data = WAYS[way]
    at = where % len(data)
    assert what_is_said(data[:at] + noise + data[at + len(noise) :])


# What inspect's own reader reports


def published(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "data/inspect_ai/expected.json").read_bytes())["files"]
    return found


def same(recorded: Any) -> Any:
    """Scores as the expected file writes them: numbers that JSON lacks as words."""
    if isinstance(recorded, float) and not math.isfinite(recorded):
        return "NaN" if math.isnan(recorded) else "Infinity" if recorded > 0 else "-Infinity"
    return {key: same(one) for key, one in recorded.items()} if isinstance(recorded, dict) else recorded


def tool_errors(corpus: Corpus, trial: Trial) -> list[list[Any]]:
    """Position among the tool messages and type of every failed result."""
    answered = [
        (step.result_source or step.source, step.result)
        for step in trial.steps
        if step.result is not None and ".events" not in (step.result_source or step.source).pointer
    ]
    answered.sort(key=lambda one: one[0].message_index or 0)
    return [
        [position, str(result.error_rule).removeprefix("error of type ")]
        for position, (_, result) in enumerate(answered)
        if result.is_error
    ]


def test_every_published_log_reads_as_its_producer_reads_it(shared: Path) -> None:
    files = published(shared)
    assert len(files) == 15
    for name, wanted in files.items():
        corpus = load([str(shared / "data/inspect_ai" / name)])
        # The cut file holds all samples; only its directory is lost, at which the producer's reader stops.
        samples = wanted.get("samples") or files["shop_support.eval"]["samples"]
        trials = {(one.task_id, one.trial_id): one for one in corpus.trials}
        assert len(trials) == len(samples), name
        for one in samples:
            trial = trials[str(one["id"]), str(one["epoch"])]
            called = [step for step in trial.steps if step.is_call]
            spoken = [step.name for step in called if ".events" not in step.source.pointer]
            limit = (one["limit"] or {}).get("type")
            assert same(dict(trial.sub_scores)) == (one["scores"] or {}), (name, one["id"])
            assert trial.error == one["error"]
            assert trial.message_count == one["n_messages"]
            assert (len(spoken), spoken) == (one["n_tool_calls"], one["tool_names"])
            assert one["tool_event_names"] in ([step.name for step in called], [], None)
            assert tool_errors(corpus, trial) == one["tool_errors"], (name, one["id"])
            assert (trial.termination.raw if trial.termination.rule == "limit" else None) == limit


def test_two_runs_of_one_task_fill_four_epochs(shared: Path) -> None:
    folder = shared / "data/inspect_ai"
    paths = [str(folder / name) for name in ("split_run1_epochs1-2.eval", "split_run2_epochs3-4.eval")]
    corpus = load(paths, ReadOptions(scorer="resolved"))
    assert {(task.expected_n, len(task.trials)) for task in corpus.tasks} == {(4, 4)}
    assert len(corpus.tasks) == 5
