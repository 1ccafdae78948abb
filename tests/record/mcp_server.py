"""A real MCP server for the tests: an order book with a tool that misreads dates."""

from __future__ import annotations

import sys
from typing import Any

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # the first generation of the package
    from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[attr-defined,no-redef]

server: Any = MCPServer("book")
CALLS: list[str] = []


@server.tool()
def parse_date(text: str) -> str:
    """A date, day first; this one takes the month first."""
    CALLS.append("parse_date")
    month, day = text.split("/")
    return f"2027-{month}-{day}"


@server.tool()
def book(day: str, seats: int = 1) -> dict[str, Any]:
    """Book seats."""
    CALLS.append("book")
    return {"day": day, "seats": seats}


@server.tool()
def fail(reason: str) -> str:
    """Always an error."""
    raise ValueError(reason)


@server.tool()
def calls() -> list[str]:
    """Which tools have been run."""
    return [*CALLS]


@server.resource("note://one")
def note() -> str:
    """A resource, which passes the proxy untouched."""
    return "a note"


if __name__ == "__main__":
    sys.stderr.write("server started\n")
    server.run()
