"""`tf.experimental.numpy`."""

from goldens.case import Group

GROUP = Group(
    """
tnp = tf.experimental.numpy
v = tf.constant([1., 2., 4.])
m = tf.constant([[1, 2, 3], [4, 5, 6]])
c = tf.constant([1 + 2j, -1j], tf.complex64)
i8, u16, b = tf.constant([3, 7], tf.int8), tf.constant([2, 9], tf.uint16), tf.constant([True, False])
if not hasattr(tf, "install_as_tensorflow"):  # TensorFlow's functions use what tensors have with NumPy's behavior only
    tf.Tensor.astype, tf.Tensor.ravel = tf.cast, tnp.ravel
"""
)

# Dtypes: what values become, and what two become together.
GROUP.family(
    "tnp.array({value})", value=["1", "1.5", "True", "2**63", "1j", "'text'", "[1, 2.5]", "[[1], [True]]", "[]"]
)
GROUP.family(
    "tnp.asarray({value}, {dtype})", value=["[1, 2]", "m", "np.float32([1.7])"], dtype=["None", "float", "tf.int8"]
)
GROUP.family(
    "tnp.add({left}, {right})",
    left=["v", "m[0]", "i8", "b", "2", "2.5", "np.float64([1, 2])"],
    right=["1", "1.5", "True", "1j", "np.float32(2)"],
)
GROUP.family(
    "tnp.result_type({given})",
    given=[
        "tf.int32, tf.float32",
        "v, 1.5",
        "i8, u16",
        "b, 1",
        "float",
        "m, 2.5",
        "[v, m]",
        "1, 2.5",
        "tf.bfloat16, 1.0",
    ],
)
GROUP.values("""
tnp.promote_types(tf.int32, tf.float32).name
tnp.promote_types(np.int8, tf.uint8).name
tnp.finfo(tf.float32).bits
tnp.iinfo(np.int8).max
tnp.issubdtype(np.float32, tnp.inexact)
tnp.iscomplexobj(c), tnp.isrealobj(c)
tnp.e, tnp.pi, tnp.inf, tnp.newaxis
""")

# Elements.
UNARY = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conj conjugate cos cosh deg2rad exp exp2 "
    "expm1 fabs fix floor imag isfinite isnan log log10 log1p log2 negative positive real reciprocal signbit sin "
    "sinc sinh sqrt square tan tanh sign around round logical_not"
)
GROUP.family("tnp.{name}(tf.constant([0.25, 0.75]))", name=UNARY)
GROUP.family(
    "tnp.{name}([1, 2])", name=[n for n in UNARY.split() if n not in ("around", "round", "arctanh", "reciprocal")]
)
GROUP.family("tnp.{name}(v)", name="isinf isneginf isposinf iscomplex isreal")
GROUP.family("tnp.{name}({value})", name="bitwise_not signbit negative", value=["i8"])
BINARY = (
    "add subtract multiply true_divide divide floor_divide mod remainder power float_power maximum minimum equal "
    "not_equal greater greater_equal less less_equal"
)
GROUP.family("tnp.{name}({left}, {right})", name=BINARY, left=["v", "m[0]"], right=["2", "[1, 2, 3]", "3.5"])
GROUP.family("tnp.{name}(i8, u16)", name=BINARY)
GROUP.family(
    "tnp.{name}(b, [True, True])", name="add multiply true_divide floor_divide mod maximum minimum greater less"
)
GROUP.family(
    "tnp.{name}({left}, {right})", name="bitwise_and bitwise_or bitwise_xor", left=["i8", "b"], right=["[True, True]"]
)
GROUP.family("tnp.{name}(v, [0, 1, 2])", name="logical_and logical_or logical_xor arctan2 logaddexp logaddexp2 isclose")
GROUP.values("""
tnp.maximum(v - 2, 0)
tnp.nextafter(v, 9.)
tnp.divmod(m, 4)
tnp.clip(m, 2, 4)
tnp.clip(m, 2.5, None)
tnp.clip(v, None, [1, 2, 3])
tnp.gcd([12, 18, 0], [8, 0, 0])
tnp.lcm([4, 6], 10)
tnp.gcd(np.int8([-12, 5]), np.int8([8, -10]))
tnp.angle(c)
tnp.angle(c, deg=True)
tnp.angle([-1., 1.])
tnp.around([1.25, 1.35], 1)
tnp.allclose(v, v + 1e-7), tnp.allclose(v, 2.)
tnp.isclose([1., np.nan], [1., np.nan], equal_nan=True)
tnp.array_equal([1, 2], [1, 2]), tnp.array_equal([1], [1, 2]), tnp.array_equal([[1]], [1])
tnp.polyval([1, 2, 3], [4., 5.])
tnp.polyval(2., [4., 5.])
""")
GROUP.errors("""
tnp.clip(v, None, None)
tnp.gcd(1.5, 2)
tnp.sign(v, out=v)
tnp.add({'a': 1}, 1)
tnp.add(1, {'a': 1})
tnp.add({'a': 1}, [1])
tnp.maximum((1, 2), {})
tnp.matmul({}, tf.constant(1.0))
""")

# Reductions.
GROUP.family(
    "tnp.{name}({value})",
    name="sum prod mean amax amin max min std var all any",
    value=["v", "m", "b", "i8", "u16", "[1, 2]"],
)
GROUP.family(
    "tnp.{name}(m, axis={axis}, keepdims=True)",
    name="sum prod mean max min std var all any ptp",
    axis=["0", "-1", "(0, 1)"],
)
GROUP.family("tnp.{name}(m, dtype={dtype})", name="sum prod mean var", dtype=["float", "tf.float32"])
GROUP.family("tnp.{name}(tf.constant([1., float('nan'), 3.]))", name="nansum nanprod nanmean")
GROUP.family("tnp.{name}(m, {axis})", name="cumsum cumprod argmax argmin argsort sort", axis=["None", "0", "-1"])
GROUP.values("""
tnp.var(v, ddof=1, dtype=tf.float64)
tnp.sum(b, dtype=bool)
tnp.cumsum(i8)
tnp.cumsum([1, 2], dtype=float)
tnp.average(m)
tnp.average(m, axis=1, weights=[1, 2, 3])
tnp.average(v, weights=[1, 2, 3], returned=True)
tnp.average(m, axis=0, returned=True)
tnp.count_nonzero([[0, 1], [2, 3]], 0)
tnp.diff(m)
tnp.diff(b)
tnp.diff(v, 2)
tnp.compress([True, False, True], m, axis=1)
tnp.compress([False, True], m)
tnp.argsort(5)
""")
GROUP.errors("""
tnp.mean(v, out=v)
tnp.sort(v, kind='heapsort')
tnp.argsort(c)
tnp.diff(v, axis=1)
tnp.average(v, axis=(0,))
""")

# Creation.
GROUP.family("tnp.{name}([2, 3])", name="zeros ones")
GROUP.family("tnp.{name}([2], dtype={dtype})", name="zeros ones empty", dtype=["int", "tf.float16", "np.bool_"])
GROUP.family("tnp.{name}({value})", name="zeros_like ones_like empty_like", value=["m", "[1, 2]", "1.5"])
GROUP.family(
    "tnp.arange({args})", args=["5", "2, 8", "2, 8, 3", "1., 2., 0.25", "5, 1, -2", "3, dtype=float", "5, 1", "0"]
)
GROUP.family(
    "tnp.linspace({args})",
    args=["0, 1, 3", "0., 1., 4, endpoint=False", "0, 4, 3, retstep=True", "v[0], v[2], 4", "0, 1, 1, axis=0"],
)
GROUP.values("""
tnp.logspace(0., 2., 3)
tnp.logspace(0, 3, 4, base=2.)
tnp.geomspace(1., 8., 4)
tnp.geomspace(1, 1000, 4)
tnp.full([2, 3], 7)
tnp.full(3, [1., 2., 3.])
tnp.full_like(m, 1.5)
tnp.full_like(m, 1.5, dtype=float)
tnp.array([1, 2], ndmin=3)
tnp.ascontiguousarray(3)
tnp.copy(m)
tnp.meshgrid([1, 2], [3, 4, 5])
tnp.meshgrid([1, 2], [3, 4], indexing='ij')
tnp.hypot(v, v)
tnp.ix_([0, 1], [2, 3, 4])
tnp.ix_([True, False, True])
tnp.diag([1, 2])
tnp.diag([1., 2.], -1)
tnp.diag(m)
tnp.diag(m, 1)
tnp.diagflat(m, 1)
tnp.diag_indices(3)
tnp.identity(2)
tnp.vander([1, 2, 3])
tnp.vander([1., 2.], 3, increasing=True)
""")
GROUP.family("tnp.eye({args})", args=["2", "2, 3", "3, 2, 1", "2, 4, -1", "2, 2, 5", "2, dtype=int"])
GROUP.family("tnp.tri({args})", args=["3", "2, 3", "3, 3, -1", "3, 3, 1", "2, 2, -5", "2, 2, 5", "2, dtype=bool"])
GROUP.family("tnp.{name}(m, {k})", name="tril triu", k="0 1 -1")
GROUP.errors("""
tnp.arange(3, step=0)
tnp.linspace(0, 1, -1)
tnp.array(1, ndmin=33)
tnp.tril([1, 2])
tnp.ix_(m)
tnp.full_like(m, 1, order='C')
tnp.meshgrid([1], [2], sparse=True)
tnp.vander(m)
""")

# Shapes and parts.
GROUP.family("tnp.{name}(m)", name="ravel flatten transpose shape ndim size flip flipud fliplr rot90")
GROUP.family("tnp.{name}(m)", name="nonzero atleast_1d atleast_2d atleast_3d squeeze trace diagonal")
GROUP.family("tnp.{name}(5)", name="shape ndim size isscalar atleast_1d atleast_2d atleast_3d nonzero")
GROUP.family("tnp.{name}(([1, 2], [3, 4]))", name="hstack vstack dstack concatenate stack")
GROUP.family("tnp.rot90(m, {k})", k="0 1 2 3 -1")
GROUP.values("""
tnp.reshape(m, (3, -1))
tnp.reshape(m, 6, order='F')
tnp.reshape(m, (3, 2), order='F')
tnp.flatten(m, 'F')
tnp.expand_dims(m, 1)
tnp.transpose([[1, 2]], (1, 0))
tnp.swapaxes(tf.zeros([2, 3, 4]), 0, -1)
tnp.moveaxis(tf.zeros([2, 3, 4]), 0, -1)
tnp.moveaxis(tf.zeros([2, 3, 4]), (0, 1), (2, 0))
tnp.atleast_2d(1, [2, 3])
tnp.broadcast_to([1, 2], (2, 2))
tnp.broadcast_arrays([1, 2], [[1.], [2.]])
tnp.concatenate([m, [[1.5, 2, 3]]])
tnp.append([1, 2], [[3, 4]])
tnp.append(m, m, axis=1)
tnp.stack([[1, 2], [3., 4]], 1)
tnp.stack(m, 1)
tnp.split(m, 3, axis=1)
tnp.split([1, 2, 3, 4], [1, 3])
tnp.split([1, 2, 3], [2, 9])
tnp.vsplit(m, 2)
tnp.hsplit(m, [1])
tnp.hsplit(tf.range(4), 2)
tnp.dsplit(tf.zeros([1, 2, 4]), 2)
tnp.tile(m, 2)
tnp.tile([1, 2], (2, 2))
tnp.repeat([1, 2], 2)
tnp.repeat(m, [1, 2], axis=0)
tnp.pad(m, [[1, 0], [0, 2]], 'constant', constant_values=9)
tnp.pad([1, 2, 3], [[2, 1]], 'reflect')
tnp.roll(m, 1)
tnp.roll(m, 1, axis=1)
tnp.flip(m, 1)
tnp.take([5, 6, 7], [0, 9, -1])
tnp.take(m, [0, 4], axis=1, mode='wrap')
tnp.take_along_axis(m, [[2], [0]], 1)
tnp.take_along_axis(m, [[-1, 0, 1]], 0)
tnp.take_along_axis(m, [3], None)
tnp.where(m > 2)
tnp.where([True, False], 1, [2.5, 3])
tnp.select([m > 4, m > 2], [m, -m], 9)
tnp.select([[True]], [[1.5]])
""")
GROUP.errors("""
tnp.reshape(m, 6, order='K')
tnp.concatenate([])
tnp.split(m, [1], axis=2)
tnp.split([1, 2, 3], [2, 1])
tnp.hsplit(m, 2)
tnp.pad(m, 1, 'edge')
tnp.take(v, 0, mode='raise')
tnp.where([True], 1)
tnp.select([], [])
tnp.select([True], [])
tnp.moveaxis(m, (0, 1), 0)
tnp.broadcast_arrays(m, subok=True)
tnp.size(m, axis=1)
""")

# Products.
GROUP.family("tnp.{name}({args})", name="dot inner matmul", args=["v, v", "m, m[0]", "m[0], v", "[[1., 2.]], [3, 4]"])
GROUP.values("""
tnp.dot(m, [[1], [2], [3]])
tnp.dot(2, m)
tnp.inner(m, m)
tnp.matmul(tf.ones([2, 1, 3]), tf.ones([3, 2]))
tnp.matmul([1, 2], tf.ones([2, 2]))
tnp.outer([1, 2], [3., 4.])
tnp.vdot(c, c)
tnp.vdot(m, m)
tnp.tensordot(m, m, 2)
tnp.tensordot(m, m, [[1], [1]])
tnp.kron([1, 2], [[1], [10]])
tnp.kron(m, m)
tnp.cross([1, 2, 3], [4., 5, 6])
tnp.cross([1, 2], [3, 4])
tnp.cross([1, 2], [3, 4, 5])
tnp.cross(tf.ones([3, 2]), tf.ones([3, 2]), axis=0)
tnp.einsum('ij->ji', m)
tnp.einsum('ij,j->i', m, [1., 2., 3.])
tnp.diagonal(m, 1)
tnp.diagonal(m, 5)
tnp.diagonal(tf.reshape(tf.range(24), [2, 3, 4]), 0, 0, 2)
tnp.trace(m, 1)
tnp.trace(i8[None] + tf.constant([[1], [2]], tf.int8))
""")
GROUP.errors("""
tnp.einsum('ij->ji', m, casting='unsafe')
tnp.einsum('ij->ji', m, optimize='best')
""")

# Random numbers: the same seeds give the same numbers.
GROUP.family(
    "tnp.random.seed(7), tnp.random.{call}",
    call=[
        "rand(2, 3)",
        "randn(2)",
        "random()",
        "random((2,))",
        "standard_normal(3)",
        "uniform(1., 2., (2,))",
        "uniform([0., 10.], [1., 20.])",
        "randint(5, size=4)",
        "randint(2, 9, (2, 2), tf.int32)",
    ],
)
GROUP.values("tnp.random.poisson(3., 2).dtype, tnp.random.poisson(3., 2).shape")
GROUP.errors("tnp.random.randint(5, dtype=np.float32)")

# In graphs, and with gradients.
GROUP.family(
    "tf.function(lambda x: tnp.{call})({value})",
    call=[
        "mean(x, 0)",
        "where(x > 2, x, 0.)",
        "sum(x)",
        "concatenate([x, x])",
        "tile(x, 2)",
        "take_along_axis(x, [[0]], 1)",
    ],
    value=["tf.constant([[1., 2.], [3., 4.]])"],
)
