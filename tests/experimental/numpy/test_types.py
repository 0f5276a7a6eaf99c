"""Dtypes of `tf.experimental.numpy`: promotion, properties, conversion. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

tnp = tf.experimental.numpy
SAMPLES = (1, 1.5, 1j, True, tf.constant(1), tf.constant(1.5), tf.int8, np.float16, "uint8", np.array([1], np.int16))

ROWS = read_rows(r"""
[[tnp.result_type(a, b) for b in SAMPLES] for a in SAMPLES[:5]]
    ((tf.int64; tf.float64; tf.complex128; tf.int64; tf.int32; tf.float32; tf.int8; tf.float16; tf.uint8; tf.int16);
    (tf.float64; tf.float64; tf.complex128; tf.float64; tf.float64; tf.float32; tf.float64; tf.float16; tf.float64;
    tf.float64); (tf.complex128; tf.complex128; tf.complex128; tf.complex128; tf.complex128; tf.complex64;
    tf.complex128; tf.complex64; tf.complex128; tf.complex128); (tf.int64; tf.float64; tf.complex128; tf.bool; tf.int32;
    tf.float32; tf.int8; tf.float16; tf.uint8; tf.int16); (tf.int32; tf.float64; tf.complex128; tf.int32; tf.int32;
    tf.float64; tf.int32; tf.float64; tf.int32; tf.int32))
[[tnp.result_type(a, b) for b in SAMPLES] for a in SAMPLES[5:]]
    ((tf.float32; tf.float32; tf.complex64; tf.float32; tf.float64; tf.float32; tf.float32; tf.float32; tf.float32;
    tf.float32); (tf.int8; tf.float64; tf.complex128; tf.int8; tf.int32; tf.float32; tf.int8; tf.float16; tf.int16;
    tf.int16); (tf.float16; tf.float16; tf.complex64; tf.float16; tf.float64; tf.float32; tf.float16; tf.float16;
    tf.float16; tf.float32); (tf.uint8; tf.float64; tf.complex128; tf.uint8; tf.int32; tf.float32; tf.int16; tf.float16;
    tf.uint8; tf.int16); (tf.int16; tf.float64; tf.complex128; tf.int16; tf.int32; tf.float32; tf.int16; tf.float32;
    tf.int16; tf.int16))
tnp.result_type()
    tf.float64
tnp.result_type(1)
    tf.int64
tnp.result_type([1, 2.5])
    tf.float64
tnp.result_type(None)
    tf.float64
tnp.result_type(tf.Variable(1.5), 1)
    tf.float32
tnp.result_type(tf.bfloat16)
    tf.bfloat16
tnp.result_type('a')
    tf.string
tnp.result_type(tf.IndexedSlices(tf.constant([1.5]), [0]), 1)
    tf.float32
tnp.promote_types(tf.int32, tf.float32)
    dtype('float64')
tnp.promote_types(tf.int8, tf.uint8)
    dtype('int16')
tnp.promote_types(np.float32, tf.int16)
    dtype('float32')
tnp.promote_types('float16', 'float32')
    dtype('float32')
tnp.finfo(tf.float32).eps
    float32 1.1921e-07
tnp.finfo('float64').max
    float64 1.7977e+308
tnp.finfo(np.float16).min
    float16 -65504
tnp.finfo(tf.int32)
    ValueError: data type <class 'numpy.int32'> not inexact
[tnp.iscomplexobj(v) for v in (1, 1j, [1, 2j], tf.constant(1.5), tf.constant(1j), True)]
    (False; True; True; False; True; False)
[tnp.isrealobj(v) for v in (1, 1j, [1, 2j], tf.constant(1.5), tf.constant(1j), True)]
    (True; False; False; True; False; True)
[tnp.array(v).dtype.name for v in (1, 1.5, 1j, True, [1, 2.5], [[1]], np.float32(2), np.array([1], np.int8), 2**40)]
    ('int64'; 'float64'; 'complex128'; 'bool'; 'float64'; 'int64'; 'float32'; 'int8'; 'int64')
tnp.array('abc')
    string [] b'abc'
tnp.array(b'abc')
    string [] b'abc'
tnp.array(['a', 'b'])
    string [2] [b'a', b'b']
tnp.array(2**63)
    uint64 [] 9223372036854775808
tnp.array(1, dtype=tf.float32)
    float32 [] 1
tnp.array(1.7, tf.int32)
    int32 [] 1
tnp.array(tf.constant([1.7, -1.7]), np.int64)
    int64 [2] [1, -1]
tnp.array(tf.Variable([1.5]))
    float32 [1] [1.5]
tnp.add(tf.Variable([1.5]), 1)
    float32 [1] [2.5]
tnp.add(1, 2)
    int64 [] 3
tnp.add(tf.constant(1, tf.int8), tf.constant(300))
    int32 [] 301
tnp.add(tf.constant(1, tf.int8), 1.5)
    float64 [] 2.5
tnp.add(tf.constant([1], tf.uint8), tf.constant([-1], tf.int8))
    int16 [1] [0]
tnp.sqrt(tf.constant(4, tf.float16))
    float16 [] 2
tnp.add({'a': 1}, 2)
    TypeError: object of type 'int' has no len()
tnp.add(2, {'a': 1})
    TypeError: object of type 'int' has no len()
tnp.matmul({'a': 1}, [1])
    ValueError: Attempt to convert a value ({'a': 1}) with an unsupported type (<class 'dict'>) to a Tensor.
tnp.add('a', 1)
    DTypePromotionError: The DType <class 'numpy.dtypes.BytesDType'> could not be promoted by <class
    'numpy.dtypes._PyLongDType'>. This means that no common DType exists for the given inputs. For example they cannot
    be stored in a single array unless the dtype is `object`. The full list of DTypes is: (<class
    'numpy.dtypes.BytesDType'>, <class 'numpy.dtypes._PyLongDType'>)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
