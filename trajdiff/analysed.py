"""What an analysis comes to, and how it is kept as bytes under everything that it depends on.

Nothing here analyses, so that who finds an analysis kept need not load what makes one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trajdiff.cache.values import NOT_WRITTEN, Bytes, written
from trajdiff.divergence.finding import SelfCheck, TaskFinding, ToolEffect
from trajdiff.frozen import replace
from trajdiff.model import Corpus, Diagnostic, TaskTrials, Trial
from trajdiff.settings import Settings

#: What kind of values analyses are, where they are kept among others.
KIND = "analysis"


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Findings by task id, effects of tools, the self-check, and the levels below writes that were used.

    ``problems`` name the tasks that could not be worked on: a worker died or took too long. Self-check and
    levels are empty where they were not asked for.
    """

    findings: Mapping[str, TaskFinding]
    tools: tuple[ToolEffect, ...] = ()
    self_check: SelfCheck = SelfCheck(false_alarms=0, passing_trials=0)
    levels: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


_decoder = msgspec.msgpack.Decoder(Analysis)


class KeptAnalysis:
    """The place of one analysis among those that are kept: that of some ``tasks`` of a corpus, ``whole`` or of
    their findings alone. ``code`` is the program, ``reading`` how files were read."""

    def __init__(
        self,
        store: Bytes,
        corpus: Corpus,
        settings: Settings,
        *,
        tasks: Sequence[str],
        whole: bool,
        code: str,
        reading: str,
    ) -> None:
        self._store = store
        about = (code, reading, of_work(settings), sorted(tasks), whole, [file.sha256 for file in corpus.files])
        trials = [shell for task in corpus.tasks for shell in shells(task)]
        text = in_words((about, trials))
        self._name = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    def find(self) -> Analysis | None:
        """The analysis, or None."""
        value = self._store.get(KIND, self._name)
        try:
            known = None if value is None else _decoder.decode(value)
        except NOT_WRITTEN:
            return None
        if known is None:
            return None
        return replace(known, findings={name: led(finding) for name, finding in known.findings.items()})

    def keep(self, analysis: Analysis) -> None:
        """Keep it, if it is complete and comes back the same."""
        value = None if analysis.problems else written(analysis, _decoder)
        if value is not None:
            self._store.put(KIND, self._name, value)


def of_work(settings: Settings) -> Settings:
    """The settings without what no finding depends on."""
    return replace(settings, origin=None, origins={}, traces=(), name=None, outcomes=(), reviews=None)


def shells(task: TaskTrials) -> list[Any]:
    """A task and its trials without their steps, which the files and the places in them stand for."""
    return [replace(task, trials=()), *map(shell, task.trials)]


def shell(trial: Trial) -> tuple[Trial, int]:
    """A trial without its steps, and how many there are."""
    return replace(trial, steps=()), len(trial.steps)


def in_words(value: Any) -> str:
    """A value in full, the same whether it was just made or read back (a member of an enumeration may come back
    as its text)."""
    return repr(msgspec.to_builtins(value))


def led(finding: TaskFinding) -> TaskFinding:
    """The finding with its lead as one of its divergences again: as bytes it was written twice."""
    lead = next((row for row in finding.divergences if row == finding.lead), None)
    return finding if lead is None else replace(finding, lead=lead)
