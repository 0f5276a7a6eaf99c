"""The static shapes of an op's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.ops.definition import NotStatic, Op
from tapeflow.core.ops.static import static_or_unknown
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import invalid
from tapeflow.graph.ir.operation import GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.core.ops.op import RegisteredOp
    from tapeflow.graph.ir.graph import Graph


_MOST_OUTPUTS = 2**20


def output_count(op: RegisteredOp, args: Sequence[Any], types: dict[str, Any]) -> int:
    """Returns the number of outputs of the op for these arguments.

    Raises:
        InvalidArgumentError: there would be a negative number of them, or too many.
    """
    count = 0
    for out in op.opdef.outputs:
        if out.type_list_attr:
            count += len(types[out.type_list_attr])
        elif out.number_attr:
            number = _output_number(op, out.number_attr, args)
            if not 0 <= number < _MOST_OUTPUTS:
                raise invalid(f"{op.name} can't have {number} outputs (attr {out.number_attr!r})")
            count += number
        else:
            count += 1
    return count


def _output_number(op: Any, attr: str, args: Sequence[Any]) -> int:
    for i, param in enumerate(op.params):
        if op.attr_names.get(param) == attr:
            return int(args[i])
    for argument, arg in zip(op.opdef.inputs, args, strict=False):
        if argument.number_attr == attr:
            return len(arg)
    raise ValueError(f"{op.name} does not say how many outputs it has")


def infer(op: Any, args: Sequence[Any], types: dict[str, Any], count: int) -> list[TensorShape]:
    """Infers the shapes of the outputs by the op's shape rule, as far as its host arguments are static.

    Args:
        op: the op.
        args: its arguments, tensors being symbolic.
        types: its type attrs.
        count: the number of its outputs.

    Raises:
        InvalidArgumentError, ValueError: the shapes of the inputs are incompatible.
    """
    try:
        return op.infer(args, types, count, host=static_or_unknown)
    except NotStatic:
        return [TensorShape(None)] * count


def infer_without_captures(
    graph: Graph, op: Op, args: Sequence[Any], types: dict[str, Any], count: int
) -> list[TensorShape]:
    """Infers the shapes of the outputs without the values of captured tensors.

    TensorFlow's shape functions do not see the values of a function's captures. The kernel raises errors that depend on
    them, and it may never run, for example in a branch that is not taken.

    Args:
        graph: the graph that the op is added to.
        op: the op.
        args: its arguments, tensors being symbolic.
        types: its type attrs.
        count: the number of its outputs.

    Raises:
        InvalidArgumentError, ValueError: the shapes of the inputs are incompatible.
    """
    copies: dict[int, SymbolicTensor] = {}  # of the tensors that depend on these values, by their ids

    def copied(arg: TensorLike) -> Any:
        return copies.get(id(arg), arg)

    for operation in graph.get_operations():
        outputs = operation.outputs
        if operation.captured is not None:
            copy = Operation(graph, GraphOp("Placeholder"), operation.name, ())
            shapes = [t.shape for t in outputs]
        elif operation.op.registered and any(id(t) in copies for t in operation.inputs):
            arguments = operation.op.map(copied, operation.args, host=copied)
            copy = Operation(graph, operation.op, operation.name, arguments, operation.types)
            shapes = infer(operation.op, arguments, operation.types, len(outputs))
        else:
            continue
        for t, shape in zip(outputs, shapes, strict=True):
            copy.outputs.append(SymbolicTensor(copy, t.value_index, t.dtype, shape))
            copies[id(t)] = copy.outputs[-1]
    return infer(op, op.map(copied, args, host=copied), types, count)
