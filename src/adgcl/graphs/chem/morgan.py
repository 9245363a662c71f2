"""Morgan fingerprints of SMILES, with RDKit: bits and counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.jobs.chunks import map_chunks

Bits = npt.NDArray[np.float32]


def morgan_fingerprints(smiles: Sequence[str], radius: int = 2, bits: int = 2048, workers: int | None = None) -> Bits:
    """Morgan fingerprints, one row of zeros and ones per molecule; many molecules use one process per core."""
    return np.unpackbits(packed_fingerprints(smiles, radius, bits, workers), axis=1, count=bits).astype(np.float32)


def packed_fingerprints(
    smiles: Sequence[str], radius: int = 2, bits: int = 2048, workers: int | None = None
) -> npt.NDArray[np.uint8]:
    """The same with eight bits to a byte: a 32nd of the memory."""
    rows = np.zeros((len(smiles), -(-bits // 8)), dtype=np.uint8)
    done = 0
    for size, packed in map_chunks(partial(_packed, radius=radius, bits=bits), smiles, workers):
        rows[done : done + size] = packed
        done += size
    return rows


def morgan_counts(smiles: Sequence[str], radius: int = 2, bits: int = 2048, workers: int | None = None) -> Bits:
    """How often each neighbourhood of an atom occurs, a row of counts per molecule."""
    rows = np.zeros((len(smiles), bits), dtype=np.float32)
    done = 0
    for size, counts in map_chunks(partial(_counted, radius=radius, bits=bits), smiles, workers):
        rows[done : done + size] = counts
        done += size
    return rows


def _counted(smiles: list[str], radius: int, bits: int) -> npt.NDArray[np.uint16]:
    """The counts of a few molecules."""
    from rdkit import rdBase
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    with rdBase.BlockLogs():
        rows = [generator.GetCountFingerprintAsNumPy(molecule(text)) for text in smiles]
    return np.minimum(np.stack(rows), 65535).astype(np.uint16)


def _packed(smiles: list[str], radius: int, bits: int) -> npt.NDArray[np.uint8]:
    """The fingerprints of a few molecules, eight bits to a byte."""
    from rdkit import rdBase
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    with rdBase.BlockLogs():
        rows = [generator.GetFingerprintAsNumPy(molecule(text)) for text in smiles]
    return np.packbits(np.stack(rows), axis=1)


def molecule(text: str) -> Any:
    """The molecule of a SMILES; one with an impossible valence is read as it is."""
    from rdkit import Chem

    molecule: Any = Chem.MolFromSmiles(text)
    if molecule is not None:
        return molecule
    # Newer versions of RDKit reject some molecules of public sets that were made with older versions.
    molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None:
        raise DataError(f"RDKit cannot read {text!r}.", "Fingerprints need molecules that RDKit reads.")
    molecule.UpdatePropertyCache(strict=False)
    Chem.SanitizeMol(molecule, Chem.SANITIZE_ALL ^ Chem.SANITIZE_PROPERTIES, catchErrors=True)
    return molecule
