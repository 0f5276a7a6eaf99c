"""A module of torch called with tensors: at once, recorded on tapes, or in a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call, Tape
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import Op
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, alias
from tapeflow.torch.calls import TorchCall, gradients_of, is_grad_enabled, set_grad_enabled
from tapeflow.torch.capture import Captures
from tapeflow.torch.parameter import ParameterVariable


class ModuleCall(Op):
    """Calls of a module whose parameters and buffers are variables.

    For a tape, a call is one node, whose gradient asks torch's autograd once for all that is wanted.

    Args:
        module: the module.
        variables: the variables of its parameters and buffers, by their names in the module.
    """

    keep_all_inputs = False
    none_for_zero = True

    def __init__(self, module: torch.nn.Module, variables: Mapping[str, ParameterVariable]) -> None:
        self.name = type(module).__name__
        self._module, self._names, self._variables = module, list(variables), list(variables.values())
        self._parameters = [v.parameter for v in self._variables]
        self._states: tuple[list[bool], list[bool]] = [], []  # which are trainable, and require gradients, in the next
        self._trainable: dict[int, Any] = {}
        self._usual: tuple[tuple[torch.Tensor, ...], tuple[int, ...]] = (), ()
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
        elif not named and all(type(a) is EagerTensor for a in args):
            return self.run(args)
        structure = (args, named)
        leaves = [convert(leaf) if isinstance(leaf, ReadAsTensor) else leaf for leaf in nest.flatten(structure)]
        places = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "dtype")]

        def function(*values: Any, module: Callable[..., Any] = self._module) -> Any:
            filled = list(leaves)
            for place, value in zip(places, values, strict=True):
                filled[place] = value
            packed, packed_named = nest.pack_sequence_as(structure, filled)
            return module(*packed, **packed_named)

        return self.run([leaves[i] for i in places], function)

    def run(self, args: Sequence[Any], function: Callable[..., Any] | None = None) -> Any:
        """Runs the module as one operation.

        Args:
            args: the tensors among its arguments.
            function: a function of these tensors that calls the module, or its argument `module`; by default
                the module itself.
        """
        tapes = state.tapes
        if state.graph is not None or len(tapes) > 1 or (tapes and type(tapes[0]) is not Tape):
            results: list[Any] = []
            call = self._torch_call(args, function, results)
            of_call = call([*args, *self._variables], stateful=self._module.training)
            return _with_tensors(results[0], of_call)
        tape = tapes[0] if tapes else None
        values = []
        sources: tuple[torch.Tensor, ...] = ()
        ids: tuple[int, ...] = ()
        for a in args:
            value = _own_tensor(a.value)
            values.append(value)
            if tape is not None and a._id in tape.watched and a.dtype.differentiable:
                sources += (value.requires_grad_(),)
                ids += (a._id,)
        enabled = is_grad_enabled()
        if enabled is (tape is None):
            set_grad_enabled(not enabled)
        try:
            result = (function or self._module)(*values)
        finally:
            if enabled is (tape is None):
                set_grad_enabled(enabled)
        outputs: Sequence[torch.Tensor] = (result,) if isinstance(result, torch.Tensor) else _tensors_in(result)
        tensors = [EagerTensor(alias(o), FROM_TORCH[o.dtype]) for o in outputs]
        if tape is not None:
            read = self._parameters_read(tape)
            sources, ids = sources + read[0], ids + read[1]
            if sources:
                tape.record_watched(self, (args, function, outputs, sources), ids, tensors)
        return tensors[0] if outputs and outputs[0] is result else _with_tensors(result, tensors)

    def _parameters_read(self, tape: Tape) -> tuple[tuple[torch.Tensor, ...], tuple[int, ...]]:
        """Notes on a tape that the module reads its parameters; returns those that it watches, and their ids."""
        trainable = list(map(_TRAINABLE, self._variables))
        smooth = list(map(_REQUIRES_GRAD, self._parameters))
        if trainable != self._states[0] or smooth != self._states[1]:
            self._states = trainable, smooth
            self._trainable = {v._id: v for v in self._variables if v.trainable}
            pairs = [(p, v._id) for p, v in zip(self._parameters, self._variables, strict=True) if p.requires_grad]
            self._usual = tuple([p for p, _ in pairs]), tuple([i for _, i in pairs])
        tape.variables_read(self._trainable)
        parameters, ids = self._usual
        watched = tape.watched
        if watched.issuperset(ids):
            return self._usual
        places = [i for i, of in enumerate(ids) if of in watched]
        return tuple([parameters[i] for i in places]), tuple([ids[i] for i in places])

    def gradient(self, call: Call, *dys: Any) -> Any:
        """Returns the gradients of the arguments and parameters that a tape watches."""
        args, function, outputs, sources = call.attrs
        if state.tapes:  # which may differentiate the gradient
            operands = [*args, *self._variables]
            gradients = self._torch_call(args, function, []).vjp(operands, dys)
            ids = [*call.input_ids, None]
            wanted: list[Any] = []  # in the order of the operands; an operand may be passed twice
            for operand, g in zip(operands, gradients, strict=True):
                if operand._id == ids[len(wanted)]:
                    wanted.append(g)
            return wanted
        return gradients_of(outputs, sources, dys)

    def _torch_call(self, args: Sequence[Any], function: Callable[..., Any] | None, results: list[Any]) -> TorchCall:
        """Returns the call as a function of the arguments and the parameters; `results` gets its result."""

        def functional(*values: torch.Tensor) -> list[torch.Tensor]:
            weights = dict(zip(self._names, values[len(args) :], strict=True))

            def module(*a: Any, **named: Any) -> Any:
                return torch.func.functional_call(self._module, weights, a, named)

            results[:] = [
                module(*values[: len(args)]) if function is None else function(*values[: len(args)], module=module)
            ]
            return _tensors_in(results[0])

        def in_place(*values: torch.Tensor) -> list[torch.Tensor]:
            results[:] = [(function or self._module)(*values)]
            return _tensors_in(results[0])

        return TorchCall(self.name, functional, in_place, self._parameters)


_TRAINABLE, _REQUIRES_GRAD = operator.attrgetter("trainable"), operator.attrgetter("requires_grad")
_FEW_BYTES = 1 << 16


def _own_tensor(value: torch.Tensor) -> torch.Tensor:
    """Returns a tensor that the module may write to: an alias, or a copy where that costs less than torch's refusal to
    share memory that may be NumPy's."""
    if value.nbytes < _FEW_BYTES and not value.untyped_storage().resizable():
        return value.detach().clone()
    return alias(value)


def _tensors_in(result: Any) -> list[torch.Tensor]:
    """Returns torch's tensors in the result of a module."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [t for t in nest.flatten(result) if isinstance(t, torch.Tensor)]


def _with_tensors(result: Any, tensors: Sequence[Any]) -> Any:
    """Returns the result of a module with tensors in the place of torch's."""
    if isinstance(result, torch.Tensor):
        return tensors[0]
    rest = iter(tensors)
    return nest.map_structure(lambda t: next(rest) if isinstance(t, torch.Tensor) else t, result)
