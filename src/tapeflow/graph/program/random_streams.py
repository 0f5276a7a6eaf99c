"""Steps that draw seeded random numbers, from a stream of their operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.rng.seeds import of_operation
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import Step


def draws_from_stream(operation: Any) -> bool:
    """Returns True if an operation draws numbers that go on from call to call, if it has seeds."""
    op = operation.op
    return not isinstance(op, GraphOp) and op.opdef.stateful and "seed" in op.params


def has_stream(call: Operation | Step) -> bool:
    """Returns True if an operation or step draws seeded random numbers, from a stream of the operation."""
    op = call.op
    return op.opdef.stateful and any(
        kind == "attr" and param in ("seed", "seed2") and arg
        for param, kind, arg in zip(op.params, op.kinds, call.args, strict=True)
    )


def with_stream(call: Operation | Step, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the kernel of a registered operation or step, bound to the operation's stream if it has one."""
    if not has_stream(call):
        return kernel
    operation = call if isinstance(call, Operation) else call.operation
    return of_operation(operation._original_op or operation, kernel)  # all sizes of a function draw from one stream
