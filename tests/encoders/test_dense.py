"""Dense products against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from adgcl.encoders import dense
from adgcl.encoders.dense import Dense, linear
from adgcl.graphs.kernels.precision import RoundedProducts


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """What NumPy is for, whatever the machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(dense, "_left_to_numpy", lambda: True)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def products(monkeypatch):
    """The products that went to NumPy."""
    taken = []
    product = dense._product
    monkeypatch.setattr(dense, "_product", lambda a, b: taken.append((a.shape, b.shape)) or product(a, b))
    return taken


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 57])
def test_it_is_a_linear_map(rows, with_bias, products):
    torch.manual_seed(0)
    inputs = [torch.randn(rows, 5), torch.randn(7, 5), *([torch.randn(7)] if with_bias else [])]
    ours, theirs = ([t.clone().requires_grad_() for t in inputs] for _ in range(2))
    out, slow = linear(*ours), F.linear(*theirs)
    torch.testing.assert_close(out, slow)
    # A sum hands back one number for all rows, which is no matrix in memory.
    (out.sum() + out.square().sum()).backward()
    (slow.sum() + slow.square().sum()).backward()
    for one, other in zip(ours, theirs):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-4)
    assert len(products) == 3


def test_only_what_needs_a_gradient_is_multiplied(products):
    layer = Dense(5, 7, bias=False).requires_grad_(False)
    x = torch.randn(9, 5, requires_grad=True)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(9, 5))
    assert products == [((9, 5), (5, 7)), ((9, 7), (7, 5))]


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 57, 64, 200])
def test_16_bit_products_are_those_of_torch(rows, with_bias, products, monkeypatch):
    monkeypatch.setattr(dense, "has_half_products", lambda: True)
    torch.manual_seed(0)
    inputs = [torch.randn(rows, 5), torch.randn(7, 5), *([torch.randn(7)] if with_bias else [])]
    ours, theirs = ([t.clone().requires_grad_() for t in inputs] for _ in range(2))
    with torch.autocast("cpu", torch.bfloat16):
        out, slow = linear(*ours), F.linear(*theirs)
    assert out.dtype == torch.float32 and torch.equal(out, out.bfloat16().float()) and slow.dtype == torch.bfloat16
    torch.testing.assert_close(out, slow.float(), rtol=0.01, atol=0.01)
    (out.sum() + out.square().sum()).backward()
    (slow.float().sum() + slow.float().square().sum()).backward()
    for one, other in zip(ours, theirs):
        assert one.grad.dtype == torch.float32
        # Sums over the rows differ by what rounding the result does to each.
        torch.testing.assert_close(one.grad, other.grad, rtol=0.03, atol=0.03 * max(rows, 1) ** 0.5)
    assert products == []


def test_16_bit_products_need_no_gradient_of_what_is_fixed(monkeypatch):
    monkeypatch.setattr(dense, "has_half_products", lambda: True)
    layer = Dense(5, 7).requires_grad_(False)
    x = torch.randn(9, 5, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(9, 5), rtol=0.02, atol=0.02)
    assert layer.weight.grad is None and layer.bias.grad is None


@pytest.mark.parametrize("why", ["double", "autocast", "emulated bfloat16", "threads"])
def test_what_numpy_is_not_for_goes_to_torch(why, products, monkeypatch):
    x, layer = torch.randn(9, 5), Dense(5, 7)
    if why == "double":
        out = layer.double()(x.double())
        assert out.dtype == torch.double
    elif why == "autocast":
        monkeypatch.setattr(dense, "has_half_products", lambda: False)
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(x).dtype == torch.bfloat16
    elif why == "emulated bfloat16":
        with RoundedProducts():
            out = layer(x)
        assert torch.equal(out, out.bfloat16().float())
    else:
        torch.set_num_threads(2)
        layer(x)
    assert products == []
