"""The body of a function: a traced graph, the functions compiled from it, and its gradient.

A body is called with all inputs of its graph, both arguments and captures. In eager mode it runs immediately. While
another graph is built, the call becomes one operation. The graph of a body is final. Under a tape, the forward function
runs instead: a copy that also returns the residuals of the backward function, which then recomputes
only large sums and products of small tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import zeros_like_op
from tapeflow.core.autodiff.tape import EVERYTHING, Tape, describe, record
from tapeflow.core.autodiff.tape import Call as TapeCall
from tapeflow.core.context import state
from tapeflow.core.fork_locks import cached_property, new_rlock
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import note_reads
from tapeflow.graph.ir.operation import GraphOp, Operation, has_gradient, variable_of
from tapeflow.graph.ir.python_op import eager_outputs
from tapeflow.graph.transform.differentiate import backward_graph, forward_graph

if TYPE_CHECKING:
    from tapeflow.graph.codegen.compile import Compiled


class Body:
    """A traced function.

    Args:
        graph: the traced graph.

    Attributes:
        graph: the traced graph.
        name: the graph's name.
        inputs: the graph's arguments, then its captures.
        captures: the captured values of the surrounding scope.
        outputs: the graph's outputs.
    """

    def __init__(self, graph: FuncGraph) -> None:
        self.graph = graph
        self.name = graph.name
        graph.finalize()
        self.inputs = list(graph.inputs) + graph.internal_captures
        self.captures = graph.external_captures
        self.outputs = list(graph.outputs)
        self._compiled: dict[tuple[int, ...], Compiled] = {}
        self._with_residuals: dict[int, list[SymbolicTensor]] = {}
        self._forwards: dict[int, Call] = {}
        self._transformed: dict[Any, Body] = {}
        self._transforming = new_rlock()

    @cached_property
    def compiled(self) -> Compiled:
        """The compiled function from the inputs to the outputs."""
        return self.returning(self.outputs)

    def returning(self, outputs: Sequence[SymbolicTensor]) -> Compiled:
        """Returns the compiled function from the inputs to these tensors of the graph."""
        key = tuple([id(t) for t in outputs])
        function = self._compiled.get(key)
        if function is None:
            name = self.name if len(outputs) == len(self.outputs) else f"forward_{self.name}"
            function = self.function(name, self.inputs, outputs, self.graph.effects())
            function.locks = tuple(self.graph.locks)
            function.adapt()
            self._compiled[key] = function
        return function

    def function(self, *arguments: Any, **options: Any) -> Compiled:
        """Returns a compiled function of the graph; arguments as in `Compiled`."""
        from tapeflow.graph.codegen.compile import Compiled

        compiler = self.graph.compiler
        return (Compiled if compiler is None else compiler.compiled)(*arguments, **options)

    @property
    def jit(self) -> Any:
        """The compiler of a `tf.function` with `jit_compile=True`, or None."""
        return self.graph.compiler

    @property
    def optimized(self) -> bool:
        """False if each of its operations runs as it stands, because the results are checked."""
        return getattr(self.graph.compiler, "optimizes", True)

    @cached_property
    def stateful(self) -> bool:
        """True if running it has side effects."""
        return bool(self.graph.effects())

    @cached_property
    def named_stateful(self) -> bool:
        """True if TensorFlow calls it by a stateful op. Unlike for `stateful`, reads of variables count."""
        return self.graph.is_stateful

    # ---- calling -------------------------------------------------------------------------------------------------

    def call(self, values: Sequence[Any]) -> list[Any]:
        """Calls the body with a tensor (or variable) for each input; returns a tensor for each output."""
        if state.graph is not None:
            values = [state.graph.capture(v) for v in values]
        if not state.tapes or not is_watched(values):
            if state.graph is None:
                results = eager_outputs(self.compiled(*[raw(v) for v in values]), self.outputs)
                if state.tapes:
                    report_call(self, values, results)
                return results
            return list(Call(self, self.outputs).add(values))
        op = self.differentiable.forward(order_of_tapes())
        if state.graph is not None:
            results = op.add(values)
        else:
            results = eager_outputs(op.compiled(*[raw(v) for v in values]), op.results)
            record(op, list(values), [*results, *values], results)
        return results[: len(self.outputs)]

    # ---- transforms ----------------------------------------------------------------------------------------------

    def transformed(self, transform: Callable[..., FuncGraph], *args: Sequence[Any]) -> Body:
        """Returns the body of a transformed graph, memoized by the arguments.

        Args:
            transform: takes the graph and the arguments, and returns another graph.
            args: sequences of tensors of the graph, or of bools.
        """
        key = transform, *[tuple(map(id, arg)) for arg in args]
        if key not in self._transformed:
            with self._transforming:
                if key not in self._transformed:
                    self._transformed[key] = Body(transform(self.graph, *args))
        return self._transformed[key]

    @cached_property
    def differentiable(self) -> Body:
        """The body with backward functions. The operations of its graph, a copy, return residuals."""
        return self if self.graph.is_differentiable else self.transformed(forward_graph)

    def forward(self, depth: int) -> Call:
        """Returns the call for use under tapes. It returns `outputs_with_residuals`."""
        op = self._forwards.get(depth)
        if op is None:
            op = self._forwards[depth] = Call(self, self.outputs_with_residuals(depth))
        return op

    def outputs_with_residuals(self, depth: int) -> list[SymbolicTensor]:
        """Returns the outputs, then the residuals of the backward functions for gradients of order `depth + 1`."""
        tensors = self._with_residuals.get(depth)
        if tensors is None:
            outputs = self.outputs if depth == 0 else self.outputs_with_residuals(depth - 1)
            backward = self.backward(outputs, tuple(o.dtype.differentiable for o in outputs))
            available = {id(t) for t in outputs}
            tensors = [*outputs, *(t for t in backward.inner_residuals if id(t) not in available)]
            self._with_residuals[depth] = tensors
        return tensors

    def backward_from(self, targets: Sequence[int]) -> Body:
        """Returns the backward function for cotangents of these outputs of the `differentiable` body."""
        body = self.differentiable
        return body.backward(body.outputs, tuple([i in targets for i in range(len(body.outputs))]))

    def backward(self, outputs: Sequence[SymbolicTensor], differentiated: Sequence[bool]) -> Body:
        """Returns the backward function of this `differentiable` body, see `backward_graph`."""
        return self.transformed(backward_graph, outputs, differentiated)

    # ---- of a backward function ----------------------------------------------------------------------------------

    @cached_property
    def residuals(self) -> list[SymbolicTensor]:
        """The tensors of the forward graph that a backward function captures."""
        forward = self.graph.around
        return [t for t in self.captures if isinstance(t, SymbolicTensor) and t.graph is forward]

    @cached_property
    def inner_residuals(self) -> list[SymbolicTensor]:
        """The residuals of a backward function that are not inputs of the forward function."""
        return [t for t in self.residuals if t.op.type != "Placeholder"]

    @cached_property
    def outside(self) -> list[Any]:
        """The captures of a backward function from outside the forward graph: eager tensors, and variables and tensors
        of outer graphs. Only custom gradients have them."""
        forward = self.graph.around
        return [t for t in self.captures if not isinstance(t, SymbolicTensor) or t.graph is not forward]


class Call(GraphOp):
    """A call of a body: the op of an operation in a graph, and of the record of a tape.

    Attributes:
        body: the body.
        results: the tensors of the body's graph that the call returns: the body's outputs, then residuals.
    """

    control = "call"
    keep_all_inputs = False  # the attrs of a tape's record have their values

    def __init__(self, body: Body, results: Sequence[SymbolicTensor]) -> None:
        super().__init__(
            "StatefulPartitionedCall" if body.named_stateful else "PartitionedCall",
            self._run, stateful=body.stateful, gradient=self._gradient,
            bodies={"f": body}, places={"f": range(len(body.inputs))}, gives_tuple=True,
        )  # fmt: skip
        self.body = body
        self.results = list(results)

    @cached_property
    def compiled(self) -> Compiled:
        """The compiled function of the call, in eager mode."""
        return self.body.returning(self.results)

    @property
    def programs(self) -> list[Any]:
        return [self.compiled.program]

    def add(self, values: Sequence[Any]) -> list[SymbolicTensor]:
        """Adds an operation of this op to the graph that is being built; returns its outputs."""
        return state.graph.node(self, values, [(t.dtype, t.shape) for t in self.results]).outputs

    def _run(self, *values: Any) -> Any:
        return self.body.returning(self.results)(*values)

    def _gradient(self, call: Any, *dys: Any) -> list[Any]:
        operation = None if call.attrs else call.outputs[0].op  # a call in eager mode has its values as attrs
        values = call.attrs
        if operation is not None:
            if operation.op is not self:  # it has returned more since the tape recorded it
                return operation.op._gradient(call, *dys)
            if not self.body.graph.is_differentiable:
                body = self.body.differentiable
                operation.op = Call(body, [body.graph.copies[id(t)] for t in self.results])
                return operation.op._gradient(call, *dys)
            values = [*operation.outputs[: len(self.results)], *operation.args]
        body, results = self.body, self.results[: len(dys)]
        forward_values = dict(zip([id(t) for t in (*self.results, *body.inputs)], values, strict=True))
        differentiated = tuple([dy is not None for dy in dys])
        backward = body.backward(results, differentiated)
        if _missing_residuals(backward, forward_values):
            # The call returned the residuals of the backward function for cotangents of all outputs.
            differentiated = tuple([o.dtype.differentiable for o in results])
            backward = body.backward(results, differentiated)
            dys = tuple(
                [
                    zeros_like_op(forward_values[id(o)]) if dy is None and has_cotangent else dy
                    for o, dy, has_cotangent in zip(results, dys, differentiated, strict=True)
                ]
            )
        for t in _missing_residuals(backward, forward_values):
            if operation is None:
                raise RuntimeError(
                    f"The gradient of {body.name} of this order needs {t}, which the call did not keep: make the tape "
                    "around it persistent."
                )
            op = Call(body, [*operation.op.results, t])
            forward_values[id(t)] = operation.also_return(op, t.dtype, t.shape)
        for t in backward.outside:
            forward_values[id(t)] = t if operation is None else state.graph.capture(t)
        captured = [forward_values[id(t)] for t in backward.captures]
        cotangents = [dy for dy, has_cotangent in zip(dys, differentiated, strict=True) if has_cotangent]
        gradients = iter(backward.call([*cotangents, *captured]))
        return [None if g is None else next(gradients) for g in backward.graph.structured_outputs]


def _missing_residuals(backward: Body, forward_values: dict[int, Any]) -> list[SymbolicTensor]:
    """Returns the residuals of a backward function without a value in `forward_values` (by the tensors' ids)."""
    return [t for t in backward.residuals if id(t) not in forward_values]


def order_of_tapes() -> int:
    """Returns the highest order of gradients that this thread's tapes may compute, less one."""
    tapes = [t for t in state.tapes if t.seen is not EVERYTHING]
    return len(tapes) - 1 + any(getattr(t, "persistent", True) for t in tapes)


def is_watched(values: Sequence[Any]) -> bool:
    """Returns True if a tape watches an input of a call. Reports the variables among the inputs as read."""
    note_reads(values)
    ids = [v._id for v in values]
    return any(
        not tape.watched.isdisjoint(ids) if type(tape) is Tape else tape.seen is not EVERYTHING for tape in state.tapes
    )


def report_call(body: Body, values: Sequence[Any], results: Sequence[Any]) -> None:
    """Reports an eager call of a body, which no tape watches, to the listeners that are no tapes."""
    for tape in state.tapes:
        if tape.seen is EVERYTHING:
            tape.record(Call(body, body.outputs), values, (), results)


def raw(value: Any) -> Any:
    """Returns the argument of a compiled function for a tensor or variable: an eager tensor's raw value."""
    return value.value if type(value) is EagerTensor else value


# ---- functions composed of other functions ---------------------------------------------------------------------------


def traced_body(name: str, specs: Sequence[Any], compute: Callable[..., list[Any]]) -> Body:
    """Returns the body of a function with parameters of these dtypes and shapes.

    Args:
        name: the function's name.
        specs: tensors or specs, one for each parameter. The parameter for a variable's handle is a handle of the same
            variable.
        compute: the function to trace; returns the outputs from the inputs.
    """
    graph = FuncGraph(name)
    with graph.as_default():
        inputs = [graph.input_like(t) for t in specs]
        state.name_scope = _SCOPE
        graph.outputs = [graph.capture(t) for t in compute(*inputs)]
        graph.structured_outputs = graph.outputs
    return Body(graph)


_SCOPE = "inner"  # TensorFlow inlines calls under their own names: nodes in the function need different names


def call(body: Body, outputs: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> list[Any]:
    """Calls a body in the current graph, and returns the values of these tensors of the body's graph."""
    return list(Call(body, outputs).add(inputs))


def by_id(tensors: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
    """Returns values by the ids of their tensors."""
    return dict(zip(map(id, tensors), values, strict=True))


def gradients_of_inputs(operation: Operation, dys: Sequence[Any]) -> list[Any]:
    """Returns the gradients of an operation's inputs for cotangents of its outputs."""
    call = TapeCall(operation.op, (), (), 0, [has_gradient(t) for t in operation.inputs])
    describe(call, operation.inputs, operation.outputs)
    return list(operation.op.gradient(call, *dys))


def zeros_of(tensor: Tensor) -> Any:
    """Returns zeros as the gradient of an input, which may be a variable's handle."""
    return zeros_like_op(state.graph.read_variable(variable_of(tensor)) if tensor.dtype is resource else tensor)


def call_operation(operation: Operation, body: Body, outputs: Sequence[SymbolicTensor]) -> Operation:
    """Returns a detached operation that calls a function with the inputs of the operation that it replaces."""
    call = Operation(operation.graph, Call(body, body.outputs), operation.name, operation.args)
    call.outputs, call.device, call._control_inputs = list(outputs), operation.device, operation._control_inputs
    return call
