"""Slices by numbers and masks, in every way to call them."""

import numpy as np
import pytest

import tapeflow as tf
from ways import check, check_static_shape, static_shape

Invalid = tf.errors.InvalidArgumentError
X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
F, INT = tf.float32, tf.int32
raw = tf.raw_ops


SLICES = [
    ([0, 0, 0], [2, 3, 4], X),
    ([0, 0, 0], [-1, -1, -1], X),
    ([1, 0, 2], [1, 3, 2], X[1:, :, 2:]),
    ([1, 1, 1], [-1, 1, -1], X[1:, 1:2, 1:]),
    ([2, 3, 4], [0, 0, 0], np.zeros([0, 0, 0])),
    ([2, 3, 4], [-1, 0, -1], np.zeros([0, 0, 0])),
    ([0, 2, 0], [1, 1, 1], X[:1, 2:, :1]),
]


def test_slices():
    want = [part for *_, part in SLICES]
    check(lambda x: [tf.slice(x, begin, size) for begin, size, _ in SLICES], X, want=want)

    def by_tensors(x, *vectors):
        pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
        return [
            *[tf.slice(x, b, s) for b, s in pairs],
            *[tf.slice(x, b, tf.constant(s, b.dtype)) for (b, _), (_, s, _) in zip(pairs, SLICES, strict=True)],
            *[tf.slice(x, tf.constant(b, s.dtype), s) for (_, s), (b, _, _) in zip(pairs, SLICES, strict=True)],
        ]

    vectors = [v for begin, size, _ in SLICES for v in (begin, size)]
    check(by_tensors, X, *vectors, want=want * 3, slices=False, knows=["rank"])
    check(by_tensors, X, *map(np.int64, vectors), want=want * 3, slices=False, knows=["dims"])


@pytest.mark.parametrize(
    ("x", "begin", "size"),
    [
        (X, [0, 0], [1, 1]),
        (X, [0, 0, 0], [1, 1]),
        (X, [0, 0], [1, 1, 1]),
        (X, [0, 0, 0, 0], [1, 1, 1, 1]),
        (X, [[0, 0, 0]], [[1, 1, 1]]),
        (X, [-1, 0, 0], [1, 1, 1]),
        (X, [3, 0, 0], [0, 1, 1]),
        (X, [3, 0, 0], [-1, 1, 1]),
        (X, [1, 0, 0], [2, 1, 1]),
        (X, [0, 0, 0], [1, 1, 5]),
        (X, [0, 0, 0], [1, -2, 1]),
        (np.float32(1), [0], [1]),
    ],
)
def test_slices_that_are_refused(x, begin, size):
    with pytest.raises(Invalid):
        tf.slice(x, begin, size)
    with pytest.raises((Invalid, ValueError)):
        tf.function(lambda x: tf.slice(x, begin, size))(tf.constant(x))


@pytest.mark.parametrize(
    ("shape", "begin", "size", "want"),
    [
        ([2, None, 4], [0, 0, 1], [-1, -1, -1], [2, None, 3]),
        ([2, None, 4], [1, 1, 1], [1, 2, 3], [1, 2, 3]),
        (None, [1, 1, 1], [1, -1, 3], [1, None, 3]),
        (None, None, [1, -1], [1, None]),
        (None, None, None, [None, None]),
        (None, [1, 1], None, [None, None]),
        ([2, 3], None, [1, -1], [1, None]),
        ([2, 3], None, [1, 2], [1, 2]),
        ([2, 3], [0, 1], None, [None, None]),
        ([2, 3], None, None, [None, None]),
        ([2, 3], [2, 0], [-1, 3], [0, 3]),
        ([], [], [], []),
        ([5], [6], [1], [1]),
        ([5], [0], [-2], "error"),
        ([None], [0], [-2], "error"),
        ([5], [6], [-1], "error"),
        ([5], [-2], [1], "error"),
    ],
)
def test_static_shapes_of_slices(shape, begin, size, want):
    vector = tf.TensorSpec([2], INT)
    arguments = [a for a in (begin, size) if a is None]

    def sliced(x, *vectors):
        rest = list(vectors)
        return tf.slice(x, *(rest.pop(0) if a is None else tf.constant(a, INT) for a in (begin, size)))

    check_static_shape(sliced, [shape, *[vector for _ in arguments]], want)


@pytest.mark.parametrize("shapes", [([2], [3]), ([2, 1], [2]), ([2], [2, 1]), ([3], [2]), ([], [2])])
def test_vectors_of_slices_have_the_length_of_the_rank(shapes):
    with pytest.raises(ValueError):
        static_shape(tf.slice, tf.TensorSpec([2, 3], F), *[tf.TensorSpec(shape, INT) for shape in shapes])


# begin, end, strides, and the masks of begin, end, ellipsis, new axes and shrunk ones
STRIDED = [
    ([0, 0, 0], [2, 3, 4], [1, 1, 1], {}, X),
    ([0, 1], [2, 3], [1, 1], {}, X[:, 1:3]),
    ([1], [2], [1], {}, X[1:2]),
    ([0, 0, 0], [2, 3, 4], [1, 2, 3], {}, X[:, ::2, ::3]),
    ([-1, -1, -1], [-5, -5, -6], [-1, -2, -3], {}, X[::-1, ::-2, ::-3]),
    ([1, 0, 9], [0, 9, 0], [-1, 1, -2], {}, X[1:0:-1, :, 9:0:-2]),
    ([1, 1, 1], [1, 1, 1], [1, 1, 1], {}, X[1:1, 1:1, 1:1]),
    ([0, 2, 0], [9, 0, 9], [1, -1, 2], {}, X[:, 2:0:-1, ::2]),
    ([1, 1, 1], [1, 1, 1], [1, 1, 1], {"begin_mask": 7, "end_mask": 7}, X),
    ([1, 1, 1], [1, 2, 3], [1, 1, 1], {"begin_mask": 5}, X[:1, 1:2, :3]),
    ([1, 1, 1], [1, 2, 3], [1, 1, 1], {"end_mask": 5}, X[1:, 1:2, 1:]),
    ([1, 1, 2], [0, 0, 0], [-1, -1, -1], {"begin_mask": 4, "end_mask": 2}, X[1:0:-1, 1::-1, :0:-1]),
    ([0, 1], [0, 3], [1, 1], {"ellipsis_mask": 1}, X[..., 1:3]),
    ([1, 0, 1], [2, 0, 3], [1, 1, 1], {"ellipsis_mask": 2}, X[1:2, ..., 1:3]),
    ([1, 0], [2, 0], [1, 1], {"ellipsis_mask": 2}, X[1:2]),
    ([1, 0, 1, 2, 3], [2, 0, 3, 3, 4], [1] * 5, {"ellipsis_mask": 2, "new_axis_mask": 4}, X[1:2, None, 2:3, 3:]),
    ([0, 0, 1], [0, 0, 3], [1, 1, 1], {"ellipsis_mask": 1, "new_axis_mask": 2}, X[..., None, 1:3]),
    ([0, 1], [0, 2], [1, 1], {"new_axis_mask": 1}, X[None, 1:2]),
    ([1, 0, 0], [2, 0, 3], [1, 1, 1], {"new_axis_mask": 2}, X[1:2, None, :3]),
    ([0, 0], [0, 0], [1, 1], {"new_axis_mask": 3}, X[None, None]),
    ([1, 2, 3], [2, 3, 4], [1, 1, 1], {"shrink_axis_mask": 7}, X[1, 2, 3]),
    ([1, 0, -1], [2, 3, 0], [1, 1, 1], {"shrink_axis_mask": 5}, X[1, :, -1]),
    ([0, -3], [2, 0], [1, 1], {"shrink_axis_mask": 2}, X[:, -3]),
    ([0, 0, 1], [0, 0, 2], [1, 1, 1], {"ellipsis_mask": 1, "new_axis_mask": 2, "shrink_axis_mask": 4}, X[..., None, 1]),
    ([1, 0, 3], [2, 3, 0], [1, 1, -1], {"shrink_axis_mask": 1, "begin_mask": 2}, X[1, :3, 3:0:-1]),
    ([0, 1, 9, 9], [0, 0, 0, 0], [1, 1, -2, -3], {"new_axis_mask": 1, "shrink_axis_mask": 2, "end_mask": 8},
     X[None, 1, 9:0:-2, 9::-3]),
    ([], [], [], {}, X),
]  # fmt: skip


PARTS = [part for *_, part in STRIDED]


def test_strided_slices():
    check(
        lambda x: [tf.strided_slice(x, *spec, **masks) for *spec, masks, _ in STRIDED],
        X,
        want=PARTS,
        knows=["static", "dims"],
    )
    check(lambda x: x[1:, None, ..., 0], X, want=X[1:, None, :, 0], knows=["rank"], slices=False)


def test_strided_slices_by_tensors(dtype=np.int64):
    def sliced(x, *vectors):
        found = []
        for i, (_, _, strides, masks, _) in enumerate(STRIDED):
            begin, end, steps = vectors[3 * i : 3 * i + 3]
            found.append(tf.strided_slice(x, begin, end, steps if i % 2 else strides, **masks))
        return found

    vectors = [np.array(v, dtype) for *spec, _, _ in STRIDED for v in spec]
    check(sliced, X, *vectors, want=PARTS, slices=False, knows=["dims"])


def test_strided_slices_of_strings():
    words = np.arange(24).astype(bytes).astype(object).reshape(2, 3, 4)
    for *spec, masks, part in STRIDED:
        found = tf.strided_slice(words, *spec, **masks)
        assert found.shape == part.shape
        assert [int(word) for word in tf.reshape(found, [-1]).numpy()] == part.reshape(-1).tolist()


def test_updates_of_strided_slices():
    def updated(x, *values):
        return [
            raw.TensorStridedSliceUpdate(input=x, begin=b, end=e, strides=s, value=v, **masks)
            for (b, e, s, masks, _), value in zip(STRIDED, values, strict=True)
            for v in (value, values[-2])
        ]

    values = [np.float32(-1 - part) for part in PARTS]
    values[-2], want = np.float32(5), []
    for (*spec, masks, part), value in zip(STRIDED, values, strict=True):
        variable = tf.Variable(X)
        tf.strided_slice(variable, *spec, **masks, var=variable).assign(5)
        places = np.int64(part).reshape(-1)
        for v in (value, np.float32(5)):
            new = X.copy()
            new.flat[places] = np.broadcast_to(v, part.shape).reshape(-1)
            want.append(new)
        np.testing.assert_array_equal(variable, want[-1])
    check(updated, X, *values, want=want, slices=False, knows=["dims"])


@pytest.mark.parametrize("shape", [[3], [4, 1, 1], [1, 1, 2, 2], [2, 3]])
def test_values_that_do_not_fit_a_slice(shape):
    with pytest.raises(Invalid):
        raw.TensorStridedSliceUpdate(input=X, begin=[0, 1], end=[2, 3], strides=[1, 1], value=tf.ones(shape))
    with pytest.raises(Invalid, match="Op:ResourceStridedSliceAssign"):
        tf.Variable(X)[:, 1:3].assign(tf.ones(shape))


@pytest.mark.parametrize(
    ("begin", "end", "strides", "masks"),
    [
        ([0, 0], [1], [1], {}),
        ([0], [1, 1], [1], {}),
        ([0], [1], [1, 1], {}),
        ([[0]], [[1]], [[1]], {}),
        (0, 1, 1, {}),
        ([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], {}),
        ([0, 0], [1, 1], [1, 1], {"ellipsis_mask": 3}),
        ([0], [1], [0], {}),
        ([0], [1], [-1], {"shrink_axis_mask": 1}),
        ([2], [3], [1], {"shrink_axis_mask": 1}),
        ([-3], [-2], [1], {"shrink_axis_mask": 1}),
        ([0, 3], [1, 4], [1, 1], {"shrink_axis_mask": 2}),
        ([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], {"shrink_axis_mask": 15}),
    ],
)
def test_strided_slices_that_are_refused(begin, end, strides, masks):
    def sliced(x):
        return tf.strided_slice(x, begin, end, strides, **masks)

    with pytest.raises(Invalid):
        sliced(X)
    with pytest.raises((Invalid, ValueError)):
        tf.function(sliced)(tf.constant(X))


def test_default_strides():
    np.testing.assert_array_equal(tf.strided_slice(X, [1, 1], [2, 3]), X[1:2, 1:3])
    np.testing.assert_array_equal(tf.strided_slice(X, tf.constant([1]), tf.constant([2])), X[1:2])
    np.testing.assert_array_equal(tf.strided_slice(X, np.array([1, 0, 2]), np.array([2, 1, 3])), X[1:2, :1, 2:3])
    for shape in ([2], [None], None):
        vector = tf.TensorSpec(shape, INT)
        sliced = tf.function(lambda b, e: tf.strided_slice(X, b, e), input_signature=[vector, vector])
        np.testing.assert_array_equal(sliced([1, 1], [2, 3]), X[1:2, 1:3])


N, VECTOR = tf.TensorSpec([], INT), tf.TensorSpec([2], INT)


@pytest.mark.parametrize(
    ("shape", "function", "others", "want"),
    [
        ([2, None, 4], lambda x: x[1:, 1:, ::2], [], [1, None, 2]),
        ([2, None, 4], lambda x: x[:, 0], [], [2, 4]),
        ([2, None, 4], lambda x: x[..., tf.newaxis, -1], [], [2, None, 1]),
        ([2, None, 4], lambda x: x[::-1, ::-1, 2::-1], [], [2, None, 3]),
        ([None, 3], lambda x: x[:2], [], [None, 3]),
        ([4, 3], lambda x: x[:-1, 5:], [], [3, 0]),
        (None, lambda x: x[1:], [], None),
        ([4, 3], lambda x, n: x[n], [N], [3]),
        ([4, 3], lambda x, n: x[:, n], [N], [4]),
        ([4, 3], lambda x, n: x[n:], [N], [None, 3]),
        ([4, 3], lambda x, n: x[:n, 1:], [N], [None, 2]),
        ([4, 3], lambda x, n: x[::n], [N], None),
        ([4, 3], lambda x, n: x[1:n, 1], [N], [None]),
        ([0, 3], lambda x, n: x[n], [N], [3]),
        ([4, 3], lambda x, n: x[n, None, :2], [N], [1, 2]),
        ([4, 3], lambda x, n: x[..., n:n], [N], [4, None]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, [2, 3]), [VECTOR], [None, None]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, [2, 3], end_mask=3), [VECTOR], [None, None]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, [2, 3], begin_mask=3), [VECTOR], [2, 3]),
        ([4, 3], lambda x, b: tf.strided_slice(x, [0, 1], b, [1, 1]), [VECTOR], [None, None]),
        ([4, 3], lambda x, b: tf.strided_slice(x, [0, 1], b, [1, 1], end_mask=2), [VECTOR], [None, 2]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, b + 1, [1, 1], shrink_axis_mask=1), [VECTOR], [None]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, b + 1, [1, 1], shrink_axis_mask=3), [VECTOR], []),
        ([4, 3, 5], lambda x, b: tf.strided_slice(x, b, b), [VECTOR], [None, None, 5]),
        ([4, 3], lambda x, b: tf.strided_slice(x, b, b + 1), [tf.TensorSpec([None], INT)], None),
        ([4, 3], lambda x, b: tf.strided_slice(x, [0, 0], [1, 1], b), [VECTOR], None),
    ],
)
def test_static_shapes_of_strided_slices(shape, function, others, want):
    assert static_shape(function, tf.TensorSpec(shape, F), *others) == want


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_slices_of_a_batch_at_places_of_their_own(dtype):
    whole = tf.constant(X)

    def picked(x, i):
        return [
            x[i], x[..., i], x[:, i], x[i, i], x[i, ..., i], x[:, i, i], x[-i], x[i, :, -i], whole[i], whole[:, -i],
            whole[i, ..., -i] * x[0, 0, 0], tf.strided_slice(x, tf.stack([1, i]), [0, 0], [1, 1], 1, 1, 0, 0, 2),
        ]  # fmt: skip

    xs, places = tf.stack([X, X + 50.0, 2.0 - X]), tf.constant([0, 1, 1], dtype)
    check(picked, X, tf.constant(1, dtype), slices=[xs, places], knows=["static"])


@pytest.mark.parametrize(
    ("function", "want"),
    [
        (lambda s, n: s[1:], [3, 4]),
        (lambda s, n: s[:2], [None, 3]),
        (lambda s, n: s[::2], [None, 4]),
        (lambda s, n: s[-2:], [3, 4]),
        (lambda s, n: s[1:1], []),
        (lambda s, n: s[0:-1], [None, 3]),
        (lambda s, n: [s[0], 2], [None, 2]),
        (lambda s, n: [s[1], 2], [3, 2]),
        (lambda s, n: [s[-1], 2], [4, 2]),
        (lambda s, n: [s[n], 1], [None, 1]),
        (lambda s, n: tf.strided_slice(s, [1], [2], [1], begin_mask=1), [None, 3]),
        (lambda s, n: tf.strided_slice(s, [1], [2], [1], end_mask=1), [3, 4]),
        (lambda s, n: s[n:], None),
        (lambda s, n: s[1:n], None),
        (lambda s, n: s[1:n:1], None),
        (lambda s, n: s[1::n], None),
        (lambda s, n: [s[3], 2], "error"),
        (lambda s, n: [s[-4], 2], "error"),
    ],
)
def test_parts_of_shapes_are_static(function, want):
    check_static_shape(lambda x, n: tf.zeros(function(tf.shape(x), n)), [[None, 3, 4], N], want)


@pytest.mark.parametrize("function", [lambda x, i: x[i : i + 1, 0], lambda x, i: x[i, None], lambda x, i: x[i, ::2]])
def test_slices_of_a_batch_one_by_one(function):
    xs, begins = tf.stack([X, X + 50.0]), tf.constant([0, 1])
    got = tf.vectorized_map(lambda row: function(*row), (xs, begins))
    np.testing.assert_array_equal(got, [function(x, int(i)) for x, i in zip(xs, begins, strict=True)])


def test_gradients_of_strided_slices_by_their_raw_op():
    def spread(*parts):
        return [
            raw.StridedSliceGrad(shape=X.shape, begin=b, end=e, strides=s, dy=dy, **masks)
            for (b, e, s, masks, _), dy in zip(STRIDED, parts, strict=True)
        ]

    want = [np.zeros_like(X) for _ in PARTS]
    for array, part in zip(want, PARTS, strict=True):
        array.flat[np.int64(part).reshape(-1)] = part.reshape(-1)
    check(spread, *PARTS, want=want, knows=["static"])


def test_assigned_slices():
    v = tf.Variable(X)
    v[0].assign(tf.zeros([3, 4]))
    tf.strided_slice(v, [1, 0], [2, 1], var=v).assign(tf.ones([4]))
    want = X.copy()
    want[0], want[1:2, 0:1] = 0, 1
    np.testing.assert_array_equal(v, want)
    assert not hasattr(v[v > 5], "assign") and not hasattr(tf.strided_slice(v, [0], [1]), "assign")


@pytest.mark.parametrize("index", [np.float32(1), np.array([0, 1]), tf.constant([[0]]), 1j, tf.constant(0.0)])
def test_entries_of_a_key_that_are_no_indices(index):
    x = tf.constant(X)
    with pytest.raises((TypeError, Invalid)):
        x[0, index]
    with pytest.raises((TypeError, Invalid)):
        x[index:]
    with pytest.raises((TypeError, Invalid, ValueError)):
        tf.function(lambda i: x[0, i])(index)


def test_arrays_without_dimensions_are_indices():
    np.testing.assert_array_equal(tf.constant(X)[np.array(1), :, np.array(-1)], X[1, :, -1])


def test_brackets_of_what_is_no_tensor():
    assert tf.__operators__.getitem(X, 1).shape == [3, 4]
    assert tf.__operators__.getitem(X, (0, slice(1, None), None)).shape == [2, 1, 4]
