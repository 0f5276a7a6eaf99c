"""TFLite forms of gathers, scatters and one-hot vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import bool_, float32, int32
from tapeflow.lite.forms.shapes import as_int32, numbers_of
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import FORMS, NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


@form("GatherV2", "Gather", "ResourceGather")
def _lower_gather(w: Writer, call: LoweredCall, x: LiteTensor, indices: LiteTensor, *axis: LiteTensor) -> LiteTensor:
    at = numbers_of(axis[0], "the axis")[0] if axis else 0
    batch = call.attrs.get("batch_dims") or 0
    if batch < 0:
        batch += indices.rank
    if x.value is not None and x.dtype is float32 and x.rank == 2 and at % 2 == 0 and not batch and indices.rank:
        return _add_embedding(w, x, indices, call.shape)
    return w.add("GATHER", [x, indices], call.shape, axis=at % x.rank, batchDims=batch)


def _add_embedding(w: Writer, table: LiteTensor, indices: LiteTensor, shape: Sequence[int | None]) -> LiteTensor:
    """Adds a lookup of rows of a constant table, which can be quantized."""
    flat = w.reshape(as_int32(w, indices), [None if None in indices.shape else math.prod(indices.shape)])
    rows = w.add("EMBEDDING_LOOKUP", [flat, table], [*flat.shape, table.shape[1]], table.dtype)
    if shape.count(None) <= 1:
        return w.reshape(rows, shape)
    sizes = w.add("SHAPE", [indices], [indices.rank], int32, outType=w.file.type_numbers(int32))
    target = w.add("CONCATENATION", [sizes, w.constant([table.shape[1]], int32)], [len(shape)], axis=0)
    return w.add("RESHAPE", [rows, target], shape)


@form("OneHot")
def _one_hot(
    w: Writer, call: LoweredCall, indices: LiteTensor, depth: LiteTensor, on: LiteTensor, off: LiteTensor
) -> LiteTensor:
    inputs = [indices, as_int32(w, depth), on, off]
    return w.add("ONE_HOT", inputs, call.shape, on.dtype, axis=call.attrs["axis"])


@form("ScatterNd")
def _scatter_nd(
    w: Writer, call: LoweredCall, indices: LiteTensor, updates: LiteTensor, shape: LiteTensor
) -> LiteTensor:
    return _add_scatter(w, indices, updates, as_int32(w, shape), call.shape)


def _add_scatter(w: Writer, indices: LiteTensor, updates: LiteTensor, shape: LiteTensor, static: Any) -> LiteTensor:
    return w.add("SCATTER_ND", [as_int32(w, indices), updates, shape], static, updates.dtype)


def tensor_scatter(w: Writer, kind: str, x: LiteTensor, indices: LiteTensor, updates: LiteTensor) -> LiteTensor:
    """Adds a scatter into a tensor.

    Args:
        w: the writer of the subgraph.
        kind: TensorFlow's name of the op.
        x: the tensor.
        indices: the places.
        updates: the values.
    """
    shape = w.add("SHAPE", [x], [x.rank], int32, outType=w.file.type_numbers(int32))
    scattered = _add_scatter(w, indices, updates, shape, x.shape)
    if kind in ("TensorScatterAdd", "TensorScatterSub"):
        return w.add(kind[-3:].upper(), [x, scattered], x.shape)
    zeros = w.add("ZEROS_LIKE", [w.cast(updates, int32)], updates.shape)
    ones = w.add("ADD", [zeros, w.constant(1, int32)], updates.shape)
    marked = _add_scatter(w, indices, ones, shape, x.shape)
    inside = w.add("GREATER", [marked, w.constant(0, int32)], x.shape, bool_)
    return w.add("SELECT_V2", [inside, scattered, x], x.shape, x.dtype)


@form("InvertPermutation")
def _invert_permutation(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    if x.shape[0] is None:
        raise NoForm("the permutation must have a static size")
    indices = w.reshape(x, [x.shape[0], 1])
    places = w.constant(list(range(x.shape[0])), x.dtype)
    return _add_scatter(w, indices, places, w.constant([x.shape[0]], int32), x.shape)


FORMS.update(dict.fromkeys(
    ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"),
    lambda w, call, *inputs: tensor_scatter(w, call.operation.type, *inputs),
))  # fmt: skip
