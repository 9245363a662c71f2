"""`adgcl doctor`: is this machine ready?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen, table

if TYPE_CHECKING:
    from rich.text import Text

    from adgcl.doctor import Check


def doctor(
    data_dir: options.DataDir = None,
    compile_loops: Annotated[
        bool, typer.Option("--compile", help="First compile the inner loops, which the first training would wait for.")
    ] = False,
    shared: Annotated[
        Path | None,
        typer.Option("--shared", metavar="FOLDER", help="Also try a folder that machines of a cluster share."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check versions, devices, memory, folders, locks and data sets.

    Each problem comes with what to do about it. The exit code is 0 unless
    something essential is broken. Missing data sets are not a problem:
    `freesolv` is built in, and the others can be downloaded when needed.

    Jobs on several machines need a shared folder with locks that all of them
    notice and that end with their holder, and renames that replace a file in one
    step. --shared tries that with two processes; run it on two machines to be sure.

    \b
    Examples:
      adgcl doctor
      adgcl doctor --json
      adgcl doctor --compile
      adgcl doctor --shared /scratch/me/runs
    """
    from adgcl.doctor import DATA_SET, examine

    screen = Screen(as_json)
    compiled = [_compile(screen)] if compile_loops else []
    checks = [*examine(data_dir, shared), *compiled]
    problems = [check for check in checks if not check.well]
    broken = any(check.essential for check in problems)
    screen.emit(
        {
            "well": not broken,
            "problems": [check.name for check in problems],
            "checks": [{**asdict(check), "well": check.well} for check in checks],
        }
    )
    data = {check.name.removeprefix(DATA_SET): check for check in checks if check.name.startswith(DATA_SET)}
    rest = [check for check in checks if not check.name.startswith(DATA_SET)]
    screen.show(table(("", "", "what to do"), [_row(check) for check in rest], title="This machine"))
    here = [name for name, check in data.items() if check.state == "well"]
    screen.show(f"Data sets here: {', '.join(here)}.")
    if len(here) < len(data):
        screen.show(f"Known data sets that are not here: {len(data) - len(here)}. `adgcl data list` names them.")
    screen.show(_summary(problems))
    if broken:
        raise typer.Exit(1)


def _compile(screen: Screen) -> Check:
    from adgcl.doctor import compiled_ahead

    screen.aside("Compiling inner loops ...")
    return compiled_ahead()


def _summary(problems: Sequence[Check]) -> str:
    """One line that sums up the table above it."""
    essential = [check.name for check in problems if check.essential]
    if essential:
        return f"Nothing works without {' and '.join(essential)}: see what to do above."
    if problems:
        return f"Ready to use, but see above: {', '.join(check.name for check in problems)}."
    return "Everything needed is in place. Try `adgcl quickstart`."


def _row(check: Check) -> tuple[Text | str, ...]:
    from rich.text import Text

    found = check.found if check.well else f"{check.found}  ← problem"
    advice = "" if check.state == "well" else check.advice
    return check.name, Text(found, style="" if check.well else "red"), advice
