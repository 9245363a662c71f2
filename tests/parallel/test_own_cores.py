"""Processes on one machine keep to their own cores."""

from __future__ import annotations

import os

import pytest

from adgcl.parallel.own_cores import cores_per_process, own_cores, share_of_cores

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")


class Store(dict):
    """What processes tell each other."""

    set = dict.__setitem__


@pytest.mark.parametrize(("cores", "size"), [(range(2), 2), (range(7), 3), ([3, 5, 8, 9], 4), (range(64), 6)])
def test_every_core_has_one_process(cores, size):
    shares = [share_of_cores(cores, rank, size) for rank in range(size)]
    assert sorted(core for share in shares for core in share) == sorted(cores)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_more_processes_than_cores_share_all():
    assert share_of_cores([0, 1], 2, 3) == []


@needs_affinity
def test_a_process_has_its_share_while_it_runs(monkeypatch):
    kept = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(kept[-1]) if kept else {0, 1, 2, 3})
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: kept.append(cores))
    assert cores_per_process(2) == 2
    store = Store({"2": "[0, 1, 2, 3]"})
    with own_cores(store, 3, 1, 2):
        assert kept == [[2, 3]] and cores_per_process(2) == 2
    assert kept[-1] == {0, 1, 2, 3} and store["3"] == "[0, 1, 2, 3]"


@needs_affinity
def test_cores_that_a_batch_system_has_divided_stay_so(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {2, 3})
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: pytest.fail("they were divided again"))
    with own_cores(Store({"0": "[0, 1]"}), 1, 1, 2):
        pass
