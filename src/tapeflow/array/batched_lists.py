"""Lists of tensors in functions that run for all slices of a batch at once.

A batch of lists is one list of the same length. Each of its entries stacks the entries of all slices. If slices must
be told apart (an index per slice, a branch that only some slices run), the list becomes one tensor, with the entries
along the first dimension and the slices along the second, and then a list again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat_v2, pack_op
from tapeflow.array.creation import range_op
from tapeflow.array.gathers import gather_v2
from tapeflow.array.list_values import as_variant, spec_of
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, transpose_op
from tapeflow.array.scatters import tensor_scatter_update
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import FROM_TORCH, DType, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.ir.operation import GraphOp, Operation

_RESIZING = frozenset({"TensorListPushBack", "TensorListPopBack", "TensorListResize", "TensorListConcatLists",
                       "TensorListScatterIntoExistingList"})  # fmt: skip

# ---- the entries of a list -------------------------------------------------------------------------------------------


class BatchedEntries:
    """The dtype and shape of the entries of a list in a graph, inferred from all operations that use the list.

    Attributes:
        dtype: their dtype.
        shape: their static shape.
        resized: whether the list may become longer or shorter.

    Raises:
        NoRule: no operation says the dtype.
    """

    def __init__(self, tensor: SymbolicTensor) -> None:
        self._dtype: DType | None = None
        self.shape = TensorShape(None)
        self.resized = False
        seen: set[int] = set()
        waiting = [tensor]
        while waiting:
            t = waiting.pop()
            if id(t) in seen:
                continue
            seen.add(id(t))
            waiting += self._infer(t.op, t)
            for operation in t.op.graph._operations:
                if any(t is i for i in operation.inputs):
                    waiting += self._infer(operation, t)
        if self._dtype is None:
            raise NoRule
        self.dtype: DType = self._dtype

    def _infer(self, operation: Operation, tensor: SymbolicTensor) -> Iterator[SymbolicTensor]:
        """Reads dtype and shape off an operation that has the list as input or output; yields other lists with the
        same entries."""
        op = operation.op
        if isinstance(op, GraphOp):
            yield from _same_in_bodies(operation, tensor)
            return
        self.resized |= op.name in _RESIZING
        for name, arg in zip(op.params, operation.args, strict=True):
            if name == "resize":
                self.resized |= arg
            elif name == "element_dtype":
                self._dtype = arg
            elif name == "element_shape":
                dims = host_static(arg)
                if isinstance(dims, tuple):
                    self._merge(TensorShape([None if d is None or d < 0 else d for d in dims]))
            elif name in ("item", "tensor"):
                self._dtype = arg.dtype
                one = op.name in ("TensorListSetItem", "TensorListPushBack")
                if one or op.name != "TensorListSplit":
                    self._merge(arg.shape if one else arg.shape[1:])
        yield from (t for t in (*operation.inputs, *operation.outputs) if t.dtype is variant)

    def _merge(self, shape: TensorShape) -> None:
        if self.shape.is_compatible_with(shape):
            self.shape = self.shape.merge_with(shape)


def _same_in_bodies(operation: Operation, tensor: SymbolicTensor) -> Iterator[SymbolicTensor]:
    """Yields the tensors that stand for a tensor in the functions that an operation calls, and a loop variable's
    tensors."""
    op = operation.op
    inputs = [i - op.steering for i, t in enumerate(operation.inputs) if t is tensor and i >= op.steering]
    outputs = [i for i, t in enumerate(operation.outputs) if t is tensor]
    loops = op.name.endswith("While")
    if loops:
        inputs, outputs = [*inputs, *outputs], [*inputs, *outputs]
        yield from (operation.outputs[i] for i in outputs if i < len(operation.outputs))
        yield from (operation.inputs[i + op.steering] for i in outputs if i < len(operation.outputs))
    for label, body in op.bodies.items():
        yield from (t for t, p in zip(body.inputs, op.places[label], strict=True) if p in inputs)
        if not loops or label == "body":
            yield from (body.outputs[i] for i in outputs if i < len(body.outputs))


def check_lengths(outputs: Sequence[SymbolicTensor]) -> None:
    """Checks that lists keep their lengths in a function that runs for some slices only.

    Args:
        outputs: the outputs of the function.

    Raises:
        NoRule: a list may be resized. The lists of all slices would then differ in length.
    """
    if any(t.dtype is variant and BatchedEntries(t).resized for t in outputs):
        raise NoRule


# ---- from one form to another ----------------------------------------------------------------------------------------


def entry_dims(element_shape: Slices | int | tuple[int, ...]) -> Any:
    """Returns the dimensions that an `element_shape` argument names, or -1 if it names none."""
    if isinstance(element_shape, int) or (isinstance(element_shape, Slices) and element_shape.slice.shape.rank == 0):
        return -1
    return vector(element_shape)


def batched_dims(batch: Batch, dims: Any) -> Any:
    """Returns the `element_shape` of stacked entries, from the dimensions of an entry of one slice."""
    return -1 if dims == -1 else (batch.count, *[-1 if d is None else d for d in dims])


def swap_batch_and_entries(value: Tensor) -> Any:
    """Returns a tensor with its first two dimensions swapped: entries of slices become slices of entries, and back."""
    rank = value.shape.rank
    if rank is not None:
        return transpose_op(value, (1, 0, *range(2, rank)))
    others = range_op(convert(2), rank_op(value), convert(1))
    return transpose_op(value, concat_v2([convert([1, 0]), others], 0))


def stacked_list(batch: Batch, x: Slices) -> Any:
    """Returns the list with the stacked entries of all slices, also of a list that is the same for all slices."""
    if x.stacked:
        return x.value
    if isinstance(x.value, EagerTensor):
        entries = [e for e in x.value.value[()] if e is not None]
        if not entries:
            spec = spec_of(x.value.value)
            stacked = spec and spec._replace(dims=None if spec.dims is None else (None, *spec.dims))
            return EagerTensor(as_variant(x.value.value[()], stacked), variant)
        shape: Any = tuple(entries[0].shape)
        entries_in_rows = ops.TensorListStack(x.value, shape, FROM_TORCH[entries[0].dtype], -1)
    else:
        source = x.value.op
        if source.type in ("TensorListReserve", "EmptyTensorList"):
            element_shape, count, dtype = source.args
            dims = host_static(element_shape)
            dims = batched_dims(batch, dims if isinstance(dims, tuple) else -1)
            return getattr(ops, source.type)(dims, count, dtype)
        shape, dtype = _static_entry(x)
        entries_in_rows = ops.TensorListStack(x.value, shape, dtype, -1)
    length = shape_op(entries_in_rows)[0]
    repeated = broadcast_to(expand_dims(entries_in_rows, 1), (length, batch.count, *shape))
    return ops.TensorListFromTensor(repeated, batched_dims(batch, shape))


def _static_entry(x: Slices) -> tuple[tuple[int, ...], DType]:
    """Returns the dimensions and the dtype of the entries of a list.

    Raises:
        NoRule: the dimensions are not all static.
    """
    entry = BatchedEntries(x.slice)
    if not entry.shape.is_fully_defined():
        raise NoRule
    return tuple(entry.shape.as_list()), entry.dtype


def as_tensor(batch: Batch, x: Slices, dims: int | Sequence[int], dtype: DType) -> Any:
    """Returns the entries of a list as one tensor; of a stacked list with the slices along the second dimension."""
    return ops.TensorListStack(x.value, batched_dims(batch, dims) if x.stacked else dims, dtype, -1)


def picked_lists(batch: Batch, x: Slices, places: Any, count: Any) -> Any:
    """Returns the lists of some slices.

    Args:
        batch: all slices.
        x: their lists.
        places: the numbers of the slices to pick.
        count: how many these are.
    """
    dims, dtype = _static_entry(x)
    entries = as_tensor(batch, x, dims, dtype)
    return ops.TensorListFromTensor(gather_v2(entries, places, 1), (count, *dims))


def joined_lists(batch: Batch, parts: Sequence[tuple[Batch, Slices]], order: Any) -> Any:
    """Joins the lists of several parts of a batch to the lists of all slices.

    Args:
        batch: all slices.
        parts: pairs of the slices of a part and their lists.
        order: for each slice, its position in the concatenation of the parts.
    """
    dims, dtype = _static_entry(parts[0][1])
    columns = [as_tensor(b, Slices(stacked_list(b, x), x.slice, True), dims, dtype) for b, x in parts]
    entries = gather_v2(concat_v2(columns, 1), order, 1)
    return ops.TensorListFromTensor(entries, batched_dims(batch, dims))


def changed_lists(batch: Batch, before: Slices, part: Batch, places: Any, after: Slices) -> Any:
    """Replaces the lists of some slices, and returns the lists of all slices.

    Args:
        batch: all slices.
        before: the lists of all slices.
        part: the slices with new lists.
        places: the numbers of these slices in the batch.
        after: the new lists.
    """
    dims, dtype = _static_entry(before)
    new_rows = as_tensor(part, Slices(stacked_list(part, after), after.slice, True), dims, dtype)
    rows = swap_batch_and_entries(as_tensor(batch, before, dims, dtype))
    updated = tensor_scatter_update(rows, expand_dims(places, 1), swap_batch_and_entries(new_rows))
    return ops.TensorListFromTensor(swap_batch_and_entries(updated), batched_dims(batch, dims))


# ---- indices that differ between slices ------------------------------------------------------------------------------


def entries_at(batch: Batch, x: Slices, indices: Slices, element_shape: int | tuple[int, ...], dtype: DType) -> Any:
    """Returns the entries at indices that differ between slices."""
    entries = as_tensor(batch, x, entry_dims(element_shape), dtype)
    if not x.stacked:
        return gather_v2(entries, indices.value, 0)
    return gather_v2(swap_batch_and_entries(entries), indices.value, 1, 1)


def with_entries_at(batch: Batch, stacked: Any, indices: Any, items: Any, dims: Sequence[Any], dtype: DType) -> Any:
    """Writes entries at indices that differ between slices, and returns the new list.

    Args:
        batch: all slices.
        stacked: the list of stacked entries.
        indices: one index per slice, or a row of indices per slice.
        items: the new entries.
        dims: the dimensions of an entry of one slice.
        dtype: the dtype of the entries.
    """
    entries = ops.TensorListStack(stacked, batched_dims(batch, dims), dtype, -1)
    numbers = range_op(convert(0), convert(batch.count), convert(1))
    if indices.shape.rank == 2:
        numbers = broadcast_to(expand_dims(numbers, 1), shape_op(indices))
    places = pack_op([ops.Cast(indices, numbers.dtype), numbers], -1)
    return ops.TensorListFromTensor(tensor_scatter_update(entries, places, items), batched_dims(batch, dims))


def is_as_long_as_another(x: SymbolicTensor) -> bool:
    """Returns True if a list was reserved with the length of another list, like lists of gradients. It never grows."""
    length = x.op.args[1] if x.op.type == "TensorListReserve" else None
    return isinstance(length, SymbolicTensor) and length.op.type == "TensorListLength"


def shared_value(arg: Slices) -> Any:
    """Returns the value of an argument that must be the same for all slices.

    Raises:
        NoRule: each slice has its own.
    """
    if not isinstance(arg, Slices):
        return arg
    if arg.stacked:
        raise NoRule
    return arg.value
