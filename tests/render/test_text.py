"""The report and the task for a terminal: what is said, and what goes first when there is little room."""

from __future__ import annotations

import re

import pytest

from tests.render.made import bare, lamp, report, shop, trial
from tests.render.views import view_for
from trajdiff.align.table import Op
from trajdiff.divergence.finding import Grade, Kind, Side, Support
from trajdiff.frozen import replace
from trajdiff.model import Verdict
from trajdiff.render.choosing import Choice
from trajdiff.render.columns import Column, layout
from trajdiff.render.lines import fit, line, plain, width_of, wrap
from trajdiff.render.registry import by_name
from trajdiff.report import Report


def text(subject: str, made: Report, **view: object) -> str:
    out = by_name(subject, "text").render(made, view_for(subject, made, **view))
    assert isinstance(out, str)
    return out


def header(out: str) -> str:
    return next(found for found in out.splitlines() if found.startswith("task "))


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (120, "task trials pass^1 pass^2 pass^3 grade where outcomes separate support"),
        (100, "task trials pass^1 pass^3 grade where outcomes separate support"),
        (80, "task trials pass^1 pass^3 grade where outcomes separate"),
    ],
)
def test_middle_figures_go_first_then_support(width: int, columns: str) -> None:
    assert header(text("report", shop(), width=width)).split() == columns.split()


def test_the_text_is_cut_last_and_visibly() -> None:
    assert "search_orders repea…" in text("report", shop(), width=80)
    assert "search_orders repeated 4 times" in text("report", shop(), width=100)


def test_counts_are_those_of_the_trials() -> None:
    out = text("report", shop())
    assert out.startswith(
        "7 tasks · 27 of 28 trials · 13 passed · 10 failed (1 by infrastructure) · 4 unscored"
    )
    assert "missing: L1-003/3\n" in out
    assert "unscored: L1-099/0, L1-099/1, L1-099/2, L1-099/3\n" in out


def test_groups_add_up_to_the_number_of_tasks() -> None:
    out = text("report", shop())
    mixed = re.search(r"(\d+) of (\d+) tasks are mixed: (.*)", out)
    assert mixed is not None
    inside = re.sub(r"\(.*?\)", "", mixed[3])
    assert sum(int(number) for number in re.findall(r"\d+", inside)) == int(mixed[1]) == 4
    rest = out.splitlines()[next(i for i, found in enumerate(out.splitlines()) if "are mixed" in found) + 1]
    outside = rest.split(" · kinds")[0]
    assert int(mixed[1]) + sum(int(number) for number in re.findall(r"\d+", outside)) == int(mixed[2]) == 7


def test_always_passing_tasks_hide_behind_a_count() -> None:
    assert "L1-003 " not in text("report", shop())
    assert "1 task always passes (--all lists them)" in text("report", shop())
    assert "L1-003  ✓✓✓_" in text("report", shop(), show_all=True)
    assert "L1-003  ✓✓✓_" in text("report", shop(), choice=Choice(only="always_pass"))


def test_a_k_beyond_the_trials_is_not_available() -> None:
    out = text("report", shop(), k=(1, 5))
    assert "k=5: n/a (needs 5 trials, smallest n is 3)" in out
    assert re.search(r"pass\^k +0\.58 +n/a", out)


def test_a_report_without_counted_trials_says_so() -> None:
    out = text("report", bare())
    assert "no task has a counted trial: pass^k is n/a" in out
    assert "self-check: not possible (no task with two passed trials)" in out


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ("PPFF", "With 4 trials no split reaches a p below 0.33 (2 against 2)."),
        ("PPPF", "With 4 trials no split reaches a p below 0.25 (3 against 1)."),
        ("PPPPFFFF", "With 8 trials no split reaches a p below 0.029 (4 against 4)."),
        ("PF", "With 2 trials no split reaches a p below 1.00 (1 against 1)."),
    ],
)
def test_the_smallest_p_of_a_split(marks: str, words: str) -> None:
    """Two-sided Fisher: 2/C(4,2), 1/C(4,1), 2/C(8,4), 2/C(2,1)."""
    verdicts = {"P": Verdict.PASS, "F": Verdict.FAIL}
    made = lamp()
    rows = tuple(trial("L1-061", str(i), verdicts[mark]) for i, mark in enumerate(marks))
    out = text("report", report((replace(made, trials=rows),)), width=160)
    assert words in out


def test_choices_narrow_the_rows_and_no_figure() -> None:
    whole, part = text("report", shop()), text("report", shop(), choice=Choice(min_grade="B"))
    assert "L1-061" in part
    assert "L1-022" not in part
    assert "shown: 1 of 7 tasks (--min-grade B)" in part
    curve = re.compile(r"^pass.*$", re.M)
    assert curve.findall(whole) == curve.findall(part)
    assert [found for found in whole.splitlines() if "mixed" in found] == [
        found for found in part.splitlines() if "mixed" in found
    ]


@pytest.mark.parametrize(
    ("choice", "tasks"),
    [
        (Choice(tasks=("L1-022", "L1-061")), ["L1-061", "L1-022"]),
        (Choice(only="mixed"), ["L1-061", "L1-022", "L1-045", "L1-050"]),
        (Choice(only="never_pass"), ["L1-008"]),
        (Choice(kind="loop"), ["L1-008"]),
        (Choice(tool="check_permission"), ["L1-061"]),
        (Choice(actor="infrastructure"), ["L1-050"]),
        (Choice(min_grade="D"), ["L1-061", "L1-008"]),
        (Choice(stop="max_steps"), []),
        (Choice(only="mixed", limit=2), ["L1-061", "L1-022"]),
    ],
    ids=lambda value: " ".join(value.words) if isinstance(value, Choice) else None,
)
def test_each_condition_keeps_its_tasks(choice: Choice, tasks: list[str]) -> None:
    out = text("report", shop(), choice=choice, show_all=True)
    assert re.findall(r"^(L1-\d+) ", out, flags=re.M) == tasks


def test_a_task_says_where_to_look_in_its_first_lines() -> None:
    lines = text("task", shop()).splitlines()
    assert lines[0].startswith("L1-061  refund only the damaged lamp   ✓✗✓✗   pass^1 0.50")
    assert lines[2] == "◆ step 5  agent: check_permission missing · grade A · trials 1, 3"
    assert "missing in 2 of 2 failed, 0 of 2 passed (smallest p 0.33)" in lines[4]


def test_the_strip_marks_steps_against_the_reference() -> None:
    out = text("task", shop())
    strip = [found.split("  ") for found in out.splitlines() if re.match(r"^[✓✗] \d", found)]
    assert [row[0] for row in strip] == ["✓ 0 (×2)", "✗ 1", "✗ 3"]
    steps = [
        re.findall(r"[mrW·~+\-■]", "  ".join(row[1:]).split("variant")[0].replace("reference", ""))
        for row in strip
    ]
    assert steps[0] == list("mrrrrWm■")
    assert steps[1] == list("····-~~■")
    assert steps[2] == list("···~-~~■")


def test_folds_name_their_first_and_last_step() -> None:
    out = text("task", shop(), context=0)
    assert "4 steps match (user message … get_refund_policy)" in out
    assert "1 step matches (end: user_done)" in out
    assert "match" not in "".join(re.findall(r"^ .*", text("task", shop(), full=True), flags=re.M))


def test_a_whole_text_is_a_flag_away() -> None:
    short, whole = text("task", shop()), text("task", shop(), full=True)
    assert "(282 characters)" in short
    assert "characters)" not in whole
    words = " ".join(whole.split())
    assert "your card in a few days." in words


def test_layouts() -> None:
    assert "\nstep  ✓ trials 0, 2 (reference)" in text("task", shop(), width=100)
    assert "\nA  ✓ trials 0, 2 (reference)   B  ✗ trial 1\n" in text("task", shop(), width=99)
    assert "\nstep  ✓" in text("task", shop(), width=99, layout="side")
    assert "\nA  ✓" in text("task", shop(), width=160, layout="inline")


def test_columns_can_be_limited_to_some_trials() -> None:
    out = text("task", shop(), trials=("0", "3"))
    assert "✗ trial 3" in out
    assert "✗ trial 1" not in out
    assert "✗ 1 " not in out


def test_a_mark_tells_where_a_tool_failed_and_where_no_result_is() -> None:
    made = lamp()
    table = made.finding.table
    assert table is not None
    rows = list(table.rows)
    cells = [
        replace(cell, is_error=True, result="no such order")
        if cell.op is Op.CHANGED
        else replace(cell, result=None)
        for cell in rows[5].cells
    ]
    rows[5] = replace(rows[5], cells=tuple(cells))
    finding = replace(made.finding, table=replace(table, rows=tuple(rows)))
    out = text("task", report((replace(made, finding=finding),)))
    assert "→ ! no such order" in out
    assert "→ (no result recorded)" in out


def test_many_trials_are_counted_instead_of_drawn() -> None:
    made = lamp()
    rows = tuple(trial("L1-061", str(i), Verdict.PASS if i % 2 else Verdict.FAIL) for i in range(20))
    reliability = replace(made.reliability, n=20, c=10)
    out = text("report", report((replace(made, trials=rows, reliability=reliability),)))
    assert re.search(r"^L1-061  10/20 ", out, flags=re.M)


def test_two_trials_get_no_grade() -> None:
    out = text("trials", shop(), width=80)
    assert "grade" not in out
    assert "4 of 8 steps differ: 1 missing in B, 3 changed." in out
    assert "trajdiff compare task L1-061 uses all 4." in " ".join(out.split())


def test_ranks_follow_disagreement() -> None:
    out = text("unstable", shop())
    assert re.findall(r"^ +(\d) +(\S+)", out, flags=re.M) == [
        ("1", "L1-061"),
        ("2", "L1-045"),
        ("3", "L1-022"),
        ("4", "L1-050"),
    ]


def test_a_row_is_a_line_unless_too_little_of_its_text_would_be_left() -> None:
    columns = [
        Column(header="a"),
        Column(header="b", drop=1),
        Column(header="c", wants=24),
        Column(header="d", drop=2),
    ]
    rows = [[line("x" * 10), line("y" * 10), line("z" * 30), line("w" * 5)]] * 3
    for width in range(20, 80):
        lines = [plain(content) for content in layout(columns, rows, width=width, ellipsis="…")]
        assert all(len(content) <= width for content in lines)
        if width >= 10 + 2 + 24:  # the text keeps 24 cells beside the first column
            assert len(lines) == 4
        else:
            assert len(lines) > 4
            assert "".join("".join(lines).split()).count("z" * 30) == 3, "nothing of it is cut"
    kept = [plain(layout(columns, rows, width=width, ellipsis="…")[0]).split() for width in (70, 43, 36)]
    assert kept == [["a", "b", "c", "d"], ["a", "c", "d"], ["a", "c"]]


def test_findings_are_whole_on_a_narrow_screen() -> None:
    out = text("report", shop(), width=50)
    assert "  never passes; agent: search_orders repeated 4\n    times\n" in out
    assert all(len(part) <= 50 for part in out.splitlines())


def test_support_is_explained_only_where_it_is_a_column() -> None:
    for width in (60, 80, 100, 120):
        out = text("report", shop(), width=width)
        assert ("support" in header(out)) == ("support: failed trials with it" in out)


def test_no_figure_of_the_curve_is_cut_where_it_fits_exactly() -> None:
    found = [
        part
        for width in range(30, 90)
        for part in text("report", shop(), width=width).splitlines()
        if part.startswith(("         k=", "pass^k ", "pass@k "))
    ]
    assert len(found) == 3 * 60
    assert not [part for part in found if "…" in part]


@pytest.mark.parametrize("width", range(4, 40))
def test_wrapping_loses_no_word(width: int) -> None:
    words = "a few words and 退款退款退款退款退款 averyveryverylongwordindeed end"
    lines = wrap(words, width, first="* ", rest="  ")
    assert all(width_of(line(part)) <= width for part in lines)
    assert "".join(words.split()) == "".join("".join(lines)[2:].split())


def test_a_cut_line_ends_with_its_mark() -> None:
    assert plain(fit(line("abc", "defgh"), 6, "…")) == "abcde…"
    assert plain(fit(line("abc", "def"), 6, "…")) == "abcdef"


def test_a_borrowed_reference_is_called_expected_and_separates_nothing() -> None:
    made = lamp()
    lead = replace(
        made.finding.divergences[0],
        grade=Grade.C,
        support=Support(failed_with=2, failed=2, passed_with=0, passed=0, smallest_p=None),
        manifest_sides=(
            Side(trial_id="expected actions", text="refund_item(amount=49.9) → ", message=None),
            Side(trial_id="1", text="refund_item(amount=99.8) → ok", message=4),
        ),
    )
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    out = text("task", report((replace(made, finding=finding),)), width=80)
    assert "expected: refund_item(amount=49.9)\n" in out
    assert "failed: refund_item(amount=99.8) → ok" in out
    assert "separates outcomes" not in out
    assert "support              missing in 2 of 2 failed, no passed trial" in out


def test_every_claim_shows_the_step_it_is_about() -> None:
    made = lamp()
    lead = replace(made.finding.divergences[0], kind=Kind.EXTRA_WRITE, passed_manifest=None)
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    out = text("task", report((replace(made, finding=finding),)), width=120)
    assert re.search(r"^◆ step 6 ", out, flags=re.M)
    assert 'the step             check_permission(order_id="A1001") in passed' in out
