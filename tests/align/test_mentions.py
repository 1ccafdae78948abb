"""Whether a text states a value. The test errs on the side of "no", so the noes matter as much as the yeses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajdiff.align.mentions import commitments, states
from trajdiff.align.values import canonical

# text, value as recorded in an argument, path of the argument
SAID: dict[str, tuple[str, object, str]] = {
    "an id": ("I found order A1001.", "A1001", "order_id"),
    "an id in other case": ("i found order a1001", "A1001", "order_id"),
    "an id with a hash in the value": ("Your order W1001 is here.", "#W1001", "order_id"),
    "an id with a hash in the text": ("Your order #W1001 is here.", "W1001", "order_id"),
    "an id with a hash on both sides": ("Order #W1001?", "#W1001", "order_id"),
    "an id in brackets": ("the lamp (LAMP-1) is broken", "LAMP-1", "sku"),
    "an id in quotes": ("the lamp “LAMP-1” is broken", "LAMP-1", "sku"),
    "an id with a hyphen at the end of a sentence": ("It is LAMP-1.", "LAMP-1", "sku"),
    "an id with underscores": ("You are mia_li_3668, right?", "mia_li_3668", "user_id"),
    "a long number that is an id": ("Item 6077640618 it is.", "6077640618", "item_id"),
    "a phone number": ("Call 555-0142 please.", "555-0142", "phone"),
    "a mail address before a full stop": ("Write to ann.lee@example.com.", "ann.lee@example.com", "email"),
    "a time": ("The train leaves at 14:30.", "14:30", "time"),
    "an amount": ("I can refund 49.90 for it.", 49.9, "amount"),
    "an amount at the end of a sentence": ("I can refund 49.90.", 49.9, "amount"),
    "an amount before a comma": ("It cost 49.90, as agreed.", "49.90", "amount"),
    "a dollar amount": ("That is $49.90.", 49.9, "amount"),
    "a whole dollar amount": ("That is $49.", 49, "amount"),
    "a euro amount": ("That is €49.90", 49.9, "amount"),
    "an amount with thousands": ("The total is 1,200.50 dollars.", 1200.5, "total"),
    "a dollar amount with thousands": ("The total is $12,345.", 12345, "total"),
    "a refund written without its sign": ("You get $30.00 back.", -30, "amount"),
    "a large whole number": ("There are 240 of them.", 240, "stock"),
    "a small number beside its name": ("You have 2 suitcases.", 2, "suitcases"),
    "a small number in words beside its name": ("You have two suitcases.", 2, "suitcases"),
    "a date as recorded": ("It comes on 2024-05-20.", "2024-05-20", "date"),
    "a date, month first": ("It comes on May 20.", "2024-05-20", "date"),
    "a date, day first": ("It comes on 20 May 2024.", "2024-05-20", "date"),
    "a date with an ordinal": ("It comes on May 20th, 2024.", "2024-05-20", "date"),
    "a date, month shortened": ("It comes on Sep 3.", "2024-09-03", "date"),
    "a Chinese id": ("您的订单A1001已经退款。", "A1001", "order_id"),
    "a Chinese amount": ("可以为您退款49.90元，是否继续？", 49.9, "amount"),
    "a Chinese date": ("快递将于3月12日送达。", "2025-03-12", "date"),
    "a Chinese word": ("我要蓝色的背包。", "蓝色", "colour"),
    "full-width letters and digits": ("订单Ａ１００１", "A1001", "order_id"),
    "a full-width amount": ("退款４９．９０元", 49.9, "amount"),
    "a full-width value": ("order A1001", "Ａ１００１", "order_id"),
    "words": ("Send it to 14 Mill Lane, please.", "14 Mill Lane", "street"),
    "a word": ("The blue one, please.", "blue", "colour"),
}

NOT_SAID: dict[str, tuple[str, object, str]] = {
    "a longer id": ("I found order A10010.", "A1001", "order_id"),
    "an id with another end": ("It is LAMP-12.", "LAMP-1", "sku"),
    "an id that goes on behind a hyphen": ("It is A1001-B.", "A1001", "order_id"),
    "the first part of an id": ("It is LAMP-1.", "LAMP", "sku"),
    "a name inside an id": ("You are mia_li_3668, right?", "mia", "first_name"),
    "an id of a name": ("You are Mia Li, right?", "mia_li_3668", "user_id"),
    "a number inside an id": ("I found order A100.", 100, "amount"),
    "a number behind a hyphen": ("The code is X-250.", 250, "amount"),
    "a number before a hyphen": ("Call 555-0142.", 555, "amount"),
    "a number inside a longer one": ("It cost 1490.", 490, "amount"),
    "a whole number of a decimal one": ("It cost 149.90.", 149, "amount"),
    "another number of decimals": ("It cost 49.95.", 49.9, "amount"),
    "a part of a number with thousands": ("The total is 1,200.", 200, "total"),
    "a list number": ("1. the lamp\n2. the rug", 2, "suitcases"),
    "a small number beside another name": ("You have 2 lamps.", 2, "suitcases"),
    "a small number in another sentence": ("You have suitcases. I see 2.", 2, "suitcases"),
    "another day": ("It comes on May 21.", "2024-05-20", "date"),
    "another month": ("It comes on June 20.", "2024-05-20", "date"),
    "a day before another month's name": ("From 20 to 22 May.", "2024-05-20", "date"),
    "another Chinese date": ("快递将于3月21日送达。", "2025-03-12", "date"),
    "a longer Chinese id": ("您的订单A10012已经退款。", "A1001", "order_id"),
    "a word inside a word": ("The bluebird is gone.", "blue", "colour"),
    "a short word": ("I am at it.", "at", "country"),
    "true": ("It is true.", True, "paid"),
    "null": ("null", None, "paid"),
    "nothing": ("anything", "", "note"),
    "silence": ("", "A1001", "order_id"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value", "path"), SAID.values(), ids=SAID)
def test_said(text: str, value: object, path: str) -> None:
    assert states(text, canonical(value), path)


@pytest.mark.parametrize(("text", "value", "path"), NOT_SAID.values(), ids=NOT_SAID)
def test_not_said(text: str, value: object, path: str) -> None:
    assert not states(text, canonical(value), path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Send it to 14 Mill Lane.", "4 Mill Lane"),
        ("Send it to Mill Lane 14.", "Mill Lane 1"),
        ("请送到建设路15号楼。", "5号楼"),
    ],
)
def test_words_are_not_said_inside_longer_ones(text: str, value: str) -> None:
    assert not states(text, canonical(value), "street")


def test_a_date_with_of() -> None:
    assert states("It comes on the 20th of May.", "2024-05-20", "date")


LETTERS = st.text(alphabet="ABCDEFGHJKLMNPQRSTUVWXYZ", min_size=1, max_size=3)
IDS = st.builds(lambda letters, number: f"{letters}{number}", LETTERS, st.integers(100, 99_999))


@given(IDS, st.sampled_from(["", "#"]), st.sampled_from(["", "#"]))
def test_any_id_is_said_in_a_plain_sentence_with_or_without_hash(name: str, left: str, right: str) -> None:
    assert states(f"I looked at {left}{name}, and it is fine.", canonical(f"{right}{name}"), "order_id")


@given(IDS, IDS)
def test_no_id_is_said_by_another_one(name: str, other: str) -> None:
    said = states(f"I looked at {other}, and it is fine.", canonical(name), "order_id")
    assert said == (name == other)


@given(st.decimals(min_value=100, max_value=99_999, places=2))
def test_any_amount_is_said_however_it_is_written(amount: object) -> None:
    for text in (f"{amount}", f"${amount}", f"{amount:,}", f"€{amount:,}", f"约{amount}元"):
        assert states(f"It is {text}.", canonical(float(str(amount))), "amount")


def test_commitments_are_ids_dates_and_numbers_but_no_list_numbers() -> None:
    text = "1. Order A1001 costs $49.90, 2. it comes on May 20 at 14:30; three lamps, 240 in stock."
    found = commitments(text)
    assert {"a1001", "49.9", "5-20", "14:30", "240"} <= found
    assert not found & {"1", "2", "3"}
    assert commitments("Hello, how can I help you?") == frozenset()


def test_the_same_statement_in_two_languages_states_the_same() -> None:
    english = commitments("I can refund 49.95 for A1001 on 2025-03-12.")
    chinese = commitments("我可以在3月12日为订单Ａ１００１退款４９．９５元。")
    assert english & chinese == {"49.95", "a1001", "3-12"}


SPELLED = {
    "a final zero": ("It costs 49.90.", "It costs 49.9."),
    "decimals of a whole amount": ("It costs $120.00.", "It costs $120."),
    "a date": ("It comes on 2025-03-12.", "It comes on March 12, 2025."),
    "a Chinese sentence": ("您的积分有效期为24个月", "It lasts 24 months."),
}


@pytest.mark.parametrize(("left", "right"), SPELLED.values(), ids=SPELLED)
def test_one_value_is_one_commitment_however_it_is_spelled(left: str, right: str) -> None:
    assert commitments(left) == commitments(right)
