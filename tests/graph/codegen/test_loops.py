"""Loops and conditionals as they run in a graph: as machine code or written out in Python, and still TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf


def run_twice(function, *args):
    """What a function gives when it is traced, and when it is as fast as it gets."""
    staged = tf.function(function)
    first, second = staged(*args), staged(*args)
    for a, b in zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True):
        np.testing.assert_array_equal(a, b)
    return second, staged.get_concrete_function(*args).source()


def test_a_loop_of_scalars_is_compiled():
    def f(n):
        i, total = 0, 0.0
        while i < n:
            total = total * 0.5 + 1.0
            i += 1
        return total

    result, source = run_twice(f, tf.constant(10))
    assert result.dtype == tf.float32
    assert float(result) == float(tf.reduce_sum(0.5 ** tf.range(10.0)))
    assert "op_NativeStatelessWhile(" in source and "while True:" not in source


def test_integers_wrap_as_tensors_do():
    def f(n, x):
        for _ in tf.range(n):
            x = x * 31 + 7
            x = -x
        return x

    for dtype in (tf.int32, tf.int64):
        x = tf.constant(123456789, dtype)
        expected = np.array(123456789, dtype.as_numpy_dtype)
        with np.errstate(over="ignore"):
            for _ in range(20):
                expected = (-(expected * expected.dtype.type(31) + expected.dtype.type(7))).astype(expected.dtype)
        assert int(run_twice(f, tf.constant(20), x)[0]) == int(expected)


def test_floats_round_and_overflow_as_tensors_do(recwarn):
    def f(n, x):
        for _ in tf.range(n):
            x = x * x / 1.1
        return x, 1.0 / (x - x), -x

    for dtype in (tf.float32, tf.float64):
        x = tf.constant(1.7, dtype)
        expected = f(tf.constant(40), x)
        result, _ = run_twice(f, tf.constant(40), x)
        for a, b in zip(result, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        for steps in (1, 3, 5):
            np.testing.assert_array_equal(run_twice(f, tf.constant(steps), x)[0][0], f(tf.constant(steps), x)[0])
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.parametrize("a, b", [(7, 3), (-7, 3), (7, -3), (-7, -3), (0, 5)])
def test_integer_division(a, b):
    def f(n, a, b):
        q = r = big = small = 0
        for _ in tf.range(n):
            q, r, big, small = a // b, a % b, tf.maximum(a, b), tf.minimum(a, b)
        return q, r, big, small, tf.abs(a)

    result, _ = run_twice(f, tf.constant(2), tf.constant(a), tf.constant(b))
    assert [int(v) for v in result] == [a // b, a % b, max(a, b), min(a, b), abs(a)]


def test_division_by_zero_is_tensorflows_error():
    @tf.function
    def f(n, d):
        x = 100
        for _ in tf.range(n):
            x = x // d
            d -= 1
        return x

    f(tf.constant(2), tf.constant(3))
    f(tf.constant(2), tf.constant(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        f(tf.constant(5), tf.constant(3))


def test_comparisons_and_logic():
    def f(n):
        count = 0
        for i in tf.range(n):
            if (i > 2 and i <= 7) or not (i < 9 or i > 9):
                count += 1
            elif i == 0:
                count += 100
        return count

    assert int(run_twice(f, tf.constant(12))[0]) == 106


def test_casts_between_scalars():
    def f(n):
        total = tf.constant(0.0, tf.float64)
        wide = tf.constant(0, tf.int64)
        for i in tf.range(n):
            total += tf.cast(i, tf.float64) * 0.5 + tf.cast(i > 3, tf.float64)
            wide += tf.cast(i, tf.int64) * 10000000000
        return total, wide, tf.cast(wide, tf.int32)

    result, _ = run_twice(f, tf.constant(10))
    assert float(result[0]) == 28.5
    assert int(result[1]) == 450000000000
    assert int(result[2]) == int(np.int64(450000000000).astype(np.int32))


def test_break_and_continue(without_machine_code):
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
            if steps > 200:
                break
        return steps

    result, source = run_twice(collatz, tf.constant(27))
    assert int(result) == 111
    assert "else:" in source and "while True:" in source


def test_nested_loops(without_machine_code):
    def f(n):
        count = 0
        for i in tf.range(n):
            for j in tf.range(i):
                if (i + j) % 3 == 0:
                    continue
                count += j
        return count

    result, source = run_twice(f, tf.constant(9))
    assert int(result) == sum(j for i in range(9) for j in range(i) if (i + j) % 3)
    assert source.count(" in range(0, ") == 2


def test_scalars_meet_tensors():
    def f(x, n):
        y = tf.zeros([3])
        for i in tf.range(n):
            if tf.reduce_sum(y) > 50.0:
                break
            y += x[i] * tf.cast(i, tf.float32)
        return y

    x = tf.reshape(tf.range(60.0), [20, 3])
    result, _ = run_twice(f, x, tf.constant(20))
    expected = np.zeros(3, np.float32)
    for i in range(20):
        if expected.sum() > 50.0:
            break
        expected += x.numpy()[i] * i
    np.testing.assert_array_equal(result, expected)


def test_a_scalar_made_of_a_tensor_stays_one():
    def f(x):
        norm = tf.norm(x)
        steps = 0
        while norm > 1.0:
            x = x * 0.5
            norm = tf.norm(x)
            steps += 1
        return x, steps

    (x, steps), _ = run_twice(f, tf.constant([30.0, 40.0]))
    assert int(steps) == 6
    np.testing.assert_allclose(x, [0.46875, 0.625])


def test_an_index_out_of_range_in_a_loop():
    @tf.function
    def f(x, n):
        total = 0.0
        for i in tf.range(n):
            total += tf.gather(x, i) + x[i]
        return total

    x = tf.constant([1.0, 2.0, 3.0])
    assert float(f(x, tf.constant(3))) == 12.0
    assert float(f(x, tf.constant(3))) == 12.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="3"):
        f(x, tf.constant(4))


def test_maximum_iterations():
    @tf.function
    def f(most):
        return tf.while_loop(lambda i: i < 100, lambda i: (i + 3,), [tf.constant(0)], maximum_iterations=most)

    for most in (0, 1, 5, 1000):
        for _ in range(2):
            assert int(f(tf.constant(most))[0]) == min(3 * most, 102)


def test_maximum_iterations_that_are_no_scalar():
    function = tf.function(lambda: tf.while_loop(lambda i: i < 9, lambda i: (i + 1,), [0], maximum_iterations=[3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be a scalar, but it has shape \(1,\)"):
        function()


def test_variables_in_a_loop():
    v = tf.Variable(1.0)

    def f(n):
        for _ in tf.range(n):
            v.assign(v * 2.0)
        return v.read_value()

    assert [float(tf.function(f)(tf.constant(n))) for n in (1, 2, 3)] == [2.0, 8.0, 64.0]


def test_arrays_in_a_loop():
    def f(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, i * i)
        return array.stack()

    assert run_twice(f, tf.constant(5))[0].numpy().tolist() == [0, 1, 4, 9, 16]


def test_strings_in_a_loop():
    def f(n):
        text = tf.constant("")
        for i in tf.range(n):
            text = text + tf.strings.as_string(i)
        return text

    assert run_twice(f, tf.constant(4))[0].numpy() == b"0123"


def test_counters_wrap_around():
    """They are numbers of Python in a loop that is no machine code."""

    def f(start, most):
        i, index = start, 0
        while index < most:
            tf.py_function(lambda: None, [], [])
            i, index = i + 1, index + 1
        return i, (i * 2 + 1) % 7, i > 0, tf.cast(index, tf.int64)

    for dtype in (tf.int32, tf.int64):
        result, source = run_twice(f, tf.constant(dtype.max - 1, dtype), tf.constant(3))
        first = dtype.min + 1
        assert "for " in source and " in range(0, " in source
        assert [int(v) for v in result] == [first, (first * 2 + 1 + 2 * abs(dtype.min)) % 7, 0, 3]


def test_indices_that_follow_from_counters():
    def f(x, n):
        total = tf.zeros([2])
        for i in tf.range(1, n):
            total += x[i - 1] * x[(i * 3) % n] + x[tf.minimum(i + 1, n - 1), :2]
            total = tf.ensure_shape(total, [2])
            if i % 2 == 0:
                total -= x[i // 2]
            v.assign_add(tf.gather(x, i))
        return total

    v = tf.Variable([0.0, 0.0])
    x = tf.reshape(tf.range(12.0), [6, 2])
    for n in (1, 2, 6):
        v.assign([0.0, 0.0])
        result, after = tf.function(f)(x, tf.constant(n)), v.numpy()
        v.assign([0.0, 0.0])
        np.testing.assert_array_equal(result, f(x, tf.constant(n)))
        np.testing.assert_array_equal(after, v)


def test_a_counter_after_the_loop():
    """It has its last value, which no iteration has."""

    def f(n, most):
        def body(i, x):
            return i + 1, tf.ensure_shape(tf.py_function(lambda x: x + 1.0, [x], tf.float32), [])

        return tf.while_loop(lambda i, x: i < n, body, (tf.constant(2), 0.0), maximum_iterations=most)

    for n, most in ((5, 9), (5, 2), (1, 9), (5, 0)):
        (i, x), _ = run_twice(f, tf.constant(n), tf.constant(most))
        count = max(min(n - 2, most), 0)
        assert (int(i), float(x)) == (2 + count, count)


def test_a_loop_that_does_not_run():
    def f(n):
        i, x = 5, 1.5
        while i < n:
            i, x = i + 1, x * 2.0
        return i, x

    result, _ = run_twice(f, tf.constant(0))
    assert (int(result[0]), float(result[1])) == (5, 1.5)


def test_a_branch_that_is_taken_later():
    @tf.function
    def f(x):
        if x > 10.0:
            return tf.math.lgamma(x)
        return x

    assert [float(f(tf.constant(v))) for v in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(f(tf.constant(11.0)), 15.104412, rtol=1e-6)
    np.testing.assert_allclose(f(tf.constant(11.0)), 15.104412, rtol=1e-6)
    assert float(f(tf.constant(4.0))) == 4.0


def test_a_condition_that_is_no_boolean():
    function = tf.function(lambda x: tf.cond(x, lambda: 1, lambda: 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32, and must be bool"):
        function(tf.constant(3))


def test_switch_case():
    @tf.function
    def f(i):
        return tf.switch_case(i, [lambda: 10, lambda: 20, lambda: 30])

    for _ in range(2):
        assert [int(f(tf.constant(i))) for i in (0, 1, 2, 3, -1)] == [10, 20, 30, 30, 30]


def test_gradient_of_a_loop_of_scalars():
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = y * x
        return y, tape.gradient(y, x)

    for _ in range(2):
        y, dy = f(tf.constant(2.0), tf.constant(3))
        assert (float(y), float(dy)) == (16.0, 32.0)


# ---- gradients -------------------------------------------------------------------------------------------------------


def gradients_of(function, variables, *args):
    """The gradients of a function's result by variables and floats among its arguments: recorded eagerly, and in graphs
    (the
    first call, and one that is as fast as it gets)."""

    def gradient(*args):
        with tf.GradientTape() as tape:
            sources = [*variables, *(a for a in args if a.dtype.is_floating)]
            for s in sources:
                tape.watch(s)
            result = function(*args)
        return tape.gradient(result, sources, unconnected_gradients="zero")

    staged = tf.function(gradient)
    return gradient(*args), staged(*args), staged(*args)


def check_gradients(function, variables, *args):
    eager, first, second = gradients_of(function, variables, *args)
    for e, a, b in zip(eager, first, second, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(b, e, rtol=1e-5, atol=1e-7)


def test_gradient_of_a_recurrent_loop():
    w, b = tf.Variable(tf.eye(3) * 0.9), tf.Variable([0.1, 0.2, 0.3])
    x = tf.constant([[1.0, -2.0, 3.0]])

    def f(x, n):
        h = x
        for i in tf.range(n):
            h = tf.tanh(h @ w + b * tf.cast(i, tf.float32))
        return tf.reduce_sum(h * h)

    for n in (0, 1, 4):
        check_gradients(f, [w, b], x, tf.constant(n))


def test_gradient_where_loop_variables_depend_on_each_other_later():
    def f(a, b, n):
        x, y, z = a, b, a * 2.0
        for _ in tf.range(n):
            x, y, z = y * 1.5, z * a, x + y
        return tf.reduce_sum(x)

    a, b = tf.constant([0.5, -0.5]), tf.constant([2.0, 3.0])
    for n in (0, 1, 2, 3, 5):
        check_gradients(f, [], a, b, tf.constant(n))


def test_gradient_of_nested_loops_and_branches():
    def f(x, n):
        total = tf.zeros([])
        for i in tf.range(n):
            y = x
            for _ in tf.range(i):
                if tf.reduce_sum(y) > 2.0:
                    y = y * 0.5
                else:
                    y = y * x + 0.25
            total += tf.reduce_sum(y)
        return total

    x = tf.constant([0.9, 1.1])
    check_gradients(f, [], x, tf.constant(5))


def test_gradient_of_a_loop_with_a_limit():
    def f(x):
        return tf.while_loop(lambda y: tf.reduce_sum(y) < 100.0, lambda y: (y * x,), [x], maximum_iterations=3)[0]

    x = tf.constant([1.5, 2.0])
    check_gradients(f, [], x)


def test_gradient_of_second_order_through_a_loop():
    def cube(x, n):
        y = tf.ones([])
        for _ in tf.range(n):
            y = y * x
        return y

    @tf.function
    def second(x, n):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = cube(x, n)
            dy = inner.gradient(y, x)
        return dy, outer.gradient(dy, x)

    for _ in range(2):
        dy, ddy = second(tf.constant(2.0), tf.constant(4))
        assert (float(dy), float(ddy)) == (32.0, 48.0)


def test_gradient_through_arrays_in_a_loop():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=n)
        h = x
        for i in tf.range(n):
            h = h * x
            array = array.write(i, h)
        return tf.reduce_sum(array.stack() * tf.constant([[1.0], [2.0], [3.0]]))

    x = tf.constant([0.5, 2.0])
    check_gradients(f, [], x, tf.constant(3))


def test_two_gradients_of_one_loop():
    @tf.function
    def f(x, n):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b = x, x * 2.0
            for _ in tf.range(n):
                a, b = a * x, b + x
        return tape.gradient(a, x), tape.gradient(b, x), tape.gradient([a, b], x)

    for _ in range(2):
        da, db, both = f(tf.constant(3.0), tf.constant(2))
        assert (float(da), float(db), float(both)) == (27.0, 4.0, 31.0)


def test_a_function_that_takes_a_number_here_and_a_tensor_there():
    """Both branches call it: once on the loop's counter, once on what a kernel gives."""

    @tf.function
    def doubled(a):
        return (a + 1) * 2

    @tf.function
    def total(x, n):
        found = 0
        for i in tf.range(n):
            found += doubled(i) if i > 3 else doubled(tf.reduce_sum(x))
        return found

    assert int(total(tf.constant([1, 2]), tf.constant(6))) == 54


def test_a_number_of_a_loop_begins_a_tensor_of_another():
    """The outer loop has it as a number, as it only passes it on; the inner one needs a tensor."""

    def f(n, c):
        def step(i, total, c):
            inner = tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, tf.sin(b)), (0, c))[1]
            return i + 1, total + inner, c

        return tf.while_loop(lambda i, *_: i < n, step, (0, tf.zeros_like(c), c))[1]

    result, _ = run_twice(f, tf.constant(3), tf.constant(0.5))
    np.testing.assert_allclose(result, 3 * np.sin(np.sin(0.5)), rtol=1e-6)
