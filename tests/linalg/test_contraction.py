"""`tf.einsum` and `tf.tensordot`: equations, axes, shapes and errors. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, static

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------


def numbers(*shape, dtype=tf.int32):
    return tf.cast(tf.reshape(tf.range(int(np.prod(shape))) * 7 % 11 - 4, shape), dtype)


def floats(*shape):
    return numbers(*shape, dtype=tf.float32)


def static_sum(equation, *shapes, **options):
    return static(lambda *xs: tf.einsum(equation, *xs, **options), *shapes)


def raw(equation, *inputs):
    return tf.raw_ops.Einsum(inputs=list(inputs), equation=equation)


def of(equation):
    return lambda *xs: tf.einsum(equation, *xs)


def weighted(equation):
    """The sums, weighted so that gradients differ."""

    def sums(*xs):
        y = tf.einsum(equation, *xs)
        return y * tf.cast(tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y)), y.dtype)

    return sums


def dot_of(axes):
    return lambda a, b: tf.tensordot(a, b, axes)


A, B, CUBE = numbers(2, 3), numbers(3, 2) + 1, numbers(2, 3, 2)
FA, FB, FCUBE = floats(2, 3), floats(3, 2) + 1, floats(2, 3, 2)
SQUARE, FSQUARE = numbers(3, 3), floats(3, 3)
Z = tf.complex(floats(2, 2), floats(2, 2) + 1)

ROWS = read_rows(r"""
tf.einsum('ij,jk->ik', A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.einsum('ij,jk', A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.einsum('ij,jk->ki', A, B)
    int32 [2, 2] [[9, -24], [6, 40]]
tf.einsum('ij,ij->', A, A)
    int32 [] 70
tf.einsum('ij,ij->ij', A, A)
    int32 [2, 3] [[16, 9, 1], [36, 4, 4]]
tf.einsum('ij->ji', A)
    int32 [3, 2] [[-4, 6], [3, 2], [-1, -2]]
tf.einsum('ij->', A)
    int32 [] 4
tf.einsum('ij->i', A)
    int32 [2] [-2, 6]
tf.einsum('ij->j', A)
    int32 [3] [2, 5, -3]
tf.einsum('ba', A)
    int32 [3, 2] [[-4, 6], [3, 2], [-1, -2]]
tf.einsum('ii', SQUARE)
    int32 [] -5
tf.einsum('ii->i', SQUARE)
    int32 [3] [-4, 2, -3]
tf.einsum('iij->j', numbers(2, 2, 3))
    int32 [3] [0, 3, -5]
tf.einsum(' ij , jk -> ik ', A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.einsum('Ij,jK->KI', A, B)
    int32 [2, 2] [[9, -24], [6, 40]]
tf.einsum('Ba,ac', A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.einsum('...j,jk->...k', CUBE, A)
    int32 [2, 3, 3] [[[34, -6, -2], [40, 9, -11], [-20, 2, 2]], [[-14, 17, -7], [36, -1, -5], [-24, -8, 8]]]
tf.einsum('...ij,...jk->...ik', CUBE, A)
    int32 [2, 3, 3] [[[34, -6, -2], [40, 9, -11], [-20, 2, 2]], [[-14, 17, -7], [36, -1, -5], [-24, -8, 8]]]
tf.einsum('ij...,jk...->ik...', CUBE, numbers(3, 2, 2))
    int32 [2, 2, 2] [[[8, -11], [-1, 32]], [[-26, -21], [-20, 26]]]
tf.einsum('i...->...', A)
    int32 [3] [2, 5, -3]
tf.einsum('i...->...i', CUBE)
    int32 [3, 2, 2] [[[-4, 5], [3, 1]], [[-1, -3], [6, 4]], [[2, 0], [-2, -4]]]
tf.einsum('i...', A)
    int32 [3, 2] [[-4, 6], [3, 2], [-1, -2]]
tf.einsum('...->...', A)
    int32 [2, 3] [[-4, 3, -1], [6, 2, -2]]
tf.einsum('...i,...i->...', A, numbers(3, 3))
    InvalidArgumentError
tf.einsum('...i->i', A)
    InvalidArgumentError: Output contains 1 broadcasting dimension(s) but no ellipsis (...) was found in the output
    subscripts.
tf.einsum('i...i->...', numbers(2, 3, 2))
    int32 [3] [-3, 3, -2]
tf.einsum('...ii->...i', numbers(3, 2, 2))
    int32 [3, 2] [[-4, 6], [2, 1], [-3, -4]]
tf.einsum('ij,jk,kl->il', A, B, A)
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
tf.einsum('ij,jk,kl', A, B, A)
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
tf.einsum('ij,jk,kl,lm->mi', A, B, A, B)
    int32 [2, 2] [[-63, -1176], [294, 1456]]
tf.einsum('ij,ij,ij->', A, A, A)
    int32 [] 178
tf.einsum('...ij,jk,kl->...il', CUBE, A, B)
    int32 [2, 3, 2] [[[-108, 96], [-153, 234], [66, -68]], [[21, 70], [-123, 142], [96, -160]]]
tf.einsum('...ij,...jk,...kl->...il', CUBE, A, B)
    int32 [2, 3, 2] [[[-108, 96], [-153, 234], [66, -68]], [[21, 70], [-123, 142], [96, -160]]]
tf.einsum('ij,jk,kl->il', A, B, A, optimize='optimal')
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
tf.einsum('ij,jk,kl->il', A, B, A, optimize='branch-2')
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
tf.einsum('ij,jk,kl->il', A, B, A, optimize='auto')
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
tf.einsum('ij,jk,kl->il', A, B, A, optimize='other')
    KeyError
tf.einsum('ij,jk->ik', A, B, name='product')
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.einsum('ij,jk->ik', A, B, greedy=True)
    TypeError: Invalid keyword arguments for einsum: greedy. Valid arguments: name, optimize, greedy.
tf.einsum('ij,jk->ik', A)
    ValueError: Got 1 inputs for equation "ij,jk->ik", expecting 2
tf.einsum('ij->ij', A, A)
    ValueError: Got 2 inputs for equation "ij->ij", expecting 1
tf.einsum('ij,jk->ik', A, B, B)
    ValueError: Got 3 inputs for equation "ij,jk->ik", expecting 2
tf.einsum('ij,jk,kl->ik', A, B)
    ValueError: Got 2 inputs for equation "ij,jk,kl->ik", expecting 3
tf.einsum('ij,jk->ii', A, B)
    ValueError: Output subscripts contain a label appearing more than once: ij,jk->ii
tf.einsum('ij,jk->iz', A, B)
    ValueError: Output subscripts contain the label z not present in the input subscripts.
tf.einsum('ij,jk->->ik', A, B)
    ValueError: Subscripts have incorrect format: ij,jk->->ik
tf.einsum('i1,1k->ik', A, B)
    ValueError: Subscripts have incorrect format: i1,1k->ik
tf.einsum('ij;jk->ik', A, B)
    ValueError: Subscripts have incorrect format: ij;jk->ik
tf.einsum('ij->ji,', A)
    ValueError: Subscripts have incorrect format: ij->ji,
tf.einsum('..ij->ij', A)
    ValueError: Subscripts have incorrect format: ..ij->ij
tf.einsum('i.j->ij', A)
    ValueError: Subscripts have incorrect format: i.j->ij
tf.einsum('ij->...i..', A)
    ValueError
tf.einsum('ij,jk->ik', A, A)
    InvalidArgumentError: Expected dimension 3 at axis 0 of the input shaped [2,3] but got dimension 2
tf.einsum('i->i', A)
    InvalidArgumentError: Expected input 0 to have rank 1 but got: 2
tf.einsum('ijk->i', A)
    InvalidArgumentError: Expected input 0 to have rank 3 but got: 2
tf.einsum('ijk...->i', A)
    InvalidArgumentError: Expected input 0 to have rank at least 3 but got: 2
tf.einsum('ii', A)
    InvalidArgumentError: Expected dimension 2 at axis 1 of the input shaped [2,3] but got dimension 3
tf.einsum('ij,jk,kl->il', A, A, A)
    InvalidArgumentError
tf.einsum('ij,jk->ik', A, FB)
    InvalidArgumentError: cannot compute Einsum as input #1(zero-based) was expected to be a int32 tensor but is a float
    tensor
tf.einsum('ij,jk->ik', Z, Z)
    complex64 [2, 2] [[4+20j, -10+20j], [-2-4j, -16+80j]]
tf.einsum('ij->i', tf.zeros([0, 3]))
    float32 [0] []
tf.einsum('ij->j', tf.zeros([0, 3]))
    float32 [3] [0, 0, 0]
tf.einsum('ij,jk->ik', tf.zeros([2, 0]), tf.zeros([0, 2]))
    float32 [2, 2] [[0, 0], [0, 0]]
tf.einsum('a,bc->abc', tf.constant([1, 2], tf.float64), tf.constant([[3, 4]], tf.float64))
    float64 [2, 1, 2] [[[3, 4]], [[6, 8]]]
raw('ij,jk->ik', A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
raw('ij->iij', A)
    int32 [2, 2, 3] [[[-4, 3, -1], [0, 0, 0]], [[0, 0, 0], [6, 2, -2]]]
raw('i->iii', tf.constant([1, 2]))
    int32 [2, 2, 2] [[[1, 0], [0, 0]], [[0, 0], [0, 2]]]
raw('ij->jiji', A)
    int32 [3, 2, 3, 2] [[[[-4, 0], [0, 0], [0, 0]], [[0, 6], [0, 0], [0, 0]]], [[[0, 0], [3, 0], [0, 0]], [[0, 0], [0,
    2], [0, 0]]], [[[0, 0], [0, 0], [-1, 0]], [[0, 0], [0, 0], [0, -2]]]]
raw('i...->ii...', A)
    int32 [2, 2, 3] [[[-4, 3, -1], [0, 0, 0]], [[0, 0, 0], [6, 2, -2]]]
raw('ij,jk->ikk', A, B)
    int32 [2, 2, 2] [[[9, 0], [0, 6]], [[-24, 0], [0, 40]]]
raw('i,i->ii', tf.constant([1, 2]), tf.constant([3, 4]))
    int32 [2, 2] [[3, 0], [0, 8]]
raw('ij->ii', numbers(2, 1))
    int32 [2, 2] [[-4, 0], [0, 3]]
static_sum('ij,jk->ik', [2,3],[3,4])
    '(2, 4)'
static_sum('ij,jk->ik', [2,None],[3,None])
    '(2, None)'
static_sum('ij,jk->ik', None,[3,4])
    '(None, 4)'
static_sum('ij,jk->ik', None,None)
    '(None, None)'
static_sum('ij,jk->ik', [2,3],[4,4])
    ValueError
static_sum('ij,jk->ik', [2,3],[3])
    ValueError
static_sum('ij,jk->ik', [2,3,4],[3,4])
    ValueError
static_sum('ii->i', [None,3])
    '(3,)'
static_sum('ii->i', [2,3])
    ValueError
static_sum('...ij->...', [5,2,3])
    '(5,)'
static_sum('...ij->...', [3])
    ValueError
static_sum('...ij->...', [2,3])
    '()'
static_sum('...ij->...', None)
    '<unknown>'
static_sum('...ij->i', [2,3])
    '(2,)'
static_sum('...ij->i', [5,2,3])
    ValueError
static_sum('...ij,...jk->...ik', [5,1,2,3],[6,3,4])
    '(5, 6, 2, 4)'
static_sum('...ij,...jk->...ik', [5,2,3],[6,3,4])
    ValueError: Dimensions must be equal, but are 5 and 6 for '{{node einsum/Einsum}} = Einsum[N=2, T=DT_FLOAT,
    equation="...ij,...jk->...ik"](xs_0, xs_1)' with input shapes: [5,2,3], [6,3,4].
static_sum('...ij,...jk->...ik', [None,2,3],[6,3,4])
    '(6, 2, 4)'
static_sum('...ij,...jk->...ik', [None,2,3],[1,3,4])
    '(None, 2, 4)'
static_sum('...ij,jk->ik', None,[3,4])
    '(None, 4)'
static_sum('i...j,jk->ik...', [2,7,8,3],[3,4])
    '(2, 4, 7, 8)'
static_sum('ij,jk,kl->il', [2,3],[3,4],[4,None])
    '(2, None)'
static_sum('ij,jk,kl->il', [None,None],[None,4],None)
    '(None, None)'
static_sum('ij,jk,kl->il', None,None,None)
    '(None, None)'
static_sum('ij,jk,kl->il', [2,3],[3,4],[5,1])
    ValueError
static_sum('...ij,jk,kl->...il', [7,2,3],[3,4],[4,5])
    '(7, 2, 5)'
static_sum('...ij,jk,kl->...il', None,[3,4],[4,5])
    '<unknown>'
grad(weighted('ij,jk->ik'), FA, FB)
    (float32 [2, 3] [[5, 14, 1], [7, 28, 5]]; float32 [3, 2] [[14, 16], [9, 14], [-7, -10]])
grad(weighted('ij,jk->ki'), FA, FB)
    (float32 [2, 3] [[9, 21, 0], [10, 28, 2]]; float32 [3, 2] [[8, 12], [7, 17], [-5, -11]])
grad(weighted('ij->ji'), FA)
    float32 [2, 3] [[1, 3, 5], [2, 4, 6]]
grad(weighted('ij->i'), FA)
    float32 [2, 3] [[1, 1, 1], [2, 2, 2]]
grad(weighted('ij->j'), FA)
    float32 [2, 3] [[1, 2, 3], [1, 2, 3]]
grad(weighted('ij->'), FA)
    float32 [2, 3] [[1, 1, 1], [1, 1, 1]]
grad(weighted('ii->i'), FSQUARE)
    float32 [3, 3] [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
grad(weighted('ii->'), FSQUARE)
    float32 [3, 3] [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
grad(weighted('iij->j'), floats(2, 2, 3))
    float32 [2, 2, 3] [[[1, 2, 3], [0, 0, 0]], [[0, 0, 0], [1, 2, 3]]]
grad(weighted('ii,ij->j'), floats(2, 2), FA)
    (float32 [2, 2] [[-1, 0], [0, 4]]; float32 [2, 3] [[-4, -8, -12], [6, 12, 18]])
grad(weighted('ijk,ij->k'), FCUBE, FA)
    (float32 [2, 3, 2] [[[-4, -8], [3, 6], [-1, -2]], [[6, 12], [2, 4], [-2, -4]]]; float32 [2, 3] [[2, 11, -2], [7, 5,
    -8]])
grad(weighted('ijk,j->i'), FCUBE, [1., 2, 3])
    (float32 [2, 3, 2] [[[1, 1], [2, 2], [3, 3]], [[2, 2], [4, 4], [6, 6]]]; float32 [3] [11, 7, -8])
grad(weighted('...ij,...jk->...ik'), FCUBE, FA)
    (float32 [2, 3, 2] [[[-1, 4], [-7, 22], [-13, 40]], [[-19, 58], [-25, 76], [-31, 94]]]; float32 [2, 3] [[17, 16,
    15], [11, 19, 27]])
grad(weighted('...ij,jk->...ik'), FCUBE, FA)
    (float32 [2, 3, 2] [[[-1, 4], [-7, 22], [-13, 40]], [[-19, 58], [-25, 76], [-31, 94]]]; float32 [2, 3] [[17, 16,
    15], [11, 19, 27]])
grad(weighted('...,...->...'), FA, [1., 2, 3])
    (float32 [2, 3] [[1, 4, 9], [4, 10, 18]]; float32 [3] [20, 16, -15])
grad(weighted('...i,...i->...'), FA, [[1., 2, 3]])
    (float32 [2, 3] [[1, 2, 3], [2, 4, 6]]; float32 [1, 3] [[8, 7, -5]])
grad(weighted('i...->...'), FCUBE)
    float32 [2, 3, 2] [[[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]]]
grad(weighted('i...k->...'), FCUBE)
    float32 [2, 3, 2] [[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]
grad(weighted('i...j,j->...'), FCUBE, [1., 2])
    (float32 [2, 3, 2] [[[1, 2], [2, 4], [3, 6]], [[1, 2], [2, 4], [3, 6]]]; float32 [2] [-1, 6])
grad(weighted('ij,jk,kl->il'), FA, FB, FA)
    (float32 [2, 3] [[-68, -74, -124], [275, 366, 215]]; float32 [3, 2] [[-38, 116], [-17, 56], [15, -48]]; float32 [2,
    3] [[-68, -74, -124], [275, 366, 215]])
grad(weighted('...ij,jk,kl->...il'), FCUBE, FA, FB)
    (float32 [2, 3, 2] [[[21, 56], [51, 88], [81, 120]], [[111, 152], [141, 184], [171, 216]]]; float32 [2, 3] [[7, 70,
    23], [42, 126, 12]]; float32 [3, 2] [[16, 68], [53, 66], [-31, -46]])
grad(weighted('ij,jk->ik'), Z, Z)
    (complex64 [2, 2] [[-5-2j, -1-8j], [21-32j, 51-64j]]; complex64 [2, 2] [[-5-2j, -1-8j], [21-32j, 51-64j]])
grad(weighted('i,j->ij'), [1., 2], [3., 4])
    (float32 [2] [11, 25]; float32 [2] [7, 10])
grad(lambda x: weighted('ij,ik->jk')(x, x), FA)
    float32 [2, 3] [[0, -8, -16], [4, 28, 52]]
grad(lambda x: weighted('ij,kj->ik')(x, x), FA)
    float32 [2, 3] [[22, 16, -12], [28, 31, -21]]
grad(lambda x: weighted('ij,jk->ik')(x, x), FSQUARE)
    float32 [3, 3] [[54, 66, 67], [11, 46, 37], [-43, 4, -26]]
grad(lambda x: weighted('ij,ij->')(x, x), FA)
    float32 [2, 3] [[-8, 6, -2], [12, 4, -4]]
grad(lambda x: weighted('ij,ij->ij')(x, x), FA)
    float32 [2, 3] [[-8, 12, -6], [48, 20, -24]]
grad(lambda x: weighted('ij,ji->i')(x, x), FSQUARE)
    float32 [3, 3] [[-8, 18, 20], [9, 8, 5], [-4, -10, -18]]
grad(lambda x: weighted('ii,jj->ij')(x, x), FSQUARE)
    float32 [3, 3] [[-26, 0, 0], [0, -46, 0], [0, 0, -66]]
grad(lambda x: weighted('...i,...j->...ij')(x, x), FA)
    float32 [2, 3] [[0, -8, -16], [112, 136, 160]]
grad(lambda x: weighted('i,j->ij')(x, x), [1., 2])
    float32 [2] [12, 21]
grad(lambda x: weighted('ij,kl->ik')(x, x), FA)
    float32 [2, 3] [[26, 26, 26], [38, 38, 38]]
grad(lambda x: weighted('ij,ik->jk')(x, x), Z)
    complex64 [2, 2] [[7-14j, 4-17j], [28-35j, 43-56j]]
grad(lambda x: unranked(weighted('ij,jk->ik'), x, FB), FA)
    float32 [2, 3] [[5, 14, 1], [7, 28, 5]]
grad(lambda x, y: unranked(weighted('ij,jk->ik'), x, y), FA, FB)
    (float32 [2, 3] [[5, 14, 1], [7, 28, 5]]; float32 [3, 2] [[14, 16], [9, 14], [-7, -10]])
grad(lambda x, y: unranked(weighted('ij,j->'), x, y), FA, [1., 2, 3])
    (float32 [2, 3] [[1, 2, 3], [1, 2, 3]]; float32 [3] [2, 5, -3])
grad(lambda x, y: sized(weighted('...ij,jk->...ik'), x, y), FCUBE, FA)
    (float32 [2, 3, 2] [[[-1, 4], [-7, 22], [-13, 40]], [[-19, 58], [-25, 76], [-31, 94]]]; float32 [2, 3] [[17, 16,
    15], [11, 19, 27]])
grad(lambda x: sized(weighted('ij->i'), x), FA)
    float32 [2, 3] [[1, 1, 1], [2, 2, 2]]
grad(lambda x: raw('i->ii', x) * FSQUARE, [1., 2, 3])
    float32 [3] [-4, 2, -3]
unranked(of('ij,jk->ik'), A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
unranked(of('...ij,jk->...ik'), CUBE, A)
    int32 [2, 3, 3] [[[34, -6, -2], [40, 9, -11], [-20, 2, 2]], [[-14, 17, -7], [36, -1, -5], [-24, -8, 8]]]
unranked(of('...ij,jk,kl->...il'), CUBE, A, B)
    int32 [2, 3, 2] [[[-108, 96], [-153, 234], [66, -68]], [[21, 70], [-123, 142], [96, -160]]]
sized(of('ij,jk,kl->il'), A, B, A)
    int32 [2, 3] [[0, 39, -21], [336, 8, -56]]
mapped(of('ij,jk->ik'), numbers(2, 2, 3), numbers(2, 3, 2))
    int32 [2, 2, 2] [[[11, 8], [-30, 34]], [[22, 21], [20, 20]]]
mapped(lambda x: tf.einsum('ij,jk->ik', x, B), numbers(2, 2, 3))
    int32 [2, 2, 2] [[[9, 6], [-24, 40]], [[-24, 30], [-24, 20]]]
mapped(lambda x: tf.einsum('ij,jk->ik', A, x), numbers(2, 3, 2))
    int32 [2, 2, 2] [[[11, 8], [-30, 34]], [[-29, 12], [24, 22]]]
mapped(of('...i,zy->...'), numbers(2, 2, 3), numbers(2, 2, 3))
    int32 [2, 2] [[-8, 24], [9, 0]]
mapped(of('ij'), numbers(2, 2, 3))
    int32 [2, 2, 3] [[[-4, 3, -1], [6, 2, -2]], [[5, 1, -3], [4, 0, -4]]]
mapped(of('...ij->...j'), numbers(2, 3, 2, 3))
    int32 [2, 3, 3] [[[2, 5, -3], [9, 1, -7], [5, -3, 11]], [[1, -7, 7], [-3, 11, 3], [-7, 7, -1]]]
mapped(of('ij,jk,kl'), numbers(2, 2, 3), numbers(2, 3, 2), numbers(2, 2, 1))
    int32 [2, 2, 1] [[[-20], [222]], [[104], [100]]]
mapped(lambda x: grad(lambda y: tf.einsum('ij,jk->ik', y, FB), x), floats(2, 2, 3))
    float32 [2, 2, 3] [[[1, 7, 2], [1, 7, 2]], [[1, 7, 2], [1, 7, 2]]]
tf.tensordot(A, B, 1)
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, 0).shape
    TensorShape([2, 3, 3, 2])
tf.tensordot(A, A, 2)
    int32 [] 70
tf.tensordot(A, B, 2)
    int32 [] 74
tf.tensordot(A, B, 3)
    ValueError: `axes` must not be larger than the number of dimensions of tensor [[-4 3 -1]
tf.tensordot(A, B, -1)
    ValueError: `axes` must be at least 0. Received: -1.
tf.tensordot([1, 2], [3, 4], 1)
    int32 [] 11
tf.tensordot(3, 4, 0)
    int32 [] 12
tf.tensordot(3, A, 0)
    int32 [2, 3] [[-12, 9, -3], [18, 6, -6]]
tf.tensordot(A, B, [1, 0])
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, [0, 1])
    int32 [3, 3] [[36, 42, -18], [-1, 14, 7], [-5, -14, -1]]
tf.tensordot(A, B, [-1, -2])
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, [[1], [0]])
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, ([1, 0], [0, 1]))
    int32 [] 49
tf.tensordot(A, B, [[0, 1], [1, 0]])
    int32 [] 49
tf.tensordot(CUBE, CUBE, [[0, 2], [0, 2]])
    int32 [3, 3] [[51, 11, -18], [11, 62, -30], [-18, -30, 24]]
tf.tensordot(CUBE, CUBE, [[2, 0], [0, 2]])
    int32 [3, 3] [[47, 29, -22], [29, -19, -12], [-22, -12, 20]]
tf.tensordot(CUBE, CUBE, [[0, 1], [0, 1]])
    int32 [2, 2] [[55, -29], [-29, 82]]
tf.tensordot(CUBE, A, [[0], [0]])
    int32 [3, 2, 3] [[[46, -2, -6], [-6, 11, -5]], [[-14, -9, 7], [0, 26, -14]], [[-8, 6, -2], [-16, -14, 10]]]
tf.tensordot(CUBE, A, [[1], [1]])
    int32 [2, 2, 2] [[[11, -30], [8, 34]], [[-29, 24], [12, 22]]]
tf.tensordot(CUBE, B, [[1], [0]])
    int32 [2, 2, 2] [[[18, -25], [-15, 56]], [[-15, -1], [-15, 36]]]
tf.tensordot(A, CUBE, [[0], [2]])
    int32 [3, 2, 3] [[[34, 40, -20], [-14, 36, -24]], [[-6, 9, 2], [17, -1, -8]], [[-2, -11, 2], [-7, -5, 8]]]
tf.tensordot(A, CUBE, [[1, 0], [1, 2]])
    int32 [2] [45, -7]
tf.tensordot(CUBE, [1, 2], 1)
    int32 [2, 3] [[2, 11, -2], [7, 5, -8]]
tf.tensordot([1, 2], CUBE, 1)
    int32 [3, 2] [[6, 5], [-7, 14], [2, -10]]
tf.tensordot(A, B, [[], []]).shape
    TensorShape([2, 3, 3, 2])
tf.tensordot(A, B, tf.constant([[1], [0]]))
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, np.array([[1], [0]]))
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, tf.constant([[-1], [0]]))
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, tf.constant([1, 0]))
    InvalidArgumentError: y should be a 1D vector.
tf.tensordot(A, B, tf.constant([[1], [0], [5]]))
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot(A, B, tf.constant([[1]]))
    InvalidArgumentError: slice index 1 of dimension 0 out of bounds.
tf.tensordot(A, B, tf.constant(1))
    InvalidArgumentError: Attempting to slice scalar input.
tf.tensordot(A, B, tf.constant([[2], [0]]))
    InvalidArgumentError: indices[0] = 2 is not in [0, 2)
tf.tensordot(A, B, tf.constant([[1], [-3]]))
    InvalidArgumentError
tf.tensordot(A, B, tf.constant([[1], [0]], tf.int64))
    ValueError
tf.tensordot(A, B, tf.constant([[[1]], [[0]]]))
    InvalidArgumentError: y should be a 1D vector.
tf.tensordot(A, B, [[1], 0])
    TypeError
tf.tensordot(A, B, [1, [0]])
    TypeError
tf.tensordot(A, B, 'a')
    TypeError: Cannot convert 'a' to EagerTensor of dtype int32
tf.tensordot(A, B, [1])
    ValueError: `axes` must be an integer or have length 2. Received [1].
tf.tensordot(A, B, [[1], [0], [0]])
    ValueError
tf.tensordot(A, B, [[0, 1], [0]])
    ValueError: Different number of contraction axes `a` and `b`, 2 != 1.
tf.tensordot(A, B, [[2], [0]])
    IndexError
tf.tensordot(A, B, [[0], [0]])
    InvalidArgumentError: Matrix size-incompatible: In[0]: [3,2], In[1]: [3,2]
tf.tensordot(A, FB, 1)
    InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a int32 tensor but is a float
    tensor
tf.tensordot(A, B, np.int64(1))
    int32 [2, 2] [[9, 6], [-24, 40]]
tf.tensordot([[1., 2]], [[3], [4]], 1)
    InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a float tensor but is a int32
    tensor
static(dot_of(1), [2,3],[3,4])
    '(2, 4)'
static(dot_of(1), [None,3],[3,None,5])
    '(None, None, 5)'
static(dot_of(1), [2,None],[3,4])
    '(2, 4)'
static(dot_of(1), [2,3],[4,4])
    ValueError
static(dot_of(1), None,[3,4])
    '<unknown>'
static(dot_of(2), [2,3,4],[3,4])
    '(2,)'
static(dot_of([[0], [1]]), [2,3,4],[5,2,None])
    '(3, 4, 5, None)'
static(dot_of([[0], [1]]), None,None)
    '<unknown>'
static(dot_of(-1), None,[3,4])
    ValueError: `axes` must be at least 0. Received: -1.
static(dot_of([[0, 1], [1]]), None,[3,4])
    ValueError: Different number of contraction axes `a` and `b`, 2 != 1.
static(lambda a, b, axes: tf.tensordot(a, b, axes), [2,3],[3,4], tf.TensorSpec([2, 1], tf.int32))
    '<unknown>'
unranked(dot_of(1), A, B)
    int32 [2, 2] [[9, 6], [-24, 40]]
unranked(dot_of(0), A, [1, 2])
    int32 [2, 3, 2] [[[-4, -8], [3, 6], [-1, -2]], [[6, 12], [2, 4], [-2, -4]]]
unranked(dot_of(2), CUBE, numbers(3, 2, 2))
    int32 [2, 2] [[35, 30], [-7, 47]]
unranked(dot_of([[0], [1]]), A, B)
    int32 [3, 3] [[36, 42, -18], [-1, 14, 7], [-5, -14, -1]]
unranked(dot_of([[-1, 0], [0, -1]]), CUBE, numbers(2, 3, 2))
    int32 [3, 3] [[47, 29, -22], [29, -19, -12], [-22, -12, 20]]
unranked(lambda a, b, axes: tf.tensordot(a, b, axes), CUBE, numbers(2, 3, 2), [[-1, 0], [0, -1]])
    int32 [3, 3] [[47, 29, -22], [29, -19, -12], [-22, -12, 20]]
sized(lambda a, b, axes: tf.tensordot(a, b, axes), CUBE, numbers(2, 3, 2), [[-1, 0], [0, -1]])
    int32 [3, 3] [[47, 29, -22], [29, -19, -12], [-22, -12, 20]]
sized(dot_of([[2, 0], [0, 2]]), CUBE, CUBE)
    int32 [3, 3] [[47, 29, -22], [29, -19, -12], [-22, -12, 20]]
sized(dot_of([[1], [1]]), CUBE, A)
    int32 [2, 2, 2] [[[11, -30], [8, 34]], [[-29, 24], [12, 22]]]
grad(lambda a, b: tf.tensordot(a, b, [[0], [1]]) * FSQUARE, FA, FB)
    (float32 [2, 3] [[9, -24, -24], [6, 40, 30]]; float32 [3, 2] [[29, -22], [-7, 20], [1, -4]])
grad(lambda a, b: tf.tensordot(a, b, [[1], [1]]) * floats(2, 2, 2), FCUBE, FA)
    (float32 [2, 3, 2] [[[34, 40], [-6, 9], [-2, -11]], [[-20, -14], [2, 17], [2, -7]]]; float32 [2, 3] [[28, 12, -26],
    [-3, 43, -10]])
mapped(dot_of(1), numbers(2, 2, 3), numbers(2, 3, 2))
    int32 [2, 2, 2] [[[11, 8], [-30, 34]], [[22, 21], [20, 20]]]
grad(weighted('i...i->...'), floats(2, 3, 2))
    float32 [2, 3, 2] [[[1, 0], [2, 0], [3, 0]], [[0, 1], [0, 2], [0, 3]]]
grad(weighted('i...i->...i'), floats(2, 3, 2))
    float32 [2, 3, 2] [[[1, 0], [3, 0], [5, 0]], [[0, 2], [0, 4], [0, 6]]]
grad(weighted('i...ji->...j'), floats(2, 3, 2, 2))
    float32 [2, 3, 2, 2] [[[[1, 0], [2, 0]], [[3, 0], [4, 0]], [[5, 0], [6, 0]]], [[[0, 1], [0, 2]], [[0, 3], [0, 4]],
    [[0, 5], [0, 6]]]]
grad(weighted('ii...->...'), floats(2, 2, 3))
    float32 [2, 2, 3] [[[1, 2, 3], [0, 0, 0]], [[0, 0, 0], [1, 2, 3]]]
raw('i...j->j...ji', numbers(2, 2, 3))
    int32 [3, 2, 3, 2] [[[[-4, 5], [0, 0], [0, 0]], [[6, 4], [0, 0], [0, 0]]], [[[0, 0], [3, 1], [0, 0]], [[0, 0], [2,
    0], [0, 0]]], [[[0, 0], [0, 0], [-1, -3]], [[0, 0], [0, 0], [-2, -4]]]]
raw('i...j->jj...i', numbers(2, 2, 3))
    int32 [3, 3, 2, 2] [[[[-4, 5], [6, 4]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]], [[[0, 0], [0, 0]], [[3, 1], [2, 0]],
    [[0, 0], [0, 0]]], [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[-1, -3], [-2, -4]]]]
tf.einsum('...ij,...jk->...ik', CUBE, A)
    int32 [2, 3, 3] [[[34, -6, -2], [40, 9, -11], [-20, 2, 2]], [[-14, 17, -7], [36, -1, -5], [-24, -8, 8]]]
tf.einsum('ij,jk->ik', tf.constant([[1]]), A)
    InvalidArgumentError: Expected dimension 1 at axis 0 of the input shaped [2,3] but got dimension 2
tf.einsum('ij,ij->ij', A, tf.constant([[1, 2, 3]]))
    InvalidArgumentError: Expected dimension 2 at axis 0 of the input shaped [1,3] but got dimension 1
tf.einsum('...,...->...', A, tf.constant([1, 2, 3]))
    int32 [2, 3] [[-4, 6, -3], [6, 4, -6]]
tf.einsum('...,...->...', A, tf.constant([[1], [2]]))
    int32 [2, 3] [[-4, 3, -1], [12, 4, -4]]
tf.einsum('...i,...i->...', A, tf.constant([[1, 2, 3]]))
    int32 [2] [-1, 4]
tf.einsum('ij,jk->ik', A, tf.constant([1, 2, 3]))
    InvalidArgumentError: Expected input 1 to have rank 2 but got: 1
tf.einsum('ii,i->i', SQUARE, tf.constant([1, 2, 3]))
    int32 [3] [-4, 4, -9]
tf.einsum('i,j,k->kij', tf.constant([1, 2]), tf.constant([3, 4]), tf.constant([5, 6, 7]))
    int32 [3, 2, 2] [[[15, 20], [30, 40]], [[18, 24], [36, 48]], [[21, 28], [42, 56]]]
tf.einsum('i...,i,...->...', A, tf.constant([1, 2]), tf.constant([1, 2, 3]))
    int32 [3] [8, 14, -15]
tf.einsum('...,...,...->...', A, tf.constant([1, 2, 3]), tf.constant(2))
    int32 [2, 3] [[-8, 12, -6], [12, 8, -12]]
tf.einsum(',->', tf.constant(3), tf.constant(4))
    int32 [] 12
tf.einsum('', tf.constant(3))
    int32 [] 3
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
