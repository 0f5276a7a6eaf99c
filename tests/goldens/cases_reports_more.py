"""What people report about signals, decompositions, extension types, strategies, functions, files, TensorFlow 1."""

from goldens.case import Group

GROUP = Group("""
tf.random.set_seed(1)

def grad(f, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)
""")

GROUP.snippets("""
# a shift by more than the width
byte = tf.bitwise.left_shift(tf.constant(1, tf.int8), tf.constant(7, tf.int8))
(tf.bitwise.left_shift(1, 40), tf.bitwise.right_shift(-8, 40), byte)

# a shift by a negative number
tf.bitwise.left_shift([1, 2], [-1, 1])

# integer powers that overflow
(tf.pow(tf.constant([-47], tf.int64), 66), tf.pow(3, 30))

# a cast between signed and unsigned
back = tf.cast(tf.constant([2 ** 32 - 1], tf.uint32), tf.int32)
(tf.cast([-1, 5], tf.uint32), back, tf.cast([np.inf, np.nan, -1e20], tf.int32))

# the size with another dtype
(tf.size([1, 2, 3]), tf.size([[1], [2]], out_type=tf.int64), tf.rank(3), tf.shape([[1, 2]], out_type=tf.int64))

# a sum of float16 that overflows
tf.reduce_sum(tf.fill([3], tf.constant(30000.0, tf.float16)))

# bfloat16 in arithmetic
(tf.constant(1.0, tf.bfloat16) / 3, tf.cast(tf.constant([1.0039]), tf.bfloat16))

# a short signal in frames
(tf.signal.frame([1, 2, 3, 4, 5], 3, 2), tf.signal.frame([1, 2, 3, 4, 5], 3, 2, pad_end=True))

# a Fourier transform with another length
tf.signal.rfft([1.0, 2.0, 3.0], [4])

# a real transform there and back with an odd length
tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0]), [3])

# STFT and its inverse
x = tf.range(8.0)
s = tf.signal.stft(x, 4, 2, window_fn=None)
tf.signal.inverse_stft(s, 4, 2, window_fn=None)

# a transform of real numbers by fft
tf.signal.fft([1.0, 2.0])

# windows and their ends
(tf.signal.hann_window(4), tf.signal.hann_window(4, periodic=False), tf.signal.hamming_window(1))

# the gradient of the eigenvalues
grad(lambda m: tf.linalg.eigvalsh(m)[0], [[2.0, 1.0], [1.0, 3.0]])

# the gradient of eigenvectors with equal eigenvalues
grad(lambda m: tf.reduce_sum(tf.linalg.eigh(m)[1][0]), [[1.0, 0.0], [0.0, 1.0]])

# the gradient of singular values
grad(lambda m: tf.reduce_sum(tf.linalg.svd(m, compute_uv=False)), [[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])

# singular values of a wide matrix
thin, full = tf.linalg.svd(tf.ones([2, 3, 4])), tf.linalg.svd(tf.ones([3, 4]), full_matrices=True)
[t.shape for t in [*thin, *full]]

# a pseudo-inverse and a rank
(tf.linalg.pinv([[1.0, 2.0], [2.0, 4.0]]), tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))

# a logarithm of a determinant
(tf.linalg.logdet([[2.0, 0.0], [0.0, 3.0]]), tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]))

# a matrix exponential and its gradient
grad(lambda m: tf.reduce_sum(tf.linalg.expm(m)), [[0.0, 1.0], [0.0, 0.0]])

# the trace and the diagonals
x = tf.reshape(tf.range(6), [2, 3])
parts = tf.linalg.diag_part(x, k=(0, 1), padding_value=-1)
(tf.linalg.trace(x), parts, tf.linalg.band_part(x, 0, -1), tf.linalg.set_diag(x, [9, 9]))

# triangular systems from the right
tf.linalg.triangular_solve([[2.0, 1.0], [0.0, 4.0]], [[2.0], [4.0]], lower=False, adjoint=True)

# tensordot over no axes
tf.tensordot([1, 2], [3, 4], 0)

# einsum that sums a repeated index
(tf.einsum("ii->i", tf.constant([[1, 2], [3, 4]])), tf.einsum("ij->", tf.constant([[1.0, 2.0]])))

# kronecker and cross products
tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])

# an extension type in a function
class P(tf.experimental.ExtensionType):
    x: tf.Tensor
    k: int = 2
@tf.function
def f(p):
    return P(p.x * p.k, 3)
p = f(P([1, 2]))
(p.x, p.k, p == P([2, 4], 3))

# a batchable extension type in a dataset
class P(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
ds = tf.data.Dataset.from_tensor_slices(P([[1, 2], [3, 4]])).map(lambda p: P(p.x * 2)).batch(2)
[p.x for p in ds]

# slices of a batchable extension type
class P(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    r: tf.RaggedTensor
ds = tf.data.Dataset.from_tensor_slices(P([[1, 2], [3, 4]], tf.ragged.constant([[[1]], [[2, 3], []]])))
[(p.x, p.r) for p in ds]

# a batchable extension type and a filter
class P(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
ds = tf.data.Dataset.from_tensor_slices((P([[1, 2], [3, 4]]), [5, 6])).filter(lambda p, y: p.x[0] > 1)
[(p.x, y) for p, y in ds.batch(2).unbatch()]

# a nested extension type as a result
class A(tf.experimental.ExtensionType):
    v: tf.Tensor
class B(tf.experimental.ExtensionType):
    a: A
    m: tf.Tensor
b = tf.function(lambda v: B(A(v), v + 1))(tf.constant(1))
(b.a.v, b.m)

# dispatch for an own type
class M(tf.experimental.ExtensionType):
    v: tf.Tensor
@tf.experimental.dispatch_for_api(tf.add)
def add(x: M, y: M, name=None):
    return M(x.v + y.v)
tf.add(M([1]), M([2])).v

# an optional and its value
o = tf.experimental.Optional.from_value(tf.constant(3))
(o.has_value(), o.get_value(), tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).has_value())

# the strategy of one device
s = tf.distribute.OneDeviceStrategy("/cpu:0")
with s.scope():
    v = tf.Variable(1.0)
r = s.run(lambda x: v.assign_add(x), args=(tf.constant(2.0),))
(s.num_replicas_in_sync, s.reduce("SUM", r, axis=None), v)

# the default strategy
s = tf.distribute.get_strategy()
(tf.distribute.has_strategy(), s.num_replicas_in_sync, tf.distribute.in_cross_replica_context())

# a mean over an axis
s = tf.distribute.get_strategy()
s.reduce(tf.distribute.ReduceOp.MEAN, tf.constant([1.0, 3.0]), axis=0)

# a distributed dataset of one replica
s = tf.distribute.MirroredStrategy(["/cpu:0"])
ds = s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))
[int(s.reduce("SUM", s.run(tf.reduce_sum, args=(x,)), axis=None)) for x in ds]

# the average loss of a batch
tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=4)

# a regularization loss
tf.nn.scale_regularization_loss([2.0, 4.0])

# a name scope in names
with tf.name_scope("a"):
    v = tf.Variable(1.0, name="w")
v.name

# names of operations in a graph
@tf.function
def f(x):
    with tf.name_scope("block"):
        return tf.add(x, 1, name="more")
[o.name for o in f.get_concrete_function(tf.TensorSpec([])).graph.get_operations()]

# the graph of a function
f = tf.function(lambda x: x * 2 + 1).get_concrete_function(tf.TensorSpec([None]))
[o.type for o in f.graph.get_operations()]

# the signature of a concrete function
f = tf.function(lambda x, k: {"y": x * k}).get_concrete_function(tf.TensorSpec([None], name="in"), 3)
(f.structured_input_signature, f.output_shapes)

# a concrete function given another shape
f = tf.function(lambda x: tf.reduce_sum(x)).get_concrete_function(tf.TensorSpec([2]))
f(tf.constant([1.0, 2.0, 3.0]))

# control dependencies keep an update
v = tf.Variable(1.0)
@tf.function
def f():
    a = v.assign(5.0)
    with tf.control_dependencies([a]):
        return v * 2
f()

# a variable's value before and after
v = tf.Variable(1.0)
a, b = v.value(), v.read_value()
v.assign(3.0)
(a, b, v.value())

# init_scope lifts out of a function
seen = []
@tf.function
def f(x):
    with tf.init_scope():
        seen.append(tf.executing_eagerly())
    seen.append(tf.executing_eagerly())
    return x
f(1)
seen

# a function of a partial
import functools
f = tf.function(functools.partial(lambda x, y: x - y, y=3))
f(tf.constant(5))

# a function of a bound method and its self
class A:
    def __init__(self):
        self.n = 0
    def f(self, x):
        self.n += 1
        return x + self.n
a = A()
f = tf.function(a.f)
(f(tf.constant(1)), f(tf.constant(1)), a.n)

# variable-length arguments
@tf.function
def f(*xs, **kw):
    return tf.add_n(xs) * kw["k"]
f(tf.constant(1), tf.constant(2), k=tf.constant(3))

# an argument that is None
@tf.function
def f(x, mask=None):
    return x if mask is None else x * mask
(f(tf.constant(2)), f(tf.constant(2), tf.constant(3)))

# a string argument chooses
@tf.function
def f(x, mode):
    if mode == "double":
        return x * 2
    return x
(f(tf.constant(2), "double"), f(tf.constant(2), "same"))

# strings and tensors compared in a function
@tf.function
def f(mode):
    if mode == "double":
        return 2
    return 1
(f(tf.constant("double")), f("x"))

# a sparse and a ragged argument
@tf.function
def f(s, r):
    return tf.sparse.reduce_sum(s) + tf.reduce_sum(r)
f(tf.sparse.from_dense([[1, 0], [0, 2]]), tf.ragged.constant([[1], [2, 3]]))

# an exponential moving average
e = tf.train.ExponentialMovingAverage(0.5)
v = tf.Variable(1.0)
e.apply([v])
v.assign(3.0)
e.apply([v])
e.average(v)

# gradients accumulated by hand
v = tf.Variable([1.0, 2.0])
total = tf.Variable(tf.zeros_like(v))
for k in (1.0, 2.0):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v ** 2) * k
    total.assign_add(tape.gradient(y, v))
v.assign_sub(0.1 * total)

# print to a string by summarize
tf.strings.format("{}", tf.range(20), summarize=2)

# a gather of a matrix by axis
(tf.gather([[1, 2], [3, 4]], 1, axis=1), tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1]][0]))

# segments with a gap
(tf.math.segment_sum([1, 2], [0, 2]), tf.math.unsorted_segment_mean([1.0, 3.0], [1, 1], 3))

# dynamic partition and stitch
p = tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2)
(p, tf.dynamic_stitch([[1], [0, 2]], p))

# a split by sizes with an unknown
tf.split(tf.range(5), [2, -1])

# a reshape to an unknown shape in a function
f = tf.function(lambda x: tf.reshape(x, [-1, 2]), input_signature=[tf.TensorSpec([None, 4])])
f.get_concrete_function().output_shapes

# the static shape after a mask
f = tf.function(lambda x: tf.boolean_mask(x, x > 0), input_signature=[tf.TensorSpec([4])])
f.get_concrete_function().output_shapes

# set_shape narrows
@tf.function(input_signature=[tf.TensorSpec(None)])
def f(x):
    x.set_shape([None, 2])
    return x
(f.get_concrete_function().output_shapes, f(tf.ones([1, 2])))

# searchsorted with duplicates
(tf.searchsorted([1, 2, 2, 3], [2]), tf.searchsorted([1, 2, 2, 3], [2], side="right"))

# argsort that is stable and descending
(tf.argsort([2, 1, 2], stable=True), tf.argsort([2, 1, 2], direction="DESCENDING", stable=True))

# sequence masks
(tf.sequence_mask([1, 3]), tf.sequence_mask([1, 3], 2, tf.float32))

# reversed sequences
tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1)

# rolls along two axes
tf.roll([[1, 2], [3, 4]], [1, 1], [0, 1])

# set operations
(tf.sets.intersection([[1, 2, 3]], [[2, 3, 4]]).values, tf.sets.size(tf.sets.union([[1, 2]], [[3]])))

# edit distances of words
a = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
b = tf.SparseTensor([[0, 0]], ["a"], [1, 1])
tf.edit_distance(a, b)

# confusion matrices
matrix = tf.math.confusion_matrix
(matrix([0, 1, 1], [0, 1, 0]), matrix([0, 2], [0, 1], num_classes=3, weights=[2, 3]))

# in_top_k with ties and NaN
tf.math.in_top_k([0, 1], [[1.0, 1.0], [np.nan, 1.0]], 1)

# l2_normalize of zeros
tf.math.l2_normalize([[0.0, 0.0], [3.0, 4.0]], axis=1)

# local response normalization
tf.nn.local_response_normalization(tf.reshape(tf.range(4.0), [1, 1, 1, 4]))[0, 0, 0]

# embeddings looked up by norm
tf.nn.embedding_lookup(tf.constant([[3.0, 4.0], [0.3, 0.4]]), [0, 1], max_norm=1.0)

# lists for an embedding are its parts
tf.nn.embedding_lookup([[3.0, 4.0], [0.3, 0.4]], [0, 1, 3])

# a sparse embedding's mean with an empty row
ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 1, 1], tf.int64), [3, 2])
tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [3.0]]), ids, combiner="mean")

# atrous convolution
tf.nn.atrous_conv2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 2, "VALID")[0, :, :, 0]

# a transposed convolution by hand
tf.nn.conv2d_transpose(tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1]), [1, 2, 2, 1], 2)[0, ..., 0]

# depth to space
tf.nn.depth_to_space(tf.reshape(tf.range(4), [1, 1, 1, 4]), 2)[0, ..., 0]

# pooling that returns places
tf.nn.max_pool_with_argmax(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID")

# the CTC loss of a label that does not fit
tf.nn.ctc_loss([[1, 1]], tf.zeros([2, 1, 3]), [2], [2], blank_index=0)

# weighted cross entropy
tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.5, 0.5], pos_weight=3.0)

# truncated normals stay inside
bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([200])) <= 2.0))

# a shuffle keeps the elements
tf.sort(tf.random.shuffle(tf.range(10)))

# a generator's state in a function
g = tf.random.Generator.from_seed(7)
f = tf.function(lambda: g.uniform([]))
a, b = f(), f()
bool(a == b)

# reset of a generator
g = tf.random.Generator.from_seed(7)
a = g.normal([2])
g.reset_from_seed(7)
bool(tf.reduce_all(a == g.normal([2])))

# TensorArray with elements of other shapes
ta = tf.TensorArray(tf.float32, 2, infer_shape=False)
ta = ta.write(0, [1.0]).write(1, [2.0, 3.0])
ta.concat()

# files by pattern
tf.io.write_file(tmp + "/b.txt", "2")
tf.io.write_file(tmp + "/a.txt", "1")
[p.numpy().decode().replace(tmp, "") for p in tf.io.matching_files(tmp + "/*.txt")]

# gfile appends
with tf.io.gfile.GFile(tmp + "/x", "w") as f:
    f.write("a")
with tf.io.gfile.GFile(tmp + "/x", "a") as f:
    f.write("b")
(tf.io.read_file(tmp + "/x"), tf.io.gfile.listdir(tmp), tf.io.gfile.isdir(tmp))

# protos of tensors
tf.make_ndarray(tf.make_tensor_proto([[1.0, 2.0]]))

# a quantization and back
q = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
tf.quantization.dequantize(q[0], q[1], q[2])

# fake quantization
tf.quantization.fake_quant_with_min_max_args([-1.0, 0.1, 7.0], min=0.0, max=6.0)

# the version's parts
[type(v).__name__ for v in (tf.__version__, tf.version.GIT_VERSION, tf.version.COMPILER_VERSION)]

# physical devices
[d.device_type for d in tf.config.list_physical_devices("CPU")]

# the device of a tensor
tf.constant(1).device.endswith("CPU:0")

# a session on a graph
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None])
    y = x * 2
    with tf.compat.v1.Session() as s:
        r = s.run(y, {x: [1.0, 2.0]})
r

# names of TensorFlow 1
[hasattr(tf, n) for n in ("Session", "placeholder", "global_variables_initializer", "log", "contrib", "matmul")]
""")

GROUP.snippets(
    """
# the gradient of a STFT with a shorter transform
grad(lambda x: tf.reduce_sum(tf.abs(tf.signal.stft(x, 4, 2, fft_length=2))), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

# a concrete function given another dtype
f = tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([None]))
f(tf.constant([1]))

# unstack of an unknown dimension
tf.function(lambda x: tf.unstack(x), input_signature=[tf.TensorSpec([None])])(tf.ones([2]))

# static values
f = tf.function(lambda x: tf.constant(tf.get_static_value(tf.shape(x)[0])))
(tf.get_static_value(tf.constant([1, 2])), f(tf.ones([3])))

# memory of a device that is a CPU
tf.config.experimental.get_memory_info("CPU:0")

# a session's name that moved
tf.Session()

# get_variable at the top
tf.get_variable("v", [1])
""",
    raises=True,
)

GROUP.snippets(
    """
# a matrix that is not square
tf.linalg.det(tf.ones([2, 3]))

# solving with a singular matrix
tf.linalg.solve([[1.0, 1.0], [1.0, 1.0]], [[1.0], [2.0]])

# an extension type that is changed
class P(tf.experimental.ExtensionType):
    x: tf.Tensor
p = P([1])
setattr(p, "x", 2)

# an extension type given another type
class P(tf.experimental.ExtensionType):
    x: tf.Tensor
    name: str
P([1], 5)

# an extension type with a shape
class P(tf.experimental.ExtensionType):
    x: tf.TensorSpec([2], tf.float32)
P([1.0, 2.0, 3.0])

# an extension type that validates
class P(tf.experimental.ExtensionType):
    x: tf.Tensor
    def __validate__(self):
        self.x.shape.assert_has_rank(1)
P([[1]])

# an empty optional's value
tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).get_value()

# assertions that hold and fail
tf.debugging.assert_equal([1, 2], [1, 2])
tf.debugging.assert_less([1, 2], [2, 2], message="too large")

# a shape assertion by symbols
tf.debugging.assert_shapes([(tf.ones([2, 3]), ("n", "d")), (tf.ones([4, 3]), ("n", "d"))])

# check_numerics names the tensor
tf.debugging.check_numerics([1.0, np.nan], "the loss")

# gather_nd with indices too deep
tf.gather_nd([1, 2], [[0, 1]])

# segments of unsorted ids
tf.math.segment_sum([1, 2, 3], [1, 0, 1])

# a dynamic partition out of range
tf.dynamic_partition([10, 20], [0, 5], 2)

# set_shape that contradicts
tf.constant([1, 2]).set_shape([3])

# reverse along an axis that is a number
tf.reverse([1, 2, 3], 0)

# a label outside of the confusion matrix
tf.math.confusion_matrix([0, 3], [0, 1], num_classes=2)

# Poisson and Gamma with seeds
(tf.random.stateless_poisson([3], [1, 2], [4.0]), tf.random.stateless_gamma([2], [1, 2], 2.0))

# the sum of a uniform integer's bounds
tf.random.uniform([], 5, 5, tf.int32)

# TensorArray read twice
ta = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
(ta.read(0), ta.read(0))

# TensorArray beyond its size
tf.TensorArray(tf.float32, 2).write(2, 1.0)

# summaries without a step
w = tf.summary.create_file_writer(tmp)
def write():
    with w.as_default():
        tf.summary.scalar("a", 1.0)
write()

# gfile on a missing file
tf.io.gfile.GFile(tmp + "/missing").read()

# a placeholder in eager mode
tf.compat.v1.placeholder(tf.float32)
""",
    raises=True,
    message=True,
)
