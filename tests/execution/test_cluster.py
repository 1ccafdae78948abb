"""A real dask cluster of two workers: the same results, also when one of them is killed half-way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.execution import work
from trajdiff.errors import UsageError
from trajdiff.execution.cluster import Cluster
from trajdiff.execution.runner import Lost

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture
def cluster(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PYTHONPATH", str(project))
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
    ) as made:
        yield made


@pytest.mark.slow
def test_results_come_from_two_workers_and_a_killed_one_is_replaced(cluster: Any, tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    running = Cluster(cluster.scheduler_address).run(work.own_process, [str(folder)] * 12)
    found: dict[int, int | Lost] = {}
    for number, result in running:
        found[number] = result
        if len(found) == 4:
            assert isinstance(result, int)
            os.kill(result, signal.SIGKILL)
    assert sorted(found) == list(range(12))
    assert all(isinstance(result, int) for result in found.values())
    assert len(list(folder.iterdir())) >= 2


@pytest.mark.slow
def test_a_job_that_kills_every_worker_is_lost_and_the_rest_goes_on(cluster: Any) -> None:
    found = dict(Cluster(cluster.scheduler_address).run(work.die_at_three, range(6)))
    lost = found.pop(3)
    assert isinstance(lost, Lost)
    assert lost.reason == "every worker that tried it died"
    assert found == {number: number * number for number in (0, 1, 2, 4, 5)}


def test_no_scheduler_is_an_error_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajdiff.execution.cluster.PATIENCE", 0.5)
    with pytest.raises(UsageError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        dict(Cluster("tcp://127.0.0.1:9").run(work.square, range(2)))
