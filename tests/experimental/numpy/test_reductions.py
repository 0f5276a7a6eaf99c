"""Reductions, sums along an axis, extrema and sorting of `tf.experimental.numpy`. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_variances_of_fewer_degrees_of_freedom_are_numpys(axis, keepdims):
    x = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
    for ddof in (0, 1, -1):
        want = x.var(axis, ddof=ddof, keepdims=keepdims)
        np.testing.assert_allclose(tnp.var(x, axis, ddof=ddof, keepdims=keepdims), want)
    numbers = (10 * x).astype(int)
    found = tnp.var(numbers, axis, ddof=1, keepdims=keepdims)
    np.testing.assert_allclose(found, numbers.var(axis, ddof=1, keepdims=keepdims))
    assert found.dtype == tf.float64


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "average"])
def test_reductions_of_integers_and_booleans_are_numpys(name):
    for x in (np.array([[1, 2, 4], [3, 5, -6]]), np.array([[True, False, True], [True, True, True]])):
        for axis in (None, 0, 1):
            found, want = getattr(tnp, name)(x, axis), getattr(np, name)(x, axis)
            np.testing.assert_allclose(found, want)
            assert found.dtype == want.dtype


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

tnp = tf.experimental.numpy
nan, inf = float("nan"), float("inf")
I = tf.constant([[3, 1, 2], [4, -5, 6]])  # noqa: E741
F = tf.constant([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
B = tf.constant([[True, False, True], [True, True, True]])
U = tf.constant([[3, 1], [250, 7]], tf.uint8)
N = tf.constant([[1.0, nan, 3.0], [nan, nan, 5.0]])
Z = tf.constant([[1 + 2j, 3j], [2, 1 - 1j]])
CUBE = tf.reshape(tf.range(12) * 7 % 11 - 4, [2, 3, 2])


def kinds(function, **options):
    """The dtypes of results for arguments of several dtypes."""
    values = (I, F, B, U, Z, tf.cast(I, tf.int8), tf.cast(I, tf.int64), tf.cast(F, tf.float64), [[1, 2]], [[1.5]], 3)
    return [function(v, **options).dtype.name for v in values if v is not Z or options.get("complex", True)]


def of(function, *args, **options):
    return lambda x: function(x, *args, **options)


ROWS = read_rows(r"""
[f(I) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.std, tnp.var)]
    (int64 [] 11; int64 [] -720; float64 [] 1.8333; int32 [] 6; int32 [] -5; int32 [] 6; int32 [] -5; int32 [] 11;
    float64 [] 3.4359; float64 [] 11.806)
[f(I, 0) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.std, tnp.var)]
    (int64 [3] [7, -4, 8]; int64 [3] [12, -5, 12]; float64 [3] [3.5, -2, 4]; int32 [3] [4, 1, 6]; int32 [3] [3, -5, 2];
    int32 [3] [4, 1, 6]; int32 [3] [3, -5, 2]; int32 [3] [1, 6, 4]; float64 [3] [0.5, 3, 2]; float64 [3] [0.25, 9, 4])
[f(F, axis=-1, keepdims=True) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.std, tnp.var)]
    (float32 [2, 1] [[2.5], [-1.5]]; float32 [2, 1] [[-9], [-12]]; float32 [2, 1] [[0.83333], [-0.5]]; float32 [2, 1]
    [[3], [4]]; float32 [2, 1] [[-2], [-6]]; float32 [2, 1] [[2.095], [4.1433]]; float32 [2, 1] [[4.3889], [17.167]])
[f(F, axis=1, keepdims=True) for f in (tnp.max, tnp.min, tnp.ptp)]
    (float32 [2, 1] [[3], [4]]; float32 [2, 1] [[-2], [-6]]; float32 [2, 1] [[5], [10]])
[f(F, keepdims=True) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.var)]
    (float32 [1, 1] [[1]]; float32 [1, 1] [[108]]; float32 [1, 1] [[0.16667]]; float32 [1, 1] [[4]]; float32 [1, 1]
    [[-6]]; float32 [1, 1] [[4]]; float32 [1, 1] [[-6]]; float32 [1, 1] [[10]]; float32 [1, 1] [[11.222]])
[f(CUBE, axis=(0, 2)) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.var)]
    (int64 [3] [5, 6, -4]; int64 [3] [-60, 72, 0]; float64 [3] [1.25, 1.5, -1]; int32 [3] [5, 6, 2]; int32 [3] [-4, -3,
    -4]; int32 [3] [5, 6, 2]; int32 [3] [-4, -3, -4]; int32 [3] [9, 9, 6]; float64 [3] [11.188, 13.25, 5])
[f(CUBE, axis=[1]) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.std)]
    (int64 [2, 2] [[-3, 7], [2, 1]]; int64 [2, 2] [[8, -36], [0, -16]]; float64 [2, 2] [[-1, 2.3333], [0.66667,
    0.33333]]; int32 [2, 2] [[2, 6], [5, 4]]; int32 [2, 2] [[-4, -2], [-3, -4]]; int32 [2, 2] [[2, 6], [5, 4]]; int32
    [2, 2] [[-4, -2], [-3, -4]]; int32 [2, 2] [[6, 8], [8, 8]]; float64 [2, 2] [[2.4495, 3.2998], [3.2998, 3.2998]])
[f(B, 1) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.std, tnp.var)]
    (int64 [2] [2, 3]; int64 [2] [0, 1]; float64 [2] [0.66667, 1]; bool [2] [True, True]; bool [2] [False, True]; bool
    [2] [True, True]; bool [2] [False, True]; float64 [2] [0.4714, 0]; float64 [2] [0.22222, 0])
[f(U, 1) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.max, tnp.min, tnp.ptp, tnp.std, tnp.var)]
    (uint64 [2] [4, 257]; uint64 [2] [3, 1750]; float64 [2] [2, 128.5]; uint8 [2] [3, 250]; uint8 [2] [1, 7]; uint8 [2]
    [3, 250]; uint8 [2] [1, 7]; uint8 [2] [2, 243]; float64 [2] [1, 121.5]; float64 [2] [1, 14762])
[f(Z, 1) for f in (tnp.sum, tnp.prod, tnp.mean)]
    (complex128 [2] [1+5j, 3-1j]; complex128 [2] [-6+3j, 2-2j]; complex128 [2] [0.5+2.5j, 1.5-0.5j])
tnp.std(Z, 1)
    float64 [2] [0.70711, 0.70711]
tnp.var(Z, 1)
    float64 [2] [0.5, 0.5]
tnp.amax(Z)
    InvalidArgumentError: Value for attr 'T' of complex128 is not in the list of allowed values: float, double, int32,
    uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16
kinds(tnp.sum)
    ('int64'; 'float32'; 'int64'; 'uint64'; 'complex128'; 'int64'; 'int64'; 'float64'; 'int64'; 'float64'; 'int64')
kinds(tnp.prod)
    ('int64'; 'float32'; 'int64'; 'uint64'; 'complex128'; 'int64'; 'int64'; 'float64'; 'int64'; 'float64'; 'int64')
kinds(tnp.mean)
    ('float64'; 'float32'; 'float64'; 'float64'; 'complex128'; 'float64'; 'float64'; 'float64'; 'float64'; 'float64';
    'float64')
[f(I, axis=tf.constant(1)) for f in (tnp.sum, tnp.prod, tnp.mean, tnp.amax, tnp.amin, tnp.var)]
    (int64 [2] [6, 5]; int64 [2] [6, -120]; float64 [2] [2, 1.6667]; int32 [2] [3, 6]; int32 [2] [1, -5]; float64 [2]
    [0.66667, 22.889])
[f(I, axis=tf.constant(1, tf.int64)) for f in (tnp.sum, tnp.mean)]
    (int64 [2] [6, 5]; float64 [2] [2, 1.6667])
[f(I, axis=tf.constant(1, tf.int8)) for f in (tnp.sum, tnp.mean)]
    (int64 [2] [6, 5]; float64 [2] [2, 1.6667])
[f(I, axis=tf.constant(1, tf.uint8)) for f in (tnp.sum, tnp.mean)]
    (int64 [2] [6, 5]; float64 [2] [2, 1.6667])
tnp.sum(I, axis=tf.constant(1.0))
    int64 [2] [6, 5]
[f(I, dtype=tf.float32) for f in (tnp.sum, tnp.prod, tnp.mean)]
    (float32 [] 11; float32 [] -720; float32 [] 1.8333)
[f(I, dtype=np.int8) for f in (tnp.sum, tnp.prod, tnp.mean)]
    (int8 [] 11; int8 [] 48; int8 [] 1)
[f(F, dtype=int) for f in (tnp.sum, tnp.prod, tnp.mean)]
    (int64 [] 0; int64 [] 0; int64 [] 0)
[f(I, dtype=bool) for f in (tnp.sum, tnp.prod)]
    (bool [] True; bool [] True)
[f(B, dtype=tf.int32) for f in (tnp.sum, tnp.prod)]
    (int32 [] 5; int32 [] 0)
[f(B, dtype=tf.bool) for f in (tnp.sum, tnp.prod)]
    (bool [] True; bool [] False)
tnp.var(I, dtype=tf.float32)
    float32 [] 11.806
tnp.var(I, dtype=tf.int32)
    TypeError: Input must be either real or complex. Received integer type <dtype: 'int32'>.
tnp.var(F, dtype=tf.float64)
    float64 [] 11.222
tnp.var(I, dtype=tf.float32, ddof=1)
    float32 [] 14.167
[f(I, out=F) for f in (tnp.mean,)]
    ValueError: Setting out is not supported.
tnp.amax(I, out=F)
    ValueError: Setting out is not supported.
tnp.amin(I, out=F)
    ValueError: Setting out is not supported.
tnp.var(I, out=F)
    ValueError: Setting out is not supported.
tnp.sum(I, 2)
    InvalidArgumentError: Invalid reduction dimension (2 for input with 2 dimension(s)
tnp.sum([1, 2, 3])
    int64 [] 6
tnp.sum([])
    float64 [] 0
tnp.prod([])
    float64 [] 1
tnp.mean([])
    float64 [] nan
tnp.sum(5)
    int64 [] 5
tnp.sum([True, True])
    int64 [] 2
tnp.sum(np.float32([1.5]))
    float32 [] 1.5
tnp.max([3, 7.5])
    float64 [] 7.5
tnp.max([])
    float64 [] -inf
tnp.ptp([True, False])
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: bfloat16, half, float,
    double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, uint64
[f(B) for f in (tnp.all, tnp.any)]
    (bool [] False; bool [] True)
[f(I - 3, 0) for f in (tnp.all, tnp.any)]
    (bool [3] [False, True, True]; bool [3] [True, True, True])
[f(I - 3, axis=1, keepdims=True) for f in (tnp.all, tnp.any)]
    (bool [2, 1] [[False], [True]]; bool [2, 1] [[True], [True]])
[f(CUBE, axis=(0, 2)) for f in (tnp.all, tnp.any)]
    (bool [3] [True, True, False]; bool [3] [True, True, True])
[f([]) for f in (tnp.all, tnp.any)]
    (bool [] True; bool [] False)
[f(nan) for f in (tnp.all, tnp.any)]
    (bool [] True; bool [] True)
tnp.all([0.5, 1])
    bool [] True
tnp.count_nonzero(I - 3)
    int64 [] 5
tnp.count_nonzero(I - 3, 0)
    int64 [3] [1, 2, 2]
tnp.count_nonzero(B, axis=-1)
    int64 [2] [2, 3]
tnp.count_nonzero(F)
    int64 [] 6
tnp.count_nonzero(CUBE, (0, 1))
    int64 [2] [5, 6]
[f(N) for f in (tnp.nansum, tnp.nanprod, tnp.nanmean)]
    (float32 [] 9; float32 [] 15; float32 [] 3)
[f(N, 0) for f in (tnp.nansum, tnp.nanprod, tnp.nanmean)]
    (float32 [3] [1, 0, 8]; float32 [3] [1, 1, 15]; float32 [3] [1, nan, 4])
[f(N, axis=1, keepdims=True) for f in (tnp.nansum, tnp.nanprod, tnp.nanmean)]
    (float32 [2, 1] [[4], [5]]; float32 [2, 1] [[3], [5]]; float32 [2, 1] [[2], [5]])
[f(N, dtype=tf.float64) for f in (tnp.nansum, tnp.nanprod, tnp.nanmean)]
    (float64 [] 9; float64 [] 15; float64 [] 3)
tnp.nansum(tf.constant([1 + 2j, 3]))
    InvalidArgumentError: Value for attr 'T' of complex128 is not in the list of allowed values: bfloat16, half, float,
    double
tnp.nansum(tf.constant([complex(nan, 2), 3]))
    InvalidArgumentError: Value for attr 'T' of complex128 is not in the list of allowed values: bfloat16, half, float,
    double
tnp.nanmean([nan, nan])
    float64 [] nan
tnp.nanmean([1, 2])
    float64 [] 1.5
tnp.average(F)
    float32 [] 0.16667
tnp.average(F, 0)
    float32 [3] [2.75, -0.75, -1.5]
tnp.average(F, axis=-1)
    float32 [2] [0.83333, -0.5]
tnp.average(F, 1, [1.0, 2.0, 3.0])
    float32 [2] [1.0833, -2.1667]
tnp.average(F, 0, [1.0, 2.0])
    float32 [3] [3.1667, -0.33333, -3]
tnp.average(I, 0, [1, 2])
    float64 [3] [3.6667, -3, 4.6667]
tnp.average(F, weights=F * 0 + 2)
    float32 [] 0.16667
tnp.average(F, 1, weights=F + 7)
    float32 [2] [1.3936, 2.141]
tnp.average(F, weights=[1.0, 2.0, 3.0])
    InvalidArgumentError
tnp.average(F, weights=F[:1])
    InvalidArgumentError
tnp.average(F, axis=(0, 1))
    ValueError: Argument `axis` must be an integer. Received axis=(0, 1) (of type <class 'tuple'>)
tnp.average(F, axis=1.0)
    ValueError: Argument `axis` must be an integer. Received axis=1.0 (of type <class 'float'>)
tnp.average(F, returned=True)
    (float32 [] 0.16667; float32 [] 6)
tnp.average(F, 1, [1.0, 2.0, 3.0], returned=True)
    (float32 [2] [1.0833, -2.1667]; float32 [2] [6, 6])
tnp.average(F, 0, returned=True)
    (float32 [3] [2.75, -0.75, -1.5]; float32 [3] [2, 2, 2])
tnp.average(F, 1, F + 7, True)
    (float32 [2] [1.3936, 2.141]; float32 [2] [23.5, 19.5])
tnp.average(F, 1, [1, 2, 3])
    float32 [2] [1.0833, -2.1667]
tnp.average(tf.cast(F, tf.float64), 1, tf.constant([1.0, 2.0, 3.0]))
    float64 [2] [1.0833, -2.1667]
tnp.average(I, 1, F + 7)
    float64 [2] [2.1489, 0.64103]
tnp.cumsum(I)
    int64 [6] [3, 4, 6, 10, 5, 11]
tnp.cumsum(I, 0)
    int64 [2, 3] [[3, 1, 2], [7, -4, 8]]
tnp.cumsum(I, -1)
    int64 [2, 3] [[3, 4, 6], [4, -1, 5]]
tnp.cumsum(I, axis=-2)
    int64 [2, 3] [[3, 1, 2], [7, -4, 8]]
tnp.cumprod(I)
    int64 [6] [3, 3, 6, 24, -120, -720]
tnp.cumprod(I, 1)
    int64 [2, 3] [[3, 3, 6], [4, -20, -120]]
tnp.cumsum(F, 1)
    float32 [2, 3] [[1.5, -0.5, 2.5], [4, 4.5, -1.5]]
tnp.cumsum(B, 1)
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: float, double, int32, uint8,
    int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32,
    uint64
tnp.cumsum(U, 0)
    int64 [2, 2] [[3, 1], [253, 8]]
tnp.cumsum(tf.cast(I, tf.int8), 1)
    int64 [2, 3] [[3, 4, 6], [4, -1, 5]]
tnp.cumsum(I, 0, dtype=tf.float32)
    float32 [2, 3] [[3, 1, 2], [7, -4, 8]]
tnp.cumprod(I, 0, tf.int8)
    int8 [2, 3] [[3, 1, 2], [12, -5, 12]]
tnp.cumsum(I, 2)
    InvalidArgumentError: Sca
tnp.cumsum(I, -3)
    int64 [2, 3] [[3, 4, 6], [4, -1, 5]]
tnp.cumsum(7)
    int64 [1] [7]
tnp.diff(I)
    int32 [2, 2] [[-2, 1], [-9, 11]]
tnp.diff(I, 2)
    int32 [2, 1] [[3], [20]]
tnp.diff(I, n=0)
    int32 [2, 3] [[3, 1, 2], [4, -5, 6]]
tnp.diff(I, axis=0)
    int32 [1, 3] [[1, -6, 4]]
tnp.diff(I, 1, -2)
    int32 [1, 3] [[1, -6, 4]]
tnp.diff(CUBE, axis=1)
    int32 [2, 2, 2] [[[3, 3], [3, -8]], [[-8, 3], [3, -8]]]
tnp.diff(CUBE, 2, axis=1)
    int32 [2, 1, 2] [[[0, -11]], [[11, -11]]]
tnp.diff(B)
    bool [2, 2] [[True, True], [False, False]]
tnp.diff(I, 3)
    int32 [2, 0] [[], []]
tnp.diff(I, 4)
    int32 [2, 0] [[], []]
tnp.diff(I, -1)
    ValueError: Argument `order` must be a non-negative integer. Received: axis=-1
tnp.diff(I, axis=2)
    ValueError: Argument `axis` (received axis=2) is out of bounds for input [[ 3 1 2]
tnp.diff(I, axis=-3)
    IndexError
tnp.diff([1.5, 4.0, 9.0])
    float64 [2] [2.5, 5]
tnp.argmax(I)
    int64 [] 5
tnp.argmin(I)
    int64 [] 4
tnp.argmax(I, 0)
    int64 [3] [1, 0, 1]
tnp.argmin(I, 1)
    int64 [2] [1, 1]
tnp.argmax(I, axis=-1)
    int64 [2] [0, 2]
tnp.argmin(F, -2)
    int64 [3] [0, 0, 1]
tnp.argmax(5)
    int64 [] 0
tnp.argmax(5, 0)
    int64 [] 0
tnp.argmin(I, 2)
    InvalidArgumentError: Expected dimension in the range [-2, 2), but got 2
tnp.argmax([1, 3, 3])
    int64 [] 1
tnp.argmin([True, False])
    int64 [] 1
tnp.sort(I)
    int32 [2, 3] [[1, 2, 3], [-5, 4, 6]]
tnp.sort(I, 0)
    int32 [2, 3] [[3, -5, 2], [4, 1, 6]]
tnp.sort(I, axis=None)
    int32 [6] [-5, 1, 2, 3, 4, 6]
tnp.sort(F, -2)
    float32 [2, 3] [[1.5, -2, -6], [4, 0.5, 3]]
tnp.sort(I, kind='stable')
    ValueError: Invalid value for argument `kind`. Only kind="quicksort" is supported. Received: kind=stable
tnp.sort(I, kind='mergesort')
    ValueError: Invalid value for argument `kind`. Only kind="quicksort" is supported. Received: kind=mergesort
tnp.sort(I, order='x')
    ValueError: The `order` argument is not supported. Pass order=None
tnp.sort([3, 1, 2])
    int64 [3] [1, 2, 3]
tnp.sort(I, 2)
    InvalidArgumentError: slice index 2 of dimension 0 out of bounds.
tnp.argsort(I)
    int64 [2, 3] [[1, 2, 0], [1, 0, 2]]
tnp.argsort(I, 0)
    int64 [2, 3] [[0, 1, 0], [1, 0, 1]]
tnp.argsort(I, axis=None)
    int64 [6] [4, 1, 2, 0, 3, 5]
tnp.argsort(I, kind='stable')
    int64 [2, 3] [[1, 2, 0], [1, 0, 2]]
tnp.argsort([1, 1, 0, 1, 0], kind='stable')
    int64 [5] [2, 4, 0, 1, 3]
tnp.argsort(I, kind='heapsort')
    ValueError: Invalid value for argument `kind`. Only kind="quicksort" and kind="stable" are supported. Received:
    kind=heapsort
tnp.argsort(I, order='x')
    ValueError: The `order` argument is not supported. Pass order=None
tnp.argsort(Z)
    TypeError
tnp.argsort(5)
    int64 [1] [0]
tnp.argsort(F, -2)
    int64 [2, 3] [[0, 0, 1], [1, 1, 0]]
tnp.compress([True, False, True], [1, 2, 3])
    int64 [2] [1, 3]
tnp.compress([True, False], [1, 2, 3])
    int64 [1] [1]
tnp.compress([True, False, True], I)
    int32 [2] [3, 2]
tnp.compress([True, False, True], I, 1)
    int32 [2, 2] [[3, 2], [4, 6]]
tnp.compress([True, False, True], I, axis=-1)
    int32 [2, 2] [[3, 2], [4, 6]]
tnp.compress([False, True], I, 0)
    int32 [1, 3] [[4, -5, 6]]
tnp.compress([False, True], I, -1)
    int32 [2, 1] [[1], [-5]]
tnp.compress([1, 0, 2], I, 1)
    int32 [2, 2] [[3, 2], [4, 6]]
tnp.compress([True, False, True, True], I, 1)
    ValueError: Shapes (3,) and (4,) are incompatible
tnp.compress([[True]], I)
    ValueError: condition must be a 1-d array.
tnp.compress(True, I)
    ValueError: condition must be a 1-d array.
tnp.compress([True], 5)
    int64 [1] [5]
tnp.compress([True, False], CUBE, -1)
    int32 [2, 3, 1] [[[-4], [-1], [2]], [[5], [-3], [0]]]
unranked(of(tnp.sum), I)
    int64 [] 11
unranked(of(tnp.mean, axis=1), I)
    float64 [2] [2, 1.6667]
unranked(of(tnp.average), F)
    float32 [] 0.16667
unranked(of(tnp.cumsum, axis=-1), I)
    int64 [2, 3] [[3, 4, 6], [4, -1, 5]]
unranked(of(tnp.cumsum), I)
    int64 [6] [3, 4, 6, 10, 5, 11]
unranked(of(tnp.argmax), I)
    int64 [] 5
unranked(of(tnp.argmax, axis=0), I)
    int64 [3] [1, 0, 1]
unranked(of(tnp.argsort), I)
    int64 [2, 3] [[1, 2, 0], [1, 0, 2]]
unranked(of(tnp.argsort), 5)
    int64 [1] [0]
unranked(of(tnp.sort, axis=None), I)
    int32 [6] [-5, 1, 2, 3, 4, 6]
sized(of(tnp.compress, axis=1), [True, False, True])
    TypeError: compress() missing 1 required positional argument: 'a'
sized(lambda x, w: tnp.average(x, 1, w), F, [1., 2, 3])
    float32 [2] [1.0833, -2.1667]
sized(lambda x, w: tnp.average(x, 1, w, returned=True), F, F + 7)
    (float32 [2] [1.3936, 2.141]; float32 [2] [23.5, 19.5])
sized(lambda x, w: tnp.average(x, 1, w), F, F[:1])
    InvalidArgumentError
sized(of(tnp.diff), I)
    int32 [2, 2] [[-2, 1], [-9, 11]]
grad(tnp.std, F)
    float32 [2, 3] [[0.066336, -0.1078, 0.14096], [0.19072, 0.016584, -0.3068]]
grad(of(tnp.nansum), N)
    float32 [2, 3] [[1, 0, 1], [0, 0, 1]]
static(of(tnp.diff), [2,None])
    '(2, None)'
static(of(tnp.average, axis=0), [2,None])
    '(None,)'
static(of(tnp.sum, axis=0, keepdims=True), [2,None])
    '(1, None)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
