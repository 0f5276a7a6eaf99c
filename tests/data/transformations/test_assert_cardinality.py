"""Datasets of an asserted number of elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.apply(experimental.assert_cardinality(5)), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (
        lambda: r5.filter(lambda x: x < 3).apply(experimental.assert_cardinality(3)),
        [0, 1, 2],
        TensorSpec([], tf.int64),
        3,
    ),
    (lambda: r5.filter(lambda x: x < 0).apply(experimental.assert_cardinality(0)), [], TensorSpec([], tf.int64), 0),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


@pytest.mark.parametrize(
    ("count", "expected", "message"),
    [
        (3, 4, "expected to contain 4 elements but contained only 3 elements."),
        (1, 2, "expected to contain 2 elements but contained only 1 element."),
        (3, 2, "expected to contain 2 elements but contained at least 3 elements."),
        (3, 1, "expected to contain 1 element but contained at least 2 elements."),
        (1, 0, "expected to contain 0 elements but contained at least 1 element."),
        (3, -1, "expected to contain an infinite number of elements but contained only 3 elements."),
        (3, -2, "expected to contain -2 elements but contained at least 1 element."),
    ],
)
def test_other_numbers_of_elements(count, expected, message):
    dataset = r5.filter(lambda x: x < count).apply(experimental.assert_cardinality(expected))
    iterator = iter(dataset)
    taken = []
    with pytest.raises(tf.errors.FailedPreconditionError) as caught:
        for element in iterator:
            taken.append(int(element))
    assert taken == list(range(count if expected == -1 else max(min(count, expected), 0)))
    assert f"Input dataset was {message}" in str(caught.value)
    assert dataset.cardinality() == expected
