"""The public `tf.experimental` namespace."""

import typing as _typing

from tapeflow.control.optional import Optional
from tapeflow.core.lazy_modules import load as _load
from tapeflow.core.unsupported import below as _below
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

if _typing.TYPE_CHECKING:  # loaded when it is first used
    from tapeflow.experimental import numpy
    from tapeflow.experimental.structured import StructuredTensor

__all__ = [
    "BatchableExtensionType", "DynamicRaggedShape", "ExtensionType", "ExtensionTypeBatchEncoder", "ExtensionTypeSpec",
    "Optional", "RowPartition", "StructuredTensor", "async_clear_error", "async_scope", "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis", "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis", "dlpack", "dtensor", "enable_strict_mode", "extension_type", "float4_e2m1fn",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "function_executor_type", "int2", "int4", "numpy", "register_filesystem_plugin", "tensorrt", "uint2", "uint4",
    "unregister_dispatch_for",
]  # fmt: skip
__dir__ = __all__.copy


def __getattr__(name: str) -> _typing.Any:
    if name == "numpy":
        return _load("tapeflow.experimental.numpy")
    if name == "StructuredTensor":
        return _load("tapeflow.experimental.structured").StructuredTensor
    return _below("experimental")(name)
