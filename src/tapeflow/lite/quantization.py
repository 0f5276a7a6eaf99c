"""Quantizes .tflite files by the recipes of `ai-edge-quantizer`, behind TensorFlow's options."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import as_dtype, float16, float32, int8, uint8
from tapeflow.lite.extra import require
from tapeflow.lite.options import OpsSet


def quantized(content: bytes, options: Any) -> bytes:
    """Returns a quantized file.

    Args:
        content: the file, in float32.
        options: the converter, for its options.

    Raises:
        ImportError: the extra `tflite` is not installed.
        ValueError: the options do not fit each other.
    """
    types = {as_dtype(t) for t in options.target_spec.supported_types}
    data, sets = options.representative_dataset, set(options.target_spec.supported_ops)
    integer = sets & {OpsSet.TFLITE_BUILTINS_INT8, OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8}
    if data is None and integer:
        raise ValueError("For full integer quantization, a `representative_dataset` must be specified.")
    if float16 in types:
        return _with_float16_weights(content)
    recipes = require("ai_edge_quantizer.recipe")
    if data is None:
        return _run(content, recipes.dynamic_wi8_afp32())
    wide = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 in sets
    recipe = recipes.static_wi8_ai16() if wide else recipes.static_wi8_ai8()
    return _run(content, recipe, _samples(content, data))


def _run(content: bytes, recipe: Any, samples: Any = None) -> bytes:
    """Runs the quantizer; its progress goes nowhere."""
    quantizer = require("ai_edge_quantizer.quantizer").Quantizer(content, recipe)
    with contextlib.redirect_stdout(io.StringIO()):
        ranges = None if samples is None else quantizer.calibrate(samples, num_threads=1)
        result = quantizer.quantize(ranges, enable_progress_report=False)
    return bytes(result.quantized_model)


def _with_float16_weights(content: bytes) -> bytes:
    """Returns the file with float16 weights. The runtime computes with them in float32."""
    quantizer = require("ai_edge_quantizer.quantizer").Quantizer(content)
    types, names = require("ai_edge_quantizer.qtyping"), require("ai_edge_quantizer.algorithm_manager")
    weights = types.TensorQuantizationConfig(num_bits=16, dtype=types.TensorDataType.FLOAT)
    quantizer.update_quantization_recipe(
        regex=".*",
        operation_name=types.TFLOperationName.ALL_SUPPORTED,
        op_config=types.OpQuantizationConfig(
            weight_tensor_config=weights, compute_precision=types.ComputePrecision.FLOAT, explicit_dequantize=True
        ),
        algorithm_key=names.AlgorithmName.FLOAT_CASTING,
    )
    return bytes(quantizer.quantize(enable_progress_report=False).quantized_model)


def _samples(content: bytes, data: Any) -> dict[str, list[dict[str, np.ndarray]]]:
    """Returns the samples of a representative dataset, by signatures and the names of inputs."""
    interpreter = require("ai_edge_litert.interpreter").Interpreter(model_content=content)
    signatures = interpreter.get_signature_list()
    first = next(iter(signatures))
    names = _names_in_order(interpreter, first)
    generate = getattr(data, "input_gen", data)
    found: dict[str, list[dict[str, np.ndarray]]] = {}
    samples: Iterable[Any] = generate()
    for sample in samples:
        key = first
        if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
            key, sample = sample
        if not isinstance(sample, dict):
            sample = dict(zip(names, sample, strict=True))
        found.setdefault(key, []).append({name: np.asarray(value) for name, value in sample.items()})
    if not found:
        raise ValueError("The representative dataset has no samples.")
    return found


def _names_in_order(interpreter: Any, key: str) -> list[str]:
    """Returns the names of a signature's inputs in the order of the subgraph's."""
    runner = interpreter.get_signature_runner(key)
    numbers = {name: detail["index"] for name, detail in runner.get_input_details().items()}
    return sorted(numbers, key=numbers.__getitem__)
