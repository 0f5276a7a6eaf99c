"""Ops for which TensorFlow has no kernel, or none for some of their arguments.

In a `GraphDef`, a call of a function stands for such an operation, which computes the same by ops that TensorFlow has
kernels for. When the graph runs here, the op's own kernel does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.graph.codegen.program import substituted
from tapeflow.graph.ir.operation import Operation

_COMPOSED: dict[str, tuple[Callable[..., bool], Callable[..., Any]]] = {}


def composed(op_function: Any, when: Callable[..., bool] = lambda *args: True) -> Callable[..., Any]:
    """Declares by what an op is exported: a decorator of a function of its arguments that gives what it gives.

    Args:
        op_function: the op's function.
        when: says of the arguments whether TensorFlow has no kernel for them.
    """

    def declare(compute: Callable[..., Any]) -> Callable[..., Any]:
        _COMPOSED[op_function.op.name] = when, compute
        return compute

    return declare


def is_composed(operation: Operation) -> bool:
    """Whether a call of a function stands for an operation in a `GraphDef`."""
    when, _ = _COMPOSED.get(operation.type, (None, None))
    return when is not None and when(*operation.args)


def as_call(operation: Operation) -> Operation:
    """The call that stands for an operation."""
    from tapeflow.graph.control.body import Call
    from tapeflow.graph.gradients.derived import by_id, function

    _, compute = _COMPOSED[operation.type]
    taken = operation.inputs

    def calls(*values: Any) -> list[Any]:
        given = compute(*substituted(operation.args, by_id(taken, values)))
        return list(given) if isinstance(given, (list, tuple)) else [given]

    body = function(operation.name, taken, calls)
    made = Operation(operation.graph, Call(body, body.outputs), operation.name, taken)
    made.outputs, made.device = operation.outputs, operation.device
    made._control_inputs = operation._control_inputs
    return made
