"""Calls of a function on all slices of a batch at once: an operation of a graph, or at once in eager mode.

The gradient of such a call is one too: of the function's backward function, on the slices of the gradients. What the
function takes as it is, the same for all slices, has the sum of all slices' gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import range as range_
from tapeflow.array.joining import stack, unstack
from tapeflow.array.passing import identity
from tapeflow.core.autodiff.tape import record
from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.functional import map_fn
from tapeflow.graph.batching.vmapped import SHARED, STACKED, SUMMED, Manner, OnSlices, varying
from tapeflow.graph.codegen.compile import eager_outputs
from tapeflow.graph.control.body import Body, Call, is_watched, order_of_tapes, raw
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation, variable_of


def call_on_slices(
    body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], forms: Sequence[str], manner: Manner
) -> list[Any]:
    """Calls a body on all slices.

    Args:
        body: of one slice.
        count: how many slices there are: a scalar tensor.
        values: a tensor or variable for each input of the body.
        batched: for each, whether slices are taken of it, or all take it as it is.
        forms: for each output, whether it is stacked or summed.
        manner: how slices are to be computed.

    Returns:
        A tensor for each output.
    """
    graph = state.graph
    if graph is not None:
        values = [graph.capture(v) for v in values]
    op = Vectorized(body, body.outputs, batched, forms, count, manner)
    watched = bool(state.tapes) and is_watched(values)
    if watched and not op.keeps_objects:
        op = Vectorized(body, body.with_kept(order_of_tapes()), batched, forms, count, manner)
    elif watched and graph is None:
        return op.separately([count, *values])
    if graph is not None:
        made = graph.node(op, [count, *values], [(t.dtype, op.shape_of(t)) for t in op.gives]).outputs
    else:
        made = eager_outputs(op.on_slices(count.value, *[raw(v) for v in values]), op.gives)
        if watched:
            record(op, [count, *values], [*made, *values], made)
    return made[: len(body.outputs)]


class Vectorized(Call):
    """A call of a body on all slices. It takes their number first.

    Attributes:
        on_slices: the kernel.
    """

    steering = 1

    def __init__(
        self,
        body: Body,
        gives: Sequence[SymbolicTensor],
        batched: Sequence[bool],
        forms: Sequence[str],
        count: Any,
        manner: Manner,
    ) -> None:
        super().__init__(body, gives)
        self.name = "Vectorized"
        slices = [t for t, b in zip(body.inputs, batched, strict=True) if b]
        self._varying = varying(body.graph._operations, slices)
        self._slices = {id(t) for t in slices}
        self._forms = dict(zip([id(t) for t in body.outputs], forms, strict=True))
        self._count, self._manner = count, manner
        self.kernel = self.on_slices = OnSlices(body, gives, batched, [self._form(t) for t in gives], manner)

        self.lowered = self._lowered
        self._apart: dict[int, Body] = {}  # backward functions as `_with_own_outputs` makes them, by their ids

    @functools.cached_property
    def keeps_objects(self) -> bool:
        """Whether the backward function takes something of each slice that is no tensor of numbers, as those of loops
        and conditionals do."""
        kept = self.body.with_kept(0)
        return any(t.dtype.torch is None and id(t.op) in self._varying for t in kept)

    def _form(self, tensor: SymbolicTensor) -> str:
        """What becomes of a tensor of the body."""
        return self._forms.get(id(tensor)) or (STACKED if id(tensor.op) in self._varying else SHARED)

    def shape_of(self, tensor: SymbolicTensor) -> TensorShape:
        """The shape of what becomes of a tensor of the body."""
        if self._form(tensor) != STACKED:
            return tensor.shape
        count = value_of(self._count) if isinstance(self._count, SymbolicTensor) else self._count.value
        return TensorShape([None if count is None else int(count)]).concatenate(tensor.shape)

    def also_gives(self, operation: Any, tensor: SymbolicTensor) -> SymbolicTensor:
        form = self._form(tensor)
        made = SymbolicTensor(operation, len(operation.outputs), tensor.dtype, self.shape_of(tensor))
        operation.outputs.append(made)
        self.gives.append(tensor)
        self.on_slices.add(tensor, form)
        return made

    # ---- gradients -----------------------------------------------------------------------------------------------

    def _gradient(self, call: Any, *dys: Any) -> list[Any]:
        if call.attrs or not self.keeps_objects:
            return super()._gradient(call, *dys)
        operation = call.outputs[0].op
        if operation.op is self:  # from now on a loop does what it does, as loops know their gradients
            operation.op, operation.args = self._in_turn(operation)
        found = dict(zip(map(id, operation.args), operation.op._gradient(call, *dys), strict=True))
        return [found.get(id(t)) for t in call.inputs]

    def call_backward(self, backward: Body, given: Sequence[bool], values: Sequence[Any]) -> list[Any]:
        forms = [self._form(t) for t, has in zip(self.gives, given, strict=False) if has]
        seeds = [self._part(dy) if form == SHARED else dy for dy, form in zip(values, forms, strict=False)]
        batched = [form == STACKED for form in forms]
        batched += [
            isinstance(t, SymbolicTensor) and self._form(t) == STACKED for t in backward.graph.external_captures
        ]
        wanted = zip(self.body.inputs, backward.graph.structured_outputs, strict=True)
        back = [STACKED if id(t) in self._slices else SUMMED for t, g in wanted if g is not None]
        if id(backward) not in self._apart:
            self._apart[id(backward)] = _with_own_outputs(backward)
        body = self._apart[id(backward)]
        return call_on_slices(body, self._count, [*seeds, *values[len(seeds) :]], batched, back, self._manner)

    def _part(self, dy: Any) -> Any:
        """Of the gradient of what is the same for all slices: the part of each slice, which all slices add up."""
        count = ops.Maximum(self._count, 1)
        return ops.RealDiv(dy, ops.Cast(count, dy.dtype))

    def separately(self, values: Sequence[Any]) -> list[Any]:
        """What the body gives, computed for each slice by itself, with ops that tapes record."""
        count, *given = values
        if not int(count.value):
            return eager_outputs(self.on_slices(0, *[raw(v) for v in given]), self.gives)
        rows = [unstack(v) if batched else None for v, batched in zip(given, self.on_slices.batched, strict=True)]
        results = [
            self.body.call([v if row is None else row[i] for v, row in zip(given, rows, strict=True)])
            for i in range(int(count.value))
        ]
        columns = zip(self.body.outputs, zip(*results, strict=True), strict=True)
        return [stack(list(c)) if self._form(t) == STACKED else ops.AddN(list(c)) for t, c in columns]

    # ---- by a loop -----------------------------------------------------------------------------------------------

    def _in_turn(self, operation: Operation) -> tuple[Call, list[Any]]:
        """A call of a function that does what an operation of this op does, in a loop over the slices, and what it
        takes."""
        graph = FuncGraph(f"{operation.name.replace('/', '_')}_in_turn")
        graph.outer_graph = operation.graph
        tensors = {id(t): t for t in operation.args if variable_of(t) is None}
        with graph.as_default():
            own = {i: graph.input(TensorSpec(t.shape, t.dtype), "input") for i, t in tensors.items()}
            graph.outputs = self._by_a_loop(*[own.get(id(t), t) for t in operation.args])
        body = Body(graph)
        return Call(body, body.outputs), [*tensors.values(), *graph.external_captures]

    def _by_a_loop(self, count: Any, *values: Any) -> list[Any]:
        """What an operation of this op gives, by ops of the graph that is being built."""
        gives, forms = list(self.gives), [self._form(t) for t in self.gives]

        def of(slices: Callable[[Any], Any]) -> list[Any]:
            taken = [slices(v) if b else v for v, b in zip(values, self.on_slices.batched, strict=True)]
            return list(state.graph.node(Call(self.body, gives), taken, [(t.dtype, t.shape) for t in gives]).outputs)

        def one(i: Any) -> list[Any]:
            made = of(lambda batch: ops.GatherV2(batch, i, 0))
            return [t for t, form in zip(made, forms, strict=True) if form != SHARED]

        specs = [TensorSpec(t.shape, t.dtype) for t, form in zip(gives, forms, strict=True) if form != SHARED]
        found = iter(map_fn(one, range_(count), fn_output_signature=specs) if specs else [])
        shared = of(_no_slice) if SHARED in forms else gives
        return [
            same if form == SHARED else next(found) if form == STACKED else ops.Sum(next(found), 0)
            for same, form in zip(shared, forms, strict=True)
        ]

    def _lowered(self, operation: Operation) -> list[Operation]:
        """The operation that stands for one of this op in a `GraphDef`."""
        op, args = self._in_turn(operation)
        made = Operation(operation.graph, op, operation.name, args)
        made.outputs, made.device = operation.outputs, operation.device
        made._control_inputs = operation._control_inputs
        return [made]


def _no_slice(batch: Any) -> Any:
    """Zeros in the shape of a batch's slices."""
    return ops.ZerosLike(ops.Sum(batch, 0))


def _with_own_outputs(body: Body) -> Body:
    """The same function, with outputs that are nothing else in it: so no backward function captures them, which would
    find sums there instead of what slices give."""
    with body.graph.as_default():
        outputs = [identity(t) for t in body.outputs]
    made = Body(body.graph)
    made.outputs = outputs
    return made
