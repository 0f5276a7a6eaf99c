"""The public functions of seven namespaces, and the top-level ones that compute, with one usual input each.

A benchmark is named by its call. `benchmarks/sweep.py` runs them. Left out are strings, files that TensorFlow can't
write, and functions that TensorFlow has for GPUs alone.
"""

import numpy as np

THREADS = 1

# Functions that share their arguments.
SHARED = {
    "x": """
        math.abs math.angle math.asinh math.atan math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.ceil
        math.conj math.cos math.cosh math.erf math.erfc math.exp math.expm1 math.floor math.imag math.is_finite
        math.is_inf math.is_nan math.log_sigmoid math.negative math.real math.reciprocal_no_nan math.reduce_max
        math.reduce_sum math.rint math.round math.sigmoid math.sign math.sin math.sinh math.softplus math.softsign
        math.special.dawsn math.special.fresnel_cos math.special.fresnel_sin math.square math.tan math.tanh
        math.zero_fraction nn.crelu nn.elu nn.gelu nn.isotonic_regression nn.l2_loss nn.leaky_relu nn.relu nn.relu6
        nn.selu nn.sigmoid nn.silu nn.softplus nn.softsign nn.swish nn.tanh nn.zero_fraction linalg.diag
        linalg.normalize signal.mfccs_from_log_mel_spectrograms identity norm ones_like transpose unstack zeros_like
        RaggedTensor.from_tensor""",
    "chances": "math.acos math.asin math.atanh math.erfcinv math.erfinv math.ndtri",
    "positive": """
        math.acosh math.digamma math.lbeta math.lgamma math.log math.log1p math.reciprocal math.rsqrt
        math.special.bessel_j0 math.special.bessel_j1 math.special.bessel_k0 math.special.bessel_k0e
        math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0 math.special.bessel_y1
        math.special.expint math.special.spence math.sqrt""",
    "x, y": """
        math.add math.atan2 math.divide math.divide_no_nan math.equal math.floordiv math.floormod math.greater
        math.greater_equal math.less math.less_equal math.maximum math.minimum math.mod math.multiply
        math.multiply_no_nan math.nextafter math.not_equal math.squared_difference math.subtract math.truediv
        complex realdiv truncatediv truncatemod""",
    "positive, other": "math.igamma math.igammac math.pow math.xdivy math.xlog1py math.xlogy",
    "bits": "math.logical_not math.reduce_all math.reduce_any where",
    "bits, bits2": "math.logical_and math.logical_or math.logical_xor",
    "x, 1": """
        math.argmax math.argmin math.count_nonzero math.cumprod math.cumsum math.cumulative_logsumexp math.l2_normalize
        math.log_softmax math.reduce_euclidean_norm math.reduce_logsumexp math.reduce_max math.reduce_mean
        math.reduce_min math.reduce_prod math.reduce_std math.reduce_sum math.reduce_variance math.softmax
        nn.l2_normalize nn.log_softmax nn.moments nn.softmax argsort linalg.l2_normalize sort""",
    "x, 0": """
        math.argmax math.cumsum math.reduce_logsumexp math.reduce_max math.reduce_mean math.reduce_sum math.softmax
        expand_dims""",
    "x, ids": "math.segment_max math.segment_mean math.segment_min math.segment_prod math.segment_sum",
    "x, mixed, 64": """
        math.unsorted_segment_max math.unsorted_segment_mean math.unsorted_segment_min math.unsorted_segment_prod
        math.unsorted_segment_sqrt_n math.unsorted_segment_sum dynamic_partition ragged.stack_dynamic_partitions""",
    "x, mixed, ids": "sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum",
    "logits, 10": "math.approx_max_k math.top_k nn.approx_max_k nn.top_k approx_top_k",
    "targets, logits, 5": "math.in_top_k nn.in_top_k",
    "maps, 2, 2, 'SAME'": "nn.avg_pool nn.avg_pool2d nn.max_pool nn.max_pool2d nn.max_pool_with_argmax",
    "photo": """
        image.flip_left_right image.flip_up_down image.hsv_to_rgb image.per_image_standardization
        image.random_flip_left_right image.random_flip_up_down image.rgb_to_grayscale image.rgb_to_hsv image.rgb_to_yiq
        image.rgb_to_yuv image.rot90 image.total_variation image.transpose image.yiq_to_rgb image.yuv_to_rgb""",
    "photos": "image.flip_left_right image.flip_up_down image.image_gradients image.rgb_to_hsv image.sobel_edges",
    "boxes, scores, 100": """
        image.non_max_suppression image.non_max_suppression_padded image.non_max_suppression_with_scores""",
    "matrices": """
        linalg.adjoint linalg.cholesky linalg.det linalg.diag_part linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
        linalg.expm linalg.inv linalg.logdet linalg.lu linalg.matrix_rank linalg.matrix_transpose linalg.norm
        linalg.pinv linalg.qr linalg.slogdet linalg.sqrtm linalg.svd linalg.trace matrix_square_root""",
    "matrix": """
        linalg.cholesky linalg.eigh linalg.eigvalsh linalg.expm linalg.inv linalg.lu linalg.pinv linalg.qr
        linalg.slogdet linalg.sqrtm linalg.svd linalg.tensor_diag_part""",
    "tall": "linalg.pinv linalg.qr linalg.svd",
    "matrices, matrices": """
        linalg.cholesky_solve linalg.lstsq linalg.matmul linalg.solve linalg.triangular_solve""",
    "matrix, matrix": "linalg.cholesky_solve linalg.matmul linalg.solve linalg.triangular_solve",
    "coo, coo2": "sparse.add sparse.maximum sparse.minimum",
    "coo": """
        sparse.reset_shape sparse.softmax sparse.to_dense sparse.transpose""",
    "coo, 1": "sparse.reduce_max sparse.reduce_sum",
    "tone": "signal.dct signal.fftshift signal.idct signal.ifftshift signal.rfft",
    "tones": "signal.rfft2d signal.rfft3d",
    "waves": """
        signal.fft signal.fft2d signal.fft3d signal.ifft signal.ifft2d signal.ifft3d signal.irfft signal.irfft2d
        signal.irfft3d""",
    "512": """
        signal.hamming_window signal.hann_window signal.kaiser_bessel_derived_window signal.kaiser_window
        signal.vorbis_window""",
    "x, pairs, row": """
        tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
        tensor_scatter_nd_update""",
    "ints": "math.bincount unique unique_with_counts sort argsort",
    "vector": """
        math.is_non_decreasing math.is_strictly_increasing nn.compute_average_loss nn.scale_regularization_loss sort
        argsort unique""",
    "ragged, 1": "reduce_max reduce_mean reduce_sum",
    "[256, 256]": "ones zeros",
}

# The others, by lines.
CALLS = """
math.accumulate_n([x, y, x])
math.add_n([x, y, x])
math.betainc(positive, other, chances)
math.bincount(ints, weights=vector, minlength=1000)
math.confusion_matrix(ints % 10, ints // 7 % 10, 10)
math.invert_permutation(permutation)
math.polygamma(1.0, positive)
math.polyval([x, y, x], y)
math.reduce_mean(photos, [1, 2])
math.scalar_mul(2.0, x)
math.sobol_sample(10, 1000)
math.top_k(vector, 100)
math.top_k(ints, 100)
math.zeta(positive + 1.5, other)
nn.all_candidate_sampler(classes, 1, 64, True)
nn.atrous_conv2d(maps, filters, 2, "SAME")
nn.atrous_conv2d_transpose(maps, filters, [8, 32, 32, 16], 2, "SAME")
nn.avg_pool1d(sequences, 2, 2, "SAME")
nn.avg_pool3d(volumes, 2, 2, "SAME")
nn.batch_norm_with_global_normalization(maps, channel, spread, channel, spread, 1e-3, True)
nn.batch_normalization(maps, channel, spread, channel, spread, 1e-3)
nn.bias_add(maps, channel)
nn.collapse_repeated(tokens, short)
nn.compute_accidental_hits(classes, sampled, 1)
nn.conv1d(sequences, filters[0], 1, "SAME")
nn.conv1d_transpose(sequences, filters[0], [8, 256, 16], 2, "SAME")
nn.conv2d(maps, filters, 1, "SAME")
nn.conv2d_transpose(maps, filters, [8, 64, 64, 16], 2, "SAME")
nn.conv3d(volumes, filters3, [1] * 5, "SAME")
nn.conv3d_transpose(volumes, filters3, [2, 16, 32, 32, 16], 2, "SAME")
nn.conv_transpose(maps, filters, [8, 64, 64, 16], 2, "SAME")
nn.convolution(maps, filters, padding="SAME")
nn.ctc_beam_search_decoder(speech, lengths, 10)
nn.ctc_greedy_decoder(speech, lengths)
nn.ctc_loss(tokens, speech, short, lengths, blank_index=0)
nn.ctc_unique_labels(tokens)
nn.depth_to_space(maps, 2)
nn.depthwise_conv2d(maps, depthwise, [1] * 4, "SAME")
nn.depthwise_conv2d_backprop_filter(maps, [3, 3, 16, 1], maps, [1] * 4, "SAME")
nn.depthwise_conv2d_backprop_input([8, 32, 32, 16], depthwise, maps, [1] * 4, "SAME")
nn.dilation2d(maps, filters[..., 0], [1] * 4, "SAME", "NHWC", [1] * 4)
nn.dropout(x, 0.5)
nn.embedding_lookup(table, tokens)
nn.embedding_lookup_sparse(table, sparse_ids, None)
nn.erosion2d(maps, filters[..., 0], [1] * 4, "SAME", "NHWC", [1] * 4)
nn.experimental.general_dropout(x, 0.5, tf.random.uniform)
nn.experimental.stateless_dropout(x, 0.5, [1, 2])
nn.fixed_unigram_candidate_sampler(classes, 1, 64, True, 1000, unigrams=unigrams)
nn.fractional_avg_pool(maps, [1.0, 1.4, 1.4, 1.0], seed=1)
nn.fractional_max_pool(maps, [1.0, 1.4, 1.4, 1.0], seed=1)
nn.learned_unigram_candidate_sampler(classes, 1, 64, True, 1000)
nn.local_response_normalization(maps)
nn.log_poisson_loss(positive, x)
nn.lrn(maps)
nn.max_pool(maps, 3, 2, "SAME")
nn.max_pool1d(sequences, 2, 2, "SAME")
nn.max_pool3d(volumes, 2, 2, "SAME")
nn.moments(maps, [0, 1, 2])
nn.nce_loss(table, bias, classes, hidden, 64, 1000)
nn.normalize_moments(100.0, channel, spread, None)
nn.pool(maps, [2, 2], "MAX", [2, 2])
nn.safe_embedding_lookup_sparse(table, sparse_ids)
nn.sampled_softmax_loss(table, bias, classes, hidden, 64, 1000)
nn.separable_conv2d(maps, depthwise, filters[:1, :1], [1] * 4, "SAME")
nn.sigmoid_cross_entropy_with_logits(chances, x)
nn.softmax_cross_entropy_with_logits(chances, x)
nn.space_to_batch(maps, [2, 2], [[0, 0], [0, 0]])
nn.space_to_depth(maps, 2)
nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
nn.sufficient_statistics(x, [0])
nn.weighted_cross_entropy_with_logits(chances, x, 2.0)
nn.weighted_moments(x, [0], chances)
nn.with_space_to_batch(maps, [2, 2], "VALID", lambda maps, *_: maps)
image.adjust_brightness(photo, 0.1)
image.adjust_contrast(photo, 2.0)
image.adjust_gamma(photo, 0.7)
image.adjust_hue(photo, 0.1)
image.adjust_hue(bytes_photo, 0.1)
image.adjust_jpeg_quality(photo, 75)
image.adjust_saturation(photo, 1.5)
image.adjust_saturation(bytes_photo, 1.5)
image.central_crop(photo, 0.5)
image.combined_non_max_suppression(class_boxes, class_scores, 50, 100)
image.convert_image_dtype(bytes_photo, tf.float32)
image.convert_image_dtype(photo, tf.uint8)
image.crop_and_resize(photos, frames, list(range(8)), [64, 64])
image.crop_to_bounding_box(photo, 16, 16, 128, 128)
image.decode_and_crop_jpeg(jpeg, [16, 16, 128, 128])
image.decode_image(jpeg)
image.decode_jpeg(jpeg)
image.decode_png(png)
image.draw_bounding_boxes(photos, frames[:, None], [[1.0, 0.0, 0.0]])
image.extract_glimpse(photos, [64, 64], frames[:, :2])
image.extract_jpeg_shape(jpeg)
image.extract_patches(photos, [1, 8, 8, 1], [1, 8, 8, 1], [1] * 4, "VALID")
image.grayscale_to_rgb(photo[..., :1])
image.is_jpeg(jpeg)
image.non_max_suppression_overlaps(overlaps, scores, 100)
image.non_max_suppression_with_scores(boxes, scores, 100, soft_nms_sigma=0.5)
image.pad_to_bounding_box(photo, 16, 16, 256, 256)
image.psnr(photo, photo2, 1.0)
image.random_brightness(photo, 0.2)
image.random_contrast(photo, 0.5, 1.5)
image.random_crop(photo, [128, 128, 3])
image.random_hue(photo, 0.2)
image.random_jpeg_quality(photo, 60, 90)
image.random_saturation(photo, 0.5, 1.5)
image.resize(photo, [64, 64])
image.resize(photos, [64, 64])
image.resize(photos, [64, 64], "area")
image.resize(photos, [64, 64], "lanczos3")
image.resize(photos, [64, 64], antialias=True)
image.resize(photos, [384, 384])
image.resize(photos, [384, 384], "bicubic")
image.resize(photos, [384, 384], "nearest")
image.resize(bytes_photo, [64, 64])
image.resize_with_crop_or_pad(photo, 128, 256)
image.resize_with_pad(photo, 128, 256)
image.sample_distorted_bounding_box([192, 192, 3], frames[None, :1], min_object_covered=0.1)
image.ssim(photo, photo2, 1.0)
image.ssim_multiscale(photo, photo2, 1.0)
image.stateless_random_brightness(photo, 0.2, [1, 2])
image.stateless_random_contrast(photo, 0.5, 1.5, [1, 2])
image.stateless_random_crop(photo, [128, 128, 3], [1, 2])
image.stateless_random_flip_left_right(photo, [1, 2])
image.stateless_random_flip_up_down(photo, [1, 2])
image.stateless_random_hue(photo, 0.2, [1, 2])
image.stateless_random_jpeg_quality(photo, 60, 90, [1, 2])
image.stateless_random_saturation(photo, 0.5, 1.5, [1, 2])
image.stateless_sample_distorted_bounding_box([192, 192, 3], frames[None, :1], [1, 2], 0.1)
linalg.band_part(matrices, 2, 3)
linalg.banded_triangular_solve(bands, x)
linalg.cholesky_solve(matrix, x)
linalg.cross(triples, triples[::-1])
linalg.eigh_tridiagonal(channel, spread[1:])
linalg.einsum("bij,bjk->bik", matrices, matrices)
linalg.experimental.conjugate_gradient(operator, row)
linalg.eye(256)
linalg.global_norm([x, y])
linalg.logm(complex_matrices)
linalg.lu_matrix_inverse(*lu)
linalg.lu_reconstruct(*lu)
linalg.lu_solve(*lu, matrices)
linalg.matvec(matrix, row)
linalg.set_diag(matrices, matrices[..., 0])
linalg.tensor_diag(row)
linalg.tensordot(matrices, matrix[:32, :32], 1)
linalg.tridiagonal_matmul(bands3, x)
linalg.tridiagonal_solve(bands3, x)
sparse.add(coo, dense)
sparse.bincount(ints, minlength=1000)
sparse.concat(0, [coo, coo2])
sparse.expand_dims(coo, 0)
sparse.eye(1000)
sparse.fill_empty_rows(coo, 0.0)
sparse.from_dense(dense)
sparse.map_values(tf.abs, coo)
sparse.mask(tf.IndexedSlices(x, permutation[:256]), permutation[:64])
sparse.reorder(shuffled)
sparse.reshape(coo, [-1, 100])
sparse.retain(coo, coo.values > 0)
sparse.slice(coo, [100, 100], [500, 500])
sparse.sparse_dense_matmul(coo, table)
sparse.split(coo, 4, 0)
sparse.to_indicator(sparse_ids, 1000)
ragged.boolean_mask(x, bits)
ragged.constant([[1, 2], [3], [], [4, 5, 6]])
ragged.map_flat_values(tf.abs, ragged)
ragged.range(row_starts, row_starts + mixed)
ragged.row_splits_to_segment_ids(ragged.row_splits)
ragged.segment_ids_to_row_splits(ids)
ragged.stack([ragged, ragged])
RaggedTensor.from_row_splits(vector[: mixed_sum], row_splits)
RaggedTensor.to_tensor(ragged)
signal.frame(tone, 512, 256)
signal.inverse_mdct(frames_of_tone)
signal.inverse_stft(spectrum, 512, 256)
signal.inverse_stft_window_fn(256)(512, tf.float32)
signal.linear_to_mel_weight_matrix()
signal.mdct(tone, 512)
signal.overlap_and_add(frames_of_tone, 128)
signal.stft(tone, 512, 256)
argsort(ints, stable=True)
batch_to_space(maps, [2, 2], [[0, 0], [0, 0]])
bitcast(x, tf.int32)
boolean_mask(x, bits)
boolean_mask(x, bits[:, 0])
broadcast_to(channel, [64, 64, 16])
cast(bytes_photo, tf.float32)
cast(x, tf.int32)
clip_by_global_norm([x, y], 1.0)
clip_by_norm(x, 1.0)
clip_by_value(x, -1.0, 1.0)
concat([ragged, ragged], 0)
concat([ragged, ragged], 1)
concat([x, y], 1)
constant(numbers)
convert_to_tensor(array)
dynamic_partition(vector, ints % 3, 3)
dynamic_stitch([permutation[:500], permutation[500:]], [vector[:500], vector[500:1000]])
edit_distance(sparse_ids, sparse_ids)
ensure_shape(x, [None, 256])
extract_volume_patches(volumes, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID")
fill([256, 256], 1.0)
foldl(lambda a, b: a + b, x)
foldr(lambda a, b: a + b, x)
gather(ragged, mixed)
gather(table, tokens)
gather(x, mixed, axis=1)
gather(x, mixed[:, None], batch_dims=1)
gather_nd(x, pairs)
histogram_fixed_width(vector, [-2.0, 2.0])
histogram_fixed_width_bins(vector, [-2.0, 2.0])
identity_n([x, y])
linspace(0.0, 1.0, 1000)
map_fn(lambda a: a * 2.0, x)
meshgrid(row, row)
one_hot(ints[:10_000], 100)
pad(maps, [[0, 0], [1, 1], [1, 1], [0, 0]])
pad(maps, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
random_index_shuffle(7, [1, 2, 3], 1000)
range(10000)
rank(x)
repeat(row, mixed)
repeat(x, 3, 0)
reshape(x, [64, -1])
reverse(x, [1])
reverse_sequence(x, mixed, seq_axis=1)
roll(x, 3, 1)
saturate_cast(x, tf.uint8)
scan(lambda a, b: a + b, x)
scatter_nd(pairs, row, [256, 256])
searchsorted(sorted_vector, vector)
searchsorted(sorted_rows, x)
sequence_mask(mixed, 256)
shape(x)
shape_n([x, y])
size(x)
slice(x, [3, 5], [100, 100])
space_to_batch(maps, [2, 2], [[0, 0], [0, 0]])
space_to_batch_nd(maps, [2, 2], [[0, 0], [0, 0]])
split(x, 4, 1)
squeeze(maps[:1])
stack([x, y])
stop_gradient(x)
strided_slice(x, [0, 0], [200, 200], [2, 2])
tensordot(matrix, matrix, 1)
tile(ragged, [2, 1])
tile(x, [2, 2])
transpose(maps, [0, 3, 1, 2])
unravel_index(mixed, [16, 16])
vectorized_map(lambda a: a * 2.0, x)
where(bits, x, y)
"""


def setup(tf):
    names = arguments(tf)
    names |= {"tf": tf, "range": range, "list": list}
    calls = [f"{name}({values})" for values, functions in SHARED.items() for name in functions.split()]
    calls += CALLS.strip().splitlines()
    return {call: eval(f"lambda: tf.{call}", names) for call in calls}


def arguments(tf):
    """Returns the arguments of the calls by name: seeded arrays as tensors, and what is made of them."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape, np.float32)

    def uniform(*shape, low=0.0, high=1.0):
        return rng.uniform(low, high, shape).astype(np.float32)

    mixed, ints = rng.integers(1, 64, 256, np.int32), rng.integers(0, 1000, 100_000, np.int32)
    permutation = rng.permutation(1000).astype(np.int32)
    matrix, small = normal(256, 256), normal(32, 32, 32)
    boxes = np.sort(uniform(1000, 2, 2), 1).reshape(1000, 4)
    dense = np.where(uniform(1000, 1000) < 0.01, normal(1000, 1000), np.float32(0))
    photo, logits = uniform(192, 192, 3), normal(64, 32_000)
    tensors = {
        "x": normal(256, 256),
        "y": normal(256, 256),
        "positive": uniform(256, 256, low=1.0, high=4.0),
        "other": uniform(256, 256, low=1.0, high=4.0),
        "chances": uniform(256, 256, low=0.01, high=0.99),
        "bits": uniform(256, 256) < 0.5,
        "bits2": uniform(256, 256) < 0.5,
        "ids": np.sort(mixed),
        "mixed": mixed,
        "ints": ints,
        "row": normal(256),
        "vector": normal(100_000),
        "sorted_vector": np.sort(normal(1000)),
        "sorted_rows": np.sort(normal(256, 256)),
        "permutation": permutation,
        "pairs": np.stack([permutation[:256] % 256, mixed], 1),
        "triples": normal(10_000, 3),
        "logits": logits,
        "targets": np.where(rng.random(64) < 0.5, logits.argmax(1), rng.integers(0, 32_000, 64)).astype(np.int32),
        "table": normal(1000, 64),
        "bias": normal(1000),
        "hidden": normal(256, 64),
        "classes": mixed.astype(np.int64)[:, None],
        "sampled": rng.permutation(1000)[:64],
        "maps": normal(8, 32, 32, 16),
        "filters": normal(3, 3, 16, 16),
        "depthwise": normal(3, 3, 16, 1),
        "channel": normal(16),
        "spread": uniform(16, low=0.5, high=2.0),
        "sequences": normal(8, 128, 16),
        "volumes": normal(2, 8, 16, 16, 16),
        "filters3": normal(3, 3, 3, 16, 16),
        "tokens": rng.integers(1, 30, (16, 15), np.int32),
        "short": rng.integers(5, 15, 16, np.int32),
        "lengths": np.full(16, 40, np.int32),
        "speech": normal(40, 16, 30),
        "photo": photo,
        "photo2": np.clip(photo + 0.05 * normal(192, 192, 3), 0, 1),
        "photos": uniform(8, 192, 192, 3),
        "bytes_photo": (photo * 255).astype(np.uint8),
        "frames": np.sort(uniform(8, 2, 2), 1).reshape(8, 4),
        "boxes": boxes,
        "scores": uniform(1000),
        "class_boxes": boxes.reshape(1, 1000, 1, 4),
        "class_scores": uniform(1, 1000, 20),
        "overlaps": uniform(1000, 1000),
        "matrix": matrix @ matrix.T / 256 + np.eye(256, dtype=np.float32),
        "matrices": small @ small.transpose(0, 2, 1) / 32 + np.eye(32, dtype=np.float32),
        "tall": normal(512, 64),
        "bands": uniform(5, 256, low=1.0, high=2.0),
        "bands3": uniform(3, 256) + np.float32([[0], [4], [0]]),
        "dense": dense,
        "tone": normal(8, 16_000),
        "tones": normal(16, 64, 64),
        "frames_of_tone": normal(8, 64, 256),
        "row_starts": rng.integers(0, 100, 256, np.int32),
    }
    names = {name: tf.constant(value) for name, value in tensors.items()}
    names |= {"array": tensors["x"], "numbers": tensors["x"][:16].tolist(), "unigrams": [1.0] * 1000}
    names["waves"] = tf.complex(names["tones"], names["tones"][::-1])
    names["complex_matrices"] = tf.cast(names["matrices"], tf.complex64)
    names["operator"] = tf.linalg.LinearOperatorFullMatrix(names["matrix"], True, True, True)
    names["lu"] = tf.linalg.lu(names["matrices"])
    names["spectrum"] = tf.signal.stft(names["tone"], 512, 256)
    names["coo"], names["coo2"] = tf.sparse.from_dense(dense), tf.sparse.from_dense(dense[::-1])
    order = rng.permutation(len(names["coo"].values))
    coo = names["coo"]
    names["shuffled"] = tf.SparseTensor(tf.gather(coo.indices, order), tf.gather(coo.values, order), coo.dense_shape)
    names["sparse_ids"] = tf.sparse.from_dense(tensors["tokens"].astype(np.int64))
    names["mixed_sum"], names["row_splits"] = int(mixed.sum()), np.concatenate([[0], np.cumsum(mixed)])
    names["ragged"] = tf.RaggedTensor.from_row_lengths(names["vector"][: names["mixed_sum"]], mixed)
    image = names["bytes_photo"]
    names |= {"jpeg": tf.io.encode_jpeg(image), "png": tf.io.encode_png(image)}
    return names
