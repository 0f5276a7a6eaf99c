"""Ops that change shapes and leave the elements as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid


def _reshape_rule(x: TensorShape, shape: Any) -> TensorShape:
    """Says what is wrong with the new shape; a -1 takes what is left."""
    wanted = [shape] if isinstance(shape, int) else list(shape)
    if any(isinstance(d, tuple) for d in wanted):
        raise invalid(f"sizes input must be 1-D, not {text(TensorShape(np.shape(wanted)))}")
    count = x.num_elements()
    if wanted.count(-1) > 1:
        first, second = [i for i, d in enumerate(wanted) if d == -1][:2]
        raise invalid(f"Only one input size may be -1, not both {first} and {second}")
    for i, d in enumerate(wanted):
        if d is not None and d < -1:
            raise invalid(f"Size {i} must be non-negative, not {d}")
    missing = [i for i, d in enumerate(wanted) if d is None or d == -1]
    known = 1
    for d in wanted:
        known *= 1 if d is None or d == -1 else d
    if missing:
        left = count // known if len(missing) == 1 and count is not None and known else None
        found = TensorShape([left if i in missing else d for i, d in enumerate(wanted)])
        if None in wanted:  # which is not known while a graph is built
            return found
    if missing and not known and count:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has 0")
    if missing and known and count is not None and count % known:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {known}"
        )
    if not missing and count is not None and count != known:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has {known}")
    return found if missing else TensorShape(wanted)


def _reshaped(x: torch.Tensor, shape: Any) -> torch.Tensor:
    try:
        return torch.reshape(x, shape if type(shape) is not int else (shape,))
    except RuntimeError:
        if x.numel() or type(shape) is int or 0 not in shape or list(shape).count(-1) != 1 or min(shape) < -1:
            raise
        # What is left is ambiguous beside a 0, and torch refuses. In TensorFlow it is what is left without all zeros.
        left = math.prod(d for d in x.shape if d) // math.prod(d for d in shape if d > 0)
        return torch.reshape(x, [left if d == -1 else d for d in shape])


@op(
    "Reshape",
    kernel=_reshaped,
    host=("shape",),
    shape=_reshape_rule,
    moves=True,
    identity_if_same_shape=True,
    view=True,
)
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Gives a tensor another shape, with the same elements in the same order.

    Args:
        tensor: of any dtype.
        shape: the new shape; one dimension may be -1 and takes what is left.

    Raises:
        InvalidArgumentError: the number of elements differs.

    Example:
        >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
        [[1, 2], [3, 4]]
    """


@reshape.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return reshape(dy, call.shape(0))


def _broadcast_to_rule(x: TensorShape, shape: Any) -> TensorShape:
    if isinstance(shape, int) or any(isinstance(d, tuple) for d in shape):
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {text(TensorShape(np.shape(shape)))}")
    wanted = tuple(shape)
    for d in wanted:
        if d is not None and d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
    if x.rank is None:
        return TensorShape(wanted)
    if x.rank > len(wanted):
        raise invalid(f"Rank of input ({x.rank}) must be no greater than rank of output shape ({len(wanted)}).")
    target = TensorShape(wanted)
    for m, n in zip(x.as_list()[::-1], wanted[::-1], strict=False):
        if m != n and m != 1 and m is not None and n is not None:
            raise invalid(f"Incompatible shapes: {text(x)} vs. {text(target)}")
    return target


def _broadcasted(x: torch.Tensor, shape: Any) -> torch.Tensor:
    if type(shape) is int or -1 in shape:  # torch would keep the dimension
        raise TypeError("the shape rule says what is wrong")
    return torch.broadcast_to(x, shape)


@op(
    "BroadcastTo",
    kernel=_broadcasted,
    host=("shape",),
    shape=_broadcast_to_rule,
    moves=True,
    identity_if_same_shape=True,
)
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeats a tensor along dimensions of length 1, and new leading ones, to the given shape.

    Raises:
        InvalidArgumentError: the shape is not one the tensor broadcasts to.

    Example:
        >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
        [[1, 2], [1, 2]]
    """


@broadcast_to.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return sum_to_shape(dy, call.shape(0))


def _squeeze_rule(x: TensorShape, squeeze_dims: Any = None) -> TensorShape:
    if x.rank is None:
        return TensorShape(None)
    rank = x.rank
    axes = set()
    for a in _axes(squeeze_dims):
        if not -rank <= a < rank:
            raise invalid(f"Tried to squeeze dim index {a} for tensor with {rank} dimensions.")
        if x[a] not in (1, None):
            raise invalid(f"Can not squeeze dim[{a % rank}], expected a dimension of 1, got {x[a]}")
        axes.add(a % rank)
    if not axes:
        return TensorShape([d for d in x if d != 1]) if None not in x.as_list() else TensorShape(None)
    return TensorShape([d for i, d in enumerate(x) if i not in axes])


def _axes(squeeze_dims: Any) -> tuple[int, ...]:
    if squeeze_dims is None:
        return ()
    return (int(squeeze_dims),) if isinstance(squeeze_dims, int) else tuple(map(int, squeeze_dims))


def _squeezed(x: torch.Tensor, squeeze_dims: Any = None) -> torch.Tensor:
    axes = _axes(squeeze_dims)
    if not axes:
        return torch.squeeze(x)
    shape = x.shape
    for a in axes:
        if shape[a] != 1:
            raise TypeError("the shape rule says what is wrong")
    if len(axes) > 1:
        axes = tuple({a % len(shape) for a in axes})  # a dimension may be given twice
    return torch.squeeze(x, axes)


@op("Squeeze", kernel=_squeezed, rename={"axis": "squeeze_dims"}, shape=_squeeze_rule, moves=True, view=True)
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Takes dimensions of length 1 away.

    Args:
        input: of any dtype.
        axis: the dimension or dimensions to take away; all that have length 1 by default.

    Raises:
        InvalidArgumentError: a dimension of `axis` is not of length 1, or does not exist.

    Example:
        >>> tf.squeeze([[[1], [2]]]).numpy().tolist()
        [1, 2]
    """


@squeeze.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return reshape(dy, call.shape(0))


def _expand_dims_rule(x: TensorShape, axis: Any) -> TensorShape:
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if isinstance(axis, tuple):
        raise invalid("'dim' must be a tensor with a single value")
    if x.rank is None:
        return TensorShape(None)
    if not -x.rank - 1 <= axis <= x.rank:
        raise invalid(f"Tried to expand dim index {axis} for tensor with {x.rank} dimensions.")
    dims = x.as_list()
    dims.insert(axis if axis >= 0 else axis + x.rank + 1, 1)
    return TensorShape(dims)


def _unsqueezed(x: torch.Tensor, axis: Any) -> torch.Tensor:
    return torch.unsqueeze(x, axis if type(axis) is not tuple or len(axis) != 1 else axis[0])


@op("ExpandDims", kernel=_unsqueezed, host=("axis",), shape=_expand_dims_rule, moves=True, view=True)
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Puts in a dimension of length 1.

    Args:
        input: of any dtype, of rank n.
        axis: where the dimension goes, from -n - 1 to n.

    Raises:
        InvalidArgumentError: `axis` is out of that range.

    Example:
        >>> tf.expand_dims([1, 2], 1).numpy().tolist()
        [[1], [2]]
    """


@expand_dims.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return reshape(dy, call.shape(0))


# ---- transpose -------------------------------------------------------------------------------------------------------


def _transpose_rule(x: TensorShape, perm: Any) -> TensorShape:
    if x.rank is None:
        return TensorShape(None)
    rank = x.rank
    if not isinstance(perm, tuple) or any(isinstance(p, tuple) for p in perm):
        raise invalid(f"perm must be a vector, got shape {text(TensorShape(np.shape(perm)))}")
    if len(perm) != rank:
        raise invalid(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(perm)}")
    for p in perm:
        if not -rank <= p < rank:
            raise invalid(f"{p} is out of range [0 .. {rank})")
    found = {p % rank for p in perm}
    for i in range(rank):
        if i not in found:
            raise invalid(f"{i} is missing from {{{','.join(map(str, perm))}}}.")
    return TensorShape([x[p] for p in perm])


def _conjugate_permuted(x: torch.Tensor, perm: Any) -> torch.Tensor:
    return torch.permute(x, perm).conj().resolve_conj()


@op(
    "Transpose",
    kernel=torch.permute,
    host=("perm",),
    shape=_transpose_rule,
    moves=True,
    view=True,
    node_name="transpose",
)
def _transpose(a: Any, perm: Any, name: str | None = None) -> Any:
    """Puts dimensions in another order."""


@_transpose.gradient()
def _(call: Call, dy: Any) -> Any:
    return _transpose(dy, inverse_permutation(call.attrs[0]))


@op("ConjugateTranspose", kernel=_conjugate_permuted, host=("perm",), shape=_transpose_rule)
def _conjugate_transpose(a: Any, perm: Any, name: str | None = None) -> Any:
    """Puts dimensions in another order, and takes the complex conjugate."""


@_conjugate_transpose.gradient()
def _(call: Call, dy: Any) -> Any:
    return _conjugate_transpose(dy, inverse_permutation(call.attrs[0]))


_REVERSED = [tuple(range(rank))[::-1] for rank in range(16)]


def inverse_permutation(perm: Any) -> Any:
    """The permutation that undoes another, whose entries may count from the end."""
    if isinstance(perm, Tensor):  # not known while a graph is built
        return ops.InvertPermutation(perm % ops.Size(perm))
    rank = len(perm)
    inverse = [0] * rank
    for i, p in enumerate(perm):
        inverse[int(p) % rank] = i
    return tuple(inverse)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = "transpose") -> Any:
    """Puts the dimensions of a tensor in another order.

    Args:
        a: of any dtype, of rank n.
        perm: dimension i of the result is dimension `perm[i]` of `a`; by default in reverse order.
        conjugate: also takes the complex conjugate of complex numbers.

    Raises:
        InvalidArgumentError: `perm` is no permutation of the n dimensions.

    Example:
        >>> tf.transpose([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    if perm is None:
        if not isinstance(a, Tensor):
            a = convert(a)
        perm = _REVERSED[len(a.value.shape)] if type(a) is EagerTensor else _REVERSED[a.shape.rank]
    if conjugate:
        if not isinstance(a, Tensor):
            a = convert(a)
        if a.dtype.is_complex:
            return _conjugate_transpose(a, perm, name)
    return _transpose(a, perm, name)
