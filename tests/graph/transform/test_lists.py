"""Functions of a slice with lists of tensors: loops that fill a `TensorArray`, `map_fn`, `scan`, list appends."""

import pytest

import tapeflow as tf
from slices import FORMS, C, W, X, close, results, slice_by_slice


def array(size, **options):
    return tf.TensorArray(tf.float64, size, **options)


def place_in(e):
    return tf.argmax(e, output_type=tf.int32)


def filled(e, begin, count=3):
    def step(i, a, held):
        return i + 1, tf.sin(a) * C, held.write(i, a * W[0])

    return tf.while_loop(lambda i, a, held: i < count, step, (0, e, begin))[2].stack()


def read_in_loop(e):
    held = array(3).unstack(e)
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * held.read(i) * W[0]), (0, e))[1]


@tf.function
def appended(e):
    found = array(0, dynamic_size=True)
    for i in tf.range(3):
        found = found.write(i, e * tf.cast(i, tf.float64) * W[0])
    return found.stack()


def pushed(e):
    held = tf.raw_ops.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float64)
    held = tf.raw_ops.TensorListPushBack(input_handle=held, tensor=e * W[1])
    held = tf.raw_ops.TensorListPushBack(input_handle=held, tensor=C)
    held = tf.raw_ops.TensorListConcatLists(input_a=held, input_b=held, element_dtype=tf.float64)
    held, last = tf.raw_ops.TensorListPopBack(input_handle=held, element_shape=[3], element_dtype=tf.float64)
    size = tf.cast(tf.raw_ops.TensorListLength(input_handle=held), tf.float64)
    whole = tf.raw_ops.TensorListStack(input_handle=held, element_shape=[3], element_dtype=tf.float64)
    return tf.reduce_sum(whole, 0) * size + last * e


def of_own_length(e):
    return filled(e, array(5, element_shape=[3]), place_in(e) + 1)


def written_in_branches(e):
    held = array(2, element_shape=[3]).write(0, e)
    return tf.cond(e[0] > 0.0, lambda: held.write(1, e * W[0]), lambda: held.write(1, C)).stack()


# Functions of a slice, and whether they are loops in a graph when they are computed at once.
FUNCTIONS = {
    "filled": (lambda e: filled(e, array(3)), True),
    "grown": (lambda e: filled(e, array(0, dynamic_size=True)), True),
    "begun with what all share": (lambda e: filled(e, array(3).unstack(W), 2), True),
    "read in a loop": (read_in_loop, True),
    "appended": (appended, True),
    "map_fn": (lambda e: tf.map_fn(lambda r: r * tf.reduce_sum(e) * W[0], e), True),
    "map_fn of a constant": (lambda e: tf.map_fn(lambda r: r * tf.reduce_sum(e) * W[0], C), True),
    "scan": (lambda e: tf.scan(lambda a, r: a * r + W[0], e, tf.zeros([3], tf.float64)), True),
    "foldl": (lambda e: tf.foldl(lambda a, r: a * r + W[0], e, e), True),
    "foldr": (lambda e: tf.foldr(lambda a, r: a * r + W[0], e, e), True),
    "of its own length": (of_own_length, True),
    "pushed": (pushed, False),
    "gathered": (lambda e: array(3).unstack(e * W[0]).gather([2, 0]), False),
    "read at its own": (lambda e: array(3).unstack(W * e).read(place_in(e)), False),
    "gathered at its own": (lambda e: array(3).unstack(W * e).gather([place_in(e), (place_in(e) + 1) % 3]), False),
    "of all, at its own": (
        lambda e: array(3).unstack(W + 0.0).gather([place_in(e), (place_in(e) + 1) % 3]) * e, False),
    "written at its own": (
        lambda e: array(3, element_shape=[3]).write(place_in(e), e * W[0]).stack(), False),
    "scattered": (lambda e: array(3).scatter([2, 0, 1], e * W[0]).stack(), False),
    "concatenated": (
        lambda e: array(2, element_shape=[3], infer_shape=False).write(0, e).write(1, e * W[0]).concat(), False),
    "split": (lambda e: array(2, infer_shape=False).split(e * W[0], [1, 2]).read(1), False),
    "written in branches": (written_in_branches, False),
    "branches of all": (
        lambda e: tf.cond(tf.reduce_sum(W) > 0.0, lambda: array(1).write(0, e), lambda: array(1).write(0, C)).stack(),
        False),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_at_once(name, form, caplog):
    f, _ = FUNCTIONS[name]
    want = tf.function(lambda x: results(lambda x: slice_by_slice(f, x), x))(X)
    close(FORMS[form](lambda x: results(lambda x: tf.vectorized_map(f, x), x))(X), want)
    assert "one by one" not in caplog.text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_for_each_slice(name, form, caplog):
    """By the slice and by what all slices share, of which each has a gradient too."""
    f, _ = FUNCTIONS[name]

    def gradients(e):
        with tf.GradientTape() as tape:
            tape.watch([e, C])
            y = f(e)
            loss = tf.reduce_sum(y * y)
        return [tf.convert_to_tensor(g) for g in tape.gradient(loss, [e, C, W], unconnected_gradients="zero")]

    want = tf.function(lambda x: [tf.stack(column) for column in zip(*map(gradients, tf.unstack(x)), strict=True)])(X)
    close(FORMS[form](lambda x: tf.vectorized_map(gradients, x))(X), want)
    assert "one by one" not in caplog.text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_stay_ops_on_batches(name):
    f, loops = FUNCTIONS[name]
    graph = tf.function(lambda x: tf.vectorized_map(f, x)).get_concrete_function(X).graph
    types = {o.type.removeprefix("Stateless") for o in graph.get_operations()}
    assert types & {"Vectorized", "While"} == ({"While"} if loops else set())


def grown_to_own_length(e):
    n = place_in(e) + 1
    begin = array(0, dynamic_size=True, element_shape=[3])
    _, held = tf.while_loop(lambda i, held: i < n, lambda i, held: (i + 1, held.write(i, e * W[0])), (0, begin))
    return held


def cut_in_pieces(e):
    return array(2, infer_shape=False).split(e, tf.where(e[0] > 0.0, [1, 2], [2, 1])).concat()


def grown_in_a_branch(e):
    begin = array(0, dynamic_size=True).write(0, e)
    return tf.cond(e[0] > 0.0, lambda: begin.write(1, C), lambda: begin).read(0)


@pytest.mark.parametrize("form", FORMS)
def test_lists_that_differ_in_length_are_computed_in_turn(form, caplog):
    for f in (lambda e: grown_to_own_length(e).gather([0]), cut_in_pieces, grown_in_a_branch):
        caplog.clear()
        close([FORMS[form](lambda x, f=f: tf.vectorized_map(f, x))(X)], [slice_by_slice(tf.function(f), X)])
        assert "one by one" in caplog.text
    with pytest.raises(tf.errors.InvalidArgumentError, match="hapes"):
        FORMS[form](lambda x: tf.vectorized_map(lambda e: grown_to_own_length(e).stack(), x, warn=False))(X)


def test_graph_defs_have_tensorflows_ops_only():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float64, [None, 3])
        tf.vectorized_map(lambda e: filled(e, array(3)), x)
    proto = graph.as_graph_def()
    ops = {n.op for n in [*proto.node, *(n for f in proto.library.function for n in f.node_def)]}
    assert ops >= {"TensorListReserve", "TensorListSetItem", "TensorListStack"}
    assert "Vectorized" not in ops
