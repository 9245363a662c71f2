"""Metrics add up to the same whether they are looked at every step or now and then."""

from __future__ import annotations

import pytest
import torch

from adgcl.training.tally import NotFinite, Tally


class Watched(torch.Tensor):
    """A number that counts how often somebody looks at it, as a device with a queue of its own would mind."""

    looks = 0

    def __float__(self) -> float:
        Watched.looks += 1
        return float(self.as_subclass(torch.Tensor))


def steps() -> list[tuple[dict[str, torch.Tensor], int]]:
    return [({"loss": torch.tensor(0.5 * i).as_subclass(Watched)}, 3 + i % 2) for i in range(50)]


def test_a_device_is_asked_rarely_and_the_sums_are_the_same() -> None:
    here, there = Tally(torch.device("cpu")), Tally(torch.device("cuda"))
    for metrics, graphs in steps():
        here.add(metrics, graphs)
    Watched.looks = 0
    for metrics, graphs in steps()[:19]:
        there.add(metrics, graphs)
    assert Watched.looks == 0 and there.latest == {}
    for metrics, graphs in steps()[19:]:
        there.add(metrics, graphs)
    assert there.sums == here.sums and there.latest == here.latest


def test_sums_go_on_where_a_checkpoint_stood() -> None:
    whole, parts = Tally(torch.device("cpu")), Tally(torch.device("cpu"))
    for metrics, graphs in steps():
        whole.add(metrics, graphs)
    for metrics, graphs in steps()[:20]:
        parts.add(metrics, graphs)
    resumed = Tally(torch.device("cpu"), parts.sums)
    for metrics, graphs in steps()[20:]:
        resumed.add(metrics, graphs)
    assert resumed.sums == whole.sums


def test_what_is_not_finite_is_noticed() -> None:
    with pytest.raises(NotFinite, match="loss became nan"):
        Tally(torch.device("cpu")).add({"loss": torch.tensor(float("nan"))}, 1)
