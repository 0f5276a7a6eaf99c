"""Exponentials, logarithms and square roots of matrices. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def batch(x):
    return tf.stack([x, 2 * x + tf.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)])


M = tf.constant([[4.0, 1.0, 2.0], [0.5, 3.0, -1.0], [1.0, 2.0, 5.0]], tf.float64)
W = tf.constant([[1.0, 5.0, 2.0], [2.0, -1.0, 3.0], [3.0, 7.0, 1.0]], tf.float64)
SYMMETRIC = M @ tf.transpose(M)
CM = tf.complex(M, M[::-1] / 2)
JORDAN = tf.constant([[4.0, 1.0, 0.0], [0.0, 4.0, 1.0], [0.0, 0.0, 4.0]], tf.float64)
CJORDAN = tf.complex(JORDAN, 2 * tf.eye(3, dtype=tf.float64))
nan, inf = float("nan"), float("inf")

ROWS = read_rows(r"""
L.expm(M)
    float64 [3, 3] [[159.91, 172.01, 183.44], [-10.345, -12.101, -43.544], [139.89, 183.44, 187.4]]
L.expm(-M)
    float64 [3, 3] [[0.035144, 0.0086958, -0.032382], [-0.025516, 0.026449, 0.031123], [-0.0012588, -0.032382,
    -0.00095567]]
L.expm(10 * M)
    float64 [3, 3] [[3.687e+24, 4.3997e+24, 4.1376e+24], [-5.9725e+23, -7.127e+23, -6.7024e+23], [3.4674e+24,
    4.1376e+24, 3.8911e+24]]
L.expm(batch(M) / 4)
    float64 [2, 3, 3] [[[2.9502, 0.94835, 1.4684], [0.21717, 2.0019, -0.60568], [0.86269, 1.4684, 3.5131]], [[13.067,
    8.7988, 11.449], [0.71001, 4.2683, -3.8796], [7.569, 11.449, 16.332]]]
L.expm(CM)
    complex128 [3, 3] [[-165.72+31.427j, -181.84+45.593j, -160.48+64.151j], [36.421+2.3134j, 24.412+16.106j,
    21.914-10.923j], [-160.58+41.62j, -168.78+33.879j, -165.32+40.05j]]
L.expm([[0., 1], [0, 0]])
    float32 [2, 2] [[1, 1], [0, 1]]
L.expm([[0, 1], [0, 0]])
    ValueError
L.expm(tf.constant([[0, 1], [0, 0]], tf.bfloat16))
    ValueError
L.expm([[True]])
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: bfloat16, half, float,
    double, int8, int16, int32, int64
L.expm([['a']])
    InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: bfloat16, half, float,
    double, int8, int16, int32, int64
L.expm([1., 2])
    InvalidArgumentError
L.expm([[1., 2]])
    InvalidArgumentError
L.expm(1)
    InvalidArgumentError: Invalid reduction dimension (-1 for input with 0 dimension(s)
L.expm(tf.zeros([0, 0]))
    float32 [0, 0] []
static(L.expm, None)
    '<unknown>'
static(L.expm, [2,3])
    ValueError
static(L.expm, [3])
    ValueError
grad(lambda x: L.expm(x) * W, M / 4)
    float64 [3, 3] [[8.35, 14.113, 11.802], [9.9953, 3.8374, 11.354], [14.095, 22.572, 11.436]]
grad(lambda x: L.expm(x) * W, batch(M) / 4)
    float64 [2, 3, 3] [[[8.35, 14.113, 11.802], [9.9953, 3.8374, 11.354], [14.095, 22.572, 11.436]], [[60.55, 54.48,
    74.82], [63.189, 36.714, 67.32], [86.996, 89.25, 87.385]]]
grad(L.expm, CM / 4)
    complex128 [3, 3] [[3.3318-3.4615j, 2.355-1.3238j, 3.6638-3.3815j], [3.4684-3.6844j, 2.4799-1.4494j,
    3.8159-3.6068j], [3.4795-3.652j, 2.4837-1.4241j, 3.8263-3.5729j]]
mapped(L.expm, batch(M) / 4)
    float64 [2, 3, 3] [[[2.9502, 0.94835, 1.4684], [0.21717, 2.0019, -0.60568], [0.86269, 1.4684, 3.5131]], [[13.067,
    8.7988, 11.449], [0.71001, 4.2683, -3.8796], [7.569, 11.449, 16.332]]]
unranked(L.expm, M / 4)
    float64 [3, 3] [[2.9502, 0.94835, 1.4684], [0.21717, 2.0019, -0.60568], [0.86269, 1.4684, 3.5131]]
L.logm(CM)
    complex128 [3, 3] [[1.4408-0.059333j, 0.17081+0.082193j, 0.46887+0.52622j], [0.15997+0.10556j, 1.2719+0.45177j,
    -0.27158-0.10618j], [0.20091+0.38998j, 0.46698-0.067075j, 1.7247+0.071207j]]
L.logm(batch(CM))
    complex128 [2, 3, 3] [[[1.4408-0.059333j, 0.17081+0.082193j, 0.46887+0.52622j], [0.15997+0.10556j, 1.2719+0.45177j,
    -0.27158-0.10618j], [0.20091+0.38998j, 0.46698-0.067075j, 1.7247+0.071207j]], [[2.2412-0.039619j, 0.16344+0.084397j,
    0.42607+0.47544j], [0.1395+0.091j, 2.0795+0.39857j, -0.24181-0.09577j], [0.1878+0.35532j, 0.42428-0.047141j,
    2.4925+0.076186j]]]
L.logm(tf.cast(SYMMETRIC, tf.complex128))
    complex128 [3, 3] [[2.7329+0j, 0.20773+0j, 0.75051+0j], [0.20773+0j, 2.3+0j, 0.011965+0j], [0.75051+0j, 0.011965+0j,
    3.1723+0j]]
L.logm(CJORDAN)
    complex128 [3, 3] [[1.4979+0.46365j, 0.2-0.1j, -0.015+0.02j], [0+0j, 1.4979+0.46365j, 0.2-0.1j], [0+0j, 0+0j,
    1.4979+0.46365j]]
L.logm(tf.cast(JORDAN, tf.complex128))
    complex128 [3, 3] [[1.3863+0j, 0.25+0j, -0.03125+0j], [0+0j, 1.3863+0j, 0.25+0j], [0+0j, 0+0j, 1.3863+0j]]
L.logm(tf.stack([CJORDAN, CM]))
    complex128 [2, 3, 3] [[[1.4979+0.46365j, 0.2-0.1j, -0.015+0.02j], [0+0j, 1.4979+0.46365j, 0.2-0.1j], [0+0j, 0+0j,
    1.4979+0.46365j]], [[1.4408-0.059333j, 0.17081+0.082193j, 0.46887+0.52622j], [0.15997+0.10556j, 1.2719+0.45177j,
    -0.27158-0.10618j], [0.20091+0.38998j, 0.46698-0.067075j, 1.7247+0.071207j]]]
L.logm(tf.constant([[-1, 0], [0, 2]], tf.complex64))
    complex64 [2, 2] [[0+3.1416j, 0+0j], [0+0j, 0.69315+0j]]
L.logm(tf.constant([[1, 1], [0, 1]], tf.complex64))
    complex64 [2, 2] [[0+0j, 1+0j], [0+0j, 0+0j]]
L.logm(M)
    InvalidArgumentError: Value for attr 'T' of double is not in the list of allowed values: complex64, complex128
L.logm(tf.constant([[1 + 0j, 2]]))
    InvalidArgumentError: Input matrix must be square.
L.logm(tf.constant([1 + 0j, 2]))
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.logm(tf.zeros([0, 0], tf.complex64))
    complex64 [0, 0] []
static(L.logm, tf.TensorSpec([5, None, 3], tf.complex64))
    '(5, 3, 3)'
static(L.logm, tf.TensorSpec([2, 3], tf.complex64))
    ValueError
mapped(L.logm, batch(CM))
    complex128 [2, 3, 3] [[[1.4408-0.059333j, 0.17081+0.082193j, 0.46887+0.52622j], [0.15997+0.10556j, 1.2719+0.45177j,
    -0.27158-0.10618j], [0.20091+0.38998j, 0.46698-0.067075j, 1.7247+0.071207j]], [[2.2412-0.039619j, 0.16344+0.084397j,
    0.42607+0.47544j], [0.1395+0.091j, 2.0795+0.39857j, -0.24181-0.09577j], [0.1878+0.35532j, 0.42428-0.047141j,
    2.4925+0.076186j]]]
L.sqrtm(M)
    float64 [3, 3] [[1.9651, 0.20435, 0.48849], [0.15005, 1.7608, -0.26819], [0.22031, 0.48849, 2.2413]]
L.sqrtm(SYMMETRIC)
    float64 [3, 3] [[4.2431, 0.38106, 1.6886], [0.38106, 3.1772, 0.10213], [1.6886, 0.10213, 5.2094]]
L.sqrtm(CM)
    complex128 [3, 3] [[2.0299+0.0262j, 0.21807+0.1588j, 0.49489+0.57226j], [0.14293+0.085861j, 1.8129+0.4194j,
    -0.26443-0.1149j], [0.23348+0.44173j, 0.49379+0.020252j, 2.2998+0.15433j]]
L.sqrtm(batch(M))
    float64 [2, 3, 3] [[[1.9651, 0.20435, 0.48849], [0.15005, 1.7608, -0.26819], [0.22031, 0.48849, 2.2413]], [[2.9582,
    0.27923, 0.65267], [0.19615, 2.6789, -0.3546], [0.29807, 0.65267, 3.3222]]]
L.sqrtm(JORDAN)
    float64 [3, 3] [[2, 0.25, -0.015625], [0, 2, 0.25], [0, 0, 2]]
L.sqrtm(CJORDAN)
    complex128 [3, 3] [[2.0582+0.48587j, 0.23011-0.054322j, -0.010147+0.0084688j], [0+0j, 2.0582+0.48587j,
    0.23011-0.054322j], [0+0j, 0+0j, 2.0582+0.48587j]]
L.sqrtm(tf.stack([JORDAN, M]))
    float64 [2, 3, 3] [[[2, 0.25, -0.015625], [0, 2, 0.25], [0, 0, 2]], [[1.9651, 0.20435, 0.48849], [0.15005, 1.7608,
    -0.26819], [0.22031, 0.48849, 2.2413]]]
L.sqrtm([[4., 0], [0, 9]])
    float32 [2, 2] [[2, 0], [0, 3]]
L.sqrtm([[0., -1], [1, 0]])
    float32 [2, 2] [[0.70711, -0.70711], [0.70711, 0.70711]]
L.sqrtm(tf.constant([[-4 + 0j, 0], [0, 9]]))
    complex128 [2, 2] [[0+2j, 0+0j], [0+0j, 3+0j]]
L.sqrtm([[1., 2]])
    InvalidArgumentError: Input matrix must be square.
L.sqrtm([1., 2])
    InvalidArgumentError: Input tensor 0 must have rank >= 2, got 1
L.sqrtm(tf.zeros([0, 0]))
    float32 [0, 0] []
L.sqrtm(tf.constant([[4., 1], [0, 9]])).dtype
    tf.float32
static(L.sqrtm, [5,None,3])
    '(5, 3, 3)'
static(L.sqrtm, [2,3])
    ValueError
static(L.sqrtm, None)
    '<unknown>'
grad(lambda x: L.sqrtm(x) * W, M)
    float64 [3, 3] [[0.10074, 1.2894, 0.29082], [0.37404, -0.52866, 0.77398], [0.6463, 1.5346, 0.038697]]
grad(lambda x: L.sqrtm(x) * W, SYMMETRIC)
    float64 [3, 3] [[-0.010354, 0.51909, 0.1939], [0.20679, -0.21745, 0.30982], [0.28655, 0.71968, 0.008023]]
grad(lambda x: L.sqrtm(x) * W, batch(M))
    float64 [2, 3, 3] [[[0.10074, 1.2894, 0.29082], [0.37404, -0.52866, 0.77398], [0.6463, 1.5346, 0.038697]],
    [[0.075264, 0.85401, 0.20853], [0.25827, -0.33376, 0.50983], [0.43445, 1.0417, 0.03541]]]
grad(L.sqrtm, CM)
    complex128 [3, 3] [[0.18306-0.04685j, 0.2301-0.051585j, 0.16958-0.035434j], [0.17805-0.046717j, 0.22234-0.052074j,
    0.16573-0.03558j], [0.17723-0.047477j, 0.22104-0.053537j, 0.16522-0.036113j]]
grad(lambda x: unranked(lambda y: L.sqrtm(y) * W, x), M)
    float64 [3, 3] [[0.10074, 1.2894, 0.29082], [0.37404, -0.52866, 0.77398], [0.6463, 1.5346, 0.038697]]
grad(lambda x: unranked(lambda y: L.sqrtm(y) * W, x), batch(M))
    float64 [2, 3, 3] [[[0.10074, 1.2894, 0.29082], [0.37404, -0.52866, 0.77398], [0.6463, 1.5346, 0.038697]],
    [[0.075264, 0.85401, 0.20853], [0.25827, -0.33376, 0.50983], [0.43445, 1.0417, 0.03541]]]
grad(lambda x: sized(lambda y: L.sqrtm(y) * W, x), batch(M))
    float64 [2, 3, 3] [[[0.10074, 1.2894, 0.29082], [0.37404, -0.52866, 0.77398], [0.6463, 1.5346, 0.038697]],
    [[0.075264, 0.85401, 0.20853], [0.25827, -0.33376, 0.50983], [0.43445, 1.0417, 0.03541]]]
mapped(L.sqrtm, batch(M))
    float64 [2, 3, 3] [[[1.9651, 0.20435, 0.48849], [0.15005, 1.7608, -0.26819], [0.22031, 0.48849, 2.2413]], [[2.9582,
    0.27923, 0.65267], [0.19615, 2.6789, -0.3546], [0.29807, 0.65267, 3.3222]]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
