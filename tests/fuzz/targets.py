"""Every target by name; a new kind of input is one more entry of the file it belongs to."""

from __future__ import annotations

from tests.fuzz.data_targets import DATA
from tests.fuzz.saved_targets import SAVED
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {**DATA, **SAVED}
