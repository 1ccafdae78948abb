"""JMESPath expressions of a mapping: compiled with plain messages, evaluated inside a document, with places.

JMESPath has no way up, so an expression may begin with ``$root.`` (the document), ``$record.`` (the entry of
the first list that ``trajectories`` walks; of JSONL the line), ``$parent.`` (the entry or document that holds
the list of the trajectory) or ``$trial.`` (the trajectory). The prefix is taken off before compiling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.importers.naming import shortened

_PREFIX = re.compile(r"^\s*\$(?P<base>root|record|parent|trial)(?P<dot>\s*\.\s*|(?=\s*[\[|])|\s*$)")
_QUOTED = re.compile(r"[=!<>]=?\s*\"")
_BARE_WORD = re.compile(r"[=!]=\s*(?P<word>true|false|null)\b(?!\s*[.(`])")
_PLAIN_KEY = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_IDENTITY: dict[str, Any] = {"type": "identity", "children": []}
_LISTING = ("projection", "filter_projection", "value_projection")


class Scope(Struct, frozen=True, kw_only=True):
    """What an expression can reach: document, record, parent, trajectory, and where it stands itself."""

    root: Any
    record: Any
    trial: Any
    here: Any
    parent: Any = None


class Item(Struct, frozen=True, kw_only=True):
    """One entry that a listing expression gave: its value, what it was made from, and the entries around it.

    ``outermost`` is that of the first list, ``parent`` that which holds this list; None at the top.
    """

    value: Any
    source: Any
    outermost: Any
    parent: Any = None


class Expression(Struct, frozen=True, kw_only=True):
    """A compiled expression; ``base`` names the part of the scope it begins at."""

    text: str
    where: str
    base: str
    tree: Any

    def value(self, scope: Scope) -> Any:
        """What the expression gives, None where there is nothing. Raises ``UsageError`` for a wrong call."""
        return self._search(self.tree, getattr(scope, self.base))

    def items(self, scope: Scope) -> list[Item]:
        """The entries of a listing expression, each with what it was made from.

        What a projection turns to null comes as an entry with value None. Anything but a list is one entry.
        """
        return list(self._walk(self.tree, getattr(scope, self.base), None, None))

    def keys(self) -> tuple[str, ...] | None:
        """The keys of the objects this expression builds, None where it builds none."""
        tree = _last(self.tree)
        if tree["type"] != "multi_select_dict":
            return None
        return tuple(child["value"] for child in tree["children"])

    def missing(self, source: Any, key: str | None = None) -> bool:
        """Whether a null result stands for a key that is not there; ``key`` is one of ``keys()``.

        A null that is recorded is not missing. Where the path is not a plain one, null counts as missing.
        """
        tree = self.tree
        if key is not None:
            pairs = _last(self.tree).get("children", ())
            tree = next((one["children"][0] for one in pairs if one.get("value") == key), None)
        path = _plain_path(tree)
        if path is None:
            return True
        for step in path:
            if not isinstance(source, dict) or step not in source:
                return True
            source = source[step]
        return False

    def _walk(self, tree: Any, value: Any, outermost: Any, parent: Any) -> Iterator[Item]:
        if tree["type"] == "pipe":
            inner = self._search(tree["children"][0], value)
            yield from self._walk(tree["children"][1], inner, outermost, parent)
            return
        if tree["type"] not in _LISTING:
            found = self._search(tree, value)
            entries = found if isinstance(found, list) else [] if found is None else [found]
            for one in entries:
                first = one if outermost is None else outermost
                yield Item(value=one, source=one, outermost=first, parent=parent)
            return
        after = tree["children"][1]
        listing = {**tree, "children": [tree["children"][0], _IDENTITY, *tree["children"][2:]]}
        for entry in self._search(listing, value) or ():
            first = entry if outermost is None else outermost
            if after["type"] in _LISTING:
                yield from self._walk(after, entry, first, entry)
            else:
                yield Item(value=self._search(after, entry), source=entry, outermost=first, parent=parent)

    def _search(self, tree: Any, value: Any) -> Any:
        from jmespath import exceptions
        from jmespath.visitor import TreeInterpreter

        try:
            return TreeInterpreter().visit(tree, value)
        except exceptions.JMESPathTypeError:
            # A function met a value of another type, as a missing one is: there is nothing to give.
            return None
        except (exceptions.JMESPathError, RecursionError) as error:
            raise self._bad(str(error)) from None

    def _bad(self, problem: str) -> UsageError:
        return bad_expression(self.where, self.text, problem)


def compile_expression(text: str, where: str) -> Expression:
    """Compile an expression; ``where`` is its place in the settings. Raises ``UsageError``."""
    import jmespath
    from jmespath import exceptions

    prefix = _PREFIX.match(text)
    rest = text[prefix.end() :].strip() if prefix else text
    if prefix and (not rest or rest.startswith("|")):
        rest = f"@ {rest}"
    if "$" in re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "", rest):
        hint = "$root., $record., $parent. and $trial. may stand only at the beginning of an expression"
        raise bad_expression(where, text, "a $ inside it", hint)
    _tell_traps(text, where)
    try:
        tree = jmespath.compile(rest).parsed
    except (exceptions.JMESPathError, RecursionError) as error:
        first, *_ = str(error).splitlines() or [type(error).__name__]
        raise bad_expression(where, text, first) from None
    return Expression(text=text, where=where, base=prefix["base"] if prefix else "here", tree=tree)


def bad_expression(where: str, text: str, problem: str, *hints: str) -> UsageError:
    """The error for an expression that cannot be used."""
    hint = hints or ("expressions are JMESPath, for instance grade.ok or log[?kind=='call']",)
    return UsageError(
        f"{where}: cannot be used: {shortened(problem, 120)}", f"in {shortened(text, 120)}", *hint
    )


def _tell_traps(text: str, where: str) -> None:
    """What JMESPath accepts and nobody means."""
    outside = re.sub(r"'[^']*'|`[^`]*`", "''", text)
    if _QUOTED.search(outside):
        problem = "double quotes name a field"
        raise bad_expression(
            where, text, problem, "a text to compare with stands in single quotes: kind == 'call'"
        )
    word = _BARE_WORD.search(outside)
    if word:
        shown = word["word"]
        raise bad_expression(where, text, f"{shown} names a field", f"the value is `{shown}`, in backticks")


def is_alternative(expression: Expression) -> bool:
    """Whether the expression is an ``a || b``, in which false counts as missing."""
    return bool(expression.tree["type"] == "or_expression")


def _last(tree: Any) -> Any:
    """What a listing expression builds in the end."""
    while tree["type"] in (*_LISTING, "pipe", "subexpression") and len(tree["children"]) > 1:
        tree = tree["children"][1]
    return tree


def _plain_path(tree: Any) -> list[str] | None:
    if tree is None:
        return None
    if tree["type"] == "field":
        return [tree["value"]]
    if tree["type"] != "subexpression":
        return None
    path: list[str] = []
    for child in tree["children"]:
        inner = _plain_path(child)
        if inner is None:
            return None
        path += inner
    return path


class Places:
    """Where the objects and lists of one document lie, found by identity."""

    def __init__(self, root: Any, pointer: str) -> None:
        self._home: dict[int, tuple[int | None, str | int]] = {}
        self._pointer = pointer
        waiting: list[Any] = [root]
        self._home[id(root)] = (None, "")
        while waiting:
            one = waiting.pop()
            pairs = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
            for key, child in pairs:
                if isinstance(child, dict | list) and id(child) not in self._home:
                    self._home[id(child)] = (id(one), key)
                    waiting.append(child)

    def of(self, value: Any) -> str | None:
        """The JSON path of an object or list of the document; None for what was made from it."""
        if not isinstance(value, dict | list) or id(value) not in self._home:
            return None
        parts: list[str] = []
        at: int | None = id(value)
        while at is not None:
            at, key = self._home[at]
            if at is not None:
                parts.append(path_part(key))
        return self._pointer + "".join(reversed(parts))

    def index(self, value: Any) -> int | None:
        """The position of an object in the list that holds it."""
        if not isinstance(value, dict | list) or id(value) not in self._home:
            return None
        key = self._home[id(value)][1]
        return key if isinstance(key, int) else None


def path_part(key: str | int) -> str:
    """One step of a JSON path: ``.name``, ``['odd name']`` or ``[3]``."""
    if isinstance(key, int):
        return f"[{key}]"
    quoted = key.replace("\\", "\\\\").replace("'", "\\'")
    return f".{key}" if _PLAIN_KEY.match(key) else f"['{quoted}']"
