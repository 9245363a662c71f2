"""What every method promises, kept by AD-GCL with each learnable augmentation alone and with all of them at once."""

from __future__ import annotations

import pytest

from adgcl.augmentations.mixture import learnable_names
from adgcl.training.run_config import resolve
from tests.contracts import test_methods as contract
from tests.graph_cases import random_store

# The paper's edge_drop alone is AD-GCL's default, which the contract covers already.
ALONE = [([name], "gin") for name in learnable_names() if name != "edge_drop"]
CASES = [*ALONE, (learnable_names(), "gin"), (learnable_names(), "gine")]

globals().update({name: test for name, test in vars(contract).items() if name.startswith("test_")})


@pytest.fixture(params=CASES, ids=lambda c: "-".join(("all" if len(c[0]) > 1 else c[0][0], c[1])))
def case(request, monkeypatch):
    names, encoder = request.param
    plain = contract.settings

    def mixed(*args, **training):
        tree = plain(*args, **training).to_tree()
        return resolve({**tree, "method": {**tree["method"], "augmentations": names}})

    monkeypatch.setattr(contract, "settings", mixed)
    return "adgcl", encoder, random_store(num_graphs=14, seed=4, **contract.ENCODERS[encoder])
