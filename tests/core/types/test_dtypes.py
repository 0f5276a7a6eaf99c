"""Dtypes. What each of them says of itself was recorded from TensorFlow 2.21."""

import copy
import enum
import pickle

import ml_dtypes
import numpy as np
import pytest
import torch

from ids import stable
from tapeflow.core.types import dtypes
from tapeflow.core.types.dtypes import DType, as_dtype

# name, DataType number, bytes, kinds, min, max, limits, NumPy type; an error class where reading it raises one.
TABLE = [
    ("float32", 1, 4, "floating numeric", -3.4028234663852886e38, 3.4028234663852886e38, (0, 1), np.float32),
    ("float64", 2, 8, "floating numeric", -1.7976931348623157e308, 1.7976931348623157e308, (0, 1), np.float64),
    ("int32", 3, 4, "integer numeric", -(2**31), 2**31 - 1, (0, 2**31 - 1), np.int32),
    ("uint8", 4, 1, "integer unsigned numeric", 0, 255, (0, 255), np.uint8),
    ("int16", 5, 2, "integer numeric", -32768, 32767, (0, 32767), np.int16),
    ("int8", 6, 1, "integer numeric", -128, 127, (0, 127), np.int8),
    ("string", 7, 0, "", TypeError, TypeError, ValueError, object),
    ("complex64", 8, 8, "complex numeric", TypeError, TypeError, ValueError, np.complex64),
    ("int64", 9, 8, "integer numeric", -(2**63), 2**63 - 1, (0, 2**63 - 1), np.int64),
    ("bool", 10, 1, "bool", TypeError, TypeError, (0, True), np.bool_),
    ("qint8", 11, 1, "quantized numeric", TypeError, TypeError, ValueError, np.dtype([("qint8", "i1")])),
    ("quint8", 12, 1, "quantized numeric", TypeError, TypeError, ValueError, np.dtype([("quint8", "u1")])),
    ("qint32", 13, 4, "quantized numeric", TypeError, TypeError, ValueError, np.dtype([("qint32", "i4")])),
    (
        "bfloat16",
        14,
        2,
        "floating numeric",
        -3.3895313892515355e38,
        3.3895313892515355e38,
        ValueError,
        ml_dtypes.bfloat16,
    ),
    ("qint16", 15, 2, "quantized numeric", TypeError, TypeError, ValueError, np.dtype([("qint16", "i2")])),
    ("quint16", 16, 2, "quantized numeric", TypeError, TypeError, ValueError, np.dtype([("quint16", "u2")])),
    ("uint16", 17, 2, "integer unsigned numeric", 0, 65535, (0, 65535), np.uint16),
    ("complex128", 18, 16, "complex numeric", TypeError, TypeError, ValueError, np.complex128),
    ("float16", 19, 2, "floating numeric", -65504.0, 65504.0, ValueError, np.float16),
    ("resource", 20, 0, "", TypeError, TypeError, KeyError, KeyError),
    ("variant", 21, 0, "", TypeError, TypeError, KeyError, KeyError),
    ("uint32", 22, 4, "integer unsigned numeric", 0, 2**32 - 1, (0, 2**32 - 1), np.uint32),
    ("uint64", 23, 8, "integer unsigned numeric", 0, 2**64 - 1, (0, 2**64 - 1), np.uint64),
    ("float8_e5m2", 24, 1, "floating", -57344.0, 57344.0, ValueError, ml_dtypes.float8_e5m2),
    ("float8_e4m3fn", 25, 1, "floating", -448.0, 448.0, ValueError, ml_dtypes.float8_e4m3fn),
    ("float8_e4m3fnuz", 26, 1, "floating", -240.0, 240.0, ValueError, ml_dtypes.float8_e4m3fnuz),
    ("float8_e4m3b11fnuz", 27, 1, "floating", -30.0, 30.0, ValueError, ml_dtypes.float8_e4m3b11fnuz),
    ("float8_e5m2fnuz", 28, 1, "floating", -57344.0, 57344.0, ValueError, ml_dtypes.float8_e5m2fnuz),
    ("int4", 29, 1, "integer", -8, 7, ValueError, ml_dtypes.int4),
    ("uint4", 30, 1, "integer unsigned", 0, 15, ValueError, ml_dtypes.uint4),
    ("int2", 31, 1, "integer", -2, 1, ValueError, ml_dtypes.int2),
    ("uint2", 32, 1, "integer unsigned", 0, 3, ValueError, ml_dtypes.uint2),
    ("float4_e2m1fn", 33, 1, "floating", -6.0, 6.0, ValueError, ml_dtypes.float4_e2m1fn),
]
KINDS = ["bool", "complex", "floating", "integer", "unsigned", "quantized", "numeric"]

by_row = pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
all_dtypes = pytest.mark.parametrize("dtype", [getattr(dtypes, row[0]) for row in TABLE], ids=stable)


def read(dtype, attribute):
    """The attribute's value, or the class of the error that reading it raises."""
    try:
        return getattr(dtype, attribute)
    except (TypeError, ValueError, KeyError) as e:
        return type(e)


@by_row
@pytest.mark.parametrize("suffix", ["", "_ref"])
def test_attributes(row, suffix):
    name, enum_number, size, kinds, minimum, maximum, limits, numpy_type = row
    dtype = getattr(dtypes, name + suffix)
    assert dtype.name == name + suffix
    assert dtype.as_datatype_enum == int(dtype) == enum_number + (100 if suffix else 0)
    assert dtype.size == size
    assert [kind for kind in KINDS if getattr(dtype, f"is_{kind}")] == [kind for kind in KINDS if kind in kinds.split()]
    assert read(dtype, "min") == minimum
    assert read(dtype, "max") == maximum
    assert read(dtype, "limits") == limits
    assert read(dtype, "as_numpy_dtype") == numpy_type
    assert dtype.is_numpy_compatible == (numpy_type is not KeyError)
    assert dtype.base_dtype is getattr(dtypes, name)
    assert repr(dtype) == f"tf.{name}{suffix}"
    assert str(dtype) == f"<dtype: '{name}{suffix}'>"


def test_table_is_complete():
    assert sorted(row[1] for row in TABLE) == list(range(1, 34))


def test_synonyms():
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64
    assert dtypes.bool is dtypes.bool_


@pytest.mark.parametrize(
    "name, real", [("complex64", "float32"), ("complex128", "float64"), ("complex64_ref", "float32"), ("int8", "int8")]
)
def test_real_dtype(name, real):
    assert as_dtype(name).real_dtype is as_dtype(real)


@pytest.mark.parametrize("name, cls", [("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16), ("int64", int)])
def test_range_is_of_the_type_itself(name, cls):
    assert type(as_dtype(name).min) is cls
    assert type(as_dtype(name).max) is cls


@pytest.mark.parametrize(
    "name, attribute, message",
    [
        ("string", "min", "Cannot find minimum value of <dtype: 'string'> with type <dtype: 'string'>."),
        ("bool_ref", "max", "Cannot find maximum value of <dtype: 'bool_ref'> with type <dtype: 'bool'>."),
        ("qint8", "min", "Cannot find minimum value of <dtype: 'qint8'> with quantized type <dtype: 'qint8'>."),
        ("variant", "max", "Cannot find maximum value of <dtype: 'variant'>."),
        ("float16", "limits", "<dtype: 'float16'> does not have defined limits."),
    ],
)
def test_no_range(name, attribute, message):
    with pytest.raises((TypeError, ValueError)) as error:
        getattr(as_dtype(name), attribute)
    assert str(error.value) == message


@all_dtypes
def test_one_instance_of_each(dtype):
    assert as_dtype(dtype) is dtype
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype.as_datatype_enum) is dtype
    assert DType(dtype.as_datatype_enum) is dtype
    assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype
    assert DType.experimental_from_proto(dtype.experimental_as_proto()) is dtype


def test_cannot_be_changed():
    with pytest.raises(AttributeError, match=r"tf\.float32 is shared"):
        dtypes.float32.name = "float64"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dtypes.float32.nonsense


def test_no_dtype_of_that_number():
    with pytest.raises(TypeError, match="200 does not correspond to a valid"):
        DType(200)


class HasDtype:
    def __init__(self, dtype):
        self.dtype = dtype


class Number(enum.IntEnum):
    DT_DOUBLE = 2


@pytest.mark.parametrize(
    "value, name",
    [
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        ("double_ref", "float64_ref"),
        ("resource", "resource"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (1, "float32"),
        (Number.DT_DOUBLE, "float64"),
        (101, "float32_ref"),
        (np.float32, "float32"),
        (np.half, "float16"),
        (np.bool_, "bool"),
        (np.intc, "int32"),
        (np.uintc, "uint32"),
        (np.int_, "int64"),
        (np.uint, "uint64"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.dtype("f4"), "float32"),
        (np.dtype(">f4"), "float32"),
        (np.dtype(">i2"), "int16"),
        (np.dtype("S3"), "string"),
        (np.dtype("U2"), "string"),
        (np.dtype("O"), "string"),
        (np.dtypes.StringDType(), "string"),
        (np.dtype("longlong"), "int64"),
        (np.dtype([("qint8", "i1")]), "qint8"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (ml_dtypes.int4, "int4"),
        (np.array([1.5]), "float64"),
        (np.array(["a"]), "string"),
        (HasDtype(np.float32), "float32"),
        (HasDtype("int64"), "int64"),
    ],
    ids=stable,
)
def test_as_dtype(value, name):
    dtype = as_dtype(value)
    assert dtype is getattr(dtypes, name)
    assert dtype == value
    assert (dtypes.float32 == value) == (dtype is dtypes.float32)


@pytest.mark.parametrize(
    "value",
    [
        int,
        str,
        bytes,
        complex,
        None,
        0,
        999,
        2.5,
        "int",
        "str",
        "tf.float32",
        "<dtype: 'float32'>",
        [],
        {},
        [1],
        np.void,
        np.generic,
        np.number,
        np.longdouble,
        np.clongdouble,
        np.datetime64,
        np.dtype("M8[s]"),
        np.dtype([("resource", "u1")]),
        HasDtype(dtypes.float32),
    ],
    ids=stable,
)
def test_not_a_dtype(value):
    with pytest.raises(TypeError) as error:
        as_dtype(value)
    assert str(error.value) == f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType."
    assert dtypes.float32 != value


def test_equality_and_hash():
    assert dtypes.float32 == "float32"
    assert dtypes.float32 == np.float32
    assert dtypes.float32 != dtypes.float64
    assert dtypes.float32 != dtypes.float32._as_ref
    assert {dtypes.float32: 1, dtypes.float64: 2}[as_dtype("double")] == 2
    assert dtypes.float32 in [dtypes.int32, dtypes.float32]


def test_a_dtype_is_in_dicts_of_numbers():
    assert {1: "a"}[dtypes.float32] == "a" and hash(dtypes.int32) == 3


def test_no_order():
    with pytest.raises(TypeError, match="'<' not supported between instances of 'DType' and 'DType'"):
        _ = dtypes.float32 < dtypes.float64


def test_is_compatible_with():
    assert dtypes.float32.is_compatible_with("float32_ref")
    assert not dtypes.float32._as_ref.is_compatible_with(dtypes.float32)
    assert not dtypes.float32.is_compatible_with(np.float64)
    with pytest.raises(TypeError, match="Cannot convert the argument"):
        dtypes.float32.is_compatible_with(int)


def test_as_a_trace_type():
    dtype = dtypes.float32
    assert dtype.is_subtype_of(dtypes.float32)
    assert not dtype.is_subtype_of(dtypes.float64)
    assert dtype.most_specific_common_supertype([dtypes.float32, "float32"]) is dtype
    assert dtype.most_specific_common_supertype([dtypes.float64]) is None
    assert dtype.flatten() == dtype.to_tensors(dtype) == []
    assert dtype.from_tensors(iter([])) is dtype.placeholder_value(None) is None
    with pytest.raises(AssertionError, match=r"Can not cast tf.float32 to type tf.float32"):
        dtype.cast(dtypes.float32, None)


def test_quantized_dtypes():
    names = ["qint8", "qint16", "qint32", "quint8", "quint16"]
    assert {*map(as_dtype, names), *(as_dtype(f"{name}_ref") for name in names)} == dtypes.QUANTIZED_DTYPES


@pytest.mark.parametrize("torch_type, dtype", dtypes.FROM_TORCH.items(), ids=stable)
def test_torch_types_hold_the_same_values(torch_type, dtype):
    assert dtype.torch is torch_type
    assert torch_type.itemsize == dtype.size
    assert torch_type.is_floating_point == dtype.is_floating
    assert torch_type.is_complex == dtype.is_complex
    if dtype.is_floating:
        assert torch.finfo(torch_type).max == float(dtype.max)
    if dtype.is_integer:
        assert (torch.iinfo(torch_type).min, torch.iinfo(torch_type).max) == (dtype.min, dtype.max)


def test_dtypes_without_a_torch_type():
    without = {row[0] for row in TABLE if getattr(dtypes, row[0]).torch is None}
    packed = {"int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float8_e4m3b11fnuz"}
    assert without == {"string", "resource", "variant", "qint8", "qint16", "qint32", "quint8", "quint16"} | packed


@all_dtypes
def test_from_numpy(dtype):
    if dtype.is_numpy_compatible:
        array = np.zeros(1, dtype.as_numpy_dtype)
        assert dtypes.FROM_NUMPY[array.dtype] is dtype
        if not dtype.is_quantized:
            assert dtypes.FROM_NUMPY[array.dtype.type] is dtype


def test_copies_of_dtypes_are_the_dtypes():
    assert copy.deepcopy(dtypes.int8) is pickle.loads(pickle.dumps(dtypes.int8)) is dtypes.int8
