"""`tf.vectorized_map`: structures, first dimensions, what runs slice by slice. Expected values are TensorFlow's."""

import logging

import pytest

import tapeflow as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def value(nest):
    return tf.nest.map_structure(lambda t: None if t is None else t.numpy().tolist(), nest)


def forms(*specs):
    """Returns decorators: eagerly, in a function, and in a function that knows no sizes."""
    return [lambda f: f, tf.function, tf.function(input_signature=specs)]


@pytest.mark.parametrize("form", [0, 1, 2])
def test_structures(form):
    def mapped(x, n):
        return tf.vectorized_map(
            lambda e: {"sum": tf.reduce_sum(e["x"]), "rest": [e["x"] * 2.0, (e["n"] + 1,)]}, {"x": x, "n": n}
        )

    mapped = forms(tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32))[form](mapped)
    found = mapped(X, tf.constant([7, 8, 9]))
    assert value(found["sum"]) == [3.0, 7.0, 11.0]
    assert value(found["rest"][0]) == (X * 2.0).numpy().tolist() and value(found["rest"][1]) == ([8, 9, 10],)
    assert found["rest"][1][0].dtype == tf.int32


@pytest.mark.parametrize("form", [0, 1, 2])
def test_a_first_dimension_of_one_is_broadcast(form):
    mapped = forms(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2]))[form](
        lambda x, y: tf.vectorized_map(lambda e: e[0] - e[1], (x, y))
    )
    assert value(mapped(X, X[:1])) == (X - X[:1]).numpy().tolist()
    assert value(mapped(X[:1], X)) == (X[:1] - X).numpy().tolist()
    assert value(mapped(X[:1], X[1:2])) == [[-2.0, -2.0]]
    assert value(mapped(X, X)) == [[0.0, 0.0]] * 3


@pytest.mark.parametrize("form", [0, 1])
def test_one_slice_and_none(form):
    mapped = forms()[form](lambda x: tf.vectorized_map(lambda e: tf.reduce_sum(e) + e, x))
    assert value(mapped(X[:1])) == [[4.0, 5.0]]
    assert mapped(X[:0]).shape == [0, 2]


def test_captured_tensors_and_gradients():
    w, v = tf.constant([10.0, 20.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch([X, w])
        y = tf.vectorized_map(lambda e: tf.reduce_sum(e * e * w) * v, X)
    assert value(y) == [270.0, 1230.0, 2910.0]
    by_x, by_w, by_v = tape.gradient(y, [X, w, v])
    assert value(by_x) == [[60.0, 240.0], [180.0, 480.0], [300.0, 720.0]]
    assert value(by_w) == [105.0, 168.0] and value(by_v) == 1470.0


def test_results_of_no_slice():
    found = tf.vectorized_map(lambda e: (tf.constant(5), X[0], e), X)
    assert value(found) == ([5, 5, 5], [[1.0, 2.0]] * 3, X.numpy().tolist())


def test_static_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def mapped(x):
        y = tf.vectorized_map(lambda e: tf.stack([e, e, e]), x)
        assert y.shape.as_list() == [None, 3, 2]
        return y

    assert mapped(X).shape == [3, 3, 2]
    known = tf.function(lambda x: tf.vectorized_map(lambda e: e[0], x)).get_concrete_function(tf.TensorSpec([3, 2]))
    assert known.output_shapes == [3] and known.outputs[0].dtype == tf.float32


def test_conditions_of_each_slice():
    def absolute(e):
        return tf.cond(e > 0.0, lambda: e, lambda: -e)

    for form in forms()[:2]:
        assert value(form(lambda x: tf.vectorized_map(absolute, x))(tf.constant([1.0, -2.0, 3.0]))) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("elems", "error"),
    [
        (tf.constant(1.0), (IndexError, ValueError)),
        ((tf.constant(1.0), X), (IndexError, ValueError)),
        ([], (IndexError, ValueError)),
        ((X, X[:2]), (tf.errors.InvalidArgumentError, ValueError)),
    ],
)
def test_elements_that_are_refused(elems, error):
    with pytest.raises(error):
        tf.vectorized_map(lambda e: e, elems)


if "tapeflow" in tf.__name__:

    def test_functions_are_callable():
        with pytest.raises(TypeError, match="3 is not callable"):
            tf.vectorized_map(3, X)

    def test_what_runs_slice_by_slice(caplog):
        """Python functions do: it is told, or refused."""

        def squared(e):
            return tf.py_function(lambda a: a * a, [e], tf.float32)

        caplog.set_level(logging.WARNING)
        for warn in (True, False):
            caplog.clear()
            mapped = tf.function(lambda x, warn=warn: tf.vectorized_map(squared, x, warn=warn))
            assert value(mapped(X)) == (X * X).numpy().tolist()
            assert bool(caplog.records) is warn
        with pytest.raises(ValueError, match=r"py_function|EagerPyFunc"):
            tf.function(lambda x: tf.vectorized_map(squared, x, fallback_to_while_loop=False))(X)
        assert (
            value(tf.vectorized_map(lambda e: e + 1.0, X, fallback_to_while_loop=False)) == (X + 1.0).numpy().tolist()
        )

    @pytest.mark.parametrize("chunk", [None, 1, 2, 3, 4, 7, 100])
    @pytest.mark.parametrize("form", [0, 1, 2])
    def test_chunks(chunk, form):
        from tapeflow.control.vectorized_map import on_slices
        from tapeflow.graph.transform.batch import BatchOptions

        x = tf.reshape(tf.range(14.0), [7, 2])
        options = BatchOptions(warn=False, chunk=chunk)
        function = forms(tf.TensorSpec([None, 2]))[form](
            lambda x: on_slices(lambda e: (e * tf.reduce_sum(e), e[0]), x, options)
        )
        found = function(x)
        expected = [[a * (a + b), b * (a + b)] for a, b in x.numpy().tolist()]
        assert value(found[0]) == expected and value(found[1]) == x[:, 0].numpy().tolist()

    def test_one_after_the_other():
        from tapeflow.control.vectorized_map import on_slices
        from tapeflow.graph.transform.batch import BatchOptions

        seen = []

        def function(e):
            seen.append(e.shape.as_list())
            return {"a": e * 2.0, "b": None}

        found = on_slices(function, X, BatchOptions(warn=False), at_once=False)
        assert value(found) == {"a": (X * 2.0).numpy().tolist(), "b": None} and set(map(tuple, seen)) == {(2,)}
