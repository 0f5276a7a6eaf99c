"""Elements of the datasets that a function returns. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4 = Dataset.range(4)

ROWS = [
    (lambda: r4.flat_map(lambda x: Dataset.range(x, 2 * x)), [1, 2, 3, 3, 4, 5], TensorSpec([], tf.int64), -2),
    (
        lambda: r4.flat_map(lambda x: Dataset.from_tensors((x, 1)).repeat(x)),
        [(1, 1), (2, 1), (2, 1), (3, 1), (3, 1), (3, 1)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int32)),
        -2,
    ),
    (
        lambda: r4.flat_map(lambda x: Dataset.range(2).map(lambda y: y // (x - 1))),
        [0, -1, "InvalidArgumentError", "InvalidArgumentError", 0, 1, 0, 0],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.flat_map(lambda x: Dataset.range(6 // x)),
        ["InvalidArgumentError", 0, 1, 2, 3, 4, 5, 0, 1, 2, 0, 1],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: r4.window(2).flat_map(lambda w: w.map(lambda x: x * 2)), [0, 2, 4, 6], TensorSpec([], tf.int64), -2),
    (
        lambda: r4.map(lambda x: (x, x + 1)).flat_map(lambda x, y: Dataset.range(x, y * 2)),
        [0, 1, 1, 2, 3, 2, 3, 4, 5, 3, 4, 5, 6, 7],
        TensorSpec([], tf.int64),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.flat_map(lambda x: (Dataset.range(x), x)),
        TypeError,
        "The `map_func` argument must return a `Dataset` object. Got <class 'tuple'>.",
    )
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
