"""The two published encodings of a molecule's atoms and bonds: `ogb` and `hu`.

`ogb` is the convention of the Open Graph Benchmark (nine atom and three bond columns, the last code of most
columns meaning "anything else"). `hu` is that of Hu et al. 2020, used for transfer learning (two and two).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import UnknownNameError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.graphs.chem.rdkit_binary import RawMolecules

FeatureSet = Literal["ogb", "hu"]
Codes = npt.NDArray[np.uint8]
# The field that a feature column reads, and a table from RDKit's number to the code.
Lookup = tuple[str, Codes]

_SPECS: dict[str, FeatureSpec] = {
    "ogb": FeatureSpec(Features((119, 5, 12, 12, 10, 6, 6, 2, 2)), Features((5, 6, 2)), "ogb"),
    # Of the 120 atom rows 0..117 are elements, 118 a dummy atom, 119 the mask token. Of the six bond types
    # four are chemical, 4 is a self-loop, 5 the mask. Deviation: the authors' chirality table has three rows
    # and fails on the fourth tag ("other"); ours has four.
    "hu": FeatureSpec(Features((120, 4)), Features((6, 3)), "hu"),
}
_MASKS: dict[str, tuple[int, int]] = {"hu": (119, 5)}


def feature_spec(features: str) -> FeatureSpec:
    """The FeatureSpec of a feature set, by name."""
    if features not in _SPECS:
        raise UnknownNameError("molecule feature set", str(features), get_args(FeatureSet))
    return _SPECS[features]


def mask_codes(spec: FeatureSpec) -> tuple[int, int] | None:
    """The codes of the first atom and bond columns that mean "hidden", where a feature set has such codes."""
    # Degrees may stand beside the columns of the feature set: `hu+degrees`.
    return _MASKS.get(spec.name.partition("+")[0])


def encode(raw: RawMolecules, features: str) -> tuple[Codes, Codes]:
    """RDKit's numbers as the categorical codes of a feature set: `[atoms, columns]`, `[bonds, columns]`."""
    feature_spec(features)
    fields = {**raw.atoms, "total_degree": raw.atoms["degree"] + raw.atoms["num_hs"]}
    atom_columns, bond_columns = _columns(features)
    return _looked_up(fields, atom_columns), _looked_up(raw.bonds, bond_columns)


def _looked_up(fields: dict[str, npt.NDArray[Any]], columns: Sequence[Lookup]) -> Codes:
    rows = len(fields[columns[0][0]])
    codes = np.empty((rows, len(columns)), dtype=np.uint8)
    for number, (name, table) in enumerate(columns):
        codes[:, number] = table[fields[name]]
    return codes


@cache
def _columns(features: str) -> tuple[tuple[Lookup, ...], tuple[Lookup, ...]]:
    """For each feature column: the field it reads and a table from RDKit's number to the code."""
    from rdkit import Chem

    chirality = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
    bond_types = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
    if features == "hu":
        return (
            ("atomic_num", _numbers(range(1, 119), other=118)),
            ("chirality", _names(Chem.ChiralType, chirality, other=3)),
        ), (
            # Other orders (dative, quadruple) have no code; most are dative, so they are read as single.
            ("type", _names(Chem.BondType, bond_types, other=0)),
            ("direction", _names(Chem.BondDir, ("NONE", "ENDUPRIGHT", "ENDDOWNRIGHT"), other=0)),
        )
    hybridisation = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
    stereo = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")
    return (
        ("atomic_num", _numbers(range(1, 119), other=118)),
        ("chirality", _names(Chem.ChiralType, chirality, other=4)),
        ("total_degree", _numbers(range(0, 11), other=11)),
        ("charge", _numbers(range(-5, 6), other=11)),
        ("num_hs", _numbers(range(0, 9), other=9)),
        ("radicals", _numbers(range(0, 5), other=5)),
        ("hybridisation", _names(Chem.HybridizationType, hybridisation, other=5)),
        ("aromatic", _numbers(range(0, 2), other=1)),
        ("in_ring", _numbers(range(0, 2), other=1)),
    ), (
        ("type", _names(Chem.BondType, bond_types, other=4)),
        # OGB has no "other" stereo; atropisomers, which need extended SMILES, are read as none.
        ("stereo", _names(Chem.BondStereo, stereo, other=0)),
        ("conjugated", _numbers(range(0, 2), other=1)),
    )


def _numbers(known: range, other: int) -> Codes:
    """A table over one byte: the position of each known number (negative ones as two's complement)."""
    table = np.full(256, other, dtype=np.uint8)
    table[np.array(known) % 256] = np.arange(len(known))
    return table


def _names(enum: Any, known: Sequence[str], other: int) -> Codes:
    """A table over one byte: the position of each known name of an RDKit enumeration."""
    table = np.full(256, other, dtype=np.uint8)
    for place, name in enumerate(known):
        table[int(enum.names[name])] = place
    return table
