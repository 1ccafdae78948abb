"""What every importer owes: its own files and no others, every call paired, every step traceable, no crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.fixtures import SAMPLES, calls, read
from trajdiff.errors import TrajdiffError
from trajdiff.importers import ReadOptions, known_formats, load, validate
from trajdiff.importers.opening import open_document
from trajdiff.importers.registry import claims_of, importers
from trajdiff.model import Corpus, Step, StepKind, Trial

EVERY_SAMPLE = [
    pytest.param(name, data, id=f"{name}-{i}") for name, many in SAMPLES.items() for i, data in enumerate(many)
]


def plain(value: Any) -> Any:
    """A trial as text without where it was read: equal texts are equal trials."""
    return repr(value).replace("line=None", "").replace("line=1", "")


#: Formats that are a folder by nature; their own tests write it.
FOLDERS = ("harbor", "swe-bench-report")


def test_every_importer_has_samples() -> None:
    assert (
        sorted((*SAMPLES, *FOLDERS))
        == sorted(one.name for one in importers())
        == sorted(one.name for one in known_formats())
    )


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_an_importer_claims_its_own_files_and_no_others(name: str, data: bytes) -> None:
    peek = open_document("-", data).peek
    assert [one.name for one, _ in claims_of(peek)] == [name]


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_every_call_is_paired_and_every_step_has_its_place(name: str, data: bytes) -> None:
    for trial in read(data).trials:
        assert [step.index for step in trial.steps] == list(range(len(trial.steps)))
        assert trial.steps[-1].kind is StepKind.TERMINATION
        assert not [
            step for step in trial.steps[:-1] if step.kind in (StepKind.TERMINATION, StepKind.ORPHAN_RESULT)
        ]
        assert all(step.result is not None and step.result_source is not None for step in calls(trial))
        uids = [step.call_uid for step in calls(trial)]
        assert len(set(uids)) == len(uids)
        assert_places_hold(trial, data)


def assert_places_hold(trial: Trial, data: bytes) -> None:
    """The JSON path of every step leads to the record it was read from."""
    lines = data.split(b"\n")
    for step in trial.steps[:-1]:
        document = json.loads(data if step.source.line is None else lines[step.source.line - 1])
        found = follow(document, step.source.pointer)
        if step.is_call:
            assert step.name in texts_in(found) or command_in(step) in texts_in(found)
            assert step.result_source is not None
            assert follow(document, step.result_source.pointer) is not None
        else:
            assert step.text in texts_in(found)
        assert step.source.message_index is not None
        assert 0 <= step.source.message_index < trial.message_count


def command_in(step: Step) -> Any:
    """The command line of an agent that acts by writing one: there the log names no tool."""
    assert step.arguments is not None
    return (step.arguments.parsed or {}).get("command")


def texts_in(value: Any) -> list[Any]:
    """Every value inside a record that is neither object nor list; a JSON text is looked into, too."""
    if isinstance(value, str) and value.startswith('{"id"'):
        return texts_in(json.loads(value))
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts_in(one)]
    return [text for one in value for text in texts_in(one)] if isinstance(value, list) else [value]


def follow(value: Any, pointer: str) -> Any:
    for part in pointer.removeprefix("$").replace("[", ".[").split(".")[1:]:
        value = value[int(part[1:-1])] if part.startswith("[") else value[part]
    return value


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_samples_are_valid(name: str, data: bytes) -> None:
    (checked,) = validate(["-"], ReadOptions(stdin=data))
    assert [str(one) for one in checked.problems if one.severity == "error"] == []
    assert checked.valid
    assert checked.trials == len(read(data).trials)


def sprinkled(value: Any) -> Any:
    """The same document with an unknown key in every object that is not arguments or a result."""
    if isinstance(value, list):
        return [sprinkled(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = ("arguments", "kwargs", "result", "info", "reward_breakdown", "llm_args", "args", "scores", "input")
    return {key: one if key in kept else sprinkled(one) for key, one in value.items()} | {"x_unknown": None}


def documents_in(data: bytes) -> list[Any]:
    """The one document of a file, or those on its lines."""
    try:
        return [json.loads(data)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_unknown_keys_are_tolerated(name: str, data: bytes) -> None:
    changed = b"".join(json.dumps(sprinkled(one)).encode() + b"\n" for one in documents_in(data))
    assert [plain(one.steps) for one in read(changed).trials] == [plain(one.steps) for one in read(data).trials]


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_both_decoders_give_the_same_trials(name: str, data: bytes) -> None:
    """A NaN that nobody reads sends the whole document to the tolerant decoder."""
    if b"}\n{" in data:
        slow = data.replace(b"{", b'{"x_nan": NaN, ', 1)
    elif data.startswith(b"["):
        slow = data.replace(b"[{", b'[{"x_nan": NaN, ', 1)
    else:
        slow = data.replace(b"{", b'{"x_nan": NaN, ', 1)
    assert slow != data
    assert [plain(one) for one in read(slow).trials] == [plain(one) for one in read(data).trials]


def accounted(data: bytes) -> Corpus | None:
    """Load and validate hostile bytes: only the errors made for users may come out, with something to say."""
    corpus, first = attempt(lambda: load(["-"], ReadOptions(stdin=data)))
    checked, second = attempt(lambda: validate(["-"], ReadOptions(stdin=data)))
    assert corpus is not None or first
    assert second or (checked is not None and (corpus is not None or checked[0].problems))
    return corpus


Out = TypeVar("Out")


def attempt(work: Callable[[], Out]) -> tuple[Out | None, str]:
    """What ``work`` gives, or the message it ends with; any other exception passes through."""
    try:
        return work(), ""
    except TrajdiffError as error:
        return None, str(error).strip()


@pytest.mark.parametrize(("name", "data"), EVERY_SAMPLE)
def test_a_cut_file_is_named_and_never_crashes(name: str, data: bytes) -> None:
    step = max(1, len(data) // 90)
    for end in range(0, len(data) - 1, step):
        corpus = accounted(data[:end])
        if corpus is not None:
            # Only lines survive a cut, and the cut one is told.
            assert b"}\n{" in data
            told = [one for one in corpus.diagnostics if one.slug == "unreadable_record"]
            assert told or data[:end].rstrip().endswith(b"}")


HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1e300, "", "x", [], {}, [None], {"x": None}, "\ud83d", "\u0000", 10**30, [[[[]]]]
)  # fmt: skip


def spoiled(value: Any, draw: Any, depth: int = 0) -> Any:
    """The document with some of its values replaced by hostile ones."""
    if depth and draw(st.integers(0, 24)) == 0:
        return draw(st.sampled_from(HOSTILE))
    if isinstance(value, dict):
        return {key: spoiled(one, draw, depth + 1) for key, one in value.items() if draw(st.integers(0, 40))}
    if isinstance(value, list):
        return [spoiled(one, draw, depth + 1) for one in value]
    return value


@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(data=st.data())
def test_spoiled_records_are_told_and_never_crash(name: str, data: st.DataObject) -> None:
    documents = documents_in(SAMPLES[name][0])
    spoilt = [spoiled(document, data.draw) for document in documents]
    corpus = accounted(b"\n".join(json.dumps(one).encode() for one in spoilt))
    if corpus is not None and name not in PARTS:
        gone = [one for one in corpus.diagnostics if one.slug in LOST]
        wanted = 1 if name in ONE_TRIAL else sum(map(records_in, spoilt))
        assert len(corpus.trials) + len(gone) == wanted


#: Formats in which all records of a file are one trial.
ONE_TRIAL = ("claude-code", "swe-agent", "mini-swe-agent")
#: Formats whose records are parts of trials, put together by an id that may be spoiled too.
PARTS = ("langsmith", "spans")
#: What says that one record is not among the trials.
LOST = ("unreadable_record", "duplicate_trial", "superseded_trial")


def records_in(document: Any) -> int:
    if isinstance(document, list):
        return len(document)
    if isinstance(document, dict) and "info" in document and "tasks" in document:
        return len(document.get("simulations") or ())
    if isinstance(document, dict) and {"version", "status", "eval"} <= document.keys():
        samples = document.get("samples")
        return len(samples) if isinstance(samples, list) else 0
    return 1


@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(noise=st.binary(max_size=12), where=st.integers(0, 10_000))
def test_garbled_bytes_never_crash(name: str, noise: bytes, where: int) -> None:
    data = SAMPLES[name][0]
    at = where % len(data)
    accounted(data[:at] + noise + data[at + len(noise) :])
