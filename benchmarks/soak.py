"""`python -m benchmarks.soak [--hours 2] [--data MOSES] [--write]`: one long pre-training, watched from outside.

`--preset` and `--set` choose other settings than those of AD-GCL, and `--out` keeps the run.

Every half minute: resident memory, open file handles and finished graphs. The run passes if memory and handles stay
flat and throughput is the same in the first and the last tenth. `--write` draws docs/soak.svg and writes the summary
into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from adgcl.core.files import write_text
from adgcl.reports.curves import figure_of_curves
from adgcl.reports.formats.marks import put_between

DOCS = Path(__file__).parent.parent / "docs"
# Packing and the first epochs' buffers are not what a soak is about.
_WARM_UP = 120.0
_LOG = "graphs.log"

_CHILD = """
import sys, time
from contextlib import suppress
from pathlib import Path
from adgcl.core.errors import Interrupted
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source

class Counter:
    graphs, last = 0, 0.0
    def start(self, epochs, steps, done): self.log = open(sys.argv[3], "a", buffering=1)
    def step(self, report):
        self.graphs += report.graphs
        if time.monotonic() - self.last > 1:
            self.last = time.monotonic()
            self.log.write(f"{time.time()} {self.graphs}\\n")
    def epoch(self, row): pass
    def stop(self): self.log.close()

data, run, _, preset, *settings = sys.argv[1:]
flags = {"training": {"epochs": 10**6, "checkpoint_seconds": 30.0}}
request = Request(None if preset else "adgcl", flags=flags, assignments=tuple(settings), preset=preset or None)
with suppress(Interrupted):
    pretrain(Source(data), Path(run), request, trackers=[Counter()])
"""


@dataclass(frozen=True)
class Reading:
    """What was seen at one moment: seconds since the start, memory in MB, open handles, graphs so far."""

    seconds: float
    memory: float
    handles: int
    graphs: int


def watch(
    data: str, hours: float, every: float, *, preset: str = "", settings: Sequence[str] = (), out: Path | None = None
) -> list[Reading]:
    """Train for some hours in another process, and look at it."""
    with tempfile.TemporaryDirectory(prefix="adgcl-soak-") as folder:
        log = Path(folder, _LOG)
        words = [sys.executable, "-c", _CHILD, data, str(out or Path(folder, "run")), str(log), preset, *settings]
        process = subprocess.Popen(words)
        try:
            readings = list(_readings(process, log, hours * 3600, every))
        finally:
            process.terminate()
            process.wait()
    return readings


def _readings(process: subprocess.Popen[bytes], log: Path, seconds: float, every: float) -> Iterator[Reading]:
    while not (log.exists() and log.stat().st_size):
        if process.poll() is not None:
            raise SystemExit(f"The training ended with exit code {process.returncode} before its first step.")
        time.sleep(1)
    started = time.time()
    while time.time() - started < seconds:
        time.sleep(every)
        if process.poll() is not None:
            raise SystemExit(f"The training ended with exit code {process.returncode}.")
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        graphs = int(log.read_text().splitlines()[-1].split()[1])
        handles = len(os.listdir(f"/proc/{process.pid}/fd"))
        yield Reading(time.time() - started, memory / 1024, handles, graphs)


def rates(readings: Sequence[Reading]) -> list[tuple[float, float]]:
    """Graphs per second between readings, over the minutes."""
    pairs = pairwise(readings)
    return [(b.seconds / 60, (b.graphs - a.graphs) / (b.seconds - a.seconds)) for a, b in pairs]


def summary(readings: Sequence[Reading]) -> tuple[list[str], bool]:
    """What held, in words, and whether all of it did."""
    settled = [r for r in readings if r.seconds >= min(_WARM_UP, readings[-1].seconds / 10)]
    speed = [rate for _, rate in rates(settled)]
    tenth = max(len(speed) // 10, 1)
    first, last = (float(np.median(part)) for part in (speed[:tenth], speed[-tenth:]))
    memory = [float(np.median([r.memory for r in part])) for part in (settled[:tenth], settled[-tenth:])]
    handles = [r.handles for r in settled]
    change, growth = 100 * (last / first - 1), 100 * (memory[1] / memory[0] - 1)
    fine = abs(change) <= 5 and growth <= 2 and max(handles) - min(handles) <= 2
    return [
        f"- {readings[-1].seconds / 3600:.1f} hours, {readings[-1].graphs:,} graphs.",
        f"- Throughput: {first:,.0f} graphs/s in the first tenth, {last:,.0f} in the last ({change:+.1f} %).",
        f"- Memory: {memory[0]:,.0f} MB in the first tenth, {memory[1]:,.0f} MB in the last ({growth:+.1f} %).",
        f"- Open file handles: {min(handles)} to {max(handles)}.",
    ], fine


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--data", default="MOSES")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between two looks")
    parser.add_argument("--preset", default="", help="a preset to train with, such as adgcl-transfer")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, as of `adgcl`")
    parser.add_argument("--out", type=Path, help="keep the run in this folder")
    parser.add_argument("--write", action="store_true", help="draw docs/soak.svg and write the summary")
    arguments = parser.parse_args()
    readings = watch(
        arguments.data,
        arguments.hours,
        arguments.every,
        preset=arguments.preset,
        settings=arguments.set,
        out=arguments.out,
    )
    lines, fine = summary(readings)
    print("\n".join([*lines, "passed" if fine else "FAILED"]))
    if arguments.write:
        curves = {
            "graphs per second": rates(readings),
            "resident memory, MB": [(r.seconds / 60, r.memory) for r in readings],
            "open file handles": [(r.seconds / 60, float(r.handles)) for r in readings],
        }
        title = f"Pre-training on {arguments.data} for {arguments.hours:g} hours"
        write_text(DOCS / "soak.svg", figure_of_curves(curves, title, "minutes"))
        page = DOCS / "reliability.md"
        text = "\n".join([*lines, "", "![memory, handles and throughput](soak.svg)"])
        write_text(page, put_between(page.read_text(encoding="utf-8"), "soak", text))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
