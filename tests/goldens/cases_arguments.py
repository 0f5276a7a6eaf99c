"""Arguments that ops refuse, by who looks at them: attrs first, then the dtypes of inputs, shapes in the end. And what
gradients are at singular points.
"""

from goldens.case import Group

GROUP = Group("""
x = tf.constant([1.0, 2.0])
i = tf.constant([1, 2], tf.int64)
b = tf.constant([True, False])
s = tf.constant(["a"])
image = tf.zeros([1, 1, 1, 1])
p = tf.constant([0, 1, 2])
def gradients(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)
""")

# ---- attrs ---------------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.raw_ops.MaxPool(input=x, ksize=tf.constant([1, 1, 1, 1]), strides=[1, 1, 1, 1], padding='VALID')
tf.raw_ops.MaxPool(input=s, ksize=[1, 1, 1, 1], strides=1, padding='x')
tf.raw_ops.MaxPool(input=s, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding='x')
tf.raw_ops.MaxPool(input=[['a'], [1]], ksize=[1, 'a', 1, 1], strides=[1, 1, 1, 1], padding='x')
tf.raw_ops.MaxPool(input=x, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding=1)
tf.raw_ops.MaxPool(input=x, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding=tf.constant('VALID'))
tf.raw_ops.MaxPool(input=x, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding='VALID', data_format=3)
tf.raw_ops.Squeeze(input=x, axis=0)
tf.raw_ops.Squeeze(input=x, axis=tf.constant([0]))
tf.raw_ops.LRN(input=image, depth_radius='a')
tf.raw_ops.LRN(input=image, depth_radius=[1])
tf.raw_ops.LRN(input=image, bias='a')
tf.raw_ops.LRN(input=image, bias=1j)
tf.raw_ops.Cast(x=x, DstT='foo')
tf.raw_ops.Cast(x=[[1], [1, 2]], DstT='foo')
tf.nn.moments(x, tf.constant([0]))
tf.nn.max_pool1d(tf.zeros([1, 2, 1]), 1, tf.constant(1), 'SAME')
tf.strings.unicode_transcode('a', 1j, 'UTF-8')
tf.io.decode_bmp('a', np.str_('0'))
""")
GROUP.values("""
tf.raw_ops.LRN(input=image, depth_radius=None, bias=None)
tf.raw_ops.LRN(input=image, depth_radius=tf.constant(1))
tf.squeeze([[1, 2]], np.int64(0))
""")

# ---- attrs that the public functions convert -------------------------------------------------------------------------

GROUP.values("""
[tf.reduce_sum([[1, 2]], 1, keepdims=k) for k in (None, 0, 2, '', 'a', [], [0], np.array([1]), np.bool_(True))]
[f([[1.0, 2.0]], 1, keepdims=2) for f in (tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod)]
[f([[True, False]], 1, keepdims=tf.constant(1)) for f in (tf.reduce_all, tf.reduce_any)]
[f([[1.0, 2.0]], 1, np.float64(0.5)) for f in (tf.math.reduce_euclidean_norm, tf.reduce_logsumexp, tf.math.reduce_std)]
tf.function(lambda: tf.reduce_sum(x, 0, keepdims=2))()
tf.reduce_sum(tf.ragged.constant([[1, 2], [3]]), 1, keepdims=2)
""")
GROUP.errors("""
tf.reduce_sum(x, 0, keepdims=np.array([1, 2]))
tf.function(lambda k: tf.reduce_max(x, 0, keepdims=k), autograph=False)(tf.constant(True))
tf.raw_ops.Sum(input=x, axis=0, keep_dims=2)
tf.raw_ops.Max(input=x, axis=0, keep_dims=np.bool_(True))
""")

# ---- dtypes of inputs ------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.raw_ops.LogicalAnd(x=i, y=b)
tf.raw_ops.LogicalAnd(x=i, y=[True])
tf.raw_ops.LogicalAnd(x=i, y=True)
tf.raw_ops.LogicalAnd(x=i, y=np.array([True]))
tf.raw_ops.LogicalAnd(x=[True], y=i)
tf.raw_ops.All(input=x, axis=[0])
tf.raw_ops.All(input=x, axis=0)
tf.raw_ops.All(input=x, axis=np.int32(0))
tf.raw_ops.Select(condition=i, x=x, y=[1.0, 2.0])
tf.raw_ops.Select(condition=i, x=x, y=i)
tf.raw_ops.Sum(input=x, axis=0.5)
tf.raw_ops.Sum(input=x, axis=[0.5])
tf.raw_ops.Sum(input=x, axis=tf.constant(0.5))
tf.raw_ops.Sum(input=x, axis='a')
tf.raw_ops.Sum(input=x, axis={})
tf.raw_ops.Sum(input=x, axis=1j)
tf.raw_ops.TopKV2(input=x, k=1.0)
tf.raw_ops.ArgMax(input=x, dimension=tf.constant(0, tf.uint8))
tf.raw_ops.ReverseV2(tensor=x, axis=tf.constant([0], tf.int16))
tf.raw_ops.Reshape(tensor=x, shape=tf.constant([2], tf.int16))
tf.linalg.trace(['a'])
tf.nn.in_top_k(b, tf.zeros([2, 3]), 2)
tf.raw_ops.DynamicStitch(indices=tf.constant([[0]]), data=[[1.0]])
tf.ragged_fill_empty_rows_grad(tf.constant([1]), x)
tf.ragged_fill_empty_rows_grad(tf.constant([1]), [2.0, 3.0])
tf.io.parse_tensor(tf.constant(1), tf.int32)
tf.io.parse_tensor(1, tf.int32)
tf.signal.fftnd(tf.zeros([2, 2]))
tf.signal.ifftnd(tf.zeros([2, 2]), norm='x')
tf.io.parse_example('a', [1.0, 2.0])
tf.io.parse_example('a', tf.constant(1.0))
tf.io.parse_single_example('a', tf.constant(1.0))
tf.io.parse_single_example(3, [])
tf.SparseTensor(tf.constant(0, tf.int64), tf.constant(1), tf.constant(3, tf.int64))
tf.SparseTensor([[0, 0]], [1], [-5, 3])
""")
GROUP.values("""
tf.linalg.diag(b)
tf.linalg.diag_part(tf.constant([[True, False], [False, True]]))
tf.raw_ops.ReverseV2(tensor=x, axis=np.array([0], np.int16))
""")

GROUP.errors("""
tf.ragged.cross({})
tf.ragged.cross([[[1.0]]])
tf.ragged.cross_hashed([tf.constant([[True]])])
tf.sparse.cross('')
tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5], out_type=tf.uint8)
tf.ragged.segment_ids_to_row_splits(tf.constant([0, 2], tf.int16))
tf.ragged.segment_ids_to_row_splits([0.5])
tf.ragged_fill_empty_rows(tf.constant([1, 1]), [5, 7], 3, 0)
tf.ragged_fill_empty_rows([1.0, 1], [5, 7], 3, 0)
tf.signal.hann_window(i[0])
tf.linalg.trace(tf.constant([[True]]))
tf.io.encode_png(np.zeros([1, 1, 3], np.int16))
""")
GROUP.values("""
tf.eye(tf.constant(2, tf.uint8))
tf.matmul(tf.ones([2, 2], tf.int32), np.ones([2, 2]))
tf.convert_to_tensor(np.float32(1.5), dtype_hint=tf.int32)
tf.reduce_sum(tf.ones([2, 2]), np.float32(1.5))
tf.reshape(tf.ones([4]), np.array([2.0, 2.0]))
tf.one_hot(np.array([1.0]), 3)
tf.tile(x, np.array([2.5]))
tf.vectorized_map(tf.signal.hamming_window, tf.constant([1, 1]))
tf.io.serialize_many_sparse(tf.sparse.from_dense([['', 'x', 'yy']]))
""")

# ---- shapes ----------------------------------------------------------------------------------------------------------

GROUP.family(
    "tf.image.{f}(tf.zeros([{shape}]){rest})",
    raises=True,
    f="flip_up_down flip_left_right transpose rot90",
    shape=["", "3", "2, 3", "0, 2, 3", "2, 2, 0", "1, 0, 2, 3", "1, 1, 2, 2, 3"],
    rest=[""],
)
GROUP.family(
    "tf.image.{f}(tf.zeros([{shape}]){rest})",
    raises=True,
    f="pad_to_bounding_box",
    shape=["", "2, 3", "2, 2, 0", "1, 1, 2, 2, 3"],
    rest=[", 0, 0, 5, 5"],
)
GROUP.errors("""
tf.image.per_image_standardization(tf.zeros([2, 3]))
tf.image.resize_with_pad(tf.zeros([0, 2, 3]), 3, 3)
tf.image.central_crop(tf.zeros([2, 2, 0]), 0.5)
tf.image.rgb_to_yuv(tf.zeros([2, 3], tf.int32))
tf.image.grayscale_to_rgb(tf.constant(1.0))
tf.linalg.lu_reconstruct(tf.eye(3)[:2], p)
tf.linalg.lu_reconstruct(tf.eye(3), [p])
tf.nn.isotonic_regression(tf.ones([2, 3]), axis=-4)
tf.nn.max_pool2d(tf.ones([1, 5, 4, 2]), 2, tf.constant(1), 'SAME')
tf.nn.depthwise_conv2d([1, 1, 1], tf.ones([3, 2, 2, 3]), 1, 'SAME')
tf.ragged_fill_empty_rows(tf.constant([1], tf.int64), [5, 7], 3, 0)
tf.io.serialize_many_sparse(tf.SparseTensor([[0, 0], [1, 1]], [1, 3], [1, 3]))
tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1], [0, 1]], [1, 3], [1, 3]))
tf.linalg.lu_solve(tf.eye(3, batch_shape=[2]), p, tf.ones([3, 2]))
""")
GROUP.values("""
tf.nn.isotonic_regression(tf.zeros([0]))
tf.nn.isotonic_regression(tf.zeros([3, 0]))
tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, 2.0], [-5.0, 7.0], 0.0, 6.0)._fields
""")

# ---- gradients -------------------------------------------------------------------------------------------------------

GROUP.family(
    "tf.raw_ops.{op}(y=tf.constant({y}, tf.{dtype}), dy=tf.constant([0.0, -0.0, 0, 0], tf.{dtype}))",
    op="SqrtGrad RsqrtGrad ReciprocalGrad",
    y=["[0.0, -0.0, float('inf'), float('nan')]"],
    dtype="float32 float64 float16 complex64",
)
GROUP.values("""
gradients(lambda x: tf.sqrt(x) * [0.0, 0.0, 1.0], tf.constant([0.0, -1.0, 4.0]))
gradients(tf.clip_by_value, x, tf.constant([3.0, 0.0]), tf.constant([2.0, 1.0]))
gradients(lambda *p: tf.random.stateless_parameterized_truncated_normal([3], [1, 2], *p), 0.5 * x[0], x[1], -x[0], x[1])
gradients(lambda m, n: tf.random.stateless_parameterized_truncated_normal([3, 2], [1, 2], m, 1.0, -1.0, n), x, x + 3)
gradients(tf.clip_by_value, tf.constant([1.0, float('nan'), 3.0]), tf.constant(0.0), tf.constant(2.0))
""")
GROUP.errors("""
tf.eye(2**63 - 1)
tf.eye(2, 2**62)
gradients(tf.nn.softmax_cross_entropy_with_logits, tf.constant([[0.2, 0.8], [0.5, 0.5]]), tf.constant([[1.0, 2.0]]))
gradients(tf.nn.softmax_cross_entropy_with_logits, tf.constant([[0.2, 0.8]]), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
""")
GROUP.values("""
tf.nn.softmax_cross_entropy_with_logits(tf.constant([[0.2], [0.5]]), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
""")
GROUP.family(
    "tf.eye({size}, dtype=tf.{dtype})", size="2 2,3", dtype="uint8 uint16 uint32 uint64 bfloat16 bool complex64"
)
