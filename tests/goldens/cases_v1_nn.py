"""`tf.compat.v1.nn`: networks by TensorFlow 1's argument names, defaults and order."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
onehot = tf.constant([[0., 1., 0.], [1., 0., 0.]])
line = tf.reshape(tf.range(16, dtype=tf.float32), [2, 4, 2]) / 4
image = tf.reshape(tf.range(32, dtype=tf.float32), [1, 4, 4, 2]) / 8
volume = tf.reshape(tf.range(54, dtype=tf.float32), [1, 3, 3, 3, 2]) / 8
kernel1 = tf.reshape(tf.range(8, dtype=tf.float32), [2, 2, 2]) / 8
kernel = tf.reshape(tf.range(16, dtype=tf.float32), [2, 2, 2, 2]) / 8
kernel3 = tf.reshape(tf.range(32, dtype=tf.float32), [2, 2, 2, 2, 2]) / 16

def gradient(function, of):
    of = tf.convert_to_tensor(of)
    with tf.GradientTape() as tape:
        tape.watch(of)
        value = function(of)
    return tape.gradient(value, of)
""")

# ---- activations and losses ------------------------------------------------------------------------------------------

GROUP.family(
    "v1.nn.{f}(m{how})", f="softmax log_softmax", how=["", ", 0", ", axis=1, name='s'", ", dim=0", ", None, 's', -1"]
)
GROUP.family("v1.math.{f}(logits=m, dim=0)", f="softmax log_softmax")
GROUP.family(
    "v1.nn.{f}(labels=onehot, logits=m{how})",
    f="softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2",
    how=["", ", dim=0", ", axis=0, dim=None, name='s'"],
)
GROUP.values("""
v1.nn.leaky_relu(-m)
v1.nn.leaky_relu(features=[-2, 3], alpha=0.5, name="l")
v1.nn.crelu([-1., 2.])
v1.nn.crelu(features=m, name="c", axis=0)
v1.nn.dropout(m, 1.0)
v1.nn.dropout(x=m, rate=0.0, noise_shape=[2, 1], seed=3, name="d")
v1.nn.dropout(m, keep_prob=1)
v1.nn.softmax_cross_entropy_with_logits_v2(onehot, m)
gradient(lambda x: v1.nn.softmax_cross_entropy_with_logits(labels=x, logits=m), onehot)
gradient(lambda x: v1.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=m), onehot)
gradient(lambda x: v1.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=x), m)
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=m)
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([1, 0], tf.int64), logits=m, name="s")
v1.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=m)
v1.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=-m, name="s")
v1.nn.weighted_cross_entropy_with_logits(onehot, m, 2.0)
v1.nn.weighted_cross_entropy_with_logits(targets=onehot, logits=m, pos_weight=tf.constant([1.0, 2.0, 3.0]), name="w")
v1.nn.weighted_cross_entropy_with_logits(labels=onehot, logits=-m, pos_weight=0.5)
v1.nn.in_top_k(m, [1, 0], 1)
v1.nn.in_top_k(predictions=m, targets=[1, 0], k=2, name="t")
v1.math.in_top_k(m, [1, 0], 3)
v1.nn.relu(m - 3), v1.nn.relu6(m * 2), v1.nn.elu(-m), v1.nn.sigmoid(m)
v1.nn.l2_loss(m), v1.nn.softplus(m), v1.nn.softsign(m), v1.nn.tanh(m)
v1.nn.log_poisson_loss(m, m), v1.nn.zero_fraction(onehot)
v1.nn.l2_normalize(m, 1), v1.nn.l2_normalize(m, dim=0)
""")
GROUP.errors(
    """
v1.nn.softmax(m, axis=1, dim=1)
v1.nn.log_softmax(m, axis=1, dim=1)
v1.nn.dropout(m)
v1.nn.dropout(m, 0.5, rate=0.5)
v1.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=m, axis=0)
v1.nn.softmax_cross_entropy_with_logits_v2(onehot, m, axis=1, dim=1)
v1.nn.weighted_cross_entropy_with_logits(onehot, m, 1.0, targets=onehot)
""",
    message=True,
)
GROUP.errors("""
v1.nn.softmax_cross_entropy_with_logits(labels=onehot)
v1.nn.softmax_cross_entropy_with_logits(logits=m)
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0])
v1.nn.sparse_softmax_cross_entropy_with_logits(logits=m)
v1.nn.sigmoid_cross_entropy_with_logits(labels=onehot)
v1.nn.sigmoid_cross_entropy_with_logits(logits=m)
v1.nn.softmax(m, 2)
v1.nn.dropout(m, keep_prob=0.0)
v1.nn.dropout(m, keep_prob=1.5)
v1.nn.dropout(m, rate=1.5)
v1.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=m[:1])
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=onehot, logits=m)
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 5, 0], logits=m)
v1.nn.weighted_cross_entropy_with_logits(onehot, m[:1], 1.0)
v1.nn.in_top_k(m, [1, 0, 2], 1)
""")
GROUP.shapes("""
v1.nn.dropout(m, 0.5)
v1.nn.dropout(m, keep_prob=0.9, noise_shape=[2, 1], seed=1)
v1.nn.dropout(m, rate=0.3)
""")

# ---- layers ----------------------------------------------------------------------------------------------------------

GROUP.values("""
v1.nn.xw_plus_b(m, tf.ones([3, 2]), [1.0, 2.0])
v1.nn.xw_plus_b(x=m, weights=tf.ones([3, 1]), biases=[0.5], name="x")
v1.nn.relu_layer(m, -tf.ones([3, 2]), [10.0, 12.0])
v1.nn.relu_layer(x=m, weights=tf.ones([3, 1]), biases=[0.5], name="r")
v1.nn.bias_add(m, [1.0, 2.0, 3.0])
v1.nn.conv1d(line, kernel1, 1, "SAME")
v1.nn.conv1d(value=line, filters=kernel1, stride=2, padding="VALID", use_cudnn_on_gpu=True, data_format="NWC", name="c")
v1.nn.conv1d(input=line, filters=kernel1, stride=1, padding="VALID", dilations=2)
v1.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME")
v1.nn.conv2d(image, filters=kernel, strides=[1, 2, 2, 1], padding="VALID", name="c")
v1.nn.conv2d(image, kernel, 1, "SAME", True, "NHWC", [1, 2, 2, 1])
v1.nn.conv2d(image, kernel, strides=2, padding=[[0, 0], [1, 0], [1, 1], [0, 0]], use_cudnn_on_gpu=False)
v1.nn.conv3d(volume, kernel3, [1, 1, 1, 1, 1], "VALID")
v1.nn.conv3d(volume, filters=kernel3, strides=[1, 2, 2, 2, 1], padding="SAME", data_format="NDHWC", name="c")
v1.nn.conv2d_transpose(image, kernel, [1, 4, 4, 2], [1, 1, 1, 1])
v1.nn.conv2d_transpose(value=image, filter=kernel, output_shape=[1, 8, 8, 2], strides=2, padding="SAME", name="c")
v1.nn.conv2d_transpose(input=image, filters=kernel, output_shape=tf.constant([1, 5, 5, 2]), strides=1, padding="VALID")
v1.nn.depthwise_conv2d(image, kernel, [1, 1, 1, 1], "SAME")
v1.nn.depthwise_conv2d(input=image, filter=kernel, strides=[1, 1, 1, 1], padding="VALID", rate=[2, 2], name="d")
v1.nn.depthwise_conv2d(image, kernel, [1, 2, 2, 1], "SAME", dilations=[1, 1])
v1.nn.separable_conv2d(image, kernel, tf.ones([1, 1, 4, 3]), [1, 1, 1, 1], "SAME")
v1.nn.separable_conv2d(image, kernel, tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], "VALID", [2, 2], "s")
v1.nn.separable_conv2d(image, kernel, tf.ones([1, 1, 4, 1]), strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2])
v1.nn.convolution(image, kernel, "SAME")
v1.nn.convolution(input=image, filter=kernel, padding="VALID", strides=[2, 2], name="c")
v1.nn.convolution(image, None, "VALID", dilation_rate=[2, 2], filters=kernel)
v1.nn.convolution(line, kernel1, "SAME", dilations=[2])
v1.nn.convolution(volume, kernel3, "VALID", data_format="NDHWC")
v1.nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
v1.nn.max_pool(None, ksize=2, strides=1, padding="SAME", data_format="NHWC", name="m", input=image)
v1.nn.max_pool(value=image, ksize=[2, 2], strides=[2, 2], padding="SAME")
v1.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
v1.nn.avg_pool(value=image, ksize=3, strides=[1, 2, 2, 1], padding="VALID", data_format="NHWC", name="a")
v1.nn.avg_pool2d(image, 2, 2, "SAME")
v1.nn.max_pool2d(image, 2, 2, "SAME")
v1.nn.pool(image, [2, 2], "MAX", "VALID")
v1.nn.pool(input=image, window_shape=[2, 2], pooling_type="AVG", padding="SAME", strides=[2, 2], name="p")
v1.nn.pool(image, [2, 2], "MAX", "VALID", [2, 2])
v1.nn.pool(line, [2], "AVG", "VALID", dilations=[2], data_format="NWC")
v1.nn.lrn(image)
v1.nn.local_response_normalization(image, 1)
""")
GROUP.errors("""
v1.nn.conv2d(image, kernel, filters=kernel, strides=1, padding="SAME")
v1.nn.conv2d(image, kernel, [1, 1, 1, 1], "FULL")
v1.nn.conv2d(image, kernel, [1, 1], "SAME", dilations=[1, 1, 1, 1, 1])
v1.nn.conv2d(image, kernel3, [1, 1, 1, 1], "SAME")
v1.nn.conv1d(line, kernel1, 1, "SAME", input=line)
v1.nn.conv3d(volume, kernel3, 1, "SAME", filters=kernel3)
v1.nn.conv2d_transpose(image, kernel, [1, 4, 4, 2], 1, filters=kernel)
v1.nn.conv2d_transpose(image, kernel, [1, 4, 4, 2], 1, input=image)
v1.nn.depthwise_conv2d(image, kernel, [1, 1, 1, 1], "SAME", [1, 1], dilations=[1, 1])
v1.nn.separable_conv2d(image, kernel, tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], "SAME", [1, 1], dilations=[1, 1])
v1.nn.convolution(image, kernel, "SAME", dilation_rate=[1, 1], dilations=[1, 1])
v1.nn.pool(image, [2, 2], "MEDIAN", "VALID")
v1.nn.pool(image, [2, 2], "MAX", "VALID", dilation_rate=[1, 1], dilations=[1, 1])
v1.nn.max_pool(image, 2, 2, "FULL")
v1.nn.xw_plus_b(m, tf.ones([2, 2]), [1.0, 2.0])
v1.nn.relu_layer(m, tf.ones([3, 2]), [1.0])
""")
GROUP.errors(
    """
v1.nn.max_pool(image, 2, 2, "SAME", input=image)
v1.nn.avg_pool(image, 2, 2, "SAME", input=image)
v1.nn.convolution(image, kernel, "SAME", filters=kernel)
""",
    message=True,
)

# ---- statistics and embeddings ---------------------------------------------------------------------------------------

GROUP.values("""
v1.nn.moments(m, [0])
v1.nn.moments(x=m, axes=[1], shift=None, name="m", keep_dims=True)
v1.nn.moments(m, [0, 1], keepdims=True)
v1.nn.weighted_moments(m, [0], [[1.0], [3.0]])
v1.nn.weighted_moments(x=m, axes=[1], frequency_weights=1.0, name="w", keep_dims=True)
v1.nn.weighted_moments(m, [0, 1], m, keepdims=True)
v1.nn.sufficient_statistics(m, [0])
v1.nn.sufficient_statistics(x=m, axes=[0, 1], shift=2.0, keep_dims=True, name="s")
v1.nn.sufficient_statistics(m, [1], keepdims=True)
v1.nn.normalize_moments(*v1.nn.sufficient_statistics(m, [0])[:3], None)
v1.nn.embedding_lookup(m, [1, 0, 1])
v1.nn.embedding_lookup(params=[m], ids=[[1], [0]], partition_strategy="div", name="e", max_norm=2.0)
v1.nn.embedding_lookup([m, m + 10.], [0, 1, 2, 3])
v1.nn.embedding_lookup([[1., 2.], [3., 4.]], [[0, 1, 1]])
v1.nn.embedding_lookup([m, m + 10.], [0, 1, 2, 3], "div")
v1.nn.embedding_lookup([m, m[:1] + 10.], [[0, 1], [2, 0]], partition_strategy="mod")
v1.nn.embedding_lookup([m, m[:1] + 10.], [2, 1, 0], partition_strategy="div", max_norm=4.0)
v1.nn.embedding_lookup(tf.Variable(m), [1])
v1.nn.batch_normalization(m, 0., tf.constant(1.), None, None, 1e-3)
""")
GROUP.errors("""
v1.nn.moments(m, [0], keep_dims=True, keepdims=True)
v1.nn.weighted_moments(m, [0], 1.0, keep_dims=True, keepdims=True)
v1.nn.sufficient_statistics(m, [0], keep_dims=True, keepdims=True)
v1.nn.embedding_lookup(m, [2])
v1.nn.embedding_lookup(None, [2])
v1.nn.embedding_lookup([], [2])
v1.nn.embedding_lookup([m, m], [0], partition_strategy="by_name")
""")
GROUP.snippets("""
# the gradient of a table in two pieces
pieces = [tf.Variable(m), tf.Variable(m + 10.)]
with tf.GradientTape() as tape:
    value = tf.reduce_sum(v1.nn.embedding_lookup(pieces, [0, 3, 3]) ** 2)
[tf.convert_to_tensor(g) for g in tape.gradient(value, pieces)]

# a graph with a convolution, a loss and dropout that keeps all
with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [None, 4, 4, 1])
    y = v1.nn.conv2d(x, tf.ones([2, 2, 1, 2]), strides=[1, 2, 2, 1], padding="SAME")
    y = v1.nn.max_pool(v1.nn.dropout(y, keep_prob=1.0), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID")
    logits = tf.reshape(y, [-1, 2])
    loss = v1.nn.softmax_cross_entropy_with_logits(labels=tf.ones_like(logits) / 2, logits=logits)
    found = session.run([y, loss], {x: np.arange(32).reshape(2, 4, 4, 1) / 8})
found
""")
