"""The body of a function: a traced graph, the compiled functions made of it, and its gradient.

A body is called with all that its graph takes, arguments and captures alike: at once in eager mode, or as one operation
while another graph is built. Under a tape it runs as a function that also gives the intermediates that its backward
function takes, so that nothing is computed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.core.autodiff.tape import Tape, backpropagate, dense, record, summed
from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.backends.cuda_graphs import CudaGraphs
from tapeflow.graph.backends.inductor import JitCompile
from tapeflow.graph.codegen.compile import Compiled, eager_outputs
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, variable_of


class Body:
    """A traced function.

    Args:
        graph: what was traced.
        jit: of a `tf.function` with `jit_compile=True`.
        capturing: of a `tf.function` whose traces may become CUDA graphs.

    Attributes:
        graph: what was traced.
        capturing: of a `tf.function` whose traces may become CUDA graphs.
        inputs: all that the graph takes: its arguments, then its captures.
        outputs: the tensors that it gives.
    """

    def __init__(self, graph: FuncGraph, jit: JitCompile | None = None, capturing: CudaGraphs | None = None) -> None:
        self.graph = graph
        self.jit = jit
        self.capturing = capturing
        self.name = graph.name
        self.inputs = list(graph.inputs) + graph.internal_captures
        self.outputs = list(graph.outputs)
        self._made: dict[tuple[int, ...], Compiled] = {}
        self._kept: dict[int, list[SymbolicTensor]] = {}
        self._backwards: dict[Any, Body] = {}

    @functools.cached_property
    def compiled(self) -> Compiled:
        """The function that runs it."""
        return self.giving(self.outputs)

    def giving(self, outputs: Sequence[SymbolicTensor]) -> Compiled:
        """The function that runs it and gives these tensors of its graph."""
        key = tuple([id(t) for t in outputs])
        made = self._made.get(key)
        if made is None:
            name = self.name if len(outputs) == len(self.outputs) else f"forward_{self.name}"
            taken = name, self.inputs, outputs, self.graph.effects()
            if self.jit is not None:
                made = self.jit.compiled(*taken)
            elif self.capturing is not None and outputs is self.outputs:
                made = self.capturing.compiled(*taken, given=len(self.graph.inputs))
            else:
                made = Compiled(*taken)
            self._made[key] = made
        return made

    @property
    def stateful(self) -> bool:
        """Whether running it does more than to compute its outputs."""
        return bool(self.graph.effects())

    @functools.cached_property
    def named_stateful(self) -> bool:
        """Whether TensorFlow's name of a call of it says that it is stateful: reads of variables are enough."""
        return self.graph.is_stateful

    # ---- calling -------------------------------------------------------------------------------------------------

    def call(self, values: Sequence[Any]) -> list[Any]:
        """Calls the body with a tensor (or variable) for each input; gives a tensor for each output."""
        if state.graph is not None:
            values = [state.graph.capture(v) for v in values]
        outputs = self.outputs
        watched = bool(state.tapes) and is_watched(values)
        if watched:
            outputs = self.with_kept(order_of_tapes())
        if state.graph is not None:
            made = state.graph.node(Call(self, outputs), values, [(t.dtype, t.shape) for t in outputs]).outputs
        else:
            made = eager_outputs(self.giving(outputs)(*[raw(v) for v in values]), outputs)
            if watched:
                record(Call(self, outputs), list(values), [*made, *values], made)
        return made[: len(self.outputs)]

    # ---- gradients -----------------------------------------------------------------------------------------------

    def with_kept(self, depth: int) -> list[SymbolicTensor]:
        """The outputs, and what the backward functions take of its graph for gradients of order `depth + 1`."""
        known = self._kept.get(depth)
        if known is None:
            outputs = self.outputs if depth == 0 else self.with_kept(depth - 1)
            backward = self.backward(outputs, tuple(o.dtype.differentiable for o in outputs))
            seen = {id(t) for t in (*outputs, *self.inputs)}
            extra = {id(t): t for t in backward.graph.external_captures if isinstance(t, SymbolicTensor)}
            known = self._kept[depth] = [*outputs, *(t for i, t in extra.items() if i not in seen)]
        return known

    def backward(self, outputs: Sequence[SymbolicTensor], given: tuple[bool, ...]) -> Body:
        """The function from the gradients of outputs to those of the inputs, which captures intermediates of this one.

        Args:
            outputs: the outputs, and intermediates that have gradients too.
            given: for each, whether there is a gradient.
        """
        key = (tuple([id(t) for t in outputs]), given)
        known = self._backwards.get(key)
        if known is not None:
            return known
        graph = FuncGraph(f"backward_{self.name}")
        graph.outer_graph = self.graph
        with graph.as_default():
            tape = Tape(persistent=False, watch_accessed=False)
            sources = [t._id for t in self.inputs]
            tape.watched.update(sources)
            tape.roots.update(sources)
            for operation in self.graph._operations:
                if operation.outputs:
                    tape.record(operation.op, operation.tensor_inputs, operation.statics, operation.outputs)
            grads: dict[int, Any] = {}
            for t, has in zip(outputs, given, strict=True):
                if has:
                    dy = graph.input(t, "gradient")
                    grads[t._id] = dy if t._id not in grads else summed(grads[t._id], dy)
            found = backpropagate(tape.calls, grads, sources, tape.roots, keep=False)
            graph.structured_outputs = [None if g is None else graph.capture(dense(g)) for g in found]
            graph.outputs = [g for g in graph.structured_outputs if g is not None]
        made = self._backwards[key] = Body(graph, self.jit)
        return made


class Call(GraphOp):
    """A call of a body: an operation of a graph, and what a tape records of a call.

    Attributes:
        gives: the tensors of the body's graph that it gives: the body's outputs, then what backward functions take.
        steering: how many inputs it takes before those of the body.
    """

    keep_all_inputs = False  # a tape has all of them among the attrs
    steering = 0

    def __init__(self, body: Body, gives: Sequence[SymbolicTensor]) -> None:
        stateful, first = body.stateful, self.steering
        super().__init__(
            "StatefulPartitionedCall" if body.named_stateful else "PartitionedCall",
            self._run, stateful=stateful, gradient=self._gradient,
            bodies={"f": body}, places={"f": range(first, first + len(body.inputs))}, gives_tuple=True,
        )  # fmt: skip
        self.body = body
        self.gives = list(gives)

    def _run(self, *values: Any) -> Any:
        return self.body.giving(self.gives)(*values)

    def also_gives(self, operation: Any, tensor: SymbolicTensor) -> SymbolicTensor:
        """Has an operation of this op give another tensor of the body's graph."""
        made = SymbolicTensor(operation, len(operation.outputs), tensor.dtype, tensor.shape)
        operation.outputs.append(made)
        self.gives.append(tensor)
        return made

    def call_backward(self, backward: Body, given: Sequence[bool], values: Sequence[Any]) -> list[Any]:
        """Calls a backward function of the body.

        Args:
            given: which of `gives` have gradients.
            values: these, then what the function captures.
        """
        return backward.call(values)

    def _gradient(self, call: Any, *dys: Any) -> list[Any]:
        body, gives = self.body, self.gives[: len(dys)]
        # of a graph; a call in eager mode has its values as attrs
        operation = None if call.attrs else call.outputs[0].op
        values = call.attrs
        if operation is not None:
            values = [*operation.outputs[: len(self.gives)], *operation.args[self.steering :]]
        made = dict(zip([id(t) for t in (*self.gives, *body.inputs)], values, strict=True))
        given = tuple([dy is not None for dy in dys])
        backward = body.backward(gives, given)
        if _missing(backward, made):
            # The intermediates were kept for the gradients of all outputs.
            given = tuple([o.dtype.differentiable for o in gives])
            backward = body.backward(gives, given)
            dys = tuple(
                [
                    ops.ZerosLike(made[id(o)]) if dy is None and has else dy
                    for o, dy, has in zip(gives, dys, given, strict=True)
                ]
            )
        for t in _missing(backward, made):
            if operation is None:
                raise RuntimeError(
                    f"The gradient of {body.name} of this order needs {t}, which the call did not keep: make the tape "
                    "around it persistent."
                )
            made[id(t)] = self.also_gives(operation, t)
        taken = [made[id(t)] if isinstance(t, SymbolicTensor) else t for t in backward.graph.external_captures]
        seeds = [dy for dy, has in zip(dys, given, strict=True) if has]
        found = iter(self.call_backward(backward, given, [*seeds, *taken]))
        grads = [None if g is None else next(found) for g in backward.graph.structured_outputs]
        return [None] * self.steering + grads


def _missing(backward: Body, made: dict[int, Any]) -> list[SymbolicTensor]:
    """What a backward function takes of the forward one's graph that a call did not give."""
    return [t for t in backward.graph.external_captures if isinstance(t, SymbolicTensor) and id(t) not in made]


def order_of_tapes() -> int:
    """The order of the gradients that this thread's tapes may be asked for, less one."""
    return len(state.tapes) - 1 + any(getattr(t, "persistent", True) for t in state.tapes)


def is_watched(values: Sequence[Any]) -> bool:
    """Whether a tape may want the gradients of a call on these values. Tells tapes of the variables among them."""
    for value in values:
        variable = value if hasattr(value, "_read") else variable_of(value)
        if variable is not None:
            for tape in state.tapes:
                tape.variable_read(variable, variable._id)
    ids = [v._id for v in values]
    return any(type(tape) is not Tape or not tape.watched.isdisjoint(ids) for tape in state.tapes)


def raw(value: Any) -> Any:
    """What a compiled function takes for a tensor or variable."""
    return value.value if type(value) is EagerTensor else value
