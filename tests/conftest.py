"""Where the tests find real data."""

from __future__ import annotations

import os
import signal

# A shell that runs tests in the background ignores Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# One thread a test process: with several, tiny kernels spend their time waiting for each other.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402

from tests.real_data import absent  # noqa: E402

_ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data: ADGCL_DATA, or `shared/data` beside the repository."""
    named = os.environ.get("ADGCL_DATA")
    folder = Path(named) if named else _ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        absent(f"There is no data folder at {folder}; set ADGCL_DATA to one.")
    return folder
