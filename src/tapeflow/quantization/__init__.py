"""The public `tf.quantization` namespace: numbers as integers of few bits, and numbers rounded to their steps."""

from typing import TYPE_CHECKING

from tapeflow.binaries import below
from tapeflow.quantization.fake import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
)
from tapeflow.quantization.integers import dequantize, quantize, quantized_concat
from tapeflow.quantization.rounding import quantize_and_dequantize, quantize_and_dequantize_v2

__all__ = [
    "dequantize", "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient", "quantize", "quantize_and_dequantize",
    "quantize_and_dequantize_v2", "quantized_concat",
]  # fmt: skip


if not TYPE_CHECKING:
    __getattr__ = below("quantization")
