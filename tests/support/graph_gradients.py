"""Graphs with gradients of calls, conditionals and loops, as `graph_programs.py` has them."""

import numpy as np

from graph_programs import VALUES, Built, matrix, program


def scalar(tf, name="x"):
    return tf.compat.v1.placeholder(tf.float32, [], name=name)


# ---- conditionals ----------------------------------------------------------------------------------------------------


@program
def gradients_of_conditional(tf):
    x, z = scalar(tf), scalar(tf, "z")
    taken = tf.cond(x > 0.0, lambda: x * tf.sin(x) * z, lambda: tf.exp(x) * 3.0)
    other = tf.cond(x > 2.0, lambda: x * z, lambda: tf.exp(x))
    return Built([taken, other, *tf.gradients(taken, [x, z]), *tf.gradients(other, [x, z])], {x: 1.5, z: 2.0})


@program
def gradients_of_conditional_for_variables(tf):
    x = matrix(tf)
    v, w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="v"), tf.Variable(2.0, name="w")
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(tf.matmul(x, v)), lambda: tf.matmul(x, v) * w)
    return Built([y, *tf.gradients(tf.reduce_sum(y), [x, v, w])], {x: VALUES})


@program
def gradients_of_nested_conditionals(tf):
    x = scalar(tf)
    y = tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: x * x * x, lambda: x * 2.0), lambda: -x)
    return Built([y, *tf.gradients(y, [x])], {x: 1.5})


@program
def gradients_of_switch_case(tf):
    x, i = scalar(tf), tf.compat.v1.placeholder(tf.int32, [], name="i")
    y, z = tf.switch_case(i, [lambda: (x * 2.0, x), lambda: (x * x, x * 3.0), lambda: (tf.sin(x), x)])
    return Built([y, z, *tf.gradients([y, z], [x]), *tf.gradients(y, [x])], {x: 1.5, i: 1})


# ---- loops -----------------------------------------------------------------------------------------------------------


@program
def gradients_of_loop(tf):
    x, n = scalar(tf), tf.compat.v1.placeholder(tf.int32, [], name="n")
    y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[1]
    return Built([y, *tf.gradients(y, [x])], {x: 1.5, n: 4})


def bounded_loop(tf, x, w):
    def body(y):
        return [tf.tanh(tf.matmul(y, w)) + x]

    return tf.while_loop(lambda y: tf.reduce_sum(y) < 1e5, body, [x], maximum_iterations=3)[0]


@program
def gradients_of_bounded_loop(tf):
    x, w = matrix(tf), tf.constant(np.eye(3) * 0.5 + 0.1, tf.float32)
    y = bounded_loop(tf, x, w)
    return Built([y, *tf.gradients(y, [x, w])], {x: VALUES})


@program
def gradients_of_loop_for_variables(tf):
    x, w = matrix(tf), tf.Variable(np.eye(3) * 0.5 + 0.1, dtype=tf.float32, name="w")
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, w)), [0, x])[1]
    return Built([y, *tf.gradients(y, [x, w])], {x: VALUES})


def nested_loops(tf, x):
    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x), [0, y])[1]

    return tf.while_loop(lambda i, y: i < 4, outer, [0, x])[1]


@program
def gradients_of_nested_loops(tf):
    x = scalar(tf)
    y = nested_loops(tf, x)
    return Built([y, *tf.gradients(y, [x])], {x: 1.1})


def conditional_in_loop(tf, x):
    def body(i, y):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + x * x)

    return tf.while_loop(lambda i, y: i < 5, body, [0, x])[1]


@program
def gradients_of_conditional_in_loop(tf):
    x = scalar(tf)
    y = conditional_in_loop(tf, x)
    return Built([y, *tf.gradients(y, [x])], {x: 1.1})


def loop_in_conditional(tf, x):
    def cubed():
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]

    return tf.cond(x > 0.0, cubed, lambda: x * 3.0)


@program
def gradients_of_loop_in_conditional(tf):
    x = scalar(tf)
    y = loop_in_conditional(tf, x)
    return Built([y, *tf.gradients(y, [x])], {x: 1.1})


@program
def gradients_of_loops_over_lists(tf):
    x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
    found = [
        tf.map_fn(lambda a: a * a * 3.0, x),
        tf.scan(lambda a, b: a * b, x),
        tf.foldl(lambda a, b: tf.sin(a) + b, x),
    ]
    return Built([*found, *[tf.gradients(y, x)[0] for y in found]], {x: [1.0, 2.0, 3.0]})


@program
def gradients_of_array_written_in_loop(tf):
    x = tf.compat.v1.placeholder(tf.float32, [3], name="x")

    @tf.function
    def sums(x):
        made, total = tf.TensorArray(tf.float32, size=3), 0.0
        for i in tf.range(3):
            total += x[i] * x[i]
            made = made.write(i, total)
        return made.stack()

    y = sums(x)
    return Built([y, *tf.gradients(y, x)], {x: [1.0, 2.0, 3.0]})


# ---- calls -----------------------------------------------------------------------------------------------------------


def calls(tf, x):
    @tf.function
    def inner(a):
        return tf.sin(a) * a

    @tf.function
    def outer(a):
        return inner(a) + inner(a * 2.0)

    return outer(x)


@program
def gradients_of_calls(tf):
    x = matrix(tf)
    y = calls(tf, x)
    (g,) = tf.gradients(y, x)
    return Built([y, g, *tf.gradients(g, x)], {x: VALUES})


@program
def gradients_of_calls_with_control_flow(tf):
    x = scalar(tf)

    @tf.function
    def f(a, n):
        if a > 0.0:
            a = a * tf.exp(a)
        for i in tf.range(n):
            a = a * x + tf.cast(i, tf.float32)
        return a

    y = f(x, tf.constant(3))
    return Built([y, *tf.gradients(y, [x])], {x: 0.7})


@program
def tape_in_a_function(tf):
    x = scalar(tf)

    @tf.function
    def f(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.cond(a > 0.0, lambda: a * a, lambda: -a)
            y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * a), [0, y])[1]
        return y, tape.gradient(y, a)

    return Built(list(f(x)), {x: 0.7})


@program
def training_through_control_flow(tf):
    x, v = scalar(tf), tf.Variable(2.0, name="v")
    y = tf.cond(x > 0.0, lambda: v * x, lambda: v - x)
    loss = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, y * y])[1]
    train = tf.compat.v1.train.GradientDescentOptimizer(0.001).minimize(loss)
    return Built([loss, v], {x: 1.0}, [train] * 3)


# ---- operations whose gradients need shapes that are not known -------------------------------------------------------


@program
def gradients_of_slices_of_unknown_sizes(tf):
    x = matrix(tf)
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    found = [
        x[n:, 1:],
        x[..., -1] * 2.0,
        tf.slice(x, [n, 0], [1, 2]),
        tf.slice(x, [0, n], [-1, -1]),
        tf.pad(x, [[n, 0], [1, n]]),
        tf.pad(x, [[1, n], [0, 2]], constant_values=3.0),
        tf.roll(x, n, 1),
        tf.tile(x, [n + 1, 2]),
        tf.reverse(x, [0]),
        tf.reshape(x, [n + 2, -1]),
        tf.broadcast_to(x[:1], [tf.shape(x)[0] + n, 3]),
    ]
    return Built([*found, *[tf.gradients(y * y, x)[0] for y in found]], {x: VALUES, n: 1})


@program
def gradients_of_gathering_from_unknown_sizes(tf):
    x = tf.compat.v1.placeholder(tf.float32, [None, None], name="x")
    i = tf.compat.v1.placeholder(tf.int32, [None], name="i")
    found = [
        tf.gather(x, i),
        tf.gather(x, tf.stack([i, i])),
        tf.gather(x, i, axis=1),
        tf.gather(x, tf.stack([i, i]), axis=1, batch_dims=1),
        tf.gather_nd(x, tf.stack([i, i], 1)),
        tf.gather_nd(x, [[1, 2], [0, 1]]),
        tf.math.top_k(x, 2).values,
        tf.sort(x, axis=0),
        tf.boolean_mask(x, x > 0.4),
    ]
    grads = [tf.convert_to_tensor(tf.gradients(y * y, x)[0]) for y in found]
    return Built([*found, *grads], {x: VALUES, i: [0, 1]})


@program
def gradients_of_broadcasting_and_joining_of_unknown_sizes(tf):
    x, z = matrix(tf), tf.compat.v1.placeholder(tf.float32, [None, None], name="z")
    found = [
        x * z + z,
        x / (z + 4.0),
        tf.maximum(x, z),
        tf.concat([x, x * x], 0),
        tf.stack([x, x * x], 1),
        tf.reduce_max(x, 1),
        tf.reduce_mean(x, 0),
        tf.reduce_prod(x + 4.0, 1),
        tf.math.cumsum(x, 1),
        tf.matmul(x, z, transpose_b=True),
        tf.nn.softmax(x),
        tf.nn.moments(x, [0])[1],
        tf.linalg.matvec(x, z[0]),
    ]
    grads = [g for y in found for g in tf.gradients(y * y, [x, z]) if g is not None]
    return Built([*found, *grads], {x: VALUES, z: VALUES[:1] * 0.5})


@program
def gradients_of_unknown_ranks(tf):
    v1 = tf.compat.v1
    x, z = v1.placeholder(tf.float32, None, name="x"), v1.placeholder(tf.float32, None, name="z")
    i, axes, order = (v1.placeholder(tf.int32, [None], name=name) for name in ("i", "axes", "order"))
    found = [
        tf.reduce_sum(x * z),
        tf.reduce_sum(x, 0),
        tf.reduce_mean(x, [-1]),
        tf.reduce_max(x, 1),
        tf.reduce_sum(x, axes),
        tf.concat([x, x * 2.0], 0),
        tf.transpose(x, order),
        tf.gather(x, i),
        x / (z + 4.0),
        tf.nn.relu(x) - z,
        tf.reshape(x, [-1]),
        tf.expand_dims(x, 0),
    ]
    grads = [tf.convert_to_tensor(g) for y in found for g in tf.gradients(y * y, [x, z]) if g is not None]
    return Built([*found, *grads], {x: VALUES, z: VALUES[:1], i: [1, 0], axes: [1], order: [1, 0]})
