"""`tf.__internal__.ops`: two functions that the metrics and layers of Keras 2 call."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor, ones_like
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.variable import Variable
from tapeflow.math.arithmetic import multiply
from tapeflow.math.casting import cast
from tapeflow_compat.compat.v1.losses import check_weights


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Any:
    """Returns weights in the shape of the values that they weigh.

    Args:
        weights: a scalar, or a tensor of the same rank as `values`; each dimension is 1, or the same as in `values`.
        values: a tensor.

    Raises:
        ValueError: the static shapes do not broadcast.
    """
    values = convert_to_tensor(values)
    weights = cast(convert_to_tensor(weights), values.dtype)
    check_weights(weights, values)
    if weights.shape.is_fully_defined() and weights.shape == values.shape:
        return weights
    return multiply(weights, ones_like(values))


def is_resource_variable(var: Any) -> bool:
    """Returns True if a value is a variable; all are resource variables."""
    return isinstance(var, Variable)
