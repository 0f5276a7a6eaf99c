"""Functions of an element that one call computes for many elements, by the same arithmetic in the same order.

The graph of such a function is written again by the batching rules of its ops, for elements stacked along a new first
dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core.ops.batch_rules import NoRule, rule_of
from tapeflow.core.types.dtypes import resource, string, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.transform.batch import batch
from tapeflow.graph.transform.body import Body

_PLAIN = frozenset({"Const", "Placeholder"})


def batches_of(body: Body, captures: int) -> Body | None:
    """Returns a function of an element as one of many elements; None if rounding might differ.

    Each of its ops must compute a batch as it computes the elements: it maps numbers or strings one by one, moves them,
    is declared to do so (`exact_in_batches`), or has integers alone, whose sums do not depend on an order.

    Args:
        body: the function.
        captures: how many of its last inputs are no elements.
    """
    graph, count = body.graph, len(body.inputs) - captures
    if not body.optimized or graph.variables or not count:
        return None
    if any(isinstance(c, SymbolicTensor) for c in graph.external_captures):
        return None
    ends = (*body.inputs[:count], *body.outputs)
    if any(t.shape.rank is None or (t.dtype.torch is None and t.dtype is not string) for t in ends):
        return None
    if any(t.dtype in (resource, variant) for t in body.inputs[count:]):
        return None
    if not all(o.type in _PLAIN or _is_exact(o) for o in graph._operations):
        return None
    try:
        of_batches = body.transformed(batch, [True] * count + [False] * (len(body.inputs) - count))
    except NoRule:
        return None
    return of_batches if _has_registered_ops(of_batches.graph._operations) else None


def _is_exact(operation: Operation) -> bool:
    """Returns whether an operation computes a batch as it computes the elements."""
    op = operation.op
    if isinstance(op, GraphOp) or op.random or op.opdef.stateful or rule_of(op) is None:
        return False
    if op.elementwise or op.moves or op.exact_in_batches:
        return True
    return all(t.dtype.is_integer or t.dtype.is_bool for t in (*operation.inputs, *operation.outputs))


def _has_registered_ops(operations: Sequence[Operation]) -> bool:
    """Returns True if operations are of registered ops. An op whose rule does not hold runs for each element."""
    return all(o.type in _PLAIN or not isinstance(o.op, GraphOp) for o in operations)
