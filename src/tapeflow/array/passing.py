"""Ops that pass tensors on as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import invalid


def _itself(x: torch.Tensor) -> torch.Tensor:
    return x


@op(
    "Identity",
    kernel=_itself,
    shape=same,
    strings=_itself,
    elementwise=True,
    identity=True,
    view=True,
    takes_sparse=True,
)
def _identity(input: Any, name: str | None = None) -> Any:
    """The same value as a new tensor."""


@_identity.gradient()
def _(call: Call, dy: Any) -> Any:
    return dy


def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the value of another; of a variable, the value it has now.

    Args:
        input: a tensor of any dtype, or a composite one such as a `tf.SparseTensor`.

    Example:
        >>> v = tf.Variable(1)
        >>> before = tf.identity(v)
        >>> _ = v.assign(2)
        >>> int(before)
        1
    """
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return _identity(input, name)


def _all(inputs: Any) -> tuple[Any, ...]:
    if not inputs:
        raise invalid("Length for attr 'T' of 0 must be at least minimum 1")
    return tuple(inputs)


@op("IdentityN", kernel=_all, strings=_all, view=True)
def identity_n(input: Any, name: str | None = None) -> Any:
    """New tensors with the values of others.

    Args:
        input: a list of tensors, of any dtypes.

    Example:
        >>> a, b = tf.identity_n([1, 2.5])
        >>> float(b)
        2.5
    """


@identity_n.gradient()
def _(call: Call, *dys: Any) -> Any:
    return dys


@op("StopGradient", kernel=_itself, shape=same, strings=_itself, elementwise=True, identity=True, view=True)
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient passes.

    Args:
        input: of any dtype.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * tf.stop_gradient(x)
        >>> float(tape.gradient(y, x))
        3.0
    """


@op("GuaranteeConst", kernel=_itself, shape=same, strings=_itself, elementwise=True)
def guarantee_const(input: Any, name: str | None = None) -> Any:
    """The same value; TensorFlow's promise to its compiler that it never changes.

    Args:
        input: of any dtype.

    Example:
        >>> int(tf.guarantee_const(3))
        3
    """


not_differentiable(stop_gradient, guarantee_const)


def no_op(name: str | None = None) -> Any:
    """Does nothing: in a graph, an operation that does nothing.

    Example:
        >>> tf.no_op()
    """
    return None if state.graph is None else _grouped((), name or "NoOp")


def group(*inputs: Any, **kwargs: Any) -> Any:
    """Groups operations that run in a graph; eagerly they have run already, and there is nothing to give.

    Args:
        inputs: operations, tensors, variables, and nests of them.
        kwargs: `name`.

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
    return None if state.graph is None else _grouped(nest.flatten(inputs, expand_composites=True), name or "group_deps")


def _grouped(inputs: Sequence[Any], name: str) -> Any:
    from tapeflow.graph.ir.operation import GraphOp

    graph = state.graph
    with graph.control_dependencies([i for i in inputs if i is not None]):
        return graph.node(GraphOp("NoOp"), (), (), name)


def tuple_(tensors: Sequence[Any], control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors, all computed; eagerly they are already.

    Example:
        >>> [int(t) for t in tf.tuple([tf.constant(1), tf.constant(2)])]
        [1, 2]

    Raises:
        TypeError: `tensors` is no list.
    """
    return list(tensors) if isinstance(tensors, Iterable) else tensors
