"""From Python values, arrays and other libraries' tensors to tensors, by TensorFlow's rules.

Python ints are int32 (int64 where they do not fit) and floats float32, unless a dtype is requested; arrays keep
theirs; tensors and variables never change theirs.
"""

from __future__ import annotations

import functools
import math
from bisect import insort
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import device as devices
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.sequences import (
    array_of,
    datatype_name,
    fits,
    is_sequence,
    letter,
    quick_array,
    quick_strings,
    storage_type,
    unfit,
    unsupported_value,
)
from tapeflow.core.types.dtypes import (
    FROM_NUMPY,
    FROM_TORCH,
    DType,
    as_dtype,
    bool_,
    complex128,
    float32,
    int32,
    int64,
    string,
    uint64,
)
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import FEW, StringArray, gather_ranges
from tapeflow.core.values.tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import TensorLike

_INT32 = range(-(2**31), 2**31)
_SCALAR_TYPES = frozenset({int, float, bool, complex, str, bytes})

# Python scalars that were operands lately, as tensors, by (value, type, number of the dtype). Bounded.
scalars: dict[Any, EagerTensor] = {}
_MOST_SCALARS = 1024


def convert(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Any:
    """Returns the tensor of a value: a new one, unless the value is a tensor, as a tape may watch it.

    Args:
        value: anything convertible.
        dtype: the required dtype.
        hint: the preferred dtype.

    Raises:
        TypeError: a Python value does not fit `dtype`.
        ValueError: it is a tensor of another dtype, or can't be a tensor at all.
    """
    kind = type(value)
    if kind in _SCALAR_TYPES:
        if hint is not None and dtype is None:
            try:
                return _new_scalar(value, hint)
            except TypeError:
                pass
        return _new_scalar(value, dtype)
    if kind is list and not _registered and hint is None:
        return from_sequence(value, dtype)
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if dtype is None and hint is not None and not _loses_imaginary(value, hint):
        try:
            return convert(value, hint)
        except (TypeError, ValueError):
            pass
    method = getattr(kind, "__tf_tensor__", None)
    if method is not None:
        return method(value, dtype)
    for converter in _converters_for(kind):
        result = converter(value, dtype=dtype, name=None, as_ref=False)
        if result is not NotImplemented:
            if not isinstance(result, Tensor):
                raise RuntimeError(f"Conversion function {converter!r} for type {kind} returned non-Tensor: {result!r}")
            if dtype is not None and result.dtype is not dtype:
                raise RuntimeError(
                    f"Conversion function {converter!r} for type {kind} returned incompatible dtype: "
                    f"requested = {dtype.name}, actual = {result.dtype.name}"
                )
            return result
    if isinstance(value, (np.ndarray, np.generic)):
        return place_tensor(from_array(np.asarray(value), dtype))
    if isinstance(value, (list, tuple)):
        return from_sequence(value, dtype)
    if isinstance(value, TensorShape):
        return from_shape(value, dtype)
    if isinstance(value, torch.Tensor):
        return from_torch(value, dtype)
    if isinstance(value, (int, float, complex, str, bytes)):  # subclasses, such as IntEnum
        base: Any = next(b for b in (bool, int, float, complex, str, bytes) if isinstance(value, b))
        return _new_scalar(base(value), dtype)
    if dtype in (None, string) and is_arrow(value):
        from tapeflow.core.values.arrow import strings_of_arrow  # here, as few programs have such values

        strings = strings_of_arrow(value)
        if strings is not None:
            return EagerTensor(strings, string)
    if hasattr(value, "__array__"):
        return place_tensor(from_array(np.asarray(value), dtype))
    if hasattr(value, "__dlpack__"):
        return from_torch(torch.from_dlpack(value), dtype)
    if is_sequence(value):
        try:
            return from_sequence(value, dtype)
        except LookupError as error:  # a mapping that does not say so
            reason = f"{type(error).__name__}: {error}"
            message = f"Cannot infer dtype of a {kind.__name__} object, as iter(<object>).next() failed: {reason}"
            raise ValueError(message) from error
    raise unsupported_value(value, value)


def is_arrow(value: object) -> bool:
    """Returns True for an array or a series of an Arrow library; a series may also hold an array of NumPy."""
    kind = type(value)
    if hasattr(kind, "__arrow_c_array__"):
        return True
    return hasattr(kind, "__arrow_c_stream__") and not isinstance(getattr(value, "dtype", None), np.dtype)


def as_operand(value: TensorLike | None, dtype: DType | None = None, hint: DType | None = None) -> Any:
    """Returns the tensor of an op's argument. Ragged and sparse tensors, and tensors of a program's own type, stay
    unchanged."""
    if isinstance(value, Tensor) or not hasattr(type(value), "__tf_dispatch__"):
        return convert(value, dtype, hint)
    return value


def _loses_imaginary(value: Any, hint: DType) -> bool:
    """Returns True if an array's numbers would lose their imaginary parts in a dtype that was only a hint."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "c" and hint.is_integer


def place_tensor(tensor: EagerTensor) -> EagerTensor:
    """Returns the new tensor on the device of the scopes in force."""
    value = tensor.value
    if isinstance(value, torch.Tensor):
        target = devices.current_or_default(value.dtype)
        if target != value.device:
            tensor.value = value.to(target)
        elif state.devices:
            devices.stamp((tensor,))
    return tensor


# ---- scalars ---------------------------------------------------------------------------------------------------------


def operand(value: bytes | complex | str, dtype: DType | None) -> EagerTensor:
    """Returns the tensor of a Python scalar that is an op's operand, and no result: cached, and always on the CPU."""
    if value == 0 and type(value) is float and math.copysign(1.0, value) < 0:
        return from_scalar(value, dtype)  # -0.0 and 0.0 are the same dict key
    key = (value, type(value), dtype and dtype.as_datatype_enum)
    tensor = scalars.get(key)
    if tensor is None:
        tensor = from_scalar(value, dtype)
        if type(value) is bool and state.graph is not None:
            return tensor  # eagerly it may not fit
        if len(scalars) >= _MOST_SCALARS:
            scalars.clear()
        scalars[key] = tensor
    return tensor


def _new_scalar(value: bytes | complex | str, dtype: DType | None) -> EagerTensor:
    """Returns a new object on the memory of a scalar's cached tensor."""
    cached = operand(value, dtype)
    return EagerTensor(cached.value, cached.dtype)


def from_scalar(value: Any, dtype: DType | None) -> EagerTensor:
    """Returns a new tensor of a Python `int`, `float`, `bool`, `complex`, `str` or `bytes`."""
    kind: Any = type(value)
    if kind is str or kind is bytes:
        if dtype is not None and dtype is not string:
            raise unfit(value, dtype)
        return EagerTensor(StringArray.scalar(value.encode() if kind is str else value), string)
    requested = dtype is not None
    if dtype is None:
        if kind is float:
            dtype = float32
        elif kind is int:
            dtype = int32 if value in _INT32 else int64
        else:
            dtype = bool_ if kind is bool else complex128
    if not fits(letter(kind), dtype) and not (kind is bool and state.graph is not None and _is_number(dtype)):
        raise unfit(value, dtype)
    if (
        kind is float
        and not requested
        and abs(value) > 3.4028235677973366e38
        and not (math.isinf(value) or state.graph is not None)
    ):
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
    if kind is int:
        try:
            value = float(value) if dtype.is_floating else wrap_integer(value, dtype) if dtype.is_integer else value
        except OverflowError:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    if dtype.torch is None:
        return from_array(np.asarray(value), dtype)
    try:
        return EagerTensor(torch.scalar_tensor(value, dtype=dtype.torch), dtype)
    except RuntimeError:  # out of range: infinite
        return EagerTensor(torch.scalar_tensor(value, dtype=torch.float64).to(dtype.torch), dtype)


def _is_number(dtype: DType) -> bool:
    return dtype.is_integer or dtype.is_floating or dtype.is_complex


def wrap_integer(value: int, dtype: DType) -> int:
    """Returns an integer wrapped to the range of `dtype`.

    Raises:
        OverflowError: it does not fit 64 bits.
    """
    low, high = (0, 2**64) if dtype is uint64 else (-(2**63), 2**63)
    if not low <= value < high:
        raise OverflowError("Python int too large to convert to C long")
    bits = dtype.size * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if not dtype.is_unsigned and value >= 1 << (bits - 1) else value


# ---- sequences -------------------------------------------------------------------------------------------------------


def from_sequence(value: Sequence[Any], dtype: DType | None) -> EagerTensor:
    """Returns the tensor of a nested list. Tensors in it are stacked, so gradients pass.

    Raises:
        ValueError: the lists are not of equal lengths, or mix types.
        TypeError: the elements do not fit `dtype`.
    """
    quick = quick_array(value, dtype)
    if quick is not None:
        array, array_dtype = quick
        tensor = EagerTensor(torch.from_numpy(array), array_dtype)
        return tensor if not state.devices and devices.default() is devices.CPU else place_tensor(tensor)
    strings = quick_strings(value, dtype)
    if strings is not None:
        return EagerTensor(strings, string)
    if _has_tensor(value):
        return _pack_tensors(value, dtype)
    array, array_dtype = array_of(value, dtype)
    if isinstance(array, StringArray):
        return EagerTensor(array, string)
    if dtype is None and state.graph is not None and array.dtype.kind in "iufc":
        array, array_dtype = _sequence_in_graph(value)
    return place_tensor(from_array(array, array_dtype, own=True))


def _sequence_in_graph(value: Sequence[Any]) -> tuple[np.ndarray, Any]:
    """Returns the array of a sequence with NumPy's numbers in it, and its dtype, as a graph's constants have them."""
    array = np.array(value)
    if array.dtype == np.float64:
        return array, float32
    if array.dtype == np.int64 and array.size and _INT32[0] <= array.min() and array.max() <= _INT32[-1]:
        return array, int32
    return array, from_numpy_type(array)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return not _SCALAR_TYPES.issuperset(map(type, value)) and any(map(_has_tensor, value))
    return isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")


def _pack_tensors(value: Sequence[Any], dtype: DType | None) -> Any:
    """Returns a nested list with tensors in it, stacked level by level. All tensors must have the first one's dtype,
    unless another dtype is requested."""
    first = _first_dtype(value)
    requested = dtype is not None and dtype is not first
    if dtype is None:
        dtype = first

    def pack(v: TensorLike) -> Any:
        if isinstance(v, (list, tuple)) and _has_tensor(v):
            if not requested and not all(isinstance(x, Tensor) for x in v):
                for x in v:
                    if isinstance(x, Tensor) and x.dtype is not dtype:
                        wrong = f"Cannot convert a list containing a tensor of dtype {x.dtype} to {dtype}"
                        raise TypeError(f"{wrong} (Tensor is: {x!r})")
            return ops.Pack([pack(x) for x in v], 0, name="packed")
        if isinstance(v, Tensor) or hasattr(type(v), "__tf_tensor__"):
            tensor = convert(v)
            return ops.Cast(tensor, dtype) if requested and tensor.dtype is not dtype else tensor
        return convert(v, dtype)

    return pack(value)


def _first_dtype(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        return next((dtype for dtype in map(_first_dtype, value) if dtype is not None), None)
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        return as_dtype(value.dtype)
    return None


def from_shape(shape: TensorShape, dtype: DType | None) -> EagerTensor:
    """Returns the tensor of a shape's dimensions.

    Raises:
        ValueError: a dimension is unknown.
    """
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    if dtype is not None and dtype not in (int32, int64):
        raise TypeError(f"Cannot convert {shape!r} to a tensor with dtype {dtype.name}: dimensions are int32 or int64.")
    dims = shape.as_list()
    if dtype is None:
        dtype = int32 if all(d in _INT32 for d in dims) else int64
    return place_tensor(from_array(np.array(dims, np.int64), dtype, own=True))


# ---- arrays ----------------------------------------------------------------------------------------------------------


def from_array(array: np.ndarray, dtype: DType | None = None, own: bool = False) -> EagerTensor:
    """Returns a tensor with the values of an array, on the CPU.

    Args:
        array: the array.
        dtype: the dtype to cast it to.
        own: nobody else holds the array; its memory may become the tensor's.

    Raises:
        ValueError: the array is of objects, or of a type that no dtype stands for.
    """
    if array.dtype.kind in "OUST":
        return _from_text(array, dtype)
    array_dtype = from_numpy_type(array)
    if array_dtype is None:
        kind = {"M": "DATETIME", "m": "TIMEDELTA", "V": "VOID"}.get(array.dtype.kind, array.dtype.name.upper())
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_{kind}).")
    if array.dtype.names:  # the type of a quantized dtype: integers in a field
        array = array[array.dtype.names[0]]
    if dtype is None:
        dtype = array_dtype
    if dtype is string:
        message = f"Failed to convert a NumPy array to a Tensor (Unsupported object type {array.dtype.name})."
        raise ValueError(message) if state.graph is None else TypeError(message)
    if dtype.as_datatype_enum in (20, 21):
        raise TypeError(f"Cannot convert {array!r} to EagerTensor of dtype {dtype.name}")
    target = storage_type(dtype)
    if array.dtype != target:
        with np.errstate(all="ignore"):
            array, own = array.astype(target), True
    if not own or not array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")
    return EagerTensor(_to_torch(array, dtype), dtype)


def from_numpy_type(array: np.generic | np.ndarray) -> DType | None:
    """Returns the dtype that stands for an array's type, or None."""
    return FROM_NUMPY.get(array.dtype if array.dtype.names else array.dtype.type)


def _to_torch(array: np.ndarray, dtype: DType) -> Any:
    if dtype.torch is None:
        return array
    if array.dtype.kind == "V" or array.dtype.type.__module__ == "ml_dtypes":  # bfloat16 and float8: by their bits
        return torch.from_numpy(array.view(f"u{array.itemsize}")).view(dtype.torch)
    if array.dtype.type is np.ulonglong:  # NumPy's type for ints above int64's range
        array = array.view(np.uint64)
    return torch.from_numpy(array)


def _from_text(array: np.ndarray, dtype: DType | None) -> EagerTensor:
    if dtype is not None and dtype is not string:  # NumPy reads numbers
        if dtype.is_bool or dtype.as_numpy_dtype.__module__ == "ml_dtypes":
            array = array.astype(object)
        return from_array(array.astype(storage_type(dtype)), dtype, own=True)
    strings = _strings_of_width(array) if array.dtype.kind in "SU" and array.size > FEW else None
    flat = array.reshape(-1).tolist() if strings is None else []
    strings = strings or quick_strings(flat, string)
    if strings is not None:
        return EagerTensor(strings.reshape(array.shape), string)
    for v in flat:
        if not isinstance(v, (str, bytes)):
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(v).__name__})."
            )
    encoded = [v.encode() if isinstance(v, str) else v for v in flat]
    return EagerTensor(StringArray.of(encoded, array.shape), string)


def _strings_of_width(array: np.ndarray) -> StringArray | None:
    """Returns the strings of an array of one width, which zeros fill; None if there are characters beyond ASCII."""
    flat = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1)
    data = flat.view(np.uint8 if array.dtype.kind == "S" else np.uint32)
    if data.itemsize > 1:
        if data.max(initial=0) > 127:
            return None
        data = data.astype(np.uint8)
    return gather_ranges(data, np.arange(flat.size) * (data.size // flat.size), np.strings.str_len(flat))


def from_torch(value: torch.Tensor, dtype: DType | None = None) -> EagerTensor:
    """Returns a tensor with the values of a `torch.Tensor`, on its device; gradients of torch's do not pass.

    Raises:
        ValueError: its dtype is not `dtype`.
    """
    if value.requires_grad and torch.is_grad_enabled():
        _warn_of_lost_gradient()
    tensor_dtype = FROM_TORCH.get(value.dtype)
    if tensor_dtype is None:
        raise ValueError(f"Failed to convert a torch.Tensor to a Tensor (unsupported dtype {value.dtype}).")
    if dtype is not None and tensor_dtype is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for a torch.Tensor with dtype {tensor_dtype.name}."
        )
    return EagerTensor(value.detach().clone(), tensor_dtype)


@functools.cache
def _warn_of_lost_gradient() -> None:
    """Warns once that torch's gradients do not pass through TensorFlow's ops."""
    get_logger().warning(
        "A torch.Tensor that requires a gradient became a tf.Tensor, and torch's backward() does not reach it. To keep "
        "the gradient, wrap the torch module in tf.torch.Layer and differentiate with tf.GradientTape, or make a torch "
        "module of the TensorFlow function with tf.torch.module and call backward(). If it needs no gradient, pass "
        "x.detach()."
    )


# ---- converters of other libraries ---------------------------------------------------------------------------------

_registered: list[tuple[int, int, Any, Callable[..., Any]]] = []
_by_type: dict[type, list[Callable[..., Any]]] = {}


def register(base_type: Any, function: Callable[..., Any], priority: int) -> None:
    """Registers a converter for a type (or tuple of types) and its subclasses."""
    insort(_registered, (priority, len(_registered), base_type, function), key=lambda r: r[:2])
    _by_type.clear()


def has_converter(kind: type) -> bool:
    """Returns True if a class says how its values become tensors, or a program has registered that."""
    return hasattr(kind, "__tf_tensor__") or bool(_converters_for(kind))


def _converters_for(kind: type) -> list[Callable[..., Any]]:
    if not _registered:
        return []
    converters = _by_type.get(kind)
    if converters is None:
        converters = _by_type[kind] = [f for _, _, base, f in _registered if issubclass(kind, base)]
    return converters


# ---- host values -----------------------------------------------------------------------------------------------------


def host_value(value: Any) -> Any:
    """Returns the Python numbers in a shape, an axis or paddings, with tuples for lists and tensors.

    Raises:
        ValueError: it can't be converted; a graph raises TypeError.
    """
    kind = type(value)
    if kind in (int, float, bool, complex, str, bytes, type(None), DType):
        return value
    if kind in (list, tuple):
        return tuple([host_value(v) for v in value])
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    if isinstance(value, EagerTensor):
        return nested_tuples(value._array().tolist())
    if isinstance(value, Tensor):
        return value  # symbolic: it has no value yet
    if isinstance(value, (np.ndarray, np.generic)):
        return nested_tuples(value.tolist())
    if hasattr(kind, "__tf_tensor__") or hasattr(value, "__array__") or isinstance(value, torch.Tensor):
        tensor = convert(value)
        # a symbolic one has no value yet
        return nested_tuples(tensor._array().tolist()) if isinstance(tensor, EagerTensor) else tensor
    if hasattr(kind, "__index__"):
        return value.__index__()
    if isinstance(value, Sequence):
        return tuple([host_value(v) for v in value])
    raise unsupported_value(value, value)


def nested_tuples(value: float | list[Any]) -> Any:
    return tuple([nested_tuples(v) for v in value]) if type(value) is list else value


__all__ = ["convert", "datatype_name", "from_array", "from_scalar", "from_torch", "host_value", "operand"]


hooks.convert = convert
