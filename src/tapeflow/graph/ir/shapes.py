"""The static shapes of an op's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.static import static_or_unknown
from tapeflow.core.types.shape import TensorShape


def output_count(op: Any, args: Sequence[Any], types: dict[str, Any]) -> int:
    """Returns the number of outputs of the op for these arguments."""
    count = 0
    for out in op.opdef.outputs:
        if out.type_list_attr:
            count += len(types[out.type_list_attr])
        elif out.number_attr:
            count += _number(op, out.number_attr, args)
        else:
            count += 1
    return count


def _number(op: Any, attr: str, args: Sequence[Any]) -> int:
    for i, param in enumerate(op.params):
        if op.attr_names.get(param) == attr:
            return int(args[i])
    for argument, arg in zip(op.opdef.inputs, args, strict=False):
        if argument.number_attr == attr:
            return len(arg)
    raise ValueError(f"{op.name} does not say how many outputs it has")


def infer(op: Any, args: Sequence[Any], types: dict[str, Any], count: int) -> list[TensorShape]:
    """Returns the shapes of the outputs: what the op's shape rule says, as far as its host arguments are static.

    Args:
        op: the op.
        args: its arguments, tensors being symbolic.
        types: its type attrs.
        count: the number of its outputs.

    Raises:
        InvalidArgumentError, ValueError: the shapes of the inputs do not go together.
    """
    try:
        return op.infer(args, types, count, host=static_or_unknown)
    except NotStatic:
        return [TensorShape(None)] * count
