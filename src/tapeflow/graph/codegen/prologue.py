"""Hoists the work that does not depend on loop-carried state out of a loop.

Loop-invariant tensors are computed once. If the loop counts its iterations, tensors that depend only on the counter and
on loop-invariant values are computed for all iterations at once, by the ops' batching rules. Examples are the entry of
a list at the counter, and its product with a weight. The input projection of a recurrent layer then is one matrix
product instead of one per iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.array.concat_and_split import pack_op
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.batch_rules import of_registered
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.loops import Loop, counter_of
from tapeflow.graph.program.program import bytes_of, needed_operations

_MOST = 4  # the limit of hoisted bytes per iteration, as a multiple of the bytes that the iteration reads or carries


class Prologue:
    """The hoisted part of a loop's body: it runs before the first iteration.

    Args:
        loop: the loop.

    Attributes:
        counter: the index of the loop variable that counts the iterations, or None.
        shared: the hoisted tensors of the body's graph that are loop-invariant.
        stacked: the hoisted tensors of the body's graph with one value per iteration.
        function: computes `shared`, and the stacked values of `stacked` for all iterations. It takes the trip count, a
            vector of the counter's values, and the body's loop-invariant values.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop, self._body = loop, loop.body
        self.counter = counter_of(loop)
        self.shared: list[SymbolicTensor] = []
        self.stacked: list[SymbolicTensor] = []
        if loop.body.stateful or loop.condition.stateful:  # hoisting would reorder effects and reads of variables
            return
        if not loop.body.optimized:
            return
        graph = FuncGraph(f"ahead_of_{loop.body.name}")
        graph.around = None
        self._counted: set[int] = set()  # the ids of tensors that depend on the counter, even if only by a shape
        with graph.as_default():
            count = graph.input(TensorSpec([], int32), "count")
            self._values = self._computed(graph, Batch(count))
        taken = self._taken(True)
        if not self._worth_stacking([t for t in taken if self._values[id(t)].stacked]):
            taken = self._taken(False)
            if not self._worth_sharing(taken):
                return
        self.shared = [t for t in taken if not self._values[id(t)].stacked]
        self.stacked = [t for t in taken if self._values[id(t)].stacked]
        outputs = [self._values[id(t)].value for t in (*self.shared, *self.stacked)]
        self.function = Compiled(graph.name, graph.inputs, outputs)

    @property
    def tensors(self) -> list[SymbolicTensor]:
        """The hoisted tensors of the body's graph."""
        return [*self.shared, *self.stacked]

    # ---- computing -----------------------------------------------------------------------------------------------

    def _computed(self, graph: FuncGraph, batch: Batch) -> dict[int, Slices]:
        """Adds all hoistable operations of the body to a graph. Returns their results by the ids of body tensors."""
        loop, inputs = self._loop, self._body.inputs
        values: dict[int, Slices] = {}
        dtype = int32 if self.counter is None else inputs[self.counter].dtype
        counters = graph.input(TensorSpec([None], dtype), "counters")
        if self.counter is not None:
            values[id(inputs[self.counter])] = Slices(counters, inputs[self.counter], True)
        values.update((id(t), Slices(graph.input_like(t), t, False)) for t in inputs[loop.count :])
        lists = {id(t) for t in inputs if t.dtype is variant}
        uniform = {id(inputs[loop.count + i]) for i, place in enumerate(loop.places[1]) if place in loop.uniform}
        for operation in needed_operations(self._targets, (), {id(t) for t in inputs}):
            if all(id(t) in values for t in operation.inputs):
                stacked = any(values[id(t)].stacked for t in operation.inputs)
                if not stacked or all(id(t) in uniform for t in operation.inputs if id(t) in lists):
                    results = _batch_operation(graph, operation, batch, values)
                    values.update(zip(map(id, operation.outputs), results, strict=False))
                    if stacked or any(id(t) in self._counted for t in operation.inputs):
                        self._counted.update(map(id, operation.outputs))
        return values

    @property
    def _targets(self) -> list[SymbolicTensor]:
        return [*self._body.outputs, *(self._loop.residuals or ())]

    # ---- choosing ------------------------------------------------------------------------------------------------

    def _taken(self, stacks: bool) -> list[SymbolicTensor]:
        """Returns the tensors that the rest of the body takes from the prologue.

        Args:
            stacks: True to include tensors with one value per iteration.
        """
        taken: dict[int, SymbolicTensor] = {}
        seen: set[int] = set()
        stack = self._targets
        while stack:
            t = stack.pop()
            x = self._values.get(id(t))
            if x is not None and (stacks or id(t) not in self._counted) and self._may_be_taken(x):
                taken[id(t)] = t
            elif id(t) not in seen:
                seen.add(id(t))
                stack += t.op.inputs
        return list(taken.values())

    def _may_be_taken(self, x: Slices) -> bool:
        t, op = x.slice, x.slice.op.op
        if op.name in ("Placeholder", "Const"):
            return False
        if t.op.inputs and all(_is_index(i) for i in t.op.inputs) and (_is_index(t) or op is pack_op.op):
            return False  # the loop computes indices as Python numbers, which is cheaper
        return not x.stacked or (t.dtype.torch is not None and bytes_of(t) <= _MOST * self._bytes_of_iteration(t))

    def _bytes_of_iteration(self, tensor: SymbolicTensor) -> int:
        """Returns the larger of the bytes that an iteration reads to compute a tensor and the loop-carried bytes."""
        reads = [t for o in self._stacked_operations([tensor]) if not self._works(o) for t in o.outputs]
        carried = self._body.inputs[: self._loop.count]
        return max(sum(map(bytes_of, reads)), sum(map(bytes_of, carried)))

    def _stacked_operations(self, tensors: Sequence[SymbolicTensor]) -> list[Operation]:
        """Returns the operations behind some tensors whose results differ between iterations."""
        operations = needed_operations(tensors, (), {id(t) for t in self._body.inputs})
        return [o for o in operations if self._values[id(o.outputs[0])].stacked]

    def _works(self, operation: Operation) -> bool:
        """Returns True if an operation takes a stacked tensor that is not a scalar, so it is more than a read at the
        counter."""
        return any(self._values[id(t)].stacked and t.shape.rank for t in operation.op.tensors(operation.args))

    def _worth_stacking(self, tensors: Sequence[SymbolicTensor]) -> bool:
        """Returns True if computing tensors for all iterations at once saves more than unstacking them costs."""
        working = [o.op for o in self._stacked_operations(tensors) if self._works(o) and not o.op.view]
        return len(working) > 1 or any(not op.elementwise for op in working)

    def _worth_sharing(self, tensors: Sequence[SymbolicTensor]) -> bool:
        operations = needed_operations(tensors, (), {id(t) for t in self._body.inputs})
        return any(not isinstance(o.op, GraphOp) and not o.op.view for o in operations)


def _is_index(tensor: SymbolicTensor) -> bool:
    return tensor.dtype.is_integer and tensor.shape.rank == 0


def _batch_operation(graph: FuncGraph, operation: Operation, batch: Batch, values: dict[int, Slices]) -> list[Slices]:
    """Adds an operation for all iterations at once and returns its outputs; none if it must stay in the loop."""
    op, outputs = operation.op, operation.outputs
    if op is READ:
        (handle,) = operation.inputs
        return [Slices(graph.node(READ, [values[id(handle)].value], [(t.dtype, t.shape)]).outputs[0], t, False)
                for t in outputs]  # fmt: skip
    if op.name != "Const" and (isinstance(op, GraphOp) or op.opdef.stateful):
        return []
    try:
        results = of_registered(operation, batch, values)
        return [x._replace(value=graph.capture(x.value)) for x in results]  # a value may be a number, such as a rank
    except NoRule:
        return []
