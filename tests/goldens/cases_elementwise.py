"""Functions of one and two tensors, element by element: tf.math, tf.bitwise and their top-level names."""

from goldens.case import Group

GROUP = Group("""
floats = [-2.5, -1.0, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5, 7.0]
extremes = [float('inf'), -float('inf'), float('nan'), 1e-30, 1e30, -1e30]
complexes = [1 + 2j, -0.5 + 0.3j, 2 + 0j, 0.3 - 1.5j]
ints = [-7, -2, -1, 0, 1, 2, 9]
""")

UNARY = """
abs acos acosh asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil cos cosh digamma erf erfc erfcinv
erfinv exp expm1 floor is_finite is_inf is_nan lgamma log log1p log_sigmoid ndtri negative reciprocal reciprocal_no_nan
rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh
"""
GROUP.family("tf.math.{f}(floats)", f=UNARY.replace("\n", " "))
GROUP.family(
    "tf.math.{f}(tf.constant(floats, tf.float64))", f=UNARY.replace("\n", " "), rtol=1e-9, because="series differ"
)
GROUP.family("tf.math.{f}(tf.constant(extremes))", f=UNARY.replace("\n", " "))
GROUP.family(
    "tf.math.{f}(tf.constant([0.5, -1.5, 1.25], tf.{dtype}))",
    f="abs asin atan ceil cos cosh erf erfc exp expm1 floor is_nan is_finite log log1p negative "
    "reciprocal round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh",
    dtype="float16 bfloat16",
)
GROUP.family(
    "tf.math.{f}(tf.constant(complexes, tf.{dtype}))",
    f="abs acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p negative reciprocal rsqrt sigmoid sign sin "
    "sinh sqrt square tan tanh conj real imag angle",
    dtype="complex64 complex128",
)
GROUP.family("tf.math.{f}(ints)", f="abs negative sign square round conj real imag")
GROUP.family("tf.math.{f}(tf.constant([3, 0, 5], tf.{dtype}))", f="abs sign square negative", dtype="int8 int16 int64")
GROUP.family("tf.math.{f}(tf.zeros([0, 2]))", f="exp log abs sigmoid floor lgamma is_nan")
GROUP.family("tf.math.special.{f}(tf.constant([0.1, 0.5, 1.0, 2.0, 5.0, 30.0]))", f="""
bessel_i0
bessel_i0e
bessel_i1
bessel_i1e
bessel_j0
bessel_j1
bessel_k0
bessel_k0e
bessel_k1
bessel_k1e
bessel_y0
bessel_y1
dawsn
expint
fresnel_cos
fresnel_sin
spence
""")  # fmt: skip
GROUP.family(
    "tf.math.special.{f}(tf.constant([-1.5, 0.0, 0.25, 3.0], tf.float64))",
    f="bessel_i0 bessel_i1 bessel_j0 bessel_j1 dawsn expint fresnel_cos fresnel_sin spence bessel_k0 bessel_y1",
    rtol=1e-9,
    because="series differ",
)

BINARY = """
add subtract multiply divide floordiv floormod truediv maximum minimum pow squared_difference atan2 divide_no_nan
multiply_no_nan xdivy xlogy xlog1py nextafter equal not_equal less less_equal greater greater_equal
"""
GROUP.family("tf.math.{f}([7.5, -7.5, 0.0, 2.0], [2.0, 2.0, 3.0, 0.5])", f=BINARY.replace("\n", " "))
GROUP.family("tf.math.{f}([[1.0], [-2.0], [0.0]], tf.constant([0.0, 1.5, -3.0]))", f=BINARY.replace("\n", " "))
GROUP.family(
    "tf.math.{f}(tf.constant([1.5, -2.0], tf.float64), tf.constant([2.0, -0.5], tf.float64))",
    f=BINARY.replace("\n", " "),
)
GROUP.family(
    "tf.math.{f}(tf.constant([7, -7, 0]), tf.constant([3, 3, 5]))",
    f="add subtract multiply divide floordiv floormod truediv maximum minimum squared_difference equal less "
    "greater_equal",
)
GROUP.family(
    "tf.math.{f}(tf.constant([2, 7], tf.{dtype}), tf.constant([3, 2], tf.{dtype}))",
    f="add subtract multiply maximum minimum floordiv floormod equal less pow",
    dtype="int64 float16 bfloat16",
)
GROUP.family(
    "tf.math.{f}(tf.constant([200, 7], tf.{dtype}), tf.constant([100, 2], tf.{dtype}))",
    f="add subtract multiply maximum floordiv floormod truediv less",
    dtype="uint8 uint16",
)
GROUP.family(
    "tf.math.{f}(tf.constant([1 + 2j, 3 - 1j], tf.complex64), tf.constant([2 - 1j, 0], tf.complex64))",
    f="add subtract multiply divide divide_no_nan equal not_equal squared_difference pow xlogy xdivy",
)
GROUP.family("tf.math.{f}(2.0, 3.0)", f="add subtract multiply divide maximum pow equal less")
GROUP.family("tf.math.{f}(tf.zeros([0, 3]), tf.ones([3]))", f="add multiply maximum less pow")
GROUP.family(
    "tf.math.{f}([True, True, False], [True, False, False])", f="logical_and logical_or logical_xor equal not_equal"
)
GROUP.family("tf.math.{f}(tf.constant([[True], [False]]), [True, False])", f="logical_and logical_or logical_xor")
GROUP.family(
    "tf.bitwise.{f}(tf.constant([12, 10, -1], tf.{dtype}), tf.constant([10, 3, 2], tf.{dtype}))",
    f="bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    dtype="int8 int32 int64",
)
GROUP.family(
    "tf.bitwise.{f}(tf.constant([12, 255], tf.{dtype}), tf.constant([10, 3], tf.{dtype}))",
    f="bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    dtype="uint8 uint16 uint32 uint64",
)
GROUP.family(
    "tf.bitwise.invert(tf.constant([0, 1, 127], tf.{dtype}))", dtype="int8 uint8 int16 uint16 int32 uint32 int64 uint64"
)

GROUP.values("""
[tf.math.floormod(tf.fill([n], 3e38), y) for n in (1, 8, 17) for y in (7.0, -7.0, -3e38, 0.3, 1e-5)]
[tf.truncatemod(tf.fill([n], -3e38), y) for n in (1, 17) for y in (7.0, -7.0, 3.1e38, 0.3, 1e-5)]
tf.math.floormod(tf.fill([17], tf.constant(1e307, tf.float64)), tf.constant(-1e-10, tf.float64))
tf.bitwise.bitwise_and(5, 3)
tf.bitwise.bitwise_or([1, 2], 4)
tf.bitwise.left_shift([1, 2], [[1], [2]])
tf.bitwise.right_shift([-8], [1])
tf.add(1, 2)
tf.add([1.0, 2.0], 1)
tf.add(x=[1, 2], y=[3, 4], name='sum')
tf.add('a', 'b')
tf.subtract(x=5, y=3)
tf.multiply(3, [1, 2])
tf.multiply([1.5], 2)
tf.divide(7, 2)
tf.divide([1.0, 2.0], 4)
tf.divide(tf.constant(7), tf.constant(2))
tf.truediv([7], [2])
tf.realdiv([7.0], [2.0])
tf.truncatediv([7, -7], [2, 2])
tf.truncatemod([7, -7], [3, 3])
tf.truncatemod([7.5, -7.5], [2.0, 2.0])
tf.math.floordiv(-7, 2)
tf.math.floordiv([7.5], [-2.0])
tf.math.mod([-7, 7], 3)
tf.math.mod([5.5], [-2.0])
tf.pow(2, 3)
tf.pow([[2, 2], [3, 3]], [[8, 16], [2, 3]])
tf.pow([2.0, 4.0], 0.5)
tf.pow(tf.constant(2.0, tf.float64), 3)
tf.pow(-8.0, 1 / 3)
tf.math.pow([0.0, 0.0, float('inf')], [0.0, -1.0, 0.0])
tf.maximum([1.0, float('nan')], [2.0, 1.0])
tf.minimum([1.0, 2.0], [float('nan'), 1.0])
tf.maximum(1, [0, 2])
tf.abs(-1)
tf.abs([-1.5])
tf.abs(tf.SparseTensor([[0]], [-2.0], [2]))
tf.abs(tf.ragged.constant([[-1.0], [2.0, -3.0]]))
tf.exp(tf.ragged.constant([[0.0], []]))
tf.add(tf.ragged.constant([[1], [2, 3]]), 10)
tf.square(tf.SparseTensor([[0]], [3.0], [2]))
tf.negative(x=[1, -2], name='n')
tf.sign([-3, 0, 5])
tf.sign([-1.5, 0.0, float('nan')])
tf.round([0.5, 1.5, 2.5, -0.5, 2.4])
tf.round(3)
tf.floor([1.7, -1.7])
tf.math.ceil([1.2, -1.2])
tf.math.rint([0.5, 1.5, -2.5])
tf.sqrt([4.0, -1.0])
tf.exp(1.0)
tf.exp([1, 2.0])
tf.sigmoid([0.0, 100.0, -100.0])
tf.tanh([0.5, 50.0])
tf.math.softplus([-50.0, 0.0, 50.0])
tf.math.log_sigmoid([-100.0, 0.0, 100.0])
tf.math.expm1([1e-10, 1.0])
tf.math.log1p([1e-10, -1.0, -2.0])
tf.math.lgamma([0.0, -1.0, 0.5, 100.0])
tf.math.digamma([0.0, -1.0, -0.5, 10.0])
tf.math.polygamma(1.0, [0.5, 2.0])
tf.math.polygamma([0.0, 2.0], [1.5, 3.0])
tf.math.zeta([2.0, 3.0], [1.0, 2.0])
tf.math.igamma([0.5, 2.0], [1.0, 3.0])
tf.math.igammac([0.5, 2.0], [1.0, 3.0])
tf.math.igamma(1.0, [0.0, 1.0])
tf.math.betainc([1.0, 2.0], [2.0, 0.5], [0.3, 0.7])
tf.math.betainc(tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64), tf.constant(0.5, tf.float64))
tf.math.lbeta([[1.0, 2.0], [0.5, 0.5]])
tf.math.lbeta([2.0, 3.0, 4.0])
tf.math.erfinv([0.0, 0.5, -0.99, 1.0])
tf.math.erfcinv([0.5, 1.0, 1.5])
tf.math.ndtri([0.5, 0.975, 0.01])
tf.math.reciprocal_no_nan([2.0, 0.0])
tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0])
tf.math.divide_no_nan(1.0, 0)
tf.math.multiply_no_nan([float('nan'), 2.0], [0.0, 3.0])
tf.math.xlogy([0.0, 2.0], [0.0, 3.0])
tf.math.xlog1py([0.0, 2.0], [-1.0, 3.0])
tf.math.xdivy([0.0, 2.0], [0.0, 4.0])
tf.math.squared_difference([1, 2], [3, 5])
tf.math.nextafter(tf.constant([1.0, 0.0]), tf.constant([2.0, -1.0]))
tf.atan2([1.0, -1.0, 0.0], [1.0, -1.0, -1.0])
tf.math.angle([1.0, -2.0])
tf.math.angle(tf.constant([1 + 1j, -1j]))
tf.math.real([1.5, 2.0])
tf.math.imag(tf.constant([1 + 2j]))
tf.math.imag([1.5, 2.0])
tf.math.conj([1.0, 2.0])
tf.math.conj(tf.constant([1 + 2j]))
tf.math.conj([1, 2])
tf.complex(1.0, 2.0)
tf.complex([1.0, 2.0], [0.5, -0.5])
tf.complex(tf.constant(1.0, tf.float64), tf.constant(2.0, tf.float64))
tf.complex(real=[1.0], imag=0.0)
tf.equal([1, 2], [1, 3])
tf.equal('a', ['a', 'b'])
tf.equal([[1], [2]], [1, 2])
tf.equal(True, [True, False])
tf.not_equal([1.0, float('nan')], [1.0, float('nan')])
tf.less([1, 2], 2)
tf.less_equal(1.0, [0.5, 1.0])
tf.greater([3, 1], [2, 2])
tf.greater_equal(tf.constant(2, tf.uint8), tf.constant(2, tf.uint8))
tf.math.greater(2, 1)
tf.logical_and(True, [True, False])
tf.logical_or([False], [[True], [False]])
tf.logical_not([True, False])
tf.math.logical_xor(True, [True, False])
tf.clip_by_value([-5, 0, 5], -1, 1)
tf.clip_by_value([-5.0, 0.5, 5.0], 0.0, [1.0, 2.0, 3.0])
tf.clip_by_value(tf.constant([1, 2, 3]), 2, 2)
tf.clip_by_value([1.0, float('nan'), 3.0], 0.0, 2.0)
tf.clip_by_value(tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([0]), tf.constant([2, 1])), 0.0, 1.0)
tf.clip_by_value(t=[3.0], clip_value_min=0, clip_value_max=1, name='c')
tf.clip_by_norm([3.0, 4.0], 1.0)
tf.clip_by_norm([0.3, 0.4], 1.0)
tf.clip_by_norm([[3.0, 4.0], [6.0, 8.0]], 5.0, axes=[1])
tf.clip_by_norm([0.0, 0.0], 1.0)
tf.clip_by_norm([3, 4.0], 2)
tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
tf.clip_by_global_norm([tf.constant([0.3]), None, tf.constant([0.4])], 1.0)
tf.clip_by_global_norm([tf.constant([3.0])], 1.0, use_norm=tf.constant(6.0))
tf.clip_by_global_norm((tf.constant([float('inf')]),), 1.0)
tf.linalg.global_norm([tf.constant([3.0]), tf.constant([[4.0]])])
tf.linalg.global_norm([None, tf.constant([3.0])])
tf.scalar_mul(2.0, tf.constant([1.0, 2.0]))
tf.scalar_mul(2, tf.constant([1.5]))
tf.math.scalar_mul(3, tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
tf.add_n([[1, 2], [3, 4]])
tf.add_n([tf.constant([1.0]), tf.constant([2.0]), tf.constant([3.5])])
tf.add_n([tf.constant(5)])
tf.add_n([tf.Variable(1.0), 2.0])
tf.add_n(inputs=[1, 2], name='s')
tf.add_n((1, 2, 3))
tf.math.accumulate_n([[1, 2], [3, 4]])
tf.math.accumulate_n([tf.constant([1.0])], shape=[1])
tf.math.polyval([1, 2, 3], 2)
tf.math.polyval([1.0, -1.0], [0.5, 2.0])
tf.math.polyval([], 1.0)
tf.math.polyval([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])], 2.0)
tf.math.sigmoid(tf.constant([1.0], tf.float64))
tf.math.softsign([-2.0, 0.0, 3.0])
tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.8, 0.2]], 1)
tf.math.in_top_k(targets=[1], predictions=[[0.1, 0.2, 0.3]], k=2)
tf.math.invert_permutation([2, 0, 1])
tf.math.invert_permutation(tf.constant([1, 0], tf.int64))
tf.math.is_non_decreasing([1, 1, 2])
tf.math.is_non_decreasing([2, 1])
tf.math.is_non_decreasing([])
tf.math.is_strictly_increasing([1, 2, 3])
tf.math.is_strictly_increasing([1, 1])
tf.math.is_strictly_increasing([[1, 2], [3, 4]])
tf.math.zero_fraction([0, 1, 0, 2])
tf.math.zero_fraction([0.0, 1.0])
tf.math.l2_normalize([3.0, 4.0])
tf.math.l2_normalize([[3.0, 4.0], [0.0, 0.0]], axis=1)
tf.math.l2_normalize([[3.0, 4.0], [6.0, 8.0]], axis=0, epsilon=1e-6)
tf.math.l2_normalize([[3.0, 4.0]], axis=[0, 1])
tf.math.l2_normalize(tf.constant([3 + 4j], tf.complex64))
tf.math.sobol_sample(2, 4)
tf.math.sobol_sample(3, 3, skip=2, dtype=tf.float64)
tf.math.divide_no_nan([1], [0])
tf.clip_by_global_norm([], 1.0)
tf.math.zeta([1.0], [1, 2])
tf.math.nextafter(1.0, [1])
""")

GROUP.snippets("""
# a name can be given to any op
[tf.exp(0.0, name='e'), tf.maximum(1, 2, name='m'), tf.math.logical_not(True, name='l')]
""")

# What these functions don't take.
GROUP.family(
    "tf.math.{f}('text')",
    f="abs exp log sin sigmoid round is_nan lgamma negative square sign floor sqrt tanh erf",
    raises=True,
)
GROUP.family(
    "tf.math.{f}([1, 2])",
    f="angle rint exp log sin sigmoid tanh sqrt rsqrt lgamma erf log1p softplus is_nan ceil floor",
    raises=True,
)
GROUP.family("tf.math.{f}([True])", f="exp abs negative square sign", raises=True)
GROUP.family(
    "tf.math.{f}([1.0, 2.0], [1.0, 2.0, 3.0])", f=BINARY.replace("\n", " ").replace("equal not_equal ", ""), raises=True
)
GROUP.family("tf.math.{f}(tf.constant([1.0]), tf.constant([1]))", f=BINARY.replace("\n", " "), raises=True)
GROUP.family("tf.math.{f}(1 + 2j, 1j)", f="maximum minimum less greater floormod atan2", raises=True)
GROUP.family("tf.bitwise.{f}([1.0], [2.0])", f="bitwise_and bitwise_or bitwise_xor left_shift right_shift", raises=True)
GROUP.errors("""
tf.bitwise.invert(1.5)
tf.bitwise.bitwise_and(tf.constant(1), tf.constant(1, tf.int64))
tf.bitwise.bitwise_and(True, True)
tf.math.exp(None)
tf.math.exp()
tf.math.exp(1.0, 2.0, 3.0)
tf.math.exp(y=1.0)
tf.math.exp([[1.0], [1.0, 2.0]])
tf.math.exp({})
tf.add(1, None)
tf.add(1)
tf.add(tf.constant(1), 1.5)
tf.add([1, 2], [3.5, 4])
tf.equal([1, 2], [1, 2, 3])
tf.equal(1, 'a')
tf.logical_and(1, 0)
tf.logical_not(1.0)
tf.math.logical_xor([1], [0])
tf.pow(2, -1)
tf.pow('a', 2)
tf.math.floordiv(1, 0)
tf.math.floormod([1, 2], [1, 0])
tf.complex(1, 2)
tf.complex(1.0, tf.constant(2.0, tf.float64))
tf.complex([1.0, 2.0], [1.0, 2.0, 3.0])
tf.math.angle('a')
tf.math.real('a')
tf.math.conj('a')
tf.clip_by_value([1, 2], 0.5, 1.5)
tf.clip_by_value([1.0, 2.0], [0.0, 0.0, 0.0], 1.0)
tf.clip_by_value(['a'], 'a', 'b')
tf.clip_by_value([1.0], None, 1.0)
tf.clip_by_norm(['a'], 1.0)
tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
tf.clip_by_global_norm(1.0, 1.0)
tf.linalg.global_norm(1.0)
tf.scalar_mul([1.0, 2.0], tf.constant([1.0, 2.0]))
tf.scalar_mul('a', tf.constant([1.0]))
tf.add_n([])
tf.add_n(1)
tf.add_n([tf.constant([1]), tf.constant([1, 2])])
tf.add_n([tf.constant(1), tf.constant(1.0)])
tf.add_n(['a', 'b'])
tf.math.accumulate_n([])
tf.math.accumulate_n([tf.constant([1]), tf.constant([1, 2])])
tf.math.polyval(1, 2)
tf.math.betainc([1.0], [1.0, 2.0], [1.0, 2.0, 3.0])
tf.math.igamma(1, 2)
tf.math.nextafter(tf.constant(1.0, tf.float16), tf.constant(1.0, tf.float16))
tf.math.invert_permutation([0, 0])
tf.math.invert_permutation([5, 0])
tf.math.invert_permutation([[0]])
tf.math.in_top_k([0], [0.1, 0.2], 1)
tf.math.in_top_k([0, 1], [[0.1, 0.9]], 1)
tf.math.sobol_sample(0, 4)
tf.math.sobol_sample(2, -1)
tf.math.lbeta('a')
tf.math.l2_normalize([3, 4])
tf.math.special.expint([1])
tf.math.special.bessel_j0(['a'])
tf.math.mod(1, 0)
tf.math.xlogy([1], [2])
tf.math.polygamma(1, 2)
""")
