"""Rows of `tapeflow/linalg/products.py` and `contraction.py`."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, output_type=None):
    a = np.swapaxes(a, -1, -2) if transpose_a or adjoint_a else a
    b = np.swapaxes(b, -1, -2) if transpose_b or adjoint_b else b
    return (a.conj() if adjoint_a else a) @ (b.conj() if adjoint_b else b)


def matvec(a, b, transpose_a=False, adjoint_a=False):
    return matmul(a, b[..., None], transpose_a, adjoint_a=adjoint_a)[..., 0]


SUMS = {"float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}  # of several products
INTEGERS = ("int32", "int64", "uint8", "uint32", "uint64")

PRODUCTS = [
    sample(rand(2, 3), rand(3, 4)),
    sample(rand(3, 2), rand(3, 4), transpose_a=True),
    sample(rand(2, 3), rand(4, 3), transpose_b=True),
    sample(rand(3, 2), rand(4, 3), transpose_a=True, transpose_b=True),
    sample(rand(3, 2), rand(4, 3), adjoint_a=True, adjoint_b=True),
    sample(rand(0, 3), rand(3, 2)),
    sample(rand(2, 0), rand(0, 3)),
    sample(rand(5, 2, 3), rand(5, 3, 4)),
    sample(rand(5, 2, 3), rand(3, 4)),
    sample(rand(2, 3), rand(5, 1, 3, 4)),
    sample(rand(4, 1, 3, 2), rand(5, 4, 3), adjoint_a=True, transpose_b=True),
    sample(rand(5, 3, 2), rand(5, 4, 3), transpose_a=True, adjoint_b=True),
]

ROWS = [
    Row("matmul", PRODUCTS, matmul, FLOATS + COMPLEX + INTEGERS, tolerance=SUMS, bad=[
        (sample(np.ones([2, 3]), np.ones([2, 3])), Invalid, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
        (sample(np.ones([2, 3]), np.ones([2, 3]), transpose_a=True, transpose_b=True), Invalid, "Matrix size"),
        (sample(np.ones([3]), np.ones([3, 3])), Invalid, "In[0] ndims must be >= 2"),
        (sample(np.ones([3, 3]), np.ones([3])), Invalid, "In[1] ndims must be >= 2"),
        (sample(1.0, np.ones([3, 3], np.float32)), Invalid, "In[0] ndims must be >= 2"),
        (sample(np.ones([2, 2, 3]), np.ones([3])), Invalid, "In[1] ndims must be >= 2"),
        (sample(np.ones([2, 2, 3]), np.ones([2, 2, 3])), Invalid, "Matrix size-incompatible"),
        (sample(np.ones([2, 2, 3]), np.ones([3, 3, 2])), Invalid,
         "In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,3,2]"),
        (sample(tf.constant([[1.0]]), tf.constant([[1]])), Invalid,
         "cannot compute MatMul as input #1(zero-based) was expected to be a float tensor but is a int32 tensor"),
        (sample([[True]], [[True]]), Invalid, "Value for attr 'T' of bool"),
        (sample([[1.0]], [[1.0]], transpose_a=True, adjoint_a=True), ValueError, "Only one of `transpose_a`"),
        (sample([[1.0]], [[1.0]], transpose_b=True, adjoint_b=True), ValueError, "Only one of `transpose_b`"),
    ]),
    Row("linalg.matmul", [sample(rand(2, 3), rand(3, 4), output_type=tf.float64),
                          sample(rand(5, 2, 3), rand(3, 4), output_type=tf.float64)],
        matmul, ("float32",), result="float64", tolerance={"float64": (1e-6, 1e-6)}),
    Row("linalg.matvec", [
        sample(rand(2, 3), rand(3)),
        sample(rand(3, 2), rand(3), transpose_a=True),
        sample(rand(3, 2), rand(5, 3), adjoint_a=True),
        sample(rand(4, 2, 3), rand(3)),
        sample(rand(2, 0), rand(0)),
    ], matvec, FLOATS + COMPLEX + ("int32",), tolerance=SUMS, bad=[
        (sample(np.ones([2, 3]), np.ones([2])), Invalid, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,1]"),
    ]),
    Row("linalg.cross", [
        sample(rand(3), rand(3, seed=1)), sample(rand(4, 3), rand(4, 3, seed=1)), sample(rand(0, 3), rand(0, 3)),
    ], np.cross, (*FLOATS, "int32"), bad=[
        (sample(np.ones([2]), np.ones([2])), tf.errors.FailedPreconditionError, "only defined for 3-element vectors"),
        (sample(np.ones([1, 3]), np.ones([3])), Invalid, "Both inputs must be of same shape: [1,3] vs. [3]"),
        (sample(1, 2), Invalid, "Input must be at least 1D"),
    ]),
    Row("einsum", [
        sample("ij,jk->ik", rand(2, 3), rand(3, 4)),
        sample("ij,jk", rand(2, 3), rand(3, 4)),
        sample("ba", rand(2, 3)),
        sample("ii->i", rand(3, 3)),
        sample("ii", rand(3, 3)),
        sample("ijk->", rand(2, 3, 4)),
        sample("iij,j->i", rand(3, 3, 2), rand(2)),
        sample("ij,k->i", rand(2, 3), rand(4)),
        sample("i,i->", rand(3), rand(3, seed=1)),
        sample(" a , b -> a b ", rand(3), rand(2)),
        sample("...ij->...ji", rand(2, 3, 4)),
        sample("b...,b...->b...", rand(2, 1, 3), rand(2, 4, 1)),
        sample("i...j,j...->...i", rand(2, 4, 3), rand(3, 5, 1)),
        sample("ij,j...->i...", rand(2, 3), rand(3, 1, 2)),
        sample(",i->i", rand(), rand(3)),
        sample("ij,jk,kl->il", rand(2, 3), rand(3, 4), rand(4, 2)),
        sample("...a,...ab,b...->...", rand(2, 1, 3), rand(4, 3, 2), rand(2, 2, 4)),
        sample("ij,jk->ik", rand(2, 0), rand(0, 3)),
    ], np.einsum, FLOATS + COMPLEX, tolerance={"float16": (2e-2, 2e-2), "bfloat16": (1e-1, 1e-1)}, bad=[
        (sample("ij,jk->ik", np.ones([2, 3])), ValueError, 'Got 1 inputs for equation "ij,jk->ik", expecting 2'),
        (sample("ij,jk->il", np.ones([2, 3]), np.ones([3, 2])), ValueError, "contain the label l not present"),
        (sample("i->ii", np.ones([2])), ValueError, "a label appearing more than once"),
        (sample("i1->i", np.ones([2])), ValueError, "Subscripts have incorrect format"),
        (sample("ij,jk->ik", np.ones([2, 3]), np.ones([2, 3])), Invalid,
         "Expected dimension 3 at axis 0 of the input shaped [2,3] but got dimension 2"),
        (sample("ij,jk->ik", np.ones([2, 1]), np.ones([2, 3])), Invalid, "Expected dimension 1 at axis 0"),
        (sample("ij->ji", np.ones([3])), Invalid, "Expected input 0 to have rank 2 but got: 1"),
        (sample("i...->i", np.ones([2, 3])), Invalid, "no ellipsis (...) was found in the output"),
        (sample("i->i", np.ones([2]), other=1), TypeError, "Invalid keyword arguments for einsum: other"),
    ]),
    Row("tensordot", [
        sample(rand(2, 3), rand(3, 4), 1),
        sample(rand(2, 3), rand(3, 4), 0),
        sample(rand(2, 3, 4), rand(3, 4, 2), 2),
        sample(rand(2, 3), rand(2, 3, seed=1), [[0, 1], [0, 1]]),
        sample(rand(2, 3), rand(3, 2), [[0, -1], [1, 0]]),
        sample(rand(2, 3), rand(5, 3), [-1, -1]),
        sample(rand(4, 2, 3), rand(3, 5, 4), [[2, 0], [0, 2]]),
        sample(rand(3), rand(3, seed=1), 1),
        sample(rand(2, 0), rand(0, 3), 1),
    ], np.tensordot, FLOATS + COMPLEX + ("int32",), tolerance={"float16": (2e-2, 2e-2), "bfloat16": (1e-1, 1e-1)}, bad=[
        (sample(np.ones([2, 3]), np.ones([2, 3]), 1), Invalid, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
        (sample(np.ones([2, 3]), np.ones([2, 3]), 3), ValueError, "must not be larger than the number of dimensions"),
        (sample(np.ones([2, 3]), np.ones([2, 3]), -1), ValueError, "`axes` must be at least 0. Received: -1."),
        (sample(np.ones([2, 3]), np.ones([2, 3]), [1]), ValueError, "must be an integer or have length 2"),
        (sample(np.ones([2, 3]), np.ones([2, 3]), [[0], [0, 1]]), ValueError, "1 != 2"),
        (sample(np.ones([2, 3]), np.ones([2, 3]), [[5], [0]]), IndexError, "no dimension 5"),
    ]),
]  # fmt: skip
