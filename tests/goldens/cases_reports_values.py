"""What people report about tensors and variables: dtypes, NumPy, assigning, slicing, ragged and sparse tensors."""

from goldens.case import Group

GROUP = Group("""
tf.random.set_seed(1)
""")

GROUP.snippets(r"""
# a float tensor and a Python integer
(tf.constant([1.0]) * 2, 2 ** tf.constant([3.0]), 1 / tf.constant([4.0]))

# a NumPy double on the left
(np.float64(2.0) * tf.constant([1.0], tf.float64)).dtype

# a NumPy double and a float32
np.float64(2.0) * tf.constant([1.0])

# a NumPy double on the right
tf.constant([1.0]) * np.float64(2.0)

# an array of doubles on the right
tf.constant([1.0]) * np.array([2.0])

# an int64 array and an int32 tensor
tf.constant([1]) + np.array([1])

# Python integers beyond int32
tf.constant(2 ** 31)

# a negative number for an unsigned dtype
tf.constant(-1, tf.uint8)

# a number too large for uint8
tf.constant(256, tf.uint8)

# uint8 wraps around
tf.constant([250], tf.uint8) + tf.constant([10], tf.uint8)

# a cast of negative floats to uint8
tf.cast([300.0, 1.9], tf.uint8)

# saturated casts
tf.saturate_cast([-5.0, 300.0, 1.9], tf.uint8)

# a mean of integers
tf.reduce_mean([1, 2])

# the division of integers
t = tf.constant(-7)
(t / 2, t // 2, t % 3, tf.truncatediv(-7, 2), tf.math.mod(-7, 3))

# float division by zero
(tf.constant(1.0) / 0, tf.constant(0.0) / 0, tf.constant(1.0) // 0)

# the absolute value of the smallest integer
tf.abs(tf.constant([-128], tf.int8))

# rounding halves
tf.round([0.5, 1.5, 2.5, -0.5])

# argmax gives int64
(tf.argmax([1, 5, 2]), tf.argmax([[1, 1]], axis=1, output_type=tf.int32), tf.argmax([np.nan, 1.0]))

# equality of tensors of other shapes
(tf.constant([1, 2]) == tf.constant([1, 2, 3]), tf.constant([1, 2]) != tf.constant([[1], [2]]))

# a tensor in a list
tf.constant(2) in [tf.constant(1), tf.constant(2)]

# a tensor's reference as a key
t = tf.constant(1)
{t.ref(): 2}[t.ref()]

# a tensor as a list index
[10, 20, 30][tf.constant(1)]

# range of a tensor
list(range(tf.constant(3)))

# formatting a tensor
f"{tf.constant(1.25):.1f}"

# slices beyond the end
t = tf.constant([1, 2, 3])
(t[1:10], t[5:], t[::-1], t[-2:])

# an index by a boolean mask
tf.constant([1, 2, 3])[tf.constant([True, False, True])]

# new axes and ellipses
t = tf.zeros([2, 3, 4])
[t[..., tf.newaxis].shape, t[:, None, 1].shape, t[..., 0].shape, t[0, ..., 1:2].shape]

# gather with batch dimensions
tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1)

# a scatter that repeats an index
(tf.scatter_nd([[0], [0]], [1, 2], [2]), tf.tensor_scatter_nd_update([0, 0], [[1], [1]], [5, 6]))

# where with one argument
tf.where([[True, False], [True, True]])

# where that broadcasts
tf.where([[True], [False]], [1, 2], 0)

# reshape with a tensor among the sizes
tf.reshape(tf.range(6), [tf.constant(2), -1])

# squeeze of everything
(tf.squeeze([[[1]]]).shape, tf.squeeze([[[1, 2]]], axis=[0]).shape)

# tile and repeat
(tf.tile([1, 2], [2]), tf.repeat([1, 2], [1, 3]), tf.repeat([[1, 2]], 2, axis=0))

# one-hot of an index outside
tf.one_hot([0, 3, -1], 3)

# one-hot with values of another dtype
tf.one_hot([0], 2, on_value="on", off_value="off")

# an empty list
(tf.constant([]), tf.constant([[]]).shape, tf.constant([], tf.int32))

# converting a list of tensors and numbers
tf.convert_to_tensor([tf.constant(1.0), 2])

# an array of strings
tf.constant(np.array(["a", "bc"]))

# an array of bytes with zeros at the end
tf.constant(np.array([b"a", b"b\x00"]))

# an array in Fortran order and one with negative strides
arrays = [np.asfortranarray([[1, 2], [3, 4]]), np.arange(4)[::-1], np.arange(4, dtype=">i4")]
[tf.constant(a) for a in arrays]

# a tensor does not share memory with its array
a = np.array([1, 2])
t = tf.constant(a)
a[0] = 9
t

# NumPy functions on tensors
(np.mean(tf.constant([1.0, 2.0])), np.concatenate([tf.constant([1]), tf.constant([2])]), np.exp(tf.constant(0.0)))

# an array of tensors
np.array([tf.constant(1), tf.constant(2)])

# numpy() of a string and of a bfloat16
(tf.constant("é").numpy(), tf.constant([1.5], tf.bfloat16).numpy().dtype.name)

# a variable of any shape
v = tf.Variable([1.0], shape=tf.TensorShape(None))
v.assign([[1.0, 2.0]])
(v.shape, v.read_value())

# a variable assigned by a slice
v = tf.Variable([[1, 2], [3, 4]])
v[:, 0].assign([9, 8])
v

# a variable in arithmetic
(tf.Variable(2.0) * 3, tf.Variable([1, 2])[1], -tf.Variable(1.0))

# scatter updates of a variable
v = tf.Variable([1.0, 2.0, 3.0])
v.scatter_add(tf.IndexedSlices(tf.constant([10.0, 20.0]), tf.constant([0, 0])))
v.scatter_nd_update([[2]], [7.0])
v

# a copy of a variable
import copy
v = tf.Variable(1.0)
w = copy.deepcopy(v)
w.assign(2.0)
v

# a variable from a function
tf.Variable(lambda: tf.ones([2]), shape=[2])

# a variable of strings
v = tf.Variable(["a"])
v.assign(["bc"])

# a name that is used twice
[tf.Variable(1, name="v").name for _ in range(2)]

# variables of a module
class M(tf.Module):
    def __init__(self):
        self.w = [tf.Variable(1.0, name="b"), {"k": tf.Variable(2.0, name="a")}]
        self.n = tf.Variable(3, trainable=False, name="c")
m = M()
([v.name for v in m.variables], [v.name for v in m.trainable_variables])

# a ragged tensor of Python lists
r = tf.ragged.constant([[1], [], [2, 3]])
(r.shape, r.row_lengths(), r.to_tensor(-1), r[2, 1], r[1:])

# slices of ragged columns
tf.ragged.constant([[1, 2], [], [2, 3]])[:, :1]

# a ragged tensor and a column
tf.ragged.constant([[1], [2, 3]]) + tf.constant([[10], [20]])

# reductions of ragged rows
r = tf.ragged.constant([[1.0], [], [2.0, 4.0]])
(tf.reduce_sum(r, 1), tf.reduce_mean(r, 1), tf.reduce_max(r, 1), tf.reduce_sum(r))

# a ragged tensor's numpy()
tf.ragged.constant([[1], [2, 3]]).numpy().tolist()

# ragged concatenation and stack
a, b = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4, 5], []])
(tf.concat([a, b], 1), tf.concat([a, b], 0), tf.stack([a, b]).shape)

# a ragged boolean mask
tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])

# gather on a ragged tensor
tf.gather(tf.ragged.constant([["a"], ["b", "c"]]), [1, 0])

# map_fn over ragged rows
tf.map_fn(tf.reduce_sum, tf.ragged.constant([[1], [2, 3]]), fn_output_signature=tf.int32)

# the gradient of a ragged mean
x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_mean(tf.RaggedTensor.from_row_lengths(x, [1, 2]), axis=1)
tape.gradient(y, x)

# ragged ids in an embedding
tf.nn.embedding_lookup(tf.constant([[1.0], [2.0]]), tf.ragged.constant([[0], [1, 0]]))

# a sparse tensor from unsorted indices
st = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
tf.sparse.to_dense(tf.sparse.reorder(st))

# sparse times dense
tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[0.0, 2.0]]), [[1.0], [3.0]])

# sparse times a number
tf.sparse.from_dense([[0.0, 2.0]]) * 3.0

# adding sparse and dense
tf.sparse.add(tf.sparse.from_dense([[0.0, 2.0]]), tf.constant([[1.0, 1.0]]))

# sparse reductions
tf.sparse.reduce_sum(tf.sparse.from_dense([[0.0, 2.0], [1.0, 3.0]]), axis=1)

# sparse concatenation of other heights
tf.sparse.concat(1, [tf.sparse.eye(2), tf.sparse.eye(3)], expand_nonconcat_dims=True)

# slices of sparse tensors
tf.sparse.slice(tf.sparse.eye(3), [1, 1], [5, 1])

# einsum by a wrong equation
tf.einsum("ij,kl->il", tf.ones([2, 3]), tf.ones([4, 5]))

# einsum with an ellipsis
tf.einsum("...ij,...jk->...ik", tf.ones([2, 1, 2]), tf.ones([2, 3])).shape

# matmul of integers and transposes
tf.matmul([[1, 2]], [[3, 4]], transpose_b=True)

# a Cholesky of a matrix that isn't positive
tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])

# least squares with more rows
tf.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [[0.0], [1.0], [2.0]])

# sorting with NaN
tf.sort([3.0, np.nan, 1.0])

# unique with counts
tf.unique_with_counts([3, 1, 3])

# bincount with weights
(tf.math.bincount([0, 2, 2]), tf.math.bincount([0, 2], weights=[0.5, 2.0], minlength=5))

# a histogram that clips
tf.histogram_fixed_width([-1.0, 0.1, 0.9, 5.0], [0.0, 1.0], 2)

# cumulative sums from the end
(tf.cumsum([1, 2, 3], reverse=True), tf.cumsum([1, 2, 3], exclusive=True), tf.math.cumulative_logsumexp([0.0, 1.0]))

# linspace and range of floats
(tf.linspace(0.0, 1.0, 3), tf.range(0.0, 1.0, 0.4), tf.linspace(0, 1, 3).dtype)

# meshgrid by matrix indices
tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")

# clip with limits in the wrong order
tf.clip_by_value([1.0, 5.0], 4.0, 2.0)

# NaN in maximum and reduce_max
(tf.maximum(np.nan, 1.0), tf.reduce_max([np.nan, 1.0]), tf.reduce_min([1.0, np.nan]))

# a reduction of nothing
(tf.reduce_sum([]), tf.reduce_mean([]), tf.reduce_max([]), tf.reduce_prod([]), tf.reduce_logsumexp([]))

# a softmax over a mask of minus infinity
tf.nn.softmax([-np.inf, -np.inf])

# sigmoid cross entropy of large logits
tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[1000.0, 1000.0])

# a convolution of grouped channels
tf.nn.conv2d(tf.ones([1, 2, 2, 4]), tf.ones([1, 1, 2, 2]), 1, "SAME")[0, 0, 0]

# pooling with strides beyond the window
tf.nn.max_pool2d(tf.reshape(tf.range(9.0), [1, 3, 3, 1]), 1, 2, "SAME")[0, :, :, 0]

# moments and batch normalization by hand
m, v = tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), [0])
tf.nn.batch_normalization(tf.constant([[1.0, 2.0]]), m, v, None, None, 1e-3)

# gelu and its approximation
(tf.nn.gelu([-1.0, 2.0]), tf.nn.gelu([-1.0, 2.0], approximate=True))

# CTC decodes greedily
logits = tf.constant([[[0.1, 2.0, 0.0]], [[0.0, 2.0, 0.1]], [[3.0, 0.0, 0.0]]])
d, p = tf.nn.ctc_greedy_decoder(logits, [3], blank_index=0)
(d[0], p)

# a seed of the process and of the op
tf.random.set_seed(5)
a = tf.random.uniform([2], seed=1)
b = tf.random.uniform([2], seed=1)
tf.random.set_seed(5)
(a, b, tf.random.uniform([2], seed=1))

# a seed of the process only
tf.random.set_seed(5)
(tf.random.normal([2]), tf.random.normal([2]), tf.random.shuffle([1, 2, 3, 4]))

# a seed in a function
tf.random.set_seed(5)
f = tf.function(lambda: tf.random.uniform([2], seed=1))
g = tf.function(lambda: tf.random.uniform([2], seed=1))
(f(), f(), g())

# stateless random numbers
drawn = tf.random.stateless_categorical([[0.0, 1.0]], 3, [1, 2])
(tf.random.stateless_uniform([2], [1, 2]), tf.random.stateless_normal([2], [1, 2]), drawn)

# a generator split in two
g = tf.random.Generator.from_seed(3)
[h.uniform([1]) for h in g.split(2)] + [g.normal([1])]

# static shapes that are compared
S = tf.TensorShape
(S([None, 2]) == [None, 2], S(None) == S(None), S([1, 2]).as_list(), S([2])[0])

# a device that is not there
with tf.device("/GPU:7"):
    t = tf.constant(1) + 1
t

# nest flattens dicts by key
(tf.nest.flatten({"b": 1, "a": [2, (3,)]}), tf.nest.map_structure(lambda x: x * 2, {"b": 1, "a": (2,)}))

# the dtype of a promoted sum in NumPy's way
tnp = tf.experimental.numpy
(tnp.add(1, 2.5).dtype, tnp.array([1, 2]).dtype, tnp.mean(tnp.array([1, 2])))
""")

GROUP.snippets(
    """
# a bool and an integer
tf.constant(True) + tf.constant(1)

# a float tensor as a list index
[10, 20, 30][tf.constant(1.0)]

# assigning to an element
t = tf.constant([1, 2])
t.__setitem__(0, 5)

# a tensor has no append
tf.constant([1]).append(2)

# a list of tensors and numbers
tf.constant([tf.constant(1), 2])

# a variable without a value
tf.Variable()

# arithmetic of ragged tensors of other shapes
tf.ragged.constant([[1], [2, 3]]) + tf.ragged.constant([[1, 2], [3]])

# a ragged tensor in a dense op
tf.matmul(tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.ones([2, 1]))

# matmul of a vector
tf.matmul([[1.0, 2.0]], [1.0, 2.0])
""",
    raises=True,
)

GROUP.snippets(
    """
# an integer and a float
tf.constant(1) + tf.constant(1.0)

# an integer tensor and a Python float
tf.constant([1, 2]) * 0.5

# int32 and int64
tf.constant([1]) + tf.constant([1], tf.int64)

# Python integers beyond int64
tf.constant(2 ** 63)

# a cast of a string
tf.cast("1", tf.int32)

# a sum of bools
tf.reduce_sum([True, False])

# integer division by zero
tf.constant(1) // 0

# a power of integers with a negative exponent
tf.constant(2) ** -1

# the square root of an integer
tf.sqrt(4)

# equality with None and with text
(tf.constant(1) == None, tf.constant("a") == "a", tf.constant(1) == "a")

# a tensor as a key
{tf.constant(1): 2}

# the truth of a vector
bool(tf.constant([True, False]))

# the length of a scalar
len(tf.constant(1))

# iterating over a scalar
list(tf.constant(1))

# formatting a vector
f"{tf.constant([1.25]):.1f}"

# a tensor has no numpy method of arrays
tf.constant([1]).reshape([1, 1])

# an index beyond the end
tf.constant([1, 2, 3])[3]

# an index by a list
tf.constant([1, 2, 3])[[0, 2]]

# an index by a float
tf.constant([1, 2, 3])[1.0]

# gather beyond the end and before the start
tf.gather([1, 2, 3], [3])

# where of other dtypes
tf.where([True], [1], [1.0])

# reshape to an impossible shape
tf.reshape([1, 2, 3], [2, 2])

# concat of scalars
tf.concat([1, 2], 0)

# stack of other dtypes
tf.stack([tf.constant(1), tf.constant(1.0)])

# a ragged list
tf.constant([[1], [2, 3]])

# None in a list
tf.constant([1, None])

# an array of objects
tf.constant(np.array([1, "a"], dtype=object))

# an array of dates
tf.constant(np.array(["2020-01-01"], dtype="datetime64[D]"))

# a variable keeps its dtype
tf.Variable(1).assign(2.5)

# a variable keeps its shape
tf.Variable([1.0, 2.0]).assign([1.0])

# += on a variable
v = w = tf.Variable(1.0)
v += 1.0
(type(v).__name__ == type(w).__name__, w)

# assign_add of another dtype
tf.Variable(1.0).assign_add(tf.constant(1))

# scatter beyond the end
tf.Variable([1.0]).scatter_nd_update([[3]], [7.0])

# a ragged tensor's ragged column
tf.ragged.constant([[1], [], [2, 3]])[:, 0]

# a ragged tensor with wrong splits
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2])

# unsorted indices to dense
tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))

# repeated indices to dense
tf.sparse.to_dense(tf.SparseTensor([[0, 0], [0, 0]], [1, 2], [1, 1]))

# an index outside of the shape
tf.sparse.to_dense(tf.SparseTensor([[5, 0]], [1], [2, 2]))

# a plus on sparse tensors
tf.sparse.from_dense([[0.0, 2.0]]) + tf.sparse.from_dense([[0.0, 2.0]])

# a sparse tensor as a dense one
tf.reduce_sum(tf.sparse.from_dense([[0.0, 2.0]]))

# the inverse of a singular matrix
tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]])

# norms by order
[tf.norm([[3.0, -4.0], [0.0, 0.0]], ord=o) for o in (1, 2, np.inf, "fro")]

# top_k of too many
tf.math.top_k([1, 2], 3)

# a range that never ends
tf.range(0, 5, 0)

# padding by reflection that is too wide
tf.pad([1, 2], [[2, 0]], "REFLECT")

# reduce over an axis that isn't there
tf.reduce_sum([1, 2], axis=1)

# sparse softmax cross entropy beyond the classes
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[3], logits=[[0.0, 1.0]])

# a convolution with other channels
tf.nn.conv2d(tf.ones([1, 3, 3, 2]), tf.ones([1, 1, 3, 1]), 1, "SAME")

# a dropout rate above one
tf.nn.dropout([1.0], 1.5)

# a seed of the wrong shape
tf.random.stateless_uniform([2], 1)

# uniform integers without a limit
tf.random.uniform([2], dtype=tf.int32)

# categorical of logits that aren't a matrix
tf.random.categorical([0.0, 1.0], 2)

# a shape of unknown rank has no length
len(tf.TensorShape(None))

# ensure_shape fails
tf.ensure_shape([1, 2, 3], [2])

# nest of other structures
tf.nest.map_structure(lambda x, y: x, [1, 2], (1, 2))
""",
    raises=True,
    message=True,
)
