"""`python -m tests.crash --count 1000`: kills and faults in every command that writes.

The summary is printed, and with `--write` kept in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# Before anything is imported: a forked copy of a process with several threads could wait for ever.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

from tests.crash.campaign import Campaign  # noqa: E402
from tests.crash.commands import COMMANDS  # noqa: E402
from tests.written import write_between  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="trials in all")
    parser.add_argument("--first", type=int, default=0, help="the number of the first trial of each command")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--write", action="store_true", help="keep the summary in docs/reliability.md")
    arguments = parser.parse_args()
    import rdkit.Chem  # noqa: F401
    import torch

    torch.set_num_threads(1)
    started, done, lost = time.monotonic(), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="adgcl-crash-") as folder:
        campaign = Campaign(Path(folder))
        for number in range(arguments.count):
            name = arguments.only[number % len(arguments.only)]
            trial = campaign.run(name, arguments.first + number // len(arguments.only))
            done[name] += 1
            if trial.problem:
                lost[name] += 1
                print(f"LOST: {trial.command}, {trial.harm}: {trial.problem}", flush=True)
    rows = [f"| {name} | {done[name]} | {done[name] - lost[name]} |" for name in arguments.only]
    total = f"{sum(done.values())} trials, {sum(lost.values())} ended differently from an undisturbed run."
    print("\n".join([*rows, total, f"{(time.monotonic() - started) / 60:.1f} min"]))
    if arguments.write:
        head = ["| command | crashes | same result afterwards |", "| --- | ---: | ---: |"]
        write_between("crash", [total, "", *head, *rows])
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
