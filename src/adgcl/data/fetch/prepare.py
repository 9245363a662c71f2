"""Downloading a known data set to this machine."""

from __future__ import annotations

from pathlib import Path

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.progress import Progress
from adgcl.data.entry import Entry
from adgcl.data.fetch.archives import extract_safely
from adgcl.data.fetch.download import Patience, fetch


def bring(entry: Entry, folder: Path, progress: Progress | None = None, patience: Patience | None = None) -> None:
    """Download the files of `entry` that are not in `folder` yet, and unpack archives."""
    if entry.is_here(folder):
        return
    if not entry.downloads:
        raise missing(entry, folder)
    for download in entry.downloads:
        if (folder / download.path).exists() and not download.unpack:
            continue
        path = fetch(download, folder, progress, patience)
        if download.unpack:
            extract_safely(path, path.parent)
            path.unlink()
    if not entry.is_here(folder):
        raise DataError(
            f"The download of {entry.name} has changed: it does not contain the expected files.",
            f"Expected in {folder}: {_wanted(entry)}.",
        )


def missing(entry: Entry, folder: Path) -> DataMissingError:
    """The error that a known data set is not on this machine, and how to get it."""
    by_hand = f"put {_wanted(entry)} into {folder}"
    if entry.downloads:
        urls = " and ".join(download.url for download in entry.downloads)
        hint = f"Run `adgcl data prepare {entry.name}` to get it from {urls}, or {by_hand}."
    else:
        hint = f"Its source is {entry.origin.source}. To use it, {by_hand}."
    other = "If your data is elsewhere, set --data-dir or ADGCL_DATA."
    return DataMissingError(
        f"{entry.name} is not in {folder}.", f"{hint} {other}" + (f"\n{entry.by_hand}" if entry.by_hand else "")
    )


def _wanted(entry: Entry) -> str:
    return " and ".join(choices[0] for choices in entry.files)
