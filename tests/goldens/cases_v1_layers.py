"""`tf.compat.v1.nn`: gradients and transposes of convolutions, morphology, normalization, CTC, losses over samples."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
image = tf.reshape(tf.range(32, dtype=tf.float32), [1, 4, 4, 2]) / 8
volume = tf.reshape(tf.range(54, dtype=tf.float32), [1, 3, 3, 3, 2]) / 8
kernel = tf.reshape(tf.range(16, dtype=tf.float32), [2, 2, 2, 2]) / 8
kernel3 = tf.reshape(tf.range(32, dtype=tf.float32), [2, 2, 2, 2, 2]) / 16
flat = tf.reshape(tf.range(8, dtype=tf.float32), [2, 2, 2]) / 4
ids = tf.SparseTensor([[0, 0], [0, 2], [2, 0]], tf.constant([0, 3, 1], tf.int64), [3, 3])
weights = tf.SparseTensor([[0, 0], [0, 2], [2, 0]], [1., 3., 2.], [3, 3])
pieces = [m, m + 10.]
logits = tf.reshape(tf.math.sin(tf.range(24.)), [4, 2, 3])
labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 2])
mean, variance = tf.constant([1., 2.]), tf.constant([4., 9.])
one, two = [1, 1, 1, 1], [1, 2, 2, 1]
sample = (tf.constant([2, 4], tf.int64), tf.constant([[0.5], [0.25]]), tf.constant([0.5, 0.1]))
table, bias = tf.reshape(tf.range(10.), [5, 2]) / 10, tf.range(5.) / 5
true = tf.constant([[1], [3]], tf.int64)
""")

GROUP.values("""
v1.nn.conv2d_backprop_input([1, 4, 4, 2], kernel, image, one, "SAME")
v1.nn.conv2d_backprop_input([1, 4, 4, 2], None, image[:, :3, :3], strides=one, padding="VALID", filters=kernel)
v1.nn.conv2d_backprop_input([1, 4, 4, 2], kernel, image[:, :2, :2], [1, 2, 2, 1], "SAME", True, "NHWC", one, "n")
v1.nn.conv2d_backprop_filter(image, [2, 2, 2, 2], image, one, "SAME")
v1.nn.conv2d_backprop_filter(image, [2, 2, 2, 2], image, one, [[0, 0], [1, 0], [0, 1], [0, 0]])
v1.nn.conv3d_backprop_filter(volume, [2, 2, 2, 2, 2], volume, [1, 1, 1, 1, 1], "SAME")
v1.nn.conv3d_backprop_filter_v2(volume, [1, 1, 1, 2, 2], volume, [1, 1, 1, 1, 1], padding="VALID", data_format="NDHWC")
v1.nn.conv3d_transpose(volume, kernel3, [1, 3, 3, 3, 2], [1, 1, 1, 1, 1])
v1.nn.conv3d_transpose(None, None, [1, 4, 4, 4, 2], 1, "VALID", name="n", input=volume, filters=kernel3)
v1.nn.depthwise_conv2d_native(image, kernel, one, "SAME")
v1.nn.depthwise_conv2d_native(input=image, filter=kernel, strides=[1, 2, 2, 1], padding="VALID", dilations=one)
v1.nn.dilation2d(image, flat, one, one, "SAME")
v1.nn.dilation2d(input=image, filters=flat, strides=[1, 2, 2, 1], dilations=one, padding="VALID", name="n")
v1.nn.erosion2d(image, flat, one, one, "SAME")
v1.nn.erosion2d(value=image, kernel=flat, strides=one, rates=[1, 2, 2, 1], padding="VALID", name="n")
v1.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
v1.nn.max_pool_with_argmax(image, two, one, "SAME", output_dtype=tf.int32, include_batch_in_index=True)
v1.nn.max_pool_with_argmax(image, two, two, "SAME", "NHWC", tf.int32, "n")
v1.nn.fractional_max_pool(image, [1.0, 1.4, 1.4, 1.0], deterministic=True, seed=1, seed2=2)[0].shape
v1.nn.fractional_avg_pool(image, [1.0, 1.4, 1.4, 1.0], True, True, True, 1, 2, "n")[0].shape
v1.nn.space_to_batch(tf.reshape(tf.range(4), [1, 2, 2, 1]), [[0, 0], [0, 0]], 2)
v1.nn.fused_batch_norm(image, [1., 2.], [0.5, -0.5])
v1.nn.fused_batch_norm(image, [1., 2.], [0.5, -0.5], mean=mean, variance=variance, epsilon=0.1, is_training=False)
v1.nn.fused_batch_norm(image, [1., 2.], [0.5, -0.5], mean, variance, exponential_avg_factor=0.25)
v1.nn.fused_batch_norm(tf.cast(image, tf.float16), [1., 2.], [0.5, -0.5], epsilon=0.0, name="n")
v1.nn.batch_norm_with_global_normalization(image, mean, variance, [0., 1.], [2., 3.], 0.1, True)
v1.nn.batch_norm_with_global_normalization(None, None, None, [0., 1.], [2., 3.], 0.1, False, "n", image, mean, variance)
v1.nn.ctc_loss(labels, logits, [4, 3])
v1.nn.ctc_loss(labels=labels, inputs=tf.transpose(logits, [1, 0, 2]), sequence_length=[4, 3], time_major=False)
v1.nn.ctc_loss(labels, logits, [4, 4], preprocess_collapse_repeated=True)
v1.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 1, 1], [2, 2]), logits, [4, 4], True)
v1.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 1, 1], [2, 2]), logits, [4, 4])
v1.nn.ctc_loss(labels, logits, [1, 1], ignore_longer_outputs_than_inputs=True)
v1.nn.ctc_loss_v2([[1, 2], [1, 0]], logits, [2, 1], [4, 4])
v1.nn.ctc_loss_v2(labels=labels, logits=logits, label_length=None, logit_length=[4, 4], blank_index=2, name="n")
v1.nn.ctc_beam_search_decoder(logits, [4, 3])
v1.nn.ctc_beam_search_decoder(inputs=logits, sequence_length=[4, 4], beam_width=5, top_paths=2, merge_repeated=False)
v1.nn.ctc_greedy_decoder(logits, [4, 4])
v1.nn.embedding_lookup_sparse(tf.concat(pieces, 0), ids, None)
v1.nn.embedding_lookup_sparse(tf.concat(pieces, 0), ids, weights, combiner="sum", name="n")
v1.nn.embedding_lookup_sparse(pieces, ids, weights, combiner="sqrtn")
v1.nn.embedding_lookup_sparse(pieces, ids, None, partition_strategy="div", combiner="mean", max_norm=4.0)
v1.nn.embedding_lookup_sparse(params=[m, m], sp_ids=ids, sp_weights=weights)
v1.nn.safe_embedding_lookup_sparse(tf.concat(pieces, 0), ids)
v1.nn.safe_embedding_lookup_sparse(pieces, sparse_ids=ids, sparse_weights=weights, combiner="sum", default_id=1)
v1.nn.safe_embedding_lookup_sparse(pieces, ids, partition_strategy="mod")
v1.nn.sampled_softmax_loss(table, bias, true, m[:, :2], 2, 5, sampled_values=sample)
v1.nn.sampled_softmax_loss([table], bias, true, m[:, :2], 2, 5, 1, sample, False, "div", "n", 3)
v1.nn.sampled_softmax_loss([table[::2], table[1::2]], bias, true, m[:, :2], 2, 5, 1, sample)
v1.nn.nce_loss(table, bias, true, m[:, :2], 2, 5, sampled_values=sample)
v1.nn.nce_loss([table[:3], table[3:]], bias, true, m[:, :2], 2, 5, sampled_values=sample, partition_strategy="div")
""")
GROUP.shapes("""
v1.nn.fractional_max_pool(image, [1.0, 1.5, 1.5, 1.0])[0]
v1.nn.fractional_avg_pool(image, [1.0, 2.0, 2.0, 1.0], pseudo_random=True, overlapping=True)[0]
v1.nn.sampled_softmax_loss(table, bias, true, m[:, :2], 2, 5, seed=1)
v1.nn.nce_loss(table, bias, true, m[:, :2], 2, 5)
""")
GROUP.errors("""
v1.nn.conv3d_transpose(volume, kernel3, [1, 3, 3, 3, 2], 1, input=volume)
v1.nn.conv3d_transpose(volume, kernel3, [1, 3, 3, 3, 2], 1, filters=kernel3)
v1.nn.conv2d_backprop_input([1, 4, 4, 2], kernel, image, one, "SAME", filters=kernel)
v1.nn.conv2d_backprop_filter(image, [2, 2, 2, 2], image[:, :1], one, "SAME")
v1.nn.dilation2d(image, flat, one, one, "SAME", filters=flat)
v1.nn.dilation2d(image, flat, one, one, "SAME", dilations=one)
v1.nn.max_pool_with_argmax(image, 2, 2, "SAME", data_format="NCHW")
v1.nn.max_pool_with_argmax(image, 2, 2, "SAME", Targmax=tf.int32, output_dtype=tf.int32)
v1.nn.fused_batch_norm(image, [1., 2.], [0.5, -0.5], is_training=False)
v1.nn.fused_batch_norm(image, [1., 2.], [0.5, -0.5], exponential_avg_factor=0.5)
v1.nn.batch_norm_with_global_normalization(image, mean, variance, [0., 1.], [2., 3.], 0.1, True, input=image)
v1.nn.ctc_loss([[1]], logits, [4, 4])
v1.nn.ctc_loss(labels, logits, [4, 4], logits=logits)
v1.nn.ctc_loss(labels, logits, [1, 1])
v1.nn.embedding_lookup_sparse(m, ids, None, combiner="max")
v1.nn.embedding_lookup_sparse(m, m, None)
v1.nn.safe_embedding_lookup_sparse(None, ids)
v1.nn.safe_embedding_lookup_sparse([], ids)
v1.nn.safe_embedding_lookup_sparse(m, ids, combiner="max")
""")
