"""Trials of large files leave their steps there: whatever is asked about them has the same answer."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generator import Plan, simulations, write_corpus
from trajdiff.align.stored_table import StoredTable
from trajdiff.analysis import analyse
from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers import converted, load
from trajdiff.importers import stored_steps as module
from trajdiff.importers.file_places import Span
from trajdiff.model import Corpus, Effect, tally_of
from trajdiff.redaction import Redactor
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings
from trajdiff.shape import without_content

PLAN = Plan(trials=3, steps=12, step_bytes=700)


def _read(path: Path, monkeypatch: pytest.MonkeyPatch, *, large: int) -> Corpus:
    for name in ("long_lines", "opening"):
        monkeypatch.setattr(f"trajdiff.importers.{name}.LARGE", large)
    module._KEPT.clear()
    return load([str(path)])


def both_ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Corpus, Corpus]:
    return _read(path, monkeypatch, large=1 << 40), _read(path, monkeypatch, large=1)


def stored(corpus: Corpus) -> list[module.StoredSteps]:
    return [trial.steps for trial in corpus.trials if isinstance(trial.steps, module.StoredSteps)]


def _own_lines(path: Path, tmp_path: Path) -> Path:
    target = tmp_path / "own.jsonl"
    target.write_text(converted(load([str(path)])), encoding="utf-8")
    return target


def _with_odd_lines(path: Path) -> None:
    """A line with NaN (which the fast decoder refuses), a blank one, a broken one and one that is cut."""
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    changed = json.loads(first)
    changed["reward_info"]["info"] = {"note": float("nan")}
    changed["trial"] = 9
    lines = [json.dumps(changed), "", first, *rest, "{broken", first[:200]]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(params=["tau2.json", "tau2.jsonl", "odd.jsonl", "own.jsonl"])
def corpus_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name = request.param
    path = tmp_path / name.replace("own", "tau2").replace("odd", "tau2")
    write_corpus(path, PLAN, tasks=3)
    if name == "odd.jsonl":
        _with_odd_lines(path)
    return _own_lines(path, tmp_path) if name == "own.jsonl" else path


def test_reports_are_the_same(corpus_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, lean = both_ways(corpus_file, monkeypatch)
    assert len(stored(lean)) >= 8
    assert not stored(whole)
    assert lean == whole
    assert analyse(lean, Settings()) == analyse(whole, Settings())


def test_steps_are_read_again_when_they_were_forgotten(
    corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, lean = both_ways(corpus_file, monkeypatch)
    monkeypatch.setattr(module, "HELD_BYTES", 1)
    monkeypatch.setattr(module, "RECENT_BYTES", 1)
    module._KEPT.clear()
    for one, other in zip(whole.trials, lean.trials, strict=True):
        assert list(other.steps) == list(one.steps)
        assert len(other.steps) == len(one.steps)
        assert other.tally == tally_of(one.steps) == one.tally
        assert other.comparable is one.comparable


def _count_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where records were read again, from now on."""
    starts: list[int] = []
    read = Span.read

    def counted(span: Span) -> bytes:
        starts.append(span.start)
        return read(span)

    monkeypatch.setattr(Span, "read", counted)
    return starts


def test_the_trials_read_first_are_held_until_they_are_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tau2.jsonl"
    write_corpus(path, PLAN, tasks=3)
    monkeypatch.setattr(module, "RECENT_BYTES", 1)
    whole = _read(path, monkeypatch, large=1 << 40)
    sizes = [module._bytes_of(tuple(trial.steps)) for trial in whole.trials]
    monkeypatch.setattr(module, "HELD_BYTES", sum(sizes[:4]))
    lean = _read(path, monkeypatch, large=1)
    starts = _count_reads(monkeypatch)
    for _ in range(2):
        assert [list(one.steps) for one in lean.trials] == [list(one.steps) for one in whole.trials]
    assert len(starts) == 2 * (len(lean.trials) - 4)
    for trial in lean.trials[:4]:
        module.release_steps(trial.steps)
    starts.clear()
    assert [list(one.steps) for one in lean.trials] == [list(one.steps) for one in whole.trials]
    assert len(starts) >= len(lean.trials) - 1


def test_files_read_later_take_the_room_of_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RECENT_BYTES", 1)
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        write_corpus(path, PLAN, tasks=1)
    whole = _read(paths[0], monkeypatch, large=1 << 40)
    monkeypatch.setattr(module, "HELD_BYTES", sum(module._bytes_of(tuple(t.steps)) for t in whole.trials))
    _read(paths[0], monkeypatch, large=1)
    later = load([str(paths[1])])
    starts = _count_reads(monkeypatch)
    assert all(list(one.steps) for one in later.trials)
    assert not starts


def test_steps_held_of_an_earlier_reading_do_not_keep_what_it_said_about_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tau2.json"
    write_corpus(path, PLAN, tasks=1)
    first = stored(_read(path, monkeypatch, large=1))[0]
    assert {step.effect_hint for step in first if step.is_call} == {None}
    tools = {step.name or "": Effect.WRITE for step in first if step.is_call}
    recipe = first.recipe
    other = module.StoredSteps.known(first.tally, replace(recipe, effects=tools))
    for steps, hint in ((other, Effect.WRITE), (first, None), (other, Effect.WRITE)):
        assert {step.effect_hint for step in steps if step.is_call} == {hint}


@pytest.mark.parametrize("change", [without_content, lambda report: Redactor().apply(report)])
def test_what_is_taken_out_of_a_large_log_is_taken_out_of_its_own_tables(
    change: Callable[[Report], Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tau2.json"
    write_corpus(path, PLAN, tasks=12)
    text = path.read_text(encoding="utf-8").replace("About order", "Write to someone@example.org about order")
    path.write_text(text, encoding="utf-8")
    made = [
        [
            task.finding.table
            for task in change(build_report(corpus, analyse(corpus, Settings()), Settings())).tasks
        ]
        for corpus in both_ways(path, monkeypatch)
    ]
    for whole, lean in zip(*made, strict=True):
        assert whole is not None
        assert lean is not None
        assert lean.columns == whole.columns
        assert lean.rows == whole.rows


def test_an_analysis_releases_what_it_is_done_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tau2.jsonl"
    write_corpus(path, PLAN, tasks=3)
    lean = _read(path, monkeypatch, large=1)
    assert module._KEPT._held
    analyse(lean, Settings())
    assert not module._KEPT._held
    assert not module._KEPT._held_size


def test_a_worker_reads_them_from_what_it_is_sent(corpus_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, lean = both_ways(corpus_file, monkeypatch)
    sent = pickle.dumps(lean.tasks[0])
    assert len(sent) < len(pickle.dumps(whole.tasks[0])) / 2
    module._KEPT.clear()
    assert pickle.loads(sent) == whole.tasks[0]


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tau2.jsonl"
    write_corpus(path, PLAN, tasks=1)
    lean = _read(path, monkeypatch, large=1)
    module._KEPT.clear()
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="the file changed while it was read"):
        list(lean.trials[0].steps)


def test_what_the_log_says_about_tools_holds_for_trials_read_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, Any]] = [*simulations(PLAN, 0)]
    tools = {call["name"] for one in found for message in one["messages"] for call in _calls(message)}
    found[-1]["reward_info"]["action_checks"] = [
        {"tool_type": "write", "action": {"name": name}} for name in sorted(tools)
    ]
    path = tmp_path / "tau2.json"
    path.write_text(json.dumps({"info": {}, "tasks": [], "simulations": found}), encoding="utf-8")
    whole, lean = both_ways(path, monkeypatch)
    assert stored(lean)
    assert lean == whole
    assert [trial.tally for trial in lean.trials] == [trial.tally for trial in whole.trials]
    assert {hint for *_, hint in lean.trials[0].tally.tools} == {"write"}


def _calls(message: dict[str, Any]) -> Sequence[dict[str, Any]]:
    return message.get("tool_calls") or ()


def test_tables_of_a_task_are_put_together_from_the_file(
    corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, lean = both_ways(corpus_file, monkeypatch)
    tables, packed = ([f.table for f in analyse(c, Settings()).findings.values()] for c in (whole, lean))
    assert any(table is not None for table in tables)
    module._KEPT.clear()
    for task, table, other in zip(lean.tasks, tables, packed, strict=True):
        assert other == table
        left = all(isinstance(trial.steps, module.StoredSteps) for trial in task.trials)
        assert isinstance(other, StoredTable) is left
        if table is not None and other is not None and left:
            assert len(pickle.dumps(other)) < len(pickle.dumps(table)) / 2
            assert pickle.loads(pickle.dumps(other)) == table
            assert replace(other, rows=()) == replace(table, rows=())
            assert type(replace(other, rows=())) is type(table)
