"""The errors that people meet most: the first line of their message, word for word."""

from goldens.case import Group

GROUP = Group("""
v = tf.constant([10, 20, 30])
m = tf.constant([[1., 2., 3.], [4., 5., 6.]])
w = tf.Variable([1.0, 2.0])
""")

GROUP.errors(
    """
tf.constant([1., 2.]) + tf.constant([1., 2., 3.])
tf.constant([1., 2.]) * tf.constant([1., 2., 3.])
tf.constant([[1, 2]]) - tf.constant([1, 2, 3])
tf.constant(1) + tf.constant(1.0)
tf.constant(1) * tf.constant(1, tf.int64)
tf.constant(1.0) + tf.constant(1.0, tf.float64)
tf.constant(1) + 1.5
tf.constant([1, 2]) * 'a'
tf.constant(1.0) + None
tf.constant(1) / tf.constant(1.0)
tf.matmul([[1., 2.]], [[1., 2.]])
tf.matmul(tf.ones([2, 2, 3]), tf.ones([3, 3, 2]))
tf.reshape(m, [4])
tf.reshape(m, [-1, 4])
tf.reshape(m, [-1, -1])
tf.concat([m, tf.ones([1, 2])], 0)
tf.concat([m, tf.ones([2])], 0)
tf.concat([m, m], 5)
tf.stack([tf.constant([1]), tf.constant([1, 2])])
tf.split(v, 2)
tf.squeeze(m, 1)
tf.expand_dims(m, 5)
tf.transpose(m, [0])
tf.tile(v, [1, 2])
tf.pad(v, [[1, 2], [3, 4]])
tf.broadcast_to(v, [2])
tf.gather(v, [5])
tf.gather_nd(m, [[5, 0]])
tf.slice(v, [1], [10])
tf.one_hot([0], -1)
tf.range(0, 5, 0)
tf.fill([-1], 0)
tf.cast('a', tf.int32)
tf.cast(1, 'nonsense')
v[5]
v[0, 0]
v['a']
v[1.5]
m[..., ...]
tf.constant(5)[0]
tf.reduce_sum(m, axis=2)
tf.reduce_all([1, 0])
tf.argmax(m, axis=3)
tf.math.top_k([1, 2], 3)
tf.exp(1)
tf.sqrt('a')
tf.logical_and(1, 0)
tf.constant(1) // 0
tf.constant([[1, 2], [3]])
tf.constant([1, 'a'])
tf.constant(None)
tf.constant(1.5, tf.int32)
tf.constant([1, 2, 3], shape=[2, 2])
tf.constant('a', tf.int32)
tf.constant(object)
tf.constant({})
tf.convert_to_tensor(tf.constant(1), tf.float32)
tf.as_dtype('nonsense')
bool(tf.constant([1, 2]))
len(tf.constant(1))
list(tf.constant(1))
hash(tf.constant(1))
hash(tf.Variable(1, name='v'))
w.assign([1.0])
w.assign('a')
w.assign_add([1.0, 2.0, 3.0])
tf.Variable([1, 2], shape=[3])
tf.Variable()
tf.ensure_shape(v, [2])
v.set_shape([2])
tf.TensorShape([2]).merge_with([3])
tf.TensorShape(None).as_list()
tf.where([True, False], [1, 2, 3], [4, 5, 6])
tf.linalg.inv([[1., 2.], [2., 4.]])
tf.linalg.inv([[1., 2., 3.]])
tf.linalg.cholesky([[1., 2., 3.]])
tf.einsum('ij,jk->ik', m)
tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[1.0, 2.0, 3.0]])
tf.nn.sparse_softmax_cross_entropy_with_logits([5], [[1.0, 2.0]])
tf.nn.conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 3, 1]), 1, 'SAME')
tf.nn.bias_add([[1.0, 2.0]], [1.0])
tf.nn.embedding_lookup(m, [7])
tf.nn.dropout([1.0], 1.5)
tf.random.uniform([2], 5, 5, tf.int32)
tf.random.uniform([2], dtype=tf.int32)
tf.strings.to_number('abc')
tf.nest.map_structure(lambda a, b: a, [1, 2], [1])
tf.nest.pack_sequence_as([1, 2], [1])
tf.nest.assert_same_structure([1, 2], (1, 2))
tf.add_n([])
tf.gradients(tf.constant(1.0), tf.constant(1.0))
tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2)
tf.TensorArray(tf.float32, 2).read(5)
tf.Tensor.nonsense
""",
    message=True,
)
GROUP.snippets(
    """
# a tape used twice
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x)
tape.gradient(y, x)

# adding to a variable in place
w += 1.0
w

# a gradient of None
tape = tf.GradientTape()
with tape:
    pass
tape.gradient(None, w)
""",
    raises=True,
    message=True,
)
