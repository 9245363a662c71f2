"""Compiled normalisation against torch's, and where 32 bits are short."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from adgcl.encoders import norm_kernels
from adgcl.encoders.norm import NodeNorm
from adgcl.encoders.norm_kernels import normalise, normalise_backward
from tests.kernels import compiled_and_torch


def fresh_norm(width):
    norm = NodeNorm(width)
    with torch.no_grad():
        norm.weight.uniform_(-2.0, 2.0)
        norm.bias.normal_()
    return norm


kernels = compiled_and_torch(norm_kernels)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize(("copies", "count", "width"), [(1, 2, 1), (1, 129, 32), (2, 300, 7), (3, 1000, 32)])
def test_they_equal_one_batch_norm_per_copy_with_gradients(copies, count, width, relu):
    x, slope = torch.randn(2, copies * count, width)
    ours, theirs = fresh_norm(width), NodeNorm(width)
    theirs.load_state_dict(ours.state_dict())
    leaf = x.clone().requires_grad_()
    expected = torch.cat([theirs(part) for part in leaf.chunk(copies)])
    expected = expected.relu() if relu else expected
    expected.backward(slope)
    with torch.no_grad():
        out, normed = normalise(x, ours, ours.weight, ours.bias, copies, relu)
        inner, of_gamma, of_beta = normalise_backward(slope, out if relu else None, normed, ours.weight, ours.eps)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(inner, leaf.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(of_gamma, theirs.weight.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(of_beta, theirs.bias.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)


@pytest.mark.parametrize("relu", [True, False])
def test_a_row_that_counts_several_times_equals_so_many_rows(relu):
    counts = torch.tensor([3, 1, 2, 5, 1, 40])
    x, slope = torch.randn(2, 6, 4)
    ours, theirs = fresh_norm(4), NodeNorm(4)
    theirs.load_state_dict(ours.state_dict())
    rows, leaf = x.clone().requires_grad_(), x.clone().requires_grad_()
    out = ours(rows, 1, (counts,), relu)
    repeated = theirs(leaf.repeat_interleave(counts, 0))
    expected = repeated.relu() if relu else repeated
    first = counts.cumsum(0) - counts
    torch.testing.assert_close(out, expected[first])
    out.backward(slope)
    expected.backward((slope / counts.unsqueeze(1)).repeat_interleave(counts, 0))
    for got, wanted in (
        (rows.grad, leaf.grad),
        (ours.weight.grad, theirs.weight.grad),
        (ours.bias.grad, theirs.bias.grad),
    ):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.running_var, theirs.running_var)


def test_long_sums_far_from_zero_keep_their_digits():
    x = torch.randn(50_000, 4) + 1000.0
    norm = fresh_norm(4)
    with torch.no_grad():
        out, _ = normalise(x, norm, norm.weight, norm.bias, 1, relu=False)
        exact = F.batch_norm(x.double(), None, None, norm.weight.double(), norm.bias.double(), True, eps=norm.eps)
    torch.testing.assert_close(out, exact.float(), rtol=1e-4, atol=2e-4)


def test_a_constant_column_stays_finite():
    norm = fresh_norm(3)
    with torch.no_grad():
        out, _ = normalise(torch.full((200, 3), 7.7e5), norm, norm.weight, norm.bias, 1, relu=False)
    torch.testing.assert_close(out, norm.bias.expand(200, 3))


@pytest.mark.usefixtures("kernels")
def test_what_is_not_a_number_does_not_hide_behind_the_relu():
    x = torch.randn(20, 3)
    x[4, 1] = float("nan")
    norm = fresh_norm(3)
    with torch.no_grad():
        out, normed = normalise(x, norm, norm.weight, norm.bias, 1, relu=True)
        inner, _, _ = normalise_backward(torch.ones(20, 3), out, normed, norm.weight, norm.eps)
    assert out[:, 1].isnan().all() and inner[:, 1].isnan().all()
    assert out[:, [0, 2]].isfinite().all() and inner[:, [0, 2]].isfinite().all()
