"""From Python numbers, texts and nested sequences of them to arrays, by TensorFlow's rules.

The first element decides the kind of a sequence's elements. TensorFlow converts to some dtypes directly (`_DIRECT`);
for these, each element must convert. For any other dtype, the elements are converted to their own dtype, then cast.
"""

from __future__ import annotations

import functools
import marshal
import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import countOf
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.core.context import state
from tapeflow.core.types.dtypes import (
    FROM_NUMPY,
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int32,
    int64,
    string,
    uint64,
)
from tapeflow.core.values.strings import FEW, StringArray

MIXED = "Can't convert Python sequence with mixed types to Tensor."
_DATATYPE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1

# The kind of a Python value, as a letter: b(ool), B (NumPy's bool), i(nt), f(loat), c(omplex), s(tring), or "".
_LETTERS: tuple[tuple[Any, str], ...] = (
    (bool, "b"),
    (np.bool_, "B"),
    ((int, np.integer), "i"),
    ((float, np.floating, ml_dtypes.bfloat16), "f"),
    ((complex, np.complexfloating), "c"),
    ((str, bytes), "s"),
)
# From the letter of the first element to the letters that may follow it.
_BESIDE = {"b": "bB", "B": "bB", "i": "ifb", "f": "ifb", "c": "cifb", "s": "s"}
_DIRECT = {
    bool_: "bB", int32: "ib", int64: "ib", uint64: "ib", float16: "fib", float32: "fib", float64: "fib",
    complex128: "cfib", string: "s",
}  # fmt: skip


def datatype_name(dtype: DType) -> str:
    """Returns the dtype as TensorFlow's C++ spells it in messages: `float` for float32."""
    return _DATATYPE_NAMES.get(dtype.name, dtype.name)


def storage_type(dtype: DType) -> Any:
    """Returns the NumPy type of a dtype's elements; for quantized dtypes the integers that they are stored as."""
    kind = dtype.as_numpy_dtype
    return kind[0] if isinstance(kind, np.dtype) and kind.names else kind


def unfit(value: object, dtype: DType) -> TypeError:
    """Returns the error for a value that can't become a dtype."""
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {datatype_name(dtype)}")


def unconvertible(value: object, reason: str) -> TypeError | ValueError:
    """Returns the error for a value that can't become a tensor; in a graph of another class, as TensorFlow's."""
    if state.graph is None or value is None:
        return ValueError(reason)
    return TypeError(f"Failed to convert elements of {value!r} to Tensor. {reason}")


def unsupported_value(value: object, whole: object) -> TypeError | ValueError:
    """Returns the error for a value, part of a whole, of a type that tensors have no values of."""
    if whole is None and state.graph is not None:
        return ValueError("None values not supported.")
    reason = f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."
    return unconvertible(whole, reason)


@functools.lru_cache(maxsize=1024)
def letter(kind: type) -> str:
    """Returns the letter of a type's values, see `_LETTERS`."""
    return next((name for types, name in _LETTERS if issubclass(kind, types)), "")


def fits(kind: str, dtype: DType) -> bool:
    """Returns True if values of that letter convert to that dtype."""
    if dtype in _DIRECT:
        return kind in _DIRECT[dtype]
    if kind == "i":
        return dtype.is_integer or dtype.is_quantized or dtype is bfloat16 or dtype is complex64
    if kind == "f":
        return dtype.is_floating or dtype is complex64
    return kind == "c" and dtype is complex64


# ---- homogeneous lists, quickly --------------------------------------------------------------------------------------

# By the type of the elements and the requested dtype: NumPy's type, `struct`'s letter for it, the dtype.
_QUICK: dict[Any, Any] = {
    (float, None): (np.float32, "f", float32),
    (float, float32): (np.float32, "f", float32),
    (float, float64): (np.float64, "d", float64),
    (int, None): (np.int32, "i", int32),
    (int, int32): (np.int32, "i", int32),
    (int, int64): (np.int64, "q", int64),
    (int, float32): (np.float32, "f", float32),
    (int, float64): (np.float64, "d", float64),
    (bool, None): (np.bool_, "?", bool_),
    (bool, bool_): (np.bool_, "?", bool_),
}


_MANY = 64  # items of a list: from here on `marshal` takes less time than a look at each type
# By the type of numbers: the letter that `marshal` writes before each, and the dtype of the number behind it.
_MARSHALLED = {float: (ord("g"), "<f8"), int: (ord("i"), "<i4")}


@functools.lru_cache(maxsize=64)
def _record_of_lists(shape: tuple[int, ...], kind: type) -> np.dtype[Any]:
    """Returns what `marshal` writes of nested lists of numbers."""
    record = np.dtype([("type", "u1"), ("items", _MARSHALLED[kind][1])])
    for length in reversed(shape):
        record = np.dtype([("type", "u1"), ("length", "<u4"), ("items", record, (length,))])
    return record


def _marshalled_array(value: list[Any], dtype: DType | None) -> tuple[np.ndarray, DType] | None:
    """Returns the array of nested lists, or None if other types are in it, or ints of more than 32 bits."""
    shape, first = [len(value)], value[0]
    while type(first) is list and first:
        shape.append(len(first))
        first = first[0]
    kind: Any = type(first)
    if kind not in _MARSHALLED or (kind, dtype) not in _QUICK:
        return None
    numpy_type, _, result = _QUICK[kind, dtype]
    record = _record_of_lists(tuple(shape), kind)
    try:
        data = marshal.dumps(value, 2)
        if len(data) != record.itemsize:
            return None
        level = np.frombuffer(data, record)[0]
        for length in shape:
            if not ((level["type"] == ord("[")).all() and (level["length"] == length).all()):
                return None
            level = level["items"]
        if not (level["type"] == _MARSHALLED[kind][0]).all():
            return None
        with np.errstate(over="raise"):
            return level["items"].astype(numpy_type), result
    except (ValueError, FloatingPointError):  # something else is in it, or a number is out of range
        return None


def quick_array(value: Any, dtype: DType | None) -> tuple[np.ndarray, DType] | None:
    """Returns the array of a rectangular list of one type of numbers, or None where `array_of` has to decide.

    `struct` packs numbers in a third of the time of `np.array`, and refuses those that are out of range.
    """
    if not value:
        return None
    flat: Any = value
    shape: tuple[int, ...] = ()
    while type(flat[0]) is list:
        length = len(flat[0])
        if not length or countOf(map(type, flat), list) != len(flat) or countOf(map(len, flat), length) != len(flat):
            return None
        shape = (*shape, length) if shape else (len(flat), length)
        if length >= _MANY and (quick := _marshalled_array(value, dtype)) is not None:
            return quick
        flat = list(chain.from_iterable(flat))
    kind, size = type(flat[0]), len(flat)
    target = _QUICK.get((kind, dtype))
    if target is None or countOf(map(type, flat), kind) != size:
        return None
    numpy_type, letter, result = target
    if kind is int and letter == "f" and not (min(flat) > -(2**53) and max(flat) < 2**53):
        return None
    array: Any = np.empty(size, numpy_type)
    try:
        struct.pack_into(f"={size}{letter}", array, 0, *flat)
    except (OverflowError, struct.error):
        return None
    return array.reshape(shape) if shape else array, result


def quick_strings(value: Sequence[Any], dtype: DType | None) -> StringArray | None:
    """Returns the array of a list of texts, or None where something else may be in it."""
    if type(value) is not list or not value or type(value[0]) not in _TEXTS or dtype not in (None, string):
        return None
    try:
        if type(value[0]) is str:
            return StringArray.of_text(value)
        return StringArray.of(value) if len(value) > FEW or set(map(type, value)) == {bytes} else None
    except TypeError:
        return None


# ---- any sequence ----------------------------------------------------------------------------------------------------


def is_sequence(value: object) -> bool:
    """Returns True if a value is a list to TensorFlow."""
    if isinstance(value, (list, tuple, range)):
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if isinstance(value, (str, bytes, Mapping)):
        return False
    kind = type(value)
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not hasattr(kind, "__array__")


def array_of(value: Sequence[Any], dtype: DType | None) -> tuple[Any, DType]:
    """Returns the array of a nested sequence of numbers or texts, and the dtype it stands for.

    Raises:
        ValueError: it is not rectangular, mixes types, or has something else in it.
        TypeError: the elements do not fit `dtype`.
    """
    if dtype is not None and state.graph is not None:
        _check_elements(value, dtype)
    shape: list[int] = []
    first = value
    while is_sequence(first):
        shape.append(len(first))
        if not len(first):
            break
        first = first[0]
    leaves: list[Any] = []
    _collect_leaves(value, shape, 0, leaves)
    if not leaves:
        dtype = dtype or float32
        return np.zeros(shape, storage_type(dtype)), dtype
    flat, flat_dtype = _row_array(leaves, value, dtype)
    return flat.reshape(shape), flat_dtype


def _check_elements(value: Sequence[Any], dtype: DType) -> None:
    """Raises TypeError for an element that does not fit; graphs look at the elements before they look at the shape."""
    for v in value:
        if is_sequence(v):
            _check_elements(v, dtype)
            continue
        cls: Any = type(v)
        if (kind := letter(cls)) and not fits(kind, dtype):
            raise TypeError(f"Expected {dtype.name}, but got {v!r} of type '{type(v).__name__}'.")


_TEXTS = frozenset({str, bytes})


def _collect_leaves(value: Any, shape: list[int], depth: int, leaves: list[Any]) -> None:
    """Appends the leaves of a sequence that must have a shape."""
    if not is_sequence(value) or len(value) != shape[depth]:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if depth < len(shape) - 1:
        for v in value:
            _collect_leaves(v, shape, depth + 1, leaves)
        return
    if not _TEXTS.issuperset(map(type, value)) and any(map(is_sequence, value)):
        raise ValueError(MIXED)
    leaves.extend(value)


def _row_array(leaves: list[Any], value: Sequence[Any], dtype: DType | None) -> tuple[Any, DType]:
    leaves = [v[()] if isinstance(v, np.ndarray) else v for v in leaves]
    kinds: list[Any] = [*map(type, leaves)]
    letters, first = set(map(letter, set(kinds))), letter(kinds[0])
    if dtype is not None and dtype in _DIRECT and letters <= set(_DIRECT[dtype]):
        return _as_direct(leaves, dtype), dtype
    if not first:
        v = leaves[0]
        raise unsupported_value(v, value)
    if not letters <= set(_BESIDE[first]):
        if first != "b" or state.graph is None or not letters <= set("bBif"):
            raise unconvertible(value, MIXED)
        first = "f" if "f" in letters else "i"  # graphs let NumPy decide
    if first == "i" and "f" in letters:
        first = "f"
    if dtype is not None and not fits(first, dtype):
        raise unfit(value, dtype)
    if first == "s":
        return _text_array(leaves), string
    if first == "i":
        array = _number_array(leaves, np.int64)
        if dtype is None:
            dtype = int32 if array.min() >= _INT32_MIN and array.max() <= _INT32_MAX else int64
        return array, dtype
    if first == "f":
        float_dtype = FROM_NUMPY[type(leaves[0])] if isinstance(leaves[0], np.floating) else float32
        array = _number_array(leaves, np.float64)
        if dtype is None:
            _check_default_range(array, float_dtype)
        if dtype is not None and float_dtype is not float64:
            with np.errstate(all="ignore"):
                array = array.astype(np.float32)  # as TensorFlow does before it casts
        return array, dtype or float_dtype
    if first == "c":
        return np.array(leaves, np.complex128), dtype or complex128
    if dtype is not None and dtype is not bool_:  # Python's bools would convert; NumPy's among them don't
        raise unfit(value, dtype)
    return np.array(leaves, np.bool_), bool_


def _as_direct(leaves: list[Any], dtype: DType) -> Any:
    if dtype is string:
        return _text_array(leaves)
    if dtype.is_integer:
        return _number_array(leaves, np.uint64 if dtype is uint64 else np.int64)
    if dtype.is_floating:
        return _number_array(leaves, np.float64)
    return np.array(leaves, dtype.as_numpy_dtype)


def _number_array(leaves: list[Any], kind: type) -> np.ndarray:
    try:
        return np.array(leaves, kind)
    except OverflowError:
        if kind is np.float64:
            raise _out_of_range() from None
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None


def _out_of_range() -> ValueError:
    return ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")


def _check_default_range(array: np.ndarray, dtype: DType) -> None:
    """Raises ValueError for finite numbers that would be infinite in a default dtype; graphs take them so."""
    if state.graph is not None:
        return
    with np.errstate(over="ignore"):
        narrow = array.astype(dtype.as_numpy_dtype)
    if np.any(np.isinf(narrow) & np.isfinite(array)):
        raise _out_of_range()


def _text_array(leaves: list[Any]) -> StringArray:
    return StringArray.of([v.encode() if isinstance(v, str) else bytes(v) for v in leaves])
