"""tf.math on numbers of all sizes, by dtype, with gradients: special functions, counts, orders, reductions."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
M = tf.math
S = tf.math.special
SPREAD = [-inf, -20.5, -3.2, -1.0, -0.5, -1e-5, -0.0, 0.0, 1e-5, 0.3, 1.0, 1.5, 2.7, 8.1, 25.0, 90.0, inf, nan]
def numbers(dtype=tf.float32, low=-inf, high=inf):
    return tf.constant([x for x in SPREAD if low <= x <= high], dtype)
def drawn(*shape, seed=0, low=-3.0, high=3.0, dtype=tf.float32):
    return tf.constant(np.random.default_rng(seed).uniform(low, high, shape), dtype)
def ints(*shape, seed=0, low=-5, high=6, dtype=tf.int32):
    return tf.constant(np.random.default_rng(seed).integers(low, high, shape), dtype)
def finite(f, *xs):
    return [g if g is None else tf.where(tf.math.is_finite(g), g, 7.0) for g in grad(f, *xs)]
def sparse(x):
    return tf.sparse.from_dense(x)
def ragged(x):
    return tf.RaggedTensor.from_tensor(x, padding=0)
def pairs(dtype=tf.float32, low=0.01, high=9.0):
    a, b = np.meshgrid([0.05, 0.5, 1.0, 2.5, 7.0, 40.0], [0.0, 0.01, 0.7, 1.0, 3.0, 20.0, 60.0])
    return tf.constant(a.reshape(-1), dtype), tf.constant(b.reshape(-1), dtype)
"""
)
LOOSE = {"rtol": 2e-4, "atol": 1e-5, "because": "functions that each library approximates in its own way"}
CLOSE = {"rtol": 1e-8, "atol": 1e-10, "because": "functions that each library approximates in its own way"}

# ---- special functions -----------------------------------------------------------------------------------------------
BESSEL = "i0 i0e i1 i1e k0 k0e k1 k1e j0 j1 y0 y1"
OTHERS = "dawsn expint fresnel_cos fresnel_sin spence"
GROUP.family("S.bessel_{f}(numbers(tf.float32, -21.0, 26.0))", f=BESSEL.replace(" y1", ""), **LOOSE)
GROUP.family("S.bessel_y1(numbers(tf.float32, {range}))", range=["-21.0, -0.5", "1e-5, 26.0"], **LOOSE)
GROUP.family("S.bessel_{f}(numbers(tf.float64, 1e-5, 26.0))", f=BESSEL, **CLOSE)
GROUP.family("grad(S.bessel_{f}, numbers(tf.float32, 1e-5, 9.0))", f=BESSEL, **LOOSE)
GROUP.family("grad(S.bessel_{f}, numbers(tf.float64, -3.5, -1e-5))", f="i0 i0e i1 i1e j0 j1", **CLOSE)
GROUP.family("S.{f}(numbers(tf.float32))", f="dawsn fresnel_cos fresnel_sin", **LOOSE)
GROUP.family("S.{f}(numbers(tf.float64, 1e-5, 30.0))", f=OTHERS, **CLOSE)
GROUP.family("grad(S.{f}, numbers(tf.float32, 1e-5, 9.0))", f=OTHERS, **LOOSE)
GROUP.family("M.{f}(numbers({d}))", f="lgamma digamma erfc erfinv ndtri erfcinv", d="tf.float32 tf.float64", **LOOSE)
GROUP.family("finite(M.{f}, numbers(tf.float64, -0.5, 9.0))", f="lgamma digamma erf erfc erfinv ndtri", **LOOSE)
GROUP.family("M.{f}(*pairs({d}))", f="igamma igammac", d="tf.float32 tf.float64", **LOOSE)
GROUP.family("finite(M.{f}, *pairs())", f="igamma igammac", **LOOSE)
GROUP.family(
    "M.betainc(pairs({d})[0], {b}, drawn(42, low=0.0, high=1.0, dtype={d}))",
    d="tf.float32 tf.float64",
    b="0.3 1.0 20.0",
    **LOOSE,
)
GROUP.family("M.zeta(1.0 + pairs({d})[1], pairs({d})[0])", d="tf.float32 tf.float64", **LOOSE)
GROUP.family("M.polygamma({n}, numbers({d}, 1e-5, 30.0))", n="0.0 1.0 2.0 5.0", d="tf.float32 tf.float64", **LOOSE)
GROUP.values(
    """
M.betainc([2.0, 2.0, 2.0, -1.0, 0.0, nan], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0], [0.0, 1.0, 1.1, 0.5, 0.5, 0.5])
grad(lambda x: M.betainc(2.0, 3.0, x), [0.1, 0.5, 0.9])
M.igamma([nan, 1.0, -1.0, 0.0, 1.0, 1.0], [1.0, nan, 1.0, 1.0, inf, -1.0])
M.igammac([nan, 1.0, -1.0, 0.0, 1.0, 1.0], [1.0, nan, 1.0, 1.0, inf, -1.0])
M.zeta([1.0, 0.5, 2.0, 2.0, 2.0, nan], [1.0, 1.0, 0.0, -1.0, -1.5, 1.0])
grad(lambda q: M.zeta(3.0, q), [0.5, 2.0, 9.0])
grad(lambda x: M.polygamma(2.0, x), [0.5, 2.0, 9.0])
M.polygamma([0.5, -1.0, nan], [1.0, 1.0, 1.0])
M.lbeta([[2.0, 3.0], [0.5, 4.0]])
M.lbeta([2.0, 3.0, 0.5])
M.lbeta(tf.zeros([2, 0]))
M.reduce_logsumexp(drawn(3, 4), 1)
M.reduce_logsumexp([[-inf, -inf], [inf, 1.0]], 1)
M.reduce_logsumexp([[1000.0, 1000.5], [-1000.0, -1001.0]], 0, True)
grad(lambda x: M.reduce_logsumexp(x, 0), drawn(3, 2))
M.sobol_sample(3, 7)
M.sobol_sample(2, 5, 3, tf.float64)
M.sobol_sample(10, 3, skip=100)
""",
    **LOOSE,
)
GROUP.errors("""
M.sobol_sample(0, 3)
M.sobol_sample(3, 0)
M.sobol_sample(3, -1)
M.sobol_sample(3, 3, -1)
S.bessel_i0(3)
M.betainc(2.0, [3.0, 4.0], [[0.1], [0.6]])
M.betainc(2.0, [3.0, 4.0], [0.1, 0.2, 0.3])
""")

GROUP.family("M.erf(numbers(tf.{d}, -9.0, 9.0))", d="float32 float64 float16 bfloat16", **LOOSE)

# ---- counts ----------------------------------------------------------------------------------------------------------
GROUP.family(
    "M.bincount(ints(3, 4, low=0, high=5), minlength={a}, maxlength={b}, axis={axis}, binary_output={c})",
    a="None 7",
    b="None 3",
    axis="None 0 -1",
    c="False True",
)
GROUP.family(
    "M.bincount({x}, axis={axis}, minlength=6, {more})",
    x=["sparse(ints(3, 4, low=0, high=5))", "ragged(ints(3, 4, low=0, high=5))"],
    axis="None -1",
    more=["dtype=tf.int64", "binary_output=True", "maxlength=3, dtype=tf.float32"],
)
GROUP.values("""
M.bincount(ints(3, 4, low=0, high=5), drawn(3, 4), 6)
M.bincount(ints(3, 4, low=0, high=5), drawn(3, 4), maxlength=3, axis=-1)
M.bincount(ints(6, low=0, high=5), tf.range(6), dtype=tf.float32)
M.bincount(tf.sparse.from_dense([[1, 0, 2]]), tf.sparse.from_dense([[0.5, 0.0, 2.0]]), axis=-1)
M.bincount(tf.ragged.constant([[1, 0, 2], [1]]), tf.ragged.constant([[0.5, 1.0, 2.0], [4.0]]), axis=-1)
M.bincount([1.7, 2.2, 0.1])
M.bincount(tf.zeros([0], tf.int32))
M.bincount(tf.zeros([0], tf.int64), minlength=2)
M.bincount(tf.zeros([2, 0], tf.int32), axis=-1, minlength=3)
M.bincount(3)
M.bincount([[1, 2], [0, 2]], axis=-1, dtype=tf.int64)
sized(lambda x: M.bincount(x, minlength=2), ints(7, low=0, high=5))
sized(lambda x: M.bincount(x), tf.zeros([0], tf.int32))
mapped(lambda x: M.bincount(x, minlength=5, maxlength=5), ints(3, 4, low=0, high=5))
rule(lambda x: R.DenseBincount(input=x, size=5, weights=tf.zeros([0])), [3, 4])
rule(lambda x: R.DenseBincount(input=x, size=5, weights=tf.zeros([0])), [None])
rule(lambda x, n: R.DenseBincount(input=x, size=n, weights=tf.zeros([0])), [3, None], [])
M.confusion_matrix([1, 2, 4, 2], [2, 2, 4, 0])
M.confusion_matrix([1, 2, 4, 2], [2, 2, 4, 0], 6, dtype=tf.float32)
M.confusion_matrix([1, 2, 4, 2], [2, 2, 4, 0], weights=[0.5, 1.0, 2.0, 4.0], dtype=tf.float32)
M.confusion_matrix([1, 2, 4, 2], [2, 2, 4, 0], weights=[0.5, 1.7, 2.0, 4.0])
M.confusion_matrix([[1], [2]], [2, 2])
M.confusion_matrix([1, 2], [[2], [2]])
M.confusion_matrix([1.0, 2.0], [0.0, 2.0])
sized(lambda a, b: M.confusion_matrix(a, b), [1, 0, 2], [1, 1, 0])
""")
GROUP.errors("""
M.bincount([1, -1])
M.bincount([1, 2], axis=1)
M.bincount([1, 2], [1.0, 2.0], binary_output=True)
M.bincount([1, 2], [1.0, 2.0, 3.0])
M.bincount(tf.sparse.from_dense([[1, 0, 2]]), [[1.0, 2.0, 3.0]])
M.bincount(tf.ragged.constant([[1, 0, 2], [1]]), [1.0, 2.0, 3.0, 4.0])
M.bincount([[[1]]], axis=-1)
M.bincount([1, 2], minlength=[1])
R.DenseBincount(input=[1, 2], size=-1, weights=tf.zeros([0]))
M.confusion_matrix([1, -2], [2, 2])
M.confusion_matrix([1, 2], [2, -2])
M.confusion_matrix([1, 2], [2, 2], 2)
M.confusion_matrix([1, 1], [2, 1], 2)
M.confusion_matrix([1, 2], [2, 2, 1])
M.confusion_matrix([1, 2], [2, 2], weights=[1, 2, 3])
M.confusion_matrix(tf.zeros([0], tf.int32), tf.zeros([0], tf.int32))
M.is_non_decreasing(['a', 'b'])
M.is_strictly_increasing([True, False])
""")
GROUP.family(
    "M.{f}({x})",
    f="is_non_decreasing is_strictly_increasing",
    x=["[1, 2, 2]", "[[1, 2], [3, 4]]", "[1.0]", "tf.zeros([0])", "[2, 1, 3]", "5", "[1, 2, nan]", "[[3], [1]]"],
)

# ---- orders ----------------------------------------------------------------------------------------------------------
GROUP.family("M.top_k({x}, {k})", x=["drawn(3, 7)", "ints(2, 9)", "ints(7, dtype=tf.uint8, low=0)"], k="0 1 4 7")
GROUP.family(
    "M.in_top_k([1, 0, 2, 5], {x}, {k})",
    x=["drawn(4, 3)", "tf.constant([[1., 1., 0.]] * 4)", "[[nan, 1., inf]] * 4"],
    k="0 1 2 3",
)
GROUP.values(
    """
M.top_k([3.0, 1.0, inf, -inf], 4)
tf.sort(M.top_k(drawn(3, 7), 4, sorted=False)[0])
tf.sort(M.top_k(drawn(3, 7), 4, False)[1])
M.top_k([0.0, -0.0, 0.0], 3)
M.top_k([[1, 1, 2, 2, 1]], 5)
M.top_k(drawn(2, 3, 5), tf.constant(2, tf.int16), index_type=tf.int64)
grad(lambda x: M.top_k(x, 3)[0] * drawn(2, 3, seed=1), drawn(2, 5))
grad(lambda x: M.top_k(x, 2)[0] ** 2, drawn(2, 3, 5))
mapped(lambda x: M.top_k(x, 2)[1], drawn(3, 5))
M.approx_max_k(drawn(2, 9), 3)
M.argmax([[1, 5, 5], [nan, 2, 3]], 1)
M.argmin([[1, 0, 0], [nan, 2, 3]], 1, tf.int32)
M.argmax(drawn(2, 3, 4), -2)
M.argmax(ints(3, 4, dtype=tf.uint8, low=0), 0)
M.invert_permutation([2, 0, 1])
M.nextafter([0.0, 1.0, inf], [1.0, 0.0, 0.0])
M.accumulate_n([drawn(2), drawn(2), drawn(2, seed=1)])
M.cumulative_logsumexp(drawn(4))
M.cumulative_logsumexp(drawn(2, 4), 1, exclusive=True, reverse=True)
M.cumulative_logsumexp([-inf, -inf, 1.0, inf, 2.0])
""",
    **LOOSE,
)
GROUP.family(
    "M.{f}({x}, {axis}, {e}, {r})",
    f="cumsum cumprod cumulative_logsumexp",
    x=["drawn(2, 3)"],
    axis="0 -1",
    e="True False",
    r="True False",
    **LOOSE,
)
GROUP.family(
    "grad(lambda x: M.{f}(x, {axis}, {e}, {r}) ** 2, drawn(2, 3))",
    f="cumsum cumprod cumulative_logsumexp",
    axis="0 1",
    e="True False",
    r="True False",
    **LOOSE,
)
GROUP.values(
    """
M.cumsum(ints(4, dtype=tf.int8))
M.cumprod(ints(4, dtype=tf.int64), exclusive=True)
M.cumsum(tf.complex(drawn(3), drawn(3, seed=1)))
M.cumsum(tf.zeros([0, 3]), 0)
grad(lambda x: M.cumprod(x), [2.0, 0.0, 3.0, 4.0])
grad(lambda x: M.cumprod(x), [2.0, 0.0, 0.0, 4.0])
mapped(lambda x: M.cumsum(x, 0, reverse=True), drawn(3, 4))
mapped(lambda x: M.cumprod(x, -1, exclusive=True), drawn(3, 4))
""",
    **LOOSE,
)
GROUP.errors("""
M.top_k(1.0, 1)
M.top_k([1.0, 2.0], 3)
M.top_k([1.0, 2.0], -1)
M.top_k([1.0, 2.0], [1])
M.top_k(['a', 'b'], 1)
M.in_top_k([1, 0], drawn(3, 3), 1)
M.in_top_k([[1, 0]], drawn(2, 3), 1)
M.in_top_k([1, 0], drawn(2), 1)
M.argmax([1, 2], 1)
M.argmax(tf.zeros([0]), 0)
M.invert_permutation([0, 2])
M.invert_permutation([0, 0])
M.invert_permutation([[0]])
M.cumsum([1, 2], 1)
M.cumsum([1, 2], [0])
M.cumsum(['a'])
M.accumulate_n([])
M.accumulate_n([[1.0], [1, 2]])
""")

# ---- reductions ------------------------------------------------------------------------------------------------------
REDUCTIONS = "reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_euclidean_norm reduce_std reduce_variance"
GROUP.family(
    "M.{f}(drawn(2, 3, 4), {axis}, {k})", f=REDUCTIONS, axis=["None", "1", "[0, -1]", "[]"], k="True False", **LOOSE
)
GROUP.family(
    "grad(lambda x: M.{f}(x, {axis}), drawn(2, 3, 4))",
    f=REDUCTIONS + " reduce_logsumexp",
    axis=["None", "1", "[0, -1]"],
    **LOOSE,
)
GROUP.family(
    "M.{f}(ints(3, 4, dtype=tf.{d}, low={low}))",
    f="reduce_sum reduce_mean reduce_prod reduce_max reduce_min",
    d="int32 int64 int8 int16",
    low="-5",
)
GROUP.family(
    "M.{f}(tf.zeros([2, 0, 3], tf.{d}), 1)",
    f="reduce_sum reduce_mean reduce_prod reduce_max reduce_min",
    d="float32 int32",
)
GROUP.family(
    "M.{f}(tf.complex(drawn(2, 3), drawn(2, 3, seed=1)), 0)",
    f="reduce_sum reduce_mean reduce_prod reduce_euclidean_norm reduce_std reduce_variance",
    **LOOSE,
)
GROUP.family("M.{f}([[1.0, nan], [inf, -inf]], {axis})", f=REDUCTIONS, axis="0 1")
GROUP.family(
    "M.{f}([[True, False], [True, True]], {axis}, {k})",
    f="reduce_all reduce_any",
    axis=["None", "0", "[0, 1]", "[]"],
    k="True False",
)
GROUP.family(
    "M.count_nonzero([[0, 2, 0], [1, 0, 3]], {axis}, {k}, {d})", axis="None 0 1", k="True False", d="tf.int64 tf.int32"
)
GROUP.family("mapped(lambda x: M.{f}(x, {axis}), drawn(3, 2, 4))", f=REDUCTIONS, axis="0 None", **LOOSE)
GROUP.family("unranked(lambda x: M.{f}(x), drawn(2, 3))", f=REDUCTIONS, **LOOSE)
GROUP.values(
    """
M.zero_fraction(tf.zeros([0]))
M.zero_fraction([0.0, 1.0, -0.0, nan])
M.zero_fraction(tf.constant([0, 3, 0], tf.int8))
M.l2_normalize(drawn(2, 3), 1)
M.l2_normalize(drawn(2, 3))
M.l2_normalize([0.0, 1e-8], epsilon=1e-4)
M.l2_normalize(tf.complex(drawn(2, 3), drawn(2, 3, seed=1)), 1)
M.reduce_sum([0.1] * 20, 0) - 2.0
""",
    **LOOSE,
)
GROUP.errors("""
M.reduce_sum([1.0], 1)
M.reduce_sum([[1.0]], [0, 0])
M.reduce_sum(['a'])
M.reduce_mean([True])
M.reduce_all([1])
M.reduce_std([1, 2])
M.reduce_variance([1, 2])
M.reduce_max([1j])
M.reduce_max(['b', 'a'])
M.count_nonzero([1, 2], 1)
""")

# ---- elements --------------------------------------------------------------------------------------------------------
UNARY = (
    "rint abs ceil floor round sign sqrt rsqrt square exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh sigmoid log_sigmoid softplus softsign negative reciprocal reciprocal_no_nan "
    "is_nan is_inf is_finite"
)
GROUP.family("M.{f}(numbers(tf.{d}))", f=UNARY, d="float32 float64", **LOOSE)
GROUP.family(
    "M.{f}(numbers(tf.{d}, -3.5, 9.0))",
    f=UNARY.replace("rint ", ""),
    d="float16 bfloat16",
    rtol=2e-2,
    atol=1e-2,
    because="as above",
)
GROUP.family("finite(M.{f}, numbers(tf.float32, -3.5, 3.0))", f=" ".join(UNARY.split()[:-3]), **LOOSE)
GROUP.family(
    "M.{f}(tf.constant([0.5+1j, -2-0.3j, 0.1j, 3+0j, -1j], tf.complex128))",
    f="abs sign sqrt rsqrt square exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid negative "
    "reciprocal conj real imag angle expm1 log1p",
    **LOOSE,
)
BINARY = (
    "add subtract multiply divide floordiv floormod truediv mod maximum minimum pow squared_difference atan2 "
    "multiply_no_nan divide_no_nan xlogy xdivy xlog1py nextafter"
)
GROUP.family(
    "M.{f}([[-inf], [-2.5], [-0.0], [0.0], [1.0], [3.5], [nan]], [-3.0, -0.5, 0.0, 2.0, inf, nan])", f=BINARY, **LOOSE
)
GROUP.family(
    "finite(M.{f}, [[-2.5], [0.0], [1.0], [3.5]], [-3.0, -0.5, 0.0, 2.0])", f=" ".join(BINARY.split()[:-1]), **LOOSE
)
GROUP.family(
    "M.{f}(tf.constant([[-7], [5], [3]], tf.{d}), tf.constant([2, -3, 3], tf.{d}))",
    f="add subtract multiply floordiv floormod truediv maximum minimum",
    d="int32 int64 int8",
)
GROUP.family("M.{f}([[1, 2], [3, 2]], [2, 2])", f="equal not_equal less less_equal greater greater_equal")
GROUP.family(
    "tf.cast(tf.constant({x}), tf.{d})",
    x=["[1.9, -1.9, 300.0]", "[3, -1, 200]", "[True, False]"],
    d="float16 float64 int8 uint8 int32 bool complex64",
)
GROUP.family(
    "tf.saturate_cast(tf.constant({x}), tf.{d})",
    x=["[1.9, -1.9, 1e9, -inf]", "[3, -1, 2000000000]"],
    d="float16 int8 uint8 int32 uint32 int64",
)
