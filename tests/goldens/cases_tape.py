"""The tape's rules: what is watched, persistence, jacobians, forward mode, custom gradients, errors."""

from goldens.case import GRADIENTS_OF_SECOND_ORDER, Group

GROUP = Group(GRADIENTS_OF_SECOND_ORDER)

GROUP.snippets("""
# variables are watched by themselves
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * v
tape.gradient(y, v)

# a variable that isn't trainable isn't watched
v = tf.Variable(3.0, trainable=False)
with tf.GradientTape() as tape:
    y = v * v
tape.gradient(y, v)

# constants aren't watched by themselves
c = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = c * c
tape.gradient(y, c)

# watch_accessed_variables can be turned off
v, w = tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(w)
    y = v * w
tape.gradient(y, [v, w])

# an unconnected source gives None or zeros
v, w = tf.Variable(3.0), tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    y = v * 2
[tape.gradient(y, w), tape.gradient(y, w, unconnected_gradients=tf.UnconnectedGradients.ZERO),
 tape.gradient(y, w, unconnected_gradients='zero')]

# a persistent tape gives several gradients
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
[tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)]

# intermediate values can be sources
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    z = y * y
tape.gradient(z, [x, y])

# output_gradients scale
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x, output_gradients=[10.0, 100.0])

# a list of targets adds up
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = [x * x, x * 3]
tape.gradient(y, x)

# a list of targets with output_gradients
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = [x * x, x * 3]
tape.gradient(y, x, output_gradients=[tf.constant(1.0), tf.constant(10.0)])

# sources in a dict give a dict
w = {'a': tf.Variable(2.0), 'b': [tf.Variable(3.0)]}
with tf.GradientTape() as tape:
    y = w['a'] * w['b'][0]
tape.gradient(y, w)

# the same source twice
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, [x, x])

# a gradient of IndexedSlices
v = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])
with tf.GradientTape() as tape:
    y = tf.gather(v, [2, 0, 2])
tape.gradient(y, v)

# slices and dense gradients add up to a dense one
v = tf.Variable([[1., 2.], [3., 4.]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(v, [1])) + tf.reduce_sum(v * v)
tape.gradient(y, v)

# two gathers add up
v = tf.Variable([1., 2., 3.])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(v, [1])) + 3 * tf.reduce_sum(tf.gather(v, [1, 0]))
tf.convert_to_tensor(tape.gradient(y, v))

# stop_recording leaves ops out
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    with tape.stop_recording():
        z = y * x
    y = y + x
tape.gradient(y, x)

# reset forgets
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
    tape.reset()
    y = x * 3
tape.gradient(y, x)

# watched_variables
v, w = tf.Variable(1.0, name='v'), tf.Variable(2.0, name='w')
with tf.GradientTape() as tape:
    y = v + w + v
[x.name for x in tape.watched_variables()]

# a gradient inside the tape is recorded
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    g = tape.gradient(y, x)
tape.gradient(g, x)

# three orders
x = tf.constant(2.0)
with tf.GradientTape() as t3:
    t3.watch(x)
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t1:
            t1.watch(x)
            y = x ** 4
        d1 = t1.gradient(y, x)
    d2 = t2.gradient(d1, x)
d3 = t3.gradient(d2, x)
[d1, d2, d3]

# assignments change what is recorded later
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * v
    v.assign(5.0)
    z = y + v
tape.gradient(z, v)

# assign_add isn't part of the gradient
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    v.assign_add(1.0)
    y = v ** 2
tape.gradient(y, v)

# integers have no gradients
x = tf.constant(2)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x)

# jacobian
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.stack([x[0] * x[1], x[0] ** 2, x[1]])
tape.jacobian(y, x)

# jacobian without pfor
x = tf.constant([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
tape.jacobian(y, x, experimental_use_pfor=False)

# jacobian of several sources
a, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = a * b
tape.jacobian(y, [a, b])

# jacobian of an unconnected source
a, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
with tf.GradientTape(persistent=True) as tape:
    y = a * 2
[tape.jacobian(y, b), tape.jacobian(y, b, unconnected_gradients=tf.UnconnectedGradients.ZERO)]

# hessian by jacobian of gradient
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = x[0] ** 2 * x[1]
    g = inner.gradient(y, x)
outer.jacobian(g, x)

# hessian of a hessian's trace, in a function
x = tf.constant([1.0, 2.0])
@tf.function
def f(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x ** 3 * x[0])
            g = inner.gradient(y, x)
        h = middle.jacobian(g, x)
    return h, outer.jacobian(h, x)
f(x)

# jacobian by a variable, in a function, row by row
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
@tf.function
def f(x):
    with tf.GradientTape() as tape:
        y = tf.tanh(tf.linalg.matvec(w, x))
    return tape.jacobian(y, w, experimental_use_pfor=False)
f(tf.constant([0.1, -0.2]))

# gradients for each example
w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5, -0.5])
def gradients(e):
    with tf.GradientTape() as tape:
        y = tf.nn.relu(tf.matmul(e[None], w) + b)
        loss = tf.nn.l2_loss(y)
    return tape.gradient(loss, [w, b])
tf.vectorized_map(gradients, tf.constant([[1.0, 2.0], [-3.0, 1.0], [0.0, 0.25]]))

# gradient of a vectorized_map, through a condition
w = tf.Variable([1.0, -2.0])
x = tf.constant([[1.0, 2.0], [3.0, 4.0], [-5.0, 1.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.vectorized_map(lambda e: tf.cond(e[0] > 0, lambda: e * w, lambda: tf.exp(e) * w[0]), x)
[tf.convert_to_tensor(g) for g in tape.gradient(y, [x, w])]

# batch_jacobian
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x ** 2 + x[:, ::-1]
tape.batch_jacobian(y, x)

# batch_jacobian with different widths
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.matmul(x, tf.ones([2, 3])) ** 2
tape.batch_jacobian(y, x)

# forward mode
x = tf.constant([1.0, 2.0])
with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    y = x ** 2 + tf.sin(x)
acc.jvp(y)

# forward mode of variables
v, w = tf.Variable(2.0), tf.Variable(3.0)
with tf.autodiff.ForwardAccumulator([v, w], [tf.constant(1.0), tf.constant(10.0)]) as acc:
    y = v * w
acc.jvp(y)

# forward over reverse
x = tf.constant([1.0, 2.0])
with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 1.0])) as acc:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x ** 3)
    g = tape.gradient(y, x)
acc.jvp(g)

# forward mode of what is unconnected
x = tf.constant(1.0)
with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
    y = tf.constant(2.0) * 3
[acc.jvp(y), acc.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO)]

# custom_gradient
@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    def backward(upstream):
        return upstream * (1 - 1 / (1 + e))
    return tf.math.log(1 + e), backward
grad(log1pexp, 100.0)

# custom_gradient of two inputs and outputs
@tf.custom_gradient
def f(a, b):
    def backward(da, db):
        return da * 10, db * 100
    return (a + b, a * b), backward
grad(lambda a, b: f(a, b)[0] + 2 * f(a, b)[1], 1.0, 2.0)

# custom_gradient with variables
v = tf.Variable(2.0)
@tf.custom_gradient
def f(x):
    y = x * v
    def backward(dy, variables=None):
        return dy * 7, [dy * 11 for _ in variables]
    return y, backward
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, [x, v])

# grad_pass_through
x = tf.Variable(1.7)
with tf.GradientTape() as tape:
    y = tf.grad_pass_through(tf.round)(x) * 3
tape.gradient(y, x)

# recompute_grad
v = tf.Variable(2.0)
f = tf.recompute_grad(lambda x: tf.sin(x) * v)
x = tf.constant(1.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, [x, v])

# no_gradient and stop_gradient
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * tf.stop_gradient(x * x)
tape.gradient(y, x)

# gradients through a loop
x = tf.Variable(1.5)
with tf.GradientTape() as tape:
    y = x
    for _ in range(3):
        y = y * x
tape.gradient(y, x)

# gradients through map_fn
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.map_fn(lambda e: e * e, x)
tape.gradient(y, x)

# gradients through cond and while_loop
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.cond(x > 1, lambda: x * x, lambda: x)
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, y])
tape.gradient(y, x)

# gradients through a TensorArray
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    array = tf.TensorArray(tf.float32, 2)
    array = array.write(0, x * x).write(1, x)
    y = array.stack()
tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))

# gradients through py_function
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.py_function(lambda a: a * a, [x], tf.float32)
tape.gradient(y, x)

# gradients of a tf.function
f = tf.function(lambda x: x ** 3)
grad2(f, 2.0)

# gradients of ragged values
values = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(values)
    y = tf.reduce_sum(tf.RaggedTensor.from_row_lengths(values, [2, 1]) ** 2)
tape.gradient(y, values)

# gradient of a sparse product
a = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
b = tf.constant([[1.0], [2.0]])
with tf.GradientTape() as tape:
    tape.watch(b)
    y = tf.sparse.sparse_dense_matmul(a, b) ** 2
tape.gradient(y, b)

# dtypes of gradients follow the sources
a = tf.Variable(2.0, dtype=tf.float16)
with tf.GradientTape() as tape:
    y = tf.cast(a, tf.float32) * 3
tape.gradient(y, a)

# tapes that don't nest
x = tf.constant(3.0)
t1, t2 = tf.GradientTape(), tf.GradientTape()
t1.__enter__()
t1.watch(x)
y = x * x
t2.__enter__()
t2.watch(x)
z = y * x
t1.__exit__(None, None, None)
w = z * x
t2.__exit__(None, None, None)
[t1.gradient(z, x), t2.gradient(w, x)]
""")

GROUP.errors("""
tf.GradientTape().gradient(tf.constant(1.0), [tf.constant(1.0)], unconnected_gradients='nonsense')
tf.GradientTape().watch(1.0)
tf.GradientTape().watch('a')
tf.gradients(tf.constant(1.0), tf.constant(1.0))
tf.hessians(tf.constant(1.0), tf.constant(1.0))
tf.custom_gradient(lambda x: x)(tf.constant(1.0))
""")
GROUP.snippets(
    """
# a tape that isn't persistent gives one gradient
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x)
tape.gradient(y, x)

# jacobian of a complex target
x = tf.constant([1 + 1j])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.batch_jacobian(y, x)

# batch_jacobian of different batches
x = tf.constant([[1.0], [2.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.concat([x, x], 0)
tape.batch_jacobian(y, x)

# jacobian of one row at a time, by pfor
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.jacobian(y, x, parallel_iterations=1)

# jacobian row by row by a tape that isn't persistent
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.jacobian(y, x, experimental_use_pfor=False)

# sources that aren't tensors
with tf.GradientTape() as tape:
    y = tf.constant(1.0) * 2
tape.gradient(y, 'a')

# a tape entered twice
tape = tf.GradientTape()
with tape, tape:
    pass
None

# jvp within another thread of types
tf.autodiff.ForwardAccumulator([tf.constant(1.0)], [tf.constant(1.0), tf.constant(1.0)])
""",
    raises=True,
)
