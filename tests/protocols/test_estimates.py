"""Estimates before any job is finished: near what docs/speed.md reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adgcl.protocols.base import epoch_seconds, make_protocol
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.training.run_config import resolve


@dataclass
class Size:
    """A store of which only the size is known."""

    graphs: int
    nodes: int
    edges: int

    def __len__(self) -> int:
        return self.graphs

    @property
    def in_degree(self) -> Any:
        return range(self.nodes)

    @property
    def edge_source(self) -> Any:
        return range(self.edges)


def config(method: str, encoder: str, width: int, batch: int, epochs: int = 1) -> Any:
    training = {"batch_size": batch, "epochs": epochs}
    return resolve(
        {"method": {"name": method}, "encoder": {"name": encoder, "hidden_dim": width}, "training": training}
    )


@pytest.mark.parametrize(
    ("encoder", "width", "size", "batch", "measured"),
    [
        ("gin", 32, Size(4110, 122_700, 265_500), 32, 129 * 0.00456),
        ("gin", 32, Size(5000, 372_500, 24_574_000), 32, 157 * 0.02317),
        ("gine", 300, Size(1513, 51_600, 111_500), 64, 24 * 0.8327),
        ("hu_gin", 300, Size(249_455, 5_775_000, 12_430_000), 256, 975 * 2.37),
        ("resgcn", 128, Size(4110, 122_700, 265_500), 128, 33 * 0.07157),
    ],
    ids=["NCI1", "COLLAB", "molbace", "ZINC-250K", "ResGCN on NCI1"],
)
def test_an_epoch_of_adgcl(encoder: str, width: int, size: Size, batch: int, measured: float) -> None:
    assert 0.5 < epoch_seconds(config("adgcl", encoder, width, batch), size) / measured < 2


def test_fine_tuning_on_bbbp() -> None:
    seconds = make_protocol(FinetuneConfig()).seconds(
        config("supervised", "hu_gin", 300, 32, epochs=100), Size(2039, 49_100, 105_800)
    )
    assert 0.5 < seconds / (100 * 5.176) < 2
