"""`adgcl settings`: every setting with its default, range and meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from adgcl.cli.options import Json
from adgcl.cli.screen import Screen, table


def settings(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="The method to list settings for; `adgcl methods` lists them.")
    ] = "adgcl",
    as_json: Json = False,
) -> None:
    """List every setting with its default, its range and what it does.

    Change one with --set SECTION.KEY=VALUE, or in a TOML file for --config,
    under the name of its section. A name that only one section has needs no
    prefix: --set reg_lambda=1.

    \b
    Examples:
      adgcl settings
      adgcl settings random_init --json
    """
    from adgcl.core.describe import describe
    from adgcl.experiments.planning import sections

    screen = Screen(as_json)
    found = {name: describe(model) for name, model in sections(method).items()}
    screen.emit({name: [vars(setting) for setting in rows] for name, rows in found.items()})
    for name, rows in found.items():
        cells = [(s.name, _text(s.default), s.allowed or s.kind, s.help) for s in rows]
        screen.show(
            table(("setting", "default", "allowed", "what it does"), cells, title=f"[{name}]")
        )
    screen.say(
        "A command's defaults come from the preset for the method and the kind of data (`adgcl methods` lists them); "
        "the settings it used are in the run folder's config.json."
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
