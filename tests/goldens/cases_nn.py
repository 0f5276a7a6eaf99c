"""tf.nn without convolution and pooling: activations, losses, normalisation, embeddings, CTC."""

from goldens.case import Group

GROUP = Group("""
x = tf.constant([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 7.0])
logits = tf.constant([[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]])
labels = tf.constant([[0.1, 0.7, 0.2], [0.0, 0.0, 1.0]])
one = tf.constant([[1]], tf.int64)
table = tf.reshape(tf.range(12.), [6, 2])
img = tf.reshape(tf.range(16.), [1, 2, 2, 4])
LOGITS = tf.TensorSpec([4, None, 3])
INTS, INT24 = tf.TensorSpec(None, tf.int32), tf.TensorSpec([2, 4], tf.int32)
def gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)
def sparse(values):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], values, [3, 2])
""")

ACTIVATIONS = "relu relu6 elu selu leaky_relu gelu silu swish softplus softsign sigmoid tanh crelu"
GROUP.family("tf.nn.{f}(x)", f=ACTIVATIONS)
GROUP.family(
    "tf.nn.{f}(tf.constant([-1.5, 0.0, 2.0], tf.{dtype}))",
    f=ACTIVATIONS,
    dtype="float16 bfloat16 float64",
    rtol=1e-7,
    because="TensorFlow's gelu rounds the root of two to float32",
)
GROUP.family("tf.nn.{f}([-1.5, 2.0])", f=ACTIVATIONS)
GROUP.family("tf.nn.{f}([-2, 0, 3])", f="relu relu6")
GROUP.family(
    "tf.raw_ops.{f}Grad(gradients=tf.constant([1, 2, 3, 4], tf.{d}), features=tf.constant([1, 0, 6, 9], tf.{d}))",
    f="Relu Relu6", d="int8 uint8 int32 int64 uint16 uint32 uint64",
)  # fmt: skip
GROUP.family("tf.nn.{f}([float('nan'), float('inf'), -float('inf')])", f=ACTIVATIONS)
GROUP.family(
    "tf.nn.{f}({x})",
    f="softmax log_softmax",
    x="""
logits
logits, axis=0
[1.0, 2.0]
[1000.0, 1001.0]
tf.constant([[1.0, 2.0]], tf.float64)
tf.zeros([0, 2])
tf.ones([2, 0])
img, axis=1
tf.constant([1.0, 2.0], tf.float16)
tf.constant([1.0, 2.0], tf.bfloat16)
logits, -2, 'named'
[[-float('inf'), 0.0]]
""",
)
GROUP.values("""
tf.raw_ops.ReluGrad(gradients=tf.constant([1, -2, 3]), features=tf.constant([-1, 0, 7]))
tf.raw_ops.ReluGrad(gradients=tf.constant([1, 2**63 + 5], tf.uint64), features=tf.constant([2**63, 0], tf.uint64))
tf.nn.relu6(tf.constant([0, 5, 7, 2**63, 2**64 - 1], tf.uint64))
tf.nn.softmax_cross_entropy_with_logits([[1., 0.], [0., 1.], [0., 0.]], [[1., -np.inf]] * 3)
tf.nn.softmax_cross_entropy_with_logits([[1., 0.], [0., 1.]], [[-np.inf, -np.inf], [0., np.inf]])
tf.nn.leaky_relu(x, alpha=0.3)
tf.nn.leaky_relu([-10, 5])
tf.nn.gelu(x, approximate=True)
tf.nn.gelu(x, approximate=False)
tf.nn.silu(x, beta=2.0)
tf.nn.crelu([[-1.0, 2.0]], axis=0)
tf.nn.relu(features=[-1.0, 1.0], name='r')
tf.math.softmax(logits)
tf.math.log_softmax(logits)
tf.nn.softmax_cross_entropy_with_logits(labels, logits)
tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, axis=0)
tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], [2.0, 3.0])
tf.nn.softmax_cross_entropy_with_logits(tf.zeros([2, 2, 3]), tf.ones([2, 2, 3]))
tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[100.0, -100.0]])
tf.nn.softmax_cross_entropy_with_logits(tf.zeros([0, 3]), tf.zeros([0, 3]))
tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], logits)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=1, logits=[1.0, 2.0])
tf.nn.sparse_softmax_cross_entropy_with_logits([[0, 1]], [[[1.0, 2.0], [3.0, 4.0]]])
tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([0], tf.int64), tf.constant([[1.0, 2.0]], tf.float64))
tf.nn.sparse_softmax_cross_entropy_with_logits([0], tf.constant([[1.0, 2.0]], tf.float16))
tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0, 0.5], [-100.0, 100.0, 0.3])
tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0]], logits=[[2.0]], name='s')
tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [1.0, -1.0], 2.0)
tf.nn.weighted_cross_entropy_with_logits(labels=[1.0], logits=[0.5], pos_weight=tf.constant([3.0]))
tf.nn.log_poisson_loss([1.0, 2.0, 3.0], [0.0, 1.0, 0.5])
tf.nn.log_poisson_loss([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], compute_full_loss=True)
tf.nn.l2_loss([3.0, 4.0])
tf.nn.l2_loss(tf.constant([[1.0], [2.0]], tf.float64))
tf.nn.l2_loss(tf.constant([250.0, 200.0], tf.float16))
tf.nn.compute_average_loss([1.0, 2.0, 3.0])
tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4)
tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[0.5, 1.0], global_batch_size=2)
tf.nn.scale_regularization_loss(4.0)
tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0])
tf.nn.bias_add([[1, 2]], [10, 20])
tf.nn.bias_add(img, [1.0, 2.0, 3.0, 4.0])
tf.nn.bias_add(img, [1.0, 2.0], data_format='NCHW')
tf.nn.bias_add(tf.zeros([1, 2, 3, 2, 2]), [1.0, 2.0])
tf.nn.bias_add(value=[[1.0]], bias=[2.0], data_format='N...C')
tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0])
tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 5.0]]), axes=[0, 1])
tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 5.0]]), [1], keepdims=True)
tf.nn.moments(tf.constant([1.0, 3.0], tf.float16), [0])
tf.nn.moments(tf.constant([1.0, 3.0], tf.bfloat16), 0)
tf.nn.moments(tf.constant([1.0, 2.0, 4.0]), 0)
tf.nn.weighted_moments([1.0, 2.0, 4.0], [0], [1.0, 1.0, 2.0])
tf.nn.weighted_moments([[1.0, 2.0], [3.0, 5.0]], [1], [[1.0], [2.0]], keepdims=True)
tf.nn.sufficient_statistics([1.0, 2.0, 4.0], [0])
tf.nn.sufficient_statistics([[1.0, 2.0], [4.0, 8.0]], [0], shift=1.0, keepdims=True)
tf.nn.normalize_moments(tf.constant(2.0), tf.constant([4.0]), tf.constant([10.0]), None)
tf.nn.normalize_moments(tf.constant(2.0), tf.constant([4.0]), tf.constant([10.0]), tf.constant([1.0]))
tf.nn.batch_normalization(tf.constant([[1.0, 2.0]]), [0.5, 1.0], tf.constant([4.0, 9.0]), [1.0, 0.0], [2.0, 1.0], 1e-3)
tf.nn.batch_normalization(tf.constant([[1.0, 2.0]]), 0.0, tf.constant(1.0), None, None, 1e-3)
tf.nn.batch_normalization(x=x, mean=0.0, variance=tf.constant(1.0), offset=None, scale=2.0, variance_epsilon=0.0)
tf.nn.batch_norm_with_global_normalization(img, tf.zeros(4), tf.ones(4), [0.] * 4, [1.] * 4, 1e-3, False)
tf.nn.local_response_normalization(img)
tf.nn.local_response_normalization(img, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)
tf.nn.lrn(img, 1)
tf.nn.l2_normalize([3.0, 4.0], 0)
tf.nn.zero_fraction([0.0, 1.0])
tf.nn.in_top_k([0, 1], [[0.1, 0.9], [0.8, 0.2]], 2)
tf.nn.embedding_lookup(table, [1, 3])
tf.nn.embedding_lookup(table, [[1], [3]])
tf.nn.embedding_lookup(table, 2)
tf.nn.embedding_lookup(table, [0, 5], max_norm=1.0)
tf.nn.embedding_lookup(params=tf.Variable(table), ids=tf.constant([0], tf.int64), name='e')
tf.nn.embedding_lookup(table, tf.ragged.constant([[1], [2, 3]]))
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), None)
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), sparse([1.0, 2.0, 0.5]))
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), sparse([1.0, 2.0, 0.5]), combiner='sum')
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), None, combiner='sqrtn')
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), sparse([1.0, 2.0, 0.5]), combiner='mean', max_norm=1.0)
tf.nn.safe_embedding_lookup_sparse(table, sparse([1, 3, 0]))
tf.nn.safe_embedding_lookup_sparse(table, sparse([1, 3, 0]), sparse([1.0, 2.0, 0.5]), combiner='sum', default_id=5)
tf.nn.isotonic_regression([3.0, 1.0, 2.0])
tf.nn.isotonic_regression([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]], decreasing=False)
tf.nn.ctc_loss([[1, 2]], tf.reshape(tf.range(12.), [4, 1, 3]) / 5, [2], [4], blank_index=0)
tf.nn.ctc_loss([[1, 2], [1, 0]], tf.zeros([4, 2, 3]), [2, 1], [4, 3], logits_time_major=True, blank_index=0)
tf.nn.ctc_loss([[0, 1]], tf.reshape(tf.range(12.), [1, 4, 3]) / 5, [2], [4], False, blank_index=-1)
tf.nn.ctc_greedy_decoder(tf.constant([[[0.1, 0.2, 0.7]], [[0.9, 0.0, 0.1]], [[0.1, 0.8, 0.1]]]), [3])
tf.nn.ctc_greedy_decoder(tf.constant([[[0.9, 0.0, 0.1]], [[0.9, 0.0, 0.1]]]), [2], merge_repeated=False)
tf.nn.ctc_greedy_decoder(tf.constant([[[0.9, 0.0, 0.1]], [[0.1, 0.8, 0.1]]]), [2], blank_index=0)
tf.nn.ctc_beam_search_decoder(tf.math.log([[[0.1, 0.2, 0.7]], [[0.6, 0.3, 0.1]]]), [2], beam_width=4, top_paths=2)
tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
tf.nn.collapse_repeated([[1, 1, 2, 2], [1, 2, 2, 3]], [4, 3])
tf.nn.compute_accidental_hits([[1], [2]], [2, 5, 1], 1)
tf.nn.with_space_to_batch(img, [1, 1], 'VALID', lambda x, n, p: x * 2)
tf.nn.dropout([1.0, 2.0], 0)
tf.nn.dropout([1.0, 2.0], rate=0.0)
tf.nn.experimental.stateless_dropout(tf.ones([2, 4]), 0.5, [1, 2])
tf.nn.experimental.stateless_dropout(tf.ones([2, 4]), rate=0.25, seed=[3, 4], noise_shape=[2, 1])
tf.nn.bias_add([[1.0]], [1])
tf.nn.local_response_normalization([[[[1]]]])
tf.nn.isotonic_regression(1.0)
tf.nn.scale_regularization_loss([1.0, 2.0])
""")
GROUP.shapes("""
tf.nn.dropout(tf.ones([2, 3]), 0.5)
tf.nn.dropout(tf.ones([2, 3]), 0.5, noise_shape=[2, 1], seed=1)
tf.nn.experimental.general_dropout(tf.ones([2, 3]), 0.5, tf.random.uniform)
tf.nn.sampled_softmax_loss(tf.ones([10, 2]), tf.zeros([10]), one, tf.ones([1, 2]), 3, 10, seed=1)
tf.nn.nce_loss(tf.ones([10, 2]), tf.zeros([10]), one, tf.ones([1, 2]), 3, 10)
""")
GROUP.snippets("""
# dropout keeps the expected value
y = tf.nn.dropout(tf.ones([1000]), 0.25, seed=1)
sorted(set(np.round(y.numpy(), 4).tolist()))

# dropout scales what it keeps
y = tf.nn.dropout(tf.ones([1000]), 0.5)
0.9 < float(tf.reduce_mean(y)) < 1.1
""")
GROUP.family("tf.nn.{f}('text')", f=ACTIVATIONS.replace(" crelu", ""), raises=True)
GROUP.family("tf.nn.{f}([1, 2])", f="elu selu softplus softsign sigmoid tanh softmax log_softmax silu", raises=True)
GROUP.errors("""
tf.nn.relu(1 + 2j)
tf.nn.relu([True])
tf.nn.gelu([1, 2])
tf.nn.softmax(1.0)
tf.nn.softmax([1.0, 2.0], axis=1)
tf.nn.log_softmax([1.0, 2.0], axis=-2)
tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[1.0, 2.0, 3.0]])
tf.nn.softmax_cross_entropy_with_logits(labels, None)
tf.nn.softmax_cross_entropy_with_logits(None, logits)
tf.nn.softmax_cross_entropy_with_logits(labels, logits, axis=2)
tf.nn.softmax_cross_entropy_with_logits([0, 1], ['a', 'b'])
tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], logits)
tf.nn.sparse_softmax_cross_entropy_with_logits([0], logits)
tf.nn.sparse_softmax_cross_entropy_with_logits([[0], [1]], logits)
tf.nn.sparse_softmax_cross_entropy_with_logits([0.5, 1.5], logits)
tf.nn.sparse_softmax_cross_entropy_with_logits(0, 1.0)
tf.nn.sparse_softmax_cross_entropy_with_logits(None, logits)
tf.nn.sigmoid_cross_entropy_with_logits([1.0, 2.0], [1.0])
tf.nn.sigmoid_cross_entropy_with_logits(None, [1.0])
tf.nn.weighted_cross_entropy_with_logits([1.0, 2.0], [1.0], 2.0)
tf.nn.log_poisson_loss([1.0, 2.0], [1.0])
tf.nn.l2_loss([1, 2])
tf.nn.bias_add([[1.0, 2.0]], [1.0])
tf.nn.bias_add([1.0, 2.0], [1.0, 2.0])
tf.nn.bias_add([[1.0]], [[1.0]])
tf.nn.bias_add([[1.0]], [1.0], data_format='HWC')
tf.nn.moments(tf.constant([1.0]), [1])
tf.nn.moments(['a'], [0])
tf.nn.local_response_normalization([1.0])
tf.nn.embedding_lookup(table, [10])
tf.nn.embedding_lookup(table, [0.5])
tf.nn.embedding_lookup(None, [0])
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), None, combiner='max')
tf.nn.embedding_lookup_sparse(table, [1], None)
tf.nn.embedding_lookup_sparse(table, sparse([1, 3, 0]), [1.0])
tf.nn.dropout([1.0], 1.0)
tf.nn.dropout([1.0], -0.1)
tf.nn.dropout([1, 2], 0.5)
tf.nn.dropout([1.0], 'a')
tf.nn.dropout([1.0, 2.0], 0.5, noise_shape=[3])
tf.nn.experimental.stateless_dropout([1.0], 0.5, [1])
tf.nn.ctc_loss([[1]], tf.zeros([2, 1]), [1], [2])
tf.nn.ctc_greedy_decoder(tf.zeros([2, 3]), [2])
tf.nn.ctc_greedy_decoder(tf.zeros([2, 1, 3]), [5])
tf.nn.compute_average_loss([1.0], sample_weight=[[1.0, 2.0], [3.0, 4.0]])
tf.nn.batch_normalization(tf.constant([[1.0, 2.0]]), [0.0, 0.0, 0.0], tf.constant(1.0), None, None, 1e-3)
""")

# ---- rare values and arguments, which random calls found -------------------------------------------------------------

GROUP.values("""
tf.nn.weighted_moments([0.1, float('nan'), 0.7], [0], [0.0, 0.0, 0.0])
tf.nn.weighted_moments([0.1, 0.2, 0.7], [0], [0.3, 0.3, 0.7])
tf.nn.sufficient_statistics(logits, [0, 0])
tf.nn.convolution(img, tf.ones([1, 2, 4, 1]), padding=tf.constant('SAME'), dilations=2)
tf.function(tf.nn.collapse_repeated).get_concrete_function(INT24, INTS).output_shapes
tf.function(tf.nn.collapse_repeated).get_concrete_function(INTS, tf.TensorSpec([2], tf.int32)).output_shapes
tf.function(lambda x: tf.nn.ctc_loss([[1, 2]], x, [2], [4])).get_concrete_function(LOGITS).output_shapes
tf.function(lambda x: tf.nn.ctc_loss([[1]] * 2, x, [1, 1], [4, 4])).get_concrete_function(LOGITS).output_shapes
tf.function(lambda x, l: tf.nn.ctc_loss(l, x, [1, 1], [4, 4])).get_concrete_function(LOGITS, INTS).output_shapes
tf.quantization.quantize_and_dequantize([0.5, 1.6, -1.1, -0.8, -1.98, 1.2], -2.0, 2.0, narrow_range=True)
tf.quantization.quantize_and_dequantize_v2([0.5, 1.6, -1.1, -0.8, -1.9789, 1.2], -2.0, 2.0, num_bits=7)
tf.quantization.quantize_and_dequantize_v2([1.0, float('nan'), -2.0, 3.0], -2.0, 2.0)
tf.quantization.quantize_and_dequantize_v2([[1.0, float('nan')], [-2.0, 3.0]], -2.0, 2.0, axis=1)
tf.quantization.quantize_and_dequantize_v2([[1.0, -2.0, 3.0], [0.5, float('nan'), 4.0]], -2.0, 2.0, axis=1)
tf.quantization.quantize_and_dequantize_v2(x, 0.0, 2.0, axis=-1)
tf.quantization.quantize_and_dequantize(table, [1.0, -2.0], [2.0, 3.0], axis=-1)
tf.quantization.quantize([1.0, 2.0], float('nan'), 3.0, tf.qint8).output_min
tf.quantization.quantize([1.0, 2.0], float('nan'), 3.0, tf.quint8)
tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, -2.0, 3.0], [1.0, -2.0, 3.0], float('inf'), 2.0)
tf.nn.lrn([[[[0.5, 1.6, 3e38], [-1.1, -0.8, 1.5]]]])
""")
GROUP.values(
    """
tf.nn.ctc_loss([[1, 2]], tf.reshape(tf.range(12.0), [4, 1, 3]) / 12, [2], [-5])
gradient(lambda x: tf.nn.ctc_loss([[5, 1]], x, [2], [4], False), tf.zeros([1, 4, 3]))
""",
    rtol=1e-5,
    because="the sums over alignments are rounded otherwise",
)
GROUP.errors("""
tf.nn.ctc_loss([[0, 1]], tf.zeros([1, 4, 0]), [2], [4], False, blank_index=-1)
tf.function(lambda x: tf.nn.ctc_loss([[0, 1]], x, [2], [4], False, blank_index=-1))(tf.zeros([1, 4, 0]))
tf.nn.ctc_loss([[1, 2], [1, 0]], tf.zeros([4, 2, 3]), [1, 2, 1], [4, 3])
tf.nn.convolution(img, tf.ones([1, 2, 4, 1]), data_format='NC')
tf.nn.convolution(img, tf.ones([1, 2, 4, 1]), data_format='NC', dilations=2)
tf.nn.convolution(img[0], tf.ones([2, 4, 1]), data_format='NC')
tf.nn.depthwise_conv2d(img, tf.ones([2, 2, 4, 1]), [1, 1, 1, 1], 'SAME', dilations=2)
tf.nn.separable_conv2d(img, tf.ones([2, 2, 4, 1]), tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], 'SAME', dilations=2)
tf.nn.with_space_to_batch(img, 2, 'VALID', lambda x, n, p: x * 2)
tf.function(lambda n: tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=n)).get_concrete_function(INTS)
tf.quantization.quantize_and_dequantize([1.0, 2.0], 0.0, 2.0, axis=1)
tf.quantization.quantize_and_dequantize_v2([1.0, 2.0], 0.0, 2.0, axis=2147483647)
tf.function(tf.quantization.quantize_and_dequantize_v2).get_concrete_function(tf.TensorSpec(None), 0.0, 2.0, axis=-1)
""")
