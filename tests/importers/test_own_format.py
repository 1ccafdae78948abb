"""The project's own record: what it may leave out, and that writing and reading give the same trial."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.importers.fixtures import SAMPLES, only_trial, read, record, slugs, told
from trajdiff.frozen import field_names, is_frozen_value, replace
from trajdiff.importers import trial_record
from trajdiff.model import (
    Arguments,
    ArgumentState,
    Candidate,
    Corpus,
    CriterionItems,
    Effect,
    ExpectedAction,
    Human,
    Judgement,
    Provenance,
    Result,
    SourceRef,
    Step,
    StepKind,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
    Verdict,
)
from trajdiff.schema import violations


def places(trial: Trial) -> list[tuple[str, int | None, int | None, int | None]]:
    """Kind, message, message of the result and group of every step."""
    return [
        (
            step.kind.value,
            step.source.message_index,
            step.result_source.message_index if step.result_source else None,
            step.parallel_group,
        )
        for step in trial.steps
    ]


def test_messages_are_counted_where_the_record_does_not_say() -> None:
    steps = [
        {"actor": "user", "text": "Hello."},
        {"name": "a", "result": "1"},
        {"name": "b", "parallel_group": 1, "result": "2"},
        {"name": "c", "parallel_group": 1, "result": None},
        {"name": "d", "parallel_group": 1, "result": "4"},
        {"name": "e", "parallel_group": 2, "result": "5"},
        {"name": "f"},
        {"kind": "orphan_result", "name": "f", "result": "late"},
        {"text": "Bye."},
    ]
    trial = only_trial(record(steps=steps))
    assert places(trial) == [
        ("message", 0, None, None),
        ("tool_call", 1, 2, None),
        ("tool_call", 3, 4, 1),
        ("tool_call", 3, None, 1),
        ("tool_call", 3, 5, 1),
        ("tool_call", 6, 7, 2),
        ("tool_call", 8, None, None),
        ("orphan_result", 9, None, None),
        ("message", 10, None, None),
        ("termination", 10, None, None),
    ]
    assert trial.message_count == 11
    assert [step.call_uid for step in trial.steps if step.is_call] == ["1.0", "3.0", "3.1", "3.2", "6.0", "8.0"]
    assert trial.steps[-2].actor == "agent"


def test_recorded_messages_win_over_counting() -> None:
    steps = [
        {"name": "a", "message": 4, "result": 1, "result_message": 9},
        {"text": "x"},
        {"text": "y", "message": 20},
    ]
    trial = only_trial(record(steps=steps, message_count=30))
    assert places(trial)[:3] == [
        ("tool_call", 4, 9, None),
        ("message", 10, None, None),
        ("message", 20, None, None),
    ]
    assert (trial.message_count, trial.steps[-1].source.message_index) == (30, 29)


def test_results_are_texts_values_or_objects_that_say_more() -> None:
    written: list[tuple[Any, Result | None]] = [
        ("plain", Result(text="plain")),
        ("", Result(text="")),
        ({"order": 1, "b": [True, None]}, Result(text='{"order":1,"b":[true,null]}')),
        ([1, 2], Result(text="[1,2]")),
        (7, Result(text="7")),
        (None, None),
        ({"text": "t", "is_error": True}, Result(text="t", is_error=True)),
        ({"text": "t", "truncated": True, "error_rule": "r"}, Result(text="t", truncated=True, error_rule="r")),
        ({"text": None}, Result(text="")),
        ({"text": "t", "lang": "en"}, Result(text='{"text":"t","lang":"en"}')),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], Result(text="a\nb")),
    ]
    steps = [{"name": "f", "result": value} for value, _ in written]
    trial = only_trial(record(steps=steps))
    assert [step.result for step in trial.steps[:-1]] == [result for _, result in written]
    failed = only_trial(
        record(steps=[{"name": "f", "error": True}, {"name": "f", "error": "no line", "result": None}])
    )
    assert [step.result for step in failed.steps[:-1]] == [
        Result(text="", is_error=True),
        Result(text="no line", is_error=True),
    ]


def test_what_a_step_may_say() -> None:
    step = {
        "name": "f",
        "arguments": {"a": 1},
        "effect_hint": "read",
        "candidates": [{"name": "g", "score": 0.5, "reason": "cheap"}, {"score": 1}],
        "choice_reason": "fits",
        "model": "m",
        "started_at": "2025-01-01T00:00:00",
        "ended_at": "2025-01-01T00:00:01",
        "call_id": 3,
    }
    made = only_trial(record(steps=[step])).steps[0]
    assert made.effect_hint is Effect.READ
    assert made.candidates == (Candidate(name="g", score=0.5, reason="cheap"),)
    assert (made.choice_reason, made.model, made.call_id) == ("fits", "m", "3")
    assert (made.started_at, made.ended_at) == ("2025-01-01T00:00:00", "2025-01-01T00:00:01")


def test_unknown_keys_and_kinds_are_told_once_a_file() -> None:
    steps = [
        {"text": "a", "colour": 1},
        {"text": "b", "colour": 2, "kind": "song"},
        {"text": "c", "kind": "song"},
    ]
    corpus = read([record(steps=steps, mood=1), record(trial_id="1", steps=steps, mood=2)])
    assert sorted(slugs(corpus)) == ["unknown_key", "unknown_key", "unknown_kind"]
    assert [step.text for step in corpus.trials[1].steps[:-1]] == ["a", "b", "c"]


def test_another_version_is_read_with_a_warning() -> None:
    corpus = read(record(schema="trajdiff/2"))
    assert told(corpus, "unknown_version").message == 'a record names the format "trajdiff/2"'
    assert len(corpus.trials) == 1


# Writing and reading again


def bare(value: Any) -> Any:
    """The value without the places it was read from; message indices stay. Equal texts are equal values."""
    if isinstance(value, SourceRef):
        return ("message", value.message_index)
    if is_frozen_value(value):
        return {name: bare(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, dict):
        return {key: bare(one) for key, one in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [bare(one) for one in value]
    return str(value) if isinstance(value, str) else value


def written(corpus: Corpus) -> bytes:
    records = [
        trial_record(trial, task.task, task.expected_n) for task in corpus.tasks for trial in task.trials
    ]
    return b"".join(json.dumps(one, allow_nan=False).encode() + b"\n" for one in records)


def test_every_sample_of_every_format_survives_writing_and_reading() -> None:
    for many in SAMPLES.values():
        for data in many:
            corpus = read(data)
            again = read(written(corpus))
            assert repr(bare(again.tasks)) == repr(bare(corpus.tasks))
            assert written(again) == written(corpus)


TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
NAME = st.text(min_size=1, max_size=6)
SCALAR = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | TEXT
JSON = st.recursive(
    SCALAR.filter(lambda one: not (isinstance(one, float) and math.isinf(one))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(NAME, JSON, max_size=3)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ARGUMENTS = st.one_of(
    OBJECT.map(lambda one: Arguments(raw=None, parsed=one, state=ArgumentState.OK)),
    OBJECT.map(lambda one: Arguments(raw=json.dumps(one), parsed=one, state=ArgumentState.OK)),
    st.just(Arguments(raw="", parsed={}, state=ArgumentState.EMPTY)),
    st.just(Arguments(raw=None, parsed={}, state=ArgumentState.EMPTY)),
    st.just(Arguments(raw="{'a': 1}", parsed={"a": 1}, state=ArgumentState.OK, decoded_by="python literal")),
    st.just(Arguments(raw='{"a": 1', parsed=None, state=ArgumentState.INVALID)),
    st.just(Arguments(raw=None, parsed=None, state=ArgumentState.ABSENT)),
)
RESULTS = st.builds(
    Result, text=TEXT, is_error=maybe(st.booleans()), error_rule=maybe(NAME), truncated=st.booleans()
)
ACTORS = st.sampled_from(["agent", "user", "environment", "system", "subagent:7"])


@st.composite
def steps(draw: st.DrawFn) -> tuple[Step, ...]:
    made: list[Step] = []
    message = 0
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from([one for one in StepKind if one is not StepKind.TERMINATION]))
        common: dict[str, Any] = {
            "index": len(made),
            "kind": kind,
            "turn": message,
            "source": SourceRef(path="-", pointer="$", message_index=message),
        }
        if kind is StepKind.ORPHAN_RESULT:
            text = {"actor": "environment", "result": draw(RESULTS), "name": draw(maybe(NAME))}
            made.append(Step(**common, **text, call_id=draw(maybe(NAME))))
        elif kind is StepKind.TOOL_CALL:
            result = draw(maybe(RESULTS))
            answer = None if result is None else SourceRef(path="-", pointer="$", message_index=message + 1)
            made.append(
                Step(
                    **common,
                    actor=draw(ACTORS),
                    text=draw(maybe(TEXT)),
                    name=draw(NAME),
                    arguments=draw(ARGUMENTS),
                    result=result,
                    result_source=answer,
                    call_uid=f"{message}.0",
                    call_id=draw(maybe(NAME)),
                    effect_hint=draw(maybe(st.sampled_from(Effect))),
                    parallel_group=draw(maybe(st.integers(0, 3))),
                    model=draw(maybe(NAME)),
                    candidates=draw(
                        st.lists(st.builds(Candidate, name=NAME, arguments=JSON), max_size=2).map(tuple)
                    ),
                    choice_reason=draw(maybe(NAME)),
                    started_at=draw(maybe(NAME)),
                )
            )
            message += result is not None
        else:
            made.append(Step(**common, actor=draw(ACTORS), text=draw(maybe(TEXT)), ended_at=draw(maybe(NAME))))
        message += 1
    return tuple(made)


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    body = draw(steps())
    messages = max((step.source.message_index or 0 for step in body), default=-1) + 1
    messages = max(
        [messages] + [(step.result_source.message_index or 0) + 1 for step in body if step.result_source]
    )
    messages += draw(st.integers(0, 2))
    reason = draw(st.sampled_from(TerminationReason))
    last = SourceRef(path="-", pointer="$", message_index=messages - 1 if messages else None)
    end = Step(
        index=len(body),
        actor="environment",
        kind=StepKind.TERMINATION,
        source=last,
        text=reason.value,
        turn=messages,
    )
    number = draw(st.integers(0, 99))
    names = ("prompt_version", "tool_version", "environment_version", "fixture_version", "scorer_version")
    whole = maybe(st.integers(0, 10**9))
    return Trial(
        task_id=draw(NAME),
        trial_id=str(number) if draw(st.booleans()) else draw(NAME.filter(lambda one: not one.isdecimal())),
        ordinal=number,
        steps=(*body, end),
        judgement=Judgement(
            state=draw(st.sampled_from(Verdict)),
            raw=draw(JSON),
            scorer=draw(maybe(NAME)),
            rule=draw(NAME),
            threshold=draw(maybe(st.floats(0, 1))),
        ),
        source=SourceRef(path="-", pointer="$"),
        suite=draw(maybe(NAME)),
        producer_id=draw(maybe(NAME)),
        reward=draw(maybe(st.floats(-1, 2))),
        sub_scores=draw(OBJECT),
        items=draw(
            st.lists(
                st.builds(
                    CriterionItems,
                    criterion=NAME,
                    expected=st.lists(TEXT, max_size=2).map(tuple),
                    produced=st.lists(TEXT, max_size=2).map(tuple),
                ),
                max_size=2,
            ).map(tuple)
        ),
        termination=Termination(reason=reason, raw=draw(maybe(TEXT)), rule=draw(maybe(NAME))),
        error=draw(maybe(NAME)),
        usage=draw(
            st.builds(Usage, input=whole, output=whole, cache_read=whole, cache_write=whole, reasoning=whole)
        ),
        cost_usd=draw(maybe(st.floats(0, 9))),
        duration_s=draw(maybe(st.floats(0, 9))),
        started_at=draw(maybe(NAME)),
        ended_at=draw(maybe(NAME)),
        human=draw(st.builds(Human, minutes=maybe(st.floats(0, 9)), assisted=maybe(st.booleans()))),
        provenance=Provenance(
            model=draw(maybe(NAME)),
            sampling=draw(OBJECT),
            seed=draw(maybe(st.integers())),
            **{name: draw(maybe(NAME)) for name in names},
        ),
        message_count=messages,
        metadata=draw(OBJECT),
    )


TASKS = st.builds(
    Task,
    task_id=st.just(""),
    title=maybe(NAME),
    fingerprint=maybe(NAME),
    script=maybe(NAME),
    expected_actions=maybe(
        st.lists(st.builds(ExpectedAction, name=NAME, arguments=JSON, actor=ACTORS), max_size=2).map(tuple)
    ),
    expected_outputs=maybe(st.lists(TEXT, max_size=2).map(tuple)),
    metadata=OBJECT,
)


@given(trials(), TASKS, maybe(st.integers(1, 9)))
def test_any_trial_survives_writing_and_reading(trial: Trial, task: Task, expected: int | None) -> None:
    trial = joined(trial)
    task = replace(joined(task), task_id=trial.task_id, suite=trial.suite)
    made = trial_record(trial, task, expected)
    assert list(violations(made, "trace")) == []
    corpus = read(json.dumps(made, allow_nan=False).encode())
    assert differences(bare(corpus.trials[0]), bare(trial)) == []
    assert differences(bare(corpus.tasks[0].task), bare(task)) == []
    assert corpus.tasks[0].expected_n == expected


def differences(one: Any, other: Any, at: str = "$") -> list[str]:
    """Where two plain values differ; types count, NaN does not occur."""
    if isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
        return [found for key in one for found in differences(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for index, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, f"{at}[{index}]")
        ]
    return [] if repr(one) == repr(other) else [f"{at}: {one!r} is not {other!r}"]


def joined(value: Any) -> Any:
    """The value with surrogate pairs as the one character they are; JSON cannot keep them apart."""
    if isinstance(value, SourceRef):
        return value
    if is_frozen_value(value):
        return replace(value, **{name: joined(getattr(value, name)) for name in field_names(value)})
    if isinstance(value, dict):
        return {joined(key): joined(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(joined(one) for one in value)
    if isinstance(value, str) and type(value) is str:
        return (
            value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            if pairs(value)
            else value
        )
    return value


def pairs(text: str) -> bool:
    return any("\ud800" <= one <= "\udbff" and "\udc00" <= two <= "\udfff" for one, two in pairwise(text))
