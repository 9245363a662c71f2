"""RunConfig: everything that decides how a run goes, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field, SerializeAsAny

from adgcl.core.config import Config, build, merged, parse_overrides
from adgcl.core.errors import ConfigError, did_you_mean
from adgcl.encoders.base import EncoderConfig
from adgcl.methods.base import METHODS, MethodConfig


class DataConfig(Config):
    """What the network gets to see of the data."""

    features: Literal["auto", "constant", "labels", "degrees", "labels+degrees"] = Field(
        "auto",
        description="node features: the source's own, degrees, both, or none; auto takes degrees where there are none",
    )
    atom_features: Literal["ogb", "hu"] = Field("ogb", description="how SMILES become features")


class TrainingConfig(Config):
    """How long and on what to train."""

    epochs: int = Field(20, ge=0, description="passes over the data")
    batch_size: int = Field(32, ge=1, description="graphs per step")
    seed: int = Field(0, ge=0, description="decides every random number")
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, mps")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="number type of dense layers; bfloat16 where the machine has it, float32 elsewhere"
    )
    threads: int = Field(0, ge=0, description="CPU threads; 0 chooses by the width of the network")
    checkpoint_seconds: float = Field(30.0, ge=0.0, description="save at most this often")


class RunConfig(Config):
    """The four sections of a configuration file."""

    method: SerializeAsAny[MethodConfig]
    encoder: EncoderConfig
    training: TrainingConfig
    data: DataConfig

    def to_tree(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def with_training(self, **changes: Any) -> RunConfig:
        return self.model_copy(
            update={"training": build(TrainingConfig, {**self.training.model_dump(), **changes}, "training")}
        )


def resolve(settings: Mapping[str, Any], overrides: Iterable[str] = ()) -> RunConfig:
    """Check nested settings and `key=value` overrides, and fill in defaults."""
    sections: dict[str, type[Config]] = {"encoder": EncoderConfig, "training": TrainingConfig, "data": DataConfig}
    unknown = set(settings) - set(sections) - {"method"}
    if unknown:
        name = sorted(unknown)[0]
        raise ConfigError(f"There is no section {name!r}.", did_you_mean(name, [*sections, "method"]))
    method = settings.get("method", {})
    method = {"name": method} if isinstance(method, str) else method
    method_config = METHODS[method.get("name", "adgcl")].Config
    sections["method"] = method_config
    tree = merged({**settings, "method": method}, parse_overrides(overrides, sections))
    return RunConfig(
        method=build(method_config, tree.get("method", {}), "method"),
        encoder=build(EncoderConfig, tree.get("encoder", {}), "encoder"),
        training=build(TrainingConfig, tree.get("training", {}), "training"),
        data=build(DataConfig, tree.get("data", {}), "data"),
    )
