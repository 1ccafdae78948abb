"""Own layouts read by a mapping: the short and the long form, verdicts, endings, steps, places."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, told
from trajdiff.errors import InputError, UsageError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import ArgumentState, Corpus, StepKind, TerminationReason, Trial, Verdict

SHORT = """
trajectories = "runs[*]"
task    = "case_id"
trial   = "attempt"
outcome = "grade.ok"
stop    = "finish_reason"
steps   = "events[?call].{tool: call.name, arguments: call.input, result: output, error: failed}"
"""
LONG = """
trajectories = "results[*]"
task  = "case.id"
trial = "repeat || `0`"
model = "cfg.model"

[outcome]
path    = "grade.ok"
pass    = [true, 1, "PASS"]
fail    = [false, 0, "FAIL"]
infra   = ["ERR"]
missing = "unscored"

[stop]
path   = "stop"
values = {len = "token_limit", done = "agent_done"}

[steps]
path    = "log[*]"
pairing = "id"

[[steps.when]]
if        = "kind == 'call'"
emit      = "tool_call"
id        = "cid"
name      = "fn"
arguments = {path = "in", decode = "json"}

[[steps.when]]
if    = "kind == 'ret'"
emit  = "tool_result"
id    = "cid"
text  = "out"
error = "err != `null`"

[[steps.when]]
if    = "role == 'assistant'"
emit  = "message"
actor = "agent"
text  = "content"
"""


def read_map(content: Any, table: str, **options: Any) -> Corpus:
    """Read a document by a mapping written as TOML."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    maps = {"mine": tomllib.loads(table)}
    return load(["-"], ReadOptions(map="mine", maps=maps, stdin=data, **options))


def one(content: Any, table: str, **options: Any) -> Trial:
    (trial,) = read_map(content, table, **options).trials
    return trial


def event(name: str, **more: Any) -> dict[str, Any]:
    return {"call": {"name": name, "input": {"lamp": 7}}, "output": "lit", "failed": False, **more}


def short_run(**more: Any) -> dict[str, Any]:
    return {"case_id": "L1", "attempt": 2, "grade": {"ok": True}, "events": [event("light")], **more}


def long_result(*log: Any, **more: Any) -> dict[str, Any]:
    return {"case": {"id": 7}, "repeat": 0, "grade": {"ok": True}, "log": list(log), **more}


# The two forms of the specification


def test_the_short_form_reads_names_verdict_calls_and_results() -> None:
    events = [{"note": "no call"}, event("light"), event("buy", output={"left": 0}, failed=True)]
    trial = one({"runs": [short_run(events=events, finish_reason="timeout")]}, SHORT)
    assert (trial.task_id, trial.trial_id, trial.ordinal, trial.verdict) == ("L1", "2", 2, "pass")
    assert trial.judgement.rule == "grade.ok is true"
    assert (trial.termination.reason, trial.termination.raw) == (TerminationReason.TIME_LIMIT, "timeout")
    light, buy = calls(trial)
    assert (light.name, light.arguments and light.arguments.parsed) == ("light", {"lamp": 7})
    assert (light.result and light.result.text, light.failed) == ("lit", False)
    assert (buy.result and buy.result.text, buy.failed) == ('{"left":0}', True)


def test_places_lead_to_the_recorded_entries() -> None:
    content = {"runs": [short_run(), short_run(attempt=3, events=[{"x": 1}, event("light")])]}
    trial = read_map(content, SHORT).trials[1]
    assert trial.source.pointer == "$.runs[1]"
    assert trial.steps[0].source.pointer == "$.runs[1].events[1]"
    # The index is that of the recorded list, in which the entry without a call is the first.
    assert trial.steps[0].source.message_index == 1
    assert trial.message_count == 2


def test_the_long_form_pairs_calls_and_results_by_id() -> None:
    log = [
        {"kind": "call", "cid": "a", "fn": "light", "in": '{"lamp": 7}'},
        {"kind": "call", "cid": "b", "fn": "buy", "in": "{cut"},
        {"kind": "ret", "cid": "b", "out": "no stock", "err": "E7"},
        {"kind": "ret", "cid": "a", "out": "lit", "err": None},
        {"role": "assistant", "content": "Done."},
    ]
    trial = one({"results": [long_result(*log, stop="len", cfg={"model": "m1"})]}, LONG)
    assert (trial.task_id, trial.trial_id, trial.provenance.model) == ("7", "0", "m1")
    assert trial.termination.reason is TerminationReason.TOKEN_LIMIT
    assert trial.judgement.rule == "grade.ok = true is pass"
    light, buy = calls(trial)
    assert (light.result and light.result.text, light.failed) == ("lit", False)
    assert (buy.result and buy.result.text, buy.failed) == ("no stock", True)
    # A text that is no JSON stays as it is and is compared as text.
    assert buy.arguments is not None
    assert (buy.arguments.state, buy.arguments.raw) == (ArgumentState.INVALID, "{cut")
    said = [step for step in trial.steps if step.kind is StepKind.MESSAGE]
    assert [(step.actor, step.text) for step in said] == [("agent", "Done.")]


@pytest.mark.parametrize(
    ("pairing", "texts", "orphans"),
    [("id", ["one", "two"], 0), ("order", ["two", "one"], 0), ("none", [None, None], 2)],
)
def test_pairing_is_by_id_by_order_or_off(pairing: str, texts: list[str | None], orphans: int) -> None:
    """Both results come after both calls, in the opposite order."""
    log = [
        {"kind": "call", "cid": "a", "fn": "light"},
        {"kind": "call", "cid": "b", "fn": "light"},
        {"kind": "ret", "cid": "b", "out": "two"},
        {"kind": "ret", "cid": "a", "out": "one"},
    ]
    trial = one({"results": [long_result(*log)]}, LONG.replace('pairing = "id"', f'pairing = "{pairing}"'))
    found = [step.result.text if step.result else None for step in calls(trial)]
    assert found == (texts if pairing != "order" else ["one", "two"])
    assert sum(step.kind is StepKind.ORPHAN_RESULT for step in trial.steps) == orphans


# Where trajectories are


def test_enclosing_records_and_the_document_are_reached_by_prefixes() -> None:
    content = {
        "plan": 3,
        "agent": {"model": "m1"},
        "cases": [
            {"id": "a", "tries": [{"n": 1, "ok": True, "log": []}, {"n": 2, "ok": False, "log": []}]},
            {"id": "b", "tries": [{"n": 1, "ok": True, "log": [{"t": "x"}]}]},
        ],
    }
    table = """
    trajectories = "cases[*].tries[*]"
    task = "$record.id"
    trial = "n"
    outcome = "ok"
    model = "$root.agent.model"
    expected_trials = "$root.plan"
    [steps]
    path = "log[*]"
    [[steps.when]]
    emit = "message"
    text = "$trial.n"
    """
    corpus = read_map(content, table)
    assert [(t.task_id, t.expected_n, [r.verdict for r in t.trials], t.missing) for t in corpus.tasks] == [
        ("a", 3, ["pass", "fail"], ("3",)),
        ("b", 3, ["pass"], ("2", "3")),
    ]
    assert {trial.provenance.model for trial in corpus.trials} == {"m1"}
    last = corpus.tasks[1].trials[0]
    assert (last.source.pointer, last.steps[0].text) == ("$.cases[1].tries[0]", "1")


def test_lines_arrays_and_one_object_need_no_trajectories() -> None:
    table = 'task = "t"\noutcome = "ok"'
    two = [{"t": "a", "ok": True}, {"t": "b", "ok": False}]
    lines = b"\n".join(json.dumps(entry).encode() for entry in two)
    for content in (two, lines):
        corpus = read_map(content, table)
        assert [(trial.task_id, trial.verdict) for trial in corpus.trials] == [("a", "pass"), ("b", "fail")]
    assert [trial.source.line for trial in read_map(lines, table).trials] == [1, 2]
    assert one({"t": "a", "ok": True}, table).source.pointer == "$"


def test_trials_without_a_number_are_numbered_in_recorded_order() -> None:
    corpus = read_map([{"t": "a", "ok": ok} for ok in (True, False, True)], 'task = "t"\noutcome = "ok"')
    assert [(trial.trial_id, trial.verdict) for trial in corpus.trials] == [
        ("0", "pass"),
        ("1", "fail"),
        ("2", "pass"),
    ]


def test_everything_else_of_the_record_can_be_mapped() -> None:
    content = {
        "t": "a",
        "who": {"name": "agent-1", "temp": 0.2},
        "tok": {"i": 10, "o": 4},
        "money": 0.5,
        "secs": 3,
        "start": 1700000000,
        "s": {"db": True, "tone": 0.5},
        "seed": 3,
        "err": "E1",
        "note": "n",
    }
    table = """
    task = "t"
    suite = "'shop'"
    agent = "who.name"
    seed = "seed"
    cost_usd = "money"
    duration_s = "secs"
    started_at = {path = "start", decode = "unix_s"}
    error = "err"
    sub_scores = "s"
    sampling = {temperature = "who.temp"}
    usage = {input = "tok.i", output = "tok.o"}
    metadata = {note = "note", absent = "nowhere"}
    env_version = "'e1'"
    scorer_version = "'s1'"
    title = "'a lamp'"
    """
    corpus = read_map(content, table)
    (trial,) = corpus.trials
    assert (trial.suite, trial.provenance.agent, trial.provenance.seed) == ("shop", "agent-1", 3)
    assert (trial.cost_usd, trial.duration_s, trial.started_at) == (0.5, 3.0, "2023-11-14T22:13:20+00:00")
    assert (trial.usage.input, trial.usage.output, trial.usage.cache_read) == (10, 4, None)
    assert trial.provenance.sampling == {"temperature": 0.2}
    assert (trial.provenance.environment_version, trial.provenance.scorer_version) == ("e1", "s1")
    assert (trial.sub_scores, trial.metadata) == ({"db": True, "tone": 0.5}, {"note": "n"})
    assert corpus.tasks[0].task.title == "a lamp"
    # An error and no outcome: the trial was not judged because something broke.
    assert (trial.verdict, trial.judgement.rule) == ("infra", "recorded error")


# Verdicts


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (True, "pass"),
        (1, "pass"),
        (1.0, "pass"),
        ("PASS", "pass"),
        (False, "fail"),
        (0, "fail"),
        ("FAIL", "fail"),
        ("ERR", "infra"),
        (None, "unscored"),
    ],
)
def test_listed_values_decide_and_are_matched_by_type(value: Any, verdict: str) -> None:
    assert one({"results": [long_result(grade={"ok": value})]}, LONG).verdict == verdict


@pytest.mark.parametrize("value", ["1", "true", 2, "pass", [True]])
def test_a_value_that_is_not_listed_is_an_error_that_names_value_and_path(value: Any) -> None:
    """``"1"`` is not 1 and ``"true"`` is not true."""
    corpus = read_map({"results": [long_result(grade={"ok": value}), long_result(repeat=1)]}, LONG)
    assert [trial.verdict for trial in corpus.trials] == ["unscored", "pass"]
    error = told(corpus, "unknown_value")
    assert error.severity == "error"
    assert "$.results[0], grade.ok" in error.details[0]


def test_true_does_not_match_one() -> None:
    table = LONG.replace('pass    = [true, 1, "PASS"]', "pass    = [1]")
    corpus = read_map(
        {"results": [long_result(grade={"ok": True}), long_result(repeat=1, grade={"ok": 1})]}, table
    )
    assert [trial.verdict for trial in corpus.trials] == ["unscored", "pass"]


@pytest.mark.parametrize(
    ("value", "options", "verdict", "rule"),
    [
        (0.9, {}, "fail", "ok: reward = 1"),
        (1, {}, "pass", "ok: reward = 1"),
        (0.9, {"threshold": 0.8}, "pass", "ok: reward >= 0.8"),
        ("passed", {}, "pass", "ok is passed"),
        ("C", {}, "pass", "score C"),
        ("P", {}, "fail", "score C"),
        ({"a": 1}, {}, "pass", "reward = 1"),
        ({"a": 1, "b": 0}, {}, "unscored", "several scores, none chosen"),
        ({"a": 1, "b": 0}, {"scorer": "b"}, "fail", "reward = 1"),
        ("success", {}, "unscored", "unknown verdict"),
    ],
)
def test_without_a_list_the_rules_of_all_formats_hold(
    value: Any, options: dict[str, Any], verdict: str, rule: str
) -> None:
    trial = one({"t": "a", "ok": value}, 'task = "t"\noutcome = "ok"', **options)
    assert (trial.verdict, trial.judgement.rule) == (verdict, rule)


def test_VER_11_a_missing_outcome_is_what_the_mapping_says_else_unscored() -> None:
    table = 'task = "t"\noutcome = {path = "ok", missing = "fail"}'
    trial = one({"t": "a"}, table)
    assert (trial.verdict, trial.judgement.rule) == ("fail", "no outcome; missing = fail")
    corpus = read_map({"t": "a"}, 'task = "t"\noutcome = "ok"')
    assert corpus.trials[0].verdict == "unscored"
    assert told(corpus, "no_outcome").severity == "warning"


def test_VER_12_a_limit_and_an_error_leave_the_verdict_alone() -> None:
    table = 'task = "t"\nreward = "r"\nstop = "s"\nerror = "e"'
    trial = one({"t": "a", "r": 1, "s": "timeout", "e": "deadline"}, table)
    assert (trial.verdict, trial.termination.reason, trial.error) == ("pass", "time_limit", "deadline")
    trial = one({"t": "a", "s": "max_turns", "e": "deadline"}, table)
    assert trial.verdict is Verdict.UNSCORED  # stopped by its own budget is no infrastructure error


def test_VER_10_a_zero_beside_an_error_is_flagged() -> None:
    corpus = read_map({"t": "a", "r": 0, "e": "judge gone"}, 'task = "t"\nreward = "r"\nerror = "e"')
    assert corpus.trials[0].verdict == "fail"
    assert told(corpus, "zero_with_error").severity == "warning"


# Endings, actors, arguments


def test_an_ending_that_is_not_in_the_table_is_an_error_and_globs_may_stand_in_it() -> None:
    corpus = read_map({"results": [long_result(stop="odd")]}, LONG)
    assert told(corpus, "unknown_value").message.startswith('stop: the value "odd"')
    assert (corpus.trials[0].termination.reason, corpus.trials[0].termination.raw) == ("unknown", "odd")
    table = LONG.replace("{len =", '{"odd*" = "cancelled", len =')
    assert one({"results": [long_result(stop="odd 503")]}, table).termination.reason == "cancelled"


def test_an_ending_without_a_table_is_kept_and_noted() -> None:
    corpus = read_map({"t": "a", "s": "fell over"}, 'task = "t"\nstop = "s"')
    assert (corpus.trials[0].termination.reason, corpus.trials[0].termination.raw) == ("unknown", "fell over")
    assert told(corpus, "unknown_termination").severity == "note"


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ({"fn": "light"}, ArgumentState.ABSENT),
        ({"fn": "light", "in": None}, ArgumentState.EMPTY),
        ({"fn": "light", "in": ""}, ArgumentState.EMPTY),
        ({"fn": "light", "in": {}}, ArgumentState.OK),
        ({"fn": "light", "in": [1]}, ArgumentState.INVALID),
    ],
)
@pytest.mark.parametrize("form", ["short", "long"])
def test_CAL_09_arguments_not_recorded_are_absent_and_null_is_empty(
    entry: dict[str, Any], state: ArgumentState, form: str
) -> None:
    steps = {
        "short": 'steps = "log[*].{tool: fn, arguments: in}"',
        "long": '[steps]\npath = "log[*]"\n[[steps.when]]\nemit = "tool_call"\nname = "fn"\narguments = "in"',
    }[form]
    (call,) = calls(one({"t": "a", "log": [entry]}, f'task = "t"\n{steps}'))
    assert call.arguments is not None
    assert call.arguments.state is state


def test_actors_are_known_by_common_words_or_told() -> None:
    log = [{"who": who, "text": "x"} for who in ("assistant", "human", "developer", "subagent:7", "martian")]
    corpus = read_map({"t": "a", "log": log}, 'task = "t"\nsteps = "log[*].{actor: who, text: text}"')
    actors = [step.actor for step in corpus.trials[0].steps[:-1]]
    assert actors == ["agent", "user", "system", "subagent:7", "environment"]
    assert '"martian"' in told(corpus, "unknown_actor").message


# Nothing is lost


def test_entries_that_no_rule_fits_are_kept_and_told() -> None:
    corpus = read_map(
        {"results": [long_result({"kind": "new", "x": 1}, {"role": "assistant", "content": "y"})]}, LONG
    )
    steps = corpus.trials[0].steps
    assert [(step.actor, step.text) for step in steps[:2]] == [
        ("environment", '{"kind":"new","x":1}'),
        ("agent", "y"),
    ]
    warning = told(corpus, "unmatched_entry")
    assert "1 entry fits no rule" in warning.message
    assert warning.details[0].startswith("$.results[0].log[0]")


def test_skip_leaves_entries_out_on_request() -> None:
    table = LONG + "\n[[steps.when]]\nemit = 'skip'\n"
    corpus = read_map({"results": [long_result({"kind": "new"})]}, table)
    assert len(corpus.trials[0].steps) == 1
    assert [one.slug for one in corpus.diagnostics] == ["no_steps"]


def test_records_without_a_task_are_left_out_and_named() -> None:
    corpus = read_map({"runs": [short_run(), {"attempt": 1}, 3]}, SHORT)
    assert len(corpus.trials) == 1
    lost = [one for one in corpus.diagnostics if one.slug == "unreadable_record"]
    assert [(one.message, one.pointer) for one in lost] == [
        ("a trajectory has no task (case_id gives nothing)", "$.runs[1]"),
        ("a trajectory is not an object", "$[2]"),
    ]


def test_VER_07_a_mapping_that_finds_nothing_is_an_error() -> None:
    documents: tuple[dict[str, Any], ...] = ({"runs": []}, {"other": 1})
    for content in documents:
        with pytest.raises(InputError, match="finds no trajectory") as caught:
            read_map(content, SHORT)
        assert "runs[*] gives nothing" in str(caught.value)


def test_a_cut_line_costs_that_line_only() -> None:
    corpus = read_map(b'{"t": "a", "ok": true}\n{"t": "b", "o', 'task = "t"\noutcome = "ok"')
    assert [trial.task_id for trial in corpus.trials] == ["a"]
    assert told(corpus, "unreadable_record").pointer == "line 2"


# Built-in readers

MESSAGES: dict[str, list[dict[str, Any]]] = {
    "openai_messages": [
        {"role": "user", "content": "light it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "light", "arguments": '{"lamp": 7}'}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "lit"},
        {"role": "assistant", "content": "Done."},
    ],
    "anthropic_blocks": [
        {"role": "user", "content": "light it"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "light", "input": {"lamp": 7}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "lit"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
    "gemini_parts": [
        {"role": "user", "parts": [{"text": "light it"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "light", "args": {"lamp": 7}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "light", "response": "lit"}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ],
    "langchain_messages": [
        {"type": "human", "content": "light it"},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "light", "args": {"lamp": 7}}]},
        {"type": "tool", "tool_call_id": "c", "content": "lit"},
        {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "Done."}},
    ],
}


@pytest.mark.parametrize("reader", sorted(MESSAGES))
def test_messages_of_every_dialect_are_read_by_the_built_in_readers(reader: str) -> None:
    table = f'task = "t"\nsteps = {{path = "inner.messages", decode = "{reader}"}}'
    trial = one({"t": "a", "inner": {"messages": MESSAGES[reader]}}, table)
    assert [(step.actor, step.kind.value, step.name, step.text) for step in trial.steps] == [
        ("user", "message", None, "light it"),
        ("agent", "tool_call", "light", None),
        ("agent", "message", None, "Done."),
        ("environment", "termination", None, "unknown"),
    ]
    (call,) = calls(trial)
    assert call.arguments is not None
    assert call.arguments.parsed == {"lamp": 7}
    assert call.result is not None
    assert call.result.text == "lit"
    assert call.source.pointer.startswith("$.inner.messages[1]")


def test_messages_inside_a_json_text_are_decoded_first() -> None:
    table = 'task = "t"\nsteps = {path = "log", decode = ["json", "openai_messages"]}'
    trial = one({"t": "a", "log": json.dumps(MESSAGES["openai_messages"])}, table)
    assert [step.name for step in calls(trial)] == ["light"]


# Which files


def test_of_a_folder_a_mapping_reads_the_files_of_its_glob(tmp_path: Path) -> None:
    (tmp_path / "out" / "x").mkdir(parents=True)
    for name in ("out/a.json", "out/x/b.json", "other.json"):
        (tmp_path / name).write_text(json.dumps({"t": name, "ok": True}))
    table = {"task": "t", "outcome": "ok", "files": "out/**/*.json"}
    corpus = load([str(tmp_path)], ReadOptions(map="mine", maps={"mine": table}))
    assert [trial.task_id for trial in corpus.trials] == ["out/a.json", "out/x/b.json"]
    assert told(corpus, "not_recognised").path == str(tmp_path / "other.json")


def test_a_mapping_that_recognises_its_files_need_not_be_asked_for() -> None:
    table = {"task": "t", "outcome": "ok", "recognise": ["t", "ok"]}
    data = json.dumps({"t": "a", "ok": True}).encode()
    corpus = load(["-"], ReadOptions(maps={"mine": table}, stdin=data))
    assert corpus.files[0].format == "mapping mine"
    with pytest.raises(InputError, match="not recognised"):
        load(["-"], ReadOptions(maps={"mine": table}, stdin=b'{"t": "a"}'))


def test_map_and_from_exclude_each_other_and_names_are_checked() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        load(["-"], ReadOptions(map="mine", format="trajdiff", maps={"mine": {"task": "t"}}, stdin=b"{}"))
    with pytest.raises(UsageError, match='no mapping "other"') as caught:
        load(["-"], ReadOptions(map="other", maps={"mine": {"task": "t"}}, stdin=b"{}"))
    assert "known: mine, verifiers" in str(caught.value)


def test_parent_is_what_holds_the_list_of_the_trajectory() -> None:
    deep = {"a": [{"n": "outer", "b": [{"n": "inner", "c": [{"steps": []}]}]}]}
    for layout, key, expected in (
        ("a[*].b[*].c[*]", "$parent.n", "inner"),
        ("a[*].b[*].c[*]", "$record.n", "outer"),
        ("a[*].b[*]", "$parent.n", "outer"),
        ("a[*]", "$parent.a[0].n", "outer"),
    ):
        table = f'trajectories = "{layout}"\ntask = "{key}"\n'
        assert read_map(deep, table).trials[0].task_id == expected
    assert read_map(deep, 'task = "$parent.a[0].n"\n').trials[0].task_id == "outer"
