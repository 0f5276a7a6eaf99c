"""The public `tf.compat` namespace: texts, numbers and dimensions, as libraries ask for them."""

from tapeflow_compat.compat import v1, v2
from tapeflow_compat.compat.conversion import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    dimension_at_index,
    dimension_value,
    integral_types,
    path_to_str,
    real_types,
)

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "integral_types", "path_to_str", "real_types", "v1", "v2",
]  # fmt: skip
__dir__ = __all__.copy
