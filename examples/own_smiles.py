"""From a list of SMILES to vectors and a predictor: pre-train on all molecules, then learn from a few labels."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adgcl import GraphEmbedder, load_dataset


def main(epochs: int = 5) -> float:
    """Train on FreeSolv's 642 molecules, fit a ridge regression on 200 labels and return the error on the rest."""
    data = load_dataset("freesolv")
    smiles, energy = list(data.smiles), data.store.y[:, 0]
    embedder = GraphEmbedder(epochs=epochs, settings={"encoder": {"hidden_dim": 64}}).fit(smiles)
    vectors = embedder.transform(smiles)
    labelled, rest = np.split(np.random.default_rng(0).permutation(len(smiles)), [200])
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-1, 4, 11))).fit(vectors[labelled], energy[labelled])
    error = float(np.sqrt(np.mean((model.predict(vectors[rest]) - energy[rest]) ** 2)))
    print(f"{vectors.shape[0]} molecules, {vectors.shape[1]} numbers each; RMSE from 200 labels: {error:.2f} kcal/mol")
    return error


if __name__ == "__main__":
    main()
