"""The public `tf.quantization` namespace: numbers as integers of few bits, and numbers rounded to their steps."""

import typing as _typing

from tapeflow.core.unsupported import below as _below
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

__all__ = [
    "dequantize", "experimental", "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient", "quantize", "quantize_and_dequantize",
    "quantize_and_dequantize_v2", "quantized_concat",
]  # fmt: skip
__dir__ = __all__.copy


if not _typing.TYPE_CHECKING:
    __getattr__ = _below("quantization")
