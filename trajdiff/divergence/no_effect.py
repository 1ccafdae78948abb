"""Writes whose own result says that they changed nothing. Cues are data, for each language."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources

from trajdiff.align.language import fold
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import leaf_name, words

#: A phrase says something about the whole call only where the result says little else.
SHORT = 300


def had_no_effect(step: PreparedStep) -> bool:
    """Whether a call that was not refused says that it changed nothing: a flag or count of changes that is
    false or zero, or a phrase in a short result."""
    if step.step.result is None or step.failed:
        return False
    text = step.step.result.text
    if isinstance(step.result, str) and len(text) <= SHORT and _says_so(text):
        return True
    shared = step.reading is not None and step.result_leaves is step.reading.leaves
    memo = step.reading.memo if shared and step.reading is not None else {}
    if "no effect" not in memo:
        memo["no effect"] = any(_leaf_says_so(path, value) for path, value in step.result_leaves)
    return bool(memo["no effect"])


def _leaf_says_so(path: str, value: str) -> bool:
    if value in ("0", "false"):
        return _counts_changes(path)
    return len(value) <= SHORT and _is_told(path) and _says_so(value)


@lru_cache(maxsize=8192)
def _says_so(text: str) -> bool:
    folded = fold(text)
    return any(phrase in folded for phrase in _cues()["phrases"])


@lru_cache(maxsize=4096)
def _counts_changes(path: str) -> bool:
    cues = _cues()
    name = set(words(leaf_name(path)))
    return bool(name & set(cues["names"])) and name <= {*cues["names"], *cues["counted"]}


@lru_cache(maxsize=4096)
def _is_told(path: str) -> bool:
    name = words(leaf_name(path))
    return bool(name) and name[-1] in _cues()["messages"]


@lru_cache(maxsize=1)
def _cues() -> dict[str, tuple[str, ...]]:
    text = (resources.files("trajdiff.divergence") / "no_effect.toml").read_text("utf-8")
    return {name: tuple(fold(cue) for cue in found) for name, found in tomllib.loads(text).items()}
