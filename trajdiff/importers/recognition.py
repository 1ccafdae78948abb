"""Finds the one importer for a file, or says what the file looks like and how it could be read."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from trajdiff.importers.document import Document
from trajdiff.importers.naming import shortened
from trajdiff.importers.protocol import Claim, Importer, Shape, Unreadable
from trajdiff.importers.registry import ambiguous, claims_of
from trajdiff.model import Diagnostic, Severity


def recognise(
    document: Document, forced: Importer | None, *, named: bool, mapped: Sequence[Importer] = ()
) -> tuple[Importer, Claim] | None:
    """The one importer that claims the file. Raises ``UsageError`` if several do.

    A forced importer gets every file the user ``named``, and of a folder those it claims. What a mapping of
    the user recognises is read by it, whatever else would fit.
    """
    if forced is None:
        own = [(one, claim) for one in mapped if (claim := one.sniff(document.peek)) is not None]
        if len(own) > 1:
            raise ambiguous(document.path, tuple(own))
        if own:
            return own[0]
    if forced is not None:
        claim = forced.sniff(document.peek)
        if claim is None and named:
            claim = Claim(rule=f"--from {forced.name}")
        return None if claim is None else (forced, claim)
    claims = claims_of(document.peek)
    if len(claims) > 1:
        raise ambiguous(document.path, claims)
    if not claims and document.archive is not None:
        raise Unreadable("archive", "a zip archive, which no reader here understands", "unpack it first")
    return claims[0] if claims else None


def not_recognised(document: Document, *, named: bool) -> Diagnostic:
    """Right JSON, but of no known format: says what was found and what was looked for."""
    heads = document.peek.heads
    file = "FILE" if document.path == "-" else quote(document.path)
    if heads:
        keys = ", ".join(sorted(heads[0].keys)[:8])
        found = f"found {_SHAPES[document.shape]} with the keys {shortened(keys, 80)}"
    else:
        found = f"found {_SHAPES[document.shape]} without any object"
    return Diagnostic(
        severity=Severity.ERROR if named else Severity.WARNING,
        slug="not_recognised",
        message="not recognised: no known format fits",
        path=document.path,
        details=(
            found,
            "trajdiff formats lists what can be read; --from NAME forces one",
            f"another layout needs a mapping: trajdiff map draft {file} > trajdiff.toml",
        ),
    )


_SHAPES = {
    Shape.OBJECT: "an object",
    Shape.ARRAY: "a list",
    Shape.LINES: "lines",
    Shape.ARCHIVE: "an archive",
    Shape.FOLDER: "a folder",
}
