"""Values of Python generators. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
of = Dataset.from_generator

ROWS = [
    (lambda: of(lambda: iter([1, 2, 3]), tf.int32), [1, 2, 3], TensorSpec(None, tf.int32), -2),
    (lambda: of(lambda: iter([1, 2, 3]), tf.int64, []), [1, 2, 3], TensorSpec([], tf.int64), -2),
    (lambda: of(lambda: iter([[1, 2], [3]]), tf.int64, [None]), [[1, 2], [3]], TensorSpec([None], tf.int64), -2),
    (
        lambda: of(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.float32)),
        [1.0, 2.0],
        TensorSpec([], tf.float32),
        -2,
    ),
    (
        lambda: of(lambda: iter([(1, "a"), (2, "b")]), (tf.int32, tf.string)),
        [(1, b"a"), (2, b"b")],
        (TensorSpec(None, tf.int32), TensorSpec(None, tf.string)),
        -2,
    ),
    (
        lambda: of(lambda: iter([(1, "a"), (2, "b")]), (tf.int32, tf.string), ([], [])),
        [(1, b"a"), (2, b"b")],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string)),
        -2,
    ),
    (
        lambda: of(lambda: iter([{"a": 1, "b": [2.5]}]), {"a": tf.int32, "b": tf.float32}, {"a": [], "b": [1]}),
        [{"a": 1, "b": [2.5]}],
        {"a": TensorSpec([], tf.int32), "b": TensorSpec([1], tf.float32)},
        -2,
    ),
    (
        lambda: of(lambda: iter([{"a": 1}]), output_signature={"a": tf.TensorSpec([], tf.int8)}),
        [{"a": 1}],
        {"a": TensorSpec([], tf.int8)},
        -2,
    ),
    (lambda: of(lambda n, m: iter(range(n, n + m)), tf.int64, args=(5, 2)), [5, 6], TensorSpec(None, tf.int64), -2),
    (
        lambda: of(lambda n: iter(n), output_signature=tf.TensorSpec([], tf.int32), args=([5, 6],)),
        [5, 6],
        TensorSpec([], tf.int32),
        -2,
    ),
    (
        lambda: of(
            lambda: iter([tf.ragged.constant([[1], [2, 3]])]), output_signature=tf.RaggedTensorSpec([2, None], tf.int32)
        ),
        [[[1], [2, 3]]],
        tf.RaggedTensorSpec([2, None], tf.int32, 1, tf.int64),
        -2,
    ),
    (
        lambda: of(lambda: iter([tf.sparse.from_dense([0, 1])]), output_signature=tf.SparseTensorSpec([2], tf.int32)),
        [([[1]], [1], [2])],
        tf.SparseTensorSpec([2], tf.int32),
        -2,
    ),
    (lambda: of(lambda: iter([1, 2]), tf.int32).repeat(2), [1, 2, 1, 2], TensorSpec(None, tf.int32), -2),
    (
        lambda: of(lambda: iter([2.7, -2.7]), tf.int32),
        ["InvalidArgumentError", "InvalidArgumentError"],
        TensorSpec(None, tf.int32),
        -2,
    ),
    (
        lambda: of(lambda: iter([1, 0]), tf.bool),
        ["InvalidArgumentError", "InvalidArgumentError"],
        TensorSpec(None, tf.bool),
        -2,
    ),
    (lambda: of(lambda: iter([1, "a"]), tf.int32), [1, "InvalidArgumentError"], TensorSpec(None, tf.int32), -2),
    (lambda: of(lambda: iter([1, [2]]), tf.int32, []), [1, "InvalidArgumentError"], TensorSpec([], tf.int32), -2),
    (
        lambda: of(lambda: iter([[1, 2], [1, 2, 3]]), tf.int32, [2]),
        [[1, 2], "InvalidArgumentError"],
        TensorSpec([2], tf.int32),
        -2,
    ),
    (
        lambda: of(lambda: (1 // (x - 1) for x in range(3)), tf.int32),
        [-1, "UnknownError"],
        TensorSpec(None, tf.int32),
        -2,
    ),
    (lambda: of(lambda: iter([]), tf.int32), [], TensorSpec(None, tf.int32), -2),
    (lambda: of(lambda: iter([300]), tf.uint8), [44], TensorSpec(None, tf.uint8), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: of(lambda: iter([(1, 2)]), (tf.int32, tf.int32, tf.int32)),
        tf.errors.InvalidArgumentError,
        "TypeError: `generator` yielded an element that did not match the expected structure. The e",
    ),
    (
        lambda: of(lambda: iter([1]), (tf.int32, tf.int32)),
        tf.errors.InvalidArgumentError,
        "TypeError: `generator` yielded an element that did not match the expected structure. The e",
    ),
    (
        lambda: of(lambda: iter([{"b": 1}]), {"a": tf.int32}),
        tf.errors.InvalidArgumentError,
        "TypeError: `generator` yielded an element that did not match the expected structure. The e",
    ),
    (
        lambda: of(lambda: (int("x") for x in range(1)), tf.int32),
        tf.errors.InvalidArgumentError,
        "ValueError: invalid literal for int() with base 10: 'x'",
    ),
    (lambda: of(lambda: ({}["a"] for x in range(1)), tf.int32), tf.errors.UnknownError, "KeyError: 'a'"),
    (
        lambda: of(lambda: iter([tf.sparse.from_dense([0, 1])]), output_signature=tf.SparseTensorSpec([3], tf.int32)),
        tf.errors.InvalidArgumentError,
        "TypeError: `generator` yielded an element of SparseTensorSpec(TensorShape([2]), tf.int32) ",
    ),
    (
        lambda: of(lambda: iter([1])),
        TypeError,
        "To specify the output signature you need to provide either the `output_signature` argument",
    ),
    (
        lambda: of(lambda: iter([1]), tf.int32, output_signature=tf.TensorSpec([], tf.int32)),
        TypeError,
        "The `output_types` argument can not be used together with the `output_signature` argument.",
    ),
    (
        lambda: of(lambda: iter([1]), output_shapes=[], output_signature=tf.TensorSpec([], tf.int32)),
        TypeError,
        "The `output_shapes` argument can not be used together with the `output_signature` argument",
    ),
    (
        lambda: of(lambda: iter([1]), output_signature=tf.int32),
        TypeError,
        "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found <clas",
    ),
    (lambda: of(3, tf.int32), TypeError, "`generator` must be a Python callable."),
    (lambda: of([1, 2], tf.int32), TypeError, "`generator` must be a Python callable."),
    (lambda: of(lambda: iter([1]), tf.int32, args=3), TypeError, "'int' object is not iterable"),
    (lambda: of(lambda: 3, tf.int32), tf.errors.InvalidArgumentError, "TypeError: 'int' object is not iterable"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
