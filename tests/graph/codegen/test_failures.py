"""Errors of operations that fail while a graph runs name the lines of the user's code that added the operations."""

import inspect
import re
import threading

import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
INDEX = tf.constant([7])


def look_up(x, i):
    return tf.gather(x, i)


def places(text):
    """File, line and function of each frame that a message names."""
    return re.findall(r'File "(.*)", line (\d+), in (\S+)', text)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_an_error_in_a_function_names_the_lines_that_added_the_operation():
    def added(x, i):
        if tf.reduce_sum(x) > 0.0:
            y = look_up(x, i)
        else:
            y = x
        return y * 2.0

    with pytest.raises(Invalid) as caught:
        tf.function(added)(tf.constant([1.0, 2.0, 3.0]), INDEX)
    start, *_, end = (lines := str(caught.value).splitlines())[0], *lines[-2:]
    assert start == "Graph execution error:"
    assert "Detected at node cond/GatherV2 defined at (most recent call last):" in lines
    assert lines[-2] == "indices[0] = 7 is not in [0, 3)"
    assert re.fullmatch(r"\t \[\[\{\{node cond/GatherV2\}\}\]\] \[Op:__inference_added_\d+\]", end)
    assert places(str(caught.value))[-3:] == [
        (__file__, str(line_of(added, "if tf.reduce_sum")), "added"),
        (__file__, str(line_of(added, "y = look_up")), "added"),
        (__file__, str(line_of(look_up, "gather")), "look_up"),
    ]
    assert not any("tapeflow/graph" in file for file, _, _ in places(str(caught.value)))
    assert caught.value.op is None


def test_each_operation_has_a_line_of_its_own():
    @tf.function(autograph=False)
    def f(x, i):
        a = tf.gather(x, i, name="first")
        b = tf.gather(x, i, name="second")
        return [a + n for n in range(2)], (lambda: tf.gather(x, i, name="third"))(), b

    graph = f.get_concrete_function(tf.constant([1.0]), INDEX).graph
    last = {op.name: op.traceback[-1] for op in graph.get_operations() if op.traceback}
    source = f.python_function
    assert (last["first"].lineno, last["first"].name) == (line_of(source, "first"), "f")
    assert line_of(source, "b = tf.gather") <= last["second"].lineno <= line_of(source, "second")
    assert (last["third"].lineno, last["third"].name) == (line_of(source, "third"), "<lambda>")
    assert last["first"].line == 'a = tf.gather(x, i, name="first")'


def test_an_error_in_a_function_that_another_calls_names_the_lines_of_both():
    inner = tf.function(look_up)

    @tf.function
    def outer(x, i):
        return inner(x, i) + 1.0

    with pytest.raises(Invalid) as caught:
        outer(tf.constant([1.0]), INDEX)
    assert [name for _, _, name in places(str(caught.value))[-2:]] == ["outer", "look_up"]
    assert re.search(r"\[Op:__inference_outer_\d+\]$", str(caught.value))
    assert str(caught.value).count("Detected at node") == 1


def test_an_error_in_a_loop_and_in_an_assertion_names_the_line():
    @tf.function
    def total(n):
        s = 0.0
        for i in tf.range(n):
            s += tf.gather([1.0, 2.0], i)
        return s

    @tf.function
    def positive(x):
        tf.debugging.assert_positive(x, message="balance")
        return x

    with pytest.raises(Invalid, match=r"is not in \[0, 2\)") as caught:
        total(tf.constant(5))
    assert places(str(caught.value))[-1][1] == str(line_of(total.python_function, "s += "))
    with pytest.raises(Invalid, match="balance") as caught:
        positive(tf.constant(-1))
    assert places(str(caught.value))[-1][1] == str(line_of(positive.python_function, "assert_positive"))


def test_an_error_in_a_session_has_the_operation():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        indices = v1.placeholder(tf.int32, [None])
        y = look_up([1.0, 2.0], indices)
        with pytest.raises(Invalid) as caught:
            session.run(y, {indices: [7]})
    error = caught.value
    assert error.op is y.op
    assert error.node_def == y.op.node_def
    assert "Detected at node 'GatherV2' defined at (most recent call last):" in error.message
    assert "\nNode: 'GatherV2'\nindices[0] = 7 is not in [0, 2)\n\t [[{{node GatherV2}}]]" in error.message
    assert "Original stack trace for 'GatherV2':" in str(error)
    assert places(error.message)[-1] == (__file__, str(line_of(look_up, "gather")), "look_up")


def test_operations_of_another_thread_have_its_lines():
    graph = tf.Graph()

    def build():
        with graph.as_default():
            tf.constant(1.0) + tf.constant(2.0)

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    (add,) = [op for op in graph.get_operations() if op.type == "AddV2"]
    assert add.traceback[-1].name == "build"
    assert all(frame.name != "test_operations_of_another_thread_have_its_lines" for frame in add.traceback)


def test_an_imported_operation_has_the_line_that_imported_it():
    with tf.Graph().as_default() as graph:
        i = tf.compat.v1.placeholder(tf.int32, [None], name="i")
        tf.gather([1.0], i, name="y")

    @tf.function
    def imported(i):
        return tf.graph_util.import_graph_def(graph.as_graph_def(), {"i:0": i}, ["y:0"])

    with pytest.raises(Invalid, match=r"\{\{node import/y\}\}") as caught:
        imported(INDEX)
    assert places(str(caught.value))[-1][2] == "imported"


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_a_kernel_that_had_nothing_to_compute_shows_nothing_of_later_calls(dtype):
    tf.reduce_max(tf.constant([3], dtype), [])  # which ATen computes, unlike a maximum

    @tf.function
    def of_several(x):
        return tf.reduce_max(x)

    assert of_several(tf.zeros([1], dtype)) == 0 and of_several(tf.constant([1, 5, 2], dtype)) == 5
