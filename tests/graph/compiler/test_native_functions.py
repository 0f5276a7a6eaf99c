"""Small functions as machine code: their values, effects and errors are those of the ops called one by one."""

import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import mkl


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def is_native(function, *args):
    return "op_Native" in function.get_concrete_function(*args).source()


def dense(x, w1, b1, w2, b2):
    return tf.tanh(x @ w1 + b1) @ w2 + b2


WEIGHTS = [random(3, 5), random(5, seed=1), random(5, 2, seed=2), random(2, seed=3)]


def gradients(x, *weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_mean(tf.nn.softmax(dense(x, *weights)) ** 2)
    return tape.gradient(loss, weights)


def second_gradient(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(dense(x, *WEIGHTS) ** 2)
        dx = inner.gradient(y, x)
    return outer.jacobian(dx, x)


def attention(x):
    q, k, v = (tf.transpose(tf.reshape(tf.sin(x * f), [4, 2, 3]), [1, 0, 2]) for f in (1.0, 2.0, 3.0))
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
    return tf.reshape(tf.transpose(weights @ v, [1, 0, 2]), [4, 6]), tf.nn.log_softmax(weights)


def rotated(x):
    first, *rest = tf.unstack(x)
    y = tf.stack([*rest, first])
    a, b = tf.split(tf.concat([y, x], 1), 2, axis=1)
    return tf.where(a > b, a, tf.reverse(b, [0])), tf.pad(a, [[1, 0], [0, 2]])[1:, :-1] * tf.transpose(x)[0, 0]


def chosen(x):
    rows = tf.one_hot(tf.cast(tf.abs(x[:, 0]) * 9.0, tf.int64) - 1, 6) * x
    largest = tf.reduce_max(x, 1)
    return tf.gather(rows, [2, 0]), tf.reduce_sum(rows, [0, 1]), largest, tf.cast(largest > 0.5, tf.int32)


def halves(x):
    h = tf.cast(x, tf.float16)
    for _ in range(3):
        h = tf.nn.relu(h * h - 0.5) + tf.exp(-h)
    return h, tf.reduce_sum(h, 1), tf.cast(h, tf.float64) / 3.0


def branches(x, n):
    for i in range(8):
        x = tf.cond(n > i, lambda x=x: tf.sin(x) + 1.0, lambda x=x: x * 0.5)
    return x, n + 1


FUNCTIONS = {
    "gradients": (gradients, random(4, 3), *WEIGHTS),
    "a Hessian": (second_gradient, random(2, 3)),
    "attention": (attention, random(4, 6)),
    "moves": (rotated, random(6, 6)),
    "choices": (chosen, random(5, 6)),
    "halves": (halves, random(3, 33)),
    "branches": (branches, random(3, 7), np.int32(2)),
    "products of matrices": (lambda x: (tf.matmul(x, x, transpose_a=True) @ tf.tanh(x)[:, :, 0:1] + x[0], x * 2.0, -x,
                                        tf.linalg.matvec(x, x[0, 0]) / 3.0), random(3, 5, 5)),
    "a broadcast product": (lambda x: tf.tanh(x) @ tf.sin(x[0]) + tf.exp(x[1:2]) * 2.0 - tf.cos(x), random(3, 4, 4)),
    "products of columns": (lambda x: tf.matmul(tf.transpose(x) * 2.0 + 1.0, tf.sin(x) - tf.cos(x[:1]), False) / 7.0
                            + tf.reduce_mean(x), random(20, 30)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    function, *args = FUNCTIONS[name]
    args = [tf.constant(a) for a in args]
    compiled = tf.function(function)
    assert is_native(compiled, *args)
    for eager, native in zip(*(tf.nest.flatten(f(*args)) for f in (function, compiled)), strict=True):
        assert eager.dtype == native.dtype
        assert eager.shape == native.shape
        np.testing.assert_allclose(native, eager, rtol=2e-3 if eager.dtype == tf.float16 else 2e-5, atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0])
def test_limits_in_rows(value):
    x = random(4, 20)
    x[1, 3] = x[2] = value
    ops = tf.nn.softmax, tf.nn.log_softmax, tf.tanh, tf.sign, tf.nn.relu, tf.exp, tf.math.erf, tf.nn.sigmoid
    function = tf.function(lambda x: [op(x) for op in ops])
    assert is_native(function, x)
    for eager, native in zip(function.python_function(tf.constant(x)), function(x), strict=True):
        np.testing.assert_allclose(native, eager, rtol=1e-5, atol=1e-6)


def adam(weights, first, second):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(dense(x, *weights) ** 2)
        for w, m, v, g in zip(weights, first, second, tape.gradient(loss, weights), strict=True):
            m.assign(0.9 * m + 0.1 * g)
            v.assign_add(0.001 * (g * g - v))
            w.assign_sub(0.1 * m / (tf.sqrt(v) + 1e-7))
        return loss, weights[0] * 1.0

    return step


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_one_hot_is_deeper_than_its_indices_count(dtype):
    def function(x, i):
        for _ in range(8):
            x = tf.sin(x) + 1.0
        return tf.one_hot(i, 300) * x, tf.one_hot([i, i + 1], 2, dtype="int32")

    x, i = tf.constant(2.0), tf.constant(1, dtype)
    compiled = tf.function(function)
    assert is_native(compiled, x, i)
    for got, wanted in zip(compiled(x, i), function(x, i), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_small_results_of_branches():
    def function(x, i):
        for _ in range(8):
            x = tf.sin(x) + 1.0
        return tf.cond(i > 0, lambda: tf.one_hot([i, i + 1], 3), lambda: tf.zeros([2, 3])) + x

    x = tf.constant(2.0)
    compiled = tf.function(function)
    assert is_native(compiled, x, tf.constant(1))
    for i in (-1, 0, 1, 2):
        np.testing.assert_allclose(compiled(x, tf.constant(i)), function(x, tf.constant(i)), rtol=1e-6)


def test_updates_of_variables():
    results = []
    for eager in (False, True):
        variables = [[tf.Variable(f * w) for w in WEIGHTS] for f in (1.0, 0.0, 0.0)]
        step = adam(*variables)
        assert is_native(step, tf.TensorSpec([4, 3]))
        step = step.python_function if eager else step
        returned = [step(tf.constant(random(4, 3, seed=seed))) for seed in range(3)]
        results.append(tf.nest.flatten([returned, variables]))
    for native, eager in zip(*results, strict=True):
        np.testing.assert_allclose(native, eager, rtol=1e-4, atol=1e-6)


def test_variables_that_take_each_others_values():
    a, b = tf.Variable(random(4, 8)), tf.Variable(random(4, 8, seed=1))

    @tf.function
    def swap(x):
        for _ in range(8):
            x = tf.sin(x) + 1.0
        before = a.read_value()
        a.assign(b)
        b.assign(before)
        return x, before

    first, second = a.numpy(), b.numpy()
    assert is_native(swap, tf.TensorSpec([4]))
    _, before = swap(tf.zeros(4))
    for got, wanted in ((a, second), (b, first), (before, first)):
        np.testing.assert_array_equal(got, wanted)
    swap(tf.zeros(4))
    np.testing.assert_array_equal(a, first)


def test_values_that_were_handed_out_stay():
    v = tf.Variable(random(5, 8))

    @tf.function
    def step():
        v.assign(tf.tanh(v * 2.0) + tf.sin(v) * tf.exp(-v) - 1.0)

    assert is_native(step)
    tensor, array, view = v.value(), v.numpy(), v[1:3]
    copies = [np.array(x) for x in (tensor, array, view)]
    step()
    assert np.any(v.numpy() != copies[0])
    for x, copy in zip((tensor, array, view), copies, strict=True):
        np.testing.assert_array_equal(x, copy)


def test_an_index_out_of_range_changes_nothing():
    v = tf.Variable(tf.zeros([4]))

    @tf.function
    def step(x, i):
        y = tf.gather(x, i)
        for _ in range(8):
            y = tf.sin(y) + 1.0
        v.assign_add(y)
        return y

    x, good = tf.constant(random(3, 4)), tf.constant(2)
    assert is_native(step, x, good)
    step(x, good)
    before = v.numpy()
    for i in (3, -1, 2**31 - 1, -(2**31)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices = .* is not in \[0, 3\)"):
            step(x, tf.constant(i))
    np.testing.assert_array_equal(v, before)


def test_parts_around_an_op_of_another_kind(capfd):
    @tf.function
    def function(x):
        for _ in range(5):
            x = tf.sin(x) + 1.0
        tf.print("between")
        for _ in range(5):
            x = tf.cos(x) - 1.0
        return x

    x = tf.constant(random(3))
    source = function.get_concrete_function(x).source()
    assert source.count("op_Native") == 2
    np.testing.assert_allclose(function(x), function.python_function(x), rtol=1e-5, atol=1e-6)
    assert capfd.readouterr().err.count("between") == 2


def test_random_numbers():
    def draws():
        x = tf.random.normal([3, 4]) + tf.random.uniform([4])
        for _ in range(7):
            x = tf.sin(x) * 2.0
        return x

    results = []
    for _ in range(2):
        tf.random.set_seed(3)
        function = tf.function(draws)
        assert is_native(function)
        results.append([function().numpy() for _ in range(3)])
    np.testing.assert_array_equal(*results)
    assert len(np.unique(results[0])) == 3 * 12


def test_large_tensors_and_few_steps_stay_calls():
    assert not is_native(tf.function(lambda x: tf.sin(x) + 1.0), tf.TensorSpec([3]))
    chain = tf.function(lambda x: tf.tanh(tf.sin(tf.exp(tf.cos(tf.sin(tf.tanh(tf.sin(tf.exp(x)))))))))
    assert is_native(chain, tf.TensorSpec([1000]))
    assert not is_native(chain, tf.TensorSpec([100000]))
    assert not is_native(chain, tf.TensorSpec([None]))


def test_other_layouts():
    function = tf.function(lambda x: tf.sin(x) + tf.cos(x) * tf.exp(x) - tf.tanh(x) * tf.square(x) @ x)
    x = tf.transpose(tf.constant(random(8, 8)))
    assert is_native(function, x)
    np.testing.assert_allclose(function(x), function.python_function(x), rtol=1e-5, atol=1e-5)


def test_threads_lose_no_update():
    v = tf.Variable(tf.zeros([8]))

    @tf.function
    def step(one):
        for _ in range(8):
            one = one * one
        v.assign_add(one)

    one = tf.ones([8])
    assert is_native(step, one)
    threads = [threading.Thread(target=lambda: [step(one) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(v, np.full(8, 800.0))


def test_sums_of_several_gradients_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])], autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            row = tf.reduce_min(tf.reshape(x, [-1]), [])
            zeros = row - row
            results = tf.stack([row, row], 1), zeros, tf.reduce_min(zeros, [0])
            loss = tf.add_n([tf.reduce_sum(r) for r in results])
        return [*results, tape.gradient(loss, x)]

    x = tf.reshape(tf.range(34.0), [2, 17])
    want = f.python_function(x)
    for _ in range(2):
        for a, b in zip(f(x), want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 7, 15, 17, 33])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_whose_columns_do_not_fill_a_vector(columns, transposed):
    x, w, bias = random(5, 9), random(9, columns, seed=1), random(columns, seed=2)

    @tf.function
    def function(x, w, bias):
        y = tf.matmul(x, tf.transpose(w) if transposed else w, transpose_b=transposed) + bias
        for _ in range(4):
            y = tf.sin(y) * y
        return y, tf.reduce_mean(y, 0), tf.reduce_max(y, 1)

    wanted = x @ w + bias
    for _ in range(4):
        wanted = np.sin(wanted) * wanted
    results = function(x, w, bias)
    assert is_native(function, x, w, bias)
    for got, want in zip(results, (wanted, wanted.mean(0), wanted.max(1)), strict=True):
        np.testing.assert_allclose(got, want, 1e-4, 1e-5)


@pytest.mark.parametrize("is_slow", [False, True])
def test_larger_functions_are_native_where_products_of_matrices_are_slow(monkeypatch, is_slow):
    monkeypatch.setattr(mkl, "products_are_slow", lambda: is_slow)
    x, weights = random(80, 128), [random(128, 128, seed=i) / 12 for i in range(3)]

    @tf.function
    def function(x, *weights):
        for w in weights:
            x = tf.tanh(tf.matmul(x, w) + 0.5) * 0.9 + tf.nn.relu(x)
        return x

    wanted = x
    for w in weights:
        wanted = np.tanh(wanted @ w + 0.5) * 0.9 + np.maximum(wanted, 0)
    np.testing.assert_allclose(function(x, *weights), wanted, 1e-4, 1e-5)
    assert is_native(function, x, *weights) == is_slow


def test_equal_layers_share_their_code():
    def parts(layers):
        @tf.function
        def function(x):
            for _ in range(layers):
                x = tf.tanh(x * 2.0 + 1.0) * tf.reduce_mean(x)
            return x

        x = tf.constant(random(9, 9))
        function(x)
        return function.get_concrete_function(x).source(kernels=True).count("define internal")

    assert 0 < parts(4) == parts(8)
