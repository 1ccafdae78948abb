"""What a trial that works by commands leaves behind: its files, edits that changed nothing, its checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from trajdiff.align.memo import once
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.no_effect import had_no_effect
from trajdiff.divergence.work.checks import Check, followed
from trajdiff.divergence.work.commands import Act, Reader, Verb, is_scratch
from trajdiff.model import Effect

#: A trial works by commands when at least this share (of 100) of its calls are commands or edits of files.
BY_COMMANDS = 50
_HUNK = re.compile(r"^@@ [^@\n]* @@ ?(.*)$", re.MULTILINE)
_NEW_FILE = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)
_DEFINITION = re.compile(
    r"^[ \t+-]*(?:(?:export|public|private|protected|static|async|pub|default)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|impl|trait|module)\s+([A-Za-z_]\w*)",
    re.MULTILINE,
)


class File(Struct, frozen=True, kw_only=True):
    """A file that the trial changed and that is still changed at its end.

    ``position`` is the first edit that counts, ``created`` says that the file was not there before;
    ``definitions`` are the names of functions and classes that were edited, as far as the log shows them.
    """

    path: str
    position: int
    created: bool
    definitions: frozenset[str] = frozenset()


class Work(Struct, frozen=True, kw_only=True):
    """The ledger of one trial. ``idle`` are edits that changed nothing, as (path, position); ``share`` is how
    much of its calls (of 100) are commands and edits."""

    files: Mapping[str, File]
    idle: tuple[tuple[str, int], ...]
    checks: Mapping[str, Check]
    share: int

    @property
    def by_commands(self) -> bool:
        """Whether the trial works by commands."""
        return self.share >= BY_COMMANDS

    def paths(self) -> frozenset[str]:
        """Files that were there before and are changed, and created ones that are no scratch."""
        return frozenset(path for path in self.files if not is_scratch(path))

    def definitions(self) -> frozenset[str]:
        """Path and enclosing definition of each edit; the path alone where no definition is known."""
        return frozenset(
            f"{path}::{name}" for path in self.paths() for name in self.files[path].definitions or ("",)
        )


@once
def work_of(trial: PreparedTrial) -> Work:
    """The ledger of a trial."""
    return _Follow().all(trial)


def works_by_commands(trial: PreparedTrial) -> bool:
    """Whether a trial works by commands: the one thing that is asked of trials that do not."""
    return _share(trial) >= BY_COMMANDS


@once
def _share(trial: PreparedTrial) -> int:
    """How much of a trial's calls (of 100) are commands and edits."""
    counted = sum(step.effect is not Effect.CONTROL for step in trial.calls)
    commands = sum(map(bool, _acts(trial)))
    return 100 * commands // counted if counted else 0


@once
def _acts(trial: PreparedTrial) -> list[tuple[Act, ...]]:
    """What each call of a trial does to files, in order."""
    reader = Reader()
    return [reader.acts(step) for step in trial.calls]


class _Follow(Struct):
    """Follows the calls of a trial."""

    files: dict[str, File] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    idle: list[tuple[str, int]] = field(default_factory=list)
    checks: dict[str, Check] = field(default_factory=dict)

    def all(self, trial: PreparedTrial) -> Work:
        for step, acts in zip(trial.calls, _acts(trial), strict=True):
            self._call(step, acts)
        return Work(files=self.files, idle=tuple(self.idle), checks=self.checks, share=_share(trial))

    def _call(self, step: PreparedStep, acts: Sequence[Act]) -> None:
        text = step.step.result.text if step.step.result is not None else ""
        shows = [act for act in acts if act.verb is Verb.SHOW]
        # A command that edits and then shows what changed shows nothing: the edit changed nothing.
        nothing = (
            had_no_effect(step)
            or step.failed
            or (bool(shows) and not text.strip() and step.step.result is not None)
        )
        for act in acts:
            match act.verb:
                case Verb.EDIT if act.path is not None:
                    self._edit(step, act, nothing)
                case Verb.REMOVE if act.path is not None and not step.failed:
                    self._remove(act.path, step)
                case Verb.RESTORE if not step.failed:
                    self._restore(act.path)
                case Verb.READ if act.path is not None and not step.failed:
                    self.known.add(act.path)
                case Verb.CHECK:
                    before = self.checks.get(act.target)
                    self.checks[act.target] = followed(before, act.target, step.position, step)
                case _:
                    pass
        if shows and not any(act.verb is Verb.EDIT for act in acts):
            self._shown(shows, text, step)
        self._hunks(text)

    def _edit(self, step: PreparedStep, act: Act, nothing: bool) -> None:
        path = act.path or ""
        if nothing:
            self.idle.append((path, step.position))
            return
        before = self.files.get(path)
        created = before.created if before is not None else act.whole and path not in self.known
        names = frozenset(_DEFINITION.findall(act.text)) if not created else frozenset()
        self.files[path] = File(
            path=path,
            position=step.position if before is None else before.position,
            created=created,
            definitions=names | (before.definitions if before is not None else frozenset()),
        )
        self.known.add(path)

    def _remove(self, path: str, step: PreparedStep) -> None:
        before = self.files.pop(path, None)
        # Taking away what was there is a change; what the trial made itself was scratch.
        if (before is None and path in self.known) or (before is not None and not before.created):
            self.files[path] = File(path=path, position=step.position, created=False)

    def _restore(self, path: str | None) -> None:
        for name in [name for name in self.files if path in (None, name)]:
            if not self.files[name].created:
                del self.files[name]

    def _shown(self, shows: Iterable[Act], text: str, step: PreparedStep) -> None:
        """An empty difference right after edits: they changed nothing that was there before."""
        if text.strip() or step.failed or step.step.result is None:
            return
        for act in shows:
            for name in [name for name in self.files if act.path in (None, name)]:
                if not self.files[name].created:
                    self.idle.append((name, self.files.pop(name).position))

    def _hunks(self, text: str) -> None:
        """Definitions that a shown difference names for files that are changed."""
        if "@@" not in text:
            return
        parts = _NEW_FILE.split(text)
        for path, body in zip(parts[1::2], parts[2::2], strict=False):
            full = next((name for name in self.files if name == path or name.endswith(f"/{path}")), None)
            names = frozenset(name for context in _HUNK.findall(body) for name in _DEFINITION.findall(context))
            if full is not None and names:
                old = self.files[full]
                self.files[full] = File(
                    path=full, position=old.position, created=old.created, definitions=names
                )
