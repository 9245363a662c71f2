"""Ray: what happens when workers, machines and clusters are not as they should be."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import AdgclError
from adgcl.core.extras import MissingExtraError
from adgcl.jobs import home
from adgcl.jobs.executor import Done, Lost, Stopped
from adgcl.jobs.home import WorkerError
from adgcl.jobs.placement import Placement
from adgcl.jobs.ray import Ray, RayConfig
from tests.core.test_extras import _Absent
from tests.jobs.test_processes import end_of, work

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One for all tests here: it takes seconds to start."""
    from adgcl.jobs import ray

    ray.connect(RayConfig(), 2)
    ray._connected.clear()  # so that no executor ends it
    yield
    ray._ray().shutdown()


@pytest.fixture
def executor(cluster: None, tmp_path: Path) -> Iterator[Ray]:
    with Ray(2, folder=tmp_path) as made:
        yield made


def test_a_worker_that_is_killed_is_lost_and_the_next_piece_gets_another(executor: Ray) -> None:
    executor.start("killed", work, "killed", 1)
    end = end_of(executor, "killed")
    assert isinstance(end, Lost) and "memory" in str(end.error)
    executor.start("fine", work, "fine", 4)
    assert end_of(executor, "fine") == Done(16)


def test_a_machine_that_goes_away_is_a_loss(executor: Ray) -> None:
    """Ray's own process dies, and ours with it."""
    executor.on_message = lambda key, message: os.kill(message, 9)
    executor.start("gone", _tell_parent)
    end = end_of(executor, "gone")
    assert isinstance(end, Lost) and "lost" in str(end.error)


def _tell_parent(send: Any) -> None:
    send(os.getppid())
    time.sleep(60)


def test_work_that_is_asked_to_stop(executor: Ray) -> None:
    heard: list[Any] = []
    executor.on_message = lambda key, message: heard.append(message)
    executor.start("long", work, "long", 1)
    limit = time.monotonic() + 20
    while not heard and time.monotonic() < limit:
        list(executor.ends(0.1))
    executor.stop()
    assert end_of(executor, "long") == Stopped()


def test_another_version_on_a_worker_is_refused(executor: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "this_version", lambda: "99.0")
    executor.start("job", work, "fine", 1)
    with pytest.raises(WorkerError, match=r"has adgcl .*, but this command is adgcl 99\.0"):
        end_of(executor, "job")


def test_workers_of_an_own_ray_run_like_any_other_process(executor: Ray) -> None:
    executor.start("nice", _niceness)
    assert end_of(executor, "nice") == Done(os.nice(0)), "Ray's own choice is 15"


def _niceness(send: Any) -> int:
    return os.nice(0)


def test_all_cores_of_the_cluster_are_used(cluster: None) -> None:
    assert Placement("ray").workers == 2 and Placement("ray", settings=("cpus=2",)).workers == 1
    assert Placement("ray", 7).workers == 7 and Placement("ray", settings=("cpus=2",)).threads == 2


# A raylet whose memory monitor finds any machine too full.
FULL = """
import sys
from adgcl.jobs.ray import Ray
from tests.jobs.test_processes import end_of, work
with Ray(1, folder=sys.argv[1]) as executor:
    executor.start("long", work, "long", 1)
    end = end_of(executor, "long", 60)
    print(type(end).__name__, end.error)
"""


def test_a_worker_that_runs_out_of_memory_says_so(tmp_path: Path) -> None:
    environment = {**os.environ, "RAY_memory_usage_threshold": "0.001", "RAY_memory_monitor_refresh_ms": "100"}
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=100, env=environment,
        cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert done.stdout.startswith("Lost Ray stopped the worker: its machine ran out of memory."), done.stderr


def test_a_cluster_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from adgcl.jobs.placement import Placement; Placement('ray').workers"
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert "No Ray cluster can be used at 127.0.0.1:1" in done.stderr and "ray start --head" in done.stderr


def test_ray_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Absent("ray"), *sys.meta_path])
    with pytest.raises(MissingExtraError, match="--executor ray needs the package ray") as caught:
        Placement("ray").open(1, tmp_path)
    assert caught.value.hint == 'Run `pip install "adgcl[ray]"`.'


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    for settings, words in ((("cpu=1",), "Did you mean 'cpus'"), (("cpus=0",), "greater than or equal to 1")):
        with pytest.raises(AdgclError, match=words):
            Placement("ray", settings=settings).open(1, tmp_path)
