"""Sampled classes and pooling regions by seeds, batch normalization, and quotients of integers."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
N = tf.nn
def drawn(*shape, seed=0, low=-3.0, high=3.0, dtype=tf.float32):
    return tf.constant(np.random.default_rng(seed).uniform(low, high, shape), dtype)
true = tf.constant([[0, 3], [5, 2]], tf.int64)
def sampled(kind, count, unique, most, seed, **more):
    tf.random.set_seed(3)
    return getattr(tf.random, kind + '_candidate_sampler')(true, 2, count, unique, most, seed=seed, **more)
shares = [4.0, 0.5, 2.0, 4.0, 1.0, 9.0, 3.0]
def learned(seed, most):
    tf.random.set_seed(seed)
    first = tf.random.learned_unigram_candidate_sampler(true, 2, 4, False, most, seed=seed)
    return first, tf.random.learned_unigram_candidate_sampler(true[:1], 2, 3, True, most, seed=seed)
def losses(f, seed, **more):
    tf.random.set_seed(seed)
    return f(drawn(7, 3), drawn(7, seed=1), true, drawn(2, 3, seed=2), 4, 7, 2, **more)
def normed(x, training, factor=1.0, order='NHWC', epsilon=0.001, n=3):
    mean, variance = drawn(n, seed=3), drawn(n, low=0.5, seed=4)
    return R.FusedBatchNormV3(
        x=x, scale=drawn(n, low=0.5), offset=drawn(n, seed=2), mean=mean, variance=variance,
        epsilon=epsilon, exponential_avg_factor=factor, data_format=order, is_training=training)[:3]
def shrunk(f, ratio, pseudo=False, overlapping=False, seed=5, size=(1, 7, 8, 2)):
    tf.random.set_seed(7)
    return f(drawn(*size), ratio, pseudo, overlapping, seed)
def whole(values, d):
    return tf.constant(values, d)
"""
)
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "because": "sums in another order"}

# ---- samplers --------------------------------------------------------------------------------------------------------
GROUP.family(
    "sampled('{k}', {n}, {u}, {m}, {s})",
    k="uniform log_uniform",
    n="1 5",
    u="True False",
    m="6 9 1000",
    s="1 2",
    **LOOSE,
)
GROUP.family(
    "sampled('fixed_unigram', {n}, {u}, 7, 4, unigrams=shares, distortion={d})",
    n="2 5",
    u="True False",
    d="1.0 0.5 0.0",
    **LOOSE,
)
GROUP.family("learned({s}, {m})", s="3 4", m="6 50", **LOOSE)
GROUP.values(
    """
sampled('fixed_unigram', 3, False, 8, 4, unigrams=shares, num_reserved_ids=1)
sampled('fixed_unigram', 2, False, 7, 4, unigrams=shares * 2, num_shards=2, shard=1)
tf.random.all_candidate_sampler(true, 2, 6, True, seed=3)
N.compute_accidental_hits(true, [2, 0, 0, 9], 2)
losses(N.nce_loss, 3)
losses(N.nce_loss, 4, remove_accidental_hits=True)
losses(N.sampled_softmax_loss, 3)
losses(N.sampled_softmax_loss, 4, remove_accidental_hits=False)
""",
    **LOOSE,
)
GROUP.family(
    "shrunk(N.fractional_{f}_pool, {r}, {p}, {o}, {s})",
    f="max avg",
    r=["[1.0, 1.4, 1.73, 1.0]"],
    p="True False",
    o="True False",
    s="5 6",
    **LOOSE,
)

# ---- batch normalization ---------------------------------------------------------------------------------------------
GROUP.family("normed(drawn(2, 3, 4, 3), {t}, {f})", t="True False", f="1.0 0.3 0.0", **LOOSE)
GROUP.values(
    """
normed(drawn(2, 3, 4, 3, dtype=tf.float16), True)
normed(drawn(2, 3, 4, 3, dtype=tf.bfloat16), False)
normed(drawn(1, 1, 1, 3), True)
normed(drawn(2, 3, 4, 3), True, epsilon=1.0)
normed(tf.zeros([0, 3, 4, 3]), False)
grad(lambda x: normed(x, True)[0] ** 2, drawn(2, 2, 3, 3))
grad(lambda x: normed(x, False)[0] ** 2, drawn(2, 2, 3, 3))
rule(lambda x: normed(x, True)[0], tf.TensorSpec([None, 2, None, 3]))
rule(lambda x: normed(x, True)[1], tf.TensorSpec([None, 2, None, 3]))
""",
    rtol=1e-2,
    atol=1e-3,
    because="half precision",
)
GROUP.errors("""
normed(drawn(2, 3, 3), True)
normed(drawn(2, 3, 4, 2), True)
normed(drawn(2, 3, 4, 2), False)
normed(drawn(2, 3, 4, 3), True, order='HWNC')
sampled('uniform', 7, True, 6, 1)
sampled('log_uniform', 0, True, 6, 1)
sampled('uniform', 2, False, 5, 1)
shrunk(N.fractional_max_pool, [1.5, 1.4, 1.73, 1.0])
shrunk(N.fractional_max_pool, [1.0, 0.4, 1.73, 1.0])
shrunk(N.fractional_avg_pool, 0.5)
shrunk(N.fractional_avg_pool, 1.6)
N.compute_accidental_hits(true[0], [0, 1], 2)
N.compute_accidental_hits(true, [0, 1], 3)
""")

# ---- maxima of windows with NaN and minus infinity -------------------------------------------------------------------
HOLES = ["tf.where(drawn(1, 4, 5, 2) > 0.9, nan, drawn(1, 4, 5, 2))", "tf.where(drawn(1, 4, 5, 2) > -1.5, nan, -inf)"]
GROUP.family("N.max_pool2d({x}, {k}, {s}, '{p}')", x=HOLES, k="2 3", s="1 2", p="SAME VALID")
GROUP.family("N.max_pool_with_argmax({x}, {k}, {s}, '{p}')", x=HOLES, k="2 3", s="1 2", p="SAME VALID")
GROUP.family("grad(lambda x: N.max_pool2d(x, {k}, 1, 'SAME') * drawn(1, 4, 5, 2, seed=3), {x})", x=HOLES, k="2 3")
GROUP.family("N.max_pool2d({x}, [1, 1, 1, 2], [1, 1, 1, 2], 'VALID')", x=HOLES)

# ---- quotients -------------------------------------------------------------------------------------------------------
DIVISIONS = "tf.truncatediv tf.math.floordiv tf.math.floormod tf.math.truediv tf.math.divide"
GROUP.family(
    "{f}(whole([-7, 7, 5, -128], tf.{d}), whole({y}, tf.{d}))",
    f=DIVISIONS,
    d="int8 int16 int32 int64",
    y=["3", "-2", "[2, -3, 5, 7]"],
)
GROUP.family(
    "{f}(whole([7, 200, 5, 0], tf.{d}), whole({y}, tf.{d}))",
    f=DIVISIONS,
    d="uint8 uint16 uint32 uint64",
    y=["3", "[2, 7, 5, 9]"],
)
GROUP.family(
    "{f}(whole([-7.5, 7.5, 0.0, inf], tf.{d}), whole([2.0, -2.0, 0.0, 3.0], tf.{d}))", f=DIVISIONS, d="float32 float64"
)
GROUP.family(
    "tf.truncatemod(whole([-7, 7, 5, 0], tf.{d}), whole({y}, tf.{d}))",
    d="int32 int64 float32",
    y=["3", "-2", "[2, -3, 5, 7]"],
)
GROUP.family("R.Div(x=whole([-7, 7, 5], tf.{d}), y=whole([2, 2, 3], tf.{d}))", d="int32 int64 float32")
GROUP.family("tf.truncate{f}(whole([-2**{b}, 5], tf.int{n}), whole([-1, 2], tf.int{n}))", f="div", b="31", n="32")
GROUP.family("tf.math.floor{f}(tf.range(-{n}, {n}), 7)[::97]", f="div mod", n="3000")
GROUP.family(
    "{f}(whole([1, 2], tf.{d}), whole([1, 0], tf.{d}))",
    f="tf.truncatediv tf.truncatemod tf.math.floordiv tf.math.floormod",
    d="int32 int8 uint8",
    raises=True,
)
GROUP.errors("""
R.Div(x=[1], y=[0])
R.RealDiv(x=[1], y=[1])
tf.math.divide([1], [1.0, 'a'])
tf.math.truediv(tf.constant([1]), tf.constant([1.0]))
tf.math.truediv([True], [False])
tf.math.floordiv(tf.constant([1j]), tf.constant([1j]))
tf.math.floormod([1.0, 2.0, 3.0], [1.0, 2.0])
""")
