"""Static values: the value of a symbolic tensor, as far as it is known while its graph is built.

Shapes are computed from shapes (`tf.shape(x)[1] * 2`), so that most of what an op takes as a shape or an axis is known,
wholly or in part, without running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.kernels import compute
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor


class Unknown(SymbolicTensor):
    """Stands for a host argument of which nothing is known at trace time: whatever a shape rule asks of it, beside its
    own shape and dtype, raises `NotStatic`."""

    def __init__(self, tensor: SymbolicTensor) -> None:
        super().__init__(tensor.op, tensor.value_index, tensor.dtype, tensor.shape)

    def _refuse(self, *_: Any) -> Any:
        raise NotStatic

    __iter__ = __len__ = __getitem__ = __contains__ = _refuse
    __array__ = _refuse  # type: ignore[assignment]
    __index__ = __int__ = __float__ = __bool__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __mod__ = __floordiv__ = __neg__ = __repr__ = __str__ = _refuse
    __eq__ = __ne__ = _refuse
    __hash__ = None  # type: ignore[assignment]


_MOST_ELEMENTS = 1024
_NOTHING = object()


def value_of(tensor: SymbolicTensor) -> Any:
    """The raw value (a `torch.Tensor`, or an array) of a tensor that does not depend on what is unknown, or None."""
    op = tensor.op
    if op.static is None:
        op.static = _evaluated(op)
    return None if op.static is _NOTHING else op.static[tensor.value_index]


def _evaluated(op: Any) -> Any:
    kind = op.type
    if kind == "Const":
        return (op.op.attrs["value"].value,)
    if kind in ("Shape", "Size", "Rank") and op.op.registered:
        shape = op.args[0].shape
        dtype = op.outputs[0].dtype.torch
        if kind == "Rank":
            return _NOTHING if shape.rank is None else (torch.tensor(shape.rank, dtype=dtype),)
        if not shape.is_fully_defined():
            return _NOTHING
        return (torch.tensor(shape.as_list() if kind == "Shape" else shape.num_elements(), dtype=dtype),)
    if kind == "StridedSlice" and op.outputs[0].shape.rank == 0:
        known = _element(op)
        if known is not None:
            return (torch.tensor(known, dtype=op.outputs[0].dtype.torch),)
    if op.stateful or not op.op.registered or getattr(op.op.opdef, "stateful", False):
        return _NOTHING
    for out in op.outputs:
        if not (out.dtype.is_integer or out.dtype.is_bool) or not out.shape.is_fully_defined():
            return _NOTHING
        if out.shape.num_elements() > _MOST_ELEMENTS:
            return _NOTHING
    return computed(op.op, op.args, op.types, value_of) or _NOTHING


def computed(
    op: Any, args: Sequence[Any], types: dict[str, Any], known: Callable[[SymbolicTensor], Any]
) -> tuple[Any, ...] | None:
    """The raw values that a registered op gives, where all that it takes is known and it does not fail.

    Args:
        args: the arguments of an operation.
        types: its type attrs.
        known: gives a tensor's raw value, or None.
    """
    tensors = op.tensors(args)
    values = [known(t) for t in tensors]
    if any(v is None for v in values):
        return None

    def host(arg: Any) -> Any:
        value = known(arg) if isinstance(arg, SymbolicTensor) else None
        return host_static(arg) if value is None else numbers(value)

    eager = {id(t): EagerTensor(v, t.dtype) for v, t in zip(values, tensors, strict=True)}
    arguments = op.map(lambda t: eager[id(t)], args, host=host)
    if any(isinstance(a, SymbolicTensor) or (isinstance(a, tuple) and None in a) for a in op.hosts(arguments)):
        return None
    try:
        result, _ = compute(op, arguments, types, None)
    except Exception:  # it will fail when it runs, and say so
        return None
    return tuple(result) if isinstance(result, (list, tuple)) else (result,)


def _element(op: Any) -> int | None:
    """The element that a slice takes from a vector of ints, where that one is known."""
    whole, begin = partial_value(op.args[0]), host_static(op.args[1])
    if whole is None or not isinstance(begin, tuple) or len(begin) != 1 or begin[0] is None or op.args[8] != 1:
        return None
    return whole[begin[0]] if -len(whole) <= begin[0] < len(whole) else None


def host_static(value: Any) -> Any:
    """The Python numbers of what kernels take as such: as far as they are known (None where not), else the tensor
    itself."""
    if isinstance(value, SymbolicTensor):
        known = value_of(value)
        if known is not None:
            return numbers(known)
        partial = partial_value(value) if value.shape.rank != 2 else _partial_rows(value)
        return value if partial is None else tuple(partial)
    if type(value) is tuple and any(isinstance(v, SymbolicTensor) for v in value):
        return tuple([_scalar(v) for v in value])
    return value


def static_or_unknown(value: Any) -> Any:
    """Returns `host_static` of a value, with an `Unknown` where it is a tensor of which nothing is known."""
    static = host_static(value)
    return Unknown(static) if isinstance(static, SymbolicTensor) else static


def _scalar(value: Any) -> Any:
    if not isinstance(value, SymbolicTensor):
        return value
    known = value_of(value)
    return None if known is None else numbers(known)


def partial_value(tensor: SymbolicTensor) -> list[int | None] | None:
    """The elements of a vector of ints, None for those that are not known; None if nothing is."""
    if tensor.shape.rank != 1 or not tensor.dtype.is_integer:
        return None
    known = value_of(tensor)
    if known is not None:
        return known.tolist()
    op = tensor.op
    kind = op.type
    if kind == "Shape":
        shape = op.args[0].shape
        return None if shape.rank is None else shape.as_list()
    if kind == "Pack":
        return [_scalar(t) for t in op.args[0]]
    if kind in ("Cast", "Identity"):
        return partial_value(op.args[0])
    if kind == "ConcatV2":
        parts = [partial_value(t) for t in op.args[0]]
        return None if any(p is None for p in parts) else [d for p in parts for d in p]  # type: ignore[union-attr]
    if kind == "StridedSlice":
        whole = partial_value(op.args[0])
        spec = [host_static(a) for a in op.args[1:4]]
        if whole is None or any(not isinstance(s, tuple) or len(s) != 1 or None in s for s in spec) or any(op.args[6:]):
            return None
        begin, end, stride = (s[0] for s in spec)
        return whole[None if op.args[4] & 1 else begin : None if op.args[5] & 1 else end : stride]
    if tensor.shape[0] is not None:
        return [None] * tensor.shape[0]
    return None


def _partial_rows(matrix: SymbolicTensor) -> list[tuple[int | None, ...]] | None:
    """The rows of a matrix of ints that is stacked of them, None for the elements that are not known."""
    columns = matrix.shape[1]
    if columns is None or matrix.op.type not in ("Pack", "Cast", "Identity"):
        return None
    if matrix.op.type != "Pack":
        return _partial_rows(matrix.op.args[0])
    rows, axis = matrix.op.args
    if axis not in (0, -2):
        return None
    return [tuple(partial_value(row) or [None] * columns) for row in rows]


def static_shape(vector: Any) -> TensorShape:
    """The shape that a vector of ints gives, as far as it is known."""
    if isinstance(vector, SymbolicTensor):
        return TensorShape(partial_value(vector))
    return TensorShape(vector.numpy().tolist())


def array_of(tensor: SymbolicTensor) -> np.ndarray | None:
    """The value as a NumPy array, or None."""
    value = value_of(tensor)
    return None if value is None else EagerTensor(value, tensor.dtype)._numpy()


def numbers(value: Any) -> Any:
    """The Python numbers of a raw value, in nested tuples."""
    return _tuples(value.tolist())


def _tuples(value: Any) -> Any:
    return tuple([_tuples(v) for v in value]) if type(value) is list else value


hooks.static_shape = static_shape
