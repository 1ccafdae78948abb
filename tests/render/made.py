"""Reports made by hand, so that renderers are tested without reading or analysing anything.

``shop`` has every finding once, with figures that can be checked by hand; ``hostile`` puts into every text what
a log may hold to do harm; ``bare`` has nothing that is optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.divergence.finding import (
    Blame,
    Divergence,
    FindingKind,
    FirstDifference,
    Grade,
    Kind,
    Reason,
    Recovered,
    SelfCheck,
    Side,
    StepRef,
    Support,
    TaskFinding,
    ToolEffect,
    ValueOrigin,
    Variant,
)
from trajdiff.model import Diagnostic, InputFile, Severity, Verdict
from trajdiff.reliability.estimators import SuiteReliability, TaskReliability
from trajdiff.report import FORMAT_VERSION, Recurring, Report, TaskReport, TrialRow

FILE = "runs/shop.json"
_VERDICTS = {"P": Verdict.PASS, "F": Verdict.FAIL, "I": Verdict.INFRA, "?": Verdict.UNSCORED}


def hat(n: int, c: int, k: int) -> Fraction:
    """pass^k, written down again from the formula."""
    return Fraction(comb(c, k), comb(n, k))


def at(n: int, c: int, k: int) -> Fraction:
    """pass@k, written down again from the formula."""
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def trial(
    task_id: str, trial_id: str, verdict: Verdict | None, variant: int | None = 1, **more: object
) -> TrialRow:
    values: dict[str, object] = {
        "task_id": task_id,
        "trial_id": trial_id,
        "verdict": verdict,
        "reward": {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}.get(verdict) if verdict is not None else None,
        "verdict_rule": "reward = 1",
        "verdict_raw": None,
        "termination": "user_done",
        "termination_raw": None,
        "producer_id": None,
        "steps": 7,
        "tool_calls": 4,
        "errors": 0,
        "tokens": 1200,
        "cost": 0.25,
        "duration": 31.5,
        "variant": variant,
        "ref": f"{FILE}#{task_id}/{trial_id}",
        "path": FILE,
        "pointer": f"$.simulations[{trial_id}]",
        "comparable": True,
        **more,
    }
    return TrialRow(**values)  # type: ignore[arg-type]


def figures(task_id: str, marks: str, missing: tuple[str, ...] = ()) -> TaskReliability:
    """The reliability row of trials written as ``PFP?``; infrastructure counts as failure."""
    c, n = marks.count("P"), len(marks) - marks.count("?")
    named = {mark: tuple(str(i) for i, found in enumerate(marks) if found == mark) for mark in "I?"}
    pairs = comb(n, 2)
    return TaskReliability(
        task_id=task_id,
        n=n,
        c=c,
        expected=len(marks) + len(missing),
        completed=len(marks),
        infra=named["I"],
        unscored=named["?"],
        missing=missing,
        pass_hat_k=tuple(float(hat(n, c, k)) for k in range(1, n + 1)),
        pass_at_k=tuple(float(at(n, c, k)) for k in range(1, n + 1)),
        disagreement=c * (n - c) / pairs if pairs else None,
    )


def task(
    task_id: str,
    marks: str,
    finding: TaskFinding,
    *,
    title: str | None = None,
    missing: tuple[str, ...] = (),
    variants: Sequence[int] = (),
) -> TaskReport:
    trials = tuple(
        trial(task_id, str(i), _VERDICTS[mark], variants[i] if variants else 1) for i, mark in enumerate(marks)
    )
    return TaskReport(
        task_id=task_id,
        title=title,
        suite="shop",
        trials=trials,
        missing=missing,
        reliability=figures(task_id, marks, missing),
        finding=finding,
    )


def means(counts: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """pass^k over tasks given as (n, c), up to the smallest n."""
    least = min((n for n, _ in counts), default=0)
    return tuple(float(sum(hat(n, c, k) for n, c in counts) / len(counts)) for k in range(1, least + 1))


def _open(row: TaskReliability) -> int:
    return len(row.infra) + len(row.unscored) + len(row.missing)


def suite(tasks: Sequence[TaskReport]) -> SuiteReliability:
    rows = [task.reliability for task in tasks]
    used = [row for row in rows if row.n]
    least = min((row.n for row in used), default=0)

    def mean(curve: str) -> tuple[float, ...]:
        picked = hat if curve == "hat" else at
        return tuple(float(sum(picked(r.n, r.c, k) for r in used) / len(used)) for k in range(1, least + 1))

    def names(part: str) -> tuple[str, ...]:
        return tuple(f"{row.task_id}/{trial}" for row in rows for trial in getattr(row, part))

    without = [(row.n - len(row.infra), row.c) for row in used if row.n > len(row.infra)]
    shortest = min((n for n, _ in without), default=0)
    counted, passed = sum(row.n for row in rows), sum(row.c for row in rows)
    return SuiteReliability(
        tasks=len(rows),
        expected=sum(row.expected or 0 for row in rows),
        completed=sum(row.completed for row in rows),
        counted=counted,
        passed=passed,
        failed=counted - passed,
        infra=names("infra"),
        unscored=names("unscored"),
        missing=names("missing"),
        no_trials=tuple(row.task_id for row in rows if not row.n),
        pass_hat_k=mean("hat"),
        pass_at_k=mean("at"),
        micro=passed / counted if counted else None,
        always=sum(row.c == row.n for row in used),
        sometimes=sum(0 < row.c < row.n for row in used),
        never=sum(row.c == 0 for row in used),
        n_min=least,
        n_max=max((row.n for row in used), default=0),
        infra_policy="fail",
        unscored_policy="exclude",
        pass_hat_k_excluded=means(without),
        pass_hat_k_best=means([(row.expected or 0, row.c + _open(row)) for row in rows]),
        pass_hat_k_worst=means([(row.expected or 0, row.c) for row in rows]),
        excluded_shortest=tuple(row.task_id for row in used if row.n - len(row.infra) == shortest),
        excluded_n_min=shortest,
    )


def report(tasks: Sequence[TaskReport], **more: object) -> Report:
    values: dict[str, object] = {
        "format_version": FORMAT_VERSION,
        "tool_version": "0.1.0",
        "name": None,
        "inputs": (InputFile(path=FILE, format="tau2 results", sha256="ab" * 32, tasks=len(tasks), trials=28),),
        "settings": {"infra": "fail", "unscored": "exclude"},
        "suite": suite(tasks),
        "tasks": tuple(tasks),
        "self_check": SelfCheck(false_alarms=0, passing_trials=11),
        "recurring": (),
        "tools": (
            ToolEffect(tool="check_permission", effect="read", rule="settings", calls=2, errors=0),
            ToolEffect(tool="refund_item", effect="write", rule="name", calls=4, errors=1),
        ),
        "diagnostics": (),
        "method": ("pass^k = C(c,k)/C(n,k)",),
        **more,
    }
    return Report(**values)  # type: ignore[arg-type]


def step(trial_id: str, index: int, message: int | None = None) -> StepRef:
    return StepRef(
        trial_id=trial_id,
        step=index,
        message=message if message is not None else index,
        pointer=f"$.simulations[{trial_id}].messages[{index}]",
        path=FILE,
    )


def call(
    trial_id: str, op: Op, at: int, tool: str, result: str, *, effect: str = "read", **arguments: str
) -> Cell:
    return Cell(
        trial_id=trial_id,
        op=op,
        step=at,
        actor="agent",
        kind="tool_call",
        tool=tool,
        effect=effect,
        arguments=tuple(arguments.items()),
        changed=tuple(arguments)[-1:] if op is Op.CHANGED else (),
        result=result,
        message_index=at,
        pointer=f"$.simulations[{trial_id}].messages[{at}]",
    )


def said(trial_id: str, op: Op, at: int, text: str, actor: str = "agent") -> Cell:
    return Cell(
        trial_id=trial_id,
        op=op,
        step=at,
        actor=actor,
        kind="message",
        text=text,
        message_index=at,
        pointer=f"$.simulations[{trial_id}].messages[{at}]",
    )


def ended(trial_id: str, op: Op, at: int) -> Cell:
    return Cell(trial_id=trial_id, op=op, step=at, actor="system", kind="termination", text="user_done")


LONG = "I have refunded {0} for the damaged lamp, and the money will be on your card in a few days. " * 3


def lamp_table() -> AlignedTable:
    """Eight steps: trials 0 and 2 pass on one path, 1 and 3 skip the check, 3 looks up another category."""

    def four(number: int, label: str, *cells: Cell) -> Row:
        return Row(number=number, label=label, cells=cells)

    def same(number: int, label: str, tool: str, result: str, **arguments: str) -> Row:
        ops = (("0", Op.REFERENCE), ("2", Op.SAME), ("1", Op.SAME), ("3", Op.SAME))
        return four(number, label, *(call(t, op, number - 1, tool, result, **arguments) for t, op in ops))

    category = call("3", Op.CHANGED, 3, "get_refund_policy", "30 days", category='"lamp"')
    return AlignedTable(
        columns=("0", "2", "1", "3"),
        reference="0",
        rows=(
            four(
                1,
                "user message",
                said("0", Op.REFERENCE, 0, "My lamp came broken.", "user"),
                *(said(t, Op.SAME, 0, "One lamp is broken.", "user") for t in ("2", "1", "3")),
            ),
            same(2, "search_orders", "search_orders", "A1001", email='"mia@example.com"'),
            same(3, "get_order", "get_order", '{"total": 99.80}', order_id='"A1001"'),
            four(
                4,
                "get_refund_policy",
                call("0", Op.REFERENCE, 3, "get_refund_policy", "30 days", category='"lighting"'),
                *(
                    call(t, Op.SAME, 3, "get_refund_policy", "30 days", category='"lighting"')
                    for t in ("2", "1")
                ),
                category,
            ),
            four(
                5,
                "check_permission",
                *(
                    call(t, op, 4, "check_permission", '{"allowed": true, "max": 49.90}', order_id='"A1001"')
                    for t, op in (("0", Op.REFERENCE), ("2", Op.SAME))
                ),
                Cell(trial_id="1", op=Op.MISSING),
                Cell(trial_id="3", op=Op.MISSING),
            ),
            four(
                6,
                "refund_item",
                *(
                    call(t, op, at, "refund_item", "ok", effect="write", item_id='"LAMP-2"', amount=amount)
                    for t, op, at, amount in (
                        ("0", Op.REFERENCE, 5, "49.9"),
                        ("2", Op.SAME, 5, "49.9"),
                        ("1", Op.CHANGED, 4, "99.8"),
                        ("3", Op.CHANGED, 4, "99.8"),
                    )
                ),
            ),
            four(
                7,
                "agent message",
                said("0", Op.REFERENCE, 6, LONG.format("49.90")),
                said("2", Op.SAME, 6, LONG.format("49.90")),
                said("1", Op.CHANGED, 5, LONG.format("99.80")),
                said("3", Op.CHANGED, 5, "Done."),
            ),
            four(
                8,
                "end",
                ended("0", Op.REFERENCE, 7),
                ended("2", Op.SAME, 7),
                ended("1", Op.SAME, 6),
                ended("3", Op.SAME, 6),
            ),
        ),
    )


def lamp_divergence(trial_id: str) -> Divergence:
    first, argument = (step("3", 3), "category") if trial_id == "3" else (step("1", 4), "amount")
    return Divergence(
        task_id="L1-061",
        trial_id=trial_id,
        abstained=False,
        kind=Kind.MISSING_STEP,
        actor=Blame.AGENT,
        grade=Grade.A,
        tool="check_permission",
        headline="check_permission missing",
        sentence="Failed trials call refund_item without check_permission; passed trials check first.",
        root=step(trial_id, 4),
        manifest=step(trial_id, 4),
        passed_root=step("0", 4),
        passed_manifest=step("0", 5),
        root_sides=(Side(trial_id="0", text='check_permission(order_id="A1001")', message=4),),
        manifest_sides=(
            Side(trial_id="0", text="refund_item(amount=49.9) → ok", message=5),
            Side(trial_id=trial_id, text="refund_item(amount=99.8) → ok", message=4),
        ),
        support=Support(failed_with=2, failed=2, passed_with=0, passed=2, smallest_p=1 / 3),
        provenance=ValueOrigin(value="99.8", origin="tool_result", tool="get_order", message=2, path="total"),
        evidence=("all 2 passed trials call check_permission before refund_item",),
        recovered=(
            Recovered(text="another category", opened_at=step("3", 3), closed_at=None, closed_by="same result"),
        )
        if trial_id == "3"
        else (),
        first_difference=FirstDifference(
            trial_id=trial_id,
            step=first,
            kind="wrong_argument",
            text=f"other arguments ({argument})",
            recovered=trial_id == "3",
        ),
        group=("1", "3"),
        identity="L1-061|missing_step|check_permission",
        row_id=f"d-00000000{trial_id}",
    )


def silent(task_id: str, trial_id: str, reason: Reason, sentence: str, **more: object) -> Divergence:
    return Divergence(
        task_id=task_id,
        trial_id=trial_id,
        abstained=True,
        reason=reason,
        sentence=sentence,
        row_id=f"d-{task_id}-{trial_id}",
        **more,  # type: ignore[arg-type]
    )


def lamp() -> TaskReport:
    finding = TaskFinding(
        task_id="L1-061",
        kind=FindingKind.DIVERGENCE,
        text="check_permission missing",
        divergences=(lamp_divergence("1"), lamp_divergence("3")),
        lead=lamp_divergence("1"),
        reference="0",
        variants=(Variant(trials=("0", "2")), Variant(trials=("1",)), Variant(trials=("3",))),
        table=lamp_table(),
    )
    return task("L1-061", "PFPF", finding, title="refund only the damaged lamp", variants=(1, 2, 1, 3))


def quiet_finding(
    task_id: str, kind: FindingKind, text: str, *found: Divergence, **more: object
) -> TaskFinding:
    return TaskFinding(task_id=task_id, kind=kind, text=text, divergences=found, **more)  # type: ignore[arg-type]


def shop() -> Report:
    """Seven tasks, every finding once: 28 trials expected, 27 there, of which 13 passed, 9 failed, 1 was ended
    by infrastructure and 4 are unscored."""
    loop = Divergence(
        task_id="L1-008",
        trial_id="0",
        abstained=False,
        kind=Kind.LOOP,
        actor=Blame.AGENT,
        grade=Grade.D,
        tool="search_orders",
        headline="search_orders repeated 4 times",
        sentence="search_orders is repeated 4 times with the same arguments and the same result.",
        root=step("0", 2),
        manifest=step("0", 2),
        group=("0", "1", "2", "3"),
        row_id="d-loop",
    )
    cut = Divergence(
        task_id="L1-050",
        trial_id="3",
        abstained=True,
        reason=Reason.INFRASTRUCTURE,
        kind=Kind.INFRASTRUCTURE,
        actor=Blame.INFRASTRUCTURE,
        headline="trial 3 timed out",
        sentence="Trial 3 ended by time-out after step 6.",
        root=step("3", 6),
        row_id="d-infra",
    )
    same = silent("L1-022", "2", Reason.SAME_PATH, "All 4 trials make the same 9 calls; trial 2 failed.")
    none = silent("L1-045", "0", Reason.NO_SEPARATING_STEP, "3 differences found; passed trials show them too.")
    none_too = silent(
        "L1-045", "3", Reason.NO_SEPARATING_STEP, "3 differences found; passed trials show them too."
    )
    tasks = (
        lamp(),
        task(
            "L1-022",
            "PPFP",
            quiet_finding("L1-022", FindingKind.SAME_PATH, "same path, different outcome", same),
        ),
        task(
            "L1-045",
            "FPPF",
            quiet_finding("L1-045", FindingKind.ABSTAINED, "abstained: no step separates them", none, none_too),
        ),
        task("L1-050", "PPPI", quiet_finding("L1-050", FindingKind.INFRASTRUCTURE, "trial 3 timed out", cut)),
        task(
            "L1-008", "FFFF", quiet_finding("L1-008", FindingKind.NEVER_PASS, "never passes", loop, lead=loop)
        ),
        task("L1-099", "????", quiet_finding("L1-099", FindingKind.NOT_COMPARED, "not compared: no verdict")),
        task(
            "L1-003", "PPP", quiet_finding("L1-003", FindingKind.ALWAYS_PASS, "always passes"), missing=("3",)
        ),
    )
    return report(
        tasks,
        recurring=(
            Recurring(
                headline="check_permission missing",
                kind="missing_step",
                actor="agent",
                tool="check_permission",
                trials=("L1-061/1", "L1-061/3"),
                tasks=("L1-061",),
            ),
        ),
        diagnostics=(
            Diagnostic(
                severity=Severity.WARNING,
                slug="no_outcome",
                message='trial 0 of task "L1-099" has no outcome',
                path=FILE,
                pointer="$.simulations[9].reward",
                details=("it is listed and not counted in pass^k",),
                task_id="L1-099",
                trial_id="0",
            ),
        ),
    )


#: What a log may hold to do harm: clears a screen, sets a title, reverses text, breaks tables and Markdown.
EVIL = "\x1b[2Jx\x1b]0;owned\x07\u202e\x9b31m\ud83d\x00\x7f|`a`<script>@everyone\r\nnext\ttab"


def hostile() -> Report:
    """One task whose ids, titles, tools, arguments, results and messages are all hostile."""
    cells = [
        [
            Cell(
                trial_id=name,
                op=op,
                step=0,
                actor="agent" + EVIL,
                kind="tool_call",
                tool=EVIL,
                arguments=(("=cmd" + EVIL, '"=1+1' + EVIL + '"'),),
                result="=HYPERLINK()" + EVIL,
                pointer=EVIL,
                message_index=0,
            )
            for name, op in (("=0" + EVIL, Op.REFERENCE), ("1" + EVIL, Op.CHANGED))
        ],
        [
            Cell(trial_id=name, op=op, step=1, actor="user", kind="message", text="@x =1 " + EVIL, pointer="$")
            for name, op in (("=0" + EVIL, Op.REFERENCE), ("1" + EVIL, Op.CHANGED))
        ],
    ]
    table = AlignedTable(
        columns=("=0" + EVIL, "1" + EVIL),
        reference="=0" + EVIL,
        rows=tuple(Row(number=i, label=EVIL, cells=tuple(row)) for i, row in enumerate(cells, 1)),
    )

    def place(name: str) -> StepRef:
        return StepRef(trial_id=name + EVIL, step=0, message=0, pointer="$" + EVIL, path="=p" + EVIL)

    found = Divergence(
        task_id="=T" + EVIL,
        trial_id="1" + EVIL,
        abstained=False,
        kind=Kind.WRONG_ARGUMENT,
        actor=Blame.AGENT,
        grade=Grade.B,
        tool=EVIL,
        argument=EVIL,
        headline="+head " + EVIL,
        sentence="-sentence " + EVIL,
        root=place("1"),
        manifest=place("1"),
        passed_root=place("=0"),
        root_sides=(Side(trial_id="1" + EVIL, text=EVIL, message=0),),
        manifest_sides=(Side(trial_id="1" + EVIL, text=EVIL, message=0),),
        support=Support(failed_with=1, failed=1, passed_with=0, passed=1, smallest_p=1.0),
        provenance=ValueOrigin(value=EVIL, origin="user_message", message=0, path=EVIL),
        evidence=(EVIL,),
        recovered=(Recovered(text=EVIL, opened_at=place("1"), closed_at=None, closed_by=EVIL),),
        first_difference=FirstDifference(trial_id="1", step=place("1"), kind=EVIL, text=EVIL, recovered=False),
        group=("1" + EVIL,),
        identity=EVIL,
        row_id="@row" + EVIL,
    )
    finding = TaskFinding(
        task_id="=T" + EVIL,
        kind=FindingKind.DIVERGENCE,
        text=EVIL,
        divergences=(found,),
        lead=found,
        reference="=0" + EVIL,
        variants=(Variant(trials=("=0" + EVIL,)), Variant(trials=("1" + EVIL,))),
        table=table,
        notes=(EVIL,),
    )
    trials = tuple(
        trial(
            "=T" + EVIL,
            name,
            verdict,
            ref="=r" + EVIL,
            path="=p" + EVIL,
            pointer="$" + EVIL,
            verdict_rule=EVIL,
            verdict_raw={"k" + EVIL: [EVIL, float("nan")]},
            producer_id="=id" + EVIL,
            termination_raw=EVIL,
            error=EVIL,
        )
        for name, verdict in (("=0" + EVIL, Verdict.PASS), ("1" + EVIL, Verdict.FAIL))
    )
    evil = TaskReport(
        task_id="=T" + EVIL,
        title=EVIL,
        suite=EVIL,
        trials=trials,
        missing=(),
        reliability=figures("=T" + EVIL, "PF"),
        finding=finding,
    )
    return report(
        (evil,),
        name="=name" + EVIL,
        inputs=(InputFile(path="=p" + EVIL, format=EVIL, sha256="", tasks=1, trials=2),),
        tools=(ToolEffect(tool=EVIL, effect="unknown", rule=EVIL, calls=1, errors=0),),
        recurring=(
            Recurring(
                headline=EVIL, kind="wrong_argument", actor="agent", tool=EVIL, trials=(EVIL,), tasks=(EVIL,)
            ),
        ),
        diagnostics=(
            Diagnostic(severity=Severity.ERROR, slug="x", message=EVIL, path="q" + EVIL, pointer=EVIL),
        ),
        method=(EVIL,),
    )


def bare() -> Report:
    """One task, one unscored trial, nothing known about it; the reward is not a number."""
    row = trial(
        "t", "0", Verdict.UNSCORED, None, reward=float("nan"), tokens=None, cost=float("inf"), duration=None
    )
    only = TaskReport(
        task_id="t",
        title=None,
        suite=None,
        trials=(row,),
        missing=(),
        reliability=figures("t", "?"),
        finding=TaskFinding(task_id="t", kind=FindingKind.NOT_COMPARED, text=""),
    )
    return report(
        (only,), inputs=(), tools=(), method=(), self_check=SelfCheck(false_alarms=0, passing_trials=0)
    )
