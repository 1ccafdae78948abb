"""Paths, folders, globs, packed files, and files that are not what they seem."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import codecs
import gzip
import json
import os
from pathlib import Path

import pytest

from tests.importers.fixtures import (
    chat_call,
    chat_result,
    jsonl,
    names,
    put,
    read,
    record,
    results,
    said,
    simulation,
    slugs,
    tau2_results,
    tau_trial,
    told,
)
from trajdiff.errors import InputError, UsageError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus

TWO = [tau_trial(trial=0), tau_trial(trial=1)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a few logs and what lies around beside them."""
    put(tmp_path, "logs/a.json", [tau_trial(1)])
    put(tmp_path, "logs/deep/b.jsonl", jsonl(record("2")))
    put(tmp_path, "logs/deep/er/c.json.gz", gzip.compress(json.dumps([tau_trial(3)]).encode()))
    put(tmp_path, "logs/.hidden.json", [tau_trial(4)])
    put(tmp_path, "logs/summary.json", {"pass": 1})
    put(tmp_path, "logs/README.md", b"# runs")
    put(tmp_path, "logs/notes.json", {"remark": "nothing"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def paths(corpus: Corpus) -> list[str]:
    return [file.path for file in corpus.files]


def test_a_folder_is_read_to_the_bottom_and_the_rest_is_listed(home: Path) -> None:
    corpus = load(["logs"])
    assert paths(corpus) == ["logs/a.json", "logs/deep/b.jsonl", "logs/deep/er/c.json.gz"]
    assert names(corpus) == ["1/0", "2/0", "3/0"]
    assert [(one.slug, one.severity, one.path) for one in corpus.diagnostics] == [
        ("not_recognised", "warning", "logs/notes.json"),
        ("skipped_file", "note", "logs/.hidden.json"),
        ("skipped_file", "note", "logs/README.md"),
        ("skipped_file", "note", "logs/summary.json"),
    ]


def test_a_file_that_is_named_is_read_whatever_its_name(home: Path) -> None:
    assert names(load(["logs/.hidden.json"])) == ["4/0"]
    put(home, "logs/all.txt", [tau_trial(9)])
    assert names(load(["logs/all.txt"])) == ["9/0"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("logs/*.json", ["logs/a.json"]),
        ("logs/**/*.json*", ["logs/a.json", "logs/deep/b.jsonl", "logs/deep/er/c.json.gz"]),
        ("logs/d*", ["logs/deep/b.jsonl", "logs/deep/er/c.json.gz"]),
        ("logs/**", ["logs/a.json", "logs/deep/b.jsonl", "logs/deep/er/c.json.gz"]),
        ("logs/deep/?.jsonl", ["logs/deep/b.jsonl"]),
        ("./logs/deep/", ["./logs/deep/b.jsonl", "./logs/deep/er/c.json.gz"]),
    ],
)
def test_quoted_globs_are_expanded(pattern: str, found: list[str], home: Path) -> None:
    assert paths(load([pattern])) == found


def test_a_pattern_in_a_name_is_taken_literally(home: Path) -> None:
    put(home, "run[1].json", [tau_trial(5)])
    assert names(load(["run[1].json"])) == ["5/0"]


def test_a_file_given_twice_is_read_once(home: Path) -> None:
    (home / "link.json").symlink_to(home / "logs" / "a.json")
    (home / "logs" / "loop").symlink_to(home / "logs")
    corpus = load(["logs/a.json", "logs", "link.json", str(home / "logs" / "a.json")])
    assert names(corpus) == ["1/0", "2/0", "3/0"]
    assert slugs(corpus).count("skipped_file") == 3


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.json", "nowhere.json: no such file or folder"),
        ("logs/*.eval", r"logs/\*.eval: no file matches this pattern"),
        ("logs/notes.json", "logs/notes.json: not recognised"),
    ],
)
def test_a_path_that_gives_nothing_is_an_error(path: str, message: str, home: Path) -> None:
    with pytest.raises(InputError, match=message):
        load([path])
    corpus = load([path, "logs/a.json"])
    assert corpus.diagnostics[0].severity == "error"
    assert names(corpus) == ["1/0"]
    with pytest.raises(InputError, match=message):
        load([path, "logs/a.json"], ReadOptions(on_error="fail"))


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to compare in"):
        load([str(tmp_path)])


def test_standard_input_is_read_beside_files(home: Path) -> None:
    data = jsonl(record("9"))
    corpus = load(["-", "logs/a.json"], ReadOptions(stdin=data))
    assert names(corpus) == ["1/0", "9/0"]
    assert corpus.trials[1].steps[0].source.path == "-"
    with pytest.raises(InputError, match="nothing was given on standard input"):
        load(["-"])


# What the content looks like


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(codecs.BOM_UTF8 + json.dumps(TWO).encode(), id="byte order mark"),
        pytest.param(json.dumps(TWO).encode("utf-16"), id="UTF-16"),
        pytest.param(json.dumps(TWO).encode("utf-16-le"), id="UTF-16 without mark"),
        pytest.param(json.dumps(TWO).encode("utf-16-be"), id="UTF-16 big endian"),
        pytest.param(json.dumps(TWO).encode("utf-32"), id="UTF-32"),
        pytest.param(gzip.compress(json.dumps(TWO).encode()), id="gz"),
        pytest.param(json.dumps(json.dumps(TWO)).encode(), id="JSON in a JSON text"),
        pytest.param(b"\n\n  " + json.dumps(TWO, indent=1).encode(), id="white space first"),
        pytest.param(jsonl(*TWO), id="lines"),
        pytest.param(b"\r\n".join(json.dumps(one).encode() for one in TWO), id="lines of Windows"),
        pytest.param(b"\n\n".join(json.dumps(one).encode() for one in TWO), id="blank lines"),
        pytest.param(
            b"\n".join(json.dumps(one, indent=1).encode() for one in TWO), id="documents over many lines"
        ),
        pytest.param(b"".join(json.dumps(one).encode() for one in TWO), id="FIL-07 glued"),
    ],
)
def test_the_same_trials_in_any_wrapping(data: bytes) -> None:
    assert names(read(data)) == ["4/0", "4/1"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "the file is empty (0 bytes)", id="empty"),
        pytest.param(b" \n", "only white space", id="white space"),
        pytest.param(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer", id="LFS"
        ),
        pytest.param(b"PK\x03\x04....", "a zip archive", id="zip"),
        pytest.param(b"\x28\xb5\x2f\xfd....", "compressed with zstd", id="zstd"),
        pytest.param(gzip.compress(json.dumps(TWO).encode())[:-30], "not a complete .gz file", id="cut gz"),
        pytest.param(b"\x89PNG\x00\x00\x01", "not a text file", id="picture"),
        pytest.param(b"Dear reader", "at line 1, column 1", id="prose"),
        pytest.param(b'[{"a": 1},\n {"a" 2}]', "at line 2, column 7", id="broken"),
        pytest.param(json.dumps(TWO, indent=1).encode()[:-9], "the file is cut", id="cut list"),
        pytest.param(b'{"schema": "trajdiff/1", "task_id": "x', "the file is cut", id="cut text"),
        pytest.param(b"3", "a JSON object or list is expected, found 3", id="a number"),
        pytest.param(b'{"remark": 1, "date": 2}', "an object with the keys date, remark", id="other keys"),
        pytest.param(b'[{"remark": 1}]', "trajdiff formats lists what can be read", id="other list"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply", id="nested"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="opened only"),
    ],
)
def test_what_is_no_log_is_named_in_plain_words(data: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data)
    assert words in str(caught.value)


def test_FIL_02_one_bad_file_never_ends_the_reading_of_the_others(tmp_path: Path) -> None:
    put(tmp_path, "good.json", TWO)
    put(tmp_path, "cut.json", json.dumps(TWO).encode()[:-20])
    put(tmp_path, "empty.jsonl", b"")
    put(tmp_path, "LICENSE", b"Permission is granted")
    corpus = load([str(tmp_path)])
    assert len(corpus.trials) == 2
    assert [(one.slug, one.severity) for one in corpus.diagnostics] == [
        ("truncated_json", "error"),
        ("empty_file", "error"),
        ("not_json", "warning"),
    ]


def test_FIL_03_not_a_number_in_a_score_is_read_and_unscored() -> None:
    corpus = read(json.dumps([tau_trial(), tau_trial(trial=1, reward=float("nan"))]).encode())
    assert [trial.verdict for trial in corpus.trials] == ["pass", "unscored"]
    assert told(corpus, "odd_reward").message == 'trial 1 of task "4": the reward is not a number (nan)'
    assert corpus.trials[1].reward is None


def test_FIL_05_empty_trajectories_keep_their_verdict() -> None:
    corpus = read([tau_trial(traj=[], reward=0.0), tau_trial(trial=1, traj=None), record("x", steps=[])][:2])
    assert [(trial.verdict, trial.comparable, len(trial.steps)) for trial in corpus.trials] == [
        ("fail", False, 1),
        ("pass", False, 1),
    ]
    assert told(corpus, "no_messages").pointer == "$[1].traj"
    assert corpus.trials[0].steps[0].source.message_index is None


def test_FIL_07_glued_objects_are_both_read_and_the_line_is_named() -> None:
    data = jsonl(record("1")) + json.dumps(record("2")).encode() + json.dumps(record("3")).encode() + b"\n"
    corpus = read(data)
    assert names(corpus) == ["1/0", "2/0", "3/0"]
    assert told(corpus, "glued_objects").pointer == "line 2"
    assert [trial.source.line for trial in corpus.trials] == [1, 2, 2]


def test_one_bad_line_costs_that_line() -> None:
    corpus = read(jsonl(record("1")) + b'{"schema": oops}\n[1]\n' + jsonl(record("2")) + b'{"schema": "trajdi')
    assert names(corpus) == ["1/0", "2/0"]
    lost = [(one.pointer, one.severity) for one in corpus.diagnostics]
    assert lost == [("line 2", "warning"), ("line 3", "warning"), ("line 5", "warning")]
    assert "a value is expected here (column 12)" in corpus.diagnostics[0].message
    assert "the last line is cut" in corpus.diagnostics[2].message


def test_lines_are_split_at_line_feeds_only() -> None:
    text = "one\u2028two\u0085three"
    data = json.dumps(record(steps=[{"actor": "user", "text": text}]), ensure_ascii=False).encode()
    corpus = read(data + b"\n" + data.replace(b'"0"', b'"1"') + b"\n")
    assert [trial.steps[0].text for trial in corpus.trials] == [text, text]
    assert [trial.source.line for trial in corpus.trials] == [1, 2]


def test_a_record_longer_than_any_buffer_is_a_line_like_others(tmp_path: Path) -> None:
    long = record("1", steps=[{"actor": "user", "text": "long " * 500_000}])
    put(tmp_path, "long.log.data", jsonl(long, record("2")))
    assert names(load([str(tmp_path)])) == ["1/0", "2/0"]


def test_a_pretty_record_in_a_file_called_jsonl_is_read(tmp_path: Path) -> None:
    put(tmp_path, "one.jsonl", json.dumps(record(), indent=2).encode())
    assert names(load([str(tmp_path)])) == ["L1/0"]


def test_FIL_08_lone_surrogates_survive_and_split_pairs_are_joined() -> None:
    parts = [{"type": "text", "text": "\ud83d"}, {"type": "text", "text": "\ude00"}]
    traj = [said("user", "\ud83d"), {"role": "user", "content": parts}, chat_call("f", '{"a": "\\ud83d"}')]
    traj.append(chat_result("caf\u00e9 \ud83d"))
    corpus = read([tau_trial(traj=traj)])
    (trial,) = corpus.trials
    assert [step.text for step in trial.steps[:2]] == ["\ud83d", "\U0001f600"]
    assert results(trial) == ["caf\u00e9 \ud83d"]
    assert trial.steps[2].arguments is not None
    assert trial.steps[2].arguments.parsed == {"a": "\ud83d"}


def test_FIL_10_embedded_media_are_replaced(tmp_path: Path) -> None:
    picture = "iVBORw0KGgo" + "Ab9+" * 800_000
    traj = [
        chat_call("draw", "{}"),
        chat_result(picture),
        said("user", f"see data:image/png;base64,{picture} !"),
    ]
    corpus = read([tau_trial(traj=traj), tau_trial(trial=1, traj=traj)])
    one, other = corpus.trials
    (text,) = results(one)
    assert text is not None
    assert text.startswith("[media base64 2400008 bytes sha256:")
    assert results(one) == results(other)
    assert one.steps[1].text is not None
    assert one.steps[1].text.startswith("see [media image/png 2400008 bytes sha256:")
    assert one.steps[1].text.endswith("] !")


def test_long_words_that_are_no_media_are_kept() -> None:
    for text in ("=" * 5000, "a" * 5000, "0123456789abcdef" * 400, "word " * 2000):
        assert results(read([tau_trial(traj=[chat_call("f", "{}"), chat_result(text)])]).trials[0]) == [text]


def test_big_integers_and_bytes_that_are_no_text_survive() -> None:
    data = json.dumps([tau_trial(traj=[chat_call("f", "{}"), chat_result("caf\u00e9")])], ensure_ascii=False)
    corpus = read(data.encode("latin-1"))
    assert results(corpus.trials[0]) == ["caf\ufffd"]
    trial = read(
        b'{"schema":"trajdiff/1","task_id":"x","steps":[],"metadata":{"n":' + b"9" * 5000 + b"}}"
    ).trials[0]
    assert trial.metadata["n"] == "9" * 5000


def test_a_large_result_takes_time_in_proportion_to_its_length() -> None:
    """Thirty megabytes of words; anything quadratic would not end within the patience of a test run."""
    text = "Ab9+/" * 399 + " "
    data = json.dumps([tau_trial(traj=[chat_call("f", "{}"), chat_result(text * 15_000)])]).encode()
    assert len(results(read(data).trials[0])[0] or "") == 15_000 * 1996


# Formats


def test_two_formats_in_one_file_are_an_error_that_names_both() -> None:
    with pytest.raises(
        UsageError, match=r"2 formats fit: tau-bench results, trajdiff/1\n  choose one with --from"
    ):
        read([tau_trial(), record()])
    corpus = read([tau_trial(), record()], format="trajdiff")
    assert names(corpus) == ["4/0", "L1/0"]


def test_a_format_can_be_forced_and_a_wrong_name_brings_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean tau-bench"):
        read([tau_trial()], format="taubench")
    assert names(read([tau_trial()], format="tau-bench")) == ["4/0"]
    with pytest.raises(InputError):
        read([{"remark": 1}], format="tau2")


def test_a_forced_format_takes_of_a_folder_only_what_it_claims(home: Path) -> None:
    corpus = load(["logs"], ReadOptions(format="tau-bench"))
    assert names(corpus) == ["1/0", "3/0"]
    assert [one.path for one in corpus.diagnostics if one.slug == "not_recognised"] == [
        "logs/deep/b.jsonl",
        "logs/notes.json",
    ]


def test_what_was_read_is_listed_with_its_hash(tmp_path: Path) -> None:
    import hashlib

    path = put(tmp_path, "a.json", tau2_results(simulation(), simulation("s2", trial=1)))
    (file,) = load([str(path)]).files
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (file.format, file.tasks, file.trials) == ("tau2 results", 1, 2)
    assert file.recognised_by == "info, tasks, simulations"
    assert file.producer["model"] == "m-1"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.json", TWO)
    put(tmp_path, "b.json", TWO).chmod(0)
    assert slugs(load([str(tmp_path)])) == ["unreadable_file"]


def test_reading_leaves_the_collector_as_it_was() -> None:
    import gc

    read([tau_trial()])
    assert gc.isenabled()
    with pytest.raises(InputError):
        read(b"")
    assert gc.isenabled()
    gc.disable()
    try:
        read([tau_trial()])
        assert not gc.isenabled()
    finally:
        gc.enable()
