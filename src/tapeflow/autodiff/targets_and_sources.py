"""The two ends of a differentiation: targets with their initial gradients, and sources."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import torch

from tapeflow.array.creation import ones_like_op, zeros, zeros_like_op
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.types.dtypes import variant
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable


class UnconnectedGradients(Enum):
    """The gradient for a source that has no influence on the target: None, or zeros.

    Example:
        >>> x, y = tf.constant(1.0), tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     z = y * y
        >>> tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy().item()
        0.0
    """

    NONE = "none"
    ZERO = "zero"


def sources_in(value: Any) -> tuple[list[Any], bool]:
    """Returns the tensors and variables in a nest of sources, and whether the nest is a plain list of them.

    Raises:
        TypeError: the nest contains something else.
    """
    if isinstance(value, (Tensor, ReadAsTensor)):
        return [value], False
    if type(value) is list:
        plain = []
        for v in value:
            if not isinstance(v, (ReadAsTensor, Tensor)):
                v = _variable_in(v)
                if not isinstance(v, (ReadAsTensor, Tensor)):
                    break
            plain.append(v)
        else:
            return plain, True
    flat = [_variable_in(v) for v in nest.flatten(value, expand_composites=True)]
    return _check_leaves(flat, "sources"), False


def _check_leaves(flat: list[Any], kind: str) -> list[Any]:
    for v in flat:
        if not isinstance(v, (Tensor, ReadAsTensor)):
            raise TypeError(
                f"The {kind} of a gradient are tensors and variables, not {v!r} of type {type(v).__name__}."
            )
    return flat


def _variable_in(source: Tensor | Variable) -> Any:
    """Returns the variable that another library's variable wraps, as Keras's do; anything else as it is."""
    return source.value if getattr(source, "_should_act_as_resource_variable", False) else source


def pack_gradients(sources: Any, gradients: list[Any]) -> Any:
    """Returns the gradients in the structure of the sources.

    That of a composite value is composite too: the gradients of its values, with the components that are no values (row
    splits, indices) of the source.
    """
    rest = iter(gradients)
    leaves = []
    for source in nest.flatten(sources):
        if not isinstance(source, CompositeTensor):
            leaves.append(next(rest))
            continue
        parts = nest.flatten(source, expand_composites=True)
        part_gradients = [next(rest) for _ in parts]
        if all(g is None for g in part_gradients):
            leaves.append(None)
        else:
            filled = [g if p.dtype.differentiable else p for g, p in zip(part_gradients, parts, strict=True)]
            leaves.append(nest.pack_sequence_as(source, filled, expand_composites=True))
    return nest.pack_sequence_as(sources, leaves)


def gives_zeros(unconnected: UnconnectedGradients | str) -> bool:
    """Tests whether sources without influence have gradients of zeros.

    Raises:
        ValueError: `unconnected` is neither of `UnconnectedGradients`.
    """
    if unconnected is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}") from None


def targets_in(value: Any) -> list[Any]:
    """Returns the tensors in a nest of targets.

    Raises:
        TypeError: the nest contains something else.
    """
    if value is None:
        raise TypeError(
            "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be "
            "differentiated, but received None."
        )
    flat = [value] if isinstance(value, (Tensor, ReadAsTensor)) else []
    for leaf in () if flat else nest.flatten(value):
        parts = nest.flatten(leaf, expand_composites=True)
        composite = isinstance(leaf, CompositeTensor)
        flat += [p for p in parts if p.dtype.differentiable] if composite else parts
    return _check_leaves(flat, "targets")


def seeds_in(value: Any) -> list[Any]:
    """Returns the tensors in a nest of initial gradients; slices as one tensor."""
    dense = [convert(leaf) if isinstance(leaf, IndexedSlices) else leaf for leaf in nest.flatten(value)]
    return nest.flatten(dense, expand_composites=True)


def seed_of(target: Tensor, output_gradient: Tensor | float | None) -> Any:
    """Returns the gradient from which a target's backward pass starts: `output_gradient`, or by default ones.

    It is None for a target that is not differentiable.
    """
    if output_gradient is not None:
        return convert(output_gradient, target.dtype)
    if not target.dtype.differentiable:
        return None
    if state.graph is not None:
        return ones_like_op(target)
    value = value_of(target)
    if value.ndim == 0 and value.is_cpu:
        return EagerTensor(operand(1.0, target.dtype).value, target.dtype)
    return EagerTensor(torch.ones_like(value), target.dtype)


def zeros_like(source: Tensor | Variable) -> Any:
    """Returns zeros in the shape and dtype of a tensor or variable; in a graph, as an operation."""
    if state.graph is not None:
        return zeros_like_op(source)
    return EagerTensor(torch.zeros_like(value_of(source)), source.dtype)


def zero_gradient(output: Tensor) -> Any:
    """Returns a gradient of zeros for an output of an op, which may be a tensor list."""
    if output.dtype is variant:
        return convert(EagerTensor(hooks.zeros_variant(), variant))
    return zeros_like(output)


def value_of(tensor: Any) -> torch.Tensor:
    """Returns the raw value of an eager tensor or variable."""
    return (tensor._value if isinstance(tensor, ReadAsTensor) else tensor).value


def dims_of(tensor: Any) -> tuple[Any, ...]:
    """Returns the shape of a tensor or variable: ints, and scalar tensors for dimensions that are not static."""
    if isinstance(tensor, SymbolicTensor):
        return tuple(shape_of(tensor))
    return tuple(value_of(tensor).shape)


def zeros_of(dims: Sequence[Any], dtype: Any) -> Any:
    """Returns zeros; dimensions may be scalar tensors."""
    return zeros(dims, dtype)
