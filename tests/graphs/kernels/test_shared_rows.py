"""Sums of shared rows against the plain formula."""

from __future__ import annotations

import pytest
import torch

from adgcl.graphs.kernels import shared_rows
from adgcl.graphs.kernels.shared_rows import shared_row_sum
from tests.kernels import compiled_and_torch

kernels = compiled_and_torch(shared_rows, autouse=True)


@pytest.mark.parametrize("own_weighted", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("num_edges", [0, 40])
def test_it_equals_autograd_of_the_plain_formula(num_edges, weighted, own_weighted):
    torch.manual_seed(0)
    table = torch.randn(5, 7, requires_grad=True)
    own, row, target = torch.randint(5, (9,)), torch.randint(5, (num_edges,)), torch.randint(9, (num_edges,))
    keep = torch.rand(num_edges, requires_grad=True)
    own_keep = torch.rand(9, requires_grad=True)
    fast = shared_row_sum(table, own, row, target, keep if weighted else None, own_keep if own_weighted else None)
    slow = torch.stack([table[k] * (own_keep[i] if own_weighted else 1.0) for i, k in enumerate(own)])
    for e in range(num_edges):
        slow = slow.index_add(0, target[e : e + 1], table[row[e : e + 1]] * (keep[e] if weighted else 1.0))
    torch.testing.assert_close(fast, slow)
    inputs = (table, *([keep] if weighted and num_edges else []), *([own_keep] if own_weighted else []))
    for ours, theirs in zip(
        torch.autograd.grad(fast.pow(2).sum(), inputs), torch.autograd.grad(slow.pow(2).sum(), inputs)
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_half_precision_is_summed_in_32_bits():
    table = torch.randn(3, 4).bfloat16().requires_grad_()
    out = shared_row_sum(table, torch.tensor([0, 2]), torch.tensor([1]), torch.tensor([1]))
    assert out.dtype == torch.float32
    torch.testing.assert_close(out[1], table[2].float() + table[1].float())
    (grad,) = torch.autograd.grad(out.sum(), table)
    assert grad.dtype == torch.bfloat16 and (grad == torch.tensor([[1.0], [1.0], [1.0]])).all()
