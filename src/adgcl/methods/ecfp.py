"""ECFP: Morgan fingerprints of molecules, which chemists used before neural networks and still use."""

from __future__ import annotations

from pydantic import Field
from torch import Tensor

from adgcl.core.errors import DataError
from adgcl.core.ranges import searched
from adgcl.data.dataset import Dataset
from adgcl.graphs.chem.morgan import Bits, morgan_counts, morgan_fingerprints
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, MethodConfig
from adgcl.methods.unlearned import Unlearned


class ECFPConfig(MethodConfig):
    """Settings of the fingerprint; the defaults are ECFP4 at its usual length."""

    name: str = "ecfp"
    radius: int = Field(
        2,
        ge=0,
        le=16,
        description="bonds from an atom to the edge of its neighbourhood",
        json_schema_extra=searched(1, 4),
    )
    bits: int = Field(2048, ge=16, le=65536, description="length of the fingerprint")
    counts: bool = Field(
        False,
        description="count how often a neighbourhood occurs, not only whether it does",
        json_schema_extra=searched(choices=(False, True)),
    )


@METHODS.register("ecfp")
class ECFP(Unlearned):
    """Bit `hash(a) mod bits` is 1 for the neighbourhood `a` of every atom up to `radius` bonds (Rogers and Hahn 2010).

    With `counts` it is the number of these neighbourhoods, which tells most properties better.
    Computed from SMILES by RDKit: graphs alone are not enough.
    """

    Config = ECFPConfig
    title = "ECFP fingerprint"
    needs_smiles = True
    config: ECFPConfig

    @property
    def width(self) -> int:
        return self.config.bits

    def embed(self, batch: GraphBatch) -> Tensor:
        raise DataError("Graphs without SMILES have no fingerprints.", "Give molecules as SMILES.")

    def embed_dataset(self, dataset: Dataset) -> Bits:
        self.check_data(dataset)
        assert dataset.smiles is not None
        computed = morgan_counts if self.config.counts else morgan_fingerprints
        return computed(dataset.smiles, self.config.radius, self.config.bits)
