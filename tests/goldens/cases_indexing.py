"""Indexing and slicing tensors and variables with square brackets, and the ops behind it."""

from goldens.case import Group

GROUP = Group("""
x = tf.reshape(tf.range(24), [2, 3, 4])
v = tf.constant([10, 20, 30, 40, 50])
m = tf.constant([[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]])
""")

GROUP.family(
    "v[{i}]",
    i="""
0
-1
2:
:2
1:4
::2
::-1
-3:
:-2
4:1:-1
4:0:-2
10:
3:3
5:2
-100:2
:100
1::3
-1:-4:-1
...
:
tf.newaxis
None, ::2
..., None
tf.constant(3)
np.int64(1)
tf.constant(1):
:tf.constant(3)
::tf.constant(2)
tf.constant(-2):
np.int32(1):np.int64(4)
tf.constant(1, tf.int64)
tf.Variable(2)
tf.constant(1, tf.int64):tf.constant(3, tf.int64)
slice(1, None)
slice(None)
slice(None, None, -2)
(2,)
tf.constant(1, tf.int16)
""",
)
GROUP.family(
    "x[{i}]",
    i="""
0
-1
0, 1
0, 1, 2
-1, -1, -1
:, 1
:, :, 1
..., 0
0, ..., 0
1, ...
..., 1:3
1:, :, ::2
::-1
::-1, ::-1, ::-1
:, None
None, ..., None
0, None, 1
..., tf.newaxis, 2
tf.newaxis
0:0
:, 5:
0, :, ::-2
..., ::-1, 0
tf.constant(1), :, tf.constant(2)
tf.constant(1):, 0
1:2, 1:2, 1:2
:, tf.constant(0):tf.constant(2), -1
(1, 2)
slice(0, 1), slice(1, None)
np.int64(1), 0
...
None
None, None, 0, None, 0
:1, ..., :1
0, tf.range(3)[1]
..., -1, -1
1, 1:, tf.newaxis, :2
""",
)
GROUP.family("tf.Variable(m)[{i}]", i=["0", "-1, -1", "1:", ":, ::-1", "..., 1", "tf.newaxis, 0", "tf.constant(2), 1"])
GROUP.values("""
tf.constant(5)[...]
tf.constant(5)[tf.newaxis]
tf.constant(5)[None, ..., None]
tf.constant(5)[()]
tf.constant('abc')[tf.newaxis]
tf.constant(['a', 'b', 'c'])[1]
tf.constant(['a', 'b', 'c'])[::-1]
tf.constant([[True, False], [False, True]])[0]
tf.constant([1 + 2j, 3])[1]
tf.constant([1.5, 2.5], tf.bfloat16)[-1]
tf.zeros([0, 3])[:, 1]
tf.zeros([0, 3])[1:]
tf.zeros([3, 0])[1]
m[0][1]
m[1:][0]
m[tf.constant(0)][tf.constant(2)]
m[m > 5]
m[m[:, 0] > 2]
m[tf.constant([True, False, True])]
v[v > 20]
v[tf.constant([False] * 5)]
v[v > 100]
x[x % 2 == 0]
x[tf.constant([True, False])]
x[tf.constant([[True, False, True], [False, False, True]])]
v[tf.constant([True, False, True, False, True]).numpy()]
m[np.array([True, False, True])]
tf.boolean_mask(v, [True, False, True, False, False])
tf.boolean_mask(m, [True, False, True])
tf.boolean_mask(m, m > 4)
tf.boolean_mask(m, [True, False, True], axis=1)
tf.boolean_mask(m, np.array([False, False, False]))
tf.boolean_mask(x, tf.constant([[True, False, False, True]] * 3), axis=1)
tf.boolean_mask([1, 2, 3], mask=[True, True, False], name='masked')
tf.slice(m, [0, 1], [2, 2])
tf.slice(m, [1, 0], [-1, -1])
tf.slice(m, [0, 0], [0, 3])
tf.slice(v, [1], [3])
tf.slice(v, tf.constant([1], tf.int64), tf.constant([2], tf.int64))
tf.slice([[1, 2], [3, 4]], begin=[0, 1], size=[2, 1])
tf.slice(x, [1, 0, 2], [1, 3, 2])
tf.slice(tf.constant(['a', 'b', 'c']), [1], [2])
tf.strided_slice(v, [1], [4])
tf.strided_slice(v, [1], [5], [2])
tf.strided_slice(v, [-1], [-4], [-1])
tf.strided_slice(m, [0, 0], [2, 3], [1, 2])
tf.strided_slice(m, [0, 0], [2, 3], begin_mask=1)
tf.strided_slice(m, [1, 1], [2, 2], begin_mask=2, end_mask=1)
tf.strided_slice(m, [1, 0], [2, 3], shrink_axis_mask=1)
tf.strided_slice(m, [0, 0], [0, 0], end_mask=3)
tf.strided_slice(m, [0, 1], [1, 2], new_axis_mask=1, end_mask=1)
tf.strided_slice(x, [0, 1], [0, 2], [1, 1], ellipsis_mask=1)
tf.strided_slice(x, [1], [2])
tf.gather(v, 1)
tf.gather(v, [3, 0, 0])
tf.gather(m, [[0, 1], [2, 0]])
tf.gather(m, [2, 0], axis=1)
tf.gather(m, [2, 0], axis=-1)
tf.gather(m, 1, axis=1)
tf.gather(x, [1, 2], axis=1)
tf.gather(x, [[0, 2], [1, 1]], axis=1, batch_dims=1)
tf.gather(x, [[0, 2], [1, 1]], axis=2, batch_dims=1)
tf.gather(x, [[0, 3], [1, 1]], batch_dims=1, axis=-1)
tf.gather(m, tf.constant([0, 2], tf.int64))
tf.gather(m, np.array([0, 2]))
tf.gather(['a', 'b', 'c'], [2, 0])
tf.gather(m, tf.zeros([0], tf.int32))
tf.gather(tf.Variable(m), [0, 2])
tf.gather(m, [0], axis=tf.constant(1))
tf.gather(tf.constant([True, False]), [1, 1, 0])
tf.gather([1, 2, 3], indices=[0, 1], name='g')
tf.gather_nd(m, [0, 1])
tf.gather_nd(m, [[0, 0], [2, 1]])
tf.gather_nd(m, [[1], [0]])
tf.gather_nd(x, [[[0, 1]], [[1, 2]]])
tf.gather_nd(x, [[0], [2]], batch_dims=1)
tf.gather_nd(x, [[0, 1], [2, 3]], batch_dims=1)
tf.gather_nd(x, [[[0], [1], [3]], [[3], [1], [0]]], batch_dims=2)
tf.gather_nd(tf.Variable(m), [[0, 0], [1, 1]])
tf.gather_nd(['a', 'b'], [[1], [1]])
tf.gather_nd(m, tf.constant([[0, 1]], tf.int64))
tf.tensor_scatter_nd_update(v, [[0], [4]], [1, 5])
tf.tensor_scatter_nd_update(m, [[0], [2]], tf.ones([2, 3]))
tf.tensor_scatter_nd_update(m, [[0, 1]], [100.0])
tf.tensor_scatter_nd_update(tf.constant(['a', 'b']), [[1]], ['z'])
tf.tensor_scatter_nd_add(v, [[0], [0], [2]], [1, 2, 3])
tf.tensor_scatter_nd_sub(v, [[0], [0], [2]], [1, 2, 3])
tf.tensor_scatter_nd_max(v, [[0], [1]], [15, 15])
tf.tensor_scatter_nd_min(v, [[0], [1]], [15, 15])
tf.tensor_scatter_nd_add(m, [[1, 1], [1, 1]], [1., 2.])
tf.tensor_scatter_nd_add(tensor=[1, 2], indices=[[1]], updates=[5], name='s')
tf.scatter_nd([[4], [3], [1]], [9, 10, 11], [6])
tf.scatter_nd([[0], [0]], [1, 2], [3])
tf.scatter_nd([[0], [2]], [[1, 2], [3, 4]], [3, 2])
tf.scatter_nd([[0, 1]], [5.0], [2, 2])
tf.scatter_nd(tf.constant([[1]], tf.int64), [1.0], tf.constant([3], tf.int64))
tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0]), [3])
tf.scatter_nd([[1]], ['a'], [3])
tf.scatter_nd([[1]], [True], [3])
x[0].shape
x[:, None].shape
m[1, tf.constant(2)].dtype
tf.boolean_mask(v, [1, 0, 1, 0, 0])
""")

GROUP.snippets("""
# slice assignment of a variable
w = tf.Variable([1, 2, 3, 4])
w[1:3].assign([20, 30])
w

# slice assignment broadcasts
w = tf.Variable(tf.zeros([2, 3]))
w[:, 1].assign([5.0, 6.0])
w[0].assign(tf.ones([3]))
w

# slice assignment with a step
w = tf.Variable(tf.range(6))
w[::-2].assign([10, 11, 12])
w

# slice assignment of one element
w = tf.Variable([[1., 2.], [3., 4.]])
w[0, 1].assign(9.0)
w

# slice assignment gives the variable's new value
w = tf.Variable([1, 2, 3])
tf.convert_to_tensor(w[0].assign(7))

# slices of slices
m[1:][:, 1:][0, 0]

# iteration of a matrix by rows
[row for row in m]
""")

GROUP.errors("""
v[5]
v[-6]
v[0, 0]
v[1.0]
v['a']
v[[0, 1]]
v[tf.constant([0, 1])]
v[np.array([0, 1])]
v[tf.constant(1.5)]
v[::0]
v[1.5:]
v['a':]
v[tf.constant(10)]
x[0, 0, 0, 0]
x[..., ...]
x[:, 3]
x[2]
x[None, ..., 0, 0, 0, 0]
x[tf.constant([0])]
x[tf.constant([0]):]
x[0, [1, 2]]
tf.constant(5)[0]
tf.constant(5)[:]
v[{}]
v[slice('a')]
v[tf.constant([True, False])]
m[tf.constant([[True, False]])]
tf.boolean_mask(v, [True, False])
tf.boolean_mask(v, True)
tf.boolean_mask(m, [[True, False]])
tf.slice(v, [1], [10])
tf.slice(v, [1, 0], [1, 1])
tf.slice(v, [-1], [1])
tf.slice(v, [0.0], [1.0])
tf.slice(v, [0], [1, 2])
tf.strided_slice(v, [0], [2], [0])
tf.strided_slice(v, [0, 0], [1, 1])
tf.strided_slice(v, [0], [1, 2])
tf.gather(v, 5)
tf.gather(v, [-1])
tf.gather(v, 1.0)
tf.gather(m, [0], axis=2)
tf.gather(x, [0, 1, 2], batch_dims=1)
tf.gather(x, [[0]], batch_dims=1)
tf.gather(m, [3])
tf.gather(tf.constant(1), 0)
tf.gather_nd(m, [[3, 0]])
tf.gather_nd(m, [[0, 0, 0]])
tf.gather_nd(m, [0.0])
tf.gather_nd(m, 0)
tf.tensor_scatter_nd_update(v, [[5]], [1])
tf.tensor_scatter_nd_update(v, [[0]], [1, 2])
tf.tensor_scatter_nd_update(v, [[0]], [1.5])
tf.tensor_scatter_nd_update(m, [[0]], [1.0])
tf.scatter_nd([[6]], [1], [6])
tf.scatter_nd([[0]], [1, 2], [6])
tf.scatter_nd([[0, 0]], [1], [6])
tf.scatter_nd([[0.0]], [1], [6])
tf.Variable([1, 2])[0].assign('a')
tf.Variable([1, 2])[0:2].assign([1, 2, 3])
tf.constant([1, 2])[0].assign(1)
v.__setitem__(0, 1)
v[tf.constant(1, tf.uint8)]
m[[True, False, True]]
tf.gather_nd(m, [])
tf.gather_nd(m, [[], []])
""")
