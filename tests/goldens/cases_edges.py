"""Calls at the edges of what functions take, as random draws made them: results, and refusals."""

from goldens.case import Group

GROUP = Group("""
tnp = tf.experimental.numpy
nan, inf = float("nan"), float("inf")
x = tf.ones([2, 3])
line = tf.constant([1.0, 2.0, 3.0])
image = tf.ones([1, 5, 4, 2])
sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
ragged = tf.ragged.constant([[1, 2], [3]])
def gradient(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)
""")

# ---- dtypes of inputs: what the eager fast path of TensorFlow takes, and what it leaves to Python --------------------

GROUP.errors("""
tf.strings.regex_full_match('a', tf.constant(4.0, tf.float64))
tf.strings.regex_full_match(tf.constant('a'), tf.constant(4.0, tf.float64))
tf.strings.join(['a', tf.constant(1.0)])
tf.strings.join([tf.constant('a'), tf.constant(1.0)])
tf.quantization.fake_quant_with_min_max_args(tf.ones([2], tf.float64))
tf.quantization.fake_quant_with_min_max_args_gradient(tf.ones([2], tf.float64), tf.ones([2]), -6.0, 6.0)
tf.raw_ops.ClipByValue(t=tf.ones([2]), clip_value_min=[1.0], clip_value_max=tf.constant(1))
tf.raw_ops.ClipByValue(t=tf.ones([2]), clip_value_min=1.0, clip_value_max=tf.constant(1))
tf.concat([tf.ones([2]), [1, 2], tf.constant([1])], 0)
tf.concat([tf.ones([2]), tf.constant([1])], 0)
tf.concat([tf.ones([2]), tf.Variable([1])], 0)
tf.raw_ops.Select(condition=[True], x=tf.ones([1]), y=tf.ones([1], tf.int32))
tf.raw_ops.Pack(values=np.ones([2, 2]))
tf.dynamic_stitch(np.array([1, 2]), [tf.ones([2, 3]), tf.ones([2, 3])])
tf.nn.compute_accidental_hits(tf.constant([[1], [-1]]), tf.constant([2, 5, 1]), 1)
tf.nn.compute_accidental_hits([[1], [-1]], tf.constant([2, 5, 1]), 1)
tf.nn.dilation2d(image, tf.ones([2, 2, 2]), tf.constant([1, 1, 1, 1]), 'SAME', 'NHWC', [1] * 4)
tf.nn.erosion2d(image, tf.ones([2, 2, 2]), [1] * 4, 'SAME', 'NHWC', tf.constant([1] * 4))
tf.gather(ragged, tf.constant([0, 1], tf.uint32))
tf.gather(ragged, tf.ragged.constant([[0.5]]))
""")
GROUP.values("""
tf.stack(np.ones([2, 2]))
tf.raw_ops.Pack(values=tf.Variable([1.0, 2.0]))
tf.nn.compute_accidental_hits([[1], [-1]], np.array([2, 5, 1], np.int32), 1)
tf.nn.conv1d(tf.ones([1, 5, 2]), tf.ones([3, 2, 2]), 1, np.str_('SAME'))
tf.linspace(tf.constant(1, tf.int8), tf.constant(4, tf.int8), 5)
tf.linspace(np.int16(1), np.int16(4), 5)
tf.linspace(tf.constant(1, tf.uint16), tf.constant(4, tf.uint16), 5)
""")

# ---- attrs that are None ---------------------------------------------------------------------------------------------

GROUP.errors("""
tf.io.deserialize_many_sparse(['a'], None)
tf.raw_ops.Cast(x=1, DstT=None)
tf.raw_ops.MaxPool(input=image, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding=None)
tf.raw_ops.StringToHashBucketFast(input='a', num_buckets=None)
tf.io.decode_raw('a', None)
tf.bitcast(1, None)
tf.quantization.quantize([1.0], 0.0, 1.0, None)
tf.image.decode_jpeg(b'abc', dct_method=b'\\xff')
""")
GROUP.values("""
tf.raw_ops.FakeQuantWithMinMaxArgs(inputs=1.0, min=None)
tf.strings.to_number('1', None)
tf.argmax([1.0], output_type=None)
""")

GROUP.errors("""
tf.reshape([1], tf.float32)
tf.strings.reduce_join([['a']], tf.constant([0, 1], tf.uint16))
tf.required_space_to_batch_paddings([5], tf.constant(['2']))
tf.required_space_to_batch_paddings([5], tf.constant([2], tf.int64))
tf.broadcast_to([1], tf.float32)
tf.slice(tf.ones([3, 3]), tf.float32, [2, 2])
tf.random.stateless_normal(tf.float32, [1, 2])
tf.dynamic_stitch([[6]], [[1, 1], [[2, 2], [3, 3]]])
tf.dynamic_stitch([tf.constant([6])], [tf.ones([1]), tf.ones([1])])
tf.strings.to_hash_bucket_strong('a', 5, tf.constant([1, 2]))
tf.random.stateless_gamma([5], [1, 2], alpha=0.0, dtype=tf.uint8)
""")

# ---- NumPy's functions -----------------------------------------------------------------------------------------------

GROUP.errors("""
tnp.sqrt(sparse)
tnp.asarray(ragged)
tnp.add(ragged, 1)
tnp.matmul(tf.ones([1]), tf.ones([4, 3]) > 0)
tnp.linspace(tf.constant(1), 2, 3)
tnp.linspace([1, 2], 2, 3)
tnp.hypot(tf.ones([2], tf.float64), tf.ones([2]))
tnp.trace(1 + 2j)
tnp.take_along_axis([1, 2], [2, 0], axis=[])
""")
GROUP.values("""
tnp.result_type(sparse)
tnp.linspace(np.array([1, 2]), 2, 3)
tnp.allclose([[1] * 3] * 2, [[1] * 3] * 4)
tnp.take_along_axis([1, 2], [1, 0], axis=-1)
""")

# ---- assertions ------------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.debugging.assert_less(tf.constant([1.0], tf.float64), 2.0)
tf.debugging.assert_less(2.0, tf.constant([1.0], tf.float64))
tf.debugging.assert_equal(tf.constant([1], tf.int64), 1)
tf.debugging.assert_equal(tf.constant([1], tf.int64), np.array([1], np.int32))
tf.debugging.assert_greater([tf.constant(2, tf.int64), 3], tf.constant([1, 2]))
tf.debugging.assert_near(1, tf.constant([1.0]))
tf.compat.v1.assert_equal(tf.constant([1.0]), 1)
""")
GROUP.values("""
tf.debugging.assert_near(tf.constant([1.0]), 1)
""")

# ---- arrays ----------------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.reverse(tf.zeros([2]), [3])
tf.constant([1, 2, 3, 4], shape=[2, None])
tf.constant([1, 2, 3, 4], shape=tf.TensorShape([None]))
tf.constant([1, 2, 3, 4], shape=[2.0, 2.0])
tf.meshgrid([1, 2], [3, np.array([4]), 5])
tf.meshgrid([1, 2], [[1, 2], [3]])
tf.meshgrid(tf.float32, 1)
tf.eye(np.float32(2))
tf.sparse.eye({}, 3)
tf.sparse.eye(2, tf.Variable(3))
tf.sparse.eye(2.5)
tf.sparse.fill_empty_rows(tf.SparseTensor(tf.zeros([0, 0], tf.int64), tf.zeros([0]), tf.zeros([0], tf.int64)), 1.0)
tf.sort([3.5], [0])
tf.sort([3.5], ['a', 1])
tf.argsort([3.5], tf.constant([0]))
tf.SparseTensor([[0]], [1.0], [[2]])
tf.SparseTensor([[0]], [1.0], 2)
tf.sparse.segment_sum(tf.ones([3, 1]), tf.constant([0, 1]), tf.constant(0), num_segments=4)
tf.sparse.segment_sum(x, tf.constant(1), tf.constant([0, 0, 2]), num_segments=4)
tf.sparse.segment_mean(x, tf.constant(1), tf.constant([0]))
tf.sparse.segment_sqrt_n(x, tf.constant([1]), tf.constant(0), num_segments=2)
tf.SparseTensor([[0]], [1.0], [[3, 4], [3, 4]])
tf.ragged.stack([[1, 2], [3]], axis=np.array(1))
tf.ragged.stack([], axis=1)
tf.ragged.stack_dynamic_partitions([1.0, 2.0, 3.0, 4.0], [1, 0, 5], 2)
tf.ragged.stack_dynamic_partitions(ragged, [1, 0, 0], 2)
tf.sparse.cross_hashed([tf.SparseTensor([[0, 0]], ["a"], [n, 3]) for n in (2, 2**62)])
tf.strings.unicode_decode('a', 'UTF-8', replacement_char=-1)
tf.strings.unicode_split('a', 'UTF-8', replacement_char=2**21)
tf.strings.unicode_encode([97], 'UTF-8', replacement_char=-1)
tf.strings.unicode_transcode('a', 'UTF-8', 'UTF-8', replacement_char=0x110000)
""")
GROUP.values("""
tf.reverse(tf.zeros([0]), [3])
tf.reverse(tf.zeros([0, 2]), [1, 1])
tf.constant(1, shape=tf.constant(2))
tf.tuple(tf.ones([2]))
tf.tile(ragged, tf.constant([1, 2]))
tf.tile(ragged, tf.constant([2, 1]))
tf.tuple((tf.ones([2]), [1, 2]))
tf.eye(tf.constant(2.0))
tf.eye(2, tf.constant(3.5))
tf.io.serialize_tensor(True)
tf.io.serialize_tensor([1.5])
tf.io.serialize_tensor(tf.constant(1.5, tf.float16))
tf.io.serialize_tensor(tf.constant([1.5], tf.bfloat16))
tf.io.serialize_tensor(tf.constant([1 + 2j]))
tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([1.5], tf.bfloat16)), tf.bfloat16)
""")

# ---- mathematics -----------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.norm(x, axis=tf.constant(1))
tf.norm(x, axis=np.array([0, 1]))
tf.norm(x, axis=(0,))
tf.norm(x, axis=1 + 2j)
tf.linalg.normalize(x, axis=1.5)
tf.norm(tf.constant([['a']]))
tf.norm(tf.constant([[True]]), 1)
tf.ragged_fill_empty_rows_grad([1], tf.ones([2, 2]))
tf.nn.conv_transpose(tf.ones([1, 2, 1]), tf.ones([1, 1, 1]), [1, 4], strides=2)
tf.linalg.lu_solve(tf.eye(3), tf.constant([0, 1, 2]), tf.ones([2, 1]))
tf.linalg.lu_solve(tf.eye(3), tf.constant([0, 1, 2]), tf.ones([4, 1]))
tf.linalg.lu_reconstruct(tf.eye(3), tf.constant([0, 1]))
tf.linalg.matrix_rank(1)
tf.linalg.tridiagonal_solve(tf.zeros([0, 3]), tf.ones([3, 2]))
tf.linalg.tridiagonal_solve(tf.zeros([2, 3]), tf.ones([3, 2]))
tf.signal.rfft(tf.ones([4]), [-1])
tf.signal.frame(tf.ones([15]), 4, tf.constant(3, tf.int64))
tf.signal.frame(tf.ones([15]), tf.constant(4, tf.int64), 3)
tf.signal.frame(tf.ones([15]), -1, 3)
tf.signal.rfft(tf.ones([4]), True)
tf.signal.rfft(tf.ones([4]), [[4]])
tf.signal.rfft(tf.ones([4]), tf.constant([4], tf.int64))
tf.signal.rfft2d(tf.ones([4, 4]), [2, -3])
tf.signal.irfft2d(tf.ones([5, 5, 5], tf.complex64), [-2, 4, 4])
tf.signal.fftnd(tf.ones([4, 4], tf.complex64), axes=1)
tf.signal.fftnd(tf.ones([4, 4], tf.complex64), 4)
tf.signal.fftnd(tf.ones([4, 4]), [[1, 2], [3]])
""")
GROUP.values("""
tf.norm(x, axis=[0, 1])
tf.norm(x, axis=True)
tf.math.polyval([], [nan, 1.0])
tf.math.polyval([], 'a')
tf.linalg.lu_solve(tf.eye(3), tf.constant([0, 1, 2], tf.int16), tf.ones([3, 1]))
tf.linalg.lu_reconstruct(np.eye(2), [0, 1])
tf.linalg.matrix_rank([[1, 1], [1, 1]])
tf.gather(line, tf.constant([1, 0], tf.int16))
tf.signal.inverse_mdct(tf.zeros([2, 0]), norm='ortho')
tf.signal.inverse_mdct(tf.zeros([0, 0]))
tf.signal.frame(tf.ones([15]), 3, -1)
tf.signal.stft(tf.ones([2, 15]), 4, -3)
gradient(tf.math.digamma, [inf, -inf, nan, 1e-30, -1.0])
tf.math.polygamma(1.0, [inf, 1e30, 0.0])
""")

GROUP.errors("""
tf.nn.ctc_beam_search_decoder(tf.zeros([2, 0, 3]), [2], beam_width=4, top_paths=2)
tf.nn.ctc_greedy_decoder(tf.zeros([0, 1, 3]), tf.zeros([1], tf.int32))
tf.nn.max_pool_with_argmax(tf.zeros([1, 0, 4, 2]), 2, 2, 'VALID')
""")
GROUP.values("""
tf.quantization.fake_quant_with_min_max_args_gradient([1.0, inf, -inf, nan], [1.0, -2.0, 7.0, 8.0], -1.0, 2.0)
tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, -inf, nan], [1.0, -2.0, 5.0], -1.0, 2.0)[:]
tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(*[tf.zeros([2, 0])] * 2, *[tf.zeros([0])] * 2)[:]
""")

# ---- images ----------------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.image.adjust_gamma(tf.ones([2, 2, 1]), nan)
tf.image.adjust_gamma(tf.ones([2, 2, 1]), tf.constant(-1.0))
tf.image.adjust_gamma(tf.ones([2, 2, 1]), [1.0])
tf.image.ssim(np.float32(1), np.float64(1), 1.0)
tf.image.resize(tf.zeros([4, 6, 0]), [7, 9], 'bicubic')
tf.image.resize(tf.zeros([4, 6, 0]), [7, 9], 'nearest')
tf.image.resize(tf.zeros([4, 6, 1]), [1.5, 2])
""")
GROUP.values("""
tf.image.stateless_random_flip_left_right(tf.constant([[[[inf], [1.0]]], [[[2.0], [nan]]]]), [3, -1])
tf.image.adjust_hue(tf.constant([[[4, 207, 232], [154, 186, 138], [9, 9, 9]]], tf.uint8), 1.0)
tf.image.adjust_hue(tf.constant([[[0.1, 0.5, 0.5], [0.7, 0.7, 0.2], [0.0, 0.3, 1.0]]]), -0.3)
tf.image.stateless_random_flip_up_down(tf.cast(tf.reshape(tf.range(8), [2, 2, 2, 1]), tf.uint8), [3, -1])
""")
