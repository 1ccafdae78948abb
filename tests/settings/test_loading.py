"""What a settings file gives, where it is found, and where its paths lead."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from trajdiff.errors import UsageError
from trajdiff.model import Effect
from trajdiff.settings import (
    GateRule,
    IgnoreRules,
    Settings,
    StepLabel,
    default_traces,
    explain,
    load_settings,
    override,
)
from trajdiff.settings_rules import AcceptRule, RedactRules

FULL = """
traces   = ["runs/nightly/*.json", "one.jsonl"]
name     = "shop"
k        = [1, 2, 4]
expected_trials = 4
threshold  = 1
infra      = "exclude"
unscored   = "fail"
outcomes   = ["runs/scores.csv", "trials.toml"]
reviews    = "notes/reviews.jsonl"

[tools]
"get_*"     = "read"
refund_item = "write"
think       = "control"

[steps]
"look up order" = "get_order*"
"refund a lamp" = {tool = "refund_item", arguments = {"item.id" = "LAMP-*"}}

[map.mine]
task  = "case_id"
steps = {path = "log", decode = "openai_messages"}

[ignore]
arguments = ["*.request_id", "*.timestamp"]
results   = ["*.generated_at"]
tools     = ["think"]

[[gate]]
name  = "no refund without a check"
tool  = "refund_*"
needs = "check_permission"
unless = {amount = "0*"}

[[gate]]
name  = "facts are right"
score = "communicate"

[[accept]]
task  = "L1-017"
kind  = "duplicate_write"
tool  = "send_*"
why   = "policy 3.2 allows a second mail"
until = 2027-03-01

[redact]
personal = false
patterns = ["ORD-[0-9]{6}"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project" / "sub").mkdir(parents=True)
    return tmp_path / "project"


def test_every_key_of_the_file_arrives(folder: Path) -> None:
    (folder / "trajdiff.toml").write_text(FULL, encoding="utf-8")
    made = load_settings(start=folder)
    assert made.origin == "trajdiff.toml"
    assert made.traces == ("runs/nightly/*.json", "one.jsonl")
    assert (made.name, made.k, made.expected_trials) == ("shop", (1, 2, 4), 4)
    assert (made.threshold, made.infra, made.unscored) == (1.0, "exclude", "fail")
    assert isinstance(made.threshold, float)
    assert list(made.tools.items()) == [
        ("get_*", Effect.READ),
        ("refund_item", Effect.WRITE),
        ("think", Effect.CONTROL),
    ]
    assert made.steps == (
        StepLabel(label="look up order", tool="get_order*"),
        StepLabel(label="refund a lamp", tool="refund_item", arguments={"item.id": "LAMP-*"}),
    )
    assert made.ignore == IgnoreRules(
        arguments=("*.request_id", "*.timestamp"), results=("*.generated_at",), tools=("think",)
    )
    assert made.gate == (
        GateRule(
            name="no refund without a check",
            tool="refund_*",
            needs="check_permission",
            unless={"amount": "0*"},
        ),
        GateRule(name="facts are right", score="communicate"),
    )
    assert made.accept == (
        AcceptRule(
            why="policy 3.2 allows a second mail",
            task="L1-017",
            kind="duplicate_write",
            tool="send_*",
            until="2027-03-01",
        ),
    )
    assert made.redact == RedactRules(personal=False, patterns=("ORD-[0-9]{6}",))
    assert made.reviews == "notes/reviews.jsonl"


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ('name = "g"', 'gate "g" needs either a tool or a score'),
        ('name = "g"\ntool = "a"\nscore = "b"', 'gate "g" needs either a tool or a score'),
        ('name = "g"\nscore = "b"\nneeds = "a"', 'gate "g" is about a score: needs goes with a tool'),
        ('tool = "a"', "gate.0 has no name"),
        ('name = "g"\ntol = "a"', 'unknown key "tol"'),
    ],
)
def test_a_gate_is_about_a_tool_or_about_a_score(gate: str, message: str, folder: Path) -> None:
    (folder / "trajdiff.toml").write_text(f"[[gate]]\n{gate}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_settings(start=folder)


def test_without_a_file_everything_has_its_default(folder: Path) -> None:
    assert load_settings(start=folder) == Settings()


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "\ufeff"])
def test_an_empty_file_gives_defaults_and_its_name(folder: Path, text: str) -> None:
    (folder / "trajdiff.toml").write_text(text, encoding="utf-8")
    assert load_settings(start=folder) == Settings(origin="trajdiff.toml")


def test_pyproject_holds_the_same_keys(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.trajdiff]\nname = "shop"\n', encoding="utf-8")
    made = load_settings(start=folder)
    assert (made.name, made.origin) == ("shop", "pyproject.toml")
    assert load_settings("pyproject.toml", start=folder) == made


def test_own_file_wins_over_pyproject_and_the_nearest_folder_over_one_above(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.trajdiff]\nname = "project"\n', encoding="utf-8")
    (folder / "trajdiff.toml").write_text('name = "own"', encoding="utf-8")
    assert load_settings(start=folder).name == "own"
    assert load_settings(start=folder / "sub").name == "own"
    (folder / "sub" / "pyproject.toml").write_text('[tool.trajdiff]\nname = "sub"\n', encoding="utf-8")
    assert load_settings(start=folder / "sub").name == "sub"


def test_a_pyproject_without_our_table_is_passed_over_even_if_broken(folder: Path) -> None:
    (folder / "trajdiff.toml").write_text('name = "own"', encoding="utf-8")
    for text in ("[tool.other]\n", "[project]\ndependencies = ['trajdiff']\n", "broken ="):
        (folder / "sub" / "pyproject.toml").write_text(text, encoding="utf-8")
        assert load_settings(start=folder / "sub").name == "own"


def test_no_config_reads_nothing(folder: Path) -> None:
    (folder / "trajdiff.toml").write_text("broken =", encoding="utf-8")
    assert load_settings(use_config=False, start=folder) == Settings()
    with pytest.raises(UsageError, match="exclude each other"):
        load_settings("trajdiff.toml", use_config=False, start=folder)


def test_traces_are_relative_to_the_file_and_written_for_the_start(folder: Path) -> None:
    absolute = (folder / "far" / "*.json").as_posix()
    (folder / "trajdiff.toml").write_text(f'traces = ["runs/*.json", "../x", "./y/", "{absolute}", "-"]')
    assert load_settings(start=folder / "sub").traces == ("../runs/*.json", "../../x", "../y", absolute, "-")
    assert load_settings(start=folder).traces == ("runs/*.json", "../x", "y", absolute, "-")


def test_outcomes_are_one_file_or_several_relative_to_the_settings(folder: Path) -> None:
    (folder / "trajdiff.toml").write_text('outcomes = "runs/scores.csv"')
    assert load_settings(start=folder / "sub").outcomes == ("../runs/scores.csv",)
    (folder / "trajdiff.toml").write_text('outcomes = ["a.csv", "b.toml"]')
    assert load_settings(start=folder).outcomes == ("a.csv", "b.toml")


def test_brackets_in_the_names_of_folders_are_no_globs(folder: Path) -> None:
    other = folder / "v[1]"
    (other / "runs").mkdir(parents=True)
    (other / "runs" / "a.json").write_text("[]")
    (other / "trajdiff.toml").write_text('traces = ["runs/*.json", "runs/a.json"]')
    pattern, plain = load_settings("v[1]/trajdiff.toml", start=folder).traces
    assert [path.name for path in folder.glob(pattern)] == ["a.json"]
    assert (folder / plain).is_file()


def test_start_may_be_relative(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "trajdiff.toml").write_text('traces = ["runs"]')
    monkeypatch.chdir(folder / "sub")
    made = load_settings(start=Path())
    assert (made.traces, made.origin) == (("../runs",), "../trajdiff.toml")


def test_explain_gives_every_value_with_its_origin(folder: Path) -> None:
    first = ["traces", "name", "k", "expected_trials", "threshold", "outcomes", "infra", "unscored"]
    rules = ["tools", "steps", "ignore.arguments", "ignore.results", "ignore.tools", "gate"]
    last = ["accept", "redact.secrets", "redact.personal", "redact.patterns", "reviews", "map"]
    keys = [*first, *rules, *last]
    assert [(key, origin) for key, _, origin in explain(Settings())] == [(key, "default") for key in keys]
    (folder / "trajdiff.toml").write_text(FULL, encoding="utf-8")
    made = override(load_settings(start=folder), origin="--infra", infra="fail", k=None)
    rows = {key: (value, origin) for key, value, origin in explain(made)}
    assert rows["infra"] == ('"fail"', "--infra")
    assert rows["k"] == ("[1, 2, 4]", "trajdiff.toml")
    assert rows["threshold"] == ("1.0", "trajdiff.toml")
    assert rows['tools."get_*"'] == ('"read"', "trajdiff.toml")
    assert rows['steps."refund a lamp"'][0] == '{"tool": "refund_item", "arguments": {"item.id": "LAMP-*"}}'
    assert rows["outcomes"] == ('["runs/scores.csv", "trials.toml"]', "trajdiff.toml")
    assert "openai_messages" in rows["map.mine"][0]
    assert rows["ignore.tools"] == ('["think"]', "trajdiff.toml")
    assert rows['gate."facts are right"'] == ('{"score": "communicate"}', "trajdiff.toml")
    assert len(rows) == len(explain(made)) == 8 + 3 + 2 + 3 + 2 + 1 + 3 + 1 + 1
    assert rows["accept.1"][0].startswith('{"why": "policy 3.2 allows a second mail", "task": "L1-017"')


def test_override_takes_values_and_leaves_the_rest() -> None:
    base = Settings(name="shop", infra="exclude")
    made = override(base, origin="--threshold", threshold=0.5, name=None)
    assert (made.threshold, made.name, made.infra) == (0.5, "shop", "exclude")
    assert base.threshold is None
    with pytest.raises(TypeError):
        override(base, origin="--nothing", nothing=1)


def test_default_traces_come_from_settings_then_from_two_folders(folder: Path) -> None:
    with pytest.raises(UsageError) as none:
        default_traces(Settings(), folder)
    assert str(none.value).splitlines() == [
        "no TRACES given and none found",
        "  looked at: traces in trajdiff.toml or [tool.trajdiff], ./traces, ./sample_traces",
        "  give a path, or try: trajdiff demo",
    ]
    assert none.value.exit_code == 2
    (folder / "sample_traces").mkdir()
    sample = (["sample_traces"], "no TRACES given; no configuration, no ./traces")
    assert default_traces(Settings(), folder) == sample
    (folder / "trajdiff.toml").write_text('name = "shop"')
    words = "no TRACES given; no traces in trajdiff.toml, no ./traces"
    assert default_traces(load_settings(start=folder), folder) == (["sample_traces"], words)
    (folder / "traces").mkdir()
    assert default_traces(Settings(), folder) == (["traces"], "no TRACES given; no configuration")
    (folder / "trajdiff.toml").write_text('traces = ["runs"]')
    made = load_settings(start=folder)
    assert default_traces(made, folder) == (["runs"], "no TRACES given; traces in trajdiff.toml")
    made = override(made, origin="TRAJDIFF_TRACES", traces=("other",))
    assert default_traces(made, folder) == (["other"], "no TRACES given; traces in TRAJDIFF_TRACES")


def test_a_file_that_may_not_be_read_is_a_usage_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (folder / "trajdiff.toml").touch()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"^trajdiff.toml: settings cannot be read \(Permission denied\)$"):
        load_settings(start=folder)
