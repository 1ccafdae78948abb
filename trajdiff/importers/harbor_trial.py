"""One Harbor trial folder as a trial: result, reward files, exceptions and trajectory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.atif import opened_object, read_with_continuations
from trajdiff.importers.atif_steps import AtifReader
from trajdiff.importers.harbor_errors import makes_invalid, reason_of
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.protocol import ReadOptions, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.model import (
    Judgement,
    Provenance,
    SourceRef,
    Termination,
    TerminationReason,
    Trial,
    Usage,
)
from trajdiff.natural import natural_key

_TRAJECTORY = re.compile(r"^(?:agent|steps/[^/]+/agent|artifacts)/trajectory\.json$")
_PLACES = ("agent/", "steps/", "artifacts/")
#: The random part that Harbor appends to the name of a task for a trial.
_RANDOM = re.compile(r"__[A-Za-z0-9]{7}$")


class Folder(Struct, frozen=True, kw_only=True):
    """A folder of a job; ``files`` are its files at any depth, relative to it."""

    path: str
    files: tuple[str, ...]
    source: Source
    notices: Notices

    def place(self, name: str) -> str:
        """The path of a file in it, as the user would write it."""
        return f"{self.path}/{name}" if self.path else name

    def folders(self) -> tuple[str, ...]:
        """The folders directly in it, in natural order."""
        found = {one.partition("/")[0] for one in self.files if "/" in one}
        return tuple(sorted(found, key=natural_key))

    def inside(self, name: str) -> Folder:
        """One of the folders in it."""
        start = f"{name}/"
        inner = tuple(one[len(start) :] for one in self.files if one.startswith(start))
        return Folder(path=self.place(name), files=inner, source=self.source, notices=self.notices)

    def looks_like_trial(self) -> bool:
        """Whether something of a trial is there although its result is not."""
        return any(_TRAJECTORY.match(one) or one.startswith("verifier/reward.") for one in self.files)

    def object(self, name: str) -> dict[str, Any] | None:
        """The object in one of its files; None if there is none, which is told."""
        return opened_object(self.source, self.place(name), self.notices)

    def beside(self, name: str) -> dict[str, Any] | None:
        """The object in a file beside the folder, if there is one."""
        above = self.path.rpartition("/")[0]
        path = f"{above}/{name}" if above else name
        if not self.path or not Path(path).is_file():
            return None
        return opened_object(self.source, path, self.notices)

    def text(self, name: str) -> str | None:
        """The text of one of its files; None if it cannot be read."""
        try:
            return Path(self.place(name)).read_text("utf-8", "replace")
        except OSError:
            return None


class TrialReader(Struct, frozen=True, kw_only=True):
    """Reads trial folders."""

    options: ReadOptions
    notices: Notices

    def trial(self, folder: Folder, recorded: Mapping[str, Any] | None) -> Trial:
        """The trial of a folder; ``recorded`` is its result, None where that is lost."""
        result = recorded or {}
        head = folder.place("result.json" if recorded is not None else "config.json")
        task_id = id_text(result.get("task_name")) or _task_of(folder)
        name = id_text(result.get("trial_name")) or folder.path.rpartition("/")[2]
        where = Where(self.notices, head, "$", None, task_id, name)
        if recorded is None:
            where.warn(
                "no_result", "its result.json is not there", "read from its reward file and trajectory only"
            )
        builder = StepBuilder(path=head, pointer="$")
        reader = AtifReader(builder=builder, notices=self.notices)
        trajectories = self._trajectories(folder, reader)
        builder.path = head
        termination = _termination(result)
        exceptions = _exceptions(result)
        steps = builder.finish(termination, messages=reader.messages, at="")
        builder.report(where)
        if not trajectories:
            where.warn("no_trajectory", "no trajectory was found", "it keeps its verdict and is not compared")
        rewards = _rewards(result, folder, where)
        judgement = self._judgement(result, rewards, exceptions)
        if judgement.rule != "several scores, none chosen":
            verdicts.tell_unscored(where, judgement, termination, judgement.raw, at=".verifier_result")
        first = trajectories[0] if trajectories else {}
        started, ended = as_text(result.get("started_at")), as_text(result.get("finished_at"))
        return Trial(
            task_id=task_id,
            trial_id="",
            ordinal=-1,
            steps=steps,
            judgement=judgement,
            source=SourceRef(path=head, pointer="$"),
            suite=id_text(result.get("source")),
            producer_id=id_text(result.get("id")) or name,
            reward=plain_number(judgement.raw),
            sub_scores=rewards,
            termination=termination,
            error=_error(exceptions),
            usage=_usage(result, reader, first),
            cost_usd=_cost(result, reader, first),
            duration_s=_seconds(started, ended),
            started_at=started or reader.started_at,
            ended_at=ended or reader.ended_at,
            provenance=_provenance(result, first),
            message_count=reader.messages,
            metadata=_metadata(result, name, exceptions),
        )

    def _trajectories(self, folder: Folder, reader: AtifReader) -> list[dict[str, Any]]:
        """Add every trajectory of the first place that has one; several steps have one each."""
        found = [one for one in folder.files if _TRAJECTORY.match(one)]
        for start in _PLACES:
            here = sorted((one for one in found if one.startswith(start)), key=natural_key)
            read: list[dict[str, Any]] = []
            for name in here:
                value = folder.object(name)
                if value is None:
                    continue
                reader.builder.path = folder.place(name)
                read_with_continuations(reader, value, folder.place(name), folder.source)
                read.append(value)
            if read:
                return read
        return []

    def _judgement(
        self, result: Mapping[str, Any], rewards: Mapping[str, Any], exceptions: list[dict[str, Any]]
    ) -> Judgement:
        if result.get("reward_valid") is False:
            return verdicts.infra(dict(rewards) or None, "reward_valid")
        bad = next((one for one in exceptions if makes_invalid(one)), None)
        if bad is not None:
            name = shortened(str(bad.get("exception_type")), 60)
            return verdicts.infra(dict(rewards) or None, f"exception {name}")
        return scoring.judge(
            rewards,
            chosen=self.options.scorer,
            threshold=self.options.threshold,
            notices=self.notices,
            preferred="reward",
        )


def _task_of(folder: Folder) -> str:
    """The task of a trial without result: by its configuration, else the folder without its random part."""
    config = as_object(folder.object("config.json")) if "config.json" in folder.files else {}
    path = as_text(as_object(config.get("task")).get("path"))
    named = path.rstrip("/").rpartition("/")[2] if path else ""
    return named or _RANDOM.sub("", folder.path.rpartition("/")[2]) or "trial"


def _exceptions(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    holders = [result, *as_list(result.get("step_results"))]
    return [one for holder in holders if (one := as_object(as_object(holder).get("exception_info")))]


def _error(exceptions: list[dict[str, Any]]) -> str | None:
    if not exceptions:
        return None
    first = exceptions[0]
    name, said = as_text(first.get("exception_type")), as_text(first.get("exception_message"))
    return ": ".join(one for one in (name, said) if one) or "an exception is recorded"


def _termination(result: Mapping[str, Any]) -> Termination:
    exceptions = _exceptions(result)
    if exceptions:
        name = as_text(exceptions[0].get("exception_type")) or ""
        return Termination(reason=reason_of(name), raw=name, rule="exception_info")
    if "finished_at" in result and result["finished_at"] is None:
        return Termination(reason=TerminationReason.INCOMPLETE, rule="not finished")
    if not result:
        return Termination(reason=TerminationReason.INCOMPLETE, rule="no result.json")
    return Termination(reason=TerminationReason.AGENT_DONE, rule="no exception")


def _rewards(result: Mapping[str, Any], folder: Folder, where: Where) -> dict[str, Any]:
    """The recorded rewards; those of the reward files only where the result lacks them, which is told."""
    recorded = as_object(as_object(result.get("verifier_result")).get("rewards"))
    files = _reward_files(folder)
    if recorded:
        return recorded
    if not files:
        return {}
    name, value = files[0]
    where.warn("reward_from_file", f"no reward in result.json; {name} has one", "taken from there")
    for other, contradicting in files[1:]:
        mine = value if not isinstance(value, dict) else value.get("reward")
        if mine != contradicting:
            where.warn("reward_conflict", f"{name} and {other} contradict each other", f"{name} counts")
    return value if isinstance(value, dict) else {"reward": value}


def _reward_files(folder: Folder) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name in ("verifier/reward.json", "verifier/reward.txt"):
        text = (folder.text(name) or "").strip() if name in folder.files else ""
        value = _reward_value(text)
        if value is not None:
            found.append((name, value))
    return found


def _reward_value(text: str) -> Any:
    from trajdiff.importers.jsontext import BadJsonError, tolerant

    try:
        value = tolerant(text)
    except BadJsonError:
        return None
    return value if isinstance(value, dict) else plain_number(value)


def _parts(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of the agent's work: one of the trial, or one a step."""
    whole = as_object(result.get("agent_result"))
    if any(one is not None for one in whole.values()):
        return [whole]
    return [as_object(as_object(one).get("agent_result")) for one in as_list(result.get("step_results"))]


def _usage(result: Mapping[str, Any], reader: AtifReader, first: Mapping[str, Any]) -> Usage:
    def total(name: str) -> int | None:
        found = [number for one in _parts(result) if (number := whole_number(one.get(name))) is not None]
        return sum(found) if found else None

    usage = Usage(
        input=total("n_input_tokens"),
        output=total("n_output_tokens"),
        cache_read=total("n_cache_tokens"),
    )
    return reader.usage(first) if usage == Usage() else usage


def _cost(result: Mapping[str, Any], reader: AtifReader, first: Mapping[str, Any]) -> float | None:
    found = [number for one in _parts(result) if (number := plain_number(one.get("cost_usd"))) is not None]
    return sum(found) if found else reader.cost(first)


def _provenance(result: Mapping[str, Any], first: Mapping[str, Any]) -> Provenance:
    agent = as_object(result.get("agent_info"))
    model = as_object(agent.get("model_info"))
    told = as_object(first.get("agent"))
    kwargs = as_object(as_object(as_object(result.get("config")).get("agent")).get("kwargs"))
    return Provenance(
        model=as_text(model.get("name")) or as_text(told.get("model_name")),
        agent=as_text(agent.get("name")) or as_text(told.get("name")),
        tool_version=id_text(agent.get("version")) or id_text(told.get("version")),
        sampling=kwargs,
        environment_version=id_text(result.get("task_checksum")),
    )


def _metadata(result: Mapping[str, Any], name: str, exceptions: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {"trial_name": name}
    source = as_object(result.get("config")).get("source_trial")
    if isinstance(source, dict):
        source = source.get("id") or source.get("trial_name") or source.get("path")
    if isinstance(source, str) and source:
        made["regrade_of"] = source.rstrip("/").rpartition("/")[2]
    if exceptions:
        made["exception"] = exceptions[0].get("exception_type")
    return made


def _seconds(started: str | None, ended: str | None) -> float | None:
    try:
        span = datetime.fromisoformat(ended or "") - datetime.fromisoformat(started or "")
    except (ValueError, TypeError):
        return None
    return span.total_seconds()
