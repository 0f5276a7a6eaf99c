"""Ops for which TensorFlow has no kernel, or none for some of their arguments.

In a `GraphDef`, such an operation is replaced by the call of a function that computes the same by ops for which
TensorFlow has kernels. When the graph runs here, the op's own kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.graph.codegen.program import substituted
from tapeflow.graph.ir.operation import Operation

_COMPOSED: dict[str, tuple[Callable[..., bool], Callable[..., Any]]] = {}


def composed(op_function: Any, when: Callable[..., bool] = lambda *args: True) -> Callable[..., Any]:
    """Declares how an op is exported: a decorator of a function that computes the op's outputs from its arguments.

    Args:
        op_function: the op's function.
        when: returns True for arguments for which TensorFlow has no kernel.
    """

    def declare(compute: Callable[..., Any]) -> Callable[..., Any]:
        _COMPOSED[op_function.op.name] = when, compute
        return compute

    return declare


def is_composed(operation: Operation) -> bool:
    """Returns True if an operation is exported to a `GraphDef` as the call of a function."""
    when, _ = _COMPOSED.get(operation.type, (None, None))
    return when is not None and when(*operation.args)


def as_call(operation: Operation) -> Operation:
    """Returns the call that replaces an operation in a `GraphDef`."""
    from tapeflow.graph.control.body import Call
    from tapeflow.graph.gradients.derived import by_id, traced_body

    _, compute = _COMPOSED[operation.type]
    inputs = operation.inputs

    def outputs(*values: Any) -> list[Any]:
        result = compute(*substituted(operation.args, by_id(inputs, values)))
        return list(result) if isinstance(result, (list, tuple)) else [result]

    body = traced_body(operation.name, inputs, outputs)
    call = Operation(operation.graph, Call(body, body.outputs), operation.name, inputs)
    call.outputs, call.device = operation.outputs, operation.device
    call._control_inputs = operation._control_inputs
    return call
