"""The public `tf.dtypes.experimental` namespace: dtypes of few bits."""

from tapeflow.core.types.dtypes import (
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

__all__ = [
    "float4_e2m1fn", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "int2",
    "int4", "uint2", "uint4",
]  # fmt: skip
__dir__ = __all__.copy
