"""tf.nn on drawn numbers: losses, decoders, statistics, embeddings, activations, morphology, with gradients."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
N = tf.nn
def drawn(*shape, seed=0, low=-3.0, high=3.0, dtype=tf.float32):
    return tf.constant(np.random.default_rng(seed).uniform(low, high, shape), dtype)
def ints(*shape, seed=0, low=0, high=5, dtype=tf.int32):
    return tf.constant(np.random.default_rng(seed).integers(low, high, shape), dtype)
def shares(*shape, axis=-1, dtype=tf.float32):
    return tf.nn.softmax(drawn(*shape, seed=9, dtype=dtype), axis)
def second(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.gradient(g, x)
def beams(steps, batch, classes, lengths, width, paths, seed=0, scale=1.0):
    found, scores = N.ctc_beam_search_decoder(scale * drawn(steps, batch, classes, seed=seed), lengths, width, paths)
    return [f.values for f in found], [f.indices for f in found], [f.dense_shape for f in found], scores
def greedy(steps, batch, classes, lengths, merge=True, blank=None, seed=0, dtype=tf.float32):
    x = tf.cast(ints(steps, batch, classes, seed=seed, high=3), dtype)
    found, scores = N.ctc_greedy_decoder(x, lengths, merge, blank)
    return found[0].values, found[0].indices, found[0].dense_shape, scores
spec, steps = tf.TensorSpec, [1, 1, 1, 1]
size = [-50.0, -1.0, 0.0, 0.5, 3.0, 80.0]
mean, var, moved, scaled = drawn(3), drawn(3, low=0.5), drawn(3, seed=5), drawn(3, seed=6)
def sparse_ids(values, shape=(4, 3), dtype=tf.int64):
    places = [[0, 0], [0, 2], [1, 1], [3, 0], [3, 1]]
    return tf.SparseTensor(places, tf.constant(values, dtype), shape)
table = drawn(7, 2, seed=4)
parts = [table[:3], table[3:5], table[5:]]
ids, weights = sparse_ids([1, 3, 6, 1, 0]), sparse_ids([0.5, 2.0, 1.0, 3.0, 0.25], dtype=tf.float32)
odd, odd_weights = sparse_ids([1, -3, 6, 1, 0]), sparse_ids([0.5, 2.0, -1.0, 0.0, 0.25], dtype=tf.float32)
deep = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1]], tf.constant([1, 3, 6, -1], tf.int64), [2, 3, 2])
rows = tf.ragged.constant([[1, 3], [], [6]], dtype=tf.int64)
"""
)
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "because": "sums in another order"}

# ---- losses ----------------------------------------------------------------------------------------------------------
SOFTMAX = "N.softmax_cross_entropy_with_logits"
GROUP.family(SOFTMAX + "(shares(*{s}, axis={a}), drawn(*{s}), {a})", s=["(3, 4)", "(2, 3, 4)"], a="-1 0 1", **LOOSE)
GROUP.family(
    "grad(lambda z, x: " + SOFTMAX + "(z, x, {a}) ** 2, shares(3, 4, axis={a}), drawn(3, 4))", a="-1 0", **LOOSE
)
GROUP.values(
    """
N.softmax_cross_entropy_with_logits(shares(3, 4, dtype=tf.float16), drawn(3, 4, dtype=tf.float16))
N.softmax_cross_entropy_with_logits(shares(3, 4, dtype=tf.float64), drawn(3, 4, dtype=tf.float64))
N.softmax_cross_entropy_with_logits(shares(1, 4), drawn(3, 4))
N.softmax_cross_entropy_with_logits(shares(4), drawn(4))
N.softmax_cross_entropy_with_logits(tf.zeros([2, 3, 0]), tf.zeros([2, 3, 0]))
second(lambda x: N.softmax_cross_entropy_with_logits(shares(2, 3), x), drawn(2, 3))
second(lambda x: N.sparse_softmax_cross_entropy_with_logits([1, 0], x), drawn(2, 3))
sized(lambda z, x: N.softmax_cross_entropy_with_logits(z, x), shares(3, 4), drawn(3, 4))
sized(lambda z, x: N.softmax_cross_entropy_with_logits(z, x, 1), shares(2, 3, 4, axis=1), drawn(2, 3, 4))
unranked(lambda z, x: N.softmax_cross_entropy_with_logits(z, x, 1), shares(2, 3, 4, axis=1), drawn(2, 3, 4))
N.sparse_softmax_cross_entropy_with_logits(ints(2, 3), drawn(2, 3, 5))
N.sparse_softmax_cross_entropy_with_logits(ints(3, dtype=tf.int64), drawn(3, 5, dtype=tf.bfloat16))
N.sparse_softmax_cross_entropy_with_logits(2, drawn(5))
grad(lambda x: N.sparse_softmax_cross_entropy_with_logits(ints(2, 3), x) ** 2, drawn(2, 3, 5))
unranked(lambda x: N.sparse_softmax_cross_entropy_with_logits(ints(2, 3), x), drawn(2, 3, 5))
sized(lambda x: N.sparse_softmax_cross_entropy_with_logits(ints(3), x), drawn(3, 5))
mapped(lambda z, x: N.sparse_softmax_cross_entropy_with_logits(z, x), ints(2, 3), drawn(2, 3, 5))
grad(lambda z, x: N.sigmoid_cross_entropy_with_logits(z, x), drawn(6, low=0.0, high=1.0), size)
N.sigmoid_cross_entropy_with_logits(drawn(6, low=0.0, high=1.0), size)
N.weighted_cross_entropy_with_logits(drawn(6, low=0.0, high=1.0), [-50.0, -1.0, 0.0, 0.5, 3.0, 80.0], 3.0)
grad(lambda z, x: N.weighted_cross_entropy_with_logits(z, x, 3.0), drawn(4, low=0.0, high=1.0), drawn(4, seed=2))
N.log_poisson_loss([0.0, 0.5, 1.0, 1.5, 7.0], drawn(5))
N.log_poisson_loss([0.0, 0.5, 1.0, 1.5, 7.0], drawn(5), True)
grad(lambda z, x: N.log_poisson_loss(z, x, True), [0.5, 1.5, 7.0], drawn(3))
N.l2_loss(drawn(2, 3))
N.l2_loss(drawn(2, 3, dtype=tf.float64))
grad(N.l2_loss, drawn(2, 3))
N.compute_average_loss(drawn(4), global_batch_size=8)
N.compute_average_loss(drawn(4))
N.compute_average_loss(drawn(4), [1.0, 0.5, 0.0, 2.0], 6)
N.compute_average_loss(drawn(4, dtype=tf.float64), tf.constant([1.0, 0.5, 0.0, 2.0]))
N.scale_regularization_loss([2.0, 4.0])
""",
    **LOOSE,
)
GROUP.errors("""
R.SoftmaxCrossEntropyWithLogits(labels=drawn(3, 4), features=drawn(2, 4))
R.SoftmaxCrossEntropyWithLogits(labels=drawn(3, 4, 5), features=drawn(3, 4, 5))
R.SparseSoftmaxCrossEntropyWithLogits(labels=[1, 2], features=drawn(3, 4))
R.SparseSoftmaxCrossEntropyWithLogits(labels=[[1, 2]], features=drawn(2, 4))
R.SparseSoftmaxCrossEntropyWithLogits(labels=[1], features=drawn(4))
R.SparseSoftmaxCrossEntropyWithLogits(labels=[1], features=tf.zeros([1, 0]))
N.sparse_softmax_cross_entropy_with_logits([4, 0], drawn(2, 4))
N.sparse_softmax_cross_entropy_with_logits([-1, 0], drawn(2, 4))
N.sparse_softmax_cross_entropy_with_logits([[1, 0]], drawn(2, 4))
N.sparse_softmax_cross_entropy_with_logits([1, 0, 1], drawn(2, 4))
N.sparse_softmax_cross_entropy_with_logits(1, 2.0)
N.softmax_cross_entropy_with_logits(shares(2, 4), drawn(2, 4), 2)
N.softmax_cross_entropy_with_logits(shares(2, 4), drawn(2, 4), -3)
N.sigmoid_cross_entropy_with_logits(drawn(2), drawn(3))
N.weighted_cross_entropy_with_logits(drawn(2), drawn(3), 1.0)
N.log_poisson_loss(drawn(2), drawn(3))
N.sigmoid_cross_entropy_with_logits(drawn(2), None)
N.compute_average_loss(drawn(2), global_batch_size=2.5)
N.compute_average_loss(drawn(2), global_batch_size=[2])
N.compute_average_loss(drawn(2), drawn(2, 2), 2)
""")

# ---- decoders --------------------------------------------------------------------------------------------------------
GROUP.family(
    "beams(6, 3, {c}, [6, 4, 1], {w}, {p}, {seed}, {scale})",
    c="3 5",
    w="1 2 7 100",
    p="1",
    seed="0 1",
    scale="1.0 0.1",
    **LOOSE,
)
GROUP.family("beams(5, 2, 4, [5, 3], {w}, {p}, {seed})", w="3 9", p="2 3", seed="2 3", **LOOSE)
GROUP.values(
    """
beams(4, 2, 3, [4, 2], 5, 2)
beams(9, 1, 2, [9], 4, 3)
beams(3, 2, 3, [-1, 2], 4, 1)
beams(3, 1, 1, [3], 4, 1)
R.CTCBeamSearchDecoder(inputs=2.0 * drawn(7, 2, 3), sequence_length=[7, 5], beam_width=6, top_paths=2)
R.CTCBeamSearchDecoder(inputs=drawn(7, 2, 3, dtype=tf.float64), sequence_length=[7, 5], beam_width=6, top_paths=1)
""",
    **LOOSE,
)
GROUP.family(
    "greedy(7, 3, 4, [7, 3, 0], {merge}, {blank}, {seed})", merge="True False", blank="None 0 2 -2", seed="0 1"
)
GROUP.values("""
greedy(5, 1, 3, [-2])
greedy(5, 2, 3, [5, 4], dtype=tf.float64)
R.CTCGreedyDecoder(inputs=[[[nan, 1.0, 2.0]], [[0.0, nan, 2.0]]], sequence_length=[2])
rule(lambda x, n: R.CTCGreedyDecoder(inputs=x, sequence_length=n)[3], spec([None, 2, 3]), [None])
rule(lambda x, n: R.CTCBeamSearchDecoder(inputs=x, sequence_length=n, beam_width=4, top_paths=3), spec([5, 2, 3]), [2])
""")
GROUP.errors("""
greedy(5, 2, 3, [5, 6])
greedy(5, 2, 3, [5])
greedy(5, 2, 3, [[5, 5]])
greedy(5, 2, 3, [5, 5], blank=3)
greedy(5, 2, 3, [5, 5], blank=-4)
greedy(0, 2, 3, [0, 0])
N.ctc_greedy_decoder(drawn(5, 2), [2])
beams(5, 2, 3, [5, 6], 4, 1)
beams(5, 2, 3, [5], 4, 1)
beams(5, 2, 3, [5, 5], 4, 5)
beams(1, 1, 2, [1], 4, 3)
beams(0, 2, 3, [0, 0], 4, 1)
N.ctc_beam_search_decoder(drawn(5, 2), [2])
""")

# ---- statistics ------------------------------------------------------------------------------------------------------
AXES = ["[0]", "[1, 2]", "[-1, 0]", "[0, 1, 2]"]
GROUP.family("N.moments(drawn(2, 3, 4), {axes}, keepdims={k})", axes=AXES, k="True False", **LOOSE)
GROUP.family(
    "N.weighted_moments(drawn(2, 3, 4), {axes}, drawn(2, 3, 1, low=0.1, seed=1), keepdims={k})",
    axes=AXES,
    k="True False",
    **LOOSE,
)
GROUP.family(
    "N.sufficient_statistics(drawn(2, 3, 4), {axes}, {shift}, keepdims={k})",
    axes=AXES,
    shift="None 0.5",
    k="True False",
    **LOOSE,
)
GROUP.values(
    """
N.moments(100.0 + 1e-3 * drawn(50), [0])
N.moments(tf.fill([7], 0.1), [0])
N.moments(drawn(3, 4, dtype=tf.float16), [0], keepdims=True)
N.moments(drawn(3, 4, dtype=tf.bfloat16), 1)
N.moments(tf.zeros([0, 3]), [0])
N.moments(ints(5), [0])
grad(lambda x: N.moments(x, [0])[0] * N.moments(x, [0])[1], drawn(3, 2))
grad(lambda x: N.weighted_moments(x, [0], [[1.0], [2.0], [3.0]])[1], drawn(3, 2))
N.weighted_moments(drawn(3, 4, dtype=tf.float16), [0], [[1], [2], [3]])
N.weighted_moments(drawn(3, 4), [0], tf.zeros([3, 4]))
N.weighted_moments(drawn(4), [0], 2.0)
sized(lambda x: N.sufficient_statistics(x, [0, 1])[:3], drawn(2, 3))
sized(lambda x: N.sufficient_statistics(x, [-1], 0.1), drawn(2, 3))
N.normalize_moments(6.0, drawn(3), drawn(3, low=9.0, high=12.0), None)
N.normalize_moments(6.0, drawn(3), drawn(3, low=9.0, high=12.0), drawn(3, seed=5))
N.batch_normalization(drawn(2, 3), mean, var, moved, scaled, 0.01)
N.batch_normalization(drawn(2, 3), drawn(3), drawn(3, low=0.5), None, drawn(3, seed=6), 0.01)
N.batch_normalization(drawn(2, 3), drawn(3), drawn(3, low=0.5), drawn(3, seed=5), None, 0.01)
N.batch_normalization(drawn(2, 3), drawn(3), drawn(3, low=0.5), None, None, 0.5)
N.batch_normalization(drawn(2, 3, dtype=tf.float16), mean, var, moved, mean, 0.01)
grad(lambda *a: N.batch_normalization(*a, 0.01) ** 2, drawn(2, 3), mean, var, moved, mean)
N.batch_norm_with_global_normalization(drawn(1, 2, 2, 3), mean, var, moved, scaled, 0.01, True)
N.batch_norm_with_global_normalization(drawn(1, 2, 2, 3), mean, var, moved, scaled, 0.01, False)
""",
    **LOOSE,
)
GROUP.family(
    "N.local_response_normalization(drawn(1, 2, 2, {c}), {r}, {b}, {al}, {be})",
    c="1 5 9",
    r="1 2 5",
    b="1.0 2.0",
    al="0.5",
    be="0.5 0.75",
    **LOOSE,
)
GROUP.family(
    "grad(lambda x: N.local_response_normalization(x, {r}, 1.5, 0.4, {be}) ** 2, drawn(1, 1, 2, 5))",
    r="1 3",
    be="0.5 1.2",
    **LOOSE,
)

# ---- embeddings ------------------------------------------------------------------------------------------------------
GROUP.family(
    "N.embedding_lookup({p}, {i}, {norm})",
    p="table parts",
    i=["[1, 3, 6]", "[[0, 2], [5, 4]]", "6"],
    norm="None 1.0",
    **LOOSE,
)
GROUP.family(
    "N.embedding_lookup_sparse({p}, ids, {w}, '{c}', {norm})",
    p="table parts",
    w="None weights",
    c="mean sum sqrtn",
    norm="None 1.0",
    **LOOSE,
)
GROUP.family(
    "N.safe_embedding_lookup_sparse({p}, odd, {w}, '{c}', {d})",
    p="table parts",
    w="None odd_weights",
    c="mean sum sqrtn",
    d="None 2",
    **LOOSE,
)
GROUP.values(
    """
N.embedding_lookup(parts, rows)
N.embedding_lookup(table, rows, 1.0)
N.embedding_lookup([table], [1, 2], 0.5)
N.embedding_lookup([drawn(2, 2), drawn(1, 2), drawn(1, 2, seed=3), tf.zeros([0, 2])], [0, 1, 2])
N.embedding_lookup(drawn(3, 2, 2), [[1, 2]], 1.0)
unranked(lambda t, i: N.embedding_lookup(t, i, 1.0), drawn(3, 2, 2), [[1, 2]])
N.embedding_lookup_sparse(table, rows, None, 'sum')
N.embedding_lookup_sparse(table, tf.ragged.constant([[1, 3], [6]]), tf.ragged.constant([[0.5, 1.0], [2.0]]))
N.embedding_lookup_sparse(tf.cast(table, tf.float16), ids, weights, 'sqrtn')
N.embedding_lookup_sparse(drawn(7, 2, 2), ids, weights)
N.embedding_lookup_sparse(table, ids, tf.SparseTensor(ids.indices, tf.zeros([5]), [4, 3]))
N.safe_embedding_lookup_sparse(table, deep)
N.safe_embedding_lookup_sparse(table, deep, combiner='sum', default_id=3)
N.safe_embedding_lookup_sparse(table, deep, max_norm=0.5)
N.safe_embedding_lookup_sparse(table, rows)
N.safe_embedding_lookup_sparse(table, rows, tf.ragged.constant([[0.5, 1.0], [], [2.0]]), 'sum', 1)
N.safe_embedding_lookup_sparse(table, tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int64), [2, 3]))
[tf.convert_to_tensor(g) for g in grad(lambda t: N.embedding_lookup_sparse(t, ids, weights, 'sqrtn'), table)]
[tf.convert_to_tensor(g) for g in grad(lambda t: N.safe_embedding_lookup_sparse(t, odd, odd_weights), table)]
[tf.convert_to_tensor(g) for g in grad(lambda t: N.embedding_lookup(t, [1, 1, 3], 0.5), table)]
""",
    **LOOSE,
)
GROUP.errors("""
N.embedding_lookup(None, [1])
N.embedding_lookup([], [1])
N.embedding_lookup(table, [7])
N.embedding_lookup(parts, [7])
N.embedding_lookup_sparse(table, [1, 2], None)
N.embedding_lookup_sparse(table, ids, [1.0])
N.embedding_lookup_sparse(table, ids, None, 'max')
N.embedding_lookup_sparse(table, rows, weights)
N.safe_embedding_lookup_sparse(None, ids)
N.safe_embedding_lookup_sparse([], ids)
""")

# ---- activations and the like ----------------------------------------------------------------------------------------
ACTIVATIONS = "relu relu6 elu selu leaky_relu gelu silu softplus softsign tanh sigmoid crelu"
GROUP.family("grad(lambda x: N.{f}(x) ** 2, [-inf, -9.0, -0.5, 0.0, 0.3, 6.0, 7.0, nan])", f=ACTIVATIONS, **LOOSE)
GROUP.family(
    "second(N.{f}, [-9.0, -0.5, 0.0, 0.3, 5.0, 7.0])", f="relu elu selu gelu silu softplus tanh sigmoid", **LOOSE
)
GROUP.family(
    "R.{f}Grad(gradients=[2.0, 3.0, 4.0, 5.0], features=[-1.0, 0.0, 6.0, nan])",
    f="Relu Relu6 LeakyRelu Softplus Softsign",
)
GROUP.family("R.{f}Grad(gradients=[2.0, 3.0, 4.0], outputs=[-1.0, 0.0, 6.0])", f="Elu Selu", **LOOSE)
GROUP.family("N.gelu(drawn(4), {a})", a="True False", **LOOSE)
GROUP.family("N.{f}(drawn(2, 3, 4), {a})", f="softmax log_softmax", a="None 0 1 -1", **LOOSE)
GROUP.family("grad(lambda x: N.{f}(x, {a}) ** 2, drawn(2, 3))", f="softmax log_softmax", a="0 1", **LOOSE)
GROUP.family(
    "N.bias_add(drawn({s}), drawn(3), {f})", s=["2, 3", "2, 4, 3", "1, 2, 2, 3"], f=["None", "'NHWC'", "'N...C'"]
)
GROUP.family(
    "N.bias_add(drawn({s}), drawn(3), {f})",
    s=["2, 3", "2, 3, 4", "1, 3, 2, 2", "1, 3, 2, 2, 2"],
    f=["'NCHW'", "'NC...'"],
)
GROUP.family(
    "grad(lambda x, b: N.bias_add(x, b, {f}) ** 2, drawn(1, 3, 2, 3), drawn(3))", f=["None", "'NCHW'"], **LOOSE
)
GROUP.family(
    "N.{f}(drawn(*{s}), 2, '{d}')", f="depth_to_space space_to_depth", s=["(1, 2, 4, 8)", "(2, 4, 4, 4)"], d="NHWC"
)
GROUP.family("grad(lambda x: N.{f}(x, 2) ** 2, drawn(1, 2, 2, 4))", f="depth_to_space space_to_depth", **LOOSE)
GROUP.errors("""
N.softmax(3.0)
N.softmax([1.0, 2.0], 1)
N.log_softmax([1.0], -2)
N.bias_add(drawn(2, 3), drawn(2))
N.bias_add(drawn(2, 3), drawn(1, 3))
N.bias_add(drawn(3), drawn(3))
N.bias_add(drawn(2, 3), drawn(3), 'HWC')
N.bias_add(drawn(2, 3, 4), drawn(4), 'NCHW')
N.depth_to_space(drawn(1, 2, 2, 3), 2)
N.depth_to_space(drawn(1, 2, 2, 4), 1)
N.depth_to_space(drawn(2, 2, 4), 2)
N.space_to_depth(drawn(1, 3, 2, 4), 2)
N.space_to_depth(drawn(1, 2, 3, 4), 2)
N.space_to_depth(drawn(1, 2, 2, 4), 0)
N.leaky_relu([1.0], 'a')
N.leaky_relu([1.0], tf.constant(0.1))
N.gelu([1, 2])
N.elu([1, 2])
""")
GROUP.family(
    "N.{f}(drawn(1, 5, 6, 2), drawn(*{w}, 2, seed=1), {s}, '{p}', 'NHWC', {d})",
    f="dilation2d erosion2d",
    w=["(2, 3)", "(3, 1)"],
    s=["[1, 1, 1, 1]", "[1, 2, 3, 1]"],
    p="SAME VALID",
    d=["[1, 1, 1, 1]", "[1, 2, 1, 1]"],
)
GROUP.family(
    "grad(lambda x, w: N.{f}(x, w, {s}, '{p}', 'NHWC', [1, 2, 1, 1]) ** 2, drawn(1, 4, 4, 2), drawn(2, 2, 2, seed=1))",
    f="dilation2d erosion2d",
    s=["[1, 1, 1, 1]", "[1, 2, 1, 1]"],
    p="SAME VALID",
    **LOOSE,
)
GROUP.values("""
N.dilation2d(ints(1, 3, 3, 1, dtype=tf.uint8), ints(2, 2, 1, dtype=tf.uint8), steps, 'SAME', 'NHWC', steps)
N.dilation2d(ints(1, 3, 3, 1, low=-5), ints(2, 2, 1, low=-9), steps, 'SAME', 'NHWC', steps)
rule(lambda x, w: N.dilation2d(x, w, [1, 2, 1, 1], 'SAME', 'NHWC', steps), spec([None, 5, 6, 2]), spec([2, 2, None]))
rule(lambda x, w: N.dilation2d(x, w, [1, 2, 1, 1], 'SAME', 'NHWC', steps), spec([1, None, 6, 2]), spec([2, 2, 2]))
""")
GROUP.errors("""
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 3), steps, 'SAME', 'NHWC', steps)
N.dilation2d(drawn(5, 6, 2), drawn(2, 3, 2), steps, 'SAME', 'NHWC', steps)
N.dilation2d(drawn(1, 5, 6, 2), drawn(3, 2), steps, 'SAME', 'NHWC', steps)
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 2), [1, 1, 1], 'SAME', 'NHWC', steps)
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 2), [2, 1, 1, 1], 'SAME', 'NHWC', steps)
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 2), steps, 'SAME', 'NHWC', [1, 1, 1, 2])
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 2), steps, 'SAME', 'NCHW', steps)
N.dilation2d(drawn(1, 5, 6, 2), drawn(2, 3, 2), [1, 0, 1, 1], 'VALID', 'NHWC', steps)
rule(lambda x, w: N.dilation2d(x, w, steps, 'SAME', 'NHWC', steps), spec([1, 5, 6, 2]), spec([2, 2, 3]))
""")
