"""Symbolic tensors, in functions and in graphs."""

import pytest

import tapeflow as tf


def in_function(body, *specs):
    """Runs a function while a function of arguments with these specs is traced."""
    results = []

    @tf.function(autograph=False)
    def function(*args):
        results.append(body(*args))
        return args

    function.get_concrete_function(*specs)
    return results[0]


SPEC = tf.TensorSpec([None, 3], tf.float32)


def test_properties():
    def body(x):
        y = tf.add(x, 1.0, name="sum")
        assert x.shape.as_list() == y.get_shape().as_list() == [None, 3] and y.ndim == 2 and y.dtype is tf.float32
        assert y.name == "sum:0" and y.op.name == "sum" and y.value_index == 0 and y.device == ""
        assert y.graph is x.graph and y.op.graph is y.graph
        assert [op.name for op in x.consumers()] == ["sum"] and y.consumers() == []
        pair = tf.split(y, [1, 2], axis=1)
        assert [t.value_index for t in pair] == [0, 1] and pair[1].name.endswith(":1")
        return True

    assert in_function(body, SPEC)


def test_shapes_become_more_precise():
    def body(x, unknown):
        assert unknown.ndim is None and unknown.shape.rank is None  # TensorFlow's `ndim` is -1 here
        unknown.set_shape([None, 2])
        assert unknown.shape.as_list() == [None, 2] and unknown.ndim == 2
        unknown.set_shape([5, None])
        assert unknown.shape.as_list() == [5, 2]
        unknown.set_shape(None)
        assert unknown.shape.as_list() == [5, 2]
        x.set_shape([2, None])
        assert x.shape.as_list() == [2, 3]
        for shape in ([4, 3], [2, 4], [2, 3, 1], [2], []):
            with pytest.raises(ValueError):
                x.set_shape(shape)
        assert x.shape.as_list() == [2, 3]
        with pytest.raises(ValueError, match="Shapes must be equal rank, but are 2 and 3"):
            x.set_shape([2, 3, 1])
        said = r"Dimension 1 in both shapes must be equal, but are 3 and 4\. Shapes are \[2,3\] and \[\?,4\]\."
        with pytest.raises(ValueError, match=said):
            x.set_shape([None, 4])
        return True

    assert in_function(body, SPEC, tf.TensorSpec(None, tf.float32))


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (bool, TypeError, "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"),
        (iter, TypeError, "Iterating over a symbolic `tf.Tensor` is not allowed"),
        (len, TypeError, "len is not well defined for a symbolic Tensor"),
        (int, TypeError, None),
        (float, TypeError, None),
        (range, TypeError, None),
        (hash, TypeError, "Tensor is unhashable. Instead, use tensor.ref"),
        (lambda x: x.__array__(), NotImplementedError, "Cannot convert a symbolic tf.Tensor"),
        (lambda x: x.numpy(), AttributeError, "numpy"),
    ],
)
def test_what_needs_a_value(use, error, said):
    def body(x):
        with pytest.raises(error, match=said):
            use(x)
        return True

    assert in_function(body, SPEC) and in_function(body, tf.TensorSpec([], tf.int32))


def test_lengths():
    def body(known, unknown):
        for x in (unknown, tf.reduce_sum(known), tf.transpose(known)):
            with pytest.raises(TypeError, match=r"Please call `x\.shape` rather than `len"):
                len(x)
        return len(known)  # which TensorFlow refuses, too

    assert in_function(body, tf.TensorSpec([4, None]), tf.TensorSpec(None)) == 4


def test_texts():
    def body(x, unknown):
        y, z = tf.add(x, 1.0, name="y"), tf.identity(unknown, name="z")
        assert repr(y) == "<tf.Tensor 'y:0' shape=(None, 3) dtype=float32>"
        assert str(y) == 'Tensor("y:0", shape=(None, 3), dtype=float32)'
        assert repr(z) == "<tf.Tensor 'z:0' shape=<unknown> dtype=int64>" and str(z) == 'Tensor("z:0", dtype=int64)'
        return True

    assert in_function(body, SPEC, tf.TensorSpec(None, tf.int64))


def test_tensors_of_graphs():
    with tf.Graph().as_default() as graph:
        x, y = tf.constant([1.0, 2.0], name="x"), tf.constant(3.0)
        assert len({x, y, x}) == 2 and (x == y) is False and (x != y) is True and (x == x) is True
        assert x.graph is graph and {x: 1}[x] == 1
        with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval\(\)`: No default session"):
            x.eval()
        with tf.compat.v1.Session():
            assert (x * y).eval().tolist() == [3.0, 6.0]
            assert (x * y).eval({y: 2.0}).tolist() == [2.0, 4.0]
        assert x.eval(session=tf.compat.v1.Session()).tolist() == [1.0, 2.0]


def test_tensors_that_leave_their_function():
    kept = []

    @tf.function
    def function(x):
        kept.append(tf.add(x, 1.0, name="leaves"))
        return x

    function(tf.constant(1.0))
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        tf.add(kept[0], 1.0)
