"""Windows of elements with one key. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r6 = Dataset.range(6)

ROWS = [
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 2),
        [[0, 2], [1, 3], [4], [5]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.group_by_window(
            lambda x: x % 2, lambda key, window: window.batch(10).map(lambda b: (key, b)), window_size=3
        ),
        [(0, [0, 2, 4]), (1, [1, 3, 5])],
        (TensorSpec([], tf.int64), TensorSpec([None], tf.int64)),
        -2,
    ),
    (
        lambda: r6.group_by_window(
            key_func=lambda x: -(x % 3),
            reduce_func=lambda key, window: window.batch(10),
            window_size_func=lambda key: 1 - key,
        ),
        [[0], [3], [1, 4], [2, 5]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.repeat(3).group_by_window(
            lambda x: x % 2, lambda key, window: window.batch(10), window_size_func=lambda key: 2 + key * 3
        ),
        [[0, 2], [4, 0], [1, 3, 5, 1, 3], [2, 4], [0, 2], [4], [5, 1, 3, 5]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.repeat().group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 4).take(3),
        [[0, 2, 4, 0], [1, 3, 5, 1], [2, 4, 0, 2]],
        TensorSpec([None], tf.int64),
        3,
    ),
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.map(lambda x: x * 10), 2),
        [0, 20, 10, 30, 40, 50],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r6.map(lambda x: 6 // x).group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 2),
        ["InvalidArgumentError", [6, 2], [3, 1], [1]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.take(0).group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 2),
        [],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 0),
        [
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
        ],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), -1),
        [
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
            "InvalidArgumentError",
        ],
        TensorSpec([None], tf.int64),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.batch(10)),
        ValueError,
        "Either the `window_size` argument or the `window_size_func` argument must be specified.",
    ),
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: window.batch(10), 2, lambda key: 2),
        ValueError,
        "Either the `window_size` argument or the `window_size_func` argument must be specified.",
    ),
    (
        lambda: r6.group_by_window(lambda x: tf.cast(x, tf.int32), lambda key, window: window.batch(10), 2),
        ValueError,
        "Invalid `key_func`. `key_func` must return a single `tf.int6",
    ),
    (
        lambda: r6.group_by_window(lambda x: [x, x], lambda key, window: window.batch(10), 2),
        ValueError,
        "Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor but its retur",
    ),
    (
        lambda: r6.group_by_window(lambda x: x % 2, lambda key, window: key, 2),
        TypeError,
        "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its",
    ),
    (
        lambda: r6.group_by_window(
            lambda x: x % 2, lambda key, window: window.batch(10), window_size_func=lambda key: tf.cast(key, tf.int32)
        ),
        ValueError,
        "Invalid `window_size_func`. `window_size_func` must return a",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
