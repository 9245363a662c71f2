"""Real processes that join over loopback, as torchrun would start them, without its seconds of start-up."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

_LIMIT = 120.0  # seconds; a test that waits longer hangs


def start(*arguments: Any, size: int = 2, differing: dict[int, list[Any]] | None = None) -> list[subprocess.Popen[str]]:
    """`python -m arguments` in `size` processes; `differing` gives some of them other arguments."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(size):
        own = (differing or {}).get(rank, arguments)
        told = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size, "MASTER_PORT": port}
        environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", **{name: str(value) for name, value in told.items()}}
        command = [sys.executable, "-m", *map(str, own)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True))
    return started


def finished(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """The exit code, stdout and stderr of each, once all have ended."""
    try:
        ends = [process.communicate(timeout=_LIMIT) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, *end) for process, end in zip(processes, ends, strict=True)]
