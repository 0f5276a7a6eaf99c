"""Strings from and to other libraries without a copy: Arrow's C data interface and its PyCapsules.

https://arrow.apache.org/docs/format/CDataInterface.html. An array is described by two structs in capsules, whose memory
lives until their `release` is called. No library is needed for either side.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, ClassVar

import numpy as np

from tapeflow.core.values.strings import StringArray, gather_ranges

_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Schema(ctypes.Structure):
    _fields_: ClassVar[list[Any]] = [
        ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    ]  # fmt: skip


class _Array(ctypes.Structure):
    _fields_: ClassVar[list[Any]] = [
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]  # fmt: skip


class _Stream(ctypes.Structure):
    _fields_: ClassVar[list[Any]] = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    ]  # fmt: skip


# ---- from Arrow ------------------------------------------------------------------------------------------------------

# The types of offsets, by the format of strings and of bytes; None for views.
_OFFSETS = {b"u": np.int32, b"z": np.int32, b"U": np.int64, b"Z": np.int64, b"vu": None, b"vz": None}
_INLINE = 12  # bytes: longer strings stand outside of their views

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


class _Owned:
    """A struct that this process has to release."""

    def __init__(self, kind: Any) -> None:
        self.struct = kind()

    def __del__(self, release: Any = _Release, address_of: Any = ctypes.addressof) -> None:
        if self.struct.release:
            release(self.struct.release)(address_of(self.struct))


def strings_of_arrow(value: Any) -> StringArray | None:
    """Returns the strings of an Arrow array, or of a series in several chunks; None if it holds something else.

    An array with 64-bit offsets shares its memory with the result.

    Args:
        value: an object with `__arrow_c_array__` or `__arrow_c_stream__`.

    Raises:
        ValueError: some strings are missing.
    """
    if hasattr(value, "__arrow_c_array__"):
        schema, array = value.__arrow_c_array__()
        kind = _Schema.from_address(_pointer_of(schema, b"arrow_schema")).format
        return _arrow_strings(kind, _Array.from_address(_pointer_of(array, b"arrow_array")), (schema, array))
    capsule = value.__arrow_c_stream__()
    address = _pointer_of(capsule, b"arrow_array_stream")
    stream, schema, chunks = _Stream.from_address(address), _Owned(_Schema), []
    if stream.get_schema(address, ctypes.addressof(schema.struct)) or schema.struct.format not in _OFFSETS:
        return None
    while True:
        chunk = _Owned(_Array)
        if stream.get_next(address, ctypes.addressof(chunk.struct)):
            raise ValueError(f"A {type(value).__name__} could not be read as a stream of Arrow arrays.")
        if not chunk.struct.release:
            break
        chunks.append(_arrow_strings(schema.struct.format, chunk.struct, chunk))
    return StringArray.concatenate(chunks) if chunks else StringArray.of([])


def _arrow_strings(kind: bytes, array: _Array, owner: object) -> Any:
    if kind not in _OFFSETS or array.dictionary:
        return None
    if array.null_count and _has_nulls(array):
        raise ValueError("An Arrow array with missing strings cannot be a tensor: fill them, as with fill_null.")
    if not array.length:
        return StringArray.of([])
    if _OFFSETS[kind] is None:
        return _strings_of_views(array, owner)
    start = array.offset
    offsets = _view_memory(array.buffers[1], start + array.length + 1, np.dtype(_OFFSETS[kind]), owner)[start:]
    if offsets[0] < 0 or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("An Arrow array is damaged: its offsets do not ascend.")
    data = _view_memory(array.buffers[2], int(offsets[-1]), np.dtype(np.uint8), owner)
    return StringArray(data, offsets.astype(np.int64, copy=False))


def _strings_of_views(array: _Array, owner: object) -> StringArray:
    """Returns the strings of an array of views: 16 bytes with the length, and with the string or its place."""
    views = _view_memory(array.buffers[1], 4 * (array.offset + array.length), np.dtype(np.int32), owner)
    views = views[4 * array.offset :].reshape(-1, 4)
    sizes = _view_memory(array.buffers[array.n_buffers - 1], array.n_buffers - 3, np.dtype(np.int64), owner)
    data = [_view_memory(array.buffers[2 + i], int(n), np.dtype(np.uint8), owner) for i, n in enumerate(sizes)]
    lengths, buffers, offsets = views[:, 0].astype(np.int64), views[:, 2], views[:, 3]
    outside = np.flatnonzero(lengths > _INLINE)
    starts = 16 * np.arange(array.length) + 4
    if lengths.min() < 0 or not ((buffers[outside] >= 0) & (buffers[outside] < len(data))).all():
        raise ValueError("An Arrow array is damaged: its views have no such lengths or buffers.")
    ends = offsets[outside] + lengths[outside]
    if (offsets[outside] < 0).any() or (ends > sizes[buffers[outside]]).any():
        raise ValueError("An Arrow array is damaged: its views point outside of their buffers.")
    begins = views.nbytes + np.cumsum([0, *sizes])
    starts[outside] = begins[buffers[outside]] + offsets[outside]
    return gather_ranges(np.concatenate([views.reshape(-1).view(np.uint8), *data]), starts, lengths)


def _has_nulls(array: _Array) -> bool:
    if array.null_count > 0 or not array.buffers[0]:
        return array.null_count > 0
    first, last = array.offset, array.offset + array.length
    bits = _view_memory(array.buffers[0], (last + 7) // 8, np.dtype(np.uint8), None)
    return not np.unpackbits(bits, bitorder="little")[first:last].all()


def _view_memory(address: int | None, count: int, kind: np.dtype[Any], owner: object) -> np.ndarray:
    """Returns memory as an array that keeps its owner."""
    if not count or address is None:
        return np.empty(count, kind)
    memory: Any = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    memory.owner = owner
    array = np.frombuffer(memory, kind)
    array.flags.writeable = False
    return array


# ---- to Arrow --------------------------------------------------------------------------------------------------------
#
# Python may clear this module before it frees the last struct. So these functions keep what they need.

_held: dict[int, Any] = {}  # what structs point to, until they are released
_next = itertools.count(1).__next__

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
_pointer_in_destructor = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _release_function(kind: Any) -> Any:
    """Returns the function that releases a struct of a kind."""
    held = _held

    def release(address: int) -> None:
        struct = kind.from_address(address)
        struct.release = None
        held.pop(struct.private_data, None)

    return _Release(release)


def _capsule_destructor(kind: Any, name: bytes) -> Any:
    """Returns the destructor of a capsule, which releases what nobody took."""
    pointer_of, as_function, held = _pointer_in_destructor, _Release, _held

    def destroy(capsule: int) -> None:
        address = pointer_of(capsule, name)
        struct = kind.from_address(address)
        if struct.release:
            as_function(struct.release)(address)
        held.pop(-address, None)

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)


_RELEASE = {kind: _release_function(kind) for kind in (_Schema, _Array)}
_DESTROY = {
    kind: _capsule_destructor(kind, name) for kind, name in ((_Schema, b"arrow_schema"), (_Array, b"arrow_array"))
}  # fmt: skip


def _make_capsule(struct: Any, name: bytes, keeps: object) -> Any:
    """Returns a capsule with a struct."""
    kind, number, address = type(struct), _next(), ctypes.addressof(struct)
    struct.release = ctypes.cast(_RELEASE[kind], ctypes.c_void_p).value
    struct.private_data = number
    _held[number], _held[-address] = keeps, struct
    return _new_capsule(address, name, ctypes.cast(_DESTROY[kind], ctypes.c_void_p))


def arrow_of_strings(strings: StringArray) -> tuple[Any, Any]:
    """Returns a vector of strings as two capsules, with an `ArrowSchema` and an `ArrowArray` of large binary."""
    data, offsets = strings.buffer, strings.offsets
    buffers = (ctypes.c_void_p * 3)(None, offsets.ctypes.data, data.ctypes.data)
    schema = _Schema(format=b"Z", name=b"")
    array = _Array(length=strings.size, n_buffers=3, buffers=ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p)))
    return (
        _make_capsule(schema, b"arrow_schema", None),
        _make_capsule(array, b"arrow_array", (data, offsets, buffers)),
    )
