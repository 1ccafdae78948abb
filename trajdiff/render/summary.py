"""One page for people who do not read traces: what was measured, how reliable it is, what comes up most where
attempts fail, what is not known, what to do next. In plain words; the figures are those of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import Divergence, FindingKind, Kind
from trajdiff.render.card_words import adaptive_text
from trajdiff.render.choosing import is_mixed
from trajdiff.render.effort_words import money
from trajdiff.render.safety import cut, one_line
from trajdiff.render.summary_words import Code, Phrase, Words
from trajdiff.render.two_sides import outcome, parted, told_sides

if TYPE_CHECKING:
    from trajdiff.report import Report, TaskReport

#: Reasons shown, tasks to look at first, and the longest quoted step in cells.
_PLACES, _FIRST, _QUOTED = 3, 3, 180
#: Up to so many attempts at a task the page says that a difference can be a coincidence.
_FEW = 10
#: Kinds whose words say already whose step it is.
_NAMES_ITS_ACTOR = (Kind.USER_DEVIATION, Kind.INFRASTRUCTURE, Kind.SAME_PATH)
#: Kinds for which the answer of the tool tells something.
_ABOUT_RESULTS = (Kind.RESULT_DIFFERENCE, Kind.MISREAD_RESULT, Kind.UNRECOVERED_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry of a list: its sentence, and lines below it."""

    text: Phrase
    below: tuple[Phrase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, sentences that run on, and a list. ``numbered`` where the order of the list matters."""

    heading: str
    sentences: tuple[Phrase, ...] = ()
    items: tuple[Item, ...] = ()
    numbered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The whole page."""

    title: str
    sections: tuple[Section, ...]
    foot: Phrase
    language: str
    stop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """Something that separates outcomes: in how many failed trials and tasks, with one example."""

    trials: int
    tasks: int
    example: Divergence
    task: TaskReport


def summary(report: Report, words: Words) -> Summary:
    """The page of a report in the language of ``words``."""
    name = one_line(report.name or "") or words.text("headings", "untitled")
    return Summary(
        title="".join(str(part) for part in words.say("headings", "page", name=name)),
        sections=(
            Section(heading=words.text("headings", "measured"), sentences=_measured(report, words)),
            Section(heading=words.text("headings", "reliable"), sentences=_reliable(report, words)),
            _places(report, words),
            Section(
                heading=words.text("headings", "unknown"),
                items=tuple(Item(text=text) for text in _unknown(report, words)),
            ),
            Section(heading=words.text("headings", "next"), items=tuple(_next(report, words)), numbered=True),
        ),
        foot=words.say(
            "headings", "foot", version=report.tool_version, command=Code("trajdiff report --html report.html")
        ),
        language=words.language,
        stop=str(words.texts["stop"]),
    )


def _measured(report: Report, words: Words) -> tuple[Phrase, ...]:
    suite = report.suite
    tasks, attempts = words.count("task", suite.tasks), words.count("attempt", suite.completed)
    least, most = _trials(report)
    if least == most:
        said = [words.say("measured", "all", tasks=tasks, times=words.count("times", most), attempts=attempts)]
    else:
        said = [words.say("measured", "varied", tasks=tasks, least=least, most=most, attempts=attempts)]
    said.append(words.say("measured", "grader"))
    if suite.missing:
        lost = words.count("attempt", len(suite.missing))
        said.append(words.say("measured", "missing", attempts=lost, expected=suite.expected))
    if suite.unscored:
        name = "unscored_failed" if suite.unscored_policy == "fail" else "unscored"
        said.append(words.say("measured", name, attempts=words.count("attempt", len(suite.unscored))))
    if suite.infra:
        name = "infra" if suite.infra_policy == "fail" else "infra_left_out"
        said.append(words.say("measured", name, attempts=words.count("attempt", len(suite.infra))))
    return tuple(said)


def _trials(report: Report) -> tuple[int, int]:
    """The smallest and the largest number of recorded trials of a task."""
    counts = [len([trial for trial in task.trials if trial.verdict is not None]) for task in report.tasks]
    return min(counts, default=0), max(counts, default=0)


def _reliable(report: Report, words: Words) -> tuple[Phrase, ...]:
    suite, card = report.suite, report.card
    if not suite.pass_hat_k:
        return (words.say("reliable", "none"),)
    share = _hundred(suite.passed / suite.counted)
    said = [
        words.say("reliable", "passed", passed=suite.passed, counted=suite.counted, share=share),
        words.say(
            "reliable",
            "groups",
            tasks=words.count("task", suite.always + suite.sometimes + suite.never),
            always=suite.always,
            sometimes=suite.sometimes,
            never=suite.never,
        ),
    ]
    k = len(suite.pass_hat_k)
    if adaptive_text(report):
        said.append(words.say("reliable", "varied"))
    elif suite.tasks - len(suite.no_trials) == 1:
        said.append(words.say("reliable", "one_task"))
    elif k > 1:
        said.append(words.say("reliable", "streak", k=k, share=_hundred(suite.pass_hat_k[-1])))
        interval = card.figures.interval(k) if card is not None else None
        if interval is not None:
            ends = {"low": _hundred(interval.low), "high": _hundred(interval.high)}
            said.append(words.say("reliable", "range", **ends))
    if card is not None and card.effort.cost.per_accepted is not None:
        said.append(words.say("reliable", "cost", cost=money(card.effort.cost.per_accepted)))
    return tuple(said)


def _hundred(share: float) -> int:
    return round(100 * share)


def _places(report: Report, words: Words) -> Section:
    found = recurrences(report)
    heading = words.text("headings", "places")
    if not found:
        return Section(heading=heading, sentences=(words.say("places", "none"),))
    items = []
    for one in found:
        text = words.say(
            "places",
            "item_plain" if one.example.kind in _NAMES_ITS_ACTOR else "item",
            what=_what(one.example, words),
            who=words.text("actors", str(one.example.actor)),
            attempts=words.count("failed", one.trials),
            tasks=words.count("task", one.tasks),
        )
        items.append(Item(text=_capital(text), below=tuple(_example(one, words))))
    return Section(
        heading=heading, sentences=(words.say("places", "intro"),), items=tuple(items), numbered=True
    )


def recurrences(report: Report) -> tuple[Recurrence, ...]:
    """What recurs in most failed trials; where that is too little, the first findings of single tasks. No two
    read alike."""
    found: list[Recurrence] = []
    told: set[tuple[str | None, ...]] = set()
    for one in (*_in_several(report), *_in_one(report)):
        key = (str(one.example.kind), str(one.example.actor), one.example.tool)
        if key not in told and len(found) < _PLACES:
            told.add(key)
            found.append(one)
    return tuple(found)


def _in_several(report: Report) -> Iterator[Recurrence]:
    rows = {
        f"{task.task_id}/{row.trial_id}": (task, row)
        for task in report.tasks
        for row in task.finding.divergences
        if not row.abstained
    }
    for entry in report.recurring:
        known = [rows[name] for name in entry.trials if name in rows]
        if known:
            # The best supported one is the example; the order of the report decides among equals.
            task, example = min(known, key=lambda pair: str(pair[1].grade or "Z"))
            yield Recurrence(trials=len(entry.trials), tasks=len(entry.tasks), example=example, task=task)


def _in_one(report: Report) -> Iterator[Recurrence]:
    for task in report.tasks:
        lead = task.finding.lead
        if task.finding.kind is FindingKind.DIVERGENCE and lead is not None and lead.kind is not None:
            yield Recurrence(trials=max(len(lead.group), 1), tasks=1, example=lead, task=task)


def _what(divergence: Divergence, words: Words) -> Phrase:
    tool = one_line(divergence.tool) if divergence.tool else None
    return words.kind(str(divergence.kind), tool)


def _capital(text: Phrase) -> Phrase:
    """A sentence begins with a capital letter, unless it begins with a quoted name."""
    first = text[0] if text else ""
    return (first[:1].upper() + first[1:], *text[1:]) if isinstance(first, str) else text


def _example(one: Recurrence, words: Words) -> Iterator[Phrase]:
    example = one.example
    yield words.say(
        "places", "example", task=Code(one_line(one.task.task_id)), trial=Code(one_line(example.trial_id))
    )
    _, sides = told_sides(one.task, example)
    texts = [one_line(side.text).removesuffix("→").strip() for side in sides]
    if example.kind not in _ABOUT_RESULTS:
        texts = [text.split(" → ", 1)[0] for text in texts]
    if len(set(texts)) == len(texts):  # the same twice shows nothing
        for side, text in zip(sides, parted(texts, example.argument, _QUOTED, "…"), strict=True):
            if text:
                yield words.say("places", outcome(one.task, side.trial_id), step=Code(cut(text, _QUOTED)))
    support = example.support
    if support is not None and support.passed:
        yield words.say(
            "places",
            "support",
            failed_with=support.failed_with,
            failed=support.failed,
            passed_with=support.passed_with,
            passed=support.passed,
        )


def _of_kind(report: Report, kind: FindingKind) -> tuple[str, ...]:
    return tuple(one_line(task.task_id) for task in report.tasks if task.finding.kind is kind)


def _unknown(report: Report, words: Words) -> Iterator[Phrase]:
    groups = {
        "never": FindingKind.NEVER_PASS,
        "same_path": FindingKind.SAME_PATH,
        "abstained": FindingKind.ABSTAINED,
        "infrastructure": FindingKind.INFRASTRUCTURE,
        "not_compared": FindingKind.NOT_COMPARED,
    }
    for name, kind in groups.items():
        tasks = _of_kind(report, kind)
        if tasks:
            yield words.say("unknown", name, tasks=words.count("task", len(tasks)))
    if any(is_mixed(task) for task in report.tasks):
        if report.suite.n_min <= _FEW:
            yield words.say("unknown", "few", n=report.suite.n_min)
        yield words.say("unknown", "untried")
    trials = [trial for task in report.tasks for trial in task.trials]
    recorded = {
        "cost": any(t.cost is not None for t in trials),
        "time": any(t.duration is not None for t in trials),
    }
    lacking = [words.text("unknown", name) for name, there in recorded.items() if not there]
    if lacking:
        yield words.say("unknown", "unrecorded", what=str(words.texts["list"]).join(lacking))


def _next(report: Report, words: Words) -> Iterator[Item]:
    led = _of_kind(report, FindingKind.DIVERGENCE)[:_FIRST]
    if led:
        commands = tuple((Code(f"trajdiff compare task {_quoted(task)}"),) for task in led)
        yield Item(text=words.say("next", "first"), below=commands)
    for name, kind in (
        ("never", FindingKind.NEVER_PASS),
        ("same_path", FindingKind.SAME_PATH),
        ("abstained", FindingKind.ABSTAINED),
    ):
        tasks = _of_kind(report, kind)
        if tasks:
            yield Item(text=words.say("next", name, tasks=words.listed(tasks)))
    if report.suite.missing:
        yield Item(text=words.say("next", "missing"))
    if len(report.suite.pass_hat_k) > 1 and report.card is not None and any(report.card.figures.hat):
        yield Item(text=words.say("next", "range"))
    if report.suite.failed == 0 and report.suite.passed:
        yield Item(text=words.say("next", "nothing"))


def _quoted(task: str) -> str:
    """A task id as a shell takes it."""
    import shlex

    return shlex.quote(task)
