"""What a shared folder must offer is really tried: a folder that lacks it is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from adgcl.core import sharing
from adgcl.core.errors import OutputError
from adgcl.core.sharing import check_shared


def test_a_folder_of_this_machine_can_be_shared_and_is_left_clean(tmp_path: Path) -> None:
    check_shared(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("held.acquire(timeout=5)", ""), "lock that another process holds is not noticed"),
        (("os.replace(part, file)", ""), "does not replace the old one"),
    ],
)
def test_what_is_lacking_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], words: str
) -> None:
    monkeypatch.setattr(sharing, "_OTHER", sharing._OTHER.replace(*change))
    monkeypatch.setattr(sharing, "_PATIENCE", 1.0)
    with pytest.raises(OutputError, match=words) as caught:
        check_shared(tmp_path)
    assert "file system" in str(caught.value.hint) and list(tmp_path.iterdir()) == []


def test_a_lock_that_outlives_its_holder_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "is_locked", lambda folder: True)
    monkeypatch.setattr(sharing, "_PATIENCE", 3.0)
    with pytest.raises(OutputError, match="stays when the process that held it is killed"):
        check_shared(tmp_path)
