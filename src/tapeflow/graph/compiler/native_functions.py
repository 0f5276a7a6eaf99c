"""Native functions: parts of a function on small tensors as machine code.

A part may read and change variables. Machine code writes to their memory after all of its checks. If a check fails,
the steps run again as calls of kernels, which raise the error.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.forking import cached_property
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.variable_updates import Owned, several
from tapeflow.graph.codegen.program import Program
from tapeflow.graph.compiler.binding import bound, updating
from tapeflow.graph.compiler.native_loops import SMALL_PRODUCT, drawn
from tapeflow.graph.compiler.target import function
from tapeflow.graph.ir.operation import GraphOp, variable_of

_STEP = 1 << 14  # instructions in the time of a step's call from Python


class NativeOp(GraphOp):
    """The op of a part of a program. It takes the handles of the variables that the part changes, and its other inputs.

    Attributes:
        count: the number of ops in the part.

    Args:
        name: the name of its op.
        part: the part.

    Raises:
        Unsupported: machine code can't compute a step, or calls of kernels take less time.
    """

    allocates = True
    runs_python = False

    def __init__(self, name: str, part: Program) -> None:
        self.part, self.count = part, len(part.steps)
        code, work = self._code()
        if work > _STEP * self.count:
            raise Unsupported("kernels compute it faster")
        super().__init__(name, self._caller(name, code), gives_tuple=True)

    def _code(self) -> tuple[Any, int]:
        from tapeflow.graph.compiler.loop_functions import function_code  # it loads LLVM

        return function_code(self.part, self._variables, SMALL_PRODUCT)

    @property
    def _variables(self) -> list[Any]:
        """The variables that the part changes."""
        return [variable_of(t) for t in self.part.inputs if t.dtype is resource]

    def text(self) -> str:
        """Returns the LLVM IR of its function."""
        text: str = self._code()[0].text()
        return text.replace("{name}", self.name)

    def _caller(self, name: str, code: Any) -> Callable[..., Any]:
        """Returns the function that passes the addresses of raw values to machine code."""
        part, variables, text = self.part, len(self._variables), code.text()

        def first_call(table: int) -> None:
            namespace["kernel"] = kernel = function(name, text, lambda: text, 1)
            kernel(table)

        inputs, outputs = part.inputs[variables:], part.outputs
        namespace: dict[str, Any] = {
            "kernel": first_call, "array": ctypes.c_int64 * len(code.table), "address": ctypes.addressof,
            "table": code.table, "drawn": drawn, "one_by_one": self._one_by_one, "like": torch.empty_like,
            "empty": torch.empty, "bytes": torch.uint8,
            "several": several, "Owned": Owned, "changed": aten.increment_version,
            **{f"shape{i}": torch.Size(t.shape.as_list()) for i, t in enumerate(inputs)},
            **{f"y{i}": torch.empty(t.shape.as_list(), dtype=t.dtype.torch) for i, t in enumerate(outputs)},
        }  # fmt: skip
        lines = _calling(variables, len(inputs), len(outputs), code.table)
        exec(compile("\n".join(lines), f"<calls of {name}>", "exec"), namespace)  # it is written here alone
        call: Callable[..., Any] = namespace["call"]
        return call

    @cached_property
    def _compiled(self) -> Any:
        """The fallback: the steps as calls of kernels."""
        return hooks.one_by_one(self.name, self.part)

    def _one_by_one(self, *values: Any) -> tuple[Any, ...]:
        """Computes the part without machine code."""
        results: tuple[Any, ...] = self._compiled(*values)
        return results


def _calling(variables: int, inputs: int, outputs: int, table: Sequence[Any]) -> list[str]:
    """Returns the source lines of a function that fills the table of arguments, and calls the machine code.

    Args:
        variables, inputs, outputs: the numbers of changed variables, of other inputs, and of outputs.
        table: descriptions of the table's entries.
    """
    handles, values, results = (
        [f"{c}{i}" for i in range(n)] for c, n in (("v", variables), ("x", inputs), ("r", outputs))
    )
    memory = [f"m{i}" for i in range(variables)]
    addresses = [f"p{i}" for i in range(variables + inputs)]
    otherwise = f"one_by_one({', '.join([*handles, *values])})"
    lines, entries = [], []
    for i, (what, *rest) in enumerate(table):
        if what in ("limit", "status", "work", "error"):
            entries.append("0")
        elif what == "constant":
            entries.append(str(rest[0].data_ptr()))
        elif what == "operand":
            entries.append(addresses[rest[0]])
        elif what == "output":
            entries.append(f"{results[rest[0]]}.data_ptr()")
        elif what in ("drawn", "memory"):
            made = f"drawn(table[{i}][1], 1)" if what == "drawn" else f"empty({rest[0]}, dtype=bytes)"
            lines.append(f"    d{i} = {made}")
            entries.append(f"d{i}.data_ptr()")
        else:
            raise Unsupported("a function reads a variable in a branch")
    call = [
        *bound([*memory, *values], addresses, otherwise, contiguous=variables),
        *lines,
        *[f"    {y} = like(y{i})" for i, y in enumerate(results)],  # in half the time of `torch.empty`
        f"    numbers = array({', '.join(entries)})",
        "    kernel(address(numbers))",
        f"    if numbers[1] < 0: return {otherwise}",
    ]
    if variables:
        call = updating(handles, call)
    shapes = " or ".join(f"{x}.shape != shape{i}" for i, x in enumerate(values))
    return [
        f"def call({', '.join([*handles, *values])}):",
        *([f"    if {shapes}:", f"        return {otherwise}"] if shapes else []),
        *call,
        f"    return {', '.join(results)}{',' if outputs == 1 else ''}" if outputs else "    return ()",
    ]
