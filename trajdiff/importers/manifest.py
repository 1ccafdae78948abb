"""Manifest entries: which file is which trial. Globs may name parts: ``runs/{task}/run_{trial}.jsonl``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from trajdiff.errors import InputError
from trajdiff.files import real_path
from trajdiff.frozen import replace
from trajdiff.importers.naming import shortened
from trajdiff.importers.outcome_rows import FIELDS, Row

_PART = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_.]*)\}|\*\*/|\*\*|\*|\?|\[[^\]/]+\]")
_META = "meta."


class ManifestEntry(Struct, frozen=True, kw_only=True):
    """A row with a path: the pattern of whole paths it means, and whether it names one file only."""

    row: Row
    pattern: re.Pattern[str]
    groups: Mapping[str, str]
    single: str | None

    def match(self, path: str) -> Row | None:
        """The row for this file, with the parts of its path filled in; None if the entry means others."""
        found = self.pattern.fullmatch(path)
        if found is None:
            return None
        values, columns = dict(self.row.values), dict(self.row.columns)
        metadata = dict(self.row.metadata)
        for group, name in self.groups.items():
            if name.startswith(_META) or name not in FIELDS:
                metadata.setdefault(name.removeprefix(_META), found[group])
            elif values.get(name) is None:
                values[name], columns[name] = found[group], "path"
        return replace(self.row, values=values, columns=columns, metadata=metadata)


def entries_of(rows: Sequence[Row]) -> tuple[ManifestEntry, ...]:
    """The entries among the rows, single files first. Raises ``InputError`` for a pattern that cannot be."""
    entries = [_entry(row) for row in rows if row.text("path") is not None]
    return tuple(sorted(entries, key=lambda one: one.single is None))


def _entry(row: Row) -> ManifestEntry:
    written = row.text("path") or ""
    folder = os.path.dirname(real_path(row.file))  # noqa: PTH120 - paths stay text
    whole = os.path.normpath(os.path.join(folder, written)).replace(os.sep, "/")  # noqa: PTH118
    if not _PART.search(written):
        real = real_path(whole)
        return ManifestEntry(row=row, pattern=re.compile(re.escape(real)), groups={}, single=real)
    groups: dict[str, str] = {}
    parts: list[str] = []
    # The folder of the manifest is no pattern, whatever characters it has.
    rest, at = _behind(whole, folder.replace(os.sep, "/"), parts), 0
    for found in _PART.finditer(rest):
        parts += [re.escape(rest[at : found.start()]), _part(found, groups, row)]
        at = found.end()
    parts.append(re.escape(rest[at:]))
    try:
        return ManifestEntry(row=row, pattern=re.compile("".join(parts), re.DOTALL), groups=groups, single=None)
    except re.error as error:
        raise InputError(f"{row.file}: {row.place}: {shortened(written)} is no pattern: {error}") from None


def _behind(whole: str, folder: str, parts: list[str]) -> str:
    prefix = folder.rstrip("/") + "/"
    if whole.startswith(prefix):
        parts.append(re.escape(prefix))
        return whole.removeprefix(prefix)
    return whole


def _part(found: re.Match[str], groups: dict[str, str], row: Row) -> str:
    name = found["name"]
    if name is not None:
        known = next((group for group, one in groups.items() if one == name), None)
        if known is not None:
            return f"(?P={known})"
        group = f"g{len(groups)}"
        groups[group] = name
        return f"(?P<{group}>[^/]+?)"
    text = found[0]
    if text.startswith("["):
        inner = text[1:-1]
        kept = re.escape(inner.lstrip("!")).replace("\\-", "-")
        return f"[^{kept}]" if inner[0] == "!" else f"[{kept}]"
    return {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}[text]


def named_traces(rows: Sequence[Row]) -> tuple[str, ...]:
    """The files and globs that rows name, as seen from where the user stands; gone files are left out."""
    found: dict[str, None] = {}
    for row in rows:
        written = row.text("path")
        if written is None:
            continue
        folder = row.file.rpartition("/")[0]
        path = f"{folder}/{written}" if folder and not os.path.isabs(written) else written  # noqa: PTH117
        pattern = re.sub(r"\{[A-Za-z_][A-Za-z0-9_.]*\}", "*", path)
        if _PART.search(written) or os.path.exists(path):  # noqa: PTH110
            found[pattern] = None
    return tuple(found)
