"""Finds the importers: every module of this package that defines ``IMPORTER``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

import trajdiff.importers
from trajdiff.errors import UsageError
from trajdiff.importers.protocol import Claim, Importer, Peek

#: The modules whose importers may say that a folder is theirs. Every reading asks about folders, also where all
#: files in them are known from before, and to import all modules takes longer than that.
OF_FOLDERS = ("harbor", "openhands", "tau2_bench")


@cache
def importers() -> tuple[Importer, ...]:
    """All importers, ordered by name."""
    found = []
    for module in pkgutil.iter_modules(trajdiff.importers.__path__):
        importer = _inside(module.name)
        if importer is not None:
            found.append(importer)
    return tuple(sorted(found, key=lambda one: one.name))


def _inside(module: str) -> Importer | None:
    """The importer that a module of this package defines, if any."""
    loaded = importlib.import_module(f"trajdiff.importers.{module}")
    return cast(Importer, loaded.IMPORTER) if hasattr(loaded, "IMPORTER") else None


def is_shipped(importer: Importer) -> bool:
    """Whether this is one of the package's own importers; a mapping of the user is none."""
    return any(one is importer for one in importers())


def importer_named(name: str) -> Importer:
    """The importer with this name or title. Raises ``UsageError`` with suggestions otherwise."""
    wanted = name.casefold()
    for one in importers():
        if wanted in (one.name.casefold(), one.title.casefold()):
            return one
    from difflib import get_close_matches

    names = [one.name for one in importers()]
    near = get_close_matches(wanted, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    raise UsageError(f'no format "{name}"', hint, "trajdiff formats lists them")


def claims_of(peek: Peek) -> tuple[tuple[Importer, Claim], ...]:
    """Every importer that says the file is its own, ordered by name; the caller decides what two mean.

    A catch-all is asked only where nobody else claims the file.
    """
    for catch_all in (False, True):
        asked = ((one, one.sniff(peek)) for one in importers() if _is_catch_all(one) is catch_all)
        claims = tuple((one, claim) for one, claim in asked if claim is not None)
        if claims:
            return claims
    return ()


def claims_of_folder(peek: Peek) -> tuple[tuple[Importer, Claim], ...]:
    """Every importer that says the folder is its own, ordered by name."""
    asked = sorted(filter(None, map(_inside, OF_FOLDERS)), key=lambda one: one.name)
    return tuple((one, claim) for one in asked if (claim := one.sniff(peek)) is not None)


def _is_catch_all(importer: Importer) -> bool:
    return bool(getattr(importer, "catch_all", False))


def ambiguous(path: str, claims: tuple[tuple[Importer, Claim], ...]) -> UsageError:
    """The error for a file that several importers claim."""
    titles = ", ".join(one.title for one, _ in claims)
    names = ", ".join(one.name for one, _ in claims)
    return UsageError(f"{path}: {len(claims)} formats fit: {titles}", f"choose one with --from ({names})")
