"""Gradients of conditionals: residuals of the branch that ran, and what only gradients take from outside."""

import numpy as np
import pytest

import tapeflow as tf

W = tf.Variable([2.0, 3.0])
LARGE = tf.ones([300])
X = tf.constant([0.5, -1.5])


def gradients(function, *sources):
    """Returns the value of a function of `X`, and its gradients for `X` and other sources."""
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = function(X)
    return y, tape.gradient(y, [X, *sources], unconnected_gradients="zero")


def late(x, k):
    """Doubles a tensor; the gradient takes a tensor, a variable and a large constant that the function does not."""

    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda dy: dy * k * W * tf.reduce_sum(LARGE)

    return double(x)


@pytest.mark.parametrize("index", range(-1, 4))
def test_the_branch_that_ran_is_differentiated(index):
    branches = [lambda x: x * x, lambda x: tf.exp(x) * W, lambda x: x * 0.0 + 1.0]

    @tf.function
    def f(x, i):
        return tf.switch_case(i, [lambda k=k: branches[k](x) for k in range(3)])

    y, (dx, dw) = gradients(lambda x: f(x, tf.constant(index)), W)
    want, (want_dx, want_dw) = gradients(branches[index if 0 <= index < 3 else 2], W)
    for one, other in ((y, want), (dx, want_dx), (dw, want_dw)):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gradients_of_the_programs_own_take_what_branches_do_not(sign):
    @tf.function
    def f(x):
        k = tf.reduce_sum(x) * 0.25
        return tf.cond(tf.reduce_sum(x) * sign > 0.0, lambda: late(x, k), lambda: late(x * x, k))

    @tf.function
    def in_a_function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    scale = float(tf.reduce_sum(X)) * 0.25 * 300 * W.numpy()
    want = scale * (1.0 if float(tf.reduce_sum(X)) * sign > 0 else 2.0 * X.numpy())
    np.testing.assert_allclose(gradients(f)[1][0], want, rtol=1e-5)
    np.testing.assert_allclose(in_a_function(X), want, rtol=1e-5)


def test_a_record_serves_gradients_of_several_outputs_and_orders():
    @tf.function
    def f(x):
        return tf.cond(x[0] > 0.0, lambda: (x * x * x, tf.sin(x)), lambda: (x, tf.cos(x)))

    with tf.GradientTape(persistent=True) as outer:
        outer.watch(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(X)
            cube, sine = f(X)
        of_sine, of_cube, of_both = tape.gradient(sine, X), tape.gradient(cube, X), tape.gradient([cube, sine], X)
    np.testing.assert_allclose(of_sine, np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(of_cube, 3 * X.numpy() ** 2, rtol=1e-6)
    np.testing.assert_allclose(of_both, 3 * X.numpy() ** 2 + np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(outer.gradient(of_both, X), 6 * X.numpy() - np.sin(X), rtol=1e-5)


def test_a_gradient_added_to_a_graph_after_a_session_has_run_it():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        one, other = tf.cond(x[0] > 0.0, lambda: (x * x, x * 3.0), lambda: (x, -x))
        fed = {x: X.numpy()}
        assert session.run(one, fed).tolist() == [0.25, 2.25]
        (of_other,) = tf.gradients(other, x)
        assert session.run([one, of_other], fed)[1].tolist() == [3.0, 3.0]
        (of_one,) = tf.gradients(one, x)
        values = session.run([of_one, of_other, one], fed)
        assert [v.tolist() for v in values] == [[1.0, -3.0], [3.0, 3.0], [0.25, 2.25]]
