"""Run the tests of a module twice: with its compiled loops, and with torch's kernels in their place."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


def compiled_and_torch(module: ModuleType, autouse: bool = False) -> Any:
    """A fixture for tests of `module`, which asks `compiles` whether its loops apply."""

    @pytest.fixture(params=["compiled", "torch"], autouse=autouse)
    def kernels(request, monkeypatch):
        if request.param == "torch":
            monkeypatch.setattr(module, "compiles", lambda *tensors: False)

    return kernels
