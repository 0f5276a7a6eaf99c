"""Elements computed ahead. Expected values are TensorFlow's."""

import threading

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4 = Dataset.range(4)

ROWS = [
    (lambda: r4.prefetch(2), [0, 1, 2, 3], TensorSpec([], tf.int64), 4),
    (lambda: r4.prefetch(0), [0, 1, 2, 3], TensorSpec([], tf.int64), 4),
    (lambda: r4.prefetch(tf.data.AUTOTUNE), [0, 1, 2, 3], TensorSpec([], tf.int64), 4),
    (
        lambda: r4.map(lambda x: 6 // (x - 1)).prefetch(1),
        [-6, "InvalidArgumentError", 6, 3],
        TensorSpec([], tf.int64),
        4,
    ),
    (lambda: r4.repeat().prefetch(3).take(6), [0, 1, 2, 3, 0, 1], TensorSpec([], tf.int64), 6),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.prefetch(-2),
        tf.errors.InvalidArgumentError,
        "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning [Op:PrefetchDataset] ",
    )
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)


@pytest.mark.parametrize("size", [1, 2])
def test_elements_are_computed_ahead(size):
    asked = threading.Event()

    def elements():
        yield 0
        yield 1
        asked.set()  # while no one has taken the second element
        yield 2

    dataset = Dataset.from_generator(elements, output_signature=tf.TensorSpec([], tf.int64)).prefetch(size)
    iterator = iter(dataset)
    assert next(iterator).numpy() == 0 and asked.wait(10)
    assert [x.numpy() for x in iterator] == [1, 2]


def test_a_buffer_of_no_element_computes_nothing_ahead():
    dataset = Dataset.range(3).prefetch(0)
    before = threading.active_count()
    iterator = iter(dataset)
    assert next(iterator).numpy() == 0 and threading.active_count() == before
