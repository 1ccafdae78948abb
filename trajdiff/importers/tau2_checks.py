"""What the grader of tau2 wrote down beside the reward: parts, checks, expected against found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trajdiff.importers.naming import shortened
from trajdiff.importers.texts import content_text
from trajdiff.model import CriterionItems

#: List of checks in the log, name of the criterion, key of the item, key of its outcome.
_CHECKS = (
    ("action_checks", "actions", "action", "action_match"),
    ("communicate_checks", "communicated", "info", "met"),
    ("nl_assertions", "assertions", "nl_assertion", "met"),
    ("env_assertions", "environment", "env_assertion", "met"),
)


def sub_scores(reward_info: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of the reward, its basis, and how many checks of each list were met (``3/5``)."""
    scores: dict[str, Any] = {}
    breakdown = reward_info.get("reward_breakdown")
    if isinstance(breakdown, dict):
        scores.update(breakdown)
    if isinstance(reward_info.get("reward_basis"), list):
        scores["reward_basis"] = reward_info["reward_basis"]
    database = reward_info.get("db_check")
    if isinstance(database, dict) and isinstance(database.get("db_match"), bool):
        scores["db_match"] = database["db_match"]
    for name, _, _, _ in _CHECKS:
        checks = list(_checks(reward_info, name))
        if checks:
            scores[name] = f"{sum(met for _, met in checks)}/{len(checks)}"
    return scores


def criteria(reward_info: Mapping[str, Any]) -> tuple[CriterionItems, ...]:
    """Expected items of every list of checks, and those that were found."""
    found = []
    for name, criterion, _, _ in _CHECKS:
        checks = list(_checks(reward_info, name))
        if checks:
            found.append(
                CriterionItems(
                    criterion=criterion,
                    expected=tuple(item for item, _ in checks),
                    produced=tuple(item for item, met in checks if met),
                )
            )
    return tuple(found)


def failed_checks(reward_info: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the lists that hold a check which was not met."""
    return tuple(name for name, _, _, _ in _CHECKS if any(not met for _, met in _checks(reward_info, name)))


def _checks(reward_info: Mapping[str, Any], name: str) -> Iterator[tuple[str, bool]]:
    item_key, met_key = next((item, met) for known, _, item, met in _CHECKS if known == name)
    listed = reward_info.get(name)
    for check in listed if isinstance(listed, list) else ():
        if isinstance(check, dict) and isinstance(check.get(met_key), bool):
            yield _item(check.get(item_key)), check[met_key]


def _item(item: Any) -> str:
    """A short text for what was expected: the id and name of a call, or the text itself."""
    if isinstance(item, dict):
        names = (item.get("action_id"), item.get("name") or item.get("func_name"))
        return " ".join(str(one) for one in names if one) or shortened(str(content_text(item)))
    return shortened(str(content_text(item)), 200)
