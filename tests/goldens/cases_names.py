"""Names: what is the same thing under two names, every dtype and its properties, and small public odds and ends."""

from goldens.case import Group

GROUP = Group()

GROUP.family("tf.{f} is tf.math.{f}", f="""
abs
acos
acosh
add
add_n
argmax
argmin
asin
asinh
atan
atan2
atanh
cos
cosh
cumsum
divide
equal
exp
floor
greater
greater_equal
less
less_equal
logical_and
logical_not
logical_or
maximum
minimum
multiply
negative
not_equal
pow
reduce_all
reduce_any
reduce_logsumexp
reduce_max
reduce_mean
reduce_min
reduce_prod
reduce_sum
round
scalar_mul
sigmoid
sign
sin
sinh
sqrt
square
subtract
tan
tanh
truediv
""")  # fmt: skip
GROUP.family("tf.nn.{f} is tf.math.{f}", f="""
in_top_k
l2_normalize
log_softmax
sigmoid
softmax
softplus
softsign
tanh
top_k
zero_fraction
""")  # fmt: skip
GROUP.family("tf.linalg.{f} is tf.{f}", f="einsum eye matmul norm tensordot eig eigvals")
GROUP.family("tf.dtypes.{f} is tf.{f}", f="cast saturate_cast as_dtype DType complex")
GROUP.values("""
tf.autodiff.GradientTape is tf.GradientTape
tf.strings.as_string is tf.as_string
tf.nn.swish is tf.nn.silu
tf.nn.lrn is tf.nn.local_response_normalization
tf.math.mod is tf.math.floormod
tf.linalg.l2_normalize is tf.math.l2_normalize
tf.linalg.sqrtm is tf.matrix_square_root
tf.nn.space_to_batch is tf.space_to_batch
tf.random.experimental.Generator is tf.random.Generator
tf.random.experimental.Algorithm is tf.random.Algorithm
tf.random.experimental.stateless_split is tf.random.split
tf.random.experimental.stateless_fold_in is tf.random.fold_in
tf.random.experimental.get_global_generator is tf.random.get_global_generator
tf.random.experimental.set_global_generator is tf.random.set_global_generator
tf.debugging.Assert is tf.Assert
tf.debugging.assert_equal is tf.assert_equal
tf.config.experimental.list_logical_devices is tf.config.list_logical_devices
tf.newaxis is None
tf.half is tf.float16
issubclass(tf.TensorSpec, tf.TypeSpec)
issubclass(tf.RaggedTensorSpec, tf.TypeSpec)
isinstance(tf.constant(1), tf.Tensor)
isinstance(tf.float32, tf.DType)
isinstance(tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperator)
isinstance(tf.linalg.LinearOperatorDiag([1.0]), tf.Module)
isinstance(tf.Graph(), tf.Graph)
tf.AggregationMethod.ADD_N
tf.AggregationMethod.DEFAULT
tf.AggregationMethod.EXPERIMENTAL_TREE
tf.exp.__name__
tf.matmul.__name__
tf.Tensor.__name__
tf.Variable.__name__
tf.eig(tf.constant([[2.0, 0.0], [0.0, 2.0]]))
tf.eigvals(tf.constant([[2.0, 0.0], [0.0, 2.0]]))
tf.conv(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'VALID')
tf.ragged_fill_empty_rows(tf.constant([0, 2], tf.int64), [1.5, 2.5], 3, 9.0)
tf.linalg.LinearOperatorBlockLowerTriangular([[tf.linalg.LinearOperatorDiag([2.0])]]).to_dense()
tf.config.LogicalDevice('/device:CPU:0', 'CPU').device_type
tf.config.experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
tf.config.experimental.get_visible_devices('CPU')[0].name
tf.config.experimental.get_device_policy()
tf.config.threading.get_inter_op_parallelism_threads() >= 0
""")

DTYPES = """
bfloat16
bool
complex128
complex64
double
float16
float32
float64
half
int16
int32
int64
int8
qint16
qint32
qint8
quint16
quint8
resource
string
uint16
uint32
uint64
uint8
variant
experimental.float4_e2m1fn
experimental.float8_e4m3b11fnuz
experimental.float8_e4m3fn
experimental.float8_e4m3fnuz
experimental.float8_e5m2
experimental.float8_e5m2fnuz
experimental.int2
experimental.int4
experimental.uint2
experimental.uint4
"""
GROUP.family("tf.dtypes.{dtype}", dtype=DTYPES)
GROUP.family(
    "tf.dtypes.{dtype}.{flag}",
    dtype=DTYPES,
    flag="size as_datatype_enum is_floating is_integer is_unsigned is_complex is_bool is_numeric is_quantized",
)
GROUP.family(
    "np.dtype(tf.dtypes.{dtype}.as_numpy_dtype).name", dtype=DTYPES.replace("resource\n", "").replace("variant\n", "")
)
GROUP.family("[tf.dtypes.{dtype}.min, tf.dtypes.{dtype}.max]", dtype="""
bfloat16
float16
float32
float64
int8
int16
int32
int64
uint8
uint16
uint32
uint64
experimental.int4
experimental.uint4
experimental.float8_e5m2
experimental.float8_e4m3fn
""")  # fmt: skip
GROUP.family("tf.cast([1.5, -2.25, 300.0, 0.1], tf.dtypes.experimental.{dtype})", dtype="float8_e5m2 float8_e4m3fn")
GROUP.family("tf.cast([1, -2, 7, 100], tf.dtypes.experimental.{dtype})", dtype="int4 uint4")
GROUP.family("tf.dtypes.{dtype}.max", dtype="qint8 quint8 qint16 quint16 qint32 string resource", raises=True)

GROUP.snippets("""
# tensor float 32 can be turned off
tf.config.experimental.enable_tensor_float_32_execution(False)
try:
    given = tf.config.experimental.tensor_float_32_execution_enabled()
finally:
    tf.config.experimental.enable_tensor_float_32_execution(True)
given

# jit can be set
before = tf.config.optimizer.get_jit()
tf.config.optimizer.set_jit('autoclustering')
try:
    given = tf.config.optimizer.get_jit()
finally:
    tf.config.optimizer.set_jit(False)
[before, given]

# optimizer options can be set
tf.config.optimizer.set_experimental_options({'constant_folding': True})
try:
    given = tf.config.optimizer.get_experimental_options()['constant_folding']
finally:
    tf.config.optimizer.set_experimental_options({})
given

# device placement can be logged
tf.debugging.set_log_device_placement(True)
try:
    given = tf.debugging.get_log_device_placement()
finally:
    tf.debugging.set_log_device_placement(False)
given
""")
