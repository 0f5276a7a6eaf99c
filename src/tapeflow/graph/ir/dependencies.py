"""The operations that other operations depend on."""

from __future__ import annotations

from collections.abc import Container, Iterable

from tapeflow.graph.ir.operation import Operation


def reachable(targets: Iterable[Operation], known: Container[int] = (), controls: bool = True) -> list[Operation]:
    """Returns operations and all that they depend on, in program order.

    Args:
        targets: the operations.
        known: the ids of tensors and operations that need not be computed. They depend on nothing.
        controls: True to follow control dependencies.
    """
    reached: dict[int, Operation] = {}
    stack = list(targets)
    while stack:
        operation = stack.pop()
        outputs = operation.outputs
        if id(operation) in reached or id(operation) in known or (outputs and all(id(t) in known for t in outputs)):
            continue
        reached[id(operation)] = operation
        stack += [t.op for t in operation.inputs if id(t) not in known]
        if controls:
            stack += operation._control_inputs
    return sorted(reached.values(), key=lambda o: o.index)
