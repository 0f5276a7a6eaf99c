"""`tf.vectorized_map`: a function of one element, applied to a whole batch at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat_v2, pack_op
from tapeflow.array.creation import range as range_
from tapeflow.array.gathers import gather_v2
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.control.map_and_scan import as_traced, map_fn
from tapeflow.core.context import override, state
from tapeflow.core.hooks import hooks
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.batch_rules import Batch, NoRule
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, spec_of
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor, without_variables
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.transform.batch import BatchOptions, obstacle, on_batch
from tapeflow.graph.transform.body import Body


def vectorized_map(
    fn: Callable[[Any], Any],
    elems: TensorLike | Mapping[Any, Any],
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """Calls `fn` on all slices of `elems` along the first dimension at once, and stacks the results.

    `fn` runs once, on tensors that stand for a whole batch. Random numbers differ between slices. Code that can't run
    for all slices at once (Python code that reads values, strings) runs slice by slice; so does all of `fn` if it has
    side effects, such as assignments.

    Args:
        fn: takes a slice, in the structure of `elems`, and returns a nest of tensors.
        elems: a tensor or a nest of tensors with equal first dimensions; a first dimension of 1 is broadcast.
        fallback_to_while_loop: True to compute slices one by one if they can't be computed at once;
            otherwise that is an error.
        warn: whether to log a warning then.

    Returns:
        The results of `fn`, with a new first dimension. Gradients flow to `elems` and to the tensors `fn` captures.

    Raises:
        TypeError: `fn` is not callable.
        InvalidArgumentError: first dimensions differ.
        IndexError: a tensor in `elems` is a scalar.
        ValueError: `elems` is empty; or slices can't be computed at once, and `fallback_to_while_loop` is False.

    Example:
        >>> outer = lambda x: tf.reshape(x, [2, 1]) * x
        >>> tf.vectorized_map(outer, tf.constant([[1, 2], [3, 4]])).numpy().tolist()
        [[[1, 2], [2, 4]], [[9, 12], [12, 16]]]
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    return on_slices(fn, elems, BatchOptions(fallback_to_while_loop, warn))


def on_slices(fn: Callable[[Any], Any], elems: Any, options: BatchOptions, at_once: bool = True) -> Any:
    """Returns the results of `vectorized_map`.

    Args:
        fn: takes a slice of `elems`.
        elems: a nest of tensors.
        options: whether slices may be computed one by one, and how many at a time.
        at_once: False computes them one after the other.
    """
    flat: list[Any] = [
        without_variables(e) if isinstance(e, CompositeTensor) else convert(e) for e in nest.flatten(elems)
    ]
    if any(hasattr(getattr(e, "_type_spec", None), "_encoded") for e in flat):
        whole, parts = hooks.over_parts(fn, nest.pack_sequence_as(elems, flat))
        return on_slices(whole, parts, options, at_once)
    if not flat:
        raise ValueError("vectorized_map needs at least one tensor in `elems`")
    if any(not isinstance(e, CompositeTensor) and e.shape.rank == 0 for e in flat):
        raise IndexError("elems must be 1+ dimensional Tensors, not scalars")
    if any(isinstance(e, CompositeTensor) for e in flat):
        options.report("composite tensors, whose slices differ in size")
        return map_fn(fn, nest.pack_sequence_as(elems, flat))
    count, values, batched = _align_leading(flat)
    eager = state.graph is None
    if eager and at_once and int(count) and not state.tapes and all(isinstance(e.value, torch.Tensor) for e in flat):
        try:
            with override(state, in_turn=True):  # the first input of an op settles the dtype, as in a graph
                return _called_at_once(fn, elems, values, batched, options.chunk)
        except Exception as error:
            get_logger().debug("vectorized_map traces %r, as it can't just call it: %s", fn, error)
    graph = FuncGraph("loop_body")
    inputs = [graph.input(TensorSpec(e.shape[1:], e.dtype), "slice") for e in flat]

    def traced(slices: Any) -> Any:
        return nest.map_structure(lambda r: convert(r) if isinstance(r, IndexedSlices) else r, fn(slices))

    fn = hooks.converted(fn) if eager else as_traced(fn)
    with hooks.user_code(fn) if eager else nullcontext():
        result = graph.trace(traced, (nest.pack_sequence_as(elems, inputs),), {})
    values, batched = [*values, *graph.external_captures], [*batched, *([False] * len(graph.captures))]
    leaves = [r for r in nest.flatten(result) if r is not None]
    rest = iter(_compute_slices(Body(graph), leaves, count, values, batched, options, at_once))
    return nest.map_structure(lambda r: r if r is None else next(rest), result)


# ---- inputs ----------------------------------------------------------------------------------------------------------


def _align_leading(flat: Sequence[Any]) -> tuple[Any, list[Any], list[bool]]:
    """Aligns the first dimensions of tensors; a first dimension of 1 is broadcast.

    Returns:
        The number of slices, as a scalar tensor; the tensors, where a tensor of first dimension 1 is replaced by its
        only slice; and for each tensor True if it is batched.
    """
    sizes = [None if e.shape.rank is None else e.shape[0] for e in flat]
    static = [n for n in sizes if n is not None]
    if len(static) == len(sizes):
        count = convert(_common_size(static))
    else:
        static = [n for n in static if n != 1]
        lengths = [shape_op(e)[0] for e, n in zip(flat, sizes, strict=True) if n is None]
        count = convert(_common_size(static)) if static else lengths[0]
        if not static and len(lengths) > 1:
            count = ops.Max(pack_op(lengths, 0), 0)
    alone = sizes.count(None) == 1 and not isinstance(count, EagerTensor)
    size = int(count) if isinstance(count, EagerTensor) else None
    batched = [n != 1 or size == 1 for n in sizes]
    values = [
        e if n is not None and stays else e[0] if n is not None else e if alone else _stretch_to_count(e, count)
        for e, n, stays in zip(flat, sizes, batched, strict=True)
    ]
    return count, values, batched


def _common_size(sizes: Sequence[int]) -> int:
    """Returns the common first dimension, without regard to dimensions of 1.

    Raises:
        InvalidArgumentError: first dimensions differ.
    """
    count = max(sizes) if 0 not in sizes else 0
    for size in sizes:
        if size not in (1, count):
            raise invalid(f"vectorized_map: first dimensions {list(sizes)} differ")
    return count


def _stretch_to_count(tensor: Any, count: Any) -> Any:
    """Broadcasts a tensor whose first dimension, unknown until it runs, is the count or 1."""
    shape = shape_op(tensor)
    whole = concat_v2([pack_op([count], 0), shape[1:]], 0)
    stretched = broadcast_to(tensor, whole)
    stretched.set_shape(TensorShape([None]).concatenate(tensor.shape[1:]))
    return stretched


# ---- in eager mode ---------------------------------------------------------------------------------------------------


def _called_at_once(
    fn: Callable[[Any], Any], elems: Any, values: Sequence[Any], batched: Sequence[bool], chunk: int | None
) -> Any:
    """Calls the function itself on all slices, or on `chunk` of them at a time."""
    traced: list[Any] = []  # the result of `fn` and its leaves, for their structure and dtypes

    def on_values(*raw: torch.Tensor) -> tuple[torch.Tensor, ...]:
        slices = [EagerTensor(v, e.dtype) for v, e in zip(raw, values, strict=True)]
        result = fn(nest.pack_sequence_as(elems, slices))
        tensors = [None if r is None else convert(r) for r in nest.flatten(result)]
        traced[:] = [result, tensors]
        return tuple([t.value for t in tensors if t is not None])

    dims = tuple([0 if b else None for b in batched])
    at_once = torch.func.vmap(on_values, dims, randomness="different", chunk_size=chunk)
    with override(state, on_slices=True):
        results = iter(at_once(*[e.value for e in values]))
    result, tensors = traced
    packed = [None if t is None else EagerTensor(next(results), t.dtype) for t in tensors]
    return nest.pack_sequence_as(result, packed)


# ---- traced ----------------------------------------------------------------------------------------------------------


def _compute_slices(
    body: Body, leaves: Sequence[Any], count: Any, values: Sequence[Any], batched: Sequence[bool],
    options: BatchOptions, at_once: bool,
) -> list[Any]:  # fmt: skip
    """Computes the results of a function for all slices.

    Args:
        body: the function.
        leaves: its results for one slice.
        count: the number of slices.
        values: a tensor for each input of the function.
        batched: for each, True if it is a batch of slices.
        options, at_once: as for `on_slices`.
    """
    if not at_once:
        return _one_by_one(body, leaves, count, values, batched)
    others = [type(r).__name__ for r in leaves if isinstance(r, CompositeTensor)]
    ends = (*(t for t, b in zip(body.inputs, batched, strict=True) if b), *body.outputs)
    others += [t.dtype.name for t in ends if t.dtype in (variant, resource)]
    why = f"slices that are {others[0]} values" if others else obstacle(body, batched)
    if not why:
        try:
            with name_scope("loop_body"):
                return _at_once(body, count, values, batched, options)
        except NoRule as error:
            why = str(error)
    options.report(why)
    return _one_by_one(body, leaves, count, values, batched)


def _at_once(
    body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], options: BatchOptions
) -> list[Any]:
    """Computes a function's outputs for all slices, or for `options.chunk` of them at a time."""
    size, chunk = Batch(count).count, options.chunk
    if chunk is None or (isinstance(size, int) and size <= chunk):
        return on_batch(body, count, values, batched, options)
    chunks = size // chunk
    whole = chunks * chunk

    def part(slices: Sequence[Any], size: Any) -> list[Any]:
        rest = iter(slices)
        inputs = [next(rest) if b else v for v, b in zip(values, batched, strict=True)]
        return on_batch(body, convert(size), inputs, batched, options)

    batches = [v for v, b in zip(values, batched, strict=True) if b]
    rows = [reshape(v[:whole], concat_v2([[chunks, chunk], shape_op(v)[1:]], 0)) for v in batches]
    specs = [TensorSpec(TensorShape([chunk]).concatenate(t.shape), t.dtype) for t in body.outputs]
    first = map_fn(lambda slices: part(slices, chunk), rows, fn_output_signature=specs)
    joined = [reshape(c, concat_v2([[whole], shape_op(c)[2:]], 0)) for c in first]
    last = part([v[whole:] for v in batches], size - whole)
    return [concat_v2([c, r], 0) for c, r in zip(joined, last, strict=True)]


def _one_by_one(
    body: Body, leaves: Sequence[Any], count: Any, values: Sequence[Any], batched: Sequence[bool]
) -> list[Any]:
    """Computes the results of a function for all slices by a loop; arguments as of `_compute_slices`."""

    def call(i: Any) -> list[Any]:
        inputs = [gather_v2(v, i, 0) if b else v for v, b in zip(values, batched, strict=True)]
        return nest.pack_sequence_as(leaves, body.call(inputs), expand_composites=True)

    specs = [spec_of(r) for r in leaves]
    return map_fn(call, range_(count), infer_shape=False, fn_output_signature=specs) if leaves else []
