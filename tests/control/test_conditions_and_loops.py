"""Conditions, loops, functional loops and Python functions: gradients, structures, and what runs how often."""

import pytest

import tapeflow as tf

X = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: tf.map_fn(lambda a: a**2.0, x), [2.0, 4.0, 6.0]),
        (lambda x: tf.map_fn(lambda ab: ab[0] * ab[1], (x, x), fn_output_signature=tf.float32), [2.0, 4.0, 6.0]),
        (lambda x: tf.scan(lambda a, b: a * b, x), [9.0, 4.0, 2.0]),
        (lambda x: tf.scan(lambda a, b: a * b, x, reverse=True), [6.0, 6.0, 5.0]),  # of 3 + 3 * 2 + 3 * 2 * 1
        (lambda x: tf.foldl(lambda a, b: a * b, x), [6.0, 3.0, 2.0]),
        (lambda x: tf.foldr(lambda a, b: a - b, x), [-1.0, -1.0, 1.0]),
        (lambda x: tf.vectorized_map(lambda a: a**2.0, x), [2.0, 4.0, 6.0]),
        (lambda x: tf.py_function(lambda a: a * a, [x], tf.float32), [2.0, 4.0, 6.0]),
        (lambda x: tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * x), [0, x])[1], [3.0, 12.0, 27.0]),
        (lambda x: tf.cond(x[0] > 0.0, lambda: x * 2.0, lambda: x), [2.0, 2.0, 2.0]),
        (lambda x: tf.case([(x[0] > 5.0, lambda: x)], default=lambda: x * 3.0), [3.0, 3.0, 3.0]),
        (lambda x: tf.switch_case(tf.constant(1), [lambda: x, lambda: x * x]), [2.0, 4.0, 6.0]),
    ],
)
def test_gradients(function, expected):
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x).numpy().tolist() == expected


def test_numpy_function_stops_gradients():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.numpy_function(lambda a: a * 2.0, [x], tf.float32)
    assert tape.gradient(y, x) is None


def test_numpy_function_as_a_decorator():
    @tf.numpy_function(Tout=tf.float32)
    def double(a):
        return a * 2.0

    assert double(tf.constant(X)).numpy().tolist() == [2.0, 4.0, 6.0]


def test_only_the_chosen_branch_runs():
    ran = []
    tf.cond(tf.constant(False), lambda: ran.append("true"), lambda: ran.append("false"))
    tf.case([(tf.constant(True), lambda: ran.append("first")), (tf.constant(True), lambda: ran.append("second"))])
    assert ran == ["false", "first"]


def test_while_loop_keeps_structures():
    i, state = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, {"x": [s["x"][0] * 2]}), (0, {"x": [1]}))
    assert (i.numpy(), state["x"][0].numpy()) == (3, 8)
    (ragged,) = tf.while_loop(
        lambda r: r.nrows() < 4, lambda r: (tf.concat([r, r], 0),), [tf.ragged.constant([[1, 2], [3]])]
    )
    assert ragged.to_list() == [[1, 2], [3], [1, 2], [3]]


def test_maximum_iterations():
    assert tf.while_loop(lambda i: True, lambda i: (i + 1,), (0,), maximum_iterations=7)[0].numpy() == 7


def test_vectorized_map_calls_the_function_once():
    calls = []

    def function(x):
        calls.append(x.shape)
        return tf.reduce_sum(tf.matmul(tf.reshape(x, [2, 1]), tf.reshape(x, [1, 2])))

    result = tf.vectorized_map(function, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert result.numpy().tolist() == [9.0, 49.0, 121.0]
    assert calls == [tf.TensorShape([2])]


def test_vectorized_map_takes_branches_for_the_slices_that_take_them(caplog):
    def function(x):
        return x * 2.0 if x > 1.5 else -x

    assert tf.vectorized_map(function, tf.constant(X)).numpy().tolist() == [-1.0, 4.0, 6.0]
    assert not caplog.text


def test_vectorized_map_refuses_to_look_at_values_as_a_trace_does():
    with pytest.raises(AttributeError, match="has no attribute 'numpy'"):
        tf.vectorized_map(lambda x: x * float(x.numpy()), tf.constant(X))


def test_vectorized_map_leaves_nothing_batched_behind():
    seen = []
    tf.vectorized_map(lambda a: seen.append(a) or a * 2.0, tf.constant(X))
    v = tf.Variable(1.0)
    assert (v * 2.0 + 1.0).numpy() == 3.0
    assert tf.vectorized_map(lambda a: a * v, tf.constant(X)).numpy().tolist() == X


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (ZeroDivisionError, tf.errors.UnknownError),
    ],
)
def test_errors_in_python_functions(raised, error):
    def function(_):
        raise raised("on purpose")

    with pytest.raises(error, match=f"{raised.__name__}: on purpose"):
        tf.py_function(function, [1], tf.int32)


def test_assert():
    tf.Assert(tf.constant(True), ["fine"])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.Assert(tf.constant(False), [tf.constant([1, 2, 3, 4]), "told", 2.5], summarize=2)
    assert caught.value.message == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1, 2, ...\nb'told'\n2.5"
    )
    for summarize, shown in ((-1, "1, 2, 3, 4"), (4, "1, 2, 3, 4"), (None, "1, 2, 3, ...")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"data: {shown}$"):
            tf.Assert(False, [tf.constant([1, 2, 3, 4])], summarize)


def test_init_scope_is_outside_of_tapes():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            y = x * x
    assert tape.gradient(y, x) is None


def test_control_dependencies_call_functions():
    called = []
    with tf.control_dependencies([tf.constant(1), lambda: called.append(1)]):
        pass
    assert called == [1]


def test_branches_that_give_indexed_slices():
    @tf.function
    def rows(values, indices, whole):
        one = lambda: tf.IndexedSlices(values, indices, tf.constant([3, 2]))  # noqa: E731
        other = lambda: tf.IndexedSlices(values + 1.0, tf.where(indices >= 0)[:, 0], tf.constant([3, 2]))  # noqa: E731
        found = tf.cond(whole, one, other)
        return found.indices, tf.convert_to_tensor(found)

    given = tf.constant([[1.0, 2.0]]), tf.constant([2])
    for whole, dense in ((True, [[0, 0], [0, 0], [1, 2]]), (False, [[2, 3], [0, 0], [0, 0]])):
        indices, found = rows(*given, tf.constant(whole))
        assert indices.dtype == tf.int64 and found.numpy().tolist() == dense


@pytest.mark.parametrize("eagerly", [True, False])
def test_names_of_conditions_may_be_none(eagerly):
    def choose(i):
        one, two = (lambda: tf.constant(1)), (lambda: tf.constant(2))
        chosen = tf.case([(i > 0, one)], default=two, exclusive=True, name=None)
        return chosen, tf.switch_case(i, [one, two], name=None), tf.cond(i > 0, one, two, name=None)

    choose = choose if eagerly else tf.function(choose)
    assert [int(t) for t in choose(tf.constant(1))] == [1, 2, 1]
