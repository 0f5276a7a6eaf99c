"""Mathematics, reductions, products and draws of `tf.experimental.numpy`. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow.experimental import numpy as tnp

M = tf.constant([[1, 2, 3], [4, 5, 6]])
F = tf.constant([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
X = tf.reshape(tf.range(24), [2, 3, 4])
NAN, INF = float("nan"), float("inf")


def drawn(function, *args, **options):
    """Describes a draw, whose values differ: its dtype, shape and range."""
    tnp.random.seed(5)
    value = function(*args, **options)
    again = function(*args, **options)
    same = bool(tf.reduce_all(value == again)) if value.shape.num_elements() else None
    low = None if not value.shape.num_elements() else float(tf.reduce_min(tf.cast(value, tf.float64))) >= 0
    tnp.random.seed(5)
    return value.dtype, value.shape, low, same, bool(tf.reduce_all(function(*args, **options) == value))


def of_unknown_rank(function, value):
    return tf.function(function, input_signature=[tf.TensorSpec(None, tf.int32)], autograph=False)(value)


ROWS = read_rows(r"""
tnp.sum(M)
    int64 [] 21
tnp.sum(M, 0)
    int64 [3] [5, 7, 9]
tnp.sum(M, axis=-1, keepdims=True)
    int64 [2, 1] [[6], [15]]
tnp.sum(M, axis=(0, 1))
    int64 [] 21
tnp.sum(M, axis=tf.constant(1))
    int64 [2] [6, 15]
tnp.sum(M, axis=tf.constant([0, 1], tf.int16))
    int64 [] 21
tnp.sum(tf.constant([1, 2], tf.int8))
    int64 [] 3
tnp.sum([True, True])
    int64 [] 2
tnp.sum(M, dtype=tf.float32)
    float32 [] 21
tnp.sum(tf.constant([1, 2], tf.uint8))
    uint64 [] 3
tnp.prod(M, axis=1)
    int64 [2] [6, 120]
tnp.prod(tf.constant([3, 2], tf.int16))
    int64 [] 6
tnp.prod(M, keepdims=True)
    int64 [1, 1] [[720]]
tnp.mean(M)
    float64 [] 3.5
tnp.mean(M, axis=0, dtype=tf.float32)
    float32 [3] [2.5, 3.5, 4.5]
tnp.mean(F, 1, keepdims=True)
    float32 [2, 1] [[0.83333], [-0.5]]
tnp.mean([True, False])
    float64 [] 0.5
tnp.amax(M, 0)
    int32 [3] [4, 5, 6]
tnp.amin(M, axis=1, keepdims=True)
    int32 [2, 1] [[1], [4]]
tnp.max(M)
    int32 [] 6
tnp.min(F, axis=(0, 1))
    float32 [] -6
tnp.max([True, False])
    bool [] True
tnp.ptp(M)
    int32 [] 5
tnp.ptp(F, axis=0)
    float32 [3] [2.5, 2.5, 9]
tnp.ptp(M, 1, keepdims=True)
    int32 [2, 1] [[2], [2]]
tnp.var(F)
    float32 [] 11.222
tnp.var(M, axis=1)
    float64 [2] [0.66667, 0.66667]
tnp.var(F, 0, ddof=1)
    float32 [3] [3.125, 3.125, 40.5]
tnp.var(M, dtype=tf.float32)
    float32 [] 2.9167
tnp.var(tf.complex(F, F))
    float32 [] 22.444
tnp.var(M, axis=0, keepdims=True)
    float64 [1, 3] [[2.25, 2.25, 2.25]]
tnp.std(F)
    float32 [] 3.35
tnp.std(M, axis=1, keepdims=True)
    float64 [2, 1] [[0.8165], [0.8165]]
tnp.std(F, ddof=1)
    TypeError: std() got an unexpected keyword argument 'ddof'
tnp.any([[0, 1], [0, 0]], axis=1)
    bool [2] [True, False]
tnp.any(F > 5)
    bool [] False
tnp.all([[1, 1], [0, 1]], axis=0, keepdims=True)
    bool [1, 2] [[False, True]]
tnp.all(M)
    bool [] True
tnp.cumsum(M)
    int64 [6] [1, 3, 6, 10, 15, 21]
tnp.cumsum(M, axis=1)
    int64 [2, 3] [[1, 3, 6], [4, 9, 15]]
tnp.cumsum(tf.constant([1, 2], tf.int8))
    int64 [2] [1, 3]
tnp.cumsum([True, True])
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: float, double, int32,
    uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128,
    half, uint32, uint64
tnp.cumsum(M, dtype=float)
    float64 [6] [1, 3, 6, 10, 15, 21]
tnp.cumprod(M, 0)
    int64 [2, 3] [[1, 2, 3], [4, 10, 18]]
tnp.cumprod(F)
    float32 [6] [1.5, -3, -9, -36, -18, 108]
tnp.nansum([1., NAN, 2.])
    float64 [] 3
tnp.nansum([[1., NAN], [2., 3.]], axis=0, keepdims=True)
    float64 [1, 2] [[3, 3]]
tnp.nanprod([3., NAN, 2.])
    float64 [] 6
tnp.nanmean([1., NAN, 2.])
    float64 [] 1.5
tnp.nanmean([[1., NAN], [NAN, NAN]], axis=1)
    float64 [2] [1, nan]
tnp.nanmean(M, axis=0)
    float64 [3] [2.5, 3.5, 4.5]
tnp.nanmean([True, False])
    float64 [] 0.5
tnp.nanmean([[1., NAN]], 1, keepdims=True)
    float64 [1, 1] [[1]]
tnp.average(M)
    float64 [] 3.5
tnp.average(M, axis=1, weights=[1, 2, 1])
    float64 [2] [2, 5]
tnp.average(M, weights=M)
    float64 [] 4.3333
tnp.average(F, axis=0, weights=[1., 3.], returned=True)
    (float32 [3] [3.375, -0.125, -3.75]; float32 [3] [4, 4, 4])
tnp.average(M, returned=True)
    (float64 [] 3.5; float64 [] 6)
tnp.average(M, weights=[1, 2, 1])
    InvalidArgumentError: Expected the shape of `weights`, [3], to be that of `a`, [2 3]
tnp.average(M, axis=1, weights=[1, 2])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,1]
tnp.diff([1, 4, 9])
    int64 [2] [3, 5]
tnp.diff(M, axis=0)
    int32 [1, 3] [[3, 3, 3]]
tnp.diff([1, 4, 9, 16], n=2)
    int64 [2] [2, 2]
tnp.diff([1, 4], 0)
    int64 [2] [1, 4]
tnp.diff([1, 4], 3)
    int64 [0] []
tnp.diff([1, 4], -1)
    ValueError: Argument `order` must be a non-negative integer. Received: axis=-1
tnp.diff(5)
    InvalidArgumentError: Attempting to slice scalar input.
tnp.diff([True, False, False])
    bool [2] [True, False]
tnp.argmax(M)
    int64 [] 5
tnp.argmax(M, axis=0)
    int64 [3] [1, 1, 1]
tnp.argmin(F, axis=1)
    int64 [2] [1, 2]
tnp.argmin([True, False])
    int64 [] 1
tnp.argmax(5)
    int64 [] 0
tnp.sort([3, 1, 2])
    int64 [3] [1, 2, 3]
tnp.sort([[3, 1], [2, 4]], axis=0)
    int64 [2, 2] [[2, 1], [3, 4]]
tnp.sort([[3, 1], [2, 4]], axis=None)
    int64 [4] [1, 2, 3, 4]
tnp.sort([1], order='x')
    ValueError: The `order` argument is not supported. Pass order=None
tnp.sort([3., 1.], kind='quicksort')
    float64 [2] [1, 3]
tnp.sort([1], kind='other')
    ValueError: Invalid value for argument `kind`. Only kind="quicksort" is supported. Received: kind=other
tnp.argsort([3, 1, 2])
    int64 [3] [1, 2, 0]
tnp.argsort([[3, 1], [2, 4]], axis=0)
    int64 [2, 2] [[1, 0], [0, 1]]
tnp.argsort([3, 1, 3, 1], kind='stable')
    int64 [4] [1, 3, 0, 2]
tnp.argsort([1], order='x')
    ValueError: The `order` argument is not supported. Pass order=None
tnp.argsort([[3, 1], [2, 4]], axis=None)
    int64 [4] [1, 2, 0, 3]
tnp.add(1, 2.5)
    float64 [] 3.5
tnp.add([True], [True])
    bool [1] [True]
tnp.subtract([1, 2], 1)
    int64 [2] [0, 1]
tnp.subtract(True, True)
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: bfloat16, half, float,
    double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, uint64
tnp.multiply(M, 2.0)
    float64 [2, 3] [[2, 4, 6], [8, 10, 12]]
tnp.multiply(True, False)
    bool [] False
tnp.true_divide(1, 2)
    float64 [] 0.5
tnp.divide(tf.constant(1.0), 2)
    float32 [] 0.5
tnp.true_divide([True], [True])
    float64 [1] [1]
tnp.floor_divide(7, -2)
    int64 [] -4
tnp.floor_divide(7.5, 2)
    float64 [] 3
tnp.mod(7, -3)
    int64 [] -2
tnp.remainder(-7, 3)
    int64 [] 2
tnp.divmod(7, -3)
    (int64 [] -3; int64 [] -2)
tnp.power(2, 3)
    int64 [] 8
tnp.power(2, 0.5)
    float64 [] 1.4142
tnp.float_power(2, 3)
    int64 [] 8
tnp.maximum([1, 5], 3)
    int64 [2] [3, 5]
tnp.minimum([1, 5], 3.5)
    float64 [2] [1, 3.5]
tnp.maximum(True, False)
    bool [] True
tnp.minimum(True, False)
    bool [] False
tnp.hypot(3, 4)
    float64 [] 5
tnp.arctan2(1, 2)
    InvalidArgumentError: Value for attr 'T' of int64 is not in the list of allowed values: bfloat16, half, float,
    double
tnp.logaddexp(1.0, 2.0)
    float64 [] 2.3133
tnp.logaddexp2(1.0, 2.0)
    float64 [] 2.585
tnp.logaddexp(-INF, -INF)
    float64 [] -inf
tnp.heaviside([-1.0, 0.0, 2.0], 0.5)
    float64 [3] [0, 0.5, 1]
tnp.heaviside([-1, 0, 2], 7)
    float64 [3] [0, 7, 1]
tnp.gcd(12, 18)
    int64 [] 6
tnp.gcd(0, -5)
    int64 [] 5
tnp.lcm(4, 6)
    int64 [] 12
tnp.lcm(-4, 0)
    int64 [] 0
tnp.bitwise_and(6, 3)
    int64 [] 2
tnp.bitwise_or([True], [False])
    bool [1] [True]
tnp.bitwise_xor(6, 3)
    int64 [] 5
tnp.bitwise_not(6)
    int64 [] -7
tnp.bitwise_and(1.5, 1)
    InvalidArgumentError: Value for attr 'T' of double is not in the list of allowed values: int8, int16, int32,
    int64, uint8, uint16, uint32, uint64
tnp.logical_and([1, 0], [2, 3])
    bool [2] [True, False]
tnp.logical_or([0, 0], [0, 3])
    bool [2] [False, True]
tnp.logical_xor([1, 0], [2, 3])
    bool [2] [False, True]
tnp.logical_not([1, 0])
    bool [2] [False, True]
tnp.equal([1, 2], [1.0, 3.0])
    bool [2] [True, False]
tnp.not_equal(1, True)
    bool [] False
tnp.greater([1, 2], 1)
    bool [2] [False, True]
tnp.greater_equal(2.0, 2)
    bool [] True
tnp.less(True, 2)
    bool [] True
tnp.less_equal([3], [2])
    bool [1] [False]
tnp.allclose([1.0], [1.0 + 1e-6])
    bool [] True
tnp.allclose([1.0], [1.1])
    bool [] False
tnp.allclose([1.0], [1.1], rtol=0.2)
    bool [] True
tnp.allclose([1.0], [1.1], atol=0.2)
    bool [] True
tnp.allclose([NAN], [NAN])
    bool [] False
tnp.allclose([NAN], [NAN], equal_nan=True)
    bool [] True
tnp.isclose([1.0, INF, NAN], [1.0, INF, NAN])
    bool [3] [True, False, False]
tnp.isclose([1.0, INF, NAN], [1.0, -INF, NAN], equal_nan=True)
    bool [3] [True, True, True]
tnp.isclose([1, 5], [1, 6])
    bool [2] [True, False]
tnp.array_equal([1, 2], [1, 2])
    bool [] True
tnp.array_equal([1, 2], [1, 3])
    bool [] False
tnp.array_equal([1, 2], [1, 2, 3])
    bool [] False
tnp.array_equal([[1, 2]], [1, 2])
    bool [] False
tnp.abs([-1, 2])
    int64 [2] [1, 2]
tnp.absolute(-1.5)
    float64 [] 1.5
tnp.fabs(-1)
    int64 [] 1
tnp.negative([1, -2])
    int64 [2] [-1, 2]
tnp.positive([True])
    bool [1] [True]
tnp.positive([-1])
    int64 [1] [-1]
tnp.sign([-2, 0, 3])
    int64 [3] [-1, 0, 1]
tnp.sign([1j, -2.0, 3.5 + 1j])
    complex128 [3] [0+1j, -1+0j, 0.96152+0.27472j]
tnp.square([2, -3])
    int64 [2] [4, 9]
tnp.sqrt(4)
    float64 [] 2
tnp.cbrt([-8.0, 27.0])
    float64 [2] [-2, 3]
tnp.cbrt(8)
    float64 [] 2
tnp.exp(1)
    float64 [] 2.7183
tnp.exp2(3)
    float64 [] 8
tnp.expm1(1e-5)
    float64 [] 1e-05
tnp.log(2)
    float64 [] 0.69315
tnp.log2(8)
    float64 [] 3
tnp.log10([100, 1000])
    float64 [2] [2, 3]
tnp.log1p(1e-5)
    float64 [] 1e-05
tnp.sin(1)
    float64 [] 0.84147
tnp.cos(1.0)
    float64 [] 0.5403
tnp.tan(1)
    float64 [] 1.5574
tnp.arcsin(0.5)
    float64 [] 0.5236
tnp.arccos(0.5)
    float64 [] 1.0472
tnp.arctan(1)
    float64 [] 0.7854
tnp.sinh(1)
    float64 [] 1.1752
tnp.cosh(1)
    float64 [] 1.5431
tnp.tanh(1)
    float64 [] 0.76159
tnp.arcsinh(1)
    float64 [] 0.88137
tnp.arccosh(2)
    float64 [] 1.317
tnp.arctanh(0.5)
    float64 [] 0.54931
tnp.sinc([0.0, 0.5])
    float64 [2] [1, 0.63662]
tnp.deg2rad(180)
    float64 [] 3.1416
tnp.rad2deg(3.0)
    171.89
tnp.reciprocal([2.0, 4.0])
    float64 [2] [0.5, 0.25]
tnp.reciprocal([1, 2])
    NotFoundError: Reciprocal has no kernel for integers: cast to a float
tnp.ceil([1.2, -1.2])
    float64 [2] [2, -1]
tnp.floor([1.2, -1.2])
    float64 [2] [1, -2]
tnp.fix([1.7, -1.7])
    float64 [2] [1, -1]
tnp.nextafter(1.0, 2.0)
    float64 [] 1
tnp.clip([1, 5, 9], 2, 6)
    int64 [3] [2, 5, 6]
tnp.clip([1, 5, 9], None, 6)
    int64 [3] [1, 5, 6]
tnp.clip([1, 5, 9], 2.5, None)
    float64 [3] [2.5, 5, 9]
tnp.clip([1, 5, 9], None, None)
    ValueError: Not more than one of `a_min` and `a_max` may be `None`.
tnp.clip(M, [2, 3, 4], 5)
    int32 [2, 3] [[2, 3, 4], [4, 5, 5]]
tnp.isnan([NAN, 1.0, INF])
    bool [3] [True, False, False]
tnp.isinf([NAN, 1.0, -INF])
    bool [3] [False, False, True]
tnp.isfinite([NAN, 1.0, INF])
    bool [3] [False, True, False]
tnp.isfinite([1])
    bool [1] [True]
tnp.isposinf([INF, -INF, 1.0])
    bool [3] [True, False, False]
tnp.isneginf([INF, -INF, 1.0])
    bool [3] [False, True, False]
tnp.isposinf(3)
    False
tnp.isneginf([1, 2])
    False
tnp.signbit([-1.0, 0.0, -0.0, 2.0])
    bool [4] [True, False, False, False]
tnp.signbit([-1, 2])
    bool [2] [True, False]
tnp.iscomplex([1, 1j])
    bool [2] [False, True]
tnp.isreal([1, 1j])
    bool [2] [True, False]
tnp.iscomplex([1, 2])
    bool [2] [False, False]
tnp.iscomplexobj([1j])
    True
tnp.isrealobj([1.0])
    True
tnp.real([1 + 2j])
    float64 [1] [1]
tnp.imag([1 + 2j])
    float64 [1] [2]
tnp.imag([1.5])
    float64 [1] [0]
tnp.angle([1j, -1.0 + 0j])
    float64 [2] [1.5708, 3.1416]
tnp.angle(1j, deg=True)
    float64 [] 90
tnp.angle(-2)
    float32 [] 3.1416
tnp.conj([1 + 2j])
    complex128 [1] [1-2j]
tnp.conjugate([3])
    int64 [1] [3]
tnp.dot(3, M)
    int32 [2, 3] [[3, 6, 9], [12, 15, 18]]
tnp.dot([1, 2], [3, 4])
    int64 [] 11
tnp.dot(M, [1, 2, 3])
    int32 [2] [14, 32]
tnp.dot(X, [1, 2, 3, 4])
    int32 [2, 3] [[20, 60, 100], [140, 180, 220]]
tnp.dot(M, tnp.transpose(M))
    int32 [2, 2] [[14, 32], [32, 77]]
tnp.dot([1.5], [2])
    float64 [] 3
tnp.matmul(M, [1, 2, 3])
    int32 [2] [14, 32]
tnp.matmul([1, 2], M)
    int32 [3] [9, 12, 15]
tnp.matmul([1, 2], [3, 4])
    int64 [] 11
tnp.matmul(X, tnp.swapaxes(X, 1, 2)).shape
    TensorShape([2, 3, 3])
tnp.inner([1, 2], [3, 4])
    int64 [] 11
tnp.inner(M, M)
    int32 [2, 2] [[14, 32], [32, 77]]
tnp.outer([1, 2], [3, 4, 5])
    int64 [2, 3] [[3, 4, 5], [6, 8, 10]]
tnp.outer([[1], [2]], [3.5, 4])
    float64 [2, 2] [[3.5, 4], [7, 8]]
tnp.vdot([1j, 2], [3, 4j])
    complex128 [] 0+5j
tnp.vdot(M, M)
    int32 [] 91
tnp.cross([1, 2, 3], [4, 5, 6])
    int64 [3] [-3, 6, -3]
tnp.cross([1, 2], [3, 4])
    int64 [] -2
tnp.cross([1, 2, 0], [3, 4])
    int64 [3] [0, 0, -2]
tnp.cross([1, 2], [3, 4, 5])
    int64 [3] [10, -5, -2]
tnp.cross([[1, 2, 3]], [[4, 5, 6]], axis=1)
    int64 [1, 3] [[-3, 6, -3]]
tnp.cross([[1], [2], [3]], [[4], [5], [6]], axisa=0, axisb=0, axisc=0)
    int64 [3, 1] [[-3], [6], [-3]]
tnp.cross([[1], [2], [3]], [[4], [5], [6]], axis=0)
    int64 [3, 1] [[-3], [6], [-3]]
tnp.kron([1, 2], [3, 4])
    int64 [4] [3, 4, 6, 8]
tnp.kron(M, [[1, 0]])
    int32 [2, 6] [[1, 0, 2, 0, 3, 0], [4, 0, 5, 0, 6, 0]]
tnp.tensordot(M, M, 2)
    int32 [] 91
tnp.tensordot(M, tnp.transpose(M), axes=1)
    int32 [2, 2] [[14, 32], [32, 77]]
tnp.tensordot(M, M, axes=[[1], [1]])
    int32 [2, 2] [[14, 32], [32, 77]]
tnp.einsum('ij,kj->ik', M, M)
    int32 [2, 2] [[14, 32], [32, 77]]
tnp.trace(M)
    int32 [] 6
tnp.trace(M, 1)
    int64 [] 8
tnp.trace(M, offset=-1)
    int64 [] 4
tnp.trace(X, axis1=1, axis2=2)
    int32 [2] [15, 51]
tnp.trace(X, 0, 2, 0)
    int64 [3] [13, 21, 29]
tnp.trace(M, dtype=tf.float32)
    float32 [] 6
tnp.diagonal(M)
    int32 [2] [1, 5]
tnp.diagonal(M, 1)
    int32 [2] [2, 6]
tnp.diagonal(M, -1)
    int32 [1] [4]
tnp.diagonal(X, 0, 1, 2)
    int32 [2, 3] [[0, 5, 10], [12, 17, 22]]
tnp.diagonal(X, axis1=2, axis2=0)
    int32 [3, 2] [[0, 13], [4, 17], [8, 21]]
tnp.diagonal([1, 2])
    InvalidArgumentError: transpose expects a vector of size 1. But input(1) is a vector of size 2
tnp.linspace(tf.constant(1), 4, 4)
    TypeError: Cannot convert 1.0 to EagerTensor of dtype int32
tnp.polyval([1, 2, 3], 2)
    int64 [] 11
tnp.polyval([1, 2, 3], [1.0, 2.0])
    float64 [2] [6, 11]
drawn(tnp.random.rand, 2, 3)
    (tf.float64; TensorShape([2, 3]); True; False; True)
drawn(tnp.random.rand)
    (tf.float64; TensorShape([]); True; False; True)
drawn(tnp.random.randn, 2)
    (tf.float64; TensorShape([2]); True; False; True)
drawn(tnp.random.standard_normal)
    (tf.float64; TensorShape([]); True; False; True)
drawn(tnp.random.standard_normal, [2, 1])
    (tf.float64; TensorShape([2, 1]); True; False; True)
drawn(tnp.random.standard_normal, size=3)
    (tf.float64; TensorShape([3]); False; False; True)
drawn(tnp.random.randint, 5)
    (tf.int64; TensorShape([]); True; True; True)
drawn(tnp.random.randint, 5, 9, [2, 2])
    (tf.int64; TensorShape([2, 2]); True; False; True)
drawn(tnp.random.randint, 5, size=3)
    (tf.int64; TensorShape([3]); True; False; True)
drawn(tnp.random.randint, 5, size=3, dtype=tf.int32)
    (tf.int32; TensorShape([3]); True; False; True)
drawn(tnp.random.uniform)
    (tf.float64; TensorShape([]); True; False; True)
drawn(tnp.random.uniform, 2, 3, [4])
    (tf.float64; TensorShape([4]); True; False; True)
drawn(tnp.random.uniform, low=0.5, high=1.0, size=[1, 2])
    (tf.float64; TensorShape([1, 2]); True; False; True)
drawn(tnp.random.poisson, 3.0, [5])
    (tf.int64; TensorShape([5]); True; False; True)
drawn(tnp.random.poisson)
    (tf.int64; TensorShape([]); True; False; True)
drawn(tnp.random.random, [3])
    (tf.float64; TensorShape([3]); True; False; True)
drawn(tnp.random.random)
    (tf.float64; TensorShape([]); True; False; True)
tnp.random.seed('a')
    ValueError: invalid literal for int() with base 10: 'a'
tnp.random.seed(1.5)
    None
tnp.random.seed([1])
    ValueError: Argument `s` got an invalid value [1]. Only integers are supported.
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_draws_lie_in_their_range():
    numbers = tnp.random.randint(5, 9, [500]).numpy()
    assert set(numbers.tolist()) == {5, 6, 7, 8}
    assert set(tnp.random.randint(3, size=[200]).numpy().tolist()) == {0, 1, 2}
    floats = tnp.random.uniform(2, 3, [500]).numpy()
    assert floats.min() >= 2 and floats.max() < 3 and floats.std() > 0.2
    assert abs(tnp.random.standard_normal([4000]).numpy().std() - 1) < 0.1
    assert abs(tnp.random.poisson(7.0, [2000]).numpy().mean() - 7) < 0.5
