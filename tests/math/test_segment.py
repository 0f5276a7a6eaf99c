"""Reductions over segments in any order, beside NumPy. Segments in order: `test_sorted_segments.py`."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

REDUCTIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean}
REDUCTIONS["sqrt_n"] = lambda rows, axis: np.sum(rows, axis) / np.sqrt(len(rows))


def empty_segment(name, dtype):
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    return {"max": limits.min, "min": limits.max, "prod": 1}.get(name, 0)


def reduced(name, x, ids, count):
    """The reduction by NumPy, in the dtype of `x` or, of quotients, in float64."""
    rows, ids = x.reshape(ids.size, *x.shape[ids.ndim :]), ids.reshape(-1)
    found = [rows[ids == i] for i in range(count)]
    empty = np.full(rows.shape[1:], empty_segment(name, x.dtype))
    return np.array([REDUCTIONS[name](r, axis=0) if len(r) else empty for r in found]).reshape(count, *rows.shape[1:])


CASES = [((7,), (7,)), ((6, 3), (6,)), ((4, 3), (4, 3)), ((2, 3, 4), (2, 3)), ((5, 0), (5,)), ((0, 2), (0,))]


INTEGERS = [(name, dtype) for name in REDUCTIONS if name != "sqrt_n" for dtype in ("int32", "uint8")]


@pytest.mark.parametrize(
    ("name", "dtype"), [*itertools.product(REDUCTIONS, ("float32", "float64", "float16")), *INTEGERS]
)
def test_segments_in_any_order(name, dtype):
    rng, function = np.random.default_rng(0), getattr(tf.math, f"unsorted_segment_{name}")
    for (shape, ids_shape), ids_dtype, lowest in itertools.product(CASES, ("int32", "int64"), (0, -2)):
        x = rng.integers(1, 5, shape).astype(dtype)
        ids = rng.integers(lowest, 4, ids_shape).astype(ids_dtype)
        result = function(x, ids, 5).numpy()
        expected = reduced(name, x, ids, 5)
        assert result.shape == expected.shape
        assert result.dtype == (
            dtype if name != "mean" or dtype.startswith("f") else "float64" if dtype == "int32" else "float32"
        )
        np.testing.assert_allclose(result, expected.astype(result.dtype), 2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_gradients_of_segments(name):
    """Of numbers without ties or zeros they are differences of numbers."""
    rng, step = np.random.default_rng(0), 1e-6
    x, ids, dy = rng.permutation(12).reshape(2, 3, 2) + 1.0, np.array([[1, 3, 1], [-1, 1, 0]]), rng.normal(size=(5, 2))
    function = getattr(tf.math, f"unsorted_segment_{name}")

    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, ids, 5)
        return tape.gradient(y, x, tf.constant(dy))

    expected = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        moved = np.zeros(x.shape)
        moved[place] = step
        change = function(tf.constant(x + moved), ids, 5) - function(tf.constant(x - moved), ids, 5)
        expected[place] = np.nansum((change.numpy() * dy)[[0, 1, 3]]) / (2 * step)
    np.testing.assert_allclose(differentiate(tf.constant(x)), expected, 1e-6, 1e-6)
    traced = tf.function(differentiate, input_signature=[tf.TensorSpec(None, tf.float64)])
    np.testing.assert_allclose(traced(tf.constant(x)), expected, 1e-6, 1e-6)


SORTED = {"sum": [1.0, 1.0, 1.0], "mean": [0.5, 0.5, 1.0], "max": [1.0, 0.0, 1.0], "min": [0.0, 1.0, 1.0],
          "prod": [2.0, 3.0, 1.0]}  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), SORTED.items())
def test_gradients_of_segments_in_order(name, expected):
    x = tf.constant([3.0, 2.0, 7.0])
    for data, by in ((x, np.array(expected)), (tf.stack([x, x], 1), np.stack([expected] * 2, 1))):
        with tf.GradientTape() as tape:
            tape.watch(data)
            y = getattr(tf.math, f"segment_{name}")(data, [0, 0, 2])
        scale = [10.0, np.nan, 100.0] if data.shape.rank == 1 else [[10.0] * 2, [np.nan] * 2, [100.0] * 2]
        ids = np.array([0, 0, 2])
        np.testing.assert_allclose(tape.gradient(y, data, tf.constant(scale)), by * np.array(scale)[ids])


def test_ties_share_the_gradient():
    x = tf.constant([5.0, 1.0, 5.0, 5.0, 1.0])
    for name, expected in (("max", [3.0, 0.0, 3.0, 3.0, 7.0]), ("min", [0.0, 9.0, 0.0, 0.0, 7.0])):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.math, f"unsorted_segment_{name}")(x, [0, 0, 0, 0, 1], 2)
        np.testing.assert_allclose(tape.gradient(y, x, tf.constant([9.0, 7.0])), expected)


@pytest.mark.parametrize(
    ("x", "expected"),
    [([0.0, 3.0, 2.0, 5.0], [6.0, 0.0, 0.0, 1.0]), ([0.0, 3.0, 0.0, 5.0], [0.0, 0.0, 0.0, 1.0]),
     ([2.0, 3.0, 4.0, 0.0], [12.0, 8.0, 6.0, 1.0])],
)  # fmt: skip
def test_gradients_of_products_with_zeros(x, expected):
    x = tf.constant(x)
    for function in (lambda x: tf.math.segment_prod(x, [0, 0, 0, 1]),
                     lambda x: tf.math.unsorted_segment_prod(x, [0, 0, 0, 1], 2)):  # fmt: skip
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        np.testing.assert_allclose(tape.gradient(y, x), expected)


WRONG = [
    ([1.0, 2.0], [0, 3], 3, r"segment_ids\[1\] = 3 is out of range \[0, 3\)"),
    ([1.0, 2.0, 3.0], [-1, 0, 9], 3, r"segment_ids\[2\] = 9 is out of range \[0, 3\)"),
    ([1.0, 2.0], [0, 1], 0, r"segment_ids\[0\] = 0 is out of range \[0, 0\)"),
    ([1.0, 2.0], [0, 1], -1, "num_segments == -1 must not be negative"),
    ([1.0, 2.0], [0, 1, 1], 3, r"data.shape = \[2\] does not start with segment_ids.shape = \[3\]"),
    ([[1.0, 2.0]], [[0], [1]], 3, "does not start with"),
]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize(("x", "ids", "count", "message"), WRONG)
def test_arguments_that_are_no_segments(name, x, ids, count, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        getattr(tf.math, f"unsorted_segment_{name}")(x, ids, count)


def test_shapes_of_segments():
    def shape_of(function, *specs):
        return tf.function(function).get_concrete_function(*specs).output_shapes

    data, ids, count = tf.TensorSpec([None, 3, 4]), tf.TensorSpec([5], tf.int32), tf.TensorSpec([], tf.int32)
    unknown, rows = tf.TensorSpec(None), tf.TensorSpec([6, 3], tf.int32)
    any_ids = tf.TensorSpec(None, tf.int32)
    for name in ("sum", "prod", "max", "min"):
        function = getattr(tf.math, f"unsorted_segment_{name}")
        assert shape_of(lambda x, i, f=function: f(x, i, 7), data, ids) == [7, 3, 4]
        assert shape_of(lambda x, i, f=function: f(x, i, 7), data, rows) == [7, 4]
        assert shape_of(function, data, ids, count).as_list() == [None, 3, 4]
        assert shape_of(function, unknown, ids, count).rank is None
        assert shape_of(function, data, any_ids, count).rank is None
        for specs in ((data, tf.TensorSpec([5, 2], tf.int32), count), (data, ids, tf.TensorSpec([1], tf.int32))):
            with pytest.raises(ValueError, match=r"does not start with|rank|scalar"):
                shape_of(function, *specs)
        in_order = getattr(tf.math, f"segment_{name}")
        assert shape_of(in_order, data, ids).as_list() == [None, 3, 4]
        assert shape_of(in_order, unknown, ids).rank is None
        for specs in ((tf.TensorSpec([]), ids), (data, rows)):
            with pytest.raises(ValueError, match=r"rank 1|should be a vector"):
                shape_of(in_order, *specs)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_segments_of_slices(name):
    """Ids of one slice name no segment of the next one."""
    rng, function = np.random.default_rng(0), getattr(tf.math, f"unsorted_segment_{name}")
    x, ids = rng.normal(size=(3, 5, 2)).astype(np.float32), rng.integers(-1, 4, (3, 5)).astype(np.int32)
    together = tf.vectorized_map(lambda slices: function(slices[0], slices[1], 4), (x, ids))
    np.testing.assert_allclose(together, [function(*slices, 4) for slices in zip(x, ids, strict=True)], 1e-6)
    alike = tf.vectorized_map(lambda rows: function(rows, ids[0], 4), x)
    np.testing.assert_allclose(alike, [function(rows, ids[0], 4) for rows in x], 1e-6)
    ids[1, 2] = 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.vectorized_map(lambda slices: function(slices[0], slices[1], 4), (x, ids))


@pytest.mark.parametrize(("name", "last"), [("max", [2.0, 5.0]), ("min", [2.0, 3.0])])
def test_a_number_after_nan_counts(name, last):
    """As in TensorFlow, where comparisons with NaN fail."""
    rows = [[np.nan, np.nan], [1.0, np.nan], [np.nan, 5.0], [2.0, 3.0], [7.0, 7.0]]
    result = getattr(tf.math, f"unsorted_segment_{name}")(rows, [1, 0, 0, 0, -1], 2)
    np.testing.assert_array_equal(result, [last, [np.nan, np.nan]])
