"""What becomes a tensor, of which dtype, and how it comes back: constants, casts, NumPy, shapes, dtypes."""

from goldens.case import Group

GROUP = Group("""
import collections
Point = collections.namedtuple('Point', ['x', 'y'])
class HasArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5], dtype or np.float32)
""")

VALUES = """
1
-1
2**31 - 1
-2**31
True
1.5
float('nan')
1j
'text'
b'bytes'
''
[]
[[]]
[[], []]
[1, 2]
[1, 2.5]
[1.5, 2]
[True, False]
['a', b'b']
(1, 2)
((1, 2), (3, 4))
[[1, 2], [3, 4]]
[[1], [2.5]]
[(1, 2), [3, 4]]
range(3)
np.array(1)
np.array([1, 2])
np.array([1.5, 2])
np.array([1.5], np.float32)
np.array([1], np.int8)
np.array([1], np.uint16)
np.array([1], np.uint32)
np.array([1], np.uint64)
np.array([1.5], np.float16)
np.array([True])
np.array([1j])
np.array([1j], np.complex64)
np.array(['a', 'bc'])
np.array([b'a', b'bc'])
np.array(['a', 'b'], object)
np.array([[]])
np.zeros([0, 2])
np.float32(1.5)
np.float64(1.5)
np.float16(1.5)
np.int32(3)
np.int64(3)
np.uint8(3)
np.bool_(True)
np.str_('a')
np.bytes_(b'a')
np.arange(6).reshape(2, 3)[:, ::2]
np.arange(4)[::-1]
np.array([1, 2], '>i4')
np.array([1.5, 2], '>f8')
[np.float32(1), np.float32(2)]
[np.float64(1), 2]
[np.array([1, 2]), np.array([3, 4])]
[np.int64(1), np.int64(2)]
[np.float32(1.5), 2]
tf.constant([1, 2])
tf.float32.as_numpy_dtype(1.5)
tf.constant([1.5], tf.bfloat16).numpy()
Point(1, 2)
HasArray()
tf.TensorShape([1, 2])
tf.TensorShape([])
memoryview(np.array([1, 2], np.int32))
"""
GROUP.family("tf.constant({value})", value=VALUES)
GROUP.family("tf.convert_to_tensor({value})", value="""
[tf.constant(1), 2]
[tf.constant([1.0]), tf.constant([2.0])]
[tf.constant(1.0), 2]
[[tf.constant(1), 2], [3, tf.constant(4)]]
[tf.Variable(1.0), 2.0]
(tf.constant(1), np.int32(2))
[tf.constant('a'), 'b']
[tf.constant(1, tf.int64), 2]
tf.Variable([1, 2])
tf.IndexedSlices(tf.constant([[1., 2.]]), tf.constant([1]), tf.constant([3, 2]))
tf.TensorShape([3, 4])
tf.compat.v1.Dimension(3)
tf.constant('a')
np.array([1, 2])
HasArray()
[1, 2]
1.5
""")  # fmt: skip
GROUP.family(
    "tf.constant({value}, tf.{dtype})",
    value=["3", "[1, 2]", "np.array([1, 2])", "np.int64(3)"],
    dtype="int8 uint8 int16 uint16 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64",
)  # fmt: skip
GROUP.values("""
tf.constant(1, dtype='float32')
tf.constant(1, dtype=np.float64)
tf.constant(1.5, dtype=float)
tf.constant(True, dtype=bool)
tf.constant(1, dtype='int64')
tf.constant(1, np.dtype('int16'))
tf.constant(0, shape=[2, 3])
tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant([[1, 2], [3, 4]], shape=[4])
tf.constant(1.5, shape=[])
tf.constant(1.5, tf.float64, [2])
tf.constant('a', shape=[2])
tf.constant([], shape=[0, 3])
tf.constant(value=1, dtype=tf.int8, shape=(1,), name='c')
tf.constant(tf.constant(1))
tf.constant(tf.constant([1.0, 2.0]), shape=[2, 1])
tf.constant(256, tf.int64)
tf.constant(2**63 - 1, tf.int64)
tf.constant(2**64 - 1, tf.uint64)
tf.constant(1.7, tf.float16)
tf.constant([0.1, 70000.0], tf.float16)
tf.constant(np.array([1.7, -1.7]), tf.float32)
tf.constant(np.array([1.7, -1.7]), tf.bfloat16)
tf.constant(np.array([300]), tf.uint8)
tf.constant(np.float64(0.1), tf.float32)
tf.constant(1 + 2j, tf.complex64)
tf.constant(1.5, tf.complex128)
tf.constant([1, 2.5], tf.complex64)
tf.convert_to_tensor(1, dtype=tf.float32)
tf.convert_to_tensor(1, dtype_hint=tf.float32)
tf.convert_to_tensor(1.5, dtype_hint=tf.int32)
tf.convert_to_tensor('a', dtype_hint=tf.int32)
tf.convert_to_tensor(np.array([1, 2]), tf.float32)
tf.convert_to_tensor(np.array([1.5]), dtype=tf.float32)
tf.convert_to_tensor(tf.constant(1), tf.int32)
tf.convert_to_tensor(value=[1, 2], dtype=tf.int64, name='t')
tf.convert_to_tensor(tf.Variable(1.0), tf.float32)
tf.convert_to_tensor([], tf.int32)
tf.convert_to_tensor([[]], tf.string)
tf.cast([1.7, -1.7, 2.5], tf.int32)
tf.cast([1.7, -1.7], tf.int64)
tf.cast([1, 0, -3], tf.bool)
tf.cast([0.0, 0.5, float('nan')], tf.bool)
tf.cast([True, False], tf.float32)
tf.cast([True, False], tf.int8)
tf.cast([1.1, 2.2], tf.float64)
tf.cast(tf.constant([0.1], tf.float64), tf.float32)
tf.cast([1.1, 1e5], tf.float16)
tf.cast([1.1, 1e5, 3.14159], tf.bfloat16)
tf.cast([300, -1], tf.uint8)
tf.cast([300, -129], tf.int8)
tf.cast(tf.constant([2**40], tf.int64), tf.int32)
tf.cast([1.5], tf.complex64)
tf.cast([1.5 + 2j], tf.complex64)
tf.cast(tf.constant([1.5 + 2j], tf.complex64), tf.float32)
tf.cast(1, tf.float32)
tf.cast(1.5, 'int32')
tf.cast(tf.Variable([1, 2]), tf.float32)
tf.cast(np.array([1.5, 2.5]), tf.float32)
tf.cast(x=[1, 2], dtype=tf.uint16, name='c')
tf.cast(tf.zeros([0, 2]), tf.int32)
tf.cast(tf.constant([1.5], tf.float16), tf.bfloat16)
tf.cast(tf.constant([200], tf.uint8), tf.int8)
tf.cast(tf.IndexedSlices(tf.constant([1.5]), tf.constant([0])), tf.int32)
tf.cast(tf.SparseTensor([[0]], [1.5], [2]), tf.int32)
tf.cast(tf.ragged.constant([[1.5], []]), tf.int32)
tf.saturate_cast([300.0, -5.0, 1.7], tf.uint8)
tf.saturate_cast([300, -300], tf.int8)
tf.saturate_cast([1e10, -1e10], tf.int32)
tf.saturate_cast([1.5, 1e6], tf.float16)
tf.saturate_cast(tf.constant([-1, 5]), tf.uint16)
tf.dtypes.saturate_cast(tf.constant([2**40], tf.int64), tf.int32)
tf.bitcast(tf.constant([1.0, -2.0]), tf.int32)
tf.bitcast(tf.constant([1065353216]), tf.float32)
tf.bitcast(tf.constant([1.0]), tf.uint8)
tf.bitcast(tf.constant([[0, 0, 128, 63]], tf.uint8), tf.float32)
tf.bitcast(tf.constant([1.0], tf.float64), tf.int64)
tf.bitcast(tf.constant([1], tf.int64), tf.int32)
tf.bitcast(tf.constant([1, 2], tf.int16), tf.uint16)
tf.bitcast(tf.constant(1.0), tf.int32)
tf.bitcast(tf.constant([1.0], tf.float16), tf.bfloat16)
tf.bitcast(tf.constant([1 + 2j], tf.complex64), tf.float32)
tf.identity([1, 2])
tf.identity(tf.Variable(1.0))
tf.identity('a')
tf.identity(tf.ragged.constant([[1], []]))
tf.identity(tf.SparseTensor([[0]], [1], [2]))
tf.identity_n([1, 2.0, 'a'])
tf.identity_n([tf.constant([1]), tf.constant([2.0])])
tf.stop_gradient([1.0, 2.0])
tf.guarantee_const(3)
tf.is_tensor(1)
tf.is_tensor(tf.constant(1))
tf.is_tensor(tf.Variable(1))
tf.is_tensor(np.array(1))
tf.is_tensor(tf.ragged.constant([[1]]))
tf.is_tensor(tf.SparseTensor([[0]], [1], [2]))
tf.is_tensor([tf.constant(1)])
tf.is_symbolic_tensor(tf.constant(1))
tf.get_static_value(tf.constant([1, 2]))
tf.get_static_value(tf.constant('a'))
tf.constant([1, 2]).numpy()
tf.constant(1).numpy()
tf.constant(1.5, tf.bfloat16).numpy().dtype.name
tf.constant('a').numpy()
tf.constant(['a', 'b']).numpy()
tf.constant(['a', 'b']).numpy().dtype.name
tf.constant(True).numpy()
tf.constant([1, 2]).shape
tf.constant(1).shape
tf.constant([[1, 2]]).shape.as_list()
tf.constant([[1, 2]]).shape.rank
tf.constant([[1, 2]]).ndim
tf.constant([[1, 2]]).get_shape()
tf.constant(1).dtype
tf.constant([1.0]).dtype == tf.float32
tf.constant([1.0]).dtype == 'float32'
tf.constant([1.0]).dtype == np.float32
isinstance(tf.constant(1), tf.Tensor)
isinstance(tf.Variable(1), tf.Tensor)
isinstance(tf.Variable(1), tf.Variable)
type(tf.constant(1)).__name__
np.asarray(tf.Variable([1, 2]))
np.array([tf.constant(1), tf.constant(2)])
np.array(tf.constant([1.5]), np.float64)
tf.Variable([1.5]).numpy()
np.stack([tf.constant([1, 2]), tf.constant([3, 4])])
np.mean(tf.constant([1.0, 3.0]))
np.concatenate([tf.constant([1]), tf.constant([2])])
np.allclose(tf.constant([1.0]), tf.constant([1.0]))
np.array_equal(tf.constant([1, 2]), [1, 2])
tf.make_ndarray(tf.make_tensor_proto([1, 2]))
tf.make_ndarray(tf.make_tensor_proto([[1.5, 2.5]], tf.float64))
tf.make_ndarray(tf.make_tensor_proto(['a', 'b']))
tf.make_ndarray(tf.make_tensor_proto(7, shape=[2, 2]))
tf.make_tensor_proto([1, 2]).dtype
tf.make_tensor_proto([1.5], shape=[3]).float_val[:]
tf.zeros([2, 3])
tf.zeros(3)
tf.zeros([])
tf.zeros(())
tf.zeros((2,), tf.int32)
tf.zeros([1], tf.string)
tf.zeros([2], tf.bool)
tf.zeros([2], tf.bfloat16)
tf.zeros([1], tf.complex64)
tf.zeros(tf.constant([2, 1]))
tf.zeros(tf.TensorShape([2, 1]))
tf.zeros([tf.constant(2), 3])
tf.zeros([0])
tf.zeros(tf.constant([2], tf.int64))
tf.zeros(np.array([1, 2]))
tf.zeros(shape=[1], dtype=tf.float64, name='z')
tf.ones([2, 3])
tf.ones(2)
tf.ones([], tf.int64)
tf.ones([2], tf.bool)
tf.ones([1], tf.complex128)
tf.ones([0, 2])
tf.ones([2], 'float16')
tf.zeros_like([1, 2])
tf.zeros_like([1.5, 2])
tf.zeros_like([[1, 2]], dtype=tf.float32)
tf.zeros_like(['a'])
tf.zeros_like(tf.Variable([1.0, 2.0]))
tf.zeros_like([True])
tf.zeros_like(tf.ragged.constant([[1], [2, 3]]))
tf.zeros_like(np.ones([2, 2]))
tf.zeros_like(input=1, dtype=None, name='z')
tf.ones_like([1, 2])
tf.ones_like([1.5], dtype=tf.int32)
tf.ones_like([True, False])
tf.ones_like(tf.constant([1 + 2j]))
tf.ones_like(3)
tf.ones_like(tf.zeros([0]))
tf.fill([2, 2], 7)
tf.fill([2], 1.5)
tf.fill([], 'a')
tf.fill([0], 1)
tf.fill([2], True)
tf.fill(tf.constant([1, 2]), tf.constant(3, tf.int8))
tf.fill(dims=[2], value=np.float64(1.5), name='f')
tf.range(5)
tf.range(2, 5)
tf.range(0, 10, 3)
tf.range(5, 0, -2)
tf.range(5, 5)
tf.range(0.0, 1.0, 0.25)
tf.range(2.5)
tf.range(3, dtype=tf.float32)
tf.range(3, dtype=tf.int64)
tf.range(1, 3, 0.5)
tf.range(tf.constant(3))
tf.range(start=1, limit=4, delta=1, name='r')
tf.range(np.int64(3))
tf.range(tf.constant(1.0, tf.float64), 3)
tf.range(limit=4, start=1)
tf.range(0.0, 0.3, 0.1)
tf.linspace(0.0, 10.0, 3)
tf.linspace(0, 10, 3)
tf.linspace(1.0, 0.0, 4)
tf.linspace(5.0, 9.0, 1)
tf.linspace([0.0, 1.0], [10.0, 11.0], 3)
tf.linspace([0.0, 1.0], [10.0, 11.0], 3, axis=1)
tf.linspace([0.0, 1.0], [10.0, 11.0], num=2, axis=-1)
tf.linspace(tf.constant(0.0, tf.float64), tf.constant(1.0, tf.float64), 5)
tf.eye(2)
tf.eye(2, 3)
tf.eye(3, num_columns=2, dtype=tf.int32)
tf.eye(2, batch_shape=[2])
tf.eye(0)
tf.eye(tf.constant(2), dtype=tf.complex64)
tf.one_hot([0, 2, -1, 5], 3)
tf.one_hot(1, 3)
tf.one_hot([0, 1], 2, on_value=5, off_value=-1)
tf.one_hot([0, 1], 2, on_value=True, off_value=False)
tf.one_hot([0, 1], 2, axis=0)
tf.one_hot([[0, 1], [1, 2]], 3, axis=1)
tf.one_hot([0, 1], 2, dtype=tf.int64)
tf.one_hot([0], 2, on_value='on', off_value='off')
tf.one_hot([0, 1], 0)
tf.one_hot(tf.constant([1], tf.uint8), 2)
tf.one_hot([0, 1], depth=tf.constant(3), on_value=2.0)
tf.as_dtype('float32')
tf.as_dtype('float')
tf.as_dtype('half')
tf.as_dtype('double')
tf.as_dtype(np.float32)
tf.as_dtype(np.dtype('int8'))
tf.as_dtype(float)
tf.as_dtype(bool)
tf.as_dtype(object)
tf.as_dtype(1)
tf.as_dtype(19)
tf.as_dtype(tf.int8)
tf.as_dtype('string')
tf.as_dtype(np.str_)
tf.as_dtype('bfloat16')
tf.float32.as_numpy_dtype
tf.bfloat16.as_numpy_dtype
tf.string.as_numpy_dtype
tf.bool.as_numpy_dtype
tf.float32.as_datatype_enum
tf.string.as_datatype_enum
tf.float32.size
tf.float64.size
tf.bool.size
tf.complex128.size
tf.float32.is_floating
tf.bfloat16.is_floating
tf.int32.is_floating
tf.int32.is_integer
tf.uint8.is_unsigned
tf.int8.is_unsigned
tf.complex64.is_complex
tf.complex64.is_floating
tf.bool.is_bool
tf.bool.is_integer
tf.string.is_numpy_compatible
tf.qint8.is_quantized
tf.qint8.is_integer
tf.complex64.real_dtype
tf.float32.real_dtype
tf.float32.base_dtype
tf.float32.min
tf.float32.max
tf.float64.max
tf.float16.max
tf.bfloat16.max
tf.bfloat16.min
tf.int8.min
tf.int8.max
tf.uint8.max
tf.int64.max
tf.uint64.max
tf.uint8.limits
tf.int32.limits
tf.float32.is_compatible_with(tf.float32)
tf.float32.is_compatible_with(tf.float64)
tf.float32 == 'float32'
tf.float32 != tf.float64
tf.float32 == np.float32
tf.float32 == 'nonsense'
hash(tf.float32) == hash(tf.as_dtype('float32'))
{tf.float32: 1}[tf.as_dtype('float32')]
len(tf.dtypes.QUANTIZED_DTYPES)
tf.half is tf.float16
tf.double is tf.float64
np.dtype(tf.float32.as_numpy_dtype).name
np.zeros(2, tf.int16.as_numpy_dtype)
tf.constant([1, True])
tf.constant(2**31)
tf.constant([2**40])
tf.constant(True, tf.int32)
tf.constant(300, tf.int8)
tf.constant(-1, tf.uint8)
tf.constant(2**40, tf.int32)
tf.linspace(0.0, 1.0, 0)
tf.linspace([0.0], [1.0, 2.0, 3.0], [2])
tf.one_hot([0], 2, on_value=1, dtype=tf.float32)
""")

GROUP.snippets("""
# a registered conversion function is asked
class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees
def convert(value, dtype=None, name=None, as_ref=False):
    return tf.constant(value.degrees, dtype or tf.float32)
tf.register_tensor_conversion_function(Celsius, convert)
(tf.convert_to_tensor(Celsius(21)), tf.constant([1.0]) + Celsius(1))

# a tensor does not see later changes of its array
a = np.array([1.0, 2.0, 3.0])
t = tf.constant(a)
a[0] = 100.0
t

# a large array is copied too
a = np.zeros(100000, np.float32)
t = tf.convert_to_tensor(a)
a[0] = 100.0
t[0]

# an array taken from a tensor doesn't change the tensor
t = tf.constant([1.0, 2.0])
a = np.array(t)
a[0] = 100.0
t

# namedtuples of tensors
tf.convert_to_tensor(Point(tf.constant(1), 2))

# static shape setting checks
t = tf.constant([[1, 2]])
t.set_shape([1, None])
t.shape

# ensure_shape passes a tensor through
tf.ensure_shape(tf.constant([[1, 2]]), [None, 2])
""")

GROUP.family("tf.constant(True, tf.{dtype})", dtype="int64 uint64 float16 float32 float64")
GROUP.family("tf.constant(True, tf.{dtype})", dtype="int8 uint8 int16 uint16 uint32 bfloat16 complex64", raises=True)
# While a graph is built, the same errors are of another class.
GROUP.family(
    "tf.function(lambda: {call})()",
    raises=True,
    call="""
tf.constant(None)
tf.constant([None])
tf.constant([1, None])
tf.constant({})
tf.constant([1, 'a'])
tf.constant([[1], [2, 3]])
tf.constant(tf.float32)
tf.convert_to_tensor(object())
tf.exp((1, 'a'))
tf.add({}, 1.0)
tf.reshape([1], [1, None])
tf.unstack([[1], [2]], -2)
tf.strings.to_hash_bucket_fast(['a'], -4)
tf.raw_ops.UnicodeEncode(input_values=[65], input_splits=[0, 1], output_encoding='x')
""",
)
GROUP.errors("""
tf.constant(None)
tf.constant(1e39)
tf.constant([1, 2j])
tf.constant([None])
tf.constant([1, None])
tf.constant(object())
tf.constant({})
tf.constant({'a': 1})
tf.constant(set())
tf.constant(lambda: 1)
tf.constant([1, 'a'])
tf.constant(['a', 1])
tf.constant([1.0, 'a'])
tf.constant([True, 1])
tf.constant([1, [2]])
tf.constant([[1], [2, 3]])
tf.constant([[1, 2], 3])
tf.constant(2**63)
tf.constant(-2**63 - 1)
tf.constant(1.5, tf.int32)
tf.constant([1.5], tf.int64)
tf.constant('a', tf.int32)
tf.constant(1, tf.string)
tf.constant(1, tf.bool)
tf.constant(1.0, tf.bool)
tf.constant(1j, tf.float32)
tf.constant([1, 2, 3], shape=[2])
tf.constant([1, 2, 3], shape=[2, 2])
tf.constant([1, 2], shape=[4])
tf.constant(1, 'nonsense')
tf.constant(1, shape='a')
tf.constant(1, tf.resource)
tf.constant(tf.constant(1), tf.float32)
tf.constant(np.array([1, 'a'], object))
tf.constant(np.array([{}], object))
tf.convert_to_tensor(None)
tf.convert_to_tensor(tf.constant(1), tf.float32)
tf.convert_to_tensor(tf.constant(1.0), tf.int32)
tf.convert_to_tensor(tf.Variable(1.0), tf.int32)
tf.convert_to_tensor(1.5, tf.int32)
tf.convert_to_tensor([tf.constant(1), tf.constant(1.0)])
tf.convert_to_tensor([tf.constant(1), 1.5])
tf.convert_to_tensor([tf.constant([1]), tf.constant([1, 2])])
tf.convert_to_tensor(tf.TensorShape([None, 2]))
tf.convert_to_tensor(tf.TensorShape(None))
tf.convert_to_tensor(tf.ragged.constant([[1], [2, 3]]))
tf.convert_to_tensor(tf.SparseTensor([[0]], [1], [2]))
tf.convert_to_tensor(iter([1, 2]))
tf.cast('a', tf.int32)
tf.cast(1, tf.string)
tf.cast('1', tf.float32)
tf.cast(1, 'nonsense')
tf.cast(None, tf.int32)
tf.cast([[1], [2, 3]], tf.int32)
tf.saturate_cast('a', tf.int32)
tf.bitcast(tf.constant([1, 2, 3], tf.uint8), tf.float32)
tf.bitcast(tf.constant(['a']), tf.int32)
tf.bitcast(tf.constant(1.0, tf.float64), tf.string)
tf.zeros([-1])
tf.zeros([1.5])
tf.zeros('a')
tf.zeros([None])
tf.zeros(None)
tf.zeros(tf.TensorShape([None]))
tf.zeros([2], 'nonsense')
tf.zeros([[1, 2]])
tf.ones([2], tf.string)
tf.ones([-2])
tf.ones_like(['a'])
tf.fill([-1], 0)
tf.fill([2], [1, 2])
tf.fill([1.5], 0)
tf.fill([[2]], 0)
tf.range(0, 5, 0)
tf.range([1, 2])
tf.range(0, 1, [1, 2])
tf.range(None)
tf.linspace(0.0, 1.0, -1)
tf.eye(-1)
tf.eye('a')
tf.one_hot([0], -1)
tf.one_hot([0.5], 2)
tf.one_hot([0], 2, on_value=1, off_value=0.5)
tf.one_hot([0], 2, axis=3)
tf.one_hot([0], [2])
tf.as_dtype('nonsense')
tf.as_dtype(None)
tf.as_dtype(1000)
tf.as_dtype([])
tf.as_dtype(object())
tf.string.min
tf.string.max
tf.string.limits
tf.complex64.min
tf.constant([1]).set_shape([2])
tf.constant([1]).set_shape([1, 1])
tf.ensure_shape([1, 2], [3])
tf.ensure_shape([1, 2], [None, None])
tf.constant(1).nonsense
tf.constant(1).dtype.nonsense
tf.constant(1).assign(2)
tf.identity(None)
tf.identity_n([])
tf.make_tensor_proto(None)
tf.make_tensor_proto([1, 2, 3], shape=[2])
tf.constant(1, dtype=int)
tf.constant('a', dtype=str)
tf.range(3, 0)
tf.as_dtype(int)
tf.as_dtype(str)
tf.as_dtype(bytes)
tf.as_dtype(complex)
tf.as_dtype('<f4')
tf.bool.max
tf.bool.min
tf.float16.limits
""")
