"""`adgcl settings`: every setting with its default, range and meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adgcl.cli.options import Json
from adgcl.cli.screen import Screen, table

if TYPE_CHECKING:
    from adgcl.core.config import Config


def settings(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="The method to list settings for; `adgcl methods` lists them.")
    ] = "adgcl",
    executor: Annotated[
        str | None,
        typer.Option("--executor", metavar="NAME", help="List the settings of an executor instead: ray or slurm."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List every setting with its default, its range and what it does.

    Change one with --set SECTION.KEY=VALUE, or in a TOML file for --config,
    under the name of its section. A name that only one section has needs no
    prefix: --set reg_lambda=1. Those of an executor are for --executor-set.

    \b
    Examples:
      adgcl settings
      adgcl settings random_init --json
      adgcl settings --executor slurm
    """
    from adgcl.core.describe import describe

    screen = Screen(as_json)
    found = {name: describe(model) for name, model in _sections(method, executor).items()}
    screen.emit({name: [vars(setting) for setting in rows] for name, rows in found.items()})
    for name, rows in found.items():
        cells = [(s.name, _text(s.default), s.allowed or s.kind, s.help) for s in rows]
        screen.show(table(("setting", "default", "allowed", "what it does"), cells, title=f"[{name}]"))
    if executor:
        return
    screen.say(
        "A command's defaults come from the preset for the method and the kind of data (`adgcl methods` lists them); "
        "the settings it used are in the run folder's config.json."
    )


def _sections(method: str, executor: str | None) -> dict[str, type[Config]]:
    if executor:
        from adgcl.jobs.executor import EXECUTORS

        return {executor: EXECUTORS[executor].Config}
    from adgcl.experiments.planning import sections

    return sections(method)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
