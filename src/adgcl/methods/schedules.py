"""Learning-rate schedules as functions of the epoch alone, so that a resumed run continues at the same rate."""

from __future__ import annotations

import math
from typing import Literal

Schedule = Literal["none", "step", "cosine"]


def rate_factor(schedule: Schedule, finished_epochs: int, decay_epochs: int, decay_factor: float) -> float:
    """The factor on the initial learning rate after some epochs.

    - `step`: `decay_factor ^ floor(finished / decay_epochs)` (GraphMAE fine-tunes BACE with 30 and 0.3);
    - `cosine`: from 1 down to `decay_factor` along half a cosine over `decay_epochs`, then constant.
    """
    if schedule == "step":
        return float(decay_factor ** (finished_epochs // decay_epochs))
    if schedule == "cosine":
        fallen = (1 - math.cos(math.pi * min(finished_epochs / decay_epochs, 1.0))) / 2
        return 1 - (1 - decay_factor) * fallen
    return 1.0
