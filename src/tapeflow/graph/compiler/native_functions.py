"""Native functions: parts of a function on small tensors as machine code.

A part may read and change variables. Machine code writes to their memory after all of its checks. If a check fails,
the steps run again as calls of kernels, which raise the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import mkl
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.types.dtypes import resource
from tapeflow.graph.compiler.calling import caller, contiguous, fallback, filling, table_names
from tapeflow.graph.compiler.native_loops import drawn
from tapeflow.graph.compiler.qualification import MOST_PRODUCT, SMALL, SMALL_PRODUCT
from tapeflow.graph.ir.operation import GraphOp, variable_of
from tapeflow.graph.program.program import Program, Step
from tapeflow.linalg.products import batch_matmul, matmul_op

_STEP = 1 << 14  # instructions in the time of a step's call from Python
_MOST_ELEMENTS = 1 << 15  # of a computed tensor, where products gain: with more, threads pay


def most_elements() -> int:
    """Returns the most elements of a tensor that a native function computes.

    Where MKL is slow on the processor, machine code computes products of matrices that fit into its cache in half of
    MKL's time, so larger functions with products gain. Without products, large tensors take half of the time in
    clusters.
    """
    return _MOST_ELEMENTS if mkl.products_are_slow() else SMALL


def has_products(steps: Sequence[Step]) -> bool:
    """Returns True if a step multiplies matrices."""
    return any(step.name in (matmul_op.op.name, batch_matmul.op.name) for step in steps)


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
        gains = mkl.products_are_slow() and has_products(part.steps)
        if work > _STEP * self.count and not gains:
            raise Unsupported("kernels compute it faster")
        super().__init__(name, self._caller(name, code), gives_tuple=True)

    def _code(self) -> tuple[Any, int]:
        from tapeflow.graph.compiler.loop_functions import function_code  # it loads LLVM

        most = MOST_PRODUCT if mkl.products_are_slow() else SMALL_PRODUCT
        return function_code(self.part, self._variables, most)

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
        variables = len(self._variables)
        inputs, outputs = self.part.inputs[variables:], self.part.outputs
        otherwise = fallback(variables, len(inputs))
        if any(what[0] in ("read", "variable") for what in code.table):
            raise Unsupported("a function reads a variable in a branch")
        addresses = [f"p{i}" for i in range(variables + len(inputs))]
        shapes = " or ".join(f"x{i}.shape != shape{i}" for i in range(len(inputs)))
        checks = [f"    if {shapes}: return {otherwise}"] if shapes else []
        checks += contiguous([f"x{i}" for i in range(len(inputs))])
        results = [f"y{i}" for i in range(len(outputs))]
        lines = [
            *[f"    {y} = like(of_{y})" for y in results],  # in half the time of `torch.empty`
            *filling(code.table, addresses, "1", "0", otherwise),
            f"    if numbers[1] < 0: return {otherwise}",
        ]
        namespace = table_names(
            name, code, drawn=drawn, one_by_one=self._one_by_one,
            **{f"shape{i}": torch.Size(t.shape.as_list()) for i, t in enumerate(inputs)},
            **{f"of_y{i}": torch.empty(t.shape.as_list(), dtype=t.dtype.torch) for i, t in enumerate(outputs)},
        )  # fmt: skip
        result = f"({''.join(f'{y}, ' for y in results)})"
        exec(caller(variables, len(inputs), checks, lines, result), namespace)
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
