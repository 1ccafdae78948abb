"""Agents that work by commands: claims at the level at which passes agree, silence where they do not."""

from __future__ import annotations

import pytest

from tests.divergence.made import (
    Line,
    Steps,
    agent,
    analysed,
    call,
    check_blamed,
    check_spared,
    of,
    records,
    user,
)
from trajdiff.divergence.finding import Grade, Kind, Reason

ASK = user("Fix the parser: dates with a zone are refused.")
END = agent("Fixed.")


def sh(line: str, result: str = "") -> Line:
    return call("bash", result, command=line)


LOOK = sh("cat src/dates.py", "def parse(text): ...")
FAILS = sh("pytest tests/test_dates.py", "E  ValueError: zone\n1 failed, 8 passed")
PASSES = sh("pytest tests/test_dates.py", "9 passed in 0.2s")


def fix(how: str, path: str = "src/dates.py") -> Line:
    return sh(f"sed -i 's/strict/{how}/' {path}")


#: Two passes that edit the same file in their own ways.
GOOD: tuple[tuple[Line, ...], ...] = (
    (ASK, LOOK, fix("lenient"), PASSES, END),
    (
        ASK,
        sh("ls"),
        sh("grep -rn strict src", "src/dates.py:7"),
        FAILS,
        fix("zone=True"),
        PASSES,
        agent("Done."),
    ),
)


def test_passes_never_accuse_each_other() -> None:
    others = [
        (*GOOD[0][:3], sh("echo x > /tmp/n"), PASSES, END),
        (
            ASK,
            sh("cat > repro.py <<'EOF'\nx\nEOF"),
            sh("python repro.py", "x"),
            fix("a"),
            sh("rm repro.py"),
            PASSES,
            END,
        ),
    ]
    analysis = analysed(records([*GOOD, *others], []))
    assert analysis.self_check.false_alarms == 0
    assert analysis.self_check.passing_trials == 4
    assert {"checks", "definitions"} <= set(analysis.levels), "the report says at which levels it looked"


def test_other_commands_for_the_same_edit_are_no_divergence() -> None:
    said = check_spared(GOOD, (ASK, sh("rg strict"), fix("no"), sh("git status", "M src/dates.py"), END))
    assert said.reason is Reason.NO_SEPARATING_STEP
    assert "edits what all passed trials edit" in said.headline


def test_an_edit_without_effect() -> None:
    trial = (ASK, LOOK, sh("sed -i 's/stricter/no/' src/dates.py && git diff").root(), sh("ls", "src"), END)
    said = check_blamed(GOOD, trial, "ineffective_write")
    assert said.grade is Grade.B
    assert said.headline == "edit of src/dates.py had no effect"
    assert said.support is not None
    assert (said.support.failed_with, said.support.passed_with) == (1, 0)
    # An editor says so itself.
    told = "No replacement was performed, old_str did not appear verbatim."
    editor = call("str_replace_editor", told, command="str_replace", path="src/dates.py", old_str="stricter")
    check_blamed(GOOD, (ASK, LOOK, editor.root(), END), "ineffective_write")
    # A later edit with effect closes it.
    check_spared(GOOD, (ASK, LOOK, sh("sed -i x src/dates.py && git diff"), fix("b"), END))


def test_another_file_is_edited() -> None:
    wrong = fix("lenient", "src/times.py").root()
    said = check_blamed(GOOD, (ASK, LOOK, sh("cat src/times.py", "x"), wrong, END), "wrong_argument")
    assert said.headline == "edit of src/times.py instead of src/dates.py"


def test_nothing_is_edited() -> None:
    trial = (ASK, LOOK, sh("ls"), agent("I cannot find it.").root())
    said = check_blamed(GOOD, trial, "early_stop")
    assert "src/dates.py" in said.sentence


def test_a_check_that_fails_at_the_end() -> None:
    trial = (ASK, LOOK, fix("wrong"), FAILS.root(), sh("cat src/dates.py", "x"), FAILS, END.near())
    said = check_blamed(GOOD, trial, "unrecovered_error")
    assert "ValueError" in said.sentence
    # Opened and cleared: nothing is left open.
    check_spared(GOOD, (ASK, FAILS, fix("right"), PASSES, END))
    # Passes that never ran the check say nothing about it.
    unchecked = [(ASK, LOOK, fix("a"), END), (ASK, fix("b"), sh("ls"), END)]
    check_spared(unchecked, (ASK, LOOK, fix("wrong"), FAILS, END))


def test_no_test_was_run_separates_nothing() -> None:
    check_spared(GOOD, (ASK, LOOK, fix("lenient"), END))


def test_passes_that_agree_in_no_file_say_nothing() -> None:
    apart = [(ASK, LOOK, fix("a"), END), (ASK, LOOK, fix("b", "src/zones.py"), END)]
    said = check_spared(apart, (ASK, LOOK, fix("c", "src/times.py"), END))
    assert "agree in no file" in said.headline


def test_a_level_at_which_a_pass_would_be_accused_is_not_used() -> None:
    """Two of three passes edit a second file: at this level they would accuse the third, so it says nothing."""
    both = (ASK, LOOK, fix("a"), fix("a", "src/zones.py"), END)
    passes = [both, (ASK, fix("b"), fix("b", "src/zones.py"), END), (ASK, LOOK, fix("c"), END)]
    check_spared(passes, (ASK, LOOK, sh("ls"), END))
    check_blamed(passes[:2], (ASK, LOOK, sh("ls"), END.root()), "early_stop")


def test_one_pass_never_establishes_a_level() -> None:
    said = check_spared(GOOD[:1], (ASK, LOOK, sh("ls"), END))
    assert said.reason is Reason.TOO_FEW_TRIALS


def test_definitions_are_the_finest_level() -> None:
    def shown(name: str) -> Line:
        return sh(
            "git diff", f"--- a/src/dates.py\n+++ b/src/dates.py\n@@ -1,3 +1,3 @@ def {name}(text):\n-a\n+b"
        )

    passes = [(ASK, LOOK, fix("a"), shown("parse"), END), (ASK, fix("b"), shown("parse"), sh("ls"), END)]
    said = of(analysed(records(passes, [(ASK, LOOK, fix("a"), shown("render"), END)])))
    assert said.kind is Kind.MISSING_STEP
    assert "src/dates.py::parse" in said.headline
    check_spared(passes, (ASK, LOOK, fix("c"), shown("parse"), END))


@pytest.mark.parametrize("root", ["/repo", "/workspace/x81"])
def test_folders_of_the_container_do_not_matter(root: str) -> None:
    there = (ASK, sh(f"cd {root}"), sh("cat src/dates.py", "x"), fix("q"), PASSES, END)
    check_spared(GOOD, there)


def test_a_trial_cut_by_its_limit_while_repeating_itself() -> None:
    again = sh("python run.py", "Traceback (most recent call last): x")
    trial: Steps = (ASK, LOOK, again, again, again, again)
    passes = [(ASK, LOOK, fix("a"), END)]
    made = records(passes, []) + records([], [trial], termination="max_steps")
    assert of(analysed(made)).kind is Kind.LOOP


# Writes of services


def update(result: object, **more: object) -> Line:
    return call("update_address", result, order_id="A1001", street="14 Mill Lane", **more)


@pytest.mark.parametrize(
    "result",
    [
        {"updated": 0},
        {"rows_affected": 0, "order_id": "A1001"},
        {"changed": False},
        "No changes were made.",
        "0 rows affected",
        "未更改",
    ],
)
def test_a_write_that_says_it_changed_nothing(result: object) -> None:
    done = {"updated": 1}
    passes = [(ASK, update(done), END), (user("Move it."), update(done), agent("Moved."))]
    said = check_blamed(passes, (ASK, update(result).root(), END), "ineffective_write")
    assert said.support is not None
    assert (said.support.failed_with, said.support.passed_with) == (1, 0)
    # Done again with effect, it is repaired.
    check_spared(passes, (ASK, update(result), update(done), END))
    # Where passes get the same answer, nothing separates.
    same = [(ASK, update(result), END), (user("Move it."), update(result), agent("Moved."))]
    check_spared(same, (ASK, update(result), END))


def test_a_result_about_something_else_is_no_such_answer() -> None:
    quiet = {"status_changed": False, "balance": 0, "text": "No changes to your plan are planned."}
    passes = [(ASK, update({"updated": 1}), END), (user("Move it."), update({"updated": 1}), agent("Moved."))]
    said = of(analysed(records(passes, [(ASK, update(quiet), END)])))
    assert said.kind is not Kind.INEFFECTIVE_WRITE


# Questions

QUESTION = user("Which river did the battle of 1642 take place at?")
SEARCH = call("search_pages", ["Edgehill", "Powick"], query="battle 1642 river")
READ_IT = call("read_page", "The skirmish was fought at Powick Bridge on the river Teme.", title="Powick")


def answers(*texts: str) -> list[Steps]:
    return [(QUESTION, SEARCH, READ_IT, agent(text)) for text in texts]


THREE = answers(
    "It was the Teme, at Powick.", "The river Teme near Worcester.", "Powick Bridge crosses the Teme."
)


def test_another_answer_than_all_passes() -> None:
    trial = (QUESTION, SEARCH, READ_IT, agent("It took place at the Severn.").root())
    said = check_blamed(THREE, trial, "wrong_answer")
    assert "teme" in said.sentence.casefold()
    assert said.support is not None
    assert (said.support.failed_with, said.support.passed_with) == (1, 0)


def test_the_document_that_the_answer_rests_on_was_never_read() -> None:
    trial = (QUESTION, SEARCH, agent("It took place at the Severn.").root())
    said = check_blamed(THREE, trial, "missing_step")
    assert said.tool == "read_page"


def test_the_same_answer_in_other_words() -> None:
    check_spared(THREE, (QUESTION, SEARCH, READ_IT, agent("Teme.")))


def test_two_passes_are_too_few_for_answers() -> None:
    check_spared(THREE[:2], (QUESTION, SEARCH, READ_IT, agent("It took place at the Severn.")))


def test_answers_that_share_nothing_say_nothing() -> None:
    loose = answers("Perhaps near Worcester.", "Nobody knows for certain.", "Historians disagree about that.")
    check_spared(loose, (QUESTION, SEARCH, READ_IT, agent("It took place at the Severn.")))
