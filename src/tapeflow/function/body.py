"""The body of a function: a traced graph, the compiled functions made of it, and its gradient.

A body is called with all that its graph takes, arguments and captures alike: at once in eager mode, or as one operation while
another graph is built. Under a tape it runs as a function that also gives the intermediates that its backward function
takes, so that nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tape import Tape, backpropagate, record, summed
from tapeflow.core.tensor import EagerTensor, Tensor
from tapeflow.graph.compile import Compiled, eager_outputs
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.inductor import JitCompile
from tapeflow.graph.operation import NodeOp
from tapeflow.graph.taped import taped_gradient


class Body:
    """A traced function.

    Args:
        graph: what was traced.
        jit: of a `tf.function` with `jit_compile=True`.

    Attributes:
        graph: what was traced.
        inputs: all that the graph takes: its arguments, then its captures.
        outputs: the tensors that it gives.
    """

    def __init__(self, graph: FuncGraph, jit: JitCompile | None = None) -> None:
        self.graph = graph
        self.jit = jit
        self.name = graph.name
        self.inputs = list(graph.inputs) + graph.internal_captures
        self.outputs = list(graph.outputs)
        self._compiled: Compiled | None = None
        self._forwards: dict[int, tuple[Compiled, list[SymbolicTensor]]] = {}
        self._backwards: dict[Any, Body] = {}

    @property
    def compiled(self) -> Compiled:
        """The function that runs it."""
        if self._compiled is None:
            self._compiled = self._made(self.name, self.outputs)
        return self._compiled

    def _made(self, name: str, outputs: Sequence[SymbolicTensor]) -> Compiled:
        make = Compiled if self.jit is None else self.jit.compiled
        return make(name, self.inputs, outputs, self.graph.effects())

    @property
    def stateful(self) -> bool:
        """Whether running it does more than to compute its outputs."""
        return bool(self.graph.effects())

    # ---- calling -------------------------------------------------------------------------------------------------

    def call(self, values: Sequence[Any]) -> list[Any]:
        """Calls the body with a tensor (or variable) for each input; gives a tensor for each output."""
        if state.graph is not None:
            return self._staged(values)
        if state.tapes:
            ids = [v._id for v in values]
            for tape in state.tapes:
                for v in values:
                    if hasattr(v, "_read") and v._id not in tape.variables:
                        tape.variable_read(v)
            if any(not tape.watched.isdisjoint(ids) if type(tape) is Tape else True for tape in state.tapes):
                return self._recorded(values)
        return eager_outputs(self.compiled(*[raw(v) for v in values]), self.outputs)

    def _staged(self, values: Sequence[Any]) -> list[SymbolicTensor]:
        name = "StatefulPartitionedCall" if self.stateful else "PartitionedCall"
        op = NodeOp(name, self.compiled, stateful=self.stateful, bodies={"f": self}, places={"f": range(len(values))}, gives_tuple=True)
        op.gradient, op.differentiable = taped_gradient(self.call), True
        return state.graph.node(op, values, [(t.dtype, t.shape) for t in self.outputs]).outputs

    def _recorded(self, values: Sequence[Any]) -> list[Any]:
        depth = len(state.tapes) - 1 + any(getattr(t, "persistent", True) for t in state.tapes)
        forward, outputs = self._forward(depth)
        made = eager_outputs(forward(*[raw(v) for v in values]), outputs)
        op = _Call(self, outputs, depth)
        record(op, list(values), [*made, *values], made)
        return made[: len(self.outputs)]

    # ---- gradients -----------------------------------------------------------------------------------------------

    def _forward(self, depth: int) -> tuple[Compiled, list[SymbolicTensor]]:
        """The function that also gives what the backward functions take, for gradients of order `depth + 1`."""
        known = self._forwards.get(depth)
        if known is None:
            outputs = self.outputs if depth == 0 else self._forward(depth - 1)[1]
            backward = self.backward(outputs, tuple(o.dtype.differentiable for o in outputs))
            extra = [t for t in backward.graph.external_captures if isinstance(t, SymbolicTensor)]
            seen = {id(t) for t in (*outputs, *self.inputs)}
            everything = [*outputs, *(t for t in _unique(extra) if id(t) not in seen)]
            forward = self._made(f"forward_{self.name}", everything)
            known = self._forwards[depth] = forward, everything
        return known

    def source_ids(self) -> list[int]:
        """The ids that tapes know the inputs by."""
        return [t._id for t in self.inputs]

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
            sources = self.source_ids()
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
            graph.structured_outputs = [_dense(graph, g) for g in found]
            graph.outputs = [g for g in graph.structured_outputs if g is not None]
        made = self._backwards[key] = Body(graph, self.jit)
        return made


class _Call:
    """A call of a body as a tape sees it."""

    accumulate = None
    differentiable = True
    keep_all_inputs = keep_outputs = keep_shapes = keep_dtypes = False
    keep_inputs: tuple[int, ...] = ()
    none_for_zero = True

    def __init__(self, body: Body, outputs: Sequence[SymbolicTensor], depth: int) -> None:
        self.body = body
        self.name = body.name
        self.outputs = outputs
        self.depth = depth

    def gradient(self, call: Any, *dys: Any) -> list[Any]:
        made = dict(zip([id(t) for t in (*self.outputs, *self.body.inputs)], call.attrs, strict=True))
        given = tuple([dy is not None for dy in dys])
        backward = self.body.backward(self.outputs, given)
        if not all(id(t) in made for t in backward.graph.external_captures):
            given = tuple([o.dtype.differentiable for o in self.outputs])
            backward = self.body.backward(self.outputs, given)
            dys = tuple([_zeros(made[id(o)]) if dy is None and has else dy
                         for o, dy, has in zip(self.outputs, dys, given, strict=True)])  # fmt: skip
        missing = [t for t in backward.graph.external_captures if id(t) not in made]
        if missing:
            raise RuntimeError(
                f"The gradient of {self.name} of this order needs {missing[0]}, which the call did not keep: make the tape "
                "around it persistent."
            )
        values = [dy for dy, has in zip(dys, given, strict=True) if has]
        values += [made[id(t)] for t in backward.graph.external_captures]
        found = iter(backward.call(values))
        return [None if g is None else next(found) for g in backward.graph.structured_outputs]


def raw(value: Any) -> Any:
    """What a compiled function takes for a tensor or variable."""
    return value.value if type(value) is EagerTensor else value


def _unique(tensors: Sequence[Any]) -> list[Any]:
    return list({id(t): t for t in tensors}.values())


def _zeros(like: EagerTensor) -> EagerTensor:
    from tapeflow.math.gradients import zeros_like_value

    return zeros_like_value(like)


def _dense(graph: FuncGraph, gradient: Any) -> Any:
    if gradient is None:
        return None
    return graph.capture(gradient if isinstance(gradient, Tensor) else gradient.__tf_tensor__())
