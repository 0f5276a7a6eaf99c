"""TensorFlow's errors for invalid operations of a graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.values.symbolic import SymbolicTensor


def type_error(op: Any, error: errors.InvalidArgumentError) -> Exception:
    """Returns the error that TensorFlow raises for wrong dtypes while a graph is built."""
    message = error.message
    match = re.search(r"input #(\d+)\(zero-based\) was expected to be a (\w+) tensor but is a (\w+) tensor", message)
    if match:
        names = [a.name for a in op.opdef.inputs]
        at = min(int(match[1]), len(names) - 1)
        expected, actual = match[2], match[3]
        return TypeError(
            f"Input '{names[at]}' of '{op.name}' Op has type {_python_name(actual)} that does not match type "
            f"{_python_name(expected)} of argument '{names[0]}'."
        )
    message = message.partition("\n")[0]
    if message.startswith("Value for attr") and "allowed values: DT_" not in message and '"' in message:
        return ValueError(f"{message} [Op:{op.name}]")
    return TypeError(f"{message} [Op:{op.name}]")


def _python_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def shape_error(op: Any, name: str, args: Sequence[Any], error: Exception) -> ValueError:
    message = error.message if isinstance(error, errors.OpError) else str(error)
    message = message.partition(" [Op:")[0]
    match = re.match(r"Incompatible shapes: \[([\d,?]*)\] vs\. \[([\d,?]*)\]", message)
    if match:
        a, b = (m.split(",")[::-1] for m in match.groups())
        pairs = [(x, y) for x, y in zip(a, b, strict=False) if x != y and "1" not in (x, y)]
        if pairs:
            message = f"Dimensions must be equal, but are {pairs[0][0]} and {pairs[0][1]}"
    tensors = [t for a in args for t in (a if type(a) is list else [a]) if isinstance(t, SymbolicTensor)]
    input_shapes = ", ".join(text(t.shape) for t in tensors)
    inputs = ", ".join(t.op.name + (f":{t.value_index}" if t.value_index else "") for t in tensors)
    return ValueError(f"{message} for '{{{{node {name}}}}} = {op.name}[]({inputs})' with input shapes: {input_shapes}.")
