"""`Dataset.bucket_by_sequence_length`, written with the methods of the dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.gathering import gather
from tapeflow.array.joining import stack
from tapeflow.array.passing import identity
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.data import elements
from tapeflow.debugging.values import assert_less
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_sum


def bucket_by_sequence_length(
    dataset: Any, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any, padding_values: Any, pad_to_bucket_boundary: bool,
    no_padding: bool, drop_remainder: bool,
) -> Any:  # fmt: skip
    """Returns padded batches of windows of elements whose lengths fall into one bucket."""
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
        )
    boundaries, sizes = convert(list(bucket_boundaries), int64), convert(list(bucket_batch_sizes), int64)

    def bucket(*element: Any) -> Any:
        length = cast(element_length_func(*element), int64)
        return reduce_sum(cast(length >= boundaries, int64))

    def batch(key: Any, window: Any) -> Any:
        size = gather(sizes, key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = padded_shapes
        if shapes is None:
            shapes = elements.map_specs(lambda s: getattr(s, "shape", None), dataset.element_spec)
        if pad_to_bucket_boundary:
            checked = window.map(lambda *e: _below_last(e, element_length_func, bucket_boundaries))
            longest = gather(boundaries, key) - 1
            flat = elements.flatten_up_to(dataset.element_spec, shapes)
            shapes = elements.pack(dataset.element_spec, [_filled(s, longest) for s in flat])
            return checked.padded_batch(size, shapes, padding_values, drop_remainder)
        return window.padded_batch(size, shapes, padding_values, drop_remainder)

    return dataset.group_by_window(bucket, batch, window_size_func=lambda key: gather(sizes, key))


def _below_last(element: Any, length_of: Callable[..., Any], boundaries: Sequence[int]) -> Any:
    """Returns the element, after a check that its length is below the last boundary."""

    check = assert_less(
        length_of(*element),
        convert(boundaries[-1]),
        message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).",
    )
    with control_dependencies([check] if check is not None else []):
        checked = elements.pack(element, [identity(t) for t in elements.flatten(element)])
    return checked if len(element) > 1 else checked[0]


def _filled(shape: Any, longest: Any) -> Any:
    """Returns a shape as a vector, with a number for unknown dimensions."""
    dims = TensorShape(shape).as_list()
    return stack([longest if d is None else convert(d, int64) for d in dims]) if dims else convert([], int64)
