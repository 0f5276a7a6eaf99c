"""The operations that other operations depend on."""

from __future__ import annotations

from collections.abc import Container, Iterable

from tapeflow.graph.ir.operation import Operation


def reachable(targets: Iterable[Operation], stops: Container[int] = (), controls: bool = True) -> list[Operation]:
    """Returns operations and all that they depend on, in program order.

    Args:
        targets: the operations.
        stops: the ids of tensors and operations that need not be computed. Nothing behind them is reached.
        controls: True to follow control dependencies.
    """
    reached: dict[int, Operation] = {}
    stack = list(targets)
    while stack:
        operation = stack.pop()
        outputs = operation.outputs
        if id(operation) in reached or id(operation) in stops or (outputs and all(id(t) in stops for t in outputs)):
            continue
        reached[id(operation)] = operation
        stack += [t.op for t in operation.inputs if id(t) not in stops]
        if controls:
            stack += operation._control_inputs
    return sorted(reached.values(), key=lambda o: o.index)
