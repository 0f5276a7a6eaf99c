"""`tf.signal`: lengths, axes, norms, borders and errors. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import agree, outcome, read_rows

S = tf.signal
X = tf.constant([[1.0, 2.0, -1.0, 0.5], [0.0, 3.0, 1.0, -2.0]])
Z = tf.complex(X, X[::-1])
V = tf.constant([1.0, 2.0, -1.0, 0.5, 4.0, -3.0, 2.0])
W = tf.constant(np.sin(np.arange(24.0)), tf.float32)
CUBE = tf.reshape(tf.cast(tf.range(24), tf.float32) ** 1.5, [2, 3, 4])
UNKNOWN = [tf.TensorSpec(None, tf.float32)]


def of_unknown_rank(function, value=X):
    return tf.function(function, input_signature=UNKNOWN, autograph=False)(value)


def static(function, shape, dtype=tf.float32):
    """Returns the static shape of a function's result."""
    found = []
    spec = tf.TensorSpec(shape, dtype)
    tf.function(lambda x: found.append(function(x).shape) or x, input_signature=[spec]).get_concrete_function()
    return found[0]


ROWS = read_rows(r"""
S.fft(Z)
    complex64 [2, 4] [[2.5+2j, 7-2.5j, -2.5+0j, -3+0.5j], [2+2.5j, 0.5-3j, 0-2.5j, -2.5+7j]]
S.ifft(Z)
    complex64 [2, 4] [[0.625+0.5j, -0.75+0.125j, -0.625+0j, 1.75-0.625j], [0.5+0.625j, -0.625+1.75j, 0-0.625j,
    0.125-0.75j]]
S.fft2d(Z)
    complex64 [2, 4] [[4.5+4.5j, 7.5-5.5j, -2.5-2.5j, -5.5+7.5j], [0.5-0.5j, 6.5+0.5j, -2.5+2.5j, -0.5-6.5j]]
S.ifft2d(Z)
    complex64 [2, 4] [[0.5625+0.5625j, -0.6875+0.9375j, -0.3125-0.3125j, 0.9375-0.6875j], [0.0625-0.0625j,
    -0.0625-0.8125j, -0.3125+0.3125j, 0.8125+0.0625j]]
S.fft3d(tf.cast(CUBE, tf.complex64))[0, 0]
    complex64 [4] [1070.5+0j, -55.449+59.038j, -57.069+0j, -55.449-59.038j]
S.ifft3d(tf.cast(CUBE, tf.complex64))[1, 2]
    complex64 [4] [2.9694-1.4634j, 0.14445+0.051805j, 0.10582-0.031285j, 0.086775-0.11817j]
S.fft(tf.cast(Z, tf.complex128)).dtype
    tf.complex128
S.fft(X)
    InvalidArgumentError: Value for attr 'Tcomplex' of float is not in the list of allowed values: complex64,
    complex128
S.fft(tf.constant(1j))
    InvalidArgumentError: Input must have rank of at least 1 but got: []
S.rfft(X)
    complex64 [2, 3] [[2.5+0j, 2-1.5j, -2.5+0j], [2+0j, -1-5j, 0+0j]]
S.rfft(X, [3])
    complex64 [2, 2] [[2+0j, 0.5-2.5981j], [4+0j, -2-1.7321j]]
S.rfft(X, [6])
    complex64 [2, 4] [[2.5+0j, 2-0.86603j, 1-2.5981j, -2.5+0j], [2+0j, 3-3.4641j, -4-1.7321j, 0+0j]]
S.rfft(X, fft_length=tf.constant([4]))
    complex64 [2, 3] [[2.5+0j, 2-1.5j, -2.5+0j], [2+0j, -1-5j, 0+0j]]
S.rfft(tf.cast(X, tf.float64)).dtype
    tf.complex128
S.rfft(X, 4)
    TypeError: 'numpy.int32' object is not iterable
S.rfft(X, [4, 4])
    InvalidArgumentError: fft_length must have shape [1], a length for each dimension, not (4, 4)
S.irfft(Z)
    float32 [2, 6] [[0.58333, -0.57137, -0.49402, -0.91667, 0.66068, 1.738], [1, 0.37799, -1.866, -0.33333,
    -0.13397, 0.95534]]
S.irfft(Z, [5])
    float32 [2, 5] [[0.6, -0.60556, -0.89574, -0.2459, 2.1472], [1.6, -0.47852, -1.6979, 0.0034371, 0.57294]]
S.irfft(Z, [4])
    float32 [2, 4] [[1, -1, -1, 2], [1.75, -1.25, -1.25, 0.75]]
S.irfft(Z, [9])
    float32 [2, 9] [[0.44444, 0.09496, -0.77589, -0.27379, -0.23259, -0.83205, 0.49601, 1.459, 0.6199], [0.44444,
    0.60844, -0.1363, -1.4662, -0.62508, 0.15707, -0.31154, 0.39463, 0.93457]]
S.rfft2d(X)
    complex64 [2, 3] [[4.5+0j, 1-6.5j, -2.5+0j], [0.5+0j, 3+3.5j, -2.5+0j]]
S.rfft2d(X, [3, 2])
    complex64 [3, 2] [[6+0j, -4+0j], [1.5-2.5981j, 0.5+2.5981j], [1.5+2.5981j, 0.5-2.5981j]]
S.rfft2d(X, [2, 6])
    complex64 [2, 4] [[4.5+0j, 5-4.3301j, -3-4.3301j, -2.5+0j], [0.5+0j, -1+2.5981j, 5-0.86603j, -2.5+0j]]
S.irfft2d(Z)
    float32 [2, 6] [[0.79167, -0.096688, -1.18, -0.625, 0.26335, 1.3467], [-0.20833, -0.47468, 0.686, -0.29167,
    0.39733, 0.39135]]
S.irfft2d(Z, [3, 4])
    float32 [3, 4] [[0.91667, -0.75, -0.75, 0.91667], [-0.24701, -0.70235, 0.16368, 0.83034], [0.33034, 0.45235,
    -0.41368, 0.25299]]
S.rfft3d(CUBE)[0, 0]
    complex64 [3] [1070.5+0j, -55.449+59.038j, -57.069+0j]
S.rfft3d(CUBE, [2, 2, 3])[1]
    complex64 [2, 2] [[-313.58+0j, 10.436-5.5779j], [39.587+0j, 1.8527-0.80061j]]
S.irfft3d(tf.cast(CUBE, tf.complex64), [2, 3, 5])[0]
    float32 [3, 5] [[43.086, -2.4397, -0.2999, -0.2999, -2.4397], [-9.1561, 4.0996, -0.91656, 1.0398, -3.4777],
    [-9.1561, -3.4777, 1.0398, -0.91656, 4.0996]]
S.fftshift(X)
    float32 [2, 4] [[1, -2, 0, 3], [-1, 0.5, 1, 2]]
S.fftshift(X, axes=1)
    float32 [2, 4] [[-1, 0.5, 1, 2], [1, -2, 0, 3]]
S.fftshift(X, axes=[0])
    float32 [2, 4] [[0, 3, 1, -2], [1, 2, -1, 0.5]]
S.fftshift(V)
    float32 [7] [4, -3, 2, 1, 2, -1, 0.5]
S.fftshift(CUBE, (0, 2))
    float32 [2, 3, 4] [[[52.383, 58.095, 41.569, 46.872], [76.368, 82.819, 64, 70.093], [103.19, 110.3, 89.443,
    96.234]], [[2.8284, 5.1962, 0, 1], [14.697, 18.52, 8, 11.18], [31.623, 36.483, 22.627, 27]]]
S.ifftshift(X)
    float32 [2, 4] [[1, -2, 0, 3], [-1, 0.5, 1, 2]]
S.ifftshift(V)
    float32 [7] [0.5, 4, -3, 2, 1, 2, -1]
S.ifftshift(X, 1)
    float32 [2, 4] [[-1, 0.5, 1, 2], [1, -2, 0, 3]]
S.ifftshift(X, axes=(1,))
    float32 [2, 4] [[-1, 0.5, 1, 2], [1, -2, 0, 3]]
of_unknown_rank(lambda x: S.fftshift(x, 1))
    float32 [2, 4] [[-1, 0.5, 1, 2], [1, -2, 0, 3]]
static(S.rfft, [None, 8])
    TensorShape([None, 5])
static(S.rfft, [None, None])
    TensorShape([None, None])
static(lambda x: S.rfft(x, [5]), [None, None])
    TensorShape([None, 3])
static(S.rfft2d, [None, 3, 8])
    TensorShape([None, 3, 5])
static(lambda x: S.rfft2d(x, [2, 6]), None)
    TensorShape(None)
static(S.irfft, [2, 5], tf.complex64)
    TensorShape([2, 8])
static(lambda x: S.irfft(x, [7]), [2, None], tf.complex64)
    TensorShape([None, 7])
static(S.fft, [2, None], tf.complex64)
    TensorShape([2, None])
static(S.fft2d, [None], tf.complex64)
    ValueError: ValueError: Input must have rank of at least 2 but got: [?] for '{{node FFT2D}} =
    FFT2D[Tcomplex=DT_COMPLEX64](x)' with input shapes: [?].
static(lambda x: S.frame(x, 3, 2), [None, 9])
    TensorShape([None, 4, 3])
static(lambda x: S.stft(x, 4, 2), [2, 9])
    TensorShape([2, 3, 3])
S.dct(V)
    float32 [7] [11, 1.5296, 0.21983, 3.8468, 5.2078, -18.435, 6.9879]
S.dct(V, type=1)
    float32 [7] [8, 2.6603, -2, 9, 2, -14.66, 10]
S.dct(V, type=2)
    float32 [7] [11, 1.5296, 0.21983, 3.8468, 5.2078, -18.435, 6.9879]
S.dct(V, type=3)
    float32 [7] [7.1543, -0.60374, 0.14031, 7, 8.0011, -17.69, 2.9978]
S.dct(V, type=4)
    float32 [7] [7.4991, -0.65775, 1.2343, 7.7782, -7.7002, -11.493, 13.544]
S.dct(V, type=2, norm='ortho')
    float32 [7] [2.0788, 0.40881, 0.058753, 1.0281, 1.3918, -4.9271, 1.8676]
S.dct(V, type=3, norm='ortho')
    float32 [7] [2.0228, -0.050654, 0.1482, 1.9815, 2.2491, -4.6171, 0.91191]
S.dct(V, type=4, norm='ortho')
    float32 [7] [2.0042, -0.17579, 0.32989, 2.0788, -2.058, -3.0716, 3.6197]
S.dct(V, type=1, norm='ortho')
    ValueError: Normalization is not supported for the Type-I DCT.
S.dct(V, n=4)
    float32 [4] [5, 3.22, 0.70711, -5.1606]
S.dct(V, n=10)
    float32 [10] [11, 4.9533, -0.58779, 0.42916, 2.4549, 7.7782, 0.95106, -17.4, -8.0451, 13.583]
S.dct(V, n=4, type=3)
    float32 [4] [3.664, 3.0211, 1.8074, -4.4924]
S.dct(V, n=4, type=1)
    float32 [4] [3.5, 3.5, 0.5, -5.5]
S.dct(V, n=0)
    ValueError: n should be a positive integer or None
S.dct(V, n=-1)
    ValueError: n should be a positive integer or None
S.dct(V, type=5)
    ValueError: Types I, II, III and IV (I)DCT are supported.
S.dct(V, type=2, norm='other')
    ValueError: Unknown normalization. Expected None or 'ortho', got: other
S.dct(V, axis=0)
    NotImplementedError: axis must be -1. Got: 0
S.dct(X)
    float32 [2, 4] [[5, 3.22, 0.70711, -5.1606], [4, 5.2263, -8.4853, -2.1648]]
S.dct(V[:1], type=1)
    ValueError: Type-I DCT requires the dimension to be greater than one.
S.dct(tf.cast(V, tf.float64), type=4).dtype
    tf.float64
S.idct(V)
    float32 [7] [7.1543, -0.60374, 0.14031, 7, 8.0011, -17.69, 2.9978]
S.idct(V, type=1)
    float32 [7] [8, 2.6603, -2, 9, 2, -14.66, 10]
S.idct(V, type=2)
    float32 [7] [7.1543, -0.60374, 0.14031, 7, 8.0011, -17.69, 2.9978]
S.idct(V, type=3)
    float32 [7] [11, 1.5296, 0.21983, 3.8468, 5.2078, -18.435, 6.9879]
S.idct(V, type=4)
    float32 [7] [7.4991, -0.65775, 1.2343, 7.7782, -7.7002, -11.493, 13.544]
S.idct(V, type=2, norm='ortho')
    float32 [7] [2.0228, -0.050654, 0.1482, 1.9815, 2.2491, -4.6171, 0.91191]
S.idct(V, type=3, norm='ortho')
    float32 [7] [2.0788, 0.40881, 0.058753, 1.0281, 1.3918, -4.9271, 1.8676]
S.idct(V, n=3)
    float32 [3] [3.4641, 3, -3.4641]
S.idct(V, type=5)
    ValueError: Types I, II, III and IV (I)DCT are supported.
of_unknown_rank(lambda x: S.dct(x, type=4))
    ValueError: Cannot take the length of shape with unknown rank.
of_unknown_rank(lambda x: S.dct(x, type=2))
    float32 [2, 4] [[5, 3.22, 0.70711, -5.1606], [4, 5.2263, -8.4853, -2.1648]]
S.mdct(W, 8)
    float32 [5, 4] [[2.7932, 2.0824, -1.0581, 0.16059], [-2.6177, 1.7743, 1.091, 0.2136], [0.62882, -4.402,
    -0.36813, -0.43982], [1.7956, 3.9803, -0.60973, 0.36138], [-2.9762, -0.80144, 1.1652, -0.032601]]
S.mdct(W, 8, window_fn=None)
    float32 [5, 4] [[1.7054, 1.6776, 0.71582, 0.19137], [-1.1028, 2.647, -1.1002, -0.6919], [-0.2637, -5.1381,
    0.72245, 0.71314], [1.4476, 4.0699, 0.15574, -0.24038], [-1.6287, -0.18245, -0.92605, -0.39889]]
S.mdct(W, 8, norm='ortho')
    float32 [5, 4] [[0.98756, 0.73625, -0.37409, 0.056777], [-0.92549, 0.62733, 0.38572, 0.075518], [0.22232,
    -1.5563, -0.13015, -0.1555], [0.63485, 1.4073, -0.21557, 0.12777], [-1.0523, -0.28335, 0.41197, -0.011526]]
S.mdct(W, 8, pad_end=True)
    float32 [6, 4] [[2.7932, 2.0824, -1.0581, 0.16059], [-2.6177, 1.7743, 1.091, 0.2136], [0.62882, -4.402,
    -0.36813, -0.43982], [1.7956, 3.9803, -0.60973, 0.36138], [-2.9762, -0.80144, 1.1652, -0.032601], [1.1544,
    -2.2059, 1.0123, 0.71516]]
S.mdct(W[:13], 8, pad_end=True)
    float32 [4, 4] [[2.7932, 2.0824, -1.0581, 0.16059], [-2.6177, 1.7743, 1.091, 0.2136], [2.3283, -3.0312, 0.48172,
    -0.1578], [-0.035623, 0.062888, -0.012509, -0.053314]]
S.mdct(W[:13], 8)
    float32 [2, 4] [[2.7932, 2.0824, -1.0581, 0.16059], [-2.6177, 1.7743, 1.091, 0.2136]]
S.mdct(W, 6)
    ValueError: The frame length must be a multiple of 4.
S.inverse_mdct(S.mdct(W, 8))
    float32 [24] [-0.0084168, -0.19217, 0.3648, 0.14062, -0.7568, -0.95892, -0.27942, 0.65699, 0.98936, 0.41212,
    -0.54402, -0.99999, -0.53657, 0.42017, 0.99061, 0.65029, -0.2879, -0.9614, -0.75099, 0.14988, 0.85922, 0.65127,
    0.34307, 0.051429]
S.inverse_mdct(S.mdct(W, 8, window_fn=None), window_fn=None)
    float32 [24] [-0.07056, -0.033913, 0.033913, 0.07056, -0.7568, -0.95892, -0.27942, 0.65699, 0.98936, 0.41212,
    -0.54402, -0.99999, -0.53657, 0.42017, 0.99061, 0.65029, -0.2879, -0.9614, -0.75099, 0.14988, 0.033362, 0.4139,
    0.4139, 0.033362]
S.inverse_mdct(S.mdct(W, 8, norm='ortho'), norm='ortho')
    float32 [24] [-0.0084168, -0.19217, 0.3648, 0.14062, -0.7568, -0.95892, -0.27942, 0.65699, 0.98936, 0.41212,
    -0.54402, -0.99999, -0.53657, 0.42017, 0.99061, 0.65029, -0.2879, -0.9614, -0.75099, 0.14988, 0.85922, 0.65127,
    0.34307, 0.051429]
S.frame(V, 3, 2)
    float32 [3, 3] [[1, 2, -1], [-1, 0.5, 4], [4, -3, 2]]
S.frame(V, 3, 1)
    float32 [5, 3] [[1, 2, -1], [2, -1, 0.5], [-1, 0.5, 4], [0.5, 4, -3], [4, -3, 2]]
S.frame(V, 3, 2, pad_end=True)
    float32 [4, 3] [[1, 2, -1], [-1, 0.5, 4], [4, -3, 2], [2, 0, 0]]
S.frame(V, 3, 2, pad_end=True, pad_value=9)
    float32 [4, 3] [[1, 2, -1], [-1, 0.5, 4], [4, -3, 2], [2, 9, 9]]
S.frame(V, 3, 5)
    float32 [1, 3] [[1, 2, -1]]
S.frame(V, 8, 2)
    float32 [0, 8] []
S.frame(V, 8, 2, pad_end=True)
    float32 [4, 8] [[1, 2, -1, 0.5, 4, -3, 2, 0], [-1, 0.5, 4, -3, 2, 0, 0, 0], [4, -3, 2, 0, 0, 0, 0, 0], [2, 0, 0,
    0, 0, 0, 0, 0]]
S.frame(X, 1, 1, axis=0)
    float32 [2, 1, 4] [[[1, 2, -1, 0.5]], [[0, 3, 1, -2]]]
S.frame(X, 2, 2, axis=-1)
    float32 [2, 2, 2] [[[1, 2], [-1, 0.5]], [[0, 3], [1, -2]]]
S.frame(CUBE, 2, 1, axis=1).shape
    TensorShape([2, 2, 2, 4])
S.frame(CUBE, 2, 2, True, 7, axis=1)
    float32 [2, 2, 2, 4] [[[[0, 1, 2.8284, 5.1962], [8, 11.18, 14.697, 18.52]], [[22.627, 27, 31.623, 36.483], [7,
    7, 7, 7]]], [[[41.569, 46.872, 52.383, 58.095], [64, 70.093, 76.368, 82.819]], [[89.443, 96.234, 103.19, 110.3],
    [7, 7, 7, 7]]]]
S.frame(CUBE, 2, 1, axis=-3).shape
    TensorShape([1, 2, 3, 4])
S.frame(V, 0, 1)
    float32 [8, 0] [[], [], [], [], [], [], [], []]
S.frame(V, 1, 0)
    InvalidArgumentError: Integer division by zero: frame_step must not be 0
S.frame([1, 2, 3, 4, 5], 2, 3)
    int32 [2, 2] [[1, 2], [4, 5]]
S.frame(['a', 'b', 'c'], 2, 1)
    string [2, 2] [[b'a', b'b'], [b'b', b'c']]
S.frame(['a', 'b', 'c'], 2, 2, pad_end=True, pad_value='z')
    string [2, 2] [[b'a', b'b'], [b'c', b'z']]
S.frame(5, 1, 1)
    ValueError: Shape () must have rank at least 1
S.overlap_and_add(X, 2)
    float32 [6] [1, 2, -1, 3.5, 1, -2]
S.overlap_and_add(X, 1)
    float32 [5] [1, 2, 2, 1.5, -2]
S.overlap_and_add(X, 4)
    float32 [8] [1, 2, -1, 0.5, 0, 3, 1, -2]
S.overlap_and_add(X, 3)
    float32 [7] [1, 2, -1, 0.5, 3, 1, -2]
S.overlap_and_add(X, 5)
    float32 [9] [1, 2, -1, 0.5, 0, 0, 3, 1, -2]
S.overlap_and_add(CUBE, 2)
    float32 [2, 8] [[0, 1, 10.828, 16.376, 37.324, 45.52, 31.623, 36.483], [41.569, 46.872, 116.38, 128.19, 165.81,
    179.05, 103.19, 110.3]]
S.overlap_and_add(V, 2)
    ValueError: Shape (7,) must have rank at least 2
S.overlap_and_add(X, 1.5)
    ValueError: frame_step must be an integer. Got 1.5
S.overlap_and_add(tf.cast(X, tf.int32), 2)
    int32 [6] [1, 2, -1, 3, 1, -2]
S.stft(W, 8, 4)
    complex64 [5, 5] [[-0.92046+0j, 1.4056-1.2774j, -1.0717+0.91193j, 0.10804-0.088683j, 0.036734+0j], [1.2033+0j,
    -1.8375-0.28435j, 1.4011+0.20299j, -0.14124-0.019741j, -0.048022+0j], [-0.6526+0j, 0.99654+1.6491j,
    -0.75987-1.1773j, 0.076603+0.11449j, 0.026044+0j], [-0.35016+0j, 0.5347-1.8715j, -0.40771+1.3361j,
    0.041102-0.12993j, 0.013974+0j], [1.1104+0j, -1.6956+0.7975j, 1.2929-0.56933j, -0.13034+0.055367j,
    -0.044313+0j]]
S.stft(W, 8, 4).shape
    TensorShape([5, 5])
S.stft(W, 6, 3, fft_length=8)[0]
    complex64 [5] [0.22613+0j, 0.78608-1.1j, -1.2496+0.17048j, 0.34912+0.26392j, 0.0026144+0j]
S.stft(W, 6, 3)[0]
    complex64 [5] [0.22613+0j, 0.78608-1.1j, -1.2496+0.17048j, 0.34912+0.26392j, 0.0026144+0j]
S.stft(W, 8, 4, window_fn=None)[1]
    complex64 [5] [-1.4807+0j, -3.8873-0.46679j, 1.056+0.2038j, 0.39497+0.06242j, 0.29893+0j]
S.stft(W, 8, 4, window_fn=S.hamming_window)[1]
    complex64 [5] [0.98858+0j, -2.0015-0.29894j, 1.3735+0.20306j, -0.098347-0.013168j, -0.020266+0j]
S.stft(W, 8, 5, pad_end=True).shape
    TensorShape([5, 5])
S.stft(W, 8, 4, fft_length=4)[0]
    complex64 [3] [0.69833+0j, -0.45465-0.0027771j, 0.21096+0j]
S.inverse_stft(S.stft(W, 8, 4), 8, 4)
    float32 [24] [0, 0.018047, 0.22732, 0.10281, -0.7568, -0.71919, -0.13971, 0.49274, 0.98936, 0.30909, -0.27201,
    -0.74999, -0.53657, 0.31513, 0.4953, 0.48772, -0.2879, -0.72105, -0.37549, 0.11241, 0.91295, 0.60955,
    -0.0022128, -0.018149]
S.inverse_stft(S.stft(W, 8, 4), 8, 4, window_fn=S.inverse_stft_window_fn(4))
    float32 [24] [0, 0.024062, 0.45465, 0.13708, -0.7568, -0.95892, -0.27942, 0.65699, 0.98936, 0.41212, -0.54402,
    -0.99999, -0.53657, 0.42017, 0.99061, 0.65029, -0.2879, -0.9614, -0.75099, 0.14988, 0.91295, 0.81273,
    -0.0044257, -0.024198]
S.inverse_stft(S.stft(W, 6, 3), 6, 3)
    float32 [24] [0, 0.052592, 0.51148, 0.14112, -0.473, -0.59933, -0.27942, 0.41062, 0.61835, 0.41212, -0.34001,
    -0.62499, -0.53657, 0.2626, 0.61913, 0.65029, -0.17994, -0.60087, -0.75099, 0.093673, 0.57059, 0.83666,
    -0.0049789, -0.052889]
S.inverse_stft(S.stft(W, 6, 3, fft_length=16), 6, 3, fft_length=16, window_fn=None)
    float32 [24] [0, 0.21037, 0.68197, 0.14112, -0.7568, -0.95892, -0.27942, 0.65699, 0.98936, 0.41212, -0.54402,
    -0.99999, -0.53657, 0.42017, 0.99061, 0.65029, -0.2879, -0.9614, -0.75099, 0.14988, 0.91295, 0.83666,
    -0.0066385, -0.21155]
S.inverse_stft_window_fn(2)(6, tf.float32)
    float32 [6] [0, 0.22222, 0.66667, 0.88889, 0.66667, 0.22222]
S.inverse_stft_window_fn(3, S.hamming_window)(6, tf.float32)
    float32 [6] [0.079491, 0.44993, 1.1176, 0.99364, 1.1176, 0.44993]
S.inverse_stft_window_fn(4)(6, tf.float32)
    float32 [6] [0, 2, 1.3333, 1, 1.3333, 2]
S.hann_window(6)
    float32 [6] [0, 0.25, 0.75, 1, 0.75, 0.25]
S.hann_window(6, periodic=False)
    float32 [6] [0, 0.34549, 0.90451, 0.90451, 0.34549, 0]
S.hann_window(5)
    float32 [5] [0, 0.5, 1, 0.5, 0]
S.hann_window(1)
    float32 [1] [1]
S.hann_window(0)
    float32 [0] []
S.hann_window(4, dtype=tf.float64).dtype
    tf.float64
S.hann_window(4, dtype=tf.int32)
    ValueError: dtype must be a floating point type. Found tf.int32
S.hann_window([4])
    ValueError: Shape (1,) must have rank 0
S.hamming_window(6)
    float32 [6] [0.08, 0.31, 0.77, 1, 0.77, 0.31]
S.hamming_window(6, periodic=False)
    float32 [6] [0.08, 0.39785, 0.91215, 0.91215, 0.39785, 0.08]
S.hamming_window(1)
    float32 [1] [1]
S.hamming_window(5, dtype=tf.float16)
    float16 [5] [0.080078, 0.54004, 1, 0.54053, 0.080078]
S.kaiser_window(6)
    float32 [6] [5.2773e-05, 0.10172, 0.79294, 0.79294, 0.10172, 5.2773e-05]
S.kaiser_window(6, beta=4.0)
    float32 [6] [0.088481, 0.50852, 0.93271, 0.93271, 0.50852, 0.088481]
S.kaiser_window(5, 0.0)
    float32 [5] [1, 1, 1, 1, 1]
S.kaiser_window(1)
    float32 [1] [1]
S.kaiser_bessel_derived_window(6)
    float32 [6] [0.007131, 0.70711, 0.99997, 0.99997, 0.70711, 0.007131]
S.kaiser_bessel_derived_window(6, beta=4.0)
    float32 [6] [0.22048, 0.70711, 0.97539, 0.97539, 0.70711, 0.22048]
S.kaiser_bessel_derived_window(5)
    float32 [4] [0.0072641, 0.99997, 0.99997, 0.0072641]
S.vorbis_window(6)
    float32 [6] [0.10503, 0.70711, 0.99447, 0.99447, 0.70711, 0.10503]
S.vorbis_window(4, dtype=tf.float64)
    float64 [4] [0.22801, 0.97366, 0.97366, 0.22801]
S.vorbis_window(1)
    float32 [1] [1]
S.linear_to_mel_weight_matrix(3, 9, 1000, 10.0, 400.0)
    float32 [9, 3] [[0, 0, 0], [0.65178, 0, 0], [0.62843, 0.37157, 0], [0, 0.96123, 0.038769], [0, 0.33945,
    0.66055], [0, 0, 0.75731], [0, 0, 0.21005], [0, 0, 0], [0, 0, 0]]
S.linear_to_mel_weight_matrix(num_mel_bins=2, num_spectrogram_bins=9, sample_rate=8000).shape
    TensorShape([9, 2])
S.linear_to_mel_weight_matrix().shape
    TensorShape([129, 20])
tf.reduce_sum(S.linear_to_mel_weight_matrix(), 0)
    float32 [20] [2.2855, 2.4852, 2.7095, 2.9776, 3.2053, 3.4202, 3.7764, 4.096, 4.3937, 4.7898, 5.1877, 5.6169,
    6.1226, 6.5941, 7.17, 7.7695, 8.4343, 9.1213, 9.9167, 10.729]
S.linear_to_mel_weight_matrix(3, 9, 1000, 10.0, 400.0, tf.float64).dtype
    tf.float64
S.linear_to_mel_weight_matrix(0, 9, 1000, 10.0, 400.0)
    ValueError: num_mel_bins must be positive. Got: 0
S.linear_to_mel_weight_matrix(3, 9, 1000, -1.0, 400.0)
    ValueError: lower_edge_hertz must be non-negative. Got: -1.0
S.linear_to_mel_weight_matrix(3, 9, 1000, 0.0, 400.0).shape
    TensorShape([9, 3])
S.linear_to_mel_weight_matrix(3, 9, 1000, 400.0, 400.0)
    ValueError: lower_edge_hertz 400.0 >= upper_edge_hertz 400.0
S.linear_to_mel_weight_matrix(3, 9, 1000, 10.0, 501.0)
    ValueError: upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got 501.0 for
    sample_rate: 1000
S.linear_to_mel_weight_matrix(3, 9, 1000, 10.0, 500.0).shape
    TensorShape([9, 3])
S.linear_to_mel_weight_matrix(3, 9, -1, 10.0, 400.0)
    ValueError: sample_rate must be positive. Got: -1
S.linear_to_mel_weight_matrix(3, 9, 1000, 10.0, 400.0, tf.int32)
    ValueError: dtype must be a floating point type. Got: tf.int32
S.mfccs_from_log_mel_spectrograms(X)
    float32 [2, 4] [[1.7678, 1.1384, 0.25, -1.8245], [1.4142, 1.8478, -3, -0.76537]]
S.mfccs_from_log_mel_spectrograms(X[:, :0])
    ValueError: num_mel_bins must be positive. Got: []
S.mfccs_from_log_mel_spectrograms(tf.cast(X, tf.float64)).dtype
    tf.float64
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert agree(outcome(source, globals()), ROWS[source])


NORMS = (None, "backward", "ortho", "forward")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("lengths", "axes"), [([3, 2], [1, 0]), ([2, 4], [0, 1]), ([5], [0]), ([3], [-1])])
def test_transforms_over_any_dimensions_are_numpys(lengths, axes, norm):
    options = {} if norm is None else {"norm": norm}
    for name, argument in (("fftn", Z), ("ifftn", Z), ("rfftn", X), ("irfftn", Z)):
        found = getattr(S, f"{name}d")(argument, lengths, axes=axes, **options)
        expected = getattr(np.fft, name)(argument.numpy(), lengths, axes, norm)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert found.dtype == (tf.float32 if name == "irfftn" else tf.complex64)


@pytest.mark.parametrize("norm", NORMS)
def test_transforms_over_all_dimensions_are_numpys(norm):
    options = {} if norm is None else {"norm": norm}
    for name, argument in (("fftn", Z), ("ifftn", Z), ("rfftn", X)):
        found = getattr(S, f"{name}d")(argument, **options)
        np.testing.assert_allclose(found, getattr(np.fft, name)(argument.numpy(), norm=norm), rtol=1e-4, atol=1e-5)


def test_lengths_and_axes_that_do_not_fit():
    with pytest.raises(ValueError, match="Unknown normalization"):
        S.fftnd(Z, axes=[1], norm="other")
    for function, argument in ((S.fftnd, Z), (S.rfftnd, X)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(argument, [2], axes=[5])
