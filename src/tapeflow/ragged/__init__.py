"""The public `tf.ragged` namespace: tensors with rows of different lengths."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals())
