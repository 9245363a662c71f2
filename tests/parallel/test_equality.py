"""Two processes with half a batch each compute what one computes with the whole batch."""

from __future__ import annotations

import pytest
import torch

from adgcl.methods.base import METHODS
from tests.parallel.cases import OWN, SAME, record
from tests.parallel.launch import finished, start


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for code, _, err in finished(start("tests.parallel.cases", folder)):
        assert code == 0, err
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def test_every_method_that_can_be_divided_is_tried():
    tried = {method["name"] for method, _, _ in (*SAME.values(), *OWN.values())}
    assert tried == {name for name in METHODS if METHODS[name].parallel}


@pytest.mark.parametrize("case", SAME)
def test_losses_and_gradients_are_those_of_one_process(found, case):
    alone, together = record(case, merge_single=True), found[0][case]
    assert len(alone["metrics"]) == 6 and len(alone["gradients"]) == len(together["gradients"]) > 0
    for one, two in zip(alone["metrics"], together["metrics"], strict=True):
        assert two == pytest.approx(one, rel=2e-5, abs=2e-5)
    for one, two in zip(alone["gradients"], together["gradients"], strict=True):
        torch.testing.assert_close(two, one, rtol=0, atol=5e-5 * float(one.abs().max()))
    torch.testing.assert_close(together["networks"], alone["networks"], rtol=1e-4, atol=1e-5)
    assert torch.equal(together["noise"], alone["noise"])


@pytest.mark.parametrize("case", [*SAME, *OWN, "dropout", "alone"])
def test_both_processes_end_with_the_same_networks(found, case):
    first, second = (part[case] for part in found)
    assert first["metrics"] == second["metrics"]
    torch.testing.assert_close(first["networks"], second["networks"], rtol=0, atol=0)
    assert torch.equal(first["noise"], second["noise"])


@pytest.mark.parametrize("case", OWN)
def test_noise_of_its_own_depends_on_the_seed_alone(found, case):
    once, again = found[0][case], found[0][f"{case} again"]
    torch.testing.assert_close(once["networks"], again["networks"], rtol=0, atol=0)
    assert once["metrics"] == again["metrics"]


def test_negatives_and_statistics_of_each_process_alone_are_something_else(found):
    shared, own = found[0]["adgcl on gin"], found[0]["alone"]
    # Fewer negatives make the task easier.
    assert own["metrics"][0]["loss"] < shared["metrics"][0]["loss"] - 0.1
