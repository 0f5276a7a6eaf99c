"""Conversions of values to tensors."""

import enum

import numpy as np
import pytest

import tapeflow as tf

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int32"),
        (INT32_MAX, "int32"),
        (-(2**31), "int32"),
        (2.5, "float32"),
        (1j, "complex128"),
        ("a", "string"),
        (b"a", "string"),
        ([1, 2.5], "float32"),
        ([[1], [2]], "int32"),
        ([], "float32"),
        ([[], []], "float32"),
        ((1, 2), "int32"),
        (np.int8(3), "int8"),
        (np.float64(2.5), "float64"),
        (np.array([1, 2]), "int64"),
        (np.array([[1.0]], np.float16), "float16"),
        (np.array(["a"]), "string"),
        (np.array([b"a", "b"], object), "string"),
        (tf.TensorShape([2, 3]), "int32"),
        (tf.TensorShape([2, INT32_MAX + 1]), "int64"),
        ([np.float32(1.0), np.float32(2.0)], "float32"),
        (range(3), "int32"),
        (enum.IntEnum("Number", {"one": 1}).one, "int32"),
    ],
)
def test_dtypes_of_values(value, dtype):
    x = tf.convert_to_tensor(value)
    assert x.dtype.name == dtype
    expected = np.array(value.as_list() if isinstance(value, tf.TensorShape) else value)
    assert x.shape.as_list() == list(expected.shape)
    if dtype != "string":
        assert x.numpy().tolist() == expected.tolist()


def test_integers_beyond_int32():
    assert tf.constant([1, INT32_MAX + 1], tf.int64).numpy().tolist() == [1, INT32_MAX + 1]
    assert tf.constant(INT64_MAX, tf.int64).numpy() == INT64_MAX
    assert tf.constant(2**64 - 1, tf.uint64).numpy() == 2**64 - 1
    for value, dtype in ((2**63, tf.int64), (2**64, tf.uint64), (-1, tf.uint64)):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            tf.constant(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3, tf.float64, 3.0),
        (3, tf.complex64, 3 + 0j),
        (3, tf.bfloat16, 3.0),
        (3, tf.int8, 3),
        (2.5, tf.float16, 2.5),
        (2.5, tf.complex128, 2.5 + 0j),
        (float("inf"), tf.float32, float("inf")),
        ([1, 2], tf.float32, [1.0, 2.0]),
        (np.array([1.7, -1.7]), tf.int32, [1, -1]),
        (np.array([1, 2]), tf.float32, [1.0, 2.0]),
        (True, tf.bool, True),
    ],
)
def test_requested_dtypes(value, dtype, expected):
    for convert in (tf.convert_to_tensor, tf.constant):
        x = convert(value, dtype)
        assert x.dtype is dtype and x.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2.5, tf.int32),
        ("a", tf.int32),
        ("a", tf.float32),
        (1, tf.string),
        (1, tf.bool),
        (1j, tf.float32),
        ([1.5], tf.int32),
        ([1, "a"], None),
        ([[1], [2, 3]], None),
        ([1, [2]], None),
        (object(), None),
        (None, None),
        (np.array([1], "M8[s]"), None),
        (tf.TensorShape([None, 2]), None),
        (tf.TensorShape([1]), tf.float32),
    ],
)
def test_values_that_do_not_convert(value, dtype):
    with pytest.raises((TypeError, ValueError)):
        tf.convert_to_tensor(value, dtype)


def test_tensors_stay_as_they_are():
    x = tf.constant([1.0, 2.0])
    assert tf.convert_to_tensor(x) is x and tf.convert_to_tensor(x, tf.float32) is x
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        tf.convert_to_tensor(x, tf.int32)


def test_hints():
    assert tf.convert_to_tensor(3, dtype_hint=tf.float64).dtype is tf.float64
    assert tf.convert_to_tensor([1, 2], dtype_hint=tf.int64).dtype is tf.int64
    assert tf.convert_to_tensor(2.5, dtype_hint=tf.int32).dtype is tf.float32  # it does not fit
    assert tf.convert_to_tensor([2.5], dtype_hint=tf.int32).dtype is tf.float32
    assert tf.convert_to_tensor(3, tf.int64, dtype_hint=tf.float64).dtype is tf.int64
    assert tf.convert_to_tensor(tf.constant(1), dtype_hint=tf.float32).dtype is tf.int32
    assert tf.convert_to_tensor(np.array([1 + 2j]), dtype_hint=tf.complex64).dtype is tf.complex64


def test_arrays_are_copied():
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    x, y = tf.constant(array), tf.constant(array.T)
    array[0, 1] = 9.0
    assert x.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] and y.numpy().tolist() == [[1.0, 3.0], [2.0, 4.0]]
    reversed_rows = tf.constant(np.arange(4)[::-2])
    assert reversed_rows.numpy().tolist() == [3, 1]
    read_only = np.arange(3)
    read_only.setflags(write=False)
    assert tf.constant(read_only).numpy().tolist() == [0, 1, 2]


def test_lists_of_tensors():
    a, b = tf.constant([1, 2]), tf.Variable([3, 4])
    assert tf.convert_to_tensor([a, b]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.convert_to_tensor([[a, b], [b, a]]).shape == [2, 2, 2]
    assert tf.convert_to_tensor([tf.constant(1.0), 2, 3]).numpy().tolist() == [1.0, 2.0, 3.0]
    assert tf.convert_to_tensor([1, tf.constant(2.5)]).dtype is tf.float32
    assert tf.convert_to_tensor((tf.constant(1), np.int32(2))).numpy().tolist() == [1, 2]
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([x, 2.0, x * x])
    assert float(tape.gradient(y, x)) == 7.0
    for wrong in ([tf.constant(1), tf.constant(2.5)], [tf.constant([1]), tf.constant([1, 2])], [tf.constant(1), "a"]):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            tf.convert_to_tensor(wrong)


class Wrapped:
    """A value that a registered function converts."""

    def __init__(self, value):
        self.value = value


class WrappedMore(Wrapped):
    """A subclass of it."""


def test_registered_conversions():
    def convert(value, dtype=None, name=None, as_ref=False):
        if value.value == "refuse":
            return NotImplemented
        return value.value if value.value == "wrong" else tf.constant(value.value, tf.float64)

    tf.register_tensor_conversion_function(Wrapped, convert)
    for kind in (Wrapped, WrappedMore):
        assert tf.convert_to_tensor(kind(3)).numpy() == 3.0
        assert float(tf.add(kind(3), tf.constant(1.0, tf.float64))) == 4.0
        with pytest.raises(RuntimeError, match="returned non-Tensor: 'wrong'"):
            tf.convert_to_tensor(kind("wrong"))
        with pytest.raises(RuntimeError, match="returned incompatible dtype: requested = float32, actual = float64"):
            tf.convert_to_tensor(kind(3), tf.float32)
        with pytest.raises((TypeError, ValueError)):
            tf.convert_to_tensor(kind("refuse"))


class Arrays:
    """A value that NumPy can convert."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5])


def test_other_arrays():
    assert tf.convert_to_tensor(Arrays()).numpy().tolist() == [1.5, 2.5]
    assert tf.convert_to_tensor(Arrays()).dtype is tf.float64


def test_scalars_are_tensors_of_their_own():
    first, second = tf.constant(7), tf.constant(7)
    assert first is not second
    # TensorFlow's cache takes one for the other
    assert np.signbit(tf.constant(-0.0).numpy()) and not np.signbit(tf.constant(0.0).numpy())
    assert tf.constant(1).dtype is tf.int32 and tf.constant(1.0).dtype is tf.float32
    assert tf.constant(True).dtype is tf.bool


def test_numbers_that_ops_take():
    x = tf.constant([1, 2], tf.int64)
    assert (x + 1).dtype is tf.int64 and (1 + x).dtype is tf.int64 and (x * 3).numpy().tolist() == [3, 6]
    assert tf.reshape(x, [np.int64(2), tf.constant(1)]).shape == [2, 1]
    assert tf.reshape(x, tf.TensorShape([1, 2])).shape == [1, 2] and tf.reshape(x, np.array([2, 1])).shape == [2, 1]
    assert tf.reduce_sum(x, axis=np.int32(0)).numpy() == tf.reduce_sum(x, tf.constant(0)).numpy() == 3
    for wrong in (1.5, "a", [1.5]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a int64 tensor but is a"):
            x + wrong


def test_bools_in_graphs_become_numbers():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for dtype, expected in ((tf.int32, 1), (tf.float32, 1.0), (tf.complex64, 1 + 0j), (tf.bool, True)):
            x = tf.constant(True, dtype)
            assert x.dtype is dtype and session.run(x) == expected
        with pytest.raises((TypeError, ValueError)):
            tf.constant(True, tf.string)


def test_numbers_beyond_float32():
    for number in (float("inf"), float("-inf"), 3.4028234663852886e38, -3.4028234663852886e38):
        assert tf.constant(number).numpy() == number and tf.constant(number).dtype is tf.float32
    for number in (1e39, -1e39, 3.41e38):
        with pytest.raises(ValueError, match="out of range"):
            tf.constant(number)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:  # graphs take them for infinite
            assert session.run(tf.constant(number)) == np.sign(number) * np.inf
    assert np.isnan(tf.constant(float("nan")).numpy())


def test_a_bool_of_a_graph_does_not_fit_eagerly():
    with tf.Graph().as_default():
        assert tf.constant(True, tf.uint8).dtype is tf.uint8
        assert (tf.constant(1, tf.uint8) + True).dtype is tf.uint8
    for _ in range(2):
        with pytest.raises(TypeError, match="Cannot convert True to EagerTensor of dtype uint8"):
            tf.constant(True, tf.uint8)


@pytest.mark.parametrize("dtype", [tf.resource, tf.variant])
def test_handles_are_made_of_nothing(dtype):
    for value in (np.array([1, 2]), np.float32(1.0), 1, [1.5]):
        with pytest.raises((TypeError, ValueError, tf.errors.OpError)):
            tf.constant(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([np.float64(1.5)], "float32"),
        ([[np.float64(1.5)], [2]], "float32"),
        ([np.float32(1.5), 2.5], "float32"),
        ([np.int64(1), np.int64(2)], "int32"),
        ([np.int64(2**31 - 1), -(2**31)], "int32"),
        ([np.int64(2**31)], "int64"),
        ([-(2**31) - 1, np.int64(1)], "int64"),
        ([np.int8(1)], "int8"),
        ([np.float16(1)], "float16"),
        ([np.uint8(1), 2], "int32"),
    ],
)
def test_numbers_of_numpy_in_lists_of_graphs(value, dtype):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(value)
        assert x.dtype.name == dtype and np.array_equal(session.run(x), np.array(value))


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("kind", ["S", "U", ">U", object])
def test_arrays_of_texts(count, kind):
    texts = np.array(["", "a", "long text"] * count)
    array = texts.astype("S" if kind == "S" else object if kind is object else kind + "9")
    expected = [text.encode() for text in texts.tolist()]
    for given, wanted in ((array, expected), (array[::-2], expected[::-2]), (array.reshape(3, -1), None)):
        found = tf.constant(given)
        assert found.dtype is tf.string and found.shape == given.shape
        assert found.numpy().reshape(-1).tolist() == (wanted or expected)
    if kind != "S":
        assert tf.constant(np.array(["é", "日本"] * count)).numpy().tolist() == ["é".encode(), "日本".encode()] * count
    numbers = np.array(["1", "0", "25"] * count).astype(array.dtype)
    with pytest.raises(TypeError):
        tf.constant(numbers, tf.bfloat16)
    for dtype in (tf.float32, tf.float64, tf.int64):
        assert tf.constant(numbers, dtype).numpy().tolist() == [1, 0, 25] * count
    assert tf.constant(array[:0]).shape == [0]


class Ordered:
    """A value with several converters."""


def test_converters_are_asked_by_priority():
    asked = []

    def converter(name, result):
        def convert(value, dtype=None, name=name, as_ref=False):
            asked.append(label)
            return result

        label = name
        return convert

    for label, priority, result in (
        ("late", 150, tf.constant(2)),
        ("early", 50, NotImplemented),
        ("default", None, NotImplemented),
    ):
        options = {} if priority is None else {"priority": priority}
        tf.register_tensor_conversion_function(Ordered, converter(label, result), **options)
    assert tf.convert_to_tensor(Ordered()).numpy() == 2 and asked == ["early", "default", "late"]


def test_shapes_become_vectors():
    shape = tf.TensorShape([2, 3])
    for dtype in (tf.int32, tf.int64):
        found = tf.constant(shape, dtype)
        assert found.dtype is dtype and found.numpy().tolist() == [2, 3]
    assert tf.convert_to_tensor(tf.TensorShape([])).shape == [0]
    for dtype in (tf.float32, tf.int8, tf.string):
        with pytest.raises((TypeError, ValueError)):
            tf.convert_to_tensor(shape, dtype)
    for unknown in ([None], [2, None], None):
        with pytest.raises(ValueError, match="Cannot convert a partially known TensorShape"):
            tf.convert_to_tensor(tf.TensorShape(unknown))
