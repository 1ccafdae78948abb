"""Compares the arms of an intervention: failures, difference with interval, the exact test over pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb

from trajdiff.errors import InputError
from trajdiff.intervention.outcome import ArmResult, Conclusion, Effect, Outcome
from trajdiff.intervention.paired_interval import independent_interval, paired_interval
from trajdiff.model import LIMITS, Trial, Verdict
from trajdiff.natural import natural_key
from trajdiff.record.trial import TAKEN
from trajdiff.reliability.sign_flip import sign_flip

CONTROL, PINNED, PLACEBO = "control", "pinned", "placebo"
ARMS = (CONTROL, PINNED, PLACEBO)


def arm_of(trial: Trial) -> str | None:
    """The arm that a trial's metadata (or the manifest's column) names."""
    value = trial.metadata.get("arm")
    return value.strip().lower() if isinstance(value, str) and value.strip() else None


def by_arm(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Trials by arm. Raises ``InputError`` for an unknown arm and where control or pinned is missing."""
    found: dict[str, list[Trial]] = {name: [] for name in ARMS}
    for trial in trials:
        name = arm_of(trial)
        if name is None:
            raise InputError(
                f'trial {trial.trial_id} of task "{trial.task_id}" names no arm',
                "write arm = control, pinned or placebo into its metadata, or as a column of --outcomes FILE",
            )
        if name not in found:
            raise InputError(f'unknown arm "{name}" of trial {trial.trial_id}', f"known: {', '.join(ARMS)}")
        found[name].append(trial)
    missing = [name for name in (CONTROL, PINNED) if not found[name]]
    if missing:
        raise InputError(
            f"no trial of the arm {' and '.join(missing)}", "an intervention needs control and pinned"
        )
    return {name: trials for name, trials in found.items() if trials}


def failed(trial: Trial) -> bool | None:
    """Whether a trial failed; None where it was not judged. One that used up its own limit failed."""
    if trial.verdict is Verdict.PASS:
        return False
    if trial.verdict is Verdict.FAIL:
        return True
    unscored = trial.verdict is Verdict.UNSCORED
    return True if unscored and trial.termination.reason in LIMITS else None


def evaluate(
    arms: Mapping[str, Sequence[Trial]],
    *,
    label: str,
    text: str,
    ref: str | None = None,
    divergence: str | None = None,
    placebo: str | None = None,
    seed: int | None = None,
    source: str | None = None,
) -> Outcome:
    """The outcome of the arms of one task; control and pinned must be there."""
    results = tuple(arm_result(name, arms[name]) for name in ARMS if name in arms)
    effects = tuple(
        found
        for name in (PINNED, PLACEBO)
        if name in arms and (found := effect_of(name, arms[CONTROL], arms[name])) is not None
    )
    return Outcome(
        task_id=arms[CONTROL][0].task_id,
        ref=ref,
        divergence=divergence,
        label=label,
        text=text,
        placebo=placebo,
        arms=results,
        effects=effects,
        conclusion=_conclusion(results, effects),
        seed=seed,
        source=source,
    )


def arm_result(name: str, trials: Sequence[Trial]) -> ArmResult:
    """Counts and budget of one arm."""
    states = [failed(trial) for trial in trials]
    pins = [_pins(trial) for trial in trials]
    recorded = [one for one in pins if one is not None]
    tokens = [t for trial in trials for t in (trial.usage.input, trial.usage.output) if t is not None]
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    seconds = [trial.duration_s for trial in trials if trial.duration_s is not None]
    return ArmResult(
        name=name,
        trials=sum(state is not None for state in states),
        failures=sum(state is True for state in states),
        left_out=sum(state is None for state in states),
        fired=sum("fired" in one for one in recorded) if name != CONTROL and recorded else None,
        needless=sum("needless" in one and "fired" not in one for one in recorded)
        if name != CONTROL and recorded
        else None,
        blocked=sum(one == ["blocked"] for one in recorded) if name != CONTROL and recorded else None,
        calls=sum(step.is_call for trial in trials for step in trial.steps),
        seconds=round(sum(seconds), 3) if seconds else None,
        tokens=sum(tokens) if tokens else None,
        cost_usd=round(sum(costs), 6) if costs else None,
    )


def _pins(trial: Trial) -> list[str] | None:
    """What happened at the pins of a trial: fired, needless, blocked; empty where no place was reached.

    None where the trial does not say that it had pins: then it is not known.
    """
    said = trial.metadata.get("pins")
    if said is None:
        return [] if trial.metadata.get("pinned") else None
    if isinstance(said, bool | int):  # arms of other harnesses may just count
        return ["fired"] if said else []
    if not isinstance(said, list):
        return []
    found = set()
    for one in said:
        if isinstance(one, Mapping):
            fired, reason = one.get("fired"), one.get("reason")
            found.add("fired" if fired is True else "needless" if reason == TAKEN else "blocked")
    return sorted(found)


def effect_of(name: str, control: Sequence[Trial], other: Sequence[Trial]) -> Effect | None:
    """Control minus another arm, over pairs of equal seed where seeds are recorded; None without counts."""
    pairs = _pairs(control, other)
    if pairs is None:
        return _unpaired(name, control, other)
    cells = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not cells:
        return None
    both = sum(a and b for a, b in cells)
    only_control = sum(a and not b for a, b in cells)
    only_arm = sum(b and not a for a, b in cells)
    low, high = paired_interval(both, only_control, only_arm, len(cells) - both - only_control - only_arm)
    # Signs of the differing pairs flipped: with one trial a side this is McNemar's exact test.
    test = sign_flip([Fraction(1)] * only_control + [Fraction(-1)] * only_arm)
    return Effect(
        arm=name,
        pairs=len(cells),
        only_control=only_control,
        only_arm=only_arm,
        difference=(only_control - only_arm) / len(cells),
        low=low,
        high=high,
        p=float(test.p),
        attainable=float(test.attainable),
    )


def _pairs(control: Sequence[Trial], other: Sequence[Trial]) -> list[tuple[bool | None, bool | None]] | None:
    """Outcomes of the two arms at every seed that both have; None where seeds do not tell trials apart."""
    sides = []
    for trials in (control, other):
        seeds = [trial.provenance.seed for trial in trials]
        if None in seeds or len(set(seeds)) < len(seeds):
            return None
        sides.append({trial.provenance.seed: failed(trial) for trial in trials})
    shared = [seed for seed in sides[0] if seed in sides[1]]
    return [(sides[0][seed], sides[1][seed]) for seed in shared] if shared else None


def _unpaired(name: str, control: Sequence[Trial], other: Sequence[Trial]) -> Effect | None:
    a = [state for trial in control if (state := failed(trial)) is not None]
    b = [state for trial in other if (state := failed(trial)) is not None]
    if not a or not b:
        return None
    low, high = independent_interval(sum(a), len(a), sum(b), len(b))
    p, attainable = _fisher(sum(a), len(a), sum(b), len(b))
    return Effect(
        arm=name,
        pairs=0,
        only_control=0,
        only_arm=0,
        difference=sum(a) / len(a) - sum(b) / len(b),
        low=low,
        high=high,
        p=p,
        attainable=attainable,
    )


def _fisher(failures_a: int, n_a: int, failures_b: int, n_b: int) -> tuple[float, float]:
    """Two-sided exact p of a 2 × 2 table, and the smallest that its margins allow."""
    failures, total = failures_a + failures_b, n_a + n_b
    weights = {
        x: comb(n_a, x) * comb(n_b, failures - x) for x in range(max(0, failures - n_b), min(n_a, failures) + 1)
    }
    everything = comb(total, failures)
    observed = weights[failures_a]
    p = Fraction(sum(w for w in weights.values() if w <= observed), everything)
    least = min(weights.values())
    return float(p), float(Fraction(sum(w for w in weights.values() if w <= least), everything))


def _conclusion(arms: Sequence[ArmResult], effects: Sequence[Effect]) -> Conclusion:
    found = {arm.name: arm for arm in arms}
    of = {effect.arm: effect for effect in effects}
    control, pinned, effect = found[CONTROL], found[PINNED], of.get(PINNED)
    if pinned.fired == 0 and not pinned.needless:
        return Conclusion.NOT_REACHED
    if effect is None:
        return Conclusion.NOTHING_COUNTED
    if effect.shown and effect.difference < 0:
        return Conclusion.MORE
    if not control.failures:
        return Conclusion.NO_FAILURES
    if not effect.shown:
        return Conclusion.NOT_SHOWN
    placebo = of.get(PLACEBO)
    if placebo is not None and placebo.shown and placebo.difference > 0:
        return Conclusion.FEWER_WITH_PLACEBO
    return Conclusion.FEWER


def in_order(trials: Iterable[Trial]) -> list[Trial]:
    """Trials in natural order of their ids."""
    return sorted(trials, key=lambda trial: (trial.ordinal, natural_key(trial.trial_id)))
