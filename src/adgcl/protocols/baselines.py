"""Baselines that learn nothing: Morgan fingerprints (ECFP), judged by the same probes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.provenance import peak_memory_mb
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.protocols.judging import make_record
from adgcl.protocols.unsupervised import SeedRun, UnsupervisedConfig, judge
from adgcl.training.run_config import resolve

ECFP = "ecfp"


def ecfp(smiles: Sequence[str], radius: int = 2, bits: int = 2048) -> npt.NDArray[np.float32]:
    """Morgan fingerprints of molecules, a row of zeros and ones each."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    rows = np.zeros((len(smiles), bits), dtype=np.float32)
    with rdBase.BlockLogs():
        for row, text in zip(rows, smiles):
            molecule: Any = Chem.MolFromSmiles(text)
            if molecule is None:
                raise DataError(f"RDKit cannot read {text!r}.", "Fingerprints need molecules that RDKit reads.")
            row[:] = generator.GetFingerprintAsNumPy(molecule)
    return rows


def evaluate_ecfp(
    dataset: Dataset, protocol: UnsupervisedConfig, seeds: Sequence[int], command: str = ""
) -> list[Record]:
    """Judge the fingerprints of a data set's molecules; one Record per probe."""
    if dataset.smiles is None:
        raise DataError(f"{dataset.name} has no SMILES to take fingerprints of.", "Choose a data set of molecules.")
    rows = ecfp(dataset.smiles)
    runs = []
    for seed in seeds:
        started = time.monotonic()
        evaluations = tuple(judge(rows, dataset, protocol, seed))
        runs.append(SeedRun(seed, evaluations, {}, round(time.monotonic() - started, 2), peak_memory_mb()))
    # Any run configuration will do here: a Record needs one, but a fingerprint has nothing to configure.
    plain = resolve({"method": "random_init"})
    config = {
        "method": {"name": ECFP, "radius": 2, "bits": rows.shape[1]},
        "protocol": protocol.model_dump(mode="json"),
    }
    records = [make_record(dataset, plain, protocol, probe, runs, command) for probe in protocol.probes]
    return [replace(record, method=ECFP, config=config, published=None) for record in records]
