"""The public `tf.experimental` namespace."""

from tapeflow.experimental import dtensor, numpy
from tapeflow.optional import Optional
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape
from tapeflow.ragged.row_partition import RowPartition
