"""Tensors of length 1."""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.composites import composite
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.complex import complex, imag, real
from tapeflow.math.elementwise import rsqrt, square
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_sum


def l2_normalize(
    x: TensorLike, axis: AxisLike = None, epsilon: float = 1e-12, name: str | None = None, dim: AxisLike = None
) -> Tensor:
    """Divides a tensor by its Euclidean length, or its parts along some dimensions by theirs.

    Args:
        x: a floating or complex tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions along which the length is measured; None for all.
        epsilon: a float, the least value of the squared length. It keeps zeros at zero. The default is 1e-12.
        dim: the old name of `axis`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        TypeError: `x` is of integers.
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.math.l2_normalize([3.0, 4.0]).numpy().tolist()
        [0.6000000238418579, 0.800000011920929]
    """
    axis = axis if dim is None else dim
    tensor = convert(x)
    if tensor.dtype.is_complex:
        re, im = real(tensor), imag(tensor)
        squared_length = reduce_sum(add(square(re), square(im)), axis, True)
        by_length = rsqrt(maximum(squared_length, epsilon))
        return complex(multiply(re, by_length), multiply(im, by_length), name)
    return _l2_normalize(tensor, axis, epsilon, name)


@composite
def _l2_normalize(x: Tensor, axis: int | list[int] | None, epsilon: float, name: str | None) -> Any:
    squared_length = reduce_sum(square(x), axis, True)
    return multiply(x, rsqrt(maximum(squared_length, epsilon)), name)
