"""`adgcl doctor`: is everything in its place?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen, table

if TYPE_CHECKING:
    from rich.text import Text

    from adgcl.doctor import Check


def doctor(data_dir: options.DataDir = None, as_json: options.Json = False) -> None:
    """Check versions, devices, memory, folders and data sets.

    Problems are marked with what to do about them. The exit code is 0 unless
    something is broken that nothing works without. A data set that is missing
    is no fault: `freesolv` is built in, the others are got when you want them.

    \b
    Examples:
      adgcl doctor
      adgcl doctor --json
    """
    from adgcl.doctor import examine

    screen = Screen(as_json)
    checks = examine(data_dir)
    broken = [check for check in checks if check.essential and not check.well]
    screen.emit({"well": not broken, "checks": [vars(check) for check in checks]})
    data = [check for check in checks if check.name.startswith("data set ")]
    rest = [check for check in checks if check not in data]
    screen.show(table(("", "", "what to do"), [_row(check) for check in rest], title="This machine"))
    here = [check.name.removeprefix("data set ") for check in data if check.well]
    screen.show(f"Data sets here ({len(here)} of {len(data)}): {', '.join(here)}")
    gone = [(check.name.removeprefix("data set "), check.advice) for check in data if not check.well]
    if gone:
        screen.show(table(("missing data set", "how to get it"), gone))
    screen.show(
        "Something essential is broken, see above."
        if broken
        else "Everything needed is in place. Try `adgcl quickstart`."
    )
    if broken:
        raise typer.Exit(1)


def _row(check: Check) -> tuple[Text | str, ...]:
    from rich.text import Text

    mark = "" if check.well else "  ← problem"
    return check.name, Text(check.found + mark, style="" if check.well else "red"), "" if check.well else check.advice
