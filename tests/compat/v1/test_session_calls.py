"""Sessions: their arguments, what they fetch and feed, and what they keep apart."""

import collections

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
Pair = collections.namedtuple("Pair", ["x", "y"])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"target": 3}, "must be a string"), ({"graph": "g"}, 'must be a tf.Graph, but got "<?.*str')],
)
def test_arguments_of_a_session(arguments, message):
    with pytest.raises(TypeError, match=message):
        v1.Session(**arguments)


def test_what_a_session_knows(graph):
    tf.constant(1.0, name="c")
    sess = v1.Session()
    assert sess.graph is graph
    assert sess.sess_str == b""
    assert [node.name for node in sess.graph_def.node] == ["c"]
    assert [d.device_type for d in sess.list_devices()][:1] == ["CPU"]
    other = tf.Graph()
    assert v1.Session(graph=other).graph is other
    sess.close()
    sess.close()
    for call in (
        lambda: sess.run([]), lambda: sess.make_callable([]), lambda: sess.partial_run_setup([]),
        lambda: sess.partial_run("handle", []),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="closed Session"):
            call()


def test_structures_of_fetches():
    a, b = tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")
    nothing = tf.no_op()
    with v1.Session() as sess:
        assert sess.run(a) == 1.0
        assert sess.run("b:0").tolist() == [2, 3]
        assert sess.run(nothing) is None
        assert sess.run([]) == []
        assert sess.run({}) == {}
        assert sess.run(()) == ()
        found = sess.run({"p": Pair(a, (b, nothing)), "l": [a, [a]]})
        assert isinstance(found["p"], Pair)
        assert found["p"].x == 1.0
        assert found["l"] == [1.0, [1.0]]
        assert found["p"].y[0].tolist() == [2, 3]
        assert found["p"].y[1] is None
        assert sess.run("a") is None
        for wrong, kind in ((None, TypeError), (3.5, TypeError), ("missing:0", ValueError), ("missing", ValueError)):
            with pytest.raises(kind, match="fetch"):
                sess.run(wrong)
        with tf.Graph().as_default():
            elsewhere = tf.constant(1.0)
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            sess.run(elsewhere)


def test_composite_values():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    ragged = tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 3], [0, 2, 2, 3]])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]), tf.constant([9, 1]))
    bare = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]))
    with v1.Session() as sess:
        found = sess.run(sparse)
        assert isinstance(found, v1.SparseTensorValue)
        assert found.dense_shape.tolist() == [3, 2]
        assert found.indices.tolist() == [[0, 1], [2, 0]]
        assert found.values.tolist() == [1.5, 2.5]
        assert sess.run({"r": ragged})["r"].to_list() == [[[1, 2], []], [[3]]]
        found = sess.run([slices, bare])
        assert found[0].indices.tolist() == [4]
        assert found[0].dense_shape.tolist() == [9, 1]
        assert found[1].values.tolist() == [[1.0]]
        assert found[1].dense_shape is None


def test_composite_feeds():
    sparse = v1.sparse_placeholder(tf.float32)
    ragged = v1.ragged.placeholder(tf.int32, 1)
    total, rows = tf.sparse.reduce_sum(sparse), ragged.row_lengths()
    value = v1.SparseTensorValue(np.int64([[0, 0]]), np.float32([3.0]), np.int64([2, 2]))
    with v1.Session() as sess:
        assert sess.run(total, {sparse: value}) == 3.0
        assert sess.run(total, {sparse: (value.indices, value.values, value.dense_shape)}) == 3.0
        lists = v1.ragged.constant_value([[1, 2], [3]], dtype=np.int32)
        assert sess.run(rows, {ragged: lists}).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("dtype", "shape", "value", "kind", "message"),
    [
        (tf.float32, [2], [1.0], ValueError, r"Cannot feed value of shape \(1,\).*which has shape"),
        (tf.float32, [None, 2], [[1.0]], ValueError, "Cannot feed value of shape"),
        (tf.int8, [], 128, TypeError, "not compatible with Tensor type"),
        (tf.int8, [], -129, TypeError, "not compatible with Tensor type"),
        (tf.uint8, [], -1, TypeError, "not compatible with Tensor type"),
        (tf.float32, [], "text", ValueError, None),
    ],
)
def test_values_that_do_not_fit(dtype, shape, value, kind, message):
    x = v1.placeholder(dtype, shape)
    with v1.Session() as sess, pytest.raises(kind, match=message):
        sess.run(x, {x: value})


def test_values_that_fit():
    small, big = v1.placeholder(tf.int8, []), v1.placeholder(tf.int64, [None])
    text, number = v1.placeholder(tf.string, [None]), v1.placeholder(tf.float64)
    with v1.Session() as sess:
        assert [sess.run(small, {small: v}) for v in (127, -128)] == [127, -128]
        assert sess.run(big, {big: [1, 2]}).dtype == np.int64
        assert sess.run(text, {text: ["a", b"b"]}).tolist() == [b"a", b"b"]
        assert sess.run(number, {number: 3}) == 3.0
        assert sess.run(number, {number: [[1]]}).shape == (1, 1)
        assert sess.run(number, {number.ref(): 2.0}) == 2.0
        assert sess.run(number, {number.name: 5.0}) == 5.0
        assert sess.run(number * 2.0, {number: True}) == 2.0


def test_feeds_that_are_none():
    x = v1.placeholder(tf.float32, [], name="x")
    with v1.Session() as sess:
        for wrong in ("nothing:0", 3, "x"):
            with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
                sess.run(x, {wrong: 1.0})
        with pytest.raises(TypeError, match=r"The value of a feed cannot be a tf\.Tensor object"):
            sess.run(x, {x: x})
        with pytest.raises(TypeError, match="`feed_dict` must be a dictionary"):
            sess.run(x, [x])


def test_callables():
    x, y = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    with v1.Session() as sess:
        minus = sess.make_callable([x - y, tf.no_op()], [x, y])
        assert minus(5.0, 3.0) == [2.0, None]
        twice = sess.make_callable(x * 2.0, [x], accept_options=True)
        assert twice(4.0, options=None, run_metadata=None) == 8.0
        assert sess.make_callable(tf.constant(1.0))() == 1.0
        with pytest.raises(TypeError, match="Argument `feed_list` must be a list or tuple"):
            sess.make_callable(x, x)
        assert sess.make_callable(x, (x,))(3.0) == 3.0


def test_runs_in_parts():
    x, y = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    calls = []

    def count(value):
        calls.append(float(value))
        return np.float32(value)

    counted = v1.py_func(count, [x + 1.0], tf.float32, stateful=True)
    product = counted * y
    with v1.Session() as sess:
        handle = sess.partial_run_setup([counted, product], [x, y])
        assert sess.partial_run(handle, counted, {x: 2.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, counted)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, product, {x: 5.0})
        assert sess.partial_run(handle, {"p": product}, {y: 4.0}) == {"p": 12.0}
        assert calls == [3.0]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, product, {y: 4.0})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run("another", product)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run_setup([])


def test_variables_and_resources_of_each_session():
    v = tf.Variable(1.0)
    add = v.assign_add(2.0, read_value=False)
    init = v1.global_variables_initializer()
    one, two = v1.Session(), v1.Session()
    one.run(init)
    two.run(init)
    one.run(add)
    assert one.run(v) == 3.0
    assert two.run(v) == 1.0
    assert two.run([add]) == [None]
    one.close()
    assert two.run(v) == 3.0


def test_seeds_give_each_session_the_same_numbers():
    v1.set_random_seed(5)
    x = v1.random_uniform([3])
    with v1.Session() as one, v1.Session() as two:
        first = [one.run(x).tolist() for _ in range(2)]
        assert first == [two.run(x).tolist() for _ in range(2)]
        assert first[0] != first[1]


def test_default_sessions(graph):
    c = tf.constant(2.0)
    assert v1.get_default_session() is None
    with v1.Session() as outer:
        assert v1.get_default_session() is outer
        assert c.eval() == 2.0
        inner = v1.Session()
        with inner.as_default() as same:
            assert same is inner
            assert v1.get_default_session() is inner
        assert v1.get_default_session() is outer
        assert inner.run(c) == 2.0
        tf.no_op().run()
    with pytest.raises(ValueError, match="No default session"):
        c.eval()
    with pytest.raises(ValueError, match="explicit session"):
        tf.no_op().run()


def test_interactive_sessions():
    other = tf.Graph()
    sess = v1.InteractiveSession(graph=other)
    assert v1.get_default_session() is sess
    assert v1.get_default_graph() is other
    c = tf.constant(3.0)
    assert c.graph is other
    assert c.eval() == 3.0
    sess.close()
    assert v1.get_default_session() is None
    assert v1.get_default_graph() is not other
    plain = v1.InteractiveSession()
    assert tf.constant(1.0).eval() == 1.0
    plain.close()
    plain.close()
    assert v1.get_default_session() is None


def test_handles_of_tensors():
    x, y = v1.placeholder(tf.float32, [2]), tf.constant([[1.0, 2.0]])
    handle = v1.get_session_handle(x * 2.0)
    with v1.Session() as sess:
        held = sess.run(handle, {x: [1.0, 2.0]})
        holder, value = v1.get_session_tensor(held.handle, tf.float32)
        assert sess.run(value + 1.0, {holder: held.handle}).tolist() == [3.0, 5.0]
        assert held.eval().tolist() == [2.0, 4.0]
        assert sess.run(x, {x: held}).tolist() == [2.0, 4.0]
        holder, value = v1.get_session_tensor(held.handle, tf.int32)
        with pytest.raises(tf.errors.OpError):
            sess.run(value, {holder: held.handle})
        held.delete()
        for call in (held.eval, held.delete):
            with pytest.raises(TypeError, match="may have already been deleted"):
                call()
        again = sess.run(v1.get_session_handle(y))
        deleter, delete = v1.delete_session_tensor(again.handle)
        sess.run(delete, {deleter: again.handle})
        with pytest.raises(tf.errors.InvalidArgumentError):
            again.eval()


def test_sessions_are_reset():
    v = v1.get_variable("v", initializer=1.0)
    one, two = v1.Session(), v1.InteractiveSession()
    one.run(v.initializer)
    two.run(v.initializer)
    assert v1.Session.reset("", ["container"], config=None) is None
    for sess in (one, two):
        with pytest.raises(tf.errors.CancelledError, match=r"Session has been closed\."):
            sess.run(v)
    with v1.Session() as later:
        assert later.run(v1.report_uninitialized_variables()).tolist() == [b"v"]
        later.run(v.initializer)
        assert later.run(v) == 1.0
    one.close()
    two.close()
    if "tapeflow" in tf.__name__:
        with pytest.raises(RuntimeError, match="closed Session"):
            one.run(v)
