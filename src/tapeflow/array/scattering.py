"""Ops that put slices where their indices say."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tapeflow.array.gathering import flat_places, gather_nd
from tapeflow.core.autodiff.gradients import shape_argument
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def _scatter_rule(indices: TensorShape, updates: TensorShape, shape: Any, _: str = "") -> TensorShape:
    target = TensorShape(shape)
    if indices.rank is None or updates.rank is None:
        return target
    outer = indices.rank - 1
    if outer < 0:
        raise invalid("Indices shape must have rank at least one. Found:[]")
    if not indices[:-1].is_compatible_with(updates[:outer]):
        raise invalid(
            f"Dimensions [0,{outer}) of indices[shape={text(indices)}] must match dimensions [0,{outer}) of "
            f"updates[shape={text(updates)}]"
        )
    depth = indices[-1]
    if depth is not None and (depth > target.rank or not target[depth:].is_compatible_with(updates[outer:])):
        raise invalid(
            f"Dimensions [{depth},{target.rank}) of input[shape={text(target)}] must match dimensions "
            f"[{outer},{updates.rank}) of updates[shape={text(updates)}]"
        )
    return target


def _places(indices: torch.Tensor, updates: torch.Tensor, shape: Any, policy: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the updates go in the rows of a tensor of that shape, and the updates in as many rows."""
    if not indices.ndim or indices.shape[-1] > len(shape):
        raise TypeError("the shape rule says what is wrong")
    depth, outer = indices.shape[-1], indices.shape[:-1]
    inner = torch.Size(shape[depth:])
    if updates.shape != outer + inner:
        raise TypeError("the shape rule says what is wrong")
    updates = updates.reshape((int(np.prod(outer)), *inner))
    if indices.is_cuda or policy == "IGNORE":
        rows = indices.reshape(updates.shape[0], depth).to(torch.int64)
        good = ((rows >= 0) & (rows < torch.tensor(shape[:depth], device=rows.device))).all(1)
        indices, updates = rows[good], updates[good]
    return flat_places(indices, shape, "shape")[0], updates


def _rows_of(tensor: torch.Tensor, depth: int) -> torch.Tensor:
    return tensor.reshape((int(np.prod(tensor.shape[:depth])), *tensor.shape[depth:]))


def _scattered(indices: torch.Tensor, updates: torch.Tensor, shape: Any, bad_indices_policy: str = "") -> torch.Tensor:
    places, rows = _places(indices, updates, shape, bad_indices_policy)
    out = _rows_of(updates.new_zeros(shape), indices.shape[-1])
    if rows.dtype == torch.bool:  # adding up is `or`
        out[places[rows]] = True
        return out.view(shape)
    return out.index_add_(0, places, rows).view(shape)


def _scattered_texts(
    indices: torch.Tensor, updates: np.ndarray, shape: Any, bad_indices_policy: str = ""
) -> np.ndarray:
    order = torch.arange(updates.size).view(updates.shape)
    places, rows = _places(indices, order, shape, bad_indices_policy)
    out = np.full(tuple(shape), b"" if updates.dtype == object else 0, updates.dtype)
    target = out.reshape((-1, *out.shape[indices.shape[-1] :]))
    for place, row in zip(places.tolist(), rows.numpy(), strict=True):
        target[place] = target[place] + updates.reshape(-1)[row]
    return out


@op("ScatterNd", kernel=_scattered, host=("shape",), shape=_scatter_rule, strings=_scattered_texts)
def _scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """Zeros of a shape, with updates added at places."""


@_scatter_nd.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    return None, gather_nd(dy, call.inputs[0], bad_indices_policy=call.attrs[1])


def scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """A tensor of zeros with updates added at the places that indices name.

    Args:
        indices: int16, int32 or int64, of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: of shape `indices.shape[:-1] + shape[k:]`.
        shape: of the result.
        bad_indices_policy: "ERROR", or "IGNORE": what is out of range is left out. By default an error on the CPU.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.scatter_nd([[1], [1]], [3, 4], [3]).numpy().tolist()
        [0, 7, 0]
    """
    return _scatter_nd(indices, updates, shape, bad_indices_policy, name)


# ---- into a tensor ---------------------------------------------------------------------------------------------------


def _into_rule(tensor: TensorShape, indices: TensorShape, updates: TensorShape, _: str = "") -> TensorShape:
    if indices.rank is None or updates.rank is None or tensor.rank is None:
        return tensor
    if not indices.rank:
        raise invalid("Indices shape must have rank at least one. Found:[]")
    outer, depth = indices.rank - 1, indices[-1]
    if not indices[:-1].is_compatible_with(updates[:outer]):
        raise invalid(
            "Outer dimensions of indices and update must match. "
            f"Indices shape: {text(indices)}, updates shape:{text(updates)}"
        )
    if depth is not None and (depth > tensor.rank or not tensor[depth:].is_compatible_with(updates[outer:])):
        raise invalid(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {text(tensor)} updates: {text(updates)}"
        )
    return tensor


def _into(tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, policy: str) -> Any:
    places, rows = _places(indices, updates, tensor.shape, policy)
    out = tensor.clone(memory_format=torch.contiguous_format)
    return out, _rows_of(out, indices.shape[-1]), places, rows


def _update(
    tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, bad_indices_policy: str = ""
) -> torch.Tensor:
    out, target, places, rows = _into(tensor, indices, updates, bad_indices_policy)
    if places.numel() > 1 and not indices.is_cuda:  # of several updates of one place the last one counts
        last = torch.full((target.shape[0],), -1, dtype=torch.int64)
        order = torch.arange(places.numel())
        last.scatter_reduce_(0, places, order, "amax")
        keep = last[places] == order
        places, rows = places[keep], rows[keep]
    target[places] = rows
    return out


def _added(
    tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, bad_indices_policy: str = ""
) -> torch.Tensor:
    out, target, places, rows = _into(tensor, indices, updates, bad_indices_policy)
    target.index_add_(0, places, rows)
    return out


def _subtracted(
    tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, bad_indices_policy: str = ""
) -> torch.Tensor:
    out, target, places, rows = _into(tensor, indices, updates, bad_indices_policy)
    target.index_add_(0, places, rows, alpha=-1)
    return out


def _extreme(how: str) -> Any:
    def kernel(
        tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, bad_indices_policy: str = ""
    ) -> torch.Tensor:
        out, target, places, rows = _into(tensor, indices, updates, bad_indices_policy)
        where = places.reshape((-1,) + (1,) * (rows.ndim - 1)).expand_as(rows)
        target.scatter_reduce_(0, where, rows, how)
        return out

    return kernel


@op("TensorScatterUpdate", kernel=_update, shape=_into_rule, moves=True)
def _tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """A tensor with updates put at places."""


@_tensor_scatter_update.gradient(needs="input1 shapes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow.array.creation import zeros

    indices, policy = call.inputs[1], call.attrs[0]
    without = _tensor_scatter_update(dy, indices, zeros(shape_argument(call.shape(2)), dy.dtype), policy)
    return without, None, gather_nd(dy, indices, bad_indices_policy=policy)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """A tensor with slices replaced at the places that indices name.

    Args:
        tensor: of any dtype.
        indices: integers of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: of shape `indices.shape[:-1] + tensor.shape[k:]`. Of several for one place, the last one counts.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]).numpy().tolist()
        [1, 9, 3]
    """
    return _tensor_scatter_update(tensor, indices, updates, "", name)


@op("TensorScatterAdd", kernel=_added, shape=_into_rule)
def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """A tensor with updates added at the places that indices name. See `tf.tensor_scatter_nd_update`.

    Example:
        >>> tf.tensor_scatter_nd_add([1, 2, 3], [[1], [1]], [10, 20]).numpy().tolist()
        [1, 32, 3]
    """


@tensor_scatter_nd_add.gradient(needs="input1")
def _(call: Call, dy: Any) -> Any:
    return dy, None, gather_nd(dy, call.inputs[1], bad_indices_policy=call.attrs[0])


@op("TensorScatterSub", kernel=_subtracted, shape=_into_rule)
def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """A tensor with updates subtracted at the places that indices name. See `tf.tensor_scatter_nd_update`.

    Example:
        >>> tf.tensor_scatter_nd_sub([1, 2, 3], [[1]], [10]).numpy().tolist()
        [1, -8, 3]
    """


@tensor_scatter_nd_sub.gradient(needs="input1")
def _(call: Call, dy: Any) -> Any:
    return dy, None, -gather_nd(dy, call.inputs[1], bad_indices_policy=call.attrs[0])


@op("TensorScatterMax", kernel=_extreme("amax"), shape=_into_rule)
def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """A tensor with the maximum of it and of updates at places. See `tf.tensor_scatter_nd_update`.

    Example:
        >>> tf.tensor_scatter_nd_max([1, 2, 3], [[1], [2]], [9, 0]).numpy().tolist()
        [1, 9, 3]
    """


@op("TensorScatterMin", kernel=_extreme("amin"), shape=_into_rule)
def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Any:
    """A tensor with the minimum of it and of updates at places. See `tf.tensor_scatter_nd_update`.

    Example:
        >>> tf.tensor_scatter_nd_min([1, 2, 3], [[1], [2]], [9, 0]).numpy().tolist()
        [1, 2, 0]
    """


def _extreme_gradient(call: Call, dy: Any) -> Any:
    """To the tensor and the updates alike where they are the extreme, as TensorFlow does it."""
    from tapeflow.math import equal, multiply
    from tapeflow.math.casting import cast

    tensor, indices, updates = call.inputs
    out = call.outputs[0]
    here = cast(equal(out, tensor), dy.dtype)
    there = cast(equal(gather_nd(out, indices), updates), dy.dtype)
    count = tensor_scatter_nd_add(here, indices, there)
    share = dy / count
    return multiply(share, here), None, multiply(gather_nd(share, indices), there)


tensor_scatter_nd_max.gradient(needs="inputs outputs")(_extreme_gradient)
tensor_scatter_nd_min.gradient(needs="inputs outputs")(_extreme_gradient)
