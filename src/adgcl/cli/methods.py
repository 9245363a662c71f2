"""`adgcl methods`: what can be chosen by name."""

from __future__ import annotations

import importlib
from typing import Any

from adgcl.cli.options import Json
from adgcl.cli.screen import Screen, table


def methods(as_json: Json = False) -> None:
    """List the methods, encoders and augmentations, each with what it is.

    \b
    Examples:
      adgcl methods
      adgcl methods --json
    """
    from adgcl.augmentations.base import AUGMENTATIONS
    from adgcl.encoders.base import ENCODERS
    from adgcl.methods.base import METHODS

    screen = Screen(as_json)
    registries: dict[str, Any] = {"methods": METHODS, "encoders": ENCODERS, "augmentations": AUGMENTATIONS}
    found = {noun: [_describe(name, registry[name]) for name in registry] for noun, registry in registries.items()}
    screen.emit(found)
    for noun, rows in found.items():
        title = {"methods": "Methods (--method NAME)", "encoders": "Encoders (--set encoder.name=NAME)"}.get(
            noun, noun.capitalize()
        )
        columns = ("name", "title", "what it is") if noun == "methods" else ("name", "what it is")
        cells = [tuple(row[key] for key in ("name", "title", "description") if key in row) for row in rows]
        screen.show(table(columns, cells, title=title))


def _describe(name: str, variant: Any) -> dict[str, str]:
    # One variant, one file: the file's first line is written for people, the class's for those who read on.
    file = importlib.import_module(variant.__module__)
    first_line = (file.__doc__ or variant.__doc__ or "").strip().partition("\n")[0].replace("`", "")
    title = {"title": variant.title} if getattr(variant, "title", "") else {}
    return {"name": name, **title, "description": first_line}
