# Written by `scripts/record.py stubs`.
from typing import Any
from tapeflow.experimental.batchable_extension_type import BatchableExtensionType as BatchableExtensionType
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape as DynamicRaggedShape
from tapeflow.experimental.extension_types import ExtensionType as ExtensionType
from tapeflow.experimental.batchable_extension_type import ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder
from tapeflow.experimental.extension_types import ExtensionTypeSpec as ExtensionTypeSpec
from tapeflow.control.optional import Optional as Optional
from tapeflow.ragged.row_partition import RowPartition as RowPartition
from tapeflow.experimental.structured import StructuredTensor as StructuredTensor
from tapeflow.experimental.execution import async_clear_error as async_clear_error
from tapeflow.experimental.execution import async_scope as async_scope
from tapeflow.experimental.dispatch import dispatch_for_api as dispatch_for_api
from tapeflow.experimental.dispatch import dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis
from tapeflow.experimental.dispatch import dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis
from tapeflow.experimental.dispatch import dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis
from tapeflow.experimental import dlpack as dlpack
from tapeflow.experimental import dtensor as dtensor
from tapeflow.experimental.execution import enable_strict_mode as enable_strict_mode
from tapeflow.experimental import extension_type as extension_type
from tapeflow.dtypes.experimental import float4_e2m1fn as float4_e2m1fn
from tapeflow.dtypes.experimental import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from tapeflow.dtypes.experimental import float8_e4m3fn as float8_e4m3fn
from tapeflow.dtypes.experimental import float8_e4m3fnuz as float8_e4m3fnuz
from tapeflow.dtypes.experimental import float8_e5m2 as float8_e5m2
from tapeflow.dtypes.experimental import float8_e5m2fnuz as float8_e5m2fnuz
from tapeflow.experimental.execution import function_executor_type as function_executor_type
from tapeflow.dtypes.experimental import int2 as int2
from tapeflow.dtypes.experimental import int4 as int4
from tapeflow.experimental import numpy as numpy
register_filesystem_plugin: Any
tensorrt: Any
from tapeflow.dtypes.experimental import uint2 as uint2
from tapeflow.dtypes.experimental import uint4 as uint4
from tapeflow.experimental.dispatch import unregister_dispatch_for as unregister_dispatch_for
