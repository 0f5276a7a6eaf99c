"""`tf.compat.v1`: dimensions, and functions whose parameters were others in TensorFlow 1."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
D = tf.compat.v1.Dimension
m = tf.constant([[1., 5., 3.], [4., 2., 6.]])
i = tf.constant([[1, 5, 3], [4, 2, 6]])
b = tf.constant([[True, False, True], [True, True, True]])
onehot = tf.constant([[0., 1., 0.], [1., 0., 0.]])
image = tf.reshape(tf.range(32, dtype=tf.float32), [1, 4, 4, 2])
kernel = tf.reshape(tf.range(16, dtype=tf.float32), [2, 2, 2, 2]) / 8
weights = tf.constant([1., 0.])
""")

# ---- dimensions ------------------------------------------------------------------------------------------------------

GROUP.family("(D(5) {op} {other}).value", op="+ - * // %", other=["D(3)", "D(None)", "3", "None"])
GROUP.family("D(5) {op} {other}", op="< <= > >= == !=", other=["D(3)", "D(None)", "3", "None"])
GROUP.family("(3 {op} D(2)).value", op="+ - * // %")
GROUP.values("""
repr(D(3))
str(D(3)), str(D(None)), repr(D(None))
D(D(4)).value, D(None).value
int(D(3)), bool(D(0)), bool(D(2))
[1, 2, 3][D(1)]
D(3).is_compatible_with(3), D(3).is_compatible_with(None), D(3).is_compatible_with(4)
D(3).merge_with(None).value, D(None).merge_with(4).value
D(np.int64(7)).value
D(3) in [3, 4]
[d.value for d in tf.TensorShape([2, None]).dims]
repr(tf.TensorShape([2, None]).dims)
tf.TensorShape(None).dims
tf.TensorShape([D(2), 3])
(tf.TensorShape([2, 3]).dims[0] * tf.TensorShape([2, 3]).dims[1]).value
tf.zeros(tf.TensorShape([2, 3]).dims[:1]).shape
v1.dimension_value(D(3)), v1.dimension_value(4), v1.dimension_value(None)
repr(v1.dimension_at_index(tf.TensorShape([2, None]), 0))
repr(v1.dimension_at_index(tf.TensorShape([2, None]), 1))
""")
GROUP.errors("""
D(-1)
D("3")
D(1.5)
D(3).merge_with(4)
D(3).assert_is_compatible_with(4)
D(3) + "a"
3 / D(2)
D(3) / 2
hash(D(3))
""")

# ---- reductions ------------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.reduce_{f}(m{how})",
    f="sum mean max min prod logsumexp",
    how=[
        "",
        ", 1",
        ", reduction_indices=[0]",
        ", axis=1, keep_dims=True",
        ", 0, True",
        ", reduction_indices=1, keepdims=True",
    ],
)
GROUP.family("v1.reduce_{f}(b{how})", f="all any", how=["", ", 0", ", reduction_indices=1, keep_dims=True"])
GROUP.family("v1.math.reduce_{f}(m, reduction_indices=1)", f="sum max")
GROUP.values("""
v1.argmax(i)
v1.argmax(i, dimension=1)
v1.argmin(i, axis=1, output_type=tf.int32)
v1.arg_max(i, 1)
v1.arg_min(i, 0)
v1.count_nonzero(i, reduction_indices=1)
v1.count_nonzero(input=i, keep_dims=True)
v1.norm(m, keep_dims=True)
v1.norm(m, 1, axis=1)
v1.linalg.norm(m, axis=0, keepdims=True) if hasattr(v1.linalg, "norm") else None
""")
GROUP.errors("""
v1.reduce_sum(m, axis=1, reduction_indices=1)
v1.reduce_sum(m, keepdims=True, keep_dims=True)
v1.argmax(i, axis=1, dimension=1)
v1.count_nonzero()
""")

# ---- arrays ----------------------------------------------------------------------------------------------------------

GROUP.values("""
v1.constant(3.0, shape=[2])
v1.constant([1, 2], tf.float32)
v1.convert_to_tensor([1, 2], preferred_dtype=tf.float32)
v1.zeros_like(m, tf.int32)
v1.ones_like(i)
v1.shape(m, out_type=tf.int64)
v1.size(m)
v1.squeeze(tf.zeros([1, 2, 1]), squeeze_dims=[0]).shape
v1.expand_dims(i, dim=1).shape
v1.transpose(i)
v1.transpose(tf.constant([[1 + 2j]]), conjugate=True)
v1.pad(i, [[1, 0], [0, 1]], "CONSTANT", "p", 9)
v1.where(b, m, -m)
v1.where([True, False], m, -m)
v1.where(b)
v1.gather(m, [1, 0])
v1.gather(m, [1, 0], axis=1)
v1.gather_nd(m, [[0, 1]])
v1.batch_gather(m, [[1], [0]])
v1.boolean_mask(m, b[0], axis=1)
v1.reverse_sequence(m, [2, 3], seq_dim=1, batch_dim=0)
v1.batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), [[0, 0], [0, 0]], 2)
v1.space_to_batch(tf.reshape(tf.range(4), [1, 2, 2, 1]), [[0, 0], [0, 0]], 2)
v1.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2)
v1.depth_to_space(tf.reshape(tf.range(4), [1, 1, 1, 4]), 2)
v1.setdiff1d([1, 2, 3, 4, 2], [2, 4])
v1.div(7, 2), v1.div(-7, 2), v1.div(7.0, 2.0)
v1.floor_div(-7, 2)
v1.scalar_mul(2.0, m)
v1.to_float(i), v1.to_double(1), v1.to_int32(1.7), v1.to_int64(2.2), v1.to_complex64(1.0)
v1.clip_by_average_norm(m, 0.5)
v1.bincount([1, 1, 2])
v1.confusion_matrix([0, 1], [0, 1], 2, tf.int64)
v1.cond(tf.constant(True), lambda: [1.0], lambda: [2.0])
v1.cond(tf.constant(False), fn1=lambda: 1, fn2=lambda: 2)
v1.while_loop(lambda x: x < 10, lambda x: x * 2, [1])
v1.while_loop(lambda x, y: x < 10, lambda x, y: (x * 2, y + 1), [1, 0])
v1.while_loop(lambda x: x < 0, lambda x: x * 2, (1,))
v1.while_loop(lambda x: x < 10, lambda x: [x * 2], (1,))
v1.while_loop(lambda x: x < 10, lambda x: (x * 2,), [1], return_same_structure=True)
[type(tf.function(lambda: v1.while_loop(lambda x: x < 9, lambda x: x * 2, (1,), return_same_structure=True))())]
tf.function(lambda: v1.while_loop(lambda x: x[0] < 9, lambda x: ((x[0] * 2, x[1]),), ((1, 2),)))()
tf.function(lambda: v1.while_loop(lambda x: x['a'] < 9, lambda x: ({'a': x['a'] * 2},), ({'a': 1},)))()
v1.map_fn(lambda x: x * 2, i)
v1.map_fn(lambda x: tf.cast(x, tf.float32), i, dtype=tf.float32)
v1.scan(lambda a, x: a + x, tf.constant([1, 2, 3]))
v1.foldl(lambda a, x: a * 2 + x, tf.constant([1, 2, 3]))
v1.foldr(lambda a, x: a * 2 + x, tf.constant([1, 2, 3]))
v1.tuple([m, i])
v1.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)])
v1.py_func(lambda x: x + 1, [m], tf.float32)
v1.log(m), v1.erf(m), v1.lgamma(m)
v1.matrix_inverse([[2.0, 0.0], [0.0, 4.0]])
v1.random_normal([2]).shape
v1.placeholder_with_default(3.0, [])
""")
GROUP.errors("""
v1.expand_dims(i)
v1.expand_dims(i, 0, dim=0)
v1.squeeze(i, 0, squeeze_dims=0)
v1.where(b, m)
v1.cond(tf.constant(True), lambda: 1)
v1.constant([1, 2, 3], shape=[2])
v1.constant([1, 2], shape=[2, 2])
v1.constant_initializer([1, 2])([2, 2])
v1.constant([1, 2], shape=[3], verify_shape=True)
v1.placeholder(tf.float32)
""")

# ---- checks, texts, parts of variables -------------------------------------------------------------------------------

GROUP.values("""
v1.assert_equal(i, i)
v1.assert_less(i, 7, message="m", summarize=2)
v1.assert_positive(i)
v1.assert_rank(m, 2)
v1.assert_rank_at_least(m, 1)
v1.verify_tensor_all_finite(t=m, msg="finite")
v1.substr("tensor", 1, 3)
v1.string_to_number(["1.5", "2"])
v1.string_to_hash_bucket_fast(["a"], 10)
v1.string_to_hash_bucket(["a", "b"], 10)
v1.reduce_join([["a", "b"], ["c", "d"]], reduction_indices=1)
v1.reduce_join([["a", "b"]], axis=0, keep_dims=True, separator="-")
v1.strings.length(["abc", ""], unit="BYTE")
v1.scatter_update(tf.Variable([1., 2., 3.]), [0, 2], [7., 8.]).numpy()
v1.scatter_add(tf.Variable([1., 2., 3.]), [0, 0], [7., 8.]).numpy()
v1.scatter_sub(tf.Variable([[1., 2.], [3., 4.]]), [1], [[1., 1.]]).numpy()
v1.scatter_mul(tf.Variable([1., 2., 3.]), 1, 5.).numpy()
v1.scatter_nd_update(tf.Variable([1., 2., 3.]), [[1]], [9.]).numpy()
v1.assign(tf.Variable([1., 2.]), [3., 4.]).numpy()
v1.assign_add(tf.Variable(1.), 2.).numpy(), v1.assign_sub(tf.Variable(1.), 2.).numpy()
v1.executing_eagerly(), v1.executing_eagerly_outside_functions()
v1.logging.WARN, v1.logging.FATAL
""")
GROUP.errors("""
v1.assert_equal(i, 1)
v1.assert_rank(m, 3)
v1.assert_near(m, m + 1)
v1.assert_integer(m)
v1.verify_tensor_all_finite(tf.constant([np.nan]), "bad")
v1.string_to_number()
v1.name_scope(3)
""")

# ---- networks --------------------------------------------------------------------------------------------------------

GROUP.values("""
v1.nn.softmax(m)
v1.nn.softmax(m, dim=0)
v1.nn.log_softmax(m, axis=0)
v1.math.softmax(m, dim=0)
v1.nn.leaky_relu(-m, 0.3)
v1.nn.crelu(m, axis=0)
v1.nn.dropout(m, keep_prob=1.0)
v1.nn.dropout(m, rate=0.0)
v1.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=m)
v1.nn.softmax_cross_entropy_with_logits(labels=onehot, logits=m, dim=0)
v1.nn.softmax_cross_entropy_with_logits_v2(onehot, m, dim=0)
v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=m)
v1.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=m)
v1.nn.weighted_cross_entropy_with_logits(targets=onehot, logits=m, pos_weight=2.0)
v1.nn.in_top_k(m, [1, 0], 1)
v1.nn.xw_plus_b(m, tf.ones([3, 2]), [1.0, 2.0])
v1.nn.relu_layer(m, -tf.ones([3, 2]), [7.0, 10.0])
v1.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME")
v1.nn.conv2d(image, filter=kernel, strides=[1, 2, 2, 1], padding="VALID")
v1.nn.conv1d(image[0], kernel[0], 1, "SAME")
v1.nn.conv2d_transpose(image, kernel, [1, 4, 4, 2], [1, 1, 1, 1])
v1.nn.depthwise_conv2d(image, kernel, [1, 1, 1, 1], "SAME")
v1.nn.separable_conv2d(image, kernel, tf.ones([1, 1, 4, 3]), [1, 1, 1, 1], "SAME")
v1.nn.convolution(image, kernel, "SAME")
v1.nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
v1.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
v1.nn.pool(image, [2, 2], "MAX", "VALID")
v1.nn.moments(m, [0])
v1.nn.moments(m, [0, 1], keep_dims=True)
v1.nn.weighted_moments(m, [0], [[1.0], [3.0]])
v1.nn.embedding_lookup(m, [1, 0, 1])
v1.nn.embedding_lookup([m], [1])
""")
GROUP.errors("""
v1.nn.dropout(m)
v1.nn.dropout(m, 0.5, rate=0.5)
v1.nn.softmax(m, axis=1, dim=1)
v1.nn.sparse_softmax_cross_entropy_with_logits(logits=m)
""")

# ---- losses ----------------------------------------------------------------------------------------------------------

GROUP.family(
    "v1.losses.{f}(onehot, m / 7{how})",
    f="absolute_difference mean_squared_error huber_loss log_loss hinge_loss sigmoid_cross_entropy",
    how=["", ", 2.0", ", weights=[[1.0], [0.0]]", ", reduction='none'", ", reduction='weighted_mean', weights=3.0",
         ", reduction='weighted_sum'", ", reduction='weighted_sum_over_batch_size'"],
)  # fmt: skip
GROUP.values("""
v1.losses.cosine_distance(onehot, m, axis=1)
v1.losses.cosine_distance(onehot, m, dim=0)
v1.losses.mean_pairwise_squared_error(onehot, m, weights=[[1.0], [1.0]])
v1.losses.mean_pairwise_squared_error(onehot, m, weights=[[1.0], [0.5]])
v1.losses.sparse_softmax_cross_entropy([1, 0], m)
v1.losses.sparse_softmax_cross_entropy([[1], [0]], m, weights)
v1.losses.softmax_cross_entropy(onehot, m, label_smoothing=0.1)
v1.losses.sigmoid_cross_entropy(onehot, m, label_smoothing=0.1)
v1.losses.huber_loss(onehot, m, delta=0.5)
v1.losses.softmax_cross_entropy(onehot, m, weights)
v1.losses.softmax_cross_entropy(onehot, m, reduction='none')
v1.losses.compute_weighted_loss([1.0, 3.0, 8.0], [1.0, 1.0, 0.0])
v1.losses.compute_weighted_loss(tf.constant([1.0, 3.0], tf.float64))
v1.losses.get_regularization_loss()
v1.losses.Reduction.all()
""")
GROUP.errors("""
v1.losses.mean_squared_error(onehot, m[:1])
v1.losses.mean_squared_error(None, m)
v1.losses.compute_weighted_loss([1.0, 2.0], [1.0, 2.0, 3.0])
v1.losses.compute_weighted_loss([[1.0, 2.0]], [1.0, 2.0])
v1.losses.compute_weighted_loss([1.0], reduction="nothing")
v1.losses.cosine_distance(onehot, m)
""")

# ---- initializers and schedules --------------------------------------------------------------------------------------

GROUP.family(
    "type(tf.{kind}({args})).__name__, sorted(tf.{kind}({args}).get_config().items())",
    kind=[
        f"{space}{name}_initializer"
        for space in ("", "compat.v1.")
        for name in ("zeros", "ones", "random_normal", "random_uniform")
    ],
    args=[""],
)
GROUP.values("""
type(tf.constant_initializer(2)).__name__, tf.constant_initializer(2).get_config()
type(v1.constant_initializer(2)).__name__, sorted(v1.constant_initializer(2).get_config().items())
[getattr(v1, f"{n}_initializer").__name__ for n in ("glorot_normal", "orthogonal", "truncated_normal")]
[getattr(v1, f"{n}_initializer").__name__ for n in ("uniform_unit_scaling", "variance_scaling", "glorot_uniform")]
[getattr(v1.initializers, n).__name__ for n in ("identity", "constant", "truncated_normal", "zeros", "orthogonal")]
""")
GROUP.values("""
v1.zeros_initializer()([2, 2])
v1.ones_initializer(tf.int32)([2])
v1.constant_initializer(3)([2])
v1.constant_initializer([1, 2, 3, 4])([2, 2])
v1.initializers.identity(2.0)([2, 2])
v1.variance_scaling_initializer(2.0, "fan_out", "uniform", 3).get_config()
v1.glorot_uniform_initializer(seed=1).get_config()
v1.random_uniform_initializer(0, 1).get_config()
v1.initializers.he_normal(3).get_config()
v1.glorot_normal_initializer()([3, 4]).shape
bool(tf.reduce_max(tf.abs(v1.glorot_uniform_initializer()([30, 30]))) <= 6 ** 0.5 / 60 ** 0.5)
[float(v1.train.exponential_decay(0.5, s, 10, 0.9)()) for s in (0, 3, 15)]
[float(v1.train.exponential_decay(0.5, s, 10, 0.9, True)()) for s in (0, 3, 15)]
[float(v1.train.piecewise_constant(s, [5, 12], [1.0, 0.5, 0.1])()) for s in (0, 5, 6, 13)]
[float(v1.train.polynomial_decay(0.5, s, 10, 0.1, 2.0, c)()) for s in (0, 3, 15) for c in (True, False)]
[float(v1.train.natural_exp_decay(0.5, s, 10, 0.9)()) for s in (0, 3, 15)]
[float(v1.train.inverse_time_decay(0.5, s, 10, 0.9, True)()) for s in (0, 3, 15)]
[float(v1.train.cosine_decay(0.5, s, 20, 0.1)()) for s in (0, 3, 25)]
[float(v1.train.cosine_decay_restarts(0.5, s, 10, 2.0, 0.9, 0.1)()) for s in (0, 3, 25)]
[float(v1.train.linear_cosine_decay(0.5, s, 20)()) for s in (0, 3, 25)]
""")
GROUP.errors("""
v1.variance_scaling_initializer(-1.0)
v1.variance_scaling_initializer(mode="fan")
v1.constant_initializer(object())
v1.initializers.identity()([2, 2, 2])
v1.orthogonal_initializer()([2])
v1.train.piecewise_constant(1, [5], [1.0])
v1.train.GradientDescentOptimizer(0.1, name="")
v1.train.AdagradOptimizer(0.1, -1.0)
v1.train.FtrlOptimizer(0.1, 1.0)
v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
""")
