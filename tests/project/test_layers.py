"""Imports point down only, make no cycle, and what is heavy is imported where it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.imports import PACKAGE, Import, cycle, imports_of, modules

#: The layers from the bottom up. A module may import from its own line and from the lines below.
#: A new module of the top level gets a place here; a package stands for all its modules.
LAYERS = (
    ("errors", "files", "frozen", "record"),
    ("model", "natural", "demo"),
    ("execution", "cache"),
    ("schema", "settings_check", "settings_rules", "settings"),
    ("importers",),
    ("running",),
    ("reliability",),
    ("align",),
    ("divergence",),
    (
        "analysed",
        "analysis",
        "chosen_tasks",
        "task_analysis",
        "task_jobs",
        "task_keys",
        "task_preparing",
        "task_runs",
        "unused_patterns",
    ),
    ("redaction", "redaction_patterns"),
    (
        "report",
        "report_nodes",
        "saved_report",
        "sides",
        "comparison",
        "gate",
        "gate_thresholds",
        "localization",
    ),
    ("shape", "review", "intervention"),
    ("render",),
    ("api",),
    ("cli",),
    ("__main__",),
)

#: Lines whose units may not import one another, beyond the direction.
APART = {("importers", "reliability"), ("reliability", "align"), ("reliability", "importers")}
APART |= {
    ("align", "reliability"),
    ("align", "importers"),
    ("divergence", "importers"),
    ("render", "importers"),
}

#: Each of these costs 70 ms to seconds of every start that imports it.
HEAVY = {"pandas", "numpy", "networkx", "scipy", "statsmodels", "jsonschema", "jinja2", "rich"}


def unit(module: str) -> str:
    """The part of the package a module belongs to; ``trajdiff`` itself for its ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else PACKAGE


def level(name: str) -> int:
    """The layer of a unit. The package's ``__init__`` is below all: everyone imports it first."""
    if name == PACKAGE:
        return -1
    return next(index for index, names in enumerate(LAYERS) if name in names)


@pytest.fixture(scope="module")
def sources(project: Path) -> dict[str, str]:
    return {module: path.read_text(encoding="utf-8") for module, path in modules(project).items()}


@pytest.fixture(scope="module")
def imports(sources: dict[str, str]) -> list[Import]:
    known = set(sources)
    found = [one for module, source in sources.items() for one in imports_of(source, module, known)]
    assert len(found) > len(sources)
    return found


def inside(imports: list[Import]) -> list[Import]:
    return [one for one in imports if one.target.split(".")[0] == PACKAGE]


def test_every_module_has_a_layer(sources: dict[str, str]) -> None:
    units = {unit(module) for module in sources} - {PACKAGE}
    assert units <= {name for names in LAYERS for name in names}, "give the new module a line in LAYERS"


def test_imports_point_down(imports: list[Import]) -> None:
    up = [one for one in inside(imports) if level(unit(one.target)) > level(unit(one.module)) > -1]
    assert not up


def test_the_package_itself_imports_its_modules_only_in_use(imports: list[Import]) -> None:
    assert not [one for one in inside(imports) if one.module == PACKAGE and one.when == "load"]


def test_neighbours_stay_apart(imports: list[Import]) -> None:
    assert not [one for one in inside(imports) if (unit(one.module), unit(one.target)) in APART]


def test_there_is_no_cycle(sources: dict[str, str], imports: list[Import]) -> None:
    """Lazy imports count too. A module's own package does not: Python runs that first in any case."""
    graph: dict[str, set[str]] = {module: set() for module in sources}
    for one in inside(imports):
        if one.when != "types" and not one.module.startswith(f"{one.target}."):
            graph[one.module].add(one.target)
    assert cycle(graph) is None


def test_heavy_packages_are_imported_where_they_are_used(imports: list[Import]) -> None:
    assert not [one for one in imports if one.target.split(".")[0] in HEAVY and one.when == "load"]


def test_no_forbidden_phrase_is_in_the_package(project: Path) -> None:
    """What a report may never claim, whoever writes the text."""
    phrases = ("caused by", "led to", "because of", "root cause", "responsible for")
    hits = [
        f"{path.relative_to(project)}: {phrase}"
        for path in sorted((project / PACKAGE).rglob("*"))
        if path.suffix in {".py", ".toml", ".json", ".html", ".md"}
        for phrase in phrases
        if phrase in path.read_text(encoding="utf-8").lower()
    ]
    assert not hits


def test_no_comment_points_to_a_document_that_readers_do_not_have(project: Path) -> None:
    known = {path.name for path in project.glob("*.md")}
    hits = [
        f"{path.relative_to(project)}: {name}"
        for folder in (PACKAGE, "tests")
        for path in sorted((project / folder).rglob("*.py"))
        for name in re.findall(r"\b[a-z-]+\.md(?= [0-9])", path.read_text(encoding="utf-8"))
        if name not in known
    ]
    assert not hits


def test_the_reader_of_imports_sees_lazy_ones_and_modules_of_packages() -> None:
    source = """
import a.b
from p import m, name
if TYPE_CHECKING:
    import t
else:
    import e
def f():
    import c
    class X:
        from p.m import d
"""
    found = [(one.target, one.when) for one in imports_of(source, "x", {"p", "p.m"})]
    loaded = [("a.b", "load"), ("p.m", "load"), ("p", "load"), ("t", "types"), ("e", "load")]
    assert found == [*loaded, ("c", "use"), ("p.m", "use")]
    with pytest.raises(ValueError, match="x:1: relative import"):
        imports_of("from . import y", "x", set())


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, None),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, None),
        ({"a": {"a"}}, ["a", "a"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
        ({"a": {"b", "c"}, "b": set(), "c": {"d"}, "d": {"a"}}, ["a", "c", "d", "a"]),
    ],
)
def test_cycles_are_found(graph: dict[str, set[str]], found: list[str] | None) -> None:
    assert cycle(graph) == found
