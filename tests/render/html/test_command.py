"""``report --html`` from the command line: written whole, redacted by default, a word about large files."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import run
from trajdiff.cli import session


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Two trials of one task; an e-mail address and a password are in them."""
    path = tmp_path / "traces.jsonl"
    records = [
        {
            "schema": "trajdiff/1",
            "task_id": "t-1",
            "trial_id": str(number),
            "verdict": verdict,
            "steps": [
                {"actor": "user", "kind": "message", "text": "I am mia@example.org, please refund me."},
                {"name": "login", "arguments": {"password": "s3cret-Horse"}, "result": "ok"},
                {"name": "refund_item", "arguments": {"amount": amount}, "result": "ok"},
                {"actor": "agent", "kind": "message", "text": f"Refunded {amount}."},
            ],
        }
        for number, verdict, amount in ((0, "pass", 49.9), (1, "fail", 99.8))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def written(*arguments: str | Path) -> tuple[str, str]:
    """The page with its chunks unpacked, and what was said on standard error."""
    page = Path(arguments[arguments.index("--html") + 1])
    done = run("report", *map(str, arguments))
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    packed = re.findall(r'<script type="application/gzip" id="\w+">([^<]*)<', text)
    inside = "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)
    return text + inside, done.err


def test_secrets_stay_out_of_the_page_and_its_chunks(traces: Path, tmp_path: Path) -> None:
    content, said = written(traces, "--html", tmp_path / "r.html")
    assert "mia@example.org" not in content
    assert "s3cret-Horse" not in content
    assert "[redacted:email#1]" in content
    assert re.search(r"wrote +\S+r\.html +\d+ values redacted \(.*email.*\)", said)


def test_redaction_can_be_refused(traces: Path, tmp_path: Path) -> None:
    content, said = written(traces, "--html", tmp_path / "r.html", "--no-redact")
    assert "mia@example.org" in content
    assert "not redacted" in said


def test_shape_only(traces: Path, tmp_path: Path) -> None:
    content, _ = written(traces, "--html", tmp_path / "r.html", "--no-content")
    for said in ("49.9", "99.8", "please refund me", "s3cret"):
        assert said not in content
    assert "refund_item" in content


def test_to_takes_the_suffix_and_gives_the_same_file(traces: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "a.html", tmp_path / "b.html"
    done = run("report", str(traces), "--html", str(one), "--to", str(two))
    assert done.code == 0
    assert one.read_bytes() == two.read_bytes()


def test_a_large_file_is_told_with_what_makes_it_smaller(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.LARGE_PAGE == 50_000_000
    _, said = written(traces, "--html", tmp_path / "r.html")
    assert "--only mixed" not in said
    monkeypatch.setattr(session, "LARGE_PAGE", 1000)
    _, said = written(traces, "--html", tmp_path / "r.html")
    assert "warning: " in said
    assert "--only mixed" in said


def test_a_log_is_never_written_over(traces: Path) -> None:
    before = traces.read_bytes()
    done = run("report", str(traces), "--html", str(traces))
    assert done.code == 2
    assert traces.read_bytes() == before


def test_the_summary_is_written_in_the_language_asked_for(traces: Path, tmp_path: Path) -> None:
    for language, title in (("en", "# Recorded attempts: how reliable"), ("zh", "# 已记录的尝试：有多可靠")):
        target = tmp_path / f"{language}.md"
        done = run("report", str(traces), "--summary", str(target), "--lang", language)
        assert done.code == 0, done.err
        assert target.read_text(encoding="utf-8").startswith(title)
        assert "wrote" in done.err
        assert "s3cret-Horse" not in target.read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_written_stops_before_the_work(traces: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "x.pdf", tmp_path / "no" / "x.md"):
        done = run("report", str(traces), "--summary", str(target))
        assert done.code == 2
        assert done.out == ""


def test_the_range_of_the_summary_is_that_of_the_report(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    done = run("report", str(project / "sample_traces"), "--summary", str(target), "--json", "-q")
    assert done.code == 0
    suite = done.json["suite"]
    last = suite["pass_hat_k"][-1]
    ends = [round(100 * last[name]) for name in ("low", "high")]
    text = target.read_text(encoding="utf-8")
    assert f"expect anything from {ends[0]} to {ends[1]} in 100." in text
    assert f"For about {round(100 * last['value'])} of 100 tasks, all of {last['k']} attempts succeed." in text
    assert f"{suite['passed']} of {done.json['trials']['counted']} attempts passed" in text
    places = re.findall(r"^\d\. .*: (\d+) failed attempts in (\d+) tasks\.$", text, re.M)
    assert len(places) == 3
    recurring = [(str(len(one["trials"])), str(len(one["tasks"]))) for one in done.json["recurring"]]
    assert set(places) <= set(recurring)
