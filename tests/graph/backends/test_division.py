"""`torch.compile` on programs with loops, conditionals and side effects: their parts are compiled."""

import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.usefixtures("for_gpus", "no_debug_messages")


def close(got, want):
    for g, w in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=2e-5, atol=1e-6)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("f") * 0.4


# ---- loops -----------------------------------------------------------------------------------------------------------


def recurrent(x, w, u):
    """A recurrent layer, whose states are collected in a `TensorArray`; no LSTM, which would not run as a loop."""
    h = c = tf.zeros([x.shape[1], u.shape[0]])
    states = tf.TensorArray(tf.float32, x.shape[0])
    for t in tf.range(x.shape[0]):
        i, f, g, o = tf.split(x[t] @ w + h @ u, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.sin(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states = states.write(t, h)
    return states.stack()


def test_a_recurrent_layer_and_its_gradient_are_compiled_but_for_the_loop(graphs, without_machine_code):
    w, u = tf.Variable(normal(3, 16)), tf.Variable(normal(4, 16))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(recurrent(x, w, u) ** 2)
        return loss, tape.gradient(loss, [w, u])

    x = tf.constant(normal(5, 2, 3))
    jitted = tf.function(step, jit_compile=True)
    for _ in range(2):
        close(jitted(x), tf.function(step)(x))
    lines = jitted.get_concrete_function(x).explain_jit_compile().splitlines()
    assert any("around While, TensorListStack" in line for line in lines)
    assert sum(line.startswith("part_of_") and line.endswith(": compiled") for line in lines) >= 2
    assert any("iteration_of_backward" in line for line in lines)


def test_gradients_of_a_compiled_loop_by_a_tape_around_the_call_and_of_second_order(graphs):
    def power(x):
        y = x
        for _ in tf.range(3):
            y = tf.sin(y) * x
        return y

    def derivatives(function, x):
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = function(x)
            dx = first.gradient(y, x)
        return y, dx, second.gradient(dx, x)

    x = tf.constant([0.5, -1.2])
    jitted = tf.function(power, jit_compile=True)
    for _ in range(3):
        close(derivatives(jitted, x), derivatives(tf.function(power), x))
    assert graphs


def test_a_training_loop_changes_variables_in_order(graphs):
    def trained(jit_compile):
        w, steps = tf.Variable(normal(4, 2)), tf.Variable(0, dtype=tf.int64)

        @tf.function(jit_compile=jit_compile)
        def train(x, y, n):
            i, loss = tf.constant(0), tf.constant(0.0)
            while i < n:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((tf.tanh(x @ w) - y) ** 2)
                w.assign_sub(0.5 * tape.gradient(loss, w))
                steps.assign_add(1)
                i += 1
            return loss, w * 2.0, steps.read_value()

        x, y = tf.constant(normal(8, 4)), tf.constant(normal(8, 2))
        return [train(x, y, tf.constant(n)) for n in (3, 1, 4)], w.read_value()

    close(trained(True), trained(False))
    assert len(graphs) == 1 and "MatMul" in graphs[0]


def test_counters_stay_numbers_and_small_conditions_stay_python(graphs):
    @tf.function(jit_compile=True)
    def halved(x):
        i = tf.constant(0)
        while i < 10 and tf.reduce_max(x) > 1.0:
            x, i = tf.sqrt(x) * 0.9 + 0.05, i + 1
        return x, i

    x = tf.constant([100.0, 3.0])
    for _ in range(2):
        y, i = halved(x)
    close((y, i), tf.function(halved.python_function)(x))
    assert "item()" not in halved.get_concrete_function(x).source()
    assert not any("Less" in ops for ops in graphs)


def test_shapes_that_change_between_iterations_and_calls(graphs):
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 2])])
    def grown(x):
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None, 2]))])
            x = tf.concat([x, tf.reshape(tf.exp(-x) * 0.5, [tf.shape(x)[0], 2])], 0)
        return x / tf.cast(tf.shape(x)[0], tf.float32)

    for n in (1, 3, 1, 3):
        x = tf.constant(normal(n, 2))
        close(grown(x), tf.function(grown.python_function)(x))
    assert graphs


def test_an_error_inside_a_compiled_part_of_a_loop_is_tensorflows(graphs):
    @tf.function(jit_compile=True)
    def taken(x, indices):
        total = tf.zeros([])
        for _ in tf.range(3):
            total += tf.reduce_sum(tf.gather(x, indices) * 2.0)
            indices += 1
        return total

    x, good = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([0, 1])
    for _ in range(2):
        assert taken(x, good).numpy() == 30.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 4 is not in \[0, 4\)") as info:
            taken(x, tf.constant([0, 2]))
        assert "Detected at node while/GatherV2" in str(info.value)
    assert taken(x, good).numpy() == 30.0


# ---- other obstacles -------------------------------------------------------------------------------------------------


def test_branches_are_compiled_and_so_are_their_gradients(graphs):
    @tf.function(jit_compile=True)
    def either(x, positive):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x) * 2.0 + x if positive else tf.sin(x) * x - 1.0
        return y, tape.gradient(y, x)

    x = tf.constant([0.3, -0.4])
    for positive in (True, False) * 2:
        flag = tf.constant(positive)
        close(either(x, flag), tf.function(either.python_function)(x, flag))
    found = graphs
    assert any("Exp" in ops for ops in found) and any("Sin" in ops for ops in found)


def test_side_effects_stay_in_order_between_compiled_parts(graphs, caplog):
    seen = []
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def noted(x):
        y = tf.exp(x) * 2.0
        v.assign_add(y)
        tf.py_function(lambda a: seen.append(a.numpy().tolist()), [v.read_value()], [])
        v.assign(v * 0.5 + x)
        z = tf.numpy_function(lambda a: a + 1.0, [v.read_value()], tf.float32)
        z.set_shape([2])
        return tf.sqrt(z) * 3.0 + y

    x = tf.constant([0.0, 1.0])
    value = np.array([1.0, 2.0])
    for _ in range(3):
        y = 2.0 * np.exp(x.numpy())
        value = value + y
        result = noted(x)
        np.testing.assert_allclose(seen.pop(), value, rtol=1e-6)
        value = value * 0.5 + x.numpy()
        np.testing.assert_allclose(v.numpy(), value, rtol=1e-6)
        np.testing.assert_allclose(result, 3.0 * np.sqrt(value + 1.0) + y, rtol=1e-6)
    assert not seen and len(graphs) == 3
    messages = [r.getMessage() for r in caplog.records if "jit_compile=True:" in r.getMessage()]
    assert len(messages) == 1 and "EagerPyFunc" in messages[0]
    text = noted.get_concrete_function(x).explain_jit_compile()
    assert text.startswith("noted: Python with 3 compiled parts; EagerPyFunc") and "has side effects" in text


def test_a_shape_that_depends_on_values_divides_the_program(graphs):
    @tf.function(jit_compile=True)
    def positive(x):
        y = tf.exp(x) * 2.0 - 1.0
        return tf.reduce_sum(tf.boolean_mask(y, y > 0.0)), y * y + 1.0

    for values in ([1.0, -1.0], [1.0, 2.0], [-1.0, -2.0]):
        x = tf.constant(values)
        close(positive(x), tf.function(positive.python_function)(x))
    assert any("Exp" in ops for ops in graphs)


def test_matrices_in_another_layout_are_not_copied(graphs):
    """A loop's gradient hands its weights over with the columns in memory."""
    f = tf.function(lambda x, w: tf.tanh(x @ w) * 2.0, jit_compile=True)
    x, w = tf.constant(normal(2, 3)), tf.constant(normal(4, 3))
    compiled = f.get_concrete_function(x, tf.transpose(w)).body.compiled
    columns = w.value.t()
    for _ in range(2):
        (result,) = compiled(x.value, columns)
        np.testing.assert_allclose(result, 2.0 * np.tanh(x.numpy() @ w.numpy().T), rtol=1e-5)
    (result,) = compiled(x.value, columns.contiguous())
    np.testing.assert_allclose(result, 2.0 * np.tanh(x.numpy() @ w.numpy().T), rtol=1e-5)


def test_the_explanation_before_a_call_and_without_jit_compile():
    f = tf.function(lambda x: x * 2.0, jit_compile=True)
    assert f.get_concrete_function(1.0).explain_jit_compile() == "not compiled yet"
    g = tf.function(lambda x: x * 2.0)
    assert g.get_concrete_function(1.0).explain_jit_compile() == "not compiled: it has no jit_compile=True"


def test_slices_at_a_counter_take_it_as_a_number(graphs):
    @tf.function(jit_compile=True)
    def scanned(x, w):
        h = tf.zeros([2, 3])
        for t in tf.range(4):
            h = tf.tanh((x[t] + h) @ w)
        return h

    x, w = tf.constant(normal(4, 2, 3)), tf.constant(normal(3, 3))
    for _ in range(3):
        close(scanned(x, w), tf.function(scanned.python_function)(x, w))
    assert "StridedSlice" not in graphs[0] and "opaque" not in graphs[0] and "MatMul" in graphs[0]
    assert "op_StridedSlice(x, (while_Placeholder,)" in scanned.get_concrete_function(x, w).source()


def test_a_number_that_a_kernel_reads_from_a_tensor_divides_nothing(graphs):
    @tf.function(jit_compile=True)
    def rolled(x, by):
        return tf.roll(x * 2.0, by + 1, 0) + 1.0

    x = tf.constant(normal(4))
    for by in (1, 1, 2, 3):
        close(rolled(x, tf.constant(by)), tf.function(rolled.python_function)(x, tf.constant(by)))
    assert len(graphs) == 1 and "opaque" in graphs[0]
