"""Text and JSON of ``benchmark`` (divergences against labels) and ``selfcheck`` (false alarms on passes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajdiff.render.json_text import to_json
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.divergence.finding import SelfCheck
    from trajdiff.localization import Measured, Score

_COLUMNS = ("exact", "acceptable", "near", "kind", "actor")
_HEAD = f"{'':<34}{'n':>5}" + "".join(f"{name:>11}" for name in ("exact", "accept.", "±3"))
_LEGEND = (
    "exact: the root is a message labelled critical; accept.: critical or acceptable;",
    "±3: at most three messages from a critical one",
)
_NAMED = 5


def benchmark_text(measured: Measured) -> str:
    """The figures as lines: all labels, by grade, by group, and the rules of thumb beside them."""
    whole = measured.overall
    lines = [f"{plural(whole.n, 'labelled failing trial')}, {whole.abstained} abstained", _HEAD]
    lines.append(_row("divergences", whole))
    lines += [_row(f"grade {grade}", score, "  ") for grade, score in measured.by_grade.items()]
    lines += [_row(group, score, "  ") for group, score in measured.by_group.items()]
    lines += ["rules of thumb", *(_row(rule, score, "  ") for rule, score in measured.rules.items())]
    lines.append(f"kind right {_share(whole.kind, whole.n)} · actor right {_share(whole.actor, whole.n)}")
    lines += _LEGEND
    if measured.unmatched:
        named = ", ".join(one_line(name) for name in measured.unmatched[:_NAMED])
        more = f" and {len(measured.unmatched) - _NAMED} more" if len(measured.unmatched) > _NAMED else ""
        lines.append(f"{plural(len(measured.unmatched), 'label')} without a failing trial: {named}{more}")
    return "\n".join(lines) + "\n"


def benchmark_json(measured: Measured) -> str:
    """The same figures as one JSON object."""
    return to_json(
        {
            "schema": "trajdiff.benchmark/1",
            "overall": _object(measured.overall),
            "by_grade": {grade: _object(score) for grade, score in measured.by_grade.items()},
            "by_group": {group: _object(score) for group, score in measured.by_group.items()},
            "rules_of_thumb": {
                rule: _object(score, ("exact", "acceptable", "near")) for rule, score in measured.rules.items()
            },
            "unmatched": list(measured.unmatched),
        }
    )


def selfcheck_text(check: SelfCheck, levels: tuple[str, ...]) -> str:
    """How often a passing trial is accused when it is treated as if it had failed, and which ones are."""
    if not check.passing_trials:
        return "self-check: not possible, no task has two passing trials with steps\n"
    share = check.false_alarms / check.passing_trials
    alarms, trials = plural(check.false_alarms, "false alarm"), plural(check.passing_trials, "passing trial")
    lines = [
        f"self-check: {alarms} in {trials} ({share:.1%})",
        "each passing trial of a task with two or more passes, treated as if it had failed",
        f"levels used: {', '.join(('writes', *levels))}",
    ]
    lines += [f"  accused: {one_line(name)}" for name in check.alarms]
    return "\n".join(lines) + "\n"


def selfcheck_json(check: SelfCheck, levels: tuple[str, ...]) -> str:
    """The same as one JSON object."""
    return to_json(
        {
            "schema": "trajdiff.selfcheck/1",
            "false_alarms": check.false_alarms,
            "passing_trials": check.passing_trials,
            "alarms": list(check.alarms),
            "levels": ["writes", *levels],
        }
    )


def _row(name: str, score: Score, indent: str = "") -> str:
    cells = "".join(f"{_rate(getattr(score, column), score.n):>11}" for column in _COLUMNS[:3])
    return f"{indent + one_line(name):<34}{score.n:>5}{cells}"


def _rate(hits: float, n: int) -> str:
    return f"{hits / n:.2f}" if n else "n/a"


def _share(hits: int, n: int) -> str:
    return f"{hits} of {n} ({_rate(hits, n)})"


def _object(score: Score, columns: tuple[str, ...] = _COLUMNS) -> dict[str, Any]:
    counts = {column: getattr(score, column) for column in columns}
    rates = {f"{name}_rate": (hits / score.n if score.n else None) for name, hits in counts.items()}
    return {"n": score.n, "abstained": score.abstained, **counts, **rates}
