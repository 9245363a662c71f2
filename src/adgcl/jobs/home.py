"""Home: what a worker on another machine must share with the command that started it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adgcl.core.errors import AdgclError
from adgcl.core.files import ensure_folder
from adgcl.core.locks import is_locked, locked
from adgcl.core.provenance import versions

_SIGN = ".home-"
# Besides our own variables, what decides how many threads libraries use, and what they print.
_PASSED_ON = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "PYTHONWARNINGS")
_SHARE = "Choose folders that all machines share; `adgcl doctor --shared FOLDER` says what such a folder must offer."


class WorkerError(AdgclError):
    """A worker cannot work for this command, whatever the job."""


@dataclass(frozen=True)
class Home:
    """The version of a command, where it runs, the folder of its jobs, and a `sign` in it that the command locks."""

    version: str
    cwd: Path
    folder: Path
    sign: Path | None
    environment: Mapping[str, str]

    def enter(self) -> None:
        """Work as the command would: in its folder, with its environment; raise WorkerError if that is not possible."""
        host = socket.gethostname()
        if (found := this_version()) != self.version:
            raise WorkerError(
                f"The worker on {host} has adgcl {found}, but this command is adgcl {self.version}.",
                "Install the same version on all machines.",
            )
        for folder in (self.cwd, self.folder, self.sign):
            if folder is not None and not folder.is_dir():
                raise WorkerError(f"The worker on {host} cannot see {folder}.", _SHARE)
        if self.sign is not None and not is_locked(self.sign):
            raise WorkerError(f"The worker on {host} does not notice locks that others hold in {self.folder}.", _SHARE)
        os.environ.update(self.environment)
        os.chdir(self.cwd)


def this_version() -> str:
    return versions().get("adgcl", "unknown")


def home_of(folder: Path, sign: Path | None = None) -> Home:
    """The home of this process."""
    passed_on = {name: text for name, text in os.environ.items() if name.startswith("ADGCL_") or name in _PASSED_ON}
    return Home(this_version(), Path.cwd(), folder.absolute(), sign, passed_on)


@contextmanager
def signed_home(folder: Path) -> Iterator[Home]:
    """The home of this process, with a sign that workers can check as long as this lasts."""
    ensure_folder(folder)
    for left in folder.glob(f"{_SIGN}*"):
        if not is_locked(left):  # by a command that was killed
            shutil.rmtree(left, ignore_errors=True)
    sign = folder.absolute() / f"{_SIGN}{secrets.token_hex(4)}"
    with locked(sign):
        yield home_of(folder, sign)
    shutil.rmtree(sign, ignore_errors=True)
