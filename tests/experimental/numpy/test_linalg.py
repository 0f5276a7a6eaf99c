"""Products, sums of products and diagonals of `tf.experimental.numpy`. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

tnp = tf.experimental.numpy
V, W = tf.constant([1, 2, 3]), tf.constant([4, -5, 6])
M, N = tf.reshape(tf.range(6), [2, 3]), tf.reshape(tf.range(12), [3, 4])
CUBE = tf.reshape(tf.range(12), [2, 3, 2])
F = tf.constant([1.5, 2.0, -1.0])
Z = tf.constant([1 + 2j, 3j, 1])


def of(function, *args, **options):
    return lambda x: function(x, *args, **options)


ROWS = read_rows(r"""
tnp.matmul(M, N)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
tnp.matmul(M, V)
    int32 [2] [8, 26]
tnp.matmul(V, N)
    int32 [4] [32, 38, 44, 50]
tnp.matmul(V, W)
    int32 [] 12
tnp.matmul(M, F)
    float64 [2] [0, 7.5]
tnp.matmul(CUBE, M)
    int32 [2, 3, 3] [[[3, 4, 5], [9, 14, 19], [15, 24, 33]], [[21, 34, 47], [27, 44, 61], [33, 54, 75]]]
tnp.matmul(CUBE, tf.constant([1, 2]))
    int32 [2, 3] [[2, 8, 14], [20, 26, 32]]
tnp.matmul(V, CUBE)
    int32 [2, 2] [[16, 22], [52, 58]]
tnp.matmul(M, M)
    ValueError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]
tnp.matmul(3, V)
    ValueError: `axes` must not be larger than the number of dimensions of tensor 3. Received 1, vs tensor dimensions 0.
tnp.matmul(V, 3)
    IndexError
tnp.matmul([[1, 2]], [[1.5], [2]])
    float64 [1, 1] [[5.5]]
unranked(tnp.matmul, M, N)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
unranked(tnp.matmul, V, W)
    int32 [] 12
unranked(tnp.matmul, V, N)
    int32 [4] [32, 38, 44, 50]
tnp.dot(M, N)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
tnp.dot(V, W)
    int32 [] 12
tnp.dot(M, V)
    int32 [2] [8, 26]
tnp.dot(V, N)
    int32 [4] [32, 38, 44, 50]
tnp.dot(3, V)
    int32 [3] [3, 6, 9]
tnp.dot(V, 3)
    int32 [3] [3, 6, 9]
tnp.dot(3, 4)
    int64 [] 12
tnp.dot(CUBE, M)
    int32 [2, 3, 3] [[[3, 4, 5], [9, 14, 19], [15, 24, 33]], [[21, 34, 47], [27, 44, 61], [33, 54, 75]]]
tnp.dot(M, CUBE)
    int32 [2, 2, 2] [[[10, 13], [28, 31]], [[28, 40], [100, 112]]]
tnp.dot(M, M)
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]
tnp.dot(V, F)
    float64 [] 2.5
unranked(tnp.dot, M, N)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
unranked(tnp.dot, V, W)
    int32 [] 12
unranked(tnp.dot, 3, W)
    int32 [3] [12, -15, 18]
unranked(tnp.dot, V, 3)
    int32 [3] [3, 6, 9]
tnp.inner(V, W)
    int32 [] 12
tnp.inner(M, M)
    int32 [2, 2] [[5, 14], [14, 50]]
tnp.inner(M, V)
    int32 [2] [8, 26]
tnp.inner(V, M)
    int32 [2] [8, 26]
tnp.inner(3, V)
    int32 [3] [3, 6, 9]
tnp.inner(V, 3)
    int32 [3] [3, 6, 9]
tnp.inner(M, N)
    InvalidArgumentError: Matrix size-incompatible: In[0]: [2,3], In[1]: [4,3]
unranked(tnp.inner, M, M)
    int32 [2, 2] [[5, 14], [14, 50]]
tnp.outer(V, W)
    int32 [3, 3] [[4, -5, 6], [8, -10, 12], [12, -15, 18]]
tnp.outer(M, [1, 2])
    int32 [6, 2] [[0, 0], [1, 2], [2, 4], [3, 6], [4, 8], [5, 10]]
tnp.outer(2, 3)
    int64 [1, 1] [[6]]
tnp.outer(V, F)
    float64 [3, 3] [[1.5, 2, -1], [3, 4, -2], [4.5, 6, -3]]
tnp.vdot(V, W)
    int32 [] 12
tnp.vdot(Z, Z)
    complex128 [] 15+0j
tnp.vdot(M, M)
    int32 [] 55
tnp.vdot(V, Z)
    complex128 [] 4+8j
tnp.vdot(V, [1, 2])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [1,3], In[1]: [2,1]
tnp.tensordot(M, N, 1)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
tnp.tensordot(M, M)
    int32 [] 55
tnp.tensordot(M, M, axes=2)
    int32 [] 55
tnp.tensordot(M, M, [[0], [0]])
    int32 [3, 3] [[9, 12, 15], [12, 17, 22], [15, 22, 29]]
tnp.tensordot(V, F, 1)
    float64 [] 2.5
tnp.kron(V, W)
    int32 [9] [4, -5, 6, 8, -10, 12, 12, -15, 18]
tnp.kron(M, [[1, 2]])
    int32 [2, 6] [[0, 0, 1, 2, 2, 4], [3, 6, 4, 8, 5, 10]]
tnp.kron([1, 2], M)
    int32 [2, 6] [[0, 1, 2, 0, 2, 4], [3, 4, 5, 6, 8, 10]]
tnp.kron(M, [1, 2])
    int32 [2, 6] [[0, 0, 1, 2, 2, 4], [3, 6, 4, 8, 5, 10]]
tnp.kron(3, M)
    int32 [2, 3] [[0, 3, 6], [9, 12, 15]]
tnp.kron(M, 0.5)
    float64 [2, 3] [[0, 0.5, 1], [1.5, 2, 2.5]]
tnp.kron(CUBE, M).shape
    TensorShape([2, 6, 6])
tnp.cross(V, W)
    int32 [3] [27, 6, -13]
tnp.cross(V, F)
    float64 [3] [-8, 5.5, -1]
tnp.cross([1, 2], [3, 4])
    int64 [] -2
tnp.cross([1, 2], W)
    int32 [3] [12, -6, -13]
tnp.cross(V, [3, 4])
    int32 [3] [-12, 9, -2]
tnp.cross(M, V)
    int32 [2, 3] [[-1, 2, -1], [2, -4, 2]]
tnp.cross(M, [[1, 2], [3, 4]])
    int32 [2, 3] [[-4, 2, -1], [-20, 15, 0]]
tnp.cross(M, M[::-1])
    int32 [2, 3] [[-3, 6, -3], [3, -6, 3]]
tnp.cross(tf.transpose(M), V, axisa=0)
    int32 [2, 3] [[-1, 2, -1], [2, -4, 2]]
tnp.cross(V, tf.transpose(M), axisb=0)
    int32 [2, 3] [[1, -2, 1], [-2, 4, -2]]
tnp.cross(M, V, axisc=0)
    int32 [3, 2] [[-1, 2], [2, -4], [-1, 2]]
tnp.cross(tf.transpose(M), tf.transpose(M) + 1, axis=0)
    int32 [3, 2] [[-1, -1], [2, 2], [-1, -1]]
tnp.cross(tf.transpose(M), tf.transpose(M)[::-1], 0, 0)
    int32 [2, 3] [[-2, 4, -2], [-8, 16, -8]]
tnp.cross(V, [1])
    int32 [3] [-1, 2, -1]
tnp.cross(V, 1)
    IndexError: index -1 is out of bounds for axis 0 with size 0
tnp.cross(V, [1, 2, 3, 4])
    InvalidArgumentError: Incompatible shapes: [3] vs. [4]
sized(tnp.cross, V, W)
    int32 [3] [27, 6, -13]
sized(tnp.cross, V, [1, 2])
    int32 [3] [-6, 3, 0]
sized(tnp.cross, [3, 4], [1, 2])
    int32 [] 2
sized(lambda x, y: tnp.cross(x, y, axisc=0), M, V)
    int32 [3, 2] [[-1, 2], [2, -4], [-1, 2]]
tnp.einsum('ij,j->i', M, V)
    int32 [2] [8, 26]
tnp.einsum('ij,jk->ik', M, N)
    int32 [2, 4] [[20, 23, 26, 29], [56, 68, 80, 92]]
tnp.einsum('i,i', V, F)
    float64 [] 2.5
tnp.einsum('i,i', V, W, casting='no')
    int32 [] 12
tnp.einsum('i,i', V, F, casting='no')
    InvalidArgumentError: cannot compute Einsum as input #1(zero-based) was expected to be a int32 tensor but is a float
    tensor
tnp.einsum('i,i', V, F, casting='safe')
    float64 [] 2.5
tnp.einsum('i,i', V, W, casting='same_kind')
    ValueError: Invalid value for argument `casting`. Expected casting="safe" or casting="no". Received:
    casting=same_kind
tnp.einsum('i,i', V, W, optimize=True)
    int32 [] 12
tnp.einsum('i,i', V, W, optimize='greedy')
    int32 [] 12
tnp.einsum('ij,jk,k->i', M, N, [1, 2, 3, 4], optimize='optimal')
    int32 [2] [260, 800]
tnp.einsum('i,i', V, W, optimize=False)
    int32 [] 12
tnp.einsum('i,i', V, W, optimize='auto')
    ValueError: Invalid value for argument `optimize`. Expected one of {True, "greedy", "optimal"}. Received:
    optimize=auto
tnp.diagonal(M)
    int32 [2] [0, 4]
tnp.diagonal(M, 1)
    int32 [2] [1, 5]
tnp.diagonal(M, -1)
    int32 [1] [3]
tnp.diagonal(M, offset=2)
    int32 [1] [2]
tnp.diagonal(M, 3)
    int32 [0] []
tnp.diagonal(M, -2)
    int32 [0] []
tnp.diagonal(M, 7)
    int32 [0] []
tnp.diagonal(CUBE)
    int32 [2, 2] [[0, 8], [1, 9]]
tnp.diagonal(CUBE, 0, 1, 2)
    int32 [2, 2] [[0, 3], [6, 9]]
tnp.diagonal(CUBE, 0, -2, -1)
    int32 [2, 2] [[0, 3], [6, 9]]
tnp.diagonal(CUBE, 1, 1, 2)
    int32 [2, 1] [[1], [7]]
tnp.diagonal(CUBE, 0, 2, 0)
    int32 [3, 2] [[0, 7], [2, 9], [4, 11]]
tnp.diagonal(CUBE, 0, 0, 2)
    int32 [3, 2] [[0, 7], [2, 9], [4, 11]]
tnp.diagonal(CUBE, -1, 1, 0)
    int32 [2, 2] [[2, 10], [3, 11]]
tnp.diagonal(CUBE, axis1=2, axis2=1)
    int32 [2, 2] [[0, 3], [6, 9]]
tnp.diagonal(CUBE, -1, axis1=2, axis2=1)
    int32 [2, 1] [[1], [7]]
tnp.diagonal(V)
    InvalidArgumentError: transpose expects a vector of size 1. But input(1) is a vector of size 2
sized(of(tnp.diagonal), M)
    int32 [2] [0, 4]
sized(of(tnp.diagonal, 1), M)
    int32 [2] [1, 5]
sized(of(tnp.diagonal, 3), M)
    int32 [0] []
sized(of(tnp.diagonal, -2), M)
    int32 [0] []
sized(of(tnp.diagonal, 1, 1, 2), CUBE)
    int32 [2, 1] [[1], [7]]
tnp.trace(M)
    int32 [] 4
tnp.trace(M, 1)
    int64 [] 6
tnp.trace(M, -1)
    int64 [] 3
tnp.trace(M, 5)
    int64 [] 0
tnp.trace(CUBE)
    int64 [2] [8, 10]
tnp.trace(CUBE, 0, 1, 2)
    int32 [2] [3, 15]
tnp.trace(CUBE, 1, 1, 2)
    int64 [2] [1, 7]
tnp.trace(CUBE, axis1=-2, axis2=-1)
    int32 [2] [3, 15]
tnp.trace(CUBE, 0, 2, 0)
    int64 [3] [7, 11, 15]
tnp.trace(M, dtype=tf.float32)
    float32 [] 4
tnp.trace(M, 1, dtype=tf.float32)
    float32 [] 6
tnp.trace(M > 0)
    InvalidArgumentError: Value for attr 'T' of bool is not in the list of allowed values: float, double, int32, uint8,
    int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32,
    uint64
tnp.trace(M > 0, 1)
    int64 [] 2
tnp.trace(V)
    InvalidArgumentError: transpose expects a vector of size 1. But input(1) is a vector of size 2
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
