"""What loops compute before their first iteration."""

import numpy as np
import pytest

import tapeflow as tf

RANDOM = np.random.default_rng(0)


def random(*shape):
    return tf.constant(RANDOM.normal(size=shape) / 3, tf.float32)


X, W, U = random(5, 2, 3), random(3, 4), random(4, 4)


def array_of(x):
    return tf.TensorArray(tf.float32, tf.shape(x)[0], clear_after_read=False).unstack(x)


def recurrent(x, w, u, n):
    """Projects an entry of a list in each iteration."""
    entries, state = array_of(x), tf.zeros_like(x[0] @ w)
    for i in tf.range(n):
        state = tf.tanh(entries.read(i) @ w + state @ u)
    return state


def sliced(x, w, u, n):
    """Projects a slice of a tensor in each iteration."""
    state = tf.zeros_like(x[0] @ w)
    for i in tf.range(n):
        state = tf.tanh(x[i] @ w + state @ u)
    return state


def from_the_second(x, w, u, n):
    """Begins with another number than 0, and reads the list in another order."""
    entries, state = array_of(x), tf.zeros_like(x[0] @ w)
    i = tf.constant(1)
    while i < n:
        state = tf.tanh(entries.read(tf.shape(x)[0] - i) @ w + state @ u)
        i += 1
    return state


def masked(x, w, u, n):
    """Selects by a mask that is tiled, of a loop with a limit."""
    entries, masks = array_of(x), tf.TensorArray(tf.bool, 5).unstack(x[:, :, :1] > 0)

    def step(i, state):
        new = tf.tanh(entries.read(i) @ w + state @ u)
        return i + 1, tf.where(tf.tile(masks.read(i), [1, 4]), new, state)

    start = tf.constant(0), tf.zeros_like(x[0] @ w)
    return tf.while_loop(lambda i, _: i < n, step, start, maximum_iterations=tf.size(x[:4, 0, 0]))[1]


def invariant(x, w, u, n):
    """Computes from values that stay the same, until the state is large."""
    state = tf.ones([2, 3])
    while tf.reduce_sum(state) < tf.cast(n, tf.float32):
        state += tf.math.bessel_i0e(tf.matmul(x[0], x[0], transpose_a=True)[:2]) + 1.0  # it has no element form
    return state @ w


def nested(x, w, u, n):
    """Has a loop over all entries in each iteration."""
    entries, state = array_of(x), tf.zeros_like(x[0] @ w)
    for i in tf.range(n):
        for j in tf.range(tf.shape(x)[0]):
            state = tf.tanh(entries.read(j) @ w + state @ u) * (tf.cast(i, tf.float32) / 4.0)  # amplifies no rounding
    return state


def stops_early(x, w, u, n):
    """Ends before its bound, where it may not read any more."""
    entries, state = array_of(x), tf.zeros_like(x[0] @ w)
    for i in tf.range(n + 100):
        if i >= n:
            break
        state = tf.tanh(entries.read(i) @ w + state @ u)
    return state


FUNCTIONS = [recurrent, sliced, from_the_second, masked, invariant, nested, stops_early]


def gradients(function, x, w, u, n):
    with tf.GradientTape() as tape:
        tape.watch((x, w, u))
        y = function(x, w, u, n)
        loss = tf.reduce_sum(y * y)
    return [y, *tape.gradient(loss, (x, w, u), unconnected_gradients="zero")]


def second_gradients(function, x, w, u, n):
    with tf.GradientTape() as tape:
        tape.watch((x, w, u))
        loss = tf.add_n([tf.reduce_sum(g * g) for g in gradients(function, x, w, u, n)])
    return tape.gradient(loss, (x, w, u), unconnected_gradients="zero")


def values(function, *inputs):
    return [function(*inputs)]


@pytest.mark.parametrize("order", [values, gradients, second_gradients])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_those_of_the_eager_loop(function, order):
    shapes = [None] * 3, [None] * 2, [None] * 2
    signature = [*map(tf.TensorSpec, shapes), tf.TensorSpec([], tf.int32)]
    any_shape = tf.function(lambda *x: order(function, *x), input_signature=signature)
    for n in (0, 4):
        number = tf.constant(n)
        of_shape = tf.function(lambda x, w, u, n=n: order(function, x, w, u, n))
        results = [any_shape(X, W, U, number), of_shape(X, W, U)]
        for result in results:
            for value, expected in zip(result, order(function, X, W, U, number), strict=True):
                np.testing.assert_allclose(value, expected, rtol=2e-4, atol=2e-5)


def source_of(function):
    return tf.function(function).get_concrete_function(X, W, U, tf.constant(4)).source()


@pytest.mark.parametrize("function", [recurrent, sliced, from_the_second, masked])
def test_products_with_inputs_are_one_product_before_the_loop(function, without_machine_code):
    before, after = source_of(function).split(" in zip(range(")
    inside = after.split(":", 1)[1]
    assert before.count("op_MatMul(") == 1
    assert inside.count("op_MatMul") == 1
    assert not any(name in inside for name in ("op_Tile", "op_TensorListGetItem", "op_StridedSlice"))


def test_what_stays_the_same_is_computed_in_the_first_iteration():
    source = source_of(invariant)
    once = source[source.index("first = False") :]
    assert once.index("op_MatMul") < once.index("op_AddV2")


def test_no_entry_is_read_before_a_loop_that_may_end_early():
    assert "TensorListStack" not in source_of(stops_early)


def test_loops_with_effects_stay_as_they_are():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        entries, total = array_of(x), tf.zeros([2, 4])
        for i in tf.range(5):
            total += entries.read(i) @ W * v
            v.assign_add(1.0)
        return total

    expected = sum((X[i] @ W * (i + 1.0) for i in range(5)), tf.zeros([2, 4]))
    np.testing.assert_allclose(f(X), expected, rtol=1e-5)


def test_variables_are_read_when_the_loop_runs():
    v = tf.Variable(W)

    @tf.function
    def f(x):
        entries, total = array_of(x), tf.zeros([2, 4])
        for i in tf.range(5):
            total += entries.read(i) @ v
        return total

    first = f(X)
    v.assign(2 * W)
    np.testing.assert_allclose(f(X), 2 * first, rtol=1e-5)


def test_reading_past_the_end_is_an_error():
    f = tf.function(recurrent)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(X, W, U, tf.constant(6))


def test_lists_of_entries_of_several_shapes_are_read_one_by_one():
    @tf.function
    def f(w):
        entries = tf.TensorArray(tf.float32, 2, infer_shape=False, element_shape=[None, 3])
        entries = entries.write(0, X[0]).write(1, X[1][:1])
        total = tf.zeros([4])
        for i in tf.range(2):
            total += tf.reduce_sum(tf.exp(entries.read(i) @ w), 0)
        return total

    expected = tf.reduce_sum(tf.exp(X[0] @ W), 0) + tf.exp(X[1][0:1] @ W)[0]
    np.testing.assert_allclose(f(W), expected, rtol=1e-5)


def test_large_constants_are_taken_into_the_prologue():
    weights = random(40, 4)

    @tf.function
    def f(x):
        entries, state = array_of(x), tf.zeros([2, 4])
        for i in tf.range(tf.shape(x)[0]):
            state = tf.tanh(entries.read(i) @ weights + state)
        return state

    x, state = random(3, 2, 40), tf.zeros([2, 4])
    for i in range(3):
        state = tf.tanh(x[i] @ weights + state)
    np.testing.assert_allclose(f(x), state, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3, 2), (1, 4), (0, 2)])
def test_shapes_of_entries_are_read_in_lists_of_unknown_length(shape):
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def grown(x):
        def step(total, entry):
            return total + tf.cast(tf.shape(entry)[0] * tf.size(entry) * tf.rank(entry), tf.float32)

        return tf.scan(step, x, initializer=tf.zeros([2, 1]))

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def kept(x):
        return tf.foldl(lambda total, entry: total * tf.ones([tf.shape(entry)[0], 1]), x, tf.ones([shape[1], 1]))

    expected = np.arange(1, shape[0] + 1)[:, None, None] * np.full([2, 1], shape[1] ** 2)
    np.testing.assert_array_equal(grown(tf.ones(shape)), expected.astype(np.float32))
    assert kept(tf.ones(shape)).numpy().tolist() == [[1.0]] * shape[1]
