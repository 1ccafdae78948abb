"""tau2 and tau3 results: one file, a folder of simulations, or a task's export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import id_text, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source, Unreadable
from trajdiff.importers.stored_steps import Recipe
from trajdiff.importers.tau2_records import decode_simulation
from trajdiff.importers.tau2_simulations import (
    Simulation,
    exported_simulation,
    read_simulation,
    steps_of,
)
from trajdiff.importers.tau2_tasks import task_of
from trajdiff.model import Effect, Provenance, Severity, Step, Task, Trial
from trajdiff.natural import natural_key

_FOLDER = "simulations"
_EFFECTS = {"read": Effect.READ, "write": Effect.WRITE}


class _Tau2Bench(Struct, frozen=True):
    name: str = "tau2"
    title: str = "tau2 results"
    recognised_by: str = "object with info, tasks, simulations"
    record_schema: str | None = "tau2_bench"

    def sniff(self, peek: Peek) -> Claim | None:
        """Results with info and tasks, their folder layout, one simulation, or one task's export."""
        if peek.shape is Shape.FOLDER:
            return _folder_claim(peek)
        if peek.shape is Shape.ARRAY or not peek.heads:
            return None
        head = peek.heads[0]
        if _is_results(peek):
            # Several results glued together are no results; what is in them would be lost.
            if peek.shape is not Shape.OBJECT:
                return None
            return Claim(rule="info, tasks, simulations" if head.has("simulations") else "info and tasks")
        if head.has("task_id", "run_info", "messages"):
            return Claim(rule="task_id, run_info, messages: the export of one task")
        if head.has("id", "task_id", "termination_reason") and head.keys & {"messages", "ticks"}:
            return Claim(rule="id, task_id, termination_reason: one simulation")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The simulations of a results file, or the one simulation."""
        if _run_of(document).is_results:
            return document.items("simulations") or ()
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every simulation that names a task is a trial; the rest is told and counted as missing."""
        document = source.document
        run = _run_of(document)
        reading = _Reading(run=run, options=options, notices=document.notices)
        if run.is_results:
            reading.read_items(document)
            for member in source.members:
                reading.read_member(member, source)
            reading.tell_index(document)
        else:
            for record in document.records():
                reading.read_one(document, record)
        return reading.imported()

    def steps_again(self, record: Record, path: str, effects: Mapping[str, Effect]) -> tuple[Step, ...]:
        """The steps of a simulation that was read before, from its record."""
        value = _value_of(record)
        return steps_of(value, path=path, pointer=record.pointer, line=record.line, effects=effects)


IMPORTER = _Tau2Bench()


def _is_results(peek: Peek) -> bool:
    head = peek.heads[0]
    if not head.has("info", "tasks"):
        return False
    return head.has("simulations") or bool(
        {"agent_info", "environment_info", "num_trials"} & set(as_object(head.get("info")))
    )


def _folder_claim(peek: Peek) -> Claim | None:
    if _FOLDER not in peek.folders or peek.inside is None or peek.open is None:
        return None
    for name in peek.files:
        if name.endswith((".json", ".json.gz")):
            inner = peek.open(name)
            if inner is not None and inner.shape is Shape.OBJECT and inner.heads and _is_results(inner):
                members = tuple(
                    f"{_FOLDER}/{one}"
                    for one in sorted(peek.inside(_FOLDER), key=natural_key)
                    if one.endswith((".json", ".json.gz")) and not one.startswith(".")
                )
                return Claim(rule=f"{name} and the files in {_FOLDER}/", head=name, members=members)
    return None


class _Run(Struct, frozen=True, kw_only=True):
    """What the head of a results file says about all its simulations."""

    is_results: bool
    suite: str | None = None
    num_trials: int | None = None
    tasks: tuple[Task, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    producer: dict[str, Any]


def _run_of(document: Document) -> _Run:
    is_results = "info" in document.fields and "tasks" in document.fields and "task_id" not in document.fields
    if not is_results:
        return _Run(is_results=False, producer={})
    info = as_object(_head_field(document, "info"))
    listed = _head_field(document, "tasks")
    agent = as_object(info.get("agent_info"))
    suite = id_text(as_object(info.get("environment_info")).get("domain_name"))
    tasks = [task_of(one, suite) for one in listed] if isinstance(listed, list) else []
    arguments = agent.get("llm_args")
    return _Run(
        is_results=True,
        suite=suite,
        num_trials=whole_number(info.get("num_trials")),
        tasks=tuple(task for task in tasks if task is not None),
        provenance=Provenance(
            model=id_text(agent.get("llm")),
            agent=id_text(agent.get("implementation")),
            sampling=arguments if isinstance(arguments, dict) else {},
            environment_version=id_text(info.get("git_commit")),
            prompt_version=_policy_version(info),
        ),
        producer=_producer(info, agent),
    )


def _head_field(document: Document, key: str) -> Any:
    """What the head of a file says; the simulations are read without it, too."""
    try:
        return document.field(key)
    except BadJsonError as error:
        document.notices.once(
            Severity.WARNING, "unreadable_header", key, f"{key} cannot be read: {error.problem}"
        )
        return None


def _policy_version(info: dict[str, Any]) -> str | None:
    policy = as_object(info.get("environment_info")).get("policy")
    if not isinstance(policy, str):
        return None
    import hashlib

    return "policy " + hashlib.sha256(policy.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _producer(info: dict[str, Any], agent: dict[str, Any]) -> dict[str, Any]:
    user = as_object(info.get("user_info"))
    said = {
        "commit": info.get("git_commit"),
        "agent": agent.get("implementation"),
        "model": agent.get("llm"),
        "user": user.get("implementation"),
        "user_model": user.get("llm"),
        "num_trials": info.get("num_trials"),
        "max_steps": info.get("max_steps"),
        "max_errors": info.get("max_errors"),
    }
    return {key: value for key, value in said.items() if isinstance(value, str | int | float)}


class _Reading:
    """Collects the trials of one results file and of its simulation files."""

    def __init__(self, *, run: _Run, options: ReadOptions, notices: Notices) -> None:
        self.run = run
        self.options = options
        self.notices = notices
        self.effects: dict[str, Effect] = {}
        self.simulations: list[Simulation] = []
        self.plans: dict[str, Plan] = {
            task.task_id: Plan(task=task, expected_n=run.num_trials) for task in run.tasks
        }
        self.unread = 0

    def read_items(self, document: Document) -> None:
        """Read the simulations that lie in the results file itself."""
        records = document.items("simulations")
        if records is None:
            if document.fields.get("simulations") is not None and document.field("simulations") is not None:
                raise Unreadable("not_a_list", "simulations is not a list", pointer="$.simulations")
            return
        for record in records:
            self.read_one(document, record)

    def read_member(self, path: str, source: Source) -> None:
        """Read one file of the simulations folder."""
        try:
            document = source.open(path)
        except Unreadable as error:
            self.unread += 1
            self.notices.extend([error.diagnostic(path)])
            return
        for record in document.records():
            self.read_one(document, record)
        self.notices.extend(document.notices.all())

    def read_one(self, document: Document, record: Record) -> None:
        """Read one simulation, or tell why it cannot be read."""
        pointer = record.pointer
        try:
            value = decode_simulation(record)
        except BadJsonError as error:
            self._tell_unread(document, pointer, f"a simulation cannot be read: {error.problem}")
            return
        if isinstance(value, dict) and "run_info" in value:
            value = exported_simulation(value)
            task = task_of(value["task"], self.run.suite) if isinstance(value.get("task"), dict) else None
            if task is not None and task.task_id == id_text(value.get("task_id")):
                self.plans.setdefault(task.task_id, Plan(task=task))
        if not hasattr(value, "get"):
            self._tell_unread(document, pointer, "a simulation is not an object")
            return
        task_id = id_text(value.get("task_id"))
        if task_id is None:
            self._tell_unread(document, pointer, "a simulation has no task_id")
            return
        self._note_effects(value)
        known = self.plans.get(task_id)
        if known is None:
            expected = self.run.num_trials
            known = self.plans[task_id] = Plan(
                task=Task(task_id=task_id, suite=self.run.suite), expected_n=expected
            )
        simulation = read_simulation(
            value,
            path=document.path,
            pointer=pointer,
            line=record.line,
            suite=self.run.suite,
            provenance=self.run.provenance,
            options=self.options,
            notices=self.notices,
        )
        if record.span is not None:
            simulation = simulation.stored(
                Recipe(
                    importer=IMPORTER.name,
                    span=record.span,
                    pointer=pointer,
                    line=record.line,
                    effects=self.effects,
                )
            )
        self.simulations.append(simulation)

    def _tell_unread(self, document: Document, pointer: str, message: str) -> None:
        self.unread += 1
        self.notices.add(
            Severity.WARNING,
            "unreadable_record",
            message,
            "it is left out; the others are read",
            pointer=pointer,
            path=document.path,
        )

    def _note_effects(self, value: Any) -> None:
        """What the file says about the effect of tools: ``tool_type`` in the action checks."""
        checks = as_object(value.get("reward_info")).get("action_checks")
        for check in checks if isinstance(checks, list) else ():
            if isinstance(check, dict):
                effect = _EFFECTS.get(str(check.get("tool_type")))
                name = as_object(check.get("action")).get("name")
                if effect is not None and isinstance(name, str):
                    self.effects[name] = effect

    def tell_index(self, document: Document) -> None:
        """Tell which simulations the index names although their files are missing."""
        index = document.field("simulation_index")
        if not isinstance(index, list):
            return
        found = {one.producer_id for one in self.simulations}
        for entry in index:
            known = id_text(as_object(entry).get("id"))
            task_id = id_text(as_object(entry).get("task_id"))
            if known is None or task_id is None or known in found:
                continue
            trial = id_text(entry.get("trial"))
            plan = self.plans.get(task_id) or Plan(
                task=Task(task_id=task_id, suite=self.run.suite), expected_n=self.run.num_trials
            )
            lost = (*plan.lost, trial) if trial is not None else plan.lost
            self.plans[task_id] = Plan(task=plan.task, expected_n=plan.expected_n, lost=lost)
            self.notices.add(
                Severity.WARNING,
                "missing_simulation",
                f'trial {trial} of task "{task_id}" is in the index, but its file is missing',
                f"no file of simulation {known} in {_FOLDER}/",
                task_id=task_id,
                trial_id=trial,
            )

    def imported(self) -> Imported:
        """Everything that was read."""
        self._tell_contradictions()
        return Imported(
            trials=tuple(self._trial(one) for one in self.simulations),
            plans=tuple(self.plans.values()),
            diagnostics=self.notices.all(),
            producer=self.run.producer,
            unread=self.unread,
        )

    def _trial(self, simulation: Simulation) -> Trial:
        return simulation.finish(self.effects)

    def _tell_contradictions(self) -> None:
        against = [one.label for one in self.simulations if one.contradicted]
        if against:
            count = f"{len(against)} passed trial{'s have' if len(against) > 1 else ' has'}"
            self.notices.add(
                Severity.NOTE,
                "contradicting_sub_scores",
                f"{count} a check that failed; the verdict stays pass",
                ", ".join(against[:8]) + (", …" if len(against) > 8 else ""),
            )


def _value_of(record: Record) -> Any:
    """What ``read_simulation`` reads, from a record that was read before."""
    value = decode_simulation(record)
    return exported_simulation(value) if isinstance(value, dict) and "run_info" in value else value
