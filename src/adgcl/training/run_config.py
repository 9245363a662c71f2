"""RunConfig: everything that decides the course of a run, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SerializeAsAny, field_validator

from adgcl.core.config import HARMLESS, Config, Tree, build, merged, parse_overrides
from adgcl.core.errors import ConfigError, did_you_mean
from adgcl.core.ranges import searched
from adgcl.data.features import FeatureMode
from adgcl.encoders.base import AUTO, EncoderConfig, encoder_config
from adgcl.methods.base import METHODS, MethodConfig
from adgcl.trackers.base import TRACKERS, Curves, make_trackers

DEFAULT_METHOD = "adgcl"
MOST_THREADS = 1024


class DataConfig(Config):
    """What the network sees of the data."""

    features: FeatureMode = Field(
        "auto",
        description="node features: the source's own, degrees, both, or none; auto takes degrees where there are none; "
        "deg+odeg100 and deg+odeg10 are those of the published semi-supervised runs",
    )
    atom_features: Literal["ogb", "hu"] = Field("ogb", description="how SMILES become features")
    keep_largest_fragment: bool = Field(
        False, description="read only the largest fragment of salts and mixtures, in your own tables and lists"
    )


class TrainingConfig(Config):
    """How long and on what to train."""

    epochs: int = Field(20, ge=0, le=10**9, description="passes over the data")
    batch_size: int = Field(
        32,
        ge=1,
        le=10**9,
        description="graphs per step, over all processes",
        json_schema_extra=searched(choices=(32, 64, 128, 256)),
    )
    merge_single: bool = Field(
        False, description="add a last batch of a single graph, which has no variance, to the batch before it"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="decides every random number")
    start_from: str = Field(
        "", description="start with the trained encoder of this run folder, checkpoint file or packaged encoder"
    )
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1, mps", json_schema_extra=HARMLESS)
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="number type of dense layers; bfloat16 where the machine supports it, else float32"
    )
    threads: int = Field(
        0,
        ge=0,
        le=MOST_THREADS,
        description="CPU threads; 0 chooses by the width of the network; a resumed run keeps its number",
        json_schema_extra=HARMLESS,
    )
    step: Literal["auto", "plain", "compiled"] = Field(
        "auto",
        description="plain: the method's own step; compiled: the same without autograd, several times faster, with "
        "different rounding; auto: compiled where there is one, but a run that is resumed keeps its step",
        json_schema_extra=HARMLESS,
    )
    negatives: Literal["all", "own"] = Field(
        "all",
        description="under torchrun, the graphs that a contrastive loss compares with: those of all processes, or each "
        "process's own",
    )
    norm_statistics: Literal["all", "own"] = Field(
        "all",
        description="under torchrun, the nodes that batch normalisation takes its statistics from: those of all "
        "processes, or each process's own",
    )
    snapshots: tuple[int, ...] = Field(
        (), description="epochs after which the networks are kept as a file of their own", json_schema_extra=HARMLESS
    )
    checkpoint_seconds: float = Field(30.0, ge=0.0, description="save at most this often", json_schema_extra=HARMLESS)
    trackers: tuple[str, ...] = Field(
        (), description="where curves go as well: tensorboard, wandb, trackio, mlflow", json_schema_extra=HARMLESS
    )

    @field_validator("trackers", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        """A single name needs no brackets."""
        return (value,) if isinstance(value, str) else value

    @field_validator("trackers")
    @classmethod
    def _known_trackers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in TRACKERS:
                raise ValueError(f"there is no tracker called {name!r}; there are {', '.join(TRACKERS)}")
        return value


class RunConfig(Config):
    """The four sections of a configuration file that make a run."""

    method: SerializeAsAny[MethodConfig]
    encoder: SerializeAsAny[EncoderConfig]
    training: SerializeAsAny[TrainingConfig]
    data: SerializeAsAny[DataConfig]

    def to_tree(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def with_training(self, **changes: Any) -> RunConfig:
        return self.model_copy(
            update={"training": build(TrainingConfig, {**self.training.model_dump(), **changes}, "training")}
        )

    def make_trackers(self, folder: Path) -> list[Curves]:
        """Whatever the settings name that follows a run in this folder."""
        return make_trackers(self.training.trackers, folder, self.to_tree())

    def essence_without(self, *training: str) -> Tree:
        """The settings that decide the result, without some of the training section such as the seed."""
        tree = self.essence()
        for name in training:
            tree["training"].pop(name)
        return tree


def sections_of(settings: Mapping[str, Any]) -> dict[str, type[Config]]:
    """The sections of a run with their settings; each method and encoder has its own."""
    return {
        "method": METHODS[named(settings, "method", DEFAULT_METHOD)].Config,
        "encoder": encoder_config(named(settings, "encoder", AUTO)),
        "training": TrainingConfig,
        "data": DataConfig,
    }


def resolve(settings: Mapping[str, Any], overrides: Iterable[str] = ()) -> RunConfig:
    """Check nested settings and `key=value` overrides, and fill in defaults.

    This is how settings are read wherever they come from, including checkpoints and Records of earlier versions: a
    setting that is newer than they are takes its default.
    """
    if not isinstance(settings, Mapping):
        raise ConfigError("The settings are not a table.", "See docs/configuration.md for examples.")
    tree = merged({**settings, "method": as_table(settings.get("method", {}))})
    sections = sections_of(tree)
    unknown = set(tree) - set(sections)
    if unknown:
        name = sorted(unknown)[0]
        raise ConfigError(f"There is no section {name!r}.", did_you_mean(name, sections))
    tree = merged(tree, parse_overrides(overrides, sections))
    sections = sections_of(tree)
    return RunConfig(**{name: build(model, tree.get(name, {}), name) for name, model in sections.items()})  # type: ignore[arg-type]


def as_table(value: Any) -> Any:
    """A section may be a bare name: `method = "adgcl"`."""
    return {"name": value} if isinstance(value, str) else value


def named(settings: Mapping[str, Any], section: str, default: str) -> str:
    """The name that a section of nested settings gives, or a default."""
    table = as_table(settings.get(section, {}))
    return str(table.get("name") or default) if isinstance(table, Mapping) else default
