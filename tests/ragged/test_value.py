"""`tf.compat.v1.ragged.RaggedTensorValue`. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

V = tf.compat.v1.ragged.RaggedTensorValue
INNER = V(np.array([1.5, 2.5, 3.5]), np.array([0, 1, 1, 3]))
OUTER = V(INNER, np.array([0, 2, 3]))

ROWS = read_rows("""
INNER.values
    array float64 [3] [1.5, 2.5, 3.5]
INNER.row_splits
    array int64 [4] [0, 1, 1, 3]
INNER.flat_values
    array float64 [3] [1.5, 2.5, 3.5]
INNER.nested_row_splits
    (array int64 [4] [0, 1, 1, 3])
INNER.ragged_rank
    1
INNER.dtype
    dtype('float64')
INNER.shape
    (3; None)
INNER.to_list()
    ((1.5); (); (2.5; 3.5))
OUTER.row_splits
    array int64 [3] [0, 2, 3]
OUTER.flat_values
    array float64 [3] [1.5, 2.5, 3.5]
OUTER.nested_row_splits
    (array int64 [3] [0, 2, 3]; array int64 [4] [0, 1, 1, 3])
OUTER.ragged_rank
    2
OUTER.dtype
    dtype('float64')
OUTER.shape
    (2; None; None)
OUTER.to_list()
    (((1.5); ()); ((2.5; 3.5)))
OUTER.values is INNER
    True
repr(INNER)
    'tf.RaggedTensorValue(values=array([1.5, 2.5, 3.5]), row_splits=array([0, 1, 1, 3]))'
str(INNER)
    '<tf.RaggedTensorValue [[1.5], [], [2.5, 3.5]]>'
str(OUTER)
    '<tf.RaggedTensorValue [[[1.5], []], [[2.5, 3.5]]]>'
V(np.zeros([3, 2]), np.array([0, 3])).shape
    (1; None; 2)
V([1, 2], np.array([0, 2]))
    TypeError: values must be a numpy array or a RaggedTensorValue
V(np.array([1, 2]), [0, 2])
    TypeError: row_splits must be a 1D int32 or int64 numpy array
V(np.array([1, 2]), np.array([[0, 2]]))
    TypeError: row_splits must be a 1D int32 or int64 numpy array
V(np.array([1, 2]), np.array([0.0, 2.0]))
    TypeError: row_splits must be a 1D int32 or int64 numpy array
V(np.array([1, 2]), np.array([0, 2], np.int32)).row_splits
    array int32 [2] [0, 2]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
