from __future__ import annotations

from tests.cli.conftest import _plain_environment, here

__all__ = ["_plain_environment", "here"]
