# Written by `scripts/record.py stubs`.
from tapeflow.ragged.ragged_ops import boolean_mask as boolean_mask
from tapeflow.ragged.conversion import constant as constant
from tapeflow.ragged.feature_cross import cross as cross
from tapeflow.ragged.feature_cross import cross_hashed as cross_hashed
from tapeflow.ragged.ragged_ops import map_flat_values as map_flat_values
from tapeflow.ragged.ragged_ops import range as range
from tapeflow.ragged.ragged_ops import row_splits_to_segment_ids as row_splits_to_segment_ids
from tapeflow.ragged.ragged_ops import segment_ids_to_row_splits as segment_ids_to_row_splits
from tapeflow.ragged.ragged_ops import stack as stack
from tapeflow.ragged.ragged_ops import stack_dynamic_partitions as stack_dynamic_partitions
