"""What is taken for a secret or for personal data, and what is left alone."""

from __future__ import annotations

import time

import pytest

from trajdiff.redaction import Redactor, counted_in, counts_text
from trajdiff.redaction_patterns import is_card, is_secret_name
from trajdiff.settings_rules import RedactRules

#: Made up for these tests; put together so that no scanner of repositories takes them for real.
KEY = "sk-" + "proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8t"
GITHUB = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "QWERTYUIOPASDFGH"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".c2lnbmF0dXJl_-x"

HIDDEN = {
    f"the key is {KEY}.": ("key", KEY),
    f"push with {GITHUB}": ("key", GITHUB),
    f'{{"id":"{AWS}"}}': ("key", AWS),
    f"session {JWT}": ("token", JWT),
    "Authorization: Bearer abc.DEF-123456789": ("secret", "abc.DEF-123456789"),
    "sent as Bearer abc.DEF-123456789": ("token", "abc.DEF-123456789"),
    "postgres://admin:hunter2@db.local/x": ("secret", "hunter2"),
    '{"user":"a","password":"open sesame"}': ("secret", "open sesame"),
    '{"body":"{\\"api_key\\":\\"zz-top\\"}"}': ("secret", "zz-top"),
    "login with password=S3same!now please": ("secret", "S3same!now"),
    "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----": (
        "key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----",
    ),
    "write to ana.lee+x@mail.example.org, thanks": ("email", "ana.lee+x@mail.example.org"),
    "邮箱ana@example.com。": ("email", "ana@example.com"),
    "card 4111 1111 1111 1111 exp": ("card", "4111 1111 1111 1111"),
    "card 5500-0000-0000-0004": ("card", "5500-0000-0000-0004"),
    '"378282246310005"': ("card", "378282246310005"),
    "call +49 30 1234567 today": ("phone", "+49 30 1234567"),
    "call (415) 555-2671": ("phone", "(415) 555-2671"),
    "电话13812345678。": ("phone", "13812345678"),
}

KEPT = (
    "4111 1111 1111 1112 fails the check digit",
    "order 4111111111111111 is a card, but A4111111111111111 is a name"[40:],
    "0.4111111111111111",
    "1700000000000 milliseconds, 1700000000000000 microseconds",
    "2024-05-15T10:11:12, 192.168.100.200, 555-1234",
    "runs/shop.json#L1-061/1@8",
    "max_tokens: 4096, tokens=12",
    "the password is required",
    "author = someone; next page",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "-0.16 to +0.12 and +1.50",
    "risk-free, task-based, sk-",
    "@mention and a @ b",
)


@pytest.mark.parametrize("text", HIDDEN)
def test_a_secret_is_hidden_and_the_rest_stays(text: str) -> None:
    kind, value = HIDDEN[text]
    redactor = Redactor()
    made = redactor.apply(text)
    assert made == text.replace(value, f"[redacted:{kind}#1]")
    assert dict(redactor.counts) == {kind: 1}


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    redactor = Redactor()
    assert redactor.apply(text) == text
    assert not redactor.counts


@pytest.mark.parametrize("text", HIDDEN)
def test_a_cleaned_text_has_nothing_left_to_hide(text: str) -> None:
    once = Redactor().apply(text)
    again = Redactor()
    assert again.apply(once) == once
    assert not again.counts


def test_equal_values_get_the_same_placeholder_and_others_another() -> None:
    redactor = Redactor()
    made = redactor.apply(("a@x.org", "b@x.org and a@x.org", "c"))
    assert made == ("[redacted:email#1]", "[redacted:email#2] and [redacted:email#1]", "c")
    assert counts_text(redactor.counts) == "3 values redacted (3 email)"
    assert counted_in("\n".join(made)) == redactor.counts
    assert counted_in("| \\[redacted:email\\#1\\] |") == {"email": 1}
    assert counts_text({}) == "0 values redacted"


def test_each_group_of_rules_can_be_switched_off() -> None:
    text = f"{KEY} a@x.org ORD-123456"
    secrets = Redactor(RedactRules(personal=False)).apply(text)
    assert secrets == "[redacted:key#1] a@x.org ORD-123456"
    personal = Redactor(RedactRules(secrets=False)).apply(text)
    assert personal == f"{KEY} [redacted:email#1] ORD-123456"
    own = Redactor(RedactRules(secrets=False, personal=False, patterns=("ORD-[0-9]{6}",))).apply(text)
    assert own == f"{KEY} a@x.org [redacted:custom#1]"


def test_names_of_secrets() -> None:
    for name in ("password", "user.api_key", "accessToken", "X-API-KEY", "client_secret", "items[].cvv"):
        assert is_secret_name(name), name
    for name in ("max_tokens", "author", "keyword", "passenger", "secretary", "token_count", "monkey", "pin"):
        assert not is_secret_name(name), name


def test_check_digit() -> None:
    for card in ("4111111111111111", "5500000000000004", "378282246310005", "6011000990139424"):
        assert is_card(card)
        digit = (int(card[-1]) + 1) % 10
        assert not is_card(card[:-1] + str(digit))
    assert not is_card("4" * 16)
    assert not is_card("411111111111")


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "a@" * 100_000, "1 " * 100_000, '"password' * 30_000, "x://" * 50_000, "4-" * 100_000,
     "password=" * 20_000, "eyJ" * 60_000, "(415) " * 30_000],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_no_text_makes_it_slow(text: str) -> None:
    start = time.process_time()
    Redactor().apply(text)
    assert time.process_time() - start < 5
