"""The element types: one `DType` instance each, for `tf.float32` and all the others.

Every property of a dtype is computed once, here, and read as a plain attribute afterwards. Since there is exactly one
instance of each dtype, code may compare them with `is`, and `FROM_TORCH[tensor.dtype]` is all it takes to name the
dtype of a kernel's result.
"""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import torch

from tapeflow.core.types.valueless import ValuelessType

if TYPE_CHECKING:
    from google.protobuf.message import Message

_REF = 100  # DataType numbers a reference type as its base type plus 100

_BY_ENUM: dict[int, DType] = {}
_BY_NAME: dict[str, DType] = {}

# The ranges that `limits` reports: intensities of an image of that type, so floats go from 0 to 1.
_IMAGE_MAXIMUM = {
    "bool": True, "uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1,
    "int8": 2**7 - 1, "int16": 2**15 - 1, "int32": 2**31 - 1, "int64": 2**63 - 1, "float32": 1, "float64": 1,
}  # fmt: skip


class DType(ValuelessType):
    """The type of the elements of a tensor.

    There is one instance of each dtype, so `DType(1)`, `as_dtype("float32")` and an unpickled `float32` are the same
    object as `tf.float32`.

    Args:
      type_enum: number of the dtype in TensorFlow's `DataType` enum.
      handle_data: always `None`; TensorFlow keeps the shapes behind a resource handle in it.

    Raises:
      TypeError: if no dtype has that number.

    Example:
    >>> tf.float32.size, tf.float32.is_floating, tf.complex64.real_dtype
    (4, True, tf.float32)
    >>> tf.float32 == "float32"
    True
    """

    name: str
    as_datatype_enum: int
    size: int  # bytes per element; 0 for strings and handles
    torch: torch.dtype | None  # ATen's dtype; None where ATen has no such type
    as_numpy_dtype: Any  # a NumPy scalar type; for quantized dtypes a structured np.dtype; handles have none
    base_dtype: DType
    real_dtype: DType
    differentiable: builtins.bool  # whether gradients pass through tensors of this dtype
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numeric: builtins.bool
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    _is_ref_dtype: builtins.bool

    # The hash of a dtype is the hash of its number, because the two are equal.
    __slots__ = ("__hash__", *__annotations__)

    def __new__(cls, type_enum: int, handle_data: None = None) -> DType:
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(f"{type_enum} does not correspond to a valid tensorflow::DataType") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self!r} is shared by every tensor of that type: its {name!r} can't be set")

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else _BY_ENUM[self.as_datatype_enum + _REF]

    @property
    def min(self) -> Any:
        """The smallest finite value, as a NumPy scalar for floats and an `int` for integers.

        Raises:
          TypeError: if values of this dtype have no order or no numeric range.
        """
        return self._numeric_info("minimum").min

    @property
    def max(self) -> Any:
        """The largest finite value, as a NumPy scalar for floats and an `int` for integers.

        Raises:
          TypeError: if values of this dtype have no order or no numeric range.
        """
        return self._numeric_info("maximum").max

    def _numeric_info(self, which: str) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.as_numpy_dtype)
        if self.is_integer:
            return ml_dtypes.iinfo(self.as_numpy_dtype)
        reason = ""
        if self.is_numpy_compatible:
            reason = f" with {'quantized type' if self.is_quantized else 'type'} {self.base_dtype}"
        raise TypeError(f"Cannot find {which} value of {self}{reason}.")

    @property
    def limits(self) -> tuple[int, int]:
        """The `(lowest, highest)` intensity of an image of this dtype, with negative ones left out.

        Raises:
          ValueError: if images are not of this dtype.
          KeyError: if the dtype has no NumPy type.
        """
        self.as_numpy_dtype  # noqa: B018  (handles raise here, as in TensorFlow)
        if self.base_dtype.name not in _IMAGE_MAXIMUM:
            raise ValueError(f"{self} does not have defined limits.")
        return 0, _IMAGE_MAXIMUM[self.base_dtype.name]

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Returns True if `other` is this dtype, or a reference to it.

        Raises:
          TypeError: if `other` names no dtype.
        """
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    # A dtype as a part of the signature of a `tf.function` (tf.types.experimental.TraceType).

    def is_subtype_of(self, other: DType) -> builtins.bool:
        """Returns True if a function traced for `other` can be called with this dtype: only with the same one."""
        return self == other

    def most_specific_common_supertype(self, types: Sequence[Any]) -> DType | None:
        """Returns this dtype if all `types` are the same one, else `None`."""
        return self if all(self == other for other in types) else None

    @classmethod
    def experimental_type_proto(cls) -> type:
        """Returns the protobuf message class that holds a dtype."""
        from tensorboard.compat.proto import types_pb2

        return types_pb2.SerializedDType

    @classmethod
    def experimental_from_proto(cls, proto: Message) -> DType:
        """Returns the dtype that a `SerializedDType` message holds."""
        return DType(proto.datatype)

    def experimental_as_proto(self) -> Any:
        """Returns this dtype as a `SerializedDType` message."""
        return self.experimental_type_proto()(datatype=self.as_datatype_enum)

    def __eq__(self, other: object) -> builtins.bool:
        if other is self:
            return True
        if type(other) is str:  # frequent: Keras compares names
            return _FROM_ANYTHING.get(other) is self
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple:
        return as_dtype, (self.name,)


class _HandleType(DType):
    """A dtype without a NumPy type. (A `__getattr__` on `DType` would slow every attribute access.)"""

    __slots__ = ()

    @property
    def as_numpy_dtype(self) -> Any:
        raise KeyError(f"{self!r} has no NumPy type")


def _new_dtype(attributes: dict[str, Any], base: DType | None) -> DType:
    """Creates and registers one dtype; `base` is the type that a reference type refers to."""
    dtype = object.__new__(DType if "as_numpy_dtype" in attributes else _HandleType)
    object.__setattr__(dtype, "__hash__", attributes["as_datatype_enum"].__hash__)
    for name, value in attributes.items():
        object.__setattr__(dtype, name, value)
    object.__setattr__(dtype, "base_dtype", base or dtype)
    if not dtype.is_complex:
        object.__setattr__(dtype, "real_dtype", dtype)
    _BY_ENUM[dtype.as_datatype_enum] = _BY_NAME[dtype.name] = dtype
    return dtype


def _add_type(name: str, enum: int, size: int, kind: str, torch_type: torch.dtype | None = None, numpy_type: Any = None,
            numeric: builtins.bool = False, real: DType | None = None) -> DType:  # fmt: skip
    """Creates a dtype and its reference type.

    `numeric` is TensorFlow's `is_numeric`, which leaves out the float8 and the 2- and 4-bit types.
    """
    attributes = {
        "name": name,
        "as_datatype_enum": enum,
        "size": size,
        "torch": torch_type,
        "differentiable": kind in ("floating", "complex") or name == "variant",  # a list of tensors
        "is_bool": kind == "bool",
        "is_complex": kind == "complex",
        "is_floating": kind == "floating",
        "is_integer": kind in ("integer", "unsigned"),
        "is_numeric": numeric,
        "is_numpy_compatible": numpy_type is not None,
        "is_quantized": kind == "quantized",
        "is_unsigned": kind == "unsigned",
        "_is_ref_dtype": False,
    }
    if numpy_type is not None:
        attributes["as_numpy_dtype"] = numpy_type
    if real is not None:
        attributes["real_dtype"] = real
    dtype = _new_dtype(attributes, base=None)
    _new_dtype(attributes | {"name": f"{name}_ref", "as_datatype_enum": enum + _REF, "_is_ref_dtype": True}, base=dtype)
    return dtype


def _define_quantized(name: str, enum: int, size: int, numpy_type: type) -> DType:
    return _add_type(name, enum, size, "quantized", None, np.dtype([(name, numpy_type)]), numeric=True)


float16 = _add_type("float16", 19, 2, "floating", torch.float16, np.float16, numeric=True)
float32 = _add_type("float32", 1, 4, "floating", torch.float32, np.float32, numeric=True)
float64 = _add_type("float64", 2, 8, "floating", torch.float64, np.float64, numeric=True)
bfloat16 = _add_type("bfloat16", 14, 2, "floating", torch.bfloat16, ml_dtypes.bfloat16, numeric=True)
half, double = float16, float64

complex64 = _add_type("complex64", 8, 8, "complex", torch.complex64, np.complex64, numeric=True, real=float32)
complex128 = _add_type("complex128", 18, 16, "complex", torch.complex128, np.complex128, numeric=True, real=float64)

int8 = _add_type("int8", 6, 1, "integer", torch.int8, np.int8, numeric=True)
int16 = _add_type("int16", 5, 2, "integer", torch.int16, np.int16, numeric=True)
int32 = _add_type("int32", 3, 4, "integer", torch.int32, np.int32, numeric=True)
int64 = _add_type("int64", 9, 8, "integer", torch.int64, np.int64, numeric=True)
uint8 = _add_type("uint8", 4, 1, "unsigned", torch.uint8, np.uint8, numeric=True)
uint16 = _add_type("uint16", 17, 2, "unsigned", torch.uint16, np.uint16, numeric=True)
uint32 = _add_type("uint32", 22, 4, "unsigned", torch.uint32, np.uint32, numeric=True)
uint64 = _add_type("uint64", 23, 8, "unsigned", torch.uint64, np.uint64, numeric=True)

bool_ = _add_type("bool", 10, 1, "bool", torch.bool, np.bool_)
string = _add_type("string", 7, 0, "string", None, object)
resource = _add_type("resource", 20, 0, "handle")
variant = _add_type("variant", 21, 0, "handle")

qint8 = _define_quantized("qint8", 11, 1, np.int8)
quint8 = _define_quantized("quint8", 12, 1, np.uint8)
qint16 = _define_quantized("qint16", 15, 2, np.int16)
quint16 = _define_quantized("quint16", 16, 2, np.uint16)
qint32 = _define_quantized("qint32", 13, 4, np.int32)

float8_e5m2 = _add_type("float8_e5m2", 24, 1, "floating", torch.float8_e5m2, ml_dtypes.float8_e5m2)
float8_e4m3fn = _add_type("float8_e4m3fn", 25, 1, "floating", torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _add_type("float8_e4m3fnuz", 26, 1, "floating", torch.float8_e4m3fnuz, ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = _add_type("float8_e4m3b11fnuz", 27, 1, "floating", None, ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = _add_type("float8_e5m2fnuz", 28, 1, "floating", torch.float8_e5m2fnuz, ml_dtypes.float8_e5m2fnuz)

# ATen names 2- and 4-bit types but has no storage for them, so these have no torch type.
int4 = _add_type("int4", 29, 1, "integer", None, ml_dtypes.int4)
uint4 = _add_type("uint4", 30, 1, "unsigned", None, ml_dtypes.uint4)
int2 = _add_type("int2", 31, 1, "integer", None, ml_dtypes.int2)
uint2 = _add_type("uint2", 32, 1, "unsigned", None, ml_dtypes.uint2)
float4_e2m1fn = _add_type("float4_e2m1fn", 33, 1, "floating", None, ml_dtypes.float4_e2m1fn)

_VALUE_TYPES = [dtype for dtype in _BY_ENUM.values() if not dtype._is_ref_dtype]
_REFERENCE_TYPES = [dtype for dtype in _BY_ENUM.values() if dtype._is_ref_dtype]
globals().update({dtype.name: dtype for dtype in _REFERENCE_TYPES})

QUANTIZED_DTYPES = frozenset(dtype for dtype in _BY_ENUM.values() if dtype.is_quantized)

FROM_TORCH: dict[torch.dtype, DType] = {dtype.torch: dtype for dtype in _VALUE_TYPES if dtype.torch is not None}

# By scalar type (`array.dtype.type`), which is the quicker look-up, and by `np.dtype` in native byte order.
FROM_NUMPY: dict[Any, DType] = {
    dtype.as_numpy_dtype: dtype for dtype in _VALUE_TYPES if dtype.is_numpy_compatible and dtype is not string
}
FROM_NUMPY |= {np.longlong: int64, np.ulonglong: uint64}
FROM_NUMPY |= {np.dtype(numpy_type): dtype for numpy_type, dtype in FROM_NUMPY.items()}
FROM_NUMPY |= {np.object_: string, np.bytes_: string, np.str_: string, np.dtype(object): string}
FROM_NUMPY[np.dtypes.StringDType()] = string

_FROM_ANYTHING: dict[Any, DType] = {
    **_BY_ENUM,
    **_BY_NAME,
    **FROM_NUMPY,
    "half": float16, "half_ref": float16._as_ref,
    "float": float32, "float_ref": float32._as_ref,
    "double": float64, "double_ref": float64._as_ref,
    builtins.float: float32,
    builtins.bool: bool_,
    builtins.object: string,
}  # fmt: skip


def as_dtype(type_value: Any) -> DType:
    """Returns the `tf.DType` that a value names.

    Args:
      type_value: a `tf.DType`, its name, a NumPy dtype or scalar type, `float`, `bool` or `object`, the number of a
            dtype in TensorFlow's `DataType` enum, or anything with a NumPy `dtype`.

    Returns:
      The one instance of that dtype.

    Raises:
      TypeError: if `type_value` names no dtype. `int`, `str` and `complex` don't: they could mean several.

    Example:
    >>> tf.as_dtype("float"), tf.as_dtype(2)
    (tf.float32, tf.float64)
    """
    if type(type_value) is DType:
        return type_value
    try:
        return _FROM_ANYTHING[type_value]
    except (KeyError, TypeError):  # TypeError: unhashable
        pass
    with contextlib.suppress(KeyError, TypeError):
        if isinstance(type_value, np.dtype):  # of another byte order, or strings of a fixed length
            return FROM_NUMPY[type_value.type]
        if hasattr(type_value, "dtype"):
            return FROM_NUMPY[np.dtype(type_value.dtype).type]
    raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")


bool = bool_
