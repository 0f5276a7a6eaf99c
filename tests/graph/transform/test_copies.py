"""A traced graph does not change: gradients are computed by copies of it."""

import threading

import numpy as np
import pytest

import tapeflow as tf

W = tf.Variable([[0.5, -0.25], [0.125, 1.0]])
BIG = tf.ones([300])


@tf.custom_gradient
def clipped(x):
    y = tf.tanh(x)
    return y, lambda dy: dy * (1.0 - y * y)


@tf.custom_gradient
def scaled(x):
    return x * 2.0, lambda dy: dy * W[0, 0] * tf.reduce_sum(BIG)  # which the function itself does not capture


def loop(x):
    for i in tf.range(3):
        x = tf.tanh(tf.linalg.matvec(W, x)) + tf.cast(i, tf.float32)
    return x


def nested_loops(x):
    for i in tf.range(2):
        for j in tf.range(2):
            x = x * tf.sin(x) + tf.cast(i * j, tf.float32)
    return x


def conditional(x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: tf.exp(x))


def conditional_in_loop(x):
    for _ in tf.range(3):
        x = tf.cond(tf.reduce_sum(x) > 1.0, lambda x=x: x * W[0], lambda x=x: x * x + 1.0)
    return x


inner = tf.function(loop)


def calls(x):
    return inner(x) * tf.reduce_sum(inner(x + 1.0))


def own_gradient(x):
    return clipped(x) * x


def own_gradient_in_loop(x):
    for _ in tf.range(3):
        x = scaled(clipped(x)) * 0.5
    return x


def with_a_tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loop(x)
    return tape.gradient(y, x)


def on_rows(x):
    return tf.vectorized_map(lambda row: tf.reduce_sum(tf.tanh(row)) * row, tf.stack([x, x + 1.0]))


FUNCTIONS = [
    loop, nested_loops, conditional, conditional_in_loop, calls, own_gradient, own_gradient_in_loop,
    with_a_tape_inside, on_rows,
]  # fmt: skip
X = tf.constant([0.3, -0.7])


def gradients(function):
    """Returns the first and second gradients of a function."""
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = function(X)
        dx = tape.gradient(y, X)
    return [dx.numpy(), outer.gradient(dx, X).numpy()]


def contents(concrete):
    """Returns what is to be seen of a graph: its operations, with the number of their outputs, and its captures."""
    graph = concrete.graph
    return [(o.name, o.type, len(o.outputs)) for o in graph.get_operations()], len(graph.captures)


@pytest.mark.parametrize("python_function", FUNCTIONS)
def test_gradients_leave_graph_and_source_as_they_are(python_function):
    first, second = (tf.function(python_function, autograph=True) for _ in range(2))
    taken_first = gradients(first)
    concrete = second.get_concrete_function(X)
    before, source, value = contents(concrete), concrete.source(), second(X).numpy()
    np.testing.assert_array_equal(gradients(second), taken_first)
    assert contents(concrete) == before == contents(first.get_concrete_function(X))
    assert concrete.source() == source == first.get_concrete_function(X).source()
    np.testing.assert_array_equal(first(X).numpy(), value)


def test_a_loop_stays_a_loop_after_its_gradient():
    f = tf.function(loop)
    gradients(f)
    assert " in range(" in f.get_concrete_function(X).source()


def test_a_traced_graph_says_that_it_does_not_change():
    concrete = tf.function(loop).get_concrete_function(X)
    graph = concrete.graph
    before = contents(concrete)
    assert graph.finalized
    for change in (
        lambda: graph.outputs[0] + 1.0,
        lambda: graph.placeholder(tf.float32, [], "late"),
        lambda: graph.capture(tf.ones([500])),
        lambda: graph.capture(tf.Variable(1.0)),
        lambda: tf.constant(1.0),
    ):
        with graph.as_default(), pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            change()
    operation = next(o for o in graph.get_operations() if "While" in o.type)
    with pytest.raises(RuntimeError, match=r"'while' can't return anything else"):
        operation.also_return(operation.op, tf.variant, tf.TensorShape([]))
    assert contents(concrete) == before


def test_the_bodies_of_loops_and_branches_do_not_change_either():
    graph = tf.function(conditional_in_loop).get_concrete_function(X).graph
    (loop_operation,) = (o for o in graph.get_operations() if "While" in o.type)
    bodies = [loop_operation.op.bodies["cond"], loop_operation.op.bodies["body"]]
    bodies += [b for o in bodies[1].graph.get_operations() if "If" in o.type for b in o.op.bodies.values()]
    assert len(bodies) == 4
    for body in bodies:
        with body.graph.as_default(), pytest.raises(RuntimeError, match="Graph is finalized"):
            tf.constant(1.0)


def test_gradients_of_some_outputs_before_those_of_others():
    @tf.function
    def f(x, y):
        for _ in tf.range(3):
            x, y = x * tf.sin(y), y * tf.cos(y)
        return x, y

    def of(*places):
        with tf.GradientTape() as tape:
            tape.watch([X, Z])
            targets = f(X, Z)
            chosen = [targets[p] for p in places]
        return [None if g is None else g.numpy() for g in tape.gradient(chosen, [X, Z])]

    one, other, both = of(1), of(0), of(0, 1)
    assert one[0] is None or not one[0].any()
    np.testing.assert_allclose(both[0], other[0], rtol=1e-6)
    np.testing.assert_allclose(both[1], one[1] + other[1], rtol=1e-5)
    again = of(1)
    np.testing.assert_array_equal(again[1], one[1])


Z = tf.constant([1.1, 0.4])


def test_a_loop_that_records_more_after_a_session_has_run_it():
    def body(i, x, y):
        return i + 1, x * tf.sin(x), y * tf.cos(y) + tf.exp(-y)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        _, one, other = tf.while_loop(lambda i, *_: i < 3, body, (0, x, x * 2.0))
        fed = {x: Z.numpy()}
        (of_one,) = tf.gradients(one, x)
        before = session.run([one, of_one], fed)
        (of_other,) = tf.gradients(other, x)
        (of_both,) = tf.gradients([one, other], x)
        after = session.run([one, of_one], fed)
        np.testing.assert_array_equal(before, after)
        parts, both = session.run([[of_one, of_other], of_both], fed)
        np.testing.assert_allclose(parts[0] + parts[1], both, rtol=1e-5)
        np.testing.assert_array_equal(parts[0], before[1])


def test_threads_that_differentiate_a_function_at_once():
    wanted = gradients(tf.function(conditional_in_loop))
    f = tf.function(conditional_in_loop)
    f(X)
    results, start = [], threading.Barrier(4)

    def run():
        start.wait()
        results.append(gradients(f))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, wanted)
