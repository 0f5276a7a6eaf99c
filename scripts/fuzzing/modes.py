"""How a call is run: eagerly, for the first time or again; traced with static, unknown or no shapes; differentiated,
vectorized or compiled; or traced and not run, for the shapes that are inferred."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from fuzzing import compiled
from fuzzing.outcomes import SKIP, encode, static_shapes
from fuzzing.values import inputs_of, invoke

Call = dict[str, Any]


def eager(call: Call, tf: Any) -> Any:
    return {"result": encode(invoke(call, tf), tf)}


def again(call: Call, tf: Any) -> Any:
    """The call for the second time, which an op's fast path takes where it took the first one's slow path."""
    with contextlib.suppress(Exception):
        invoke(call, tf)
    return eager(call, tf)


def _specs(inputs: list[Any], tf: Any, sizes: str) -> list[Any]:
    """The types of a trace's inputs, their shapes as they are ("static"), without "sizes" or without a "rank"."""
    specs = []
    for value in inputs:
        if isinstance(value, tf.TensorSpec):
            specs.append(value)
            continue
        rank = value.shape.rank
        shape = value.shape if sizes == "static" else [None] * rank if sizes == "sizes" else None
        if isinstance(value, tf.SparseTensor):
            specs.append(tf.SparseTensorSpec(shape, value.dtype))
        elif isinstance(value, tf.RaggedTensor):
            shape = [None] * rank if shape is None else shape
            specs.append(tf.RaggedTensorSpec(shape, value.dtype, value.ragged_rank, value.row_splits.dtype))
        else:
            specs.append(tf.TensorSpec(shape, value.dtype))
    return specs


def _traced(sizes: str, runs: bool = True, **options: Any) -> Callable[[Call, Any], Any]:
    def run(call: Call, tf: Any) -> Any:
        inputs = inputs_of(call, tf)
        passed = [value for value in inputs if not isinstance(value, tf.Variable)]

        def function(*tensors: Any) -> Any:
            result = invoke(call, tf, _with(tensors, inputs, lambda value: not isinstance(value, tf.Variable)))
            return None if isinstance(result, tf.Operation) or type(result) is bool else result

        concrete = tf.function(function, autograph=False, **options).get_concrete_function(*_specs(passed, tf, sizes))
        static = static_shapes(concrete.structured_outputs, tf)
        return {"result": encode(concrete(*passed), tf) if runs else None, "static": static}

    return run


def _with(tensors: Sequence[Any], inputs: list[Any], replaced: Callable[[Any], bool]) -> list[Any]:
    """A call's inputs with those that are `replaced` taken from `tensors`."""
    left = iter(tensors)
    return [next(left) if replaced(value) else value for value in inputs]


def differentiated(call: Call, tf: Any, inputs: list[Any]) -> Any:
    """The gradient of all outputs by all tensors, where either are of floats."""
    watched = [v for v in inputs if isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex)]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        result = invoke(call, tf, inputs)
    flat = tf.nest.flatten(result, expand_composites=True)
    targets = [t for t in flat if isinstance(t, tf.Tensor) and (t.dtype.is_floating or t.dtype.is_complex)]
    if not watched or not targets:
        return SKIP
    gradients = tape.gradient(targets, watched)
    return [tf.convert_to_tensor(g) if g is not None else None for g in gradients]


def gradient(call: Call, tf: Any) -> Any:
    gradients = differentiated(call, tf, inputs_of(call, tf))
    return SKIP if gradients is SKIP else {"result": encode(gradients, tf)}


def gradient_unknown(call: Call, tf: Any) -> Any:
    """The gradient within a trace that knows no sizes."""
    inputs = inputs_of(call, tf)
    passed = [value for value in inputs if isinstance(value, tf.Tensor)]
    skipped = []

    def function(*tensors: Any) -> Any:
        gradients = differentiated(call, tf, _with(tensors, inputs, lambda value: isinstance(value, tf.Tensor)))
        skipped.append(gradients is SKIP)
        return [] if gradients is SKIP else gradients

    concrete = tf.function(function, autograph=False).get_concrete_function(*_specs(passed, tf, "sizes"))
    return SKIP if skipped[-1] else {"result": encode(concrete(*passed), tf)}


def vectorized(call: Call, tf: Any) -> Any:
    """The call for each of two slices: the tensors as they are, and reversed along their first dimension."""
    inputs = inputs_of(call, tf)
    passed = [value for value in inputs if isinstance(value, tf.Tensor)]
    if not passed or not all(isinstance(value, (tf.Tensor, tf.Variable)) for value in inputs):
        return SKIP
    batches = [tf.stack([value, tf.reverse(value, [0]) if value.shape.rank else value]) for value in passed]

    def function(slices: Any) -> Any:
        return invoke(call, tf, _with(slices, inputs, lambda value: isinstance(value, tf.Tensor)))

    return {"result": encode(tf.vectorized_map(function, batches, warn=False), tf)}


MODES: dict[str, Callable[[Call, Any], Any]] = {
    "eager": eager,
    "again": again,
    "compiled": compiled.compare,
    "function": _traced("static"),
    "unknown_sizes": _traced("sizes"),
    "unknown_rank": _traced("rank"),
    "gradient": gradient,
    "gradient_unknown_sizes": gradient_unknown,
    "vectorized": vectorized,
    "jit": _traced("static", jit_compile=True),
    "jit_unknown_rank": _traced("rank", jit_compile=True),
    "inferred": _traced("static", runs=False),
}
