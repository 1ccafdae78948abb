"""Which files of a folder belong together: layouts of folders, and single files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from trajdiff.importers.gathering import Given
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import Claim, Importer, Peek, Shape, Unreadable
from trajdiff.importers.registry import ambiguous, claims_of_folder
from trajdiff.natural import natural_key


class Piece(Struct, frozen=True, kw_only=True):
    """A file to read with its companions, and the claim that put them together."""

    given: Given
    members: tuple[str, ...] = ()
    claimed: tuple[Importer, Claim] | None = None


def layouts(files: Sequence[Given], forced: Importer | None) -> list[Piece]:
    """The files with the folder layouts among them found; members of a layout are not read by themselves."""
    by_identity = {given.identity: given for given in files}
    pieces: dict[str, Piece] = {}
    taken: set[str] = set()
    for folder in sorted({_folder_of(given.path) for given in files if given.path != "-"}, key=natural_key):
        claims = [claim for claim in claims_of_folder(_folder_peek(folder)) if forced in (None, claim[0])]
        if len(claims) > 1:
            raise ambiguous(folder or ".", tuple(claims))
        for importer, claim in claims:
            head = by_identity.get(os.path.realpath(_join(folder, claim.head or "")))
            if head is not None:
                members = tuple(_join(folder, name) for name in claim.members)
                pieces[head.identity] = Piece(given=head, members=members, claimed=(importer, claim))
                taken.update(os.path.realpath(member) for member in members)
    rest = [given for given in files if given.identity not in taken]
    return [pieces.get(given.identity, Piece(given=given)) for given in rest]


def _folder_of(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return folder or slash


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder else name


def _folder_peek(folder: str) -> Peek:
    def look(name: str) -> Peek | None:
        try:
            return open_document(_join(folder, name)).peek
        except Unreadable:
            return None

    files, folders = _listed(folder)
    return Peek(
        shape=Shape.FOLDER,
        path=folder,
        files=files,
        folders=folders,
        inside=lambda name: _listed(_join(folder, name))[0],
        below=lambda: tuple(_below(folder)),
        open=look,
    )


def _listed(folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the files and of the folders in a folder, in natural order."""
    try:
        with os.scandir(folder or ".") as entries:
            found = [(entry.name, _is_folder(entry)) for entry in entries]
    except OSError:
        return (), ()
    found.sort(key=lambda one: natural_key(one[0]))
    return tuple(name for name, is_folder in found if not is_folder), tuple(
        name for name, is_folder in found if is_folder
    )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a link that leads nowhere or in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _below(folder: str, prefix: str = "", depth: int = 8) -> Iterator[str]:
    """All files under a folder, hidden ones left out, as paths relative to it."""
    files, folders = _listed(_join(folder, prefix))
    yield from (_join(prefix, name) for name in files if not name.startswith("."))
    for name in folders if depth else ():
        inner = _join(prefix, name)
        if not name.startswith(".") and not os.path.islink(_join(folder, inner)):  # noqa: PTH114
            yield from _below(folder, inner, depth - 1)
