"""A test without its data is skipped, and fails where all data must be there."""

from __future__ import annotations

import pytest

from tests.real_data import absent


def test_skipped_or_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADGCL_REQUIRE_DATA", raising=False)
    with pytest.raises(pytest.skip.Exception, match="MUTAG"):
        absent("MUTAG is not here.")
    monkeypatch.setenv("ADGCL_REQUIRE_DATA", "1")
    with pytest.raises(pytest.fail.Exception, match="MUTAG"):
        absent("MUTAG is not here.")
