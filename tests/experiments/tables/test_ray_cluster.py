"""A table on a Ray cluster of two nodes, one of which is killed in the middle: the values are those of processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adgcl.experiments.schedule import Event
from adgcl.experiments.tables.reproduction import Reproduction
from tests.experiments.conftest import SMALL

cluster_utils = pytest.importorskip("ray.cluster_utils")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    node = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20}
    made = cluster_utils.Cluster(initialize_head=True, head_node_args=node)
    yield made
    made.shutdown()


def test_a_node_that_is_killed_costs_no_result(table: Any, cluster: Any, data_dir: Path, tmp_path: Path) -> None:
    settings = (*(s for s in SMALL if not s.startswith(("training.epochs", "evaluate_every"))), "training.epochs=50",
                "evaluate_every=50", "training.checkpoint_seconds=0.1")  # fmt: skip
    where = {"datasets": ("MUTAG",), "data_dir": data_dir, "assignments": settings, "seeds": 2, "jobs": 2}
    here = table("adgcl", **where, executor="processes", work=tmp_path / "here")
    here.run(here.schedule())
    other = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    there = table("adgcl", **where, executor="ray", executor_settings=(f"address={cluster.address}",))
    events: list[Event] = []
    nodes = [other]

    def watch(event: Event) -> None:
        events.append(event)
        seen = {event.job for event in events if event.kind == "progress"}
        if nodes and len(seen) == 2:  # One of them is there.
            cluster.remove_node(nodes.pop(), allow_graceful=False)

    there.run(there.schedule(watch))
    lost = [event for event in events if event.kind == "put back" and event.content is not None]
    assert not nodes and len(lost) == 1 and "lost" in str(lost[0].content)
    assert len({event.job for event in events if event.kind == "finished"}) == 2
    assert values(there) == values(here) != []


def values(table: Reproduction) -> list[list[float]]:
    return [outcome.record.values for outcome in table.outcomes().values() if outcome.record is not None]
