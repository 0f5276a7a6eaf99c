"""The tape: which ops ran on what is watched, and the gradients that follow from it.

Every op that touches something watched leaves a `Call` on the tape. `backpropagate` walks the calls once, last to first,
and asks each op for its gradient. A call keeps of its op's inputs and outputs only what that gradient declared it
needs; everything else it knows by id, so that a tape does not keep tensors alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import vjp
from tapeflow.core.context import discard, listeners, state
from tapeflow.core.dtypes import DType
from tapeflow.core.tensor import EagerTensor, Tensor, next_id

Gradient = Any  # a tensor, IndexedSlices, or None


class Call:
    """One run of an op, as its gradient sees it.

    Attributes:
        op: the op.
        inputs: the tensor inputs in order; None for those that the gradient did not say it needs.
        outputs: the outputs, if the gradient needs them.
        attrs: the other arguments, in the order of the op's parameters.
        wanted: for each input, whether anybody wants its gradient.
    """

    __slots__ = ("attrs", "input_ids", "input_specs", "inputs", "op", "output_ids", "output_specs", "outputs", "wanted")

    def __init__(self, op: Any, inputs: Sequence[Any], attrs: Sequence[Any], wanted: tuple[bool, ...]) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.wanted = wanted
        self.outputs: Any = None
        self.input_specs: Any = None
        self.output_specs: Any = None

    def shape(self, i: int) -> tuple[int, ...]:
        """The shape of input `i`; the gradient must have declared `shapes`."""
        return self.input_specs[i][0]

    def dtype(self, i: int) -> DType:
        """The dtype of input `i`; the gradient must have declared `shapes`."""
        return self.input_specs[i][1]


def differentiable(dtype: DType) -> bool:
    """Whether gradients pass through tensors of this dtype."""
    return dtype.is_floating or dtype.is_complex


class Tape:
    """Records calls for one `GradientTape`."""

    def __init__(self, persistent: bool, watch_accessed: bool) -> None:
        self.persistent = persistent
        self.watch_accessed = watch_accessed
        self.calls: list[Call] = []
        self.watched: set[int] = set()
        self.variables: dict[int, Any] = {}

    def start(self) -> None:
        state.tapes.append(self)
        listeners.append(self)

    def stop(self) -> None:
        discard(state.tapes, self)
        discard(listeners, self)

    def watch(self, tensor: Any) -> None:
        if not tensor._id:
            tensor._id = next_id()
        self.watched.add(tensor._id)

    def watch_variable(self, variable: Any) -> None:
        self.watched.add(variable._id)
        self.variables[variable._id] = variable

    def variable_read(self, variable: Any) -> None:
        if self.watch_accessed and variable._id not in self.variables and variable.trainable:
            self.watch_variable(variable)

    def record(self, op: Any, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Notes a call, if it touches anything watched and gradients pass through it."""
        watched = self.watched
        for tensor in inputs:
            if tensor._id in watched:
                break
        else:
            return
        if not op.differentiable:
            return
        ids = []
        for out in outputs:
            dtype = out.dtype
            if dtype.is_floating or dtype.is_complex:
                if not out._id:
                    out._id = next_id()
                ids.append(out._id)
            else:
                ids.append(0)
        if not any(ids):
            return
        watched.update(ids)
        watched.discard(0)
        input_ids = [t._id for t in inputs]
        call = Call(op, (), attrs, tuple([i in watched for i in input_ids]))
        call.input_ids, call.output_ids = input_ids, ids
        if op.keep_all_inputs or op.gradient is None:
            call.inputs = inputs
        elif op.keep_inputs:
            keep = op.keep_inputs
            call.inputs = [t if i in keep else None for i, t in enumerate(inputs)]
        if op.keep_outputs:
            call.outputs = outputs
        if op.keep_shapes:
            call.input_specs = [(tuple(t.value.shape), t.dtype) for t in inputs]
        if len(outputs) > 1:
            call.output_specs = [(tuple(t.value.shape), t.dtype) for t in outputs]
        self.calls.append(call)

    def gradients(
        self,
        targets: Sequence[Any],
        sources: Sequence[Any],
        output_gradients: Sequence[Gradient],
    ) -> list[Gradient]:
        """The gradients of the sum of the targets (times their output gradients) for each source, or None."""
        grads: dict[int, Gradient] = {}
        for target, dy in zip(targets, output_gradients, strict=True):
            _add(grads, target._id, dy, set())
        source_ids = [s._id for s in sources]
        calls = self.calls
        if not self.persistent:
            self.calls = []
        return backpropagate(calls, grads, source_ids, keep=self.persistent)


def backpropagate(
    calls: list[Call], grads: dict[int, Gradient], source_ids: list[int], keep: bool
) -> list[Gradient]:
    """Walks the calls backwards, from the gradients at the targets to those at the sources.

    Args:
        calls: in the order they ran; emptied on the way unless `keep`.
        grads: from a tensor's id to its gradient, to begin with; changed.
        source_ids: the ids of the sources.
        keep: leaves `calls` as they are.

    Returns:
        The gradient of each source, or None.
    """
    sources = set(source_ids)
    owned: set[int] = set()  # the gradients that are sums made here, and nobody else's
    useful = _leading_to(sources, calls)
    remaining = calls[::-1] if keep else calls
    position = 0
    while True:
        if keep:
            if position == len(remaining):
                break
            call = remaining[position]
            position += 1
        elif remaining:
            call = remaining.pop()
        else:
            break
        ids = call.output_ids
        if len(ids) == 1:
            i = ids[0]
            dy = grads.get(i) if i in sources else grads.pop(i, None)
            if dy is None:
                continue
            dys: tuple[Any, ...] = (dy,)
        else:
            dys = tuple([grads.get(i) if i in sources else grads.pop(i, None) for i in ids])
            if all(dy is None for dy in dys):
                continue
            dys = tuple([_zeros(*spec) if dy is None else dy for dy, spec in zip(dys, call.output_specs, strict=True)])
        if useful is not None and not any(i in useful for i in call.input_ids):
            continue
        if call.op.gradient is None:
            found = vjp.gradient(call, *dys)
        else:
            if not getattr(call.op, "takes_slices", False):
                dys = tuple([_dense(dy) for dy in dys])
            found = call.op.gradient(call, *dys)
        if not isinstance(found, (list, tuple)):
            found = (found,)
        if len(found) != len(call.input_ids):
            raise ValueError(
                f"The gradient of {call.op.name} gave {len(found)} gradients for {len(call.input_ids)} inputs."
            )
        for i, wanted, g in zip(call.input_ids, call.wanted, found, strict=True):
            if wanted and g is not None:
                _add(grads, i, g, owned)
    return [grads.get(i) for i in source_ids]


def _leading_to(sources: set[int], calls: list[Call]) -> set[int] | None:
    """The ids that depend on a source, or None where looking would save nothing."""
    made = {i for call in calls for i in call.output_ids}
    roots = {i for call in calls for i, w in zip(call.input_ids, call.wanted, strict=True) if w and i not in made}
    if roots <= sources:
        return None
    useful = set(sources)
    for call in calls:
        if not useful.isdisjoint(call.input_ids):
            useful.update(call.output_ids)
    useful.discard(0)
    return useful


def _add(grads: dict[int, Gradient], i: int, g: Gradient, owned: set[int]) -> None:
    """Adds a gradient to what the tensor with id `i` has so far."""
    before = grads.get(i)
    if before is None:
        grads[i] = g
        return
    if type(before) is EagerTensor and type(g) is EagerTensor:
        if i in owned and not state.tapes and before.value.shape == g.value.shape and before.dtype is g.dtype:
            try:
                before.value.add_(g.value)
                return
            except RuntimeError:  # of another device, or a batched value
                pass
        owned.add(i)
    else:
        owned.discard(i)
    grads[i] = _sum(before, g)


def _sum(a: Gradient, b: Gradient) -> Gradient:
    from tapeflow.core.indexed_slices import IndexedSlices, concatenated

    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        return concatenated([a, b])
    from tapeflow.math import add

    return add(_dense(a), _dense(b))


def _dense(g: Gradient) -> Gradient:
    return g if g is None or isinstance(g, Tensor) else g.__tf_tensor__()


def _zeros(shape: tuple[int, ...], dtype: DType) -> EagerTensor:
    return EagerTensor(torch.zeros(shape, dtype=dtype.torch), dtype)


class Recorded:
    """Stands for an op where a Python function says what the gradient is: custom gradients, calls of functions."""

    __slots__ = ("differentiable", "gradient", "keep_all_inputs", "keep_inputs", "keep_outputs", "keep_shapes", "name")

    def __init__(self, name: str, gradient: Callable[..., Any]) -> None:
        self.name = name
        self.gradient = lambda call, *dys: gradient(*dys)
        self.keep_all_inputs = self.keep_outputs = self.keep_shapes = False
        self.keep_inputs: tuple[int, ...] = ()
        self.differentiable = True


def record_function(name: str, inputs: Iterable[Any], outputs: Iterable[Any], gradient: Callable[..., Any]) -> None:
    """Puts a call with a gradient of its own, `gradient(*dys)`, on every tape of this thread."""
    op = Recorded(name, gradient)
    inputs, outputs = list(inputs), list(outputs)
    for tape in state.tapes:
        tape.record(op, inputs, (), outputs)
