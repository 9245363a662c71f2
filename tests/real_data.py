"""Data that a test needs and does not find: the test is skipped, or fails where all data must be there."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(what: str) -> NoReturn:
    """Skip the running test for want of data; fail instead if ADGCL_REQUIRE_DATA is set, as it is in .ci/run."""
    if os.environ.get("ADGCL_REQUIRE_DATA"):
        pytest.fail(f"{what} (ADGCL_REQUIRE_DATA is set)", pytrace=False)
    pytest.skip(what)
