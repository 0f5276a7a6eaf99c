"""Gradients of every differentiable function, many of them to the second order."""

from goldens.case import GRADIENTS_OF_SECOND_ORDER, Group

GROUP = Group(
    GRADIENTS_OF_SECOND_ORDER
    + """
x = [0.3, -1.2, 2.5]
p = [0.3, 1.2, 2.5]
u = [0.3, -0.6, 0.9]
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
s = tf.constant([[4., 1.], [2., 3.]], tf.float64)
spd = tf.constant([[4., 1.], [1., 3.]], tf.float64)
img = tf.reshape(tf.range(32.), [1, 4, 4, 2]) / 10
"""
)

GROUP.family("grad2(tf.math.{f}, x)", f=(
    "abs asinh atan cos cosh erf erfc exp expm1 log_sigmoid negative reciprocal sigmoid sign sin sinh "
    "softplus square tan tanh bessel_i0e bessel_i1e bessel_i0 bessel_i1 conj real"
), rtol=2e-5, because="second derivatives of series and of products of rounded terms")  # fmt: skip
GROUP.family("grad2(tf.math.{f}, p)", f=(
    "log log1p lgamma digamma rsqrt sqrt"
), rtol=2e-5, because="second derivatives of series and of products of rounded terms")  # fmt: skip
GROUP.family("grad2(tf.math.{f}, u)", f="acos asin atanh erfinv", rtol=2e-5, because="products of rounded terms")
GROUP.family("grad(tf.math.{f}, [1.5, 3.0])", f="acosh reciprocal_no_nan softsign ceil floor rint round")
GROUP.family("grad(tf.math.{f}, [0.2, 0.5, 0.7])", f="erfcinv ndtri erfinv", rtol=2e-5, because="iterated inverse")
GROUP.family(
    "grad(tf.math.special.{f}, [0.5, 2.0])",
    f="dawsn expint fresnel_cos fresnel_sin spence bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e "
    "bessel_y0 bessel_y1",
    rtol=5e-5,
    because="series differ",
)
GROUP.family(
    "grad2(tf.nn.{f}, x)",
    f="relu relu6 elu selu leaky_relu gelu silu swish crelu softmax log_softmax l2_loss",
    rtol=2e-5,
    atol=2e-6,
    because="sums of terms that cancel",
)
GROUP.family(
    "grad(tf.math.{f}, tf.constant(x, tf.{dtype}))",
    f="exp sin tanh square sigmoid softplus",
    dtype="float16 bfloat16 float64",
)
GROUP.family(
    "grad(tf.math.{f}, tf.constant([1 + 2j, 0.5 - 1j], tf.complex64))",
    f="exp sin square tanh log sqrt conj real imag abs angle reciprocal sigmoid negative sign cosh atan",
)
GROUP.family(
    "grad(tf.math.{f}, [1.5, 2.0, 0.5], [[2.0], [-3.0]])",
    f="add subtract multiply divide maximum minimum squared_difference floordiv floormod atan2 divide_no_nan "
    "multiply_no_nan nextafter",
)
GROUP.family("grad(tf.math.{f}, [1.5, 2.0, 0.0], [2.0, 3.0, 4.0])", f="pow xlogy xlog1py xdivy truediv")
GROUP.family("grad(tf.math.{f}, [1.0, 2.0], [1.0, 2.0])", f="maximum minimum floormod less equal")
GROUP.family(
    "grad(tf.math.{f}, [0.5, 2.0], [1.0, 3.0])", f="igamma igammac zeta polygamma", rtol=1e-4, because="series differ"
)
GROUP.family(
    "grad(tf.math.{f}, tf.constant([1 + 2j, 3j]), tf.constant([2 - 1j]))", f="add subtract multiply divide pow"
)
GROUP.family(
    "grad(lambda x: tf.math.reduce_{f}(x{axis}), m)",
    f="sum mean max min prod std variance logsumexp euclidean_norm",
    axis=["", ", axis=0", ", axis=-1, keepdims=True"],
)
GROUP.family(
    "grad2(tf.math.reduce_{f}, [1.0, 2.0, 4.0])",
    f="prod std variance logsumexp euclidean_norm max",
    rtol=2e-5,
    because="cancels",
)
GROUP.family("grad(tf.math.reduce_{f}, [2.0, 5.0, 5.0])", f="max min prod")
GROUP.family(
    "grad(lambda x: tf.math.{f}(x{axis}) * m, m)",
    f="cumsum cumprod cumulative_logsumexp",
    axis=["", ", axis=1", ", axis=1, exclusive=True", ", reverse=True"],
)
GROUP.family("grad(lambda x: tf.math.segment_{f}(x, [0, 0, 1]) ** 2, [1., 2., 3.])", f="sum mean max min prod")
GROUP.family(
    "grad(lambda x: tf.math.unsorted_segment_{f}(x, [0, 1, 0], 2) ** 2, [1., 2., 3.])", f="sum mean max min prod sqrt_n"
)

GROUP.values("""
grad(tf.nn.selu, [-1.0, -1e-6, -0.0, 0.0, 1.0, np.nan])
grad(tf.nn.relu, [np.nan, -1.0, 0.0, 1.0, np.inf])
grad(tf.nn.relu, tf.fill([17], np.nan))
grad(tf.nn.relu6, [np.nan, -1.0, 0.0, 1.0, 6.0, np.inf])
grad(lambda x: tf.nn.max_pool3d(x, 2, 1, 'SAME'), tf.ones([1, 3, 2, 2, 1]))
grad(lambda x: tf.nn.max_pool3d(x, 2, 2, 'SAME'), tf.reshape([1., 1.000001, 1., 0.99], [1, 2, 2, 1, 1]))
grad(lambda x: tf.nn.max_pool3d(x, [2, 3, 1], [1, 2, 2], 'SAME'), tf.reshape(tf.range(60.) % 3, [1, 4, 3, 5, 1]))
grad(tf.image.rgb_to_hsv, [[0.5, 0.5, 0.5], [0., 0., 0.], [1., 1., 1.], [0.5, 0.25, 0.25], [0.5, 0., 0.25]])
grad(tf.math.cumprod, [1 + 2j, 0.5 - 1j, 2 + 0.3j])
grad(lambda x: tf.math.cumprod(x, exclusive=True, reverse=True), [1 + 2j, 0.5 - 1j, 2 + 0.3j])
grad(tf.linalg.sqrtm, [[2 + 1j, 0.3j], [0.1 + 0j, 1 - 0.5j]])
grad(tf.math.divide_no_nan, [1 + 2j, 0.5 - 1j, 2 + 0.3j], [2 + 1j, 0j, 1 - 1j])
grad(lambda x: tf.nn.isotonic_regression(x)[0] * [[1., 2., 3.]], [[3., 1., 2.]])
grad(tf.matmul, [[1., 2.]], [[3.], [4.]])
grad(lambda a, b: tf.matmul(a, b, transpose_a=True), [[1., 2.]], [[3., 4.]])
grad(lambda a, b: tf.matmul(a, b, transpose_b=True), [[1., 2.]], [[3., 4.]])
grad(lambda a, b: tf.matmul(a, b, True, True), [[1.], [2.]], [[3., 4.]])
grad(lambda a, b: tf.matmul(a, b, adjoint_a=True), tf.constant([[1 + 1j], [2]]), tf.constant([[3j], [4]]))
grad(tf.matmul, tf.ones([2, 1, 3]), tf.ones([3, 2]))
grad(tf.matmul, tf.ones([2, 2, 3]), tf.ones([1, 3, 2]))
grad(tf.linalg.matvec, [[1., 2.], [3., 4.]], [5., 6.])
grad(lambda a, b: tf.tensordot(a, b, 1), [[1., 2.]], [[3.], [4.]])
grad(lambda a, b: tf.einsum('ij,jk->ik', a, b), [[1., 2.]], [[3.], [4.]])
grad(lambda a: tf.einsum('ii->', a), [[1., 2.], [3., 4.]])
grad(lambda a, b: tf.einsum('bi,bj->bij', a, b) ** 2, [[1., 2.]], [[3., 4.]])
grad(lambda a: tf.einsum('ij->j', a), [[1., 2.], [3., 4.]])
grad(lambda x: tf.reshape(x, [3, 2])[0] * 2, m)
grad(lambda x: tf.transpose(x) * tf.constant([[1.], [2.], [3.]]), m)
grad(lambda x: tf.expand_dims(x, 0) ** 2, x)
grad(lambda x: tf.squeeze(x) ** 2, [[[1.], [2.]]])
grad(lambda a, b: tf.concat([a, b], 0) ** 2, [1., 2.], [3.])
grad(lambda a, b: tf.concat([a, b], 1) ** 2, [[1., 2.]], [[3.]])
grad(lambda a, b: tf.stack([a, b]) * [[1.], [2.]], [1., 2.], [3., 4.])
grad(lambda x: tf.unstack(x)[1] ** 2, m)
grad(lambda x: tf.split(x, 3, 1)[2] ** 2, m)
grad(lambda x: tf.split(x, [1, 2], 1)[1] ** 2, m)
grad(lambda x: tf.tile(x, [2, 1]) * tf.reshape(tf.range(12.), [4, 3]), m)
grad(lambda x: tf.repeat(x, [1, 3]) ** 2, [1., 2.])
grad(lambda x: tf.pad(x, [[1, 2]]) ** 2, [1., 2.])
grad(lambda x: tf.pad(x, [[1, 2]], 'REFLECT') ** 2, [1., 2., 3.])
grad(lambda x: tf.pad(x, [[1, 2]], 'SYMMETRIC') ** 2, [1., 2., 3.])
grad(lambda x: tf.broadcast_to(x, [2, 3]) * m, [1., 2., 3.])
grad(lambda x: tf.reverse(x, [0]) * [1., 2., 3.], x)
grad(lambda x: tf.roll(x, 1, 0) * [1., 2., 3.], x)
grad(lambda x: tf.reverse_sequence(x, [2, 3], 1) * m, m)
grad(lambda x: tf.meshgrid(x, x)[0] ** 2, x)
grad(lambda x: x[1] ** 2, x)
grad(lambda x: x[::-1] * [1., 2., 3.], x)
grad(lambda x: x[..., tf.newaxis] ** 2, x)
grad(lambda x: x[0, 1:] ** 2, m)
grad(lambda x: x[:, ::2] ** 2, m)
grad(lambda x: tf.slice(x, [0, 1], [2, 1]) ** 2, m)
grad(lambda x: tf.strided_slice(x, [0, 0], [2, 3], [1, 2]) ** 2, m)
grad(lambda x: tf.gather(x, [2, 0, 2]), x)
grad(lambda x: tf.convert_to_tensor(tf.gather(x, [1, 1])) ** 2, x)
grad(lambda x: tf.gather(x, [2, 0], axis=1) ** 2, m)
grad(lambda x: tf.gather(x, [[2], [0]], batch_dims=1) ** 2, m)
grad(lambda x: tf.gather_nd(x, [[0, 1], [1, 2]]) ** 2, m)
grad(lambda x: tf.gather_nd(x, [[1], [1]]), m)
grad(lambda x: tf.scatter_nd([[1], [1]], x, [3]) ** 2, [1., 2.])
grad(lambda a, b: tf.tensor_scatter_nd_update(a, [[1]], b) ** 2, x, [7.])
grad(lambda a, b: tf.tensor_scatter_nd_add(a, [[1], [1]], b) ** 2, x, [7., 8.])
grad(lambda a, b: tf.tensor_scatter_nd_sub(a, [[1], [0]], b) ** 2, x, [7., 8.])
grad(lambda a, b: tf.tensor_scatter_nd_max(a, [[1], [0]], b) ** 2, x, [7., -8.])
grad(lambda x: tf.boolean_mask(x, [True, False, True]) ** 2, x)
grad(lambda x: tf.where([True, False, True], x, 0.0) ** 2, x)
grad(lambda a, b: tf.where([True, False], a, b) ** 2, [1., 2.], [3., 4.])
grad(lambda a, b: tf.where([[True], [False]], a, b) ** 2, [1., 2.], 3.0)
grad(lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0] ** 2, x)
grad(lambda a, b: tf.dynamic_stitch([[0, 1], [1, 2]], [a, b]) ** 2, [1., 2.], [3., 4.])
grad(lambda x: tf.sort(x) * [1., 2., 3.], x)
grad(lambda x: tf.sort(x, direction='DESCENDING') * [1., 2., 3.], x)
grad(lambda x: tf.math.top_k(x, 2).values ** 2, x)
grad(lambda x: tf.clip_by_value(x, -1.0, 1.0) ** 2, x)
grad(lambda x, a, b: tf.clip_by_value(x, a, b), x, -1.0, 1.0)
grad(lambda x: tf.clip_by_norm(x, 1.0), x)
grad(lambda a, b: tf.clip_by_global_norm([a, b], 1.0)[0], [3., 1.], [4.])
grad(lambda x: tf.math.l2_normalize(x), x)
grad(lambda x: tf.norm(x), x)
grad(lambda x: tf.norm(x, ord=1), x)
grad(lambda x: tf.norm(x, ord=np.inf), x)
grad(lambda x: tf.norm(x), [0., 0.])
grad(lambda a, b: tf.add_n([a, b, a]), [1., 2.], [3., 4.])
grad(lambda x: tf.cast(x, tf.float64) ** 2, x)
grad(lambda x: tf.cast(x, tf.float16) ** 2, [1., 2.])
grad(lambda x: tf.cast(x, tf.complex64) ** 2, [1., 2.])
grad(lambda a, b: tf.abs(tf.complex(a, b)), [3.], [4.])
grad(lambda x: tf.identity(x) * tf.stop_gradient(x), x)
grad(lambda x: tf.identity_n([x, x * 2])[1], x)
grad(lambda x: tf.ensure_shape(x, [3]) ** 2, x)
grad(lambda x: tf.linspace(x, 5.0, 3), 1.0)
grad(lambda x: tf.fill([3], x) * [1., 2., 3.], 2.0)
grad(lambda x: tf.zeros_like(x) + tf.ones_like(x), x)
grad(lambda x: tf.eye(2) * x, 3.0)
grad(lambda x: tf.math.polyval([x, 2.0, 3.0], 2.0), 1.0)
grad(lambda x: tf.math.lbeta(x), [1.0, 2.0])
grad(lambda x: tf.math.betainc(2.0, 3.0, x), 0.4)
grad(lambda x: tf.math.betainc(1.0, 2.0, x), [0.0, 0.5, 1.0])
grad(lambda x: tf.nn.bias_add([[1., 2.]], x) ** 2, [0.5, 1.5])
grad(lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]) ** 2, img[:, :2, :2])
grad(lambda x: tf.nn.space_to_depth(x, 2) ** 2, img[:, :2, :2])
grad(lambda x: tf.linalg.inv(x), s)
grad(lambda x: tf.linalg.det(x), s)
grad(lambda x: tf.linalg.logdet(x), spd)
grad(lambda x: tf.linalg.slogdet(x)[1], s)
grad(lambda x: tf.linalg.cholesky(x), spd)
grad(lambda x: tf.linalg.trace(x), s)
grad(lambda x: tf.linalg.diag(x) ** 2, x)
grad(lambda x: tf.linalg.diag_part(x) ** 2, m)
grad(lambda x: tf.linalg.band_part(x, 0, -1) ** 2, m)
grad(lambda a, b: tf.linalg.set_diag(a, b) ** 2, m, [7., 8.])
grad(lambda a, b: tf.linalg.solve(a, b), s, tf.constant([[1.0], [2.0]], tf.float64))
grad(lambda a, b: tf.linalg.triangular_solve(a, b), spd, tf.constant([[1.0], [2.0]], tf.float64))
grad(lambda a, b: tf.linalg.lstsq(a, b), s, tf.constant([[1.0], [2.0]], tf.float64))
grad(lambda x: tf.linalg.eigh(x)[0], spd)
grad(lambda x: tf.linalg.eigvalsh(x) ** 2, spd)
grad(lambda x: tf.abs(tf.linalg.eigh(x)[1]), spd)
grad(lambda x: tf.linalg.svd(x, compute_uv=False), s)
grad(lambda x: tf.abs(tf.linalg.svd(x)[1]), s)
grad(lambda x: tf.abs(tf.linalg.qr(x)[1]), s)
grad(lambda x: tf.linalg.pinv(x), s)
grad(lambda x: tf.linalg.expm(x), s)
grad(lambda a, b: tf.linalg.cross(a, b), [1., 2., 3.], [4., 5., 6.])
grad(lambda x: tf.linalg.adjoint(x) * tf.transpose(m), m)
grad(lambda x: tf.linalg.tridiagonal_matmul(tf.ones([3, 3]), x, diagonals_format='compact'), tf.ones([3, 2]))
grad(lambda x: tf.linalg.tensor_diag(x) ** 2, x)
grad(lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))), x)
grad(lambda x: tf.abs(tf.signal.rfft(x)), [1., 2., 3., 5.])
grad(lambda x: tf.signal.irfft(tf.cast(x, tf.complex64)) ** 2, [1., 2., 3.])
grad(lambda x: tf.signal.dct(x), [1., 2., 3.])
grad(lambda x: tf.signal.frame(x, 2, 1) ** 2, [1., 2., 3.])
grad(lambda x: tf.nn.softmax(x) ** 2, [[1., 2.], [3., 5.]])
grad(lambda x: tf.nn.softmax(x, axis=0) ** 2, [[1., 2.], [3., 5.]])
grad(lambda x: tf.nn.log_softmax(x, axis=0) ** 2, [[1., 2.], [3., 5.]])
grad(lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.2, 0.8]], x), [[1., 2.]])
grad2(lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.2, 0.8]], x), [[1., 2.]])
grad(lambda l, x: tf.nn.softmax_cross_entropy_with_logits(l, x), [[0.2, 0.8]], [[1., 2.]])
grad(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], x), [[1., 2.], [3., 5.]])
grad2(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1], x), [[1., 2.]])
grad(lambda l, x: tf.nn.sigmoid_cross_entropy_with_logits(l, x), [0.2, 0.8], [1., -2.])
grad(lambda l, x: tf.nn.weighted_cross_entropy_with_logits(l, x, 2.0), [0.2, 0.8], [1., -2.])
grad(lambda x: tf.nn.log_poisson_loss([1., 2.], x), [0.5, 1.5])
grad(lambda x: tf.nn.local_response_normalization(x, 1), tf.reshape(tf.range(8.), [1, 1, 2, 4]))
grad(lambda x: tf.nn.moments(x, [0])[1], m)
grad(lambda x, s, o: tf.nn.batch_normalization(x, 1.0, 2.0, o, s, 0.1), m, [1., 2., 3.], [0., 1., 2.])
grad(lambda x: tf.nn.embedding_lookup(x, [1, 0, 1]), m)
grad(lambda x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 1, 'SAME'), img)
grad(lambda k: tf.nn.conv2d(img, k, 1, 'VALID'), tf.ones([2, 2, 2, 1]))
grad(lambda k: tf.nn.conv2d(img, k, 2, 'SAME'), tf.ones([3, 3, 2, 1]))
grad(lambda x, k: tf.nn.conv2d_transpose(x, k, [1, 4, 4, 1], 2), img[:, :2, :2], tf.ones([2, 2, 1, 2]))
grad(lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], 'VALID'), img, tf.ones([2, 2, 2, 2]))
grad(lambda x, d: tf.nn.separable_conv2d(x, d, tf.ones([1, 1, 2, 1]), [1] * 4, 'VALID'), img, tf.ones([2, 2, 2, 1]))
grad(lambda x, k: tf.nn.conv1d(x, k, 1, 'SAME'), img[:, 0], tf.ones([3, 2, 1]))
grad(lambda x: tf.nn.conv3d(x, tf.ones([2, 2, 2, 1, 1]), [1] * 5, 'VALID'), tf.reshape(tf.range(8.), [1, 2, 2, 2, 1]))
grad(lambda k: tf.nn.conv3d(tf.reshape(tf.range(8.), [1, 2, 2, 2, 1]), k, [1] * 5, 'SAME'), tf.ones([2, 2, 2, 1, 1]))
grad(lambda x: tf.nn.max_pool2d(x, 2, 2, 'VALID') ** 2, img)
grad(lambda x: tf.nn.max_pool2d(x, 3, 1, 'SAME'), img)
grad(lambda x: tf.nn.avg_pool2d(x, 2, 2, 'VALID') ** 2, img)
grad(lambda x: tf.nn.avg_pool2d(x, 3, 2, 'SAME'), img)
grad2(lambda x: tf.nn.max_pool2d(x, 2, 2, 'VALID') ** 2, img)
grad2(lambda x: tf.nn.avg_pool2d(x, 2, 2, 'VALID') ** 2, img)
grad(lambda x: tf.nn.max_pool1d(x, 2, 1, 'VALID') ** 2, img[:, 0])
grad(lambda x: tf.nn.avg_pool3d(x, 2, 1, 'VALID'), tf.reshape(tf.range(8.), [1, 2, 2, 2, 1]))
grad(lambda x: tf.nn.dilation2d(x, tf.zeros([2, 2, 2]), [1] * 4, 'VALID', 'NHWC', [1] * 4), img)
grad2(lambda x: x ** 3, x)
grad2(lambda x: 2.0 ** x, x)
grad2(lambda x: x ** x, p)
grad2(lambda x: 1.0 / x, x)
grad2(lambda x: tf.reduce_sum(x * x) * x, x)
grad2(lambda x: tf.matmul(x, x), [[1., 2.], [3., 4.]])
grad2(lambda x: tf.linalg.inv(x), s)
grad2(lambda x: tf.linalg.det(x), s)
grad2(lambda x: tf.linalg.cholesky(x), spd)
grad2(lambda x: tf.gather(x * 1, [0, 0, 1]) ** 3, x)
grad2(lambda x: tf.nn.conv2d(x ** 2, tf.ones([2, 2, 2, 1]), 1, 'SAME'), img)
grad2(lambda x: tf.einsum('ij,jk->ik', x, x) ** 2, [[1., 2.], [3., 4.]])
grad2(lambda x: tf.cumsum(x) ** 2, x)
grad2(lambda x: tf.concat([x, x ** 2], 0) ** 2, x)
grad2(lambda x: tf.where(x > 0, x ** 2, x), x)
grad2(lambda x: tf.maximum(x, 1.0) ** 2, x)
grad(lambda a, b: tf.pow(a, b), [0.0, 2.0, -2.0], [2.0, 3.0, 2.0])
grad(tf.sqrt, [0.0])
grad(tf.math.log, [0.0])
grad(tf.abs, [0.0])
grad(tf.norm, [[0.0]])
grad(tf.nn.relu, [0.0, -0.0])
grad(tf.math.divide_no_nan, [1.0], [0.0])
grad(tf.math.reciprocal_no_nan, [0.0, 2.0])
grad(tf.math.xlogy, [0.0], [0.0])
grad(lambda x: tf.constant(1.0), x)
grad(lambda x: tf.argmax(x), x)
grad(lambda x: tf.cast(x, tf.int32), x)
grad(lambda x: tf.round(x), x)
grad(lambda x: tf.shape(x), x)
grad(lambda x: x, x)
grad(lambda x: [x * 2, x * 3], x)
grad(lambda x: {'a': x * 2, 'b': [x]}, x)
grad(lambda x: (x > 0), x)
""")

GROUP.errors("""
grad(tf.math.is_nan, [1.5, 3.0])
grad(lambda x: tf.bitcast(x, tf.int32), x)
grad(tf.matmul, [[1., 2.]], [[1., 2.]])
""")
