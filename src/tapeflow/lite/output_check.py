"""Checks files against the functions that they were converted from, on sample inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.lite.extra import require

_BATCHES = (1, 3)  # for an unknown first dimension
_SIZES = (8, 33, 64, 96, 257)  # for the other ones


def largest_difference(content: bytes, functions: dict[str, Any]) -> float:
    """Returns the largest difference between an output of a file's runtime and of the function, relative to the
    output's largest value. Inputs of two batch sizes are computed, if the batch is unknown.

    Args:
        content: the file.
        functions: for each signature, the concrete function.

    Raises:
        ValueError: no size of the inputs gives outputs without NaN, or the runtime fails.
    """
    interpreter = require("ai_edge_litert.interpreter").Interpreter(model_content=content)
    differences = [0.0]
    for key, concrete in functions.items():
        runner = interpreter.get_signature_runner(key)
        names = [t.op.name for t in concrete.graph.inputs]
        for batch in _BATCHES:
            inputs, wanted = _sample_function(concrete, batch)
            results = runner(**dict(zip(names, inputs, strict=True)))
            for name, want in wanted.items():
                scale = max(float(np.abs(want).max()), 1e-30)
                difference = np.abs(results[name].astype(np.float64) - want.astype(np.float64))
                differences.append(float(difference.max()) / scale)
    return max(differences)


def _sample_function(concrete: Any, batch: int) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Returns inputs of a function, and its outputs by name."""
    failure: Exception | None = None
    for inputs in _random_inputs(concrete.graph.inputs, batch):
        try:
            tensors = [convert(x, t.dtype) for x, t in zip(inputs, concrete.graph.inputs, strict=True)]
            named = output_names(concrete.call_flat(tensors))
            outputs = {name: np.asarray(value) for name, value in named.items()}
        except (errors.OpError, ValueError) as error:
            failure = error
            continue
        if all(value.size and not np.isnan(value).any() for value in outputs.values()):
            return inputs, outputs
    reason = failure or "an output is empty or NaN"
    raise ValueError(f"The model computes nothing to compare for random inputs: {reason}")


def _random_inputs(arguments: Sequence[SymbolicTensor], batch: int) -> Iterator[list[np.ndarray]]:
    """Yields random inputs with this size of the first unknown dimension."""
    for size in _SIZES:
        rng, inputs = np.random.default_rng(0), []
        for t in arguments:
            shape = [(size if i else batch) if d is None else d for i, d in enumerate(t.shape.as_list())]
            if t.dtype.is_floating:
                inputs.append(rng.random(shape).astype(t.dtype.as_numpy_dtype))
            elif t.dtype is string:
                inputs.append(np.full(shape, b"a", object))
            else:
                inputs.append(rng.integers(0, 2, shape).astype(t.dtype.as_numpy_dtype))
        yield inputs


def output_names(structure: Any) -> dict[str, Any]:
    """Returns the tensors of a structure of results by names: a dict's keys, or `output_0`, `output_1`, ..."""
    if isinstance(structure, dict) and not any(nest.is_nested(v) for v in structure.values()):
        return {str(k): v for k, v in structure.items()}
    return {f"output_{i}": t for i, t in enumerate(nest.flatten(structure, expand_composites=True))}
