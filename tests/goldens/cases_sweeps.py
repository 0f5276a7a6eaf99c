"""Calls that sweeps over the recorded ones found to differ: one hostile change at a time, eagerly and in functions."""

from goldens.case import Group

GROUP = Group("""
inf, nan = float("inf"), float("nan")
half = tf.constant([0.0, 1.5], tf.float16)
Z = tf.zeros
def S(indices, values, shape):
    rows = np.array(indices, np.int64).reshape(len(indices), len(shape))
    return tf.SparseTensor(rows, values, np.array(shape, np.int64))
def parts(sparse):
    return tf.nest.flatten(sparse, expand_composites=True)
def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)
def run(function, *args):
    return traced(function, *[tf.TensorSpec(a.shape, a.dtype) for a in args])(*args)
def unranked(function, *args):
    return traced(function, *[tf.TensorSpec(None, a.dtype) for a in args])(*args)
def shapes(function, *specs):
    outputs = tf.nest.flatten(traced(function, *specs).structured_outputs, expand_composites=True)
    return [str(o.shape) for o in outputs]
ROWS = tf.RaggedTensorSpec([None, None])
I = lambda *values: tf.constant(values)
U, UI = tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)
VECTOR, CUBE = tf.TensorSpec([None], tf.int32), tf.TensorSpec([None] * 3, tf.int32)
def atrous(x, k):
    return tf.nn.atrous_conv2d(x, k, 2, 'SAME')
def transposed(x, k, shape=(1, 5, 4, 1), rate=2, padding='SAME'):
    return tf.nn.atrous_conv2d_transpose(x, k, shape, rate, padding)
ramp = lambda *shape: tf.reshape(tf.range(float(np.prod(shape))), shape)
ctc = lambda logits, **options: tf.nn.ctc_loss([[0, 1]], logits, [2], [4], False, **{'blank_index': -1, **options})
dilated = lambda x, k, rate: tf.nn.dilation2d(x, k, [1] * 4, 'SAME', 'NHWC', [1, rate, 2, 1])
""")

# ---- convolutions of nothing, and with gaps --------------------------------------------------------------------------

GROUP.values("""
tf.nn.conv2d(Z([1, 2, 2, 2]), Z([1, 1, 2, 0]), 1, 'SAME').shape
tf.nn.conv2d(Z([1, 2, 2, 0]), Z([1, 1, 2, 2]), 1, 'SAME').shape
shapes(lambda: tf.nn.depthwise_conv2d(Z([1, 2, 2, 0]), Z([2, 2, 0, 2]), [1] * 4, 'SAME'))
tf.nn.atrous_conv2d(ramp(1, 5, 4, 2), ramp(2, 2, 2, 2), 2, 'SAME')
transposed(ramp(1, 5, 4, 2), ramp(3, 2, 1, 2))
transposed(ramp(1, 3, 3, 2), ramp(3, 2, 1, 2), [1, 9, 6, 1], 3, 'VALID')
transposed(ramp(1, 3, 3, 2), ramp(3, 2, 1, 2), tf.constant([1, 7, 5, 1]), 2, 'VALID')
transposed(ramp(1, 3, 3, 2), ramp(3, 2, 1, 2), [1, 5, 4, 1], 1, 'VALID')
shapes(lambda x, k: transposed(x, k), tf.TensorSpec([1, 5, None, 2]), tf.TensorSpec([3, 2, 1, 2]))
dilated(ramp(1, 3, 3, 2), Z([0, 2, 2]), 2)
dilated(ramp(1, 3, 3, 2), ramp(2, 2, 2), 0)
tf.nn.erosion2d(ramp(1, 3, 3, 2), Z([0, 2, 2]), [1] * 4, 'SAME', 'NHWC', [1] * 4)
""")
GROUP.errors("""
run(lambda x, k: tf.nn.conv2d(x, k, 1, 'SAME'), Z([1, 2, 2, 0]), Z([1, 1, 2, 2]))
run(lambda x, k: tf.nn.conv1d(x, k, 1, 'SAME'), Z([1, 2, 2]), Z([0, 2, 2]))
run(lambda x: tf.nn.max_pool2d(x, 1, 1, 'VALID'), Z([1, 2, 2, 0]))
tf.nn.convolution(Z([]), Z([2, 2, 2]))
tf.nn.conv1d(Z([2, 2]), Z([1, 2, 2]), 1, 'SAME')
tf.nn.conv_transpose(Z([]), Z([3, 2, 1, 2]), [1, 10, 8, 1], 2)
run(lambda x, k: tf.nn.conv2d_transpose(x, k, [1, 11, 8, 1], 3), Z([1, 4, 3, 2]), Z([3, 2, 2, 2]))
atrous(Z([]), Z([2, 2, 2, 2]))
atrous(Z([1, 5, 4, 2]), Z([2, 2, 0, 2]))
atrous(Z([1, 5, 4, 3]), Z([2, 2, 2, 2]))
tf.nn.atrous_conv2d(Z([1, 5, 4, 2]), Z([2, 2, 2, 2]), 0, 'SAME')
tf.nn.atrous_conv2d(Z([1, 5, 4, 2]), Z([2, 2, 2, 2]), 2, 'FULL')
tf.nn.atrous_conv2d(Z([1, 5, 4, 2]), Z([2, 2, 2, 2]), 1, 'FULL')
transposed(Z([1, 5, 4, 2]), Z([3, 2, 0, 2]))
transposed(Z([1, 1, 5, 4, 2]), Z([3, 2, 1, 2]))
transposed(Z([1, 6, 4, 2]), Z([3, 2, 1, 2]))
run(transposed, Z([1, 0, 4, 2]), Z([3, 2, 1, 2]))
transposed(Z([1, 5, 4, 2]), Z([3, 2, 1, 2]), rate=0)
transposed(Z([1, 5, 4, 2]), Z([3, 2, 1, 2]), [1, 5, 4])
""")

# ---- what settles a dtype --------------------------------------------------------------------------------------------

GROUP.errors("""
tf.add([1.0, 2.0], half)
tf.add([1, 2], half)
tf.add(np.array([1.0, 2.0]), half)
tf.nn.sigmoid_cross_entropy_with_logits([1.0, 2.0], half)
tf.nn.sigmoid_cross_entropy_with_logits([-1], [1.0])
tf.nn.weighted_cross_entropy_with_logits([1, 2], [1.0, 2.0], 1.0)
tf.linalg.expm(tf.constant([1, 1, 1], tf.uint8))
tf.linalg.expm(tf.constant(1))
run(lambda: tf.linalg.expm(tf.ones([2, 2], tf.uint8)))
tf.strings.split(tf.constant(0.5), sep=1)
tf.strings.ngrams(tf.ragged.constant([[1, 2]]), 2)
tf.strings.ngrams(['a', 'b'], np.int32(-3))
tf.concat([I(1, 2)], [0])
tf.concat([I(1, 2)], 1.5)
tf.concat([I(1, 2)], None)
tf.concat([I(1, 2)], 'a')
""")
GROUP.values("""
tf.add(half, [1.0, 2.0])
[1.0, 2.0] + half
tf.concat([I(1, 2)], 5)
run(lambda: tf.nn.batch_normalization(half, 0.5, half + 1, None, None, 0.001))
run(lambda: tf.nn.batch_normalization(half, half, half + 1, [1.0, 2.0], [0.5, 1.0], 0.001))
tf.strings.ngrams(['a', 'b'], tf.constant(1))
ctc(tf.cast(ramp(1, 4, 3) / 5, tf.float16))
""")

# ---- no elements -----------------------------------------------------------------------------------------------------

GROUP.family("tf.{op}(Z([0], tf.int32), 0)", op="math.floordiv math.floormod truncatediv truncatemod")
GROUP.values("""
ctc(Z([1, 0, 3]))
ctc(ramp(1, 4, 3), blank_index=5)
tf.fill([2], np.array([1.5]))
tf.nn.weighted_moments(Z([2, 0, 4]), [1, 2], tf.constant(0.5), keepdims=True)[:]
tf.nn.weighted_moments(tf.ones([2, 3, 4]), [1, 2], tf.constant(0.0), keepdims=True)[:]
tf.sparse.to_dense(S([], tf.constant([], tf.string), []), '-')
tf.signal.rfft(Z([2, 3, 0]), [4]).shape
tf.signal.rfft2d(Z([2, 2, 3, 0]), [2, 4]).shape
tf.signal.dct(Z([2, 0]), 4, norm='ortho')
""")
GROUP.errors("""
tf.gather_nd(Z([2, 3, 0]), [[0, 1], [1, 2]])
tf.signal.fft3d(Z([0, 4], tf.complex64))
tf.signal.rfft3d(Z([0, 4, 3, 2]), [2, 3, 3])
run(lambda x: tf.signal.rfft(x, [4]), Z([0, 2, 2]))
tf.signal.inverse_mdct(Z([0, 2]))
tf.signal.dct(Z([2, 0]), 1)
tf.pad(Z([0, 4]), [[0, 0], [1, 1]], 'REFLECT')
tf.image.sobel_edges(Z([0, 4, 5, 2]))
tf.extract_volume_patches(Z([1, 0, 4, 3, 2]), [1, 2, 2, 2, 1], [1] * 5, 'VALID')
run(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, 'VALID'), Z([1, 0, 4, 2]))
tf.strings.unsorted_segment_join(['a', 'b'], tf.constant(0), 2)
tf.unstack(5, num=3)
unranked(lambda x: tf.unstack(x, num=3), Z([]))
""")

# ---- special values --------------------------------------------------------------------------------------------------

GROUP.family("tf.tensor_scatter_nd_{op}([nan, 2.0, 3.0], [[0], [1], [2]], [1.0, nan, 9.0])", op="max min")
GROUP.values("""
tf.math.erfinv([1e-30, 1e-8, -3e-8, 1e-7, -2e-7, 1e-3])
tf.math.erfinv(tf.constant([1e-20, 1e-10, -1e-9], tf.float64))
tf.math.betainc(tf.constant(1e300, tf.float64), tf.constant(3.0, tf.float64), tf.constant(0.5, tf.float64))
tf.math.zeta([inf, 3e38], [1.5, 1.5])
""")

# ---- sparse tensors whose indices are not sorted, not different or not inside ----------------------------------------

SUMS = [
    "S([[0], [0], [1]], [1.0, 2.0, 3.0], [3]), S([[0]], [-1.0], [3])",
    "S([[0], [0], [1]], [1.0, 2.0, 3.0], [3]), S([[0], [0]], [10.0, 20.0], [3])",
    "S([[1], [0]], [1.0, 2.0], [3]), S([[2], [1]], [10.0, 20.0], [3])",
]
OUTSIDE = "S([[2 ** 62, 0], [1, -1], [2, 1]], [1.0, 2.0, 3.0], [3, 4])"
GROUP.family("parts(tf.sparse.{op}({both}))", op="add minimum maximum", both=SUMS)
GROUP.family("parts(tf.sparse.add({both}, 2.5))", both=SUMS)
GROUP.family(
    "parts(tf.sparse.{call})", call=[
        f"add({OUTSIDE}, S([[0, 0]], [-1.0], [3, 4]))", f"softmax({OUTSIDE})", f"reduce_max({OUTSIDE})",
        f"reduce_sum({OUTSIDE}, 0, output_is_sparse=True)", f"reduce_sum({OUTSIDE}, output_is_sparse=True)",
        "reduce_sum(S([[5, 0]], [1.0], [3, 4]), 0)", f"reduce_sum({OUTSIDE}, 0, True, True)",
    ],
)  # fmt: skip
GROUP.family(
    "tf.sparse.{call}", raises=True, call=[
        f"minimum({OUTSIDE}, S([[0, 0]], [-1.0], [3, 4]))", f"maximum(S([[0, 0]], [-1.0], [3, 4]), {OUTSIDE})",
        f"reduce_sum({OUTSIDE}, 0)", "add(S([[]], [1.0], []), S([[]], [1.0], []))",
    ],
)  # fmt: skip

# ---- ragged axes -----------------------------------------------------------------------------------------------------

GROUP.family(
    "tf.{call}", raises=True, call=[
        "ragged.stack([1], axis=1)", "ragged.stack([1, 2], axis=-2)",
        "reduce_all(tf.ragged.constant([[True]]), I(0)[0])",
        "reduce_sum(tf.ragged.constant([[1]]), np.int64(0))", "expand_dims(tf.ragged.constant([[1]]), np.int64(5))",
    ],
)  # fmt: skip

# ---- unknown ranks and sizes -----------------------------------------------------------------------------------------

GROUP.family("unranked(tnp.matmul, {x}, {y})".replace("tnp", "tf.experimental.numpy"),
             x=["ramp(3)", "ramp(2, 3)"], y=["ramp(3)", "ramp(4, 3, 2)"])  # fmt: skip
GROUP.family("traced(lambda s: tf.sparse.{op}(s{options}), tf.SparseTensorSpec(None))(S([[0], [2]], [1.0, 2.0], [3]))",
             op="reduce_sum reduce_max", options=["", ", keepdims=True"])  # fmt: skip
GROUP.values("""
run(tf.tensordot, ramp(2, 3), ramp(3, 2), tf.constant([[1], [0]]))
unranked(tf.tensordot, ramp(2, 3), ramp(3, 2), tf.constant([[1], [0]]))
shapes(tf.tensordot, tf.TensorSpec([2, 3]), tf.TensorSpec([3, 2]), tf.TensorSpec([2, 1], tf.int32))
shapes(lambda x: tf.norm(x, ord=2, axis=[0, 1]), tf.TensorSpec([1, 2, 3]))
shapes(lambda x: tf.norm(x, ord=2, axis=[2, 0], keepdims=True), tf.TensorSpec([4, 2, 3]))
shapes(tf.nn.collapse_repeated, UI, UI)
shapes(lambda x: tf.nn.collapse_repeated(x, [3, 2]), UI)
shapes(tf.nn.ctc_unique_labels, UI)
shapes(ctc, U)
shapes(lambda x: ctc(tf.transpose(x), blank_index=0), tf.TensorSpec([3, 4, 1]))
unranked(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), ramp(1, 2), ramp(1, 1))
unranked(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), ramp(2, 2, 3), ramp(2, 2, 3))
""")
GROUP.errors("""
unranked(tf.tensordot, ramp(2, 3), ramp(2, 3), tf.constant([1]))
unranked(lambda x, y: tf.tensordot(x, y, -1), ramp(2, 3), ramp(3, 2))
unranked(lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y), Z([0, 2]), Z([0, 3]))
traced(lambda x: tf.linalg.diag(x, num_rows=3, num_cols=4), tf.TensorSpec([None]))
run(lambda s: tf.sparse.split(S([[0, 0]], s, [2, 2]), 2, 5), Z([1]))
""")

# ---- what is compared while tracing, and what when it runs -----------------------------------------------------------

GROUP.values("""
unranked(tf.clip_by_value, ramp(2), Z([1, 2]), tf.constant(0.5))
parts(traced(lambda r, d: tf.concat([r, d], 0), ROWS, U)(tf.ragged.constant([[1.0]]), Z([1, 2])))
""")
GROUP.errors("""
run(lambda x: tf.clip_by_value(x, 0, 2), tf.constant([1j]))
run(lambda x: tf.clip_by_value(x, 0.0, [1.0, 2.0]), Z([]))
run(lambda: tf.concat([tf.ragged.constant([[1], [2]]), tf.ragged.constant([[1]])], 1))
traced(lambda *r: tf.concat(r, 1), ROWS, ROWS)(*[tf.ragged.constant([[1.0]] * n) for n in (1, 2)])
run(lambda x: tf.image.ssim_multiscale(x, x, 1.0, filter_size=3), Z([1, 3, 4, 3]))
""")

# ---- numbers and arrays in eager calls, which become tensors of the dtype that an op takes by default ----------------

GROUP.values("""
tf.reduce_sum(tf.ones([3, 2]), 2**63 - 1)
tf.reduce_max(tf.ones([3, 2]), np.array([2**62]))
tf.reduce_sum(tf.ones([3, 2]), np.array([True]))
tf.expand_dims(tf.ones([2]), 2**32)
tf.reshape(tf.ones([2]), 2**32 + 2)
tf.tile(tf.ones([2]), np.array([2**32 + 2]))
tf.transpose(tf.ones([2, 3]), np.array([2**32 + 1, 0]))
tf.pad(tf.ones([2]), np.array([[2**32 + 1, 1]]))
tf.one_hot(1, 2**32 + 2)
tf.signal.fft([1 + 1j])
tf.raw_ops.AdjustContrastv2(images=np.zeros([1, 1, 1], np.float16), contrast_factor=1.0)
""")
GROUP.errors("""
[tf.constant(0), tf.signal.fft3d(True)]
tf.reduce_sum(tf.ones([3, 2]), [2**63])
tf.reduce_sum(tf.ones([3, 2]), [2**32])
tf.zeros(tf.constant([3], tf.int8))
tf.roll(tf.ones([3]), np.array(1.5), 0)
tf.signal.fft(1)
tf.nn.conv3d(Z([1, 4, 4, 4, 1]), Z([2, 2, 2, 1, 1]), Z([0], tf.int32), 'SAME')
tf.image.extract_patches(Z([1, 4, 4, 1]), [1, 2, 2, 1], [1], [1] * 4, 'SAME')
tf.extract_volume_patches(Z([1, 4, 4, 4, 1]), Z([0], tf.int32), [1] * 5, 'SAME')
tf.nn.conv3d(Z([1, 4, 4, 4, 1]), Z([2, 2, 2, 1, 1]), [1, 1, 1, 1, 2], 'SAME')
tf.conv(Z([1, 4, 4, 1]), Z([2, 2, 1, 1]), [1, 1, 1, 2], 'SAME')
tf.nn.max_pool(Z([1, 4, 4, 1]), b'\\xff\\x00', 2, 'VALID')
tf.nn.avg_pool3d(Z([1, 4, 4, 4, 1]), 'text', 2, 'VALID')
tf.nn.avg_pool2d(Z([1, 4, 4, 1]), [2, 2], tf.Variable([1, 2, 2, 1]), 'VALID')
tf.nn.lrn(Z([1, 4, 4, 1]), 2**31 - 1)
tf.random.stateless_normal([2], tf.constant([1, 2], tf.uint64))
tf.random.fold_in(tf.constant([1, 2], tf.int8), 5)
""")

# ---- numbers that are none, and no numbers ---------------------------------------------------------------------------

GROUP.values("""
tf.math.segment_max(tf.constant([[1.0, 2.0], [nan, 1.0], [3.0, nan], [nan, nan], [1.0, 2.0]]), [0, 0, 0, 1, 1])
tf.math.segment_min(tf.constant([1.0, nan, 3.0, 4.0]), [0, 0, 0, 2])
tf.math.unsorted_segment_max(tf.constant([5.0, nan, -inf, 2.0, nan]), [0, 0, 0, 1, 1], 3)
tf.math.unsorted_segment_min(tf.constant([1.0, nan, 3.0, 4.0]), [0, -1, 0, 2], 3)
tf.reduce_mean(Z([0, 3], tf.complex64), 0)
tf.linalg.slogdet(tf.constant([[-4.0, -1.0, inf], [-1.0, -3.0, -0.5], [-2.0, -0.5, -5.0]]))
tf.linalg.slogdet(tf.constant([[[-4.0, nan], [-1.0, -3.0]], [[1.0, 1.0], [1.0, 1.0]]]))
tf.linalg.svd(tf.constant([[[1.0, 2.0], [4.0, 3.0]], [[1.0, nan], [2.0, 1.0]]], tf.float64), compute_uv=False)
tf.linalg.lu(tf.constant([[-inf, 2.0], [inf, -0.5]]))
tf.linalg.lu(tf.constant([[1.0, nan], [1.0, -0.5]]))
tf.linalg.eigh_tridiagonal([[2.0, 3.0, 4.0]], [[1.0, 0.5]])
tf.linalg.eigh_tridiagonal(tf.constant([0]), Z([0], tf.int32))
tf.strings.format('{}', [tf.constant([1 + 2j])])
tf.as_string(['ab', '-1'], precision=2, width=4, fill='+')
tf.as_string('ab', width=4, fill='-')
parts(tf.sparse.bincount(Z([0], tf.int64), minlength=3))
parts(tf.sparse.bincount(Z([0], tf.int32)))
parts(tf.sparse.bincount(tf.constant([1, 3, 0], tf.int64)))
tf.tensordot(tf.ones([2, 2]), tf.ones([2, 2]), np.array([[1], [0], [1]]))
tf.experimental.numpy.argmax(tf.constant(1.0), 0)
""")
GROUP.errors("""
tf.linalg.lu(tf.constant([[nan, 2.0], [1.0, -0.5]]))
tf.linalg.inv(tf.constant([[nan, 2.0], [1.0, -0.5]]))
tf.linalg.solve(tf.constant([[nan, 2.0], [1.0, -0.5]]), [[1.0], [2.0]])
tf.linalg.banded_triangular_solve(tf.constant([[nan, 3.0], [1.0, 2.0]]), tf.constant([[1.0], [2.0]]))
tf.linalg.eigh_tridiagonal(tf.constant([1, 2]), tf.constant([0]))
tf.linalg.expm(tf.ones([2, 2], tf.bfloat16))
tf.linalg.tridiagonal_matmul(tf.constant(1.0), Z([3, 2]))
tf.strings.format('{} {}', True)
tf.sparse.bincount([1, 1, 2], minlength='text')
tf.sparse.split(S([[0, 0]], [1.0], [2, 2]), 2**31 - 1, 1)
tf.sets.size(S([[0, 0]], tf.constant([1], tf.uint64), [1, 2]))
tf.tensordot(tf.ones([2, 2]), tf.ones([2, 2]), tf.constant(3, tf.int64))
tf.tensordot(tf.ones([2, 2]), tf.ones([2, 2]), tf.constant([[5], [0]]))
tf.tensordot(tf.constant([1.0, 2.0]), [3, 4], 1)
tf.histogram_fixed_width_bins(tf.constant([0, 1, 5]), [0, 5], 5)
tf.histogram_fixed_width_bins(half, tf.constant([0.0, 5.0]), 5)
tf.math.betainc(tf.ones([4]), tf.ones([4]), [0.5])
tf.pad(tf.ones([3]), tf.constant([[1]]), 'REFLECT')
tf.ragged.boolean_mask([1, 2], tf.constant([1, 0]))
tf.ragged.boolean_mask([[1, 2], [3, 4]], [False, False, False])
tf.signal.ifftnd(tf.ones([2, 3]), axes=[0, -4])
tf.signal.fftnd(np.ones([2, 2], np.complex64), [2], axes=[0, 0, 1])
tf.experimental.numpy.vander(0)
tf.experimental.numpy.roll([1, 2], None)
tf.experimental.numpy.average(tf.ones([2, 3]), weights=[1.0])
tf.experimental.numpy.zeros_like(S([[0, 0]], [1.0], [2, 2]))
tf.experimental.numpy.argmin(1.0, 1)
""")

# ---- what shape functions infer and refuse ---------------------------------------------------------------------------

GROUP.values("""
traced(lambda t, low: tf.clip_by_value(t, low, 1.0), tf.TensorSpec([None]), tf.TensorSpec([None]))(Z([1]), ramp(3))
shapes(lambda x: tf.slice(x, [3, 0], [2, 2]), tf.TensorSpec([2, 2]))
shapes(lambda x: tf.pad(x, [[3, 0]], 'SYMMETRIC'), tf.TensorSpec([2]))
shapes(lambda x: tf.roll(x, 1, 4), tf.TensorSpec([2]))
shapes(lambda x: tf.cumsum(x, 3), tf.TensorSpec([2]))
shapes(lambda x: tf.reshape(x, [-1, -1]), tf.TensorSpec([2]))
shapes(lambda x: tf.transpose(x, [0, 0]), tf.TensorSpec([2, 3]))
shapes(lambda x: tf.linalg.band_part(x, 5, 0), tf.TensorSpec([2, 3]))
shapes(lambda x: tf.linalg.band_part(x, 0, 0), tf.TensorSpec([2]))
shapes(lambda x: tf.argmax(x), tf.TensorSpec([0, 3]))
shapes(lambda x: tf.nn.max_pool2d(x, 2, [2, 1, 1, 1], 'SAME'), tf.TensorSpec([2, 3, 3, 1]))
shapes(lambda x: tf.nn.avg_pool2d(x, [1, 2, 2, 2], 1, 'SAME'), tf.TensorSpec([2, 3, 3, 4]))
shapes(lambda x: tf.nn.conv2d(x, Z([2, 2, 1, 3]), [2, 1, 1, 1], 'SAME'), tf.TensorSpec([2, 3, 3, 1]))
shapes(lambda x, k: dilated(x, k, 1), tf.TensorSpec([1, None, 3, 2]), tf.TensorSpec([2, 2, 2]))
shapes(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, 'VALID'), tf.TensorSpec([1, None, 6, 1]))
shapes(lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [2, 1, 1, 1], [1] * 4, 'VALID'), tf.TensorSpec([1, 5, 6, 1]))
shapes(lambda x, n: tf.signal.rfft2d(x, [4, n]), tf.TensorSpec([2, 3, 4]), tf.TensorSpec([], tf.int32))
shapes(lambda x, b: tf.space_to_batch(x, b, [[0, 0]]), tf.TensorSpec([1, 2, 3]), tf.TensorSpec([1], tf.int32))
shapes(lambda x: tf.einsum('ij,jk->ik', Z([2, 3]), x), U)
shapes(tf.experimental.numpy.vander, U)
unranked(tf.experimental.numpy.vander, ramp(3))
shapes(lambda b, s: tf.image.non_max_suppression_padded(b, s, 3), U, tf.TensorSpec([4]))
unranked(lambda b, s: tf.image.non_max_suppression_padded(b, s, 3), tf.constant([[0.0, 0, 1, 1]] * 2), ramp(2))
shapes(lambda x, d: tf.linalg.set_diag(x, d), U, tf.TensorSpec([2, 3]))
shapes(lambda i: tf.sparse.reshape(tf.SparseTensor(i, [1.0, 2.0], [2, 2]), [4]), tf.TensorSpec([2, 2], tf.int64))
""")
GROUP.errors("""
run(lambda x: tf.nn.max_pool2d(x, 2, [1, 1, 0, 1], 'SAME'), Z([1, 3, 3, 1]))
run(lambda x: tf.image.extract_patches(x, [1, 2, 2], [1] * 4, [1] * 4, 'VALID'), Z([1, 5, 6, 1]))
run(lambda x, k: tf.nn.erosion2d(x, k, [1, 1], 'SAME', 'NHWC', [1] * 4), Z([1, 3, 3, 2]), Z([2, 2, 2]))
unranked(lambda x, n: tf.signal.rfft(x, n), ramp(4), tf.constant([2, 2]))
unranked(tf.signal.rfft2d, Z([2]))
run(lambda m: tf.random.stateless_parameterized_truncated_normal([3, 2], [1, 2], m, 1.0, [0.0, 1.0], 2.0), Z([3]))
run(lambda x, y: tf.math.in_top_k(y, x, [1]), Z([1, 1]), tf.constant([1, 1]))
run(lambda x, k: tf.nn.separable_conv2d(x, k, Z([1, 1, 4, 3]), [1, 1, 2, 1], 'VALID'), Z([1, 5, 4, 3]), Z([2, 2, 3, 3]))
run(lambda x: tf.nn.depthwise_conv2d_backprop_filter(x, [3, 2, 2, 2, 1], x, [1] * 4, 'SAME'), ramp(1, 5, 4, 2))
unranked(lambda x: tf.linalg.diag_part(x, k=[[0, 1]]), Z([2, 2]))
run(lambda x, n: tf.histogram_fixed_width(x, [0.0, 1.0], n), Z([2]), tf.constant([4]))
traced(lambda *a: tf.scatter_nd(*a), CUBE, tf.TensorSpec([None]), VECTOR)(I([[1]], [[1]]), Z([1]), I(3))
traced(lambda i, u: tf.scatter_nd(i, u, [3]), CUBE, tf.TensorSpec([None]))(I([[1]], [[1]]), Z([1]))
traced(lambda x, n: tf.reshape(x, [3, 4, n]), tf.TensorSpec([2, 4]), tf.TensorSpec([], tf.int32))
run(lambda x: tf.nn.top_k(x, tf.constant([1])), Z([2]))
unranked(tf.experimental.numpy.vander, Z([2, 2]))
unranked(lambda b, s: tf.image.non_max_suppression_padded(b, s, 3), Z([1, 2, 4]), Z([1, 2]))
run(tf.nn.bias_add, tf.constant([[1, 2]]), Z([2]))
""")

# ---- images and rows with numbers that are none ----------------------------------------------------------------------

GROUP.values("""
tf.sort([nan, 1.0, 7.0, nan, 0.0, -1.0, nan, 2.0])
tf.sort(tf.constant([[[nan, 1.0], [7.0, nan]], [[0.0, -1.0], [nan, 2.0]]], tf.float64), axis=1)
tf.argsort([[5.0, nan, 7.0, 1.0], [9.0, nan, nan, 2.0]], direction='DESCENDING')
tf.math.top_k([1.0, 3.0, nan, 2.0, 1.0, 3.0, nan, 4.0], 8)
tf.math.segment_max(tf.constant([-inf, 1.0]), [0, 2])
tf.image.resize(tf.reshape(tf.constant([0.0, 2.0, inf, nan, 5.0, 1.0, 2.0, -inf, 4.0]), [1, 3, 3, 1]), [5, 2])
tf.image.draw_bounding_boxes(Z([1, 4, 4, 1]), [[[0.1, inf, 0.6, 0.7]]], None)
tf.image.draw_bounding_boxes(Z([1, 4, 4, 1]), [[[nan, -inf, 0.6, 0.7]]], None)
tf.experimental.numpy.take_along_axis([[1, 2], [3, 4]], [[0]], np.int64(1))
""")
GROUP.errors("""
tf.image.hsv_to_rgb([[1e300, 0.0, 0.0]])
tf.image.crop_to_bounding_box(Z([1, 4, 4, 1]), None, 1, 3, 1)
tf.image.crop_to_bounding_box(Z([1, 4, 4, 1]), tf.ragged.constant([[1], [2, 3]]), 1, 3, 1)
tf.image.per_image_standardization(b'a')
tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=-2)
tf.nn.compute_average_loss(tf.constant(1.0), global_batch_size=2)
tf.nn.ctc_greedy_decoder(Z([2, 1, 3]), tf.constant([[2]]))
tf.io.parse_single_sequence_example(1.5)
tf.io.decode_csv('1;x', [[0], ['d']], field_delim=1)
tf.ragged.constant([[1, 2], [3, tf.constant(5)]])
tf.reverse(tf.ragged.constant([[1, 2], [3]]), -1)
tf.linspace(1.0, 2.0, 3, axis=[0, 1])
tf.experimental.numpy.take_along_axis([1], [[0, 0]], np.int32(1))
tf.convert_to_tensor([1, tf.constant(0), tf.constant(2, tf.int64)])
tf.strings.unsorted_segment_join(['a', 'b'], [0, 1], tf.constant(2**63 - 1, tf.int64))
tf.io.serialize_many_sparse(S([[0, 0]], [1.0], [2**63 - 1, 2]))
traced(lambda x: tf.image.extract_patches(x, [1, 2, 2], [1] * 4, [1] * 4, 'VALID'), tf.TensorSpec([1, 4, 4, 1]))
""")

# ---- eager values and checks -----------------------------------------------------------------------------------------

GROUP.values("""
tf.strings.as_string([0, 1073741824, -5], width=3, fill='+')
tf.strings.as_string([0.5, inf], width=6, fill='0')
tf.strings.as_string([1 + 2j], width=12, fill='-')
tf.strings.as_string(tf.constant([5], tf.uint8), fill='+')
tf.strings.as_string([True], width=6, fill='+')
tf.zeros(tf.Variable([2, 3], dtype=tf.uint8))
tf.ones(np.array([2, 3], np.float32))
tf.zeros({}).shape
tf.zeros('').shape
tf.zeros([2, tf.constant(3, tf.int64)])
tf.reshape(Z([4]), [tf.constant(2, tf.int64), 2])
tf.image.rgb_to_hsv([[0.5, nan, 0.5], [0.5, 0.5, nan], [nan, 1e10, 2.5], [0.5, nan, inf], [inf, 0.5, -inf]])
tf.image.hsv_to_rgb([[0.5, inf, 0.5], [0.5, inf, -1.0], [2.5, 3e38, 0.5], [nan, 0.5, 0.5], [0.5, 0.5, nan]])
tf.image.adjust_saturation([[[0.5, 0.5, -inf], [0.5, 0.5, nan], [2.5, 0.0, 1e-30], [2.5, 0.5, 0.2]]], 0.5)
tf.image.adjust_hue([[[0.5, 0.5, -inf], [0.5, 0.5, nan], [0.5, inf, inf], [nan, -0.0, 3e38], [2.5, 0.5, 0.2]]], 0.3)
tf.image.adjust_hue([[[0.9, 0.5, 0.2], [0.1, 0.5, 0.2], [0.2, 0.1, 0.5]]], -1.0)
tf.image.rgb_to_grayscale(tf.constant([[[0.1, 0.7, 0.3], [0.9, 0.2, 0.6]]], tf.bfloat16))
tf.image.central_crop(Z([7, 8, 1]), 1e-30).shape
tf.image.crop_and_resize([[[[0.0], [inf]], [[2.0], [3.0]]]], [[0.0, 0.0, 1.0, 1.0]], [0], [2, 3])
tf.image.crop_and_resize([[[[0.0], [2.0]], [[1.0], [nan]]]], [[0.0, 0.0, 1.0, 1.0]], [0], [3, 3])
tf.image.resize_with_crop_or_pad(Z([1, 6, 1]), np.int64(3), 9).shape
tf.experimental.numpy.cross(ramp(2, 3), ramp(2, 3) * 2.0 + 1.0, axis=1.0)
tf.experimental.numpy.diagonal(ramp(3, 3), offset=[1])
tf.experimental.numpy.logaddexp(1, 2.0)
tf.experimental.numpy.logaddexp(tf.constant([1.0, inf]), tf.constant([2.0, inf]))
tf.experimental.numpy.arange(tf.constant([3.0]))
tf.experimental.numpy.cumsum(ramp(2, 3), axis=tf.constant(-1))
tf.ones_like(tf.ragged.constant([[1, 2], [3]]), tf.float32).row_splits
tf.cast(ramp(40) * 1e4 - 1e5, tf.int8)
tf.cast(tf.cast(ramp(20) * 20.0 - 99.0, tf.float16), tf.uint8)
tf.cast(tf.constant([300.0, -5.0, nan, 1e10, inf] * 2, tf.bfloat16), tf.int16)
tf.cast(tf.constant([300.0, -5.0, nan, 1e10, inf] * 4, tf.float64), tf.uint16)
tf.math.unsorted_segment_mean(Z([2, 2, 2, 0]), [[0, 1], [1, 3]], 4).shape
tf.math.is_strictly_increasing(tf.constant([1j]))
tf.signal.hamming_window(6, periodic=False)
tf.nn.softmax_cross_entropy_with_logits(ramp(1, 2, 3), ramp(2, 3))
tf.nn.softmax_cross_entropy_with_logits(Z([1, 0, 3]), Z([0, 3]))
tf.broadcast_dynamic_shape([-2], [1])
tf.broadcast_dynamic_shape(tf.constant([-(2**63)]), tf.zeros([0], tf.int64))
""")
GROUP.errors("""
tf.strings.as_string([5], width=3, fill='x')
tf.convert_to_tensor([tf.constant(1, tf.int64), tf.constant(2)], tf.int64)
tf.pad(Z([2, 2]), [[0, 1], tf.constant([1])])
tf.zeros((tf.constant([3]), 2))
tf.zeros([tf.constant([3])])
tf.zeros(tf.Variable([2.0]))
tf.image.non_max_suppression_padded(Z([3, 4]), Z([6]), 2)
tf.image.non_max_suppression_padded(tf.constant([[True] * 4]), Z([1]), 2)
tf.image.non_max_suppression_padded(Z([3, 4]), Z([3]), 2, iou_threshold=tf.constant(0.5, tf.float64))
tf.image.non_max_suppression_padded([[0.0] * 4], [1.0], 2)
tf.image.pad_to_bounding_box(Z([3, 4, 3]), np.array(1), np.array(2), 3, 7)
tf.image.pad_to_bounding_box(Z([3, 4, 3]), 1, 2, tf.constant(7, tf.uint64), 9)
tf.image.pad_to_bounding_box(Z([3, 4, 3]), tf.constant(1, tf.int64), tf.constant(2), 7, 9)
tf.image.crop_to_bounding_box(Z([3, 4, 3]), tf.constant(1, tf.int64), 2, 1, 1)
tf.image.crop_to_bounding_box(Z([3, 4, 3]), np.array(1), np.array(2), 3, 7)
tf.image.resize_with_crop_or_pad(Z([1, 6, 1]), tf.constant(6, tf.int64), 3)
tf.image.resize_with_crop_or_pad(Z([1, 6, 1]), 6.0, 3)
tf.image.resize(Z([2, 2, 1]), [7, -9], 'gaussian')
tf.image.resize(Z([2, 2, 1]), [-7, 9])
tf.image.crop_and_resize(Z([1, 2, 2, 1]), [[0.0, inf, 1.0, 1.0]], [5], [2, 2])
tf.experimental.numpy.cross([1, 2], Z([0, 2]), axis=[])
tf.experimental.numpy.cross(Z([2, 3]), Z([2, 3]), axisa='a')
tf.experimental.numpy.take_along_axis([1, 2], [[0]], tf.constant([1.0, 0.0]))
tf.experimental.numpy.take_along_axis([1, 2], [0], 0.5)
tf.experimental.numpy.trace(Z([3, 3, 3]), offset=[1.0, 0.0])
tf.experimental.numpy.logaddexp([1.0], [2.0])
tf.experimental.numpy.logaddexp2([1e-30, -7.5], tf.constant([1, 1, 1]))
tf.experimental.numpy.arange(0, 5, nan)
tf.experimental.numpy.cumsum(Z([3, 2]), axis=tf.constant(-1, tf.int64))
tf.sparse.slice(S([[0, 0]], [1.0], [2**62, 3]), [0, 0], [7, 9])
tf.sparse.softmax(S([[0, 0]], [1.0], [-1, 3]))
tf.sparse.reduce_sum(S([[0, 0]], [1.0], [2**62, 3]), 0)
tf.sparse.reduce_max(S([[0, 0]], [1.0], [-1, 3]), 0, output_is_sparse=True)
tf.sparse.reshape(S([[0, 0]], [1.0], [2**62, 3]), [3, -1])
tf.sparse.split(S([[0, 0]], [1.0], [2**62, 3]), 2, 0)
tf.sparse.split(S([[0, 0], [1, 2]], [1.0, 2.0], [1, 4]), 2, -1)
tf.sparse.split(S([[0, 0]], [1.0], [2, 4]), 2, 'a')
tf.strings.ngrams(['a'], 2**63 - 1)
tf.math.top_k([1.0, 5.0], None)
tf.tile(Z([2]), None)
tf.reverse(Z([2]), None)
tf.scatter_nd([[0]], [1.0], None)
tf.pad(Z([2, 3]), [[tf.constant(1), 0.5], [0, 0]])
tf.math.unsorted_segment_sum(Z([0, 2]), tf.zeros([0], tf.int64), tf.constant(2**62))
tf.math.unsorted_segment_sqrt_n(['a'], tf.constant([0]), 2)
tf.signal.frame(Z([4]), None, 1)
tf.signal.frame(Z([4]), b'ab', 1)
tf.signal.hamming_window(5, periodic=2)
tf.signal.hamming_window(5, periodic=[True, False])
tf.argsort(Z([2, 3]), axis=2**63 - 1)
tf.norm(Z([2, 3]), ord=b'a', axis=0)
tf.nn.sufficient_statistics(tf.constant([[1j, 2.0]]), [0], shift=1.0)
tf.broadcast_dynamic_shape([-2], [3])
tf.experimental.numpy.cross(1, Z([3]))
""")
GROUP.values(
    "tf.image.rgb_to_grayscale(tf.constant([[[0.1, 0.7, 0.3], [0.9, 0.2, 0.6]]], tf.float64))",
    rtol=1e-6, because="it is a product of float32, whose last bit depends on the processor",
)  # fmt: skip
