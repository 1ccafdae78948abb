"""Finished values: nothing leaks through any part, and nothing else is changed."""

from __future__ import annotations

import pytest

from tests.render import made
from trajdiff.align.table import Cell, Op
from trajdiff.errors import InputError
from trajdiff.redaction import Redactor
from trajdiff.settings_rules import RedactRules
from trajdiff.shape import without_content


def cell(**more: object) -> Cell:
    return Cell(trial_id="0", op=Op.SAME, step=1, tool="log_in", **more)  # type: ignore[arg-type]


def test_an_argument_with_the_name_of_a_secret_is_hidden_whole() -> None:
    before = cell(arguments=(("user", '"ana"'), ("password", '"swordfish"')), changed=("user", "password"))
    after = Redactor().apply(before)
    assert after.arguments == (("user", '"ana"'), ("password", '"[redacted:secret#1]"'))
    assert after.changed == ("user", "password")
    assert (after.trial_id, after.op, after.tool) == ("0", Op.SAME, "log_in")


def test_a_secret_known_by_its_name_is_found_where_people_say_it() -> None:
    said, called = cell(text="It is tr0ub4dor, as ever."), cell(arguments=(("password", '"tr0ub4dor"'),))
    first, second = Redactor().apply((said, called))
    assert first.text == "It is [redacted:secret#1], as ever."
    assert second.arguments == (("password", '"[redacted:secret#1]"'),)


def test_an_ordinary_word_as_a_password_does_not_blank_the_text() -> None:
    said, called = cell(text="a required field"), cell(arguments=(("password", '"required"'),))
    assert Redactor().apply((said, called))[0].text == "a required field"


def test_empty_and_absent_secrets_are_no_secrets() -> None:
    redactor = Redactor()
    before = cell(arguments=(("token", "null"), ("password", '""')))
    assert redactor.apply(before) is before
    assert not redactor.counts


def test_dicts_are_cleaned_by_key_and_by_value() -> None:
    before = {"config": {"api_key": "abc", "mail": "a@x.org", "n": 3}, "list": ["b@x.org", None]}
    assert Redactor().apply(before) == {
        "config": {"api_key": "[redacted:secret#1]", "mail": "[redacted:email#1]", "n": 3},
        "list": ["[redacted:email#2]", None],
    }


def test_a_report_without_secrets_is_not_touched() -> None:
    report = made.shop()
    assert Redactor(RedactRules(personal=False)).apply(report) is report
    cleaned = Redactor()
    assert "mia@example.com" in repr(report)
    assert "mia@example.com" not in repr(cleaned.apply(report))
    assert dict(cleaned.counts) == {"email": 4}


def test_numbers_do_not_depend_on_chance() -> None:
    values = tuple(f"user{n % 7}@x.org, card 4111 1111 1111 1111" for n in range(40))
    assert Redactor().apply(values) == Redactor().apply(values)


def test_where_a_rule_fails_nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> str:
        raise RuntimeError("boom")

    redactor = Redactor(RedactRules(secrets=False))
    monkeypatch.setattr(redactor, "text", broken)
    with pytest.raises(InputError, match="nothing was written") as error:
        redactor.apply(("a@x.org",))
    assert error.value.exit_code == 3


def test_without_content_no_text_of_the_log_is_left() -> None:
    report = made.shop()
    shaped = without_content(report)
    assert shaped.content is False
    tables = [task.finding.table for task in shaped.tasks if task.finding.table is not None]
    assert tables
    for table in tables:
        for row in table.rows:
            for one in row.cells:
                assert (one.arguments, one.changed, one.result) == ((), (), None)
                assert one.text is None or one.kind == "termination"
    said = [d for task in report.tasks for d in task.finding.divergences if d.evidence or d.root_sides]
    kept = repr(shaped)
    assert said
    for divergence in said:
        assert divergence.sentence not in kept
        assert not any(side.text in kept for side in divergence.root_sides)
    assert [task.reliability for task in shaped.tasks] == [task.reliability for task in report.tasks]
    assert [t.finding.lead.grade for t in shaped.tasks if t.finding.lead] == [
        t.finding.lead.grade for t in report.tasks if t.finding.lead
    ]
