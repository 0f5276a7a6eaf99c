"""What the op table can't say of reductions, scans and segments: ties, NaN, zeros, empties. Values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

nan, inf = float("nan"), float("inf")


def gradient(function, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (tf.reduce_max, [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
        (tf.reduce_max, [1.0, nan, 3.0], [nan, nan, nan]),
        (tf.reduce_min, [[1.0, 3.0], [1.0, 1.0]], [[1 / 3, 0.0], [1 / 3, 1 / 3]]),
        (lambda x: tf.reduce_max(x, 0), [[1.0, 3.0], [1.0, 1.0]], [[0.5, 1.0], [0.5, 0.0]]),
        (lambda x: tf.reduce_max(x, 0), np.zeros([0, 2], np.float32), np.zeros([0, 2])),
        (tf.reduce_mean, np.zeros([0, 2], np.float32), np.zeros([0, 2])),
        (tf.reduce_prod, [1.0, 0.0, 3.0], [0.0, 3.0, 0.0]),
        (tf.reduce_prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        (
            lambda x: tf.reduce_prod(x, [0, 2]),
            np.arange(8.0).reshape(2, 2, 2),
            [[[20, 0], [126, 84]], [[0, 0], [42, 36]]],
        ),
        (lambda x: tf.reduce_prod(x, []), [2.0, 3.0], [1.0, 1.0]),
        (tf.math.reduce_euclidean_norm, [3.0, 4.0], [0.6, 0.8]),
        (tf.math.reduce_euclidean_norm, [0.0, 0.0], [nan, nan]),
        (tf.math.reduce_euclidean_norm, [3 + 4j], [0.6 + 0.8j]),
        (tf.math.reduce_std, [0.0, 0.0], [nan, nan]),
        (tf.reduce_logsumexp, [-inf, -inf], [nan, nan]),
        (tf.reduce_logsumexp, [inf, 1.0], [nan, 0.0]),
        (tf.math.cumprod, [2.0, 0.0, 3.0], [1.0, 0.0, 0.0]),
        (lambda x: tf.math.cumprod(x, exclusive=True), [2.0, 1.0, 3.0], [2.0, 2.0, 0.0]),
        (lambda x: tf.math.cumulative_logsumexp(x, exclusive=True), [2.0, 1.0, 3.0], [1.7310586, 0.2689414, 0.0]),
        (
            lambda x: tf.math.cumulative_logsumexp(x, reverse=True, exclusive=True),
            [2.0, 1.0, 3.0],
            [0.0, 0.11920292, 1.8807971],
        ),
        (lambda x: tf.math.segment_max(x, [0, 0, 2]), [2.0, 2.0, 3.0], [0.5, 0.5, 1.0]),
        (lambda x: tf.math.segment_prod(x, [0, 0, 2]), [0.0, 2.0, 3.0], [2.0, 0.0, 1.0]),
        (lambda x: tf.math.unsorted_segment_sum(x, [0, -1, 2], 3), [1.0, 2.0, 3.0], [1.0, 0.0, 1.0]),
        (lambda x: tf.math.unsorted_segment_max(x, [0, 0, -1], 3), [2.0, 2.0, 3.0], [0.5, 0.5, 0.0]),
        (lambda x: tf.math.unsorted_segment_prod(x, [0, 0, 2], 3), [0.0, 2.0, 3.0], [2.0, 0.0, 1.0]),
        (lambda x: tf.math.unsorted_segment_prod(x, [0, 0, -1], 3), [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        (lambda x: tf.math.unsorted_segment_mean(x, [0, 0, -1], 3), [1.0, 2.0, 3.0], [0.5, 0.5, 0.0]),
    ],
)
def test_gradient_at_the_edges(function, x, expected):
    np.testing.assert_allclose(gradient(function, x), expected, rtol=1e-6)


def test_gradient_of_cumulative_logsumexp_does_not_overflow():
    found = gradient(tf.math.cumulative_logsumexp, [-500.0, 0.0, 500.0])
    np.testing.assert_allclose(found, [1.0, 1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("position", range(3))
def test_extremes_of_nan_are_nan_and_positions_pass_it_over(position):
    x = np.array([1.0, 3.0, 2.0], np.float32)
    x[position] = nan
    assert np.isnan(tf.reduce_max(x)) and np.isnan(tf.reduce_min(x))
    assert int(tf.argmax(x)) == np.nanargmax(x)
    assert int(tf.argmin(x)) == np.nanargmin(x)


def test_position_among_nothing_but_nan_is_the_first():
    assert int(tf.argmax([nan, nan])) == int(tf.argmin([nan, nan])) == int(tf.argmax([nan, -inf])) == 0


@pytest.mark.parametrize(
    ("dtype", "lowest", "highest"),
    [
        ("float16", -inf, inf),
        ("bfloat16", -inf, inf),
        ("float32", -inf, inf),
        ("int8", -128, 127),
        ("uint8", 0, 255),
        ("int32", -(2**31), 2**31 - 1),
        ("uint64", 0, 2**64 - 1),
    ],
)
def test_extremes_of_nothing(dtype, lowest, highest):
    assert tf.reduce_max(tf.zeros([0], dtype)).numpy() == lowest
    assert tf.reduce_min(tf.zeros([0], dtype)).numpy() == highest


def test_extremes_of_empty_segments_are_finite():
    big = np.finfo(np.float32).max
    assert tf.math.unsorted_segment_max([1.0], [0], 2).numpy().tolist() == [1.0, -big]
    assert tf.math.unsorted_segment_min([1.0], [0], 2).numpy().tolist() == [1.0, big]
    assert tf.math.unsorted_segment_max(tf.zeros([0, 1], tf.int32), tf.zeros([0], tf.int32), 1).numpy() == -(2**31)
    assert tf.math.unsorted_segment_sum([1.0, 2.0], [-1, -1], 0).shape == [0]


def test_uint64_beyond_int64():
    x = tf.constant(np.array([1, 2**63 + 5], np.uint64))
    assert tf.reduce_max(x).numpy() == 2**63 + 5
    assert tf.reduce_min(x).numpy() == 1
    assert tf.reduce_mean(x).numpy() == 2**62 + 3
    assert int(tf.argmax(x)) == 1
    assert tf.math.segment_max(x, [0, 2]).numpy().tolist() == [1, 0, 2**63 + 5]


def test_integers_wrap_in_sums_and_not_in_means():
    x = tf.constant([100, 100, 7], tf.int8)
    assert tf.reduce_sum(x).numpy() == -49
    assert tf.reduce_prod(x).numpy() == 112
    assert tf.reduce_mean(x).numpy() == 69
    assert tf.reduce_mean([-1, -2, -4]).numpy() == -2
    assert tf.cumsum(x).numpy().tolist() == [100, -56, -49]
    assert tf.math.segment_mean(x, [0, 0, 1]).numpy().tolist() == [-28, 7]
    assert tf.reduce_mean(tf.zeros([0], tf.int32)).numpy() == 0


def test_narrow_floats_are_summed_in_wider_ones():
    assert tf.reduce_sum(tf.ones([5000], tf.float16)).numpy() == 5000
    assert tf.reduce_sum(tf.ones([5000], tf.bfloat16)).numpy() == 4992
    assert tf.reduce_mean(tf.ones([5000], tf.float16)).numpy() == 1


def test_norms_of_integers():
    assert tf.math.reduce_euclidean_norm([1, 2, 2]).numpy() == 3
    assert tf.math.reduce_euclidean_norm([1, 1]).numpy() == 1
    assert tf.math.reduce_euclidean_norm(tf.constant([-3], tf.int8)).numpy() == 3


@pytest.mark.parametrize("keepdims", [1, True, None, 0])
def test_keepdims_is_taken_for_its_truth(keepdims):
    assert tf.reduce_sum(tf.ones([2, 3]), keepdims=keepdims).shape == ([1, 1] if keepdims else [])
    assert tf.reduce_max(tf.ones([2, 3]), 0, keepdims=keepdims).shape == ([1, 3] if keepdims else [3])


@pytest.mark.parametrize("output_type", ["int16", "uint16", "int32", "int64", tf.int32])
def test_positions_come_in_the_dtype_asked_for(output_type):
    found = tf.argmax([1, 3, 2], output_type=output_type)
    assert found.dtype == output_type and found.numpy() == 1


def test_count_nonzero_of_strings_and_bools():
    assert tf.math.count_nonzero(["a", "", " "]).numpy() == 2
    assert tf.math.count_nonzero([True, False]).numpy() == 1
    assert tf.math.count_nonzero([0.0, -0.0, nan], dtype=tf.int8).dtype == tf.int8


def test_indexed_slices_become_dense():
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 2]), tf.constant([3, 2]))
    assert tf.convert_to_tensor(slices).numpy().tolist() == [[0, 0], [0, 0], [4, 6]]


def test_gradient_of_top_k_goes_back_where_the_elements_came_from():
    weights = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = gradient(lambda x: tf.math.top_k(x, 2).values * weights, [[1.0, 5.0, 3.0], [3.0, 3.0, 1.0]])
    assert found.tolist() == [[0, 1, 2], [3, 4, 0]]
    found = gradient(lambda x: tf.math.approx_min_k(x, 2, 0).values, [[1.0, 5.0], [3.0, 2.0], [0.0, 9.0]])
    assert found.tolist() == [[1, 1], [0, 1], [1, 0]]


def test_top_k_of_equals_takes_the_first():
    assert tf.math.top_k([1.0, 5.0, 3.0, 5.0], 3).indices.numpy().tolist() == [1, 3, 2]
    assert tf.math.top_k(tf.zeros([1000]), 4, index_type=tf.int64).indices.numpy().tolist() == [0, 1, 2, 3]
    assert tf.math.top_k([[1, 1]]).indices.dtype == tf.int32


def test_top_k_takes_nan_last():
    assert tf.math.top_k([1.0, nan, 3.0], 2).values.numpy().tolist() == [3.0, 1.0]


def test_in_top_k_is_false_of_what_is_no_class_and_of_what_is_not_finite():
    assert tf.math.in_top_k([2, -1], [[0.1, 0.9], [0.1, 0.9]], 2).numpy().tolist() == [False, False]
    assert tf.math.in_top_k([0, 1, 1], [[nan, 0.9], [inf, 0.9], [0.1, 0.9]], 2).numpy().tolist() == [False, False, True]


def test_bincount_of_nothing():
    assert tf.math.bincount([], minlength=3).numpy().tolist() == [0, 0, 0]
    assert tf.math.bincount(tf.zeros([2, 0], tf.int32), axis=-1).shape == [2, 0]
    assert tf.math.bincount([1], dtype=tf.float64).dtype == tf.float64


@pytest.mark.skipif(not hasattr(tf, "SparseTensor"), reason="there are no sparse tensors")
def test_bincount_of_sparse_rows():
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 1], [1, 2]], [1, 2, 2, 2], [2, 3])
    assert tf.math.bincount(sparse).numpy().tolist() == [0, 1, 3]
    assert tf.math.bincount(sparse, axis=-1).numpy().tolist() == [[0, 1, 1], [0, 0, 2]]
    assert tf.math.bincount(sparse, weights=sparse, axis=-1, maxlength=2).numpy().tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match="must be a SparseTensor"):
        tf.math.bincount(sparse, weights=[1.0], axis=-1)


def test_segments_on_a_gpu_leave_out_what_is_out_of_range():
    import torch

    from tapeflow.math.segment import _gathered_on_gpu

    out, ids, rows = torch.zeros(2, 1), torch.tensor([1, -1, 5, 1]), torch.arange(4.0).unsqueeze(1)
    found = _gathered_on_gpu(out, ids, rows, lambda out, ids, rows: out.index_add_(0, ids, rows))
    assert found.tolist() == [[0.0], [3.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.uint8], ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(40, 200), (2, 50, 90), (9000,)], ids=str)
def test_positions_among_many(shape, dtype):
    x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)  # most of them more than once
    for axis in (0, -1, len(shape) - 1):
        np.testing.assert_array_equal(tf.argmax(x, axis), np.argmax(x, axis))
        np.testing.assert_array_equal(tf.argmin(x, axis, tf.int32), np.argmin(x, axis))
    if np.issubdtype(dtype, np.floating):
        x[..., 3] = np.nan
        x[..., 4] = np.inf
        np.testing.assert_array_equal(tf.argmax(x, -1), np.full(shape[:-1], 4))
        np.testing.assert_array_equal(tf.argmin(x, -1), np.nanargmin(x, -1))
        x[..., 5] = -np.inf
        np.testing.assert_array_equal(tf.argmin(x, -1), np.full(shape[:-1], 5))


def test_positions_among_many_of_each_slice():
    x = np.random.default_rng(0).standard_normal((3, 60, 100)).astype(np.float32)
    np.testing.assert_array_equal(tf.vectorized_map(lambda t: tf.argmax(t, -1), x), np.argmax(x, -1))
    np.testing.assert_array_equal(tf.argmax(tf.transpose(x, [0, 2, 1]), -1), np.argmax(x, 1))


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axis", [(1, 3), (-1, 0), [3, 1, 0]], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "prod"])
def test_short_rows_with_other_dimensions(name, axis, keepdims):
    x = np.random.default_rng(0).uniform(0.9, 1.1, (8, 30, 20, 5)).astype("f")
    result = getattr(tf, f"reduce_{name}")(x, axis, keepdims)
    expected = getattr(np, name)(x.astype("d"), tuple(axis), keepdims=keepdims)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4)
