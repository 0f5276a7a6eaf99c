"""The search for infinities and NaNs, and the words of its error."""

import math

import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.numerics import checked_outputs, is_finite, not_finite

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("op", "dtypes", "places"),
    [
        ("Log", [tf.float32], [0]),
        ("Log", [tf.int32], []),
        ("Identity", [tf.float32], []),
        ("Anything", [tf.float16, tf.int64, tf.float64, tf.bfloat16, tf.string], [0, 2, 3]),
        ("FusedBatchNormV3", [tf.float32] * 6, [0]),
        ("Anything", [], []),
    ],
)
def test_outputs_that_are_checked(op, dtypes, places):
    assert checked_outputs(op, dtypes) == places


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_finite_values(dtype):
    for value in ([], [1.0, -2.0], [[0.0], [3.0]]):
        assert is_finite(torch.tensor(value, dtype=dtype))
    for value in ([NAN], [1.0, INF], [-INF, INF], [[0.0], [-INF]]):
        assert not is_finite(torch.tensor(value, dtype=dtype))
    largest = torch.finfo(dtype).max
    assert is_finite(torch.tensor([largest, largest], dtype=dtype))  # their sum is infinite
    assert is_finite(torch.empty(2, device="meta")) and is_finite("text")


def lines_of(value, inputs=(), raw_inputs=(), **options):
    error = not_finite(torch.as_tensor(value), 1, 3, "Log", "graph", inputs, raw_inputs, **options)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    return error.message.splitlines()


def test_the_words_of_the_error():
    assert lines_of([[1.0, NAN], [INF, NAN], [-INF, 2.0]]) == [
        "",
        "",
        '!!! Detected Infinity or NaN in output 1 of graph op "Log" (# of outputs: 3) !!!',
        f"  dtype: {tf.float32}",
        "  shape: (3, 2)",
        "  # of -Inf elements: 1",
        "  # of +Inf elements: 1",
        "  # of +NaN elements: 2",
        "  first at index: [0, 1]",
        "",
        " : Tensor had -Inf and +Inf and NaN values",
    ]
    assert lines_of(INF)[4:] == ["  shape: ()", "  # of +Inf elements: 1", "", " : Tensor had +Inf values"]


def test_inputs_and_graphs_in_the_error():
    one = lines_of([NAN], ["x"], [torch.tensor([3.0, -1.5])], graph="g")
    assert one[6:] == [
        "  first at index: [0]",
        "",
        "  Input tensor: x",
        "  Range of input 0: -1.5 to 3",
        '  Graph name: "g"',
        "",
        " : Tensor had NaN values",
    ]
    raw = [
        torch.tensor([1.0, INF, NAN], dtype=torch.float16),
        torch.tensor([True]),
        torch.tensor([1j]),
        torch.tensor([NAN, INF]),
        torch.tensor([]),
        torch.tensor([7, 5]),
        None,
    ]
    several = lines_of([NAN], [f"x{i}" for i in range(7)], raw)
    start = several.index("  Input tensors (7):")
    assert several[start + 1 : start + 8] == [f"         {i}: x{i}" for i in range(7)]
    assert several[start + 8 : -2] == [
        "  Range of input 0: 1 to 1, and 2 not finite",
        "  Range of input 3: no finite element",
        "  Range of input 5: 5 to 7",
    ]
