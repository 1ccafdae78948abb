"""Loaded by the server that workers are forked from: a worker that starts while everything is being stopped
finds what it was to share gone already, which is no fault that anybody has to be shown.

What goes wrong in a job does not pass here; a worker that cannot start otherwise is told as one that ended.
"""

from __future__ import annotations

import sys
from types import TracebackType


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not isinstance(error, (FileNotFoundError, EOFError, ConnectionError)):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _hook
