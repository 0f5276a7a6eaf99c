"""The public `tf.compat` namespace: texts, numbers and dimensions, as libraries ask for them."""

import typing as _typing

from tapeflow.core.lazy_modules import load as _load
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

if _typing.TYPE_CHECKING:
    from tapeflow_compat.compat import v1 as v1
    from tapeflow_compat.compat import v2 as v2

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "integral_types", "path_to_str", "real_types", "v1", "v2",
]  # fmt: skip
__dir__ = __all__.copy


def __getattr__(name: str) -> _typing.Any:
    if name in ("v1", "v2"):  # `tf.keras` needs only the rest
        return _load(f"tapeflow.compat.{name}")
    raise AttributeError(f"module 'tapeflow.compat' has no attribute {name!r}")
