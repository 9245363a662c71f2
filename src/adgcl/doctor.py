"""Doctor: is this machine ready, and if not, what to do about it?"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from adgcl.core.errors import OutputError
from adgcl.core.files import check_writable
from adgcl.core.locks import lock_kind
from adgcl.core.provenance import available_memory_gb, machine, versions
from adgcl.core.sharing import NEEDED, check_shared
from adgcl.data.catalog import all_entries
from adgcl.data.fetch.folder import data_folder, packed_folder

State = Literal["well", "remark", "problem"]
DATA_SET = "data set "
_PACKAGES = ("torch", "numpy", "numba", "scipy", "sklearn", "safetensors", "pyarrow", "pydantic", "rdkit")
# Package, extra of adgcl that brings it, and what it is for.
_EXTRAS = (
    ("torch_geometric", "pyg", "PyTorch Geometric graphs"),
    ("openpyxl", "excel", ".xlsx files"),
    ("ray", "ray", "Ray clusters"),
    ("submitit", "slurm", "Slurm clusters"),
)
_ENOUGH_MEMORY_GB = 2.0


@dataclass(frozen=True)
class Check:
    """One check: what was found, whether that is a problem, and what to do about it.

    A remark is worth knowing but needs no action. Nothing works while an essential check has a problem.
    """

    name: str
    found: str
    state: State = "well"
    advice: str = ""
    essential: bool = False

    @property
    def well(self) -> bool:
        return self.state != "problem"


def examine(data_dir: Path | None = None, shared: Path | None = None) -> list[Check]:
    """Check packages, devices, memory, folders, locks and data sets; and a folder that machines are to share."""
    folder = data_folder(data_dir)
    return [*_packages(), *_extras(), *_machine(), *_folders(folder, shared), *_datasets(folder)]


def _packages() -> Iterator[Check]:
    yield Check("python", versions()["python"])
    for name in _PACKAGES:
        label = {"sklearn": "scikit-learn"}.get(name, name)
        try:
            found = importlib.import_module(name)
        except Exception as error:
            advice = f"Install it again: pip install --force-reinstall {label}"
            yield Check(label, f"cannot be imported: {error}", "problem", advice, essential=True)
        else:
            yield Check(label, str(getattr(found, "__version__", "here")))


def _extras() -> Iterator[Check]:
    for name, extra, purpose in _EXTRAS:
        # Looked up, not imported: that would take seconds.
        if importlib.util.find_spec(name) is None:
            yield Check(name, "not installed", "remark", f'Only for {purpose}: pip install "adgcl[{extra}]"')
        else:
            yield Check(name, importlib.metadata.version(name))


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
    yield _training_step()
    free = available_memory_gb()
    if free is not None:
        advice = "Close other programs, or use a smaller --batch-size."
        yield Check("free memory", f"{free:.1f} GB", "well" if free >= _ENOUGH_MEMORY_GB else "problem", advice)


def _training_step() -> Check:
    from adgcl.compiled.choice import methods_with_one, processor_lacks

    lacking = processor_lacks()
    if not lacking:
        return Check("compiled step", f"works here, for {', '.join(methods_with_one())} on a narrow GIN")
    return Check("compiled step", f"not used: {lacking}", "remark", "Training works without it.")


def compiled_ahead() -> Check:
    """Compile the inner loops of training and embedding, so that no command has to wait for it."""
    from adgcl.core.provenance import available_cores
    from adgcl.training.ahead import compile_all

    started = time.monotonic()
    try:
        anew = compile_all(available_cores())
    except Exception as error:
        return Check("inner loops", f"cannot be compiled: {error}", "problem", "Training would fail in the same way.")
    return Check("inner loops", f"compiled in {time.monotonic() - started:.0f} s" if anew else "already compiled")


def _folders(data: Path, shared: Path | None) -> Iterator[Check]:
    if data.is_dir():
        yield Check("data folder", str(data))
    else:
        advice = "`adgcl data prepare NAME` makes it. If your data is elsewhere, set ADGCL_DATA or use --data-dir."
        yield Check("data folder", f"{data} (not there yet)", "remark", advice)
    advice = "Set ADGCL_CACHE to a writable folder; without one, data is parsed again every time."
    yield from _writable("cache folder", packed_folder(), advice)
    yield from _writable("working folder", Path.cwd(), "Runs are written here; use --out.")
    if shared is None:
        yield _sharing("sharing the working folder", Path.cwd())
    else:
        yield from _writable("shared folder", shared, "Workers write here: choose another, or change its permissions.")
        yield _sharing("sharing it", shared)


def _writable(name: str, folder: Path, advice: str) -> Iterator[Check]:
    """Whether a folder is writable, and if so, who keeps locks there."""
    try:
        check_writable(folder)
    except OutputError as error:
        why = error.message.rpartition(": ")[2].rstrip(".")
        yield Check(name, f"{folder} ({why})", "problem", advice)
        return
    yield Check(name, str(folder))
    yield _locks(f"locks in the {name}", folder)


def _locks(name: str, folder: Path) -> Check:
    while not folder.is_dir():
        folder = folder.parent
    try:
        kind = lock_kind(folder)
    except OutputError as error:
        return Check(name, error.message, "problem", error.hint or "")
    if kind == "system":
        return Check(name, "kept by the operating system")
    advice = "If a folder still seems to be in use after a crash, delete the file `.lock` in it."
    return Check(name, "kept as marker files; this file system offers nothing better", "remark", advice)


def _sharing(name: str, folder: Path) -> Check:
    """Whether several processes can work in a folder; for several machines, whoever mounts it must promise the same."""
    try:
        while not folder.is_dir():
            folder = folder.parent
        check_shared(folder)
    except OutputError as error:
        return Check(name, error.message, "problem", f"Workers of a cluster need {NEEDED}. {error.hint}")
    return Check(name, "another process notices locks and renames; a killed one leaves no lock")


def _datasets(folder: Path) -> Iterator[Check]:
    for entry in all_entries():
        if entry.is_here(folder):
            yield Check(DATA_SET + entry.name, "here")
            continue
        by_hand = f"put {' and '.join(choices[0] for choices in entry.files)} into {folder}"
        way = f"adgcl data prepare {entry.name}" if entry.downloads else by_hand
        yield Check(DATA_SET + entry.name, "not here", "remark", way)
