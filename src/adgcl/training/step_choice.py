"""By which step a run trains: the method's own or its compiled twin. A run that is resumed keeps its step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from adgcl.compiled.choice import Step, compiled_step, why_plain
from adgcl.core.errors import ConfigError
from adgcl.methods.base import Method
from adgcl.parallel.world import world
from adgcl.training.run_config import TrainingConfig

PLAIN, COMPILED = "plain", "compiled"
_THEN = " then "


class StepChoice(NamedTuple):
    """The compiled `step`, or None for the method's own; all `steps` of the run so far; what to say about them."""

    step: Step | None
    steps: str
    remark: str = ""


def steps_so_far(data: Mapping[str, Any]) -> str:
    """By which steps a saved run was trained; those of earlier versions do not say, and had only one."""
    return str(data.get("step", PLAIN))


def choose_step(method: Method, training: TrainingConfig, before: str | None = None) -> StepChoice:
    """The step that the settings ask for; `before` is what the run was trained by, if it is resumed."""
    last = before.rpartition(_THEN)[2] if before else None
    wanted, lacking = training.step, why_not(method, training)
    if wanted == COMPILED and lacking:
        raise ConfigError(
            f"This run has no compiled step: {lacking}.", "With --set training.step=auto it takes the plain one."
        )
    keeps = wanted == "auto" and last == PLAIN
    plain = wanted == PLAIN or keeps or bool(lacking)
    step, name = (None, PLAIN) if plain else (compiled_step(method), COMPILED)
    if last in (None, name):
        return StepChoice(step, before or name, _KEPT if keeps and not lacking else "")
    return StepChoice(step, f"{before}{_THEN}{name}", f"The run was trained by the {last} step and now by the {name}.")


def why_not(method: Method, training: TrainingConfig) -> str:
    """Why a run has no compiled step; empty if it has one."""
    if world().size > 1:
        return "several processes train it together"
    return "its precision is not float32" if training.precision != "float32" else why_plain(method)


_KEPT = (
    "The run was started with the plain step and keeps it, so that it ends as if it had not been interrupted; "
    "--set training.step=compiled would be faster."
)
