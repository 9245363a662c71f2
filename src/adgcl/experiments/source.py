"""Source: where data comes from and how to read it, as the user specifies it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from adgcl.core.errors import ConfigError
from adgcl.core.gaps import Gap
from adgcl.data.catalog import is_known
from adgcl.data.dataset import Dataset
from adgcl.data.features import choose_features
from adgcl.data.load import load_dataset
from adgcl.data.own import are_molecules
from adgcl.data.splits import SPLITS, divided, split_digest
from adgcl.data.text.open_table import is_table_name
from adgcl.graphs.chem.atoms import FeatureSet
from adgcl.training.run_config import DataConfig


@dataclass(frozen=True)
class Source:
    """A name, a path or graphs in memory, the folder of data files, and how a table is read."""

    data: Any
    data_dir: Path | None = None
    smiles_column: str | None = None
    label_columns: tuple[str, ...] = ()
    id_column: str | None = None
    task: str | None = None
    split: str | None = None
    sheet: str | None = None
    keep_largest_fragment: bool = False

    def load(self, atom_features: str | None = None, progress: Any = None) -> Dataset:
        """The data with every feature its source has; `atom_features` says how SMILES become features."""
        columns = {
            "smiles_column": self.smiles_column,
            "label_columns": list(self.label_columns) or None,
            "id_column": self.id_column,
            "task": self.task,
            "split": None if self._splits_afterwards else self.split,
            "sheet": self.sheet,
            "keep_largest_fragment": self.keep_largest_fragment or None,
        }
        given: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
        dataset = load_dataset(
            self.data, data_dir=self.data_dir, atom_features=atom_features, progress=progress, **given
        )
        return divided(dataset, self.split) if self.split and self._splits_afterwards else dataset

    def column_digest(self, dataset: Dataset) -> str:
        """What tells a split column from an edited one of the same name; other splits follow from the graphs."""
        return "" if not self.split or self._splits_afterwards else split_digest(dataset.split)

    @property
    def unlabelled(self) -> Source:
        """The same without labels: those of a table are not even read, so nothing can be wrong with them."""
        return replace(self, label_columns=(), split=None, task="none" if self._is_table else None)

    def following(self, config: DataConfig, mixtures: int = 0) -> Source:
        """The same, with salts and mixtures read as a run with these settings reads them.

        A run that has learned from `mixtures` as a whole says nothing about their largest fragments. One that has seen
        none leaves the choice to the user. Known sets are always read as they were published.
        """
        if self.keep_largest_fragment and not config.keep_largest_fragment and mixtures:
            raise ConfigError(
                f"--keep-largest-fragment was given, but this was trained on {mixtures} salts and mixtures read whole.",
                "Leave the flag out, or train again with it.",
            )
        if self.keep_largest_fragment or not config.keep_largest_fragment or not self._is_own_molecules:
            return self
        return replace(self, keep_largest_fragment=True)

    @property
    def _is_own_molecules(self) -> bool:
        return self._is_table or are_molecules(self.data)

    @property
    def _is_table(self) -> bool:
        known = isinstance(self.data, str) and is_known(self.data)
        return isinstance(self.data, str | Path) and not known and is_table_name(self.data)

    @property
    def _splits_afterwards(self) -> bool:
        """Whether the split can be made from any data; a split column can only be read with its table."""
        return self.split in SPLITS

    def load_for(self, config: DataConfig, progress: Any = None) -> Dataset:
        """The data as a run with these settings sees it."""
        # Molecules are read with the right features at once. The usual ones are not named, so that tables read with
        # and without settings share one packed file.
        unusual = config.atom_features != DataConfig().atom_features
        features = config.atom_features if unusual and self._is_own_molecules else None
        source = self.following(config)
        return source.seen_through(source.load(features, progress), config, progress)

    def seen_through(self, dataset: Dataset, config: DataConfig, progress: Any = None) -> Dataset:
        """`dataset`, which was loaded from here, with the fragments and features that `config` chooses."""
        source = self.following(config)
        if source is not self or atom_features_of(dataset) not in (None, config.atom_features):
            dataset = source.load(config.atom_features, progress)
        return dataset.with_store(choose_features(dataset.store, config.features))


@dataclass(eq=False)
class LoadedSource:
    """A source with its data, loaded once and adapted to the settings of each run; or why there is none.

    The data stays behind when it is sent to another process, which loads it again when it is needed.
    """

    name: str
    source: Source
    dataset: Dataset | None = None
    gap: Gap | None = None
    _seen: dict[str, Dataset] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, source: Source, progress: Any = None) -> LoadedSource:
        """Load a source; problems are raised."""
        dataset = source.load(progress=progress)
        return cls(dataset.name, source, dataset)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "dataset": None, "_seen": {}}

    @property
    def content(self) -> Dataset:
        """The data with every feature its source has."""
        if self.dataset is None:
            assert self.gap is None, f"{self.name} is not available: {self.gap}"
            self.dataset = self.source.load()
        return self.dataset

    def seen(self, config: DataConfig, progress: Any = None) -> Dataset:
        """The data with the features that `config` chooses."""
        key = config.model_dump_json()
        if key not in self._seen:
            self._seen[key] = self.source.seen_through(self.content, config, progress)
        return self._seen[key]


def atom_features_of(dataset: Dataset) -> FeatureSet | None:
    """How the molecules of `dataset` became features; None if it does not hold molecules read from SMILES."""
    known: tuple[FeatureSet, ...] = get_args(FeatureSet)
    return next((name for name in known if name == dataset.store.spec.name), None)
