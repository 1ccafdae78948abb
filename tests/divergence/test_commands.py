"""Commands taken apart: what a command line or an editing tool reads, edits, removes, runs and checks."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.divergence.made import call, prepared, trial_of
from trajdiff.divergence.work.commands import Reader
from trajdiff.divergence.work.ledger import Work, work_of
from trajdiff.divergence.work.shell import simple_commands

EDIT, READ, CHECK, RUN = "edit", "read", "check", "run"


def acts(line: str) -> list[tuple[str, str | None]]:
    """What a command line does: verb and path, or what is checked or run."""
    (step,) = trial_of(call("bash", "ok", command=line))
    return [(act.verb.value, act.path or act.target or None) for act in Reader().acts(step)]


LINES: dict[str, list[tuple[str, str | None]]] = {
    "cat src/a.py": [(READ, "src/a.py")],
    "cd /repo && cat src/a.py | grep -n 'x; y' && ls": [
        (READ, "/repo/src/a.py"), (READ, "/repo/x; y"), (READ, None),
    ],
    "sed -i 's/a/b/; s/c/d/' src/a.py": [(EDIT, "src/a.py")],
    "sed -i -e 's/a/b/' -e 's/c/d/' src/a.py": [(EDIT, "src/a.py")],
    "sed -n '1,20p' src/a.py": [(READ, "1,20p"), (READ, "src/a.py")],
    "echo 'a > b' > out.txt 2>&1": [(EDIT, "out.txt"), (READ, "a > b")],
    "grep x a.py >> /tmp/log 2>/dev/null": [(EDIT, "/tmp/log"), (READ, "x"), (READ, "a.py")],
    "cat > src/new.py <<'EOF'\ndef f():\n    rm -rf /\nEOF\npytest -q tests/test_new.py": [
        (EDIT, "src/new.py"), (READ, None), (CHECK, "pytest tests/test_new.py"),
    ],
    "python - <<EOF\nopen('a.txt', 'w').write('x')\nEOF": [(EDIT, "a.txt"), (RUN, "program")],
    "FOO=1 timeout 60 python3 -m pytest tests -x": [(CHECK, "python pytest tests")],
    "python reproduce.py": [(RUN, "python reproduce.py")],
    "npm test && cargo test": [(CHECK, "npm test"), (CHECK, "cargo test")],
    "rm -rf build reproduce.py": [("remove", "build"), ("remove", "reproduce.py")],
    "mv a.py b.py": [(EDIT, "b.py"), ("remove", "a.py")],
    "git checkout -- src/a.py": [("restore", "src/a.py")],
    "git diff": [("show", "diff")],
    "git apply <<'EOF'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF": [(EDIT, "src/a.py")],
    "cd sub; cd ..; cat a.py": [(READ, "a.py")],
    "echo \"unclosed": [(READ, "unclosed")],
    "make -j4; ./run.sh": [(RUN, "make"), (RUN, "run.sh")],
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_command_lines(line: str) -> None:
    assert acts(line) == LINES[line]


TOOLS: list[tuple[str, dict[str, Any], list[tuple[str, str | None]]]] = [
    ("str_replace_editor", {"command": "view", "path": "/repo/a.py"}, [(READ, "/repo/a.py")]),
    ("str_replace_editor", {"command": "str_replace", "path": "/repo/a.py"}, [(EDIT, "/repo/a.py")]),
    ("str_replace_editor", {"command": "undo_edit", "path": "/repo/a.py"}, [("restore", "/repo/a.py")]),
    ("write_file", {"file_path": "a.py", "content": "x"}, [(EDIT, "a.py")]),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: a.py\n-x\n*** End Patch"}, [(EDIT, "a.py")]),
    ("execute_ipython_cell", {"code": "from pathlib import Path\nPath('b.txt').write_text('x')"},
     [(EDIT, "b.txt"), (RUN, "program")]),
    ("refund_item", {"order_id": "A1", "command": "cat x"}, []),
    ("get_order", {"order_id": "A1"}, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "wanted"), TOOLS, ids=[f"{n} {t[0]}" for n, t in enumerate(TOOLS)]
)
def test_editing_tools(tool: str, arguments: dict[str, Any], wanted: list[tuple[str, str | None]]) -> None:
    (step,) = trial_of(call(tool, "ok", **arguments))
    assert [(act.verb.value, act.path or act.target or None) for act in Reader().acts(step)] == wanted


def work(*lines: tuple[str, str]) -> Work:
    """The ledger of a trial of command lines and what they answered."""
    return work_of(prepared([call("bash", result, command=line) for line, result in lines]))


def test_what_is_left_at_the_end() -> None:
    made = work(
        ("cat src/a.py src/b.py", "text"),
        ("sed -i s/a/b/ src/a.py", ""),
        ("sed -i s/a/b/ src/b.py", ""),
        ("cat > reproduce.py <<'EOF'\nx\nEOF", ""),
        ("echo x > /tmp/out", ""),
        ("git checkout src/b.py", ""),
        ("rm reproduce.py", ""),
    )
    assert made.paths() == {"src/a.py"}
    assert not made.files["src/a.py"].created
    assert made.share == 100


def test_a_removed_file_that_was_there_is_a_change() -> None:
    assert work(("cat src/a.py", "x"), ("rm src/a.py", "")).paths() == {"src/a.py"}


@pytest.mark.parametrize(
    "lines",
    [
        [("sed -i s/x/y/ src/a.py && git diff", "")],
        [("sed -i s/x/y/ src/a.py", ""), ("git diff", "")],
        [("git apply <<'EOF'\n+++ b/src/a.py\n@@ -1 +1 @@\nEOF", "error: patch does not apply")],
    ],
)
def test_edits_that_changed_nothing(lines: list[tuple[str, str]]) -> None:
    made = work(*lines)
    assert made.paths() == frozenset()
    assert [path for path, _ in made.idle] == ["src/a.py"]


def test_definitions_come_from_edits_and_shown_differences() -> None:
    shown = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,3 @@ def parse(text):\n-a\n+b"
    assert work(("sed -i s/a/b/ src/a.py", ""), ("git diff", shown)).definitions() == {"src/a.py::parse"}
    assert work(("sed -i s/a/b/ src/a.py", "")).definitions() == {"src/a.py::"}


def test_a_check_is_opened_and_cleared() -> None:
    failing, passing = (
        ("pytest tests", "E  KeyError: 'x'\n1 failed, 3 passed"),
        ("pytest tests", "4 passed in 0.1s"),
    )
    assert work(passing, failing).checks["pytest tests"].opened == 1
    assert work(failing, ("cat a.py", "x"), failing).checks["pytest tests"].opened == 0
    assert work(failing, failing).checks["pytest tests"].error == "KeyError"
    assert work(failing, ("pytest tests", "killed")).checks["pytest tests"].opened == 0
    assert not work(failing, passing).checks["pytest tests"].open
    assert not work(("pytest tests", "no output")).checks["pytest tests"].known
    assert work(("pytest tests", "[exit code: 2]")).checks["pytest tests"].open


def test_long_and_odd_commands_are_taken_apart_in_time() -> None:
    started = time.monotonic()
    for line in (
        "a" * 500_000,
        "cat <<EOF\n" + "x\n" * 100_000,
        "'" * 9_999,
        ";" * 9_999,
        "$(" * 5_000,
        "\\",
        "",
        "<<",
    ):
        simple_commands(line)
    assert time.monotonic() - started < 5
