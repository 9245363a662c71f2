"""`adgcl methods`: everything that can be chosen by name."""

from __future__ import annotations

import importlib
from typing import Any

from adgcl.cli.options import Json
from adgcl.cli.screen import Screen, table

_TITLES = {
    "methods": "Methods (--method NAME)",
    "encoders": "Encoders (--set encoder.name=NAME)",
    "protocols": "Protocols (--protocol NAME)",
    "presets": "Presets (adgcl pretrain --preset NAME)",
    "packaged": "Packaged encoders (in place of RUN: adgcl embed NAME DATA)",
}


def methods(as_json: Json = False) -> None:
    """List everything that can be chosen by name, each with a description.

    Methods, encoders, augmentations, protocols, presets and packaged encoders.

    \b
    Examples:
      adgcl methods
      adgcl methods --json
    """
    from adgcl.augmentations.base import AUGMENTATIONS
    from adgcl.encoders.base import ENCODERS
    from adgcl.experiments.presets import presets
    from adgcl.methods.base import METHODS
    from adgcl.protocols.base import PROTOCOLS
    from adgcl.training.packaged import packaged_encoders

    screen = Screen(as_json)
    registries: dict[str, Any] = {
        "methods": METHODS,
        "encoders": ENCODERS,
        "augmentations": AUGMENTATIONS,
        "protocols": PROTOCOLS,
    }
    found = {noun: [_describe(name, registry[name]) for name in registry] for noun, registry in registries.items()}
    found["presets"] = [{"name": name, "description": preset.title} for name, preset in presets().items()]
    found["packaged"] = [{"name": name, "description": text} for name, text in packaged_encoders().items()]
    broken = {module: why for registry in registries.values() for module, why in registry.broken.items()}
    screen.emit({**found, "broken": broken})
    for noun, rows in ((noun, rows) for noun, rows in found.items() if rows):
        title = _TITLES.get(noun, noun.capitalize())
        columns = ("name", "title", "what it is") if "title" in rows[0] else ("name", "what it is")
        cells = [tuple(row[key] for key in ("name", "title", "description") if key in row) for row in rows]
        screen.show(table(columns, cells, title=title))
    for module, why in broken.items():
        screen.warn(f"{module} cannot be imported and was left out: {why}")


def _describe(name: str, variant: Any) -> dict[str, str]:
    # One variant, one file: the module's first line is written for users, the class's for developers.
    file = importlib.import_module(variant.__module__)
    first_line = (file.__doc__ or variant.__doc__ or "").strip().partition("\n")[0].replace("`", "")
    title = {"title": variant.title} if getattr(variant, "title", "") else {}
    return {"name": name, **title, "description": first_line}
