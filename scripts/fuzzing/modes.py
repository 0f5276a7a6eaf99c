"""How a call is run: eagerly, traced with static, unknown or no shapes, differentiated, vectorized, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuzzing.outcomes import SKIP, encode, static_shapes
from fuzzing.values import inputs_of, invoke

Call = dict[str, Any]


def eager(call: Call, tf: Any) -> Any:
    return {"result": encode(invoke(call, tf), tf)}


def _specs(inputs: list[Any], tf: Any, sizes: str) -> list[Any]:
    """The types of a trace's inputs, their shapes as they are ("static"), without "sizes" or without a "rank"."""
    specs = []
    for value in inputs:
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


def _traced(sizes: str, **options: Any) -> Callable[[Call, Any], Any]:
    def run(call: Call, tf: Any) -> Any:
        inputs = inputs_of(call, tf)

        def function(*tensors: Any) -> Any:
            return invoke(call, tf, list(tensors))

        concrete = tf.function(function, autograph=False, **options).get_concrete_function(*_specs(inputs, tf, sizes))
        static = static_shapes(concrete.structured_outputs, tf)
        return {"result": encode(concrete(*inputs), tf), "static": static}

    return run


def _gradients(call: Call, tf: Any, inputs: list[Any]) -> Any:
    """The gradient of all outputs by all inputs, where either are of floats."""
    inputs = [value for value in inputs if isinstance(value, tf.Tensor)]
    watched = [value for value in inputs if value.dtype.is_floating or value.dtype.is_complex]
    every = inputs_of_in_order(call, inputs, tf)
    with tf.GradientTape() as tape:
        tape.watch(watched)
        result = invoke(call, tf, every)
    flat = tf.nest.flatten(result, expand_composites=True)
    targets = [t for t in flat if isinstance(t, tf.Tensor) and (t.dtype.is_floating or t.dtype.is_complex)]
    if not watched or not targets:
        return SKIP
    gradients = tape.gradient(targets, watched)
    return [tf.convert_to_tensor(g) if g is not None else None for g in gradients]


def inputs_of_in_order(call: Call, tensors: list[Any], tf: Any) -> list[Any]:
    """All of a call's inputs: these tensors, and composites made anew between them."""
    left = iter(tensors)
    return [next(left) if isinstance(value, tf.Tensor) else value for value in inputs_of(call, tf)]


def gradient(call: Call, tf: Any) -> Any:
    gradients = _gradients(call, tf, inputs_of(call, tf))
    return SKIP if gradients is SKIP else {"result": encode(gradients, tf)}


def gradient_unknown(call: Call, tf: Any) -> Any:
    """The gradient within a trace that knows no sizes."""
    inputs = [value for value in inputs_of(call, tf) if isinstance(value, tf.Tensor)]
    skipped = []

    def function(*tensors: Any) -> Any:
        gradients = _gradients(call, tf, list(tensors))
        skipped.append(gradients is SKIP)
        return [] if gradients is SKIP else gradients

    concrete = tf.function(function, autograph=False).get_concrete_function(*_specs(inputs, tf, "sizes"))
    return SKIP if skipped[-1] else {"result": encode(concrete(*inputs), tf)}


def vectorized(call: Call, tf: Any) -> Any:
    """The call for each of two slices: the tensors as they are, and reversed along their first dimension."""
    inputs = inputs_of(call, tf)
    if not inputs or not all(isinstance(value, tf.Tensor) for value in inputs):
        return SKIP
    batches = [tf.stack([value, tf.reverse(value, [0]) if value.shape.rank else value]) for value in inputs]
    result = tf.vectorized_map(lambda slices: invoke(call, tf, list(slices)), batches, warn=False)
    return {"result": encode(result, tf)}


MODES: dict[str, Callable[[Call, Any], Any]] = {
    "eager": eager,
    "function": _traced("static"),
    "unknown_sizes": _traced("sizes"),
    "unknown_rank": _traced("rank"),
    "gradient": gradient,
    "gradient_unknown_sizes": gradient_unknown,
    "vectorized": vectorized,
    "jit": _traced("static", jit_compile=True),
}
