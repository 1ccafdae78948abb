"""What a tool does (read, write, control, unknown), and which rule decided it.

In this order: the settings; a hint recorded in the log; evidence in the traces (a read of the same entity gave
another result after the call and nothing else could have changed it); the verb of the name; else unknown,
which counts as a write of lower confidence.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import resources

from msgspec import Struct

from trajdiff.align.order import entities
from trajdiff.align.prepared import PreparedStep, Preparer
from trajdiff.align.values import words
from trajdiff.divergence.finding import ToolEffect
from trajdiff.model import Actor, Effect, Trial
from trajdiff.settings import Settings

#: Trials looked at for evidence; beyond it more of the same adds nothing.
EVIDENCE_TRIALS = 400


class Effects(Struct, frozen=True, kw_only=True):
    """The effect of every tool that the agent called, and the rows that say why."""

    of: Mapping[str, Effect]
    rows: tuple[ToolEffect, ...]


def classify(trials: Iterable[Trial], settings: Settings, also: Iterable[str] = ()) -> Effects:
    """Decides the effect of every tool over all trials, in order of tool names; ``also`` names tools that no
    trial calls (those of recorded reference calls)."""
    trials = tuple(trials)
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    hints: dict[str, Counter[Effect]] = {}
    for trial in trials:
        for name, made, failed, hint in trial.tally.tools:
            if name:
                calls[name] += made
                errors[name] += failed
                if hint is not None:
                    hints.setdefault(name, Counter())[hint] += made
    for tool in also:
        calls[tool] += 0
    seen = _evidence(trials, settings)
    of, rows = {}, []
    for tool in sorted(calls):
        effect, rule = _decide(tool, settings, hints.get(tool), seen.get(tool))
        of[tool] = effect
        rows.append(
            ToolEffect(tool=tool, effect=effect.value, rule=rule, calls=calls[tool], errors=errors[tool])
        )
    return Effects(of=of, rows=tuple(rows))


def by_name(tool: str) -> Effect:
    """What the verb of a tool's name says. Steering verbs count only without an object that they act on
    (``ask_user``, not ``ask_refund``); words that are as often things decide only where no verb does."""
    parts = name_parts(tool)
    verbs = _verbs()
    if hands_over(tool):
        return Effect.CONTROL
    rest = [part for part in parts if part not in verbs["control_objects"]]
    if rest and all(part in verbs["control"] for part in rest):
        return Effect.CONTROL
    if not tool.isascii() and parts and parts[-1] in verbs["read"]:
        # Without spaces the thing may stand before what is done with it: 退款查询 looks at a refund.
        return Effect.READ
    for part in parts:
        for name, effect in (("read", Effect.READ), ("set", Effect.WRITE), ("write", Effect.WRITE)):
            if part in verbs[name]:
                return effect
    for name, effect in (("noun_read", Effect.READ), ("noun_write", Effect.WRITE)):
        if any(part in verbs[name] for part in parts):
            return effect
    return Effect.UNKNOWN


def hands_over(tool: str) -> bool:
    """Whether a tool's name hands the conversation over to a person."""
    parts, verbs = name_parts(tool), _verbs()
    return any(p in verbs["handover_verbs"] for p in parts) and any(
        p in verbs["handover_objects"] for p in parts
    )


def sets_state(tool: str) -> bool:
    """Whether a write sets a state, so that repeating it changes nothing and the last one counts."""
    verbs = _verbs()
    for part in name_parts(tool):
        if part in verbs["set"]:
            return True
        if part in verbs["write"] or part in verbs["read"]:
            return False
    return False


@lru_cache(maxsize=4096)
def name_parts(tool: str) -> tuple[str, ...]:
    """The words of a tool's name; in scripts without spaces parted at the words that the lists know."""
    found: list[str] = []
    for word in words(tool):
        parts = (word,) if word.isascii() else _unspaced().split(word)
        found += [part for part in parts if part]
    return tuple(found)


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    """The listed words without spaces, the longest first, so that they are found whole."""
    known = {word for found in _verbs().values() for word in found if not word.isascii()}
    ordered = sorted(known, key=lambda word: (-len(word), word))
    return re.compile(f"({'|'.join(map(re.escape, ordered))})")


@lru_cache(maxsize=1)
def _verbs() -> dict[str, frozenset[str]]:
    text = (resources.files("trajdiff.divergence") / "verbs.toml").read_text("utf-8")
    return {name: frozenset(found) for name, found in tomllib.loads(text).items()}


def _decide(
    tool: str, settings: Settings, hints: Counter[Effect] | None, seen: str | None
) -> tuple[Effect, str]:
    for pattern, effect in settings.tools.items():
        if fnmatchcase(tool, pattern):
            return effect, "settings"
    if hints:
        return min(hints, key=lambda effect: (-hints[effect], effect)), "recorded in the log"
    named = by_name(tool)
    # A hand-over changes what later reads say about the conversation, not the task: its name decides.
    if seen is not None and not hands_over(tool):
        return Effect.WRITE, f"traces: the result of {seen} differs after it"
    if named is not Effect.UNKNOWN:
        return named, "name"
    return Effect.UNKNOWN, "nothing known; counts as a write"


def _evidence(trials: tuple[Trial, ...], settings: Settings) -> dict[str, str]:
    """Tools after which an equal read of the same entity gave another result, with that read's name.

    Only a stretch with one single candidate tool in between counts, so that no innocent call is accused.
    """
    preparer = Preparer(settings=settings)
    found: dict[str, Counter[str]] = {}
    for trial in trials[:EVIDENCE_TRIALS]:
        if not preparer.answers_differ(trial):
            continue
        last: dict[str, PreparedStep] = {}
        steps = [s for s in preparer.trial(trial).steps if s.is_call and s.step.actor == Actor.AGENT]
        for place, step in enumerate(steps):
            before = last.get(step.call_key)
            if before is not None and not before.failed and not step.failed:
                tool = _only_candidate(steps[:place], before, step)
                if tool and before.result_text != step.result_text:
                    found.setdefault(tool, Counter())[step.step.name or ""] += 1
            last[step.call_key] = step
    return {tool: min(reads, key=lambda name: (-reads[name], name)) for tool, reads in found.items()}


def _only_candidate(steps: list[PreparedStep], before: PreparedStep, after: PreparedStep) -> str | None:
    if by_name(after.step.name or "") is not Effect.READ or not entities(after):
        return None
    between = {
        step.step.name or ""
        for step in steps
        if step.position > before.position
        and not step.failed
        and step.label != after.label
        and by_name(step.step.name or "") is not Effect.READ
        and entities(step) & entities(after)
    }
    return next(iter(between)) if len(between) == 1 else None
