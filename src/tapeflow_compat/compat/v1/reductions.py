"""Reductions with the parameters of TensorFlow 1: `reduction_indices` and `keep_dims` beside `axis` and `keepdims`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import linalg, math
from tapeflow.core.types.dtypes import as_dtype, int64
from tapeflow_compat.compat.v1.renamed import either, member


def _reduction(function: Callable[..., Any], summary: str, example: str, result: str) -> Callable[..., Any]:
    """Returns a reduction of `tf.math` with the parameters of TensorFlow 1."""

    @member(function.__name__, summary=summary, example=example, result=result)
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        """{summary} over dimensions, see `tf.{name}`.

        Args:
            input_tensor: the tensor.
            axis, reduction_indices: the dimensions to reduce, by either name; None for all.
            keepdims, keep_dims: keeps the reduced dimensions with length 1, by either name.

        Returns:
            A tensor of the same dtype.

        Raises:
            ValueError: an argument was passed under both names.

        Example:
            >>> tf.compat.v1.{name}({example}, reduction_indices=1, keep_dims=True).numpy().tolist()
            {result}
        """
        dims = either("axis", axis, "reduction_indices", reduction_indices)
        return function(input_tensor, dims, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name=name)

    return reduce


reduce_all = _reduction(math.reduce_all, "Tests whether all elements are true", "[[True, False]]", "[[False]]")
reduce_any = _reduction(math.reduce_any, "Tests whether any element is true", "[[True, False]]", "[[True]]")
reduce_logsumexp = _reduction(
    math.reduce_logsumexp, "Computes the logarithm of the sum of exponentials", "[[5.0]]", "[[5.0]]"
)
reduce_max = _reduction(math.reduce_max, "Computes the largest element", "[[1, 5, 3]]", "[[5]]")
reduce_mean = _reduction(math.reduce_mean, "Computes the mean", "[[1.0, 5.0, 3.0]]", "[[3.0]]")
reduce_min = _reduction(math.reduce_min, "Computes the smallest element", "[[1, 5, 3]]", "[[1]]")
reduce_prod = _reduction(math.reduce_prod, "Computes the product", "[[1, 5, 3]]", "[[15]]")
reduce_sum = _reduction(math.reduce_sum, "Computes the sum", "[[1, 5, 3]]", "[[9]]")


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Any:
    """Counts the elements that are not zero (of strings, not empty), as `dtype`: see `tf.math.count_nonzero`.

    Args:
        input_tensor, input: the tensor, by either name.
        axis, reduction_indices: the dimensions to count over, by either name; None for all.
        keepdims, keep_dims: keeps them with length 1, by either name.

    Raises:
        ValueError: an argument was passed under both names, or there is no tensor.

    Example:
        >>> tf.compat.v1.count_nonzero([[0, 2], [3, 4]], reduction_indices=1).numpy().tolist()
        [1, 2]
    """
    value = either("input", input, "input_tensor", input_tensor)
    dims = either("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    return math.count_nonzero(value, dims, keep, as_dtype(dtype), name)


def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """Returns the index of the largest element along a dimension, see `tf.argmax`.

    Args:
        input: numbers, of any shape.
        axis, dimension: the dimension, by either name; by default 0.
        output_type: int64 or int32.

    Raises:
        ValueError: the dimension was passed under both names.

    Example:
        >>> tf.compat.v1.argmax([[1, 3], [5, 4]], dimension=1).numpy().tolist()
        [1, 0]
    """
    at = either("axis", axis, "dimension", dimension)
    return math.argmax(input, 0 if at is None else at, output_type, name)


def argmin(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """Returns the index of the smallest element along a dimension, see `tf.argmin`.

    Args:
        input: numbers, of any shape.
        axis, dimension: the dimension, by either name; by default 0.
        output_type: int64 or int32.

    Raises:
        ValueError: the dimension was passed under both names.

    Example:
        >>> tf.compat.v1.argmin([[1, 3], [5, 4]], dimension=1).numpy().tolist()
        [0, 1]
    """
    at = either("axis", axis, "dimension", dimension)
    return math.argmin(input, 0 if at is None else at, output_type, name)


def arg_max(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`argmax`, by its oldest name.

    Example:
        >>> tf.compat.v1.arg_max([[1, 3], [5, 4]], 1).numpy().tolist()
        [1, 0]
    """
    return math.argmax(input, dimension, output_type, name)


def arg_min(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`argmin`, by its oldest name.

    Example:
        >>> tf.compat.v1.arg_min([[1, 3], [5, 4]], 1).numpy().tolist()
        [0, 1]
    """
    return math.argmin(input, dimension, output_type, name)


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None,
    keep_dims: bool | None = None,
) -> Any:  # fmt: skip
    """Computes the norm of vectors and matrices, see `tf.norm`.

    Args:
        tensor: floating or complex.
        ord: "euclidean", "fro", 1, 2, `np.inf` or a positive number.
        axis: the dimension of the vectors, or the two of the matrices; None for one vector of all elements.
        keepdims, keep_dims: keeps them with length 1, by either name.

    Raises:
        ValueError: there is no such norm, or an argument was passed under both names.

    Example:
        >>> tf.compat.v1.norm([[3.0, 4.0]], axis=1, keep_dims=True).numpy().tolist()
        [[5.0]]
    """
    return linalg.norm(tensor, ord, axis, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)
