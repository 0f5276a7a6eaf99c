"""`tf.vectorized_map`: a function of one element, applied to a whole batch at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow import nest
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.spec import TensorSpec
from tapeflow.core.tensor import EagerTensor, invalid
from tapeflow.math.gradients import shape_of

logger = logging.getLogger("tapeflow")


def vectorized_map(fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Calls `fn` on all slices of `elems` along the first dimension at once, and stacks what it gives.

    `fn` runs once, on tensors that stand for a whole batch. It may not look at their values or assign them to
    variables; if it does look, or a tape is recording, each slice is computed by itself.

    Args:
        fn: takes a slice, in the structure of `elems`, and gives a nest of tensors.
        elems: a tensor or a nest of tensors with equal first dimensions; a first dimension of 1 is broadcast.
        fallback_to_while_loop: whether to compute slices one by one where it can't be done at once; otherwise that is
            an error.
        warn: whether to say so.

    Returns:
        What `fn` gives, with a new first dimension.

    Raises:
        InvalidArgumentError: first dimensions differ.
        IndexError: something in `elems` is a scalar.

    Example:
        >>> outer = lambda x: tf.reshape(x, [2, 1]) * x
        >>> tf.vectorized_map(outer, tf.constant([[1, 2], [3, 4]])).numpy().tolist()
        [[[1, 2], [2, 4]], [[9, 12], [12, 16]]]
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    flat = [convert(e) for e in nest.flatten(elems)]
    if not flat:
        raise ValueError("vectorized_map needs at least one tensor in `elems`")
    if any(e.shape.rank == 0 for e in flat):
        raise IndexError("elems must be 1+ dimensional Tensors, not scalars")
    if state.graph is not None:
        return _staged(fn, elems, flat)
    count = _common_size([e.shape[0] for e in flat])
    if count == 0:
        return _of_nothing(fn, elems, flat)
    if not state.tapes and all(isinstance(e.value, torch.Tensor) for e in flat):
        try:
            return _at_once(fn, elems, flat, count)
        except Exception as error:
            if not fallback_to_while_loop:
                raise
            if warn:
                logger.warning("vectorized_map computes slices of %r one by one: %s", fn, str(error).split("\n")[0])
    elif not fallback_to_while_loop and not state.tapes:
        raise ValueError("vectorized_map: strings can't be computed at once; allow fallback_to_while_loop")
    return _one_by_one(fn, elems, flat, count)


def _common_size(sizes: Sequence[int]) -> int:
    """The first dimension that all have, but for those that are broadcast."""
    count = max(sizes) if 0 not in sizes else 0
    for size in sizes:
        if size not in (1, count):
            raise invalid(f"vectorized_map: first dimensions {sizes} differ")
    return count


def _at_once(fn: Callable[[Any], Any], elems: Any, flat: Sequence[EagerTensor], count: int) -> Any:
    given: list[Any] = []  # what `fn` gave, to know its structure and dtypes by

    def on_values(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        slices = [EagerTensor(v, e.dtype) for v, e in zip(values, flat, strict=True)]
        result = fn(nest.pack_sequence_as(elems, slices))
        tensors = [None if r is None else convert(r) for r in nest.flatten(result)]
        given[:] = [result, tensors]
        return tuple([t.value for t in tensors if t is not None])

    batched = [0 if e.shape[0] == count else None for e in flat]
    values = [e.value if dim == 0 else e.value[0] for e, dim in zip(flat, batched, strict=True)]
    results = iter(torch.func.vmap(on_values, tuple(batched), randomness="different")(*values))
    result, tensors = given
    packed = [None if t is None else EagerTensor(next(results), t.dtype) for t in tensors]
    return nest.pack_sequence_as(result, packed)


def _one_by_one(fn: Callable[[Any], Any], elems: Any, flat: Sequence[EagerTensor], count: int) -> Any:
    from tapeflow import stack, unstack

    slices = [unstack(e) for e in flat]
    results = [fn(nest.pack_sequence_as(elems, [s[i if len(s) > 1 else 0] for s in slices])) for i in range(count)]
    columns = zip(*[nest.flatten(r) for r in results], strict=True)
    return nest.pack_sequence_as(results[0], [None if c[0] is None else stack(list(c)) for c in columns])


def _staged(fn: Callable[[Any], Any], elems: Any, flat: Sequence[Any]) -> Any:
    """In a graph: `fn` is traced once, and a loop calls what it became for each slice."""
    from tapeflow import equal, gather, map_fn, range, reduce_max, stack, where
    from tapeflow.function.body import Body
    from tapeflow.functional import as_traced
    from tapeflow.graph.func_graph import FuncGraph

    lengths = [shape_of(e)[0] for e in flat]
    known = all(isinstance(n, int) for n in lengths)
    count = _common_size(lengths) if known else reduce_max(stack(lengths))
    graph = FuncGraph("loop_body")
    inputs = [graph.input(TensorSpec(e.shape[1:], e.dtype), "slice") for e in flat]
    result = graph.trace(as_traced(fn), (nest.pack_sequence_as(elems, inputs),), {})
    body = Body(graph)

    def call(i: Any) -> list[Any]:
        places = [where(equal(n, 1), 0, i) for n in lengths] if len(flat) > 1 else [i]
        slices = [gather(e, place) for e, place in zip(flat, places, strict=True)]
        return list(body.call([*slices, *graph.external_captures]))

    signature = [TensorSpec(t.shape, t.dtype) for t in body.outputs]
    found = iter(map_fn(call, range(count), fn_output_signature=signature) if signature else [])
    return nest.map_structure(lambda r: r if r is None else next(found), result)


def _of_nothing(fn: Callable[[Any], Any], elems: Any, flat: Sequence[EagerTensor]) -> Any:
    """The result for no slices, in the shapes that a slice of zeros leads to."""
    from tapeflow import zeros

    slices = [zeros(e.shape[1:], e.dtype) for e in flat]
    result = fn(nest.pack_sequence_as(elems, slices))
    return nest.map_structure(lambda r: r if r is None else _empty(convert(r)), result)


def _empty(tensor: EagerTensor) -> EagerTensor:
    value = tensor.value
    if isinstance(value, np.ndarray):
        return EagerTensor(np.empty((0, *value.shape), object), tensor.dtype)
    return EagerTensor(value.new_empty((0, *value.shape)), tensor.dtype)
