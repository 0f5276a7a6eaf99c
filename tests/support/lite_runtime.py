"""Runs .tflite files in the real runtime, beside the functions that they were converted from."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

import tapeflow as tf


def convert(function: Any, *specs: Any, **options: Any) -> bytes:
    """Returns the file of a Python function or `tf.function` for these specs."""
    traced = function if hasattr(function, "get_concrete_function") else tf.function(function)
    concrete = traced.get_concrete_function(*specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    for name, value in options.items():
        setattr(converter, name, value)
    return converter.convert()


def run(content: bytes, *inputs: Any, key: str | None = None) -> list[np.ndarray]:
    """Returns the outputs of a file for inputs in the order of its subgraph, sorted by their names."""
    interpreter = tf.lite.Interpreter(model_content=content, num_threads=1)
    runner = interpreter.get_signature_runner(key)
    details = runner.get_input_details()
    names = sorted(details, key=lambda name: details[name]["index"])
    results = runner(**dict(zip(names, map(np.asarray, inputs), strict=True)))
    return [results[name] for name in sorted(results, key=lambda n: (len(n), n))]


def codes(content: bytes, number: int = 0) -> dict[str, int]:
    """Returns how many operators of each kind a subgraph has."""
    schema = tf.lite.extra.require("ai_edge_litert.schema_py_generated")
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    found = [names[model.operatorCodes[o.opcodeIndex].builtinCode] for o in model.subgraphs[number].operators or ()]
    return dict(collections.Counter(found))


def check(function: Any, *inputs: Any, batch: bool = True, tolerance: float = 1e-5) -> bytes:
    """Compares a file with its function, for inputs of static shapes, and for an unknown first dimension.

    Args:
        function: the function.
        inputs: arrays.
        batch: False if the first dimensions must be static.
        tolerance: relative to the largest value of an output.

    Returns:
        The file for an unknown first dimension if `batch`, else for static shapes.
    """
    arrays = [np.asarray(x) for x in inputs]
    want = [np.asarray(t) for t in tf.nest.flatten(function(*map(tf.constant, arrays)), expand_composites=True)]
    for open_batch in (False, True) if batch else (False,):
        specs = [tf.TensorSpec([None, *x.shape[1:]] if open_batch and x.ndim else x.shape, x.dtype) for x in arrays]
        content = convert(function, *specs)
        for got, expected in zip(run(content, *arrays), want, strict=True):
            assert got.shape == expected.shape
            assert got.dtype == expected.dtype
            assert_close(got, expected, tolerance)
    return content


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    """Compares two arrays; the tolerance is relative to the largest value."""
    if got.dtype.kind in "fc":
        finite = np.abs(want[np.isfinite(want)])
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(finite.max(initial=0), 1e-2))
    else:
        np.testing.assert_array_equal(got, want)
