"""Calls of a function on all slices of a batch at once: an operation of a graph, or run directly in eager mode.

The gradient of such a call is one too: of the function's backward function, on the slices of the gradients. The
gradient of an input that all slices share is the sum of all slices' gradients.
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
from tapeflow.graph.transform.copying import copy_of


def call_on_slices(
    body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], forms: Sequence[str], manner: Manner
) -> list[Any]:
    """Calls a body on all slices.

    Args:
        body: the function of one slice.
        count: the number of slices: a scalar tensor.
        values: a tensor or variable for each input of the body.
        batched: for each, whether it is a batch of slices, or shared by all.
        forms: for each output, `STACKED` or `SUMMED`.
        manner: the options for computing slices.

    Returns:
        A tensor for each output.
    """
    graph = state.graph
    if graph is not None:
        values = [graph.capture(v) for v in values]
    watched = bool(state.tapes) and is_watched(values)
    body = body.differentiable if watched else body
    op = Vectorized(body, body.outputs, batched, forms, count, manner)
    if watched and not op.keeps_objects:
        op = op.of(body, body.outputs_with_residuals(order_of_tapes()))
    elif watched and graph is None:
        return op.separately([count, *values])
    if graph is not None:
        outputs = graph.node(op, [count, *values], [(t.dtype, op.shape_of(t)) for t in op.results]).outputs
    else:
        outputs = eager_outputs(op.on_slices(count.value, *[raw(v) for v in values]), op.results)
        if watched:
            record(op, [count, *values], [*outputs, *values], outputs)
    return outputs[: len(body.outputs)]


class Vectorized(Call):
    """A call of a body on all slices. Its first input is their number.

    Attributes:
        on_slices: the kernel.
    """

    steering = 1

    def __init__(
        self,
        body: Body,
        results: Sequence[SymbolicTensor],
        batched: Sequence[bool],
        forms: Sequence[str],
        count: Any,
        manner: Manner,
    ) -> None:
        super().__init__(body, results)
        self.name = "Vectorized"
        slices = [t for t, b in zip(body.inputs, batched, strict=True) if b]
        self._varying = varying(body.graph._operations, slices)
        self._slices = {id(t) for t in slices}
        self._forms = dict(zip([id(t) for t in body.outputs], forms, strict=True))
        self._count, self._manner = count, manner
        self.kernel = self.on_slices = OnSlices(body, results, batched, [self._form(t) for t in results], manner)
        self._backwards: dict[int, Body] = {}  # backward functions `_with_own_outputs`, by the ids of the original ones

    @functools.cached_property
    def keeps_objects(self) -> bool:
        """True if a slice has residuals that are no tensors of numbers, such as records of loops and conditionals."""
        body = self.body.differentiable
        if body is not self.body:
            return self.of(body, [body.graph.copies[id(t)] for t in self.results]).keeps_objects
        outputs = body.outputs_with_residuals(0)
        return any(t.dtype.torch is None and id(t.op) in self._varying for t in outputs)

    def _form(self, tensor: SymbolicTensor) -> str:
        """Returns the form in which a tensor of the body is an output of the call."""
        return self._forms.get(id(tensor)) or (STACKED if id(tensor.op) in self._varying else SHARED)

    def shape_of(self, tensor: SymbolicTensor) -> TensorShape:
        if self._form(tensor) != STACKED:
            return tensor.shape
        count = value_of(self._count) if isinstance(self._count, SymbolicTensor) else self._count.value
        return TensorShape([None if count is None else int(count)]).concatenate(tensor.shape)

    def of(self, body: Body, results: Sequence[SymbolicTensor]) -> Vectorized:
        forms = list(self._forms.values())
        return Vectorized(body, results, self.on_slices.batched, forms, self._count, self._manner)

    # ---- gradients ---------------------------------------------------------------------------------------------------

    def _gradient(self, call: Any, *dys: Any) -> list[Any]:
        operation = None if call.attrs else call.outputs[0].op
        if operation is None or (operation.op is self and not self.keeps_objects):
            return super()._gradient(call, *dys)
        if operation.op is self:  # from now on the operation calls a loop, which has a gradient of its own
            operation.op, operation.args = self._as_loop(operation)
        if isinstance(operation.op, Vectorized):
            return operation.op._gradient(call, *dys)
        gradients = dict(zip(map(id, operation.args), operation.op._gradient(call, *dys), strict=True))
        return [gradients.get(id(t)) for t in call.inputs]

    def call_backward(self, backward: Body, has_dys: Sequence[bool], values: Sequence[Any]) -> list[Any]:
        forms = [self._form(t) for t, has_dy in zip(self.results, has_dys, strict=False) if has_dy]
        seeds = [self._per_slice(dy) if form == SHARED else dy for dy, form in zip(values, forms, strict=False)]
        batched = [form == STACKED for form in forms]
        batched += [
            isinstance(t, SymbolicTensor) and self._form(t) == STACKED for t in backward.graph.external_captures
        ]
        sources = zip(self.body.inputs, backward.graph.structured_outputs, strict=True)
        gradient_forms = [STACKED if id(t) in self._slices else SUMMED for t, g in sources if g is not None]
        if id(backward) not in self._backwards:
            self._backwards[id(backward)] = _with_own_outputs(backward)
        body = self._backwards[id(backward)]
        values = [*seeds, *values[len(seeds) :]]
        return call_on_slices(body, self._count, values, batched, gradient_forms, self._manner)

    def _per_slice(self, dy: Any) -> Any:
        """Divides the gradient of an output that slices share among them: their gradients are summed up later."""
        count = ops.Maximum(self._count, 1)
        return ops.RealDiv(dy, ops.Cast(count, dy.dtype))

    def separately(self, values: Sequence[Any]) -> list[Any]:
        """Computes the body's outputs for each slice by itself, with ops that tapes record."""
        count, *inputs = values
        if not int(count.value):
            return eager_outputs(self.on_slices(0, *[raw(v) for v in inputs]), self.results)
        rows = [unstack(v) if batched else None for v, batched in zip(inputs, self.on_slices.batched, strict=True)]
        results = [
            self.body.call([v if row is None else row[i] for v, row in zip(inputs, rows, strict=True)])
            for i in range(int(count.value))
        ]
        columns = zip(self.body.outputs, zip(*results, strict=True), strict=True)
        return [stack(list(c)) if self._form(t) == STACKED else ops.AddN(list(c)) for t, c in columns]

    # ---- by a loop ---------------------------------------------------------------------------------------------------

    def _as_loop(self, operation: Operation) -> tuple[Call, list[Any]]:
        """Returns a call of a function that computes an operation of this op in a loop over slices, and its inputs."""
        graph = FuncGraph(f"{operation.name.replace('/', '_')}_in_turn")
        graph.outer_graph = operation.graph
        tensors = {id(t): t for t in operation.args if variable_of(t) is None}
        with graph.as_default():
            placeholders = {i: graph.input(TensorSpec(t.shape, t.dtype), "input") for i, t in tensors.items()}
            graph.outputs = self._write_loop(*[placeholders.get(id(t), t) for t in operation.args])
        body = Body(graph)
        return Call(body, body.outputs), [*tensors.values(), *graph.external_captures]

    def _write_loop(self, count: Any, *values: Any) -> list[Any]:
        """Computes the outputs by a loop in the graph that is being built."""
        results, forms = list(self.results), [self._form(t) for t in self.results]

        def call(slice_of: Callable[[Any], Any]) -> list[Any]:
            inputs = [slice_of(v) if b else v for v, b in zip(values, self.on_slices.batched, strict=True)]
            return list(
                state.graph.node(Call(self.body, results), inputs, [(t.dtype, t.shape) for t in results]).outputs
            )

        def one(i: Any) -> list[Any]:
            outputs = call(lambda batch: ops.GatherV2(batch, i, 0))
            return [t for t, form in zip(outputs, forms, strict=True) if form != SHARED]

        specs = [TensorSpec(t.shape, t.dtype) for t, form in zip(results, forms, strict=True) if form != SHARED]
        stacked = iter(map_fn(one, range_(count), fn_output_signature=specs) if specs else [])
        shared = call(_zero_slice) if SHARED in forms else results
        return [
            value if form == SHARED else next(stacked) if form == STACKED else ops.Sum(next(stacked), 0)
            for value, form in zip(shared, forms, strict=True)
        ]

    def lowered(self, operation: Operation) -> list[Operation]:
        """Returns the operation that replaces one of this op in a `GraphDef`."""
        op, args = self._as_loop(operation)
        replacement = Operation(operation.graph, op, operation.name, args)
        replacement.outputs, replacement.device = operation.outputs, operation.device
        replacement._control_inputs = operation._control_inputs
        return [replacement]


def _zero_slice(batch: Any) -> Any:
    """Returns zeros in the shape of a batch's slices."""
    return ops.ZerosLike(ops.Sum(batch, 0))


def _with_own_outputs(body: Body) -> Body:
    """Returns the same function with an identity around each output.

    So no other backward function captures the outputs, of which a call has the sums and not the slices' values.
    """
    graph = copy_of(body.graph)
    with graph.as_default():
        graph.outputs = [identity(t) for t in graph.outputs]
    return Body(graph)
