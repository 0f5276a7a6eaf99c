"""Loops over few numbers, compiled to machine code."""

import signal
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.compiler import native_loops


def source_of(function, *arguments):
    return function.get_concrete_function(*arguments).source()


def check(function, *arguments, native=True, tolerance=1e-6):
    """Compares a function of loops with eager calls, plain and compiled."""
    wanted = tf.nest.flatten(function(*arguments))
    for jit_compile in (False, True):
        compiled = tf.function(function, jit_compile=jit_compile)
        for got, want in zip(tf.nest.flatten(compiled(*arguments)), wanted, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got.numpy(), want.numpy(), tolerance, tolerance)
        assert ("op_Native" in source_of(compiled, *arguments)) is native


def pendulum(state):
    """Runge and Kutta's steps of a damped pendulum."""

    def slope(y):
        return tf.stack([y[1], -tf.sin(y[0]) - 0.1 * y[1]])

    for _ in tf.range(200):
        k1 = slope(state)
        k2 = slope(state + 0.005 * k1)
        k3 = slope(state + 0.005 * k2)
        k4 = slope(state + 0.01 * k3)
        state += 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slices_and_stacks(dtype):
    check(pendulum, tf.constant([1.0, 0.0], dtype), tolerance={"float32": 2e-5, "float64": 1e-12}[dtype])


def test_scalars_of_several_dtypes():
    def function(n):
        steps, total, seen = tf.constant(0), tf.constant(0.0, tf.float64), tf.constant(False)
        while tf.logical_and(steps < 300, total < 40.0):
            total += tf.cast(n + steps, tf.float64) / 7.0
            seen = tf.logical_or(seen, steps * 2 == n)
            steps += 1
        return steps, total, seen

    check(function, tf.constant(6))


def test_biases_and_their_gradient():
    def function(x, w, b):
        with tf.GradientTape() as tape:
            tape.watch([w, b])
            h = x
            for _ in tf.range(50):
                h = tf.tanh(tf.nn.bias_add(tf.matmul(h, w), b))
            loss = tf.reduce_sum(h)
        return h, tape.gradient(loss, [w, b])

    normal = tf.random.Generator.from_seed(3).normal
    check(function, normal([3, 20]), 0.3 * normal([20, 20]), 0.1 * normal([20]), tolerance=1e-5)


def test_products_of_all_sizes():
    """The blocks of rows and columns that a product keeps in registers end anywhere."""

    def function(x, w):
        total = tf.zeros([x.shape[0], w.shape[1]])
        for i in tf.range(40):
            total += tf.matmul(x * tf.cast(i, tf.float32), w)
        return total

    rng = np.random.default_rng(0)
    for rows, inner, columns in [(1, 3, 65), (5, 2, 67), (6, 9, 96), (13, 4, 33), (4, 7, 128)]:
        x, w = (rng.standard_normal(s).astype(np.float32) for s in ((rows, inner), (inner, columns)))
        check(function, tf.constant(x), tf.constant(w), tolerance=1e-4)


def test_integers_wrap_around():
    def function(x):
        for _ in tf.range(2000):
            x = x * 1103515245 + 12345
        return x

    check(function, tf.constant(7))


def test_products_reductions_and_moves():
    matrix = tf.constant(np.random.default_rng(0).normal(size=(3, 3)) * 0.3, tf.float32)

    def function(x, v):
        for _ in tf.range(500):
            x = tf.tanh(tf.matmul(matrix, x, transpose_a=True) + tf.reverse(x, [0]))
            norm = tf.sqrt(tf.reduce_sum(x * x, 0, keepdims=True)) + tf.reduce_max(x) - tf.reduce_mean(x, [0, 1])
            x = tf.concat([x[1:], x[:1]], 0) / norm + tf.transpose(tf.expand_dims(v, 0))
            v = tf.squeeze(x, 1) * 0.5
        return x, v

    check(function, tf.ones([3, 1]), tf.constant([0.1, 0.2, 0.3]), tolerance=1e-4)


def test_no_iteration_and_a_limit():
    def function(x):
        return tf.while_loop(lambda x: x < 5.0, lambda x: (x * 1.5 + 0.1,), [x], maximum_iterations=3)

    for start in (1.0, 100.0):
        check(function, tf.constant(start), native=False)  # it is short

    def long(x):
        return tf.while_loop(lambda x: x < 5.0, lambda x: (x * 1.0001,), [x], maximum_iterations=100000)

    for start in (1.0, 100.0):
        check(long, tf.constant(start), tolerance=1e-3)


def test_gradients_of_loops_stay_right():
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(100):
                y = tf.sin(y) + x * 0.1
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    x = tf.constant([0.5, -0.3])
    np.testing.assert_allclose(tf.function(function)(x), function(x), rtol=1e-5)

    @tf.function
    def forward(x):
        for _ in tf.range(1000):
            x = tf.sin(x) * 1.01
        return x

    before = forward(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = forward(x)
    assert np.isfinite(tape.gradient(y, x)).all()
    np.testing.assert_allclose(y, before, rtol=1e-5)


def test_padding_is_zeros():
    def function(x):
        for _ in tf.range(100):
            x = tf.pad(x[1:] * 0.5, [[1, 0]]) + 1.0
        return x

    check(function, tf.constant([3.0, 1.0, 2.0]))


def test_products_without_transposed_factors():
    matrix = tf.constant([[0.0, 1.0], [-0.9, 0.1]])

    def function(x):
        for _ in tf.range(100):
            x = tf.matmul(matrix, x)
        return x

    check(function, tf.constant([[1.0], [2.0]]))


# ---- indices ---------------------------------------------------------------------------------------------------------

SERIES = tf.constant(np.random.default_rng(1).normal(size=(200, 3)), tf.float32)


def test_entries_of_a_large_tensor_at_the_counter():
    def function(state):
        for i in tf.range(200):
            state = 0.9 * state + SERIES[i] - 0.1 * tf.gather(SERIES, 199 - i) + SERIES[-1, i % 3]
        return state

    check(function, tf.zeros([3]))


def test_writes_at_the_counter():
    def function(x):
        for i in tf.range(1, 40):
            x = tf.tensor_scatter_nd_update(x, [[i]], [0.5 * x[i - 1] + 1.0])
        return x

    check(function, tf.zeros([40]))


@pytest.mark.parametrize("read", [lambda x, i: x[i], lambda x, i: tf.gather(x, i), lambda x, i: tf.slice(x, [i], [2])])
def test_an_index_out_of_range_raises_the_error_of_the_loop_in_python(read):
    x = tf.constant([1.0, 2.0, 3.0])

    @tf.function
    def function(n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += tf.reduce_sum(read(x, i))
        return total

    assert "op_Native" in source_of(function, tf.constant(2))
    assert float(function(tf.constant(1))) == float(tf.reduce_sum(read(x, 0)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Graph execution error"):
        function(tf.constant(5))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (lambda x, i: tf.slice(x, [i], [20]), (), (0, 5, 8, -13, -1)),  # more than there are
        (lambda x, i: tf.slice(x, [i], [8]), (0,), (1, -1, 8, 2**31 - 1)),
        (lambda x, i: tf.slice(x, [i], [3]), (0, 5), (6, 8, -1, -(2**31))),
        (lambda x, i: tf.slice(tf.reshape(x, [2, 4]), [1, i], [1, 4]), (0,), (1, 4, -1)),
        (lambda x, i: x[i], (0, 7, -8), (8, -9, 2**31 - 1, -(2**31))),
        (lambda x, i: tf.gather(x, i), (0, 7), (8, -1, -(2**31))),
        (lambda x, i: tf.gather(tf.reshape(x, [2, 4]), [0, i], axis=1), (0, 3), (4, -1)),
        (lambda x, i: tf.gather_nd(tf.reshape(x, [2, 4]), [[1, i], [i, 0]]), (0, 1), (2, -1)),
        (lambda x, i: tf.tensor_scatter_nd_update(x, [[i]], [9.0]), (0, 7), (8, -1)),
        (lambda x, i: tf.math.unsorted_segment_sum(x[:2], tf.stack([0, i]), 4), (0, 3), (4, 2**31 - 1)),
    ],
)  # fmt: skip
def test_bounds_of_indices(read, good, bad, jit_compile):
    x = tf.range(1.0, 9.0)

    def function(i):
        total = tf.zeros_like(read(x, tf.constant(0))) if good else tf.zeros([20])
        for _ in tf.range(200):
            total += read(x, i)
        return total

    compiled = tf.function(function, jit_compile=jit_compile)
    assert "op_Native" in source_of(compiled, tf.constant(0))
    for i in good:
        np.testing.assert_allclose(compiled(tf.constant(i)), 200.0 * read(x, tf.constant(i)))
    for i in bad:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Graph execution error"):
            compiled(tf.constant(i))


@pytest.mark.parametrize(
    "read",
    [lambda x, i: tf.slice(x, [i], [-1]), lambda x, i: tf.slice(x, [2], [i]), lambda x, i: x[i:], lambda x, i: x[:i]],
)
def test_a_slice_of_unknown_size(read):
    @tf.function
    def function(x, i):
        total = tf.zeros([3])
        for _ in tf.range(200):
            part = read(x, i)
            part.set_shape([3])
            total += part
        return total

    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.range(8.0), tf.constant(2))
    i = next(i for i in range(8) if read(tf.range(8.0), i).shape == [3])
    np.testing.assert_allclose(function(tf.range(8.0), tf.constant(i)), 200.0 * read(tf.range(8.0), i))


# ---- random numbers --------------------------------------------------------------------------------------------------


def walk(n):
    position, sizes = tf.zeros([3], tf.float64), tf.constant(0.0)
    for _ in tf.range(n):
        position += tf.random.normal([3], dtype=tf.float64)
        sizes += tf.random.uniform([])
    return position, sizes


def test_random_numbers_of_a_seed_are_those_of_the_loop_in_python(monkeypatch):
    results = []
    for has_llvm in (True, False):
        monkeypatch.setattr(native_loops, "has_llvm", lambda has_llvm=has_llvm: has_llvm)
        tf.random.set_seed(7)
        compiled = tf.function(walk)
        assert ("op_Native" in source_of(compiled, tf.constant(50))) is has_llvm
        results.append([*compiled(tf.constant(50)), *compiled(tf.constant(0)), *compiled(tf.constant(20))])
    tf.random.set_seed(None)
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, 1e-6)


def test_random_numbers_without_a_seed_differ(monkeypatch):
    monkeypatch.setattr(native_loops, "_MOST_DRAWN", 1000)  # so that the loop runs in parts
    compiled = tf.function(walk)
    position, sizes = compiled(tf.constant(20_000))
    assert "op_Native" in source_of(compiled, tf.constant(20_000))
    assert np.all(np.abs(position) < 1000.0) and 9_700 < float(sizes) < 10_300
    assert not np.array_equal(position, compiled(tf.constant(20_000))[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("draw", [tf.random.stateless_uniform, tf.random.stateless_normal])
def test_random_numbers_of_a_seed_that_depends_on_the_counter(draw, dtype):
    def function(x):
        few, many, same = tf.zeros([3], dtype), tf.zeros([5, 4], dtype), tf.zeros([], dtype)
        for i in tf.range(40):
            few += draw([3], tf.stack([i - 20, 7]), dtype=dtype) * x
            many = many * 0.5 + draw([5, 4], tf.stack([tf.cast(i, tf.int64) * 2**40, 3]), dtype=dtype)
            same += draw([], [1, 2], dtype=dtype)
        return few, many, same

    check(function, tf.constant(1.0, dtype), tolerance={"float32": 1e-6, "float64": 1e-14}[dtype])


def test_random_numbers_until_a_condition():
    @tf.function
    def first_above(bound):
        x, draws = tf.zeros([]), tf.constant(0)
        while x < bound:
            x = tf.random.uniform([])
            if x < 0.5:
                x += tf.random.uniform([]) * 0.01
            draws += 1
        return x, draws

    assert "op_Native" in source_of(first_above, tf.constant(0.999))
    for bound in (0.1, 0.9, 0.999):
        x, draws = first_above(tf.constant(bound))
        assert bound <= float(x) <= 1.0 and int(draws) > 0
    assert len({int(first_above(tf.constant(0.999))[1]) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("goes_on", "moves", "trips"),
    [
        (lambda i, n: i < n, 0, 4),
        (lambda i, n: i <= n, 0, 5),
        (lambda i, n: n > i, 0, 4),
        (lambda i, n: i != n, 0, 4),
        (lambda i, n: i < n, -1, 2),
        (lambda i, n: i <= n, -1, 3),
        (lambda i, n: i < n + 1, 0, 5),
        (lambda i, n: i < n - i, 0, 2),
        (lambda i, n: i < 9 + n * 0 and i < n, 0, 4),
    ],
)
@pytest.mark.parametrize("seed", [None, 3])
def test_trips_of_loops_with_random_numbers_arrays_and_gradients(goes_on, moves, trips, seed):
    @tf.function
    def function(x, n):
        i, draws = tf.constant(0), tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])
        while goes_on(i, n):
            draw = tf.random.uniform([2], seed=seed)
            x = x * 2.0 + draw
            draws = draws.write(i, draw)
            i, n = i + 1, n + moves if moves else n
        return x, draws.stack()

    x = tf.Variable([0.5, -0.25])
    with tf.GradientTape() as tape:
        last, draws = function(x, tf.constant(4))
    assert draws.shape == [trips, 2] and len(np.unique(draws)) == 2 * trips
    assert np.all((draws > 0) & (draws < 1))
    assert tape.gradient(last, x).numpy().tolist() == [2.0**trips] * 2


@pytest.mark.parametrize("inside", ["a conditional", "an uncounted loop"])
def test_seeded_random_numbers_that_nobody_counts(inside):
    @tf.function
    def function():
        x = tf.constant(0.0)
        while x < 50.0:
            if inside == "a conditional" and x > 10.0:
                x += 1.0
            else:
                x += tf.random.uniform([], seed=3)
        return x

    assert "op_Native" not in source_of(function)
    assert float(function()) >= 50.0


# ---- lists -----------------------------------------------------------------------------------------------------------


def test_arrays_that_a_loop_writes_and_reads():
    def function(x):
        array = tf.TensorArray(tf.float32, 60, element_shape=[2], clear_after_read=False).write(0, x)
        for i in tf.range(1, 60):
            x = tf.stack([x[1], x[0] * 0.99]) + 0.1 * array.read(i // 2)
            array = array.write(i, x)
        return array.stack(), array.read(59)

    check(function, tf.constant([1.0, -2.0]), tolerance=1e-5)


def test_entries_that_are_not_written_are_zeros():
    def function(x):
        array = tf.TensorArray(tf.float32, 60, element_shape=[], clear_after_read=False)
        for i in tf.range(0, 60, 3):
            array = array.write(i, x + array.read(i // 2))
            x *= 1.1
        return array.stack()

    check(function, tf.constant(1.0), native=True, tolerance=1e-5)


def test_an_array_does_not_change_where_it_was_before():
    @tf.function
    def function(x):
        before = tf.TensorArray(tf.float32, 100).unstack(x)
        array = before
        for i in tf.range(100):
            array = array.write(i, array.read(99 - i) * 2.0)
        return before.stack(), array.stack()

    x = tf.range(100.0)
    assert "op_Native" in source_of(function, x)
    before, after = function(x)
    np.testing.assert_array_equal(before, x)
    wanted = x.numpy()
    for i in range(100):
        wanted[i] = wanted[99 - i] * 2.0
    np.testing.assert_array_equal(after, wanted)
    np.testing.assert_array_equal(x, tf.range(100.0))


@pytest.mark.parametrize("writes", [False, True])
def test_an_entry_out_of_range_raises_the_error_of_the_loop_in_python(writes):
    @tf.function
    def function(n):
        array = tf.TensorArray(tf.float32, 3, element_shape=[], clear_after_read=False)
        total = tf.constant(0.0)
        for i in tf.range(n):
            if writes:
                array = array.write(i, total)
            total += array.read(i) + 1.0
        return total, array.stack()

    assert "op_Native" in source_of(function, tf.constant(3))
    assert float(function(tf.constant(3))[0]) == (7.0 if writes else 3.0)
    verb = "modify" if writes else "access"
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Trying to {verb} element 3 in a list with 3 elements"):
        function(tf.constant(4))


@pytest.mark.parametrize("index", [-1, -3, -4, 3, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("writes", [False, True])
def test_bounds_of_entries(writes, index):
    @tf.function
    def function(at):
        array = tf.TensorArray(tf.float32, 3, element_shape=[], clear_after_read=False)
        total = tf.constant(0.0)
        for _ in tf.range(200):
            if writes:
                array = array.write(at, 0.5)
            total += array.read(0 if writes else at) + 1.0
        return total, array.stack()

    assert "op_Native" in source_of(function, tf.constant(0))
    assert float(function(tf.constant(0))[0]) == (300.0 if writes else 200.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"element {index} in a list with 3 elements"):
        function(tf.constant(index))


@pytest.mark.parametrize("is_given", [False, True])
def test_entries_of_other_shapes_than_the_list(is_given):
    """No list of scalars is read as rows, and no large entry is written to a list of small ones."""

    def scalars():
        return tf.raw_ops.TensorListFromTensor(tensor=tf.ones([4]), element_shape=tf.constant([], tf.int32))

    @tf.function
    def stacked():
        given, total = scalars(), tf.zeros([4, 500])
        for _ in tf.range(200):
            entries = given if is_given else scalars()
            total += tf.raw_ops.TensorListStack(
                input_handle=entries, element_shape=[500], element_dtype=tf.float32, num_elements=4
            )
        return total

    with pytest.raises(tf.errors.InvalidArgumentError):
        stacked()

    @tf.function
    def written(x):
        total = tf.zeros([])
        for _ in tf.range(200):
            entries = tf.raw_ops.TensorListReserve(element_shape=[1], num_elements=2, element_dtype=tf.float32)
            entries = tf.raw_ops.TensorListSetItem(input_handle=entries, index=1, item=x)
            entry = tf.raw_ops.TensorListGetItem(
                input_handle=entries, index=1, element_shape=x.shape.as_list(), element_dtype=tf.float32
            )
            total += tf.reduce_sum(entry)
        return total

    assert "op_Native" in source_of(written, tf.ones([1]))
    assert float(written(tf.ones([1]))) == 200.0
    assert "op_Native" not in source_of(written, tf.ones([4000]))


# ---- signals ---------------------------------------------------------------------------------------------------------


class Ended(Exception):
    """What the handler of a signal raises."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("kind", ["heavy", "light", "nested"])
def test_a_signal_ends_a_loop(kind):
    """Each of these loops would run for minutes."""
    weights = tf.eye(64) * 0.5

    @tf.function
    def function(x):
        for _ in tf.range(1 if kind == "nested" else 10**9 if kind == "light" else 10**7):
            if kind == "nested":
                for _ in tf.range(10**9):
                    x = x * 0.5 + 1.0
            else:
                x = x * 0.5 + 1.0 if kind == "light" else tf.tanh(x @ weights)
        return x

    x = tf.ones([64, 64] if kind == "heavy" else [4])
    assert "op_Native" in source_of(function, x)
    ticks = []

    def tick(*_):
        ticks.append(len(ticks))
        if len(ticks) == 5:
            raise Ended

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        with pytest.raises(Ended):
            function(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# ---- conditionals and loops ------------------------------------------------------------------------------------------


def test_conditionals():
    def function(x):
        array = tf.TensorArray(tf.float32, 100, element_shape=[])
        count = tf.constant(0)
        for i in tf.range(100):
            if x[0] > 1.0:
                x = x * 0.5
                count += 1
                array = array.write(i, x[1])
            elif x[1] < -3.0:
                x = -x
            else:
                x = x * 1.3 + 0.1
        return x, count, array.stack()

    check(function, tf.constant([0.3, -0.4]), tolerance=1e-5)


def test_cases():
    def function(x):
        for i in tf.range(100):
            x = tf.switch_case(i % 4, [lambda x=x: x + 1.0, lambda x=x: x * 0.5, lambda x=x: -x])
        return x

    check(function, tf.constant([0.3, -0.4]), tolerance=1e-5)


def test_loops_in_loops():
    def function(x):
        for i in tf.range(50):
            y = x
            while tf.reduce_sum(y) < 10.0:
                y = y * 1.5 + 0.1
            for j in tf.range(i % 3):
                y = y * 0.5 + tf.cast(j, tf.float32)
            x = tf.sin(y)
        return x

    check(function, tf.constant([0.3, 0.4]), tolerance=2e-3)


def test_functions_that_a_loop_calls_twice():
    @tf.function
    def slope(y):
        return tf.stack([y[1], -y[0]])

    def function(y):
        for _ in tf.range(100):
            y += 0.01 * slope(y + 0.005 * slope(y))
        return y

    check(function, tf.constant([1.0, 0.0]), tolerance=1e-5)


# ---- matrices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("batch", [1, 3, 20])
def test_products_of_matrices(dtype, batch):
    rng = np.random.default_rng(0)
    u, w = (tf.constant(rng.normal(size=s) * 0.1, dtype) for s in ((33, 50), (33, 50)))
    bias = tf.constant(rng.normal(size=50), dtype)

    def function(x):
        y = tf.zeros([batch, 50], dtype)
        for _ in tf.range(10):
            y = tf.tanh(tf.matmul(x, u) + bias) + 0.5 * y
            x = tf.tanh(tf.matmul(y, w, transpose_b=True)) - x * 0.5
            y += 0.01 * tf.matmul(tf.matmul(x, x, transpose_a=True), u)[:1] + tf.reduce_mean(y, 1, keepdims=True)
        return x, y, tf.reduce_sum(x, 0)

    x = tf.constant(rng.normal(size=(batch, 33)), dtype)
    check(function, x, tolerance={"float32": 2e-5, "float64": 1e-12, "float16": 3e-2}[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_short_rows(dtype):
    """Rows that fill no vector, or end with a part of one."""
    rng = np.random.default_rng(0)
    tensors = [tf.constant(rng.integers(-4, 5, (3, n)), dtype) for n in (1, 2, 3, 5, 7, 9, 10, 13, 18)]

    def changed(x):
        y = tf.where(x > 0, x, x * 2)
        return (y - tf.reduce_max(y, 1, keepdims=True)) / 4 + tf.reduce_mean(y, 1, keepdims=True)

    def function(*tensors):
        for _ in tf.range(3):
            tensors = tuple([changed(x) for x in tensors])
        return tensors

    check(function, *tensors, tolerance={"float32": 1e-5, "float64": 1e-12, "float16": 3e-2}[dtype])


def test_variables_that_a_loop_reads():
    w = tf.Variable(np.random.default_rng(0).normal(size=(20, 20)) * 0.2, dtype=tf.float32)

    def function(x):
        for _ in tf.range(50):
            x = tf.tanh(x @ w) + 0.1
        return x

    compiled = tf.function(function)
    for _ in range(2):
        check(function, tf.ones([2, 20]), tolerance=1e-4)
        np.testing.assert_allclose(compiled(tf.ones([2, 20])), function(tf.ones([2, 20])), 1e-4)
        w.assign(-w)


def test_states_that_change_places():
    def function(x, y):
        for i in tf.range(101):
            x, y = y, tf.reverse(x, [0]) * tf.cast(i % 2 * 2 - 1, tf.float32)
        return x, y

    check(function, tf.range(30.0), tf.range(30.0, 60.0))


def test_halves_and_small_integers():
    def function(x, n, k):
        for i in tf.range(60):
            x = x * tf.cast(0.9, x.dtype) + tf.cast(n, x.dtype) * tf.cast(0.001, x.dtype)
            n = n * tf.cast(5, n.dtype) + tf.cast(i, n.dtype)
            k = tf.math.logical_xor(k, n > tf.cast(7, n.dtype))
        return x, n, k

    for floats in ("float16", "bfloat16"):
        for integers in ("int8", "uint8", "int64"):
            n = tf.cast(tf.range(20), integers)
            check(function, tf.ones([20], floats), n, tf.zeros([20], tf.bool), tolerance=1e-2)


# ---- gradients -------------------------------------------------------------------------------------------------------


@pytest.fixture
def gradients(monkeypatch):
    """A list with True for each gradient that ran as machine code, else False."""
    ran = []
    call = native_loops.NativeGradient.__call__

    def counted(self, *args):
        result = call(self, *args)
        ran.append(result is not None)
        return result

    monkeypatch.setattr(native_loops.NativeGradient, "__call__", counted)
    return ran


def check_gradient(function, *arguments, tolerance=1e-5):
    """Compares gradients of a function of loops: of a function under a tape, and of a tape in a function, with eager
    mode's."""

    def gradient(function, *arguments):
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            loss = tf.reduce_sum(function(*arguments) ** 2.0)
        return tape.gradient(loss, arguments)

    wanted = gradient(function, *arguments)
    staged = tf.function(function)
    results = [gradient(staged, *arguments) for _ in range(2)]
    results.append(tf.function(lambda *arguments: gradient(function, *arguments))(*arguments))
    for result in results:
        for got, want in zip(result, wanted, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, tolerance, tolerance)


def test_gradients_of_a_loop_that_nobody_counts(gradients):
    def function(x):
        y = x
        while tf.reduce_sum(y) < 1000.0:
            y = y * 1.02 + tf.sin(x) ** 2.0
        return y

    check_gradient(function, tf.constant([1.0, -0.5]), tolerance=1e-4)
    assert gradients and all(gradients)


def test_gradients_of_weights(gradients):
    rng = np.random.default_rng(0)
    inputs = tf.constant(rng.normal(size=(30, 2, 5)), tf.float64)

    def function(w, u, b):
        state, states = tf.zeros([2, 20], tf.float64), tf.TensorArray(tf.float64, 30)
        for i in tf.range(30):
            state = tf.tanh(inputs[i] @ w + state @ u + b) * 0.5 + state * b
            states = states.write(i, state)
        return states.stack()

    shapes = (5, 20), (20, 20), (20,)
    check_gradient(function, *(tf.constant(0.3 * rng.normal(size=s), tf.float64) for s in shapes), tolerance=1e-10)
    assert gradients and all(gradients)


def test_gradients_of_entries_at_the_counter(gradients):
    def function(x, scale):
        total = scale
        for i in tf.range(1, 40):
            total = tf.sin(total) * x[i] + x[i - 1] * scale
        return total

    check_gradient(function, SERIES[:40], tf.constant([0.1, 0.2, 0.3]))
    assert gradients and all(gradients)


def test_gradients_of_an_array_that_a_loop_writes_and_reads(gradients):
    def function(x):
        array = tf.TensorArray(tf.float64, 40, element_shape=[2], clear_after_read=False).write(0, x).write(1, x * 0.5)
        for i in tf.range(2, 40):
            array = array.write(i, tf.sin(array.read(i - 1)) + 0.5 * array.read(i - 2) * array.read(i // 2))
        return array.stack()

    check_gradient(function, tf.constant([0.3, -0.2], tf.float64), tolerance=1e-10)
    assert gradients and all(gradients)


def test_gradients_of_an_array_that_a_loop_reads_twice():
    def function(x):
        array, total = tf.TensorArray(tf.float64, 40, clear_after_read=False).unstack(x), tf.zeros([], tf.float64)
        for i in tf.range(1, 40):
            total = tf.sin(total) * array.read(i) + array.read(i // 2)
        return total

    check_gradient(function, tf.range(40.0, dtype=tf.float64) / 20.0, tolerance=1e-10)


def test_gradients_of_a_loop_without_iterations(gradients):
    def function(x, n):
        y = x * 3.0
        for _ in tf.range(tf.cast(n[0], tf.int32)):
            y = tf.sin(y) * x
        return y

    for n in (0.0, 50.0, 0.0):
        staged = tf.function(lambda x, n: function(x, n))
        x, count = tf.constant([1.0, 2.0]), tf.constant([n])
        results = []
        for compute in (function, staged):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(compute(x, count))
            results.append(tape.gradient(loss, x))
        np.testing.assert_allclose(results[1], results[0], 1e-5)


def test_gradients_of_gradients():
    x = tf.constant([0.5, -0.3], tf.float64)

    def function(x):
        y = x
        for _ in tf.range(50):
            y = tf.sin(y) + x * 0.1
        return tf.reduce_sum(y)

    def second(function):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            gradient = tape.gradient(y, x)
        return outer.gradient(gradient, x)

    wanted, staged = second(function), tf.function(function)
    for result in (second(staged), second(staged), tf.function(lambda: second(function))()):
        np.testing.assert_allclose(result, wanted, 1e-10)


def test_gradients_of_several_targets_of_one_loop():
    x = tf.constant([0.5, -0.3], tf.float64)

    def function(x):
        y, z = x, x * 2.0
        for _ in tf.range(50):
            y, z = tf.sin(y) * z, tf.cos(z) + y
        return y, z

    def all_gradients(function):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = function(x)
            both = tf.reduce_sum(y * z)
        return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(both, x)

    for result in (all_gradients(tf.function(function)), tf.function(lambda: all_gradients(function))()):
        for got, want in zip(result, all_gradients(function), strict=True):
            np.testing.assert_allclose(got, want, 1e-10)


def branching(x):
    y = x
    for i in tf.range(60):
        if tf.reduce_sum(y) > 1.0:
            y = y * 0.7 + x * 0.1
        else:
            y = tf.exp(y * 0.3) - tf.cast(i, tf.float32) * 0.001
    return y


def test_gradients_of_conditionals(gradients):
    check_gradient(branching, tf.constant([0.3, 0.2]), tolerance=1e-4)
    assert gradients and all(gradients)


@pytest.mark.parametrize(
    "change",
    [lambda x: tf.strings.as_string(x), lambda x: tf.math.bessel_i0e(x), lambda x: tf.where(x > 1.5)],
    ids=["strings", "no element form", "an unknown shape"],
)
def test_what_does_not_qualify_is_a_loop_as_before(change):
    def function(x):
        for _ in tf.range(1000):
            change(x)
            x = x * 0.99
            x = x + tf.cast(tf.size(change(x)), tf.float32) * 0.001
        return x

    compiled = tf.function(function)
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-5)


def test_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def function(x):
        for _ in tf.range(1000):
            x = x * 0.99 + 0.01
        return x

    assert "op_Native" in source_of(function)
    np.testing.assert_allclose(function(tf.constant([3.0, 1.0])), [1.0000863, 1.0], rtol=1e-5)
    np.testing.assert_allclose(function(tf.constant([3.0])), [1.0000863], rtol=1e-5)
    assert function(tf.zeros([0])).shape == [0]


def test_gradients_for_other_shapes_than_the_traced_ones():
    """The loop was compiled for residuals of 100 elements, but they have one."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def function(x):
        x.set_shape([100])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.ones([100])
            for _ in tf.range(50):
                y = tf.sin(y * x) + x * 0.1
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    wanted = function(tf.fill([100], 0.5))
    np.testing.assert_allclose(function(tf.fill([1], 0.5))[0], wanted[0], rtol=1e-5)


def test_gradients_of_conditionals_that_machine_code_refuses(monkeypatch):
    monkeypatch.setattr(native_loops.NativeGradient, "__call__", lambda *args: None)
    check_gradient(branching, tf.constant([0.3, 0.2]), tolerance=1e-4)


def test_a_small_tensor_is_broadcast_twice():
    bias = tf.constant([0.1, 0.2, 0.3, -0.4, 0.5, 0.6, -0.7, 0.8])

    def function(x):
        for _ in tf.range(40):
            x = (x * bias + 1.0) * tf.sin(x - bias)
        return x

    check(function, tf.reshape(tf.range(160.0) / 160.0, [20, 8]), tolerance=1e-5)


@pytest.mark.parametrize("count", [2, 8])
def test_machine_code_fits_on_a_small_stack(count):
    """Threads have stacks of 512 kB on some systems. A row has 32 kB."""
    x = tf.constant(np.linspace(-1.0, 1.0, 4096))

    @tf.function
    def f():
        xs = [x * i for i in range(count)]
        for _ in tf.range(50):
            xs = [tf.nn.softmax(tf.sin(x) + i) for i, x in enumerate([*xs[1:], xs[0]])]
        return xs

    results = []
    before = threading.stack_size(1 << 19)
    thread = threading.Thread(target=lambda: results.extend(f()))
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    for got, wanted in zip(results, f.python_function(), strict=True):
        np.testing.assert_allclose(got, wanted)


def test_sums_of_several_tensors():
    x = tf.constant(np.arange(40, dtype="float32").reshape(8, 5))

    @tf.function
    def function(x):
        for _ in tf.range(30):
            x = tf.add_n([x, tf.sin(x), tf.cos(x)]) * 0.4
        return x

    wanted = x.numpy()
    for _ in range(30):
        wanted = (wanted + np.sin(wanted) + np.cos(wanted)) * np.float32(0.4)
    np.testing.assert_allclose(function(x), wanted, 1e-4, 1e-4)
    assert "op_Native" in function.get_concrete_function(x).source()
