"""A group whose commands are imported when they are needed; its help needs none of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any, NamedTuple

import click

from trajdiff.cli.shapes import Group


class Place(NamedTuple):
    """A command: its name, the module and the name in there, and the few words that help shows."""

    name: str
    module: str
    attribute: str
    short_help: str


class Later(MutableMapping[str, click.Command]):
    """Commands by name, each imported at its first use."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places: dict[str, Place | click.Command] = {place.name: place for place in places}

    def __getitem__(self, name: str) -> click.Command:
        found = self._places[name]
        if isinstance(found, Place):
            command = getattr(importlib.import_module(found.module), found.attribute)
            assert isinstance(command, click.Command)
            found = self._places[name] = command
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name] = command

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class LaterGroup(Group):
    """A group with its commands at ``places``."""

    def __init__(self, *arguments: Any, places: Sequence[Place] = (), **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.commands = Later(places)
        self._places = tuple(places)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, from what is known without them."""
        with formatter.section("Commands"):
            formatter.write_dl([(place.name, place.short_help) for place in self._places])
