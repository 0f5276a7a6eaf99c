"""TFLite forms of lists of tensors. A list is one tensor, with the entries along its first dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import DType, int32
from tapeflow.lite.forms.gather_scatter import tensor_scatter
from tapeflow.lite.forms.shapes import as_int32
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import FORMS, NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


class ReservedList:
    """A list whose entries have no known shape yet. The first entry that is set decides.

    Attributes:
        count: the number of entries, a scalar.
        dtype: the dtype of the entries.
    """

    def __init__(self, count: LiteTensor, dtype: DType) -> None:
        self.count, self.dtype = count, dtype

    def filled(self, w: Writer, shape: Sequence[int | None], like: LiteTensor | None = None) -> LiteTensor:
        """Adds a tensor of zeros for the list.

        Args:
            w: the writer of the subgraph.
            shape: the static shape of an entry.
            like: a tensor of that shape whose size the unknown dimensions have, if there are any.
        """
        length = None if self.count.value is None else int(self.count.value)
        count = w.reshape(self.count, [1])
        if None not in shape:
            parts = [count, w.constant(list(shape), int32)]
        else:
            assert like is not None
            parts = [count, w.add("SHAPE", [like], [like.rank], int32, outType=w.file.type_numbers(int32))]
        full = [length, *shape]
        if None not in full:
            target = w.constant(full, int32)
        else:
            target = w.add("CONCATENATION", parts, [len(full)], axis=0)
        return w.add("FILL", [target, w.constant(0, self.dtype)], full, self.dtype)


@form("TensorListReserve")
def _lower_reserve(w: Writer, call: LoweredCall, shape: LiteTensor, count: LiteTensor) -> Any:
    reserved = ReservedList(as_int32(w, count), call.attrs["element_dtype"])
    static = shape.value is not None and shape.rank == 1 and all(d >= 0 for d in shape.value)
    return reserved.filled(w, [int(d) for d in shape.value]) if static else reserved


@form("EmptyTensorList")
def _lower_empty(w: Writer, call: LoweredCall, shape: LiteTensor, limit: LiteTensor) -> Any:
    return ReservedList(w.constant(0, int32), call.attrs["element_dtype"])


@form("TensorListGetItem")
def _get_item(w: Writer, call: LoweredCall, x: LiteTensor, index: LiteTensor, shape: LiteTensor) -> LiteTensor:
    if isinstance(x, ReservedList):
        raise NoForm("an entry of a list is read before one is set")
    return w.add("GATHER", [x, index], x.shape[1:], axis=0, batchDims=0)


@form("TensorListSetItem")
def _set_item(w: Writer, call: LoweredCall, x: Any, index: LiteTensor, item: LiteTensor) -> LiteTensor:
    if isinstance(x, ReservedList):
        x = x.filled(w, item.shape, item)
    update, index = _as_row(w, item), as_int32(w, index)
    if call.attrs["resize_if_index_out_of_bounds"]:
        return _add_entry(w, x, index, update)
    zero = w.constant(0, int32)
    start = w.add("PACK", [index, *[zero] * item.rank], [x.rank], int32, axis=0, valuesCount=x.rank)
    return w.add("DYNAMIC_UPDATE_SLICE", [x, update, start], x.shape)


def _add_entry(w: Writer, x: LiteTensor, index: LiteTensor, row: LiteTensor) -> LiteTensor:
    """Adds a list with an entry at a place of it, or just behind its end."""
    place = w.reshape(index, [1])
    after = w.add("ADD", [place, w.constant([1], int32)], [1])
    shape, one = [None, *x.shape[1:]], w.constant([1], int32)
    start, end = w.constant([0], int32), w.constant([2**31 - 1], int32)
    first = w.add("STRIDED_SLICE", [x, start, place, one], shape)
    rest = w.add("STRIDED_SLICE", [x, after, end, one], shape)
    return w.add("CONCATENATION", [first, row, rest], shape, axis=0)


def _as_row(w: Writer, item: LiteTensor) -> LiteTensor:
    """Adds a first dimension of size one."""
    return w.add("EXPAND_DIMS", [item, w.constant(0, int32)], [1, *item.shape])


@form("TensorListPushBack")
def _push_back(w: Writer, call: LoweredCall, x: LiteTensor, item: LiteTensor) -> LiteTensor:
    row = _as_row(w, item)
    if isinstance(x, ReservedList):
        if x.count.value is None or x.count.value != 0:
            raise NoForm("an entry is pushed onto a list with reserved entries")
        return row
    length = None if x.shape[0] is None else x.shape[0] + 1
    return w.add("CONCATENATION", [x, row], [length, *x.shape[1:]], axis=0)


@form("TensorListStack")
def _lower_stack(w: Writer, call: LoweredCall, x: Any, shape: LiteTensor) -> LiteTensor:
    if isinstance(x, ReservedList):
        if shape.value is None or any(d < 0 for d in shape.value):
            raise NoForm("no entry of the list is set, and its entries have no static shape")
        return x.filled(w, [int(d) for d in shape.value])
    return x


@form("TensorListLength")
def _lower_length(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    return x.count if isinstance(x, ReservedList) else w.size(x, 0)


@form("TensorListGather")
def _lower_gather(w: Writer, call: LoweredCall, x: LiteTensor, indices: LiteTensor, shape: LiteTensor) -> LiteTensor:
    if isinstance(x, ReservedList):
        raise NoForm("entries of a list are read before one is set")
    return w.add("GATHER", [x, indices], [*indices.shape, *x.shape[1:]], axis=0, batchDims=0)


@form("TensorListScatterIntoExistingList")
def _lower_scatter(w: Writer, call: LoweredCall, x: Any, items: LiteTensor, indices: LiteTensor) -> LiteTensor:
    static = isinstance(x, ReservedList) and indices.value is not None and x.count.value is not None
    if static and list(indices.value) == list(range(int(x.count.value))):
        return items
    places = w.reshape(as_int32(w, indices), [*indices.shape, 1])
    if not isinstance(x, ReservedList):
        return tensor_scatter(w, "TensorScatterUpdate", x, places, items)
    length = None if x.count.value is None else int(x.count.value)
    sizes = [w.reshape(w.size(items, i), [1]) for i in range(1, items.rank)]
    target = w.add("CONCATENATION", [w.reshape(x.count, [1]), *sizes], [items.rank], axis=0)
    return w.add("SCATTER_ND", [places, items, target], [length, *items.shape[1:]], items.dtype)


FORMS["TensorListFromTensor"] = lambda w, call, x, shape: x
