"""Control flow and functions on functions, run eagerly: cond, loops, maps, scans, TensorArray, Python functions."""

from goldens.case import Group

GROUP = Group("""
x = tf.constant([1, 2, 3, 4])
m = tf.constant([[1., 2.], [3., 4.]])
""")

GROUP.values("""
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)]))(tf.constant(3))
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)], exclusive=True))(tf.constant(7))
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)], lambda: -x))(tf.constant(0))
tf.cond(True, lambda: 1, lambda: 2)
tf.cond(tf.constant(False), lambda: tf.constant(1), lambda: tf.constant(2))
tf.cond(tf.constant(1) < 2, true_fn=lambda: [1, {'a': 2.0}], false_fn=lambda: [3, {'a': 4.0}])
tf.cond(tf.constant([True])[0], lambda: None, lambda: None)
tf.cond(1, lambda: 'yes', lambda: 'no')
tf.cond(tf.Variable(True), lambda: 1, lambda: 2)
tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)])
tf.case([(tf.constant(False), lambda: 1)], default=lambda: 3)
tf.case([(tf.constant(True), lambda: 1), (tf.constant(False), lambda: 2)], exclusive=True)
tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)])
tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20])
tf.switch_case(tf.constant(7), [lambda: 10, lambda: 20])
tf.switch_case(tf.constant(-1), [lambda: 10, lambda: 20])
tf.switch_case(tf.constant(1), [(0, lambda: 'a'), (1, lambda: 'b')])
tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [0])
tf.while_loop(lambda i: tf.less(i, 5), lambda i: (i + 1,), [tf.constant(0)])
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (tf.constant(0), m))
tf.while_loop(lambda i: i < 100, lambda i: [i + 1], [0], maximum_iterations=7)
tf.while_loop(lambda i, d: i < 2, lambda i, d: (i + 1, {'k': d['k'] + 1}), [0, {'k': tf.constant(5)}])
tf.while_loop(lambda i: False, lambda i: [i + 1], [0])
tf.while_loop(cond=lambda i: i < 3, body=lambda i: [i + 1], loop_vars=[0], parallel_iterations=1, name="w")
tf.map_fn(lambda e: e * 2, x)
tf.map_fn(lambda e: tf.cast(e, tf.float32) / 2, x, fn_output_signature=tf.float32)
tf.map_fn(lambda e: tf.cast(e, tf.float32) / 2, x, dtype=tf.float32)
tf.map_fn(lambda e: e[0] + e[1], (x, x), fn_output_signature=tf.int32)
tf.map_fn(lambda e: (e, -e), x, fn_output_signature=(tf.int32, tf.int32))
tf.map_fn(lambda e: {'a': e, 'b': e}, x, fn_output_signature={'a': tf.int32, 'b': tf.int32})
tf.map_fn(tf.reduce_sum, m)
tf.map_fn(lambda r: r * 10, m, parallel_iterations=2)
tf.map_fn(lambda e: e, tf.zeros([0, 2]))
tf.map_fn(tf.reduce_sum, tf.ragged.constant([[1, 2], [], [3]]), fn_output_signature=tf.int32)
tf.map_fn(lambda e: tf.range(e), x, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda e: e + 1, elems=x, name='m', swap_memory=True, infer_shape=False)
tf.foldl(lambda a, e: a + e, x)
tf.foldl(lambda a, e: a * 10 + e, x, initializer=5)
tf.foldl(lambda a, e: a + tf.reduce_sum(e), m, initializer=tf.constant(0.0))
tf.foldr(lambda a, e: a * 10 + e, x)
tf.foldr(lambda a, e: a - e, x, initializer=0)
tf.scan(lambda a, e: a + e, x)
tf.scan(lambda a, e: a + e, x, initializer=10)
tf.scan(lambda a, e: a + e, x, reverse=True)
tf.scan(lambda a, e: (a[0] + e, a[1] * e), x, initializer=(tf.constant(0), tf.constant(1)))
tf.scan(lambda a, e: a + e[0] * e[1], (x, x), initializer=tf.constant(0))
tf.scan(lambda a, e: tf.cast(e, tf.float32) + a, x, initializer=tf.constant(0.5))
tf.vectorized_map(lambda e: e * 2, x)
tf.vectorized_map(lambda e: tf.reduce_sum(e) * e, m)
tf.vectorized_map(lambda e: e[0] * e[1], (m, m))
tf.vectorized_map(lambda e: (e, tf.reduce_max(e)), m)
tf.vectorized_map(lambda e: tf.linalg.matvec(m, e), m)
tf.vectorized_map(fn=lambda e: e + 1.0, elems=m, fallback_to_while_loop=True, warn=True)
tf.function(lambda: tf.vectorized_map(lambda e: tf.reduce_sum(e) * e, m))()
tf.vectorized_map(lambda e: tf.cond(e > 2, lambda: e * 10, lambda: -e), x)
tf.vectorized_map(lambda e: tf.switch_case(e % 3, [lambda: e, lambda: 2 * e, lambda: 0]), x)
tf.vectorized_map(lambda e: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * e), (0, 1))[1], x)
tf.vectorized_map(lambda e: tf.while_loop(lambda a: a < 9, lambda a: (a + e,), (0,))[0], x)
tf.vectorized_map(lambda e: e[0] + e[1], (m, m[:1]))
tf.vectorized_map(lambda e: tf.reduce_sum(e), tf.zeros([0, 3]))
tf.vectorized_map(lambda e: tf.gather(m, e % 2), x)
tf.vectorized_map(lambda e: tf.gather(e, [1, 0, 1]), m)
tf.vectorized_map(lambda e: tf.linalg.diag(e) @ m, m)
tf.vectorized_map(lambda e: tf.einsum('i,ij->j', e, m), m)
tf.vectorized_map(lambda e: tf.nn.softmax(e) - tf.one_hot(tf.argmax(e), 2), m)
tf.vectorized_map(lambda e: tf.vectorized_map(lambda s: s * e, e), m)
tf.vectorized_map(lambda e: tf.IndexedSlices([e], [1], [3]), x)
tf.vectorized_map(lambda e: tf.strings.length(tf.as_string(e)), x)
tf.vectorized_map(lambda e: (e, None, 5), x)
tf.vectorized_map(lambda e: tf.map_fn(lambda s: s * tf.reduce_sum(e), e), m)
tf.py_function(lambda a: a + 1, [x], tf.int32)
tf.py_function(lambda a, b: (a + b, a * b), [1, 2], [tf.int32, tf.int32])
tf.py_function(lambda: 3.5, [], tf.float32)
tf.py_function(lambda a: a.numpy() * 2, inp=[m], Tout=tf.float32)
tf.py_function(lambda a: None, [x], [])
tf.py_function(func=lambda s: s.numpy().upper(), inp=['ab'], Tout=tf.string)
tf.py_function(lambda: 3, [], tf.TensorSpec([], tf.int32))
tf.numpy_function(lambda a: a + 1, [x], tf.int32)
tf.numpy_function(lambda a: np.sum(a, axis=0), [m], tf.float32)
tf.numpy_function(lambda a, b: (a + b, b), [tf.constant(1.0), tf.constant(2.0)], [tf.float32, tf.float32])
tf.numpy_function(lambda a: type(a).__name__, ['x'], tf.string)
tf.numpy_function(func=lambda a: a, inp=[['a', 'b']], Tout=tf.string, stateful=False, name='n')
tf.TensorArray(tf.float32, 2).size()
tf.TensorArray(tf.float32, 3).write(0, 1.0).write(2, 3.0).read(2)
tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0]).stack()
tf.TensorArray(tf.int32, 0, dynamic_size=True).write(0, 5).write(1, 6).stack()
tf.TensorArray(tf.int32, 2, infer_shape=False).write(0, [1]).write(1, [2, 3]).concat()
tf.TensorArray(tf.int32, 3).unstack([1, 2, 3]).gather([2, 0])
tf.TensorArray(tf.int32, 2).scatter([1, 0], [10, 20]).stack()
tf.TensorArray(tf.int32, 2).split([1, 2, 3], [1, 2]).read(1)
tf.TensorArray(tf.float32, 2, element_shape=[2]).element_shape
tf.TensorArray(tf.float32, 1).dtype
tf.TensorArray(tf.float32, 1).dynamic_size
tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1.0, 2.0]).stack()
tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, 1.0).read(0)
tf.function(lambda a: a + 1)(1)
tf.function(lambda a, b=2: a * b)(tf.constant(3))
tf.function(lambda a: {'s': a + 1, 't': [a]})(x)
tf.group(tf.constant(1), tf.constant(2))
tf.no_op()
tf.stop_gradient(5)
tf.print()
""")
GROUP.snippets("""
# cond runs one branch only
calls = []
tf.cond(tf.constant(True), lambda: calls.append('true'), lambda: calls.append('false'))
calls

# while_loop over a tensor that grows
i, a = tf.while_loop(
    lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, [i]], 0)), [tf.constant(0), tf.zeros([0], tf.int32)],
    shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
a

# a TensorArray in a loop
array = tf.TensorArray(tf.int32, 0, dynamic_size=True)
_, array = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t.write(i, i * i)), [0, array])
array.stack()

# a TensorArray by a Python loop
array = tf.TensorArray(tf.float32, size=3)
for i in range(3):
    array = array.write(i, tf.fill([2], float(i)))
[array.stack(), array.size()]

# Python's if, while and for on tensors
total = tf.constant(0)
for e in tf.range(5):
    if e % 2 == 0:
        total += e
while total > 3:
    total -= 2
total

# a function's variables change
v = tf.Variable(1)
def bump():
    v.assign_add(1)
    return v
[tf.convert_to_tensor(tf.cond(True, bump, lambda: v)), v]
""")
GROUP.errors("""
tf.function(lambda x: tf.case([(x > 1, lambda: tf.constant(1))]))(tf.constant(0))
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)]))(tf.constant(0))
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)], exclusive=True))(tf.constant(0))
tf.function(lambda x: tf.case([(x > n, lambda n=n: x + n) for n in (1, 5)], lambda: -x, True))(tf.constant(7))
tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2)
tf.cond(True, 1, lambda: 2)
tf.cond(True, lambda: 1, None)
tf.cond(None, lambda: 1, lambda: 2)
tf.case([])
tf.case([(tf.constant(False), lambda: 1)])
tf.case([1, 2])
tf.switch_case(0, [])
tf.switch_case(1.5, [lambda: 1])
tf.switch_case(0, [1, 2])
tf.switch_case(0, {0: lambda: 1, 0.5: lambda: 2})
tf.while_loop(1, lambda i: [i + 1], [0])
tf.while_loop(lambda i: i < 3, 5, [0])
tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [0])
tf.while_loop(lambda: True, lambda: (), [])
tf.map_fn(lambda e: e, tf.constant(5))
tf.map_fn(lambda e: e[0], (x, m))
tf.map_fn(lambda e: tf.cast(e, tf.float32), x, fn_output_signature=tf.string)
tf.map_fn(lambda e: tf.range(e), x)
tf.map_fn(lambda e: e, None)
tf.foldl(lambda a, e: a, tf.zeros([0]))
tf.scan(lambda a, e: (a, a), x)
tf.py_function(lambda a: a, [x], tf.float32)
tf.py_function(lambda: 1 / 0, [], tf.float32)
tf.py_function(lambda: [].pop(), [], tf.float32)
tf.py_function(lambda: {}['missing'], [], tf.float32)
tf.py_function(lambda: 'a', [], tf.float32)
tf.numpy_function(lambda: int('a'), [], tf.int32)
tf.numpy_function(5, [], tf.int32)
tf.TensorArray(tf.float32, 2).read(5)
tf.TensorArray(tf.float32, 2).write(5, 1.0)
tf.TensorArray(tf.float32, 2).write(0, 'a')
tf.TensorArray(tf.float32, 2).write(0, tf.constant(1))
tf.TensorArray(tf.float32, 2).write(-1, 1.0)
tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, 1.0)
tf.TensorArray(tf.float32, 1).unstack([1.0, 2.0])
tf.TensorArray(tf.float32, 1).write(0, 1.0).split([1.0], [2])
tf.switch_case(tf.constant(2), {0: lambda: 10, 2: lambda: 20}, default=lambda: 30)
tf.switch_case(tf.constant(5), {0: lambda: 10, 2: lambda: 20}, default=lambda: 30)
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
tf.map_fn(lambda e: e * 2, [1, 2, 3])
""")
