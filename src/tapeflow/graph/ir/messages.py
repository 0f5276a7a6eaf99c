"""TensorFlow's errors for invalid operations of a graph."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.ops.sequences import datatype_name
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.core.ops.definition import Op
    from tapeflow.core.ops.op import RegisteredOp


def check_lists(op: Any, args: Sequence[Any]) -> None:
    """Raises TensorFlow's error for an empty list of tensors, if the op refuses it."""
    for argument, arg in zip(op.opdef.inputs, args, strict=False):
        attr = op.opdef.attrs.get(argument.type_list_attr or argument.number_attr)
        if attr is None or not attr.minimum or type(arg) not in (list, tuple) or arg:
            continue
        if argument.type_list_attr:
            raise ValueError(
                f"Attr '{attr.name}' of '{op.name}' Op passed list of length 0 less than minimum {attr.minimum}."
            )
        raise ValueError(
            f"List argument '{argument.name}' to '{op.name}' Op with length 0 shorter than minimum length "
            f"{attr.minimum}."
        )


def check_attr_lists(op: RegisteredOp, args: Sequence[Any]) -> None:
    """Raises TensorFlow's error for lists of attrs that are shorter than the op's definition asks for."""
    for i, attr in op.attr_params():
        if attr.minimum and attr.type.startswith("list(") and len(args[i]) < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{op.name}' Op passed list of length {len(args[i])} less than minimum "
                f"{attr.minimum}."
            )


def check_host_dtype(op: Any, i: int, dtype: DType, types: Mapping[str, Any]) -> None:
    """Raises TensorFlow's error for a host argument with a wrong dtype.

    Args:
        op: the op.
        i: the position of the argument.
        dtype: the tensor's dtype.
        types: the type attrs that other arguments settle.
    """
    argument = op.opdef.inputs[i]
    attr = argument.type_attr
    expected = types.get(attr) if attr else argument.type
    if expected is None:
        allowed = op.opdef.attrs[attr].allowed
        if allowed is not None and dtype not in allowed:
            raise TypeError(
                f"Value passed to parameter '{argument.name}' has DataType {dtype.name} not in list of allowed values: "
                f"{', '.join(a.name for a in allowed)}"
            )
    elif dtype is not expected:
        place = "expected type of" if not attr else "type"
        source = f" of argument '{next(a.name for a in op.opdef.inputs if a.type_attr == attr)}'" if attr else ""
        raise TypeError(
            f"Input '{argument.name}' of '{op.name}' Op has type {dtype.name} that does not match {place} "
            f"{expected.name}{source}."
        )


# The texts of errors about an attr's value, not its type.
_OF_VALUES = ("must be at least minimum", "out of range for an int32")


def type_error(op: Any, error: errors.InvalidArgumentError) -> Exception:
    """Returns the error that TensorFlow raises for wrong dtypes while a graph is built."""
    message = error.message
    match = re.search(r"input #(\d+)\(zero-based\) was expected to be a (\w+) tensor but is a (\w+) tensor", message)
    if match:
        names = [a.name for a in op.opdef.inputs]
        at = min(int(match[1]), len(names) - 1)
        expected, actual = match[2], match[3]
        attr = op.opdef.inputs[at].type_attr
        first = next((a.name for a in op.opdef.inputs if attr and a.type_attr == attr), names[0])
        return TypeError(
            f"Input '{names[at]}' of '{op.name}' Op has type {_python_name(actual)} that does not match type "
            f"{_python_name(expected)} of argument '{first}'."
        )
    message = message.partition("\n")[0]
    of_value = '"' in message or any(words in message for words in _OF_VALUES)
    if message.startswith("Value for attr") and "allowed values: DT_" not in message and of_value:
        return ValueError(f"{message} [Op:{op.name}]")
    return TypeError(f"{message} [Op:{op.name}]")


def _python_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def _attrs_text(op: Any, args: Sequence[Any], types: Mapping[str, Any]) -> str:
    """Returns the attrs of an operation as TensorFlow's messages print them: `T=DT_FLOAT, strides=[1, 1]`."""
    attrs = {a.name: a.default for a in op.opdef.attrs.values() if a.has_default} | dict(types)
    for argument, arg in zip(op.opdef.inputs, args, strict=False):
        if argument.number_attr and type(arg) is list:
            attrs[argument.number_attr] = len(arg)
    attrs |= {op.attr_names[p]: arg for p, arg in zip(op.params, args, strict=True) if p in op.attr_names}
    return ", ".join(f"{a}={_attr_text(attrs[a])}" for a in sorted(attrs))


def _attr_text(value: Any) -> str:
    if isinstance(value, DType):
        return f"DT_{datatype_name(value).upper()}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_attr_text, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def shape_error(op: Op, name: str, args: Sequence[Any], types: Mapping[str, Any], error: Exception) -> ValueError:
    """Returns the error that TensorFlow raises for incompatible shapes while a graph is built."""
    message = error.message if isinstance(error, errors.OpError) else str(error)
    message = message.partition(" [Op:")[0]
    unequal = getattr(error, "unequal", None)
    if unequal is not None:
        message = f"Dimensions must be equal, but are {unequal[0]} and {unequal[1]}"
    match = re.match(r"Incompatible shapes: \[([\d,?]*)\] vs\. \[([\d,?]*)\]", message)
    if match:
        a, b = (m.split(",")[::-1] for m in match.groups())
        pairs = [(x, y) for x, y in zip(a, b, strict=False) if x != y and "1" not in (x, y)]
        if pairs:
            message = f"Dimensions must be equal, but are {pairs[0][0]} and {pairs[0][1]}"
    tensors = [t for a in args for t in (a if type(a) is list else [a]) if isinstance(t, SymbolicTensor)]
    input_shapes = ", ".join(text(t.shape) for t in tensors)
    inputs = ", ".join(t.op.name + (f":{t.value_index}" if t.value_index else "") for t in tensors)
    node = f"{{{{node {name}}}}} = {op.name}[{_attrs_text(op, args, types)}]({inputs})"
    return ValueError(f"{message} for '{node}' with input shapes: {input_shapes}.")
