"""Downloading data files from their public sources: resumable, checked, and never partial."""

from __future__ import annotations

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.files import ensure_folder, explain_os_errors
from adgcl.core.progress import Progress
from adgcl.data.entry import Download

"""Called with the current task, how much of it is done, and the total if known."""

_PIECE = 1 << 18
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class _Broken(Exception):
    """A transfer that failed in a way that may be temporary."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for a silent server, how often to try, and the first pause between tries."""

    timeout: float = 30.0
    tries: int = 4
    pause: float = 1.0


def fetch(download: Download, folder: Path, progress: Progress | None = None, patience: Patience | None = None) -> Path:
    """Download a file into `folder` and return its path; an interrupted transfer resumes where it stopped.

    What has arrived is kept in `NAME.part`, and moved into place once it is complete and its checksum matches.
    """
    patience = patience or Patience()
    target = Path(folder) / download.path
    if not download.url.startswith(("https://", "http://")):
        raise DataError(f"{download.url} is not a web address.")
    ensure_folder(target.parent)
    part = _Part(target)
    for attempt in range(patience.tries):
        try:
            _transfer(download, part, patience.timeout, progress)
            break
        except _Broken as error:
            if attempt + 1 == patience.tries:
                raise _gave_up(download, target, str(error)) from error
            time.sleep(patience.pause * 2**attempt)
    part.check(download)
    part.finish()
    return target


class _Part:
    """The partial file of a transfer, and the mark by which the server knows whether its own file has changed."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(target.name + ".part")
        self.mark_path = target.with_name(target.name + ".part.mark")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def mark(self) -> str:
        return self.mark_path.read_text(encoding="utf-8") if self.mark_path.exists() else ""

    def restart(self, mark: str) -> None:
        with explain_os_errors(self.path):
            self.path.unlink(missing_ok=True)
            self.mark_path.write_text(mark, encoding="utf-8")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self.mark_path.unlink(missing_ok=True)

    def check(self, download: Download) -> None:
        """Compare with the published checksum, if there is one; a wrong file is deleted."""
        if download.sha256 is None:
            return
        found = file_sha256(self.path)
        if found != download.sha256.lower():
            self.discard()
            raise DataError(
                f"{download.url} is not the expected file: its sha256 is {found}, not {download.sha256}.",
                "The download was deleted. Try again; if it happens again, the published file has changed.",
            )

    def finish(self) -> None:
        with explain_os_errors(self.target):
            os.replace(self.path, self.target)
            self.mark_path.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """The sha256 of a file, as lower-case hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _transfer(download: Download, part: _Part, timeout: float, progress: Progress | None) -> None:
    """One try: ask for what is missing and append it."""
    try:
        with urllib.request.urlopen(_request(download.url, part), timeout=timeout) as response:
            _receive(download, part, response, progress)
    except urllib.error.HTTPError as error:
        if error.code == 416 and error.headers.get("Content-Range") == f"bytes */{part.size}":
            return  # Everything had arrived before.
        if error.code == 416 and part.size:
            part.discard()  # The server's file is shorter than what we have: not the same file.
            raise _Broken("the published file has changed") from error
        if error.code in _WORTH_ANOTHER_TRY:
            raise _Broken(f"the server answers {error.code} {error.reason}") from error
        reason = f"the server answers {error.code} {error.reason}"
        raise _gave_up(download, part.target, reason) from error
    except urllib.error.URLError as error:
        raise _Broken(str(getattr(error.reason, "strerror", None) or error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _Broken(str(error) or type(error).__name__) from error


def _request(url: str, part: _Part) -> urllib.request.Request:
    request = urllib.request.Request(url, headers={"User-Agent": "adgcl", "Accept-Encoding": "identity"})
    # Without a mark, a changed file could be appended to the start of the old one: start again.
    if part.size and part.mark:
        request.add_header("Range", f"bytes={part.size}-")
        request.add_header("If-Range", part.mark)
    return request


def _receive(download: Download, part: _Part, response: Any, progress: Progress | None) -> None:
    if response.status != 206:
        part.restart(_mark(response))
    elif not response.headers.get("Content-Range", "").startswith(f"bytes {part.size}-"):
        part.discard()
        raise _Broken("the server sent a different part of the file than requested")
    done, length = part.size, response.headers.get("Content-Length")
    total = done + int(length) if length and length.isdigit() else None
    with explain_os_errors(part.path):
        file = part.path.open("ab")
    with file:
        while piece := response.read(_PIECE):
            with explain_os_errors(part.path):
                file.write(piece)
            done += len(piece)
            if progress:
                progress(f"download {part.target.name}", done, total)
    if total is not None and done < total:
        raise _Broken(f"the connection was cut after {done} of {total} bytes")
    if part.size != done:
        part.discard()
        raise DataError(f"{part.path} was also written by another process.", "Let only one of them download.")


def _mark(response: Any) -> str:
    """A strong ETag, or the date of the last change; empty if the server gives neither."""
    tag = str(response.headers.get("ETag") or "")
    return tag if tag and not tag.startswith("W/") else str(response.headers.get("Last-Modified") or "")


def _gave_up(download: Download, target: Path, reason: str) -> DataMissingError:
    return DataMissingError(
        f"Could not download {download.url}: {reason.rstrip('.')}.",
        f"Download that file on a machine with internet access and put it at {target}.",
    )
