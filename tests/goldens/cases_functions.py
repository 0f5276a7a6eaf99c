"""Calls in functions: what is static of their results where little is static of their arguments, what they give
nevertheless, and what they refuse while they are traced."""

from goldens.case import Group

GROUP = Group("""
x = tf.constant([1.0, 2.0])
U = tf.TensorSpec(None)
def S(*dims, dtype=tf.float32):
    return tf.TensorSpec(dims, dtype)
def I(*dims):
    return tf.TensorSpec(dims, tf.int32)
def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)
def limits_gradient(g, x, low, high):
    return tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(g, x, low, high)
def shapes(function, *specs):
    outputs = tf.nest.flatten(traced(function, *specs).structured_outputs, expand_composites=True)
    return [str(o.shape) for o in outputs]
def run(function, *args):
    return tf.function(function, autograph=False)(*args)
def unranked(function, *args):
    return traced(function, *[tf.TensorSpec(None, a.dtype) for a in args])(*args)
def unsized(function, *args):
    return traced(function, *[tf.TensorSpec([None] * a.shape.rank, a.dtype) for a in args])(*args)
def sparse_unranked(function, sparse):
    return traced(function, tf.SparseTensorSpec(None, sparse.dtype))(sparse)
sp = tf.SparseTensor([[0, 0], [1, 2], [2, 1]], [1.0, 2.0, 3.0], [3, 4])
c = tf.constant
""")

# ---- the first input settles the dtype -------------------------------------------------------------------------------

GROUP.errors("""
run(lambda x: tf.multiply(-1, x), x)
run(lambda x: tf.maximum(0, x), x)
run(lambda x: tf.where(x > 1, 0, x), x)
run(lambda x: tf.math.igamma(1, x), x)
run(lambda x: tf.math.squared_difference(1, x), x)
run(lambda x: tf.matmul([[1, 2]], x[:, None]), x)
run(lambda x: tf.pow(2, x), x)
run(lambda x: tf.maximum(np.int64(1), x), x)
run(lambda x: tf.debugging.assert_less(x, 3), x)
run(lambda x: tf.debugging.assert_near([1, 2], x), x)
run(lambda x: tf.debugging.assert_equal(x, [1.0, 2.0, 3.0]), x)
tf.debugging.assert_less(x, 3)
tf.debugging.assert_near([1, 2], x)
run(lambda x: tf.meshgrid(x, [3, 1]), x)
run(lambda x: tf.strings.bytes_split(x), x)
run(lambda x: tf.strings.unicode_split(x, 'UTF-8'), x)
run(lambda x: tf.strings.unicode_encode(x, 'UTF-8'), x)
run(lambda x: tf.io.parse_tensor(x[0], tf.float32), x)
run(lambda: tf.strings.to_hash_bucket_strong('a', 5, [1]))
unranked(lambda x: tf.scalar_mul(x, x), c(2.0))
""")
GROUP.values("""
run(lambda x: -1 * x, x)
run(lambda x: 2 ** x, x)
run(lambda x: 3 / x, x)
run(lambda x: 1 - x, x)
run(lambda x: 7 // x, x)
run(lambda x: [[1, 2]] @ x[:, None], x)
run(lambda x: tf.multiply(-1.0, x), x)
run(lambda x: tf.maximum(x, 0), x)
run(lambda x: tf.where(x > 1, x, 0), x)
run(lambda x: tf.math.divide_no_nan(1, x), x)
run(lambda x: tf.divide(1, x), x)
tf.math.divide_no_nan(1, x)
run(lambda x: tf.clip_by_value(x, 0, 1), x)
run(lambda x: tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], x, 2), x)
run(lambda x: tf.math.tanh(tf.cast(x, tf.float64)), x)
""")

# ---- equality of shapes that turn out to differ ----------------------------------------------------------------------

GROUP.family(
    "shapes(lambda a, b: a {sign} b, I({left}), I({right}))",
    sign=["==", "!="],
    left=["2", "None", "0", "2, None"],
    right=["None", "3", "1", "3, 1"],
)
GROUP.values("""
shapes(lambda a, b: a == b, U, S(None, 2))
shapes(lambda a: a == a, I(None))
shapes(lambda a: a == [1, 2], I(None))
unsized(lambda a, b: a == b, c([1, 2]), c([1, 2, 3]))
unsized(lambda a, b: a != b, c([1, 2]), c([1, 2, 3]))
unsized(lambda a, b: a != b, c([1, 2]), c([2]))
unsized(lambda a, b: a == b, c(['a', 'b']), c(['a', 'c']))
unsized(lambda a, b: a == b, c(['a', 'b']), c(['a', 'b', 'c']))
unranked(lambda a, b: a == b, c([[1.0, 2.0]]), c([1.0, 3.0]))
unsized(lambda a: a == [1, 2], c([1, 2, 3]))
unsized(lambda a: a == np.array([1, 2]), c([1, 2, 3]))
unsized(lambda a, b: tf.raw_ops.Equal(x=a, y=b, incompatible_shape_error=False), c([1, 2]), c([1, 2, 3]))
""")
GROUP.errors("""
unsized(lambda a, b: tf.equal(a, b), c([1, 2]), c([1, 2, 3]))
""")

# ---- static shapes ---------------------------------------------------------------------------------------------------

GROUP.values("""
shapes(lambda a, b: a + b, S(0, 3), S(None, 3))
shapes(lambda a, b: tf.where(a > 0, a, b), S(0, 3), S(None, 3))
shapes(lambda i, b, k, c: tf.image.crop_and_resize(i, b, k, [5, c]), S(2, 4, 5, 3), S(3, 4), I(3), I())
shapes(lambda b, x: tf.nn.bias_add(x, b), S(4), S(None, None, None, None))
shapes(lambda b, x: tf.nn.bias_add(x, b, data_format='NCHW'), S(4), S(None, None, None, None))
shapes(lambda b, x: tf.nn.bias_add(x, b), S(4), U)
shapes(lambda i: tf.image.rot90(i, 2), S(2, 4, 5, 3))
shapes(lambda i: tf.image.rot90(i, 3), S(4, None, 3))
shapes(lambda i, k: tf.image.rot90(i, k), S(4, 5, 3), I())
shapes(lambda b: tf.strided_slice(tf.constant([1, 2, 3]), [-1], b, [-1]), I(1))
shapes(lambda b, x: tf.strided_slice(x, [-1], b, [-1]), I(None), S(5))
shapes(lambda b, x: tf.strided_slice(x, b, b), I(None), S(5))
shapes(lambda b, x: tf.strided_slice(x, [0], b, [1]), I(1), S(None, 3))
shapes(lambda l: tf.nn.ctc_unique_labels(l), I(3, 4))
shapes(lambda: tf.nn.ctc_unique_labels([[1, 2, 2]]))
shapes(lambda i: tf.ragged.segment_ids_to_row_splits(i, num_segments=5), tf.TensorSpec(None, tf.int32))
shapes(lambda i: tf.ragged.row_splits_to_segment_ids(i), I(4))
shapes(lambda: tf.ragged.row_splits_to_segment_ids([0, 2, 5]))
shapes(limits_gradient, U, U, U, U)
shapes(limits_gradient, S(2, 3), U, U, U)
shapes(lambda x: tf.dynamic_stitch([[0, 2], [1]], [x, x[:1]]), S(2, 5))
shapes(lambda i, x: tf.dynamic_stitch([i, [7]], [x, x[:1]]), I(2), S(2, 5))
shapes(lambda: tf.strings.unicode_split('aé☃', 'UTF-8'))
shapes(lambda: tf.strings.unicode_split_with_offsets(['aé', ''], 'UTF-8'))
shapes(lambda s, f, o: tf.nn.conv1d_transpose(o, f, s, 2), I(3), S(3, 1, 2), S(2, 3, 2))
shapes(lambda f, o: tf.nn.conv1d_transpose(o, f, [2, 6, 1], 2), S(3, 1, 2), S(None, 3, 2))
""")
GROUP.family(
    "shapes(lambda s, f, o: tf.raw_ops.Conv2DBackpropInput(input_sizes={sizes}, filter=f, out_backprop=o, "
    "strides=[1, 2, 2, 1], padding='SAME'), {spec}, S(3, 2, 1, 2), {out})",
    sizes=["s", "[1, 4, 6, 1]", "[4, 6]"],
    spec=["I(4)", "I(2)", "I(None)"],
    out=["S(1, 2, 3, 2)", "S(None, None, None, 2)"],
)
GROUP.errors("""
shapes(lambda s, f, o: tf.nn.conv2d_transpose(o, f, s, 2), I(), S(3, 2, 1, 2), S(1, 2, 3, 2))
shapes(lambda b: tf.slice(tf.constant([1.0]), b, b), I())
shapes(lambda b: tf.fill(b, 1), I(2, 2))
shapes(lambda x, p: tf.pad(x, p), S(3), I(3, 2))
shapes(lambda n: tf.math.unsorted_segment_sum([1.0], [0], n), I(1))
shapes(lambda x: tf.linalg.tensor_diag_part(x), I())
shapes(lambda b: tf.space_to_batch(tf.ones([2, 2, 2, 1]), b, [[0, 0], [0, 0]]), I(None))
shapes(lambda x: tf.batch_to_space(x, [1], [[0, 0], [0, 0]]), U)
shapes(lambda x: tf.image.draw_bounding_boxes(x, [[[0.1, 0.2, 0.6, 0.7]]], None), S(1, 5, 6, 2))
shapes(lambda x: tf.image.stateless_sample_distorted_bounding_box(x, [[[0.1, 0.2, 0.6, 0.7]]], (1, 2)), I(4))
shapes(lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0.0] * 3, [1.0] * 3), S(2, 4))
shapes(lambda x: tf.image.extract_glimpse(x, [3, 3], [[-1.0, -1.0], [1.0, 1.0]]), S(1, 4, 4, 1))
shapes(lambda a, b: tf.sets.union(a, b), I(2, 3), I(1, 3))
shapes(lambda x: tf.histogram_fixed_width(x, [0.0, 5.0], nbins=0), S(3))
shapes(lambda x: tf.nn.max_pool2d(x, 2, -1, 'SAME'), S(1, 4, 4, 1))
shapes(lambda: tf.ragged.range([0, 1], [5]))
shapes(lambda: tf.identity_n([]))
shapes(lambda x, k: tf.nn.max_pool2d(x, k, 1, 'SAME'), S(1, 4, 4, 1), I(2))
shapes(lambda i, d: tf.dynamic_stitch(i, d), I(1, 1), S(1, 1))
shapes(lambda k: tf.strings.to_hash_bucket_strong('a', 5, k), I(2))
shapes(lambda b, s: tf.image.non_max_suppression(b, s, [1]), S(4, 4), S(4))
shapes(lambda b, s: tf.image.combined_non_max_suppression(b, s, 1, 0), S(1, 4, 1, 4), S(1, 4, 1))
""")

GROUP.family(
    "shapes(lambda d, n: tf.sparse.{name}(d, [0, 1], [0, 0]{count}), {data}, I())",
    name="segment_mean segment_sum segment_sqrt_n",
    count=["", ", num_segments=4", ", num_segments=n"],
    data=["S(3, 2)", "S(None, None)", "U"],
)
GROUP.values("""
shapes(lambda x, f: tf.nn.atrous_conv2d_transpose(x, f, [1, 5, 4, 1], 2, 'SAME'), S(1, 5, 4, 2), S(3, 2, 1, 2))
shapes(lambda x, f: tf.nn.atrous_conv2d_transpose(x, f, [1, 5, 4, 1], 2, 'SAME'), S(None, None, None, 2), S(3, 2, 1, 2))
shapes(lambda x, f, s: tf.nn.atrous_conv2d_transpose(x, f, s, 2, 'SAME'), S(1, 5, 4, 2), S(3, 2, 1, 2), I(4))
shapes(lambda: tf.strings.bytes_split('ab'))
shapes(lambda x: tf.experimental.numpy.diagonal(x), S(None, None, None))
shapes(lambda x: tf.experimental.numpy.diagonal(x), S(2, 3, 4))
""")
GROUP.errors("""
shapes(lambda d, i, s: tf.sparse.segment_sum(d, i, s), S(3, 2), I(3), I(2))
shapes(lambda d, i, s: tf.sparse.segment_sum(d, i, s), S(3, 2), I(3, 1), I(3))
""")

# ---- results ---------------------------------------------------------------------------------------------------------

GROUP.values("""
run(lambda i, k: tf.image.rot90(i, k), c([[[1], [2]]]), c(3))
run(lambda i, k: tf.image.rot90(i, k), c([[[1], [2]]]), c(-2))
unsized(lambda i: tf.image.crop_to_bounding_box(i, 0, 1, 1, 1), c([[[1], [2]]]))
unranked(lambda a: tf.experimental.numpy.moveaxis(a, (0, -1), (-1, 0)), c([[[1, 2]], [[3, 4]]]))
unranked(lambda a, b: tf.experimental.numpy.dot(a, b), c([[1.0, 2.0]]), c([[1.0], [2.0]]))
unranked(lambda a, b: tf.experimental.numpy.dot(a, b), c([[1.0, 2.0]]), c([1.0, 2.0]))
unranked(lambda a, b: tf.experimental.numpy.inner(a, b), c([[1.0, 2.0]]), c(3.0))
unranked(lambda a, b: tf.experimental.numpy.inner(a, b), c([[1.0, 2.0]]), c([[3.0, 1.0]]))
unranked(tf.experimental.numpy.diagonal, c([[1, 2], [3, 4]]))
unranked(tf.experimental.numpy.trace, c([[1, 2], [3, 4]]))
unranked(tf.experimental.numpy.ascontiguousarray, c([[1, 2], [3, 4]]))
unranked(tf.experimental.numpy.ascontiguousarray, c(3))
unranked(tf.experimental.numpy.vander, c([1.0, 2.0]))
sparse_unranked(lambda s: tf.sparse.expand_dims(s, 0), sp)
sparse_unranked(lambda s: tf.sparse.expand_dims(s, -2), sp)
sparse_unranked(lambda s: tf.sparse.split(s, 2, 1), sp)
sparse_unranked(lambda s: tf.sparse.split(s, 2, -1), sp)
sparse_unranked(lambda s: tf.sparse.concat(0, [s, tf.sparse.transpose(s, [1, 0])], expand_nonconcat_dims=True), sp)
unranked(tf.experimental.numpy.ndim, x)
unranked(lambda x, f: tf.nn.conv_transpose(x, f, [1, 4, 1], 2), tf.ones([1, 2, 1]), tf.ones([2, 1, 1]))
type(unranked(tf.nn.isotonic_regression, x)).__name__
""")
GROUP.errors("""
unsized(lambda i: tf.image.crop_to_bounding_box(i, 0, 1, 1, 2), c([[[1], [2]]]))
unranked(tf.experimental.numpy.vander, c([[1.0, 2.0]]))
""")
