"""Damage inside a file costs what is damaged and is told: too deep, no UTF-8, a key that occurs twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers import fixtures_inspect as inspect_logs
from tests.importers.fixtures import (
    jsonl,
    names,
    read,
    record,
    simulation,
    slugs,
    tau2_results,
    tau_trial,
    told,
)
from trajdiff.errors import InputError
from trajdiff.importers import FileValidation, ReadOptions, validate

LEVELS = (400, 950, 30_000)


def nested(levels: int) -> bytes:
    return b'{"x":' * levels + b"1" + b"}" * levels


def with_deep(content: Any, levels: int) -> bytes:
    """The document with the text @@ replaced by a value of that many levels."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    assert b'"@@"' in data
    return data.replace(b'"@@"', nested(levels))


def inspect_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return inspect_logs.header() | {"samples": list(samples)}


DEEP = {
    "tau-bench": [tau_trial(trial=0), tau_trial(trial=1, extra="@@"), tau_trial(trial=2)],
    "tau2": tau2_results(
        simulation(), simulation("s2", trial=1, agent_usage="@@"), simulation("s3", trial=2), num_trials=3
    ),
    "trajdiff": jsonl(record(), record(trial_id="1", metadata="@@"), record(trial_id="2")),
    "inspect": inspect_log(
        inspect_logs.sample(epoch=3),
        inspect_logs.sample(epoch=1, messages=[{"role": "assistant", "content": "@@"}], events=[]),
        inspect_logs.sample(epoch=2),
    ),
}

PLACES = ("$[1]", "$.simulations[1]", "line 2", "$.samples[1]")


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", sorted(DEEP))
def test_a_record_nested_too_deeply_costs_itself_and_is_told(name: str, levels: int) -> None:
    corpus = read(with_deep(DEEP[name], levels))
    numbers = [one.rpartition("/")[2] for one in names(corpus)]
    lost = [one for one in corpus.diagnostics if one.slug == "unreadable_record"]
    others = ["2", "3"] if name == "inspect" else ["0", "2"]
    assert [one for one in numbers if one != "1"] == others
    assert ("1" in numbers) is not bool(lost)
    assert bool(lost) >= (levels == 30_000)
    assert all("nested too deeply" in one.message and one.pointer in PLACES for one in lost)


def test_a_header_nested_too_deeply_costs_the_header() -> None:
    results = tau2_results(simulation(), simulation("s2", trial=1))
    results["info"] = "@@"
    corpus = read(with_deep(results, 30_000))
    assert names(corpus) == ["t1/0", "t1/1"]
    assert "info cannot be read: nested too deeply" in told(corpus, "unreadable_header").message


@pytest.mark.parametrize("data", [nested(30_000), b"[" * 30_000 + b"]" * 30_000, b'[{"x":' * 30_000])
def test_a_file_with_nothing_beside_the_depth_says_so(data: bytes) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        read(data)


def check(data: bytes) -> FileValidation:
    (checked,) = validate(["-"], ReadOptions(stdin=data))
    return checked


LATIN = json.dumps(tau_trial()).encode().replace(b"tall lamp", b"tall l\xe4mp")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (LATIN, None),
        (b"[" + LATIN + b"]", None),
        (jsonl(tau_trial(trial=1)) + LATIN + b"\n", "line 2"),
    ],
)
def test_bytes_that_are_no_utf8_are_told_once_wherever_they_stand(data: bytes, place: str | None) -> None:
    corpus = read(data)
    assert told(corpus, "not_utf8").pointer == place
    assert "tall l\ufffdmp" in (corpus.trials[0].steps[1].text or "")
    assert [one.pointer for one in check(data).problems if one.slug == "not_utf8"] == [place]


def test_text_in_utf8_and_escaped_surrogates_are_no_damage() -> None:
    trial = json.dumps(tau_trial(), ensure_ascii=False).replace("tall lamp", "höhe 灯 \\ud83d").encode()
    assert slugs(read(trial)) == []


TWICE = json.dumps(tau_trial()).encode().replace(b'"reward": 1.0, "info"', b'"reward": 0, "reward": 1, "info"')
SIMULATIONS = (
    json.dumps(tau2_results(simulation(), simulation("s2", trial=1)))
    .encode()
    .replace(b'"reward": 1.0', b'"reward": 0.0, "reward": 1.0', 1)
)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (TWICE, "$"),
        (b"[" + json.dumps(tau_trial(trial=1)).encode() + b"," + TWICE + b"]", "$[1]"),
        (jsonl(tau_trial(trial=1)) + TWICE + b"\n", "line 2"),
        (SIMULATIONS, "$.simulations[0]"),
    ],
)
def test_validate_names_a_key_that_occurs_twice(data: bytes, place: str) -> None:
    checked = check(data)
    (found,) = (one for one in checked.problems if one.slug == "duplicate_key")
    assert found.severity == "warning"
    assert found.pointer == place
    assert '"reward"' in found.message


def test_validate_names_a_doubled_argument_once() -> None:
    data = SIMULATIONS.replace(b'"reward": 0.0, ', b"")
    data = data.replace(b'"arguments": {"id": "q"}, "req', b'"arguments": {"id": "p", "id": "q"}, "req', 1)
    (found,) = (one for one in check(data).problems if one.slug == "duplicate_key")
    assert any('"id"' in detail for detail in found.details)
