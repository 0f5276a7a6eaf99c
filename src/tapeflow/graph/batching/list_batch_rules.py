"""Lists of tensors, as `tf.TensorArray`s of graphs are, for all slices of a batch at once.

Lists of which each slice has its own are one list of batches: all are of one length, and an entry has that of each
slice. Where slices must be told apart (an index of their own, a branch that only some take), the list becomes one
tensor, with the entries in front and the slices behind them, and then a list again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.ops.batching import Batch, NoRule, Rule, Slices, static, times, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import FROM_TORCH, DType, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.operation import GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

_RESIZING = frozenset({"TensorListPushBack", "TensorListPopBack", "TensorListResize", "TensorListConcatLists",
                       "TensorListScatterIntoExistingList"})  # fmt: skip

# ---- what the entries of a list are ----------------------------------------------------------------------------------


class Entries:
    """What a graph tells of the entries of a list in it, by all that is done with the list.

    Attributes:
        dtype: their dtype.
        shape: their shape.
        resized: whether the list may become longer or shorter.

    Raises:
        NoRule: it tells no dtype.
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
            waiting += self._told_by(t.op, t)
            for operation in t.op.graph._operations:
                if any(t is i for i in operation.inputs):
                    waiting += self._told_by(operation, t)
        if self._dtype is None:
            raise NoRule
        self.dtype: DType = self._dtype

    def _told_by(self, operation: Operation, tensor: SymbolicTensor) -> Iterator[SymbolicTensor]:
        """Looks at an operation that takes or gives the list; gives what else is a list of such entries."""
        op = operation.op
        if isinstance(op, GraphOp):
            yield from _same_inside(operation, tensor)
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
                    self._learn(TensorShape([None if d is None or d < 0 else d for d in dims]))
            elif name in ("item", "tensor"):
                self._dtype = arg.dtype
                one = op.name in ("TensorListSetItem", "TensorListPushBack")
                if one or op.name != "TensorListSplit":
                    self._learn(arg.shape if one else arg.shape[1:])
        yield from (t for t in (*operation.inputs, *operation.outputs) if t.dtype is variant)

    def _learn(self, shape: TensorShape) -> None:
        if self.shape.is_compatible_with(shape):
            self.shape = self.shape.merge_with(shape)


def _same_inside(operation: Operation, tensor: SymbolicTensor) -> Iterator[SymbolicTensor]:
    """The tensors that stand for one in the functions that an operation calls; those of a loop variable are one."""
    op = operation.op
    taken = [i - op.steering for i, t in enumerate(operation.inputs) if t is tensor and i >= op.steering]
    given = [i for i, t in enumerate(operation.outputs) if t is tensor]
    loops = op.name.endswith("While")
    if loops:
        taken, given = [*taken, *given], [*taken, *given]
        yield from (operation.outputs[i] for i in given if i < len(operation.outputs))
        yield from (operation.inputs[i + op.steering] for i in given if i < len(operation.outputs))
    for label, body in op.bodies.items():
        yield from (t for t, p in zip(body.inputs, op.places[label], strict=True) if p in taken)
        if not loops or label == "body":
            yield from (body.outputs[i] for i in given if i < len(body.outputs))


def check_lengths(body: Body) -> None:
    """Looks whether lists keep their lengths in a function that runs for some slices only.

    Raises:
        NoRule: they may not, so that slices' lists are no longer of one length.
    """
    for t in body.outputs:
        if t.dtype is variant and Entries(t).resized:
            raise NoRule


# ---- from one form to another ----------------------------------------------------------------------------------------


def _entry_dims(x: Any) -> Any:
    """What an `element_shape` argument says: a list of dimensions, or -1."""
    if isinstance(x, int) or (isinstance(x, Slices) and x.slice.shape.rank == 0):
        return -1
    return vector(x)


def _batched(batch: Batch, dims: Any) -> Any:
    """The shape of batches of entries of a shape."""
    return -1 if dims == -1 else (batch.count, *[-1 if d is None else d for d in dims])


def _swapped(value: Any) -> Any:
    """A tensor with its first two dimensions in the other order: entries of slices, or slices of entries."""
    rank = value.shape.rank
    if rank is not None:
        return ops.Transpose(value, (1, 0, *range(2, rank)))
    others = ops.Range(convert(2), ops.Rank(value), convert(1))
    return ops.Transpose(value, ops.ConcatV2([convert([1, 0]), others], 0))


def stacked_list(batch: Batch, x: Slices) -> Any:
    """A list of batches, also of a list that is the same for all slices."""
    if x.stacked:
        return x.value
    if isinstance(x.value, EagerTensor):
        entries = [e for e in x.value.value[()] if e is not None]
        if not entries:
            return x.value
        shape: Any = tuple(entries[0].shape)
        whole = ops.TensorListStack(x.value, shape, FROM_TORCH[entries[0].dtype], -1)
    else:
        begun = x.value.op
        if begun.type in ("TensorListReserve", "EmptyTensorList"):
            element_shape, count, dtype = begun.args
            dims = host_static(element_shape)
            return getattr(ops, begun.type)(_batched(batch, dims if isinstance(dims, tuple) else -1), count, dtype)
        entry = Entries(x.slice)
        shape = tuple(_defined(entry))
        whole = ops.TensorListStack(x.value, shape, entry.dtype, -1)
    length = ops.Shape(whole)[0]
    spread = ops.BroadcastTo(ops.ExpandDims(whole, 1), (length, batch.count, *shape))
    return ops.TensorListFromTensor(spread, _batched(batch, shape))


def _defined(entry: Entries) -> list[int]:
    """The shape of entries.

    Raises:
        NoRule: it is not known.
    """
    if not entry.shape.is_fully_defined():
        raise NoRule
    return entry.shape.as_list()


def joined_entries(batch: Batch, x: Slices, shape: Any, dtype: Any) -> Any:
    """The entries of a list as one tensor: for slices' own, with the slices behind the entries."""
    return ops.TensorListStack(x.value, _batched(batch, shape) if x.stacked else shape, dtype, -1)


def picked_lists(batch: Batch, x: Slices, places: Any, count: Any) -> Any:
    """The lists of the slices in some places.

    Args:
        batch: all slices.
        x: their lists.
        count: how many places there are.
    """
    entry = Entries(x.slice)
    whole = joined_entries(batch, x, tuple(_defined(entry)), entry.dtype)
    return ops.TensorListFromTensor(ops.GatherV2(whole, places, 1), (count, *_defined(entry)))


def joined_lists(batch: Batch, parts: Sequence[tuple[Batch, Slices]], order: Any) -> Any:
    """The lists of all slices, of those of some of them each.

    Args:
        parts: the slices of a part, and their lists.
        order: where each slice is, in all parts one after the other.
    """
    entry = Entries(parts[0][1].slice)
    shape = _defined(entry)
    columns = [joined_entries(b, Slices(stacked_list(b, x), x.slice, True), shape, entry.dtype) for b, x in parts]
    whole = ops.GatherV2(ops.ConcatV2(columns, 1), order, 1)
    return ops.TensorListFromTensor(whole, _batched(batch, shape))


def changed_lists(batch: Batch, before: Slices, some: Batch, places: Any, after: Slices) -> Any:
    """The lists of all slices, where those of the slices in some places are other ones now."""
    entry = Entries(before.slice)
    shape = _defined(entry)
    changed = joined_entries(some, Slices(stacked_list(some, after), after.slice, True), shape, entry.dtype)
    whole = _swapped(joined_entries(batch, before, shape, entry.dtype))
    made = ops.TensorScatterUpdate(whole, ops.ExpandDims(places, 1), _swapped(changed))
    return ops.TensorListFromTensor(_swapped(made), _batched(batch, shape))


# ---- rules -----------------------------------------------------------------------------------------------------------


def _stacked_tensor(batch: Batch, x: Slices, shape: Any) -> Any:
    return batch.run(_swapped(x.value), _batched(batch, _entry_dims(shape)))


def _as_tensor(batch: Batch, held: Slices, shape: Any, dtype: Any, number: int) -> Any:
    made = batch.run(held.value, _batched(batch, _entry_dims(shape)), dtype, number)
    return _swapped(made)


def _chosen(batch: Batch, held: Slices, indices: Slices, shape: Any, dtype: Any) -> Any:
    """Entries at indices of the slices' own."""
    whole = joined_entries(batch, held, _entry_dims(shape), dtype)
    return ops.GatherV2(_swapped(whole), indices.value, 1, 1) if held.stacked else ops.GatherV2(whole, indices.value, 0
    )  # fmt: skip


def _item(batch: Batch, held: Slices, index: Any, shape: Any, dtype: Any) -> Any:
    if isinstance(index, Slices) and index.stacked:
        return _chosen(batch, held, index, shape, dtype)
    return batch.run(held.value, _unstacked(index), _batched(batch, _entry_dims(shape)), dtype)


def _unstacked(arg: Any) -> Any:
    """A number that is the same for all slices."""
    if not isinstance(arg, Slices):
        return arg
    if arg.stacked:
        raise NoRule
    return arg.value


def _with_item(batch: Batch, held: Slices, index: Any, item: Slices, resize: bool) -> Any:
    whole, items = stacked_list(batch, held), batch.stack(item)
    if not (isinstance(index, Slices) and index.stacked):
        return batch.run(whole, _unstacked(index), items, resize)
    if resize and not _is_as_long_as_another(held.slice):
        raise NoRule
    return _written(batch, whole, index.value, items, batch.dims(item), item.slice.dtype)


def _written(batch: Batch, whole: Any, indices: Any, items: Any, shape: Sequence[Any], dtype: Any) -> Any:
    """A list with other entries, at indices of the slices' own.

    Args:
        whole: the list.
        indices: of one entry for each slice, or of several.
        items: the entries.
        shape, dtype: those of an entry of a slice.
    """
    entries = ops.TensorListStack(whole, _batched(batch, shape), dtype, -1)
    numbers = ops.Range(convert(0), convert(batch.count), convert(1))
    if indices.shape.rank == 2:
        numbers = ops.BroadcastTo(ops.ExpandDims(numbers, 1), ops.Shape(indices))
    places = ops.Pack([ops.Cast(indices, numbers.dtype), numbers], -1)
    made = ops.TensorScatterUpdate(entries, places, items)
    return ops.TensorListFromTensor(made, _batched(batch, shape))


def _is_as_long_as_another(held: SymbolicTensor) -> bool:
    """Whether a list was made as long as another one, as those of gradients are: then nothing makes it longer."""
    length = held.op.args[1] if held.op.type == "TensorListReserve" else None
    return isinstance(length, SymbolicTensor) and length.op.type == "TensorListLength"


def _pushed(batch: Batch, held: Slices, tensor: Slices) -> Any:
    return batch.run(stacked_list(batch, held), batch.stack(tensor))


def _popped(batch: Batch, held: Slices, shape: Any, dtype: Any) -> Any:
    return batch.run(held.value, _batched(batch, _entry_dims(shape)), dtype)


def _gathered(batch: Batch, held: Slices, indices: Slices, shape: Any, dtype: Any) -> Any:
    if indices.stacked:
        return _chosen(batch, held, indices, shape, dtype)
    return _swapped(batch.run(held.value, indices.value, _batched(batch, _entry_dims(shape)), dtype))


def _scattered(batch: Batch, held: Slices, tensor: Slices, indices: Slices) -> Any:
    if indices.stacked and _is_as_long_as_another(held.slice):
        shape = batch.dims(tensor)[1:]
        whole = stacked_list(batch, held)
        return _written(batch, whole, indices.value, batch.stack(tensor), shape, tensor.slice.dtype)
    return batch.run(stacked_list(batch, held), _swapped(batch.stack(tensor)), _unstacked(indices))


def _new_scattered(batch: Batch, tensor: Slices, indices: Slices, shape: Any, *number: Any) -> Any:
    numbers = [_unstacked(n) for n in number]
    return batch.run(_swapped(tensor.value), _unstacked(indices), _batched(batch, _entry_dims(shape)), *numbers)


def _joined(batch: Batch, held: Slices, shape: Any, leading: Any, dtype: Any) -> Any:
    dims = _entry_dims(shape)
    if dims == -1 or not all(isinstance(d, int) and d >= 0 for d in dims):
        raise NoRule  # entries may differ in length
    whole = _swapped(joined_entries(batch, held, dims, dtype))
    length = ops.Shape(whole)[1]
    lengths = ops.BroadcastTo(convert(dims[0], batch.outputs[1].dtype), (batch.count, length))
    return [batch.reshape(whole, [times(length, dims[0]), *dims[1:]]), lengths]


def _split(batch: Batch, x: Slices, shape: Any, lengths: Any) -> Any:
    sizes = static(lengths)
    parts = ops.SplitV(x.value, sizes, 1, len(sizes))
    made = ops.TensorListReserve(_batched(batch, _entry_dims(shape)), len(sizes), x.slice.dtype)
    for i, part in enumerate(parts):
        made = ops.TensorListSetItem(made, i, part)
    return made


def _resized(batch: Batch, held: Slices, size: Any) -> Any:
    return batch.run(held.value, _unstacked(size))


def _joined_lists(batch: Batch, a: Slices, b: Slices, dtype: Any) -> Any:
    return batch.run(stacked_list(batch, a), stacked_list(batch, b), dtype)


LISTS: dict[str, Rule] = {
    "TensorListFromTensor": _stacked_tensor, "TensorListStack": _as_tensor,
    "TensorListGetItem": _item, "TensorListSetItem": _with_item,
    "TensorListPushBack": _pushed, "TensorListPopBack": _popped, "TensorListResize": _resized,
    "TensorListGather": _gathered, "TensorListScatterIntoExistingList": _scattered,
    "TensorListScatterV2": _new_scattered, "TensorListScatter": _new_scattered,
    "TensorListConcatV2": _joined, "TensorListSplit": _split, "TensorListConcatLists": _joined_lists,
}  # fmt: skip
