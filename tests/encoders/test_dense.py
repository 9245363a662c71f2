"""Dense maps against torch's own, in every way of computing them."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from adgcl.encoders import dense, round_products
from adgcl.encoders.dense import Dense, linear, mlp, relu_linear
from adgcl.encoders.relu_loops import biased_relu
from adgcl.graphs.kernels.precision import RoundedProducts

# At 57 rows the input of a map is "small" and its gradient "large" in the way `onednn-some-in-place`, at 70 the other
# way round for two maps.
ROWS = [0, 1, 57, 64, 70, 200]
# From how many numbers on the ways of oneDNN leave them in place.
IN_PLACE_FROM = {"onednn-in-place": 1, "onednn-some-in-place": 300}
onednn = pytest.mark.skipif(not round_products.available(), reason="this build of torch has no oneDNN")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """What NumPy is for, whatever the machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(dense, "_left_to_numpy", lambda: True)
    monkeypatch.setattr(dense, "_left_to_onednn", lambda: False)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=["numpy", "torch", *(pytest.param(way, marks=onednn) for way in ("onednn", *IN_PLACE_FROM))])
def way(request, monkeypatch):
    """A way to multiply 32-bit numbers; large inputs of oneDNN are left in place."""
    monkeypatch.setattr(dense, "_left_to_numpy", lambda: request.param == "numpy")
    monkeypatch.setattr(dense, "_left_to_onednn", lambda: request.param.startswith("onednn"))
    if request.param in IN_PLACE_FROM:
        monkeypatch.setattr(round_products, "_MANY", IN_PLACE_FROM[request.param])
    return request.param


@pytest.fixture
def products(monkeypatch):
    """The products that went to NumPy."""
    taken = []
    product = dense._product
    monkeypatch.setattr(dense, "_product", lambda a, b: taken.append((a.shape, b.shape)) or product(a, b))
    return taken


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", ROWS)
def test_it_is_a_linear_map(rows, with_bias, way):
    _agree(linear, F.linear, _inputs(rows, with_bias))


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", ROWS)
def test_it_is_a_linear_map_with_a_relu(rows, with_bias, way):
    _agree(relu_linear, lambda *inputs: F.linear(*inputs).relu(), _inputs(rows, with_bias))


@pytest.mark.parametrize("biases", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("rows", ROWS)
def test_it_is_two_maps_with_a_relu_between(rows, biases, way):
    torch.manual_seed(0)
    ours, x = torch.nn.ModuleList([Dense(5, 7, biases[0]), Dense(7, 4, biases[1])]), torch.randn(rows, 5)
    _agree(
        lambda x, *_: mlp(x, *ours), lambda x, *_: F.linear(F.linear(x, *_of(ours[0])).relu(), *_of(ours[1])),
        [x], ours,
    )  # fmt: skip


def test_numbers_that_are_none_stay_so(way):
    x = torch.full((3, 5), torch.nan)
    layers = Dense(5, 7), Dense(7, 4)
    assert relu_linear(x, layers[0].weight, layers[0].bias).isnan().all()
    assert mlp(x, *layers).isnan().all() and biased_relu(x, torch.zeros(5)).isnan().all()


def test_an_incoming_gradient_is_left_as_it_is(way):
    x, layer, grad = torch.randn(9, 5), Dense(5, 7), torch.randn(9, 7)
    before = grad.clone()
    relu_linear(x, layer.weight, layer.bias).backward(grad)
    biased_relu(x, torch.zeros(5, requires_grad=True)).backward(grad[:, :5].contiguous())
    assert torch.equal(grad, before)


def test_only_what_needs_a_gradient_is_multiplied(products):
    layer = Dense(5, 7, bias=False).requires_grad_(False)
    x = torch.randn(9, 5, requires_grad=True)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(9, 5))
    assert products == [((9, 5), (5, 7)), ((9, 7), (7, 5))]


@onednn
@pytest.mark.parametrize("fixed", ["first", "second", "both", "x"])
def test_fixed_maps_get_no_gradient(fixed, monkeypatch):
    monkeypatch.setattr(dense, "_left_to_onednn", lambda: True)
    x, first, second = torch.randn(9, 5, requires_grad=fixed != "x"), Dense(5, 7), Dense(7, 4)
    first.requires_grad_(fixed not in ("first", "both"))
    second.requires_grad_(fixed not in ("second", "both"))
    mlp(x, first, second).sum().backward()
    of_x, of_first, of_second = (t.grad is not None for t in (x, first.weight, second.weight))
    assert (of_x, of_first, of_second) == (fixed != "x", first.weight.requires_grad, second.weight.requires_grad)
    assert (first.bias.grad is not None) == of_first and (second.bias.grad is not None) == of_second


@pytest.mark.parametrize(("rows", "expected"), [(0, 64), (1, 64), (64, 64), (65, 128), (2048, 2048), (20_001, 20_480)])
def test_rows_are_filled_up_to_round_numbers(rows, expected):
    x = torch.randn(rows, 3)
    rounded = round_products.in_round_rows(x, torch.float32)
    assert len(rounded) == expected and torch.equal(rounded[:rows], x) and not rounded[rows:].any()


@onednn
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("relu", [False, True])
def test_16_bit_products_are_those_of_torch(rows, with_bias, relu, products, monkeypatch):
    monkeypatch.setattr(dense, "has_half_products", lambda: True)
    ours, theirs = ([t.clone().requires_grad_() for t in _inputs(rows, with_bias)] for _ in range(2))
    with torch.autocast("cpu", torch.bfloat16):
        out, slow = (relu_linear if relu else linear)(*ours), F.linear(*theirs)
        slow = slow.relu() if relu else slow
    assert out.dtype == torch.float32 and torch.equal(out, out.bfloat16().float()) and slow.dtype == torch.bfloat16
    torch.testing.assert_close(out, slow.float(), rtol=0.01, atol=0.01)
    (out.sum() + out.square().sum()).backward()
    (slow.float().sum() + slow.float().square().sum()).backward()
    for one, other in zip(ours, theirs):
        assert one.grad.dtype == torch.float32
        # Sums over the rows differ by what rounding the result does to each.
        torch.testing.assert_close(one.grad, other.grad, rtol=0.03, atol=0.03 * max(rows, 1) ** 0.5)
    assert products == []


@onednn
@pytest.mark.parametrize("rows", ROWS)
def test_two_16_bit_maps_are_those_of_torch(rows, monkeypatch):
    monkeypatch.setattr(dense, "has_half_products", lambda: True)
    torch.manual_seed(0)
    layers, x = torch.nn.ModuleList([Dense(5, 7), Dense(7, 4, bias=False)]), torch.randn(rows, 5)
    with torch.autocast("cpu", torch.bfloat16):
        out = mlp(x, *layers)
        slow = F.linear(F.linear(x, *_of(layers[0])).relu(), *_of(layers[1])).float()
    assert out.dtype == torch.float32
    torch.testing.assert_close(out, slow, rtol=0.01, atol=0.01)
    for one, other in zip(_gradients(out, layers), _gradients(slow, layers)):
        torch.testing.assert_close(one, other, rtol=0.03, atol=0.03 * max(rows, 1) ** 0.5)


@onednn
def test_16_bit_inputs_left_in_place_meet_gradients_of_32_bits(monkeypatch):
    monkeypatch.setattr(dense, "has_half_products", lambda: True)
    monkeypatch.setattr(round_products, "_MANY", 1)
    layer, x = Dense(5, 7), torch.randn(57, 5)
    slow = F.linear(x.bfloat16().float(), layer.weight, layer.bias)
    with torch.autocast("cpu", torch.bfloat16):
        out = layer(x.bfloat16())
    for one, other in zip(_gradients(out, layer), _gradients(slow, layer)):
        torch.testing.assert_close(one, other, rtol=0.03, atol=0.2)


@onednn
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


def _inputs(rows, with_bias):
    torch.manual_seed(0)
    return [torch.randn(rows, 5), torch.randn(7, 5), *([torch.randn(7)] if with_bias else [])]


def _of(layer):
    return layer.weight, layer.bias


def _gradients(out, layers):
    return torch.autograd.grad(out.sum() + out.square().sum(), [*layers.parameters()])


def _agree(ours, theirs, inputs, layers=()):
    """The same results and gradients."""
    found, expected = ([t.clone().requires_grad_() for t in inputs] for _ in range(2))
    weights = [*layers.parameters()] if layers else []
    out, slow = ours(*found), theirs(*expected)
    torch.testing.assert_close(out, slow, rtol=1e-5, atol=1e-5)
    # A sum hands back one number for all rows, which is no matrix in memory.
    grads = torch.autograd.grad(out.sum() + out.square().sum(), [*found, *weights])
    slow_grads = torch.autograd.grad(slow.sum() + slow.square().sum(), [*expected, *weights])
    for one, other in zip(grads, slow_grads):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)
