"""What an intervention came to, as a value and as a line of a file that is made to be committed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from trajdiff.divergence.finding import Tested
from trajdiff.errors import InputError
from trajdiff.files import read_text
from trajdiff.natural import natural_key

SCHEMA = "trajdiff.intervention/1"


class Conclusion(StrEnum):
    """What the arms show, from nothing to a change that only the pin brings."""

    NOT_REACHED = "not_reached"
    NOTHING_COUNTED = "nothing_counted"
    NO_FAILURES = "no_failures"
    NOT_SHOWN = "not_shown"
    FEWER = "fewer_failures"
    FEWER_WITH_PLACEBO = "fewer_failures_with_placebo_too"
    MORE = "more_failures"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """One arm: counted trials and failures among them, trials that were not judged, and what it took.

    ``fired`` counts the trials in which the pin took effect, ``needless`` those in which the agent took the
    step itself, ``blocked`` those in which the place was reached but the pin could not take effect. None where
    nothing is recorded.
    """

    name: str
    trials: int
    failures: int
    left_out: int = 0
    fired: int | None = None
    needless: int | None = None
    blocked: int | None = None
    calls: int = 0
    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Control minus another arm: the difference of their failure rates with its 95 % interval.

    With pairs of equal seed: ``pairs``, those that failed in one arm only, and the exact McNemar p; without
    pairs ``pairs`` is 0 and p is Fisher's. ``attainable`` is the smallest p these trials could have given.
    """

    arm: str
    pairs: int
    only_control: int
    only_arm: int
    difference: float
    low: float
    high: float
    p: float
    attainable: float
    level: float = 0.95

    @property
    def shown(self) -> bool:
        """Whether interval and test both leave out "no difference"."""
        return self.p <= 1 - self.level + 1e-12 and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One intervention at one step of a task.

    ``ref`` is the recorded step, ``divergence`` the identity of the divergence that was tested, ``label`` and
    ``text`` say what was held fixed. ``effects`` are those of the pinned arm and of the placebo, as far as run.
    """

    task_id: str
    ref: str | None
    divergence: str | None
    label: str
    text: str
    placebo: str | None
    arms: tuple[ArmResult, ...]
    effects: tuple[Effect, ...]
    conclusion: Conclusion
    seed: int | None = None
    source: str | None = None

    def arm(self, name: str) -> ArmResult | None:
        """The arm of this name."""
        return next((arm for arm in self.arms if arm.name == name), None)

    def effect(self, name: str) -> Effect | None:
        """The effect of the arm of this name."""
        return next((effect for effect in self.effects if effect.arm == name), None)

    def note(self) -> Tested:
        """The outcome as it stands beside a divergence."""
        control, pinned, placebo = self.arm("control"), self.arm("pinned"), self.arm("placebo")
        effect = self.effect("pinned")
        return Tested(
            label=self.label,
            ref=self.ref,
            conclusion=self.conclusion.value,
            control_failures=control.failures if control is not None else 0,
            control_trials=control.trials if control is not None else 0,
            pinned_failures=pinned.failures if pinned is not None else 0,
            pinned_trials=pinned.trials if pinned is not None else 0,
            placebo_failures=placebo.failures if placebo is not None else None,
            placebo_trials=placebo.trials if placebo is not None else None,
            difference=effect.difference if effect is not None else None,
            low=effect.low if effect is not None else None,
            high=effect.high if effect is not None else None,
            p=effect.p if effect is not None else None,
        )

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes a later outcome replace an earlier one."""
        return self.task_id, self.divergence or "", self.ref or "", self.label


def to_record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a plain object."""
    return {"schema": SCHEMA, **asdict(outcome)}


def from_record(said: Mapping[str, Any]) -> Outcome:
    """The outcome in a plain object. Raises ``ValueError``, ``KeyError`` or ``TypeError``."""
    if said.get("schema") != SCHEMA:
        raise ValueError(f"no {SCHEMA}")
    rest = {key: value for key, value in said.items() if key != "schema"}
    return Outcome(
        **{
            **rest,
            "arms": tuple(ArmResult(**arm) for arm in rest["arms"]),
            "effects": tuple(Effect(**effect) for effect in rest["effects"]),
            "conclusion": Conclusion(rest["conclusion"]),
        }
    )


def read_store(path: Path) -> tuple[Outcome, ...]:
    """The outcomes of a file, none where it does not exist. Raises ``InputError`` that names the line."""
    try:
        lines = read_text(path).split("\n")
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(from_record(json.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    f"{path}: line {number} is no outcome of an intervention ({str(error)[:80]})",
                    "remove the line, or the file, and run the intervention again",
                ) from error
    return tuple(found)


def keep(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Add outcomes to a file; one of the same step replaces the earlier one. Raises ``InputError``."""
    merged = {outcome.key: outcome for outcome in (*read_store(path), *outcomes)}
    ordered = sorted(merged.values(), key=lambda one: (natural_key(one.task_id), one.key))
    lines = [json.dumps(to_record(one), ensure_ascii=False, sort_keys=True) for one in ordered]
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="backslashreplace")
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
