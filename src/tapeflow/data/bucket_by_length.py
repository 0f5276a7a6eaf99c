"""`Dataset.bucket_by_sequence_length`, written with the methods of the dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.data import elements
from tapeflow.debugging.values import assert_less
from tapeflow.math.comparison import less, less_equal, logical_and
from tapeflow.math.reduction import reduce_min

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor
    from tapeflow.data.dataset import Dataset


def bucket_by_sequence_length(
    dataset: Dataset, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
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
    lower, upper = convert([int32.min, *bucket_boundaries], int32), convert([*bucket_boundaries, int32.max], int32)
    sizes = convert(list(bucket_batch_sizes), int64)

    def bucket(*element: Any) -> Any:
        length = element_length_func(*element)
        return reduce_min(where(logical_and(less_equal(lower, length), less(length, upper))))

    def batch(key: Tensor, window: Dataset) -> Any:
        size = gather(sizes, key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = padded_shapes
        if shapes is None:
            shapes = elements.map_specs(lambda s: getattr(s, "shape", None), dataset.element_spec)
        if pad_to_bucket_boundary:
            longest = _last_length(key, bucket_boundaries)
            flat = elements.flatten_up_to(dataset.element_spec, shapes)
            shapes = elements.pack(dataset.element_spec, [_filled_shape(s, longest) for s in flat])
        return window.padded_batch(size, shapes, padding_values, drop_remainder)

    return dataset.group_by_window(bucket, batch, window_size_func=lambda key: gather(sizes, key))


def _last_length(key: Tensor, boundaries: Sequence[int]) -> Any:
    """Returns the greatest length in a bucket, after a check that it has one."""
    message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
    check = assert_less(key, convert(len(boundaries), int64), message=message)
    with control_dependencies([] if check is None else [check]):
        return gather(convert([*boundaries, 0], int64), key) - 1


def _filled_shape(shape: TensorShape, longest: Tensor) -> Any:
    """Returns a shape as a vector, with a number for unknown dimensions."""
    dims = TensorShape(shape).as_list()
    return stack([longest if d is None else convert(d, int64) for d in dims]) if dims else convert([], int64)
