"""`map_fn`, `scan`, folds and `vectorized_map` in functions: lengths unknown, structures, ragged and sparse values."""

import numpy as np
import pytest

import tapeflow as tf
from composites import as_value, assert_same, with_unknown_dims
from tapeflow.autograph.source_map import StagingError

X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
N = tf.constant([2, 0, 3])
RAGGED = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
SPARSE = tf.SparseTensor([[0, 1], [2, 0], [2, 1]], [1.0, 2.0, 3.0], [3, 2])
NESTED = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
VECTOR = tf.RaggedTensorSpec([None], tf.int32)
MATRIX = tf.RaggedTensorSpec([None, None], tf.int32)
SPARSE_VECTOR = tf.SparseTensorSpec([None], tf.int32)

CASES = {
    "map_fn": (lambda x: tf.map_fn(lambda r: r * 2.0, x), X),
    "map_fn to another dtype": (
        lambda x: tf.map_fn(lambda r: tf.cast(r[0], tf.int32), x, fn_output_signature=tf.int32), X),
    "map_fn of a structure": (
        lambda x, n: tf.map_fn(lambda e: {"a": e[0], "b": (e[1], tf.reduce_sum(e[0]))}, (x, n),
                               fn_output_signature={"a": tf.float32, "b": (tf.int32, tf.float32)}), X, N),
    "map_fn over rows": (lambda r: tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.float32), RAGGED),
    "map_fn from rows to rows": (lambda r: tf.map_fn(lambda v: v * 2.0, r), RAGGED),
    "map_fn to rows": (lambda n: tf.map_fn(tf.range, n, fn_output_signature=VECTOR), N),
    "map_fn to rows of rows": (
        lambda n: tf.map_fn(lambda e: tf.ragged.range(tf.range(e)), n, fn_output_signature=MATRIX), N),
    "map_fn over rows of rows": (
        lambda r: tf.map_fn(lambda v: tf.reduce_sum(v, 1), r, fn_output_signature=VECTOR), NESTED),
    "map_fn over sparse rows": (lambda s: tf.map_fn(tf.sparse.reduce_sum, s, fn_output_signature=tf.float32), SPARSE),
    "map_fn from sparse to sparse": (lambda s: tf.map_fn(lambda r: tf.sparse.map_values(tf.square, r), s), SPARSE),
    "map_fn to sparse": (
        lambda n: tf.map_fn(lambda e: tf.sparse.from_dense(tf.range(e)), n, fn_output_signature=SPARSE_VECTOR), N),
    "scan": (lambda x: tf.scan(lambda a, r: a + r, x), X),
    "scan backwards": (lambda x: tf.scan(lambda a, r: a * r, x, reverse=True), X),
    "scan with initializer": (lambda x: tf.scan(lambda a, r: a + tf.reduce_sum(r), x, initializer=tf.constant(1.0)), X),
    "scan of a structure": (
        lambda x, n: tf.scan(lambda a, e: (a[0] + e[1], a[1] * e[0]), (x, n), initializer=(0, tf.ones([2]))), X, N),
    "foldl": (lambda x: tf.foldl(lambda a, r: a - r, x), X),
    "foldr": (lambda x: tf.foldr(lambda a, r: a - r, x), X),
    "foldl with initializer": (lambda x: tf.foldl(lambda a, r: a * 2.0 + tf.reduce_sum(r), x, initializer=1.0), X),
    "vectorized_map": (lambda x: tf.vectorized_map(lambda r: tf.reduce_sum(r) * r, x), X),
    "vectorized_map of a structure": (
        lambda x, n: tf.vectorized_map(lambda e: (e[0] * 2.0, {"n": e[1] + 1}), (x, n)), X, N),
    "vectorized_map of one": (lambda x, y: tf.vectorized_map(lambda e: e[0] + e[1], (x, y)), X, X[:1]),
}  # fmt: skip


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", CASES)
def test_same_as_eager(name, known):
    call, *args = CASES[name]
    values = [as_value(a) for a in args]
    specs = [tf.type_spec_from_value(v) if known else with_unknown_dims(v) for v in values]
    assert_same(tf.function(call, input_signature=specs)(*values), call(*values))


GRADIENTS = {
    "map_fn": lambda x: tf.map_fn(lambda r: tf.reduce_sum(r) * r, x),
    "map_fn to rows": lambda x: tf.map_fn(
        lambda r: r * r, tf.RaggedTensor.from_tensor(x, lengths=[1, 0, 2]),
        fn_output_signature=tf.RaggedTensorSpec([None], tf.float32)).values,
    "scan": lambda x: tf.scan(lambda a, r: a * r, x),
    "foldr": lambda x: tf.foldr(lambda a, r: a * r - a, x),
    "vectorized_map": lambda x: tf.vectorized_map(lambda r: tf.reduce_sum(r) * r, x),
}  # fmt: skip


@pytest.mark.parametrize("inside", [True, False], ids=["tape inside", "tape around"])
@pytest.mark.parametrize("call", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(call, inside):
    def gradient(x, f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) ** 2.0
        return tape.gradient(y, x)

    want = gradient(X, call)
    spec = [tf.TensorSpec([None, None])]
    if inside:
        got = tf.function(lambda x: gradient(x, call), input_signature=spec)(X)
    else:
        got = gradient(X, tf.function(call, input_signature=spec))
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


def test_static_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def shapes(x):
        mapped = tf.map_fn(lambda r: tf.stack([r, r]), x)
        scanned = tf.scan(lambda a, r: a + r, x)
        rows = tf.map_fn(lambda r: r, x, fn_output_signature=tf.RaggedTensorSpec([None]))
        assert mapped.shape.as_list() == [None, 2, 2]
        assert scanned.shape.as_list() == [None, 2]
        assert rows.shape.as_list() == [None, None]
        return mapped

    shapes(X)


def test_nothing_to_map():
    mapped = tf.function(lambda x: tf.map_fn(lambda r: tf.stack([r, r]), x), input_signature=[tf.TensorSpec([None, 2])])
    assert mapped(X[:0]).shape == [0, 2, 2]
    rows = tf.function(lambda n: tf.map_fn(tf.range, n, fn_output_signature=VECTOR))
    assert rows(N[:0]).to_list() == []
    assert tf.map_fn(tf.range, N[:0], fn_output_signature=VECTOR).to_list() == []
    for call in (tf.scan, tf.foldl, tf.foldr):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"element -?\d in a list with 0 elements"):
            tf.function(lambda x, call=call: call(lambda a, e: a + e, x))(tf.zeros([0]))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tf.map_fn(lambda e: (e, e), N), ValueError, "structure"),
        (lambda: tf.map_fn(lambda e: tf.cast(e, tf.float32), N), tf.errors.InvalidArgumentError, "dtype"),
        (lambda: tf.map_fn(lambda e: e, N[0]), ValueError, "1\\+ dimensional"),
        (lambda: tf.scan(lambda a, e: (e, e), N), ValueError, "structure"),
        (lambda: tf.scan(lambda a, e: tf.cast(e, tf.float32), N), tf.errors.InvalidArgumentError, "dtype"),
        (lambda: tf.foldl(lambda a, e: a, N[0]), StagingError, "1\\+ dimensional"),
    ],
)
def test_errors_of_traces(call, error, said):
    with pytest.raises(error, match=said):
        tf.function(call)()


def magnitude(v):
    if v > 0.0:
        return v
    return -v


def test_functions_that_are_handed_over_are_converted_too():
    def all_of(x):
        scanned = tf.scan(lambda a, v: a + magnitude(v), x)
        return tf.map_fn(magnitude, x), tf.vectorized_map(magnitude, x), scanned

    mapped, vectorized, scanned = tf.function(all_of)(tf.constant([1.0, -2.0]))
    assert mapped.numpy().tolist() == vectorized.numpy().tolist() == [1.0, 2.0]
    assert scanned.numpy().tolist() == [1.0, 3.0]
