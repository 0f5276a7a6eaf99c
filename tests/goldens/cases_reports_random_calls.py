"""What random calls of both libraries brought to light: ragged tiles, windows, static checks, NaN and infinities."""

from goldens.case import Group

GROUP = Group("""
r = tf.ragged.constant([[1, 2], [3], []])
deep = tf.ragged.constant([[[1, 2], [3]], [[4, 5, 6]], []])
inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)

@tf.function
def tile(x, multiples):
    return tf.tile(x, multiples)
""")

GROUP.values("""
tf.tile(r, tf.constant([2, 3]))
tile(r, tf.constant([2, 3]))
tile(r, tf.constant([0, 1]))
tile(r, tf.constant([2, 0], tf.int64))
tile(deep, tf.constant([2, 2, 2]))
tile(deep, tf.constant([1, 3, 1]))
tile(inner, tf.constant([1, 2, 2]))
tile(tf.RaggedTensor.from_uniform_row_length(r, 1), tf.constant([2, 2, 1]))
tf.tile(tf.RaggedTensor.from_uniform_row_length(r, 1), [1, 1, 1])
tile(r.with_row_splits_dtype(tf.int32), tf.constant([1, 2]))
tf.function(lambda n: tf.tile(r, [1, n]))(tf.constant(3))
tile.get_concrete_function(inner, tf.constant([1, 2, 2])).structured_outputs.shape
[tf.math.is_strictly_increasing(deep), tf.math.is_non_decreasing(tf.ragged.constant([[3], [1]]))]
[tf.nn.scale_regularization_loss(tf.constant([1, 2], d)) for d in ("int8", "int32", "uint16", "float16", "bfloat16")]
tf.nn.scale_regularization_loss(np.array([[1, 2], [1, 2]], np.int8))
[f(tf.zeros([1, 5, 4, 2]), 7, 2, "VALID") for f in (tf.nn.max_pool, tf.nn.avg_pool)]
tf.nn.conv2d(tf.zeros([1, 5, 4, 2]), tf.zeros([7, 7, 2, 1]), 2, "VALID")
tf.nn.depthwise_conv2d(tf.zeros([1, 5, 4, 2]), tf.zeros([7, 7, 2, 1]), [1, 2, 2, 1], "VALID")
tf.nn.max_pool3d(tf.zeros([1, 4, 5, 4, 2]), 7, 2, "VALID")
tf.nn.ctc_unique_labels([])
tf.nn.ctc_beam_search_decoder(tf.constant([[[-2.0, np.inf, 0.0]]]), [1], beam_width=4, top_paths=1)[1]
""")

GROUP.errors("""
tf.tile(r, [2, 2, 2])
tile(r, tf.constant([2, 2, 2]))
tile(r, tf.constant([2]))
tf.tile(r, tf.constant(2))
tf.tile(r, [-1, 1])
tile(r, tf.constant([1, -1]))
tf.nn.max_pool(tf.zeros([1, 5, 4, 2]), 7, 1, "VALID")
tf.function(lambda x: tf.nn.max_pool(x, 7, 2, "VALID"))(tf.zeros([1, 5, 4, 2]))
tf.nn.ctc_beam_search_decoder(tf.constant([[[-2.0, np.inf, 0.0]]]), [1], beam_width=4, top_paths=2)
tf.function(lambda x: tf.nn.ctc_unique_labels(x))(tf.zeros([0]))
tf.function(lambda x: tf.conv(x, tf.ones([2, 2, 1, 2]), [1, 1, 1, 1], "SAME", groups=2))(tf.ones([1, 3, 3, 1]))
tf.function(lambda x: tf.conv(x, tf.ones([2, 2, 2, 3]), [1, 1, 1, 1], "SAME", groups=2))(tf.ones([1, 3, 3, 4]))
tf.function(lambda x: tf.conv(x, tf.ones([2, 2, 4, 4]), [1, 1, 1, 1], "SAME", groups=2))(tf.ones([1, 3, 3, 4]))
tf.function(lambda x: tf.conv(x, tf.ones([2, 2, 4, 4]), [1, 1, 1, 1], "SAME", groups=0))(tf.ones([1, 3, 3, 4]))
tf.function(lambda x: tf.tanh(tf.reduce_logsumexp(tf.exp(x), [0, 0])))(tf.ones([2, 3]))
tf.function(lambda x: tf.tanh(tf.math.reduce_variance(tf.exp(x), [1, 1])))(tf.ones([2, 3]))
""")

GROUP.snippets("""
# the static shape of a grouped convolution
f = tf.function(lambda x: tf.conv(x, tf.ones([2, 2, 2, 4]), [1, 1, 1, 1], "SAME", groups=2))
f.get_concrete_function(tf.TensorSpec([1, 3, 3, 4])).structured_outputs.shape
""")

GROUP.snippets(
    """
# a range of another length than the axis
f = tf.function(lambda a: tf.quantization.quantize_and_dequantize_v2(tf.ones([6, 2]), a, a, axis=-2))
f(tf.constant([1.0, 2.0]))

# batches of indices of unknown rank
specs = [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)]
tf.function(lambda p, i: tf.gather_nd(p, i, batch_dims=1), input_signature=specs)(tf.ones([2, 3]), [[[1]], [[0]]])

# an axis named twice in a reduction of rows
f = tf.function(lambda x: tf.exp(x - tf.reduce_max(x, [1, -1], keepdims=True)))
f.get_concrete_function(tf.TensorSpec([None, 3]))(tf.ones([2, 3]))
""",
    raises=True,
)

GROUP.values("""
[tf.nn.fractional_max_pool(tf.reshape(tf.range(64.0), [1, 8, 8, 1]), 1.5, seed=3) for _ in range(2)]
tf.nn.fractional_avg_pool(tf.reshape(tf.range(99.0), [1, 11, 9, 1]), [1.0, 1.3, 2.6, 1.0], True, True, seed=4)
tf.raw_ops.FractionalAvgPool(value=tf.ones([1, 8, 9, 1]), pooling_ratio=[1, 2.5, 1.5, 1], deterministic=True, seed=7)
tf.compat.v1.nn.fractional_max_pool(tf.ones([1, 8, 9, 1]), [1.0, 1.5, 1.5, 1.0], deterministic=True, seed=7, seed2=8)
""")

GROUP.errors("""
tf.compat.v1.nn.fractional_max_pool(tf.ones([1, 8, 9, 1]), [1.0, 1.5, 1.5, 1.0], seed=7)
tf.raw_ops.FractionalMaxPool(value=tf.ones([1, 8, 9, 1]), pooling_ratio=[1.0, 1.5, 1.5, 1.0], seed2=7)
""")

GROUP.values("""
[tf.gather(tf.zeros([3, 0]), [7]), tf.gather(tf.zeros([2, 0, 3]), [7]), tf.gather(tf.zeros([0, 3]), [7], axis=1)]
tf.gather(tf.zeros([2, 3, 0]), [[7], [8]], batch_dims=1)
tf.function(lambda x: tf.gather(x, [7]))(tf.zeros([3, 0]))
tf.nn.embedding_lookup(tf.zeros([0, 0]), tf.ragged.constant([[7], [1, 2]]))
[tf.size(r, out_type=d) for d in (tf.int16, tf.float32, tf.uint8)]
[tf.get_static_value(v) for v in (r, tf.sparse.from_dense([1]), tf.IndexedSlices(tf.ones([1]), tf.constant([0])), 3)]
""")

GROUP.errors("""
tf.gather(tf.zeros([2, 0, 3]), [7], axis=1)
tf.gather(tf.zeros([0]), [7])
""")

GROUP.snippets("""
# a loop whose body gives dicts for tuples
body = lambda i, y: ({"u": i[0] + 1, "v": i[1]}, y)
tf.function(lambda x: tf.while_loop(lambda i, y: i[0] < 2, body, [(0, 1), x]))(3.0)

# a loop whose body gives tuples for lists
tf.function(lambda x: tf.while_loop(lambda i, y: i[0] < 2, lambda i, y: ((i[0] + 1,), y), [[0], x]))(3.0)
""")
