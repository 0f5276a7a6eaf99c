"""tf.nn where a row of the op table does not fit: several outputs, sparse arguments, cells, layouts."""

import numpy as np
import pytest

import tapeflow as tf
from op_table import rand
from tapeflow.nn.batch_norm import fused_batch_norm

FLOATS = {"rtol": 1e-4, "atol": 1e-5}


def gradients(function, *arguments):
    arguments = [tf.constant(a, tf.float32) for a in arguments]
    with tf.GradientTape() as tape:
        for a in arguments:
            tape.watch(a)
        y = function(*arguments)
    return tape.gradient(y, arguments)


def finite_differences(function, *arguments, step=1e-2):
    """The gradient of a scalar function of float32 arrays."""
    found = []
    for i, a in enumerate(arguments):
        g = np.zeros(a.shape)
        for place in np.ndindex(*a.shape):
            sides = []
            for by in (step, -step):
                moved = a.copy()
                moved[place] += by
                given = [moved if j == i else b for j, b in enumerate(arguments)]
                sides.append(float(function(*[tf.constant(b, tf.float32) for b in given])))
            g[place] = (sides[0] - sides[1]) / (2 * step)
        found.append(g)
    return found


def check_in_float32(function, *arguments):
    """Ops without float64: the gradient against finite differences, as near as float32 comes."""
    for g, expected in zip(gradients(function, *arguments), finite_differences(function, *arguments), strict=True):
        np.testing.assert_allclose(g, expected, rtol=2e-2, atol=2e-2)


# ---- layouts ---------------------------------------------------------------------------------------------------------


def test_convolutions_copy_nothing_on_the_way_in_or_out():
    y = tf.nn.conv2d(tf.ones([2, 8, 8, 3]), tf.ones([3, 3, 3, 4]), 1, "SAME")
    assert y.value.is_contiguous()
    assert tf.nn.max_pool2d(y, 2, 2, "VALID").value.is_contiguous()


@pytest.mark.parametrize("channels", [1, 8])
def test_transposed_convolutions_leave_no_gaps_in_memory(channels):
    y = tf.nn.conv2d_transpose(tf.ones([2, 4, 4, 3]), tf.ones([5, 5, channels, 3]), [2, 8, 8, channels], 2, "SAME")
    assert y.value.is_contiguous()


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(
    ("padding", "strides", "dilation"),
    [
        ("SAME", (2, 2), 1),  # more padding at the end
        ("SAME", (2, 3), 1),
        ("SAME", (1, 1), 2),
        ("VALID", (2, 2), 1),  # a rest that no window sees
        ([[0, 0], [3, 1], [0, 2], [0, 0]], (2, 1), 1),
        ([[0, 0], [1, 2], [2, 1], [0, 0]], (1, 2), 1),
    ],
)
def test_gradients_of_single_precision_are_those_of_double(groups, padding, strides, dilation):
    """Single precision has other kernels, for images that are large enough."""
    x, filters = rand(4, 32, 33, 6), rand(5, 4, 6 // groups, 48)
    results = []
    for dtype in (tf.float32, tf.float64):
        image, weights = tf.constant(x, dtype), tf.constant(filters, dtype)
        with tf.GradientTape() as tape:
            tape.watch([image, weights])
            y = tf.nn.conv2d(image, weights, strides if dilation == 1 else 1, padding, dilations=dilation)
            loss = tf.reduce_sum(y * y)
        results.append([y, *tape.gradient(loss, [image, weights])])
    assert all(t.value.is_contiguous() for t in results[0])
    for single, double in zip(*results, strict=True):
        np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-4 * np.abs(double).max())


def test_filter_gradients_are_laid_out_like_the_filters():
    (g,) = gradients(lambda f: tf.nn.conv2d(tf.ones([2, 8, 8, 3]), f, 1, "VALID"), rand(3, 3, 3, 4))
    assert g.value.is_contiguous()


@pytest.mark.parametrize("channels", [(256, 128), (128, 256)])
def test_large_filters_give_what_small_ones_give(channels):
    """Filters that leave a core's cache are copied to another layout first."""
    x = tf.constant(rand(2, 4, 5, channels[0]), tf.float32)
    filters = tf.constant(rand(3, 3, *channels), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch([x, filters])
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        loss = tf.reduce_sum(y * y)
    dx, dfilters = tape.gradient(loss, [x, filters])
    windows = tf.reshape(tf.image.extract_patches(x, [1, 3, 3, 1], [1] * 4, [1] * 4, "SAME"), [40, -1])
    rows = tf.reshape(filters, [-1, channels[1]])
    np.testing.assert_allclose(tf.reshape(y, [40, -1]), windows @ rows, rtol=1e-3, atol=1e-3)
    expected = tf.matmul(windows, tf.reshape(2.0 * y, [40, -1]), transpose_a=True)
    np.testing.assert_allclose(tf.reshape(dfilters, expected.shape), expected, rtol=1e-3, atol=1e-2)
    small = [tf.nn.conv2d_transpose(2.0 * y, filters[:, :, i : i + 8], [2, 4, 5, 8], 1, "SAME")
             for i in range(0, channels[0], 8)]  # fmt: skip
    np.testing.assert_allclose(dx, tf.concat(small, -1), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("image", "options"),
    [
        ([2, 7, 6, 64], {"strides": 2, "padding": "SAME"}),  # few windows: a product of matrices
        ([2, 7, 6, 64], {"strides": (2, 1), "padding": "VALID"}),
        ([1, 8, 9, 64], {"strides": 1, "padding": "SAME", "dilations": 2}),
        ([1, 6, 6, 64], {"strides": 1, "padding": [[0, 0], [2, 0], [1, 3], [0, 0]]}),
        ([2, 40, 20, 64], {"strides": 2, "padding": "SAME"}),  # many: the filters are copied
        ([1, 4, 3, 5, 64], {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}),
    ],
)
def test_large_filters_give_what_parts_of_them_give(image, options):
    dims = len(image) - 2
    convolve = tf.nn.conv2d if dims == 2 else tf.nn.conv3d
    window = [5, 4] if dims == 2 else [3, 3, 3]
    x, filters = tf.constant(rand(*image), tf.float32), tf.constant(rand(*window, 64, 256), tf.float32)
    parts = 16
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, filters])
        y = convolve(x, filters, **options)
        of_parts = tf.concat([convolve(x, part, **options) for part in tf.split(filters, parts, -1)], -1)
        loss, expected_loss = tf.reduce_sum(y**2), tf.reduce_sum(of_parts**2)
    np.testing.assert_allclose(y, of_parts, rtol=1e-4, atol=1e-3)
    for gradient, expected in zip(
        tape.gradient(loss, [x, filters]), tape.gradient(expected_loss, [x, filters]), strict=True
    ):
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-1)


@pytest.mark.parametrize(
    "options",
    [
        {"strides": [1] * 5, "padding": "SAME"},
        {"strides": [1, 2, 1, 2, 1], "padding": "SAME"},
        {"strides": [1] * 5, "padding": "VALID", "dilations": [1, 1, 2, 1, 1]},
    ],
    ids=["plain", "strides", "dilations"],
)
def test_a_volume_alone_gives_what_it_gives_among_others(options):
    """Another kernel computes one volume."""
    volumes = tf.constant(rand(2, 6, 7, 8, 5), tf.float32)
    filters = tf.constant(rand(3, 2, 3, 5, 4), tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([volumes, filters])
        together = tf.nn.conv3d(volumes, filters, **options)
        alone = tf.concat([tf.nn.conv3d(volumes[i : i + 1], filters, **options) for i in range(2)], 0)
        losses = [tf.reduce_sum(tf.sin(y)) for y in (together, alone)]
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-5)
    wanted, got = (tape.gradient(loss, [volumes, filters]) for loss in losses)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {"strides": 2, "padding": "SAME"},
        {"strides": (3, 1), "padding": "VALID"},
        {"strides": 1, "padding": "SAME", "dilations": (2, 1)},
        {"strides": 2, "padding": [[0, 0], [1, 0], [0, 2], [0, 0]]},
    ],
)
def test_gradients_by_images_of_few_channels(options, channels):
    """They are those of more channels, of which filters see no others."""
    x, filters = tf.constant(rand(2, 11, 8, 8), tf.float32), tf.constant(rand(3, 4, 8, 5), tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        few = tf.nn.conv2d(x[..., :channels], filters[:, :, :channels], **options)
        all_of_them = tf.nn.conv2d(x, filters * tf.cast(tf.range(8) < channels, tf.float32)[:, None], **options)
        losses = [tf.reduce_sum(y**3) for y in (few, all_of_them)]
    np.testing.assert_allclose(few, all_of_them, rtol=1e-4, atol=1e-4)
    first, second = (tape.gradient(loss, x) for loss in losses)
    np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-2)


# ---- pooling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16], ids=lambda d: d.name)
def test_pairs_give_their_gradient_to_the_first_maximum(dtype):
    numbers = [-np.inf, -1.0, 0.0, 0.0, 2.0, np.inf, np.nan]
    pairs = np.array([(a, b) for a in numbers for b in numbers])
    dy = np.where(np.arange(len(pairs)) % 5, np.arange(len(pairs)) + 1.0, np.inf)
    second = pairs[:, 1] > pairs[:, 0]  # NaN is no maximum
    expected = np.stack([np.where(second, 0, dy), np.where(second, dy, 0)], 1)
    for shape, axis in (((1, 1, -1, 1), 2), ((1, -1, 1, 1), 1)):
        x, window = tf.constant(pairs.reshape(shape), dtype), [2 if i == axis else 1 for i in range(4)]
        y = tf.nn.max_pool2d(x, window, window, "VALID")
        dx = tf.raw_ops.MaxPoolGrad(
            orig_input=x, orig_output=y, grad=tf.constant(dy, dtype, y.shape), ksize=window, strides=window,
            padding="VALID",
        )  # fmt: skip
        np.testing.assert_array_equal(tf.cast(dx, tf.float64), expected.reshape(shape))


def test_max_pool_gradient_goes_to_the_first_maximum():
    (g,) = gradients(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), np.ones([1, 2, 2, 1]))
    assert g.numpy().ravel().tolist() == [1, 0, 0, 0]


def test_max_pool3d_gradient():
    x = np.arange(18.0).reshape(1, 3, 2, 3, 1) % 7
    check_in_float32(lambda x: tf.reduce_sum(tf.nn.max_pool3d(x, 2, 2, "SAME") ** 2), x)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("with_batch", [False, True])
def test_argmax_says_where_the_maxima_are(padding, with_batch):
    x = rand(2, 5, 4, 3).astype(np.float32)
    y, places = tf.nn.max_pool_with_argmax(x, 3, 2, padding, include_batch_in_index=with_batch)
    for i in range(2):
        taken = x.reshape(-1)[places[i]] if with_batch else x[i].reshape(-1)[places[i]]
        np.testing.assert_array_equal(taken, y[i])
    np.testing.assert_array_equal(y, tf.nn.max_pool2d(x, 3, 2, padding))


def test_gradient_of_max_pool_with_argmax_is_that_of_max_pool():
    x = rand(2, 5, 4, 3)
    (found,) = gradients(lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "SAME")[0] ** 2, x)
    (expected,) = gradients(lambda x: tf.nn.max_pool2d(x, 2, 1, "SAME") ** 2, x)
    np.testing.assert_allclose(found, expected, **FLOATS)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_fractional_pooling_takes_the_windows_it_names(pseudo_random, overlapping):
    x = rand(1, 9, 8, 2)
    options = {"pseudo_random": pseudo_random, "overlapping": overlapping, "seed": 3}
    for function, reduce in ((tf.nn.fractional_max_pool, np.max), (tf.nn.fractional_avg_pool, np.mean)):
        y, rows, columns = function(x, [1.0, 1.4, 1.9, 1.0], **options)
        assert y.shape == [1, 6, 4, 2]
        assert (rows[0], rows[-1], columns[0], columns[-1]) == (0, 9, 0, 8)
        for i, j in np.ndindex(6, 4):
            down = slice(int(rows[i]), int(rows[i + 1]) + overlapping)
            across = slice(int(columns[j]), int(columns[j + 1]) + overlapping)
            window = x[0, down, across]
            np.testing.assert_allclose(y[0, i, j], reduce(window, (0, 1)))


@pytest.mark.parametrize("function", [tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool])
def test_fractional_pooling_gradient(function):
    x = rand(1, 5, 4, 1)
    y, rows, columns = function(x, [1.0, 1.5, 1.5, 1.0], seed=1)
    assert rows.dtype == columns.dtype == tf.int64
    (g,) = gradients(lambda x: function(x, [1.0, 1.5, 1.5, 1.0])[0], x)
    np.testing.assert_allclose(tf.reduce_sum(g), float(tf.size(y)), rtol=1e-5)  # each output shares out a gradient of 1


def test_pool_with_gaps_is_pooling_of_every_other_element():
    x = rand(1, 7, 6, 2)
    y = tf.nn.pool(x, [2, 2], "MAX", dilations=[2, 1])
    expected = np.maximum(np.maximum(x[:, :-2, :-1], x[:, 2:, :-1]), np.maximum(x[:, :-2, 1:], x[:, 2:, 1:]))
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (([2], "MAX"), {}, "must have rank 3"),
        (([2, 2], "MIN"), {}, "2-D MIN pooling is not supported"),
        (([2, 2], "MAX"), {"dilations": 2, "padding": "SAME"}, "is not implemented for `dilation_rate` > 1"),
        (([2, 2], "MAX"), {"dilations": 2, "strides": 2}, "`strides > 1` not supported"),
    ],
)
def test_pool_refuses(arguments, options, says):
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        tf.nn.pool(np.ones([1, 4, 4, 1]), *arguments, **options)


# ---- normalization ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_fused_batch_norm_in_training(data_format):
    x, scale, offset = (np.float32(a) for a in (rand(2, 3, 4, 5), rand(5), rand(5, seed=1)))
    given = x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
    y, mean, variance, batch_mean, batch_variance, _ = fused_batch_norm(
        given, scale, offset, np.zeros(5, np.float32), np.ones(5, np.float32), 1e-3, 0.25, data_format
    )
    expected = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 1e-3) * scale + offset
    y = y.numpy() if data_format == "NHWC" else y.numpy().transpose(0, 2, 3, 1)
    np.testing.assert_allclose(y, expected, **FLOATS)
    np.testing.assert_allclose(batch_mean, x.mean((0, 1, 2)), **FLOATS)
    np.testing.assert_allclose(batch_variance, x.var((0, 1, 2)), **FLOATS)
    np.testing.assert_allclose(mean, 0.25 * x.mean((0, 1, 2)), **FLOATS)
    np.testing.assert_allclose(variance, 0.75 + 0.25 * x.var((0, 1, 2), ddof=1), **FLOATS)


@pytest.mark.parametrize("is_training", [True, False])
def test_fused_batch_norm_gradient(is_training):
    mean, variance = tf.constant([0.3, -0.2]), tf.constant([1.5, 0.7])

    def loss(x, scale, offset):
        y = fused_batch_norm(x, scale, offset, mean, variance, 1e-3, 1.0, "NHWC", is_training)[0]
        return tf.reduce_sum(y * y * y)

    check_in_float32(loss, rand(2, 2, 1, 2), rand(2), rand(2, seed=1))


def test_fused_batch_norm_gradient_of_second_order():
    scale, offset = tf.constant([0.5, 2.0]), tf.constant([0.0, 1.0])
    nothing = tf.zeros([0])

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fused_batch_norm(x, scale, offset, nothing, nothing, 1e-1)[0]
            y = tf.reduce_sum(y * y * y)
        return tf.reduce_sum(tape.gradient(y, x) ** 2)

    check_in_float32(slope, rand(3, 1, 1, 2))


def test_local_response_normalization_gradient():
    check_in_float32(lambda x: tf.reduce_sum(tf.nn.lrn(x, 1, 1.0, 0.5, 0.75) ** 2), rand(1, 1, 2, 4))


def test_sufficient_statistics_lead_to_moments():
    x = rand(3, 4)
    for shift in (None, np.float64(0.7)):
        found = tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], shift))
        for f, expected in zip(found, (x.mean(0), x.var(0)), strict=True):
            np.testing.assert_allclose(f, expected)


# ---- losses ----------------------------------------------------------------------------------------------------------


def test_cross_entropy_does_not_overflow():
    assert tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[-1e30, 1e30]]).numpy().tolist() == [0.0]
    assert tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [1e4, -1e4]).numpy().tolist() == [0.0, 0.0]
    np.testing.assert_allclose(tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [20.0, -20.0]), [2.0611537e-9] * 2)


def test_sigmoid_cross_entropy_has_its_gradient_at_zero():
    (g,) = gradients(lambda x: tf.nn.sigmoid_cross_entropy_with_logits([0.0, 0.5, 1.0], x), np.zeros(3))
    assert g.numpy().tolist() == [0.5, 0.0, -0.5]


@pytest.mark.parametrize(
    ("loss", "options", "expected"),
    [
        ([1.0, 2.0, 3.0], {}, 2.0),
        ([1.0, 2.0], {"global_batch_size": 4}, 0.75),
        ([1.0, 2.0], {"sample_weight": [0.5, 1.0], "global_batch_size": 2}, 1.25),
        ([[1.0], [2.0]], {"sample_weight": [1.0, 0.0]}, 0.5),
    ],
)
def test_average_loss(loss, options, expected):
    assert float(tf.nn.compute_average_loss(loss, **options)) == expected


def test_the_average_of_one_number_is_refused():
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.nn.compute_average_loss(5.0)


# ---- embeddings ------------------------------------------------------------------------------------------------------

TABLE = np.arange(12.0, dtype=np.float32).reshape(6, 2)


def test_embedding_gradient_is_sparse():
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(table, [1, 4, 1])
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(g)[:, 0], [0, 2, 0, 0, 1, 0])


@pytest.mark.parametrize("sizes", [(3, 3), (2, 2, 2), (4, 3), (3, 2, 2), (6,)])
def test_embedding_lookup_in_parts_is_that_in_the_whole(sizes):
    rows = rand(sum(sizes), 2)
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    ids = np.random.default_rng(0).integers(0, len(rows), [3, 4])
    np.testing.assert_array_equal(tf.nn.embedding_lookup([tf.constant(p) for p in parts], ids), rows[ids])


@pytest.mark.parametrize(("combiner", "expected"), [("sum", [12, 6]), ("mean", [4, 3]), ("sqrtn", [5.3665631, 3])])
def test_weighted_embeddings(combiner, expected):
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 1], [2, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2.0, 1.0, 2.0], [2, 2])
    found = tf.nn.embedding_lookup_sparse(TABLE, ids, weights, combiner=combiner)
    np.testing.assert_allclose(found[:, 1], [10 + 1, 6] if combiner == "sum" else _weighted(combiner), rtol=1e-6)


def _weighted(combiner):
    by = {"mean": (3.0, 2.0), "sqrtn": (5**0.5, 2.0)}[combiner]
    return [11 / by[0], 6 / by[1]]


def test_safe_embeddings_have_rows_for_examples_without_ids():
    ids = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 3, -1], [4, 2])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, ids)
    np.testing.assert_array_equal(found, [[2, 3], [0, 0], [6, 7], [0, 0]])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, default_id=5)
    np.testing.assert_array_equal(found, [[2, 3], [10, 11], [6, 7], [10, 11]])


def test_safe_embeddings_of_higher_rank():
    ids = tf.SparseTensor([[0, 1, 0], [1, 0, 1]], [1, 2], [2, 2, 2])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, combiner="sum")
    np.testing.assert_array_equal(found, [[[0, 0], [2, 3]], [[4, 5], [0, 0]]])


# ---- sampled losses --------------------------------------------------------------------------------------------------


def test_samplers_draw_what_tensorflow_draws():
    sampler = tf.nn.fixed_unigram_candidate_sampler
    sampled, true_expected, expected = sampler([[1]], 1, 3, True, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=1)
    assert sampled.numpy().tolist() == [3, 2, 1]
    np.testing.assert_allclose(true_expected, [[0.5904]], rtol=1e-5)
    np.testing.assert_allclose(expected, [0.8704, 0.7599, 0.5904], rtol=1e-5)
    again = sampler([[1]], 1, 3, True, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=1)
    assert sorted(again.sampled_candidates.numpy().tolist()) != [] and again.sampled_candidates.shape == [3]


@pytest.mark.parametrize(
    ("true", "options", "says"),
    [
        ([1], {}, "true_classes must be a matrix"),
        ([[1, 2]], {}, "true_classes must have num_true columns"),
        ([[9]], {}, r"`true_candidate` out of range \[0, 4\), received 9"),
        ([[1]], {"unigrams": [1.0]}, "range is 4 must be equal to weights size  1"),
        ([[1]], {"unigrams": []}, "Must provide either vocab_file or unigrams"),
    ],
)
def test_samplers_refuse(true, options, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.nn.fixed_unigram_candidate_sampler(true, 1, 2, True, 4, **{"unigrams": [1.0] * 4, **options})


def test_sampler_reads_a_vocabulary(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("the,0\nof,3\n")
    found = tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 4, False, 2, vocab_file=str(path))
    assert found.sampled_candidates.numpy().tolist() == [1, 1, 1, 1]


SAMPLED = (tf.constant([1, 0, 5], tf.int64), tf.constant([[0.5], [0.2]]), tf.constant([0.3, 0.4, 0.1]))


def sampled_arguments():
    random = [np.random.RandomState(seed) for seed in (1, 2, 3)]
    weights, biases, inputs = (r.randn(*s) for r, s in zip(random, ([6, 3], [6], [2, 3]), strict=True))
    return [tf.constant(a, tf.float32) for a in (weights, biases)], tf.constant(inputs, tf.float32)


@pytest.mark.parametrize(
    ("function", "remove", "expected"),  # recorded from TensorFlow
    [
        (tf.nn.nce_loss, True, [4.953315, 8.380346]),
        (tf.nn.nce_loss, False, [5.385243, 8.380346]),
        (tf.nn.sampled_softmax_loss, True, [4.2509956, 4.385162]),
        (tf.nn.sampled_softmax_loss, False, [4.274468, 4.385162]),
    ],
)
def test_sampled_losses(function, remove, expected):
    (weights, biases), inputs = sampled_arguments()
    labels = tf.constant([[1], [4]], tf.int64)
    found = function(weights, biases, labels, inputs, 3, 6, sampled_values=SAMPLED, remove_accidental_hits=remove)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_sampled_losses_train_the_weights():
    (weights, biases), inputs = sampled_arguments()
    found = gradients(
        lambda w, b, x: tf.nn.nce_loss(w, b, [[1], [4]], x, 3, 6, sampled_values=SAMPLED), weights, biases, inputs
    )
    assert all(g is not None for g in found)


# ---- cells -----------------------------------------------------------------------------------------------------------


class Sum:
    """A cell that adds its inputs to its state."""

    state_size = output_size = 2

    def __call__(self, inputs, state):
        return inputs + state, state + 1.0


def test_residual_wrapper_adds_the_inputs():
    y, state = tf.nn.RNNCellResidualWrapper(Sum())(tf.ones([1, 2]), tf.zeros([1, 2]))
    assert y.numpy().tolist() == [[2, 2]]
    assert state.numpy().tolist() == [[1, 1]]


def test_residual_wrapper_takes_a_function():
    cell = tf.nn.RNNCellResidualWrapper(Sum(), residual_fn=lambda inputs, outputs: outputs - inputs)
    assert cell(tf.ones([1, 2]), tf.zeros([1, 2]))[0].numpy().tolist() == [[0, 0]]


def test_wrappers_have_the_sizes_of_their_cell():
    cell = tf.nn.RNNCellDeviceWrapper(Sum(), "/cpu:0")
    assert (cell.state_size, cell.output_size) == (2, 2)
    assert cell.zero_state(3, tf.float32).numpy().tolist() == [[0, 0]] * 3
    assert cell(tf.ones([1, 2]), tf.ones([1, 2]))[0].numpy().tolist() == [[2, 2]]


@pytest.mark.parametrize(
    "options", [{"input_keep_prob": -0.5}, {"output_keep_prob": 1.5}, {"variational_recurrent": True}]
)
def test_dropout_wrapper_refuses(options):
    with pytest.raises(ValueError, match=r"must be between 0 and 1|dtype must be provided"):
        tf.nn.RNNCellDropoutWrapper(Sum(), **options)


def test_wrappers_want_a_cell():
    with pytest.raises(TypeError, match="no cell"):
        tf.nn.RNNCellDropoutWrapper(3)


def test_cross_entropy_gradient_computes_no_second_softmax(monkeypatch):
    """Nobody uses the op's second output, so that its gradient, which would need one, is not asked for."""
    monkeypatch.setattr("tapeflow.nn.cross_entropy.softmax", lambda *_: pytest.fail("computed a softmax"))
    (g,) = gradients(lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], x), np.zeros([1, 2]))
    assert g.numpy().tolist() == [[0.5, -0.5]]


def test_sparse_ids_of_unknown_shape_in_a_function():
    @tf.function(input_signature=[tf.SparseTensorSpec([None, None, None], tf.int64)])
    def look_up(ids):
        return tf.nn.safe_embedding_lookup_sparse(TABLE, ids)

    ids = tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1]], np.array([1, 0, 2]), [2, 2, 2])
    np.testing.assert_allclose(look_up(ids), tf.nn.safe_embedding_lookup_sparse(TABLE, ids), rtol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.int32], ids=lambda d: d.name)
@pytest.mark.parametrize(("shape", "size"), [((2, 8, 6, 3), 2), ((1, 9, 9, 2), 3), ((2, 8, 8, 1), [2, 1])], ids=str)
def test_windows_that_divide_an_image_have_the_maxima_of_any_windows(shape, size, dtype):
    x = np.random.default_rng(0).integers(-50, 50, shape).astype(dtype.as_numpy_dtype)
    x[0, 3, 3, 0] = np.inf if dtype.is_floating else 99
    height, width = size if isinstance(size, list) else (size, size)
    rows, columns = shape[1] // height, shape[2] // width
    expected = x.reshape(shape[0], rows, height, columns, width, shape[3]).max((2, 4))
    np.testing.assert_array_equal(tf.nn.max_pool2d(x, size, size, "VALID"), expected)
    np.testing.assert_array_equal(tf.nn.max_pool2d(x, size, size, "SAME"), expected)


# ---- maxima of what is no number: the values are TensorFlow's --------------------------------------------------------

NAN, INF, LEAST = float("nan"), float("inf"), float(np.finfo(np.float32).min)
WINDOWS = [  # four elements; their maximum, the place that MaxPoolWithArgmax gives, and where MaxPool3D's gradient goes
    ([NAN, 1.0, 2.0, 3.0], 3.0, 0, 3),
    ([1.0, NAN, 5.0, NAN], 5.0, 2, 2),
    ([1.0, 2.0, 3.0, NAN], 3.0, 2, 2),
    ([1.0, NAN, INF, NAN], INF, 2, None),
    ([-INF, NAN, -INF, -INF], LEAST, 0, None),
    ([NAN, NAN, NAN, NAN], LEAST, 0, None),
]


@pytest.mark.parametrize(("window", "largest", "place", "place_in_volume"), WINDOWS)
def test_max_pooling_ignores_nan(window, largest, place, place_in_volume):
    image = tf.constant(window, shape=[1, 2, 2, 1])
    for pooled in (
        tf.nn.max_pool1d(tf.reshape(image, [1, 4, 1]), 4, 4, "VALID"),
        tf.nn.max_pool2d(image, 2, 2, "VALID"),
        tf.nn.max_pool2d(image, 2, 1, "VALID", "NHWC"),
        tf.nn.max_pool2d(tf.reshape(image, [1, 1, 2, 2]), 2, 2, "VALID", "NCHW"),
        tf.nn.max_pool2d(tf.pad(image, [[0, 0], [0, 2], [0, 2], [0, 0]]), 2, 2, "SAME")[:, :1, :1],
        tf.nn.max_pool3d(image[:, None], [1, 2, 2], 2, "VALID"),
        tf.nn.dilation2d(image, tf.zeros([2, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4),
    ):
        assert pooled.numpy().item() == largest
    assert tf.function(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"))(image).numpy().item() == largest

    values, places = tf.nn.max_pool_with_argmax(image, 2, 2, "VALID")
    np.testing.assert_equal(values.numpy().item(), window[place])
    assert places.numpy().item() == place
    deep = tf.nn.max_pool2d(tf.reshape(image, [1, 1, 1, 4]), [1, 1, 1, 4], [1, 1, 1, 4], "VALID")
    np.testing.assert_equal(deep.numpy().item(), window[place])


@pytest.mark.parametrize(("window", "largest", "place", "place_in_volume"), WINDOWS)
def test_gradients_of_max_pooling_with_nan(window, largest, place, place_in_volume):
    image = tf.constant(window, shape=[1, 2, 2, 1])
    volume = image[:, None]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([image, volume])
        flat = tf.nn.max_pool2d(image, 2, 2, "VALID")
        deep = tf.nn.max_pool3d(volume, [1, 2, 2], 2, "VALID")
    hot = np.eye(4, dtype=np.float32)
    assert tape.gradient(flat, image).numpy().reshape(-1).tolist() == hot[place].tolist()
    expected = np.zeros(4) if place_in_volume is None else hot[place_in_volume]
    assert tape.gradient(deep, volume).numpy().reshape(-1).tolist() == expected.tolist()
    again = tf.raw_ops.MaxPoolGradGrad(
        orig_input=image, orig_output=flat, grad=tf.ones_like(image), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
        padding="VALID",
    )  # fmt: skip
    assert again.numpy().item() == float(largest != LEAST)


def test_places_of_maxima_are_in_the_image_though_it_is_padded():
    image = tf.constant([-INF, NAN, NAN, 2.0], shape=[1, 2, 2, 1])
    values, places = tf.nn.max_pool_with_argmax(image, 2, 1, "SAME")
    np.testing.assert_equal(values.numpy().reshape(-1), [2.0, NAN, NAN, 2.0])
    assert places.numpy().reshape(-1).tolist() == [3, 1, 2, 3]


def test_conv1d_transpose_to_a_shape_that_a_graph_finds_out():
    @tf.function(input_signature=[tf.TensorSpec([None, 5, 2])])
    def enlarged(x):
        shape = tf.concat([tf.shape(x)[:1], [10, 3]], 0)
        return tf.nn.conv1d_transpose(x, tf.ones([3, 3, 2]), shape, 2, "SAME")

    x = tf.ones([4, 5, 2])
    assert enlarged.get_concrete_function().output_shapes == tf.TensorShape([None, 10, 3])
    expected = tf.nn.conv1d_transpose(x, tf.ones([3, 3, 2]), [4, 10, 3], 2, "SAME")
    np.testing.assert_array_equal(enlarged(x), expected)


@pytest.mark.parametrize("options", [None, {"autograph": False}, {"jit_compile": True}])
def test_relu_of_the_largest_integers(options):
    relu, relu6 = [f if options is None else tf.function(f, **options) for f in (tf.nn.relu, tf.nn.relu6)]
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        largest = np.iinfo(dtype).max
        numbers = [0, 5, largest // 2, largest // 2 + 1, largest]
        for _ in range(2):  # later calls take other paths
            assert relu(tf.constant(np.array(numbers, dtype))).numpy().tolist() == numbers
            assert relu6(tf.constant(np.array(numbers, dtype))).numpy().tolist() == [0, 5, 6, 6, 6]


def test_a_slope_may_be_an_array():
    assert tf.nn.leaky_relu([-1.0], np.array(0.5)).numpy().tolist() == [-0.5]


@pytest.mark.parametrize("count", [2, 3, 7, 8, 12, 16, 64, 100, 768])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_equal_numbers_have_no_variance(dtype, count):
    for number in (0.1, 3.3, 1000.7):
        x = tf.fill([2, count], tf.cast(number, dtype))
        mean, variance = tf.nn.moments(x, [1])
        assert mean.numpy().tolist() == x[:, 0].numpy().tolist()
        assert variance.numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_equal_numbers_are_normalized_to_zero(dtype, traced):
    def normalized(x):
        mean, variance = tf.nn.moments(x, [1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-12)

    x = tf.fill([2, 8], tf.cast(0.1, dtype))
    result = (tf.function(normalized) if traced else normalized)(x)
    assert np.abs(result.numpy().astype(np.float64)).max() == 0.0


def test_gradients_of_the_moments_of_equal_numbers():
    x = tf.fill([2, 8], 0.1)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        mean, variance = tf.nn.moments(x, [1])
    np.testing.assert_allclose(tape.gradient(mean, x), np.full([2, 8], 1 / 8))
    np.testing.assert_array_equal(tape.gradient(variance, x), np.zeros([2, 8]))
