"""What a job that sleeps does; it imports little, so that it begins at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from adgcl.core.errors import Interrupted
from adgcl.core.files import append_text, write_json
from adgcl.core.locks import locked
from adgcl.jobs.notices import heeding_notices

NAP = 0.1  # seconds


def nap(folder: Path, send: Any) -> bool:
    with locked(folder), heeding_notices() as noticed:
        if (folder / "result.json").exists():
            return False
        before = taken(folder)
        for number in range(len(before), 10_000):
            time.sleep(NAP)
            append_text(folder / "naps", f"{number}\n")
            if noticed():
                raise Interrupted("Woken.")
            if before and number >= len(before) + 5:
                break
        write_json(folder / "result.json", {"seed": 0, "evaluations": [], "seconds": (number + 1) * NAP})
        return True


def taken(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "naps").read_text().split()] if (folder / "naps").exists() else []
