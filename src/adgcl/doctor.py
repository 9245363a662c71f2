"""Health: is this machine ready, and if not, what to do about it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import OutputError
from adgcl.core.files import check_writable
from adgcl.core.provenance import machine, versions
from adgcl.data.catalog import all_entries
from adgcl.data.fetch.folder import data_folder, packed_folder

_PACKAGES = ("torch", "numpy", "scipy", "sklearn", "safetensors", "pyarrow", "rdkit", "datamol")
_ENOUGH_MEMORY_GB = 2.0


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, whether it is well, and what to do if not."""

    name: str
    found: str
    well: bool = True
    essential: bool = False
    advice: str = ""


def examine(data_dir: Path | None = None) -> list[Check]:
    """Look at packages, devices, memory, folders and data sets."""
    checks = [*_packages(), *_machine(), *_folders(data_dir)]
    return [*checks, *_datasets(data_folder(data_dir))]


def _packages() -> Iterator[Check]:
    known = versions()
    yield Check("python", known["python"])
    for name in _PACKAGES:
        label = {"sklearn": "scikit-learn"}.get(name, name)
        try:
            # datamol is only looked for: importing it takes pandas along.
            found = importlib.util.find_spec(name) if name == "datamol" else importlib.import_module(name)
            version = getattr(found, "__version__", "here") if found is not None else None
        except Exception as error:
            yield Check(
                label,
                f"cannot be imported: {error}",
                False,
                True,
                f"Install it again: pip install --force-reinstall {label}",
            )
            continue
        if version is None:
            yield Check(label, "not here", False, False, f"pip install {label}")
        else:
            yield Check(label, str(version))


def _machine() -> Iterator[Check]:
    about: dict[str, Any] = machine()
    yield Check("processor", f"{about['processor']}, {about['cores']} cores")
    try:
        import torch
    except Exception:
        return
    devices = ["cpu", *(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))]
    devices += ["mps"] if torch.backends.mps.is_available() else []
    yield Check("devices", ", ".join(devices))
    yield Check("threads", f"{torch.get_num_threads()} for wide networks, 1 for narrow ones")
    free = available_memory_gb()
    if free is not None:
        advice = "Close other programs, or use a smaller --batch-size."
        yield Check("free memory", f"{free:.1f} GB", free >= _ENOUGH_MEMORY_GB, advice=advice)


def _folders(data_dir: Path | None) -> Iterator[Check]:
    folder = data_folder(data_dir)
    advice = "Make it, or say where your data is with ADGCL_DATA or --data-dir; `adgcl data prepare NAME` makes it too."
    yield Check(
        "data folder", f"{folder}" if folder.is_dir() else f"{folder} (not there)", folder.is_dir(), advice=advice
    )
    cache = packed_folder()
    problem = _write_problem(cache)
    advice = "Set ADGCL_CACHE to a folder that can be written to; without it data is read anew every time."
    yield Check("cache folder", str(cache) + (f" ({problem})" if problem else ""), not problem, advice=advice)
    problem = _write_problem(Path.cwd())
    yield Check(
        "working folder",
        str(Path.cwd()) + (f" ({problem})" if problem else ""),
        not problem,
        advice="Runs are written here; use --out.",
    )


def _datasets(folder: Path) -> Iterator[Check]:
    for entry in all_entries():
        here = entry.is_here(folder)
        way = (
            f"adgcl data prepare {entry.name}"
            if entry.downloads
            else f"put {' and '.join(c[0] for c in entry.files)} into {folder}"
        )
        yield Check(f"data set {entry.name}", "here" if here else "missing", here, advice="" if here else way)


def _write_problem(folder: Path) -> str:
    """Why no file can be written to `folder`, or nothing."""
    try:
        check_writable(folder)
    except OutputError as error:
        return error.message.rpartition(": ")[2].rstrip(".")
    return ""


def available_memory_gb() -> float | None:
    """Memory that programs can still have, where the system tells."""
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
