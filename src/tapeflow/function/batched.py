"""A function of one slice, written anew for the whole batch.

What does not depend on slices is computed once. An op that has a rule (`graph/batch_rules.py`) becomes ops on batches;
one that has none is called on all slices as a function of its own (`function/vectorized.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.convert import convert
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.function.body import Body
from tapeflow.function.vectorized import call_on_slices
from tapeflow.graph.batch_rules import Batch, NoRule, Slices, rule_of, run
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import READ
from tapeflow.graph.operation import NodeOp, Operation
from tapeflow.graph.program import CALLS, needed
from tapeflow.graph.vectorized import STACKED, Manner, draws, varying
from tapeflow.math.gradients import sum_like


def can_be_written(body: Body, batched: Sequence[bool]) -> bool:
    """Whether a function has nothing but registered ops, and calls of such functions, on tensors of numbers."""
    operations = body.graph._operations
    slices = [t for t, b in zip(body.inputs, batched, strict=True) if b]
    found = varying(operations, slices)
    return all(
        _is_plain(o) and (id(o) not in found or all(t.dtype.torch is not None for t in o.outputs)) for o in operations
    )


def _is_plain(operation: Operation) -> bool:
    op = operation.op
    if not isinstance(op, NodeOp) or op is READ or op.name in ("Const", "Placeholder", "NoOp", "SumToShape"):
        return True
    return op.name in CALLS and all(_is_plain(o) for o in op.bodies["f"].graph._operations)


def on_batch(body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], manner: Manner) -> list[Any]:
    """What a body gives for all slices, stacked, as `call_on_slices` gives it."""
    writer = _Writer(count, manner)
    given = [Slices(v, t, b) for v, t, b in zip(values, body.inputs, batched, strict=True)]
    return [writer.batch.stack(found) for found in writer.write(body, body.outputs, given)]


class _Writer:
    """Calls a function's ops for all slices, one after the other."""

    def __init__(self, count: Any, manner: Manner) -> None:
        self.batch = Batch(count)
        self._count, self._manner = count, manner

    def write(self, body: Body, outputs: Sequence[SymbolicTensor], given: Sequence[Slices]) -> list[Slices]:
        """What a function gives, of what it takes."""
        made = {id(t): Slices(x.value, t, x.stacked) for t, x in zip(body.inputs, given, strict=True)}
        for operation in needed(outputs, (), set(made)):
            for t, found in zip(operation.outputs, self._made(operation, made), strict=True):
                made[id(t)] = Slices(found.value, t, found.stacked)
        return [made[id(t)] for t in outputs]

    def _made(self, operation: Operation, made: dict[int, Slices]) -> list[Slices]:
        """What an operation gives."""
        op, outputs = operation.op, operation.outputs
        inputs = [made[id(t)] for t in operation.inputs]
        stacked = any(x.stacked for x in inputs)
        if op.name == "Const":
            return [Slices(op.attrs["value"], outputs[0], False)]
        if op is READ:
            return [Slices(convert(inputs[0].value), outputs[0], False)]
        if op.name in CALLS:
            return self.write(op.body, op.gives, inputs)
        if op.name == "SumToShape":
            return [Slices(self._summed(*inputs), outputs[0], stacked)]
        args: list[Any] = [
            made[id(a)] if isinstance(a, SymbolicTensor) else [made[id(t)] for t in a] if type(a) is list else a
            for a in operation.args
        ]
        if op.name in ("Shape", "Size", "Rank") and stacked:
            found: Any = _said_of_slices(self.batch, op, *args)
            stacked = False
        elif not stacked and not draws(op):
            found = op.run(tuple([_plain(a) for a in args]))
        else:
            stacked, rule = True, rule_of(op)
            try:
                if rule is None:
                    raise NoRule
                found = rule(self.batch, outputs, op, *args)
            except NoRule:
                found = self._alone(operation, inputs)
        results = list(found) if isinstance(found, (list, tuple)) else [found]
        return [Slices(r, t, stacked) for r, t in zip(results, outputs, strict=True)]

    def _alone(self, operation: Operation, inputs: Sequence[Slices]) -> list[Any]:
        """What an operation gives for all slices, as a function of its own."""
        graph = FuncGraph(operation.name.rpartition("/")[2])
        with graph.as_default():
            others = iter([graph.input(x.slice, "slice") for x in inputs])
            args: list[Any] = [
                next(others) if isinstance(a, SymbolicTensor) else [next(others) for _ in a] if type(a) is list else a
                for a in operation.args
            ]
            found = operation.op.run(tuple(args))
            graph.outputs = list(found) if isinstance(found, list) else [found]
        body, values, batched = Body(graph), [x.value for x in inputs], [x.stacked for x in inputs]
        count = convert(self._count)
        return call_on_slices(body, count, values, batched, [STACKED] * len(graph.outputs), self._manner)

    def _summed(self, dy: Slices, like: Slices) -> Any:
        """A gradient, summed over the dimensions along which slices of a shape were broadcast."""
        whole, dims = self.batch.stack(like), self.batch.dims(like)
        missing = dy.rank - len(dims)
        if missing:
            whole = self.batch.reshape(whole, [1] * missing + dims)
        made = sum_like(self.batch.stack(dy), whole)
        return self.batch.reshape(made, dims) if missing else made


def _plain(arg: Any) -> Any:
    if isinstance(arg, Slices):
        return arg.value
    return [x.value for x in arg] if type(arg) is list else arg


def _said_of_slices(batch: Batch, op: Any, x: Slices, *attrs: Any) -> Any:
    """What an op says of slices' shape, which is that of all of them."""
    if op.name == "Rank":
        return convert(x.rank)
    if op.name == "Shape":
        return op.run((x.value, *attrs))[1:]
    return run("Prod", run("Shape", x.value, *attrs)[1:], 0, False)
