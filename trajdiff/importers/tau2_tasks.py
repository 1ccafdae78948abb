"""The task definitions of a tau2 results file: the user's script, the reference calls, what must be said."""

from __future__ import annotations

import hashlib
from typing import Any

from trajdiff.importers.jsontext import canonical, compact
from trajdiff.importers.naming import id_text
from trajdiff.importers.texts import clean, content_text
from trajdiff.model import Actor, ExpectedAction, Task


def task_of(value: Any, suite: str | None) -> Task | None:
    """The task of one entry of ``tasks``; None if it has no id."""
    task_id = id_text(value.get("id")) if isinstance(value, dict) else None
    if task_id is None:
        return None
    criteria, scenario = value.get("evaluation_criteria"), value.get("user_scenario")
    definition = canonical({"evaluation_criteria": criteria, "user_scenario": scenario})
    recorded = criteria is not None or scenario is not None
    criteria = criteria if isinstance(criteria, dict) else {}
    return Task(
        task_id=task_id,
        suite=suite,
        title=_title(value),
        fingerprint=hashlib.sha256(definition.encode()).hexdigest()[:16] if recorded else None,
        script=_script(scenario),
        expected_actions=_expected_actions(criteria.get("actions")),
        expected_outputs=_texts(criteria.get("communicate_info")),
        metadata=_metadata(criteria),
    )


def _title(value: dict[str, Any]) -> str | None:
    description = value.get("description")
    if isinstance(description, str):
        return clean(description) or None
    purpose = description.get("purpose") if isinstance(description, dict) else None
    return clean(purpose) if isinstance(purpose, str) and purpose else None


def _script(scenario: Any) -> str | None:
    """What the simulated user was told, one line a part, with the names of the parts."""
    if scenario is None or isinstance(scenario, str):
        return content_text(scenario)
    if not isinstance(scenario, dict):
        return content_text(compact(scenario))
    lines = []
    for key, part in scenario.items():
        if isinstance(part, dict):
            lines += [_line(inner, text) for inner, text in part.items() if text not in (None, "")]
        elif part not in (None, ""):
            lines.append(str(content_text(part)) if key == "instructions" else _line(key, part))
    return "\n".join(lines) or None


def _line(key: str, part: Any) -> str:
    return f"{key.replace('_', ' ')}: {content_text(part)}"


def _expected_actions(actions: Any) -> tuple[ExpectedAction, ...] | None:
    if not isinstance(actions, list):
        return None
    return tuple(
        ExpectedAction(
            name=one["name"],
            arguments=one.get("arguments"),
            actor=Actor.USER if one.get("requestor") == "user" else Actor.AGENT,
        )
        for one in actions
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    )


def _texts(values: Any) -> tuple[str, ...] | None:
    if not isinstance(values, list):
        return None
    return tuple(content_text(one) or "" for one in values)


def _metadata(criteria: dict[str, Any]) -> dict[str, Any]:
    basis = criteria.get("reward_basis")
    return {"reward_basis": basis} if isinstance(basis, list) else {}
