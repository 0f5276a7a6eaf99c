"""Sums of loop gradients, computed for all iterations at once.

The gradient of a loop-invariant input is a sum over iterations. If the op of the addend can sum over a batch
(`@f.summed`), the loop only records the op's operands, and one op after the loop computes the sum. The gradient of a
recurrent layer's weights thus is one matrix product, not one per iteration. A linear op, such as the concatenation of
gates' gradients, applies to the sums of its inputs. Small addends, such as the gradient of a bias, are computed for all
iterations by batching rules and then summed, with any op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.batch_rules import arguments, of_registered, varying
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import bytes_of, needed_operations
from tapeflow.graph.transform.body import Body


class LoopSums:
    """Sums a backward function's outputs over all iterations at once.

    Args:
        backward: the backward function of the loop's body.
        recurrent: the indices of its outputs that are loop-carried.
        addends: the indices of its outputs that are summed over iterations.
        invariant: the places of the backward function's loop-invariant captures.

    Attributes:
        numbers: the indices of the outputs that are summed here. The loop sums the others.
        per_iteration: the operands of the sums with one value per iteration, tensors of the backward function.
        shared: the places of the loop-invariant captures that the sums take.
    """

    def __init__(
        self, backward: Body, recurrent: Sequence[int], addends: Sequence[int], invariant: Sequence[int]
    ) -> None:
        places = {id(backward.graph.internal_captures[i]): i for i in invariant}
        self._invariant = places.keys()
        in_loop = {
            id(o) for o in needed_operations([backward.outputs[n] for n in recurrent], backward.graph.effects(), set())
        }
        self.numbers: list[int] = []
        inputs: dict[int, Slices] = {}
        graph = FuncGraph(f"sums_{backward.name}")
        graph.around = None
        with graph.as_default():
            count = graph.input(TensorSpec([], int32), "count")
            for number in addends if backward.optimized else ():
                addend = backward.outputs[number]
                sources = self._sources(addend.op, in_loop)
                if sources is None:
                    continue
                for t in sources:
                    if id(t) not in inputs:
                        inputs[id(t)] = self._input(graph, t)
                try:
                    graph.outputs.append(_sum_iterations(addend, Batch(count), dict(inputs)))
                except NoRule:
                    continue
                self.numbers.append(number)
        graph.structured_outputs = graph.outputs
        used = {id(o) for o in needed_operations(graph.outputs, (), set())}
        inputs = {i: x for i, x in inputs.items() if id(x.value.op) in used}
        self.per_iteration = [x.slice for x in inputs.values() if x.stacked]
        self.shared = [places[i] for i, x in inputs.items() if not x.stacked]
        graph.inputs = [count, *(x.value for x in sorted(inputs.values(), key=lambda x: not x.stacked))]
        self._function = Body(graph).compiled

    def _input(self, graph: FuncGraph, tensor: SymbolicTensor) -> Slices:
        """Returns a new input for a tensor: its stacked values in all iterations, or its loop-invariant value."""
        if id(tensor) in self._invariant:
            return Slices(graph.input_like(tensor), tensor, False)
        spec = TensorSpec(TensorShape([None]).concatenate(tensor.shape), tensor.dtype)
        return Slices(graph.input(spec, "stacked"), tensor, True)

    def _sources(self, operation: Operation, in_loop: set[int]) -> list[SymbolicTensor] | None:
        """Returns the operands for computing an operation after the loop; None if the loop must compute it."""
        if id(operation) in in_loop or isinstance(operation.op, GraphOp):
            return None
        sources: dict[int, SymbolicTensor] = {}
        reached: dict[int, Operation] = {}
        stack = [operation]
        while stack:
            for t in stack.pop().inputs:
                if id(t.op) in in_loop or t.op.type == "Placeholder":
                    sources[id(t)] = t
                elif id(t.op) not in reached:
                    reached[id(t.op)] = t.op
                    stack.append(t.op)
        own = [t for t in sources.values() if id(t) not in self._invariant]
        small = bytes_of(operation.outputs[0]) <= sum(map(bytes_of, own))
        if not _is_sum(operation) and not (small and _has_rule(operation, True)):
            return None
        varying_ids = varying(sorted(reached.values(), key=lambda o: o.index), own)
        possible = all(_has_rule(o, id(o) in varying_ids) for o in reached.values())
        return list(sources.values()) if own and possible and all(t.dtype.torch is not None for t in own) else None

    def __call__(self, columns: Sequence[Any], shared: Sequence[Any]) -> list[Any]:
        """Returns the raw sums for `numbers`.

        Args:
            columns: for each tensor in `per_iteration`, a sequence of its values, or one stacked tensor.
            shared: the values of `shared`.
        """
        stacks = [column if isinstance(column, torch.Tensor) else torch.stack(column) for column in columns]
        return list(self._function(torch.tensor(len(stacks[0]), dtype=torch.int32), *stacks, *shared))


def _has_rule(operation: Operation, varies: bool) -> bool:
    """Returns True if an operation can be computed for all iterations at once; `varies` if its inputs vary."""
    op = operation.op
    if isinstance(op, GraphOp):
        return op.name == "Const"
    return not op.opdef.stateful and (not varies or op.reads_shape or rule_of(op) is not None)


def _is_sum(operation: Operation) -> bool:
    """Returns True if an op can sum the operation's results over a batch, possibly after linear ops."""
    return operation.op.summed is not None or (_is_linear(operation) and all(_is_sum(t.op) for t in operation.inputs))


def _is_linear(operation: Operation) -> bool:
    op = operation.op
    return op.linear and not any(isinstance(arg, SymbolicTensor) for arg in op.statics(operation.args))


def _sum_iterations(addend: SymbolicTensor, batch: Batch, values: dict[int, Slices]) -> Any:
    """Returns the sum of a tensor over all iterations.

    Args:
        addend: the tensor.
        batch: the batch of iterations.
        values: the values of its operands, by the tensors' ids. Intermediate results are added.

    Raises:
        NoRule: a batching rule does not apply.
    """
    operation = addend.op
    if id(addend) not in values and _is_linear(operation):
        return operation.op.run(tuple(operation.op.map(lambda t: _sum_iterations(t, batch, values), operation.args)))
    for producer in needed_operations([addend] if operation.op.summed is None else operation.inputs, (), set(values)):
        values.update(zip(map(id, producer.outputs), of_registered(producer, batch, values), strict=True))
    if operation.op.summed is not None:
        return operation.op.summed(batch.of_op(operation.op, operation.outputs), *arguments(operation, values))
    addends = values[id(addend)]
    if not addends.stacked or addend.dtype.torch is None:  # there is no sum of lists over a batch
        raise NoRule
    return ops.Sum(addends.value, 0, False)
