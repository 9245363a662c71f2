"""Descriptors: learn to predict what RDKit computes about a molecule, which needs no measurement."""

from __future__ import annotations

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.describing import is_described
from adgcl.methods.base import METHODS
from adgcl.methods.supervised import Supervised, SupervisedConfig


class DescriptorsConfig(SupervisedConfig):
    """Settings of learning from descriptors: those of learning from labels."""

    name: str = "descriptors"


@METHODS.register("descriptors")
class Descriptors(Supervised):
    """`min over encoder, W, b of |W graph_emb + b - d|^2` over the standardised descriptors `d` of each molecule.

    The descriptors are the labels that `adgcl data describe` gives to molecules; no label of any task is among them.
    """

    Config = DescriptorsConfig
    title = "Descriptors"
    protocol = ""
    other_protocols = ()
    computed_labels = True

    @classmethod
    def check_training(cls, dataset: Dataset) -> None:
        super().check_training(dataset)
        if not is_described(dataset.task):
            raise DataError(
                f"{dataset.name} has no descriptors to learn from.",
                f"Compute them with `adgcl data describe {dataset.name} --out FILE.graphs`, and train on that file.",
            )
