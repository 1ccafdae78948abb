"""An intervention as text and as JSON. Only here an outcome may be said to have changed, with its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.intervention.outcome import ArmResult, Conclusion, Effect, Outcome, to_record
from trajdiff.render.json_text import to_json
from trajdiff.render.lines import Line, Span, line, paint, wrap
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Tested
    from trajdiff.render.marks import Marks
    from trajdiff.render.view import View

_LABEL = 20


def tested_words(tested: Tested, marks: Marks) -> str:
    """One line to stand beside a divergence: ``pinning NAME: failures 9/16 → 1/16``, p, placebo, strength."""
    label, conclusion = one_line(tested.label), Conclusion(tested.conclusion)
    if conclusion is Conclusion.NOT_REACHED:
        return f"pinning {label}: the place was never reached in {plural(tested.pinned_trials, 'trial')}"
    before = f"{tested.control_failures}/{tested.control_trials}"
    parts = [f"pinning {label}: failures {before} → {tested.pinned_failures}/{tested.pinned_trials}"]
    if tested.p is not None:
        parts.append(f"p {_p(tested.p)}")
    if tested.placebo_failures is not None:
        parts.append(f"placebo {tested.placebo_failures}/{tested.placebo_trials}")
    return marks.words(f"{', '.join(parts)} ({_SHORT[conclusion]})")


_SHORT = {
    Conclusion.NOT_REACHED: "never reached",
    Conclusion.NOTHING_COUNTED: "nothing counted",
    Conclusion.NO_FAILURES: "no failures to begin with",
    Conclusion.NOT_SHOWN: "no change shown",
    Conclusion.FEWER: "fewer failures",
    Conclusion.FEWER_WITH_PLACEBO: "fewer failures, with the placebo too",
    Conclusion.MORE: "more failures",
}


def outcome_text(outcomes: Sequence[Outcome], view: View) -> str:
    """Each intervention: what was held fixed, the arms, the differences, the budget, what follows."""
    lines: list[Line] = []
    for number, outcome in enumerate(outcomes):
        lines += [()] if number else []
        lines += _outcome_lines(outcome, view)
    return paint(lines, color=view.color)


def _outcome_lines(outcome: Outcome, view: View) -> list[Line]:
    head = f"  {tested_words(outcome.note(), view.marks)}"
    lines: list[Line] = [line(Span(one_line(outcome.task_id), "heading"), head), ()]
    where = f" ({one_line(outcome.ref)})" if outcome.ref else ""
    lines += _fact("held fixed", f"{one_line(outcome.text)}{where}", view)
    if outcome.placebo:
        lines += _fact("placebo", one_line(outcome.placebo), view)
    lines += [(), *_arm_lines(outcome.arms), ()]
    for effect in outcome.effects:
        lines += _fact(f"control - {effect.arm}", effect_words(effect), view)
    lines += _fact("budget", _budget(outcome.arms), view)
    lines += [(), *(line(part) for part in wrap(view.marks.words(conclusion_words(outcome)), view.width))]
    return lines


def _fact(label: str, text: str, view: View) -> list[Line]:
    parts = wrap(view.marks.words(text), view.width - _LABEL) or [""]
    return [line(Span(f"{label if at == 0 else '':<{_LABEL}}", "muted"), part) for at, part in enumerate(parts)]


def _arm_lines(arms: Sequence[ArmResult]) -> list[Line]:
    rows = [("arm", "trials", "failures", "not judged", "pin took effect in")]
    for arm in arms:
        rate = f"{arm.failures} ({arm.failures / arm.trials:.2f})" if arm.trials else "0"
        rows.append((arm.name, str(arm.trials), rate, str(arm.left_out), _fired(arm)))
    sizes = [max(len(row[at]) for row in rows) for at in range(5)]
    made = []
    for number, row in enumerate(rows):
        cells = [f"{row[0]:<{sizes[0]}}", *(f"{row[at]:>{sizes[at]}}" for at in (1, 2, 3)), row[4]]
        made.append(line(Span("  ".join(cells).rstrip(), "muted" if number == 0 else "")))
    return made


def _fired(arm: ArmResult) -> str:
    if arm.name == "control":
        return "-"
    if arm.fired is None:
        return "not recorded"
    total = arm.trials + arm.left_out
    more = []
    if arm.needless:
        more.append(f"in {arm.needless} the agent took the step itself")
    if arm.blocked:
        more.append(f"in {arm.blocked} it could not")
    return f"{arm.fired} of {total}" + (f"; {', '.join(more)}" if more else "")


def effect_words(effect: Effect) -> str:
    """The difference with its interval, the pairs behind it and the exact p."""
    text = f"{effect.difference:+.2f} (95 % {effect.low:.2f} to {effect.high:.2f}), "
    if effect.pairs:
        text += (
            f"{plural(effect.pairs, 'pair')} of equal seed: {effect.only_control} failed in control only,"
            f" {effect.only_arm} in {effect.arm} only, exact McNemar p {_p(effect.p)}"
        )
    else:
        text += f"not paired (no seeds that pair the trials), exact Fisher p {_p(effect.p)}"
    return text


def _budget(arms: Sequence[ArmResult]) -> str:
    trials = sum(arm.trials + arm.left_out for arm in arms)
    parts = [plural(trials, "trial"), plural(sum(arm.calls for arm in arms), "tool call")]
    seconds = [arm.seconds for arm in arms if arm.seconds is not None]
    tokens = [arm.tokens for arm in arms if arm.tokens is not None]
    costs = [arm.cost_usd for arm in arms if arm.cost_usd is not None]
    parts.append(f"{sum(seconds):.1f} s of the agent" if seconds else "time not recorded")
    parts.append(f"{sum(tokens)} tokens" if tokens else "tokens not recorded")
    parts.append(f"{sum(costs):.2f} USD" if costs else "cost not recorded")
    return ", ".join(parts)


def conclusion_words(outcome: Outcome) -> str:
    """What follows, by strength; never more than the counts say."""
    control, pinned, placebo = (outcome.arm(name) for name in ("control", "pinned", "placebo"))
    if control is None or pinned is None:
        return "Nothing was compared."
    counts = f"{control.failures} of {control.trials} trials failed without the pin, {pinned.failures} of"
    counts += f" {pinned.trials} with it"
    effect = outcome.effect("pinned")
    match outcome.conclusion:
        case Conclusion.NOT_REACHED:
            total = plural(pinned.trials + pinned.left_out, "trial")
            return f"The pin never took effect in {total}: the step was not tested."
        case Conclusion.NOTHING_COUNTED:
            return "No trials were judged on both sides: nothing was compared."
        case Conclusion.NO_FAILURES:
            return f"Nothing to recover: {counts}. The failures that were recorded did not come back."
        case Conclusion.MORE:
            return f"With the step held fixed more trials failed: {counts}."
        case Conclusion.NOT_SHOWN:
            words = f"No change was shown: {counts}."
            if effect is not None and effect.attainable > 0.05:
                differ = effect.only_control + effect.only_arm
                why = (
                    f"only {plural(differ, 'pair')} {'differs' if differ == 1 else 'differ'}"
                    if effect.pairs
                    else "there are too few trials"
                )
                words += f" {why[:1].upper()}{why[1:]}, so no p below {_p(effect.attainable)} could be reached;"
                words += " more trials may help."
            return words
        case Conclusion.FEWER_WITH_PLACEBO:
            return (
                f"Fewer trials failed with the step held fixed ({counts}), but also with the unrelated step"
                " held fixed: this may be an effect of pinning as such."
            )
        case Conclusion.FEWER:
            beside = "no placebo was run"
            if placebo is not None:
                beside = f"with an unrelated step held fixed {placebo.failures} of {placebo.trials} failed"
            return f"The outcome changed with this step held fixed: {counts}; {beside}."


def outcome_json(outcomes: Sequence[Outcome]) -> str:
    """The interventions for programs, each with its words."""
    said: list[dict[str, Any]] = [
        {**to_record(outcome), "sentence": conclusion_words(outcome)} for outcome in outcomes
    ]
    return to_json({"schema": "trajdiff.intervene/1", "tool_version": __version__, "interventions": said})


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.0001 else "< 0.0001"
