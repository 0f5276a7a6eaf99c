"""Picked slices, in every way to pick them."""

import numpy as np
import pytest

import tapeflow as tf
from ways import check, check_static_shape

Invalid = tf.errors.InvalidArgumentError
X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
INT = tf.int32
N = tf.TensorSpec([], INT)
AT = np.array([[1, 0, 1], [0, 0, 1]])


def indices(*shape):
    return tf.TensorSpec(None if shape == (None,) else shape, INT)


GATHERED = [
    (1, {}, X[1]),
    ([1, 0, 1], {}, X[[1, 0, 1]]),
    (AT, {}, X[AT]),
    ([2, 0], {"axis": 1}, X[:, [2, 0]]),
    (AT, {"axis": 1}, X[:, AT]),
    (AT, {"axis": -1}, X[..., AT]),
    (3, {"axis": 2}, X[..., 3]),
    (AT, {"axis": 0, "batch_dims": 1}, X[AT]),
    (AT, {"batch_dims": 1}, np.stack([X[0][AT[0]], X[1][AT[1]]])),
    ([2, 1], {"batch_dims": 1}, np.stack([X[0, 2], X[1, 1]])),
    (AT, {"batch_dims": -1}, np.stack([X[0][:, AT[0]], X[1][:, AT[1]]])),
    (AT, {"batch_dims": 1, "axis": 2}, np.stack([X[0][:, AT[0]], X[1][:, AT[1]]])),
    (AT, {"batch_dims": 1, "axis": -1}, np.stack([X[0][:, AT[0]], X[1][:, AT[1]]])),
    (AT, {"batch_dims": 2}, np.take_along_axis(X, AT[..., None], 2)[..., 0]),
    (np.stack([AT, 1 - AT], 1), {"batch_dims": 1, "axis": 1},
     np.stack([x[[at, 1 - at]] for x, at in zip(X, AT, strict=True)])),
    (np.zeros([0], int), {"axis": 1}, X[:, :0]),
    (np.zeros([2, 0], int), {"batch_dims": 1}, X[:, :0]),
]  # fmt: skip


def test_gathered_slices():
    def gathered(x):
        return [tf.gather(x, at, **kwargs) for at, kwargs, _ in GATHERED]

    check(gathered, X, want=[part for *_, part in GATHERED], knows=["static", "dims"])


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_gathered_slices_at_indices_of_every_dtype(dtype):
    def gathered(x, *places):
        return [tf.gather(x, at, **kwargs) for at, (_, kwargs, _) in zip(places, GATHERED, strict=True)]

    places = [np.array(at, dtype) for at, *_ in GATHERED]
    want = [part for *_, part in GATHERED]
    check(gathered, X, *places, want=want, knows=["dims"], slices=None if dtype is np.int64 else False)


def test_a_tensor_that_all_slices_of_a_batch_pick_from():
    def picked(i, j):
        return [
            tf.gather(X, i), tf.gather(X, i, axis=1), tf.gather(X, i, axis=-1), tf.gather(X, j, axis=2),
            tf.gather(X, j, axis=1), tf.gather(tf.reshape(X, [-1]), j), tf.gather(X, j, batch_dims=1),
        ]  # fmt: skip

    check(picked, [1, 0], [[0, 1], [1, 1]], differentiable=False)


def test_rows_of_tensors_of_unknown_rank():
    check(lambda x, i: tf.gather(x, i), X, AT, want=X[AT], knows=["rank"], slices=False)
    check(lambda x, i: tf.gather(x, i), X, 1, want=X[1], knows=["rank"], slices=False)
    check(lambda x: tf.gather_nd(x, AT[:, :2]), X, want=X[[1, 0], [0, 0]], knows=["rank"], slices=False)


def test_slices_along_an_axis_of_a_tensor():
    for axis in (0, 2, -1):
        want = np.take(X, [1, 0, 1], axis)
        check(lambda x, a: tf.gather(x, [1, 0, 1], axis=a), X, axis, want=want, slices=False, differentiable=False)


GATHERED_ND = [
    ([1], {}, X[1]),
    ([1, 2], {}, X[1, 2]),
    ([[1], [0], [1]], {}, X[[1, 0, 1]]),
    ([[1, 2], [0, 0], [1, 2]], {}, X[[1, 0, 1], [2, 0, 2]]),
    ([[[1, 2, 3]], [[0, 0, 0]]], {}, np.array([[23.0], [0.0]])),
    (np.zeros([3, 0], int), {}, np.stack([X, X, X])),
    (np.zeros([0, 2], int), {}, X[:0, 0]),
    ([[2], [0]], {"batch_dims": 1}, np.stack([X[0, 2], X[1, 0]])),
    ([[[2, 3], [0, 1]], [[0, 0], [1, 1]]], {"batch_dims": 1}, np.array([[11.0, 1.0], [12.0, 17.0]])),
    (AT[..., None], {"batch_dims": 2}, np.take_along_axis(X, AT[..., None], 2)[..., 0]),
    ([[1, 2], [0, 9], [-1, 0]], {"bad_indices_policy": "IGNORE"}, np.stack([X[1, 2], 0 * X[0, 0], 0 * X[0, 0]])),
    ([[1, 2], [0, 1]], {"bad_indices_policy": "ERROR"}, X[[1, 0], [2, 1]]),
    ([[1, 2], [0, 1]], {"bad_indices_policy": "DEFAULT"}, X[[1, 0], [2, 1]]),
]  # fmt: skip


def test_slices_at_indices_of_several_dimensions():
    def gathered(x):
        return [tf.gather_nd(x, at, **kwargs) for at, kwargs, _ in GATHERED_ND]

    want = [part for *_, part in GATHERED_ND]
    check(gathered, X, want=want, knows=["static", "dims"])
    words = np.arange(24).astype(bytes).astype(object).reshape(2, 3, 4)
    for at, kwargs, part in GATHERED_ND[:9]:
        found = tf.gather_nd(words, at, **kwargs)
        assert found.shape == np.shape(part)
        assert [int(word) for word in tf.reshape(found, [-1]).numpy()] == np.reshape(part, -1).tolist()


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_slices_at_tensors_of_indices(dtype):
    def gathered(x, *places):
        return [tf.gather_nd(x, at, **kwargs) for at, (_, kwargs, _) in zip(places, GATHERED_ND, strict=True)]

    places = [np.array(at, dtype) for at, *_ in GATHERED_ND]
    want = [part for *_, part in GATHERED_ND]
    slices = False
    if dtype is np.int64:  # a batch of indices into one tensor, and into one each
        slices = [np.stack([X, X + 5]), *[np.stack([at, at]) for at in places]]
        check(
            lambda *places: gathered(X, *places),
            *places,
            want=want,
            slices=slices[1:],
            differentiable=False,
            knows=["dims"],
        )
    differentiable = dtype is not np.int16
    check(gathered, X, *places, want=want, slices=slices, differentiable=differentiable, knows=["dims"])


@pytest.mark.parametrize(
    ("function", "shapes", "want"),
    [
        (lambda p, i: tf.gather(p, i), [[4, 3], indices(2)], [2, 3]),
        (lambda p, i: tf.gather(p, i), [[4, 3], indices(2, 5)], [2, 5, 3]),
        (lambda p, i: tf.gather(p, i), [[], indices(2)], "error"),
        (lambda p, i: tf.gather(p, i), [None, indices(2)], None),
        (lambda p, i: tf.gather(p, i), [[4], indices(None)], None),
        (lambda p, i: tf.gather(p, i, axis=1), [[4, 3], indices(2)], [4, 2]),
        (lambda p, i: tf.gather(p, i, axis=-1), [[4, 3], indices(2)], [4, 2]),
        (lambda p, i: tf.gather(p, i, axis=2), [[4, 3], indices(2)], "error"),
        (lambda p, i: tf.gather(p, i, axis=-3), [[4, 3], indices(2)], "error"),
        (lambda p, i: tf.gather(p, i, batch_dims=1), [[2, 3, 4], indices(2, 5)], [2, 5, 4]),
        (lambda p, i: tf.gather(p, i, batch_dims=1, axis=2), [[2, 3, 4], indices(2, 5)], [2, 3, 5]),
        (lambda p, i: tf.gather(p, i, batch_dims=-1), [[2, 3, 4], indices(2, 5)], [2, 3, 5]),
        (lambda p, i: tf.gather(p, i, batch_dims=3), [[2, 3, 4], indices(2, 5)], "error"),
        (lambda p, i: tf.gather(p, i, batch_dims=-3), [[2, 3, 4], indices(2, 5)], "error"),
        (lambda p, i: tf.gather(p, i, batch_dims=-2, axis=1), [[2, 3, 4], indices(2, 5)], [2, 2, 5, 4]),
        (lambda p, i: tf.gather(p, i, batch_dims=1), [[2, 3, 4], indices(3, 5)], [2, 5, 4]),
        (lambda p, i: tf.gather(p, i, batch_dims=2, axis=1), [[2, 3, 4], indices(2, 5)], [2, 4]),
        (lambda p, i: tf.gather(p, i, batch_dims=2), [[2, 3, 4], indices(2, 3)], [2, 3]),
        (lambda p, i, n: tf.gather(p, i, axis=n), [[2, 3, 4], indices(2, 5), N], [None] * 4),
        (lambda p, i, n: tf.gather(p, i, axis=n, batch_dims=1), [[2, 3, 4], indices(2, 5), N], [None] * 3),
        (lambda p, i, n: tf.gather(p, i, axis=n), [[2, 3, 4], indices(2, 5), indices(2)], "error"),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3, 4], indices(5, 2)], [5, 4]),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3, 4], indices(5, 3)], [5]),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3, 4], indices(5, 4)], "error"),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3, 4], tf.TensorSpec([5, None], INT)], None),
        (lambda p, i: tf.gather_nd(p, i), [None, indices(5, 2)], None),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3], indices(None)], None),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3], indices()], "error"),
        (lambda p, i: tf.gather_nd(p, i), [[2, 3, 4], indices(5, 0)], [5, 2, 3, 4]),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=1), [[2, 3, 4], indices(2, 5, 1)], [2, 5, 4]),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=1), [[2, 3, 4], indices(3, 5, 1)], "error"),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=2), [[2, 3, 4], indices(2, 1)], "error"),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=2), [[2, 3], indices(2, 3, 1)], "error"),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=-1), [[2, 3, 4], indices(2, 5, 1)], "error"),
        (lambda p, i: tf.gather_nd(p, i, batch_dims=1), [[None, 3, 4], tf.TensorSpec([None, 5, 1], INT)], [None, 5, 4]),
    ],
)  # fmt: skip
def test_static_shapes(function, shapes, want):
    check_static_shape(function, shapes, want)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.gather(X, [0, 2]),
        lambda: tf.gather(X, [0, -1]),
        lambda: tf.gather(X, [[3]], axis=1),
        lambda: tf.gather(X, [0], axis=3),
        lambda: tf.gather(X, [0], axis=-4),
        lambda: tf.gather(X, [0], axis=[0, 1]),
        lambda: tf.gather(1.0, [0]),
        lambda: tf.gather(X, [[3], [0]], batch_dims=1),
        lambda: tf.gather(X, [[0], [-1]], batch_dims=1),
        lambda: tf.gather(X, [[0]], batch_dims=1),
        lambda: tf.gather(X, [0, 1], batch_dims=2),
        lambda: tf.gather(X, [[0], [1]], batch_dims=2, axis=1),
        lambda: tf.gather_nd(X, [[2, 0]]),
        lambda: tf.gather_nd(X, [[0, -1]]),
        lambda: tf.gather_nd(X, [[0, 3]]),
        lambda: tf.gather_nd(X, [2]),
        lambda: tf.gather_nd(X, 0),
        lambda: tf.gather_nd(X, [[0, 0, 0, 0]]),
        lambda: tf.gather_nd(X[:0], [[0]]),
        lambda: tf.gather_nd(X, [[0]], bad_indices_policy="NONE"),
        lambda: tf.gather_nd(X, [[0]], batch_dims=1),
    ],
)  # fmt: skip
def test_what_is_refused(call):
    with pytest.raises((Invalid, ValueError)):
        call()


def test_the_first_bad_index_is_named():
    for call, match in (
        (lambda: tf.gather(X, [[0, 1], [7, 9]]), r"indices\[1,0\] = 7 is not in \[0, 2\)"),
        (lambda: tf.gather(X, 5, axis=1), r"indices = 5 is not in \[0, 3\)"),
        (lambda: tf.gather_nd(X, [[[0, 1]], [[1, 5]]]), r"indices\[1,0\] = \[1, 5\] does not index"),
        (lambda: tf.gather_nd(X, [1, -5]), r"indices = \[1, -5\] does not index"),
    ):
        with pytest.raises(Invalid, match=match):
            call()


def test_slices_without_elements_are_at_any_index():
    assert tf.gather(np.zeros([2, 0]), [5, 7]).shape == [2, 0]
    assert tf.gather(np.zeros([0, 2]), [7], axis=1).shape == [0, 1]
    assert tf.gather(np.zeros([2, 0, 3]), [[5], [7]], batch_dims=1, axis=2).shape == [2, 0, 1]
