"""What folders and archives owe: any file of them may be cut, garbled, emptied, gone or of another shape."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers import fixtures_inspect as inspect_logs
from tests.importers.fixtures import evalkit_sample, jsonl, put, rollout, simulation, tau2_results
from tests.importers.fixtures_harbor import atif, put_job, trial_result
from tests.importers.fixtures_swe import mini, row, traj, v1_events
from tests.importers.test_contract import attempt, spoiled
from trajdiff.importers import ReadOptions, load, validate
from trajdiff.importers.folders import _folder_peek
from trajdiff.importers.registry import claims_of, claims_of_folder
from trajdiff.model import Corpus, Severity


def harbor(root: Path) -> None:
    put_job(root / "jobs/j", trial_result(), trial_result("lamp__Zz99999", rewards={"reward": 0.0}))


def tau2_folder(root: Path) -> None:
    found = [simulation(), simulation("s2", trial=1, reward=0.0)]
    head = {key: one for key, one in tau2_results(*found).items() if key != "simulations"}
    put(root, "run/results.json", head)
    for one in found:
        put(root, f"run/simulations/{one['id']}.json", one)


def evalkit(root: Path) -> None:
    for number in (0, 1):
        put(root, f"out/trial-{number}/s.jsonl", jsonl(evalkit_sample("q1", "C"), evalkit_sample("q2", "I")))


def swe(root: Path) -> None:
    put(root, "exp/acme-1/acme-1.traj", traj())
    put(root, "exp/acme-2/acme-2.traj.json", mini(instance_id="acme-2"))
    put(root, "exp/m.run.json", {"resolved_ids": ["acme-1"], "unresolved_ids": ["acme-2"], "submitted_ids": []})


def openhands(root: Path) -> None:
    put(root, "o/output.jsonl", jsonl(row("i1"), row("i2")))
    put(root, "o/metadata.json", {"llm": {"model": "m-1"}, "agent_class": "CodeAct"})


def openhands_events(root: Path) -> None:
    for number, event in enumerate(v1_events()):
        put(root, f"c/events/event-{number:05d}-0a.json", event)


def verifiers(root: Path) -> None:
    put(root, "v/results.jsonl", jsonl(rollout(), rollout(reward=0.0)))
    put(root, "v/metadata.json", {"env": "e", "model": "m", "num_examples": 1, "rollouts_per_example": 2})


def continued(root: Path) -> None:
    put(root, "t/run_1.json", atif(continued_trajectory_ref="run_1.cont-1.json"))
    put(root, "t/run_1.cont-1.json", atif())


def archive(method: str) -> Callable[[Path], None]:
    def build(root: Path) -> None:
        two = (inspect_logs.sample(), inspect_logs.sample(epoch=2))
        files = inspect_logs.members(*two, head=inspect_logs.header())
        put(root, "a.eval", inspect_logs.packed(files, method=method))

    return build


LAYOUTS: dict[str, tuple[Callable[[Path], None], int]] = {
    "harbor": (harbor, 2),
    "tau2": (tau2_folder, 2),
    "evalkit": (evalkit, 4),
    "swe": (swe, 2),
    "openhands": (openhands, 2),
    "openhands events": (openhands_events, 1),
    "verifiers": (verifiers, 2),
    "atif": (continued, 1),
    "eval deflate": (archive("deflate"), 2),
    "eval zstd": (archive("zstd"), 2),
}


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_the_layouts_are_whole_and_valid(name: str, tmp_path: Path) -> None:
    build, count = LAYOUTS[name]
    build(tmp_path)
    corpus = load([str(tmp_path)])
    assert len(corpus.trials) == count
    assert not [one for one in corpus.diagnostics if one.severity is not Severity.NOTE]
    assert all(checked.valid for checked in validate([str(tmp_path)]))


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_nobody_claims_a_folder_but_those_who_are_asked(name: str, tmp_path: Path) -> None:
    """Only some importers are asked about folders; all others say that none is theirs."""
    LAYOUTS[name][0](tmp_path)
    for folder in (tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())):
        peek = _folder_peek(str(folder))
        assert claims_of_folder(peek) == claims_of(peek)


def inside_archive(data: bytes, draw: Callable[..., Any]) -> bytes:
    """The archive with one member spoiled, which is whole as an archive."""
    import io

    with zipfile.ZipFile(io.BytesIO(data)) as held:
        files = {name: held.read(name) for name in held.namelist()}
    name = draw(st.sampled_from(sorted(files)))
    files[name] = json.dumps(spoiled(json.loads(files[name]), draw, 1)).encode()
    return inspect_logs.packed(files)


def damaged(path: Path, how: str, draw: Callable[..., Any]) -> None:
    """One file changed in one way."""
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: draw(st.integers(0, len(data) - 1))])
    elif how == "garbled":
        at = draw(st.integers(0, len(data) - 1))
        noise = draw(st.binary(min_size=1, max_size=9))
        path.write_bytes(data[:at] + noise + data[at + len(noise) :])
    elif how == "other shape":
        path.write_bytes(json.dumps(draw(st.sampled_from((None, 5, "x", [], {}, [[]], [{}])))).encode())
    elif how == "twice":
        path.with_name(f"copy-{path.name}").write_bytes(data)
    elif path.suffix == ".eval":
        if zipfile.ZipFile(path).infolist()[0].compress_type == zipfile.ZIP_DEFLATED:
            path.write_bytes(inside_archive(data, draw))
    else:
        lines = data.splitlines() if path.suffix == ".jsonl" else [data]
        path.write_bytes(b"\n".join(json.dumps(spoiled(json.loads(one), draw)).encode() for one in lines))


WAYS = ("gone", "empty", "cut", "garbled", "other shape", "twice", "spoiled")


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@given(data=st.data())
def test_damage_in_a_folder_is_told_and_loses_no_trial_silently(name: str, data: st.DataObject) -> None:
    build, count = LAYOUTS[name]
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        damaged(data.draw(st.sampled_from(files)), data.draw(st.sampled_from(WAYS)), data.draw)
        corpus, message = attempt(lambda: load([folder], ReadOptions()))
        assert corpus is not None or message
        attempt(lambda: validate([folder], ReadOptions()))
    if corpus is not None:
        assert_told(corpus, count)


def assert_told(corpus: Corpus, count: int) -> None:
    """A trial that is not there is missing by name, or something warns of it."""
    if len(corpus.trials) < count:
        missing = sum(len(task.missing) for task in corpus.tasks)
        told = [one for one in corpus.diagnostics if one.severity is not Severity.NOTE]
        left_out = [one for one in corpus.diagnostics if one.slug in ("duplicate_trial", "superseded_trial")]
        assert missing or told or left_out
