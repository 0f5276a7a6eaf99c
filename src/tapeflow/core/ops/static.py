"""Static values: values that symbolic tensors have while their graph is built.

Shapes are computed from shapes (`tf.shape(x)[1] * 2`). So most shapes and axes that ops take are static, wholly or
in part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import nested_tuples
from tapeflow.core.ops.definition import NotStatic, Op
from tapeflow.core.ops.kernels import compute_in_graph
from tapeflow.core.types.dtypes import string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import TensorLike


class Unknown(SymbolicTensor):
    """Stands for a host argument that is unknown at trace time. Its shape and dtype are static. Any other use in a
    shape rule raises `NotStatic`."""

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
    """Returns the raw value (a `torch.Tensor` or an array) of a tensor that depends on nothing unknown, or None."""
    op = tensor.op
    if op.static is None:
        _evaluate_operation(op)
    return None if op.static is _NOTHING else op.static[tensor.value_index]


def _evaluate_operation(operation: Any) -> Any:
    """Sets the cached static values of an operation's outputs; returns the result of the op's rule, if that ran."""
    operation.static = _NOTHING
    op, outputs = operation.op, operation.outputs
    if operation.captured is not None:  # in the graph of a function
        value = value_of(operation.captured)
        if value is not None:
            operation.static = (value,)
        return None
    if not op.registered or op.opdef.stateful or not any(map(_may_be_static, outputs)):
        return None
    rule = op.static_value
    if (rule is None or not op.reads_shape) and _compute_outputs(operation):
        return None
    if rule is None or not outputs[0].dtype.is_integer:
        return None
    try:
        static = rule(*operation.args)
    except NotStatic:
        static = None
    if not has_none(static):
        values = (static,) if op.single else static
        operation.static = tuple([torch.tensor(v, dtype=outputs[0].dtype.torch) for v in values])
    elif op.reads_shape and _compute_outputs(operation):  # of a static value, though no rule tells its shape
        return None
    return static


def _compute_outputs(operation: Any) -> bool:
    """Sets the static values of an operation's outputs by running its kernel; returns False if an input has none."""
    operation.static = compute_static(operation.op, operation.args, operation.types, value_of) or _NOTHING
    return operation.static is not _NOTHING


def _may_be_static(tensor: SymbolicTensor) -> bool:
    """Returns True if a tensor holds integers, bools or strings; if their number is static, it must be small."""
    if not (tensor.dtype.is_integer or tensor.dtype.is_bool or tensor.dtype is string):
        return False
    count = tensor.shape.num_elements()
    return count is None or count <= _MOST_ELEMENTS


def has_none(value: TensorLike | None) -> bool:
    """Returns True if nested tuples contain None."""
    return value is None or (type(value) is tuple and any(map(has_none, value)))


def compute_static(
    op: Op, args: Sequence[Any], types: dict[str, Any], value_of: Callable[[SymbolicTensor], Any]
) -> tuple[Any, ...] | None:
    """Returns the raw values of a registered op if its arguments are static and it does not fail, else None.

    Args:
        args: the arguments of an operation.
        types: its type attrs.
        value_of: gives a tensor's raw value, or None.
    """
    values = {id(t): value_of(t) for t in op.tensors(args)}
    if any(v is None for v in values.values()):
        return None
    arguments = arguments_of(op, args, lambda t: values[id(t)] if id(t) in values else value_of(t))
    if any(isinstance(a, SymbolicTensor) or (isinstance(a, tuple) and None in a) for a in op.hosts(arguments)):
        return None
    try:
        return results_of(op, arguments, types)
    except (errors.OpError, ValueError):  # it fails whenever it runs: it says so then, not while tracing
        return None


def arguments_of(op: Op, args: Sequence[Any], value_of: Callable[[SymbolicTensor], Any]) -> list[Any]:
    """Returns the arguments of a registered op for a call outside of graphs.

    Args:
        op: the op.
        args: the arguments of an operation.
        value_of: gives a tensor's raw value. If it gives None for a host argument, the static value counts.
    """

    def host(arg: TensorLike | None) -> Any:
        value = value_of(arg) if isinstance(arg, SymbolicTensor) else None
        return host_static(arg) if value is None else numbers(value)

    return op.map(lambda t: EagerTensor(value_of(t), t.dtype), args, host=host)


def results_of(op: Any, arguments: Sequence[Any], types: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the raw results of a registered op.

    Args:
        op: the op.
        arguments: its arguments, see `arguments_of`.
        types: its type attrs.

    Raises:
        OpError: the op failed.
        ValueError: its kernel raised one.
    """
    result, _ = compute_in_graph(op, arguments, types)
    return tuple(result) if isinstance(result, (list, tuple)) else () if result is None else (result,)


def elements(tensor: Any) -> Any:
    """The integers of a symbolic tensor in nested tuples, with None for each that is not static.

    Raises:
        NotStatic: their number is unknown, or the tensor does not hold integers.
    """
    operation, rank = tensor.op, tensor.shape.rank
    static = _evaluate_operation(operation) if operation.static is None else None
    if static is not None:
        return static if operation.op.single else static[tensor.value_index]
    value = value_of(tensor)
    if value is not None:
        return numbers(value)
    if operation.captured is not None:
        return elements(operation.captured)
    if rank == 0 and (not operation.op.registered or operation.op.single):
        return None
    if not tensor.dtype.is_integer:
        raise NotStatic
    if operation.op.identity:
        return elements(operation.args[0])
    if operation.op.static_value is not None:
        try:
            static = operation.op.static_value(*operation.args)
            return static if operation.op.single else static[tensor.value_index]
        except NotStatic:
            pass
    if rank != 1 or tensor.shape[0] is None:
        raise NotStatic
    return (None,) * tensor.shape[0]


def host_static(value: Any) -> Any:
    """Returns a kernel argument as Python numbers if it is static, with None for unknown numbers, else the tensor
    itself."""
    if isinstance(value, SymbolicTensor):
        try:
            static = elements(value)
        except NotStatic:
            return value
        return value if static is None else static
    if type(value) is tuple and any(isinstance(v, SymbolicTensor) for v in value):
        return tuple([elements(v) if isinstance(v, SymbolicTensor) else v for v in value])
    return value


def static_or_unknown(value: TensorLike | None) -> Any:
    """Returns `host_static` of a value, or an `Unknown` for a tensor without static values."""
    static = host_static(value)
    return Unknown(static) if isinstance(static, SymbolicTensor) else static


def partial_value(tensor: SymbolicTensor) -> tuple[int | None, ...] | None:
    """Returns the elements of a vector of ints, None for unknown elements; None if all are unknown."""
    if tensor.shape.rank != 1 or not tensor.dtype.is_integer:
        return None
    static = host_static(tensor)
    return static if type(static) is tuple else None


def static_shape(vector: Tensor) -> TensorShape:
    """Returns the shape that a vector of ints lists. Unknown dimensions stay unknown."""
    if isinstance(vector, SymbolicTensor):
        return TensorShape(partial_value(vector))
    return TensorShape(vector.numpy().tolist())


def array_of(tensor: SymbolicTensor) -> np.ndarray | None:
    """The value as a read-only NumPy array, or None.

    Constants may be interned: equal constants share memory.
    """
    value = value_of(tensor)
    if value is None:
        return None
    array = EagerTensor(value, tensor.dtype)._array().view()
    array.setflags(write=False)
    return array


def numbers(value: torch.Tensor) -> Any:
    """Returns the Python numbers of a raw value in nested tuples. A tuple is returned unchanged."""
    return value if type(value) is tuple else nested_tuples(value.tolist())


hooks.static_shape = static_shape
