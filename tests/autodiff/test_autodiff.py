"""Tapes, forward accumulators and custom gradients, as users work with them."""

import gc
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf


def value(tensor):
    return tensor.numpy().tolist()


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0])


@pytest.fixture
def v():
    return tf.Variable([1.0, 2.0])


def test_variables_are_watched_when_read(v):
    with tf.GradientTape() as tape:
        y = v * v
    assert [w is v for w in tape.watched_variables()] == [True]
    assert value(tape.gradient(y, v)) == [2.0, 4.0]
    assert len(tape.watched_variables()) == 1  # also when the rest is forgotten


def test_untrainable_variables_are_not_watched():
    v = tf.Variable(1.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None


def test_variables_are_not_watched_on_request(v):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        w = tf.Variable([1.0, 1.0])
        y = v * w
    assert [g if g is None else value(g) for g in tape.gradient(y, [v, w])] == [[1.0, 1.0], None]


def test_tensors_are_watched_on_request(x):
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    with tf.GradientTape() as tape:
        tape.watch({"x": [x]})
        y = x * x
    assert value(tape.gradient(y, x)) == [2.0, 4.0]


def test_watching_what_is_no_tensor_is_refused():
    with (
        pytest.raises(ValueError, match=r"Passed in object 1.0 of type 'float', not tf.Tensor"),
        tf.GradientTape() as t,
    ):
        t.watch(1.0)


def test_a_tape_is_used_up_by_one_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_a_persistent_tape_is_not(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    assert value(tape.gradient(y, x)) == [2.0, 4.0]
    assert value(tape.gradient(z, x)) == [3.0, 12.0]
    assert value(tape.gradient(z, y)) == [1.0, 2.0]


def test_a_tape_can_not_be_entered_twice():
    with pytest.raises(ValueError, match="Tape is still recording"), tf.GradientTape() as tape, tape:
        pass


def test_gradients_have_the_structure_of_the_sources(v, x):
    with tf.GradientTape() as tape:
        y = v * 3.0
    found = tape.gradient(y, {"a": v, "b": (x,)}, unconnected_gradients="zero")
    assert value(found["a"]) == [3.0, 3.0]
    assert value(found["b"][0]) == [0.0, 0.0]


def test_targets_are_summed(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        targets = [x * x, {"a": x * 3.0}]
    assert value(tape.gradient(targets, x)) == [5.0, 7.0]


def test_the_same_target_twice_counts_twice(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert value(tape.gradient([y, y], x)) == [4.0, 8.0]


def test_output_gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert value(tape.gradient(y, x, output_gradients=tf.constant([3.0, 4.0]))) == [6.0, 16.0]


def test_unknown_unconnected_gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        tape.gradient(x, x, unconnected_gradients="foo")


def test_no_target():
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(TypeError, match="Argument `target` should be a list or nested structure"):
        tape.gradient(None, tf.constant(1.0))


def test_a_source_is_its_own_target(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
    assert value(tape.gradient(x, x)) == [1.0, 1.0]


def test_stop_recording(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * x
    assert tape.gradient(z, x) is None


def test_stop_recording_of_a_tape_that_never_started():
    said = "Trying to stop recording a tape which is not recording"
    with pytest.raises(RuntimeError, match=said), tf.GradientTape().stop_recording():
        pass


def test_reset(v):
    with tf.GradientTape() as tape:
        y = v * v
        tape.reset()
        z = v * 3.0
    assert value(tape.gradient([y, z], v)) == [3.0, 3.0]


def test_integers_carry_no_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(tf.cast(x * 2.0, tf.int32), tf.float32)
    assert tape.gradient(y, x) is None


def test_nested_tapes_give_higher_orders():
    x = tf.constant(2.0)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = x * x * x * x
            dy = first.gradient(y, x)
        d2y = second.gradient(dy, x)
    d3y = third.gradient(d2y, x)
    assert [float(g) for g in (dy, d2y, d3y)] == [32.0, 48.0, 48.0]


def test_a_value_read_before_an_assignment_belongs_to_the_variable():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = v * 3.0
        v.assign(5.0)
        b = v * v
    assert float(tape.gradient([a, b], v)) == 3.0 + 10.0


def test_a_tensor_read_outside_is_not_the_variable():
    v = tf.Variable(2.0)
    t = tf.convert_to_tensor(v)
    with tf.GradientTape() as tape:
        y = t * t + v * 3.0
    assert float(tape.gradient(y, v)) == 3.0


def test_python_control_flow():
    def f(x):
        while x < 100.0:
            x = x * x
        return x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 8 * 3.0**7


def test_jacobian(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reshape(x, [2, 1]) * x
    for options in ({}, {"experimental_use_pfor": False}, {"parallel_iterations": 2}, {"parallel_iterations": 3}):
        found = tape.jacobian(y, x, **options)
        assert value(found) == [[[2.0, 0.0], [2.0, 1.0]], [[2.0, 1.0], [0.0, 4.0]]]


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_options_of_jacobians_that_are_refused(method):
    x = tf.constant([[1.0, 2.0]])
    for options, error in (({"parallel_iterations": 1}, ValueError), ({"experimental_use_pfor": False}, RuntimeError)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        with pytest.raises(error, match=method):
            getattr(tape, method)(y, x, **options)


def test_jacobian_of_several_sources(x, v):
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    found = tape.jacobian(y, [v, x])
    assert value(found[0]) == [[2.0, 0.0], [0.0, 4.0]]
    assert found[1] is None
    assert value(tape.jacobian(y, x, unconnected_gradients="zero")) == [[0.0, 0.0], [0.0, 0.0]]


def test_hessian_by_a_jacobian_of_a_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x * x * x)
        g = inner.gradient(y, x)
    assert value(outer.jacobian(g, x)) == [[6.0, 0.0], [0.0, 12.0]]


def test_batch_jacobian():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    w = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.matmul(x * x, w)
    found = tape.batch_jacobian(y, x).numpy()
    expected = 2.0 * x.numpy()[:, None, :] * w.numpy().T[None]
    np.testing.assert_allclose(found, expected)


def test_batch_jacobian_of_shapes_that_do_not_match():
    x = tf.constant([[1.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * tf.constant([[1.0], [2.0]])
    with pytest.raises(ValueError, match="Need first dimension of target shape"):
        tape.batch_jacobian(y, x)
    with pytest.raises(ValueError, match="rank at least 2"):
        tape.batch_jacobian(tf.constant([1.0]), x)


# ---- forward mode ----------------------------------------------------------------------------------------------------


def test_forward_accumulator(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        y = x * x
        other = tf.constant(1.0)
    assert value(acc.jvp(y)) == [2.0, 0.0]
    assert acc.jvp(other) is None
    assert float(acc.jvp(other, unconnected_gradients="zero")) == 0.0
    assert value(acc.jvp({"a": [y]})["a"][0]) == [2.0, 0.0]


def test_forward_accumulator_of_a_variable(v, x):
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        y = v * x
    assert value(acc.jvp(y)) == [1.0, 0.0]
    assert value(acc.jvp(v)) == [1.0, 0.0]


def test_forward_over_reverse_is_a_hessian_vector_product(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 3.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * x)
        g = tape.gradient(y, x)
    assert value(acc.jvp(g)) == [6.0, 36.0]


def test_reverse_over_forward(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 3.0])) as acc:
            y = tf.reduce_sum(x * x * x)
        jvp = acc.jvp(y)
    assert value(tape.gradient(jvp, x)) == [6.0, 36.0]


def test_nested_accumulators():
    x = tf.constant(2.0)
    one = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, one) as outer:
        with tf.autodiff.ForwardAccumulator(x, one) as inner:
            y = x * x * x
        dy = inner.jvp(y)
    assert float(dy) == 12.0
    assert float(outer.jvp(dy)) == 12.0


def test_tangents_of_another_structure(x):
    with pytest.raises(ValueError, match="same nested structure"):
        tf.autodiff.ForwardAccumulator([x, x], [x])


# ---- custom gradients ------------------------------------------------------------------------------------------------


def test_custom_gradient(x):
    @tf.custom_gradient
    def f(x):
        """Does it."""
        return x, lambda dy: dy * 3.0

    assert f.__doc__ == "Does it."
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y is not x
    assert value(tape.gradient(y, x)) == [3.0, 3.0]


def test_custom_gradient_with_variables(x, v):
    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert [w is v for w in variables] == [True]
            return dy * 3.0, [dy * 7.0]

        return x * v, grad

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [value(g) for g in tape.gradient(y, [x, v])] == [[3.0, 3.0], [7.0, 7.0]]


def test_custom_gradient_that_hides_its_variables(x, v):
    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"), tf.GradientTape() as tape:
        tape.watch(x)
        f(x)


def test_custom_gradient_of_the_wrong_number(x):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: dy

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1 instead"):
        tape.gradient(y, x)


def test_custom_gradient_of_several_results_and_keywords(x):
    @tf.custom_gradient
    def f(x, *, k=2.0):
        return (x * k, {"a": x}), lambda dy, dz: dy * 10.0 + dz

    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = f(x, k=3.0)
        total = y + z["a"]
    assert value(y) == [3.0, 6.0]
    assert value(tape.gradient(total, x)) == [11.0, 11.0]


def test_custom_gradients_nest_and_differentiate_again():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * twice(x)

    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda dy: dy * 100.0

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = square(x)
        dy = inner.gradient(y, x)
    assert float(dy) == 6.0
    assert float(outer.gradient(dy, x)) == 100.0


def test_recompute_grad(x, v):
    runs = []

    def f(a):
        runs.append(1)
        return a * v * 2.0

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(f)(x)
    assert len(runs) == 1
    assert [value(g) for g in tape.gradient(y, [x, v])] == [[2.0, 4.0], [2.0, 4.0]]
    assert len(runs) == 2


def test_recompute_grad_has_gradients_of_second_order(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.recompute_grad(lambda a, b: a * a * b)(x, x)
        dy = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(dy, x), 6.0 * x)


def test_grad_pass_through(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(lambda a: a * 0.0)(x)
    assert value(tape.gradient(y, x)) == [1.0, 1.0]


def test_graph_only_functions(x):
    for f in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
            f(x, x)


# ---- memory and threads ----------------------------------------------------------------------------------------------


def test_a_tape_keeps_only_what_gradients_need():
    x = tf.constant(np.ones(10, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = x + 1.0
        b = a + 1.0
        gone = weakref.ref(a)
        del a
        gc.collect()
        assert gone() is None
    assert value(tape.gradient(b, x)) == [1.0] * 10


def test_calls_are_freed_on_the_way():
    x = tf.constant(2.0)
    held = []

    @tf.custom_gradient
    def spy(t):
        return t, lambda dy: held.append(later() is not None) or dy

    with tf.GradientTape() as tape:
        tape.watch(x)
        b = spy(x) * x
        later = weakref.ref(b)
        c = b * b
    del b
    assert later() is not None
    assert float(tape.gradient(c, x)) == 32.0
    assert held == [False]


def test_each_thread_has_its_own_tapes(x):
    found = []

    def work():
        y = x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = x * 5.0
        found.append((y, value(tape.gradient(z, x))))

    with tf.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    y, gradient = found[0]
    assert gradient == [5.0, 5.0]
    assert tape.gradient(y, x) is None


def test_sums_do_not_write_into_what_others_hold():
    x = tf.constant(np.ones(4, np.float32))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x + x + x + x
    seed = tf.constant(np.full(4, 2.0, np.float32))
    first = tape.gradient(y, x, output_gradients=seed)
    second = tape.gradient(y, x, output_gradients=seed)
    assert value(seed) == [2.0] * 4
    assert value(first) == value(second) == [8.0] * 4


def test_gradients_of_ragged_values():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).to_list() == [[2.0, 4.0], [6.0]]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.complex64], ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [[3], [1, 3], [2, 3], [], [2, 1]], ids=str)
def test_what_is_added_again_and_again_gets_the_sum_of_all_gradients(shape, dtype):
    b = tf.Variable(tf.zeros(shape, dtype))
    x = tf.reshape(tf.cast(tf.range(6.0), dtype), [2, 3])
    with tf.GradientTape() as tape:
        y = tf.add_n([tf.reduce_sum((x + b) * tf.cast(i, dtype)) + tf.reduce_sum((b + x) * x) for i in range(1, 5)])
    each = np.full([2, 3], 1.0 + 2 + 3 + 4) + 4 * x.numpy()
    expected = each.sum(tuple(range(2 - len(shape)))) if len(shape) < 2 else each
    if shape[-1:] == [1] or (shape and shape[0] == 1):
        expected = each.sum(0 if shape[0] == 1 else 1, keepdims=True)
    gradient = tape.gradient(y, b)
    assert gradient.shape == shape and gradient.dtype is dtype
    np.testing.assert_array_equal(gradient, expected)


# ---- what was read of a variable when --------------------------------------------------------------------------------


def read_by_the_outer_tape(v):
    with tf.GradientTape() as outer:
        before = v.read_value()
        with tf.GradientTape() as inner:
            y = v * before
        first = inner.gradient(y, v)
    return first, outer.gradient(first, v)


def read_before_the_tape(v):
    before = v.read_value()
    with tf.GradientTape() as tape:
        y = v * before
    return tape.gradient(y, v)


def read_by_an_earlier_tape(v):
    with tf.GradientTape():
        before = v.read_value()
    with tf.GradientTape() as tape:
        y = v * before
    return tape.gradient(y, v)


def read_twice(v):
    with tf.GradientTape() as tape:
        before = v.read_value()
        v.assign_add(1.0)
        y = before * 10.0 + v * v
    return y, tape.gradient(y, v)


def read_twice_for_a_branch(v):
    with tf.GradientTape() as tape:
        before = v.read_value()
        v.assign_add(1.0)
        after = v.read_value()
        y = tf.cond(v > 0.0, lambda: before * 10.0 + after * after, lambda: before - after)
    return y, tape.gradient(y, v)


def read_before_a_tape_in_a_branch(v):
    before = v.read_value()

    def branch():
        with tf.GradientTape() as tape:
            y = v * before
        return tape.gradient(y, v)

    return tf.cond(v > 0.0, branch, lambda: 0.0)


def read_around_a_loop(v):
    with tf.GradientTape() as tape:
        before = v.read_value()
        v.assign_add(1.0)
        y = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + before * v), (0, 0.0))[1]
    return y, tape.gradient(y, v)


def watched_between(v):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        before = v.read_value()
        tape.watch(v)
        y = v * before
    return tape.gradient(y, v)


@pytest.mark.parametrize("in_graph", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize(
    ("program", "expected"),  # from TensorFlow, for a variable that is 3
    [
        (read_by_the_outer_tape, [3.0, 1.0]),
        (read_before_the_tape, [3.0]),
        (read_by_an_earlier_tape, [3.0]),
        (read_twice, [46.0, 18.0]),
        (read_twice_for_a_branch, [46.0, 18.0]),
        (read_before_a_tape_in_a_branch, [3.0]),
        (read_around_a_loop, [24.0, 14.0]),
        (watched_between, [3.0]),
    ],
)
def test_what_was_read_of_a_variable_is_the_variable_to_the_tapes_that_saw_it(program, expected, in_graph):
    v = tf.Variable(3.0)
    run = tf.function(lambda: program(v)) if in_graph else lambda: program(v)
    assert [float(t) for t in tf.nest.flatten(run())] == expected


def test_second_gradients_by_a_variable_that_branches_and_their_loops_read():
    w = tf.Variable([2.0, 3.0])

    def doubled(e):
        return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w[0]), (0, e))[1] * w

    @tf.function
    def second(e, squares):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.cond(squares, lambda: e * w * w, lambda: doubled(e)))
            g = inner.gradient(y, w)
            norm = tf.reduce_sum(g * g)
        return outer.gradient(norm, w)

    e = tf.constant([1.0, 2.0])
    assert second(e, tf.constant(True)).numpy().tolist() == [16.0, 96.0]
    assert second(e, tf.constant(False)).numpy().tolist() == [1856.0, 576.0]


def test_integers_warn_when_they_are_watched_and_not_when_they_are_targets(caplog):  # as in TensorFlow
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.cast(x * 2.0, tf.int32)
    assert tape.gradient(y, x) is None
    assert caplog.text == ""
    with tf.GradientTape() as tape:
        tape.watch(i)
    assert "The dtype of the watched tensor must be floating" in caplog.text


@pytest.mark.parametrize(
    "convert",
    [
        tf.convert_to_tensor, tf.math.real, tf.math.conj, tf.stack, tf.experimental.numpy.asarray,
        tf.keras.ops.convert_to_tensor, lambda x: tf.cast(x, tf.float32),
        lambda x: tf.image.convert_image_dtype(x, tf.float32),
    ],
)  # fmt: skip
def test_tensors_of_equal_numbers_are_watched_apart(convert):
    a, b = convert(1.0), convert(1.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = 2 * a - 3 * b
    assert [float(g) for g in tape.gradient(y, [a, b])] == [2, -3]
