"""Exchanging operands: a product that is transposed is computed as the product of the transposed matrices.

Keras's attention computes its scores as the product of keys and queries and transposes them. What follows would read
them across the rows that lie in memory; the product of queries and keys has them in the right order.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.definition import ops
from tapeflow.graph.codegen.producers import Producers
from tapeflow.graph.codegen.program import Program, Step


def exchange(program: Program) -> None:
    """Exchanges the operands of products whose results are transposed before anything else uses them."""
    if any(_swaps_last_axes(step) for step in program.steps):
        producers, uses = Producers(program), program.use_counts()
        program.steps = [_exchanged(step, producers, uses) for step in program.steps]


def _exchanged(step: Step, producers: Producers, uses: dict[int, int]) -> Step:
    """Returns the step, or the product in its place if it transposes one that nothing else uses."""
    product = producers.of(step.args[0], ops.BatchMatMulV2) if _swaps_last_axes(step) else None
    if product is None or not product.native or uses[id(step.args[0])] != 1 or step.placed:
        return step
    x, y, adjoint_x, adjoint_y = product.args
    args: list[Any] = [y, x, not adjoint_y, not adjoint_x]
    return Step(product.op, args, step.outputs, [*product.origins, *step.origins])


def _swaps_last_axes(step: Step) -> bool:
    """Returns True if a step transposes matrices and leaves the axes before them."""
    if step.op is not ops.Transpose.op or not isinstance(step.args[1], tuple) or len(step.args[1]) < 2:
        return False
    *batch, last, before = step.args[1]
    axes = [a for a in (*batch, before, last) if isinstance(a, int)]
    return axes == list(range(len(step.args[1])))
