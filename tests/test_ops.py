"""Runs the checks of the op table over all its rows."""

import contextlib

import pytest

import op_table
import tapeflow as tf

ROWS = op_table.all_rows()
DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.fixture(params=DEVICES)
def device(request):
    with tf.device(request.param) if request.param == "gpu" else contextlib.nullcontext():
        yield


def cases(*, gradient=False, second_order=False):
    return [
        pytest.param(row, *sample, id=f"{row}-{i}")
        for row in ROWS
        for i, sample in enumerate(row.samples)
        if (row.gradient or not gradient) and (row.second_order or not second_order)
    ]


@pytest.mark.parametrize(
    ("row", "args", "kwargs", "dtype"),
    [
        pytest.param(row, *sample, dtype, id=f"{row}-{i}-{dtype}")
        for row in ROWS
        if row.reference is not None
        for i, sample in enumerate(row.samples)
        for dtype in row.dtypes
    ],
)
def test_values(row, args, kwargs, dtype, device):
    op_table.check_values(row, args, kwargs, dtype)


@pytest.mark.parametrize(("row", "args", "kwargs"), cases(gradient=True))
def test_gradient(row, args, kwargs, device):
    op_table.check_first_order(row, args, kwargs)


@pytest.mark.parametrize(("row", "args", "kwargs"), cases(gradient=True, second_order=True))
def test_second_order(row, args, kwargs, device):
    op_table.check_second_order(row, args, kwargs)


@pytest.mark.parametrize(("row", "args", "kwargs"), cases(gradient=True))
def test_forward_mode(row, args, kwargs, device):
    op_table.check_forward_mode(row, args, kwargs)


@pytest.mark.parametrize(
    ("row", "call", "error", "says"),
    [pytest.param(row, *bad, id=f"{row}-{i}") for row in ROWS for i, bad in enumerate(row.bad)],
)
def test_bad_input(row, call, error, says):
    args, kwargs = call
    with pytest.raises(error) as caught:
        row.function(*args, **kwargs)
    assert type(caught.value) is error
    assert says in str(caught.value)
