"""A module of torch called with tensors: at once, recorded on tapes, or in a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tapeflow.core.context import state
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.torch.calls import TorchCall
from tapeflow.torch.capture import Captures
from tapeflow.torch.parameter import ParameterVariable


class ModuleCall:
    """Calls of a module whose parameters and buffers are variables.

    Args:
        module: the module.
        variables: the variables of its parameters and buffers, by their names in the module.
    """

    def __init__(self, module: torch.nn.Module, variables: Mapping[str, ParameterVariable]) -> None:
        self._module, self._names, self._variables = module, list(variables), list(variables.values())
        self._parameters = [v.parameter for v in self._variables]
        self._captures = Captures(module, variables)

    def __call__(self, training: bool | None, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Calls the module.

        Args:
            training: the mode to call it in; by default the one that it is in.
            args: its arguments, tensors in nests.
            named: its arguments by their names.

        Returns:
            The module's result, with tensors in the place of torch's.
        """
        if training is not None and self._module.training is not training:
            self._module.train(training)
        if state.graph is not None:
            results = self._captures.written(args, named)
            if results is not None:
                return results[0]
        return self._called(args, named)

    def _called(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Calls the module as one operation."""
        structure, flat = (args, named), not named and all(type(a) is EagerTensor for a in args)
        leaves = args if flat else nest.flatten(structure)
        places = range(len(args)) if flat else [i for i, leaf in enumerate(leaves) if hasattr(leaf, "dtype")]
        results: list[Any] = []

        def run(module: Callable[..., Any], tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            if flat:
                result = module(*tensors)
            else:
                filled = list(leaves)
                for place, tensor in zip(places, tensors, strict=True):
                    filled[place] = tensor
                packed, packed_named = nest.pack_sequence_as(structure, filled)
                result = module(*packed, **packed_named)
            results[:] = [result]
            if isinstance(result, torch.Tensor):
                return [result]
            return [t for t in nest.flatten(result) if isinstance(t, torch.Tensor)]

        def functional(*values: torch.Tensor) -> list[torch.Tensor]:
            tensors, weights = values[: len(places)], dict(zip(self._names, values[len(places) :], strict=True))
            return run(lambda *a, **k: torch.func.functional_call(self._module, weights, a, k), tensors)

        call = TorchCall(type(self._module).__name__, functional, lambda *t: run(self._module, t), self._parameters)
        operands = [*(args if flat else [leaves[i] for i in places]), *self._variables]
        outputs = call(operands, stateful=self._module.training)
        if isinstance(results[0], torch.Tensor):
            return outputs[0]
        rest = iter(outputs)
        return nest.map_structure(lambda t: next(rest) if isinstance(t, torch.Tensor) else t, results[0])
