"""The public `tf.experimental` namespace."""

from tapeflow.control.optional import Optional
from tapeflow.core.public_names import publish as _publish
from tapeflow.dtypes.experimental import (
    float4_e2m1fn,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    int2,
    int4,
    uint2,
    uint4,
)
from tapeflow.experimental import dlpack, dtensor, extension_type
from tapeflow.experimental.batchable_extension_type import BatchableExtensionType, ExtensionTypeBatchEncoder
from tapeflow.experimental.dispatch import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from tapeflow.experimental.execution import async_clear_error, async_scope, enable_strict_mode, function_executor_type
from tapeflow.experimental.extension_types import ExtensionType, ExtensionTypeSpec
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape
from tapeflow.ragged.row_partition import RowPartition

_publish(globals(), "dlpack", "dtensor", "extension_type", later={
    "tapeflow.experimental": ["numpy"], "tapeflow.experimental.structured": ["StructuredTensor"],
})  # fmt: skip
