"""Calls drawn at random that were found to differ: what is checked first, what is static, and what is no list."""

from goldens.case import Group

GROUP = Group("""
Z, c, A = tf.zeros, tf.constant, tf.experimental.numpy
def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)
def run(function, *args):
    return tf.function(function, autograph=False)(*args)
def unsized(function, *args):
    return traced(function, *[tf.TensorSpec([None] * a.shape.rank, a.dtype) for a in args])(*args)
def unranked(function, *args):
    return traced(function, *[tf.TensorSpec(None, a.dtype) for a in args])(*args)
def shapes(function, *specs):
    outputs = tf.nest.flatten(traced(function, *specs).structured_outputs, expand_composites=True)
    return [str(o.shape) for o in outputs]
S = lambda size=2: tf.SparseTensor([[0]], [1], [size])
R = lambda dtype=np.int64: tf.RaggedTensor.from_row_splits(c([1, 2, 3]), np.array([0, 2, 2, 3], dtype))
long = lambda *values: c(values[0] if len(values) == 1 else values, tf.int64)
TEXT, U, UI = tf.TensorSpec([], tf.string), tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)
grid = lambda: c([[1, 5, 2], [3, 4, 5]])
""")

# ---- dtypes: one input after the other, and what numbers settle ------------------------------------------------------

GROUP.errors("""
tf.bitcast(['a'], tf.int32)
tf.bitcast([1], tf.string)
run(lambda: tf.bitcast(['a'], tf.int32))
run(lambda: tf.bitcast([1], tf.string))
run(lambda x: tf.bitwise.bitwise_xor(x, [[1, 2], [3]]), Z([0]))
run(lambda x: tf.subtract(x, [[1, 2], [3]]), c(['a']))
tf.strings.substr(['abc'], c('a'), c('b'))
tf.raw_ops.AddN(inputs=[c('a')])
run(lambda x: tf.linalg.band_part(x, 0, long(1)), Z([3, 3]))
run(lambda x: tf.slice(x, [0, 0], long(1, 2)), Z([3, 3]))
run(lambda x: tf.slice(x, np.array([1, 2]), c([0, 0])), Z([3, 3]))
run(lambda x: tf.slice(x, [0, tf.size(x) * 0], long(1, 2)), Z([3, 3]))
run(lambda x: tf.strided_slice(x, [0, 0], long(1, 2)), Z([3, 3]))
run(lambda x, y: tf.slice(x, y, long(1, 2)), Z([3, 3]), c([0, 0]))
run(lambda x: tf.reshape(x, [tf.size(x), long(1)]), Z([2, 3]))
run(lambda x, y: x @ y, c([['a', 'b']]), c(['a', 'b']))
c([['a', 'b'], ['a', 'b']]) @ c(['a', 'b'])
tf.matmul(Z([2, 2]), Z([2]))
tf.matmul(Z([2, 2]), Z([2]), transpose_b=True)
run(lambda: tf.parallel_stack([np.array(1, np.int64), 2]))
tf.meshgrid((1, 'a'), [3, 4, 5], indexing='ij')
tf.boolean_mask(Z([3, 3]), [True, False, True], axis=c(1, tf.uint64))
tf.boolean_mask(Z([3, 3]), [True, False, True], axis=1.5)
""")
GROUP.values("""
tf.bitcast(tf.bitcast(c([1, 2], tf.int8), tf.qint8), tf.quint8)
run(lambda x: tf.slice(x, long(0, 0), [1, -1]), Z([3, 3]))
run(lambda x: tf.slice(x, [0, 0], np.array([1, 2])), Z([3, 3]))
run(lambda x: tf.reshape(x, [long(1), c(6)]), Z([2, 3]))
run(lambda x: tf.reduce_sum(x, [long(1), c(0)]), Z([2, 3]))
run(lambda x: tf.transpose(x, [long(1), c(0)]), Z([2, 3]))
tf.boolean_mask(Z([3, 3]), [True, False, True], axis=long(1))
""")

# ---- sizes and shapes as constants -----------------------------------------------------------------------------------

GROUP.values("""
tf.size([], tf.complex128)
tf.size([1], tf.bool)
run(lambda x: tf.size(x, tf.int8), c([1]))
run(lambda x: tf.shape(x, out_type=tf.uint8), Z([1, 0]))
tf.required_space_to_batch_paddings([5, 3], [c(0), 2])
shapes(lambda p: tf.required_space_to_batch_paddings([5], [2], p), tf.TensorSpec([None, None], tf.int32))
shapes(lambda p: tf.required_space_to_batch_paddings([5], [2], p), UI)
shapes(lambda p: tf.required_space_to_batch_paddings(p, [2]), UI)
shapes(lambda m: tf.fingerprint(c([1.5]), method=m), TEXT)
shapes(lambda m: tf.fingerprint(c([1.5])), TEXT)
run(lambda s: tf.zeros_like(s), S())
run(lambda s: tf.ones_like(s), S())
run(lambda s: A.zeros_like(s), S())
run(lambda s: tf.zeros_like(s, dtype=tf.int32), R()).row_splits
run(lambda s: A.ones_like(s), R()).row_splits
run(lambda s: tf.ones_like(s, dtype=tf.int32), R(np.int32)).row_splits
""")
GROUP.errors("""
unsized(lambda x: tf.size(x, tf.int8), c([1]))
unsized(lambda x: tf.size(x, tf.float32), c([1]))
unsized(lambda x: tf.shape(x, out_type=tf.uint8), Z([1, 0]))
tf.shape(Z([1]), out_type=tf.uint8)
run(lambda p: tf.required_space_to_batch_paddings(p, [0, 2]), c([4, 5]))
tf.zeros_like(S())
run(lambda s: A.ones_like(s), S())
""")

# ---- axes and directions ---------------------------------------------------------------------------------------------

GROUP.errors("""
tf.argsort(c([1, 2]), direction=c('DESCENDING'))
tf.sort(c([1, 2]), direction=['DESCENDING'])
run(lambda d: tf.sort(c([1, 2]), direction=d), c('DESCENDING'))
tf.repeat(c([1, 2]), 2, axis=c(0))
tf.repeat(c([1, 2]), 2, axis=np.int64(0))
tf.repeat('a', -1, axis='a')
tf.reverse_sequence(Z([2, 2, 3]), [1, 2])
tf.reverse_sequence(Z([2, 2, 3]), c(1))
run(lambda n: tf.linspace(0.0, 1.0, n, axis=0), c([2]))
run(lambda: tf.linspace(0.0, 1.0, [2], axis=0))
tf.raw_ops.UnsortedSegmentSum(data=Z([4]), segment_ids=[0, 0, 1, 1], num_segments=2**31)
run(lambda: tf.math.unsorted_segment_sum(Z([4]), [0, 0, 1, 1], 2**63 - 1))
""")
GROUP.values("""
tf.linspace(0.0, 1.0, c([2]), axis=0)
A.take_along_axis(grid(), c([[0, 1], [2, 1]]), -1)
A.take_along_axis(grid(), c([[0, -1, 1]]), 0)
A.take_along_axis(grid(), c([[0], [-1]]), 1)
A.take_along_axis(c([[[1, 5, 2], [3, 4, 5]]]), c([[[0, 1, 1]], [[1, 0, 1]]]), 1)
unranked(lambda a, i: A.take_along_axis(a, i, 1), grid(), c([[0], [-1]]))
unranked(lambda a, i: A.take_along_axis(a, i, 0), grid(), c([[0, 1, 1]]))
shapes(lambda a, i: A.take_along_axis(a, i, 0), tf.TensorSpec([None, 3]), tf.TensorSpec([2, None], tf.int32))
shapes(lambda a, i: A.take_along_axis(a, i, 0), U, tf.TensorSpec([2, None], tf.int32))
A.average([[1.0, 2.0], [3.0, 5.0]], weights=[1.0, 2.0])
unsized(lambda a, w: A.average(a, weights=w), c([[1.0, 2.0], [3.0, 5.0]]), c([1.0, 2.0]))
""")
GROUP.errors("""
A.take_along_axis(grid(), c([[0, 1]]), [0, 2])
A.take_along_axis(c([1, 5, 2]), c([[0, 1]]), -1)
A.take_along_axis(grid(), c([[0, 1]]), 1.5)
run(lambda a, i: A.take_along_axis(a, i, -1), c([1, 5, 2]), c([[0, 1]]))
unranked(lambda a, i: A.take_along_axis(a, i, -1), c([1, 5, 2]), c([[0, 1]]))
run(lambda a, i: A.take_along_axis(a, i, -3), c([[1, 1], [2, 0]]), c([[0, -1]]))
run(lambda a, i: A.take_along_axis(a, i, 5), c([[1, 1], [2, 0]]), c([[0, -1]]))
unranked(lambda a, i: A.take_along_axis(a, i, [0, 2]), c([1, 2]), c([[5]]))
A.average(c([[1.0, 2.0], [3.0, 5.0]]), weights=[1.0])
""")

# ---- sparse and ragged tensors, strings ------------------------------------------------------------------------------

GROUP.values("""
tf.ragged.constant([[1, 2]], inner_shape=(2,))
tf.ragged.constant([1], inner_shape={})
tf.ragged.constant([[[1, 2]]], inner_shape=tf.TensorShape([2]))
run(lambda a, s: tf.sparse.concat(a, [s]), c(0), S()).values
""")
GROUP.errors("""
tf.ragged.constant([[1], [2]], inner_shape={})
tf.ragged.constant([[1], [2]], inner_shape=3)
tf.ragged.constant([[[1, 2]]], inner_shape=[2])
tf.ragged.constant([[[1]]], inner_shape={}, ragged_rank=1)
run(lambda x: tf.ragged.constant(x), c([[1]]))
tf.split(R(), np.array(2))
tf.split(R(), c(3))
run(lambda a, b: tf.sparse.add(a, b), S(), S(3))
tf.sparse.concat('a', [])
run(lambda a: tf.sparse.concat(a, []), c(0))
run(lambda a, s: tf.sparse.concat(a, [s, s]), c(0), S())
tf.sparse.split(S(), -2, np.array([1, 2], np.int8))
run(lambda s: tf.sparse.split(s, 1, np.array([1, 2], np.int8)), S())
tf.sparse.split(S(), 1, 0.5)
run(lambda p: tf.strings.regex_replace('a.b', '\\\\.', p), c(['', '']))
run(lambda p: tf.strings.regex_replace('a.b', p, ''), c(['', '']))
tf.strings.regex_replace('a.b', '\\\\.', c(['', '']))
unranked(lambda x: tf.strings.unicode_encode(x, 'UTF-8'), c([[97]], tf.int64))
run(lambda x: tf.strings.unicode_encode(x, 'UTF-9'), c(['a']))
unranked(lambda x: tf.strings.unicode_decode(x, 'UTF-8'), c([1.0]))
unranked(lambda x: tf.strings.unicode_split_with_offsets(x, 'UTF-8'), c([1.0]))
""")

# ---- what is checked when a function is traced, and what when it runs ------------------------------------------------

GROUP.values("""
tf.image.ssim(Z([2, 6, 7, 3]), Z([2, 6, 7, 3]), 1.0, filter_size=3, filter_sigma=0)
shapes(lambda s: A.zeros_like(s), tf.SparseTensorSpec([3, 4], tf.float32))
shapes(lambda s: tf.zeros_like(s, tf.int32), tf.SparseTensorSpec([None, 4], tf.float32))
shapes(lambda n: tf.sparse.eye(n), UI)
shapes(lambda n: tf.sparse.eye(3, n), UI)
shapes(lambda n: tf.sparse.eye(n), tf.TensorSpec([], tf.int32))
run(lambda: tf.io.decode_csv('1;x', [[0], ['d']], field_delim=';'))
[p.values for p in run(lambda s: tf.sparse.split(s, 2, 1), tf.SparseTensor([[0, 1]], [1], [2, 2]))]
""")
GROUP.errors("""
traced(lambda s: A.zeros_like(s), tf.SparseTensorSpec([None, 4], tf.float32))
run(lambda s: A.ones_like(s, tf.bfloat16), S())
tf.sparse.split(S(), 1, c(0))
run(lambda s, a: tf.sparse.split(s, 1, a), S(), c(0))
run(lambda s, a: tf.sparse.split(s, 2**63 - 1, a), S(), c(0))
tf.sparse.split(S(), 2**63 - 1, c(0))
run(lambda s: tf.sparse.split(s, 2, 1), tf.SparseTensor([[-1, 0], [1, 1]], [1, 2], [2, 2]))
run(lambda x: A.cross(x, 2, axis=[1, 1]), c([[1.0, 2.0], [3.0, 4.0]]))
run(lambda: tf.io.decode_csv('1;x', [[0], ['d']], field_delim=';x'))
run(lambda: tf.io.decode_csv('1;x', [[0], ['d']], select_cols=[1]))
tf.dynamic_partition(Z([0]), c([0, 0]), 2**63 - 1)
run(lambda: tf.dynamic_partition(Z([0]), c([0, 0]), 2**63 - 1))
run(lambda: tf.split(Z([2]), 2**31))
run(lambda x, b, p: tf.space_to_batch(x, b, p), Z([2]), c([1]), c([[0, 0]]))
run(lambda x, b, p: tf.batch_to_space(x, b, p), Z([4, 3, 2]), c([-1]), c([[1, 2], [1, 2]]))
run(lambda a: tf.ifftnd(5, [3, 4], a), c([[1, 2]]))
tf.conv2d_backprop_filter_v2(Z([1, 3, 3, 1]), Z([1, 1, 1, 1]), Z([1, 3, 3, 1]), c([1, 1, 1, 1]), 'VALID')
tf.conv2d_backprop_input_v2(Z([1, 3, 3, 1]), Z([1, 1, 1, 1]), Z([1, 3, 3, 1]), c([1, 1]), 'a')
tf.strings.to_hash_bucket_strong(['a'], 5, None)
tf.strings.to_hash_bucket_strong(c(['a']), 5, None)
tf.strings.regex_replace('text', '', [])
run(lambda: tf.strings.regex_replace('text', [], ''))
""")

# ---- rows and segments -----------------------------------------------------------------------------------------------

GROUP.values("""
run(lambda s, a: tf.sparse.expand_dims(s, a), S(), c(-1)).indices
run(lambda s, a: tf.sparse.expand_dims(s, a), S(), c(0)).dense_shape
run(lambda s, a: tf.sparse.expand_dims(s, a), S(), long(1)).indices
shapes(lambda s: tf.sparse.expand_dims(s, -2), tf.SparseTensorSpec(None))
tf.sparse.segment_sqrt_n(Z([2, 3]), np.array([1, 0], np.int8), [0, 0])
run(lambda x: tf.sparse.segment_sqrt_n(x, c([0, 1]), [long(0), c(0)]), Z([2, 3]))
run(lambda s, v: tf.sparse.to_indicator(s, v), S(), long(3))
tf.ragged.row_splits_to_segment_ids(np.array([0, 3, 3, 5], np.int32))
tf.ragged.row_splits_to_segment_ids(c([0, 3, 3, 5]))
tf.ragged.range(c([3]), [5], dtype=tf.int32)
""")
GROUP.errors("""
run(lambda s, a: tf.sparse.expand_dims(s, a), S(), c(1.0))
tf.sparse.segment_mean([[1.0], [2.0]], [0, 1], [0, 0], num_segments=[1])
run(lambda x: tf.sparse.segment_sum(x, [0, 1], [0, 0], num_segments=[1]), Z([3, 1]))
run(lambda x: tf.sparse.segment_sum(x, [0, 1], [0, 0], num_segments=2**31), Z([3, 1]))
run(lambda x: tf.sparse.segment_sqrt_n(x, np.array([1, 2], np.int8), [0, 0]), Z([2, 3]))
tf.sparse.segment_sqrt_n(Z([2, 3]), c([1, 0], tf.int8), [0, 0])
run(lambda s: tf.sparse.to_indicator(s, -4), S())
run(lambda s, v: tf.sparse.to_indicator(s, v), S(), long(-4))
tf.sparse.to_indicator(S(), -4)
tf.ragged.segment_ids_to_row_splits(c([[0, 0, 2]]))
run(lambda x: tf.ragged.segment_ids_to_row_splits(x), c([[0, 0, 2]]))
tf.ragged.range(c([3]), dtype=tf.float32)
""")

# ---- NumPy's functions where sizes or ranks are not static, and of what is no operand --------------------------------

GROUP.values("""
[unsized(A.cross, Z([2, n]) + 1, Z([2, m]) + 2) for n in (2, 3) for m in (2, 3)]
unranked(lambda x, y: A.cross(x, y, axisa=0, axisb=1, axisc=0), Z([2, 5]) + 1, Z([5, 3]) + 2)
shapes(A.cross, tf.TensorSpec([None, None]), tf.TensorSpec([None, None]))
shapes(A.cross, tf.TensorSpec([None, 3]), tf.TensorSpec([None, 3]))
shapes(A.cross, tf.TensorSpec([2, 3]), tf.TensorSpec([None, 3]))
shapes(A.cross, tf.TensorSpec([2, 3]), tf.TensorSpec([2, 2]))
[unsized(lambda x: A.diagonal(x, k), Z([2, 3])) for k in (-5, 2, 5)]
[unranked(lambda x: A.diagonal(x, k), Z([2, 3])) for k in (-5, 1, 5)]
shapes(lambda x: [A.diagonal(x), A.diagonal(x, 9), A.diagonal(x, 9, 1, 2)], tf.TensorSpec([None, 2, 3]))
[unranked(A.argsort, x) for x in (c(2.0), c([3.0, 1.0]))]
unranked(lambda x: A.argsort(x, None), c([[3.0, 1.0]]))
unranked(lambda x: A.argmax(x, -1), c([[3.0, 1.0]]))
[unranked(f, Z([2] * n)) for f in (A.atleast_1d, A.atleast_2d, A.atleast_3d) for n in (0, 1, 2, 3)]
[unranked(lambda x, y: A.hstack([x, y]), Z([2] * n), Z([2] * n)) for n in (0, 1, 2)]
""")
GROUP.errors("""
A.bitwise_or({}, c([1]))
A.nextafter(c([1.0]), {})
A.cross({}, c([1.0]))
A.equal({}, c([1.0]))
A.power({'a': 1}, c([1.0]))
A.power([1], {})
A.vdot({}, c([1.0]))
""")

# ---- dtypes of inputs in functions of a slice ------------------------------------------------------------------------

GROUP.errors("""
tf.vectorized_map(lambda x: tf.greater([[1.0]], x), Z([2], tf.float16))
tf.vectorized_map(lambda x: tf.truncatediv([1, 2**40], x), c([1, 2]))
tf.vectorized_map(lambda x: tf.tensor_scatter_nd_add([1, 2], [[1]], x), long([[1]]))
tf.vectorized_map(lambda x: tf.matmul([[1.0]], x), Z([2, 1, 1], tf.float64))
""")
GROUP.values("""
tf.vectorized_map(lambda x: [1.0] * x, Z([2], tf.float16))
tf.vectorized_map(lambda x: tf.greater(x, [[1.0]]), Z([2], tf.float16))
tf.vectorized_map(lambda x: np.array([2.0]) * x, Z([2], tf.float32))
""")

# ---- gradients -------------------------------------------------------------------------------------------------------

GROUP.values("""
tf.ragged_fill_empty_rows_grad([1], [2.0, np.inf])
tf.ragged_fill_empty_rows_grad([1, 1], [2.0, 3.0, 4.0])
tf.ragged_fill_empty_rows_grad([2, 0], [2, 3, 4])
""")
