"""What the runner needs beside the agent: ``python -m trajdiff.demo.desk reset|grade|environment``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from trajdiff.demo.stock import passed, reset

if TYPE_CHECKING:
    from trajdiff.demo.shop import Shop


def environment(folder: Path, lines: TextIO, out: TextIO) -> None:
    """The shop for ``trajdiff replay``: one JSON object a line in, one out (reset, call, state)."""
    from trajdiff.demo.shop import Shop

    shop: Shop | None = None
    for line in lines:
        said = json.loads(line)
        answer: dict[str, Any]
        if said["op"] == "reset":
            if shop is not None:
                shop.close()
            reset(folder)
            shop = Shop(folder, said.get("seed") or 0, misreads_dates=True)
            answer = {"ok": True}
        elif shop is None:
            answer = {"error": "no reset yet"}
        elif said["op"] == "state":
            answer = {"state": shop.state()}
        else:
            answer = _called(shop, said["name"], said["arguments"])
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _called(shop: Shop, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": shop.tools()[name](**arguments)}
    except Exception as error:  # the agent got it as text, and so does the replay
        return {"error": f"{type(error).__name__}: {error}"}


def main(words: list[str]) -> int:
    """The command in the first word; the folder is that of the trial, or where we are."""
    folder, task = Path(os.environ.get("TRAJDIFF_WORK") or "."), os.environ.get("TRAJDIFF_TASK")
    if words == ["reset"]:
        reset(folder)
    elif words == ["environment"]:
        environment(folder, sys.stdin, sys.stdout)
    elif words == ["grade"] and task is not None:
        sys.stdout.write(json.dumps({"verdict": "pass" if passed(folder, task) else "fail"}) + "\n")
    else:
        sys.stderr.write("reset, grade (with a task) or environment\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
