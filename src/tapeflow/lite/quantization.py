"""Quantizes .tflite files by the recipes of `ai-edge-quantizer`, behind TensorFlow's options."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.types.dtypes import DType, as_dtype, float16, float32, int8, int16, uint8
from tapeflow.lite.extra import require
from tapeflow.lite.flatbuffer_file import pack_model
from tapeflow.lite.options import OpsSet

if TYPE_CHECKING:
    from tapeflow.lite.converter import TFLiteConverter

_INT8, _WIDE = OpsSet.TFLITE_BUILTINS_INT8, OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8

_FEWEST_WEIGHTS = 1024  # as in TensorFlow: smaller weights stay in float; their rounding costs more than it saves


def check_options(options: TFLiteConverter) -> None:
    """Checks the options of a converter against each other.

    Raises:
        ValueError: they do not fit.
    """
    data, sets = options.representative_dataset, set(options.target_spec.supported_ops)
    if options.optimizations and data is None and sets & {_INT8, _WIDE}:
        raise ValueError("For full integer quantization, a `representative_dataset` must be specified.")
    if data is not None and not callable(getattr(data, "input_gen", data)):
        raise ValueError("`representative_dataset` must be a function that returns samples.")
    integer = options.optimizations and data is not None
    allowed = [float32, *((int16,) if _WIDE in sets else (int8, uint8))] if integer else [float32]
    for name in ("inference_input_type", "inference_output_type"):
        dtype = as_dtype(getattr(options, name))
        if dtype not in allowed:
            names = ", ".join(f"tf.{d.name}" for d in allowed)
            hint = "" if integer else " Other dtypes need `optimizations` and a `representative_dataset`."
            raise ValueError(f"The {name} must be in {names}, not tf.{dtype.name}.{hint}")


def quantize_file(content: bytes, options: TFLiteConverter) -> bytes:
    """Returns a quantized file.

    Args:
        content: the file, in float32.
        options: the converter, for its options.

    Raises:
        ImportError: the extra `tflite` is not installed.
        ValueError: the representative dataset has no samples.
    """
    types = {as_dtype(t) for t in options.target_spec.supported_types}
    quantizer = require("ai_edge_quantizer.quantizer").Quantizer(content)
    if float16 in types:
        _add_float16_weights(quantizer)
        return _quantize_content(quantizer)
    recipes = require("ai_edge_quantizer.recipe")
    if options.representative_dataset is None:
        recipe = recipes.dynamic_wi8_afp32()
        for entry in recipe:
            entry["op_config"]["min_weight_elements"] = _FEWEST_WEIGHTS
        quantizer.load_quantization_recipe(recipe)
        return _quantize_content(quantizer)
    sets = set(options.target_spec.supported_ops)
    quantizer.load_quantization_recipe(recipes.static_wi8_ai16() if _WIDE in sets else recipes.static_wi8_ai8())
    names = require("ai_edge_quantizer.qtyping").TFLOperationName
    quantizer.add_dynamic_config(".*", names.EMBEDDING_LOOKUP, 8)
    asked = as_dtype(options.inference_input_type), as_dtype(options.inference_output_type)
    for dtype, name in zip(asked, (names.INPUT, names.OUTPUT), strict=True):
        if dtype is float32:
            _keep_operation(quantizer, ".*", name)
    _keep_in_float(quantizer, content, not sets & {_INT8, _WIDE}, asked[1] is float32)
    samples = _dataset_samples(content, options.representative_dataset)
    result = _quantize_content(quantizer, _tensor_ranges(content, quantizer.get_quantization_recipe(), samples))
    return _with_uint8(result, asked) if uint8 in asked else result


def _quantize_content(quantizer: Any, ranges: Any = None) -> bytes:
    return bytes(quantizer.quantize(ranges, enable_progress_bar=False, enable_progress_report=False).quantized_model)


def _add_float16_weights(quantizer: Any) -> None:
    """Adds a recipe for float16 weights. The runtime computes with them in float32."""
    types, names = require("ai_edge_quantizer.qtyping"), require("ai_edge_quantizer.algorithm_manager")
    weights = types.TensorQuantizationConfig(num_bits=16, dtype=types.TensorDataType.FLOAT)
    config = types.OpQuantizationConfig(
        weight_tensor_config=weights, compute_precision=types.ComputePrecision.FLOAT, explicit_dequantize=True
    )
    every = types.TFLOperationName.ALL_SUPPORTED
    quantizer.update_quantization_recipe(".*", every, config, names.AlgorithmName.FLOAT_CASTING)


def _tensor_ranges(content: bytes, recipe: Sequence[Any], samples: Mapping[str, Any]) -> Any:
    """Returns the range of each tensor over all samples."""
    calibrators, statistics = require("ai_edge_quantizer.calibrator"), require("ai_edge_quantizer.utils.qsv_utils")
    manager = require("ai_edge_quantizer.recipe_manager").RecipeManager()
    manager.load_quantization_recipe(recipe)
    calibrator = calibrators.Calibrator(content, num_threads=1, qsv_update_func=statistics.min_max_update)
    calibrator.calibrate(samples, manager)
    return calibrator.get_model_qsvs()


def _keep_in_float(quantizer: Any, content: bytes, keeps_softmax: bool, keeps_outputs: bool) -> None:
    """Leaves operators in float: those in loops and branches, because no range is recorded there, and softmaxes,
    because the kernel for int8 rounds to multiples of 1/256, and most probabilities of many are smaller.

    Args:
        quantizer: the quantizer.
        content: the file.
        keeps_softmax: False if all operators must be integer ones.
        keeps_outputs: False if the outputs must be integers.
    """
    schema = require("ai_edge_litert.schema_py_generated")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    entries = {signature.subgraphIndex for signature in model.signatureDefs}
    codes = [code.builtinCode for code in model.operatorCodes]
    names: set[str] = set()
    for i, graph in enumerate(model.subgraphs):
        tensors = [t for o in graph.operators for t in o.outputs] + [*graph.inputs, *graph.outputs]
        if i in entries:
            results = (o for o in graph.operators if codes[o.opcodeIndex] == schema.BuiltinOperator.SOFTMAX)
            tensors = [t for o in results for t in o.outputs if keeps_outputs or t not in graph.outputs]
            tensors = tensors if keeps_softmax else []
        names.update(graph.tensors[t].name.decode() for t in tensors)
    every = require("ai_edge_quantizer.qtyping").TFLOperationName
    for name in names:
        for operation in (every.ALL_SUPPORTED, every.INPUT, every.OUTPUT):
            _keep_operation(quantizer, re.escape(name), operation)


def _keep_operation(quantizer: Any, scope: str, operation: Any) -> None:
    """Leaves operators in float whose results have names that match."""
    keep = require("ai_edge_quantizer.algorithm_manager").AlgorithmName.NO_QUANTIZE
    quantizer.update_quantization_recipe(scope, operation, algorithm_key=keep)


def _dataset_samples(content: bytes, data: Any) -> dict[str, list[dict[str, np.ndarray]]]:
    """Returns the samples of a representative dataset, by signatures and the names of inputs."""
    interpreter = require("ai_edge_litert.interpreter").Interpreter(model_content=content)
    first = next(iter(interpreter.get_signature_list()))
    details = interpreter.get_signature_runner(first).get_input_details()
    names = sorted(details, key=lambda name: details[name]["index"])
    by_signature: dict[str, list[dict[str, np.ndarray]]] = {}
    for sample in getattr(data, "input_gen", data)():
        key = first
        if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
            key, sample = sample
        if not isinstance(sample, dict):
            if len(sample) != len(names):
                raise ValueError(
                    f"A sample of the representative dataset has {len(sample)} arrays, and the model takes "
                    f"{len(names)}: {', '.join(names)}."
                )
            sample = dict(zip(names, sample, strict=True))
        by_signature.setdefault(key, []).append({name: np.asarray(value) for name, value in sample.items()})
    if not by_signature:
        raise ValueError("The representative dataset has no samples.")
    return by_signature


def _with_uint8(content: bytes, asked: tuple[DType, DType]) -> bytes:
    """Returns a file of int8 inputs and outputs with uint8 ones: operators at both ends convert them."""
    schema = require("ai_edge_litert.schema_py_generated")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    quantize = schema.BuiltinOperator.QUANTIZE
    model.operatorCodes.append(schema.OperatorCodeT(builtinCode=quantize, deprecatedBuiltinCode=quantize))
    for signature in model.signatureDefs:
        graph = model.subgraphs[signature.subgraphIndex]
        for dtype, places in zip(asked, ("inputs", "outputs"), strict=True):
            numbers = list(getattr(graph, places))
            for i, number in enumerate(numbers):
                if dtype is not uint8 or graph.tensors[number].type != schema.TensorType.INT8:
                    continue
                numbers[i] = len(graph.tensors)
                graph.tensors.append(_as_uint8(schema, graph.tensors[number]))
                ends = ([numbers[i]], [number])[:: 1 if places == "inputs" else -1]
                step = schema.OperatorT(opcodeIndex=len(model.operatorCodes) - 1, inputs=ends[0], outputs=ends[1])
                graph.operators.insert(0 if places == "inputs" else len(graph.operators), step)
                for entry in getattr(signature, places):
                    entry.tensorIndex = numbers[i] if entry.tensorIndex == number else entry.tensorIndex
            setattr(graph, places, numbers)
    return pack_model(model)


def _as_uint8(schema: Any, tensor: Any) -> Any:
    """Returns a tensor that holds the numbers of an int8 tensor as uint8. Its name moves to it."""
    other = copy.copy(tensor)
    other.type = schema.TensorType.UINT8
    other.quantization = schema.QuantizationParametersT(
        scale=tensor.quantization.scale, zeroPoint=np.asarray(tensor.quantization.zeroPoint) + 128
    )
    tensor.name += b"_int8"
    return other
