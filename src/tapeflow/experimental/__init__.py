"""The public `tf.experimental` namespace."""

from tapeflow.experimental import dtensor, extension_type, numpy
from tapeflow.experimental.batching import BatchableExtensionType, ExtensionTypeBatchEncoder
from tapeflow.experimental.dispatch import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from tapeflow.experimental.extension_types import ExtensionType, ExtensionTypeSpec
from tapeflow.optional import Optional
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape
from tapeflow.ragged.row_partition import RowPartition
