"""What one call of a command works with: its options, the settings above defaults, and where output goes."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from trajdiff import files
from trajdiff.cli.completing import remember
from trajdiff.cli.diagnostics import tell
from trajdiff.cli.kept import code_stamp, kept_analysis, kept_files, remembering, store_of
from trajdiff.cli.paging import page_or_put
from trajdiff.cli.progress import Stage, in_megabytes
from trajdiff.cli.sharing import Sharing
from trajdiff.cli.streams import State, is_terminal, put, say, standard_input, use_ascii, use_color, width
from trajdiff.cli.work_options import check_work, runner_of
from trajdiff.cli.writing import STANDARD_OUTPUT, check_target, write
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.importers import ReadOptions, load, manifest_traces
from trajdiff.intervention import STORE
from trajdiff.render.choosing import Choice
from trajdiff.render.marks import ASCII, UNICODE
from trajdiff.render.registry import Renderer, by_name, by_suffix
from trajdiff.render.safety import clean, one_line
from trajdiff.render.view import View
from trajdiff.report import Report, build_report
from trajdiff.review.joining import judged
from trajdiff.review.places import reviews_file
from trajdiff.review.verdicts import read_reviews
from trajdiff.settings import IgnoreRules, Settings, default_traces, load_settings, override

if TYPE_CHECKING:
    from trajdiff.analysed import Analysis, KeptAnalysis
    from trajdiff.cli.parts import Parts
    from trajdiff.divergence.borrowed import References
    from trajdiff.execution.runner import Runner
    from trajdiff.model import Corpus, Diagnostic
    from trajdiff.reliability.card import CardOptions

#: Bytes from which on an HTML file opens slowly.
LARGE_PAGE = 50_000_000
#: Files named one by one in notes before a count.
_NAMED = 5
#: Options that name a file and its format in one, and that format.
_SHORT = {"md": "markdown", "html": "html"}
#: Options that are settings too, under the same name.
_SETTINGS = ("infra", "unscored", "threshold", "expected_trials", "k", "name", "outcomes")


class Session:
    """Options and settings of one command, and the streams it speaks to.

    ``subject`` is what the command renders; with it, formats and targets are checked before anything is read.
    """

    def __init__(self, context: click.Context, options: Mapping[str, Any], subject: str | None = None) -> None:
        self.options = options
        self._context = context
        self.state = context.find_object(State) or State()
        self.state.debug = bool(options.get("debug"))
        self.quiet, self.verbose = bool(options.get("quiet")), bool(options.get("verbose"))
        check_work(options)
        self.cache = store_of(options)
        self.reading: ReadOptions | None = None
        #: Outcomes of other runs that are put together; nothing is worked on here then.
        self.parts: Parts | None = None
        self.settings = self._settings()
        self.sharing = Sharing(options, self.settings)
        self.where = ""
        self.paths: list[str] = []
        self._told: list[Diagnostic] = []
        self._outputs: list[Renderer] = []
        if subject is not None:
            shown = by_name(subject, self.format())
            self._outputs = [shown, *(renderer for _, renderer in self._targets(subject))]

    def _settings(self) -> Settings:
        """Settings file, with the options (or their environment variables) above it."""
        found = load_settings(
            self.options.get("config"), use_config=not self.options.get("no_config"), start=here()
        )
        for name in _SETTINGS:
            value = self.options.get(name)
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"{self._origin(name)} {value}: is no finite number")
            if value not in (None, ()):
                found = override(found, origin=self._origin(name), **{name: value})
        return found

    def _origin(self, name: str) -> str:
        """The option or the environment variable a value came from."""
        if self._context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
            return f"{self._context.auto_envvar_prefix}_{name.upper()}"
        return f"--{name.replace('_', '-')}"

    def note(self, word: str, text: str) -> None:
        """A line of standard error that is no warning: ``read``, ``wrote``, ``note``."""
        if not self.quiet:
            say(f"{word:<8}{clean(text)}".rstrip())

    def hint(self, *commands: str) -> None:
        """What to try next; on a terminal only."""
        if is_terminal(sys.stdout) and is_terminal(sys.stderr):
            self.note("next", "     ".join(commands))

    def traces(self, given: Sequence[str]) -> list[str]:
        """The paths to read; the choice is told where none were given."""
        if given:
            paths = list(given)
        elif not self.settings.traces and (named := manifest_traces(self.settings.outcomes)):
            paths = list(named)
            self.note("traces", f"{' '.join(_shown(path) for path in paths)} (no TRACES given; the manifest)")
        else:
            paths, why = default_traces(self.settings, here())
            self.note("traces", f"{' '.join(_shown(path) for path in paths)} ({why})")
        self.paths = paths
        self.where = " ".join(paths[:3]) + (" ..." if len(paths) > 3 else "")
        return paths

    def read_options(self, paths: Sequence[str]) -> ReadOptions:
        """The reading options; standard input is read here where a path is ``-``."""
        get = self.options.get
        return ReadOptions(
            format=get("from"),
            map=get("map"),
            maps=self.settings.map,
            maps_origin=self.settings.origins.get("map", "settings"),
            outcomes=self.settings.outcomes,
            group_by=get("group_by"),
            scorer=get("scorer"),
            threshold=self.settings.threshold,
            on_duplicate=get("on_duplicate"),
            on_error=get("on_error") or "skip",
            strict=bool(get("strict")),
            suite=get("suite"),
            expected_trials=self.settings.expected_trials,
            stdin=standard_input() if STANDARD_OUTPUT in paths else None,
            kept=None if self.cache is None else kept_files(self.cache),
        )

    def load(self, given: Sequence[str], *, list_files: bool = False, tell_all: bool = True) -> Corpus:
        """Read the traces; problems are told as warnings and errors on standard error.

        With ``tell_all`` off nothing is told yet: commands about one task call ``tell_about`` later.
        """
        paths = self.traces(given)
        self.state.stage = "read"  # standard input may keep it waiting
        self.reading = self.read_options(paths)
        with Stage("read", "MB", self.state, quiet=self.quiet) as stage:
            corpus = load(paths, replace(self.reading, progress=in_megabytes(stage)))
        corpus = self._with_unused_patterns(corpus)
        self._spare_inputs(corpus)
        if is_terminal(sys.stdout) and is_terminal(sys.stderr):
            remember(corpus, os.environ)
        if list_files or self.verbose:
            self._tell_files(corpus)
        if tell_all or self.verbose:
            tell(corpus.diagnostics, quiet=self.quiet, verbose=self.verbose)
        return corpus

    def _with_unused_patterns(self, corpus: Corpus) -> Corpus:
        """The corpus with a note on settings that match nothing in it."""
        used = self.settings
        if not (used.tools or used.steps or used.gate or used.ignore != IgnoreRules()):
            return corpus
        from trajdiff.unused_patterns import unused_patterns

        return replace(corpus, diagnostics=(*corpus.diagnostics, *unused_patterns(corpus, used)))

    def tell_about(self, corpus: Corpus, task_id: str) -> None:
        """Tell what concerns one task, and what concerns whole files."""
        if not self.verbose:
            about = [entry for entry in corpus.diagnostics if entry.task_id in (None, task_id)]
            tell(about, quiet=self.quiet, verbose=False)

    def _tell_files(self, corpus: Corpus) -> None:
        named = corpus.files if self.verbose else corpus.files[:_NAMED]
        rows = [
            (
                one_line(file.path),
                one_line(file.format),
                _count(file.tasks, "task"),
                _count(file.trials, "trial"),
            )
            for file in named
        ]
        sizes = [max(len(row[at]) for row in rows) for at in range(3)] if rows else []
        for row in rows:
            cells = [f"{text:<{size}}" for text, size in zip(row, sizes, strict=False)]
            self.note("read", "   ".join((*cells, row[3])))
        if len(corpus.files) > len(named):
            left = corpus.files[len(named) :]
            self.note(
                "read", f"and {_count(len(left), 'more file')}, {_count(sum(f.trials for f in left), 'trial')}"
            )

    def report(
        self,
        corpus: Corpus,
        tasks: Sequence[str] | None = None,
        *,
        card: CardOptions | None = None,
        reviewed: bool = True,
    ) -> Report:
        """Analyse the tasks (None: all, empty: none) and join everything into a report; a card if asked.

        The accept list, the verdicts of reviewers (unless ``reviewed`` is off) and what the ignore rules hid
        are added.
        """
        kept = self._kept_analysis(corpus, tasks)
        analysis = kept.find() if kept is not None else None
        if analysis is None:
            analysis = self._analysis(corpus, tasks)
            if kept is not None:
                kept.keep(analysis)
        self._let_go()
        tell(analysis.problems, quiet=self.quiet, verbose=self.verbose)
        made = build_report(corpus, analysis, self.settings, name=self.settings.name, card=card)
        return self._judged(made, corpus, whole=tasks is None, reviewed=reviewed)

    def _analysis(self, corpus: Corpus, tasks: Sequence[str] | None) -> Analysis:
        from trajdiff.analysis import analyse

        with Stage("align", "tasks", self.state, quiet=self.quiet) as stage:
            return analyse(
                corpus,
                self.settings,
                tasks=tasks,
                whole=self._whole,
                progress=stage,
                references=self.references(corpus),
                runner=self._runner(corpus),
            )

    @property
    def _whole(self) -> bool:
        """Whether anything that is shown says something about the whole input."""
        return not self._outputs or any(renderer.whole for renderer in self._outputs)

    def _kept_analysis(self, corpus: Corpus, tasks: Sequence[str] | None) -> KeptAnalysis | None:
        """Where the analysis of these tasks is kept; None for all tasks, of which each is kept by itself, and
        for references that lie elsewhere."""
        if not tasks or self.cache is None or self.reading is None or self.options.get("reference"):
            return None
        return kept_analysis(self.cache, corpus, self.settings, self.reading, tasks=tasks, whole=self._whole)

    def references(self, corpus: Corpus) -> References | None:
        """The references that the user named, None where none was."""
        named = self.options.get("reference")
        if not named:
            return None
        from trajdiff.cli.reference import read_references

        return read_references(
            named,
            corpus,
            self.where,
            lambda path: load([path], self.read_options([path])),
        )

    def _runner(self, corpus: Corpus) -> Runner:
        """Where tasks are worked on, behind what is known of them already."""
        if self.parts is not None:
            from trajdiff.cli.parts import Nowhere

            runner: Runner = Nowhere(self.parts.missing)
        else:
            runner = runner_of(self.options, sum(len(trial.steps) for trial in corpus.trials))
        known = self.parts if self.parts is not None else self.cache
        if known is None or self.reading is None:
            return runner
        code = code_stamp(anywhere=self.parts is not None)
        moved = None if self.parts is None else self.parts.moved(corpus.files)
        return remembering(runner, known, corpus, self.reading, code, moved)

    def _let_go(self) -> None:
        """Leave the cache; what was wrong with it is told, since it costs time only."""
        if self.cache is not None:
            self.cache.prune()
            self.cache.close()
            if self.cache.problem is not None and self.verbose:
                self.note("note", f"the cache was not used: {one_line(self.cache.problem)}")

    def _judged(self, made: Report, corpus: Corpus, *, whole: bool, reviewed: bool) -> Report:
        """The report with what people said and ruled; what is wrong with their entries is told once."""
        before = len(made.diagnostics)
        file = self.reviews_file()
        reviews = read_reviews(file, one_line(str(file))) if reviewed else ()
        made = judged(made, self.settings, corpus.trials, reviews, today=today(os.environ), whole=whole)
        new = [one for one in made.diagnostics[before:] if one not in self._told]
        self._told += new
        tell(new, quiet=self.quiet, verbose=self.verbose)
        return _tested(made)

    def reviews_file(self) -> Path:
        """Where verdicts are kept: as the settings say, else beside the traces, else here."""
        return reviews_file(self.settings.reviews, self.paths)

    def choice(self) -> Choice:
        """The choosing options."""
        get = self.options.get
        return Choice(
            tasks=tuple(get("task") or ()),
            only=get("only"),
            min_grade=get("min_grade"),
            actor=get("actor"),
            kind=get("kind"),
            tool=get("tool"),
            stop=get("stop"),
            limit=get("limit"),
        )

    def view(self, **more: Any) -> View:
        """How standard output shows things; files get the same without colour, at a fixed width."""
        ascii_marks = bool(self.options.get("ascii")) or use_ascii(os.environ)
        return View(
            width=width(os.environ),
            color=use_color(self.options.get("color") or "auto", os.environ),
            marks=ASCII if ascii_marks else UNICODE,
            k=self.settings.k,
            choice=self.choice(),
            **more,
        )

    def format(self) -> str:
        """The format of standard output."""
        chosen = self.options.get("format")
        if self.options.get("json"):
            if chosen not in (None, "json"):
                raise UsageError(f"--json and --format {chosen} exclude each other")
            return "json"
        return chosen or "text"

    def _spare_inputs(self, corpus: Corpus) -> None:
        """Refuses to write over a log that was just read."""
        read = {files.real_path(file.path) for file in corpus.files}
        given = self.options.get("to") or ()
        short = [self.options.get(name) for name in (*_SHORT, "summary")]
        for target in (*((given,) if isinstance(given, str) else given), *short):
            if target and target != STANDARD_OUTPUT and files.real_path(target) in read:
                raise UsageError(
                    f"{one_line(target)}: is one of the logs that were read", "write to another file"
                )

    def emit(self, subject: str, report: Report, view: View) -> None:
        """Print the result, write the files asked for; all targets are checked before the first is written."""
        targets = self._targets(subject)
        shown = by_name(subject, self.format())
        rendered = [(target, *self.document(renderer, report, view)) for target, renderer in targets]
        plain = view if shown.name == "text" else _plain(view)
        report, plain = self.sharing.prepare(report, plain, file=False, format_name=shown.name)
        content = shown.render(report, plain)
        if shown.name == "text" and isinstance(content, str) and subject in ("task", "trials"):
            page_or_put(content, wanted=self.options.get("pager"))
        else:
            put(content, utf8=shown.name != "text")
        for target, content, told in rendered:
            write(target, content)
            self.note("wrote", f"{one_line(target)}   {told}")
            if target.lower().endswith(".html") and len(content) > LARGE_PAGE:
                size = f"{len(content) / 1_000_000:.0f} MB"
                say(f"warning: {one_line(target)}: {size} open slowly in a browser\n"
                    "  --only mixed writes the tasks with passed and failed trials alone")  # fmt: skip

    def document(self, renderer: Renderer, report: Report, view: View) -> tuple[str | bytes, str]:
        """The content of a file as it may leave, and what is to be told about what was hidden in it."""
        report, view = self.sharing.prepare(
            report, _for_file(view, self.options), file=True, format_name=renderer.name
        )
        content = renderer.render(report, view)
        return content, self.sharing.told(content)

    def _targets(self, subject: str) -> list[tuple[str, Renderer]]:
        """Files to write and their renderers. Standard output is written once, in its format."""
        targets: list[tuple[str, Renderer]] = []
        for target in self.options.get("to") or ():
            if target == STANDARD_OUTPUT:
                if not (self.options.get("format") or self.options.get("json")):
                    raise UsageError("--to - needs --format")
                continue
            check_target(target)
            targets.append((target, by_suffix(subject, target)))
        for option, name in _SHORT.items():
            if self.options.get(option):
                check_target(self.options[option])
                targets.append((self.options[option], by_name(subject, name)))
        return targets


def _tested(report: Report) -> Report:
    """The report with the outcomes of interventions that are kept here."""
    if not files.exists(STORE):
        return report
    from trajdiff.intervention.joining import with_outcomes
    from trajdiff.intervention.outcome import read_store

    return with_outcomes(report, read_store(Path(STORE)))


def today(environment: Mapping[str, str]) -> date:
    """The day accept entries are held against: SOURCE_DATE_EPOCH where it is set, else the calendar."""
    epoch = environment.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), tz=UTC).date()
    return date.today()


def here() -> Path:
    """The current folder. Raises ``UsageError`` where it was deleted."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError("the current folder is gone", "change to a folder that exists") from error


def read_text(path: str, what: str) -> str:
    """A small file the user named. Raises ``UsageError`` where it cannot be read as UTF-8 text."""
    try:
        return files.read_text(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{one_line(path)}: {what} cannot be read ({why})") from error


def _for_file(view: View, options: Mapping[str, Any]) -> View:
    """A file must not depend on the terminal it was made at."""
    return replace(view, width=100, color=False, marks=ASCII if options.get("ascii") else UNICODE)


def _plain(view: View) -> View:
    return replace(view, color=False)


def _shown(path: str) -> str:
    """``./traces`` for a relative path, so that it reads as a place."""
    clean = one_line(path)
    return clean if clean == "-" or Path(clean).is_absolute() or clean.startswith(".") else f"./{clean}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
