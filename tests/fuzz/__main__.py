"""`python -m tests.fuzz --count 100000`: a campaign over every target, in processes with 2 GB each.

A process that dies, by a fault in compiled code for example, is a failure too, and the campaign goes on without it.
The summary is printed, and with `--write` kept in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.targets import TARGETS
from tests.written import write_between

_BLOCK = 500
_MEMORY = 2 << 30


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20000, help="inputs in all")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input of each target")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--write", action="store_true", help="keep the summary in docs/reliability.md")
    parser.add_argument("--block", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.block:
        return _block(arguments.only[0], *arguments.block)
    started, rows, failed = time.monotonic(), [], 0
    each = -(-arguments.count // len(arguments.only))
    for name in arguments.only:
        counts = {"worked": 0, "refused": 0, "failed": 0}
        for first in range(arguments.first, arguments.first + each, _BLOCK):
            last = min(first + _BLOCK, arguments.first + each)
            for outcome, number in _in_own_process(name, first, last).items():
                counts[outcome] += number
        print(f"{name:20} {counts}", flush=True)
        rows.append((name, *counts.values()))
        failed += counts["failed"]
    total = sum(sum(row[1:]) for row in rows)
    print(f"{total:,} inputs, {failed} failures, {(time.monotonic() - started) / 60:.0f} min")
    if arguments.write:
        lines = [f"| {row[0]} | " + " | ".join(f"{n:,}" for n in row[1:]) + " |" for row in rows]
        head = ["| input | worked | refused | failed |", "| --- | ---: | ---: | ---: |"]
        write_between("fuzz", [f"{total:,} inputs, {failed} failures.", "", *head, *lines])
    return 1 if failed else 0


def _in_own_process(name: str, first: int, last: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="adgcl-fuzz-") as place:
        environment = {**os.environ, "ADGCL_CACHE": f"{place}/packed", "TMPDIR": place}
        command = [sys.executable, "-m", "tests.fuzz", f"--only={name}", "--block", str(first), str(last)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        try:
            found = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            at = Path(place, "work", "at")
            where = at.read_text() if at.exists() else f"{name} {first}"
            print(f"DIED (exit {done.returncode}) at {where}\n{done.stderr[-2000:]}", flush=True)
            return {"failed": 1}
    for where, what in found["failures"].items():
        print(f"FAILED at {where}\n{what}", flush=True)
    counts: dict[str, int] = found["counts"]
    return counts


def _block(name: str, first: int, last: int) -> int:
    import faulthandler

    from tests.fuzz.campaign import run

    faulthandler.enable()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    resource.setrlimit(resource.RLIMIT_DATA, (used + _MEMORY, resource.RLIM_INFINITY))
    summary = run(name, range(first, last), Path(tempfile.gettempdir()) / "work")
    print(json.dumps({"counts": summary.counts, "failures": summary.failures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
