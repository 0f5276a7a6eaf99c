"""What people report about gradients: None and NaN where a number was hoped for, second order, custom rules."""

from goldens.case import Group

GROUP = Group()

GROUP.snippets("""
# the gradient of a norm at zero is NaN
x = tf.constant([0.0, 0.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.norm(x)
tape.gradient(y, x)

# the euclidean norm at zero
x = tf.constant([[0.0, 0.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.math.reduce_euclidean_norm(x, axis=1)
tape.gradient(y, x)

# where keeps the NaN of the branch that is not taken
x = tf.constant([-1.0, 0.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.where(x > 0, tf.math.log(x), 0.0)
tape.gradient(y, x)

# two wheres keep the NaN away
x = tf.constant([-1.0, 0.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    safe = tf.where(x > 0, x, 1.0)
    y = tf.where(x > 0, tf.math.log(safe), 0.0)
tape.gradient(y, x)

# an infinite value in the branch that is not taken
a = tf.Variable(10.0)
with tf.GradientTape() as tape:
    y = tf.where(a < 15.0, a, tf.pow(10.0, tf.exp(a)))
tape.gradient(y, a)

# the square of a square root at zero
x = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.square(tf.sqrt(x))
tape.gradient(y, x)

# an integer variable has no gradient
x = tf.Variable(3)
with tf.GradientTape() as tape:
    y = tf.cast(x, tf.float32) * 2.0
tape.gradient(y, x)

# a constant that nobody watches
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)

# a variable that does not train
x = tf.Variable(3.0, trainable=False)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)

# a detour through NumPy
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.constant(np.square(x.numpy())) + 0.0 * tf.reduce_sum(x)
tape.gradient(y, x)

# a variable replaced by its update
x = tf.Variable(2.0)
grads = []
for _ in range(2):
    with tf.GradientTape() as tape:
        y = x + 1
    grads.append(tape.gradient(y, x))
    x = x + 1
grads

# zeros where nothing connects
a, b = tf.Variable(1.0), tf.Variable([[1.0, 2.0]])
with tf.GradientTape() as tape:
    y = a * 3.0
tape.gradient(y, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO)

# gradients of a dict of variables
w = {"a": tf.Variable(2.0), "b": tf.Variable(3.0)}
with tf.GradientTape() as tape:
    y = w["a"] * w["b"] ** 2
tape.gradient(y, w)

# the gradient of several targets is the sum
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    ys = [x * 2.0, x ** 3]
tape.gradient(ys, x)

# second order with two tapes
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(x ** 3)
    g = inner.gradient(y, x)
(g, outer.gradient(g, x))

# the second tape is closed before the first gradient is taken
x = tf.Variable(2.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x ** 3
g = t1.gradient(y, x)
t2.gradient(g, x)

# a Hessian as a Jacobian of a gradient
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x[0] ** 2 * x[1]
    g = inner.gradient(y, x)
outer.jacobian(g, x)

# the gradient of argmax is None
x = tf.Variable([1.0, 5.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.cast(tf.argmax(x), tf.float32)
tape.gradient(y, x)

# rounding has no gradient
x = tf.Variable([1.4, 2.6])
with tf.GradientTape(persistent=True) as tape:
    ys = [tf.round(x), tf.floor(x), tf.math.ceil(x), tf.sign(x)]
[tape.gradient(y, x) for y in ys]

# a comparison has none
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.cast(x > 1.5, tf.float32) * x
tape.gradient(y, x)

# rows gathered twice add up
table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(table, [0, 2, 0]))
g = tape.gradient(y, table)
(type(g).__name__, g.indices, g.values, tf.convert_to_tensor(g))

# straight through with stop_gradient
x = tf.Variable([0.3, 0.8])
with tf.GradientTape() as tape:
    y = x + tf.stop_gradient(tf.round(x) - x)
(y, tape.gradient(y, x))

# a custom gradient that clips
@tf.custom_gradient
def clipped(x):
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(clipped(x) * [5.0, 0.5])
tape.gradient(y, x)

# a custom gradient of two inputs and two outputs
@tf.custom_gradient
def f(a, b):
    def grad(da, db):
        return da * 10.0, db * 100.0
    return (a + b, a - b), grad
a, b = tf.constant(1.0), tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch([a, b])
    s, d = f(a, b)
    y = s + 2.0 * d
tape.gradient(y, [a, b])

# a custom gradient with a variable inside
v = tf.Variable(3.0)
@tf.custom_gradient
def f(x):
    def grad(dy, variables=None):
        return dy * 7.0, [dy * 11.0 for _ in variables]
    return x * v, grad
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, [x, v])

# the second order of a custom gradient
@tf.custom_gradient
def cube(x):
    return x ** 3, lambda dy: dy * 3.0 * x ** 2
x = tf.constant(2.0)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = cube(x)
    g = inner.gradient(y, x)
(g, outer.gradient(g, x))

# gradients() in a function
@tf.function
def f(x):
    y = x ** 3
    return tf.gradients(y, x)
f(tf.constant(2.0))

# gradient through a loop of a function
@tf.function
def power(x, n):
    y = tf.ones_like(x)
    for _ in tf.range(n):
        y *= x
    return y
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = power(x, tf.constant(4))
(y, tape.gradient(y, x))

# max with ties shares the gradient
x = tf.constant([2.0, 2.0, 1.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    a = tf.reduce_max(x)
    b = tf.maximum(x, 2.0)
(tape.gradient(a, x), tape.gradient(b, x))

# absolute value and relu at zero
x = tf.constant([0.0, -0.0, 1.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    ys = [tf.abs(x), tf.nn.relu(x), tf.nn.relu6(x), tf.nn.leaky_relu(x), tf.nn.elu(x), tf.nn.selu(x)]
[tape.gradient(y, x) for y in ys]

# a power with an exponent that trains at base zero
x, p = tf.constant([0.0, 2.0]), tf.Variable(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.pow(x, p)
tape.gradient(y, [x, p])

# clip_by_global_norm with None among the gradients
tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None], 1.0)

# clip_by_global_norm with infinity
tf.clip_by_global_norm([tf.constant([3.0, np.inf])], 1.0)

# clip_by_norm along rows
tf.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=[1])

# the gradient of a cast to double and back
x = tf.Variable(1.5)
with tf.GradientTape() as tape:
    y = tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32)
tape.gradient(y, x)

# complex numbers give the conjugate
z = tf.constant(1.0 + 2.0j, tf.complex64)
with tf.GradientTape() as tape:
    tape.watch(z)
    y = tf.abs(z * z)
tape.gradient(y, z)

# the gradient through sort and top_k
x = tf.constant([3.0, 1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    a = tf.reduce_sum(tf.sort(x) * [1.0, 10.0, 100.0])
    b = tf.reduce_sum(tf.math.top_k(x, 2).values * [1.0, 10.0])
(tape.gradient(a, x), tape.gradient(b, x))

# the gradient through unsorted_segment_max
x = tf.constant([1.0, 3.0, 2.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.math.unsorted_segment_max(x, [0, 0, 1, 1], 2)
tape.gradient(y, x)

# a product with zeros
x = tf.constant([2.0, 0.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_prod(x)
tape.gradient(y, x)

# a standard deviation of equal numbers
x = tf.constant([2.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.math.reduce_std(x)
tape.gradient(y, x)

# stop_recording leaves a gap
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
    with tape.stop_recording():
        z = y * 10.0
    w = y + z
tape.gradient(w, x)

# watched_variables after a reset
a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
with tf.GradientTape() as tape:
    y = a * 1.0
    tape.reset()
    y = b * 2.0
[v.name for v in tape.watched_variables()]

# assign inside the tape
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    x.assign(3.0)
    y = x * x
    x.assign(10.0)
tape.gradient(y, x)

# assign_add gives no gradient to its summand
x, a = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    x.assign_add(a)
    y = x * x
tape.gradient(y, [x, a])

# a jacobian of a vector function with unconnected rows
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.stack([x[0] * 3.0, tf.constant(5.0), x[1] ** 2])
tape.jacobian(y, x)

# forward mode along a direction
x = tf.constant([1.0, 2.0])
with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    y = tf.reduce_sum(x ** 3) * x
acc.jvp(y)

# recompute_grad gives the same gradient
f = tf.recompute_grad(lambda x: tf.sin(x) * x)
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, x)

# output_gradients of another shape
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x, output_gradients=[1.0, 10.0])

# a gradient of a string
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = tf.strings.as_string(x)
tape.gradient(y, x)

# boolean_mask and its gradient
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.boolean_mask(x, x > 1.5) ** 2)
tape.gradient(y, x)

# the gradient of softmax cross entropy by labels
t, l = tf.constant([[0.3, 0.7]]), tf.constant([[1.0, 2.0]])
with tf.GradientTape() as tape:
    tape.watch([t, l])
    y = tf.nn.softmax_cross_entropy_with_logits(t, l)
tape.gradient(y, [t, l])

# divide_no_nan at a zero denominator
a, b = tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])
with tf.GradientTape() as tape:
    tape.watch([a, b])
    y = tf.math.divide_no_nan(a, b)
tape.gradient(y, [a, b])

# atan2 and xlogy at the origin
a, b = tf.constant([0.0, 1.0]), tf.constant([0.0, 1.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch([a, b])
    y, z = tf.atan2(a, b), tf.math.xlogy(a, b)
(tape.gradient(y, [a, b]), tape.gradient(z, [a, b]))
""")

GROUP.snippets(
    """
# a custom gradient that does not take the variables
v = tf.Variable(3.0)
@tf.custom_gradient
def f(x):
    return x * v, lambda dy: dy * 7.0
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, x)

# gradient called twice on a tape
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
tape.gradient(y, x)

# gradient of a Python float
with tf.GradientTape() as tape:
    x = 3.0
    tape.watch(x)
    y = x * x
tape.gradient(y, x)

# gradients() in eager mode
x = tf.constant(2.0)
tf.gradients(x * x, x)

# the gradient of the determinant of a singular matrix
m = tf.constant([[1.0, 2.0], [2.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(m)
    y = tf.linalg.det(m)
tape.gradient(y, m)

# batch_jacobian with a wrong batch
x = tf.Variable([[1.0, 2.0]])
with tf.GradientTape() as tape:
    y = tf.reshape(tf.concat([x, x], 0), [2, 2])
tape.batch_jacobian(y, x)
""",
    raises=True,
    message=True,
)
