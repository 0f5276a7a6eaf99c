"""Calls of public functions with symbols of a library of its own, as libraries build models from them.

`INPUTS` has the shape, without the batch, and the dtype of each name in the expressions. A program that runs this file
prints what the library's dispatcher gets in each call.
"""

import json
import sys

INPUTS = {
    "x": ((3, 4), "float32"),
    "y": ((3, 4), "float32"),
    "m": ((4, 4), "float32"),
    "v": ((4,), "float32"),
    "h": ((8,), "float32"),
    "i": ((4,), "int32"),
    "j": ((4,), "int32"),
    "b": ((4,), "bool"),
    "d": ((4,), "bool"),
    "c": ((4,), "complex64"),
    "s": ((), "string"),
    "t": ((2,), "string"),
    "z": ((6, 6, 3), "float32"),
    "u": ((6, 6, 3), "uint8"),
    "w": ((8, 2), "float32"),
    "k": ((4, 4, 4, 2), "float32"),
}

CALLS = """
x + y
x + 1.0
1.0 + x
x - y
2.0 - x
x * y
3.0 * x
x / y
1.0 / x
i / j
x // y
2.0 // x
x % y
2.0 % x
x ** 2.0
2.0 ** x
-x
abs(x)
x @ m[:, :, :2]
m @ m
x < y
x <= 0.5
x > y
x >= 0.5
x == y
x != y
b & d
b | d
b ^ d
~b
i & j
i | 3
i ^ j
True & b
x[:, 0]
x[:, 0, 1:3]
x[..., -1]
x[:, ::2]
x[:, tf.newaxis]
x[0]
x[:, i[0, 0]]
tf.abs(x)
tf.acos(x)
tf.acosh(x + 2.0)
tf.add(x, y)
tf.add_n([x, y, x])
tf.argmax(x, axis=-1)
tf.argmin(x, axis=1)
tf.argsort(x)
tf.as_string(i)
tf.asin(x)
tf.asinh(x)
tf.atan(x)
tf.atan2(x, y)
tf.atanh(x)
tf.batch_to_space(tf.concat([z, z, z, z], 0), [2, 2], [[0, 0], [0, 0]])
tf.bitcast(x, tf.int32)
tf.boolean_mask(v, b)
tf.broadcast_to(v, [2, 2, 4])
tf.cast(x, tf.int32)
tf.cast(x, tf.float32)
tf.clip_by_global_norm([x, y], 1.0)
tf.clip_by_norm(x, 1.0)
tf.clip_by_norm(x, 1.0, axes=[1])
tf.clip_by_value(x, -0.5, 0.5)
tf.complex(x, y)
tf.concat([x, y], axis=-1)
tf.concat([x, tf.ones([2, 3, 4])], 0)
tf.convert_to_tensor(x)
tf.cos(x)
tf.cosh(x)
tf.cumsum(x, axis=1)
tf.divide(x, y)
tf.dynamic_partition(v, i, 10)
tf.einsum('bij,bkj->bik', x, y)
tf.ensure_shape(x, [None, 3, 4])
tf.equal(x, y)
tf.exp(x)
tf.expand_dims(x, 1)
tf.expand_dims(x, axis=-1)
tf.floor(x)
tf.gather(x, [0, 2], axis=1)
tf.gather(v, i, axis=1, batch_dims=1)
tf.gather_nd(v, i[:, :2, tf.newaxis], batch_dims=1)
tf.greater(x, y)
tf.greater_equal(x, 0.0)
tf.histogram_fixed_width(x, [0.0, 1.0], 5)
tf.identity(x)
tf.identity_n([x, y])
tf.less(x, y)
tf.less_equal(x, y)
tf.logical_and(b, d)
tf.logical_not(b)
tf.logical_or(b, d)
tf.matmul(x, m)
tf.matmul(x, y, transpose_b=True)
tf.maximum(x, y)
tf.meshgrid(v[0], v[1])
tf.minimum(x, 0.5)
tf.multiply(x, y)
tf.negative(x)
tf.norm(x)
tf.norm(x, axis=-1, ord=1)
tf.not_equal(x, y)
tf.one_hot(i, 10)
tf.ones_like(x)
tf.pad(x, [[0, 0], [1, 1], [0, 0]])
tf.pow(x, 2.0)
tf.rank(x)
tf.realdiv(x, y)
tf.reduce_all(b, axis=1)
tf.reduce_any(b)
tf.reduce_logsumexp(x, axis=-1)
tf.reduce_max(x, axis=1)
tf.reduce_mean(x)
tf.reduce_min(x, axis=-1, keepdims=True)
tf.reduce_prod(x, axis=1)
tf.reduce_sum(x, axis=[1, 2])
tf.repeat(v, 2, axis=1)
tf.reshape(x, [-1, 12])
tf.reshape(x, (2, -1))
tf.reverse(x, axis=[1])
tf.reverse_sequence(x, [1, 2], seq_axis=1)
tf.roll(x, 1, axis=1)
tf.round(x)
tf.saturate_cast(x, tf.uint8)
tf.scalar_mul(2.0, x)
tf.searchsorted(tf.constant([[0.1, 0.5]] * 2), v)
tf.sequence_mask(i, 10)
tf.shape(x)
tf.sigmoid(x)
tf.sign(x)
tf.sin(x)
tf.sinh(x)
tf.size(x)
tf.slice(x, [0, 0, 0], [-1, 2, 2])
tf.sort(x)
tf.space_to_batch(z, [2, 2], [[0, 0], [0, 0]])
tf.split(x, 2, axis=-1)
tf.split(x, [1, 3], axis=2)
tf.sqrt(x)
tf.square(x)
tf.squeeze(x[:, :1], axis=1)
tf.stack([x, y], axis=1)
tf.stop_gradient(x)
tf.strided_slice(x, [0, 0, 0], [2, 2, 2])
tf.subtract(x, y)
tf.tan(x)
tf.tanh(x)
tf.tensor_scatter_nd_add(v, [[0, 1]], [1.0])
tf.tensor_scatter_nd_update(v, [[0, 1]], [1.0])
tf.tensordot(x, tf.ones([4, 5]), axes=1)
tf.tensordot(x, y, axes=[[1], [1]])
tf.tile(x, [1, 2, 1])
tf.transpose(x)
tf.transpose(x, [0, 2, 1])
tf.transpose(x, perm=[0, 2, 1])
tf.truediv(x, y)
tf.truncatediv(i, j + 1)
tf.truncatemod(x, y)
tf.unique(v[0])
tf.unstack(x, axis=1)
tf.where(b)
tf.where(b, v, tf.zeros_like(v))
tf.where(x > 0.5, x, 0.0)
tf.zeros_like(x)
tf.math.add(x, y)
tf.math.angle(c)
tf.math.accumulate_n([x, y])
tf.math.bessel_i0(x)
tf.math.bessel_i0e(x)
tf.math.bessel_i1(x)
tf.math.betainc(x, y, y)
tf.math.bincount(i)
tf.math.ceil(x)
tf.math.confusion_matrix(i[0], j[0], 10)
tf.math.conj(c)
tf.math.conj(x)
tf.math.count_nonzero(x)
tf.math.count_nonzero(x, axis=1)
tf.math.cumprod(x, axis=1)
tf.math.cumulative_logsumexp(x)
tf.math.digamma(x)
tf.math.divide_no_nan(x, y)
tf.math.erf(x)
tf.math.erfc(x)
tf.math.erfinv(x)
tf.math.erfcinv(x)
tf.math.expm1(x)
tf.math.floordiv(x, y)
tf.math.floormod(x, y)
tf.math.igamma(x, y)
tf.math.igammac(x, y)
tf.math.imag(c)
tf.math.in_top_k([0, 1], v, 2)
tf.math.invert_permutation([2, 0, 1])
tf.math.is_finite(x)
tf.math.is_inf(x)
tf.math.is_nan(x)
tf.math.is_non_decreasing(v)
tf.math.is_strictly_increasing(v)
tf.math.l2_normalize(x, axis=-1)
tf.math.lbeta(x)
tf.math.lgamma(x)
tf.math.log(x)
tf.math.log1p(x)
tf.math.log_sigmoid(x)
tf.math.logical_xor(b, d)
tf.math.multiply_no_nan(x, y)
tf.math.ndtri(x)
tf.math.nextafter(x, y)
tf.math.polygamma(x, y)
tf.math.polyval([x, y], 2.0)
tf.math.real(c)
tf.math.real(x)
tf.math.reciprocal(x)
tf.math.reciprocal_no_nan(x)
tf.math.reduce_euclidean_norm(x, axis=1)
tf.math.reduce_std(x, axis=-1)
tf.math.reduce_variance(x)
tf.math.rint(x)
tf.math.rsqrt(x)
tf.math.segment_sum(v, [0, 1])
tf.math.softplus(x)
tf.math.special.dawsn(x)
tf.math.special.expint(x)
tf.math.special.spence(x)
tf.math.squared_difference(x, y)
tf.math.top_k(x, 2)
tf.math.unsorted_segment_sum(v, [0, 1], 3)
tf.math.unsorted_segment_mean(v, [0, 1], 3)
tf.math.xdivy(x, y)
tf.math.xlog1py(x, y)
tf.math.xlogy(x, y)
tf.math.zero_fraction(x)
tf.math.zeta(x + 2.0, y)
tf.bitwise.bitwise_and(i, j)
tf.bitwise.bitwise_or(i, j)
tf.bitwise.bitwise_xor(i, j)
tf.bitwise.invert(i)
tf.bitwise.left_shift(i, 1)
tf.bitwise.right_shift(i, 1)
tf.linalg.adjoint(m)
tf.linalg.band_part(m, -1, 0)
tf.linalg.cholesky(tf.eye(4) + 0.0 * m)
tf.linalg.cross(x[:, :, :3], y[:, :, :3])
tf.linalg.det(m)
tf.linalg.diag(v)
tf.linalg.diag_part(m)
tf.linalg.einsum('bij->bji', x)
tf.linalg.eigvalsh(m)
tf.linalg.expm(m)
tf.linalg.global_norm([x, y])
tf.linalg.inv(m)
tf.linalg.logdet(tf.eye(4) + 0.0 * m)
tf.linalg.lstsq(m, m)
tf.linalg.matmul(m, m, adjoint_a=True)
tf.linalg.matrix_rank(m)
tf.linalg.matrix_transpose(x)
tf.linalg.matvec(x, v)
tf.linalg.norm(v, axis=1)
tf.linalg.normalize(v, axis=1)
tf.linalg.pinv(x)
tf.linalg.qr(x)
tf.linalg.set_diag(m, v)
tf.linalg.slogdet(m)
tf.linalg.solve(m, m)
tf.linalg.svd(x, compute_uv=False)
tf.linalg.tensor_diag(v[0])
tf.linalg.tensor_diag_part(m[0])
tf.linalg.trace(m)
tf.linalg.triangular_solve(m, m)
tf.nn.avg_pool(z, 2, 2, 'SAME')
tf.nn.avg_pool1d(x, 2, 1, 'VALID')
tf.nn.avg_pool2d(z, 2, 2, 'SAME')
tf.nn.avg_pool3d(k, 2, 2, 'SAME')
tf.nn.atrous_conv2d(z, tf.ones([2, 2, 3, 5]), 2, 'VALID')
tf.nn.batch_normalization(x, 0.5, 2.0, None, None, 1e-3)
tf.nn.bias_add(x, tf.ones([4]))
tf.nn.compute_average_loss(v, global_batch_size=4)
tf.nn.conv1d(x, tf.ones([2, 4, 5]), 1, 'SAME')
tf.nn.conv2d(z, tf.ones([2, 2, 3, 5]), 1, 'SAME')
tf.nn.conv2d_transpose(z, tf.ones([2, 2, 5, 3]), [2, 12, 12, 5], 2)
tf.nn.conv3d(k, tf.ones([2, 2, 2, 2, 5]), [1, 1, 1, 1, 1], 'SAME')
tf.nn.convolution(z, tf.ones([2, 2, 3, 5]), padding='SAME')
tf.nn.crelu(x)
tf.nn.depth_to_space(tf.concat([z, z, z, z], -1), 2)
tf.nn.depthwise_conv2d(z, tf.ones([2, 2, 3, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.dilation2d(z, tf.ones([2, 2, 3]), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
tf.nn.dropout(x, 0.0)
tf.nn.elu(x)
tf.nn.embedding_lookup(tf.ones([10, 3]), i)
tf.nn.erosion2d(z, tf.ones([2, 2, 3]), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
tf.nn.gelu(x)
tf.nn.gelu(x, approximate=True)
tf.nn.l2_loss(x)
tf.nn.l2_normalize(x, axis=-1)
tf.nn.leaky_relu(x)
tf.nn.leaky_relu(x, alpha=0.1)
tf.nn.local_response_normalization(z)
tf.nn.log_poisson_loss(x, y)
tf.nn.log_softmax(x)
tf.nn.max_pool(z, 2, 2, 'SAME')
tf.nn.max_pool1d(x, 2, 1, 'VALID')
tf.nn.max_pool2d(z, 2, 2, 'VALID')
tf.nn.max_pool3d(k, 2, 2, 'SAME')
tf.nn.max_pool_with_argmax(z, 2, 2, 'SAME')
tf.nn.moments(x, axes=[1])
tf.nn.normalize_moments(4.0, v, v, None)
tf.nn.pool(z, [2, 2], 'MAX')
tf.nn.relu(x)
tf.nn.relu6(x)
tf.nn.selu(x)
tf.nn.separable_conv2d(z, tf.ones([2, 2, 3, 1]), tf.ones([1, 1, 3, 5]), [1, 1, 1, 1], 'SAME')
tf.nn.sigmoid(x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)
tf.nn.silu(x)
tf.nn.softmax(x)
tf.nn.softmax(x, axis=1)
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=y)
tf.nn.softplus(x)
tf.nn.softsign(x)
tf.nn.space_to_depth(z, 2)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=v)
tf.nn.sufficient_statistics(x, [1])
tf.nn.swish(x)
tf.nn.tanh(x)
tf.nn.top_k(x, 2)
tf.nn.weighted_cross_entropy_with_logits(x, y, 2.0)
tf.nn.weighted_moments(x, [1], y)
tf.nn.zero_fraction(x)
tf.image.adjust_brightness(z, 0.1)
tf.image.adjust_contrast(z, 2.0)
tf.image.adjust_gamma(z, 2.0)
tf.image.adjust_hue(z, 0.1)
tf.image.adjust_saturation(z, 2.0)
tf.image.central_crop(z, 0.5)
tf.image.convert_image_dtype(u, tf.float32)
tf.image.crop_and_resize(z, [[0.0, 0.0, 1.0, 1.0]], [0], [3, 3])
tf.image.crop_to_bounding_box(z, 1, 1, 3, 3)
tf.image.extract_patches(z, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.image.flip_left_right(z)
tf.image.flip_up_down(z)
tf.image.grayscale_to_rgb(z[..., :1])
tf.image.hsv_to_rgb(z)
tf.image.image_gradients(z)
tf.image.pad_to_bounding_box(z, 1, 1, 9, 9)
tf.image.per_image_standardization(z)
tf.image.psnr(z, z, 1.0)
tf.image.resize(z, [3, 3])
tf.image.resize(z, [3, 3], method='nearest')
tf.image.resize(z, [9, 9], antialias=True, method='bicubic')
tf.image.resize_with_crop_or_pad(z, 4, 9)
tf.image.resize_with_pad(z, 9, 12)
tf.image.rgb_to_grayscale(z)
tf.image.rgb_to_hsv(z)
tf.image.rgb_to_yiq(z)
tf.image.rgb_to_yuv(z)
tf.image.rot90(z)
tf.image.sobel_edges(z)
tf.image.ssim(z, z, 1.0, filter_size=3)
tf.image.total_variation(z)
tf.image.transpose(z)
tf.image.yiq_to_rgb(z)
tf.image.yuv_to_rgb(z)
tf.signal.dct(h)
tf.signal.fft(c)
tf.signal.fft2d(tf.stack([c, c], 1))
tf.signal.fftshift(h)
tf.signal.frame(h, 4, 2)
tf.signal.idct(h)
tf.signal.ifft(c)
tf.signal.irfft(c)
tf.signal.overlap_and_add(w, 1)
tf.signal.rfft(h)
tf.signal.stft(h, 4, 2)
tf.strings.as_string(x)
tf.strings.bytes_split(s)
tf.strings.format('{}', s)
tf.strings.join([s, s], '-')
tf.strings.length(s)
tf.strings.lower(s)
tf.strings.ngrams(t, 2)
tf.strings.reduce_join(t, axis=-1)
tf.strings.regex_full_match(s, 'a.*')
tf.strings.regex_replace(s, 'a', 'b')
tf.strings.split(s)
tf.strings.split(s, sep='a')
tf.strings.strip(s)
tf.strings.substr(s, 0, 1)
tf.strings.to_hash_bucket(s, 10)
tf.strings.to_hash_bucket_fast(s, 10)
tf.strings.to_hash_bucket_strong(s, 10, [1, 2])
tf.strings.to_number(tf.strings.as_string(x))
tf.strings.unicode_decode(s, 'UTF-8')
tf.strings.unicode_encode(i + 65, 'UTF-8')
tf.strings.unicode_script(i)
tf.strings.unicode_split(s, 'UTF-8')
tf.strings.unicode_transcode(s, 'UTF-8', 'UTF-16-BE')
tf.strings.upper(s)
tf.io.decode_base64(tf.io.encode_base64(s))
tf.io.decode_raw(tf.strings.join([s, '12345678']), tf.uint8)
tf.io.decode_csv(tf.strings.as_string(v[:, 0]), [0.0])
tf.io.encode_base64(s)
tf.debugging.check_numerics(x, 'no')
tf.debugging.assert_all_finite(x, 'no')
tf.quantization.fake_quant_with_min_max_args(x)
tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 1.0)
tf.quantization.quantize_and_dequantize_v2(x, 0.0, 1.0)
tf.random.shuffle(x)[:0]
tf.random.stateless_uniform(tf.shape(x), [1, 2])
tf.random.categorical(v, 0)
tf.foldl(lambda a, e: a + e, x)
tf.map_fn(lambda e: e * 2.0, x)
tf.scan(lambda a, e: a + e, x)
tf.vectorized_map(lambda e: e * 2.0, x)
tf.cond(b[0, 0], lambda: 1.0, lambda: 2.0)
tf.ragged.boolean_mask(v, b)
tf.RaggedTensor.from_tensor(x)
tf.sparse.from_dense(x)
tf.raw_ops.Relu(features=x)
tf.raw_ops.AddV2(x=x, y=y)
tf.compat.v1.transpose(x, [0, 2, 1])
tf.compat.v1.reduce_sum(x, axis=1)
tf.compat.v1.where(b)
tf.compat.v1.expand_dims(x, 1)
tf.compat.v1.squeeze(x[:, :1], axis=1)
tf.compat.v1.shape(x)
tf.compat.v1.to_float(i)
tf.compat.v1.div(x, y)
tf.compat.v1.nn.softmax(x)
tf.compat.v1.image.resize_bilinear(z, [3, 3])
tf.compat.v1.math.add(x, y)
tf.compat.v1.gather(v, [0])
tf.compat.v1.strings.split(s)
""".strip().splitlines()


def recorded(tf):
    """Returns, for each call, the canonical names of the functions that a dispatcher gets and on which the result
    depends, or None for an error.

    Args:
        tf: TensorFlow or TapeFlow, as the module `tensorflow`.
    """
    from tensorflow.python.util.tf_export import get_canonical_name_for_symbol

    names = []

    class Symbol:
        """A symbol: it has a tensor that public functions do not know of, and the calls that this depends on."""

        is_tensor_like = True
        __hash__ = object.__hash__

        def __init__(self, value, calls=frozenset()):
            self.value, self.calls = value, calls

        @property
        def shape(self):
            return self.value.shape

        @property
        def dtype(self):
            return self.value.dtype

        def get_shape(self):
            return self.shape

        def __array__(self, dtype=None):
            raise TypeError("a symbol is no array")

        def __iter__(self):
            raise TypeError("a symbol has no length")

    for operator in tf.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Symbol, operator, getattr(tf.Tensor, operator))

    def value_of(x):
        return x.value if isinstance(x, Symbol) else x

    def calls_of(values):
        return frozenset().union(*(x.calls for x in tf.nest.flatten(values) if isinstance(x, Symbol)))

    class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if not any(isinstance(x, Symbol) for x in tf.nest.flatten([args, kwargs])):
                return self.NOT_SUPPORTED
            calls = calls_of([args, kwargs]) | {len(names)}
            names.append(get_canonical_name_for_symbol(op, add_prefix_to_v1_names=True))
            args, kwargs = tf.nest.map_structure(value_of, [args, kwargs])
            return tf.nest.map_structure(lambda x: Symbol(x, calls), op(*args, **kwargs))

    Dispatcher().register()
    results = {}
    for expression in CALLS:
        symbols = {
            name: Symbol(tf.fill((2, *shape), "a") if dtype == "string" else tf.cast(tf.zeros((2, *shape)), dtype))
            for name, (shape, dtype) in INPUTS.items()
        }
        symbols["m"] = Symbol(tf.eye(4, batch_shape=[2]))
        names.clear()
        try:
            results[expression] = [names[i] for i in sorted(calls_of([eval(expression, {"tf": tf, **symbols})]))]
        except Exception:
            results[expression] = None
    return results


if __name__ == "__main__":
    import tensorflow

    json.dump(recorded(tensorflow), sys.stdout)
