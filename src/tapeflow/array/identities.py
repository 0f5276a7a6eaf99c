"""Ops that pass tensors on unchanged, and the cast that other array ops need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.operation import GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.core.values.strings import StringArray


def _return_itself(x: torch.Tensor) -> torch.Tensor:
    return x


def less_static(tensor: Tensor, shape: ShapeLike) -> Any:
    """Weakens the static shape of a tensor of a graph to the shape that TensorFlow infers. TensorFlow computes the
    result in another way. Programs that feed one function with the result of another then see the same specs."""
    if not isinstance(tensor, SymbolicTensor):
        return tensor
    result = identity_op(tensor)
    result._shape = TensorShape(shape)
    return result


_UNCHANGED: dict[str, Any] = {"shape": same, "strings": _return_itself, "element": lambda b, x: x}
_IDENTITY: dict[str, Any] = {**_UNCHANGED, "identity": True, "view": True, "takes_sparse": True}

# Returns the same value as a new tensor.
identity_op = defined_op("Identity", _return_itself, **_IDENTITY)


@identity_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return dy


def identity(input: TensorLike, name: str | None = None) -> Any:
    """Returns a new tensor with the value of another; of a variable, its current value.

    Args:
        input: a tensor of any dtype and shape, or a composite one such as a `tf.SparseTensor`.
        name: a name for the operation.

    Returns:
        A tensor with the dtype and shape of `input`, or a composite tensor of the same kind.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> v = tf.Variable(1)
        >>> before = tf.identity(v)
        >>> _ = v.assign(2)
        >>> int(before)
        1
    """
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return identity_op(input, name)


def cast_to(x: Any, dtype: DType) -> Any:
    """Returns a tensor cast to a dtype, or the tensor itself if it has that dtype.

    `tf.cast`, which does this and more, stands in a layer above this one.
    """
    tensor = x if isinstance(x, Tensor) else convert(x)
    return tensor if tensor.dtype is dtype else ops.Cast(tensor, dtype)


def _group_kernel(inputs: list[StringArray | torch.Tensor]) -> tuple[Any, ...]:
    if not inputs:
        raise invalid("Length for attr 'T' of 0 must be at least minimum 1")
    return tuple(inputs)


def _check_pinned(tensor: torch.Tensor) -> Any:
    if not (isinstance(tensor, torch.Tensor) and tensor.is_pinned()):
        raise invalid("not pinned")
    return tensor


@op("CheckPinned", kernel=_check_pinned, strings=_check_pinned, shape=same)
def check_pinned(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Checks that a tensor is in memory that a GPU's driver has pinned, and returns it.

    Args:
        tensor: the tensor.

    Returns:
        The tensor.

    Raises:
        InvalidArgumentError: it is in other memory.

    Example:
        >>> try:
        ...     tf.check_pinned(tf.constant(1.0))
        ... except tf.errors.InvalidArgumentError as error:
        ...     print(error.message.split(" [Op")[0])
        not pinned
    """


not_differentiable(check_pinned)


@op("IdentityN", kernel=_group_kernel, shape=lambda input: input, strings=_group_kernel, view=True)
def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Returns new tensors with the values of others.

    Args:
        input: a list of tensors, of any dtypes and shapes.

    Returns:
        A list of tensors of the same dtypes and shapes.

    Raises:
        InvalidArgumentError: the list is empty.

    Example:
        >>> a, b = tf.identity_n([1, 2.5])
        >>> float(b)
        2.5
    """


@identity_n.gradient()
def _(call: Call, *dys: Any) -> Any:
    return dys


@op("StopGradient", _return_itself, **_IDENTITY)
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the same value, through which no gradient passes.

    Args:
        input: a tensor of any dtype and shape.

    Returns:
        A tensor of the dtype and shape of `input`.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * tf.stop_gradient(x)
        >>> float(tape.gradient(y, x))
        3.0
    """


@op("GuaranteeConst", _return_itself, **_UNCHANGED)
def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the same value; in TensorFlow, a promise to its compiler that it never changes.

    Args:
        input: a tensor of any dtype and shape.

    Returns:
        A tensor of the dtype and shape of `input`.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> int(tf.guarantee_const(3))
        3
    """


not_differentiable(stop_gradient, guarantee_const)


def no_op(name: str | None = None) -> Operation | None:
    """Does nothing: in a graph, an operation that does nothing.

    Returns:
        In a graph, an operation; eagerly None.

    Example:
        >>> tf.no_op()
    """
    return None if state.graph is None else _group_in_graph((), name or "NoOp")


def group(*inputs: Any, **kwargs: Any) -> Operation | None:
    """Groups operations that run in a graph; eagerly they have run already, and there is nothing to return.

    Args:
        *inputs: operations, tensors, variables, and nests of them.
        **kwargs: `name`.

    Returns:
        In a graph, an operation that runs after all of them; eagerly None.

    Raises:
        ValueError: there is an unknown keyword argument.

    Example:
        >>> tf.group(tf.constant(1), tf.constant(2))
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    if state.graph is None:
        return None
    return _group_in_graph(nest.flatten(inputs, expand_composites=True), name or "group_deps")


def _group_in_graph(inputs: Sequence[Any], name: str) -> Any:
    graph = state.graph
    with graph.control_dependencies([i for i in inputs if i is not None]):
        return graph.node(GraphOp("NoOp"), (), (), name)


def tuple_(tensors: list[Tensor], control_inputs: Sequence[Any] | None = None, name: str | None = None) -> Any:
    """Returns the tensors once all of them are computed; eagerly they are already.

    Args:
        tensors: a list of tensors of any shapes, or None for those that are not there.
        control_inputs: operations to run before; eagerly they have run.

    Returns:
        A list of the same tensors. Eagerly, this is `tensors` itself.

    Example:
        >>> [int(t) for t in tf.tuple([tf.constant(1), tf.constant(2)])]
        [1, 2]
    """
    return list(tensors) if state.graph is not None else tensors
