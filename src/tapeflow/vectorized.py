"""`tf.vectorized_map`: a function of one element, applied to a whole batch at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch

from tapeflow.array.creation import range as range_
from tapeflow.array.creation import zeros
from tapeflow.array.joining import stack, unstack
from tapeflow.core.context import state
from tapeflow.core.ops.batching import NoRule
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, spec_of
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.functional import as_traced, map_fn
from tapeflow.graph.batching.batched import can_be_written, on_batch
from tapeflow.graph.batching.calls import call_on_slices
from tapeflow.graph.batching.vmapped import STACKED, Manner, hindrance
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph

logger = logging.getLogger("tapeflow")


def vectorized_map(fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Calls `fn` on all slices of `elems` along the first dimension at once, and stacks what it gives.

    `fn` runs once, on tensors that stand for a whole batch. Random numbers are other ones for each slice. What can't
    be computed for all slices at once (Python code that looks at values, strings) is computed slice by slice; so is
    all of `fn` if it has side effects, such as assignments.

    Args:
        fn: takes a slice, in the structure of `elems`, and gives a nest of tensors.
        elems: a tensor or a nest of tensors with equal first dimensions; a first dimension of 1 is broadcast.
        fallback_to_while_loop: whether what can't be computed at once may be computed slice by slice; otherwise that is
            an error.
        warn: whether to say so.

    Returns:
        What `fn` gives, with a new first dimension. Gradients pass, to what `fn` captures too.

    Raises:
        InvalidArgumentError: first dimensions differ.
        IndexError: something in `elems` is a scalar.
        ValueError: there is nothing in `elems`; or something can't be computed at once, and must not be otherwise.

    Example:
        >>> outer = lambda x: tf.reshape(x, [2, 1]) * x
        >>> tf.vectorized_map(outer, tf.constant([[1, 2], [3, 4]])).numpy().tolist()
        [[[1, 2], [2, 4]], [[9, 12], [12, 16]]]
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    return on_slices(fn, elems, Manner(fallback_to_while_loop, warn))


def on_slices(fn: Callable[[Any], Any], elems: Any, manner: Manner, at_once: bool = True) -> Any:
    """What `vectorized_map` gives.

    Args:
        fn: takes a slice of `elems`.
        elems: a nest of tensors.
        manner: how slices are to be computed.
        at_once: False computes them one after the other.
    """
    flat: list[Any] = [e if isinstance(e, CompositeTensor) else convert(e) for e in nest.flatten(elems)]
    if any(hasattr(getattr(e, "_type_spec", None), "_encoded") for e in flat):
        from tapeflow.experimental.batching import over_parts

        return on_slices(*over_parts(fn, elems), manner, at_once)
    if not flat:
        raise ValueError("vectorized_map needs at least one tensor in `elems`")
    if any(not isinstance(e, CompositeTensor) and e.shape.rank == 0 for e in flat):
        raise IndexError("elems must be 1+ dimensional Tensors, not scalars")
    if any(isinstance(e, CompositeTensor) for e in flat):
        _refused(manner, "slices of composite tensors differ in size")
        return map_fn(fn, nest.pack_sequence_as(elems, flat))
    count, values, batched = _aligned(flat)
    if state.graph is not None:
        traced = _Traced(as_traced(fn), elems, flat)
    else:
        size = int(count)
        if at_once and size and not state.tapes and all(isinstance(e.value, torch.Tensor) for e in flat):
            try:
                return _at_once(fn, elems, values, batched, manner.chunk)
            except Exception as error:
                logger.debug("vectorized_map traces %r, as it can't just call it: %s", fn, error)
        try:
            from tapeflow.autograph.conversion import converted

            traced = _Traced(converted(fn), elems, flat)
        except Exception as error:
            found = _one_by_one(fn, elems, values, batched, size) if manner.fallback else None  # the program's errors
            _refused(manner, str(error).strip().split("\n")[0], error)
            return found
    return traced.called(count, values, batched, manner, at_once)


def _refused(manner: Manner, reason: str, error: Exception | None = None) -> None:
    """Says that slices are computed one by one, or that they can't be computed."""
    if not manner.fallback:
        raise ValueError(
            f"No pfor vectorization defined: {reason}. Allow fallback_to_while_loop to have slices computed one by one."
        ) from error
    if manner.warn:
        logger.warning("vectorized_map computes slices one by one: %s", reason)


# ---- what slices are taken of ----------------------------------------------------------------------------------------


def _aligned(flat: Sequence[Any]) -> tuple[Any, list[Any], list[bool]]:
    """How many slices there are, as a scalar tensor; and for each of several tensors, what slices are taken of, or what
    is taken as it is: a first dimension of 1 is broadcast."""
    sizes = [None if e.shape.rank is None else e.shape[0] for e in flat]
    known = [n for n in sizes if n is not None]
    if len(known) == len(sizes):
        count = convert(_common_size(known))
    else:
        known = [n for n in known if n != 1]
        lengths = [ops.Shape(e)[0] for e, n in zip(flat, sizes, strict=True) if n is None]
        count = convert(_common_size(known)) if known else lengths[0]
        if not known and len(lengths) > 1:
            count = ops.Max(ops.Pack(lengths, 0), 0)
    alone = sizes.count(None) == 1 and not isinstance(count, EagerTensor)
    size = int(count) if isinstance(count, EagerTensor) else None
    batched = [n != 1 or size == 1 for n in sizes]
    values = [
        e if n is not None and stays else e[0] if n is not None else e if alone else _stretched(e, count)
        for e, n, stays in zip(flat, sizes, batched, strict=True)
    ]
    return count, values, batched


def _common_size(sizes: Sequence[int]) -> int:
    """The first dimension that all have, but for those that are broadcast."""
    count = max(sizes) if 0 not in sizes else 0
    for size in sizes:
        if size not in (1, count):
            raise invalid(f"vectorized_map: first dimensions {list(sizes)} differ")
    return count


def _stretched(tensor: Any, count: Any) -> Any:
    """A tensor of unknown first dimension, which is the count already, or 1."""
    shape = ops.Shape(tensor)
    whole = ops.ConcatV2([ops.Pack([count], 0), shape[1:]], 0)
    made = ops.BroadcastTo(tensor, whole)
    made.set_shape(TensorShape([None]).concatenate(tensor.shape[1:]))
    return made


# ---- in eager mode ---------------------------------------------------------------------------------------------------


def _at_once(
    fn: Callable[[Any], Any], elems: Any, values: Sequence[Any], batched: Sequence[bool], chunk: int | None
) -> Any:
    """Calls the function itself on all slices, or on so many of them at a time."""
    given: list[Any] = []  # what `fn` gave, to know its structure and dtypes by

    def on_values(*raw: torch.Tensor) -> tuple[torch.Tensor, ...]:
        slices = [EagerTensor(v, e.dtype) for v, e in zip(raw, values, strict=True)]
        result = fn(nest.pack_sequence_as(elems, slices))
        tensors = [None if r is None else convert(r) for r in nest.flatten(result)]
        given[:] = [result, tensors]
        return tuple([t.value for t in tensors if t is not None])

    dims = tuple([0 if b else None for b in batched])
    state.on_slices, before = True, state.on_slices
    try:
        at_once = torch.func.vmap(on_values, dims, randomness="different", chunk_size=chunk)
        results = iter(at_once(*[e.value for e in values]))
    finally:
        state.on_slices = before
    result, tensors = given
    packed = [None if t is None else EagerTensor(next(results), t.dtype) for t in tensors]
    return nest.pack_sequence_as(result, packed)


def _one_by_one(
    fn: Callable[[Any], Any], elems: Any, values: Sequence[Any], batched: Sequence[bool], count: int
) -> Any:
    """Calls the function for each slice."""
    if not count:
        values = [zeros([1, *e.shape[1:]], e.dtype) if b else e for e, b in zip(values, batched, strict=True)]
    rows = [unstack(e) if b else None for e, b in zip(values, batched, strict=True)]
    results = []
    for i in range(count or 1):
        slices = [e if row is None else row[i] for e, row in zip(values, rows, strict=True)]
        results.append(fn(nest.pack_sequence_as(elems, slices)))
    columns = zip(*[nest.flatten(r) for r in results], strict=True)
    stacked = [None if c[0] is None else stack(list(c))[:count] for c in columns]
    return nest.pack_sequence_as(results[0], stacked)


# ---- traced ----------------------------------------------------------------------------------------------------------


class _Traced:
    """A function of a slice, as a body.

    Attributes:
        body: the body. It takes a slice of each tensor, then what the function captures.
        result: what the function gave when it was traced.
    """

    def __init__(self, fn: Callable[[Any], Any], elems: Any, flat: Sequence[Any]) -> None:
        graph = FuncGraph("loop_body")
        inputs = [graph.input(TensorSpec(e.shape[1:], e.dtype), "slice") for e in flat]

        def traced(slices: Any) -> Any:
            return nest.map_structure(lambda r: convert(r) if isinstance(r, IndexedSlices) else r, fn(slices))

        self.result = graph.trace(traced, (nest.pack_sequence_as(elems, inputs),), {})
        self.body = Body(graph)

    def called(self, count: Any, values: Sequence[Any], batched: Sequence[bool], manner: Manner, at_once: bool) -> Any:
        """What the function gives for all slices, in its structure."""
        captures = self.body.graph.external_captures
        batched = [*batched, *([False] * len(captures))]
        leaves = nest.flatten(self.result)
        reason = hindrance(self.body, batched)
        if any(isinstance(r, CompositeTensor) for r in leaves):
            reason = "composite tensors may differ in size"
        if at_once and not reason:
            found = iter(self._at_once(count, [*values, *captures], batched, manner))
            return nest.map_structure(lambda r: r if r is None else next(found), self.result)
        if at_once:
            _refused(manner, reason)
        return self._looped(count, [*values, *captures], batched)

    def _at_once(self, count: Any, values: Sequence[Any], batched: Sequence[bool], manner: Manner) -> list[Any]:
        """The function's outputs for all slices: by ops on the batch where that can be written."""
        if manner.chunk is None and can_be_written(self.body, batched):
            with name_scope("loop_body"), suppress(NoRule):
                return on_batch(self.body, count, values, batched, manner)
        forms = [STACKED] * len(self.body.outputs)
        return call_on_slices(self.body, count, values, batched, forms, manner)

    def _looped(self, count: Any, values: Sequence[Any], batched: Sequence[bool]) -> Any:
        """The same by a loop over the slices."""
        leaves = [r for r in nest.flatten(self.result) if r is not None]

        def call(i: Any) -> list[Any]:
            given = [ops.GatherV2(v, i, 0) if b else v for v, b in zip(values, batched, strict=True)]
            return nest.pack_sequence_as(leaves, self.body.call(given), expand_composites=True)

        found = iter(map_fn(call, range_(count), fn_output_signature=[spec_of(r) for r in leaves]) if leaves else [])
        return nest.map_structure(lambda r: r if r is None else next(found), self.result)
