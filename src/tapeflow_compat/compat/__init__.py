"""The public `tf.compat` namespace: texts, numbers and dimensions, as libraries ask for them."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals(), later={"tapeflow.compat": ["v1", "v2"]})  # `tf.keras` needs only the rest
