"""What Python values, arrays and other libraries' tensors become. The expectations are TensorFlow 2.21's."""

import enum
import fractions
import math

import ml_dtypes
import numpy as np
import pytest
import torch

import tapeflow as tf
from ids import stable

RANGE = "out-of-range integer"
MIXED = "Can't convert Python sequence with mixed types to Tensor."
RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
TOO_LARGE = "Can't convert Python sequence with a value out of range for a double-precision float."


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (1, "int32", 1),
        (2**31, "int64", 2**31),
        (1.5, "float32", 1.5),
        (True, "bool", True),
        (1j, "complex128", 1j),
        ("ä", "string", "ä".encode()),
        (b"a", "string", b"a"),
        ([1, 2], "int32", [1, 2]),
        ((1, 2), "int32", [1, 2]),
        (range(3), "int32", [0, 1, 2]),
        (bytearray(b"ab"), "int32", [97, 98]),
        (memoryview(b"ab"), "int32", [97, 98]),
        ([2**31, 1], "int64", [2**31, 1]),
        ([1, 2.5], "float32", [1.0, 2.5]),
        ([1.5, True], "float32", [1.5, 1.0]),
        ([1, True], "int32", [1, 1]),
        ([1 + 2j, 3], "complex128", [1 + 2j, 3]),
        ([[1, 2], (3, 4)], "int32", [[1, 2], [3, 4]]),
        ([[[1], [2]], [[3], [4]]], "int32", [[[1], [2]], [[3], [4]]]),
        ([range(2), range(2)], "int32", [[0, 1], [0, 1]]),
        ([], "float32", []),
        ([[], []], "float32", [[], []]),
        (["a", b"b"], "string", [b"a", b"b"]),
        ([np.float64(1.5), 2], "float64", [1.5, 2.0]),
        ([2, np.float64(1.5)], "float32", [2.0, 1.5]),
        ([np.float16(1.5)], "float16", [1.5]),
        ([np.int8(1), np.uint8(2)], "int32", [1, 2]),
        ([np.int64(2**40)], "int64", [2**40]),
        ([np.bool_(True), False], "bool", [True, False]),
        ([np.complex64(1)], "complex128", [1]),
        ([np.array([1, 2]), [3, 4]], "int32", [[1, 2], [3, 4]]),
        ([np.array(1), 2], "int32", [1, 2]),
        ([1.0, float("inf")], "float32", [1.0, np.inf]),
        (tf.TensorShape([1, 2]), "int32", [1, 2]),
        ([tf.TensorShape([1, 2])], "int32", [[1, 2]]),
        (np.float64(1.5), "float64", 1.5),
        (np.uint64(2**63), "uint64", 2**63),
        (np.array([1, 2], ">i4"), "int32", [1, 2]),
        (np.array([[1, 2], [3, 4]])[:, ::-1], "int64", [[2, 1], [4, 3]]),
        (np.array(["a", "b"]), "string", [b"a", b"b"]),
        (np.array(["a", b"b"], object), "string", [b"a", b"b"]),
        (np.ma.array([1, 2]), "int64", [1, 2]),
    ],
    ids=stable,
)
def test_without_a_dtype(value, dtype, result):
    tensor = tf.convert_to_tensor(value)
    assert tensor.dtype == dtype
    assert tensor.numpy().tolist() == result if dtype != "string" or tensor.shape.rank else tensor.numpy() == result


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (True, "int32", 1),
        (True, "float32", 1.0),
        (1, "complex64", 1),
        (-1, "uint8", 255),
        ([300], "uint8", [44]),
        ([2**40], "int32", [0]),
        ([2**63], "uint64", [2**63]),
        ([2**53 + 1], "float32", [2.0**53]),
        ([10**30], "float64", [1e30]),
        (1e39, "float32", np.inf),
        ([1.0, 1e39], "float32", [1.0, np.inf]),
        ([70000.0], "float16", [np.inf]),
        ([1.1], "bfloat16", [1.1015625]),
        ([True, 2], "int32", [1, 2]),
        ([True, 1.5], "float32", [1.0, 1.5]),
        ([1, 2], "qint8", [1, 2]),
        ([], "int32", []),
        (np.array([1.5, 2]), "int32", [1, 2]),
        (np.array([1, 0]), "bool", [True, False]),
        (np.array([300]), "uint8", [44]),
        (np.array([1]), "qint8", [1]),
    ],
    ids=stable,
)
def test_with_a_dtype(value, dtype, result):
    tensor = tf.constant(value, dtype)
    assert tensor.dtype == dtype
    assert tensor.numpy().tolist() == result


@pytest.mark.parametrize(
    ("value", "dtype", "error", "says"),
    [
        (None, None, ValueError, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>)"),
        ([None], None, ValueError, "Attempt to convert a value (None)"),
        ([1, None], None, ValueError, MIXED),
        ({}, None, ValueError, "Attempt to convert a value ({}) with an unsupported type (<class 'dict'>)"),
        ({1}, None, ValueError, "unsupported type (<class 'set'>)"),
        (iter([1]), None, ValueError, "unsupported type (<class 'list_iterator'>)"),
        ([1, "a"], None, ValueError, MIXED),
        ([1, "a"], "int32", ValueError, MIXED),
        ([True, 1], None, ValueError, MIXED),
        ([3, 1j], None, ValueError, MIXED),
        ([1, np.bool_(True)], None, ValueError, MIXED),
        ([1, [2]], None, ValueError, MIXED),
        ([[1], [[2]]], None, ValueError, MIXED),
        ([[1], [2, 3]], None, ValueError, RAGGED),
        ([[1, 2], 3], None, ValueError, RAGGED),
        ([[1, 2], None], None, ValueError, RAGGED),
        ([np.array([1, 2]), np.array([3])], None, ValueError, RAGGED),
        (2**63, None, ValueError, RANGE),
        ([2**63], "int64", ValueError, RANGE),
        (2**63, "int32", ValueError, RANGE),
        (10**400, "float32", ValueError, RANGE),
        (1e39, None, ValueError, TOO_LARGE),
        ([1.0, 1e39], None, ValueError, TOO_LARGE),
        ([np.float16(1.5), 1e6], None, ValueError, TOO_LARGE),
        (1.5, "int32", TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
        ([1, 2.5], "int32", TypeError, "Cannot convert [1, 2.5] to EagerTensor of dtype int32"),
        ("a", "float32", TypeError, "Cannot convert 'a' to EagerTensor of dtype float"),
        (1, "bool", TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
        (True, "uint8", TypeError, "Cannot convert True to EagerTensor of dtype uint8"),
        ([True], "bfloat16", TypeError, "Cannot convert [True] to EagerTensor of dtype bfloat16"),
        (1j, "float64", TypeError, "Cannot convert 1j to EagerTensor of dtype double"),
        (1, "string", TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
        (np.array([1, 2], object), None, ValueError, "(Unsupported object type int)"),
        (np.datetime64("2020-01-01"), None, ValueError, "(Unsupported numpy type: NPY_DATETIME)"),
        (np.array([1]), "string", ValueError, "Failed to convert a NumPy array to a Tensor"),
        (tf.TensorShape([None]), None, ValueError, "Cannot convert a partially known TensorShape (None,)"),
        (tf.constant(1), "float32", ValueError, "requested dtype float32 for Tensor with dtype int32"),
    ],
    ids=stable,
)
def test_what_does_not_convert(value, dtype, error, says):
    with pytest.raises(error) as caught:
        tf.convert_to_tensor(value, dtype)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", sorted(d.name for d in {
    tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.float16, tf.float32,
    tf.float64, tf.bfloat16, tf.complex64, tf.complex128}))  # fmt: skip
def test_arrays_keep_dtype_and_values_and_are_copied(name):
    dtype = tf.as_dtype(name)
    array = np.array([[0, 1], [1, 0]]).astype(dtype.as_numpy_dtype)
    tensor = tf.constant(array)
    assert tensor.dtype is dtype
    np.testing.assert_array_equal(tensor.numpy(), array)
    array[0, 0] = 1
    assert not tensor.numpy()[0, 0]
    assert tf.constant(array[0, 0]).dtype is dtype  # a scalar of NumPy's


def test_a_hint_is_taken_where_it_can_be():
    assert tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor([1.5], dtype_hint=tf.int32).dtype == tf.float32
    assert tf.convert_to_tensor("a", dtype_hint=tf.int32).dtype == tf.string
    assert tf.convert_to_tensor(tf.constant(1), dtype_hint=tf.float32).dtype == tf.int32
    assert tf.convert_to_tensor(np.array([1]), dtype_hint=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor([], dtype_hint=tf.int32).dtype == tf.int32


def test_tensors_in_lists_are_stacked_and_gradients_pass():
    x = tf.constant(2.0)
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        packed = tf.convert_to_tensor([[x, 1], [v, x]])
        y = tf.reduce_sum(packed * [[1.0, 2.0], [3.0, 4.0]])
    assert packed.numpy().tolist() == [[2.0, 1.0], [3.0, 2.0]]
    assert [float(g) for g in tape.gradient(y, [x, v])] == [5.0, 3.0]
    assert tf.convert_to_tensor([2, tf.constant(1.5)]).numpy().tolist() == [2.0, 1.5]
    assert tf.convert_to_tensor([tf.constant(1, tf.uint8), 2]).dtype == tf.uint8
    assert tf.convert_to_tensor([[1.0, tf.constant(2.0)]], tf.float64).dtype == tf.float64
    with pytest.raises(TypeError, match=r"Cannot convert 1.5 to EagerTensor of dtype int32"):
        tf.convert_to_tensor([1.5, tf.constant(1)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of all inputs must match"):
        tf.convert_to_tensor([tf.constant([1]), tf.constant([1, 2])])


def test_other_libraries_tensors():
    given = torch.tensor([[1.0, 2.0]], requires_grad=True)
    tensor = tf.constant(given)
    assert tensor.numpy().tolist() == [[1.0, 2.0]]
    with torch.no_grad():
        given += 1
    assert tensor.numpy().tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match=r"float64"):
        tf.convert_to_tensor(given, tf.float64)

    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2], np.int16)

    assert tf.constant(Array()).dtype == tf.int16
    assert tf.constant(Array(), tf.float32).numpy().tolist() == [1.0, 2.0]

    class Exchanged:
        def __dlpack__(self, **kwargs):
            return torch.tensor([3, 4]).__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return torch.tensor([3, 4]).__dlpack_device__()

    assert tf.constant(Exchanged()).numpy().tolist() == [3, 4]
    assert tf.constant(np.array([1.5], ml_dtypes.bfloat16)).dtype == tf.bfloat16


def test_subclasses_of_numbers():
    assert tf.constant(enum.IntEnum("Color", "RED").RED).numpy() == 1
    assert tf.constant(np.str_("a")).numpy() == b"a"


def test_registered_functions_convert():
    class Distance:
        def __init__(self, meters):
            self.meters = meters

    class Longer(Distance):
        pass

    def convert(value, dtype=None, name=None, as_ref=False):
        return NotImplemented if value.meters is None else tf.constant(value.meters, dtype)

    tf.register_tensor_conversion_function(Distance, convert)
    assert float(tf.constant(1.0) + Distance(2)) == 3.0
    assert tf.convert_to_tensor(Longer(2)).dtype == tf.int32
    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(Distance(None))
    with pytest.raises(TypeError, match=r"Cannot register conversions for Python numeric types"):
        tf.register_tensor_conversion_function(int, convert)
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function("Distance", convert)


def test_a_constant_is_a_tensor_of_its_own():
    a, b = tf.constant(1.0), tf.constant(1.0)
    assert a is not b
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * b
    assert tape.gradient(y, b) is None
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(x) * 2.0
    assert tape.gradient(y, x).numpy().tolist() == [2.0]


def test_the_shape_of_a_constant():
    assert tf.constant(5, shape=[2, 3]).numpy().tolist() == [[5] * 3] * 2
    assert tf.constant([1, 2, 3, 4], shape=(2, 2)).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant("a", shape=tf.constant([2])).numpy().tolist() == [b"a", b"a"]
    assert tf.constant([1], shape=[]).shape == []
    with pytest.raises(TypeError, match=r"Tensor \[1 2 3\] \(converted from \[1, 2, 3\]\) has 3 elements"):
        tf.constant([1, 2, 3], shape=[2])


def test_what_only_arrays_have_says_what_to_do():
    x = tf.constant([1.0, 2.0])
    said = []

    @tf.function
    def f(x):
        with pytest.raises(AttributeError) as error:
            x.astype  # noqa: B018
        said.append(str(error.value))
        return x

    f(x)
    with pytest.raises(AttributeError, match=r"^EagerTensor object has no attribute 'T'\. \n .* numpy-related methods"):
        x.T  # noqa: B018
    with pytest.raises(AttributeError, match=r"^'EagerTensor' object has no attribute 'other'"):
        x.other  # noqa: B018
    assert said[0].startswith("SymbolicTensor object has no attribute 'astype'. \n        If you are looking for numpy")
    assert "astype" not in dir(x) and not hasattr(x, "size") and not hasattr(tf.Tensor, "T")


class Sequence:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]


def test_objects_with_a_length_and_items_are_sequences():
    assert tf.constant(Sequence([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
    assert tf.constant([Sequence([1, 2]), Sequence([3, 4])]).numpy().tolist() == [[1, 2], [3, 4]]
    assert (tf.ones([2]) + Sequence([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"Cannot infer dtype of a Sequence object, as .* failed: KeyError: 0"):
        tf.constant(Sequence({"a": 1}))
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant({0: 1})


@pytest.mark.parametrize("name", ["qint8", "quint8", "qint16", "quint16", "qint32"])
def test_arrays_of_quantized_types_become_tensors(name):
    dtype = tf.as_dtype(name)
    array = np.array([1, 2, 3]).astype(dtype.as_numpy_dtype)
    for tensor in (tf.convert_to_tensor(array), tf.constant(array, dtype), tf.function(lambda: tf.constant(array))()):
        assert tensor.dtype is dtype and tensor.numpy().tolist() == [1, 2, 3]
    assert tf.constant(array, tf.int32).dtype is tf.int32
    assert tf.data.Dataset.from_tensors(array).element_spec.dtype is dtype
    with pytest.raises(ValueError, match="Unsupported numpy type: NPY_VOID"):
        tf.constant(np.zeros(2, [("a", "i4"), ("b", "i4")]))


@pytest.mark.parametrize(
    "rows",
    [
        [[0.1] * 99, [2.5] * 99],
        [[1] * 99, [-(2**31)] * 99],
        [[1] * 99, [2**31] * 99],
        [[[1.5, True] * 50], [[np.float64(2.5), 3] * 50]],
        [[True] * 99, [False] * 99],
        [[math.inf] * 99, [math.nan] * 99],
    ],
)
def test_long_rows_become_what_short_ones_do(rows):
    whole, first = tf.constant(rows), tf.constant([row[:2] for row in rows] if np.ndim(rows) == 2 else rows[0][0][:2])
    assert whole.dtype == first.dtype
    np.testing.assert_array_equal(whole, np.array(rows).astype(whole.dtype.as_numpy_dtype))


@pytest.mark.parametrize("other", ["a", None, 1j, [0.0], 1e39, fractions.Fraction(1, 2)])
def test_long_rows_refuse_what_short_ones_do(other):
    for size in (1, 99):
        with pytest.raises(ValueError, match=r"Can't convert|Attempt to convert"):
            tf.constant([[0.5] * size + [other], [0.5] * (size + 1)])
    with pytest.raises(ValueError, match=RAGGED):
        tf.constant([[0.5] * 99, [0.5] * 98])
