"""Eager tensors: their properties, and what Python, NumPy and copies make of them."""

import copy
import operator
import pickle

import numpy as np
import pytest

import tapeflow as tf


def test_properties():
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert x.shape == x.get_shape() == tf.TensorShape([2, 3]) and x.ndim == 2 and len(x) == 2
    assert x.dtype is tf.int32 and x.device == x.backing_device and x.device.endswith("/device:CPU:0")
    assert tf.constant(1.0).ndim == 0 and tf.constant("text").shape == [] and tf.constant(["a"]).ndim == 1
    assert tf.constant(["a", "b"]).dtype is tf.string
    with pytest.raises(TypeError, match="Scalar tensor has no `len"):
        len(tf.constant(1))


def test_shapes_are_checked():
    x = tf.zeros([2, 3])
    for shape in ([2, 3], [None, 3], None):
        assert x.set_shape(shape) is None and x.shape == [2, 3]
    for shape in ([3, 2], [2], [2, 3, 1]):
        with pytest.raises(ValueError, match=r"Tensor's shape \(2, 3\) is not compatible with supplied shape"):
            x.set_shape(shape)


@pytest.mark.parametrize("name", ["op", "graph", "name", "value_index"])
def test_attributes_of_graphs(name):
    with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager execution is enabled"):
        getattr(tf.constant(1), name)


@pytest.mark.parametrize("name", ["T", "astype", "ravel", "transpose", "reshape", "clip", "size", "data"])
def test_attributes_of_arrays(name):
    with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
        getattr(tf.constant([1]), name)
    assert name not in dir(tf.constant([1]))


def test_calls_of_graphs():
    x = tf.constant(1)
    with pytest.raises(NotImplementedError, match=r"Tensor\.consumers is undefined when eager"):
        x.consumers()
    with pytest.raises(NotImplementedError, match="eval is not supported when eager execution is enabled"):
        x.eval()


@pytest.mark.parametrize("value", [[1.5, 2.0], [[1, 2]], [True, False], 3, 2.5, "text", ["a", "bc"], [], 1 + 2j])
def test_arrays(value):
    x = tf.constant(value)
    for found in (x.numpy(), np.asarray(x), np.array(x)):
        expected = np.array(value)
        kind = "S" if expected.dtype.kind == "U" else expected.dtype.kind
        assert np.asarray(found).shape == expected.shape
        assert kind == "S" or np.asarray(found).dtype == x.dtype.as_numpy_dtype
        assert np.asarray(found).tolist() == (expected.astype("S").tolist() if kind == "S" else value)
    assert isinstance(x.numpy(), np.ndarray) is (x.ndim > 0)


def test_arrays_are_copies():
    x = tf.constant([1.0, 2.0])
    for make in (lambda: x.numpy(), lambda: np.array(x)):
        make()[0] = 9.0
        assert x.numpy().tolist() == [1.0, 2.0]
    assert np.asarray(x, np.int32).dtype == np.int32 and np.asarray(x, np.float64).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("value", "expected"), [(0, False), (2, True), (0.0, False), (True, True), ([[3]], True), ([0], False)]
)
def test_truth(value, expected):
    assert bool(tf.constant(value)) is expected
    assert tf.constant(value).__nonzero__() is expected


def test_truth_of_several_elements():
    assert bool(tf.constant([])) is False
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))


def test_numbers():
    assert int(tf.constant(7.9)) == 7 and float(tf.constant(3)) == 3.0 and complex(tf.constant(1 + 2j)) == 1 + 2j
    assert type(int(tf.constant(7))) is int and type(float(tf.constant(1.5))) is float
    assert complex(tf.constant(2.5)) == 2.5
    assert int(tf.constant(True)) == 1
    assert operator.index(tf.constant(3)) == 3 and [10, 20, 30][tf.constant(1)] == 20
    for wrong in (tf.constant(1.5), tf.constant([1, 2])):
        with pytest.raises((TypeError, AttributeError)):
            operator.index(wrong)
    for convert in (int, float, complex):
        with pytest.raises(TypeError):
            convert(tf.constant([1, 2]))


def test_formats():
    assert f"{tf.constant(2.5):.3f}" == "2.500" and f"{tf.constant(7):>4}" == "   7"
    assert f"{tf.constant([1, 2])}" == "[1 2]"


def test_copies():
    x = tf.constant([1.0, 2.0])
    assert copy.copy(x).numpy().tolist() == [1.0, 2.0]
    deep, again = copy.deepcopy([x, x])  # of which TensorFlow makes two
    assert deep is again and deep is not x and deep.dtype is x.dtype and deep.numpy().tolist() == [1.0, 2.0]
    for value in (x, tf.constant([["a"], ["b"]]), tf.constant(3, tf.int64), tf.constant([1.5], tf.bfloat16)):
        found = pickle.loads(pickle.dumps(value))
        assert found.dtype is value.dtype and found.shape == value.shape
        assert found.numpy().tolist() == value.numpy().tolist()
        assert copy.deepcopy(value).numpy().tolist() == value.numpy().tolist()


def test_references():
    x, y = tf.constant([1.0]), tf.constant([1.0])
    assert x.ref() == x.ref() and x.ref() != y.ref()
    assert hash(x.ref()) == hash(x.ref()) and x.ref().deref() is x
    assert x.experimental_ref() == x.ref() and x.ref().unwrapped is x
    assert len({x.ref(), y.ref(), x.ref()}) == 2
    first, second = sorted([x.ref(), y.ref()])
    assert first < second and second > first and not first > second and not second < first
    assert repr(x.ref()) == f"<Reference wrapping {x!r}>"
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
        x.ref() < 3  # noqa: B015
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
        x.ref() > 3  # noqa: B015
    with pytest.raises(TypeError, match=r"Tensor is unhashable\. Instead, use tensor\.ref"):
        hash(x)


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        (1.5, "tf.Tensor(1.5, shape=(), dtype=float32)", "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"),
        (
            [1, 2],
            "tf.Tensor([1 2], shape=(2,), dtype=int32)",
            "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>",
        ),
        (
            [[True], [False]],
            "tf.Tensor(\n[[ True]\n [False]], shape=(2, 1), dtype=bool)",
            "<tf.Tensor: shape=(2, 1), dtype=bool, numpy=\narray([[ True],\n       [False]])>",
        ),
        ("a", "tf.Tensor(b'a', shape=(), dtype=string)", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    ],
)
def test_texts(value, text, shown):
    assert str(tf.constant(value)) == text and repr(tf.constant(value)) == shown


def test_lists_of_elements():
    """TensorFlow's tensors have no such method, and NumPy's arrays do."""
    assert tf.constant([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and tf.constant(2.5).tolist() == 2.5
    assert tf.constant(["a"]).tolist() == [b"a"]
