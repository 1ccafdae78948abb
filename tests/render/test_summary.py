"""The page for people who do not read traces: its figures, its words, both languages, hostile texts."""

from __future__ import annotations

import base64
import hashlib
import re
import string
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from tests.render.made import bare, hostile, lamp, lamp_divergence, report, shop
from trajdiff.divergence.finding import Blame, FindingKind, Kind, Side
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.redaction import rebuilt
from trajdiff.render.summary_page import as_html, as_markdown, renderer_for
from trajdiff.render.summary_words import LANGUAGES
from trajdiff.render.view import View
from trajdiff.report import Recurring, Report

#: What a manager should not have to know.
STATISTICS = (
    "p-value",
    "smallest p",
    "Wilson",
    "confidence",
    "standard error",
    "bootstrap",
    "pass^",
    "pass@",
    "95 %",
)


def markdown(made: Report, language: str = "en") -> str:
    return as_markdown(made, View(), language=language)


def html(made: Report, language: str = "en") -> str:
    return as_html(made, View(), language=language).decode("utf-8")


def texts(language: str) -> dict[str, Any]:
    source = files("trajdiff.render").joinpath("summary_text", f"{language}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def flat(value: Any, at: str = "") -> dict[str, list[str]]:
    """Names in braces of each text, by its place in the file."""
    if isinstance(value, dict):
        return {
            key: names for name, inner in value.items() for key, names in flat(inner, f"{at}.{name}").items()
        }
    if isinstance(value, list):
        return {key: names for n, inner in enumerate(value) for key, names in flat(inner, f"{at}[{n}]").items()}
    names = {name for _, name, _, _ in string.Formatter().parse(str(value)) if name is not None}
    return {at: sorted(names)}


def test_every_language_has_the_same_texts_with_the_same_names() -> None:
    first = flat(texts(LANGUAGES[0]))
    assert len(first) > 80
    for language in LANGUAGES[1:]:
        assert flat(texts(language)) == first


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_and_actor_has_words(language: str) -> None:
    words = texts(language)
    assert set(words["kinds"]) == {kind.value for kind in Kind}
    assert set(words["actors"]) == {actor.value for actor in Blame}


def test_the_five_parts_in_order_and_their_figures() -> None:
    text = markdown(shop())
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings == [
        "What was measured",
        "How reliable it is",
        "What comes up most where attempts fail",
        "What is not known",
        "What to do next",
    ]
    suite = shop().suite
    assert "13 of 23 attempts passed, that is 57 in 100." in text
    assert (
        f"{suite.always} passed every time, {suite.sometimes} passed sometimes and {suite.never} never passed"
        in text
    )
    assert "trajdiff compare task L1-061" in text


def test_what_comes_up_has_an_example_from_its_task() -> None:
    text = markdown(shop())
    assert "`check_permission` is left out (the agent): 2 failed attempts in 1 task." in text
    assert "Example: task `L1-061`, attempt `1`." in text
    assert "Passed attempts: `refund_item(amount=49.9)`" in text
    assert "The failed attempt: `refund_item(amount=99.8)`" in text
    assert "Seen in 2 of 2 failed and 0 of 2 passed attempts of this task." in text


def test_two_sides_that_are_the_same_are_not_quoted() -> None:
    """A call that is made twice where passes make it once reads the same on both sides."""
    made = lamp()
    sides = tuple(Side(trial_id=trial, text="ship_box(box=7) → ok", message=4) for trial in ("0", "1"))
    lead = replace(
        made.finding.divergences[0], kind=Kind.DUPLICATE_WRITE, root_sides=sides, manifest_sides=sides
    )
    text = markdown(report((replace(made, finding=replace(made.finding, lead=lead, divergences=(lead,))),)))
    assert "done twice" in text
    assert "ship_box" not in text


def test_what_recurs_comes_first_and_no_more_than_three() -> None:
    made = shop()
    task = made.tasks[0]
    kinds = (Kind.EXTRA_WRITE, Kind.DUPLICATE_WRITE, Kind.LOOP, Kind.WRONG_ORDER)
    rows = tuple(
        replace(
            lamp_divergence("1"), trial_id=str(number), kind=kind, headline=kind.value, group=(str(number),)
        )
        for number, kind in enumerate(kinds)
    )
    again = tuple(
        Recurring(
            headline=kind.value,
            kind=kind.value,
            actor="agent",
            tool="check_permission",
            trials=(f"{task.task_id}/{number}", "other/0"),
            tasks=(task.task_id, "other"),
        )
        for number, kind in enumerate(kinds)
    )
    finding = replace(task.finding, divergences=rows)
    text = markdown(replace(made, tasks=(replace(task, finding=finding), *made.tasks[1:]), recurring=again))
    entries = re.findall(r"^\d\. .*failed attempts? in.*$", text, re.M)
    assert [entry.split(":")[-1] for entry in entries] == [" 2 failed attempts in 2 tasks."] * 3
    assert "is done where passed attempts do not do it" in entries[0]


def test_what_is_not_known_names_every_group_once() -> None:
    text = markdown(shop())
    kinds = [task.finding.kind for task in shop().tasks]
    for kind, sentence in (
        (FindingKind.NEVER_PASS, "never passed. Without a passed attempt"),
        (FindingKind.SAME_PATH, "passed and failed attempts did the same"),
        (FindingKind.ABSTAINED, "no recorded step tells them apart"),
        (FindingKind.INFRASTRUCTURE, "all failures were technical faults"),
    ):
        assert text.count(sentence) == (1 if kind in kinds else 0), kind
    assert "Missing: 1 attempt of the" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_words_only(language: str) -> None:
    for made in (shop(), bare()):
        for page in (markdown(made, language), html(made, language)):
            assert not [word for word in STATISTICS if word in page]
            assert not re.search(r"\{\w*\}", re.sub(r"(?s)<style>.*?</style>", "", page)), (
                "every name is filled in"
            )


def test_no_attempt_with_a_verdict() -> None:
    assert "No attempt has a verdict, so nothing can be said." in markdown(bare())


def test_chinese_has_no_english_around_the_quoted_parts() -> None:
    page = re.sub(r"`[^`]*`", "", markdown(shop(), "zh"))
    words = set(re.findall(r"[A-Za-z]{2,}", page)) - {"trajdiff"}
    assert not words
    assert '<html lang="zh-Hans">' in html(shop(), "zh")


def test_equal_reports_give_equal_pages() -> None:
    assert markdown(shop()) == markdown(shop())
    assert as_html(shop(), View(), language="en") == as_html(shop(), View(), language="en")


def test_hostile_texts_are_text() -> None:
    attack = "</code></style><script>owned</script>\x1b[2J\u202e`|@everyone<img src=x>"
    made = rebuilt(shop(), lambda text: text if text in {"fail", "exclude"} else f"{text}{attack}")
    plain, evil = html(replace(shop(), name="x")), html(replace(made, name=f"x{attack}"))
    tags = re.compile(r"<[a-z/!][^>]*>")
    assert len(tags.findall(evil)) == len(tags.findall(plain))
    for page in (evil, html(hostile()), markdown(made), markdown(hostile())):
        assert not [char for char in page if char in "\x1b\x00\u202e\x9b\ud83d"]
    assert "<script>" not in re.sub(r"(`+).*?\1", "", markdown(made))


def test_the_policy_allows_its_style_and_nothing_else() -> None:
    page = html(shop())
    (style,) = re.findall(r"(?s)<style>(.*?)</style>", page)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        in page.replace("&#39;", "'")
    )
    assert "<script" not in page
    assert "@page { size: A4" in style, "made to be printed"


def test_the_suffix_decides_and_others_are_refused() -> None:
    assert renderer_for("a/b.MD", "en").name == "markdown"
    assert renderer_for("b.html", "zh").name == "html"
    with pytest.raises(UsageError, match=r"\.md or \.html"):
        renderer_for("b.pdf", "en")
