"""Functions of float32 in primitives: near the exact value at all floats."""

import numpy as np
import pytest
import torch

pytest.importorskip("llvmlite")

import tapeflow as tf
from tapeflow.graph.compiler.calling import packer
from tapeflow.graph.compiler.expressions import record_passes
from tapeflow.graph.compiler.functions import FUNCTIONS
from tapeflow.graph.compiler.kernels import text
from tapeflow.graph.compiler.loops import Operand
from tapeflow.graph.compiler.target import function

STEP = 4093  # of all floats, every so many; with 409, the largest error is 1.5


def computed(name, x):
    operands = [Operand(tf.float32, (True,))]
    module = text(operands, record_passes(operands, lambda b, x: [FUNCTIONS[name](b, x[0])]), 1)
    y = torch.empty_like(x)
    function(f"test_{name}", module, lambda: module)(packer(3)(x.data_ptr(), y.data_ptr(), len(x)))
    return y


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_error_is_below_two_units_of_the_last_digit(name):
    bits = np.arange(0, 2**32, STEP, dtype=np.int64)
    x = torch.from_numpy(bits.astype(np.uint32).view(np.float32))
    exact = getattr(torch, name)(x.double())
    unit = torch.from_numpy(np.spacing(np.abs(exact.float().numpy()))).double()
    finite = exact.float().isfinite()
    y = computed(name, x).double()
    assert ((y - exact).abs() / unit)[finite].max() < 1.6
    torch.testing.assert_close(y[~finite], exact.float().double()[~finite], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_special_values(name):
    x = torch.tensor(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.0, -1.0, 88.8, -200.0, 3.4e38, -3.4e38, 1e-38]
    )
    y, expected = computed(name, x), getattr(torch, name)(x.double()).float()
    assert (torch.signbit(y) == torch.signbit(expected))[~expected.isnan()].all()
    exact = (expected == 0) | (expected.abs() == 1) | ~expected.isfinite() | (x.abs() < 1e-44)
    torch.testing.assert_close(y[exact], expected[exact], rtol=0, atol=0, equal_nan=True)
