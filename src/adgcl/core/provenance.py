"""Provenance: which versions and which machine made a result, and how much memory it took."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("adgcl", "torch", "numpy", "scipy", "scikit-learn", "rdkit", "torch_geometric", "safetensors")


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of every package that can change a number."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    revision = _revision()
    return {**found, "revision": revision} if revision else found


@cache
def machine() -> dict[str, Any]:
    """The processor and how many cores this process may use."""
    return {"system": platform.system(), "processor": _processor(), "cores": available_cores()}


@cache
def amd_family() -> int | None:
    """The family number of an AMD processor (26 is Zen 5), where the system reports it; None for any other."""
    if "AMD" not in _processor():
        return None
    number = _of_processor("cpu family")
    return int(number) if number.isdigit() else 0


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_memory_mb() -> float:
    """The peak resident memory of this process so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def available_memory_gb() -> float | None:
    """Memory still available to programs, where the system reports it."""
    try:
        with open("/proc/meminfo", encoding="utf-8") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) / (1 << 20)
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    except (ValueError, OSError, AttributeError):
        return None


def _revision() -> str | None:
    """The git commit of this code, if it runs from a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def _processor() -> str:
    return _of_processor("model name") or platform.processor() or platform.machine()


def _of_processor(what: str) -> str:
    """What Linux says about the first processor; empty where nothing is said."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith(what)), "")
    except OSError:
        return ""
