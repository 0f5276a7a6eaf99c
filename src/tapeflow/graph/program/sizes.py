"""Programs specialized to input shapes.

A function traced with unknown sizes, such as any batch size, computes shapes at run time. Its gradients contain
reductions for broadcasting that may turn out to have no effect. A program specialized to a call's sizes needs neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tapeflow.array.tensor_list import list_get_item, list_set_item
from tapeflow.core.ops.static import has_none, host_static
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.shapes import infer
from tapeflow.graph.program.program import Program, Step, substitute

_MOST_SIZES = 4  # combinations of sizes that something is made for
_CALLS_OF_SIZES = 8  # calls with the same sizes before that
_MOST_COUNTED = 256


class BySizes:
    """Results for the sizes of calls: for the first sizes at once, for others at their eighth call.

    A few batches of another size thus do not cause a compilation.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._counts: Counter[Hashable] = Counter()

    def get(self, sizes: Hashable, make: Callable[[], Any]) -> Any:
        """Returns the result for some sizes, or None.

        Args:
            sizes: the sizes.
            make: returns a new result for them.
        """
        made = self._made
        if sizes in made:
            return made[sizes]
        if made:
            if len(self._counts) >= _MOST_COUNTED:
                self._counts.clear()
            self._counts[sizes] += 1
            if len(made) >= _MOST_SIZES or self._counts[sizes] < _CALLS_OF_SIZES:
                return None
        result = made[sizes] = make()
        return result


def with_shapes(
    program: Program, shapes: Mapping[int, TensorShape], entries: Mapping[int, TensorShape] | None = None
) -> Program | None:
    """Returns a copy of a program for more specific input shapes.

    Args:
        program: the program.
        shapes: the shapes, by the ids of inputs. Other inputs keep their shapes.
        entries: the shapes of the entries of lists, by the ids of inputs.

    Returns:
        The program; None if a shape rule rejects the shapes or contradicts the graph. The caller then runs the original
        program, and its kernel raises the error.
    """
    known: dict[int, SymbolicTensor] = {}
    for t in program.inputs:
        if id(t) in shapes:
            operation = _copy_operation(t.op, GraphOp("Placeholder"), [])
            known[id(t)] = SymbolicTensor(operation, t.value_index, t.dtype, shapes[id(t)])
    of_lists = dict(entries or {})
    result = program.copied()
    result.inputs = substitute(program.inputs, known)
    try:
        result.steps = [_with_shapes(step, known, of_lists) for step in result.steps]
    except Exception:
        return None
    result.outputs = substitute(program.outputs, known)
    return result


def _with_shapes(step: Step, known: dict[int, SymbolicTensor], entries: dict[int, TensorShape]) -> Step:
    """Returns a step with the tensors in `known` as inputs, and adds its outputs to `known`, and lists to `entries`."""
    of_list = entries.get(id(step.inputs[0])) if step.inputs else None
    if of_list is not None and step.op is list_set_item.op:
        entries[id(step.outputs[0])] = of_list
    reads = of_list is not None and step.op is list_get_item.op
    if not reads and not any(id(t) in known for t in step.inputs):
        return step
    args = substitute(step.args, known)
    if not step.registered:
        return Step(step.op, args, step.outputs, step.origins, step.must_run)
    args = step.op.map(lambda t: t, args, host=_host_numbers)
    operation = _copy_operation(step.operation, step.op, args)
    with operation.graph.as_default():  # some shape rules give less specific shapes while a graph is built
        shapes = [of_list] if reads else infer(step.op, args, operation.types, len(step.outputs))
    for t, shape in zip(step.outputs, shapes, strict=True):
        known[id(t)] = SymbolicTensor(operation, t.value_index, t.dtype, t.shape.merge_with(shape))
        operation.outputs.append(known[id(t)])
    return Step(step.op, args, list(operation.outputs), [*step.origins[:-1], operation], step.must_run)


def _host_numbers(arg: Any) -> Any:
    """Returns a host argument as Python numbers if all of them are known, otherwise unchanged."""
    static = host_static(arg)
    return arg if has_none(static) else static


def _copy_operation(operation: Operation, op: Any, args: list[Any]) -> Operation:
    """Returns a copy of an operation with the same name and device. It is not part of the graph."""
    result = Operation(operation.graph, op, operation.name, args, operation.types)
    result.device, result.position = operation.device, operation.position
    result._original_op = operation
    return result
