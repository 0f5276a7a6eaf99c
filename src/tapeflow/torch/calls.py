"""Calls of functions of torch as ops of a tape and of a graph, differentiated by torch's autograd."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.aten import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from tapeflow.core.autodiff.tape import Tape, dense, record_function
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import FROM_TORCH, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, alias
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.ir.python_op import python_op, spec_of_gradient
from tapeflow.torch.sample_inputs import LARGE, SMALL

# `torch.autograd.grad` calls `aten.run_backward`, and `torch.enable_grad` this one, after checks and bookkeeping.
is_grad_enabled, set_grad_enabled = torch.is_grad_enabled, aten.set_grad_enabled

Function = Callable[..., Sequence[torch.Tensor]]


class TorchCall:
    """A function of torch, as one op.

    Args:
        name: its name.
        function: takes tensors of torch, one for each operand, and returns a sequence of tensors.
        in_place: the same function for the operands that are no variables, which it finds where they are; by default
            `function` is called with the values of variables too.
        parameters: the tensors of torch that `in_place` finds, one for each variable.
    """

    def __init__(
        self, name: str, function: Function, in_place: Function | None = None, parameters: Sequence[torch.Tensor] = ()
    ) -> None:
        self.name, self._function, self._in_place, self._parameters = name, function, in_place, parameters

    def __call__(self, operands: Sequence[Any], stateful: bool = False) -> list[Any]:
        """Calls the function with tensors, and variables after them.

        Args:
            operands: tensors and variables.
            stateful: whether it has to run in a graph where its results are unused.

        Returns:
            Its results as tensors.
        """
        if state.graph is not None:
            return self._in_graph(operands, stateful)
        tapes = state.tapes
        if not tapes:
            with torch.no_grad():
                return [_result_tensor(o) for o in self._run(operands)[0]]
        for operand in operands:
            if isinstance(operand, ReadAsTensor):
                for tape in tapes:
                    tape.variable_read(operand, operand._id)
        enabled = torch.is_grad_enabled()
        set_grad_enabled(True)
        try:
            outputs, sources = self._run(operands, tapes)
            set_grad_enabled(False)
            results = [_result_tensor(o) for o in outputs]
        finally:
            set_grad_enabled(enabled)

        def gradient(*dys: Any) -> list[Any]:
            # The tapes may differentiate the gradient.
            return self.vjp(operands, dys) if state.tapes else gradients_of(outputs, sources, list(map(dense, dys)))

        record_function(self.name, operands, results, gradient)
        return results

    def recorded(self, operands: Sequence[Any]) -> tuple[Sequence[torch.Tensor], CallRecord]:
        """Calls the function with autograd on; returns its results and the record for its gradients."""
        with torch.enable_grad():
            outputs, sources = self._run(operands, state.tapes)
        return outputs, CallRecord(outputs, sources)

    def _run(
        self, operands: Sequence[Any], tapes: Sequence[Any] | None = None
    ) -> tuple[Sequence[torch.Tensor], list[torch.Tensor]]:
        """Calls the function.

        Args:
            operands: tensors and variables.
            tapes: those that record the call.

        Returns:
            Its results, and for each operand the tensor of torch that it took.
        """
        values: list[torch.Tensor] = []
        for operand in operands:
            is_variable = isinstance(operand, ReadAsTensor)
            if is_variable and self._in_place is not None:
                break
            value = alias(operand._value.value if is_variable else operand.value)
            if tapes is not None and _is_smooth(value) and _is_watched(operand, tapes):
                value.requires_grad_()
            values.append(value)
        if self._in_place is None:
            return self._function(*values), values
        return self._in_place(*values), [*values, *self._parameters]

    # ---- gradients -----------------------------------------------------------------------------------------------

    def vjp(self, operands: Sequence[Any], dys: Sequence[Any]) -> list[Any]:
        """Returns the gradients of the operands for the cotangents of the results, by a call that can be differentiated
        again."""
        count = len(operands)
        places = [i for i, dy in enumerate(dys) if dy is not None]
        smooth = [i for i, operand in enumerate(operands) if operand.dtype.is_floating or operand.dtype.is_complex]

        def product(*values: torch.Tensor) -> list[torch.Tensor]:
            again = torch.is_grad_enabled()
            with torch.enable_grad():
                leaves = [
                    v if v.requires_grad or not _is_smooth(v) else v.detach().requires_grad_() for v in values[:count]
                ]
                outputs = self._function(*leaves)
                pairs = [(outputs[i], dy) for i, dy in zip(places, values[count:], strict=True)]
                pairs = [(o, dy) for o, dy in pairs if o.requires_grad]
                sources = [leaves[i] for i in smooth]
                gradients = torch.autograd.grad(
                    [o for o, _ in pairs], sources, [dy for _, dy in pairs], create_graph=again, allow_unused=True
                )
            return [torch.zeros_like(s) if g is None else g for g, s in zip(gradients, sources, strict=True)]

        arguments = [*operands, *(dense(dys[i]) for i in places)]
        call = TorchCall(f"{self.name}Grad", product)
        if state.graph is None:
            results = iter(call(arguments))
        else:
            specs = [spec_of_gradient(operands[i]) for i in smooth]
            results = iter(python_op(call.name, lambda *t: call(t), arguments, specs, False, True).outputs)
        return [next(results) if i in smooth else None for i in range(count)]

    # ---- graphs --------------------------------------------------------------------------------------------------

    def _in_graph(self, operands: Sequence[Any], stateful: bool) -> list[Any]:
        """Adds an operation that calls the function.

        While a tape is open, the operation has one more output: the record for the gradients.
        """
        specs = self._specs(operands)
        taped = bool(state.tapes)

        def kernel(*values: Any) -> tuple[Any, ...]:
            eager = [v if isinstance(v, ReadAsTensor) else EagerTensor(v, FROM_TORCH[v.dtype]) for v in values]
            if not taped:
                with torch.no_grad():
                    return tuple(map(alias, self._run(eager)[0]))
            outputs, record = self.recorded(eager)
            return (*(alias(o) for o in outputs), box_object(record))

        def gradient(call: Any, *dys: Any) -> list[Any]:
            dys = dys[: len(specs)]
            if not taped or len(state.tapes) > 0:
                return self.vjp(list(operands), dys)
            return _recorded_gradients(self.name, operands, call.outputs[-1], specs, dys)

        op = GraphOp(self.name, kernel, stateful=stateful, gradient=gradient, gives_tuple=True)
        outputs = [*specs, (variant, TensorShape([]))] if taped else specs
        return list(state.graph.node(op, operands, outputs).outputs[: len(specs)])

    def _specs(self, operands: Sequence[Any]) -> list[tuple[Any, TensorShape]]:
        """Returns the dtypes and shapes of the results, by calls with tensors that have no values.

        A dimension is unknown if it follows from one that is: then it differs between two calls. That of an empty
        result may not, so calls with larger tensors follow.
        """
        errors: list[Exception] = []
        shapes: list[Sequence[torch.Tensor]] = []
        for size in (SMALL, LARGE):
            try:
                shapes = [_results_of_fakes(self._function, operands, n) for n in (size - 1, size)]
            except RuntimeError as error:
                errors.append(error)
                continue
            if all(r.numel() for results in shapes for r in results):
                break
        if not shapes:
            raise errors[0]
        return [
            (FROM_TORCH[a.dtype], TensorShape([m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)]))
            for a, b in zip(*shapes, strict=True)
        ]


@dataclasses.dataclass(frozen=True, slots=True)
class CallRecord:
    """Holds a call of torch, for its gradients.

    Attributes:
        outputs: the results.
        sources: the operands.
    """

    outputs: Sequence[torch.Tensor]
    sources: Sequence[torch.Tensor]

    def gradients(self, dys: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """Returns the gradients of the operands, None where there is none, from the cotangents of the results."""
        smooth = tuple([s for s in self.sources if s.requires_grad])
        pairs = [(o, dy) for o, dy in zip(self.outputs, dys, strict=True) if dy is not None and o.requires_grad]
        if not pairs or not smooth:
            return [None] * len(self.sources)
        outputs, cotangents = zip(*pairs, strict=True)
        rest = iter(aten.run_backward(outputs, cotangents, True, False, smooth, True, accumulate_grad=False))
        return [next(rest) if s.requires_grad else None for s in self.sources]


def gradients_of(
    outputs: Sequence[torch.Tensor], sources: Sequence[torch.Tensor], dys: Sequence[EagerTensor | None]
) -> list[Any]:
    """Returns the gradients of the operands of a call of torch as tensors; arguments as in `CallRecord`."""
    gradients = CallRecord(outputs, sources).gradients([None if dy is None else dy.value for dy in dys])
    return [None if g is None else EagerTensor(g, FROM_TORCH[g.dtype]) for g in gradients]


def _recorded_gradients(
    name: str, operands: Sequence[Any], record: Any, specs: Sequence[Any], dys: Sequence[Any]
) -> list[Any]:
    """Adds the operation of the gradients of a call in a graph, whose record is an output of the call."""
    has_dys = [dy is not None for dy in dys]
    wanted = [spec_of_gradient(operand) for operand in operands]
    smooth = [dtype.is_floating or dtype.is_complex for dtype, _ in wanted]

    def kernel(held: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rest, own = iter(cotangents), held[()]
        gradients = own.gradients([next(rest) if has_dy else None for has_dy in has_dys])
        pairs = itertools.compress(zip(gradients, own.sources, strict=True), smooth)
        return tuple([torch.zeros_like(s) if g is None else g for g, s in pairs])

    op = GraphOp(f"{name}Grad", kernel, gives_tuple=True)
    cotangents = [dense(dy) for dy in dys if dy is not None]
    outputs = list(itertools.compress(wanted, smooth))
    results = iter(state.graph.node(op, [record, *cotangents], outputs).outputs)
    return [next(results) if s else None for s in smooth]


def _results_of_fakes(function: Function, operands: Sequence[Any], size: int) -> Sequence[torch.Tensor]:
    """Calls a function with tensors without values, with `size` for unknown dimensions. If the function reads values,
    it is called with zeros instead."""
    specs = [spec_of_gradient(operand) for operand in operands]
    if any(shape.rank is None for _, shape in specs):
        raise ValueError(f"A torch module needs inputs of static rank, not {operands!r}.")
    sizes = [[size if d is None else d for d in shape.as_list()] for _, shape in specs]

    def run(create: Callable[..., torch.Tensor]) -> Sequence[torch.Tensor]:
        return function(*[create(dims, dtype=dtype.torch) for dims, (dtype, _) in zip(sizes, specs, strict=True)])

    with torch.no_grad():
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                return run(torch.empty)
        except (DataDependentOutputException, DynamicOutputShapeException):
            return run(torch.zeros)


def _is_smooth(value: torch.Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _result_tensor(value: torch.Tensor) -> EagerTensor:
    """Returns the tensor of a result, which the module may keep and write to."""
    return EagerTensor(alias(value), FROM_TORCH[value.dtype])


def _is_watched(operand: Any, tapes: Sequence[Any]) -> bool:
    """Returns True if a tape may ask for the gradient of an operand. Without tapes here, a graph's tape may."""
    return not tapes or any(type(tape) is not Tape or operand._id in tape.watched for tape in tapes)
