"""Kernels that torch's autograd can't follow, with the gradients of their ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.ops.kernels import compute
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.python_op import eager_arguments, executing_eagerly
from tapeflow.graph.program.program import Step


class TorchGradient:
    """A step's kernel, whose derivative in torch is the gradient of its op. It has no second one.

    Args:
        step: a registered step.
    """

    def __init__(self, step: Step) -> None:
        self._op, self._args, self._types = step.op, step.args, step.types
        self._dtypes = [t.dtype for t in step.outputs]
        self.__name__ = step.op.name

    def __call__(self, *values: Any) -> Any:
        tensors = self._op.tensors(values)
        if not torch.is_grad_enabled() or not any(t.requires_grad for t in tensors):
            return self._op.kernel(*values)
        results = _Differentiated.apply(self, values, *tensors)
        return results if len(self._dtypes) > 1 else results[0]

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the kernel's results in a tuple."""
        results = self._op.kernel(*values)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)

    def gradients(self, values: Sequence[Any], dys: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        """Returns the gradients of the tensors among a call's arguments, with None for those that are not wanted."""
        op = self._op
        args = eager_arguments(op, self._args, values)
        inputs = op.tensors(args)
        with executing_eagerly():
            tape = Tape(persistent=False, watch_accessed=False)
            sources = [t for t, w in zip(inputs, wanted, strict=True) if w]
            for t in sources:
                tape.watch(t)
            results, _ = compute(op, args, self._types, None)
            results = results if isinstance(results, (tuple, list)) else (results,)
            outputs = [EagerTensor(r, d) for r, d in zip(results, self._dtypes, strict=True)]
            tape.record(op, inputs, op.statics(args), outputs)
            targets = [(o, EagerTensor(dy, o.dtype)) for o, dy in zip(outputs, dys, strict=True) if dy is not None]
            gradients = iter(tape.gradients([o for o, _ in targets], sources, [dy for _, dy in targets]))
            of_inputs = [next(gradients) if w else None for w in wanted]
            return [
                None if not w else zeros_like_value(t).value if g is None else dense(g).value
                for g, t, w in zip(of_inputs, inputs, wanted, strict=True)
            ]


class _Differentiated(torch.autograd.Function):
    """A call of a kernel that is recorded for autograd."""

    @staticmethod
    def forward(ctx: Any, own: TorchGradient, values: Sequence[Any], *tensors: torch.Tensor) -> tuple[Any, ...]:
        ctx.own, ctx.values = own, values
        results = own.run(values)
        ctx.mark_non_differentiable(*[r for r in results if not r.is_floating_point() and not r.is_complex()])
        return results

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *dys: Any) -> Any:
        values = [[v.detach() for v in a] if type(a) is list else a.detach() if isinstance(a, torch.Tensor) else a
                  for a in ctx.values]  # fmt: skip
        return None, None, *ctx.own.gradients(values, dys, ctx.needs_input_grad[2:])
