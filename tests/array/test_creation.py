"""Tensors of one value, of numbers in a row, and of converted values. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row
from ways import check


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


N = ints()
X = tf.constant([[1.0, 2.0], [3.0, 4.0]])

ROWS = read_rows("""
tf.fill([2, 2], 7)
    int32 [2, 2] [[7, 7], [7, 7]]
tf.fill([2], 1.5)
    float32 [2] [1.5, 1.5]
tf.fill([], "a")
    string [] b'a'
tf.fill([0, 2], True)
    bool [0, 2] []
tf.fill([2], [7])
    int32 [2] [7, 7]
tf.fill(tf.constant([2], tf.int64), tf.constant(3, tf.uint8))
    uint8 [2] [3, 3]
tf.fill([2], [7, 8])
    InvalidArgumentError
tf.fill([-1], 7)
    InvalidArgumentError
tf.fill(2, 7)
    int32 [2] [7, 7]
tf.fill([[2]], 7)
    InvalidArgumentError
static(lambda x: tf.fill([2, 3], x), [])
    '(2, 3)'
static(lambda x: tf.fill([2, 3], x), [1])
    ValueError
static(lambda x: tf.fill([2, -3], x), [])
    ValueError
static(lambda x, n: tf.fill([n, 3], x), [], N)
    '(None, 3)'
static(lambda x, n: tf.fill(n, x), [], ints(2))
    '(None, None)'
static(lambda x, n: tf.fill(n, x), [], ints(None))
    '<unknown>'
static(lambda x, n: tf.fill(n, x), [], ints(1, 2))
    ValueError
cube_grads(lambda x: tf.fill([2, 3], x), 2.0)
    (float32 [] 72)
sized(lambda x, n: tf.fill(n, x), 2.0, [2, 2])
    float32 [2, 2] [[2, 2], [2, 2]]
tf.constant(5)
    int32 [] 5
tf.constant(0)
    int32 [] 0
tf.constant(1.5)
    float32 [] 1.5
tf.constant([1, 2], tf.float64)
    float64 [2] [1, 2]
tf.constant(5, shape=[2, 2])
    int32 [2, 2] [[5, 5], [5, 5]]
tf.constant([1, 2, 3, 4], shape=[2, 2])
    int32 [2, 2] [[1, 2], [3, 4]]
tf.constant([5], shape=[3])
    int32 [3] [5, 5, 5]
tf.constant(5, shape=[])
    int32 [] 5
tf.constant([1, 2], shape=[3])
    TypeError
tf.constant([], shape=[0, 2])
    float32 [0, 2] []
tf.constant(X)
    float32 [2, 2] [[1, 2], [3, 4]]
tf.constant(X, tf.float32, [4])
    float32 [4] [1, 2, 3, 4]
tf.constant(X, tf.float64)
    TypeError
tf.constant(tf.TensorShape([2, 3]))
    int32 [2] [2, 3]
tf.constant(2**31)
    int64 [] 2147483648
tf.constant(2**31, tf.int32)
    int32 [] -2147483648
tf.constant("a", shape=[2])
    string [2] [b'a', b'a']
tf.constant([1.5], tf.int32)
    TypeError
tf.constant(None)
    ValueError
static(lambda x: tf.constant([1, 2], shape=[2, 1]), [])
    '(2, 1)'
static(lambda x: tf.constant(x), [])
    TypeError
static(lambda x: tf.constant(5, shape=[2, 1]), [])
    '(2, 1)'
tf.zeros([2, 3])
    float32 [2, 3] [[0, 0, 0], [0, 0, 0]]
tf.zeros([2], tf.int32)
    int32 [2] [0, 0]
tf.zeros([2], tf.string)
    string [2] [b'', b'']
tf.zeros([2], tf.bool)
    bool [2] [False, False]
tf.zeros([2], tf.complex64)
    complex64 [2] [0+0j, 0+0j]
tf.zeros([])
    float32 [] 0
tf.zeros(3)
    float32 [3] [0, 0, 0]
tf.zeros(tf.constant(3))
    float32 [3] [0, 0, 0]
tf.zeros(tf.constant([3], tf.int64), tf.bfloat16)
    bfloat16 [3] [0, 0, 0]
tf.zeros(tf.TensorShape([1, 2]))
    float32 [1, 2] [[0, 0]]
tf.zeros((np.int64(2), 1))
    float32 [2, 1] [[0], [0]]
tf.zeros([tf.constant(2), 1])
    float32 [2, 1] [[0], [0]]
tf.zeros([-1])
    InvalidArgumentError
tf.zeros([2.0])
    TypeError
tf.zeros("a")
    TypeError
tf.zeros(tf.constant([3], tf.int8))
    InvalidArgumentError
tf.ones([2, 3])
    float32 [2, 3] [[1, 1, 1], [1, 1, 1]]
tf.ones([2], tf.int32)
    int32 [2] [1, 1]
tf.ones([2], tf.bool)
    bool [2] [True, True]
tf.ones([2], tf.string)
    TypeError
tf.ones(2, tf.uint16)
    uint16 [2] [1, 1]
tf.ones([-1])
    InvalidArgumentError
tf.zeros_like(X)
    float32 [2, 2] [[0, 0], [0, 0]]
tf.zeros_like([1, 2])
    int32 [2] [0, 0]
tf.zeros_like(X, tf.int32)
    int32 [2, 2] [[0, 0], [0, 0]]
tf.zeros_like(["a", "b"])
    string [2] [b'', b'']
tf.zeros_like([True])
    bool [1] [False]
tf.zeros_like(X, tf.string)
    string [2, 2] [[b'', b''], [b'', b'']]
tf.ones_like(X)
    float32 [2, 2] [[1, 1], [1, 1]]
tf.ones_like([1, 2])
    int32 [2] [1, 1]
tf.ones_like(X, tf.int64)
    int64 [2, 2] [[1, 1], [1, 1]]
tf.ones_like([False])
    bool [1] [True]
tf.ones_like(["a"])
    InvalidArgumentError
tf.zeros_like(np.zeros([2, 0]))
    float64 [2, 0] [[], []]
static(lambda x: tf.zeros_like(x), [None, 2])
    '(None, 2)'
static(lambda x: tf.ones_like(x), [None, 2])
    '(None, 2)'
static(lambda x: tf.ones_like(x), None)
    '<unknown>'
static(lambda x: tf.zeros_like(x, tf.int32), [3, 2])
    '(3, 2)'
static(lambda x: tf.zeros([tf.shape(x)[0], 2]), [None, 2])
    '(None, 2)'
static(lambda x: tf.zeros(2), [])
    '(2,)'
static(lambda x: tf.ones([50, 50]), [])
    '(50, 50)'
static(lambda x: tf.ones([-1]), [])
    ValueError
static(lambda n: tf.ones(n), N)
    '(None,)'
static(lambda n: tf.zeros(n), tf.TensorSpec(None, tf.int32))
    '<unknown>'
sized(lambda n: tf.zeros(n), 3)
    float32 [3] [0, 0, 0]
sized(lambda n: tf.ones(n, tf.bool), [2, 1])
    bool [2, 1] [[True], [True]]
unranked(lambda n: tf.ones(n), [2, 1])
    float32 [2, 1] [[1], [1]]
sized(lambda n: tf.zeros([n, 2], tf.string), 2)
    string [2, 2] [[b'', b''], [b'', b'']]
unranked(lambda x: tf.zeros_like(x), X)
    float32 [2, 2] [[0, 0], [0, 0]]
sized(lambda x: tf.ones_like(x, tf.int32), X)
    int32 [2, 2] [[1, 1], [1, 1]]
cube_grads(lambda x: tf.zeros_like(x) * x + x, X)
    (float32 [2, 2] [[3, 12], [27, 48]])
tf.convert_to_tensor(X) is X
    True
tf.convert_to_tensor([1, 2], tf.float32)
    float32 [2] [1, 2]
tf.convert_to_tensor([1, 2], dtype_hint=tf.float32)
    float32 [2] [1, 2]
tf.convert_to_tensor([1.5, 2], dtype_hint=tf.int32)
    float32 [2] [1.5, 2]
tf.convert_to_tensor(["a"], dtype_hint=tf.int32)
    string [1] [b'a']
tf.convert_to_tensor([X, X]).shape
    TensorShape([2, 2, 2])
tf.convert_to_tensor([X[0, 0], 1.0])
    float32 [2] [1, 1]
tf.convert_to_tensor(X, tf.float64)
    ValueError
tf.convert_to_tensor([1, "a"])
    ValueError
tf.convert_to_tensor(X, "float32")
    float32 [2, 2] [[1, 2], [3, 4]]
tf.convert_to_tensor([1], "float")
    float32 [1] [1]
tf.range(5)
    int32 [5] [0, 1, 2, 3, 4]
tf.range(2, 8, 3)
    int32 [2] [2, 5]
tf.range(5, 0, -2)
    int32 [3] [5, 3, 1]
tf.range(0, 5, -1)
    InvalidArgumentError
tf.range(2.5)
    float32 [3] [0, 1, 2]
tf.range(1.0, 2.0, 0.25)
    float32 [4] [1, 1.25, 1.5, 1.75]
tf.range(5, dtype=tf.float32)
    float32 [5] [0, 1, 2, 3, 4]
tf.range(tf.constant(3, tf.int64))
    int64 [3] [0, 1, 2]
tf.range(0, 5, 0)
    InvalidArgumentError
tf.range([1])
    int32 [1] [0]
tf.range(0, 5, [1])
    int32 [5] [0, 1, 2, 3, 4]
tf.range(1, 5.5)
    float32 [5] [1, 2, 3, 4, 5]
tf.range(1, 2.5, 0.5)
    float32 [3] [1, 1.5, 2]
tf.range(3, delta=2)
    int32 [2] [0, 2]
tf.range(np.int16(3))
    AssertionError
static(lambda x: tf.range(3), [])
    '(3,)'
static(lambda n: tf.range(n), N)
    '(None,)'
static(lambda n: tf.range(n, n + 3), N)
    '(None,)'
static(lambda x: tf.range(x), [1])
    ValueError
static(lambda x: tf.range(1, 7, 3), [])
    '(2,)'
static(lambda x: tf.range(7, 1, -4), [])
    '(2,)'
static(lambda x: tf.range(7, 1), [])
    ValueError
static(lambda x: tf.range(0, 5, 0), [])
    ValueError
sized(lambda n: tf.range(n, n + 7, 2), 1)
    int32 [4] [1, 3, 5, 7]
sized(lambda n: tf.range(n, 0.0, -0.5), 1.0)
    float32 [2] [1, 0.5]
tf.linspace(0.0, 1.0, 5)
    float32 [5] [0, 0.25, 0.5, 0.75, 1]
tf.linspace(0, 4, 3)
    float64 [3] [0, 2, 4]
tf.linspace([0.0, 1.0], [4.0, 3.0], 3)
    float32 [3, 2] [[0, 1], [2, 2], [4, 3]]
tf.linspace([0.0, 1.0], [4.0, 3.0], 3, axis=-1)
    float32 [2, 3] [[0, 2, 4], [1, 2, 3]]
tf.linspace([0.0, 1.0], [4.0, 3.0], 3, axis=1)
    float32 [2, 3] [[0, 2, 4], [1, 2, 3]]
tf.linspace([0.0, 1.0], [4.0, 3.0], 3, axis=2)
    InvalidArgumentError
tf.linspace([0.0, 1.0], [4.0, 3.0], 3, axis=-3)
    InvalidArgumentError
tf.linspace(0.0, [4.0, 3.0], 2)
    float32 [2, 2] [[0, 0], [4, 3]]
tf.linspace(1.0, 3.0, 1)
    float32 [1] [1]
tf.linspace(1.0, 3.0, 0)
    float32 [0] []
tf.linspace(1.0, 3.0, -1)
    InvalidArgumentError
tf.linspace(1.0, 3.0, [2])
    float32 [2] [1, 3]
tf.linspace(1.0, 3.0, 2.0)
    TypeError
tf.linspace(1.0, 3.0, tf.constant(2, tf.int64))
    float32 [2] [1, 3]
sized(lambda a, b, n: tf.linspace(a, b, n), 0.0, 1.0, 3)
    float32 [3] [0, 0.5, 1]
sized(lambda a, b, n: tf.linspace(a, b, n, axis=-1), [0.0, 1.0], [1.0, 2.0], 3)
    float32 [2, 3] [[0, 0.5, 1], [1, 1.5, 2]]
static(lambda a, n: tf.linspace(a, 3.0, n), [], N)
    '(None,)'
static(lambda a: tf.linspace(a, a, 4), [2])
    '(4, 2)'
static(lambda a: tf.linspace(a, a, 4, axis=-1), [2, None])
    '(2, None, 4)'
cube_grads(lambda a, b: tf.linspace(a, b, 3), 0.0, 1.0)
    (float32 [] 0.375; float32 [] 3.375)
tf.meshgrid([1, 2], [3, 4, 5])
    (int32 [3, 2] [[1, 2], [1, 2], [1, 2]]; int32 [3, 2] [[3, 3], [4, 4], [5, 5]])
tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")
    (int32 [2, 3] [[1, 1, 1], [2, 2, 2]]; int32 [2, 3] [[3, 4, 5], [3, 4, 5]])
tf.meshgrid([1, 2])
    (int32 [2] [1, 2])
tf.meshgrid()
    ()
tf.meshgrid([1], [2, 3], [4, 5, 6])
    (int32 [2, 1, 3] [[[1, 1, 1]], [[1, 1, 1]]]; int32 [2, 1, 3] [[[2, 2, 2]], [[3, 3, 3]]]; int32 [2, 1, 3] [[[4, 5,
    6]], [[4, 5, 6]]])
tf.meshgrid([1, 2], [3], indexing="no")
    ValueError
tf.meshgrid([1, 2], 3)
    (int32 [1, 2] [[1, 2]]; int32 [1, 2] [[3, 3]])
tf.meshgrid([1, 2], [3.0])
    InvalidArgumentError
static(lambda a, b: tf.meshgrid(a, b), [2], [None])
    ('(None, 2)'; '(None, 2)')
static(lambda a, b: tf.meshgrid(a, b, indexing="ij"), [2], [3])
    ('(2, 3)'; '(2, 3)')
cube_grads(lambda a, b: tf.meshgrid(a, b), [1.0, 2.0], [3.0, 4.0, 5.0])
    (float32 [2] [9, 36]; float32 [3] [54, 96, 150])
tf.eye(2)
    float32 [2, 2] [[1, 0], [0, 1]]
tf.eye(2, 3, [2], tf.int32)
    int32 [2, 2, 3] [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]]]
tf.eye(3, 2)
    float32 [3, 2] [[1, 0], [0, 1], [0, 0]]
tf.eye(0)
    float32 [0, 0] []
tf.one_hot([0, 2], 3)
    float32 [2, 3] [[1, 0, 0], [0, 0, 1]]
tf.one_hot([0, 2, -1, 3], 3, 5, 7)
    int32 [4, 3] [[5, 7, 7], [7, 7, 5], [7, 7, 7], [7, 7, 7]]
tf.one_hot([[0], [1]], 2, axis=0)
    float32 [2, 2, 1] [[[1], [0]], [[0], [1]]]
tf.one_hot([[0], [1]], 2, axis=1)
    float32 [2, 2, 1] [[[1], [0]], [[0], [1]]]
tf.one_hot([[0], [1]], 2, axis=-1)
    float32 [2, 1, 2] [[[1, 0]], [[0, 1]]]
tf.one_hot([0, 1], 2, on_value="a", off_value="b")
    string [2, 2] [[b'a', b'b'], [b'b', b'a']]
tf.one_hot([0, 1], 2, True, False)
    bool [2, 2] [[True, False], [False, True]]
tf.one_hot([0, 1], 2, dtype=tf.int64)
    int64 [2, 2] [[1, 0], [0, 1]]
tf.one_hot([0, 1], 2, 1.0, 0)
    TypeError
tf.one_hot([0, 1], 2, 1, 0, dtype=tf.float32)
    float32 [2, 2] [[1, 0], [0, 1]]
tf.one_hot(1, 3)
    float32 [3] [0, 1, 0]
tf.one_hot([0], 0)
    float32 [1, 0] [[]]
tf.one_hot([0], -1)
    InvalidArgumentError
tf.one_hot([0], [2])
    InvalidArgumentError
tf.one_hot([0], 2, axis=2)
    InvalidArgumentError
tf.one_hot([0], 2, axis=-2)
    InvalidArgumentError
tf.one_hot([0.5], 2)
    InvalidArgumentError
tf.one_hot([0], 2, [1])
    InvalidArgumentError
static(lambda i: tf.one_hot(i, 3), ints(2, None))
    '(2, None, 3)'
static(lambda i: tf.one_hot(i, 3, axis=1), ints(2, None))
    '(2, 3, None)'
static(lambda i: tf.one_hot(i, 3, axis=0), ints(2, None))
    '(3, 2, None)'
static(lambda i, n: tf.one_hot(i, n), ints(2), N)
    '(2, None)'
static(lambda i: tf.one_hot(i, 3), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda i: tf.one_hot(i, -3), ints(2))
    ValueError
sized(lambda i, n: tf.one_hot(i, n, axis=0), [1, 0], 3)
    float32 [3, 2] [[0, 1], [1, 0], [0, 0]]
cube_grads(lambda a, b: tf.one_hot([0, 1, 2], 2, a, b), 2.0, 3.0)
    (None; None)
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())


def test_slices_of_a_batch():
    def made(x, i):
        return [
            tf.fill([2, 3], x[0, 0]), tf.fill([], x[1, 1]), tf.zeros_like(x), tf.ones_like(x), tf.ones([2]) * x,
            tf.one_hot(i, 3), tf.one_hot(i, 3, x[0, 0], x[1, 0], 0), tf.linspace(x[0], x[1], 3),
            tf.meshgrid(x[0], x[1]),
            tf.linspace(x[0], x[1], 3, axis=-1), tf.range(3), tf.eye(2), tf.constant([1, 2]),
        ]  # fmt: skip

    check(made, X, [0, 2], knows=["static"])


def test_types_with_conversions_of_their_own():
    class Metres:
        def __init__(self, value):
            self.value = value

    class Feet(Metres):
        pass

    tf.register_tensor_conversion_function(
        (Metres,), lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.value, dtype)
    )
    assert float(tf.constant(1.0) + Metres(2.0)) == 3 and tf.convert_to_tensor(Feet(2.0)).numpy() == 2
    tf.register_tensor_conversion_function(
        Metres, lambda v, dtype=None, name=None, as_ref=False: tf.constant(-v.value, dtype), 5
    )
    assert tf.convert_to_tensor(Metres(2.0), tf.float64).numpy() == -2
    for base in (int, (Metres, float), 5, (), (Metres, "a"), np.ndarray):
        with pytest.raises(TypeError):
            tf.register_tensor_conversion_function(base, lambda v, dtype=None, name=None, as_ref=False: None)
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function(Metres, 5)
