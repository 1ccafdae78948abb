"""Words that say an outcome. ``success`` is not among them: it also stands for "submitted" and "finished"."""

from __future__ import annotations

from trajdiff.model import Verdict

_WORDS = {
    "pass": Verdict.PASS,
    "passed": Verdict.PASS,
    "true": Verdict.PASS,
    "yes": Verdict.PASS,
    "fail": Verdict.FAIL,
    "failed": Verdict.FAIL,
    "false": Verdict.FAIL,
    "no": Verdict.FAIL,
    "unscored": Verdict.UNSCORED,
    "infra": Verdict.INFRA,
}


def verdict_of_word(word: str) -> Verdict | None:
    """The verdict a word stands for, None if it is not known."""
    return _WORDS.get(word.strip().lower())
