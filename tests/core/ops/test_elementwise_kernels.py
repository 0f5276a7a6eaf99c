"""Kernels for many elements: the bits that ATen's kernels compute, for each way to compute them."""

import math

import numpy as np
import pytest
import torch

import tapeflow as tf  # noqa: F401
from tapeflow.core.ops import elementwise_kernels as kernels
from tapeflow.core.ops.definition import MANY, find
from tapeflow.core.ops.elementwise_kernels import SOME

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES = [*FLOATS, torch.int8, torch.int32, torch.int64, torch.complex64]
SIZES = [6, MANY - 1, MANY, MANY + 3]
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.5]


@pytest.fixture(params=[1, 4])
def threads(request):
    """With few threads NumPy compares."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def tensor(dtype, count, seed=0):
    """Returns a vector of small numbers; of floats, special ones are among them."""
    values = torch.from_numpy(np.random.default_rng(seed).integers(-2, 3, count))
    if dtype.is_floating_point:
        values = values.to(dtype)
        values[: len(SPECIAL)] = torch.tensor(SPECIAL[:count], dtype=dtype)
        values[-1] = math.nan
    return values.to(dtype)


def same_bits(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    number = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[found.dtype.itemsize]
    assert torch.equal(found.contiguous().view(number), expected.contiguous().view(number))


# ---- comparisons -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons(dtype, count, threads):
    functions = [
        (kernels.equal, torch.eq), (kernels.not_equal, torch.ne), (kernels.comparison(torch.lt, np.less), torch.lt)
    ]  # fmt: skip
    x, y = tensor(dtype, count), tensor(dtype, count, 1)
    for kernel, function in functions[: 2 if dtype.is_complex else 3]:
        for other in (y, y[3], y[3:4], x):
            same_bits(kernel(x, other), function(x, other))
        same_bits(kernel(y[3], x), function(y[3], x))
        rows = x[: count // 3 * 3].reshape(3, -1)
        same_bits(kernel(rows, y[:3, None]), function(rows, y[:3, None]))
        same_bits(kernel(rows.T, y[: count // 3 * 3].reshape(-1, 3)), function(rows.T, y[: count // 3 * 3].view(-1, 3)))


@pytest.mark.parametrize("count", [6, MANY])
def test_comparisons_of_other_tensors(count):
    """Of two dtypes, of negated views, and of shapes that don't fit."""
    x = torch.arange(count, dtype=torch.float32)
    same_bits(kernels.equal(x, x.long()), torch.ones(count, dtype=torch.bool))
    negated = torch._neg_view(x)
    for a, b in ((negated, x), (x, negated), (negated, negated)):
        same_bits(kernels.equal(a, b), torch.eq(a, b))
        same_bits(kernels.not_equal(a, b), torch.ne(a, b))
    with pytest.raises(RuntimeError, match="must match the size"):
        kernels.equal(x, x[:5])
    watched = x.clone().requires_grad_()
    same_bits(kernels.equal(watched, x), torch.ones(count, dtype=torch.bool))
    vectorized = torch.func.vmap(kernels.not_equal)(torch.stack([x, x + 1]), torch.stack([x, x]))
    assert vectorized.tolist() == [[False] * count, [True] * count]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_tests_of_floats(dtype, count, threads):
    x = tensor(dtype, count)
    tests = (kernels.is_nan, torch.isnan), (kernels.is_inf, torch.isinf), (kernels.is_finite, torch.isfinite)
    for kernel, function in tests:
        for given in (x, torch._neg_view(x), x.clone().requires_grad_(), x.reshape(1, -1)):
            same_bits(kernel(given), function(given.detach()))


# ---- choices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [6, MANY, MANY + 3])
@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool])
def test_choices(dtype, count):
    if dtype == torch.bool:
        x, y = (torch.from_numpy(np.random.default_rng(i).integers(0, 2, count).astype(bool)) for i in (1, 2))
    else:
        x, y = tensor(dtype, count), tensor(dtype, count, 1)
    condition = torch.from_numpy(np.random.default_rng(3).integers(0, 2, count).astype(bool))
    before = x.clone(), y.clone(), condition.clone()
    scalars = [y[3], torch.zeros((), dtype=dtype), torch.ones((), dtype=dtype)]
    if dtype.is_floating_point:
        scalars += [torch.tensor(value, dtype=dtype) for value in SPECIAL]
    for a, b in ((x, y), *((x, s) for s in scalars), *((s, x) for s in scalars), (x[2], y[3]), (x, y[3:4])):
        same_bits(kernels.select(condition, a, b), torch.where(condition, a, b))
    rows = (count // 3, 3)
    x, y, condition = x[: count // 3 * 3].view(rows), y[: count // 3 * 3].view(rows), condition[: count // 3 * 3]
    for c in (condition.view(rows), condition.view(rows)[:, :1], condition[:3], condition[0], condition.view(3, -1).T):
        for a, b in ((x, y), (x, y[:, :1]), (x[0], y), (x, scalars[0]), (scalars[1], y), (scalars[2], x)):
            same_bits(kernels.select(c, a, b), torch.where(c, a, b))
    for tensor_, copy in zip((x, y, condition), before, strict=True):
        same_bits(tensor_.reshape(-1), copy[: count // 3 * 3])


def test_choices_of_other_tensors():
    x, y = torch.arange(MANY, dtype=torch.float32), torch.ones(MANY)
    condition = x % 2 == 0
    same_bits(kernels.select(condition, x, y.double()), torch.where(condition, x, y.double()))
    watched = x.clone().requires_grad_()
    kernels.select(condition, watched, y).sum().backward()
    assert torch.equal(watched.grad, condition.float())
    found = torch.func.vmap(kernels.select, (None, 0, None))(condition, torch.stack([x, -x]), y)
    assert torch.equal(found, torch.stack([torch.where(condition, v, y) for v in (x, -x)]))


@pytest.mark.parametrize("count", [5, MANY])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.complex64, torch.int64])
def test_products_with_zero(dtype, count):
    result = torch.full((count,), 3.0).to(dtype)
    if dtype.is_floating_point:
        result[1:4] = torch.tensor([math.nan, math.inf, math.nan], dtype=dtype)
    factor = torch.ones(count, dtype=dtype)
    same_bits(kernels.zero_where_zero(result.clone(), factor), result)
    factor[:3] = 0
    expected = result.clone()
    expected[:3] = 0
    same_bits(kernels.zero_where_zero(result.clone(), factor), expected)
    wide = kernels.zero_where_zero(result.clone().expand(2, count), factor)
    same_bits(wide, expected.expand(2, count))
    same_bits(kernels.zero_where_zero(result.clone(), torch.zeros((), dtype=dtype)), torch.zeros(count, dtype=dtype))


# ---- bools -----------------------------------------------------------------------------------------------------------


def test_bools_as_bytes():
    for count, dtype in ((SOME - 1, torch.bool), (SOME, torch.uint8)):
        x = torch.arange(count) % 3 == 0
        assert kernels.as_bytes(x).dtype == dtype and torch.equal(kernels.as_bytes(x).bool(), x)


@pytest.mark.parametrize("count", [4, SOME - 4, SOME])
def test_reductions_of_bools(count):
    of_all, of_some = kernels.along(torch.any, torch.amax)
    every, every_of_some = kernels.along(torch.all, torch.amin)
    x = torch.zeros(2, count // 2, dtype=torch.bool)
    x[1, -1] = True
    for given in (x, ~x, torch.zeros_like(x), torch.ones_like(x)):
        same_bits(of_all(given), torch.any(given))
        same_bits(every(given), torch.all(given))
        for axis in (0, 1, -1):
            for keepdims in (False, True):
                same_bits(of_some(given, axis, keepdims), torch.any(given, axis, keepdims))
                same_bits(every_of_some(given, axis, keepdims), torch.all(given, axis, keepdims))


@pytest.mark.parametrize("count", [3, SOME - 1, SOME])
def test_nan_is_looked_for(count):
    x = torch.ones(count)
    assert not kernels.may_have_nan(x)
    x[count // 2] = math.nan
    assert kernels.may_have_nan(x)
    assert kernels.may_have_nan(torch.ones(count, requires_grad=True))  # it has no value to look at


@pytest.mark.parametrize(("count", "least", "expected"), [(4, 0, True), (4, 4, True), (4, 5, False), (0, 0, True)])
def test_tensors_with_values_to_look_at(count, least, expected):
    x = torch.ones(count)
    assert kernels.by_value(x, least) is expected
    assert not kernels.by_value(x.requires_grad_(), least) and not kernels.by_value(torch.ones(4, device="meta"))
    found = []
    torch.func.vmap(lambda row: (found.append(kernels.by_value(row)), row)[1])(torch.ones(2, 3))
    assert found == [False]


# ---- functions of floats ---------------------------------------------------------------------------------------------


def test_machine_code_is_for_many_floats():
    calls = []

    def plain(*args):
        calls.append(len(args))
        return args[0] + args[0]

    kernel = kernels.CompiledKernel("test add", lambda x: x + x, plain)
    x = torch.arange(MANY, dtype=torch.float32)
    watched, slices = x.clone().requires_grad_(), torch.stack([x, x])
    for given, plainly in (
        (x[:-1], 1), (x.half(), 1), (watched, 1), (torch._neg_view(x), 1), (x, 0), (x.double(), 0)
    ):  # fmt: skip
        calls.clear()
        try:
            found = kernel(given)
        except ImportError:
            pytest.skip("there is no compiler")
        assert torch.equal(found, given + given) and len(calls) == plainly
    calls.clear()
    assert torch.equal(torch.func.vmap(kernel)(slices), slices + slices) and calls == [1]


@pytest.mark.parametrize("name", ["Exp", "Sqrt", "Sigmoid", "Rsqrt", "Xlogy", "Softmax", "LogSoftmax"])
def test_ops_whose_machine_code_is_faster(name):
    assert kernels.computes_function(find(name))


@pytest.mark.parametrize("name", ["Neg", "Add", "Mul", "Erfc", "Lgamma", "Pow", "Digamma", "Select", "MatMul"])
def test_ops_whose_machine_code_is_not_faster(name):
    assert not kernels.computes_function(find(name))
