"""`tf.map_fn`, `tf.foldl`, `tf.scan` and `tf.vectorized_map`: what they take and refuse."""

import collections

import numpy as np
import pytest

import tapeflow as tf

V = tf.constant([1, 2, 3])
Pair = collections.namedtuple("Pair", "a b")

FOLDS = [tf.foldl, tf.foldr, tf.scan]


@pytest.mark.parametrize("fold", [*FOLDS, tf.map_fn, tf.vectorized_map])
def test_functions_are_callable(fold):
    with pytest.raises(TypeError, match="callable"):
        fold(3, V)


@pytest.mark.parametrize("fold", [*FOLDS, tf.map_fn, tf.vectorized_map])
def test_there_is_a_tensor(fold):
    with pytest.raises((ValueError, TypeError)):
        fold(lambda *a: a, [])


@pytest.mark.parametrize("fold", [*FOLDS, tf.map_fn, tf.vectorized_map])
def test_scalars_have_no_slices(fold):
    with pytest.raises((ValueError, IndexError), match=r"elems must be 1\+|1\+ dimensional Tensors, not scalars"):
        fold(lambda a, b=0: a, tf.constant(1))


def both(function):
    return [function(), tf.function(function, autograph=False)()]


def test_maps_of_structures():
    def call():
        return tf.map_fn(
            lambda e: Pair(e["x"] * e["y"][0], (e["x"] + 1, tf.cast(e["x"], tf.float32))),
            {"x": V, "y": (tf.constant([10, 20, 30]),)},
            fn_output_signature=Pair(tf.int32, (tf.int32, tf.float32)),
        )

    for result in both(call):
        assert type(result) is Pair and result.a.numpy().tolist() == [10, 40, 90]
        assert result.b[0].numpy().tolist() == [2, 3, 4] and result.b[1].dtype == tf.float32


def test_signatures():
    for call in (
        lambda: tf.map_fn(lambda x: tf.range(x), V, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)),
        lambda: tf.map_fn(lambda x: tf.range(x), V, tf.RaggedTensorSpec([None], tf.int32)),
    ):
        for result in both(call):
            assert result.to_list() == [[0], [0, 1], [0, 1, 2]]
    for result in both(
        lambda: tf.map_fn(lambda x: tf.fill([2], x), V, fn_output_signature=tf.TensorSpec([2], tf.int32))
    ):
        assert result.numpy().tolist() == [[1, 1], [2, 2], [3, 3]] and result.shape == [3, 2]
    empty = tf.map_fn(lambda x: tf.fill([2], x), V[:0], fn_output_signature=tf.TensorSpec([2], tf.int32))
    assert empty.shape == [0, 2]
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.map_fn(lambda x: tf.cast(x, tf.float32), V)
    with pytest.raises((TypeError, ValueError)):
        tf.map_fn(lambda x: (x, x), V)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.map_fn(lambda e: e[0], (V, V[:2]), fn_output_signature=tf.int32)


@pytest.mark.parametrize(
    ("fold", "options", "expected"),
    [
        (tf.foldl, {}, -4), (tf.foldr, {}, 0), (tf.foldl, {"initializer": 10}, 4), (tf.foldr, {"initializer": 10}, 4),
        (tf.scan, {}, [1, -1, -4]), (tf.scan, {"reverse": True}, [0, 1, 3]), (tf.scan, {"initializer": 10}, [9, 7, 4]),
        (tf.scan, {"initializer": 10, "reverse": True}, [4, 5, 7]),
    ],
)  # fmt: skip
def test_folds(fold, options, expected):
    for result in both(lambda: fold(lambda a, x: a - x, V, **options)):
        assert result.numpy().tolist() == expected and result.dtype == tf.int32


def test_folds_of_structures():
    start = {"sum": 0.5, "last": tf.constant([0, 0])}

    def step(state, x):
        return {"sum": state["sum"] + tf.cast(x[0], tf.float32), "last": tf.stack([x[0], x[1]])}

    for fold, total, last in ((tf.foldl, 6.5, [3, 6]), (tf.foldr, 6.5, [1, 4])):
        for result in both(lambda f=fold: f(step, (V, V + 3), initializer=start)):
            assert result["sum"].numpy() == total and result["last"].numpy().tolist() == last
    for result in both(lambda: tf.scan(step, (V, V + 3), initializer=start)):
        assert result["sum"].numpy().tolist() == [1.5, 3.5, 6.5]
        assert result["last"].numpy().tolist() == [[1, 4], [2, 5], [3, 6]]


def test_folds_of_nothing():
    empty = tf.zeros([0], tf.int32)
    for result in both(lambda: tf.foldl(lambda a, x: a + x, empty, initializer=7)):
        assert result.numpy() == 7
    for fold in FOLDS:
        with pytest.raises((ValueError, IndexError, tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError)):
            fold(lambda a, x: a + x, empty)


def test_vectorized_maps():
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for result in both(
        lambda: tf.vectorized_map(lambda e: {"s": tf.reduce_sum(e[0]), "o": e[1][:, None] * e[0]}, (m, m))
    ):
        assert result["s"].numpy().tolist() == [3.0, 7.0]
        np.testing.assert_array_equal(result["o"], np.einsum("bi,bj->bij", m.numpy(), m.numpy()))
    for result in both(lambda: tf.vectorized_map(lambda e: e[0] + e[1], (m, tf.constant([[10.0, 20.0]])))):
        assert result.numpy().tolist() == [[11.0, 22.0], [13.0, 24.0]]
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert tf.vectorized_map(lambda r: r * 2.0, ragged).to_list() == [[2.0], [4.0, 6.0]]
    v = tf.Variable([1.0, 2.0])
    assert tf.vectorized_map(lambda x: x * 3.0, v).numpy().tolist() == [3.0, 6.0]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.vectorized_map(lambda e: e[0], (tf.zeros([2]), tf.zeros([3])))
