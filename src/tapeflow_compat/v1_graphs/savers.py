"""Checkpoints in graphs that are read: the operations of TensorFlow 1's savers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import zeros
from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.graph.graphdef.builders import register
from tapeflow.graph.graphdef.node_protos import ParsedNode, node_attr
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import python_op
from tapeflow.train.bundle import Bundle, write_bundle


def _build_save(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    """Adds an operation that saves. Those of TensorFlow before 1.0 write today's format too: all readers know it."""
    sliced = node.op != "Save"

    def save(prefix: Any, names: Any, *rest: Any) -> None:
        slices, tensors = (rest[0].value, rest[1:]) if sliced else ([b""] * len(rest), rest)
        whole = _join_slices(map(_scalar_text, names.value), map(_scalar_text, slices), tensors)
        write_bundle(_scalar_text(prefix), whole.items())

    return python_op(node.op, save, inputs)


def _build_restore(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    dtypes = node_attr(node, "dtypes")

    def restore(prefix: Any, names: Any, slices: Any) -> list[Any]:
        bundle = Bundle(_scalar_text(prefix))
        pairs = zip(names.value, slices.value, strict=True)
        return [_slice_part(bundle.read(_scalar_text(n)), _scalar_text(s)) for n, s in pairs]

    return python_op(node.op, restore, inputs, [(dtype, None) for dtype in dtypes])


def _build_first_restore(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    def restore(pattern: Any, name: str | None, place: Any = b"") -> list[Any]:
        return [_slice_part(Bundle(_scalar_text(pattern)).read(_scalar_text(name)), _scalar_text(place))]

    return python_op(node.op, restore, inputs, [(node_attr(node, "dt"), None)])


def _build_sharded_name(builder: Any, node: ParsedNode, inputs: list[Any]) -> Operation:
    def name(base: Any, shard: Any, shards: Any) -> list[Any]:
        return [convert(f"{_scalar_text(base)}-{int(shard):05d}-of-{int(shards):05d}")]

    return python_op(node.op, name, inputs, [(string, [])])


def _scalar_text(value: Any) -> str:
    """Returns the text of a scalar.

    Raises:
        InvalidArgumentError: it is no scalar, or no text.
    """
    value = value.numpy() if hasattr(value, "numpy") else value
    if not isinstance(value, bytes):
        raise invalid(f"Expected a scalar string, not one of the shape {list(np.shape(value))}")
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise invalid(f"Expected text: {error}") from None


# ---- parts of variables ----------------------------------------------------------------------------------------------


def _parse_place(text: str) -> tuple[list[int], tuple[slice, ...]]:
    """Returns the shape of a whole variable, and the place of a part in it, of a text such as `5 2 0,3:-`.

    Raises:
        InvalidArgumentError: the text has another form.
    """
    try:
        *dims, places = text.split(" ")
        shape, bounds = [int(d) for d in dims], []
        for place in places.split(":"):
            start, _, length = ("0", "", "") if place == "-" else place.partition(",")
            bounds.append(slice(int(start), int(start) + int(length) if length else None))
        if len(bounds) != len(shape):
            raise ValueError
    except ValueError:
        raise errors.InvalidArgumentError.of(
            f"Can't parse the shape and slice {text!r}: a part of a variable is described as in '5 2 0,3:-'."
        ) from None
    return shape, tuple(bounds)


def _slice_part(whole: Any, text: str) -> Any:
    """Returns the part of a variable's value that a text describes; all of it for an empty text."""
    if not text:
        return whole
    shape, bounds = _parse_place(text)
    if list(whole.shape) != shape:
        raise errors.InvalidArgumentError.of(
            f"Shape in shape_and_slice spec {shape} does not match the shape in the save file: {list(whole.shape)}"
        )
    return EagerTensor(whole.value[bounds], whole.dtype)


def _join_slices(names: Iterable[str], slices: Iterable[str], tensors: Sequence[Any]) -> dict[str, Any]:
    """Returns tensors by name, with the parts of a variable joined to one."""
    whole: dict[str, Any] = {}
    for name, text, tensor in zip(names, slices, tensors, strict=True):
        if not text:
            whole[name] = tensor
            continue
        shape, bounds = _parse_place(text)
        if name not in whole:
            whole[name] = zeros(shape, tensor.dtype)
        whole[name].value[bounds] = tensor.value
    return whole


register(dict.fromkeys(("SaveV2", "Save", "SaveSlices"), _build_save))
register(dict.fromkeys(("Restore", "RestoreSlice"), _build_first_restore))
register({"RestoreV2": _build_restore, "ShardedFilename": _build_sharded_name})
