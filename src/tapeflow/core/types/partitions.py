"""The number of parts to cut a variable into, by the bytes of a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import as_dtype, string

if TYPE_CHECKING:
    from tapeflow.core.types.shape import TensorShape


def parts_along(shape: TensorShape, axis: int, count: int) -> list[int]:
    """Returns the number of parts along each dimension: `count` along one, and one along the others."""
    parts = [1] * len(shape)
    parts[axis] = count
    return parts


def size_of_element(dtype: Any, bytes_per_string: int) -> int:
    """Returns the number of bytes of an element, which for strings is a guess."""
    kind = as_dtype(dtype).base_dtype
    return bytes_per_string if kind is string else kind.size


def fewest_parts(shape: TensorShape, axis: int, element: int, max_bytes: int, max_parts: int | None) -> list[int]:
    """Returns the smallest number of parts of at most so many bytes each, along one dimension.

    Args:
        shape: the shape of the variable.
        axis: the dimension to cut.
        element: the number of bytes of an element.
        max_bytes: the number of bytes of a part.
        max_parts: the largest number of parts, which may make them larger; None for no limit.

    Raises:
        ValueError: the shape is not static.
    """
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    size = shape[axis]
    slice_bytes = shape.num_elements() * element // size if size else 0
    in_one = max(1, max_bytes // slice_bytes) if slice_bytes else size or 1
    count = -(-size // in_one)
    return parts_along(shape, axis, min(max_parts, count) if max_parts else count)


def most_parts(shape: TensorShape, axis: int, element: int, min_bytes: int, max_parts: int) -> list[int]:
    """Returns the largest number of parts of about so many bytes each, along one dimension.

    Args:
        shape, axis, element: see `fewest_parts`.
        min_bytes: the number of bytes of a part.
        max_parts: the largest number of parts.

    Raises:
        ValueError: the shape has no such dimension.
    """
    if axis >= len(shape):
        raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
    count = -(-shape.num_elements() * element // min_bytes)
    return parts_along(shape, axis, max(1, min(shape[axis], max_parts, count)))
