"""Packaged encoders: trained networks that come with the installation, each with a page that says how it was made."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

_FOLDER = "pretrained"
_ENDING = ".safetensors"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def packaged_folder() -> Path:
    """Where they are."""
    return Path(str(files("adgcl"))) / _FOLDER


def packaged_file(name: str) -> Path:
    """The file of one of them."""
    return packaged_folder() / f"{name}{_ENDING}"


def packaged_encoders() -> dict[str, str]:
    """Their names, with the first sentence of their pages."""
    return _described(packaged_folder())


@cache
def _described(folder: Path) -> dict[str, str]:
    names = sorted(path.name.removesuffix(_ENDING) for path in folder.glob(f"*{_ENDING}"))
    return {name: _first_sentence(folder / f"{name}.md") for name in names}


def _first_sentence(page: Path) -> str:
    """The first paragraph below the title, up to its first full stop, with links as their texts."""
    if not page.exists():
        return ""
    paragraph = _LINK.sub(r"\1", page.read_text(encoding="utf-8").split("\n\n")[1])
    return " ".join(paragraph.split()).partition(". ")[0].removesuffix(".")
