"""The imports of the package, read from its source text without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "trajdiff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """``module`` imports ``target``: at ``load``, in ``use`` (inside a function), or only for ``types``."""

    module: str
    target: str
    line: int
    when: str


def modules(project: Path) -> dict[str, Path]:
    """Every module of the package by dotted name."""
    found = {}
    for path in sorted((project / PACKAGE).rglob("*.py")):
        parts = path.relative_to(project).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(source: str, module: str, known: set[str]) -> list[Import]:
    """All imports of a module. Names taken from a package count as its modules where they are modules.

    Raises ``ValueError`` for relative imports, which the project does not use.
    """
    return list(_visit(ast.parse(source), module, known, "load"))


def _visit(node: ast.AST, module: str, known: set[str], when: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(module=module, target=alias.name, line=child.lineno, when=when)
        elif isinstance(child, ast.ImportFrom):
            if child.level or child.module is None:
                raise ValueError(f"{module}:{child.lineno}: relative import")
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                target = inner if inner in known else child.module
                yield Import(module=module, target=target, line=child.lineno, when=when)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _visit(child, module, known, "use" if when == "load" else when)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from _visit(ast.Module(body=child.body, type_ignores=[]), module, known, "types")
            yield from _visit(ast.Module(body=child.orelse, type_ignores=[]), module, known, when)
        else:
            yield from _visit(child, module, known, when)


def cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """One cycle of a graph as a path that ends where it begins, or None."""
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        stack = [(start, iter(sorted(graph[start])))] if start not in done else []
        while stack:
            node, targets = stack[-1]
            if not path or path[-1] != node:
                path.append(node)
            following = next(targets, None)
            if following is None:
                done.add(node)
                path.pop()
                stack.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in done:
                stack.append((following, iter(sorted(graph.get(following, ())))))
    return None
