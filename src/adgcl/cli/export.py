"""`adgcl export`: the encoder of a run as one small file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen
from adgcl.core.errors import OutputError
from adgcl.core.files import check_writable, refuse_input
from adgcl.core.words import counted, file_size

_ENDING = ".safetensors"


def export(
    run: options.RunArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help=f"The file to write; it ends in {_ENDING}.")],
    full: Annotated[
        bool, typer.Option("--full", help="Keep all numbers in 32 bits. Default: matrices in 16, half the size.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the encoder of a run as one file, to keep or to pass on.

    Everything that only training needs is left out: a tenth of the size
    remains. The file can replace RUN in any command that embeds or starts from
    an encoder. RUN may also be a snapshot of an epoch.

    \b
    Examples:
      adgcl export runs/mine --out mine.safetensors
      adgcl embed mine.safetensors new.csv --out vectors.parquet
    """
    from adgcl.training.checkpoints import load_checkpoint
    from adgcl.training.encoder_file import save_encoder
    from adgcl.training.start import encoder_origin, find_encoder

    screen = Screen(as_json, quiet)
    if out.suffix != _ENDING:
        raise OutputError(f"An encoder cannot be written as {out.name}.", f"Let it end in {_ENDING}.")
    check_writable(out.parent)
    refuse_input(out, run)
    save_encoder(out, load_checkpoint(find_encoder(str(run))), half=not full)
    size, origin = out.stat().st_size, encoder_origin(str(out))
    screen.emit({"out": str(out), "bytes": size, **origin})
    trained = f"{origin['method']} after {counted(origin['epochs'], 'epoch')} on {origin['data']}"
    screen.show(f"Wrote {out}: {file_size(size)}, {trained}.")
