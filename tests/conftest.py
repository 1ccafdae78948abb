from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

PROJECT = Path(__file__).resolve().parent.parent

# Deadlines measure the machine, not the code; derandomised runs fail for everyone or for nobody.
settings.register_profile("trajdiff", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("trajdiff")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the cache of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJDIFF_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder that holds pyproject.toml."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded data beside the project; tests that need it are skipped without it."""
    folder = PROJECT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no folder with recorded data beside the project")
    return folder
