"""Packages that only some users need: imported on use; if missing, the error says how to install them."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from adgcl.core.errors import AdgclError


class MissingExtraError(AdgclError):
    """The request needs a package that is not installed by default."""


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """The module, or an error that says which extra of `adgcl` brings it; `purpose` begins that sentence."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        # A package that is installed but broken must report its own error.
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{purpose} needs the package {package}, which is not installed.", f'Run `pip install "adgcl[{extra}]"`.'
        ) from error


def is_installed(module: str) -> bool:
    """Whether a package that only some users need is there."""
    return importlib.util.find_spec(module) is not None
