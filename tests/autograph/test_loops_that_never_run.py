"""Variables that only a loop defines have no value if it never runs: the graph fails. Recorded from TensorFlow."""

import pytest

import tapeflow as tf


def for_loop(n):
    for i in tf.range(n):
        x = i * 2
    return x


def while_loop(n):
    while n > 0:
        x = n * 2
        n -= 1
    return x


def two_conditions(n):
    i = tf.constant(0)
    while i < n and i < 10:
        x = i
        i += 1
    return x


def loop_with_break(n):
    for i in tf.range(n):
        x = i * 2
        if i >= 1:
            break
    return x


def loop_with_continue(n):
    for i in tf.range(n):
        x = i * 2
        if i >= 1:
            continue
    return x


def nested_loops(n):
    for i in tf.range(n):
        for j in tf.range(i):
            x = i * j
    return x


def value_in_a_condition(n):
    for i in tf.range(n):
        x = i * 2
    if n < 100:
        y = tf.constant(-1)
    else:
        y = x
    return y


def unused_value(n):
    for i in tf.range(n):
        x = i
    x + 1
    return n


def structure(n):
    for i in tf.range(n):
        x = {"a": i, "b": (i, i * 2)}
    return x["b"][1]


def text(n):
    for i in tf.range(n):
        x = tf.strings.as_string(i)
    return tf.strings.to_number(x, tf.int32)


def growing(n):
    for i in tf.range(n):
        x = tf.zeros([i])
    return tf.size(x)


def none_before(n):
    x = None
    for i in tf.range(n):
        x = i
    return x


def python_number(n):
    for _ in tf.range(n):
        x = 1
    return x


def python_range(n):
    for i in range(n):
        x = i
    return x


def floats(n):
    for i in tf.range(tf.cast(n, tf.float32)):
        x = i
    return x


def function_in_function(n):
    return for_loop(n)


def in_a_branch(n):
    y = tf.constant(0)
    if n >= 0:
        for i in tf.range(n):
            x = i
        y = x
    return y


RUNS = {  # with the results for n = 3
    for_loop: 4, while_loop: 2, two_conditions: 2, loop_with_break: 2, loop_with_continue: 4, nested_loops: 2,
    value_in_a_condition: -1, unused_value: 3, structure: 4, text: 2, growing: 2, none_before: 2, python_number: 1,
    python_range: 2, floats: 2, function_in_function: 4, in_a_branch: 2,
}  # fmt: skip


@pytest.mark.parametrize("loop", RUNS, ids=lambda f: f.__name__)
def test_a_variable_needs_an_iteration(loop):
    f = tf.function(loop)
    assert f(tf.constant(3)).numpy() == RUNS[loop]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[loop must iterate at least once to initialize x\]"):
        f(tf.constant(0))


@pytest.mark.parametrize("jit_compile", [None, True])
def test_gradients_need_an_iteration_too(jit_compile):
    @tf.function(jit_compile=jit_compile)
    def f(n, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            for i in tf.range(n):
                x = w * tf.cast(i, tf.float32)
        return tape.gradient(x, w)

    assert f(tf.constant(3), tf.constant(5.0)).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once"):
        f(tf.constant(0), tf.constant(5.0))


def test_names_of_several_variables():
    @tf.function
    def f(n):
        for i in tf.range(n):
            x, d.y = i, i
        return x + d.y

    class D:
        pass

    d = D()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"initialize x, d\.y\]"):
        f(tf.constant(0))


def test_the_return_value_needs_an_iteration():
    @tf.function  # noqa: RET503
    def f(n):
        while n > 0:
            return n * 2

    assert f(tf.constant(3)).numpy() == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="initialize the function return value"):
        f(tf.constant(0))


@pytest.mark.parametrize(
    ("empty", "full", "last"),
    [
        (tf.zeros([0]), tf.constant([1.0, 3.0]), 6.0),
        (tf.zeros([0, 2]), tf.constant([[1.0], [3.0]]), [6.0]),
        (tf.data.Dataset.range(0), tf.data.Dataset.range(4), 6),
        (tf.ragged.constant([[1]])[:0], tf.ragged.constant([[1], [2, 3]]), [4, 6]),
    ],
    ids=["tensor", "rows", "dataset", "ragged"],
)
def test_items(empty, full, last):
    @tf.function
    def f(items):
        for item in items:
            x = item * 2
        return x

    assert f(full).numpy().tolist() == last
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize x"):
        f(empty)


def test_the_target_of_a_range_begins_with_its_start():
    @tf.function
    def f(start, n):
        for i in tf.range(start, n):  # noqa: B007
            pass
        return i

    assert f(tf.constant(5), tf.constant(0)).numpy() == 5
    assert f(tf.constant(5), tf.constant(8)).numpy() == 7


def test_variables_of_the_loop_alone_need_no_iteration():
    @tf.function
    def f(n):
        total = 0
        for i in tf.range(n):
            x = i * 2
            total += x
        return total

    assert f(tf.constant(0)).numpy() == 0


def test_a_loop_over_an_empty_tensor_of_known_shape():
    @tf.function
    def f(x):
        y = tf.constant(7.0)
        for item in x:
            y = item
        return y

    assert f(tf.zeros([0])).numpy() == 7.0


def test_an_assertion_shows_its_data_as_tensorflow_does():
    @tf.function
    def f(x):
        tf.debugging.Assert(tf.reduce_all(x > 0), ["told", x, tf.reshape(tf.range(8), [2, 2, 2]), 0.1])

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant([1, 2, 3, -4]))
    assert "assertion failed: [told] [1 2 3...] [[[0 1][2...]]...] [0.1]" in caught.value.message
