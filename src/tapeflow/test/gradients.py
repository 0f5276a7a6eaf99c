"""`tf.test.compute_gradient`: Jacobians by gradients and by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import constant, convert_to_tensor
from tapeflow.autodiff.gradient_tape import GradientTape
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, bfloat16, complex64, complex128, float16, float32, float64
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor

_KINDS = (float16, bfloat16, float32, float64, complex64, complex128)


def compute_gradient(
    f: Callable[..., Any], x: Sequence[TensorLike], delta: float | None = None
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Returns the Jacobians of a function at a point: by its gradients, and by central differences.

    Args:
        f: a function of the tensors in `x` that returns one tensor.
        x: a list or tuple of values of any shapes that convert to floating or complex tensors.
        delta: half of the step of the differences; by default `2**-10`.

    Returns:
        Two tuples with a matrix `[size of f(*x), size of x[i]]` for each argument. A complex number counts as two, its
        real and its imaginary part, one after the other.

    Raises:
        ValueError: `x` is not a list or tuple.
        AssertionError: a dtype is neither floating nor complex.

    Example:
        >>> by_gradient, by_difference = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 3.0])])
        >>> by_gradient[0].tolist()
        [[2.0, 0.0], [0.0, 6.0]]
        >>> bool(abs(by_gradient[0] - by_difference[0]).max() < 1e-3)
        True
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
            f"{type(x)}: write [x] for a function of one tensor."
        )
    step = 1.0 / 1024 if delta is None else delta
    point = [convert_to_tensor(v) for v in x]
    for index, argument in enumerate(point):
        if argument.dtype not in _KINDS:
            name = argument.dtype.name
            raise AssertionError(f"Cannot compute gradient for unsupported type {name} of argument {index}")
    pairs = [(_by_gradient(f, point, i), _by_differences(f, point, i, step)) for i in range(len(point))]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _real_parts(value: Tensor) -> np.ndarray:
    """Returns the real numbers in a tensor, as a vector; narrow floats as float32."""
    array = value.numpy()
    if value.dtype in (float16, bfloat16):
        array = array.astype(np.float32)
    return array.reshape(-1).view(array.real.dtype)


def _tensor_like(parts: np.ndarray, like: Tensor) -> Tensor:
    """Returns the tensor of these real numbers, of the shape and dtype of another."""
    return constant(parts.view(_wide_type(like.dtype)).reshape(like.shape.as_list()), dtype=like.dtype)


def _wide_type(dtype: DType) -> Any:
    return np.float32 if dtype in (float16, bfloat16) else dtype.as_numpy_dtype


def _by_gradient(f: Callable[..., Any], point: list[Any], index: int) -> np.ndarray:
    """Computes the Jacobian row by row: the gradient of each real number in the result."""
    x = point[index]
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = convert_to_tensor(f(*point))
    if y.dtype not in _KINDS:
        raise AssertionError(f"Cannot compute gradient for unsupported type {y.dtype.name} of y")
    width = _real_parts(y).size
    jacobian = np.zeros((width, _real_parts(x).size), _real_parts(x).dtype)
    for row in range(width):
        seed = np.zeros(width, _real_parts(y).dtype)
        seed[row] = 1
        gradient = tape.gradient(y, x, output_gradients=_tensor_like(seed, y))
        if gradient is not None:
            jacobian[row] = _real_parts(
                convert_to_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient
            )
    return jacobian


def _by_differences(f: Callable[..., Any], point: list[Any], index: int, step: float) -> np.ndarray:
    """Computes the Jacobian column by column: the central difference of each real number in the argument."""
    x = point[index]
    at = _real_parts(x)

    def moved(column: int, by: float) -> np.ndarray:
        parts = at.copy()
        parts[column] += by
        return _real_parts(convert_to_tensor(f(*point[:index], _tensor_like(parts, x), *point[index + 1 :])))

    columns = [(moved(i, step) - moved(i, -step)) / (2 * step) for i in range(at.size)]
    if not columns:
        return np.zeros((_real_parts(convert_to_tensor(f(*point))).size, 0), at.dtype)
    return np.stack(columns, axis=1).astype(at.dtype, copy=False)
