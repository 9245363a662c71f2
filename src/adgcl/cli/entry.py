"""Where the command `adgcl` begins: Ctrl-C is heeded quietly from the first moment, while the rest is imported."""

from __future__ import annotations

import os
import signal


def _stop(number: int, frame: object) -> None:
    # Nothing has been done yet, so there is nothing to tidy up; an exception here could end inside any import.
    os.write(2, b"Stopped.\n")
    os._exit(130)


def run() -> None:
    """The console entry."""
    # An ignored Ctrl-C stays ignored, as a shell arranges it for what runs in the background.
    heeds = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    if heeds:
        signal.signal(signal.SIGINT, _stop)
    from adgcl.cli import main

    if heeds:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main.run()
