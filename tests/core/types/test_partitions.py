"""Numbers of parts of variables."""

import pytest

import tapeflow as tf
from tapeflow.core.types import partitions

S = tf.TensorShape


def test_parts_along_a_dimension():
    assert partitions.parts_along(S([4, 5, 6]), 1, 3) == [1, 3, 1] and partitions.parts_along(S([4]), -1, 2) == [2]


def test_sizes_of_elements():
    assert partitions.size_of_element(tf.float64, 16) == 8 and partitions.size_of_element("int8", 16) == 1
    assert partitions.size_of_element(tf.string, 16) == 16


@pytest.mark.parametrize(
    ("shape", "axis", "max_bytes", "max_parts", "expected"),
    [
        ([10, 4], 0, 160, None, [1, 1]),
        ([10, 4], 0, 159, None, [2, 1]),
        ([10, 4], 0, 16, None, [10, 1]),
        ([10, 4], 0, 15, None, [10, 1]),
        ([10, 4], 0, 48, None, [4, 1]),
        ([10, 4], 0, 48, 3, [3, 1]),
        ([10, 4], 1, 80, None, [1, 2]),
        ([0, 4], 0, 16, None, [0, 1]),
        ([10, 0], 0, 16, None, [1, 1]),
    ],
)
def test_fewest_parts(shape, axis, max_bytes, max_parts, expected):
    assert partitions.fewest_parts(S(shape), axis, 4, max_bytes, max_parts) == expected


@pytest.mark.parametrize(
    ("shape", "axis", "min_bytes", "max_parts", "expected"),
    [
        ([10, 4], 0, 160, 8, [1, 1]),
        ([10, 4], 0, 159, 8, [2, 1]),
        ([10, 4], 0, 40, 8, [4, 1]),
        ([10, 4], 0, 10, 8, [8, 1]),
        ([10, 4], 0, 1, 100, [10, 1]),
        ([10, 4], 1, 1, 100, [1, 4]),
        ([0, 4], 0, 10, 8, [1, 1]),
    ],
)
def test_most_parts(shape, axis, min_bytes, max_parts, expected):
    assert partitions.most_parts(S(shape), axis, 4, min_bytes, max_parts) == expected
