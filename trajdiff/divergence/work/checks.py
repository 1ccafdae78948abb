"""What checks said: passed or failed, with the error they named, from opened to cleared."""

from __future__ import annotations

import re

from msgspec import Struct

from trajdiff.align.prepared import PreparedStep

_EXIT = re.compile(r"exit(?:ed with)?[ _]*(?:code|status)[\s:=]*(-?\d+)", re.IGNORECASE)
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?|failing)\b|\bFAILED\b|^FAIL\b|Traceback \(most recent",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"\b\d+ (?:passed|passing|tests? passed)\b|^OK\b|\b0 (?:failed|failures|errors)\b", re.MULTILINE
)
_ERROR = re.compile(r"^(?:E\s+)?([A-Za-z_][\w.]*(?:Error|Exception))\b", re.MULTILINE)
#: Only the end of a long output says how it came out.
TAIL = 4_000


class Check(Struct, frozen=True, kw_only=True):
    """One check over a trial: where it last turned to failing (None: it passes at the end, or was never seen
    to fail), where it was last run, the error it names, and whether its end is known at all."""

    target: str
    opened: int | None
    last: int
    error: str | None
    known: bool

    @property
    def open(self) -> bool:
        """Whether the check fails at the end of the trial."""
        return self.opened is not None


def outcome(step: PreparedStep) -> tuple[bool | None, str | None]:
    """Whether a check passed (None: its output does not say), and the error that it names."""
    if step.step.result is None:
        return None, None
    text = step.step.result.text[-TAIL:]
    error = next(iter(_ERROR.findall(text)), None)
    codes = _EXIT.findall(text)
    if step.failed or _FAILED.search(text) or (codes and int(codes[-1][:9]) != 0):
        return False, error
    if _PASSED.search(text) or (codes and int(codes[-1][:9]) == 0):
        return True, None
    return None, error


def followed(before: Check | None, target: str, position: int, step: PreparedStep) -> Check:
    """The check after one more run of it."""
    passed, error = outcome(step)
    if passed is None and before is not None:
        return Check(target=target, opened=before.opened, last=position, error=before.error, known=before.known)
    opened = None
    if passed is False:
        opened = before.opened if before is not None and before.opened is not None else position
    return Check(target=target, opened=opened, last=position, error=error, known=passed is not None)
