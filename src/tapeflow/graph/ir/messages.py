"""What TensorFlow says of an operation that a graph can't have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.values.symbolic import SymbolicTensor


def type_error(op: Any, error: errors.InvalidArgumentError) -> Exception:
    """As TensorFlow says it while a graph is built."""
    said = error.message
    match = re.search(r"input #(\d+)\(zero-based\) was expected to be a (\w+) tensor but is a (\w+) tensor", said)
    if match:
        names = [a.name for a in op.opdef.inputs]
        at = min(int(match[1]), len(names) - 1)
        wanted, given = match[2], match[3]
        return TypeError(
            f"Input '{names[at]}' of '{op.name}' Op has type {_python_name(given)} that does not match type "
            f"{_python_name(wanted)} of argument '{names[0]}'."
        )
    said = said.partition("\n")[0]
    if said.startswith("Value for attr") and "allowed values: DT_" not in said and '"' in said:
        return ValueError(f"{said} [Op:{op.name}]")
    return TypeError(f"{said} [Op:{op.name}]")


def _python_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def shape_error(op: Any, name: str, args: Sequence[Any], error: Exception) -> ValueError:
    said = error.message if isinstance(error, errors.OpError) else str(error)
    said = said.partition(" [Op:")[0]
    match = re.match(r"Incompatible shapes: \[([\d,?]*)\] vs\. \[([\d,?]*)\]", said)
    if match:
        a, b = (m.split(",")[::-1] for m in match.groups())
        pairs = [(x, y) for x, y in zip(a, b, strict=False) if x != y and "1" not in (x, y)]
        if pairs:
            said = f"Dimensions must be equal, but are {pairs[0][0]} and {pairs[0][1]}"
    tensors = [t for a in args for t in (a if type(a) is list else [a]) if isinstance(t, SymbolicTensor)]
    given = ", ".join(text(t.shape) for t in tensors)
    inputs = ", ".join(t.op.name + (f":{t.value_index}" if t.value_index else "") for t in tensors)
    return ValueError(f"{said} for '{{{{node {name}}}}} = {op.name}[]({inputs})' with input shapes: {given}.")
