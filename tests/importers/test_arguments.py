"""Arguments as recorded: raw text, value and state."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import base64
import json
import math
from typing import Any

import pytest

from tests.importers.fixtures import (
    calls,
    chat_call,
    only_trial,
    read,
    record,
    simulation,
    slugs,
    tau2_call,
    tau2_results,
    tau_trial,
    told,
)
from trajdiff.model import Arguments

DEEP = "[" * 150 + "]" * 150


@pytest.mark.parametrize(
    ("written", "state", "parsed", "decoded_by"),
    [
        pytest.param('{"a": 1}', "ok", {"a": 1}, None, id="object"),
        pytest.param("{}", "ok", {}, None, id="empty object"),
        pytest.param("", "empty", {}, None, id="CAL-05 empty text"),
        pytest.param("  ", "empty", {}, None, id="white space"),
        pytest.param("null", "empty", {}, None, id="null as text"),
        pytest.param(None, "empty", {}, None, id="null"),
        pytest.param('"{\\"a\\": 1}"', "ok", {"a": 1}, "json twice", id="encoded twice"),
        pytest.param(
            "{'a': None, 'b': (1, True)}", "ok", {"a": None, "b": [1, True]}, "python literal", id="python"
        ),
        pytest.param("{'a': {1, 2}}", "invalid", None, None, id="python set"),
        pytest.param("{'a': __import__('os')}", "invalid", None, None, id="python code"),
        pytest.param('{"a": 1', "invalid", None, None, id="missing brace"),
        pytest.param('{"a": "cut', "invalid", None, None, id="cut in a string"),
        pytest.param('{"a": 1}\\n', "invalid", None, None, id="CAL-06 backslash-n outside a string"),
        pytest.param('{"a": 1}<|end|>', "invalid", None, None, id="control token"),
        pytest.param("[1, 2]", "invalid", None, None, id="a list"),
        pytest.param("3", "invalid", None, None, id="a number"),
        pytest.param('"text"', "invalid", None, None, id="a text"),
        pytest.param(f'{{"a": {DEEP}}}', "invalid", None, None, id="nested too deeply"),
        pytest.param('{"n": 36893488147419103232}', "ok", {"n": 36893488147419103232}, None, id="big integer"),
    ],
)
def test_states_of_arguments_recorded_as_text(written: Any, state: str, parsed: Any, decoded_by: Any) -> None:
    (step,) = calls(only_trial([tau_trial(traj=[chat_call("find", written)])]))
    expected = Arguments(raw=written, parsed=parsed, state=state, decoded_by=decoded_by)  # type: ignore[arg-type]
    assert step.arguments == expected


def test_CAL_05_empty_text_and_empty_object_have_the_same_value() -> None:
    (one,) = calls(only_trial([tau_trial(traj=[chat_call("find", "")])]))
    (other,) = calls(only_trial([tau_trial(traj=[chat_call("find", "{}")])]))
    assert one.arguments is not None
    assert other.arguments is not None
    assert one.arguments.parsed == other.arguments.parsed == {}
    assert (one.arguments.state, other.arguments.state) == ("empty", "ok")


def test_CAL_06_what_is_not_an_object_is_told_and_kept() -> None:
    corpus = read([tau_trial(traj=[chat_call("find", '{"a": 1')])])
    assert told(corpus, "invalid_arguments").severity == "note"


def test_CAL_09_arguments_that_were_not_recorded_are_absent_never_empty() -> None:
    call = chat_call("find", "{}")
    del call["tool_calls"][0]["function"]["arguments"]
    (step,) = calls(only_trial([tau_trial(traj=[call])]))
    assert step.arguments == Arguments(raw=None, parsed=None, state="absent")  # type: ignore[arg-type]
    bare = {"id": "k", "name": "find"}
    (step,) = calls(only_trial(simulation(messages=[{"role": "assistant", "tool_calls": [bare]}])))
    assert step.arguments == Arguments(raw=None, parsed=None, state="absent")  # type: ignore[arg-type]
    (step,) = calls(only_trial(record(steps=[{"name": "find"}])))
    assert step.arguments == Arguments(raw=None, parsed=None, state="absent")  # type: ignore[arg-type]


def test_not_a_number_survives_in_every_format() -> None:
    (step,) = calls(only_trial([tau_trial(traj=[chat_call("find", '{"a": NaN}')])]))
    assert step.arguments is not None
    assert math.isnan(step.arguments.parsed["a"])
    message = {"role": "assistant", "tool_calls": [tau2_call("find", {"a": float("nan")})]}
    (step,) = calls(only_trial(json.dumps(tau2_results(simulation(messages=[message]))).encode()))
    assert step.arguments is not None
    assert math.isnan(step.arguments.parsed["a"])


def test_a_key_that_occurs_twice_is_told_and_the_last_one_counts() -> None:
    corpus = read([tau_trial(traj=[chat_call("find", '{"a": 1, "a": 2}')])])
    assert calls(corpus.trials[0])[0].arguments.parsed == {"a": 2}  # type: ignore[union-attr]
    assert told(corpus, "duplicate_key").details == ('"a" at $[0].traj[0].tool_calls[0]',)
    data = json.dumps(
        tau2_results(simulation(messages=[{"role": "assistant", "tool_calls": [tau2_call("f", {"a": 1})]}]))
    )
    corpus = read(data.replace('{"a": 1}', '{"a": 1, "a": 2}').encode())
    assert calls(corpus.trials[0])[0].arguments.parsed == {"a": 2}  # type: ignore[union-attr]
    assert slugs(corpus) == ["duplicate_key"]


def test_media_in_arguments_are_replaced_by_type_size_and_hash() -> None:
    picture = base64.b64encode(bytes(range(256)) * 40).decode()
    for arguments in ({"image": picture}, {"image": f"data:image/png;base64,{picture}"}):
        (step,) = calls(only_trial([tau_trial(traj=[chat_call("show", json.dumps(arguments))])]))
        assert step.arguments is not None
        assert step.arguments.raw is not None
        assert len(step.arguments.raw) < 200
        assert "10240 bytes sha256:" in step.arguments.parsed["image"]
