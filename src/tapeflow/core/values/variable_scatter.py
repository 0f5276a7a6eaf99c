"""Assigning parts of a variable: rows, and elements or slices by several indices.

All of them come down to one function: the memory of the value viewed as a table, some of its rows, and their update.
The memory is the variable's own where nobody else can see it, else a copy that becomes the new value. While a graph is
built, each is an operation that does so when the graph runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.kernels import COMPUTE_IN
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import DType, bool_, int32, int64
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import TensorLike
    from tapeflow.core.values.variable import Variable

Rows = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]


def _divide_rows(table: torch.Tensor, rows: torch.Tensor, updates: torch.Tensor) -> None:
    rounding = None if table.is_floating_point() or table.is_complex() else "trunc"
    if bool((updates == 0).any()):
        raise invalid("updates must not contain 0 [Op:ResourceScatterDiv]")
    divisors = torch.ones_like(table)
    _reduce_rows(divisors, rows, updates, "prod")
    table.div_(divisors, rounding_mode=rounding)


def _reduce_rows(table: torch.Tensor, rows: torch.Tensor, updates: torch.Tensor, how: str) -> None:
    if table.is_complex():  # torch has no scattered product of complex numbers
        for row, update in zip(rows.tolist(), updates, strict=True):
            table[row] *= update
        return
    table.scatter_reduce_(0, rows[:, None].expand_as(updates), updates, how)


# Updates of rows of the table; a row that occurs twice gets both updates, in order.
_UPDATE: Rows = lambda table, rows, updates: table.index_copy_(0, rows, updates)  # noqa: E731
_ADD: Rows = lambda table, rows, updates: table.index_add_(0, rows, updates)  # noqa: E731
_SUB: Rows = lambda table, rows, updates: table.index_add_(0, rows, updates, alpha=-1)  # noqa: E731
_MULTIPLY: Rows = lambda table, rows, updates: _reduce_rows(table, rows, updates, "prod")  # noqa: E731
_MAXIMUM: Rows = lambda table, rows, updates: _reduce_rows(table, rows, updates, "amax")  # noqa: E731
_MINIMUM: Rows = lambda table, rows, updates: _reduce_rows(table, rows, updates, "amin")  # noqa: E731


class AssignsParts:
    """The part of `tf.Variable` for reading and assigning parts of its value."""

    __slots__ = ()

    dtype: DType
    _value: EagerTensor
    _read: Callable[[], EagerTensor]
    _set: Callable[..., None]
    _lock: Any
    _memory: Callable[[], Any]
    _begin: Callable[[], tuple[Any, Any]]
    _end: Callable[[Any, Any], None]
    _assigned: Callable[[], Any]
    _stage: Callable[..., Any]

    # ---- rows --------------------------------------------------------------------------------------------------------

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replaces rows: `self[i] = row` for each row of `sparse_delta` and its index.

        Args:
            sparse_delta: `tf.IndexedSlices`; its values are a row for each index, or one number for all.

        Returns:
            The variable.

        Raises:
            TypeError: `sparse_delta` is something else.
            InvalidArgumentError: an index is out of range, or the shapes do not match.

        Example:
            >>> v = tf.Variable([1.0, 2.0, 3.0])
            >>> v.scatter_update(tf.IndexedSlices([9.0], [1])).numpy().tolist()
            [1.0, 9.0, 3.0]
        """
        return self._scatter("ResourceScatterUpdate", _UPDATE, sparse_delta)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Adds to rows. See `scatter_update`."""
        return self._scatter("ResourceScatterAdd", _ADD, sparse_delta)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtracts from rows. See `scatter_update`."""
        return self._scatter("ResourceScatterSub", _SUB, sparse_delta)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiplies rows. See `scatter_update`."""
        return self._scatter("ResourceScatterMul", _MULTIPLY, sparse_delta)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Divides rows. See `scatter_update`."""
        return self._scatter("ResourceScatterDiv", _divide_rows, sparse_delta)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replaces elements of rows by the greater ones. See `scatter_update`."""
        return self._scatter("ResourceScatterMax", _MAXIMUM, sparse_delta)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Replaces elements of rows by the lesser ones. See `scatter_update`."""
        return self._scatter("ResourceScatterMin", _MINIMUM, sparse_delta)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows of each member of a batch: `self[b, i] = row`, for indices of shape `[batch..., n]`.

        Args:
            sparse_delta: `tf.IndexedSlices`; all dimensions of its indices but the last are the variable's first ones.

        Returns:
            The variable.

        Raises:
            TypeError: `sparse_delta` is something else.
            InvalidArgumentError: an index is out of range, or the shapes do not match.

        Example:
            >>> v = tf.Variable([[1, 2], [3, 4]])
            >>> v.batch_scatter_update(tf.IndexedSlices([[9], [8]], [[0], [1]])).numpy().tolist()
            [[9, 2], [3, 8]]
        """
        return self._now_or_later(
            "ResourceScatterUpdate", AssignsParts._scatter_batch, _UPDATE, *self._delta(sparse_delta)
        )

    def _scatter_batch(self, op: str, change: Rows, indices: EagerTensor, updates: EagerTensor) -> Any:
        batch = indices.value.shape[:-1]
        shape = self._memory().shape
        if shape[: len(batch)] != batch or not indices.value.ndim:
            raise invalid(f"indices of shape {list(indices.shape)} do not match the first dimensions of {list(shape)}")
        at = indices.value.long()
        _check_row_range(at, shape[len(batch)], op)
        start = torch.arange(math.prod(batch), device=at.device).reshape(*batch, 1) * shape[len(batch)]
        return self._change(op, change, at + start, updates, len(batch) + 1)

    def _delta(self, delta: IndexedSlices | list[float]) -> tuple[EagerTensor, EagerTensor]:
        """Returns the indices and the values of slices, as tensors of the right dtypes."""
        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta}")
        return _as_indices(delta.indices), convert(delta.values, self.dtype)

    def _scatter(self, op: str, change: Rows, delta: IndexedSlices | list[float]) -> Any:
        return self._now_or_later(op, AssignsParts._scatter_rows, change, *self._delta(delta))

    def _scatter_rows(self, op: str, change: Rows, indices: EagerTensor, updates: EagerTensor) -> Any:
        shape, index_shape, update_shape = self._memory().shape, indices.value.shape, updates.value.shape
        if len(update_shape) and update_shape[: len(index_shape)] != index_shape:
            raise invalid(
                f"The shape of indices ({list(index_shape)}) must be a prefix of the shape of updates "
                f"({list(update_shape)}) [Op:{op}]"
            )
        if not len(shape) or (len(update_shape) and update_shape[len(index_shape) :] != shape[1:]):
            raise invalid(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
                f"{list(update_shape)}, indices.shape {list(index_shape)}, params.shape {list(shape)} [Op:{op}]"
            )
        at = indices.value.long()
        _check_row_range(at, shape[0], op)
        if self.dtype is bool_ and change is not _UPDATE:  # places of bools may be changed, and rows not
            raise self._unsupported(op)
        return self._change(op, change, at, updates, 1)

    # ---- elements and slices by several indices ----------------------------------------------------------------------

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Replaces the elements or slices at `indices`.

        Args:
            indices: int32 or int64 of shape `[..., k]`: each last dimension indexes the first `k` dimensions of the
                variable.
            updates: a tensor of shape `indices.shape[:-1] + self.shape[k:]`.

        Returns:
            The variable.

        Raises:
            InvalidArgumentError: an index is out of range, or the shapes do not match.

        Example:
            >>> v = tf.Variable([[1, 2], [3, 4]])
            >>> v.scatter_nd_update([[0, 1], [1, 0]], [20, 30]).numpy().tolist()
            [[1, 20], [30, 4]]
        """
        return self._scatter_nd("ResourceScatterNdUpdate", _UPDATE, indices, updates)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Adds to the elements or slices at `indices`. See `scatter_nd_update`."""
        return self._scatter_nd("ResourceScatterNdAdd", _ADD, indices, updates)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Subtracts from the elements or slices at `indices`. See `scatter_nd_update`."""
        return self._scatter_nd("ResourceScatterNdSub", _SUB, indices, updates)

    def scatter_nd_max(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Replaces the elements at `indices` by the greater ones. See `scatter_nd_update`."""
        return self._scatter_nd("ResourceScatterNdMax", _MAXIMUM, indices, updates)

    def scatter_nd_min(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        """Replaces the elements at `indices` by the lesser ones. See `scatter_nd_update`."""
        return self._scatter_nd("ResourceScatterNdMin", _MINIMUM, indices, updates)

    def _scatter_nd(self, op: str, change: Rows, indices: TensorLike, updates: TensorLike) -> Any:
        where, tensor = _as_indices(indices), convert(updates, self.dtype)
        return self._now_or_later(op, AssignsParts._scatter_places, change, where, tensor)

    def _scatter_places(self, op: str, change: Rows, where: EagerTensor, updates: EagerTensor) -> Any:
        shape = self._memory().shape
        *count, depth = where.value.shape or (0,)
        if not where.value.ndim or depth > len(shape) or tuple(updates.value.shape) != (*count, *shape[depth:]):
            raise invalid(
                f"indices of shape {list(where.value.shape)} into a variable of shape {list(shape)} need updates of "
                f"shape indices.shape[:-1] + shape[indices.shape[-1]:], not {list(updates.value.shape)} [Op:{op}]"
            )
        at = where.value.long().reshape(math.prod(count), depth)
        sizes = torch.tensor(shape[:depth], device=at.device)
        outside = ((at < 0) | (at >= sizes)).any(1)
        if bool(outside.any()):
            first = int(outside.nonzero()[0])
            raise invalid(f"indices[{first}] = {at[first].tolist()} does not index into shape {text(shape)} [Op:{op}]")
        strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
        rows = (at * torch.tensor(strides, dtype=torch.long, device=at.device)).sum(1)
        return self._change(op, change, rows, updates, depth)

    def sparse_read(self, indices: Tensor, name: str | None = None) -> Tensor:
        """Returns the rows at `indices`: `tf.gather(self, indices)`."""
        return hooks.gather(self, indices, name=name)

    def gather_nd(self, indices: list[Any], name: str | None = None) -> Tensor:
        """Returns the elements or slices at `indices`: `tf.gather_nd(self, indices)`."""
        return hooks.gather_nd(self, indices, name=name)

    def count_up_to(self, limit: int) -> Tensor:
        """Adds one to a scalar integer variable, and returns the value from before.

        Raises:
            OutOfRangeError: it is `limit` already.
            InvalidArgumentError: the variable is no scalar of int32 or int64.

        Example:
            >>> v = tf.Variable(1)
            >>> v.count_up_to(3).numpy().item(), v.numpy().item()
            (1, 2)
        """
        if state.graph is not None:

            def kernel(variable: Variable) -> Any:
                return variable.count_up_to(limit).value

            attrs = {"limit": limit, "T": self.dtype}
            return state.graph.stateful("ResourceCountUpTo", kernel, [self], [(self.dtype, [])], attrs).outputs[0]
        with self._lock:
            return self._count(limit)

    def _count(self, limit: int) -> Tensor:
        """Runs `count_up_to`; the lock is held."""
        before = self._value
        if self.dtype not in (int32, int64):
            raise invalid(
                f"Value for attr 'T' of {datatype_name(self.dtype)} is not in the list of allowed values: int32, int64 "
                "[Op:ResourceCountUpTo]"
            )
        if before.value.ndim:
            raise invalid(f"input is not a scalar: {text(before.shape)} [Op:ResourceCountUpTo]")
        if int(before) >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit} [Op:ResourceCountUpTo]")
        self._set(before.value + 1, before)
        return EagerTensor(before.value, self.dtype)

    # ---- shared ------------------------------------------------------------------------------------------------------

    def _now_or_later(
        self, op: str, scatter: Callable[..., Any], change: Rows, indices: Tensor, updates: Tensor
    ) -> Any:
        """Calls `scatter(self, op, change, indices, updates)`; while a graph is built, adds an operation that does."""
        if state.graph is None:
            with self._lock:
                return scatter(self, op, change, indices, updates)
        dtype = indices.dtype

        def kernel(variable: Variable, at: torch.Tensor, raw: torch.Tensor) -> None:
            with variable._lock:
                scatter(variable, op, change, EagerTensor(at, dtype), EagerTensor(raw, variable.dtype))

        return self._stage(op, kernel, (indices, updates))

    def _takes(self, change: Rows) -> bool:
        """Returns True if the variable's dtype has the numbers that a change needs."""
        if change is _UPDATE:
            return True
        has_order = not self.dtype.is_complex
        return self.dtype.torch is not None and (has_order or (change is not _MAXIMUM and change is not _MINIMUM))

    def _unsupported(self, op: str) -> Exception:
        return invalid(f"No OpKernel was registered to support Op '{op}' for {self.dtype.name} variables")

    def _change(self, op: str, change: Rows, at: torch.Tensor, updates: EagerTensor, depth: int) -> Any:
        """Changes rows of the value.

        Args:
            op: for messages.
            change: the update of the rows.
            at: the indices of the rows, in the table whose rows are the value's slices at `depth`.
            updates: a row for each in `at`, or a scalar.
            depth: the number of the value's dimensions that count the rows.
        """
        at, values = at.reshape(-1), updates.value
        if not self._takes(change):
            raise self._unsupported(op)
        tensor, memory = self._begin()
        rows = math.prod(memory.shape[:depth])
        width = math.prod(memory.shape[depth:])
        try:
            if isinstance(memory, StringArray):
                places = memory.places().reshape(rows, width)
                added = memory.size + values.places()
                places[at.numpy()] = added.reshape(len(at), width) if values.ndim else added
                pool = StringArray.concatenate([memory.reshape(-1), values.reshape(-1)])
                memory = pool.take(places).reshape(memory.shape)
            elif isinstance(memory, np.ndarray):
                memory.reshape(rows, width)[at.numpy()] = values.reshape(len(at), width) if values.ndim else values
            else:
                at, values = at.to(memory.device), values.to(memory.device)
                values = values.reshape(len(at), width) if values.ndim else values.expand(len(at), width)
                if rows and width:
                    _apply_change(change, memory.view(rows, width), at, values.contiguous())
        finally:
            self._end(tensor, memory)
        return self._assigned()


def _apply_change(change: Rows, table: torch.Tensor, rows: torch.Tensor, updates: torch.Tensor) -> None:
    """Changes the table's rows, in a dtype that torch has a kernel for."""
    wide = COMPUTE_IN.get(table.dtype)
    if wide is None or table.dtype in (torch.int32, torch.float16, torch.bfloat16):
        change(table, rows, updates)
        return
    computed = table.to(wide)
    change(computed, rows, updates.to(wide))
    table.copy_(computed)


def _as_indices(value: TensorLike) -> EagerTensor:
    tensor = convert(value)
    if tensor.dtype is not int32 and tensor.dtype is not int64:
        raise invalid(
            f"Value for attr 'Tindices' of {datatype_name(tensor.dtype)} is not in the list of allowed values: "
            f"int32, int64"
        )
    return tensor


def _check_row_range(indices: torch.Tensor, size: int, op: str) -> None:
    if not indices.numel():
        return
    low, high = torch.aminmax(indices)
    if int(low) < 0 or int(high) >= size:
        flat = indices.reshape(-1).tolist()
        first = next(i for i, v in enumerate(flat) if not 0 <= v < size)
        raise invalid(f"indices[{first}] = {flat[first]} is not in [0, {size}) [Op:{op}]")
