"""The public `tf.quantization` namespace: numbers as integers of few bits, and numbers rounded to their steps."""

from tapeflow.core.public_names import publish as _publish
from tapeflow_compat.quantization.fake import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
)
from tapeflow_compat.quantization.fake_quantization import quantize_and_dequantize, quantize_and_dequantize_v2
from tapeflow_compat.quantization.integers import dequantize, quantize, quantized_concat

_publish(globals())
