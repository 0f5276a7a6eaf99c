"""The public `tf.dtypes` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.core.types.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tapeflow.dtypes import experimental
from tapeflow.math.casting import cast, saturate_cast
from tapeflow.math.complex import complex

_publish(globals(), "experimental")
