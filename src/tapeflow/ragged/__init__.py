"""The public `tf.ragged` namespace: tensors with rows of different lengths."""

from tapeflow.ragged import dispatch, indexing, kernels, operators, spec
from tapeflow.ragged.conversion import constant
from tapeflow.ragged.feature_cross import cross, cross_hashed
from tapeflow.ragged.ragged_ops import (
    boolean_mask,
    map_flat_values,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)

__all__ = [
    "boolean_mask", "constant", "cross", "cross_hashed", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions",
]  # fmt: skip
__dir__ = __all__.copy
