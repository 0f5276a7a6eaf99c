"""The public `tf.dtypes.experimental` namespace: dtypes of few bits."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals())
