from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reliability.golden import Case


@pytest.fixture(scope="session")
def cases(shared: Path) -> dict[str, Case]:
    path = shared / "data" / "golden" / "statistics.json"
    if not path.is_file():
        pytest.skip("no golden statistics beside the project")
    return {case["name"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
