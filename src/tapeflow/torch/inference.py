"""A converted module's forward without gradients: as TapeFlow compiles the function for itself.

Its weights are prepared once, normalizations are folded into them, and kernels write in place, which torch's autograd
and its tracing compilers could not follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.context import state
from tapeflow.core.values.tensor import EagerTensor, alias
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.batch_rules import draws
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.torch.parameter import ParameterVariable


class Inference:
    """A function that computes with the parameters and buffers of a module.

    Args:
        function: the function.
        paths: the attributes of the module that its variables are, by the variables' ids.
    """

    def __init__(self, function: ConcreteFunction, paths: dict[int, str]) -> None:
        self._function, self._paths = function, paths
        body = function.body
        inputs = body.inputs
        self._compiled = Compiled(body.name, inputs, body.outputs, body.graph.effects())
        self._specs = [(t.dtype.torch, t.shape.as_list()) for t in function.graph.inputs]
        variables = [variable_of(t) for t in inputs[len(self._specs) :]]
        self._attributes = [None if v is None else (paths[id(v)], v.dtype.torch) for v in variables]
        constants = {id(inner): outer for outer, inner in function.graph.captures if isinstance(outer, EagerTensor)}
        self._constants: list[Any] = [constants.get(id(t)) for t in inputs[len(self._specs) :]]
        operations = function.graph.get_operations()
        names_all = all(v is not None or c is not None for v, c in zip(variables, self._constants, strict=True))
        # torch's generators draw a module's random numbers.
        self._usable = names_all and not any(op.type not in _READS and draws(op.op) for op in operations)
        self._current: list[Any] = []

    def __deepcopy__(self, memo: Any) -> Inference:
        return Inference(self._function, self._paths)

    def results(self, module: torch.nn.Module, inputs: Sequence[Any]) -> Sequence[torch.Tensor] | None:
        """Returns the function's results, or None where only the source that torch follows computes them.

        Args:
            module: the module.
            inputs: tensors for all inputs of the function.
        """
        if not self._usable or torch.is_grad_enabled() or not _computes_alone() or not self._takes(inputs):
            return None
        values = self._values(module)
        if values is None:
            return None
        with executing_eagerly():
            return [alias(r) for r in self._compiled(*inputs, *values)]

    def _takes(self, inputs: Sequence[Any]) -> bool:
        """Returns True if inputs are tensors on the CPU, of the dtypes and shapes of the function's."""
        if len(inputs) != len(self._specs):
            return False
        for x, (dtype, shape) in zip(inputs, self._specs, strict=True):
            if type(x) is not torch.Tensor or x.dtype is not dtype or not x.is_cpu or len(shape) != x.ndim:
                return False
            if any(d is not None and d != n for d, n in zip(shape, x.shape, strict=True)):
                return False
        return True

    def _values(self, module: torch.nn.Module) -> list[Any] | None:
        """Returns the function's captured values: variables on the module's storage, and constants. Returns None if the
        module has tensors of other dtypes, or on another device, than the function."""
        values = self._current or [None] * len(self._attributes)
        for i, attribute in enumerate(self._attributes):
            if attribute is None:
                values[i] = self._constants[i].value
                continue
            tensor = _module_tensor(module, attribute[0])
            if type(tensor) not in _PLAIN or tensor.dtype is not attribute[1] or not tensor.is_cpu:
                return None
            if values[i] is None or values[i].parameter is not tensor:
                values[i] = ParameterVariable(tensor, False, attribute[0])
        self._current = values
        return values


_PLAIN = (torch.Tensor, torch.nn.Parameter)
_READS = ("ReadVariableOp", "Placeholder", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "NoOp")


def _module_tensor(module: torch.nn.Module, path: str) -> torch.Tensor:
    *scopes, last = path.split(".")
    for scope in scopes:
        module = module._modules[scope]  # type: ignore[assignment]
    return getattr(module, last)


def _computes_alone() -> bool:
    """Returns True if nothing of torch follows the calls: no compiler, exporter, transformation or mode."""
    return not (
        torch.compiler.is_compiling()
        or torch.jit.is_tracing()
        or aten.len_torch_dispatch_stack()
        or aten.len_torch_function_stack()
        or aten.maybe_current_level() is not None
        or torch.is_autocast_enabled("cpu")
        or state.graph is not None
    )
