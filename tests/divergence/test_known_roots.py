"""The bundled sample traces have known answers: every one of them is found, and no passed trial is accused."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.samples.recorded import ROOTS, TRIALS, Key
from trajdiff.analysis import Analysis, analyse
from trajdiff.divergence.case import ALL_LEVELS, OF_COMMANDS
from trajdiff.divergence.finding import Blame, Divergence, FindingKind, Grade, Kind, Reason, StepRef
from trajdiff.importers import load
from trajdiff.settings import Settings

KEYS = sorted(ROOTS)
SILENT = ("L1-022", "2")
INFRA = ("L1-050", "3")
CLAIMS = [key for key in KEYS if key not in (SILENT, INFRA)]


@pytest.fixture(scope="module")
def analysis(project: Path) -> Analysis:
    return analyse(load([str(project / "sample_traces")]), Settings())


@pytest.fixture(scope="module")
def found(analysis: Analysis) -> dict[Key, Divergence]:
    rows = [d for finding in analysis.findings.values() for d in finding.divergences]
    assert len(rows) == len({(d.task_id, d.trial_id) for d in rows}), "a trial is judged twice"
    return {(d.task_id, d.trial_id): d for d in rows}


def test_exactly_the_failed_and_crashed_trials_are_judged(found: dict[Key, Divergence]) -> None:
    assert set(found) == set(ROOTS)


@pytest.mark.parametrize("key", KEYS, ids="/".join)
def test_known_answer(key: Key, found: dict[Key, Divergence]) -> None:
    answer, said = ROOTS[key], found[key]
    assert (said.root.message if said.root else None) == answer["root"], said.sentence
    assert said.kind in answer["kind"]
    assert said.actor == answer["actor"]
    assert said.abstained == (answer["root"] is None)


def test_same_path_abstains(found: dict[Key, Divergence], analysis: Analysis) -> None:
    said = found[SILENT]
    assert said.abstained
    assert said.reason is Reason.SAME_PATH
    assert (said.grade, said.root, said.manifest, said.support) == (None, None, None, None)
    assert analysis.findings["L1-022"].kind is FindingKind.SAME_PATH


def test_infrastructure_is_no_comparison(found: dict[Key, Divergence]) -> None:
    said = found[INFRA]
    assert said.reason is Reason.INFRASTRUCTURE
    assert said.grade is None
    assert said.support is None
    assert said.root == said.manifest


def test_no_passed_trial_is_blamed(analysis: Analysis) -> None:
    passes = Counter(task for (task, _), trial in TRIALS.items() if trial["state"] == "pass")
    assert analysis.self_check.false_alarms == 0
    assert analysis.self_check.alarms == ()
    assert analysis.self_check.passing_trials == sum(count for count in passes.values() if count > 1)
    assert set(analysis.levels) == ALL_LEVELS - OF_COMMANDS


@pytest.mark.parametrize("key", CLAIMS, ids="/".join)
def test_a_claim_can_be_followed(key: Key, found: dict[Key, Divergence]) -> None:
    said = found[key]
    assert said.root is not None
    assert said.manifest is not None
    assert said.root.step <= said.manifest.step
    assert {said.root.trial_id, said.manifest.trial_id} == {key[1]}
    assert _is_recorded(key, said.root)
    assert _is_recorded(key, said.manifest)
    assert said.headline
    assert said.sentence.endswith(".")
    sides = [side for side in said.root_sides if side.trial_id == key[1]]
    assert [side.message for side in sides] == [said.root.message]
    passed = [ref for ref in (said.passed_root, said.passed_manifest) if ref is not None]
    assert all(TRIALS[key[0], ref.trial_id]["state"] == "pass" for ref in passed)
    assert all(_is_recorded((key[0], ref.trial_id), ref) for ref in passed)


def _is_recorded(key: Key, ref: StepRef) -> bool:
    """Whether path, line and pointer of a reference lead to the step at its message index."""
    trial = TRIALS[key]
    assert ref.message is not None
    assert Path(ref.path).name == trial["file"]
    step = _at(trial["record"], ref.pointer)
    who, tool, content = trial["messages"][ref.message]
    if tool is None:
        return bool(step.get("text", step.get("content")) == content)
    call = (step.get("tool_calls") or [step])[0]
    return bool(who == "agent" and call["name"] == tool and call["arguments"] == content)


def _at(record: dict[str, Any], pointer: str) -> Any:
    """What a pointer names, inside the record of the trial."""
    value: Any = record
    for name, number in re.findall(r"\.(\w+)\[(\d+)\]", pointer):
        if name != "simulations":
            value = value[name][int(number)]
    return value


def test_lines_count_from_one(found: dict[Key, Divergence], project: Path) -> None:
    for key, said in found.items():
        if said.root is not None and said.root.line is not None:
            lines = (project / "sample_traces" / Path(said.root.path).name).read_text("utf-8").splitlines()
            record = json.loads(lines[said.root.line - 1])
            assert (record["task_id"], record["trial_id"]) == key


@pytest.mark.parametrize("key", CLAIMS, ids="/".join)
def test_support_counts_trials(key: Key, found: dict[Key, Divergence]) -> None:
    said = found[key]
    states = Counter(trial["state"] for (task, _), trial in TRIALS.items() if task == key[0])
    support = said.support
    assert support is not None
    assert support.failed == states["fail"]
    assert support.passed == states["pass"]
    alike = [row.trial_id for row in found.values() if row.task_id == key[0] and row.identity == said.identity]
    assert list(said.group) == alike
    # Others may show the same deviation and have parted from the passes earlier, by another one.
    assert len(alike) <= support.failed_with <= support.failed


@pytest.mark.parametrize(
    ("key", "counts"),
    [
        # Neither failed trial of L1-061 looks at the permission, and only one of them makes no refund at all.
        (("L1-061", "1"), (2, 2, 0, 2)),
        (("L1-061", "3"), (1, 2, 0, 2)),
        # No pass; three of the four trials send no label for RUG-1, one of them with a wrong amount before.
        (("L1-012", "1"), (3, 4, 0, 0)),
    ],
    ids=str,
)
def test_support_recounted_by_hand(
    key: Key, counts: tuple[int, int, int, int], found: dict[Key, Divergence]
) -> None:
    support = found[key].support
    assert support is not None
    assert (support.failed_with, support.failed, support.passed_with, support.passed) == counts


#: 2 against 2 has six splits, the two most extreme ones are mirror images; 1 against 3 has four, and so on.
SMALLEST_P = {(2, 2): 2 / 6, (1, 3): 1 / 4, (3, 1): 1 / 4, (1, 2): 1 / 3, (4, 0): None}


@pytest.mark.parametrize("key", CLAIMS, ids="/".join)
def test_smallest_p_any_split_could_reach(key: Key, found: dict[Key, Divergence]) -> None:
    support = found[key].support
    assert support is not None
    assert support.smallest_p == pytest.approx(SMALLEST_P[support.failed, support.passed])


@pytest.mark.parametrize("key", CLAIMS, ids="/".join)
def test_no_pass_shows_what_separates(key: Key, found: dict[Key, Divergence]) -> None:
    """In the samples every failure is alone with its fault (the generator's own check says so)."""
    support = found[key].support
    assert support is not None
    assert support.passed_with == 0


def test_grades(found: dict[Key, Divergence], project: Path) -> None:
    trials = {(t.task_id, t.trial_id): t for t in load([str(project / "sample_traces")]).trials}
    passes = Counter(task for (task, _), trial in TRIALS.items() if trial["state"] == "pass")
    for key in CLAIMS:
        if passes[key[0]] == 0:
            assert found[key].grade is Grade.C
        elif passes[key[0]] == 1 or found[key].kind is Kind.WRONG_ANSWER:
            assert found[key].grade is Grade.B
        else:
            assert found[key].grade in (Grade.A, Grade.B)
        if found[key].grade is Grade.A:
            # What stands in a message alone is never the strongest evidence.
            root = found[key].root
            assert root is not None
            assert trials[key].steps[root.step].is_call
    assert Counter(found[key].grade for key in CLAIMS)[Grade.A] >= 10


def test_identities_and_row_ids(found: dict[Key, Divergence]) -> None:
    rows = [d.row_id for d in found.values()]
    assert len(set(rows)) == len(rows)
    assert all(re.fullmatch(r"d-[0-9a-f]{10}", row) for row in rows)
    for key in CLAIMS:
        said = found[key]
        task, kind, *_ = said.identity.split("|")
        assert (task, kind) == (key[0], said.kind)


def test_repaired_detours_are_shown_as_such(found: dict[Key, Divergence]) -> None:
    """L1-073/2 mistypes an order id first: shown, and not the root."""
    said = found["L1-073", "2"]
    assert said.root is not None
    (repair,) = said.recovered
    assert repair.opened_at.step < said.root.step
    assert repair.closed_at is not None
    assert repair.opened_at.step < repair.closed_at.step


def test_what_is_claimed_repairs_nothing(found: dict[Key, Divergence]) -> None:
    """The retry of L1-082/1 is the second parcel: it is the divergence and no repair of the time-out."""
    assert found["L1-082", "1"].recovered == ()


def test_a_repaired_read_of_another_record_is_shown(found: dict[Key, Divergence]) -> None:
    assert found["L1-088", "0"].recovered


def test_every_actor_is_found(found: dict[Key, Divergence]) -> None:
    assert {d.actor for d in found.values()} == set(Blame)
