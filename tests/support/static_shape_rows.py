"""Calls whose static shapes are compared with TensorFlow's, of functions that have no row in the op table."""

import numpy as np

import tapeflow as tf
from op_table import Row, rand, sample

IMAGE = rand(2, 4, 5, 3, low=0.0, high=1.0)
ONE_IMAGE = rand(4, 5, 3, low=0.0, high=1.0)
TEXTS = np.array([b"a b", b"c"])
NUMBERS = np.array([b"1", b"2"])
WORDS = np.array([[b"a", b"b"], [b"c", b"d"]])
LABELS = np.array([[3, 4, 4, 3], [1, 2, 0, 0]])
RAW = np.array([b"abcd", b"efgh"])
LENGTHS = np.array([3, 2])
BOXES = np.array([[[0.1, 0.1, 0.5, 0.5]], [[0.2, 0.2, 0.6, 0.7]]])
ROOTS = rand(3, 3) + 4 * np.eye(3)
BATCH = np.stack([ROOTS, ROOTS.T])
ORDER = np.array([0, 2, 1])
ORDERS = np.array([[0, 2, 1], [2, 1, 0]])
EIGHT, FOUR = np.array(8, np.int32), np.array(4, np.int32)
SEED = np.array([1, 2])
SPARSE = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 1]), [2, 2])


def first(x):
    return x


ROWS = [
    Row("clip_by_global_norm", [sample([rand(2), rand(2, 3)], 1.0)]),
    Row("edit_distance", [sample(SPARSE, SPARSE)]),
    Row("eye", [sample(np.array(3)), sample(np.array(3), 4), sample(3, 4, np.array([2]))], gradient=False),
    Row("histogram_fixed_width", [sample(rand(5), [0.0, 5.0], 4)], gradient=False),
    Row("histogram_fixed_width_bins", [
        sample(rand(5), [0.0, 5.0], 4), sample(rand(2, 3), np.array([0.0, 5.0]))], gradient=False),
    Row("meshgrid", [sample(rand(2), rand(3)), sample(rand(2), rand(3), indexing="ij")]),
    Row("ones", [sample(np.array([2, 3]))]),
    Row("fill", [sample(np.array([2, 3]), 1.0), sample([2, 3], rand())]),
    Row("range", [sample(np.array(3)), sample(0, np.array(6), 2)]),
    Row("sequence_mask", [sample(LENGTHS), sample(LENGTHS, 4), sample(LENGTHS, np.array(4)), sample(LABELS, 5)]),
    Row("shape", [sample(rand(2, 3))], gradient=False),
    Row("size", [sample(rand(2, 3))], gradient=False),
    Row("rank", [sample(rand(2, 3))], gradient=False),
    Row("switch_case", [sample(np.array(1, np.int32), [lambda: tf.constant(1), lambda: tf.constant(2)]),
                        sample(np.array(1, np.int32), [lambda: tf.constant([1.0]), lambda: tf.constant([1.0, 2.0])])],
        gradient=False),
    Row("cond", [sample(np.array(True), lambda: tf.constant([1.0]), lambda: tf.constant([2.0, 3.0]))]),
    Row("unique", [sample(np.array([3, 4, 3]))]),
    Row("unique_with_counts", [sample(np.array([3, 4, 3]))]),
    Row("zeros", [sample(np.array([2, 3]))]),
    Row("zeros_like", [sample(rand(2, 3))]),
    Row("map_fn", [sample(first, rand(2, 3))]),
    Row("vectorized_map", [sample(tf.reduce_sum, rand(2, 3))]),
    Row("foldl", [sample(tf.add, rand(2, 3))]),
    Row("scan", [sample(tf.add, rand(2, 3))]),
    Row("broadcast_dynamic_shape", [sample(np.array([2, 1]), np.array([3]))]),
    Row("approx_top_k", [sample(rand(2, 8), 3)], gradient=False),
    Row("as_string", [sample(rand(2, 3))], gradient=False),
    Row("fingerprint", [sample(TEXTS)]),
    Row("math.confusion_matrix", [sample(LENGTHS, LENGTHS), sample(LENGTHS, LENGTHS, 4)]),
    Row("nn.atrous_conv2d_transpose", [sample(rand(1, 4, 4, 2), rand(2, 2, 3, 2), [1, 6, 6, 3], 2, "VALID")]),
    Row("nn.avg_pool", [sample(rand(1, 4, 4, 2), 2, 2, "SAME"), sample(rand(1, 4, 2), 2, 2, "VALID")]),
    Row("nn.max_pool", [sample(rand(1, 4, 4, 2), 2, 2, "SAME"), sample(rand(1, 4, 2), 2, 2, "VALID")]),
    Row("nn.max_pool_with_argmax", [sample(rand(1, 4, 4, 2), 2, 2, "SAME")], gradient=False),
    Row("nn.pool", [sample(rand(1, 4, 4, 2), [2, 2], "MAX")]),
    Row("nn.batch_norm_with_global_normalization", [
        sample(rand(2, 2, 2, 3), rand(3), rand(3, low=0.5, high=1.0), rand(3), rand(3), 0.1, True)]),
    Row("nn.collapse_repeated", [sample(np.array([[1, 1, 2, 2]]), np.array([4]))]),
    Row("nn.compute_average_loss", [
        sample(rand(3)), sample(rand(3), global_batch_size=4), sample(rand(3, 2)),
        sample(rand(3), sample_weight=rand(3, low=0.5, high=1.0))]),
    Row("nn.scale_regularization_loss", [sample(rand(3))]),
    Row("nn.ctc_beam_search_decoder", [sample(rand(3, 2, 4), np.array([3, 2], np.int32))], gradient=False),
    Row("nn.ctc_greedy_decoder", [sample(rand(3, 2, 4), np.array([3, 2], np.int32))], gradient=False),
    Row("nn.ctc_loss", [
        sample(np.array([[1, 2], [2, 0]]), rand(4, 2, 3), np.array([2, 1]), np.array([4, 3])),
        sample(np.array([[1, 2], [2, 0]]), rand(4, 2, 3), np.array([2, 1]), np.array([4, 3]), blank_index=-1),
        sample(np.array([[1, 2], [2, 0]]), rand(2, 4, 3), np.array([2, 1]), np.array([4, 3]), False, blank_index=0),
        sample(SPARSE, rand(4, 2, 3), None, np.array([4, 3]), blank_index=-1),
        sample(SPARSE, rand(4, 2, 3), None, np.array([4, 3]), blank_index=0)]),
    Row("nn.ctc_unique_labels", [sample(LABELS)]),
    Row("nn.embedding_lookup", [sample(rand(3, 2), np.array([[0, 2]]))], gradient=False),
    Row("nn.safe_embedding_lookup_sparse", [sample(rand(3, 2), SPARSE)]),
    Row("nn.embedding_lookup_sparse", [sample(rand(3, 2), SPARSE, None)]),
    Row("nn.sufficient_statistics", [
        sample(rand(2, 3), [0, 1], shift=1.0), sample(rand(2, 3), [0]), sample(rand(2, 3), [1], keepdims=True)]),
    Row("nn.moments", [sample(rand(2, 3), [0])]),
    Row("nn.depthwise_conv2d_backprop_filter", [
        sample(rand(1, 4, 4, 2), [2, 2, 2, 1], rand(1, 4, 4, 2), [1, 1, 1, 1], "SAME")]),
    Row("nn.depthwise_conv2d_backprop_input", [
        sample([1, 4, 4, 2], rand(2, 2, 2, 1), rand(1, 4, 4, 2), [1, 1, 1, 1], "SAME")]),
    Row("image.adjust_brightness", [sample(IMAGE, 0.1)]),
    Row("image.adjust_jpeg_quality", [sample(ONE_IMAGE, 50)], gradient=False),
    Row("image.combined_non_max_suppression", [sample(BOXES[:, :, None], rand(2, 1, 2), 2, 3)], gradient=False),
    Row("image.draw_bounding_boxes", [sample(IMAGE, BOXES, np.ones((1, 3)))], gradient=False),
    Row("image.extract_glimpse", [sample(IMAGE, [2, 2], rand(2, 2), noise="zero")], gradient=False),
    Row("image.non_max_suppression", [
        sample(BOXES[:, 0], rand(2), 1), sample(BOXES[:, 0], rand(2), np.array(1))], gradient=False),
    Row("image.non_max_suppression_padded", [
        sample(BOXES[:, 0], rand(2), 1, pad_to_max_output_size=True), sample(BOXES[:, 0], rand(2), 1)], gradient=False),
    Row("image.non_max_suppression_with_scores", [sample(BOXES[:, 0], rand(2), 1)], gradient=False),
    Row("image.stateless_random_flip_left_right", [sample(IMAGE, SEED), sample(ONE_IMAGE, SEED)]),
    Row("image.stateless_random_flip_up_down", [sample(IMAGE, SEED)]),
    Row("image.stateless_random_brightness", [sample(IMAGE, 0.1, SEED)]),
    Row("image.stateless_random_crop", [sample(IMAGE, [2, 2, 2, 3], SEED)]),
    Row("image.flip_left_right", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("image.flip_up_down", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("image.transpose", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("image.resize", [
        sample(IMAGE, [3, 2]), sample(ONE_IMAGE, [3, 2]), sample(IMAGE, np.array([3, 2])),
        sample(IMAGE, [3, 2], preserve_aspect_ratio=True)]),
    Row("image.resize_with_pad", [sample(IMAGE, 3, 2), sample(ONE_IMAGE, 3, 2)]),
    Row("image.resize_with_crop_or_pad", [sample(IMAGE, 3, 7), sample(ONE_IMAGE, np.array(3), 7)]),
    Row("image.central_crop", [sample(IMAGE, 0.5), sample(ONE_IMAGE, 0.5)]),
    Row("image.crop_to_bounding_box", [sample(IMAGE, np.array(0), 0, 2, 2)]),
    Row("image.pad_to_bounding_box", [sample(IMAGE, 0, 0, np.array(6), 6)]),
    Row("image.per_image_standardization", [sample(IMAGE)]),
    Row("image.sobel_edges", [sample(IMAGE)]),
    Row("image.image_gradients", [sample(IMAGE)]),
    Row("image.total_variation", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("image.psnr", [sample(IMAGE, IMAGE, 1.0)]),
    Row("image.ssim", [sample(IMAGE, IMAGE, 1.0, filter_size=2)]),
    Row("image.rgb_to_yuv", [sample(IMAGE)]),
    Row("image.rgb_to_grayscale", [sample(ONE_IMAGE)]),
    Row("image.grayscale_to_rgb", [sample(IMAGE[..., :1])]),
    Row("image.convert_image_dtype", [sample(IMAGE, "uint8")], gradient=False),
    Row("image.extract_patches", [sample(IMAGE, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")]),
    Row("io.encode_jpeg", [sample(np.zeros((2, 2, 3), np.uint8))]),
    Row("io.encode_png", [sample(np.zeros((2, 2, 3), np.uint8))]),
    Row("signal.inverse_mdct", [sample(rand(3, 4)), sample(rand(2, 3, 4), norm="ortho")]),
    Row("signal.mdct", [sample(rand(16), 8)]),
    Row("signal.inverse_stft", [sample(rand(3, 5), 8, 4), sample(rand(2, 3, 5), 6, 3, fft_length=8),
                                sample(rand(3, 5), EIGHT, FOUR)],
        dtypes=["complex64"]),
    Row("signal.stft", [sample(rand(16), EIGHT, FOUR), sample(rand(16), 8, 4, EIGHT)], gradient=False),
    Row("signal.frame", [sample(rand(16), EIGHT, FOUR)]),
    Row("signal.overlap_and_add", [sample(rand(3, 8), FOUR)]),
    Row("signal.dct", [sample(rand(2, 4), n=3), sample(rand(2, 4))]),
    Row("signal.rfft", [sample(rand(2, 4), np.array([6], np.int32))], gradient=False),
    Row("signal.mfccs_from_log_mel_spectrograms", [sample(rand(2, 3, 4))]),
    Row("linalg.eigh", [sample(ROOTS)]),
    Row("linalg.eig", [sample(ROOTS)], gradient=False),
    Row("linalg.logdet", [sample(ROOTS @ ROOTS.T)]),
    Row("linalg.svd", [
        sample(rand(2, 4, 3)), sample(rand(4, 3), full_matrices=True), sample(rand(4, 3), compute_uv=False)]),
    Row("linalg.qr", [sample(rand(4, 3)), sample(rand(2, 3, 4), full_matrices=True)]),
    Row("linalg.lu_solve", [sample(ROOTS, ORDER, rand(3, 2)), sample(BATCH, ORDERS, rand(2, 3, 2))]),
    Row("linalg.lu_matrix_inverse", [sample(ROOTS, ORDER), sample(BATCH, ORDERS)]),
    Row("linalg.lu_reconstruct", [sample(ROOTS, ORDER), sample(BATCH, ORDERS)]),
    Row("linalg.pinv", [sample(rand(2, 4, 3), 1e-3)]),
    Row("linalg.matrix_rank", [sample(ROOTS)], gradient=False),
    Row("linalg.normalize", [sample(rand(2, 3)), sample(rand(2, 3), axis=1)]),
    Row("linalg.adjoint", [sample(rand(2, 3))]),
    Row("linalg.trace", [sample(ROOTS)]),
    Row("linalg.eye", [sample(np.array(2), batch_shape=[3])]),
    Row("strings.bytes_split", [sample(TEXTS)]),
    Row("strings.format", [sample("{}", (rand(2),))], gradient=False),
    Row("strings.join", [sample([TEXTS, TEXTS])]),
    Row("strings.length", [sample(TEXTS)]),
    Row("strings.lower", [sample(TEXTS)]),
    Row("strings.ngrams", [sample(TEXTS, 1)]),
    Row("strings.reduce_join", [sample(WORDS), sample(WORDS, 0), sample(WORDS, [0, 1]),
                                sample(WORDS, -1, keepdims=True), sample(TEXTS, separator=" ")]),
    Row("strings.regex_full_match", [sample(TEXTS, "a.*")]),
    Row("strings.regex_replace", [sample(TEXTS, "a", "b")]),
    Row("strings.split", [sample(TEXTS), sample(WORDS), sample(TEXTS[0])]),
    Row("strings.substr", [sample(TEXTS, 0, 1), sample(TEXTS, np.array([0, 0]), np.array([1, 1]))]),
    Row("strings.to_number", [sample(NUMBERS)]),
    Row("strings.to_hash_bucket_fast", [sample(TEXTS, 5)]),
    Row("strings.unicode_decode", [sample(TEXTS, "UTF-8"), sample(TEXTS[0], "UTF-8")]),
    Row("strings.unicode_encode", [sample(np.array([[97, 98]], np.int32), "UTF-8")]),
    Row("strings.unicode_split", [sample(TEXTS, "UTF-8")]),
    Row("strings.unicode_script", [sample(np.array([[97, 98]], np.int32))]),
    Row("strings.unicode_transcode", [sample(TEXTS, "UTF-8", "UTF-16-BE")]),
    Row("strings.unsorted_segment_join", [sample(TEXTS, np.array([0, 0]), 1)]),
    Row("sets.difference", [sample(LABELS, LABELS[::-1].copy()), sample(LABELS, SPARSE)]),
    Row("sets.intersection", [sample(LABELS, LABELS)]),
    Row("sets.union", [sample(LABELS, LABELS)]),
    Row("sets.size", [sample(SPARSE)]),
    Row("io.decode_base64", [sample(np.array([b"YWJj"]))]),
    Row("io.encode_base64", [sample(TEXTS)]),
    Row("io.decode_csv", [sample(np.array([b"1,2", b"3,4"]), [[1], [1]])]),
    Row("io.decode_json_example", [sample(np.array([b"{}"]))]),
    Row("io.decode_raw", [sample(RAW, tf.uint8), sample(RAW, tf.uint8, fixed_length=6), sample(RAW[0], tf.int16)]),
    Row("io.serialize_tensor", [sample(rand(2))], gradient=False),
    Row("audio.encode_wav", [sample(rand(4, 1), 8000)], gradient=False),
    Row("quantization.quantize", [sample(rand(2, 3), 0.0, 1.0, "quint8")], gradient=False),
    Row("quantization.fake_quant_with_min_max_args", [sample(rand(2, 3))]),
    Row("quantization.fake_quant_with_min_max_vars", [sample(rand(2, 3), 0.0, 1.0)]),
    Row("quantization.fake_quant_with_min_max_vars_per_channel", [sample(rand(2, 3), rand(3), rand(3))]),
    Row("sparse.from_dense", [sample(rand(2, 3))], gradient=False),
    Row("sparse.to_dense", [sample(SPARSE, np.array(0, np.int32))]),
    Row("sparse.sparse_dense_matmul", [sample(tf.cast(SPARSE, tf.float32), rand(2, 3))]),
]  # fmt: skip

# Calls that have another result each time, or fail when they run.
TRACED_ROWS = [
    Row("io.parse_tensor", [sample(np.array(b"a"), tf.float32)]),
    Row("io.read_file", [sample(np.array("a"))]),
    Row("nn.dropout", [sample(rand(2, 3), 0.5), sample(rand(2, 3), 0.5, noise_shape=[2, 1])]),
    Row("nn.fractional_max_pool", [sample(rand(1, 6, 6, 1), [1.0, 1.5, 1.5, 1.0], seed=1)]),
    Row("nn.sampled_softmax_loss", [
        sample(rand(5, 3), rand(5), np.array([[1], [2]]), rand(2, 3), 2, 5)]),
    Row("nn.nce_loss", [sample(rand(5, 3), rand(5), np.array([[1], [2]]), rand(2, 3), 2, 5)]),
    Row("image.random_brightness", [sample(IMAGE, 0.1)]),
    Row("image.random_contrast", [sample(IMAGE, 0.1, 0.2)]),
    Row("image.random_hue", [sample(IMAGE, 0.1)]),
    Row("image.random_saturation", [sample(IMAGE, 0.1, 0.2)]),
    Row("image.random_crop", [sample(IMAGE, [2, 2, 2, 3]), sample(IMAGE, np.array([2, 2, 2, 3]))]),
    Row("image.random_flip_left_right", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("image.random_flip_up_down", [sample(IMAGE), sample(ONE_IMAGE)]),
    Row("random.categorical", [sample(rand(2, 3), 4)]),
    Row("random.shuffle", [sample(rand(2, 3))]),
    Row("random.normal", [sample(np.array([2, 3]))]),
    Row("random.gamma", [sample([4], rand(2, 3)), sample(np.array([4]), rand(2, 3))]),
    Row("random.poisson", [sample([4], rand(2, 3))]),
    Row("random.stateless_normal", [sample(np.array([2, 3]), SEED)]),
    Row("random.stateless_gamma", [sample([4, 2], SEED, rand(2))]),
    Row("random.stateless_categorical", [sample(rand(2, 3), 4, SEED)]),
    Row("random.stateless_uniform", [sample([2], SEED, rand())]),
]  # fmt: skip
