"""The command `adgcl`: all its parts, and error messages that a person can act on."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from adgcl.cli import (
    data,
    doctor,
    embed,
    evaluate,
    explain,
    export,
    finetune,
    graph_map,
    labels,
    methods,
    neighbours,
    predict,
    pretrain,
    quickstart,
    report,
    reproduce,
    settings,
    sweep,
    theory,
    tune,
)
from adgcl.cli.lists import LabelsCommand, ReproduceCommand, SweepCommand
from adgcl.cli.screen import print_error
from adgcl.core.errors import AdgclError, Interrupted

_AGAIN = "This is a bug in adgcl. Run again with --debug to see where it comes from."


class _Group(TyperGroup):
    """Ctrl-C becomes an error of our own, before typer turns it into one of its own."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("Stopped.") from None


app = typer.Typer(
    name="adgcl",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"adgcl {version('adgcl')}")
        raise typer.Exit


@app.callback()
def _frame(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Learn graph embeddings without labels, by adversarial graph augmentation (AD-GCL), and evaluate them.

    \b
    The first five minutes:
      adgcl quickstart                              learn from built-in molecules
      adgcl pretrain my.csv --out runs/mine         learn from your own SMILES
      adgcl embed runs/mine my.csv --out emb.csv    a vector for every molecule
      adgcl evaluate runs/mine my.csv               how good are the vectors?
      adgcl finetune runs/mine my.csv --out model   learn your labels
      adgcl predict model new.csv --out pred.csv    predict them
      adgcl report runs/mine --out report.html      a page to send
      adgcl doctor                                  is everything in place?

    Every command has examples (--help) and prints JSON for scripts (--json).
    """


# What a person wants to do, in the order in which it is wanted.
_DATA, _SEE, _PAPER, _MACHINE = "Your data", "See what was learned", "The paper", "This machine"
app.command("quickstart", rich_help_panel=_DATA)(quickstart.quickstart)
app.command("pretrain", rich_help_panel=_DATA)(pretrain.pretrain)
app.command("embed", rich_help_panel=_DATA)(embed.embed)
app.command("export", rich_help_panel=_DATA)(export.export)
app.command("evaluate", rich_help_panel=_DATA)(evaluate.evaluate)
app.command("tune", rich_help_panel=_DATA)(tune.tune)
app.command("labels", cls=LabelsCommand, rich_help_panel=_DATA)(labels.labels)
app.command("finetune", rich_help_panel=_DATA)(finetune.finetune)
app.command("predict", rich_help_panel=_DATA)(predict.predict)
app.command("explain", rich_help_panel=_SEE)(explain.explain)
app.command("map", rich_help_panel=_SEE)(graph_map.graph_map)
app.command("neighbours", rich_help_panel=_SEE)(neighbours.neighbours)
app.command("report", rich_help_panel=_SEE)(report.report)
app.command("reproduce", cls=ReproduceCommand, rich_help_panel=_PAPER)(reproduce.reproduce)
app.command("sweep", cls=SweepCommand, rich_help_panel=_PAPER)(sweep.sweep)
app.command("theory", rich_help_panel=_PAPER)(theory.theory)
app.command("methods", rich_help_panel=_PAPER)(methods.methods)
app.command("settings", rich_help_panel=_PAPER)(settings.settings)
app.add_typer(data.app, name="data", rich_help_panel=_MACHINE)
app.command("doctor", rich_help_panel=_MACHINE)(doctor.doctor)


def run() -> None:
    """Run the command line of this process, and end it."""
    code = main(sys.argv[1:])
    # From here on Ctrl-C has nothing to save; it would only end in a traceback.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except OSError:
        # Python flushes once more when it ends, and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    arguments, debug = _without_debug(arguments)
    # Threads that wait should sleep: where other programs want the cores too, spinning made a step 10 times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if not debug:
        _silence_warnings()
    try:
        typer.main.get_command(app).main(args=list(arguments), prog_name="adgcl", obj=list(arguments))
    except SystemExit as stop:
        if stop.code == Interrupted.exit_code:  # how typer ends when Ctrl-C comes before the command itself
            return _explain(stop, "Stopped.", None, Interrupted.exit_code, debug)
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except AdgclError as error:
        return _explain(error, error.message, error.hint, error.exit_code, debug)
    except KeyboardInterrupt as error:
        return _explain(error, "Stopped.", None, Interrupted.exit_code, debug)
    except BrokenPipeError:
        return 0
    except MemoryError as error:
        return _explain(error, "There is not enough memory.", "Try a smaller --batch-size.", 1, debug)
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "The disk is full. Free some space and run the same command again." if full else _AGAIN
        return _explain(error, f"{about}{error.strerror or error}.", hint, 1, debug)
    except Exception as error:
        first_line = (str(error).strip().splitlines() or [""])[0]
        return _explain(error, f"{type(error).__name__}: {first_line}", _AGAIN, 1, debug)
    return 0


def _explain(error: BaseException, message: str, hint: str | None, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    print_error(message, hint, "" if code == Interrupted.exit_code else "Error:")
    return code


def _without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """`--debug` may come before or after the command; nothing after `--` is an option."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [a for a in arguments[:end] if a != "--debug"]
    return [*options, *arguments[end:]], len(options) < end


def _silence_warnings() -> None:
    """Libraries warn about their own internals, which is noise to a user; worker processes inherit the setting."""
    import warnings

    warnings.filterwarnings("ignore")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
