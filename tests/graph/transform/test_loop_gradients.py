"""Gradients of loop-invariant inputs, summed over all iterations after the loop."""

import numpy as np
import pytest

import tapeflow as tf

RANDOM = np.random.default_rng(0)


def random(*shape):
    return tf.constant(RANDOM.normal(size=shape) / 3, tf.float32)


def recurrent(x, w, u, b):
    """Returns the states of a recurrent layer."""
    steps, state = tf.shape(x)[0], tf.zeros_like(x[0] @ w)
    inputs, states = tf.TensorArray(tf.float32, steps).unstack(x), tf.TensorArray(tf.float32, steps)
    for i in tf.range(steps):
        state = tf.tanh(tf.nn.bias_add(inputs.read(i) @ w + state @ u, b))
        states = states.write(i, state)
    return states.stack()


def powers(x, w, u, b):
    """Returns products with weights that are transposed, or the same on both sides."""
    for _ in tf.range(4):
        x = tf.sin(tf.matmul(x, w, transpose_b=True)) @ w @ u[: tf.shape(w)[1], : tf.shape(w)[1]] + b[0]
    return x


def reads_in_any_order(x, w, u, b):
    """Reads entries of a list several times, and some not at all."""
    entries, total = tf.TensorArray(tf.float32, 5, clear_after_read=False).unstack(x), tf.zeros([2, 4])
    for i in tf.constant([3, 0, 3, 1, 3]):
        total += entries.read(i) @ w
    return total @ u


def growing(x, w, u, b):
    """Has another shape in each iteration."""
    rows = x[0]
    for _ in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(rows, tf.TensorShape([None, 3]))])
        rows = tf.concat([rows, tf.tanh(rows @ w)[:, :3]], 0)
    return rows


def gated(x, w, u, b):
    """Returns the last state of a recurrent layer whose biases are rows of one tensor, and that has gates."""
    state, biases = tf.zeros_like(x[0, :, :2]), tf.reshape(b, [2, 2])
    inputs = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    for i in tf.range(tf.shape(x)[0]):
        own, others = tf.unstack(tf.tanh(biases))
        z = tf.nn.bias_add(inputs.read(i) @ w[:, :2], own) + state @ u[:2, :2] + others
        gate, rest = tf.sigmoid(z[:, :1]), z[:, 1:]
        state = gate * state + (1.0 - gate) * tf.tanh(rest)
    return state


def once(x, w, u, b):
    for i in tf.range(1):
        x = x[:, :, :1] * (b + tf.cast(i, tf.float32))
    return x


def never(x, w, u, b):
    """Has no iterations, as only the values tell."""
    state = x[0] @ w
    for i in tf.range(tf.cast(b[0] * 0.0, tf.int32)):
        state = tf.tanh(tf.nn.bias_add(x[i] @ w + state @ u, b))
    return state


def convolutional(x, w, u, b):
    """Returns the last state of a recurrent layer of convolutions."""
    images, state = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x[:, :, None, :, None]), tf.zeros([2, 1, 3, 2])
    filters, own = tf.reshape(w[:2, :3], [1, 3, 1, 2]), tf.reshape(u[:3], [1, 3, 2, 2])
    for i in tf.range(tf.shape(x)[0]):
        z = tf.nn.conv2d(images.read(i), filters, 1, "SAME") + tf.nn.conv2d(state, own, 1, "SAME")
        state = tf.tanh(tf.nn.depthwise_conv2d(z, own, [1, 1, 1, 1], "SAME")[..., ::2] + b[:2])
    return state


def gradients(function, *inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
        loss = tf.reduce_sum(y * y)
    return tape.gradient(loss, inputs, unconnected_gradients="zero")


def second_gradients(function, *inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.add_n([tf.reduce_sum(g * g) for g in gradients(function, *inputs)])
    return tape.gradient(loss, inputs, unconnected_gradients="zero")


FUNCTIONS = [recurrent, powers, reads_in_any_order, growing, gated, once, never, convolutional]
SHAPES = {recurrent: (5, 2, 3), powers: (2, 4), reads_in_any_order: (5, 2, 3), growing: (4, 2, 3), gated: (5, 7, 3),
          once: (2, 3, 4), never: (5, 2, 3), convolutional: (4, 2, 3)}  # fmt: skip


def inputs_of(function):
    w = random(4, 4) if function is powers else random(3, 4)
    return random(*SHAPES[function]), w, random(4, 4), random(4)


@pytest.mark.parametrize("order", [gradients, second_gradients], ids=["first", "second"])
@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_those_of_the_eager_loop(function, unknown, order):
    inputs = inputs_of(function)
    signature = [tf.TensorSpec([None] * len(t.shape)) for t in inputs] if unknown else None
    in_graph = tf.function(lambda *x: order(function, *x), input_signature=signature)
    for result, expected in zip(in_graph(*inputs), order(function, *inputs), strict=True):
        np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5)


def test_variables_that_the_loop_assigns_are_not_shared_by_its_iterations():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                y = tf.matmul(y, x) * v.read_value()
                v.assign_add(1.0)
        return tape.gradient(y, x)

    # y = 2 * 3 * 4 * x ** 4
    np.testing.assert_allclose(f(tf.constant([[1.5]])), [[24 * 4 * 1.5**3]], rtol=1e-6)


def test_products_with_weights_are_one_product_after_the_loop():
    f = tf.function(lambda *x: gradients(recurrent, *x))
    inputs = inputs_of(recurrent)
    f(*inputs)
    loops = [o.op.kernel for o in f.get_concrete_function(*inputs).graph.get_operations() if o.type == "WhileGrad"]
    iteration = loops[0].iteration
    assert len(iteration.sums.numbers) == 4  # of w, u, b and the list of inputs
    assert iteration.function.source.count(" op_MatMul") == 1  # the one that the gradient of the state takes
    assert iteration.changing == [1] and len(iteration.numbers) == 1  # the state; the list of states stays


def test_the_gradient_of_a_bias_in_a_row_is_computed_after_the_loop():
    f = tf.function(lambda *x: gradients(gated, *x))
    inputs = inputs_of(gated)
    f(*inputs)
    loops = [o.op.kernel for o in f.get_concrete_function(*inputs).graph.get_operations() if o.type == "WhileGrad"]
    iteration = loops[0].iteration
    assert len(iteration.numbers) == 1  # the state
    assert "BiasAddGrad" not in iteration.function.source


def test_weights_by_which_iterations_multiply_transposed_are_laid_out_for_it():
    f = tf.function(lambda *x: gradients(recurrent, *x))
    inputs = inputs_of(recurrent)
    f(*inputs)
    loops = [o.op.kernel for o in f.get_concrete_function(*inputs).graph.get_operations() if o.type == "WhileGrad"]
    assert len(loops[0].iteration.transposed) == 1
