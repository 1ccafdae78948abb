"""Settings of a project: ``trajdiff.toml`` or ``[tool.trajdiff]`` in ``pyproject.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trajdiff.model import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLabel:
    """A semantic step: calls whose tool and arguments match these glob patterns carry ``label``.

    ``arguments`` maps an argument path (``item.id``) to a glob pattern for its value.
    """

    label: str
    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRules:
    """What never counts as a difference: glob patterns for ``tool.path`` of arguments, results; and tools."""

    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings in effect. ``origin`` is the file they came from, None for defaults.

    ``tools`` maps glob patterns of tool names to an effect; the first match wins.
    """

    origin: str | None = None
    traces: tuple[str, ...] = ()
    name: str | None = None
    k: tuple[int, ...] = ()
    expected_trials: int | None = None
    threshold: float | None = None
    infra: str = "fail"
    unscored: str = "exclude"
    tools: Mapping[str, Effect] = field(default_factory=dict)
    steps: tuple[StepLabel, ...] = ()
    ignore: IgnoreRules = field(default_factory=IgnoreRules)
