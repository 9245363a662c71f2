"""A small search: rings and chains, tiny networks, few epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adgcl.experiments.planning import Request
from adgcl.experiments.source import Source
from adgcl.experiments.tuning.settling import SearchRequest
from tests.experiments.conftest import SMALL

Wanted = Callable[..., SearchRequest]


@pytest.fixture
def wanted(toys: Path, tmp_path: Path) -> Wanted:
    """`wanted(trials=3)`: a search on the small graphs."""

    def make(*assignments: str, method: str = "adgcl", data: Path = toys, **changes: Any) -> SearchRequest:
        request = Request(method, None, {}, (*SMALL, *assignments))
        given: dict[str, Any] = {"trials": 3, "out": tmp_path / "tune", "work": tmp_path / "runs", **changes}
        source = given.pop("source", Source(str(data)))
        return SearchRequest(source, request, searched=given.pop("searched", ("reg_lambda", "encoder_lr")), **given)

    return make
